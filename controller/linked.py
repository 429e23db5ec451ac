"""Links a table with the authority that keeps its meter, over MQTT; both ends.

Request and answer are retained messages of the state on the sender's record, sent again at each connection. So nothing is
lost with a message: whichever end was killed or cut off gets the other's present state. Brokers between the ends may lose
what was retained (rabbitmq/rabbitmq-server 8096). Therefore a table that waits sends its request again.
"""

import asyncio
from collections.abc import Iterator
from datetime import datetime
from functools import partial
from typing import Any, Final, TypeVar

import structlog
from pydantic import ValidationError
from pydantic_core import to_json

from punto.baccarat.progressive.events import Contribute
from punto.baccarat.progressive.money import MOST, amount
from punto.baccarat.progressive.settings import Settings
from punto.baccarat.progressive.state import State as Books
from punto.baccarat.table.events import (
    Event,
    MeterAnswered,
    MeterClaimed,
    MeterHeard,
    TableAsked,
    TableRefused,
)
from punto.baccarat.table.meter import objection_to_meter, served_table
from punto.baccarat.table.state import AuthorityLink, TablesProgressive, TableState
from punto.baccarat.table.terms import Terms, unlike
from punto.controller.engine import Engine, Handled
from punto.controller.journal.entries import EVENTS
from punto.controller.mqtt import Broker
from punto.controller.outbox import Outbox
from punto.messages import topics
from punto.messages.building import progressive_message, timestamp
from punto.messages.linked import Input, MeterAnswer, MeterRequest
from punto.messages.models import Availability, Message, Progressive
from punto.runtime import clock
from punto.runtime.broker_link import Received
from punto.runtime.bucket import Bucket

SOURCE: Final = "meter"
"""The source of the authority's inputs on a table's record."""
STALE_SECONDS: Final = 5.0
"""An authority whose meter has not come for this time is away: it comes every second."""
RIVAL_SECONDS: Final = 10.0
"""Another service whose meter has not come for this time keeps none."""
GAME_SECONDS: Final = 10.0
"""No table plays games of the progressive faster for long. A hand has four cards or more, and between two hands the dealer pays,
gives GAME OVER, and each player lifts the coin from the sensor and places it again; a table deals some 70 hands an hour.
"""
GAMES_AT_ONCE: Final = 12
"""So many games may begin faster: people try a table's keys and sensors. A table that was away needs none of them, because it
starts no game while its authority does not answer, and waits for each answer before it asks again.
"""
_LONGEST: Final = 131_072
"""Bytes: several times as many as a meter's settings with all awards that it keeps."""
_LONGEST_TEXT: Final = 1000
_LONGEST_NAME: Final = 200
_UNREAD: Final = (
    "{} sends what this version cannot read: install the same version at the authority and at its tables"
)
_TOO_FAST: Final = (
    "{} starts games faster than a table can deal, which is one in {:g} seconds: find out what sends requests in its name at the "
    "broker, and give the table another password"
)
_UNREAD_ANSWER: Final = MeterHeard(False, _UNREAD.format("the authority"))
_LOOK_SECONDS: Final = 0.5
_ASK_AGAIN_SECONDS: Final = 3.0
"""How often a table that waits for its authority sends its request again."""
_FAILED_SECONDS: Final = 60.0
"""The pause after an input that the program could not handle: what it reports still stands, and would be recorded without end."""

_M = TypeVar("_M", bound=Message)
_log = structlog.get_logger("punto.controller.linked")


def written(event: Event) -> Input:
    """An input as a message carries it."""
    found: Input = EVENTS.dump_python(event, mode="json")
    return found


def link_of(
    engine: Engine, broker: Broker, outbox: Outbox, topic: topics.Topics
) -> "Authority | Keeper | None":
    """What connects the table's progressive with other services; None without a progressive."""
    progressive = engine.state.progressive
    if progressive is None:
        return None
    if progressive.link is not None:
        return Authority(engine, broker, outbox, topic)
    if progressive.books.settings.authority is not None:
        LinkedTables(engine, broker, outbox, topic)
    return Keeper(engine, broker, topic)


