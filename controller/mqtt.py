"""The broker's connection; the only module that imports the MQTT client.

A connection that is lost is made again for ever, each time with a new client: a used one sends old messages again
(empicano/aiomqtt 269, 288). On each connection the table says that it is online and gives its full snapshot, so a
last will never stays stuck and a broker that lost its memory is soon filled again.
"""

import asyncio
import random
import re
import socket
import ssl
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Final, Literal, Self

import aiomqtt
import structlog
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from punto.baccarat.table.events import SetWager
from punto.baccarat.table.state import RoundRecord
from punto.controller.broker_refusal import advice_on
from punto.controller.engine import Engine
from punto.controller.journal.journal import Journal
from punto.controller.messages import topics
from punto.controller.messages.building import (
    head_message,
    public_round,
    scoreboard_message,
    shoe_message,
    state_message,
    timestamp,
)
from punto.controller.messages.models import (
    Availability,
    Message,
    Response,
    RestrictedHead,
    Round,
    RoundsRequest,
    RoundsResponse,
    SnapshotRequest,
    WagerAnswer,
    WagerRequest,
)
from punto.controller.outbox import Outbox
from punto.drivers.base import LinkHealth

WINDOW: Final = 20
"""Messages sent and not yet acknowledged, as many as the client library itself has in flight."""
ROUNDS_AT_ONCE: Final = 50
SNAPSHOTS_EVERY_SECONDS: Final = 0.003
"""How long after a snapshot the next one waits: a shoe as fast as it can be is not drawn card by card."""
STALLED_SECONDS: Final = 10
"""How long a broker may leave everything unacknowledged before the connection is given up."""
CANCEL_AGAIN_SECONDS: Final = 0.5
FIRST_RETRY_SECONDS: Final = 0.5
LAST_RETRY_SECONDS: Final = 10.0
MOST_REQUESTS: Final = 4096
"""Wagers and requests waiting to be read above which more are thrown away: nobody is answered, and may ask again."""
LONGEST_VERB: Final = 64
_SEAT: Final = re.compile(r"\d{1,3}", re.ASCII)
_REFUSED_SUBSCRIPTION: Final = 128
# Without it bursts stall for 40 ms, the delayed acknowledgement of TCP (the broker needs set_tcp_nodelay too).
_NODELAY: Final = ((socket.IPPROTO_TCP, socket.TCP_NODELAY, 1),)

_log = structlog.get_logger("punto.controller.mqtt")


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerAddress:
    """Where the broker is and who we are to it."""

    host: str = "127.0.0.1"
    port: int = 1883
    username: str | None = None
    password: str | None = None
    keepalive: int = 15
    tls: ssl.SSLContext | None = None


