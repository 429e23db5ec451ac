"""Nobody keeps the consoles from others: by connections, requests that never come whole, answers unread, streams."""

import asyncio
import contextlib
import socket
import ssl
import subprocess
import time
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest
from starlette.types import ASGIApp, Receive, Scope, Send

from punto.consoles.web import MOST_STREAMS
from punto.web import server as web_server
from tests.consoles.consoles import Browser, Here, consoles
from tests.deadline import DEADLINE

SOON = 0.5
Line = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@contextlib.asynccontextmanager
async def lines(here: Here, number: int, said: bytes = b"") -> AsyncIterator[list[Line]]:
    """So many connections that have said so much."""
    opened = [await asyncio.open_connection("127.0.0.1", here.port) for _ in range(number)]
    for _, writer in opened:
        writer.write(said)
    try:
        yield opened
    finally:
        for _, writer in opened:
            writer.transport.abort()


async def ends(line: Line) -> None:
    """Wait until the service hangs up."""
    with contextlib.suppress(ConnectionError):
        async with asyncio.timeout(DEADLINE):
            while await line[0].read(65536):
                pass


def head(here: Here, more: str) -> bytes:
    own = f"127.0.0.1:{here.port}"
    return f"POST /api/session HTTP/1.1\r\nHost: {own}\r\nOrigin: http://{own}\r\n{more}\r\n\r\n".encode()


@pytest.mark.parametrize(
    "more", [None, "Content-Type: application/json\r\nContent-Length: 10000"], ids=["idle", "endless bodies"]
)
@pytest.mark.punctual
async def test_connections_that_never_ask_keep_nobody_out(more, tmp_path, monkeypatch):
    monkeypatch.setattr(web_server, "MOST_CONNECTIONS", 20)
    async with consoles(tmp_path) as here:
        here.account("Mei", "supervisor")
        browser = await here.signed_on("Mei")
        async with lines(here, 40, b"" if more is None else head(here, more) + b"{"):
            begun = time.monotonic()
            assert (await browser.get("/api/table")).status == 200
            assert (await here.browser().get("/")).status == 200
            assert time.monotonic() - begun < web_server.ASK_SECONDS / 2


@pytest.mark.parametrize(
    "said",
    [
        "",
        "POST /api/ses",
        "POST /api/session HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ",
    ],
    ids=["nothing", "a part of a line", "a part of a head"],
)
async def test_a_request_whose_head_never_ends_is_ended(said, tmp_path, monkeypatch):
    monkeypatch.setattr(web_server, "ASK_SECONDS", SOON)
    async with consoles(tmp_path) as here, lines(here, 1, said.encode()) as (line,):
        await ends(line)


async def test_a_second_request_whose_head_never_ends_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(web_server, "ASK_SECONDS", SOON)
    whole = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    async with consoles(tmp_path) as here, lines(here, 1, whole) as (line,):
        await line[0].readuntil(b"</html>")
        line[1].write(b"GET / HTTP/1.1\r\nX: ")  # no silent connection any more
        await ends(line)


async def test_a_body_that_never_ends_is_ended_however_steadily_it_comes(tmp_path, monkeypatch):
    monkeypatch.setattr(web_server, "ASK_SECONDS", SOON)
    async with consoles(tmp_path) as here:
        begun = head(here, "Content-Type: application/json\r\nContent-Length: 10000")
        async with lines(here, 1, begun) as (line,):

            async def drip() -> None:
                while True:
                    line[1].write(b" ")
                    await asyncio.sleep(0.05)

            dripping = asyncio.create_task(drip())
            await ends(line)
            dripping.cancel()


async def stream_of(here: Here, browser: Browser) -> Line:
    """A stream of the table, open."""
    line = await asyncio.open_connection("127.0.0.1", here.port)
    cookie = browser.headers("GET")["Cookie"]
    line[1].write(
        f"GET /api/table/events HTTP/1.1\r\nHost: 127.0.0.1:{here.port}\r\nCookie: {cookie}\r\n\r\n".encode()
    )
    await heard(line)
    return line


async def heard(line: Line) -> None:
    """Wait for a view."""
    async with asyncio.timeout(DEADLINE):
        await line[0].readuntil(b"event: view\r\n")


