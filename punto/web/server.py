"""The web server of the consoles and of the displays, which runs inside a larger program.

A client cannot keep others out by opening connections. Each connection has a time limit to send a whole request, and
one to receive some of an answer. If there are too many connections, one without a request is ended for the new one;
if all have requests, one of the address with most connections is ended. The browser on this machine, which shows the table,
has places of its own, and so has each address that the configuration reserves places for.
"""

import asyncio
import contextlib
import fcntl
import os
import socket
import ssl
import termios
from collections.abc import Iterator
from pathlib import Path
from typing import Final, cast

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from punto.configs.problems import ConfigError, Problem, cut
from punto.configs.toml_file import Reserved
from punto.web.listener import Listener, Whose, one_too_many
from punto.web.middleware import Middleware

SHARED: Final = Path(__file__).parent / "shared"
"""What the pages of consoles, Game Manager and displays are all made of; each server has it at /shared."""
ASK_SECONDS: Final = 10
"""The time limit of a silent connection, of a request (head and body), and of an answer of which nothing is received."""
MOST_CONNECTIONS: Final = 500  # half of the usual limit of open files for a process
# These include the connections that are still beginning TLS, or were closed with unread answers.
MOST_ACCEPTED: Final = 700
HERE: Final[frozenset[Whose]] = frozenset({"127.0.0.1", "::1"})
BACKLOG: Final = 64  # asyncio accepts this number of connections before it handles one of them


def listen(
    host: str, port: int, key: str = "", remedy: str = "name another", reserved: Reserved = ()
) -> socket.socket:
    """A listening socket. `key` is the port's key in the configuration; `remedy` ends the error's message.

    Each of the addresses `reserved` has reserved places.

    Raises:
        ConfigError: the address cannot be listened on.
    """
    try:
        listener = _listen(host, port)
    except OSError as error:
        message = f"cannot listen on {cut(host)} port {port}: {error.strerror or error}; {remedy}"
        raise ConfigError([Problem(message, key=key)]) from error
    listener.reserved = HERE.union(reserved)
    return listener


def _listen(host: str, port: int) -> Listener:
    try:
        family, *_, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except UnicodeError:  # such as a label of 64 letters
        raise OSError("this is not a valid host name") from None
    try:
        bound = socket.create_server(address[:2], family=family)
    except OSError as error:  # Python adds the address to its message, as a tuple
        raise OSError(error.errno, os.strerror(error.errno or 0)) from None
    listener = Listener(fileno=bound.detach(), most=MOST_ACCEPTED)
    # Every connection inherits these options. TCP_NODELAY: asyncio sets it only on sockets that it made itself; without
    # it, the second part of an answer waits 40 ms for the browser's acknowledgement of the first. TCP_USER_TIMEOUT: the
    # kernel ends a connection that acknowledges nothing.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(ASK_SECONDS * 1000))
    return listener


def address_of(listener: socket.socket, *, tls: bool = False) -> str:
    """The address that browsers on this machine open."""
    host, port = listener.getsockname()[:2]
    named = f"[{host}]" if listener.family is socket.AF_INET6 else host
    return f"http{'s' * tls}://{named}:{port}/"


class Server(uvicorn.Server):
    """A server that leaves the signals to its program.

    If its pages are `framed`, other sites may show them in a frame. The addresses `reserved` have reserved places, as at its
    listener.
    """

    def __init__(
        self,
        application: ASGIApp,
        *,
        tls: ssl.SSLContext | None = None,
        reserved: Reserved = (),
        framed: bool = False,
    ) -> None:
        class OwnConnection(Connection):
            reserved_for = HERE.union(reserved)

        super().__init__(
            uvicorn.Config(
                Middleware(application, tls=tls is not None, framed=framed),
                server_header=False,
                lifespan="off",
                ws="none",
                http=OwnConnection,
                backlog=BACKLOG,
                log_config=None,
                log_level="error",  # invalid requests of unknown clients are not logged
                access_log=False,
                proxy_headers=False,  # the client is the connection's own address
                timeout_graceful_shutdown=2,
                ssl_context_factory=None if tls is None else lambda *_: tls,
            )
        )

        self._stopped = asyncio.Event()

    def stop(self) -> None:
        """End `serve` after the current answers."""
        self.should_exit = True
        self._stopped.set()

    async def main_loop(self) -> None:
        """Tick once a second, and end when stopped. uvicorn's own loop wakes ten times a second."""
        while not await self.on_tick(0):
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stopped.wait(), 1)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Close the listeners, end the connections, and wait for answers to browsers that have disconnected.

        If there are no connections and no answers, uvicorn's own pause of 0.1 s is skipped.
        """
        if self.server_state.connections or self.server_state.tasks:
            await super().shutdown(sockets)
        for server in self.servers:
            server.close()
        for listener in sockets or []:
            listener.close()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Do not capture them: the program handles its signals."""
        yield


class Connection(H11Protocol):
    """A browser's connection. It is ended if a request does not come in time.

    There is no limit for making and reading an answer, as long as some of it is received within each `ASK_SECONDS`.
    """

    reserved_for = HERE
    _silent: bool
    _since: float
    _limit: asyncio.TimerHandle

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the time limit of the first request."""
        super().connection_made(transport)
        self._wait(silent=True)
        if len(self.connections) > MOST_CONNECTIONS:
            self._end_one_too_many()

    def data_received(self, data: bytes) -> None:
        """Start a new time limit when a request begins."""
        if self._silent:
            self._limit.cancel()
            self._wait(silent=False)
        super().data_received(data)

    def on_response_complete(self) -> None:
        """Start the time limit of the next request."""
        self._limit.cancel()
        self._wait(silent=True)
        super().on_response_complete()

    def timeout_keep_alive_handler(self) -> None:
        """Do nothing: uvicorn's limit of the next request would begin before the answer is read."""

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the time limit."""
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
        return "" if self.client is None else self.client[0]  # None: it has disconnected already

    @property
    def _unread(self) -> bool:
        """Whether the client has not received all of an answer. Only the kernel knows it: a TLS transport does not."""
        connection = self.transport.get_extra_info("socket")
        return any(fcntl.ioctl(connection.fileno(), termios.TIOCOUTQ, bytes(4)))

    @property
    def _unasked(self) -> bool:
        """Whether there is no whole request that waits for its answer."""
        # Its annotation is wrong: it is None before the first request.
        cycle = cast(RequestResponseCycle | None, self.cycle)
        return cycle is None or cycle.response_complete or cycle.more_body

    def _end_one_too_many(self) -> None:
        """End the connection that has sent no request for longest; if all have, one of the address with most."""
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
            _, ended = one_too_many([(each._address, each) for each in (*others, self)], self.reserved_for)  # noqa: SLF001 - its own kind's
        ended.transport.abort()
