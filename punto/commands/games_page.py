"""The page of the games: the pays of every game that ships, in words, and their exact odds.

Everything on the page comes from the game files or is counted. If several games have the same wager, the first of them
describes it.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from punto.baccarat.coup import Side
from punto.baccarat.wagers.definition import FACE_UP_ONLY, Game, Limits, Wager
from punto.baccarat.wagers.pay import PUSH
from punto.baccarat.wagers.words import words
from punto.commands.arguments import decks_text, percent
from punto.commands.house_choices import otherwise
from punto.configs.game_files import load_game, shipped_games
from punto.odds.exact import sides_beside
from punto.odds.published.check import rounded
from punto.odds.published.figures_file import FiguresFile, Statistics
from punto.odds.published.readings import DECKS, Chances, Given, Model, returned

FILE: Final = "games.md"

_HEAD: Final = """\
# Games

This page lists the pays and the exact odds of each game that ships with Punto.
[Game files](game-files.md) describes how to write a game of your own.
If several games have the same wager, this page describes the wager only once, at the first of these games.

"""
_HOW_TO_READ: Final = """
How to read the tables:

- The rows of a pay table are tried from the top, and **the first row that applies decides the wager**.
  In the settlement of the wager, the field `rule` names this row.
- A *coup* is one deal of the cards.
  A *natural* is a hand whose first two cards total 8 or 9; a natural ends the coup.
  *Not natural* means that the coup has no natural.
- `30 to 1` returns the stake and 30 times the stake.
  `1 to 1 less 5%` returns the stake and 95% of the stake.
  `1000 for 1` returns 1000 times the stake in total.
  `push` returns the stake.
- The column *Needs* names the base wager, such as Player or Banker, that the same seat must also have.
- A *house edge* of 1% means that the house keeps, on average, 1 cent of each dollar staked.
  A stake that is returned (a push) also counts as staked.
- All figures are counted for a full shoe, and then rounded.
  `punto odds --game NAME` prints the exact counts.
  With `--removed`, the command counts a shoe that is not full.
- The *meter* of a progressive (a jackpot) is the amount that can be won now.
  This page computes the house edge of a progressive wager for one amount on the meter, the *average top award*.
  The average top award is the average amount on the meter at the moment when the whole meter is won.
  This average is for seats that all make the same wagers, for example all with a wager on Player.
- *Beside Player* means that the seat also has a wager on Player.
- A *source* of three digits is the regulator's rule sheet with this number.
  A figure that is marked *printed* is from a rule sheet.
  [Published figures](published-figures.md) compares all printed figures with the counted figures.
- A *variation* is a game that pays only half for some wins, bars some wins (returns the stake instead of paying), or is proprietary.
  The approval letter (sheet 001) allows a shoe to read the cards of a variation only if all cards are dealt face up.
- Amounts are in dollars, as on the sheets.
  If the amount is *any*, the sheet sets no limit: the house can set limits in the table's configuration.