def _read(kind: type[_M], message: Received) -> _M | None:
    if len(message.payload) > _LONGEST:
        _log.warning("message of a linked table not read", topic=message.topic, reason="it is too long")
        return None
    try:
        return kind.model_validate_json(message.payload)
    except ValidationError as error:
        _log.warning(
            "message of a linked table not read", topic=message.topic, reason=error.errors()[0]["msg"]
        )
        return None


def _input(carried: Input | None, message: Received) -> Event | None:
    """The input that a message carries, None if it carries none of this version, or a value that no record can keep."""
    if not _kept(carried):
        _log.warning(
            "input of a linked table not read", topic=message.topic, reason="it has a value that is too large"
        )
        return None
    try:
        return None if carried is None else EVENTS.validate_json(to_json(carried), strict=True)
    except ValidationError as error:
        _log.warning("input of a linked table not read", topic=message.topic, reason=error.errors()[0]["msg"])
        return None


def _kept(value: Any) -> bool:
    """Whether a record can keep all numbers and texts in this JSON value."""
    match value:
        case dict():
            return all(_kept(each) for each in value.values())
        case list():
            return all(map(_kept, value))
        case str():
            return len(value) <= _LONGEST_TEXT
        case int() | float():
            return abs(value) <= amount(MOST)
        case _:
            return True


def _progressive(state: TableState) -> TablesProgressive:
    if state.progressive is None:
        raise AssertionError("a link needs a progressive")
    return state.progressive


