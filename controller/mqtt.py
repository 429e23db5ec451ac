"""The table's messages to and from the broker.

On each connection, the table publishes that it is online and its full snapshot. So a last will is always replaced,
and a broker that lost its retained messages gets them again.
"""

import asyncio
import re
from collections import deque
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any, Final, Literal, NamedTuple

import structlog
from pydantic import ValidationError

from punto.baccarat.table.events import SetWager, SharedId
from punto.baccarat.wagers.definition import Game
from punto.configs.expectations import Expectations
from punto.configs.faults import first_fault
from punto.configs.problems import ConfigError
from punto.controller import health
from punto.controller.engine import Engine, Entered
from punto.controller.journal.journal import Journal
from punto.controller.mqtt_requests import LONGEST_VERB, BooksOf, Requests, id_of, not_read
from punto.controller.outbox import Outbox
from punto.drivers.base import LinkHealth
from punto.messages import topics
from punto.messages.building import (
    head_message,
    round_message,
    scoreboard_message,
    shoe_message,
    state_message,
    timestamp,
)
from punto.messages.metering import meters_message
from punto.messages.models import Availability, Message, WagerAnswer, WagerRequest
from punto.runtime import clock
from punto.runtime.backoff import Backoff
from punto.runtime.broker_link import NO_RIGHTS, WINDOW, Connection, Link, LinkError, Received, Sender
from punto.runtime.broker_login import BrokerConfig
from punto.runtime.signatures import Signing

ROUNDS_AT_ONCE: Final = 50
SNAPSHOTS_EVERY_SECONDS: Final = 0.02
"""The pause between two runs of snapshots, because no screen shows more pictures: a scoreboard of each hand of a very fast shoe
would take longer than its cards.
"""
FLOOD: Final = 200
"""Wagers of a seat that are refused within seconds, after which the table does not listen to that seat for a while. What comes in
the meantime would fill the queue that the broker has for the table, and would cost the other seats their turn.
"""
DEAF_SECONDS: Final = 10.0
SHARED_SECONDS: Final = 2.5 * health.EVERY_SECONDS
"""Another service with this table's id is there as long as its availability, which it sends with its health, keeps coming."""
MOST_OTHERS: Final = 8
"""So many other services with this table's id are known at the same time."""
ANSWER_EVERY_SECONDS: Final = 1.0
"""Another service is answered at most this often, because messages with records that do not exist cost their sender nothing."""
ECHO_SECONDS: Final = 12.0
"""If the table does not hear its own availability within this time, the broker discards what this user publishes: it does not tell a
client that the access list keeps its messages back. A broker that answers nothing is given up earlier.
"""
SHARED_AGAIN_SECONDS: Final = 600.0
"""How often it is on the record."""
_LONGEST_AVAILABILITY: Final = 4096
_SEAT: Final = re.compile(r"\d{1,3}", re.ASCII)

_log = structlog.get_logger("punto.controller.mqtt")


Cause = Literal["stopped", "failed", "lost"]
Take = Callable[[Received], Coroutine[Any, Any, None]]
"""Takes a message of another service."""


class Contents(NamedTuple):
    """What other parts make for the table's messages: two retained ones, the expectations of a game, and the books of a day.

    `announced` has retained messages by their whole topics, which announce the table to other programs.
    """

    info: Callable[[datetime], Message]
    health: Callable[[datetime], Message]
    expectations: Callable[[Game], Expectations]
    books_of: BooksOf
    announced: Callable[[], Mapping[str, bytes]] = dict


