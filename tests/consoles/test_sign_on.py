"""Signing on: who is let in, what the record has of it, and how a session ends."""

import asyncio
import http.client
import json
import sqlite3
import urllib.request
from contextlib import closing
from typing import Any, get_args

import pytest

from punto.controller.accounts.roles import Read, Role, orders_of
from tests.consoles.consoles import PASSWORD, Browser, Here, consoles
from tests.controller.table_in_this_process import eventually
from tests.deadline import DEADLINE


def access(here: Here) -> list[dict[str, Any]]:
    return here.events("session_begun", "session_ended", "access_refused")


async def test_a_page_is_told_the_sounds_of_the_configuration(tmp_path):
    async with consoles(tmp_path, sounds=("award",)) as here:
        here.account("Mei", "dealer")
        assert (await here.browser().sign_on("Mei")).json["sounds"] == ["award"]


async def test_somebody_with_an_account_signs_on_and_it_is_on_the_record(here):
    here.account("Mei", "supervisor", "auditor")
    browser = here.browser()
    answer = await browser.sign_on("Mei")

    assert answer.status == 200
    who = {
        "number": 1,
        "name": "Mei",
        "roles": ["supervisor", "auditor"],
        "reads": list(get_args(Read)),
        "orders": sorted(orders_of([Role.SUPERVISOR, Role.AUDITOR])),
        "idle_seconds": 900,
        "notice": "",
        "sounds": ["call", "alarm", "award"],
    }
    assert answer.json == {**who, "csrf": browser.csrf}
    assert (await browser.get("/api/session")).json == who
    assert access(here) == [
        {"who": "Mei", "roles": ["supervisor", "auditor"], "where": "127.0.0.1", "kind": "session_begun"}
    ]
    (account,) = here.accounts.all()
    assert account.last_sign_on is not None


async def test_the_cookies_are_for_this_host_alone_and_no_script_can_read_them(here):
    here.account("Mei", "dealer")
    body = {"name": "Mei", "password": PASSWORD}
    set_cookies = await asyncio.to_thread(_cookies_set, here.browser(), body)

    (session, *its), (browser, *others) = (each.split("; ") for each in set_cookies)
    assert session.startswith(f"punto_session_{here.port}=")
    assert sorted(its) == ["HttpOnly", "Path=/", "SameSite=strict"]
    assert browser.startswith(f"punto_browser_{here.port}=")
    assert sorted(others) == ["HttpOnly", "Max-Age=34560000", "Path=/", "SameSite=strict"]


def _cookies_set(browser: Browser, body: dict[str, str]) -> list[str]:
    with closing(http.client.HTTPConnection("127.0.0.1", browser.port, timeout=DEADLINE)) as connection:
        headers = {**browser.headers("POST"), "Content-Type": "application/json"}
        connection.request("POST", "/api/session", json.dumps(body), headers)
        return connection.getresponse().msg.get_all("Set-Cookie", [])


async def test_two_tables_of_one_pc_keep_their_sessions_apart_in_one_browser(tmp_path):
    folders = tmp_path / "one", tmp_path / "two"
    for folder in folders:
        folder.mkdir()
    jar = urllib.request.HTTPCookieProcessor()
    browser = urllib.request.build_opener(jar)

    def ask(here: Here, body: bytes | None = None) -> Any:
        at = f"http://127.0.0.1:{here.port}"
        headers = {"Origin": at, "Content-Type": "application/json"}
        with browser.open(urllib.request.Request(f"{at}/api/session", body, headers)) as answer:  # noqa: S310 - http
            return json.load(answer)

    async with consoles(folders[0]) as one, consoles(folders[1]) as two:
        for here, name in ((one, "Mei"), (two, "Ann")):
            here.account(name, "supervisor")
            body = json.dumps({"name": name, "password": PASSWORD}).encode()
            await asyncio.to_thread(ask, here, body)

        assert (await asyncio.to_thread(ask, one))["name"] == "Mei"
        assert (await asyncio.to_thread(ask, two))["name"] == "Ann"
        assert sorted(cookie.name for cookie in jar.cookiejar) == sorted(
            f"punto_{what}_{here.port}" for here in (one, two) for what in ("session", "browser")
        )


async def test_capitals_in_a_name_do_not_matter_and_the_record_has_it_as_it_was_given(here):
    here.account("Mei", "dealer")
    answer = await here.browser().sign_on("MEI")

    assert answer.json["name"] == "Mei"


