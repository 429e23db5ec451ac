"""Compares every figure that a regulator's sheet prints with the exact one.

A figure agrees if the exact one, rounded half up to the printed number of digits, is the printed one. Counts
come from the game files and never from here. If the statistics of a progressive are not expected to agree,
the report lists the readings of its sheet that were tried, with their results.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from math import floor, sqrt
from pathlib import Path
from typing import Any, Final, Literal

from punto.baccarat.coup import Side
from punto.baccarat.wagers.definition import Game, Rule
from punto.configs.game_files import load_game
from punto.configs.problems import ConfigError, Problem
from punto.odds.published import figures_file
from punto.odds.published.readings import (
    AS_PRINTED,
    Chances,
    Model,
    Supposed,
    averaged,
    held_beside,
    returned,
    supposed,
    variants,
)

NEAR: Final = Fraction(5, 100)
"""The exact figure is near the printed one if it is within this share of it."""
SIMULATED: Final = 10**9
"""The coups of a simulation whose results are as far from the exact odds as the printed odds are."""
_BEST: Final = 6
"""The number of reported readings that are nearest to all statistics together."""
_BEST_BY_AVERAGE: Final = 3

Unit = Literal["%", "$", "1 in", ""]
Result = Literal["agrees", "nearly", "differs"]

_STATISTICS: Final[dict[str, tuple[str, Unit]]] = {
    "house_advantage": ("house advantage", "%"),
    "hit_frequency": ("hit frequency", "%"),
    "one_in": ("top award", "1 in"),
    "average": ("average top award", "$"),
}


@dataclass(frozen=True)
class Figure:
    """A printed figure and the exact one, both in `unit`; `reproducible` is the mark of the file.

    A figure read from a game file instead of counted from a shoe has no `decks`, and is never rounded.
    """

    sheet: str
    what: str
    decks: int | None
    printed: str
    unit: Unit
    exact: Fraction
    reproducible: bool | str = True
    note: str = ""

    @property
    def places(self) -> int:
        """The number of printed decimal places."""
        return len(self.printed.partition(".")[2])

    @property
    def difference(self) -> Fraction:
        """The exact figure less the printed one."""
        return self.exact - Fraction(self.printed)

    @property
    def result(self) -> Result:
        """Whether it agrees at the printed precision, or else is near."""
        exact = self.exact if self.decks is None else rounded(self.exact, self.places)
        if exact == Fraction(self.printed):
            return "agrees"
        return "nearly" if abs(self.difference) <= NEAR * abs(Fraction(self.printed)) else "differs"

    @property
    def simulated(self) -> "Simulated | None":
        """What printed odds that do not agree would be as those of a simulation; None for other figures."""
        if self.unit != "1 in" or self.result == "agrees":
            return None
        return Simulated(round(SIMULATED / Fraction(self.printed)), SIMULATED / self.exact)

    @property
    def as_marked(self) -> bool:
        """Whether the result is as good as the mark says; with a false mark any result is."""
        if self.reproducible is True:
            return self.result == "agrees"
        return self.reproducible is False or self.result != "differs"


@dataclass(frozen=True)
class Simulated:
    """The hits in a simulation of `SIMULATED` coups with the printed odds, and the number expected by the exact ones."""

    hits: int
    expected: Fraction

    @property
    def standard_errors(self) -> float:
        """How many standard errors the hits are above what is expected."""
        return float(self.hits - self.expected) / sqrt(self.expected)


@dataclass(frozen=True)
class Reading:
    """One reading of a sheet: its assumptions, and the resulting statistics at a contribution (a share)."""

    supposed: str
    decks: int
    contribution: Fraction
    figures: tuple[Figure, ...]


@dataclass(frozen=True)
class Readings:
    """The readings tried of one pay table.

    `nearest` has for each statistic the nearest reading, at the game file's contribution. `together` has
    those nearest to the hit frequency and the average at once, each at the contribution that gives the house
    advantage; `averaged` those nearest to the hit frequency and the house advantage, each at the contribution
    that gives the average, by the printed odds.
    """

    what: str
    sheet: str
    tried: int
    nearest: tuple[tuple[str, Reading], ...]
    together: tuple[Reading, ...]
    averaged: tuple[Reading, ...]


@dataclass(frozen=True)
class Report:
    """All figures in the order of the file, and the readings of the pay tables that are not expected to agree."""

    figures: tuple[Figure, ...]
    readings: tuple[Readings, ...]

    @property
    def as_marked(self) -> bool:
        """Whether every figure agrees with its mark in the file."""
        return all(figure.as_marked for figure in self.figures)


def rounded(exact: Fraction, places: int) -> Fraction:
    """Half up, by absolute value: 0.125 is 0.13 and -0.125 is -0.13."""
    scaled = floor(abs(exact) * 10**places + Fraction(1, 2))
    return Fraction(scaled if exact >= 0 else -scaled, 10**places)


def check(path: Path | None = None, load: figures_file.Load = load_game, game: Game | None = None) -> Report:
    """Compare a file of printed figures with the game files; without a path the sheets' own file.

    `load` reads the game files that it names. With `game`, only figures of the game with this name are compared, and
    with this game.

    Raises:
        ConfigError: the file, or a game file that it is compared with, cannot be used, or it has no figures of `game`.
    """
    file = figures_file.FiguresFile(path, load, game)
    edges = [
        (entry, side, source.dragon_bonus(side)) for entry, source in file.house_edges() for side in Side
    ]
    meters = [_Meter(entry, source) for entry, source in file.statistics()]
    chances = Chances(
        [*(wager for *_, wager in edges), *(each.wager for meter in meters for each in meter.variants)]
    )
    figures = (
        *(_house_edge(entry, side, chances.of(wager, entry.decks)) for entry, side, wager in edges),
        *(figure for meter in meters for figure in meter.figures(chances)),
        *(figure for entry, source in file.limits() for figure in _limits(entry, source)),
        *(_maximum_wagers(entry, source) for entry, source in file.maximum_wagers()),
    )
    if game is not None and not figures:
        raise ConfigError(
            [Problem(f"no printed figure is of {game.name}: leave out --game to compare all figures")]
        )
    return Report(
        figures=figures,
        readings=tuple(meter.readings(chances) for meter in meters if meter.entry.reproducible is not True),
    )


def _house_edge(
    entry: figures_file.HouseEdges, side: Side, chances: Sequence[tuple[Rule, Fraction]]
) -> Figure:
    return Figure(
        sheet=entry.sheet,
        what=f"Dragon Bonus {entry.table}, {side.value.capitalize()}: house edge",
        decks=entry.decks,
        printed=entry.player if side is Side.PLAYER else entry.banker,
        unit="%",
        exact=100 * (1 - returned(chances)),
        reproducible=entry.reproducible,
        note=entry.note,
    )


def _limits(entry: figures_file.Limits, source: figures_file.Source) -> Iterator[Figure]:
    for side in Side:
        limits = source.dragon_bonus(side).limits
        if limits.maximum is None:
            raise source.error(f"has no maximum for Dragon Bonus, but the file prints {entry.maximum}")
        for what, printed, amount in (
            ("minimum", entry.minimum, limits.minimum),
            ("maximum", entry.maximum, limits.maximum),
        ):
            yield _dollars(entry.sheet, f"Dragon Bonus {side.value.capitalize()}: {what}", printed, amount)


def _maximum_wagers(entry: figures_file.MaximumWagers, source: figures_file.Source) -> Figure:
    maximum = source.game.maximum_wagers
    if maximum is None:
        raise source.error(f"has no maximum_wagers, but the file prints {entry.maximum_wagers}")
    return Figure(
        entry.sheet, "Dai Bacc: wagers of a player", None, entry.maximum_wagers, "", Fraction(maximum)
    )


def _dollars(sheet: str, what: str, printed: str, amount: int) -> Figure:
    """An amount of a game file, which is in cents."""
    return Figure(sheet, what, None, printed, "$", Fraction(amount, 100))


class _Meter:
    """One pay table's statistics and the wager that they are compared with."""

    def __init__(self, entry: figures_file.Statistics, source: figures_file.Source) -> None:
        self.entry = entry
        self._source = source
        self._wager = source.progressive()
        self._decks = entry.decks or source.game.decks
        self._wide = entry.reproducible is False
        self.variants = variants(self._wager, entry.side, wide=self._wide)

    def figures(self, chances: Chances) -> Iterator[Figure]:
        """The statistics compared with those of the game file, and the values that it takes from the sheet."""
        wager = held_beside(self._wager, self.entry.side)
        model = Model.of(wager, chances.of(wager, self._decks))
        if model is None:
            raise self._source.error(f"has no coup that wins the whole meter of {wager.name}")
        yield from self._statistics(model, self._decks)
        title, sheet = self.entry.title, self.entry.sheet
        yield _dollars(sheet, f"{title}: seed", self.entry.seed_amount, model.seed)
        yield _dollars(sheet, f"{title}: wager", str(self.entry.denomination), model.stake)

    def _statistics(self, model: Model, decks: int) -> tuple[Figure, ...]:
        given = model.gives()
        return tuple(
            Figure(
                sheet=self.entry.sheet,
                what=f"{self.entry.title}: {what}",
                decks=decks,
                printed=getattr(self.entry, name),
                unit=unit,
                exact=getattr(given, name),
                reproducible=self.entry.reproducible,
            )
            for name, (what, unit) in _STATISTICS.items()
        )

    def readings(self, chances: Chances) -> Readings:
        """The nearest of the other readings of the sheet."""
        one_in = Fraction(self.entry.one_in)
        tried = [
            each for variant in self.variants for each in supposed(variant, chances, one_in, wide=self._wide)
        ]
        solved = [each for reading in tried for each in self._solved(reading)]
        together = sorted(solved, key=lambda each: self._away(each, "hit_frequency", "average"))
        average = Fraction(self.entry.average)
        by_average = [
            each for variant in self.variants for each in averaged(variant, chances, one_in, average)
        ]
        by_average.sort(key=lambda each: self._away(each, "hit_frequency", "house_advantage"))
        return Readings(
            what=self.entry.title,
            sheet=self.entry.sheet,
            tried=len(tried),
            nearest=tuple((what, self._nearest(tried, name)) for name, (what, _) in _STATISTICS.items()),
            together=tuple(map(self._reading, together[:_BEST])),
            averaged=tuple(map(self._reading, by_average[:_BEST_BY_AVERAGE])),
        )

    def _solved(self, reading: Supposed) -> Iterator[Supposed]:
        """The reading at the contribution that gives the house advantage: as printed, or with a slip in the tens."""
        for points in (0, 10):
            advantage = Fraction(self.entry.house_advantage) + points
            model = reading.model.giving(advantage)
            slip = (f"advantage {_decimal(advantage, 2)}%",) if points else ()
            if 0 <= model.contribution <= 1:
                yield replace(reading, words=(*reading.words, *slip), model=model)

    def _nearest(self, tried: Iterable[Supposed], name: str) -> Reading:
        # Odds taken from the sheet cannot confirm the printed odds.
        fair = (each for each in tried if name != "one_in" or AS_PRINTED not in each.words)
        return self._reading(min(fair, key=lambda each: self._away(each, name)))

    def _away(self, reading: Supposed, *names: str) -> tuple[Fraction, int]:
        """A reading's distance from these statistics, as shares of them; then its number of assumptions."""
        given = reading.model.gives()
        shares = []
        for name in names:
            printed = Fraction(getattr(self.entry, name))
            shares.append(abs(getattr(given, name) - printed) / abs(printed or 1))
        return max(shares), len(reading.words)

    def _reading(self, reading: Supposed) -> Reading:
        return Reading(
            supposed=", ".join(reading.words) or "as worded",
            decks=reading.decks,
            contribution=reading.model.contribution,
            figures=self._statistics(reading.model, reading.decks),
        )


