"""`punto edge-report`: each wager's exact edge over a shoe, coup by coup, as a drawing or as figures."""

import argparse
import csv
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import IO, Any, Final

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator
from numpy.typing import NDArray

from punto.baccarat.cards import Card
from punto.baccarat.coup import Coup
from punto.baccarat.wagers.definition import Game
from punto.commands.arguments import add_decks, add_game, game_with_decks, share
from punto.commands.json_lines import LineError, check_keys, parse
from punto.commands.score import KEYS, read_cards
from punto.configs.problems import ConfigError, Problem, cut, nearest
from punto.configs.text_file import TextError, lines, text_of
from punto.controller.edge.left import Left, left_of
from punto.controller.journal.recovery import history
from punto.controller.journal.schema import RecordError, reading
from punto.odds.composition import CARDS_OF_A_COUP, MOST_DECKS, Composition, CompositionError
from punto.odds.exact import GameOdds
from punto.runtime.made_files import SHARED, write_file

HELP: Final = (
    "Draw a chart of the exact house edge of each wager before the first coup (deal) of a shoe, and after each coup. SHOE can "
    "be a file of "
    'JSON Lines, as for `punto score`. Each line is one coup, such as {"cards":["9S","KD","3H","4C","8D"]}. A line '
    '{"burn":["3S","9H"]} has cards that were not dealt to a hand. SHOE can also be a file that `punto simulate --shoes --csv` '
    "wrote, or the record of a table. A record includes the game: do not give --game with a record. With --json, print the "
    "edges as figures."
)

SUFFIXES: Final = (".png", ".svg")
_MOST_ERRORS: Final = 100
_SQLITE: Final = b"SQLite format 3\0"
_BURN: Final = "burn"
_COLORS: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F3C8D", "#7A7A7A")
_STYLES: Final = ("-", "--", ":")
_ALARM: Final = "#B71C1C"
_GREY: Final = "#555555"
_WIDE: Final = 40
"""If the edges span more than this (in percent), the drawing has a second panel from minus to plus `_NEAR`."""
_NEAR: Final = 10


class ShoeError(Exception):
    """A shoe that cannot be read. The message has one error on each line."""


@dataclass(frozen=True)
class Shoe:
    """The cards left by the number of coups dealt, as long as a further coup could be dealt."""

    game: Game
    name: str
    left: Mapping[int, Composition]


