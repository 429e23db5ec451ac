"""A table's state and scoreboard in characters: lines of coloured text, for any width.

All roads are readable without colours: Banker, Player and Tie have their letters; red cells of the derived
roads are capitals and blue ones are not. Codes of cards are those of the record, such as `9S`.
"""

from collections.abc import Callable, Sequence
from typing import Final, Literal, TypeVar

from rich.cells import cell_len
from rich.text import Text

from punto.baccarat.currency import written
from punto.baccarat.roads.drawing import ROWS, shown_columns
from punto.displays.words import Words
from punto.messages import models

CellT = TypeVar("CellT", models.Bead, models.RoadCell, models.DerivedCell)
Side = Literal["player", "banker"]

PALETTE: Final = {
    "banker": "#ff4a3d",
    "player": "#5aaeff",
    "tie": "#66e88c",
    "red": "#ff4a3d",
    "blue": "#5aaeff",
}
DERIVED_LETTERS: Final = {"red": "R", "blue": "b"}
REMARKS: Final = ("last_hand", "dummy", "configuration_keypad")
TROUBLES: Final = ("shoe_offline", "shoe_error", "card_awaited", "needs_supervisor")
HIDDEN: Final = "##"
GAP: Final = "  "
WIDE: Final = 50  # room for a derived road with its cells apart