# --- the printed report


def lines(report: Report) -> Iterator[str]:
    """The report as aligned tables."""
    head = ("figure", "sheet", "decks", "printed", "exact", "difference", "")
    rows = [
        (
            figure.what,
            figure.sheet,
            "" if figure.decks is None else str(figure.decks),
            _shown(figure, Fraction(figure.printed), figure.places),
            _shown(figure, figure.exact, _places(figure)),
            _decimal(figure.difference, _places(figure), sign="+"),
            _result(figure),
        )
        for figure in report.figures
    ]
    yield from _table([head, *rows], "<<>>>><")
    yield from _simulated(report.figures)
    for readings in report.readings:
        yield ""
        yield from _readings(readings)
    yield ""
    results = [figure.result for figure in report.figures]
    yield (
        f"{len(results)} figures: {results.count('agrees')} agree at the printed precision, {results.count('nearly')} "
        f"are within {float(NEAR):.0%}, {results.count('differs')} differ"
    )
    others = [figure for figure in report.figures if not figure.as_marked]
    if not others:
        yield "every figure agrees with its mark in the file"
    for figure in others:
        mark = "agree" if figure.reproducible is True else "be near"
        yield f"{figure.what} (sheet {figure.sheet}, {figure.printed}) is marked to {mark} but does not"