class Broker:
    """Sends what the outbox and the record hold, answers what is asked, for ever."""

    def __init__(
        self,
        address: BrokerAddress,
        engine: Engine,
        journal: Journal,
        outbox: Outbox,
        topic: topics.Topics,
        info: Callable[[datetime], Message],
        health: Callable[[datetime], Message],
    ) -> None:
        self._address = address
        self._engine = engine
        self._journal = journal
        self._outbox = outbox
        self._topic = topic
        self._since = datetime.now(UTC)
        self._failures = 0  # attempts to connect since it was connected
        self._link = LinkHealth(
            f"{address.host}:{address.port}", False, "not reached yet", self._since, None, {}
        )
        self._connection = ""  # names it in the ids of what is said of it
        self._stalled = min(address.keepalive, STALLED_SECONDS)
        self._builders: dict[str, Callable[[datetime], Message | None]] = {
            topics.AVAILABILITY: self._online,
            topics.INFO: info,
            topics.HEALTH: health,
            topics.DEVICE_SHOE: lambda now: shoe_message(engine.state, engine.seq, engine.shoe_since, now),
            topics.STATE: lambda now: state_message(engine.state, engine.seq, now),
            topics.SCOREBOARD: lambda now: scoreboard_message(engine.state, now),
        }

        if engine.restricted:
            self.retain(topics.RESTRICTED_HEAD, self._head)

    def retain(self, name: str, build: Callable[[datetime], Message | None]) -> None:
        """Send one retained message more when it is due, if `build` has one then."""
        self._builders[name] = build

    def health(self) -> LinkHealth:
        """How the connection stands now."""
        return self._link

    def _note(self, reason: str) -> None:
        """Note that the connection is there, or with a reason why not."""
        since = self._link.since if self._link.connected is (reason == "") else datetime.now(UTC)
        self._link = replace(self._link, connected=reason == "", reason=reason, since=since)

    async def run(self) -> None:
        """Keep the connection until cancelled."""
        while True:
            await _to_its_end(asyncio.create_task(self._connect(), name="mqtt connection"))
            self._failures += 1
            # Full jitter: after a power cut all tables of a floor come back at once.
            longest = min(LAST_RETRY_SECONDS, FIRST_RETRY_SECONDS * 2 ** min(self._failures, 10))
            await asyncio.sleep(random.uniform(0, longest))

    async def say_offline(self, reason: str) -> None:
        """Tell the broker, if it is there, that the service ends on purpose: a last will would only say that it is gone."""
        try:
            async with asyncio.timeout(1), self._client() as client:
                await client.publish(
                    self._topic(topics.AVAILABILITY), self._offline(reason).wire(), qos=1, retain=True
                )
        except (aiomqtt.MqttError, TimeoutError):
            _log.info("broker away at the end", reason=reason)

    # --- one connection

    async def _connect(self) -> None:
        """Make a connection and keep it until it is lost."""
        try:
            async with self._client() as client:
                self._failures = 0
                self._note("")
                _log.info("broker connected", host=self._address.host, port=self._address.port)
                await self._serve(client)
        except* aiomqtt.MqttError as errors:
            error = errors.exceptions[0]
            self._note(str(error))
            if not self._failures:
                _log.warning("broker away", reason=str(error), **advice_on(error))
        finally:
            self._outbox.disconnect()

    def _client(self) -> "_Client":
        address = self._address
        self._connection = timestamp(datetime.now(UTC))
        return _Client(
            address.host,
            address.port,
            username=address.username,
            password=address.password,
            # One for each table and the same each time: the broker then ends a connection of ours that it still
            # believes in before it takes the new one, so its last will cannot come after our "online".
            identifier=f"punto-{self._topic.base.replace('/', '-')}-{self._topic.table}",
            keepalive=address.keepalive,
            timeout=self._stalled,
            max_queued_incoming_messages=MOST_REQUESTS,
            tls_context=address.tls,
            socket_options=_NODELAY,
            will=aiomqtt.Will(
                self._topic(topics.AVAILABILITY),
                self._offline("the connection was lost").wire(),
                qos=1,
                retain=True,
            ),
        )

    def _online(self, now: datetime) -> Availability:
        return self._availability("online", "running", now)

    def _head(self, now: datetime) -> RestrictedHead:
        head = self._journal.head
        return head_message(self._topic.table, head.seq, str(head), now)

    def _offline(self, reason: str) -> Availability:
        return self._availability("offline", reason, datetime.now(UTC))

    def _availability(self, state: Literal["online", "offline"], reason: str, now: datetime) -> Availability:
        return Availability(
            id=f"{self._topic.table}/availability/{state}/{self._connection}",
            seq=0,
            ts=timestamp(now),
            state=state,
            reason=reason,
            since=timestamp(self._since if state == "online" else now),
        )

    async def _serve(self, client: "_Client") -> None:
        granted = await client.subscribe([(self._topic("wagers/+/set"), 1), (self._topic("request/+"), 1)])
        if _REFUSED_SUBSCRIPTION in granted:
            _log.warning(
                "broker lets no wagers or requests in", hint="let this user read them (mosquitto.acl)"
            )
        async with asyncio.TaskGroup() as tasks:
            sender = _Sender(client, self._stalled)
            self._outbox.connect(lambda: sender.send_events(self._outbox))
            self._outbox.snapshot_due(*self._builders)
            self._outbox.rounds_are_due()
            tasks.create_task(self._send_snapshots(sender), name="mqtt snapshots")
            tasks.create_task(self._send_rounds(_Sender(client, self._stalled)), name="mqtt rounds")
            tasks.create_task(self._receive(client), name="mqtt requests")

    async def _send_snapshots(self, sender: "_Sender") -> None:
        """Send the retained messages that are due, as they are by then; events go before them."""
        outbox = self._outbox
        while True:
            await outbox.snapshots_wake.wait()
            outbox.snapshots_wake.clear()
            for name, build in self._builders.items():
                if name in outbox.due:
                    outbox.due.discard(name)
                    await sender.room()
                    message = build(datetime.now(UTC))
                    if message is not None:
                        sender.send(self._topic(name), message.wire(), retain=True)
            await asyncio.sleep(SNAPSHOTS_EVERY_SECONDS)

    async def _send_rounds(self, sender: "_Sender") -> None:
        """Send the record's rounds from where the broker last had them, in order, for ever."""
        while True:
            await self._outbox.rounds_wake.wait()
            self._outbox.rounds_wake.clear()
            while rounds := await self._journal.rounds_after(self._journal.rounds_sent, ROUNDS_AT_ONCE):
                for ts, game, record in rounds:
                    await sender.room()
                    sender.send(self._topic(topics.ROUND), self._round(ts, game, record).wire())
                await sender.all_taken()
                # Only now has the broker them all. Whoever gets one twice after a crash knows it by its id.
                self._journal.rounds_were_sent(rounds[-1][2].round)

    def _round(self, ts: str, game: str, record: RoundRecord) -> Round:
        id_ = f"{self._topic.table}/round/{record.round}"
        return Round(id=id_, seq=record.round, ts=ts, game=game, round=public_round(record))

    # --- what comes in

    async def _receive(self, client: aiomqtt.Client) -> None:
        async for message in client.messages:
            payload = message.payload if isinstance(message.payload, bytes) else b""
            match message.topic.value.removeprefix(self._topic("")).split("/"):
                case ["wagers", _, "set"] | ["request", _] if message.retain:
                    _log.warning(
                        "retained request ignored",
                        topic=message.topic.value,
                        hint="publish it without the retain flag",
                    )
                case ["wagers", seat, "set"]:
                    await self._wager(seat, payload)
                case ["request", verb]:
                    await self._request(verb, payload)
                case _:  # amqtt delivers what nobody subscribed to
                    pass

    async def _wager(self, seat: str, payload: bytes) -> None:
        if not _SEAT.fullmatch(seat):
            _log.warning("wager for no seat ignored", seat=seat[:LONGEST_VERB])
            return
        number = int(seat)
        try:
            asked = WagerRequest.model_validate_json(payload)
        except ValidationError as error:
            # As of the last input, for it is none itself and `seq` must not go back.
            self._answer_wager(
                self._engine.seq, _id_of(payload), number, "bad_payload", _first_fault(error), is_input=False
            )
            return
        wager = SetWager(id=asked.id, seat=number, wager=asked.wager, amount=asked.amount, round=asked.round)
        (handled,) = await self._engine.submit([wager], f"mqtt seat {number}")
        refusal = handled.refusal
        if refusal is None:
            self._answer_wager(handled.seq, asked.id, number, None, None)
        else:
            self._answer_wager(handled.seq, asked.id, number, refusal.code, str(refusal))

    def _answer_wager(
        self,
        seq: int,
        request: str | None,
        seat: int,
        code: str | None,
        reason: str | None,
        *,
        is_input: bool = True,
    ) -> None:
        now = timestamp(datetime.now(UTC))
        answer = WagerAnswer(
            id=f"{self._topic.table}/wager/{seq if is_input else now}",
            seq=seq,
            ts=now,
            request=request,
            seat=seat,
            accepted=code is None,
            code=code,
            reason=reason,
        )
        self._outbox.put(self._topic(topics.wager_result(seat)), answer.wire())

    async def _request(self, verb: str, payload: bytes) -> None:
        if len(verb) > LONGEST_VERB:  # with it the answer's topic could be longer than a topic may be
            _log.warning("request ignored", verb=verb[:LONGEST_VERB], hint="ask for snapshot or rounds")
            return
        try:
            if verb == "snapshot":
                answer: Message = self._snapshot(SnapshotRequest.model_validate_json(payload))
            elif verb == "rounds":
                answer = await self._rounds(RoundsRequest.model_validate_json(payload))
            else:
                reason = f"there is no request {verb!r}: ask for snapshot or rounds"
                answer = self._response(_id_of(payload), reason)
        except ValidationError as error:
            answer = self._response(_id_of(payload), _first_fault(error))
        self._outbox.put(self._topic(topics.response(verb)), answer.wire())

    def _snapshot(self, asked: SnapshotRequest) -> Message:
        self._outbox.snapshot_due(*self._builders)
        return self._response(asked.id, None)

    def _response(self, request: str | None, error: str | None) -> Response:
        now = timestamp(datetime.now(UTC))
        # Whoever asks again as it should be, by the same id, has another answer.
        id_ = f"{self._topic.table}/response/{request if error is None else now}"
        return Response(id=id_, seq=0, ts=now, request=request, error=error)

    async def _rounds(self, asked: RoundsRequest) -> Message:
        last = self._journal.last_round
        found = await self._journal.rounds_after(asked.after, asked.limit) if asked.after < last else []
        return RoundsResponse(
            id=f"{self._topic.table}/response/{asked.id}",
            seq=last,
            ts=timestamp(datetime.now(UTC)),
            request=asked.id,
            rounds=tuple(public_round(record) for _, _, record in found),
            more=bool(found) and found[-1][2].round < last,
        )