"""
_WHO_MAY: Final = (
    "`requires_base` decides which seats may make the wager.\nThis rule does not change the house edge."
)
_ADVANTAGE: Final = "If the house edge is negative, the players have the advantage."
_PUBLISHED: Final = "[published figures](published-figures.md)"
_SPELLED: Final = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six"}
_FIGURES: Final = (
    "Beside",
    "Decks",
    "House edge",
    "Printed",
    "Wins",
    "Pushes",
    "Top award",
    "Average top award",
)


@dataclass(frozen=True)
class _Held:
    """A wager as a seat can hold it: beside base wagers on these sides; if `sides` is empty, they do not matter."""

    sides: tuple[Side, ...]
    wager: Wager

    @property
    def beside(self) -> str:
        """The names of its base wagers."""
        return " and ".join(side.title() for side in self.sides)


@dataclass(frozen=True)
class _Worth:
    """The odds of a wager: its edge as a share of the stakes, its wins and pushes as shares of all coups, and its meter."""

    edge: Fraction
    wins: Fraction
    pushes: Fraction
    meter: Given | None


def games() -> list[Game]:
    """The games that ship: variations after the others, and games with fewer wagers first."""
    found = [load_game(name) for name in shipped_games()]
    return sorted(found, key=lambda game: (game.variation, len(game.wagers), game.hides_cards, game.name))


def page() -> str:
    """The whole text."""
    shipped = games()
    return "".join([_HEAD, *_contents(shipped), _HOW_TO_READ, sections(shipped)])


def sections(described: Sequence[Game]) -> str:
    """The sections of some games, in Markdown. If several games have the same wager, the first describes it."""
    return "".join(_Sections(described).text())


def _contents(shipped: Iterable[Game]) -> Iterator[str]:
    head = ("Game", "Name", "Side wagers", "Variation")
    rows = [
        (
            _link(game.title, game.title),
            f"`{game.name}`",
            "; ".join(wager.title for wager in game.wagers if not wager.base) or "none",
            "yes" if game.variation else "no",
        )
        for game in shipped
    ]
    yield from _table(head, rows, left=4)


class _Sections:
    """A section for each game."""

    def __init__(self, shipped: Sequence[Game]) -> None:
        self._games = shipped
        self._chances = Chances(
            held.wager
            for game in shipped
            for wager in game.wagers
            for each in [wager, *(other for _, other in otherwise(wager))]
            for held in _held(game, each)
        )
        file = FiguresFile()
        self._printed_edges = [
            (source.dragon_bonus(side).rules, entry, entry.player if side is Side.PLAYER else entry.banker)
            for entry, source in file.house_edges()
            for side in Side
        ]
        self._printed_statistics = [
            (_same(source.game, source.progressive()), entry) for entry, source in file.statistics()
        ]
        self._headings: dict[object, str] = {}

    def text(self) -> Iterator[str]:
        for game in self._games:
            yield f"\n## {game.title}\n\n"
            yield from _facts(game)
            yield from _notices(game)
            yield from self._wagers(game)

    def _wagers(self, game: Game) -> Iterator[str]:
        """A table of all wagers of a game, and the details of those that no game before it has."""
        own = []
        for wager in game.wagers:
            if (same := _same(game, wager)) not in self._headings:
                self._headings[same] = f"{wager.title} (`{game.name}`)"
                own.append(wager)
        yield "\n"
        head = ("Wager", "Name", "Amount", "Needs", f"House edge, {decks_text(game)}")
        yield from _table(head, [self._in_short(game, wager) for wager in game.wagers], left=4)
        for wager in own:
            yield f"\n### {self._headings[_same(game, wager)]}\n\n"
            yield from _says(wager)
            yield from self._pays(game, wager)
            yield "\n"
            yield from self._figures(game, wager)
            yield from self._left_to_house(game, wager)

    def _left_to_house(self, game: Game, wager: Wager) -> Iterator[str]:
        """The rules that the sheet leaves to the house, with the house edge if it decides otherwise."""
        if not wager.house:
            return
        these, them = ("this rule", "it") if len(wager.house) == 1 else ("these rules", "them")
        yield (
            f"\nThe sheet leaves {these} to the house, which sets {them} in `[rules.{wager.name}]` "
            "of a table's configuration:\n\n"
        )
        yield from (f"- `{each.rule}` ({each.clause}).\n" for each in wager.house)
        head = ("If the house decides", f"House edge, {decks_text(game)}")
        rows = [
            (
                " and ".join(f"`{rule} = {json.dumps(value)}`" for rule, value in decided),
                "<br>".join(self._edges(game, other)),
            )
            for decided, other in otherwise(wager)
        ]
        yield "\n"
        yield from _table(head, rows, left=1)
        if any(rule == "requires_base" for decided, _ in otherwise(wager) for rule, _ in decided):
            yield f"\n{_WHO_MAY}\n"

    def _edges(self, game: Game, wager: Wager) -> list[str]:
        """The house edge of each way in which a seat can hold a wager."""
        return [
            f"{percent(self._worth(held, game.decks).edge)}{f' with {held.beside}' * bool(held.sides)}"
            for held in _held(game, wager)
        ]

    def _in_short(self, game: Game, wager: Wager) -> tuple[str, ...]:
        return (
            _link(wager.title, self._headings[_same(game, wager)]),
            f"`{wager.name}`",
            _amount(wager.limits),
            _needs(game, wager),
            "<br>".join(self._edges(game, wager)),
        )

    def _pays(self, game: Game, wager: Wager) -> Iterator[str]:
        """The pay table, with the probability of each rule."""
        holdings = _held(game, wager)
        often = [
            {rule.name: chance for rule, chance in self._chances.of(held.wager, game.decks)}
            for held in holdings
        ]
        rows = [
            (
                words(rule.when) or "Anything else",
                f"`{rule.name}`",
                rule.pays,
                *(_chance(each.get(rule.name, Fraction(0))) for each in often),
            )
            for rule in wager.rules
        ]
        head = (
            "When",
            "Rule",
            "Pays",
            *(f"With {held.beside}" if held.sides else "Probability" for held in holdings),
        )
        yield from _table(head, rows, left=3)

    def _figures(self, game: Game, wager: Wager) -> Iterator[str]:
        """The odds of a wager in shoes of the usual sizes, beside the printed figures."""
        statistics = [entry for same, entry in self._printed_statistics if same == _same(game, wager)]
        rows: list[tuple[str, ...]] = []
        notes: list[str] = []
        for held in _held(game, wager):
            for decks in sorted({*DECKS, game.decks}):
                worth = self._worth(held, decks)
                printed, differing = self._printed(wager, decks, worth.edge)
                notes += differing
                rows.append(
                    (
                        held.beside,
                        str(decks),
                        percent(worth.edge),
                        printed,
                        percent(worth.wins),
                        percent(worth.pushes) if worth.pushes else "",
                        _one_in(worth.meter.one_in) if worth.meter else "",
                        _dollars(worth.meter.average) if worth.meter else "",
                    )
                )
                if worth.edge < 0 and _ADVANTAGE not in notes:
                    notes.append(_ADVANTAGE)
            rows += [_statistics(held, entry) for entry in statistics if held.sides in {_sides(entry), ()}]
        yield from _table(_FIGURES, rows, left=1)
        notes += _read_as(statistics)
        if notes:
            yield "\n" + "\n".join(notes) + "\n"

    def _printed(self, wager: Wager, decks: int, edge: Fraction) -> tuple[str, list[str]]:
        """The house edges that the sheets print, and a sentence for each that differs from `edge`."""
        sheets: dict[str, list[str]] = {}
        differing = []
        for rules, entry, printed in self._printed_edges:
            if (rules, entry.decks) == (wager.rules, decks):
                sheets.setdefault(printed, []).append(entry.sheet)
                if rounded(100 * edge, len(printed.partition(".")[2])) != Fraction(printed):
                    differing.append(
                        f"Sheet {entry.sheet} prints {printed}% for {decks} decks ({entry.note})."
                    )
        return ", ".join(f"{printed}% ({', '.join(by)})" for printed, by in sheets.items()), differing

    def _worth(self, held: _Held, decks: int) -> _Worth:
        chances = self._chances.of(held.wager, decks)
        model = Model.of(held.wager, chances)
        meter = None if model is None else model.gives()
        return _Worth(
            edge=1 - returned(chances) if meter is None else meter.house_advantage / 100,
            wins=sum((chance for rule, chance in chances if rule.wins), Fraction(0)),
            pushes=sum((chance for rule, chance in chances if rule.pays == PUSH), Fraction(0)),
            meter=meter,
        )


def _held(game: Game, wager: Wager) -> list[_Held]:
    """The ways in which seats can hold a wager. If it needs its base wager's win: beside each base wager, and both."""
    return [_Held(sides, wager.beside(sides)) for sides in sides_beside(game, wager)]