@dataclass(frozen=True)
class Series:
    """The edges of some positions at each of a shoe's coups: shape (coups, positions)."""

    positions: Sequence[str]
    edges: NDArray[np.float64]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the subcommand takes."""
    parser.add_argument(
        "shoe",
        metavar="SHOE",
        help="a file of coups, - for the standard input, a file of simulated rounds, or the record of a table",
    )
    add_game(parser, note=". Do not give this option with a record")
    add_decks(parser, MOST_DECKS, ". Do not give this option with a record")
    number = "the number of the shoe in a record or in a file of simulated rounds"
    parser.add_argument("--shoe", dest="number", type=int, metavar="N", help=number)
    wagers = "draw only these wagers, in this order (default: every wager of the game)"
    parser.add_argument("--wagers", metavar="A,B", help=wagers)
    alarm = "the players' advantage at which the chart has the alarm line (default: 1%%)"
    parser.add_argument("--alarm", type=share, default="1%", metavar="SHARE", help=alarm)
    parser.add_argument("--out", type=_picture, metavar="FILE", help="the file for the drawing, .png or .svg")
    parser.add_argument("--json", action="store_true", help="print the figures as one JSON object")


def _picture(text: str) -> Path:
    path = Path(text)
    if path.suffix not in SUFFIXES:
        raise argparse.ArgumentTypeError(
            f"{cut(text)} is not a drawing: write a name that ends in {' or '.join(SUFFIXES)}"
        )
    return path


def main(args: argparse.Namespace) -> int:
    """Draw, print or both; 1 if the shoe cannot be read or the drawing cannot be written."""
    if args.out is None and not args.json:
        raise ConfigError([Problem("the output is missing: add --out FILE or --json, or both")])
    try:
        shoe = _read(args)
        series = _series(shoe, args.wagers)
    except (ShoeError, RecordError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except OSError as error:
        name = "standard input" if args.shoe == "-" else cut(args.shoe, 200)
        sys.stderr.write(f"{name}: cannot be read: {error.strerror}\n")
        return 1
    if args.out is not None:
        try:
            _save(draw(shoe, series, args.alarm), args.out)
        except OSError as error:
            sys.stderr.write(f"{cut(str(args.out), 200)}: cannot be written: {error.strerror}\n")
            return 1
    if args.json:
        print(json.dumps(_figures(shoe, series, args.alarm), separators=(",", ":")))
    return 0


# --- the shoe


def _read(args: argparse.Namespace) -> Shoe:
    if args.shoe == "-":
        return _of_lines(sys.stdin.buffer, "standard input", args)
    path = Path(args.shoe)
    with path.open("rb") as file:
        if not file.peek(len(_SQLITE)).startswith(_SQLITE):  # not `seek`: it may be a pipe
            return _of_lines(file, str(path), args)
    for option in ("game", "decks"):
        if getattr(args, option) is not None:
            raise ConfigError([Problem(f"a record includes its game: remove --{option}", str(path))])
    return of_record(path, args.number)


def _of_lines(file: IO[bytes], name: str, args: argparse.Namespace) -> Shoe:
    if args.game is None:
        raise ConfigError([Problem("the game is missing: add --game FILE", name)])
    game = game_with_decks(args)
    source = lines(file)
    first = next(source, b"")
    try:
        columns = [each.strip('"') for each in text_of(first).strip().split(",")]
    except TextError as error:
        raise ShoeError(f"{name}:1: {error}") from None
    if columns[:3] == ["shoe", "round", "cards"]:
        shoe = of_coups(_simulated(source, name, args.number), game, name, _cards_of_a_row)
        return shoe if args.number is None else replace(shoe, name=f"shoe {args.number} of {shoe.name}")
    if args.number is not None:
        raise ConfigError([Problem("this file has only one shoe: remove --shoe", name)])
    return of_coups(enumerate(chain([first] * bool(first), source), 1), game, name, _cards_of)


def _simulated(source: Iterable[bytes], name: str, number: int | None) -> Iterator[tuple[int, bytes]]:
    """The numbered lines of one shoe in a file of simulated rounds; the first line of the file has been read.

    Raises:
        ConfigError: there is no such shoe, or the number is missing.
        ShoeError: a line does not begin with the number of its shoe.
    """
    shoe, given = 0, False
    wanted = number
    for at, line in enumerate(source, 2):
        text = line.partition(b",")[0].strip(b'" ').decode(errors="replace")
        if not text.isdigit():
            raise ShoeError(
                f"{name}:{at}: the line must begin with the number of the shoe, not {cut(text)!r}"
            )
        shoe = int(text)
        wanted = shoe if wanted is None else wanted
        if shoe > wanted:  # shoes are in order
            break
        if shoe == wanted:
            given = True
            yield at, line
    if number is None and shoe != (wanted or 0):
        raise ConfigError(
            [
                Problem(
                    f"the file has several shoes: add --shoe with the number of a shoe; the first shoe has the number {wanted}",
                    name,
                )
            ]
        )
    if shoe and not given:
        there = (
            f"the last shoe has the number {shoe}"
            if shoe < (wanted or 0)
            else f"the first shoe has the number {shoe}"
        )
        raise ConfigError([Problem(f"there is no shoe {number} in this file; {there}", name)])


def of_coups(
    source: Iterable[tuple[int, bytes]],
    game: Game,
    name: str,
    read: Callable[[bytes, int], tuple[bool, tuple[Card, ...]]],
) -> Shoe:
    """The shoe of these numbered lines. `read` takes a line and the number of decks.

    Raises:
        ShoeError: lines are invalid, or there is no coup.
    """
    seen: Counter[Card] = Counter()
    left = {0: Composition.of_decks(game.decks)}
    errors = []
    coups = 0
    for number, line in source:
        if line.isspace():
            continue
        try:
            burned, cards = read(line, game.decks)
            for card in cards:
                if seen[card] + cards.count(card) > game.decks:
                    raise LineError(
                        f"up to this line, {card} was dealt {seen[card] + cards.count(card)} times, but a shoe of "
                        f"{game.decks} decks has it {game.decks} times"
                    )
        except ValueError as error:  # also from the cards and the coup
            errors.append(f"{name}:{number}: {error}")
            if len(errors) == _MOST_ERRORS:
                errors.append(f"{name}: there may be more: the rest of the file was not read")
                break
            continue
        seen.update(cards)
        coups += not burned
        if game.decks * 52 - seen.total() >= CARDS_OF_A_COUP:
            left[coups] = Composition.of_decks(game.decks).without(seen.elements())
    if not errors and not coups:
        errors.append(f"{name}: the file has no coups")
    if errors:
        raise ShoeError("\n".join(errors))
    return Shoe(game, Path(name).name, left)


def _cards_of(line: bytes, decks: int) -> tuple[bool, tuple[Card, ...]]:
    """Whether a line's cards were burned, and the cards."""
    found = parse(line)
    if _BURN in found:
        check_keys(found, (_BURN,))
        return True, read_cards(found[_BURN], decks)
    check_keys(found, KEYS, required=("cards",))
    return False, Coup.complete(read_cards(found["cards"], decks)).cards