class _Client(aiomqtt.Client):
    """A connection for once, which leaves nothing behind however it ends."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._thread = threading.get_ident()

    async def __aenter__(self) -> Self:
        try:
            return await super().__aenter__()
        except BaseException:
            # A broker that says nothing may still have the connection in its queue: it would take it later, in place
            # of the one that we have by then. As if never answered, for the library asks a cancelled future why.
            self._connected = asyncio.Future()
            self._client.disconnect()
            raise

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await super().__aexit__(kind, error, trace)
        finally:
            if self._disconnected.done() and not self._disconnected.cancelled():
                self._disconnected.exception()  # why it ended is known by another way: this one has been heard

    def publish_now(self, topic: str, payload: bytes, taken: Callable[[], None], *, retain: bool) -> bool:
        """Publish with QoS 1 before this returns, and call `taken` once the broker has it; False if it is not there.

        aiomqtt's own `publish` is to be awaited to the acknowledgement: a task and a turn of the loop for each message.
        """
        info = self._client.publish(topic, payload, 1, retain)
        if info.rc != 0:
            return False
        self._pending_publishes[info.mid] = _Taken(taken)
        return True

    def _on_socket_register_write(self, client: Any, userdata: Any, sock: Any) -> None:
        """Write at once; aiomqtt leaves it to the loop, which comes to it some turns later, after all that is ready.

        What does not go at once, a connection that broke, and what is written in the thread that connects, is left to
        the loop as before.
        """
        if threading.get_ident() == self._thread:
            with suppress(Exception):
                client.loop_write()
        if client.want_write():
            super()._on_socket_register_write(client, userdata, sock)


class _Taken(asyncio.Event):
    """What the client library sets when the broker has acknowledged a message."""

    def __init__(self, tell: Callable[[], None]) -> None:
        super().__init__()
        self._tell = tell

    def set(self) -> None:
        """Tell who sent it."""
        self._tell()


class _Sender:
    """Publishes in order, with several messages under way; what is not acknowledged in the end was not sent."""

    def __init__(self, client: _Client, stalled: float) -> None:
        self._client = client
        self._stalled = stalled
        self._under_way = 0
        self._lost = False
        self._changed = asyncio.Event()
        self._events: Outbox | None = None

    def send_events(self, outbox: Outbox) -> None:
        """Send what waits, as far as the window goes; the rest follows as the broker takes it."""
        self._events = outbox
        while outbox.events and self._under_way < WINDOW and not self._lost:
            self.send(*outbox.take())

    def send(self, topic: str, payload: bytes, *, retain: bool = False) -> None:
        """Publish now. A connection that is lost is seen by whoever waits for `room` or for all to be taken."""
        if self._client.publish_now(topic, payload, self._taken, retain=retain):
            self._under_way += 1
        else:
            self._lost = True
            self._changed.set()

    async def room(self) -> None:
        """Wait until the window has room.

        Raises:
            aiomqtt.MqttError: the connection is lost, or the broker has acknowledged nothing for long.
        """
        await self._until(WINDOW - 1)

    async def all_taken(self) -> None:
        """Wait until the broker has taken everything.

        Raises:
            aiomqtt.MqttError: the connection is lost, or the broker has acknowledged nothing for long.
        """
        await self._until(0)

    async def _until(self, most: int) -> None:
        while self._under_way > most and not self._lost:
            self._changed.clear()
            try:
                async with asyncio.timeout(self._stalled):
                    await self._changed.wait()
            except TimeoutError:
                raise aiomqtt.MqttError(
                    f"the broker has acknowledged nothing for {self._stalled:g} s"
                ) from None
        if self._lost:
            raise aiomqtt.MqttError("the connection is lost")

    def _taken(self) -> None:
        self._under_way -= 1
        self._changed.set()
        if self._events is not None:
            self.send_events(self._events)


async def _to_its_end(task: asyncio.Task[None]) -> None:
    """Wait for a task; cancelled meanwhile, cancel it until it has ended.

    Once is not enough: Python 3.11 loses a cancellation in `asyncio.wait_for`, with which the client library waits for the
    broker, when the answer comes in the same moment (python/cpython 86296). A service told to stop would go on for ever.
    """
    try:
        await asyncio.wait([task])
    finally:
        while not task.done():
            task.cancel()
            await asyncio.wait([task], timeout=CANCEL_AGAIN_SECONDS)
        if not task.cancelled():
            task.exception()  # counts as heard: a failure that comes with a cancellation has been told by its cause
    task.result()


class _Asked(BaseModel):
    """What of a payload that is no request names it all the same."""

    model_config = ConfigDict(strict=True)

    id: str = Field(min_length=1, max_length=64)


def _id_of(payload: bytes) -> str | None:
    """The id that a payload gives itself, None where none can be read."""
    try:
        return _Asked.model_validate_json(payload).id
    except ValidationError:
        return None


def _first_fault(error: ValidationError) -> str:
    fault = error.errors(include_url=False)[0]
    where = ".".join(str(part) for part in fault["loc"])
    return f"{where}: {fault['msg']}" if where else str(fault["msg"])
