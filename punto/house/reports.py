"""Reports of the floor: over gaming days from the store's sums, and over the last hours from its rounds."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime, timedelta
from fractions import Fraction
from typing import Any, Final

from sqlalchemy import Connection, Table, func, select

from punto.baccarat import evidence
from punto.baccarat.coup import Winner
from punto.baccarat.table.meters import Handle, Hits, Meters
from punto.configs.expectations import shipped
from punto.house import schema
from punto.house.disputes import REJECTED
from punto.house.rows import rounds_between
from punto.house.store import Store
from punto.house.taken import Taken
from punto.house.tally import Counted, Place, Sums, count
from punto.house.titles import GameTitles, titles_in
from punto.messages.building import timestamp
from punto.messages.metering import metered
from punto.messages.meters import MeterReadings, WagerReading
from punto.messages.models import Part, Timestamp

MOST_ROUNDS: Final = 100_000
"""The most rounds of a shift: they are counted one by one, in some seconds."""
_RESULTS: Final = frozenset(Winner)
Key = tuple[str, bool, str, str, str]
"""A table's id, whether it was a simulation, its currency, and its game's name and rules.

A table has simulated figures and others if it was rehearsed, and another currency if it began a new record.
"""


class TableReport(Part):
    """What a table counted with one game's rules: its rounds by status, and its meters beside their expectations.

    The rounds of a simulation, such as a rehearsal, are not played for money and are a report of their own.

    If the game is not known, `meters` has what was staked and returned, and no hits.
    """

    table: str
    simulation: bool
    currency: str
    game: str
    rules: str
    rounds: dict[str, int]
    meters: MeterReadings


class WagerOfFloor(Part):
    """A wager over all tables with one game's rules and one currency, of which simulations are separate."""

    simulation: bool
    currency: str
    game: str
    rules: str
    wager: WagerReading


class FloorReport(Part):
    """The gaming days from `since` to `until`, both included: each table, and each wager over all tables.

    Evidence of `marked_at` or more is marked: by chance, at most one report in 31 has such a mark. `games` has the titles.
    """

    since: date
    until: date
    marked_at: float
    games: tuple[GameTitles, ...]
    tables: tuple[TableReport, ...]
    wagers: tuple[WagerOfFloor, ...]


class ShiftReport(Part):
    """The last hours: each table, and each wager over all tables, as in `FloorReport`.

    A correction of a round before the shift does not count, as in the report of the shift at a table.
    """

    since: Timestamp
    until: Timestamp
    marked_at: float
    games: tuple[GameTitles, ...]
    tables: tuple[TableReport, ...]
    wagers: tuple[WagerOfFloor, ...]


class Days(Part):
    """The first and the last gaming day of which the store has rounds; null if it has none."""

    first: date | None
    last: date | None


def days(store: Store) -> Days:
    """The days on which there are reports.

    Raises:
        StoreAwayError: the store cannot be reached.
    """
    day = schema.COUNTS.c.day
    with store.reading() as connection:
        first, last = connection.execute(select(func.min(day), func.max(day))).one()
    return Days(first=first, last=last)


def floor_report(store: Store, since: date, until: date) -> FloorReport:
    """The report of these gaming days.

    Raises:
        StoreAwayError: the store cannot be reached.
    """
    with store.reading() as connection:
        counts = counts_between(connection, since, until)
        meters = meters_between(connection, since, until)
    tables, wagers = _by_table_and_wager(store, counts, meters)
    return FloorReport(
        since=since,
        until=until,
        marked_at=_marked_at(tables, wagers),
        games=_games(store, tables),
        tables=tables,
        wagers=wagers,
    )


def shift_report(store: Store, hours: int, now: datetime) -> ShiftReport:
    """The report of the last `hours` hours before `now` (UTC).

    Raises:
        TooManyRoundsError: more rounds ended in these hours than can be counted one by one.
        StoreAwayError: the store cannot be reached.
    """
    since = now - timedelta(hours=hours)
    sums = Sums()
    numbers: dict[tuple[str, bool, str], int] = {}
    settled: dict[tuple[str, str, int], Counted | None] = {}
    for told in _rounds(store, since, now):
        record = told.round
        # One place for all gaming days and records of a table in one currency.
        of_table = told.table, told.simulation, told.currency
        place = Place(since.date(), numbers.setdefault(of_table, len(numbers)), told.game, told.rules)
        of = told.table, told.record, record.round if record.corrects is None else record.corrects
        before = settled.get(of)
        game = store.game(*(place if before is None else before.place)[2:])
        settled[of] = count(sums, place, record, before, game)
    tables = list(numbers)

    def key(place: Place) -> Key:
        return *tables[place.record_id], place.game, place.rules

    counts: defaultdict[Key, dict[str, int]] = defaultdict(dict)
    for (place, status), rounds in sorted(sums.counts.items()):
        counts[key(place)][status] = rounds
    meters = _as_meters(
        ((key(place), handle) for (place, _), handle in sorted(sums.handles.items())),
        (
            (key(place), Hits(wager or None, rule, number))
            for (place, wager, rule), number in sorted(sums.hits.items())
        ),
    )
    by_table, by_wager = _by_table_and_wager(store, counts, meters)
    return ShiftReport(
        since=timestamp(since),
        until=timestamp(now),
        marked_at=_marked_at(by_table, by_wager),
        games=_games(store, by_table),
        tables=by_table,
        wagers=by_wager,
    )


def _games(store: Store, tables: tuple[TableReport, ...]) -> tuple[GameTitles, ...]:
    return titles_in(store, ((each.game, each.rules) for each in tables))