def _cards_of_a_row(line: bytes, decks: int) -> tuple[bool, tuple[Card, ...]]:
    """The cards of a simulated round; they were not burned."""
    (row,) = csv.reader([text_of(line)])
    if len(row) < 3:
        raise LineError("the line has no cards")
    return False, Coup.complete(read_cards(row[2].split(), decks)).cards


def of_record(path: Path, number: int | None) -> Shoe:
    """A shoe of a table's record. The number may be left out if there is only one shoe.

    Its edges are the same as those that the service published.

    Raises:
        ConfigError: there is no such shoe, or the number is missing.
        RecordError: the record cannot be read.
        ShoeError: the shoe has a card more often than its decks.
    """
    with reading(path) as connection:
        shoes = [shoe for (shoe,) in connection.execute("SELECT DISTINCT shoe FROM rounds ORDER BY shoe")]
    if number is None and len(shoes) == 1:
        (number,) = shoes
    if number is None or number not in shoes:
        there = (
            f"the shoes of the record are {shoes[0]} to {shoes[-1]}" if shoes else "the record has no coups"
        )
        what = (
            "the shoe is missing: write --shoe N"
            if number is None
            else f"there is no shoe {number} in this record"
        )
        raise ConfigError([Problem(f"{what}; {there}", str(path))])
    found: dict[int, Left] = {}
    for step in history(path):
        state = step.state
        if state.shoe.number > number:
            break
        left = left_of(state)
        if left is not None and left.shoe == number and state.round.coup is None:
            found[state.shoe.coups] = left
            settings = state.settings
    try:
        compositions = {coup: left.composition() for coup, left in found.items() if not left.carried}
    except CompositionError as error:
        raise ShoeError(f"{path}: shoe {number}: {error}") from None
    if not compositions:
        raise ShoeError(
            f"{path}: shoe {number}: there are no edges to draw, because each coup began with cards that were drawn too soon"
        )
    return Shoe(settings.game, f"shoe {number} of {settings.title}", compositions)


# --- its edges


def _series(shoe: Shoe, wanted: str | None) -> Series:
    try:
        odds = GameOdds(shoe.game)
        edges = odds.edges(np.array([left.counts for left in shoe.left.values()]))
    except ValueError as error:  # a meter from which nothing can be won
        raise ShoeError(f"{shoe.game.name}: {error}") from None
    names = [position.name for position in odds.positions]
    chosen = list(_chosen(names, wanted.split(","))) if wanted else names
    return Series(chosen, edges[:, [names.index(name) for name in chosen]])


def _chosen(names: Sequence[str], wanted: Sequence[str]) -> Iterator[str]:
    """The positions of these names. A wager's own name means all its positions."""
    for each in dict.fromkeys(wanted):
        found = [name for name in names if each in {name, name.partition(":")[0]}]
        if not found:
            message = f"--wagers: the game has no wager {cut(each)!r}; it has {', '.join(names)}"
            raise ConfigError([Problem(message, suggestion=nearest(each, names))])
        yield from found


def _figures(shoe: Shoe, series: Series, alarm: Fraction) -> dict[str, Any]:
    return {
        "game": shoe.game.name,
        "decks": shoe.game.decks,
        "shoe": shoe.name,
        "alarm": float(alarm),
        "coups": [
            {
                "coup": coup,
                "cards_not_seen": left.cards,
                "edges": dict(zip(series.positions, edges.tolist(), strict=True)),
            }
            for (coup, left), edges in zip(shoe.left.items(), series.edges, strict=True)
        ],
    }


# --- the drawing