async def test_a_stream_goes_on_when_the_time_to_ask_is_over(tmp_path, monkeypatch):
    monkeypatch.setattr(web_server, "ASK_SECONDS", SOON)
    async with consoles(tmp_path) as here:
        here.account("Mei", "supervisor")
        line = await stream_of(here, await here.signed_on("Mei"))
        for _ in range(3):
            await heard(line)
        line[1].transport.abort()


async def test_streams_are_kept_when_others_fill_the_connections(tmp_path, monkeypatch):
    monkeypatch.setattr(web_server, "MOST_CONNECTIONS", 3)
    async with consoles(tmp_path) as here:
        here.account("Mei", "supervisor")
        browser = await here.signed_on("Mei")
        streams = [await stream_of(here, browser) for _ in range(3)]
        async with lines(here, 5):
            for line in streams:
                for _ in range(2):
                    await heard(line)
        for _, writer in streams:
            writer.transport.abort()


async def test_one_stream_too_many_of_a_session_ends_its_oldest_and_nobody_elses(here):
    here.account("Mei", "supervisor")
    here.account("Ann", "dealer")
    anns = await stream_of(here, await here.signed_on("Ann"))
    browser = await here.signed_on("Mei")
    streams = [await stream_of(here, browser) for _ in range(MOST_STREAMS)]
    newest = await stream_of(here, browser)
    async with asyncio.timeout(DEADLINE):
        assert b"0\r\n\r\n" in await streams[0][0].readuntil(b"0\r\n\r\n")
    for line in (anns, *streams[1:], newest):
        for _ in range(2):
            await heard(line)
    for _, writer in (anns, *streams, newest):
        writer.transport.abort()


def test_no_part_of_an_answer_waits_for_the_browser_to_acknowledge_the_one_before():
    with web_server.listen("127.0.0.1", 0) as listener, socket.create_connection(listener.getsockname()):
        accepted, _ = listener.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


ALL = bytes(20_000_000)  # more than the kernel holds for anybody


@pytest.fixture
def tls(tmp_path: Path) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """A certificate for localhost: who shows it, and who trusts it."""
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
    ]
    command += ["-keyout", "key.pem", "-out", "certificate.pem", "-days", "2", "-subj", "/CN=localhost"]
    command += ["-addext", "subjectAltName=DNS:localhost"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=DEADLINE)
    ours = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    ours.load_cert_chain(tmp_path / "certificate.pem", tmp_path / "key.pem")
    return ours, ssl.create_default_context(cafile=tmp_path / "certificate.pem")


async def answers_all(_scope: Scope, _receive: Receive, send: Send) -> None:
    await send(
        {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(ALL))]}
    )
    await send({"type": "http.response.body", "body": ALL})


@contextlib.asynccontextmanager
async def serving(
    application: ASGIApp, tls: ssl.SSLContext | None = None, reserved: tuple[str, ...] = ()
) -> AsyncIterator[int]:
    """The web server alone, with this application: its port."""
    server = web_server.Server(application, tls=tls, reserved=reserved)
    with web_server.listen("127.0.0.1", 0, reserved=reserved) as listener:
        running = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            yield listener.getsockname()[1]
        finally:
            server.stop()
            await running


async def test_the_server_ends_after_an_answer_whose_browser_has_gone():
    asked, gone, ready, answered = (asyncio.Event() for _ in range(4))

    async def answers_late(_scope: Scope, receive: Receive, _send: Send) -> None:
        asked.set()
        while (await receive())["type"] != "http.disconnect":
            pass
        gone.set()
        await ready.wait()  # such as a file that is being opened in a thread
        answered.set()

    async with serving(answers_late) as port:
        async with asking(port):
            await asked.wait()
        await gone.wait()
        asyncio.get_running_loop().call_later(0.05, ready.set)
    assert answered.is_set()


