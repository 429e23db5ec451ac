"""The web server of the consoles and of the displays, inside a program that runs other things too.

Nobody keeps others out by opening connections: each has so long to send a request whole, and so long to take something
of an answer. Where there are too many, one that asks for nothing is ended for the new one, and where all are being
answered, one of the address that holds most.
"""

import asyncio
import contextlib
import fcntl
import os
import socket
import ssl
import termios
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar, cast

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from punto.configs.problems import ConfigError, Problem, cut

SHARED: Final = Path(__file__).parent / "shared_pages"
"""What the pages of consoles, Game Manager and displays are all made of; each server has it at /shared."""
ASK_SECONDS: Final = 10
"""So long a connection may be silent, a request may take to come, head and body, and an answer may lie untaken."""
MOST_CONNECTIONS: Final = 500  # half of the files that a process may commonly have open
MOST_ACCEPTED: Final = (
    700  # with those that are still beginning TLS, or have unread answers when they are closed
)
BACKLOG: Final = 64  # asyncio takes as many connections as these before it looks at one of them

_T = TypeVar("_T")


def listen(host: str, port: int, key: str = "", remedy: str = "name another") -> socket.socket:
    """A socket that listens there; `key` is that of the port in the configuration.

    Raises:
        ConfigError: the address cannot be listened on; `remedy` says what to do.
    """
    try:
        return _listen(host, port)
    except OSError as error:
        message = f"cannot listen on {cut(host)} port {port}: {error.strerror or error}; {remedy}"
        raise ConfigError([Problem(message, key=key)]) from error


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, *_, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except UnicodeError:  # such as a part of 64 letters
        raise OSError("no host can have this name") from None
    try:
        bound = socket.create_server(address[:2], family=family)
    except OSError as error:  # Python adds the address to it, as a tuple
        raise OSError(error.errno, os.strerror(error.errno or 0)) from None
    listener = Listener(fileno=bound.detach())
    # Every connection inherits these. asyncio sets the first only on sockets that it has made itself; without it the
    # second part of an answer waits for the browser's acknowledgement of the first: 40 ms. By the second the kernel
    # ends a connection that takes nothing of what is sent to it.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(ASK_SECONDS * 1000))
    return listener


def address_of(listener: socket.socket, *, tls: bool = False) -> str:
    """The address that browsers on this machine open."""
    host, port = listener.getsockname()[:2]
    named = f"[{host}]" if listener.family is socket.AF_INET6 else host
    return f"http{'s' * tls}://{named}:{port}/"


class Listener(socket.socket):
    """A socket that listens, and lets only so many stay open of what it has accepted.

    A `Connection` does not hear of its transport before TLS has begun, and a stranger need never begin it.
    """

    def __init__(self, *, fileno: int) -> None:
        super().__init__(fileno=fileno)
        self._accepted: list[tuple[str, socket.socket]] = []

    def accept(self) -> tuple[socket.socket, Any]:
        """Accept a connection. One too many is shut down: its transport sees the end and closes it."""
        accepted, address = super().accept()
        still_open = [(whose, each) for whose, each in self._accepted if each.fileno() >= 0]
        self._accepted = [*still_open, (address[0], accepted)]
        if len(self._accepted) > MOST_ACCEPTED:
            ended = _one_too_many(self._accepted)
            self._accepted.remove(ended)
            with contextlib.suppress(OSError):  # its other end has gone
                ended[1].shutdown(socket.SHUT_RDWR)
        return accepted, address


def _one_too_many(those: Sequence[tuple[str, _T]]) -> tuple[str, _T]:
    """Of connections and their addresses: the oldest of the address with most, or the last, if none has more than its."""
    held = Counter(address for address, _ in those)
    newest = those[-1]
    address, most = held.most_common(1)[0]
    if most == held[newest[0]]:
        return newest
    return next(each for each in those if each[0] == address)