def _same(game: Game, wager: Wager) -> object:
    """The key of a wager: wagers with the same key have the same description."""
    stake = None if wager.progressive is None else wager.limits.minimum
    sides = tuple(held.sides for held in _held(game, wager))
    return game.decks, wager.title, wager.rules, wager.progressive, stake, sides


# --- the sheets' figures of a meter


def _sides(entry: Statistics) -> tuple[Side, ...]:
    """The base wagers of a sheet's figures. If the sheet does not name one, a win of either hand counts."""
    return (entry.side,) if entry.side else tuple(Side)


def _statistics(held: _Held, entry: Statistics) -> tuple[str, ...]:
    return (
        held.beside,
        f"printed ({entry.sheet})",
        f"{entry.house_advantage}%",
        "",
        f"{entry.hit_frequency}%",
        "",
        _one_in(Fraction(entry.one_in)),
        _dollars(Fraction(entry.average)),
    )


def _read_as(statistics: Sequence[Statistics]) -> Iterator[str]:
    """Notes on the printed figures."""
    if any(entry.side is None for entry in statistics):
        yield "The sheets do not name a base wager for their figures."
        yield "This page assumes that the printed figures are for a win of either hand."
    marks = {entry.reproducible for entry in statistics} - {True}
    if False in marks:
        yield "The printed figures do not follow from the text of the pay table."
        yield f"The page {_PUBLISHED} shows the figures for other readings of this text."
    elif marks:
        yield "The printed figures are close to the counted ones, but not equal."
        yield f"The page {_PUBLISHED} shows the differences."


# --- the description of a game and of a wager


