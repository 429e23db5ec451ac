"""What is wrong on the floor now, in words: since when, and who has acknowledged it.

The alarms follow from what is known of a table. The store has since when each stands and who has acknowledged it, so that both survive a
restart, and are the same at every Game Manager of the house. The incidents of `alarms` are another thing: they are over, and their
notes stay for ever.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from hashlib import sha256
from typing import Annotated, Final, NamedTuple

import structlog
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import ColumnElement, and_, delete, select, update

from punto.baccarat.currency import in_words
from punto.house import schema
from punto.house.alarms import AlarmError
from punto.house.live import CardOrder, Deviation, FloorAlarm, Need, TableView, Taker
from punto.house.store import Store, StoreAwayError
from punto.house.taken import aware
from punto.messages.building import timestamp
from punto.runtime import clock
from punto.runtime.gaming_days import written_day

LOOK_SECONDS: Final = 1.0
_AT_ONCE: Final = {
    "stop": "Waiting for a supervisor",
    "call": "Supervisor called",
    "away": "NOT LIVE",
}
_SOON: Final = {
    "shoe": "Shoe offline",
    "wait": "Waiting for a card",
    "notice": "Notice",
    "fault": "Rounds are not taken in",
    "record": "Record {}",
    "unread": "Messages are not read",
    "accounts": "Old accounts of the house",
    "device": "Device offline",
    "meter": "Meter not live",
    "keypad": "Configuration keypad",
}
_FIGURES: Final = {
    "edge": "Favours the players",
    "order": "Cards in order",
    "deviation": "Deviation",
}
_LABELS: Final = _AT_ONCE | _SOON | _FIGURES
_RANKS: Final = {kind: rank for rank, kind in enumerate(_LABELS)}
"""All kinds of alarms, the worst first: a table where people stand and wait comes before a figure that somebody looks into."""
_KINDS: Final[dict[Need, dict[str, str]]] = {"at_once": _AT_ONCE, "soon": _SOON, "look_into": _FIGURES}
_NEEDS: Final = {kind: need for need, labels in _KINDS.items() for kind in labels}
_OF_THE_HOUSE: Final = frozenset({"away", "fault", "record", "unread", "accounts", "order", "deviation"})
_OF_THE_PRESENT: Final = _LABELS.keys() - _OF_THE_HOUSE
"""What a table says of the present. If the table is not live, these alarms are not shown, and may not be over."""
_STOPPED: Final = frozenset({"needs_supervisor", "shoe_error"})
_ALARM: Final = schema.STANDING_ALARMS.c

_log = structlog.get_logger("punto.house")

Key = tuple[str, str]
"""The id of a table, and that of an alarm."""


class Found(NamedTuple):
    """An alarm of a table before it is known since when it stands. `id` is the same as long as it lasts."""

    kind: str
    text: str
    label: str
    id: str


class Mark(NamedTuple):
    """What the store has of an alarm: since when it stands (UTC), and who has acknowledged it when."""

    since: datetime
    who: str | None = None
    ts: datetime | None = None


class Acknowledged(BaseModel):
    """The alarm of the floor that a person acknowledges: the id of its table, and its own."""

    model_config = ConfigDict(strict=True, extra="forbid")

    table: Annotated[str, Field(max_length=64)]
    alarm: Annotated[str, Field(max_length=64)]


def found(view: TableView) -> list[Found]:
    """What is wrong at a table, the worst first. If it is not live, what it said of the present is no longer known to be so."""
    alarms = [*_of_the_house(view), *(_of_the_present(view) if view.live else ())]
    once = {each.id: each for each in alarms}
    return sorted(once.values(), key=lambda each: _RANKS[each.kind])


def _found(kind: str, text: str, identity: str = "", name: str = "") -> Found:
    digest = sha256(identity.encode()).hexdigest()[:16]
    return Found(kind, text[:1].upper() + text[1:], _LABELS[kind].format(name), f"{kind}-{digest}")


def _of_the_house(view: TableView) -> Iterator[Found]:
    if view.fault:
        yield _found("fault", view.fault)
        for record in view.records:
            warnings = (f"If you choose it: {each}" for each in record.warnings)
            yield _found("record", ". ".join((record.words, *warnings)), record.record, record.record)
    if view.unread:
        yield _found("unread", view.unread)
    if view.accounts:
        yield _found("accounts", view.accounts)
    if not view.live:
        yield _found("away", ". ".join(filter(None, (view.reason, view.retire))))
    yield from map(_card_order, view.card_orders)
    for each in view.deviations:
        yield _deviation(each, view.currency)


def _of_the_present(view: TableView) -> Iterator[Found]:
    overlays = frozenset(view.overlays)
    kind = (
        "stop" if overlays & _STOPPED else "wait" if "card_awaited" in overlays else "notice"
    )  # what play waits for is in the notices
    for notice in view.notices:
        yield _found(kind, notice.text, f"{notice.code} {notice.text}")
    if not view.notices and kind != "notice":
        yield _found(kind, "")
    for call in view.calls:
        yield _found("call", call.text, str(call.number))
    if view.edge_alarms:
        yield _found("edge", " · ".join(view.edge_titles), " ".join(view.edge_alarms))
    if "shoe_offline" in overlays:
        yield _found("shoe", "" if view.shoe is None else _without_port(view.shoe.reason))
    if view.devices_away:
        devices = [each.replace("_", " ") for each in view.devices_away]
        yield _found("device", ", ".join(devices), " ".join(view.devices_away))
    if view.meter is not None and not view.meter.live:
        yield _found("meter", view.meter.title)
    if "configuration_keypad" in overlays:
        yield _found("keypad", "plugged in during play")


def _card_order(of: CardOrder) -> Found:
    text = f"shoe {of.shoe} has the order of {of.order}: check the cards. {_by_chance(of.evidence)}"
    return _found("order", text, f"{of.shoe} {of.order}")


def _deviation(of: Deviation, currency: str) -> Found:
    if of.rule is None:
        kept, staked, expected = (
            in_words(round(each), currency or None) for each in (of.found, of.counted, of.expected)
        )
        figures = (
            f"{of.wager} · win: {kept} of {staked} staked since {written_day(of.since)}, {expected} expected"
        )
    else:
        figures = f"{of.wager} · {of.rule}: {of.found:,} of {of.counted:,} hands since {written_day(of.since)}, {of.expected:.1f} expected"
    return _found("deviation", f"{figures}. {_by_chance(of.evidence)}", f"{of.wager} {of.rule}")


def _without_port(reason: str) -> str:
    """Why a device is away, without its port, which tells people on the floor nothing and is on the page of the table's devices."""
    port, _, why = reason.partition(": ")
    return why if port.startswith("/") and why else reason