class Authority:
    """The authority, as a linked table sees it."""

    def __init__(self, engine: Engine, broker: Broker, outbox: Outbox, topic: topics.Topics) -> None:
        self._engine = engine
        self._broker = broker
        self._outbox = outbox
        settings = _progressive(engine.state).books.settings
        at = topics.Topics(topic.base, settings.authority or "")
        self._table = topic.table
        self._name = settings.progressive
        self._available, self._reason = False, "not reached yet"
        self._meter: Progressive | None = None
        self._meter_at = 0.0
        self._heard: MeterHeard | None = None
        self._terms: Terms | None = None
        """Of the authority; None if it has not told them."""
        self._last_input = 0
        """Of the newest answer. A node of the house's broker that was away for a while sends old answers."""
        self._recording = asyncio.Lock()
        self._pause_until = 0.0
        self._failed: int | None = None
        """The request whose answer the program could not handle: it waits for the next start, perhaps of another version."""
        broker.retain(topics.METER_REQUEST, self._request)
        read = topics.of_authority(at, topic.table, settings.progressive)
        for name, take in zip(
            read, (self._take_answer, self._take_availability, self._take_meter), strict=True
        ):
            broker.listen(name, take)
        engine.watch(self._watch)
        self._asked = self._link.asked

    @property
    def _settings(self) -> Settings:
        return _progressive(self._engine.state).books.settings

    @property
    def _link(self) -> AuthorityLink:
        link = _progressive(self._engine.state).link
        if link is None:
            raise AssertionError("this table has no authority")
        return link

    # --- what the table sends

    def _request(self, now: datetime) -> Message:
        state, asked = self._engine.state, self._link.asked
        request = None
        if asked is not None:
            request = TableAsked(self._table, self._engine.record_name, asked.number, asked.orders)
        return MeterRequest(
            id=f"{self._table}/meter/request/{self._link.number}/{'answered' if asked is None else 'asked'}",
            seq=self._link.number,
            ts=timestamp(now),
            simulation=state.settings.simulation,
            currency=state.settings.currency,
            seats=state.settings.seats,
            rules=state.settings.game.rules_by_part,
            asked=None if request is None else written(request),
        )

    def _watch(self, _: TableState, __: int) -> None:
        asked = self._link.asked
        if asked is not self._asked:
            self._asked = asked
            self._outbox.snapshot_at_once(topics.METER_REQUEST)

    @property
    def meter(self) -> int | None:
        """The amount that displays show, in minor units; None before the authority has sent one."""
        return None if self._meter is None else self._meter.meter

    def message(self, now: datetime) -> Message | None:
        """The table's game with the authority's present meter; once that is stale, displays freeze."""
        engine = self._engine
        own = progressive_message(engine.state, engine.seq, engine.publication.award_since, now)
        if own is None or self._meter is None:
            return own
        meter = self._meter
        same = {
            name: getattr(meter, name)
            for name in ("valid_until", "phase", "meter", "tiers", "award", "kept_by")
        }
        return own.model_copy(update=same)

    # --- what comes from the authority

    async def _take_availability(self, message: Received) -> None:
        said = _read(Availability, message)
        if said is not None:
            self._available, self._reason = said.state == "online", said.reason
            if not self._available:
                self._last_input = 0  # it may come back with another record
            await self._look()

    async def _take_meter(self, message: Received) -> None:
        if message.retained:
            return  # it may be old
        self._meter = _read(Progressive, message) or self._meter
        self._meter_at = clock.monotonic()
        self._available = True  # if the broker has lost `availability`
        self._outbox.snapshot_due(topics.progressive(self._name))

    async def _take_answer(self, message: Received) -> None:
        said = _read(MeterAnswer, message)
        if said is not None and said.last_input < self._last_input:
            return
        self._last_input = self._last_input if said is None else said.last_input
        if said is None:
            self._terms, self._heard = None, _UNREAD_ANSWER
        else:
            service = self._settings.authority or ""
            self._terms = Terms(service, said.simulation, said.currency, said.seats, said.rules)
            if self._unlike() is None:
                await self._take_answered(said, message)
            self._heard = self._heard_in(_input(said.heard, message))
        await self._look()

    def _unlike(self) -> str | None:
        """Why the authority cannot keep the meter of the table, None if it can: a supervisor may have changed the game since."""
        if self._terms is None:
            return None
        return unlike(Terms.of(self._engine.state.settings), self._terms, self._name)

    def _heard_in(self, heard: Event | None) -> MeterHeard:
        """What the authority tells, or why it is not used."""
        if not isinstance(heard, MeterHeard):
            return _UNREAD_ANSWER
        objection = None if heard.extract is None else objection_to_meter(self._settings, heard.extract)
        return heard if objection is None else MeterHeard(False, objection)

    async def _take_answered(self, said: MeterAnswer, message: Received) -> None:
        async with self._recording:
            asked = self._link.asked
            if asked is None or asked.number != said.seq or asked.number == self._failed:
                return
            answered = _input(said.answered, message)
            if not isinstance(answered, MeterAnswered):
                return
            (handled,) = await self._engine.submit([answered], SOURCE, whole=True)
            self._failed = asked.number if handled.failed else None
            if handled.refused:
                reason = str(handled.refusal)
                _log.warning("answer of the authority ignored", topic=message.topic, reason=reason)

    async def run(self) -> None:
        """Record when the authority comes and goes, and ask it again if it does not answer, until cancelled."""
        again = clock.monotonic() + _ASK_AGAIN_SECONDS
        while True:
            await self._look()
            if clock.monotonic() - self._meter_at > STALE_SECONDS:
                self._last_input = 0  # as after `offline`, which the broker may have lost
            if clock.monotonic() > again:
                again = clock.monotonic() + _ASK_AGAIN_SECONDS
                if self._link.asked is not None or not self._link.online:
                    self._outbox.snapshot_due(topics.METER_REQUEST)
            await asyncio.sleep(_LOOK_SECONDS)

    async def _look(self) -> None:
        """Record what the table does not know yet."""
        async with self._recording:
            heard = self._present()
            if heard is not None and clock.monotonic() >= self._pause_until:
                (handled,) = await self._engine.submit([heard], SOURCE)
                self._pause_until = _pause_after(handled)

    def _present(self) -> MeterHeard | None:
        """What is to be recorded of the authority now, None if the table knows it."""
        known, link = _progressive(self._engine.state).books, self._link
        away = next(self._away(), None)
        if away is not None:
            return MeterHeard(False, away) if link.online else None
        objection = self._unlike()
        said = self._heard if objection is None else MeterHeard(False, objection)
        if said is None or not said.online:
            reason = "it has not told the meter yet" if said is None else said.reason
            return (
                MeterHeard(False, reason)
                if link.online or (said is not None and reason != link.reason)
                else None
            )
        settings = said.settings if said.settings != known.settings else None
        told = said.extract is not None and _public(known.with_extract(said.extract)) != _public(known)
        if link.online and settings is None and not told:
            return None
        if not link.online and settings is not None and link.reason.startswith("it has another"):
            return None
        return MeterHeard(True, "", said.extract, settings)

    def _away(self) -> Iterator[str]:
        health = self._broker.health()
        if not health.connected:
            yield f"the broker is away: {health.reason}"
        if not self._available:
            yield self._reason
        if clock.monotonic() - self._meter_at > STALE_SECONDS:
            yield "the meter has not come for some seconds"


