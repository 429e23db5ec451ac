"""The incidents of the floor, with the person who acknowledged each."""

import re
from datetime import UTC, datetime, timedelta
from typing import Annotated, Final, NamedTuple, Self

from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import RowMapping, literal, not_, or_, select, tuple_

from punto.configs.plain_text import PLAIN
from punto.controller.journal.out_of_the_ordinary import ENTRANCE_KINDS, JOURNAL_KINDS, JOURNAL_TEXTS
from punto.house import schema
from punto.house.store import Store
from punto.house.taken import aware
from punto.messages.building import timestamp
from punto.messages.models import Part, Timestamp

ALARMS_A_PAGE: Final = 50
LONGEST_NOTE: Final = 500
_INCIDENT: Final = schema.INCIDENTS.c
_ACKNOWLEDGED: Final = tuple(schema.ACKNOWLEDGEMENTS.c)
_IDENTIFIED: Final = ("record_id", "seq", "place")
_KEY: Final = (_INCIDENT.ts, *(_INCIDENT[name] for name in _IDENTIFIED))
"""The order of incidents: those of one moment are ordered by what identifies them."""
_IS_INCIDENT: Final = _INCIDENT.kind.not_in(sorted(ENTRANCE_KINDS))
_IS_JOURNAL: Final = or_(
    _INCIDENT.kind.in_(sorted(JOURNAL_KINDS)), *(_INCIDENT.text.startswith(each) for each in JOURNAL_TEXTS)
)
"""What happened in the course of play or was refused. Nobody has to act on it, so nobody acknowledges it."""
_WRITTEN: Final = re.compile(r"\d{1,16}-\d{1,18}-\d{1,18}-\d{1,9}", re.ASCII)
_LISTED: Final = timedelta(days=31)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class Note(BaseModel):
    """What was found or done, by the person who acknowledged an incident."""

    model_config = ConfigDict(strict=True, extra="forbid")

    note: Annotated[str, Field(min_length=1, max_length=LONGEST_NOTE, pattern=r"\S"), PLAIN]


class Acknowledgement(Part):
    """Who acknowledged an incident, when, and what this person wrote about it."""

    who: str
    ts: Timestamp
    note: str


class Alarm(Part):
    """An incident of a table: `record_id`, `seq` and `place` together identify it. `acknowledged` is null until somebody acknowledged it.

    A `journal` entry needs no acknowledgement: it is an order, a report of a device or a refusal, and not an alarm, a stop or a call.
    """

    record_id: int
    seq: int
    place: int
    table: str
    ts: Timestamp
    kind: str
    source: str
    who: str | None
    text: str
    journal: bool
    acknowledged: Acknowledgement | None


class Alarms(Part):
    """Incidents, the newest first. `before` is for the next page; null after the last."""

    alarms: tuple[Alarm, ...]
    before: str | None


class AlarmsView(Part):
    """The newest incidents at the time `at`; null if they have not changed since the view before.

    If one of these is not empty, it says why what is shown may be old: `broker`, why the tables' messages do not come; `taking_in`,
    why they are not stored; `away`, why the store cannot be read.
    """

    at: Timestamp
    broker: str
    taking_in: str
    away: str
    newest: Alarms | None


class Only(NamedTuple):
    """Which incidents are asked for: of a table, of a kind, or with `unacknowledged` only those that a person has yet to acknowledge."""

    table: str | None = None
    kind: str | None = None
    unacknowledged: bool = False


ALL: Final = Only()


class AlarmChoices(Part):
    """The tables of the store, and the kinds of the incidents of its last 31 gaming days."""

    tables: tuple[str, ...]
    kinds: tuple[str, ...]


class Before(NamedTuple):
    """The incident after which a page begins: its time (UTC) and what identifies it."""

    ts: datetime
    record_id: int
    seq: int
    place: int

    @classmethod
    def read(cls, text: str) -> Self:
        """From the `before` of an earlier page.

        Raises:
            ValueError: it is not one.
        """
        if not _WRITTEN.fullmatch(text):
            raise ValueError("write the `before` of an earlier page")
        since, *numbers = map(int, text.split("-"))
        return cls(_EPOCH + timedelta(microseconds=since), *numbers)

    def written(self) -> str:
        """As `read` takes it: four numbers, of which the first is in microseconds."""
        since = (self.ts - _EPOCH) // timedelta(microseconds=1)
        return "-".join(map(str, (since, *self[1:])))


