"""The web server of the consoles and of the displays, inside a program that runs other things too.

Nobody keeps others out by opening connections and asking for nothing: each has so long to send a request whole, and
where there are too many, one that has not done so is ended for the new one.
"""

import asyncio
import contextlib
import socket
import ssl
from collections.abc import Iterator
from typing import Final, cast

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

ASK_SECONDS: Final = 10
"""So long a connection may be silent, and so long a request may take to come, head and body."""
MOST_CONNECTIONS: Final = 500  # half of the files that a process may commonly have open
BACKLOG: Final = 64  # asyncio takes as many connections as these before it looks at one of them


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens there.

    Raises:
        OSError: the address cannot be listened on.
    """
    family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    listener = socket.create_server(address[:2], family=family)
    # Every connection inherits it, and asyncio sets it only on sockets that it has made itself. Without it the second
    # part of an answer waits for the browser's acknowledgement of the first: 40 ms.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


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

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave them alone."""
        yield


class Connection(H11Protocol):
    """A browser's connection, ended when a request does not come in time. An answer may take as long as it likes."""

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

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._limit.cancel()
        super().connection_lost(exc)

    def _wait(self, *, silent: bool) -> None:
        self._silent = silent
        self._since = self.loop.time()
        self._limit = self.loop.call_later(ASK_SECONDS, self._end_if_unasked)

    def _end_if_unasked(self) -> None:
        if self._unasked:
            self.transport.abort()

    @property
    def _unasked(self) -> bool:
        """Whether no request has come whole that is not answered yet."""
        cycle = cast(
            RequestResponseCycle | None, self.cycle
        )  # None before the first, whatever its annotation says
        return cycle is None or cycle.response_complete or cycle.more_body

    def _end_one_too_many(self) -> None:
        """End the connection that has kept everybody waiting longest: this one, if all others are being answered."""
        others = [
            each
            for each in self.connections
            if isinstance(each, Connection) and each is not self and not each.transport.is_closing()
        ]
        if len(others) < MOST_CONNECTIONS:
            return
        waiting = [each for each in others if each._unasked]  # noqa: SLF001 - its own kind's
        min(waiting, key=lambda each: each._since, default=self).transport.abort()  # noqa: SLF001 - its own kind's