@pytest.mark.parametrize(
    ("role", "phase", "takes"),
    [
        ("dealer", "locked", True),
        ("dealer", "closed", True),
        ("supervisor", "locked", True),
        ("supervisor", "closed", False),
        ("executive", "locked", True),
        ("technician", "locked", False),
        ("auditor", "locked", False),
    ],
)
async def test_a_dealer_takes_the_table_and_a_supervisor_one_that_is_locked(role, phase, takes, here):
    here.account("Ann", "dealer")
    here.account("Mei", role)
    if phase == "closed":
        await here.signed_on("Ann")
    await here.signed_on("Mei")

    assert (here.table.state.operator == "Mei") is takes
    assert here.table.state.phase == ("closed" if takes or phase == "closed" else "locked")


# --- fixation, replay, and ends


async def test_a_session_id_that_was_brought_along_is_never_taken(here):
    here.account("Mei", "dealer")
    browser = here.browser()
    browser.cookie = "chosen-by-somebody-else"
    await browser.sign_on("Mei")

    assert browser.cookie != "chosen-by-somebody-else"
    planted = here.browser()
    planted.cookie = "chosen-by-somebody-else"
    assert (await planted.get("/api/session")).status == 401


async def test_each_sign_on_has_a_new_session_and_ends_the_one_before(here):
    here.account("Mei", "dealer")
    first = await here.signed_on("Mei")
    second = await here.signed_on("Mei")

    assert first.cookie != second.cookie
    assert first.csrf != second.csrf
    assert (await first.get("/api/session")).status == 401
    assert (await second.get("/api/session")).status == 200
    assert [event["kind"] for event in access(here)] == [
        "session_begun",
        "session_ended",
        "session_begun",
    ]


async def test_of_sign_ons_at_the_same_time_one_session_is_left(here, tmp_path):
    here.account("Mei", "dealer")
    browsers = [here.browser() for _ in range(5)]
    with closing(sqlite3.connect(tmp_path / "operators.db", isolation_level=None)) as writing:
        writing.execute("BEGIN IMMEDIATE")  # all of them wait for the accounts
        coming = [asyncio.create_task(browser.sign_on("Mei")) for browser in browsers]
        await asyncio.sleep(1)
        writing.execute("ROLLBACK")
    answers = await asyncio.gather(*coming)
    left = [(await browser.get("/api/session")).status for browser in browsers]

    assert {answer.status for answer in answers} == {200}
    assert sorted(left) == [200] + [401] * 4
    assert [event["kind"] for event in access(here)] == [
        "session_begun",
        *["session_ended", "session_begun"] * 4,
    ]


async def test_who_signs_on_while_somebody_writes_to_the_accounts_holds_up_nobody_else(here, tmp_path):
    here.account("Mei", "dealer")
    here.account("Ann", "supervisor")
    ann = await here.signed_on("Ann")
    with closing(sqlite3.connect(tmp_path / "operators.db", isolation_level=None)) as writing:
        writing.execute("BEGIN IMMEDIATE")
        browser = here.browser()
        coming = asyncio.create_task(browser.sign_on("Mei"))
        await asyncio.sleep(0.5)
        assert (await ann.order("change_shoe")).status == 200
        assert not coming.done()  # so the order did not wait for it
        writing.execute("ROLLBACK")
    assert (await coming).status == 200


async def test_another_who_signs_on_in_the_same_browser_ends_the_session_before(here):
    here.account("Ann", "dealer")
    here.account("Mei", "supervisor")
    browser = await here.signed_on("Ann")
    ann = browser.cookie
    await browser.sign_on("Mei")
    again = here.browser()
    again.cookie = ann

    assert (await again.get("/api/session")).status == 401
    assert [(event["kind"], event["who"]) for event in access(here)] == [
        ("session_begun", "Ann"),
        ("session_ended", "Ann"),
        ("session_begun", "Mei"),
    ]


