"""The bytes that a browser sends, as the web server of consoles and displays reads them."""

import asyncio
import socket
from functools import cache
from typing import Any, Final

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from uvicorn.server import ServerState

from punto.web.server import Server
from tests.deadline import DEADLINE
from tests.fuzz.fuzzer import Target

_SEEDS: Final = (
    b"GET /a?b=c HTTP/1.1\r\nHost: x\r\n\r\n",
    b"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Type: application/json\r\nCookie: a=b; c=\r\n\r\n{}",
    b"POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    b"PUT /%2e%2e/%ff HTTP/1.0\r\nExpect: 100-continue\r\nRange: bytes=0-\r\n\r\n",
)


class _Transport(asyncio.Transport):
    """A connection that keeps what is written."""

    def __init__(self, own: socket.socket) -> None:
        super().__init__({"peername": ("192.0.2.1", 1), "sockname": ("192.0.2.2", 80), "socket": own})
        self.written = b""
        self.closed = False

    def write(self, data: Any) -> None:
        self.written += bytes(data)

    def close(self) -> None:
        self.closed = True

    abort = close

    def is_closing(self) -> bool:
        return self.closed

    def pause_reading(self) -> None:
        """Nothing is read but what is given."""

    resume_reading = pause_reading


async def _echo(request: Request) -> JSONResponse:
    body = await request.body()
    cookies, query = dict(request.cookies), dict(request.query_params)
    return JSONResponse({"path": request.url.path, "length": len(body), "cookies": cookies, "query": query})


@cache
def _server() -> Server:
    methods = ["GET", "POST", "PUT", "DELETE"]
    server = Server(Starlette(routes=[Route("/{path:path}", _echo, methods=methods)]))
    server.config.load()
    return server


async def _sent(server: Server, own: socket.socket, data: bytes) -> bytes:
    state = ServerState()
    connection = server.config.http_protocol_class(  # type: ignore[call-arg]
        config=server.config, server_state=state, app_state={}
    )
    transport = _Transport(own)
    connection.connection_made(transport)
    for at in range(0, len(data), 64):
        if not transport.closed:
            connection.data_received(data[at : at + 64])
            await asyncio.sleep(0)
    if not transport.closed:
        connection.eof_received()
    connection.connection_lost(None)
    if state.tasks:
        await asyncio.wait_for(asyncio.gather(*state.tasks), DEADLINE)
    return transport.written


def _run(data: bytes) -> None:
    errors: list[dict[str, Any]] = []
    own, other = socket.socketpair()
    with own, other, asyncio.Runner() as runner:
        runner.get_loop().set_exception_handler(lambda _, context: errors.append(context))
        written = runner.run(_sent(_server(), own, data))
    assert not errors, errors
    assert not written or written.startswith(b"HTTP/1.1 ")
    assert b"HTTP/1.1 500" not in written


HTTP: Final = Target(_run, lambda: list(_SEEDS), longest=4096, libraries=("uvicorn", "h11", "starlette"))