def draw(shoe: Shoe, series: Series, alarm: Fraction) -> Figure:
    """Each position's edge by the number of coups dealt. Below zero, a wager favours the players.

    If the range is so large that most lines look flat, a second panel shows the same lines near zero.
    """
    percent, threshold = 100 * series.edges, -100 * float(alarm)
    lowest, highest = min(percent.min(), 1.5 * threshold, -0.5), max(percent.max(), 0.5)
    panels = [(lowest, highest)]
    if highest - lowest > _WIDE:
        panels.append((-_NEAR, _NEAR))
    figure = Figure(figsize=(11, 3 + 3.2 * len(panels)), layout="constrained")
    column = list(figure.subplots(len(panels), sharex=True, squeeze=False)[:, 0])
    for axes, (bottom, top) in zip(column, panels, strict=True):
        margin = 0.04 * (top - bottom)
        axes.set_ylim(bottom - margin, top + margin)
        _panel(axes, list(shoe.left), _lines(series.positions, percent), threshold)
    if len(panels) > 1:
        column[1].set_title(
            f"the same near zero, from \N{MINUS SIGN}{_NEAR}% to {_NEAR}%",
            loc="left",
            fontsize=10,
            color=_GREY,
        )
    _label(figure, column, shoe)
    return figure


def _lines(positions: Sequence[str], percent: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """The lines to draw, by label. Positions whose edges are always the same share a line."""
    found: dict[bytes, list[str]] = {}
    for name, line in zip(positions, np.round(percent.T, 9), strict=True):
        found.setdefault(line.tobytes(), []).append(name)
    return {" = ".join(names): np.frombuffer(line) for line, names in found.items()}


def _panel(axes: Axes, coups: list[int], lines_: Mapping[str, NDArray[np.float64]], threshold: float) -> None:
    for number, (name, line) in enumerate(lines_.items()):
        color = _COLORS[number % len(_COLORS)]
        style = _STYLES[number // len(_COLORS) % len(_STYLES)]
        label = f"{name}  {line.min():.2f}%".replace("-", "\N{MINUS SIGN}")
        axes.plot(coups, line, color=color, linestyle=style, linewidth=1.6, label=label)
        over = line < threshold
        axes.scatter(np.array(coups)[over], line[over], color=color, s=14, zorder=3)
    axes.axhline(0, color="#333333", linewidth=1, zorder=1.5)
    axes.axhline(
        threshold,
        color=_ALARM,
        linewidth=1,
        linestyle=(0, (6, 3)),
        label=f"alarm: {-threshold:g}% to the players",
    )
    axes.axhspan(axes.get_ylim()[0], 0, facecolor="#FDECEA", zorder=0, label="favours the players")
    axes.set_ylabel("house edge, per unit staked")
    axes.set_xlim(coups[0] - 0.5, coups[-1] + 0.5)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
    axes.yaxis.set_major_formatter(
        FuncFormatter(lambda value, _: f"{value:g}%".replace("-", "\N{MINUS SIGN}"))
    )
    axes.grid(axis="y", color="#DDDDDD", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def _label(figure: Figure, column: Sequence[Axes], shoe: Shoe) -> None:
    first = column[0]
    title, about = f"{shoe.game.title}: the house's edge over a shoe", f"{shoe.name}, {shoe.game.decks} decks"
    # A name may have dollar signs, which would be parsed as formulas.
    first.set_title(title, loc="left", fontweight="bold", pad=26, parse_math=False)
    first.annotate(
        about, (0, 1), (0, 8), "axes fraction", textcoords="offset points", color=_GREY, parse_math=False
    )
    column[-1].set_xlabel("coups dealt from the shoe")
    handles, labels = first.get_legend_handles_labels()
    figure.legend(
        handles,
        labels,
        title="wager, and its lowest edge",
        alignment="left",
        loc="outside right upper",
        frameon=False,
    )


def _save(figure: Figure, path: Path) -> None:
    """Write the drawing; on an error, an existing file stays unchanged. Its edges are not for players."""
    picture, form = BytesIO(), path.suffix.removeprefix(".")
    # The same figures give the same file: without a date and random names.
    with rc_context({"svg.hashsalt": "punto", "svg.fonttype": "none"}):
        figure.savefig(picture, format=form, dpi=150, metadata={"Date": None} if form == "svg" else None)
    write_file(path, picture.getvalue(), SHARED)