async def test_a_cookie_is_worth_nothing_after_the_sign_off(here, mei):
    cookie, csrf = mei.cookie, mei.csrf
    answer = await mei.sign_off()
    assert (answer.status, answer.text, mei.cookie) == (204, "", None)
    before = here.inputs()
    mei.cookie, mei.csrf = cookie, csrf

    for method, path in (
        ("GET", "/api/session"),
        ("GET", "/api/table"),
        ("GET", "/api/table/events"),
        ("DELETE", "/api/session"),
    ):
        assert (await mei.ask(method, path)).status == 401
    assert (await mei.order("change_shoe")).status == 401
    assert here.inputs() == before
    assert access(here)[-1] == {"who": "Mei", "why": "signed off", "kind": "session_ended"}


async def test_what_is_kept_of_a_session_does_not_open_it(here, mei):
    (kept,) = here.console._gate._sessions
    thief = here.browser()
    thief.cookie = kept

    assert mei.cookie is not None
    assert mei.cookie not in kept
    assert (await thief.get("/api/session")).status == 401


async def has_ended(here: Here, why: str) -> None:
    """Mei's session is over, which a request may be told before the record is."""
    ended = {"who": "Mei", "why": why, "kind": "session_ended"}
    await eventually(lambda: access(here)[-1] == ended, "the end of the session is on the record")


async def test_a_session_ends_when_nothing_was_done_for_so_long(tmp_path):
    async with consoles(tmp_path, idle_minutes=15) as here:
        here.account("Mei", "supervisor")
        browser = await here.signed_on("Mei")
        here.clock.now += 14 * 60
        assert (await browser.get("/api/session")).status == 200
        here.clock.now += 14 * 60
        assert (await browser.get("/api/session")).status == 200
        here.clock.now += 15 * 60

        assert (await browser.get("/api/session")).status == 401
        await has_ended(here, "inactive")


async def test_a_page_that_comes_back_by_itself_does_not_count_as_activity(tmp_path):
    async with consoles(tmp_path, idle_minutes=15) as here:
        here.account("Mei", "supervisor")
        browser = await here.signed_on("Mei")
        for _ in range(2):
            here.clock.now += 7 * 60
            assert await first_line_of_the_stream(browser) == b"event: view\r\n"
            assert (await browser.get("/api/table")).status == 200
        here.clock.now += 60

        assert (await browser.get("/api/table")).status == 401
        await has_ended(here, "inactive")


async def first_line_of_the_stream(browser: Browser) -> bytes:
    def read() -> bytes:
        with closing(http.client.HTTPConnection("127.0.0.1", browser.port, timeout=DEADLINE)) as connection:
            connection.request("GET", "/api/table/events", headers=browser.headers("GET"))
            return connection.getresponse().readline()

    return await asyncio.to_thread(read)


@pytest.mark.parametrize("change", ["disable", "password", "roles"])
async def test_a_change_of_the_account_ends_its_session_at_once(change, here):
    here.account("Mei", "supervisor")
    here.account("Ann", "dealer")
    browser, other = await here.signed_on("Mei"), await here.signed_on("Ann")
    match change:
        case "disable":
            here.accounts.set_disabled("Mei", disabled=True)
        case "password":
            here.accounts.set_password("Mei", "another password")
        case _:
            here.accounts.set_roles("Mei", [])

    assert (await browser.order("change_shoe")).status == 401
    assert (await other.get("/api/session")).status == 200
    await has_ended(here, "the account was changed")


# --- what is no sign-on


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (b"", "the message is missing"),
        (b"{", "the message is not JSON"),
        (b"\xff", "the message is not JSON"),
        (b"[" * 10_000, "the message is not JSON"),
        (b"[]", "the message must be an object"),
        (b'{"name": "Mei"}', "password: is missing"),
        (b'{"name": 7, "password": "x"}', "name: must be text in quotes"),
        (b'{"name": "Mei", "password": 12345}', "password: must be text in quotes"),
        (b'{"name": "\\ud800", "password": "x"}', "the message is not JSON"),
        (b'{"name": "Mei", "password": "x", "role": "supervisor"}', "role: there is no such field"),
        (json.dumps({"name": "x" * 201, "password": "x"}).encode(), "name: must have at most 200 characters"),
    ],
)
async def test_an_invalid_sign_on_is_answered_and_leaves_no_trace(body, sentence, here):
    before = here.inputs()
    answer = await here.browser().ask("POST", "/api/session", body)

    assert (answer.status, answer.json["code"]) == (422, "bad_request")
    assert answer.json["reason"].startswith(sentence)
    assert "12345" not in answer.text
    assert here.inputs() == before
