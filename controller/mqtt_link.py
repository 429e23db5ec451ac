"""The connection to an MQTT broker, for everyone who has one: the table, its displays, the demo and its players.

The only module that imports the MQTT client, so all that works around the client stands here:

- Each connection has a new client: a used one sends old messages again (empicano/aiomqtt 269, 288).
- The client is never given a timeout of its own: it would wait with `asyncio.wait_for`, which in Python 3.11 loses a
  cancellation that comes in the moment of the answer (python/cpython 86296). `asyncio.timeout` does not.
- It leaves a connection open that is given up while it is being made (`_abandon`).
- Messages are published through the client under aiomqtt (`Connection.__init__`).
"""

import asyncio
import logging
import re
import secrets
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final, NoReturn, TypeVar

import aiomqtt
import structlog

from punto.configs.problems import ConfigError
from punto.controller.broker_login import BrokerConfig
from punto.drivers.backoff import Backoff

WINDOW: Final = 20
"""Messages sent and not yet acknowledged, as many as the client library itself has in flight."""
STALLED_SECONDS: Final = 10
"""How long a broker may leave everything unanswered, at most, before the connection is given up; its `keepalive`, if shorter."""
MOST_WAITING: Final = 4096
"""Received messages waiting to be read above which more are discarded, with a warning."""
LEAVE_SECONDS: Final = 1
_REFUSED_SUBSCRIPTION: Final = 128
# "Bad user name or password" and "not authorised" of MQTT 3.1.1, and as the client library translates them to MQTT 5.
_NOT_LET_IN: Final = frozenset({4, 5, 134, 135})
# Without it bursts stall for 40 ms, the delayed acknowledgement of TCP (the broker needs set_tcp_nodelay too).
_NODELAY: Final = ((socket.IPPROTO_TCP, socket.TCP_NODELAY, 1),)

T = TypeVar("T")
_log = structlog.get_logger("punto.controller.mqtt")
# What the client library says of a connection that broke is said by one line of ours: "broker away", with its reason.
_OF_A_LOST_CONNECTION: Final = re.compile(" on socket: |Could not gracefully disconnect")
_library_log = logging.getLogger("punto.controller.mqtt.client")
_library_log.addFilter(lambda record: _OF_A_LOST_CONNECTION.search(str(record.msg)) is None)


LinkError = aiomqtt.MqttError
"""The broker cannot be reached, does not let this user in, or the connection is lost."""


class ConnectionLostError(aiomqtt.MqttError):
    """The connection is lost, or the broker has answered nothing for so long that it is given up."""


@dataclass(frozen=True, slots=True)
class Received:
    """A message as the broker delivered it; a `retained` one may be of any age."""

    topic: str
    payload: bytes
    retained: bool


class Link:
    """A connection that is made again for ever, with pauses by `backoff` between the attempts.

    - `identifier` names the client to the broker, which ends an older connection of the same name.
    - `will` gives the topic and the retained payload that the broker publishes if the connection is lost.
    - `lost` is told why, each time that a connection is lost or cannot be made.

    Raises:
        ConfigError: the password or the authority's certificate cannot be read.
    """

    def __init__(
        self,
        broker: BrokerConfig,
        backoff: Backoff,
        *,
        identifier: str | None = None,
        will: Callable[[], tuple[str, bytes]] | None = None,
        lost: Callable[[str], None] = lambda _: None,
    ) -> None:
        broker.password()  # one that cannot be read is reported now, not at each connection
        self._broker = broker
        self._tls = broker.tls()
        self._backoff = backoff
        self._identifier = identifier or f"punto-{secrets.token_hex(8)}"
        self._will = will
        self._lost = lost
        self._patience = min(broker.keepalive, STALLED_SECONDS)

    async def run(self, session: Callable[["Connection"], Coroutine[Any, Any, None]]) -> NoReturn:
        """Have a session on each connection until cancelled; what else than a lost connection ends it, escapes."""
        place = {"host": self._broker.host, "port": self._broker.port}
        while True:
            try:
                async with self.connection() as connection:
                    self._backoff.reset()
                    _log.info("broker connected", **place)
                    # In a task of its own: before Python 3.13 a task group whose task fails while it is being left
                    # leaves a cancellation on its task, or loses one that comes at that moment.
                    await asyncio.create_task(session(connection), name="mqtt session")
            except* (aiomqtt.MqttError, ConfigError) as errors:  # the latter: the password's file has gone
                error = errors.exceptions[0]
                self._lost(str(error))
                if not self._backoff.failures:  # one line for each absence
                    _log.warning("broker away", **place, reason=str(error), **_advice_on(error))
            if (task := asyncio.current_task()) is not None and task.cancelling():
                raise asyncio.CancelledError
            await asyncio.sleep(self._backoff.pause())

    @asynccontextmanager
    async def connection(self) -> AsyncIterator["Connection"]:
        """One connection.

        Raises:
            ConfigError: the password can no longer be read.
            LinkError: the broker cannot be reached, or does not let this user in.
        """
        client = aiomqtt.Client(
            self._broker.host,
            self._broker.port,
            username=self._broker.username,
            password=self._broker.password(),
            identifier=self._identifier,
            keepalive=self._broker.keepalive,
            timeout=float("inf"),
            max_queued_incoming_messages=MOST_WAITING,
            logger=_library_log,
            tls_context=self._tls,
            socket_options=_NODELAY,
            will=None if self._will is None else aiomqtt.Will(*self._will(), qos=1, retain=True),
        )
        try:
            await _answered(client.__aenter__(), self._patience)
        except (ConnectionLostError, asyncio.CancelledError):
            await _abandon(client)
            raise
        try:
            yield Connection(client, self._patience)
        finally:
            await _leave(client)