class AlarmError(Exception):
    """An incident cannot be acknowledged; `status` is HTTP's, and the message is for people."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def alarms(
    store: Store, before: Before | None = None, only: Only = ALL, *, limit: int = ALARMS_A_PAGE
) -> Alarms:
    """At most `limit` incidents, the newest first. Entrances are not among them.

    Raises:
        StoreAwayError: the store cannot be reached.
    """
    asked = (
        select(
            schema.INCIDENTS,
            schema.RECORDS.c.table,
            _IS_JOURNAL.label("journal"),
            *(each.label(f"acknowledged_{each.name}") for each in _ACKNOWLEDGED[3:]),
        )
        .join(schema.RECORDS, schema.RECORDS.c.id == _INCIDENT.record_id)
        .outerjoin(schema.ACKNOWLEDGEMENTS, tuple_(*_ACKNOWLEDGED[:3]) == tuple_(*_KEY[1:]))
        .where(_IS_INCIDENT)
        .order_by(*(each.desc() for each in _KEY))
        .limit(limit + 1)
    )
    if only.table is not None:
        asked = asked.where(schema.RECORDS.c.table == only.table)
    if only.kind is not None:
        asked = asked.where(_INCIDENT.kind == only.kind)
    if only.unacknowledged:
        asked = asked.where(schema.ACKNOWLEDGEMENTS.c.who.is_(None), not_(_IS_JOURNAL))
    if before is not None:
        here = [literal(value, column.type) for value, column in zip(before, _KEY, strict=True)]
        asked = asked.where(tuple_(*_KEY) < tuple_(*here))
    with store.reading() as connection:
        rows = connection.execute(asked).mappings().all()
    found = tuple(map(_alarm, rows[:limit]))
    if len(rows) <= limit:
        return Alarms(alarms=found, before=None)
    last = rows[limit - 1]
    at = Before(aware(last["ts"]), last["record_id"], last["seq"], last["place"])
    return Alarms(alarms=found, before=at.written())


def choices(store: Store) -> AlarmChoices:
    """What incidents can be asked for.

    Raises:
        StoreAwayError: the store cannot be reached.
    """
    table, day, kind = schema.RECORDS.c.table, _INCIDENT.day, _INCIDENT.kind
    with store.reading() as connection:
        tables = connection.execute(select(table).distinct().order_by(table)).scalars().all()
        last = connection.execute(select(_INCIDENT.ts).order_by(_INCIDENT.ts.desc()).limit(1)).scalar()
        if last is None:
            return AlarmChoices(tables=tuple(tables), kinds=())
        since = store.calendar.day_of(aware(last)) - _LISTED
        asked = select(kind).distinct().where(_IS_INCIDENT, day > since).order_by(kind)
        kinds = connection.execute(asked).scalars().all()
    return AlarmChoices(tables=tuple(tables), kinds=tuple(kinds))


def _alarm(row: RowMapping) -> Alarm:
    same = ("record_id", "seq", "place", "table", "kind", "source", "who", "text", "journal")
    acknowledged = None
    if row["acknowledged_who"] is not None:
        acknowledged = Acknowledgement(
            who=row["acknowledged_who"],
            ts=timestamp(aware(row["acknowledged_ts"])),
            note=row["acknowledged_note"],
        )
    return Alarm(
        **{name: row[name] for name in same}, ts=timestamp(aware(row["ts"])), acknowledged=acknowledged
    )


def acknowledge(store: Store, key: tuple[int, int, int], who: str, note: str, now: datetime) -> None:
    """Record that `who` has acknowledged the incident with this `record_id`, `seq` and `place`, with a note. `now` is in UTC.

    Raises:
        AlarmError: there is no such incident, it is an entry of the journal, or somebody has acknowledged it before.
        StoreAwayError: the store cannot be reached or written.
    """
    row = {**dict(zip(_IDENTIFIED, key, strict=True)), "ts": now, "who": who, "note": note}
    with store.writing() as connection:
        of_key = [column == value for column, value in zip(_KEY[1:], key, strict=True)]
        journal = connection.scalar(select(_IS_JOURNAL).where(_IS_INCIDENT, *of_key))
        if journal is None:
            raise AlarmError(404, "there is no such incident in the store")
        if journal:
            raise AlarmError(422, "an entry of the journal needs no acknowledgement")
        once = store.insert_once(schema.ACKNOWLEDGEMENTS).returning(_ACKNOWLEDGED[0])
        if connection.execute(once, row).first() is not None:
            return
        of_key = [column == value for column, value in zip(_ACKNOWLEDGED[:3], key, strict=True)]
        first = connection.execute(select(schema.ACKNOWLEDGEMENTS).where(*of_key)).mappings().one()
    raise AlarmError(409, f"{first['who']} has acknowledged this incident at {timestamp(aware(first['ts']))}")