def _marked_at(tables: tuple[TableReport, ...], wagers: tuple[WagerOfFloor, ...]) -> float:
    found = [
        *(each.evidence for table in tables for each in table.meters.counts),
        *(each.evidence for table in tables for each in table.meters.wagers),
        *(each.wager.evidence for each in wagers),
    ]
    return evidence.alarm_at(sum(each is not None for each in found))


def _rounds(store: Store, since: datetime, until: datetime) -> Iterator[Taken]:
    with store.reading() as connection:
        yield from rounds_between(connection, store.calendar, since, until, MOST_ROUNDS)


def _readings(store: Store, meters: Meters) -> MeterReadings:
    game = store.game(meters.game, meters.rules)
    if game is not None:
        return metered(meters, game, shipped(game))
    return MeterReadings(
        hands=0,
        counts=(),
        wagers=tuple(
            WagerReading(
                wager=each.wager,
                wagers=each.wagers,
                handle=each.staked,
                returned=each.returned,
                win=each.staked - each.returned,
                expected=None,
                errors=None,
                evidence=None,
            )
            for each in meters.handle
        ),
    )


def _by_table_and_wager(
    store: Store, counts: Mapping[Key, dict[str, int]], meters: Mapping[Key, Meters]
) -> tuple[tuple[TableReport, ...], tuple[WagerOfFloor, ...]]:
    floor: dict[tuple[bool, str, str, str], Meters] = {}
    for (_, simulation, currency, name, rules), each in meters.items():
        key = simulation, currency, name, rules
        floor[key] = floor.get(key, Meters(game=name, rules=rules)).plus(each)
    tables = tuple(
        TableReport(
            table=key[0],
            simulation=key[1],
            currency=key[2],
            game=key[3],
            rules=key[4],
            rounds=counts.get(key, {}),
            meters=_readings(store, meters.get(key, Meters(game=key[3], rules=key[4]))),
        )
        for key in sorted(meters.keys() | counts.keys())
    )
    wagers = tuple(
        WagerOfFloor(simulation=simulation, currency=currency, game=name, rules=rules, wager=each)
        for (simulation, currency, name, rules), of_game in sorted(floor.items())
        for each in _readings(store, of_game).wagers
    )
    return tables, wagers


def meters_between(
    connection: Connection, since: date, until: date, *, rejected: bool = True
) -> dict[Key, Meters]:
    """The meters of each table and game on these gaming days, both included; also of rejected records if they are asked for."""
    return _as_meters(
        (
            (key, Handle(wager, int(wagers), int(staked), int(returned), int(squares), Fraction(rounded)))
            for key, (wager,), (wagers, staked, returned, squares, rounded) in _summed(
                connection, schema.HANDLES, since, until, rejected=rejected
            )
        ),
        (
            (key, Hits(wager or None, rule, int(number)))
            for key, (wager, rule), (number,) in _summed(
                connection, schema.HITS, since, until, rejected=rejected
            )
        ),
    )


def _as_meters(handle: Iterable[tuple[Key, Handle]], hit: Iterable[tuple[Key, Hits]]) -> dict[Key, Meters]:
    handles: defaultdict[Key, list[Handle]] = defaultdict(list)
    hits: defaultdict[Key, list[Hits]] = defaultdict(list)
    for key, own in handle:
        handles[key].append(own)
    for key, each in hit:
        hits[key].append(each)
    return {
        key: Meters(
            game=key[3],
            rules=key[4],
            hands=sum(each.hits for each in hits[key] if each.wager is None and each.rule in _RESULTS),
            hits=tuple(hits[key]),
            handle=tuple(handles[key]),
        )
        for key in handles.keys() | hits.keys()
    }


def counts_between(
    connection: Connection, since: date, until: date, *, rejected: bool = True
) -> defaultdict[Key, dict[str, int]]:
    """The rounds of each table and game on these gaming days, both included, by status; as `meters_between`."""
    found: defaultdict[Key, dict[str, int]] = defaultdict(dict)
    for key, (status,), (rounds,) in _summed(connection, schema.COUNTS, since, until, rejected=rejected):
        if rounds:
            found[key][status] = int(rounds)
    return found


def _summed(
    connection: Connection, table: Table, since: date, until: date, *, rejected: bool
) -> Iterator[tuple[Key, tuple[str, ...], tuple[Any, ...]]]:
    """The sums of these days by table, simulation, currency and game, and by the further columns of the key."""
    by = [
        schema.RECORDS.c.table,
        schema.RECORDS.c.simulation,
        schema.RECORDS.c.currency,
        *(each for each in table.primary_key if each.name not in {"day", "record_id"}),
    ]
    sums = [each for each in table.columns if not each.primary_key]
    asked = (
        select(*by, *(func.sum(each) for each in sums))
        .join_from(table, schema.RECORDS, table.c.record_id == schema.RECORDS.c.id)
        .where(table.c.day.between(since, until))
        .group_by(*by)
        .order_by(*by)
    )
    if not rejected:
        asked = asked.where(schema.RECORDS.c.held_back.is_distinct_from(REJECTED))
    for row in connection.execute(asked):
        yield (
            (row[0], row[1], row[2], row[3], row[4]),
            tuple(row[5 : len(by)]),
            tuple(row[len(by) :]),
        )


def are_simulated(connection: Connection) -> dict[str, bool]:
    """Whether each table is a simulation, by the record that it played last and that was not rejected."""
    columns = schema.RECORDS.c
    asked = (
        select(columns.table, columns.simulation, columns.held_back)
        .where(columns.rounds_at > 0)
        .order_by(columns.rounds_ts, columns.id)
    )
    return {
        table: simulation
        for table, simulation, held_back in connection.execute(asked)
        if held_back != REJECTED
    }