class Drawing:
    """Draws in one language."""

    def __init__(self, words: Words) -> None:
        self._words = words
        letters = [words(f"letter.{winner}") for winner in ("banker", "player", "tie")]
        self._cell = max(map(cell_len, letters)) + 1  # a letter, and a mark beside it

    # --- lines

    def names(self, state: models.State, width: int) -> Text:
        """The table's name and its game."""
        return _both_ends(
            Text(printable(state.name), "bold"),
            Text(printable(self._words.title(state.game_titles, state.game))),
            width,
        )

    def situation(self, state: models.State, width: int) -> Text:
        """The table's current activity, and the position in its shoe."""
        remarks = [self._words(f"remark.{name}") for name in REMARKS if name in state.overlays]
        phase = Text(GAP.join([self._words(f"phase.{state.phase}"), *remarks]), "bold")
        shoe = {"shoe": state.shoe.number, "hand": state.shoe.coup, "cards_left": state.shoe.cards_left}
        numbers = [self._words(key).format(number="-" if n is None else n) for key, n in shoe.items()]
        return _both_ends(phase, Text(GAP.join(numbers)), width)

    def outcome(self, state: models.State) -> Text:
        """The reason for a stop, or else the side of the next card or the seat that turns the cards, or else the last result."""
        troubles = [self._words(f"trouble.{name}") for name in TROUBLES if name in state.overlays]
        if troubles:
            return Text(" ".join(["", *troubles, ""]), "bold reverse")
        if state.phase == "reveal" and state.revealing_seat is not None:
            return Text(self._words("turns").format(seat=state.revealing_seat))
        if state.hands is not None or state.result is None:
            return Text(self._words(f"next.{state.next}") if state.next else "")
        result = state.result
        if result.winner is None:
            return Text(self._words("void"), "bold")
        remarks = [
            self._words(key)
            for key, so in {
                "remark.dummy": result.status == "dummy",
                "natural": result.natural,
                "player_pair": result.player_pair,
                "banker_pair": result.banker_pair,
            }.items()
            if so
        ]
        won = Text(f" {self._words(f'wins.{result.winner}')} ", f"bold reverse {PALETTE[result.winner]}")
        return Text(GAP).join([won, *map(Text, remarks)])

    def hands(self, state: models.State, width: int) -> Text:
        """Both hands of the current coup, or else of the last one, with their totals."""
        return _to_width(self._hand(state, "player"), width // 2).append(self._hand(state, "banker"))

    def counts(self, board: models.Scoreboard, width: int) -> Text:
        """The number of times each result has come in this shoe."""
        each = [
            Text(f"{self._words(key)} {count}", PALETTE.get(key, ""))
            for key, count in board.counts.model_dump().items()
        ]
        return _flowing(each, width)

    def marks(self, board: models.Scoreboard, width: int) -> Text:
        """The streak, and the next cell of each derived road if Banker or Player wins."""
        streak = Text(f"{self._words('streak')} ")
        if board.streak is None:
            streak.append("-")
        else:
            letter = self._words(f"letter.{board.streak.winner}")
            streak.append(f"{letter} x {board.streak.length}", PALETTE[board.streak.winner])
        asked = (("ask.banker", board.ask_banker), ("ask.player", board.ask_player))
        return _flowing([streak, *(self._ask(key, marks) for key, marks in asked)], width)

    def limits(self, state: models.State, width: int) -> Text:
        """What must be posted of the game, and every wager with its minimum and maximum."""
        most = state.maximum_wagers
        posted = [] if most is None else [Text(self._words("maximum_wagers").format(wagers=most))]
        each = [
            Text.assemble(
                f"{printable(self._words.wager(limit.wager, limit.title, state.wager_titles.get(limit.wager, {})))} ",
                (_range(limit, state.currency), "bold"),
                ""
                if limit.maximum_of_base is None
                else f", {self._words('of_base').format(share=limit.maximum_of_base)}",
            )
            for limit in state.limits
        ]
        return _flowing([*posted, *each], width)

    def meter(self, progressive: models.Progressive, width: int) -> Text:
        """A progressive's title and meter, and its last award."""
        shown = Text.assemble(
            printable(self._words.wager("progressive", progressive.title, progressive.titles)),
            GAP,
            (written(progressive.meter, progressive.currency), "bold"),
        )
        award = progressive.award
        last = f"{self._words('award.last')} {written(award.amount, progressive.currency)}" if award else ""
        return _both_ends(shown, Text(last), width)

    # --- roads

    def bead_plate(self, board: models.Scoreboard, width: int) -> Text:
        """The letter of each result with b, p or + beside it for a Banker pair, a Player pair or both."""
        return self._road(board.bead_plate, self._bead, self._cell, width)

    def big_road(self, board: models.Scoreboard, width: int) -> Text:
        """The letter of each result with the number of ties after it; for ties before any result only the number."""
        return self._road(board.big_road, self._ring, self._cell, width)

    def derived_road(self, cells: Sequence[models.DerivedCell], width: int) -> Text:
        """R for each red cell and b for each blue one."""
        return self._road(cells, self._derived, 2 if width >= WIDE else 1, width)

    def _bead(self, cell: models.Bead) -> Text:
        pair = {(True, False): "b", (False, True): "p", (True, True): "+"}
        mark = pair.get((cell.banker_pair, cell.player_pair), "")
        return self._marked(cell.winner, mark, natural=cell.natural)

    def _ring(self, cell: models.RoadCell) -> Text:
        ties = "" if cell.ties == 0 else str(cell.ties) if cell.ties <= 9 else "+"
        if cell.winner is None:
            return Text(f"/{ties}", PALETTE["tie"])
        return self._marked(cell.winner, ties, natural=cell.natural)

    def _marked(self, winner: str, mark: str, *, natural: bool) -> Text:
        style = f"bold {PALETTE[winner]}{' underline' if natural else ''}"
        return Text.assemble(
            (self._words(f"letter.{winner}"), style), (mark, PALETTE["tie"] if mark.isdigit() else "")
        )

    def _derived(self, cell: models.DerivedCell) -> Text:
        return Text(DERIVED_LETTERS[cell.color], PALETTE[cell.color])

    def _ask(self, key: str, marks: models.AskMarks) -> Text:
        asked = Text(f"{self._words(key)} ")
        for color in (marks.big_eye_boy, marks.small_road, marks.cockroach_pig):
            asked.append(DERIVED_LETTERS[color] if color else "-", PALETTE[color] if color else "")
        return asked

    def _hand(self, state: models.State, side: Side) -> Text:
        hand = Text.assemble((self._words(side), f"bold {PALETTE[side]}"))
        shown = state.hands or state.result
        if shown is None:
            return hand
        cards, total = (
            (shown.player, shown.player_total) if side == "player" else (shown.banker, shown.banker_total)
        )
        if cards and total is not None:
            hand.append(f" {total} ", "bold")
        for card in cards:
            red = card is not None and card[1] in "HD"
            hand.append(" ").append(card or HIDDEN, PALETTE["red"] if red else "")
        return hand

    def _road(
        self, cells: Sequence[CellT], draw: Callable[[CellT], Text], cell_width: int, width: int
    ) -> Text:
        if width < cell_width:
            return Text()
        columns = shown_columns(cells, width // cell_width)
        drawn = {
            (cell.row, cell.col): _to_width(draw(cell), cell_width) for cell in cells if cell.col in columns
        }
        if cells:
            drawn[cells[-1].row, cells[-1].col].stylize("reverse")
        blank = Text(" " * cell_width)
        return Text("\n").join(
            Text().join(drawn.get((row, col), blank) for col in columns) for row in range(ROWS)
        )


def printable(text: str) -> str:
    """A table's text, without characters that a terminal would take for commands."""
    return "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in text)


def _both_ends(left: Text, right: Text, width: int) -> Text:
    """Two texts at the ends of a line; if they do not fit, the left one is cut, with a mark."""
    left.truncate(max(1, width - right.cell_len - 1), overflow="ellipsis")
    return Text(" " * max(1, width - left.cell_len - right.cell_len)).join([left, right])


def _flowing(texts: Sequence[Text], width: int) -> Text:
    """The texts one after another, without a line break inside a text."""
    lines = [Text()]
    for text in texts:
        if lines[-1] and lines[-1].cell_len + len(GAP) + text.cell_len > width:
            lines.append(Text())
        lines[-1].append(GAP if lines[-1] else "").append(text)
    return Text("\n").join(lines)


def _to_width(text: Text, width: int) -> Text:
    text.truncate(width, overflow="ellipsis")
    return text.append(" " * (width - text.cell_len))


def _range(limits: models.WagerLimits, currency: str) -> str:
    least, most = limits.minimum, limits.maximum
    if least == most:
        return _amount(least, currency)
    return f"{_amount(least, currency)}{'+' if most is None else f'-{_amount(most, currency)}'}"


def _amount(minor: int, currency: str) -> str:
    """An amount, without decimals that are nothing."""
    amount = written(minor, currency)
    units, _, decimals = amount.partition(".")
    return amount if decimals.strip("0") else units
