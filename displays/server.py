"""The display's web service: one page, its three files, and the stream that keeps it up to date."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Final

import uvicorn
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from displays.board import Board
from displays.feed import Feed
from displays.options import DisplayOptions, OptionsError

STATIC: Final = Path(__file__).parent / "static"
HEADERS: Final = [
    ("Content-Security-Policy", "default-src 'self'; base-uri 'none'; form-action 'none'"),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Cache-Control", "no-cache"),  # files are asked for again, so a new version is shown at the next load
]
PING_SECONDS: Final = 2  # the page takes a stream that is silent for longer than a few of these for dead
SEND_SECONDS: Final = 10  # a browser that takes nothing for so long is let go; it comes back by itself


def application(options: DisplayOptions, board: Board, feed: Feed) -> Starlette:
    """The pages of one table."""
    table = options.display.table

    async def first_page(_: Request) -> Response:
        return RedirectResponse(f"/tables/{table}/i-score")

    async def i_score(_: Request) -> Response:
        return FileResponse(STATIC / "i-score.html")

    async def events(_: Request) -> Response:
        return EventSourceResponse(
            _stream(board),
            ping=PING_SECONDS,
            ping_message_factory=lambda: ServerSentEvent(event="ping", data=""),
            send_timeout=SEND_SECONDS,
        )

    async def healthz(_: Request) -> Response:
        return JSONResponse(
            {
                "table": table,
                "live": board.live_seconds > 0,
                "reason": None if board.live_seconds else board.reason,
                "refused": dict(feed.refused),
            }
        )

    return Starlette(
        routes=[
            Route("/", first_page),
            Route(f"/tables/{table}/i-score", i_score),
            Route(f"/tables/{table}/events", events),
            Route("/healthz", healthz),
            Mount("/static", StaticFiles(directory=STATIC)),
        ]
    )


async def _stream(board: Board) -> AsyncIterator[ServerSentEvent]:
    async for name, json in board.follow():
        yield ServerSentEvent(event=name, data=json)


async def serve(options: DisplayOptions, started: Callable[[str], None] | None = None) -> None:
    """Show the table until cancelled; `started` is given the page's address once it is open to browsers.

    Raises:
        OptionsError: the address cannot be listened on.
    """
    board = Board()
    feed = Feed(options, board)
    with _listen(options.display.host, options.display.port) as listener:
        server = _Server(
            uvicorn.Config(
                application(options, board, feed),
                headers=HEADERS,
                server_header=False,
                lifespan="off",
                ws="none",
                log_config=None,
                access_log=False,
                timeout_graceful_shutdown=2,
            )
        )
        if started is not None:
            started(_address(listener))
        async with asyncio.TaskGroup() as group:
            group.create_task(feed.run())
            group.create_task(_run(server, listener, board))


async def _run(server: uvicorn.Server, listener: socket.socket, board: Board) -> None:
    """Run the web server; when cancelled, end the streams first, so that it can end in order."""
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        await asyncio.shield(serving)
    finally:
        board.close()
        server.should_exit = True
        await serving


class _Server(uvicorn.Server):
    """A server whose program minds the signals itself."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave them alone."""
        yield


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, *_, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        return socket.create_server(address[:2], family=family)
    except OSError as error:
        raise OptionsError(
            f"cannot listen on {host} port {port}: {error.strerror or error}; choose another with --host and --port"
        ) from error


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}/" if listener.family is socket.AF_INET6 else f"http://{host}:{port}/"
