"""The connection to an MQTT broker, used by the table, its displays, the demo and its players.

Only this module imports the MQTT client. It has all workarounds for the client:

- Each connection gets a new client: a used client sends old messages again (empicano/aiomqtt 269, 288).
- The client gets no timeout: it would wait with `asyncio.wait_for`, which in Python 3.11 loses a cancellation that
  comes together with the answer (python/cpython 86296). `asyncio.timeout` does not.
- The client leaves the connection open if connecting is given up (`_abandon`), or if TLS fails (`_TlsSocket`).
- Messages are published and received through paho, the client under aiomqtt (`Connection.__init__`).
"""

import asyncio
import logging
import re
import secrets
import socket
import ssl
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, NoReturn, TypeVar

import aiomqtt
import structlog

from punto.configs.problems import ConfigError
from punto.runtime import clock
from punto.runtime.backoff import Backoff
from punto.runtime.broker_login import BrokerConfig

WINDOW: Final = 20
"""The most messages that are sent and not yet acknowledged: the same as the client library's limit."""
STALLED_SECONDS: Final = 10
"""A broker that answers nothing for this time is given up. If `keepalive` is shorter, it is the limit."""
MOST_WAITING: Final = 4096
"""The most received messages that wait to be read. Further messages are discarded with a warning."""
AT_ONCE: Final = 50
"""The most received messages that are read before other tasks have their turn."""
LEAVE_SECONDS: Final = 1
_REFUSED_SUBSCRIPTION: Final = 128
# "Bad user name or password" and "not authorised" in MQTT 3.1.1, and the client library's translation to MQTT 5.
_NOT_AUTHORISED: Final = frozenset({4, 5, 134, 135})
# Without it, bursts wait 40 ms for the delayed acknowledgement of TCP (the broker needs set_tcp_nodelay too).
_NODELAY: Final = ((socket.IPPROTO_TCP, socket.TCP_NODELAY, 1),)

T = TypeVar("T")
_log = structlog.get_logger("punto.runtime.broker_link")
# Our own line "broker away" already reports a lost connection and its reason; an answer whose request was cancelled, because
# the service stops, is no error.
_NO_ERRORS_OF_THE_LIBRARY: Final = re.compile(
    " on socket: |Could not gracefully disconnect|Unexpected message ID .* in on_(un)?subscribe"
)
_library_log = logging.getLogger("punto.runtime.broker_link.client")
_library_log.addFilter(lambda record: _NO_ERRORS_OF_THE_LIBRARY.search(str(record.msg)) is None)

REFUSED: Final = "the broker refuses this user: its name, its password or its certificate is wrong"
NO_RIGHTS: Final = "the broker does not let this user write or read the table's topics"
TAKEN_OVER: Final = (
    "the broker ends each connection soon, probably because another client has the same client id or user"
)
QUICK_LOSSES: Final = 3
"""After so many connections in a row that the broker ended soon, it is reported as TAKEN_OVER, and the pauses are longer."""
QUICK_SECONDS: Final = 10.0
LONGEST_TAKEN_OVER_SECONDS: Final = 60.0
"""The longest pause of a client that is taken over. The other client may pause as long, so only a connection that holds for twice
this time ends the report.
"""
HELD_SECONDS: Final = 30.0
"""After a connection that has held for this time, the pause is the usual one, also while TAKEN_OVER is reported: otherwise anyone
who ends a connection every two minutes would keep the client away for up to a minute each time.
"""

_HINTS: Final = {
    REFUSED: {
        "hint": "set username and password_file in [mqtt], and add the user to the broker's password file (mosquitto_passwd) and to "
        "its ACL; `punto doctor` names what is wrong and the command that mends it"
    },
    TAKEN_OVER: {
        "hint": "give each program a user of its own and each table an id of its own, and look in the broker's log for who else "
        "connects"
    },
}
"""What is logged with these reasons."""

LinkError = aiomqtt.MqttError
"""The broker cannot be reached or refuses this user, or the connection is lost."""


