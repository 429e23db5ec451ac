"""The end of the service that keeps a meter: for its own table, or as the authority of linked tables."""

import asyncio
from collections.abc import Mapping
from datetime import datetime
from functools import partial
from types import MappingProxyType
from typing import Final, Literal

import structlog

from punto.baccarat.progressive.events import Contribute
from punto.baccarat.table.events import MeterAnswered, MeterClaimed, MeterHeard, TableAsked, TableRefused
from punto.baccarat.table.meter_link import (
    NOT_SERVED,
    UNSIGNED,
    older_authority,
    older_table,
    replaced,
    served_table,
)
from punto.baccarat.table.state import TableState
from punto.baccarat.table.terms import Terms, unlike
from punto.controller.engine import Engine
from punto.controller.meter_link.carried import (
    LOOK_SECONDS,
    SOURCE,
    UNREAD,
    input_of,
    pause_after,
    progressive_of,
    public,
    read,
    written,
)
from punto.controller.meter_link.link import Link
from punto.controller.mqtt import Broker
from punto.controller.outbox import Outbox
from punto.messages import topics
from punto.messages.building import progressive_message, timestamp
from punto.messages.linked import MeterAnswer, MeterRequest
from punto.messages.models import Availability, Message, Progressive
from punto.runtime import clock
from punto.runtime.broker_link import Received
from punto.runtime.bucket import Bucket

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
REPORTED_AGAIN_SECONDS: Final = 600.0
"""How often the same of what comes in the name of a table, and changes nothing, is on the record: it costs its sender nothing."""
_LONGEST_NAME: Final = 200
_NOT_SIGNED: Final = (
    "it is not signed with the key of the link. If {0} is not linked, put the same {0}.key into key_folder of both; otherwise find "
    "out which program uses the password of {0} at the broker, and give {0} another password"
)
_NOT_EXPECTED: Final = (
    "it is signed, but {} has no keys: write key_folder in [progressive] of both, or of neither"
)
_KEEPS_ONE: Final = (
    "{table} keeps a meter of {progressive} itself: write the authority in [progressive] of {table}, or find out what sends a meter in "
    "its name"
)
_OTHER_RECORD: Final = (
    "{table} asks from another record than that of the {table} that is connected: find out which services have this id, and stop all "
    "but one"
)
_TOO_FAST: Final = (
    "{} starts games faster than a table can deal, which is one in {:g} seconds: find out what sends requests in its name at the "
    "broker, and give the table another password"
)

_log = structlog.get_logger("punto.controller.meter_link")