@contextlib.asynccontextmanager
async def asking(port: int, number: int = 1, tls: ssl.SSLContext | None = None) -> AsyncIterator[list[Line]]:
    """So many connections that have asked, and have little room for an answer."""
    with contextlib.ExitStack() as opened:

        async def line() -> Line:
            own = socket.socket()
            own.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            own.setblocking(False)
            await asyncio.get_running_loop().sock_connect(own, ("127.0.0.1", port))
            name = None if tls is None else "localhost"
            reader, writer = await asyncio.open_connection(
                sock=own, limit=4096, ssl=tls, server_hostname=name
            )
            opened.callback(writer.transport.abort)
            writer.write(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            return reader, writer

        held = [await line() for _ in range(number)]  # a writer that nobody holds is closed
        yield held


async def is_answered(port: int, tls: ssl.SSLContext | None = None) -> bool:
    with contextlib.suppress(ConnectionError, TimeoutError):
        async with asyncio.timeout(DEADLINE), asking(port, tls=tls) as [(reader, _)]:
            return await reader.readline() == b"HTTP/1.1 200 OK\r\n"
    return False


async def test_answers_that_nobody_reads_keep_nobody_out(monkeypatch):
    monkeypatch.setattr(web_server, "MOST_CONNECTIONS", 10)
    monkeypatch.setattr(web_server, "ASK_SECONDS", SOON)
    async with serving(answers_all) as port, asking(port, 10):
        await asyncio.sleep(4 * SOON)
        assert await is_answered(port)


@pytest.mark.parametrize("behind_tls", [False, True], ids=["plain", "TLS"])
@pytest.mark.punctual
async def test_an_answer_that_is_read_slowly_is_read_whole(behind_tls, tls, monkeypatch):
    monkeypatch.setattr(web_server, "ASK_SECONDS", 2.0)
    ours, theirs = tls if behind_tls else (None, None)
    async with serving(answers_all, ours) as port, asking(port, tls=theirs) as [(reader, _)]:
        await reader.readuntil(b"\r\n\r\n")
        left, begun = len(ALL), time.monotonic()
        while left:
            part = await reader.read(65536)
            assert part, f"{left} bytes are missing"
            left -= len(part)
            if time.monotonic() - begun < 2.5:
                await asyncio.sleep(0.02)
        assert time.monotonic() - begun > 2.0


@pytest.mark.parametrize("behind_tls", [False, True], ids=["plain", "TLS"])
async def test_connections_that_say_nothing_use_up_no_files_and_keep_no_other_address_out(
    behind_tls, tls, monkeypatch
):
    monkeypatch.setattr(web_server, "MOST_CONNECTIONS", 20)
    monkeypatch.setattr(web_server, "MOST_ACCEPTED", 30)
    ours, theirs = tls if behind_tls else (None, None)
    process = psutil.Process()
    async with serving(answers_all, ours) as port:
        before = process.num_fds()
        with contextlib.ExitStack() as silent:
            for _ in range(100):
                silent.enter_context(
                    socket.create_connection(("127.0.0.1", port), source_address=("127.0.0.2", 0))
                )
            assert await is_answered(port, theirs)
            assert process.num_fds() - before - 100 < 40


@pytest.mark.parametrize("reserved", [("127.0.0.7",), ()], ids=["reserved", "not reserved"])
async def test_connections_of_many_addresses_end_none_of_a_reserved_address(reserved, tls, monkeypatch):
    """Before TLS begins, when the listener alone can count them."""
    monkeypatch.setattr(web_server, "MOST_ACCEPTED", 30)
    async with serving(answers_all, tls[0], reserved) as port:
        with contextlib.ExitStack() as silent:

            def connect(source: str) -> socket.socket:
                address = ("127.0.0.1", port)
                return silent.enter_context(socket.create_connection(address, source_address=(source, 0)))

            for number in range(40):
                connect(f"127.0.1.{1 + number}")
            sign = connect("127.0.0.7")
            for number in range(40):
                connect(f"127.0.2.{1 + number}")
            await asyncio.sleep(0.2)
            sign.setblocking(False)
            if reserved:
                with pytest.raises(BlockingIOError):
                    sign.recv(1)
            else:
                assert sign.recv(1) == b""


async def test_the_consoles_reserve_places_for_the_configured_addresses(tmp_path):
    async with consoles(tmp_path, reserved=("192.0.2.7",)) as here:
        kept = {"127.0.0.1", "::1", "192.0.2.7"}

        assert vars(here.console._listener)["reserved"] == kept
        assert vars(here.console._server.config.http)["reserved_for"] == kept
