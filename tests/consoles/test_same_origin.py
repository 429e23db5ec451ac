"""Nobody's page but this service's own gives an order: origin, token, content type, host; and what goes back."""

import asyncio
import json
import socket
import threading
import urllib.request
from collections.abc import Awaitable, Callable
from http.cookies import SimpleCookie
from typing import Any, Self

import pytest
from starlette.types import Message, Receive, Scope, Send

from punto.consoles.guard import Guard
from punto.web.middleware import Middleware
from tests.consoles.consoles import PASSWORD, Answer, Browser, Here, consoles
from tests.controller.table_in_this_process import settings
from tests.deadline import DEADLINE
from tests.share import sampled

ORDER = {"order": "change_shoe"}


async def order(browser: Browser, **headers: str | None) -> Answer:
    own = {name.replace("_", "-"): value for name, value in headers.items()}
    return await browser.ask("POST", "/api/orders", ORDER, own)


CROSS_SITE: list[dict[str, str | None]] = [
    {"Origin": "http://evil.example", "Sec_Fetch_Site": "cross-site"},
    {"Origin": "http://evil.example"},
    {"Origin": "http://evil.example", "Sec_Fetch_Site": "same-origin"},
    {"Origin": "null"},
    {"Origin": "null", "Sec_Fetch_Site": None},
    {"Origin": None, "Sec_Fetch_Site": None},
    {"Sec_Fetch_Site": "cross-site"},
    {"Sec_Fetch_Site": "same-site"},
    {"Sec_Fetch_Site": "none"},
    {"Origin": None, "Sec_Fetch_Site": "cross-site"},
    {"Origin": "http://127.0.0.1", "Sec_Fetch_Site": None},
    {"Origin": "http://127.0.0.1:1", "Sec_Fetch_Site": None},
    {"Origin": "", "Sec_Fetch_Site": None},
]


@pytest.mark.parametrize("headers", CROSS_SITE, ids=str)
async def test_another_sites_page_gives_no_order_and_signs_nobody_on_or_off(headers, here, mei):
    before = here.inputs()
    own = {name.replace("_", "-"): value for name, value in headers.items()}
    answers = [
        await mei.ask("POST", "/api/orders", ORDER, own),
        await mei.ask("POST", "/api/preview", ORDER, own),
        await mei.ask("DELETE", "/api/session", None, own),
        await mei.ask("POST", "/api/session", {"name": "Mei", "password": PASSWORD}, own),
    ]

    assert [(answer.status, answer.json["code"]) for answer in answers] == [(403, "cross_site")] * 4
    assert here.inputs() == before
    assert (await order(mei)).status == 200


async def test_an_origin_alone_or_what_the_browser_says_of_the_site_is_enough(mei):
    assert (await order(mei, Sec_Fetch_Site=None)).status == 200
    assert (await order(mei, Origin=None)).status == 200


@pytest.mark.parametrize("token", [None, "", "x", "é"])
async def test_no_order_without_the_sessions_token(token, here):
    here.account("Mei", "supervisor")
    here.account("Ann", "dealer")
    browser, other = await here.signed_on("Mei"), await here.signed_on("Ann")
    for wrong in (token, other.csrf):
        before = here.inputs()
        answer = await order(browser, X_CSRF_Token=wrong)
        ended = await browser.ask("DELETE", "/api/session", None, {"X-CSRF-Token": wrong})

        assert (answer.status, answer.json["code"], ended.status) == (403, "csrf", 403)
        assert here.inputs() == before