def _pause_after(handled: Handled) -> float:
    """The end of the pause after an input, by the monotonic clock."""
    return clock.monotonic() + _FAILED_SECONDS if handled.failed else 0.0


def _public(books: Books) -> tuple[object, ...]:
    """What a table records when it changes. What wagers of other tables add to the meter is only shown."""
    return (books.phase, books.next_award, [(each.id, each.state) for each in books.awards])


class Keeper:
    """A service that keeps a meter, and finds others that keep one of the same progressive."""

    def __init__(self, engine: Engine, broker: Broker, topic: topics.Topics) -> None:
        self._engine = engine
        self._table = topic.table
        self._pause_until = 0.0
        self._rival_at = 0.0
        self._rival_ts = ""
        name = _progressive(engine.state).books.settings.progressive
        broker.listen(topics.Topics(topic.base, "+")(topics.progressive(name)), self._take)

    @property
    def name(self) -> str:
        """The name of this service and of its record, which no other service has."""
        return f"{self._table} {self._engine.record_name}"

    def message(self, now: datetime) -> Message | None:
        """The meter."""
        engine = self._engine
        return progressive_message(engine.state, engine.seq, engine.publication.award_since, now, self.name)

    async def _take(self, message: Received) -> None:
        # A retained message may be of a service that ended long ago; a living one sends its meter every second.
        if message.retained or f'"kept_by":"{self.name}"'.encode() in message.payload:
            return
        said = _read(Progressive, message)
        if said is None or not said.kept_by:
            return
        table = message.topic.split("/")[-3]
        if said.kept_by.split(" ")[0] != table or len(said.kept_by) > _LONGEST_NAME:
            _log.warning("meter in the name of another service ignored", topic=message.topic)
            return
        self._rival_at = clock.monotonic()
        before, self._rival_ts = self._rival_ts, said.ts
        if before in {"", said.ts}:
            return  # a node of the house's broker may send an old one, with each new connection again
        rival = _progressive(self._engine.state).rival
        # While one other service keeps the meter, no game is started: a second one, or its next record, changes nothing.
        if rival is None:
            await self._claim(said.kept_by)

    async def _claim(self, by: str | None) -> None:
        if clock.monotonic() >= self._pause_until:
            (handled,) = await self._engine.submit([MeterClaimed(by)], SOURCE)
            self._pause_until = _pause_after(handled)

    async def run(self) -> None:
        """Record when the other service keeps a meter no more, until cancelled."""
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            gone = clock.monotonic() - self._rival_at > RIVAL_SECONDS
            if gone:
                self._rival_ts = ""
            if gone and _progressive(self._engine.state).rival is not None:
                await self._claim(None)


