"""What a hostile neighbour on the floor's network may try on the display's server, by raw requests on its socket."""

import asyncio
import contextlib
import signal
import socket
import time
from pathlib import Path

import psutil
import pytest
import pytest_asyncio

from punto.displays import server as display_server
from punto.web import listener
from punto.web import server as web_server
from tests.deadline import DEADLINE
from tests.displays.parts import Broker, DisplayProcess, display
from tests.ports import free_port
from tests.share import share

SIGN = "127.0.0.7"
"""A sign on another machine, which the configuration reserves places for."""
FEW = 12
"""The connections of a display in this process."""
OUTSIDE = [
    "/static/../server.py",
    "/static/%2e%2e/server.py",
    "/static/..%2fserver.py",
    "/static/%2e%2e%2f%2e%2e%2fpyproject.toml",
    "/static/....//server.py",
    "/static/..%5cserver.py",
    "/static/%252e%252e/server.py",
    "/static/..;/server.py",
    "/static//etc/passwd",
    "/static/%2fetc%2fpasswd",
    "//etc/passwd",
    "/static/",
    "/static",
    "/static/.",
    "/static/%00",
    "/static/i-score.html%00.css",
    "/static/" + "a/" * 3000,
    "/static/" + "a" * 5000,
    "/static/%ff%fe",
    "/%ff%fe",
    "/kiosk.html",
    "/catalog/..%2f..%2fpyproject.json",
    "/catalog/%2e%2e/catalogs/en.json",
    "/catalog/%2fetc%2fhostname.json",
    "/catalog/en%00.json",
    "/catalog/.json",
    "/theme/../static/i-score.js",
    "/tables/../../etc/passwd",
    "/tables/table-1%2f..%2ftable-2/events",
    "/tables/<script>alert(1)</script>/i-score",
    "/wall?tables=%3Cscript%3Ealert(1)%3C/script%3E",
    "/events?tables=" + "x," * 20000,
    "/i-score",
    "/tables/",
    "/wall/",
    "/docs",
    "/openapi.json",
]
PAGES = [
    "/tables/table-1/i-score",
    "/tables/table-1/progressive",
    "/wall?tables=table-1",
    "/tables",
    "/settings.json",
    "/theme.css",
    "/healthz",
]
NOT_TAKEN = ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "BREW"]
NONSENSE = [
    b"\x00" * 4096,
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\xaa" * 500,  # a TLS greeting
    b"GET\r\n\r\n",
    b"GET / HTTP/9.9\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: a\r\n" + b"X: " + b"y" * 2_000_000 + b"\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: a\r\n" + b"X: y\r\n" * 100_000 + b"\r\n",
    b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"POST /events HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
    b"GET /\xff\xfe HTTP/1.1\r\nHost: a\r\n\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
]


class Server(DisplayProcess):
    """A display whose broker is not there."""

    def __init__(self, config: Path) -> None:
        config.write_text(f'[display]\ntables = ["table-1"]\nreserved = ["{SIGN}"]\n', encoding="utf-8")
        super().__init__("--config", str(config), "--port", "0", "--mqtt-port", str(free_port()))
        self.port = int(self.address().rstrip("/").rpartition(":")[2])

    def ask(self, request: bytes) -> tuple[int, str, bytes]:
        """Status, headers in small letters, and body of the answer; status 0 where there is none."""
        answer = b""
        with (
            socket.create_connection(("127.0.0.1", self.port), timeout=DEADLINE) as line,
            contextlib.suppress(ConnectionError),  # the server has heard enough
        ):
            line.sendall(request)
            while part := line.recv(65536):
                answer += part
        head, _, body = answer.partition(b"\r\n\r\n")
        first, _, headers = head.partition(b"\r\n")
        status = int(first.split()[1]) if first else 0
        return status, headers.decode().lower(), body

    def get(self, path: str, *headers: str, method: str = "GET") -> tuple[int, str, bytes]:
        lines = [f"{method} {path} HTTP/1.1", *(headers or ("Host: display",)), "Connection: close"]
        return self.ask(("\r\n".join(lines) + "\r\n\r\n").encode())


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    running = Server(tmp_path_factory.mktemp("display") / "display.toml")
    yield running
    status, said = running.end(signal.SIGTERM)
    assert status == 0
    assert "Traceback" not in said


@pytest.mark.parametrize("path", OUTSIDE, ids=lambda path: path[:50])
def test_no_path_leads_out_of_what_is_served(server, path):
    status, headers, body = server.get(path)

    assert status in {307, 400, 404}
    assert "content-type: text/plain" in headers or (status == 307 and "\r\nlocation: /" in headers)
    assert len(body) < 200
    assert b"script" not in body


@pytest.mark.parametrize(
    "path", [*PAGES, "/static/i-score.js", "/static/none", "/nothing", "/split?tables=table-1", "/"]
)
def test_every_answer_is_fenced_in_errors_too(server, path):
    _, headers, _ = server.get(path)

    assert "content-security-policy: default-src 'self'; base-uri 'none'; form-action 'none'" in headers
    assert "x-content-type-options: nosniff" in headers
    assert "referrer-policy: no-referrer" in headers
    assert "\r\nserver:" not in headers
    assert "set-cookie" not in headers
    assert "access-control-allow" not in headers


@pytest.mark.parametrize("method", NOT_TAKEN)
def test_nothing_but_reading_is_taken(server, method):
    for path in (*PAGES, "/tables/table-1/events", "/events", "/static/i-score.js"):
        assert server.get(path, method=method)[0] in {400, 404, 405}, path


