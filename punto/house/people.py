"""The people at the tables: how long each was signed on at a table's console, and what happened there in this time.

The store does not have the roles of the people, so these are all who signed on: dealers, and also supervisors and others.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from heapq import merge
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, Select, case, func, null, or_, select

from punto.controller.journal.out_of_the_ordinary import ENTRANCE_KINDS, REFUSED
from punto.house import schema
from punto.house.store import Store
from punto.house.taken import aware
from punto.messages.models import Part

MOST_DAYS: Final = 31
"""The most gaming days of a report, which reads each round and each incident of these days."""
LONGEST_SESSION: Final = timedelta(days=2)
"""So long before the first gaming day and after the last one, sign-ons and their ends are looked for."""
SIGN_ONS: Final = ("session_begun", "session_ended", "service_started")
"""The kinds of incidents and entrances that change who is signed on: a start of a table's service ends all sessions there."""
_CALL: Final = "call_supervisor"
_COUNTED: Final = ("hands", "misdeals", "voided", "corrected", "refused_orders", "calls")
_A_MINUTE: Final = timedelta(minutes=1)
_AN_HOUR: Final = timedelta(hours=1)
_AT_ONCE: Final = 5_000
_DAY: Final = timedelta(days=1)


class Work(Part):
    """What happened at a table, or at several, while a person was signed on there for so many seconds.

    `hands_an_hour` is null if that was less than a minute.

    - `hands`: rounds that were dealt and settled, also those that were voided or corrected later. Dummy hands do not count.
    - `misdeals`: rounds that were voided before they were settled.
    - `voided`, `corrected`: settled rounds that were voided or corrected.
    - `refused_orders`: orders that the table refused.
    - `calls`: calls of a supervisor.
    - `other`: all other incidents, by kind.
    """

    seconds: int
    hands: int
    hands_an_hour: float | None
    misdeals: int
    voided: int
    corrected: int
    refused_orders: int
    calls: int
    other: dict[str, int]


class AtTable(Part):
    """What a person did at a table."""

    table: str
    work: Work


class PersonReport(Part):
    """A person by the name of the account, the sums over all tables, and each table."""

    who: str
    work: Work
    tables: tuple[AtTable, ...]


class PeopleReport(Part):
    """The gaming days from `since` to `until`, both included."""

    since: date
    until: date
    people: tuple[PersonReport, ...]


# --- counting, which is pure


class Happened(NamedTuple):
    """Something of a table's record: one of `SIGN_ONS`, or the name of a count of `Work`, or the kind of another incident."""

    table: str
    ts: datetime
    what: str
    who: str | None = None


@dataclass(slots=True)
class SignedOn:
    """Who is signed on at the consoles of a table, as its record is read in order: each since when."""

    people: dict[str, datetime] = field(default_factory=dict)
    last: datetime | None = None

    def take(self, happened: Happened) -> Iterator[tuple[str, datetime, datetime]]:
        """Read on. Yields the sessions that have ended: who, since when, until when.

        Before a start of the service, nobody knows when it stopped: a session counts until the last thing on the record.
        """
        match happened.what:
            case "session_begun":
                yield from self._ended(
                    happened.who, happened.ts
                )  # as it was recorded, it can be open only after a fault
                self.people[happened.who or ""] = happened.ts
            case "session_ended":
                yield from self._ended(happened.who, happened.ts)
            case "service_started":
                yield from self.all_ended()
            case _:
                pass
        self.last = happened.ts

    def all_ended(self) -> Iterator[tuple[str, datetime, datetime]]:
        """End all sessions with the last thing on the record."""
        for who in [*self.people]:
            yield from self._ended(who, self.last or self.people[who])

    def _ended(self, who: str | None, ts: datetime) -> Iterator[tuple[str, datetime, datetime]]:
        since = self.people.pop(who or "", None)
        if since is not None:
            yield who or "", since, ts


@dataclass(slots=True)
class _Sum:
    """The time of a person at a table, and what happened there."""

    time: timedelta = timedelta()
    happened: Counter[str] = field(default_factory=Counter)

    def plus(self, other: "_Sum") -> "_Sum":
        return _Sum(self.time + other.time, self.happened + other.happened)

    def work(self) -> Work:
        hands = self.happened["hands"]
        return Work(
            seconds=round(self.time.total_seconds()),
            **{name: self.happened[name] for name in _COUNTED},
            hands_an_hour=None if self.time < _A_MINUTE else round(hands / (self.time / _AN_HOUR), 1),
            other={kind: self.happened[kind] for kind in sorted(self.happened.keys() - set(_COUNTED))},
        )