def _facts(game: Game) -> Iterator[str]:
    dealt = "face up" if game.dealt == "face_up" else "face down"
    shown = {
        "shoe": "as they leave the shoe",
        "dealer": "when the dealer has turned them",
        "player": "when the player with the largest wager on Player or Banker has turned them",
    }[game.reveal]
    may = "may" if game.dealt == "face_up" else "must not"
    rows = [
        ("Name", f"`{game.name}`"),
        ("Source", game.sheet),
        ("Shoe", decks_text(game)),
        ("Cards", f"dealt {dealt}, and shown to the public {shown}"),
        (
            "Variation",
            f"yes. The shoe {may} read the cards, because they are dealt {dealt}" if game.variation else "no",
        ),
        (
            "Wagers of a player",
            "no limit" if game.maximum_wagers is None else f"at most {game.maximum_wagers} on a coup",
        ),
        ("Pays", _rounding(game)),
    ]
    yield from _table(("", ""), rows, left=2)


def _notices(game: Game) -> Iterator[str]:
    if game.maximum_wagers is not None:
        yield (
            "\nThis text must be on the layout or on a placard at the table (sheet 003, 1b):\n\n"
            f"> Players are limited to wagering on a maximum of {_SPELLED.get(game.maximum_wagers, game.maximum_wagers)} games.\n"
        )
    if game.variation and game.dealt == "face_down":
        yield (
            '\nThe dealer enters the cards of this game by hand (`cards = "keyed"` in the table\'s configuration).\n'
            f"The reason is this sentence in the approval letter of the shoe (sheet 001):\n\n> {FACE_UP_ONLY}\n"
        )


def _says(wager: Wager) -> Iterator[str]:
    sentences = []
    if wager.requires_base_win:
        sentences.append("This wager wins only if the seat's own Player or Banker wager wins.")
    if wager.progressive is not None:
        sentences.append(
            f"The meter starts with {_dollars(Fraction(wager.progressive.seed, 100))} and receives "
            f"{wager.progressive.contribution} of each wager."
        )
    if sentences:
        yield "\n".join(sentences) + "\n\n"


def _needs(game: Game, wager: Wager) -> str:
    if wager.base:
        return "(base wager)"
    titles = [game.wager(name).title for name in game.bases_for(wager)]
    *others, last = titles or ["no base wager"]
    return f"{', '.join(others)} or {last}" if others else last


def _amount(limits: Limits) -> str:
    lowest, highest = _cents(limits.minimum), limits.maximum
    if highest == limits.minimum:
        return lowest
    if highest is not None:
        amount = f"{lowest} to {_cents(highest)}"
    else:
        amount = f"{lowest} or more" if limits.minimum > 1 else "any"
    steps = "" if limits.step == 1 else f" in steps of {_cents(limits.step)}"
    share = "" if limits.maximum_of_base is None else f", at most {limits.maximum_of_base} of the base wager"
    return f"{amount}{steps}{share}"


def _rounding(game: Game) -> str:
    rounding = game.rounding
    unit = "to the cent" if rounding.unit == 1 else f"in steps of {_cents(rounding.unit)}"
    commission = any(rule.pay.commission for wager in game.wagers for rule in wager.rules)
    return f"{unit}, rounded {_ROUNDED[rounding.mode]}" + (
        f"; the commission is rounded {_ROUNDED[rounding.commission]}" if commission else ""
    )


_ROUNDED: Final = {"down": "down", "up": "up", "nearest": "to the nearest"}


# --- figures


def _chance(share: Fraction) -> str:
    """A probability in percent, with four decimal places or at least three digits, and as "1 in N"."""
    if not share:
        return "never"
    places = 4
    while share * 10**places < 1:
        places += 1
    percent = f"{float(100 * share):.{places}f}%"
    return percent if share > Fraction(1, 2) else f"{percent} ({_one_in(1 / share)})"


def _one_in(number: Fraction) -> str:
    return f"1 in {float(number):,.{0 if number >= 1000 else 2}f}"


def _cents(amount: int) -> str:
    return _dollars(Fraction(amount, 100))


def _dollars(amount: Fraction) -> str:
    """Dollars, with cents if the amount is below $1,000 and not whole."""
    return f"${float(amount):,.0f}" if amount >= 1000 or amount.denominator == 1 else f"${float(amount):,.2f}"


# --- Markdown


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], left: int) -> Iterator[str]:
    """A table. The first `left` columns are left-aligned, the others right-aligned; empty columns are left out."""
    kept = [column for column in range(len(head)) if any(row[column] for row in rows)]
    yield _row(head[column] for column in kept)
    yield _row("---" if column < left else "--:" for column in kept)
    for row in rows:
        yield _row(row[column] for column in kept)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |\n"


def _link(text: str, heading: str) -> str:
    """A link to a heading, with the address that code hosts make from its text."""
    letters = (each for each in heading.lower() if each.isalnum() or each in "-_ ")
    return f"[{text}](#{''.join(letters).replace(' ', '-')})"