def test_the_head_of_everything_ends_that_of_a_stream_too(server):
    for path in (*PAGES, "/tables/table-1/events", "/events", "/static/i-score.js"):
        status, _, body = server.get(path, method="HEAD")
        assert (status, body) == (200, b""), path


@pytest.mark.parametrize(
    "headers",
    [
        ("Host: elsewhere.example",),
        ("Host: [bad",),
        ("Host: a b",),
        ("Host: ",),
        ('Host: "><script>',),
        ("Host: display", "X-Forwarded-Host: elsewhere.example", "X-Forwarded-Proto: gopher"),
        ("Host: display", "Forwarded: host=elsewhere.example"),
    ],
    ids=str,
)
@pytest.mark.parametrize(
    ("path", "leads_to"),
    [
        ("/", "/tables/table-1/i-score"),
        ("/progressive", "/tables/table-1/progressive"),
        ("/wall", "/wall?tables=table-1"),
        ("/split", "/split?tables=table-1"),
        ("/static", "/static/"),
        ("/shared?a=b", "/shared/?a=b"),
    ],
)
def test_no_host_that_a_request_names_is_where_an_answer_leads(server, path, leads_to, headers):
    status, answered, _ = server.get(path, *headers)

    assert status in {307, 400}
    if status == 307:
        assert f"location: {leads_to}" in answered.splitlines()
    assert "elsewhere" not in answered


def test_no_line_break_in_a_query_becomes_one_in_an_answer(server):
    status, headers, _ = server.get("/?x=%0d%0aSet-Cookie:%20a=b&y=%0aevil")

    assert status == 307
    assert "location: /tables/table-1/i-score?x=%0d%0aset-cookie%3a+a%3db&y=%0aevil" in headers
    assert "\r\nset-cookie" not in headers


@pytest.mark.parametrize("request_", NONSENSE, ids=lambda request: repr(request[:30]))
def test_what_is_not_a_request_is_refused_and_the_next_one_is_answered(server, request_):
    with (
        socket.create_connection(("127.0.0.1", server.port), timeout=DEADLINE) as line,
        contextlib.suppress(OSError),  # the server has heard enough
    ):
        line.sendall(request_)
        line.shutdown(socket.SHUT_WR)
        answer = line.recv(65536)
        assert not answer or answer.split()[1] in {b"400", b"404", b"405", b"307", b"431"}

    assert server.get("/healthz")[0] == 200


def test_a_request_to_become_something_else_is_answered_as_what_it_is(server):
    status, _, _ = server.get(
        "/events",
        "Host: display",
        "Upgrade: websocket",
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
        "Sec-WebSocket-Version: 13",
        method="HEAD",
    )

    assert status in {200, 400, 404}


@pytest_asyncio.fixture
async def stream(tmp_path, monkeypatch):
    """Opens a stream from an address to a display in this process: it takes few connections, and keeps half of them."""
    monkeypatch.setattr(web_server, "MOST_CONNECTIONS", FEW)
    monkeypatch.setattr(listener, "PLACES", FEW // 2)
    monkeypatch.setattr(display_server, "PING_SECONDS", 0.1)
    opened: list[asyncio.StreamWriter] = []
    async with display(Broker(tmp_path), page={"reserved": [SIGN]}) as address:
        port = int(address.split("/")[2].partition(":")[2])

        async def stream(source: str) -> asyncio.StreamReader:
            reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(source, 0))
            opened.append(writer)
            writer.write(b"GET /events HTTP/1.1\r\nHost: display\r\n\r\n")
            assert await reader.readline() == b"HTTP/1.1 200 OK\r\n"
            return reader

        yield stream
        for writer in opened:
            writer.transport.abort()


async def goes_on(stream: asyncio.StreamReader) -> None:
    async with asyncio.timeout(DEADLINE):
        await stream.readuntil(b"event: ping")


@pytest.mark.parametrize("screen", ["127.0.0.1", SIGN])
async def test_whatever_their_number_others_addresses_do_not_keep_the_kiosk_or_a_sign_out(stream, screen):
    for number in range(FEW):
        await stream(f"127.0.1.{1 + number}")
    kiosk = await stream(screen)
    with contextlib.suppress(ConnectionError, AssertionError):
        await stream("127.0.9.9")

    await goes_on(kiosk)


async def test_the_streams_of_one_address_keep_no_other_out(stream):
    kept = await stream("127.0.0.3")
    of_one = [await stream("127.0.0.1") for _ in range(FEW - 1)]
    newcomer = await stream("127.0.0.2")

    with contextlib.suppress(ConnectionError):
        async with asyncio.timeout(DEADLINE):
            await of_one[0].read()
    for each in (kept, of_one[1], newcomer):
        await goes_on(each)


@pytest.mark.in_part
async def test_streams_that_come_and_go_leave_nothing_behind(server):
    process = psutil.Process(server.pid)

    async def open_streams(number: int) -> None:
        lines = [await asyncio.open_connection("127.0.0.1", server.port) for _ in range(number)]
        for reader, writer in lines:
            writer.write(b"GET /events HTTP/1.1\r\nHost: display\r\n\r\n")
            await reader.readuntil(b"event: table-1/live")
        for _, writer in lines:
            writer.transport.abort()

    await open_streams(50)
    await _eventually_files(process, 40)
    before = process.memory_info().rss
    times = share(10, one_in=3)
    for _ in range(times):
        await open_streams(50)
    await _eventually_files(process, 40)

    assert process.memory_info().rss - before < 1_000_000 * times


async def _eventually_files(process: psutil.Process, fewer_than: int) -> None:
    end = time.monotonic() + DEADLINE
    while process.num_fds() >= fewer_than:
        assert time.monotonic() < end, process.num_fds()
        await asyncio.sleep(0.05)