class LinkedTables:
    """The tables of an authority."""

    def __init__(self, engine: Engine, broker: Broker, outbox: Outbox, topic: topics.Topics) -> None:
        self._engine = engine
        self._outbox = outbox
        self._own = topic.table
        settings = _progressive(engine.state).books.settings
        self._tables = [each.table for each in settings.tables]
        self._refusals: dict[str, str] = {}
        self._games = {
            table: Bucket(GAMES_AT_ONCE, 1 / GAME_SECONDS, clock.monotonic()) for table in self._tables
        }
        self._seen = _progressive(engine.state)
        for table in self._tables:
            broker.listen(topics.Topics(topic.base, table)(topics.METER_REQUEST), partial(self._take, table))
            broker.retain(topics.meter_answer(table), partial(self._answer, table))
        engine.watch(self._watch)

    async def _take(self, table: str, message: Received) -> None:
        said = _read(MeterRequest, message)
        asked = None if said is None else _input(said.asked, message)
        if (
            said is None
            or not isinstance(asked, TableAsked | None)
            or (asked is None) is not (said.asked is None)
        ):
            await self._refuse(table, _UNREAD.format(table))
            return
        if asked is not None and asked.table != table:
            _log.warning("request of another table ignored", topic=message.topic)
            return
        terms = Terms(table, said.simulation, said.currency, said.seats, said.rules)
        state = self._engine.state
        objection = unlike(terms, Terms.of(state.settings), _progressive(state).books.settings.progressive)
        if objection is not None:
            await self._refuse(table, objection)
        elif asked is None:
            self._refusals.pop(table, None)  # the table may have been changed since
            self._outbox.snapshot_due(topics.meter_answer(table))
        else:
            await self._serve(table, asked)

    async def _serve(self, table: str, asked: TableAsked) -> None:
        last = served_table(_progressive(self._engine.state), table)
        if last is not None and last.record == asked.record and last.number >= asked.number:
            self._outbox.snapshot_due(topics.meter_answer(table))
        elif self._engine.pace.allows(f"table {table}"):
            if self._too_fast(table, asked):
                await self._refuse(table, _TOO_FAST.format(table, GAME_SECONDS))
                return
            entered = self._engine.enter([asked], f"table {table}", whole=True)
            refusal = entered.handled[0].refusal
            if refusal is not None:
                # Not awaited first: the report shares the commit of the inputs that have come with the request.
                self._engine.pace.charge(f"table {table}")
                await self._refuse(table, str(refusal))
            await entered
            if refusal is None:
                self._refusals.pop(table, None)

    def _too_fast(self, table: str, asked: TableAsked) -> bool:
        """Whether the table would begin a game too soon; it asks again. In a simulation people may play as fast as they like."""
        begins = any(isinstance(order, Contribute) for order in asked.orders)
        if not begins or self._engine.state.settings.simulation:
            return False
        games = self._games[table]
        if not games.has(1, clock.monotonic()):
            return True
        games.take(1)
        return False

    async def _refuse(self, table: str, reason: str) -> None:
        """Tell a table that it is not served, and raise an alarm, once for each reason in turn."""
        known, self._refusals[table] = self._refusals.get(table), reason
        self._outbox.snapshot_due(topics.meter_answer(table))
        client = f"table {table}"
        if reason != known and self._engine.pace.allows(client):
            self._engine.pace.charge(client)
            await self._engine.submit([TableRefused(table, reason)], client)

    def _answer(self, table: str, now: datetime) -> Message:
        state = self._engine.state
        progressive = _progressive(state)
        books, last = progressive.books, served_table(progressive, table)
        extract = books.extract(table)
        refusal = self._refusals.get(table)
        heard = (
            MeterHeard(True, "", extract, books.settings) if refusal is None else MeterHeard(False, refusal)
        )
        answered = None if last is None else MeterAnswered(last.number, last.entries, last.refused, extract)
        number = 0 if last is None else last.number
        return MeterAnswer(
            id=f"{self._own}/meter/answer/{table}/{self._engine.seq}",
            seq=number,
            ts=timestamp(now),
            simulation=state.settings.simulation,
            currency=state.settings.currency,
            seats=state.settings.seats,
            rules=state.settings.game.rules_by_part,
            last_input=self._engine.seq,
            heard=written(heard),
            answered=None if answered is None else written(answered),
        )

    def _watch(self, state: TableState, _: int) -> None:
        before, self._seen = self._seen, _progressive(state)
        if self._seen.served is not before.served:
            for served in self._seen.served:
                if served not in before.served:
                    self._outbox.snapshot_at_once(topics.meter_answer(served.table))
        if (before.books.settings, _public(before.books)) != (
            self._seen.books.settings,
            _public(self._seen.books),
        ):
            self._outbox.snapshot_due(*map(topics.meter_answer, self._tables))