def _result(figure: Figure) -> str:
    noted = figure.note and figure.result != "agrees"
    return f"{figure.result}: {figure.note}" if noted else figure.result


def _simulated(figures: Iterable[Figure]) -> Iterator[str]:
    head = (
        f"as results of a simulation of {SIMULATED:,} coups",
        "hits as printed",
        "expected",
        "standard errors",
    )
    rows = [
        (figure.what, f"{each.hits:,}", f"{float(each.expected):,.1f}", f"{each.standard_errors:+.1f}")
        for figure in figures
        if (each := figure.simulated)
    ]
    if rows:
        yield ""
        yield from _table([head, *rows], "<>>>")


def _readings(readings: Readings) -> Iterator[str]:
    printed = readings.nearest[0][1].figures
    head = ["", "decks", "contribution", *(what for what, _ in _STATISTICS.values())]
    as_printed_ = [
        "printed",
        "",
        "",
        *(_shown(each, Fraction(each.printed), each.places) for each in printed),
    ]
    nearest = [_row(f"  {what}: {reading.supposed}", reading) for what, reading in readings.nearest]
    together = [_row(f"  {reading.supposed}", reading) for reading in readings.together]
    by_average = [_row(f"  {reading.supposed}", reading) for reading in readings.averaged]
    table = list(_table([head, as_printed_, *nearest, *together, *by_average], "<>>>>>>"))
    yield f"{readings.what} (sheet {readings.sheet}): {readings.tried} readings tried"
    yield from table[:2]
    yield "nearest to one statistic, at the game file's contribution"
    yield from table[2 : 2 + len(nearest)]
    if together:
        yield "with the contribution that gives the house advantage: nearest to the hit frequency and the average together"
        yield from table[2 + len(nearest) : len(table) - len(by_average)]
    if by_average:
        yield "with the contribution that gives the average: nearest to the hit frequency and the house advantage together"
        yield from table[-len(by_average) :]