class AuthorityEnd:
    """A service that keeps a meter, serves the tables that are linked to it, if any, and finds others that keep the same meter."""

    def __init__(
        self,
        engine: Engine,
        broker: Broker,
        outbox: Outbox,
        topic: topics.Topics,
        keys: Mapping[str, tuple[bytes, ...]] = MappingProxyType({}),
    ) -> None:
        self._engine = engine
        self._table = topic.table
        self._pause_until = 0.0
        self._rival_at = 0.0
        self._rival_ts = ""
        settings = progressive_of(engine.state).books.settings
        broker.listen(topics.Topics(topic.base, "+")(topics.progressive(settings.progressive)), self._take)
        self._tables = (
            None if settings.authority is None else _LinkedTables(engine, broker, outbox, topic, keys)
        )

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
        if message.retained:
            return
        said = read(Progressive, message)
        if said is None or said.kept_by in {"", self.name}:
            return
        table = message.topic.split("/")[-3]
        if said.kept_by.split(" ")[0] != table or len(said.kept_by) > _LONGEST_NAME:
            _log.warning("meter in the name of another service ignored", topic=message.topic)
            return
        if self._tables is not None and table in self._tables.names:
            await self._tables.take_meter(table, said.ts)
            return
        self._rival_at = clock.monotonic()
        before, self._rival_ts = self._rival_ts, said.ts
        if before in {"", said.ts}:
            return  # a node of the house's broker may send an old one, with each new connection again
        rival = progressive_of(self._engine.state).rival
        # While one other service keeps the meter, no game is started: a second one, or its next record, changes nothing.
        if rival is None:
            await self._claim(said.kept_by)

    async def _claim(self, by: str | None) -> None:
        if clock.monotonic() >= self._pause_until:
            (handled,) = await self._engine.submit([MeterClaimed(by)], SOURCE)
            self._pause_until = pause_after(handled)

    async def run(self) -> None:
        """Record when the other service keeps a meter no more, until cancelled."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            gone = clock.monotonic() - self._rival_at > RIVAL_SECONDS
            if gone:
                self._rival_ts = ""
            if gone and progressive_of(self._engine.state).rival is not None:
                await self._claim(None)


class _LinkedTables:
    """The tables of an authority. Without `keys`, nothing is signed."""

    def __init__(
        self,
        engine: Engine,
        broker: Broker,
        outbox: Outbox,
        topic: topics.Topics,
        keys: Mapping[str, tuple[bytes, ...]],
    ) -> None:
        self._engine = engine
        self._outbox = outbox
        self._own = topic.table
        settings = progressive_of(engine.state).books.settings
        self.names = [each.table for each in settings.tables]
        self._links = {
            table: Link(settings.progressive, topic.table, table, keys.get(table, ())) for table in self.names
        }
        self._reported_at: dict[str, float] = {}
        """When it was last recorded what came in the name of a table and changed nothing."""
        self._online: dict[str, Availability] = {}
        """The tables that are connected."""
        self._meters: dict[str, str] = {}
        """Of each table that has sent a meter of its own: the time that it wrote into the last one."""
        self._older: dict[str, str] = {}
        """Of each table that has sent an earlier request than its last one: the time that it wrote into it."""
        self._refusals: dict[str, str] = {}
        self._games = {
            table: Bucket(GAMES_AT_ONCE, 1 / GAME_SECONDS, clock.monotonic()) for table in self.names
        }
        self._seen = progressive_of(engine.state)
        for table in self.names:
            takes = (self._take, self._take_availability)
            for name, take in zip(topics.of_linked(topics.Topics(topic.base, table)), takes, strict=True):
                broker.listen(name, partial(take, table))
            broker.retain(topics.meter_answer(table), partial(self._answer, table))
        engine.watch(self._watch)

    async def _take(self, table: str, message: Received) -> None:
        link = self._links[table]
        if not link.holds(message.payload):
            reason = _NOT_SIGNED.format(table) if link.keys else _NOT_EXPECTED.format(self._own)
            await self._report(table, reason)
            return
        said = read(MeterRequest, message)
        asked = None if said is None else input_of(said.asked, message)
        if (
            said is None
            or not isinstance(asked, TableAsked | None)
            or (asked is None) is not (said.asked is None)
        ):
            await self._refuse(table, UNREAD.format(table))
            return
        if asked is not None and (asked.table, asked.record) != (table, said.record):
            _log.warning("request of another table ignored", topic=message.topic)
            return
        terms = Terms(table, said.simulation, said.currency, said.seats, said.rules, said.procedure)
        state = self._engine.state
        known = progressive_of(state)
        settings = known.books.settings
        objection = (
            unlike(terms, Terms.of(state.settings, settings), settings.progressive)
            or self._not_alone(table, said.record)
            or replaced(known, table, said.record)
            or (older_authority(known, table, said.record, said.seq) if asked is None else None)
        )
        if objection is None:
            await self._report_older(table, said)
        if objection is not None:
            await self._refuse(table, objection)
        elif asked is None:
            self._refusals.pop(table, None)  # the table may have been changed since
            self._outbox.snapshot_due(topics.meter_answer(table))
        else:
            await self._serve(table, asked)

    async def _take_availability(self, table: str, message: Received) -> None:
        """Note who is connected as the table: by the order of arrival, because a program may write any time into a message."""
        said, known = read(Availability, message), self._online.get(table)
        if said is None or (message.retained and known is not None):
            return  # a node of the house's broker may send an old one
        if said.state == "online":
            self._online[table] = said
        elif known is not None and said.record == known.record:
            del self._online[table]

    async def take_meter(self, table: str, ts: str) -> None:
        """Raise an alarm for a table that keeps a meter too, and serve it: nobody signs a meter.

        A rival of which the authority knows nothing stops all games, because it may pay the same money. This table is known, and
        one table, or one stolen password, must not stop the others.
        """
        before, self._meters[table] = self._meters.get(table, ""), ts
        if before not in {"", ts}:
            progressive = progressive_of(self._engine.state).books.settings.progressive
            await self._report(table, _KEEPS_ONE.format(table=table, progressive=progressive))

    async def _report_older(self, table: str, said: MeterRequest) -> None:
        """Raise an alarm for a table whose record is older than what it was answered. The table finds out by the answer."""
        progressive = progressive_of(self._engine.state)
        last = served_table(progressive, table)
        if last is None or last.record != said.record:
            return
        objection = older_table(progressive.books.settings, table, said.seq, last.number)
        if objection is None:
            self._older.pop(table, None)
            return
        before, self._older[table] = self._older.get(table, ""), said.ts
        if before not in {"", said.ts}:  # a node of the house's broker may send an old one
            await self._report(table, objection, NOT_SERVED)

    def _not_alone(self, table: str, record: str) -> str | None:
        """Why a table's first request may be of another service than the table, None if there is no sign of it.

        Nobody signs the signs, so they do not count against a record from which the table was served before.
        """
        online = self._online.get(table)
        first = served_table(progressive_of(self._engine.state), table) is None
        if (
            first
            and online is not None
            and (online.record not in {None, record} or online.other_record is not None)
        ):
            return _OTHER_RECORD.format(table=table)
        return None

    async def _serve(self, table: str, asked: TableAsked) -> None:
        last = served_table(progressive_of(self._engine.state), table)
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
            await self._engine.submit([TableRefused(table, reason, NOT_SERVED)], client)

    async def _report(
        self, table: str, reason: str, code: Literal["table_refused", "table_unsigned"] = UNSIGNED
    ) -> None:
        """Raise an alarm for what comes in the name of a table and changes nothing else, once in a while."""
        now = clock.monotonic()
        if now - self._reported_at.get(reason, float("-inf")) >= REPORTED_AGAIN_SECONDS:
            self._reported_at[reason] = now
            await self._engine.submit([TableRefused(table, reason, code)], SOURCE)

    def _answer(self, table: str, now: datetime) -> Message:
        state = self._engine.state
        progressive = progressive_of(state)
        books, last = progressive.books, served_table(progressive, table)
        extract = books.extract(table)
        refusal = self._refusals.get(table)
        heard = (
            MeterHeard(True, "", extract, books.settings) if refusal is None else MeterHeard(False, refusal)
        )
        answered = None if last is None else MeterAnswered(last.number, last.entries, last.refused, extract)
        number = 0 if last is None else last.number
        answer = MeterAnswer(
            id=f"{self._own}/meter/answer/{table}/{self._engine.seq}",
            seq=number,
            ts=timestamp(now),
            simulation=state.settings.simulation,
            currency=state.settings.currency,
            seats=state.settings.seats,
            rules=state.settings.game.rules_by_part,
            procedure=books.settings.procedure,
            last_input=self._engine.seq,
            heard=written(heard),
            answered=None if answered is None else written(answered),
            record=None if last is None else last.record,
        )
        return self._links[table].signed(answer)

    def _watch(self, state: TableState, _: int) -> None:
        before, self._seen = self._seen, progressive_of(state)
        if self._seen.served is not before.served:
            for served in self._seen.served:
                if served not in before.served:
                    self._outbox.snapshot_at_once(topics.meter_answer(served.table))
        if (before.books.settings, public(before.books)) != (
            self._seen.books.settings,
            public(self._seen.books),
        ):
            self._outbox.snapshot_due(*map(topics.meter_answer, self.names))
        if before.books.phase is not self._seen.books.phase:
            for table in self.names:  # where people wait for the meter to be open
                self._outbox.snapshot_at_once(topics.meter_answer(table))