async def test_what_listens_at_another_port_gets_the_cookie_and_gives_no_order_with_it(here):
    """Cookies know nothing of ports: a browser sends them to everything on the host."""
    here.account("Mei", "supervisor")
    jar = urllib.request.HTTPCookieProcessor()
    browser = urllib.request.build_opener(jar)
    with _Listener() as listener:
        await asyncio.to_thread(_sign_on, browser, here.port)
        await asyncio.to_thread(browser.open, f"http://127.0.0.1:{listener.port}/")
    thief = here.browser()
    before = here.inputs()
    for name, value in listener.cookies.items():
        thief.keep(name, value)
    assert thief.cookie is not None

    asked = await thief.get("/api/session")
    csrf = asked.json.get("csrf")
    taken = await order(thief, X_CSRF_Token=csrf)
    assert (csrf, taken.status, taken.json["code"]) == (None, 403, "csrf")
    guessed = await thief.ask("GET", "/api/session", None, {"X-CSRF-Token": "x"})
    assert (guessed.status, guessed.json["code"]) == (403, "csrf")
    assert "csrf" not in (await thief.get("/api/table")).text
    assert here.inputs() == before


class _Listener(threading.Thread):
    """Something else that listens on this host, and notes the cookies that one request brings."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.cookies: dict[str, str] = {}

    def run(self) -> None:
        connection, _ = self._listener.accept()
        with connection:
            head = connection.recv(65536).decode()
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        found = SimpleCookie(next((line for line in head.splitlines() if line.startswith("Cookie:")), "")[7:])
        self.cookies = {name: each.value for name, each in found.items()}

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.join(30)
        self._listener.close()


def _sign_on(browser: urllib.request.OpenerDirector, port: int) -> None:
    at = f"http://127.0.0.1:{port}"
    body = json.dumps({"name": "Mei", "password": PASSWORD}).encode()
    headers = {"Origin": at, "Content-Type": "application/json"}
    browser.open(urllib.request.Request(f"{at}/api/session", body, headers)).close()  # noqa: S310 - http


@pytest.mark.parametrize(
    "kind",
    [
        None,
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/jsonx",
    ],
)
async def test_what_a_form_could_send_is_not_an_order(kind, here, mei):
    before = here.inputs()
    answer = await order(mei, Content_Type=kind)

    assert (answer.status, answer.json["code"]) == (415, "not_json")
    assert here.inputs() == before
    assert (await order(mei, Content_Type="application/json; charset=utf-8")).status == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
async def test_another_sites_script_reads_nothing_and_a_link_from_there_opens_the_page(site, mei):
    read = await mei.ask("GET", "/api/table", None, {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "no-cors"})
    opened = await mei.ask("GET", "/", None, {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "navigate"})

    assert (read.status, opened.status) == (403, 200)
    assert "access-control-allow-origin" not in opened.headers
    assert (await mei.ask("OPTIONS", "/api/orders", None, {"Origin": "http://evil.example"})).status == 405


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "", "[::2]"])
async def test_a_name_that_was_made_to_mean_this_machine_is_not_one_of_its_names(host, here, mei):
    before = here.inputs()
    answer = await mei.ask("POST", "/api/orders", ORDER, {"Host": host, "Origin": f"http://{host}"})

    assert answer.status == 403
    assert (await mei.ask("GET", "/", None, {"Host": host})).status == 403
    assert here.inputs() == before


async def test_this_machine_has_several_names(here):
    for host in (f"localhost:{here.port}", f"127.0.0.1:{here.port}", f"[::1]:{here.port}", "localhost"):
        assert (await here.browser().ask("GET", "/", None, {"Host": host})).status == 200


# --- too much


async def raw(here: Here, *sent: bytes) -> bytes:
    """Send these bytes, and read what comes back until the service hangs up."""
    reader, writer = await asyncio.open_connection("127.0.0.1", here.port)
    try:
        for each in sent:
            writer.write(each)
        await writer.drain()
        async with asyncio.timeout(DEADLINE):
            return await reader.read()
    finally:
        writer.close()


async def test_a_body_is_bounded_whether_or_not_its_length_is_declared(here, mei):
    long = json.dumps({"order": "void_coup", "reason": "x" * 20_000}).encode()
    answer = await mei.ask("POST", "/api/orders", long)
    assert (answer.status, answer.json["code"]) == (413, "too_long")
    for length in ("99999999999999999999999999", "-1", "1e3", "²"):
        assert (await mei.ask("POST", "/api/session", b"{}", {"Content-Length": length})).status in {
            400,
            413,
        }

    head = f"POST /api/session HTTP/1.1\r\nHost: 127.0.0.1:{here.port}\r\nOrigin: http://127.0.0.1:{here.port}\r\n"
    head += "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
    chunk = b"1000\r\n" + b" " * 4096 + b"\r\n"
    answered = await raw(here, head.encode(), *[chunk] * 6, b"0\r\n\r\n")
    assert answered.startswith(b"HTTP/1.1 413 ")


async def test_a_request_with_two_lengths_is_refused(here):
    """Two programs on the way could read two different requests in it."""
    here.account("Mei", "supervisor")
    body = json.dumps({"name": "Mei", "password": PASSWORD}).encode()
    head = f"POST /api/session HTTP/1.1\r\nHost: 127.0.0.1:{here.port}\r\nOrigin: http://127.0.0.1:{here.port}\r\n"
    head += "Content-Type: application/json\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n"
    chunk = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
    both = await raw(here, f"{head}Content-Length: {len(chunk)}\r\n\r\n".encode(), chunk)
    one = await raw(here, f"{head}\r\n".encode(), chunk)

    assert both.startswith(b"HTTP/1.1 400 ")
    assert b"send Content-Length or Transfer-Encoding, not both" in both
    assert one.startswith(b"HTTP/1.1 200 ")


# --- what goes back

STATIC = ["/", "/dealer", "/supervisor", "/static/service.js", "/static/console.css", "/shared/elements.js"]


async def test_every_answer_says_that_nothing_from_elsewhere_may_be_loaded_or_frame_it(mei):
    found = [
        await mei.get(path) for path in (*STATIC, "/api/table", "/api/openapi.json", "/nothing", "/docs")
    ]
    found += [await order(mei, Origin="http://evil.example"), await mei.order("no_such_order")]

    for answer in found:
        policy = answer.headers["content-security-policy"]
        assert "default-src 'self'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert "server" not in answer.headers
    assert [answer.status for answer in found] == [200] * 8 + [404, 404, 403, 422]
    assert {answer.headers["cache-control"] for answer in found[: len(STATIC)]} == {"no-cache"}
    assert found[len(STATIC)].headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    "path",
    sampled(
        [
            "/static/../web.py",
            "/static/%2e%2e/web.py",
            "/static/..%2fweb.py",
            "/static/%2e%2e%2fweb.py",
            "/static/..\\web.py",
            "/static/....//web.py",
            "/static//etc/passwd",
            "/static/%2fetc%2fpasswd",
            "/static/",
            "/static",
            "/static/.",
            "/static/%00",
            "/static/service.js%00.html",
            "/../../etc/passwd",
            "/static/" + "a" * 5000,
        ],
        one_in=4,
    ),
)
async def test_no_path_leads_out_of_the_static_folder(path, here):
    answer = await here.browser().get(path)

    assert answer.status in {307, 400, 404}
    assert "import" not in answer.text
    assert "root:" not in answer.text
    assert answer.headers.get("location", "/").startswith("/")


@pytest.mark.parametrize("path", ["/static", "/shared", "/catalog", "/game-manager/static", "/dealer/"])
async def test_a_missing_or_extra_slash_leads_to_no_host_that_the_request_names(path, here):
    answer = await here.browser().ask("GET", path, None, {"Host": f"localhost:{here.port}"})

    assert (answer.status, answer.headers["location"]) == (
        307,
        path.removesuffix("/") if path.endswith("/") else f"{path}/",
    )


@pytest.mark.parametrize(
    ("told", "leads_to"),
    [
        ("http://evil.example/a?b=c", "/a?b=c"),
        ("//evil.example/a?b=c", "/a?b=c"),
        (r"/\\/a?b=c", "/a?b=c"),
        ("///a?b=c", "/a?b=c"),
        ("/a?b=c", "/a?b=c"),
        ("http://[bad/a", "/"),
    ],
)
async def test_no_answer_leads_to_another_server(told, leads_to):
    async def leads(_scope: Scope, _receive: Receive, send: Send) -> None:
        start = {"type": "http.response.start", "status": 307, "headers": [(b"location", told.encode())]}
        await send(start)

    sent: list[Message] = []

    async def keep(message: Message) -> None:
        sent.append(message)

    async def nothing() -> Message:
        raise AssertionError

    scope = {"type": "http", "method": "GET", "path": "/", "headers": []}
    await Middleware(leads, tls=False, framed=False)(scope, nothing, keep)

    assert dict(sent[0]["headers"])[b"location"] == leads_to.encode()


async def test_names_with_html_in_them_are_only_ever_json(tmp_path):
    html = "<img src=x onerror=alert(1)>"
    async with consoles(tmp_path, settings(name=html)) as here:
        here.account(html, "supervisor")
        browser = await here.signed_on(html)
        answers: list[Any] = [
            await browser.get(path) for path in ("/api/session", "/api/table", "/api/shift")
        ]
        answers += [
            await browser.order("call_supervisor", reason=html),
            await browser.order(html),
            await browser.get(f"/api/rounds?limit={html.replace(' ', '%20')}"),
        ]
        events = await browser.ask("GET", "/api/rounds/" + html.replace(" ", "%20"))
        pages = [
            await browser.get(path)
            for path in ("/", "/dealer", "/supervisor", "/" + html.replace(" ", "%20"))
        ]

        assert html in answers[1].json["state"]["name"]
        assert answers[1].json["you"] == answers[1].json["operator"] == html
        for answer in (*answers, events):
            assert answer.headers["content-type"] == "application/json"
        for page in pages:
            assert html not in page.text


async def _raw(
    browser: Browser, *parts: bytes, between: Callable[[], Awaitable[object]] | None = None
) -> bytes:
    """What comes back to bytes as they are, the later ones after `between`."""
    reader, writer = await asyncio.open_connection("127.0.0.1", browser.port)
    writer.write(parts[0])
    await writer.drain()
    for part in parts[1:]:
        await asyncio.sleep(0.2)  # so that the service has begun with the first part
        if between is not None:
            await between()
        writer.write(part)
        await writer.drain()
    try:
        async with asyncio.timeout(DEADLINE):
            return await reader.read(200)
    finally:
        writer.close()


async def test_an_endless_body_of_a_question_is_the_end_of_nothing_but_its_answer():
    failures: list[Exception] = []

    async def streaming(_: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        while (await receive())["type"] != "http.disconnect":
            pass

    async def endless() -> Message:
        return {"type": "http.request", "body": bytes(9000), "more_body": True}

    async def sent(_: Message) -> None:
        pass

    scope = {
        "type": "http",
        "method": "GET",
        "path": "/api/table/events",
        "headers": [(b"host", b"localhost")],
    }
    guarded = Guard(streaming, tls=False, failed=failures.append)
    await Middleware(guarded, tls=False, framed=False)(scope, endless, sent)

    assert failures == []


async def test_an_order_that_comes_after_its_session_has_ended_is_not_given(here, mei):
    before = here.table.state
    body = json.dumps(ORDER).encode()
    headers = {**mei.headers("POST"), "Content-Type": "application/json", "Content-Length": len(body)}
    head = f"POST /api/orders HTTP/1.1\r\nHost: 127.0.0.1:{mei.port}\r\n" + "".join(
        f"{name}: {value}\r\n" for name, value in headers.items()
    )
    answer = await _raw(
        mei,
        f"{head}\r\n".encode() + body[:5],
        body[5:],
        between=lambda: mei.ask("DELETE", "/api/session"),
    )

    assert answer.startswith(b"HTTP/1.1 401 ")
    assert here.table.state.shoe.number == before.shoe.number
