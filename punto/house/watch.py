"""The watch over the floor: the hits and wins at a table that are not by chance, from the store's sums of the gaming days.

Each figure begins again on each gaming day, because a fault begins one day at a table that was in order for years. The days up to
now are looked at in spans, each twice as long as the one before (`docs/explanation/watch.md`).
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import date, datetime, timedelta
from operator import itemgetter
from typing import Final, NamedTuple

import structlog
from sqlalchemy import Connection, select

from punto.baccarat.evidence import alarm_at
from punto.baccarat.table.meters import Meters
from punto.baccarat.wagers.definition import Game
from punto.configs.expectations import Expectations, shipped
from punto.configs.problems import cut
from punto.house import schema
from punto.house.disputes import REJECTED
from punto.house.live import Deviation
from punto.house.reports import Key, are_simulated, counts_between, meters_between
from punto.house.store import Store
from punto.house.titles import titles_of
from punto.messages.metering import metered

SPANS: Final = tuple(2**power for power in range(10))
"""The gaming days of each span, of which today is the last."""
_A_DAY: Final = timedelta(days=1)
_NOT_JUDGED: Final = (
    "its figures are not watched, because they do not fit its game: find out whether it is the house's table"
)
_UNKNOWN: Final = (
    "it plays the game {}, which the house does not know, so it is not watched: find out why the table does not publish this game in its "
    "topic info"
)
_log = structlog.get_logger("punto.house")

Told = Mapping[tuple[str, str], Expectations]
"""The chances that tables tell, by the table's id and the game's rules."""


class _Figure(NamedTuple):
    """A rule, or without a rule the win of a wager, at a table with one game's rules; without a wager, a result of hands."""

    key: Key
    wager: str | None
    rule: str | None


class _Found(NamedTuple):
    """What was counted of a figure since a gaming day: `hits` of `hands`, or the win of a handle, beside its expectation."""

    game: Game
    since: date
    found: int
    counted: int
    expected: float
    evidence: float


class Watch:
    """The watch over one store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._read: tuple[date, int, frozenset[int]] | None = None
        self._before: dict[date, dict[Key, Meters]] = {}
        self.unwatched: dict[str, str] = {}
        """The tables with figures that the last look could not judge, and why."""

    def look(self, now: datetime, told: Told) -> dict[str, tuple[Deviation, ...]]:
        """The deviations of each table now (UTC), the strongest first, and each thing once.

        `told` is needed for the wagers that no game ships with. The days before today are read once an hour, so a correction of
        a hand of these days counts within an hour, and at once when a person has chosen a table's record.

        Raises:
            StoreAwayError: the store cannot be reached.
        """
        today = self._store.calendar.day_of(now)
        with self._store.reading() as connection:
            read = today, now.hour, _rejected(connection)
            if self._read != read:
                self._before = _before(connection, today)
                self._read = read
            # What a person has rejected is not the table's.
            new = meters_between(connection, today, today, rejected=False)
            played = counts_between(connection, today, today, rejected=False)
            simulated = are_simulated(connection)
        self.unwatched = {
            table: _UNKNOWN.format(cut(name))
            for table, _, _, name, rules in played
            if self._store.game(name, rules) is None
        }
        strongest: dict[_Figure, _Found] = {}
        for since, before in self._before.items():
            span = {
                key: meters
                for key, meters in _together(before, new).items()
                # A rehearsal, whose hands people choose, says nothing of a table that plays for money.
                if simulated.get(key[0], key[1]) == key[1]
            }
            for figure, found in self._span(since, span, told):
                if figure not in strongest or found.evidence > strongest[figure].evidence:
                    strongest[figure] = found
        return _alarms(strongest)

    def _span(self, since: date, span: Mapping[Key, Meters], told: Told) -> Iterator[tuple[_Figure, _Found]]:
        """All figures that have an expectation, over a span of days. What fails with those of a table is the fault of this table."""
        for key, meters in sorted(span.items(), key=itemgetter(0)):
            table, _, _, name, rules = key
            game = self._store.game(name, rules)
            if game is None:
                continue
            try:
                yield from [*_figures(key, since, meters, game, told.get((table, rules), {}))]
            except Exception:  # noqa: BLE001 - whatever one table told, the others are watched
                if table not in self.unwatched:
                    _log.exception("a table cannot be watched", table=table, game=name)
                self.unwatched[table] = _NOT_JUDGED


def _figures(
    key: Key, since: date, meters: Meters, game: Game, told: Expectations
) -> Iterator[tuple[_Figure, _Found]]:
    """The figures of one game at a table.

    Raises:
        ValueError: a rule cannot have so many hits.
    """
    read = metered(meters, game, {**told, **shipped(game)})
    for count in read.counts:
        if not 0 <= count.hits <= read.hands:
            raise ValueError(f"{count.rule} has {count.hits} hits in {read.hands} hands")
        if count.expected is not None and count.evidence is not None:
            beside = count.hits, read.hands, count.expected, count.evidence
            yield _Figure(key, count.wager, count.rule), _Found(game, since, *beside)
    for each in read.wagers:
        if each.expected is not None and each.evidence is not None:
            kept = each.win, each.handle, each.expected, each.evidence
            yield _Figure(key, each.wager, None), _Found(game, since, *kept)


def _rejected(connection: Connection) -> frozenset[int]:
    """The records that a person has rejected."""
    return frozenset(connection.scalars(select(schema.RECORDS.c.id).filter_by(held_back=REJECTED)))


def _before(connection: Connection, today: date) -> dict[date, dict[Key, Meters]]:
    """The meters since the first day of each span, without today."""
    found: dict[date, dict[Key, Meters]] = {}
    sums: dict[Key, Meters] = {}
    begun = today
    for days in SPANS:
        since = today - (days - 1) * _A_DAY
        sums = _together(sums, meters_between(connection, since, begun - _A_DAY, rejected=False))
        found[since], begun = sums, since
    return found


def _together(some: Mapping[Key, Meters], more: Mapping[Key, Meters]) -> dict[Key, Meters]:
    return {**some, **{key: some[key].plus(each) if key in some else each for key, each in more.items()}}


def _alarms(strongest: Mapping[_Figure, _Found]) -> dict[str, tuple[Deviation, ...]]:
    """The alarms of each table. The tables have equal shares of the false alarms, whatever the number of their figures is."""
    figures = Counter(figure.key[0] for figure in strongest)
    alarms: dict[str, dict[tuple[object, ...], Deviation]] = {}
    for figure, found in sorted(strongest.items(), key=lambda item: -item[1].evidence):
        table = figure.key[0]
        if found.evidence >= alarm_at(len(figures) * figures[table]):
            alarms.setdefault(table, {}).setdefault(_thing(figure, found), _in_words(figure, found))
    return {table: tuple(found.values()) for table, found in alarms.items()}


def _thing(figure: _Figure, found: _Found) -> tuple[object, ...]:
    """What is one thing: a result, the rule that pays it, and that of another wager which loses by it or by all else."""
    if figure.rule is None:
        return figure
    hits, expected = found.found, found.expected
    if 2 * expected > found.counted:
        hits, expected = found.counted - hits, found.counted - expected
    return found.since, found.counted, hits, round(expected, 4)


def _in_words(figure: _Figure, found: _Found) -> Deviation:
    titles, wager = titles_of(found.game), figure.wager or ""
    return Deviation(
        wager=titles.wagers[wager],
        rule=None if figure.rule is None else titles.decided_by[wager][figure.rule],
        since=found.since,
        found=found.found,
        counted=found.counted,
        expected=found.expected,
        evidence=found.evidence,
    )