def people_of(happened: Iterable[Happened], begins: datetime, ends: datetime) -> tuple[PersonReport, ...]:
    """The people of the time from `begins` to `ends`, from what happened then; that of each table is in order.

    Sign-ons and their ends before and after are there too, and all that happened after, because a session that a restart ended
    lasted until the last of it. Each person who is signed on when something happens counts it.
    """
    signed_on: defaultdict[str, SignedOn] = defaultdict(SignedOn)
    found: defaultdict[str, defaultdict[str, _Sum]] = defaultdict(lambda: defaultdict(_Sum))

    def end(table: str, sessions: Iterable[tuple[str, datetime, datetime]]) -> None:
        for who, since, until in sessions:
            time = min(until, ends) - max(since, begins)
            if time > timedelta():
                found[who][table].time += time

    for each in happened:
        at = signed_on[each.table]
        end(each.table, at.take(each))
        if each.what not in SIGN_ONS and begins <= each.ts < ends:
            for who in at.people:
                found[who][each.table].happened[each.what] += 1
    for table, at in signed_on.items():
        end(table, at.all_ended())
    return tuple(_person(who, tables) for who, tables in sorted(found.items()))


def _person(who: str, tables: dict[str, _Sum]) -> PersonReport:
    total = _Sum()
    for each in tables.values():
        total = total.plus(each)
    return PersonReport(
        who=who,
        work=total.work(),
        tables=tuple(AtTable(table=table, work=of.work()) for table, of in sorted(tables.items())),
    )


# --- from the store


def people_report(store: Store, since: date, until: date) -> PeopleReport:
    """The report of these gaming days.

    Raises:
        StoreAwayError: the store cannot be reached.
    """
    begins, ends = (store.calendar.begins(day) for day in (since, until + _DAY))
    with store.reading() as connection:
        rows = merge(
            _rounds(connection, since, until + LONGEST_SESSION), _incidents(connection, since, until)
        )
        happened = (Happened(table, ts, what, who) for _, _, ts, _, table, what, who in rows)
        people = people_of(happened, begins, ends)
    return PeopleReport(since=since, until=until, people=people)


def signed_on(store: Store, since: date) -> dict[str, tuple[str, ...]]:
    """Who is signed on at the consoles of each table now, by what was taken in of these days and later.

    Raises:
        StoreAwayError: the store cannot be reached.
    """
    own = schema.INCIDENTS.c
    asked = (
        select(schema.RECORDS.c.table, own.ts, own.kind, own.who)
        .join_from(schema.INCIDENTS, schema.RECORDS, own.record_id == schema.RECORDS.c.id)
        .where(own.day >= since, own.kind.in_(SIGN_ONS))
        .order_by(own.record_id, own.seq, own.place)  # never by the time, because a clock can be set back
    )
    found: defaultdict[str, SignedOn] = defaultdict(SignedOn)
    with store.reading() as connection:
        for table, ts, kind, who in connection.execute(asked):
            for _ in found[table].take(Happened(table, ts, kind, who)):
                pass
    return {table: tuple(at.people) for table, at in found.items()}


_Row = tuple[date, int, datetime, bool, str, str, str | None]
"""The gaming day, the number of the record in the store, the time and whether it is an incident, which give the order; the table,
what, and who."""


def _rounds(connection: Connection, since: date, until: date) -> Iterator[_Row]:
    own = schema.ROUNDS.c
    what = case(
        (own.status == "played", "hands"),
        (own.status == "void", "misdeals"),
        (own.winner.is_(None), "voided"),
        else_="corrected",
    )
    asked = (
        select(own.day, own.record_id, own.ts, schema.RECORDS.c.table, what, null())
        .join_from(schema.ROUNDS, schema.RECORDS, own.record_id == schema.RECORDS.c.id)
        .where(own.day.between(since, until), own.status != "dummy")
        .order_by(own.day, own.record_id, own.round)
    )
    return _read(connection, asked, incidents=False)


def _incidents(connection: Connection, since: date, until: date) -> Iterator[_Row]:
    """The incidents of these days and of some days after, and the sign-ons and their ends of some days before as well."""
    own = schema.INCIDENTS.c
    refused = (func.substr(own.text, 1, len(REFUSED)) == REFUSED) & own.who.is_not(None)
    what = case((refused, "refused_orders"), (own.kind == _CALL, "calls"), else_=own.kind)
    asked = (
        select(own.day, own.record_id, own.ts, schema.RECORDS.c.table, what, own.who)
        .join_from(schema.INCIDENTS, schema.RECORDS, own.record_id == schema.RECORDS.c.id)
        .where(
            or_(
                own.kind.in_(SIGN_ONS) & own.day.between(since - LONGEST_SESSION, until + LONGEST_SESSION),
                own.kind.not_in(sorted(ENTRANCE_KINDS)) & own.day.between(since, until + LONGEST_SESSION),
            )
        )
        .order_by(own.day, own.record_id, own.seq, own.place)
    )
    return _read(connection, asked, incidents=True)


def _read(connection: Connection, asked: Select[Any], *, incidents: bool) -> Iterator[_Row]:
    streamed = connection.execution_options(stream_results=True, yield_per=_AT_ONCE).execute(asked)
    for day, record_id, ts, table, what, who in streamed:
        yield day, record_id, aware(ts), incidents, table, what, who