def _row(name: str, reading: Reading) -> list[str]:
    cells = [
        f"{_shown(each, each.exact, each.places)} ({_decimal(each.difference, each.places, sign='+')})"
        for each in reading.figures
    ]
    return [name, str(reading.decks), f"{_decimal(100 * reading.contribution, 2)}%", *cells]


def _places(figure: Figure) -> int:
    """Three decimal places more than printed, or the printed number if the exact figure has no more."""
    exact = rounded(figure.exact, figure.places) == figure.exact
    return figure.places if exact else figure.places + 3


def _shown(figure: Figure, value: Fraction, places: int) -> str:
    number = _decimal(value, places)
    return {"%": f"{number}%", "$": f"${number}", "1 in": f"1 in {number}", "": number}[figure.unit]


def _decimal(value: Fraction, places: int, sign: Literal["-", "+"] = "-") -> str:
    scaled = rounded(value, places) * 10**places
    return f"{Decimal(int(scaled)).scaleb(-places):{sign},.{places}f}"


def _table(rows: Sequence[Sequence[str]], align: str) -> Iterator[str]:
    """Columns of equal width, each aligned left (<) or right (>)."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (f"{cell:{side}{width}}" for cell, side, width in zip(row, align, widths, strict=True))
        yield "  ".join(cells).rstrip()


def as_json(report: Report) -> dict[str, Any]:
    """The report as plain values; exact numbers as "numerator/denominator" beside the nearest floating-point one."""
    return {
        "as_marked": report.as_marked,
        "figures": [_plain(figure) for figure in report.figures],
        "readings": [
            {
                "what": each.what,
                "sheet": each.sheet,
                "tried": each.tried,
                "nearest": [{"to": to, **_plain_reading(reading)} for to, reading in each.nearest],
                "together": [_plain_reading(reading) for reading in each.together],
                "averaged": [_plain_reading(reading) for reading in each.averaged],
            }
            for each in report.readings
        ],
    }


def _plain(figure: Figure) -> dict[str, Any]:
    return {
        "sheet": figure.sheet,
        "what": figure.what,
        "decks": figure.decks,
        "unit": figure.unit,
        "printed": figure.printed,
        "exact": float(figure.exact),
        "exact_fraction": str(figure.exact),
        "difference": float(figure.difference),
        "result": figure.result,
        "simulated": _plain_simulated(figure.simulated),
        "reproducible": figure.reproducible,
        "note": figure.note,
    }


def _plain_simulated(simulated: Simulated | None) -> dict[str, Any] | None:
    if simulated is None:
        return None
    return {
        "coups": SIMULATED,
        "hits": simulated.hits,
        "expected": float(simulated.expected),
        "standard_errors": simulated.standard_errors,
    }


def _plain_reading(reading: Reading) -> dict[str, Any]:
    return {
        "supposed": reading.supposed,
        "decks": reading.decks,
        "contribution": float(reading.contribution),
        "contribution_fraction": str(reading.contribution),
        "figures": [_plain(figure) for figure in reading.figures],
    }