class ConnectionLostError(aiomqtt.MqttError):
    """The connection is given up because the broker does not answer."""


@dataclass(frozen=True, slots=True)
class Received:
    """A message from the broker. A `retained` message can be old."""

    topic: str
    payload: bytes
    retained: bool

    def matches(self, subscription: str) -> bool:
        """Whether a subscription, in which `+` may stand for a level, has this message's topic."""
        return aiomqtt.Topic(self.topic).matches(subscription)


class _TlsSocket(ssl.SSLSocket):
    def do_handshake(self, block: bool = False) -> None:
        try:
            super().do_handshake(block)
        except BaseException:
            self.close()
            raise


class Link:
    """A connection that is made again whenever it is lost, with the pauses of `backoff` between the attempts.

    - `identifier` is the client's name at the broker, which ends an older connection of the same name.
    - `will` returns the topic and the retained payload that the broker publishes if the connection is lost.
    - `lost` is called with the reason each time that a connection is lost or cannot be made.

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
        broker.password()  # a password that cannot be read is reported now, not at each connection
        self._broker = broker
        self._tls = broker.tls()
        if self._tls is not None:
            self._tls.sslsocket_class = _TlsSocket
        self._backoff = backoff
        self._identifier = identifier or f"punto-{secrets.token_hex(8)}"
        self._will = will
        self._lost = lost
        self._patience = min(broker.keepalive, STALLED_SECONDS)
        self._quick = 0
        """Connections in a row that the broker has ended soon after it had accepted them."""
        self._long_pauses = Backoff(QUICK_SECONDS / 2, LONGEST_TAKEN_OVER_SECONDS)

    async def run(self, session: Callable[["Connection"], Coroutine[Any, Any, None]]) -> NoReturn:
        """Run `session` on each connection until cancelled. Errors other than a lost connection are raised."""
        place = {"host": self._broker.host, "port": self._broker.port}
        was_refused = False
        while True:
            began, taken_over = None, False
            try:
                async with self.connection() as connection:
                    began = clock.monotonic()
                    self._backoff.reset()
                    _log.info("broker connected", **place)
                    # In a separate task: before Python 3.13, if a task of a group fails while the group is being left,
                    # the group's own task keeps a cancellation, or loses one that comes at that moment.
                    await asyncio.create_task(session(connection), name="mqtt session")
            except* (
                aiomqtt.MqttError,
                ConfigError,
            ) as errors:  # ConfigError: the password's file was removed
                error = errors.exceptions[0]
                refused, taken_over = refuses(error), self._is_taken_over(began, error)
                reason = REFUSED if refused else TAKEN_OVER if taken_over else str(error)
                self._lost(reason)
                # One line until the broker is reached again, and one more if it is reached and refuses the user.
                if not self._backoff.failures or (refused and not was_refused):
                    _log.warning("broker away", **place, reason=reason, **_HINTS.get(reason, {}))
                was_refused = refused
            if (task := asyncio.current_task()) is not None and task.cancelling():
                raise asyncio.CancelledError
            held = began is not None and clock.monotonic() - began >= HELD_SECONDS
            await asyncio.sleep((self._long_pauses if taken_over and not held else self._backoff).pause())

    def _is_taken_over(self, began: float | None, error: BaseException) -> bool:
        """Whether the broker probably accepts another client in the place of this one, again and again.

        A broker closes the older connection without a word. A broker that stops does so too, but then it usually cannot be reached
        for a moment, which ends the count.
        """
        limit = QUICK_SECONDS if self._quick < QUICK_LOSSES else 2 * LONGEST_TAKEN_OVER_SECONDS
        quick = began is not None and clock.monotonic() - began < limit
        if quick and isinstance(error, aiomqtt.MqttError) and not isinstance(error, ConnectionLostError):
            self._quick += 1
        else:
            self._quick = 0
            self._long_pauses.reset()
        return self._quick >= QUICK_LOSSES

    @asynccontextmanager
    async def connection(self) -> AsyncIterator["Connection"]:
        """One connection.

        Raises:
            ConfigError: the password can no longer be read.
            LinkError: the broker cannot be reached, or refuses this user.
        """
        client = aiomqtt.Client(
            self._broker.host,
            self._broker.port,
            username=self._broker.username,
            password=self._broker.password(),
            identifier=self._identifier,
            keepalive=self._broker.keepalive,
            timeout=float("inf"),
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
    """An open connection."""

    def __init__(self, client: aiomqtt.Client, patience: float) -> None:
        self._client = client
        self.patience = patience
        """Seconds within which the broker must answer."""
        # This is the only use of a private name of aiomqtt; all else is paho's documented interface. aiomqtt publishes
        # from a task for each message and writes some turns of the loop later: a card would take 1.5 times as long to
        # reach the displays. It also makes a task for each message that is read, which takes longer than all else that
        # becomes of the message.
        self._paho = client._client  # noqa: SLF001 - as above; test_broker_link.py tests it with the allowed versions
        self._acknowledged: dict[int, Callable[[], None]] = {}
        self._received: deque[Received] = deque()
        self._arrived = asyncio.Event()
        self._discards = False
        self._corked = False
        self._write_later = self._paho.on_socket_register_write
        self._paho.on_publish = self._on_publish
        self._paho.on_message = self._on_message
        self._paho.on_socket_register_write = self._on_socket_register_write

    async def subscribe(self, topics: Sequence[str], qos: int = 1) -> bool:
        """Subscribe to these topics. Return whether the broker's access list lets this user read them all.

        With QoS 0, messages come at less cost, and the broker may discard some if they are not read fast enough.

        Raises:
            LinkError: the connection is lost.
        """
        granted = await _answered(self._client.subscribe([(topic, qos) for topic in topics]), self.patience)
        return _REFUSED_SUBSCRIPTION not in granted

    async def unsubscribe(self, topics: Sequence[str]) -> None:
        """End the subscriptions to these topics.

        Raises:
            LinkError: the connection is lost.
        """
        await _answered(self._client.unsubscribe(list(topics)), self.patience)

    async def messages(self) -> AsyncIterator[Received]:
        """The received messages. amqtt may deliver more than the subscribed topics.

        Raises:
            LinkError: the connection is lost.
        """
        async with aclosing(self.batches()) as batches:
            async for batch in batches:
                for message in batch:
                    yield message

    async def batches(self) -> AsyncGenerator[Sequence[Received], None]:
        """The received messages, those together that have arrived together: at most AT_ONCE.

        Raises:
            LinkError: the connection is lost.
        """
        lost = asyncio.ensure_future(anext(self._client.messages))  # aiomqtt gets no messages, only the end
        lost.add_done_callback(self._end)
        try:
            while True:
                await self._arrived.wait()
                self._arrived.clear()
                while self._received:
                    yield [self._received.popleft() for _ in range(min(len(self._received), AT_ONCE))]
                    await asyncio.sleep(0)
                if lost.done():
                    await lost
        finally:
            lost.cancel()

    def _end(self, lost: "asyncio.Future[Any]") -> None:
        if not lost.cancelled():
            lost.exception()  # asked for, so that it is not reported as forgotten
        self._arrived.set()

    def publish(
        self, topic: str, payload: bytes, acknowledged: Callable[[], None], *, retain: bool = False
    ) -> bool:
        """Publish at once with QoS 1, and call `acknowledged` when the broker has it. False if the connection is lost."""
        info = self._paho.publish(topic, payload, 1, retain)
        if info.rc == 0:
            self._acknowledged[info.mid] = acknowledged
        return info.rc == 0

    def _on_message(self, _client: Any, _userdata: Any, message: Any) -> None:
        discards = len(self._received) >= MOST_WAITING
        if not discards:
            self._received.append(Received(message.topic, message.payload, message.retain))
            self._arrived.set()
        elif not self._discards:  # one line until messages are read again
            _log.warning("messages discarded", reason=f"{MOST_WAITING} received messages wait to be read")
        self._discards = discards

    def _on_publish(self, _client: Any, _userdata: Any, mid: int, *_: Any) -> None:
        self._acknowledged.pop(mid)()

    def _on_socket_register_write(self, client: Any, userdata: Any, sock: Any) -> None:
        """Write at once. The event loop writes the rest, and finds errors, as without this callback.

        Further messages of this turn of the loop go to the kernel too, which sends them together in the next turn: a packet for
        each message would take longer than all else that becomes of the message.
        """
        with suppress(Exception):
            client.loop_write()
        # the write closes the socket if the connection is broken
        if client.want_write() and self._write_later is not None and sock.fileno() >= 0:
            self._write_later(client, userdata, sock)
        if not self._corked:
            self._cork(sock, True)
            asyncio.get_running_loop().call_soon(self._cork, sock, False)

    def _cork(self, sock: Any, corked: bool) -> None:
        """Have the kernel hold back what it could send, or send it."""
        self._corked = corked
        with suppress(OSError):  # the connection is lost
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, int(corked))


class Sender:
    """Publishes messages in order, up to `WINDOW` at a time. A message without an acknowledgement was not sent."""

    def __init__(self, connection: Connection, acknowledged: Callable[[], None] = lambda: None) -> None:
        self._connection = connection
        self._on_acknowledged = acknowledged
        self._in_flight = 0
        self._lost = False
        self._changed = asyncio.Event()

    @property
    def has_room(self) -> bool:
        """Whether the window has room; False if the connection is lost."""
        return self._in_flight < WINDOW and not self._lost

    def send(
        self, topic: str, payload: bytes, taken: Callable[[], None] = lambda: None, *, retain: bool = False
    ) -> None:
        """Publish now, and call `taken` when the broker has it. `room` and `all_taken` report a lost connection."""
        if self._connection.publish(topic, payload, partial(self._acknowledged, taken), retain=retain):
            self._in_flight += 1
        else:
            self._lost = True
            self._changed.set()

    async def room(self) -> None:
        """Wait until the window has room.

        Raises:
            LinkError: the connection is lost, or the broker does not acknowledge.
        """
        await self._until(WINDOW - 1)

    async def all_taken(self) -> None:
        """Wait until the broker has acknowledged everything.

        Raises:
            LinkError: the connection is lost, or the broker does not acknowledge.
        """
        await self._until(0)

    async def _until(self, most: int) -> None:
        while self._in_flight > most and not self._lost:
            self._changed.clear()
            await _answered(self._changed.wait(), self._connection.patience)
        if self._lost:
            raise LinkError("the connection is lost")

    def _acknowledged(self, taken: Callable[[], None]) -> None:
        taken()
        self._in_flight -= 1
        self._changed.set()
        self._on_acknowledged()


async def _answered(request: Awaitable[T], patience: float) -> T:
    """The broker's answer to a request.

    Raises:
        ConnectionLostError: there was no answer within `patience` seconds.
    """
    try:
        async with asyncio.timeout(patience):
            return await request
    except TimeoutError:
        raise ConnectionLostError(f"the broker has answered nothing for {patience:g} s") from None


async def _abandon(client: aiomqtt.Client) -> None:
    """Close a connection that was given up while it was being made; aiomqtt leaves it open.

    Otherwise the broker, which may still have it in its queue, could accept it later and end our newer connection.
    """
    client.timeout = 0
    with suppress(aiomqtt.MqttError):
        await client.__aexit__(None, None, None)


async def _leave(client: aiomqtt.Client) -> None:
    with suppress(aiomqtt.MqttError, TimeoutError):
        async with asyncio.timeout(LEAVE_SECONDS):
            await client.__aexit__(None, None, None)
            await anext(client.messages)  # the reason of the end is raised


def refuses(error: BaseException) -> bool:
    """Whether the broker has refused the user."""
    code = getattr(error, "rc", None)
    return getattr(code, "value", code) in _NOT_AUTHORISED