class Connection:
    """A connection that stands, until it is lost."""

    def __init__(self, client: aiomqtt.Client, patience: float) -> None:
        self._client = client
        self.patience = patience
        """Seconds that the broker may leave everything unanswered."""
        # The one thing that is taken from behind aiomqtt's interface, and from here on only what paho documents. aiomqtt
        # publishes from a task for each message, and writes some turns of the loop later: a card would reach the displays
        # half as late again.
        self._paho = client._client  # noqa: SLF001 - as above; test_mqtt_link.py holds it for the versions allowed
        self._acknowledged: dict[int, Callable[[], None]] = {}
        self._write_later = self._paho.on_socket_register_write
        self._paho.on_publish = self._on_publish
        self._paho.on_socket_register_write = self._on_socket_register_write

    async def subscribe(self, topics: Sequence[str]) -> bool:
        """Subscribe to these topics, and return whether the broker's access list lets this user read them all.

        Raises:
            LinkError: the connection is lost.
        """
        granted = await _answered(self._client.subscribe([(topic, 1) for topic in topics]), self.patience)
        return _REFUSED_SUBSCRIPTION not in granted

    async def messages(self) -> AsyncIterator[Received]:
        """What the broker delivers, which may be more than was subscribed to (amqtt does that).

        Raises:
            LinkError: the connection is lost.
        """
        async for message in self._client.messages:
            payload = message.payload if isinstance(message.payload, bytes) else b""
            yield Received(message.topic.value, payload, message.retain)

    def publish(
        self, topic: str, payload: bytes, acknowledged: Callable[[], None], *, retain: bool = False
    ) -> bool:
        """Publish with QoS 1 before this returns, and call `acknowledged` once the broker has it; False if it is not there."""
        info = self._paho.publish(topic, payload, 1, retain)
        if info.rc == 0:
            self._acknowledged[info.mid] = acknowledged
        return info.rc == 0

    def _on_publish(self, _client: Any, _userdata: Any, mid: int, *_: Any) -> None:
        self._acknowledged.pop(mid)()

    def _on_socket_register_write(self, client: Any, userdata: Any, sock: Any) -> None:
        """Write at once; what does not go at once, and a connection that broke, is left to the loop as before."""
        with suppress(Exception):
            client.loop_write()
        # the write may have found the connection broken, and closed its socket
        if client.want_write() and self._write_later is not None and sock.fileno() >= 0:
            self._write_later(client, userdata, sock)


class Sender:
    """Publishes in order, with several messages under way; what is not acknowledged in the end was not sent."""

    def __init__(self, connection: Connection, acknowledged: Callable[[], None] = lambda: None) -> None:
        self._connection = connection
        self._tell = acknowledged
        self._under_way = 0
        self._lost = False
        self._changed = asyncio.Event()

    @property
    def has_room(self) -> bool:
        """Whether the window has room; never on a connection that is lost."""
        return self._under_way < WINDOW and not self._lost

    def send(self, topic: str, payload: bytes, *, retain: bool = False) -> None:
        """Publish now. A connection that is lost is seen by whoever waits for `room` or for all to be taken."""
        if self._connection.publish(topic, payload, self._acknowledged, retain=retain):
            self._under_way += 1
        else:
            self._lost = True
            self._changed.set()

    async def room(self) -> None:
        """Wait until the window has room.

        Raises:
            ConnectionLostError: the connection is lost, or the broker has acknowledged nothing for long.
        """
        await self._until(WINDOW - 1)

    async def all_taken(self) -> None:
        """Wait until the broker has taken everything.

        Raises:
            ConnectionLostError: the connection is lost, or the broker has acknowledged nothing for long.
        """
        await self._until(0)

    async def _until(self, most: int) -> None:
        while self._under_way > most and not self._lost:
            self._changed.clear()
            await _answered(self._changed.wait(), self._connection.patience)
        if self._lost:
            raise ConnectionLostError("the connection is lost")

    def _acknowledged(self) -> None:
        self._under_way -= 1
        self._changed.set()
        self._tell()


async def _answered(asked: Awaitable[T], patience: float) -> T:
    """What the broker answers.

    Raises:
        ConnectionLostError: it has answered nothing for `patience` seconds.
    """
    try:
        async with asyncio.timeout(patience):
            return await asked
    except TimeoutError:
        raise ConnectionLostError(f"the broker has answered nothing for {patience:g} s") from None


async def _abandon(client: aiomqtt.Client) -> None:
    """Close a connection that was given up while it was being made, which aiomqtt leaves open.

    The broker may still have it in its queue, and would take it later in place of the one that we have by then.
    """
    client.timeout = 0
    with suppress(aiomqtt.MqttError):
        await client.__aexit__(None, None, None)


async def _leave(client: aiomqtt.Client) -> None:
    with suppress(aiomqtt.MqttError, TimeoutError):
        async with asyncio.timeout(LEAVE_SECONDS):
            await client.__aexit__(None, None, None)
            async for _ in client.messages:  # what was not read any more, and then why it ended
                pass


def _advice_on(error: BaseException) -> dict[str, str]:
    """The `hint` for the log entry of a connection's end; nothing where the broker did not refuse the user."""
    code = getattr(error, "rc", None)
    if getattr(code, "value", code) not in _NOT_LET_IN:
        return {}
    return {
        "hint": "the broker does not let this user in: set username and password_file in [mqtt], and give the broker's "
        "password file (mosquitto_passwd) and ACL that user"
    }