class Server(uvicorn.Server):
    """A server whose program minds the signals itself; `headers` go with every answer."""

    def __init__(
        self,
        application: ASGIApp,
        *,
        headers: list[tuple[str, str]] | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        super().__init__(
            uvicorn.Config(
                application,
                headers=headers,
                server_header=False,
                lifespan="off",
                ws="none",
                http=Connection,
                backlog=BACKLOG,
                log_config=None,
                log_level="error",  # what strangers send that is no request is no news
                access_log=False,
                proxy_headers=False,  # who asks is who the connection is from
                timeout_graceful_shutdown=2,
                ssl_context_factory=None if tls is None else lambda *_: tls,
            )
        )

        self._stopped = asyncio.Event()

    def stop(self) -> None:
        """End `serve`, once the answers that are being made are given."""
        self.should_exit = True
        self._stopped.set()

    async def main_loop(self) -> None:
        """Tick once a second and end when stopped. uvicorn's own loop wakes ten times a second to look for its end."""
        while not await self.on_tick(0):
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stopped.wait(), 1)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Close the listeners, end the connections, and wait for answers whose browser has gone.

        Where there are none of either, uvicorn's tenth of a second is not waited for.
        """
        if self.server_state.connections or self.server_state.tasks:
            await super().shutdown(sockets)
        for server in self.servers:
            server.close()
        for listener in sockets or []:
            listener.close()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave them alone."""
        yield


class Connection(H11Protocol):
    """A browser's connection, ended when a request does not come in time.

    An answer may take as long as it likes, to be made and to be read, while something of it is taken now and then.
    """

    _silent: bool
    _since: float
    _limit: asyncio.TimerHandle

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._wait(silent=True)
        if len(self.connections) > MOST_CONNECTIONS:
            self._end_one_too_many()

    def data_received(self, data: bytes) -> None:
        """Give a request that begins its own time."""
        if self._silent:
            self._limit.cancel()
            self._wait(silent=False)
        super().data_received(data)

    def on_response_complete(self) -> None:
        """Begin to wait for another."""
        self._limit.cancel()
        self._wait(silent=True)
        super().on_response_complete()

    def timeout_keep_alive_handler(self) -> None:
        """Leave it: uvicorn would have the time to ask again begin before the answer is read."""

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._limit.cancel()
        super().connection_lost(exc)

    def _wait(self, *, silent: bool) -> None:
        self._silent = silent
        self._since = self.loop.time()
        self._limit = self.loop.call_later(ASK_SECONDS, self._end_if_unasked)

    def _end_if_unasked(self) -> None:
        if not self._unasked:
            return
        if self._unread:
            self._wait(silent=self._silent)
        else:
            self.transport.abort()

    @property
    def _address(self) -> str:
        return "" if self.client is None else self.client[0]  # None: it has gone already

    @property
    def _unread(self) -> bool:
        """Whether a part of an answer has not arrived: asked of the kernel, for under TLS no transport knows it."""
        connection = self.transport.get_extra_info("socket")
        return any(fcntl.ioctl(connection.fileno(), termios.TIOCOUTQ, bytes(4)))

    @property
    def _unasked(self) -> bool:
        """Whether no request has come whole that is not answered yet."""
        cycle = cast(
            RequestResponseCycle | None, self.cycle
        )  # None before the first, whatever its annotation says
        return cycle is None or cycle.response_complete or cycle.more_body

    def _end_one_too_many(self) -> None:
        """End the one that has kept everybody waiting longest; where none does, one of the address that holds most."""
        others = [
            each
            for each in self.connections
            if isinstance(each, Connection) and each is not self and not each.transport.is_closing()
        ]
        if len(others) < MOST_CONNECTIONS:
            return
        waiting = [each for each in others if each._unasked and not each._unread]  # noqa: SLF001 - its own kind's
        if waiting:
            ended = min(waiting, key=lambda each: each._since)  # noqa: SLF001 - its own kind's
        else:
            others.sort(key=lambda each: each._since)  # noqa: SLF001 - its own kind's
            _, ended = _one_too_many([(each._address, each) for each in (*others, self)])  # noqa: SLF001 - its own kind's
        ended.transport.abort()