def _by_chance(evidence: float) -> str:
    """How rarely chance gives evidence as strong."""
    return f"By chance, at most once in {evidence:,.0f}"


class Standing:
    """The alarms that stand, as they were some moments ago in the store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._marks: Mapping[Key, Mark] = {}
        self._seen: dict[Key, datetime] = {}
        """When this program saw an alarm first that is not in the store yet."""
        self._over: set[Key] = set()
        """Alarms that are over, and may stand again, since the store was read last."""

    def on(self, tables: Iterable[TableView], now: datetime) -> tuple[TableView, ...]:
        """The tables with their alarms. What they do not have any more is over, even if it comes again before the next look."""
        views = {each.table: each for each in tables}
        alarms = {name: found(view) for name, view in views.items()}
        present = {(name, each.id) for name, of in alarms.items() for each in of}
        self._over |= {key for key in self._marks if key not in present and _is_over(key, views)}
        return tuple(self._on(view, alarms[name], now) for name, view in views.items())

    def _on(self, view: TableView, of: Iterable[Found], now: datetime) -> TableView:
        alarms = tuple(self._alarm(view, each, now) for each in of)
        return view.model_copy(update={"alarms": alarms}) if alarms else view

    def _alarm(self, view: TableView, of: Found, now: datetime) -> FloorAlarm:
        key = view.table, of.id
        mark = None if key in self._over else self._marks.get(key)
        mark = mark or Mark(self._since(view, of, now))
        return FloorAlarm(
            id=of.id,
            kind=of.kind,
            rank=_RANKS[of.kind],
            need=_NEEDS[of.kind],
            label=of.label,
            text=of.text,
            since=timestamp(mark.since),
            acknowledged=None
            if mark.who is None or mark.ts is None
            else Taker(who=mark.who, ts=timestamp(mark.ts)),
        )

    def _since(self, view: TableView, of: Found, now: datetime) -> datetime:
        last = {"away": view.as_of, "meter": None if view.meter is None else view.meter.as_of}.get(of.kind)
        if last is not None:
            return datetime.fromisoformat(last)
        return self._seen.setdefault((view.table, of.id), now)

    async def follow(
        self, tables: Callable[[datetime], Iterable[TableView]], keeps: Callable[[], bool]
    ) -> None:
        """Keep the store up to date while this program `keeps` the alarms, and else read what another keeps, until cancelled."""
        while True:
            now = clock.now()
            try:
                await asyncio.to_thread(self.look, tuple(tables(now)), now, keeps=keeps())
            except StoreAwayError:
                pass  # the intake reports it
            except Exception:  # noqa: BLE001 - logged whole, and the next look may succeed
                _log.exception("the alarms of the floor cannot be kept")
            await asyncio.sleep(LOOK_SECONDS)

    def look(self, tables: Iterable[TableView], now: datetime, *, keeps: bool) -> None:
        """Read what stands; if this program `keeps` it, first add what is new and remove what is over.

        Raises:
            StoreAwayError: the store cannot be reached or written.
        """
        views = {each.table: each for each in tables}
        present = {
            (view.table, each.id): self._since(view, each, now)
            for view in views.values()
            for each in found(view)
        }
        seen_over = frozenset(self._over)
        marks = self._read()
        if keeps:
            over = [key for key in marks if key in seen_over or (key not in present and _is_over(key, views))]
            new = {key: since for key, since in present.items() if key in over or key not in marks}
            if new or over:
                self._keep(new, over)
                marks = self._read()
        self._marks = marks
        self._over -= seen_over
        self._seen = {key: at for key, at in self._seen.items() if key in present and key not in marks}

    def _read(self) -> dict[Key, Mark]:
        with self._store.reading() as connection:
            rows = connection.execute(select(schema.STANDING_ALARMS)).all()
        return {
            (table, alarm): Mark(aware(since), who, None if ts is None else aware(ts))
            for table, alarm, since, who, ts in rows
        }

    def _keep(self, new: Mapping[Key, datetime], over: Iterable[Key]) -> None:
        rows = [{"table": table, "alarm": alarm, "since": since} for (table, alarm), since in new.items()]
        with self._store.writing() as connection:
            for key in over:
                connection.execute(delete(schema.STANDING_ALARMS).where(_is(key)))
            if rows:
                connection.execute(self._store.insert_once(schema.STANDING_ALARMS), rows)


def _is(key: Key) -> ColumnElement[bool]:
    table, alarm = key
    return and_(_ALARM.table == table, _ALARM.alarm == alarm)


def _is_over(key: Key, views: Mapping[str, TableView]) -> bool:
    """Whether an alarm that is not seen is over. After a start, nothing is known of a table before its first messages."""
    table, alarm = key
    view, kind = views.get(table), alarm.partition("-")[0]
    return view is not None and (view.live or (view.as_of is not None and kind not in _OF_THE_PRESENT))


def acknowledge(store: Store, key: Key, who: str, now: datetime) -> None:
    """Keep that `who` has acknowledged an alarm that stands. `now` is in UTC.

    Raises:
        AlarmError: there is no such alarm now, or somebody has acknowledged it before.
        StoreAwayError: the store cannot be reached or written.
    """
    free = update(schema.STANDING_ALARMS).where(_is(key), _ALARM.who.is_(None)).returning(_ALARM.alarm)
    with store.writing() as connection:
        if connection.execute(free.values(who=who, ts=now)).first() is not None:
            _log.info("alarm acknowledged", table=key[0], alarm=key[1], who=who)
            return
        first = connection.execute(select(_ALARM.who, _ALARM.ts).where(_is(key))).first()
    if first is None:
        raise AlarmError(404, "there is no such alarm now: it has ended")
    raise AlarmError(409, f"{first.who} has acknowledged this alarm at {timestamp(aware(first.ts))}")