class Broker:
    """Sends the outbox and the record's rounds, and answers requests, until cancelled."""

    def __init__(
        self,
        broker: BrokerConfig,
        engine: Engine,
        journal: Journal,
        outbox: Outbox,
        topic: topics.Topics,
        contents: Contents,
        signing: Signing,
    ) -> None:
        """`signing` is of the link to the house's Game Manager."""
        self._engine = engine
        self._journal = journal
        self._outbox = outbox
        self.topic = topic
        self._signing = signing
        self._since = clock.now()
        self._health = LinkHealth(
            f"{broker.host}:{broker.port}", False, "not reached yet", self._since, None, {}
        )
        self._expectations = contents.expectations
        self._announced = contents.announced
        self._connection = ""  # identifies the connection in the ids of `availability`
        self._link = Link(
            broker,
            # After a power cut, all tables of a floor connect at the same time.
            Backoff(1, 10),
            # Always the same for a table: the broker ends the old connection, if it still has one, before it accepts
            # the new one. So the old last will cannot come after the new "online". It has a secret, because at a broker that
            # does not take the id from the user, any user who connects with this name would put the table off the air.
            identifier=f"punto-{topic.table}-{journal.secret}",
            will=self._will,
            lost=self._set_health,
        )
        self._listened: dict[str, Take] = {self.topic(topics.AVAILABILITY): self._hear_another}
        self._others: dict[str, float] = {}
        """The records of other services that have this table's id, the last heard last, and until when each is known."""
        self._other_again = self._answer_at = float("-inf")
        self._sent = deque[bytes](maxlen=2 * WINDOW)
        """The last availabilities of this service, which the broker sends back to it."""
        self._echo = asyncio.Event()
        self._left_out: set[int] = set()
        """The seats that flood."""
        self._floods = asyncio.Event()
        self._builders: dict[str, Callable[[datetime], Message | None]] = {
            topics.AVAILABILITY: lambda now: self._availability("online", "running", now),
            topics.INFO: contents.info,
            topics.HEALTH: contents.health,
            topics.device("shoe"): lambda now: shoe_message(
                engine.state, engine.seq, engine.publication.shoe_since, now
            ),
            topics.STATE: lambda now: state_message(engine.state, engine.seq, now, engine.calendar.zone.key),
            topics.SCOREBOARD: lambda now: scoreboard_message(engine.state, now),
            topics.METERS: self._meters,
        }

        self.requests = Requests(
            engine,
            journal,
            outbox,
            topic,
            lambda: outbox.snapshot_due(*self._builders),
            contents.books_of,
            signing,
        )
        if engine.publication.restricted:
            self.retain(
                topics.RESTRICTED_HEAD,
                lambda now: head_message(engine.state.settings, str(journal.head), now),
            )

    def retain(self, name: str, build: Callable[[datetime], Message | None]) -> None:
        """Also send this retained message when it is due, unless `build` returns None."""
        self._builders[name] = build

    def listen(self, topic: str, take: Take) -> None:
        """Also subscribe to this topic of another service, and pass its messages to `take`; `+` may stand for a level."""
        self._listened[topic] = take

    def _meters(self, now: datetime) -> Message:
        state = self._engine.state
        return meters_message(state, self._expectations(state.settings.game), self._engine.seq, now)

    @property
    def _simulation(self) -> bool:
        return self._engine.state.settings.simulation

    def health(self) -> LinkHealth:
        """The present state of the connection."""
        return self._health

    def _set_health(self, reason: str) -> None:
        """Set the state: connected, or not connected with a reason."""
        connected = reason == ""
        since = self._health.since if self._health.connected is connected else clock.now()
        self._health = replace(self._health, connected=connected, reason=reason, since=since)

    async def run(self) -> None:
        """Keep the connection until cancelled."""
        await self._link.run(self._serve)

    async def publish_offline(self, cause: Literal["stopped", "failed"], reason: str) -> None:
        """Publish that the service ends, and why, if the broker can be reached. A last will cannot give the reason."""
        try:
            async with asyncio.timeout(1), self._link.connection() as connection:
                sender = Sender(connection)
                offline = self._wire(topics.AVAILABILITY, self._offline(cause, reason))
                sender.send(self.topic(topics.AVAILABILITY), offline, retain=True)
                await sender.all_taken()
        except (LinkError, ConfigError, TimeoutError):
            _log.info("broker not reached at the end", reason=reason)

    def _wire(self, name: str, message: Message) -> bytes:
        """The JSON that is published, signed if the Game Manager reads it."""
        wire = message.wire()
        return self._signing.signed(wire) if topics.house_topic(name) in topics.HOUSE_READS else wire

    # --- one connection

    def _will(self) -> tuple[str, bytes]:
        self._connection = timestamp(clock.now())
        lost = self._offline("lost", "the connection was lost")
        self._sent.append(self._wire(topics.AVAILABILITY, lost))
        return self.topic(topics.AVAILABILITY), self._sent[-1]

    def _offline(self, cause: Cause, reason: str) -> Availability:
        return self._availability("offline", reason, clock.now(), cause)

    def _availability(
        self, state: Literal["online", "offline"], reason: str, now: datetime, cause: Cause | None = None
    ) -> Availability:
        return Availability(
            id=f"{self.topic.table}/availability/{state}/{self._connection}",
            seq=0,
            ts=timestamp(now),
            simulation=self._simulation,
            state=state,
            reason=reason,
            since=timestamp(self._since if state == "online" else now),
            cause=cause,
            record=self._engine.record_name,
            other_record=self._other(),
        )

    def _other(self) -> str | None:
        """The record of the other service with this table's id that was heard last, None if there is none now."""
        now = clock.monotonic()
        return next((record for record, until in reversed(self._others.items()) if now < until), None)

    async def _hear_another(self, message: Received) -> None:
        """Note that another service publishes as this table, with a record of its own or with this table's.

        A copied configuration has a record of its own. This table's own record is in messages of a copy of the record, or of anyone
        who has the table's password. Each is answered with this table's availability, by which another service learns of this
        table, and which takes the place of the last one at the broker.
        """
        if message.retained or len(message.payload) > _LONGEST_AVAILABILITY:
            return  # what is retained can be of an earlier record of this table
        try:
            told = Availability.model_validate_json(message.payload)
        except ValidationError:
            return
        own, other, now = self._engine.record_name, told.record, clock.monotonic()
        if other == own:
            self._echo.set()
        if other is None or (other == own and message.payload in self._sent):
            return
        online, until = told.state == "online", self._others.pop(other, float("-inf"))
        if other != own and online:
            self._others[other] = now + SHARED_SECONDS
            if len(self._others) > MOST_OTHERS:
                self._others.pop(next(iter(self._others)))
        if now >= until or not online:
            self._answer(now)
        if (online or other == own) and now >= self._other_again:
            self._other_again = now + SHARED_AGAIN_SECONDS
            _log.error("another service publishes as this table", own_record=own, other_record=other)
            await self._engine.submit([SharedId(own, other)], "service")

    def _answer(self, now: float) -> None:
        """Send the availability, now or when the last answer is old enough."""
        if self._answer_at <= now:  # else an answer is due already
            self._answer_at = max(now, self._answer_at + ANSWER_EVERY_SECONDS)
            wait = self._answer_at - now
            asyncio.get_running_loop().call_later(wait, self._outbox.snapshot_due, topics.AVAILABILITY)

    async def _serve(self, connection: Connection) -> None:
        self._set_health("")
        self._echo.clear()
        self._left_out.clear()
        incoming = (topics.request("+"), topics.request("+", "+"))
        if not await connection.subscribe([*self._wagers(), *map(self.topic, incoming), *self._listened]):
            hint = "let this user read wagers and requests (mosquitto.acl)"
            _log.warning("broker refused the subscription to wagers or requests", hint=hint)
        await self._engine.submit(
            [], "service"
        )  # a wager of the last connection may be on its way to the record
        outbox = self._outbox

        def send_events() -> None:
            """Send waiting events until the window is full; the rest follows as the broker acknowledges them."""
            while outbox.at_once and events.has_room:
                self._send_snapshot(events, outbox.at_once.pop())
            while outbox.events and events.has_room:
                events.send(*outbox.take())

        events = Sender(connection, send_events)
        try:
            async with asyncio.TaskGroup() as tasks:
                outbox.connect(send_events)
                outbox.snapshot_due(*self._builders)
                outbox.rounds_are_due()
                self._engine.publication.answer_again(self._engine.state)
                tasks.create_task(self._send_snapshots(events), name="mqtt snapshots")
                tasks.create_task(self._announce(Sender(connection)), name="mqtt discovery")
                tasks.create_task(self._send_rounds(Sender(connection)), name="mqtt rounds")
                tasks.create_task(self._receive(connection), name="mqtt requests")
                tasks.create_task(self._leave_out_floods(connection), name="mqtt floods")
                tasks.create_task(self._expect_echo(), name="mqtt echo")
                tasks.create_task(self.requests.send_books(), name="mqtt books")
        finally:
            outbox.disconnect()

    async def _announce(self, sender: Sender) -> None:
        for topic, payload in self._announced().items():
            await sender.room()
            sender.send(topic, payload, retain=True)

    async def _expect_echo(self) -> None:
        """Report that the access list keeps the table's messages back, until one comes through."""
        try:
            async with asyncio.timeout(ECHO_SECONDS):
                await self._echo.wait()
        except TimeoutError:
            hint = f"let this user write and read {self.topic('#')} (mosquitto.acl, punto broker-users)"
            _log.warning("broker keeps the table's messages back", hint=hint)
            self._set_health(NO_RIGHTS)
            await self._echo.wait()
            self._set_health("")

    async def _send_snapshots(self, sender: Sender) -> None:
        """Send the retained messages that are due, each built when it is sent. Events go first."""
        outbox = self._outbox
        while True:
            await outbox.snapshots_wake.wait()
            outbox.snapshots_wake.clear()
            for name in self._builders:
                if name in outbox.due:
                    await sender.room()
                    self._send_snapshot(sender, name)
            await asyncio.sleep(SNAPSHOTS_EVERY_SECONDS)

    def _send_snapshot(self, sender: Sender, name: str) -> None:
        self._outbox.due.discard(name)
        message = self._builders[name](clock.now())
        if message is not None:
            wire = self._wire(name, message)
            if name == topics.AVAILABILITY:
                self._sent.append(wire)
            sender.send(self.topic(name), wire, retain=True)

    async def _send_rounds(self, sender: Sender) -> None:
        """Send the record's rounds in order, from the first that the broker does not have."""
        while True:
            await self._outbox.rounds_wake.wait()
            self._outbox.rounds_wake.clear()
            while rounds := await self._journal.rounds_after(self._journal.rounds_sent, ROUNDS_AT_ONCE):
                for ended in rounds:
                    await sender.room()
                    message = round_message(
                        self._engine.state.settings,
                        ended.record,
                        ended.ts,
                        ended.game,
                        ended.rules,
                        self._engine.record_name,
                    )
                    sender.send(self.topic(topics.ROUND), self._wire(topics.ROUND, message))
                await sender.all_taken()
                # Now the broker has them all. After a crash before this line, consumers get rounds again, with the same ids.
                self._journal.rounds_were_sent(rounds[-1].record.round)

    # --- what comes in

    def _wagers(self) -> set[str]:
        """The topics of the seats' wagers, without the seats that flood."""
        seats = range(1, self._engine.state.settings.seats + 1)
        followed = [str(each) for each in seats if each not in self._left_out] if self._left_out else ["+"]
        return {self.topic(topics.wager_set(each)) for each in followed}

    async def _leave_out_floods(self, connection: Connection) -> None:
        """Do not listen to seats that flood, until they have been left out for a while."""
        followed = self._wagers()
        while True:
            try:
                async with asyncio.timeout(DEAF_SECONDS if self._left_out else None):
                    await self._floods.wait()
            except TimeoutError:
                self._left_out.clear()
            self._floods.clear()
            wanted = self._wagers()
            if wanted - followed:
                await connection.subscribe(sorted(wanted - followed))
            if followed - wanted:
                await connection.unsubscribe(sorted(followed - wanted))
            followed = wanted

    def _leave_out(self, client: str, seat: int) -> None:
        if self._engine.pace.refused(client) >= FLOOD and seat not in self._left_out:
            self._left_out.add(seat)
            self._floods.set()

    async def _receive(self, connection: Connection) -> None:
        async with aclosing(connection.batches()) as batches:
            async for batch in batches:
                await self._take(batch)

    async def _take(self, batch: Sequence[Received]) -> None:
        """Take messages that have arrived together. Their inputs are executed in order, and share one commit."""
        wagers: dict[SetWager, Entered] = {}
        refusals: list[Callable[[], None]] = []
        async with asyncio.TaskGroup() as others:
            for message in batch:
                for topic, take in self._listened.items():
                    if message.matches(topic):
                        others.create_task(take(message))
                match message.topic.removeprefix(self.topic("")).split("/"):
                    case ["wagers", _, "set"] | ["request", _] | ["request", _, "by", _] if message.retained:
                        _log.warning(
                            "retained request ignored",
                            topic=message.topic,
                            hint="publish the request without the retain flag",
                        )
                    case ["wagers", seat, "set"]:
                        refusals += self._wager(seat, message.payload, wagers)
                    case ["request", verb]:
                        await self.requests.take(verb, "client", message.payload)
                    case ["request", verb, "by", client]:
                        await self.requests.take(verb, f"client {client}", message.payload)
                    case _:  # amqtt also delivers topics without a subscription
                        pass
            for entered in wagers.values():
                await entered  # the publication sends the answer
            for refuse in refusals:  # after the answers to the wagers before them
                refuse()

    def _wager(self, seat: str, payload: bytes, entered: dict[SetWager, Entered]) -> list[Callable[[], None]]:
        """Enter the wager that a seat asks for, unless it is answered already or among those that are `entered`.

        Returns what refuses it, if it is not an input.
        """
        if not _SEAT.fullmatch(seat):
            _log.warning("wager of an invalid seat ignored", seat=seat[:LONGEST_VERB])
            return []
        number, state = int(seat), self._engine.state
        client = f"seat {number}" if number <= state.settings.seats else "seats that the table does not have"
        if (refused := not_read(self._engine.pace, client, payload)) is not None:
            self._leave_out(client, number)
            return [partial(self._refuse_wager, None, number, *refused)] if refused else []
        try:
            asked = WagerRequest.model_validate_json(payload)
        except ValidationError as error:
            return [partial(self._refuse_wager, id_of(payload), number, "bad_payload", first_fault(error))]
        wager = SetWager(id=asked.id, seat=number, wager=asked.wager, amount=asked.amount, round=asked.round)
        if (known := self._engine.publication.answers.to(wager, state.round.number)) is not None:
            self._engine.publication.answer(state.settings, known)
        elif wager not in entered:
            entered[wager] = self._engine.enter([wager], f"mqtt seat {number}")
            (handled,) = entered[wager].handled
            if handled.refusal is not None:  # each is on the record, however often the seat repeats it
                self._engine.pace.charge(client)
        return []

    def _refuse_wager(self, request: str | None, seat: int, code: str, reason: str) -> None:
        """Refuse a request that is not an input. It gets the number of the last one: `seq` must not go back."""
        now = timestamp(clock.now())
        message = WagerAnswer(
            id=f"{self.topic.table}/wager/{now}",
            seq=self._engine.seq,
            ts=now,
            simulation=self._simulation,
            request=request,
            seat=seat,
            accepted=False,
            code=code,
            reason=reason,
        )
        self._outbox.put(self.topic(topics.wager_result(seat)), message.wire())
