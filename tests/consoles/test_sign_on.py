"""Signing on: who is let in, what it takes, what an attempt can tell, and what the record says of it."""

import asyncio
import http.client
import json
import sqlite3
import time
import urllib.request
from contextlib import closing
from typing import Any, Literal, get_args

import pytest
from argon2 import PasswordHasher
from argon2.exceptions import VerifyMismatchError

from punto.controller.accounts import gate as gate_module
from punto.controller.accounts import passwords as passwords_module
from punto.controller.accounts.gate import Gate
from punto.controller.accounts.refusals import NotLetInError
from punto.controller.accounts.roles import Read, Role, orders_of
from punto.runtime.pace import Pace
from tests.consoles.consoles import PASSWORD, Browser, Here, consoles
from tests.controller.table_in_this_process import eventually, settings
from tests.deadline import DEADLINE

WRONG = "incorrect horse"


@pytest.fixture
def verified(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The hash that each verification of a password was made against."""
    found: list[str] = []
    real = passwords_module._HASHER

    class Counting(PasswordHasher):
        def verify(self, hash: Any, password: Any) -> Literal[True]:  # noqa: A002 - the library's name for it
            found.append(hash)
            return super().verify(hash, password)

    counting = Counting(real.time_cost, real.memory_cost, real.parallelism)
    monkeypatch.setattr(passwords_module, "_HASHER", counting)
    return found


def access(here: Here) -> list[dict[str, Any]]:
    return here.events("session_begun", "session_ended", "access_refused")


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


# --- what an attempt can tell


async def refused(browser: Browser, name: str, password: str) -> tuple[int, dict[str, Any]]:
    answer = await browser.sign_on(name, password)
    assert "set-cookie" not in answer.headers
    return answer.status, answer.json


async def test_an_unknown_name_costs_as_much_and_is_answered_as_a_wrong_password(tmp_path, verified):
    async with consoles(tmp_path, lock_out_after=3, refusals_per_minute=1000) as here:
        here.account("Mei", "dealer")
        here.account("Gone", "dealer")
        here.accounts.set_disabled("Gone", disabled=True)
        answers = {}
        for name, password in (("Mei", WRONG), ("Nobody", WRONG), ("Gone", PASSWORD)):
            verified.clear()
            # The third locks out, and the fourth finds it so.
            found = [await refused(here.browser(), name, password) for _ in range(4)]
            answers[name] = (found, len(verified))

        assert answers["Nobody"] == answers["Mei"] == answers["Gone"]
        found, verifications = answers["Mei"]
        assert [status for status, _ in found] == [401, 401, 429, 429]
        assert [body["code"] for _, body in found] == ["refused", "refused", "locked_out", "locked_out"]
        assert verifications == 3


async def test_what_an_unknown_name_is_held_against_is_as_much_work(costly_passwords, verified, here):
    here.account("Mei", "dealer")
    await refused(here.browser(), "Mei", WRONG)
    await refused(here.browser(), "Nobody", WRONG)

    mine, nobodys = (hash_.split("$")[1:] for hash_ in verified)
    assert mine[:3] == nobodys[:3]
    assert mine[0] == "argon2id"
    assert [len(part) for part in mine] == [len(part) for part in nobodys]
    with pytest.raises(VerifyMismatchError):  # it is worked out to the end
        PasswordHasher().verify(verified[1], WRONG)


async def test_the_record_says_who_was_refused_and_never_what_was_typed(tmp_path):
    async with consoles(tmp_path) as here:
        here.account("Mei", "dealer")
        here.account("Gone", "dealer")
        here.accounts.set_disabled("Gone", disabled=True)
        for name, password in (("mei", WRONG), ("my-secret-typed-here", WRONG), ("Gone", PASSWORD)):
            await refused(here.browser(), name, password)

        assert [(event["who"], event["what"], event["code"], event["where"]) for event in access(here)] == [
            ("Mei", "sign_on", "wrong_password", "127.0.0.1"),
            (None, "sign_on", "unknown_name", "127.0.0.1"),
            ("Gone", "sign_on", "disabled", "127.0.0.1"),
        ]
        whole = here.record.read_bytes()
    for secret in (WRONG, PASSWORD, "my-secret-typed-here"):
        assert secret.encode() not in whole


# --- lock-out and rate


async def test_a_locked_out_account_is_an_alarm_and_opens_again_after_its_time(tmp_path):
    async with consoles(tmp_path, lock_out_after=3, lock_out_minutes=10) as here:
        here.account("Mei", "dealer")
        for _ in range(3):
            answer = await here.browser().sign_on("Mei", WRONG)
        assert answer.status == 429
        assert answer.headers["retry-after"] == "600"
        assert [alarm.code for alarm in here.table.state.alarms] == ["locked_out"]
        assert access(here)[-1] == {
            "who": "Mei",
            "what": "sign_on",
            "code": "locked_out",
            "where": "127.0.0.1",
            "kind": "access_refused",
        }
        here.clock.now += 599
        assert (await here.browser().sign_on("Mei")).status == 429
        here.clock.now += 2
        assert (await here.browser().sign_on("Mei")).status == 200


async def test_the_right_password_in_between_forgives_the_wrong_ones(tmp_path):
    async with consoles(tmp_path, lock_out_after=3) as here:
        here.account("Mei", "dealer")
        for password in (WRONG, WRONG, PASSWORD, WRONG, WRONG, PASSWORD):
            answer = await here.browser().sign_on("Mei", password)

        assert answer.status == 200


async def test_wrong_passwords_of_long_ago_are_forgotten(tmp_path):
    async with consoles(tmp_path, lock_out_after=2, lock_out_minutes=10) as here:
        here.account("Mei", "dealer")
        await here.browser().sign_on("Mei", WRONG)
        here.clock.now += 601

        assert (await here.browser().sign_on("Mei", WRONG)).status == 401


@pytest.mark.parametrize("lift", ["enable", "password"])
async def test_a_technician_lifts_a_lock_out_on_the_tables_pc(lift, tmp_path):
    async with consoles(tmp_path, lock_out_after=1) as here:
        here.account("Mei", "dealer")
        assert (await here.browser().sign_on("Mei", WRONG)).status == 429
        if lift == "enable":
            here.accounts.set_disabled("Mei", disabled=False)
        else:
            here.accounts.set_password("Mei", PASSWORD)

        assert (await here.browser().sign_on("Mei")).status == 200


async def test_guesses_at_the_same_time_are_no_way_around_the_lock_out(tmp_path, costly_passwords, verified):
    async with consoles(tmp_path, lock_out_after=3, refusals_per_minute=1000) as here:
        here.account("Mei", "dealer")
        answers = await asyncio.gather(*(here.browser().sign_on("Mei", WRONG) for _ in range(12)))

    assert len(verified) == 3
    assert sorted(answer.status for answer in answers) == [401] * 2 + [429] * 10


async def test_an_address_that_guesses_at_many_names_must_wait(tmp_path, verified):
    async with consoles(tmp_path, refusals_per_minute=4) as here:
        here.account("Mei", "dealer")
        statuses = [(await here.browser().sign_on(f"name {n}", WRONG)).status for n in range(7)]
        turned_away = await here.browser().sign_on("Mei")

        assert statuses == [401] * 4 + [429] * 3
        assert (turned_away.json["code"], turned_away.headers["retry-after"]) == ("too_many", "60")
        assert len(verified) == 4
        # One line of the record a minute, whatever comes.
        assert [event["code"] for event in access(here)] == ["unknown_name"] * 4 + ["too_many"]
        here.clock.now += 61
        assert (await here.browser().sign_on("Mei")).status == 200


async def test_who_signs_on_as_they_should_is_never_counted(tmp_path):
    async with consoles(tmp_path, refusals_per_minute=2) as here:
        here.account("Mei", "dealer")
        for _ in range(5):
            await here.signed_on("Mei")


@pytest.mark.soak
async def test_at_most_so_many_wait_for_their_password_to_be_checked(tmp_path, costly_passwords):
    async with consoles(tmp_path, refusals_per_minute=1000, lock_out_after=100) as here:
        here.account("Mei", "dealer")
        gate = here.console._gate
        from_one = [tried(gate, "Mei", WRONG, "192.0.2.1") for _ in range(15)]
        from_others = [tried(gate, "Mei", WRONG, f"192.0.2.{n}") for n in range(2, 20)]
        codes = await asyncio.gather(*from_one, *from_others)

    assert codes == ["refused"] * 10 + ["too_many"] * 5 + ["refused"] * 10 + ["too_many"] * 8


async def tried(gate: Gate, name: str, password: str, where: str, browser: str | None = None) -> str:
    """What becomes of a sign-on from there: the refusal's code, or nothing."""
    try:
        await gate.sign_on(name, password, where, None, browser)
    except NotLetInError as error:
        return error.code
    return ""


async def locked_out(gate: Gate, name: str, where: str) -> None:
    """Somebody gives wrong passwords there until the name is locked out."""
    assert [await tried(gate, name, WRONG, where) for _ in range(5)] == ["refused"] * 4 + ["locked_out"]


async def test_a_lock_out_is_one_of_the_address_that_guessed_and_of_no_other(tmp_path):
    async with consoles(tmp_path, refusals_per_minute=1000) as here:
        supervisors = ("Mei", "Ann", "Omar")
        for name in supervisors:
            here.account(name, "supervisor")
        gate = here.console._gate
        for name in supervisors:  # 15 requests
            await locked_out(gate, name, "192.0.2.66")

        assert [await tried(gate, name, PASSWORD, "192.0.2.66") for name in supervisors] == ["locked_out"] * 3
        assert [await tried(gate, name, PASSWORD, "192.0.2.1") for name in supervisors] == [""] * 3


async def test_a_browser_where_an_account_has_signed_on_is_not_locked_out_by_others_at_its_address(here):
    here.account("Mei", "supervisor")
    browser, stranger = await here.signed_on("Mei"), here.browser()
    for _ in range(30):  # a flood from the same address, far beyond what an address may
        await stranger.sign_on("Mei", WRONG)
    assert (await stranger.sign_on("Mei")).status == 429

    assert (await browser.sign_on("Mei")).status == 200


async def test_a_browser_is_known_to_those_who_signed_on_there_and_to_nobody_else(here):
    here.account("Mei", "supervisor")
    here.account("Ann", "supervisor")
    mine = (await here.console._gate.sign_on("Ann", PASSWORD, "192.0.2.66")).browser
    gate = here.console._gate
    await locked_out(gate, "Mei", "192.0.2.66")

    assert await tried(gate, "Mei", PASSWORD, "192.0.2.66", mine) == "locked_out"
    assert await tried(gate, "Mei", PASSWORD, "192.0.2.66", "made up") == "locked_out"


async def test_a_browser_that_is_known_is_locked_out_for_what_was_typed_there(here):
    here.account("Mei", "supervisor")
    gate = here.console._gate
    known = (await gate.sign_on("Mei", PASSWORD, "192.0.2.1")).browser
    codes = [await tried(gate, "Mei", WRONG, "192.0.2.1", known) for _ in range(5)]

    assert codes == ["refused"] * 4 + ["locked_out"]
    assert await tried(gate, "Mei", PASSWORD, "192.0.2.1", known) == "locked_out"
    assert await tried(gate, "Mei", PASSWORD, "192.0.2.1") == ""


async def test_a_browser_is_known_after_the_service_has_started_again(tmp_path):
    async with consoles(tmp_path) as here:
        here.account("Mei", "supervisor")
        known = (await here.console._gate.sign_on("Mei", PASSWORD, "192.0.2.1")).browser
    async with consoles(tmp_path, refusals_per_minute=1000) as here:
        gate = here.console._gate
        await locked_out(gate, "Mei", "192.0.2.1")

        assert await tried(gate, "Mei", PASSWORD, "192.0.2.1", known) == ""
        whole = b"".join(path.read_bytes() for path in tmp_path.iterdir() if path.is_file())
        assert known.encode() not in whole


async def test_a_browser_that_signs_on_again_keeps_its_token_and_one_made_up_is_never_taken(here):
    for name in ("Mei", "Ann"):
        here.account(name, "supervisor")
    gate = here.console._gate
    first = await gate.sign_on("Mei", PASSWORD, "192.0.2.1", None, "made up")
    again = await gate.sign_on("Ann", PASSWORD, "192.0.2.1", None, first.browser)

    assert first.browser != "made up"
    assert again.browser == first.browser
    assert here.accounts.known_at(first.browser) == {1, 2}
    assert here.accounts.known_at("made up") == set()


async def test_of_twenty_browsers_the_one_of_longest_ago_is_forgotten(here):
    here.account("Mei", "supervisor")
    here.table.engine.pace = Pace(at_once=10**9)  # more often than people do
    found = [(await here.console._gate.sign_on("Mei", PASSWORD, "192.0.2.1")).browser for _ in range(21)]

    assert [bool(here.accounts.known_at(each)) for each in found] == [False] + [True] * 20


@pytest.mark.parametrize(
    ("addresses", "same"),
    [
        (("127.0.0.1", "127.0.0.2", "127.255.0.9", "::1", "::ffff:127.0.0.1"), True),
        (("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", "2001:db8:1:2:8000:1:2:3"), True),
        (("192.0.2.1", "::ffff:192.0.2.1"), True),
        (("2001:db8:1:2::1", "2001:db8:1:3::1"), False),
        (("192.0.2.1", "192.0.2.2"), False),
        (("unknown", "192.0.2.2"), False),
    ],
)
async def test_what_one_attacker_has_of_addresses_counts_as_one(addresses, same, tmp_path):
    first, *others = addresses
    async with consoles(tmp_path, refusals_per_minute=6) as here:
        here.account("Mei", "supervisor")
        gate = here.console._gate
        await locked_out(gate, "Mei", first)
        assert [await tried(gate, "Mei", PASSWORD, each) for each in others] == (
            ["locked_out", "too_many", "too_many", "too_many"][: len(others)] if same else [""] * len(others)
        )


async def test_guesses_from_many_addresses_are_slowed_down_and_a_known_browser_is_not(tmp_path, verified):
    async with consoles(tmp_path, refusals_per_minute=1000) as here:
        here.account("Mei", "supervisor")
        gate = here.console._gate
        known = (await gate.sign_on("Mei", PASSWORD, "192.0.2.1")).browser
        verified.clear()
        for n in range(900):  # a guess a second, each from an address of its own
            await tried(gate, "Mei", WRONG, f"198.51.{n // 250}.{n % 250}")
            here.clock.now += 1

        assert 21 <= len(verified) <= 27
        assert await tried(gate, "Mei", WRONG, "203.0.113.9") == "too_many"
        assert await tried(gate, "Mei", PASSWORD, "192.0.2.1", known) == ""
        assert {event["code"] for event in access(here) if event["kind"] == "access_refused"} == {
            "wrong_password",
            "slowed_down",
        }


@pytest.mark.parametrize("lift", ["time", "enable"])
async def test_who_was_slowed_down_with_others_signs_on_when_they_have_stopped_or_a_technician_says_so(
    lift, here
):
    here.account("Mei", "supervisor")
    gate = here.console._gate
    for n in range(30):
        await tried(gate, "Mei", WRONG, f"198.51.100.{n}")
        here.clock.now += 60
    assert await tried(gate, "Mei", WRONG, "198.51.100.99") == "refused"
    assert await tried(gate, "Mei", PASSWORD, "192.0.2.1") == "too_many"
    if lift == "time":
        here.clock.now += 60
    else:
        here.accounts.set_disabled("Mei", disabled=False)

    assert await tried(gate, "Mei", PASSWORD, "192.0.2.1") == ""


@pytest.mark.soak
async def test_an_approval_is_kept_out_by_no_sign_ons_whatever_their_number(tmp_path, costly_passwords):
    async with consoles(tmp_path, settings(approval=("void_coup",))) as here:
        here.account("Mei", "supervisor")
        here.account("Ann", "supervisor")
        browser = await here.signed_on("Mei")
        strangers = [here.browser() for _ in range(40)]
        flood = [asyncio.create_task(each.sign_on("Ann", WRONG)) for each in strangers]
        await asyncio.sleep(0.1)
        approval = {"name": "Ann", "password": PASSWORD}
        at_once = await browser.order("void_coup", reason="a card fell", approval=approval)
        await asyncio.gather(*flood)
        after = await browser.order("void_coup", reason="a card fell", approval=approval)

        # The table refuses it, for there is no coup: the approval was taken.
        assert [(each.status, each.json["code"]) for each in (at_once, after)] == [(409, "not_now")] * 2
        assert (await here.browser().sign_on("Ann")).status == 429


@pytest.mark.soak
async def test_an_approval_waits_for_two_sign_ons_and_no_more(costly_passwords, verified, here):
    here.account("Ann", "supervisor")
    gate = here.console._gate
    flood = [asyncio.create_task(tried(gate, "Nobody", WRONG, "192.0.2.66")) for _ in range(10)]
    await asyncio.sleep(0)
    await gate.check("Ann", PASSWORD, "192.0.2.1", "approve void_coup")
    before = len(verified) - 1
    await asyncio.gather(*flood)

    assert before <= 2


async def test_approvals_that_are_guessed_at_are_locked_out_too(tmp_path, verified):
    async with consoles(tmp_path, settings(approval=("void_coup",)), lock_out_after=3) as here:
        here.account("Mei", "supervisor")
        here.account("Ann", "supervisor")
        browser = await here.signed_on("Mei")
        verified.clear()
        for _ in range(5):
            answer = await browser.order(
                "void_coup", reason="a card fell", approval={"name": "Ann", "password": WRONG}
            )

        assert (answer.status, answer.json["code"], len(verified)) == (429, "locked_out", 3)


async def test_nothing_tells_an_account_from_another_name_by_what_has_its_lock_out_forgotten(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(gate_module, "_REMEMBERED", 40)
    async with consoles(tmp_path, refusals_per_minute=1000) as here:
        here.account("Mei", "supervisor")
        gate = here.console._gate
        answers: dict[str, list[str]] = {"Mei": [], "Nobody": []}
        for others in (0, 5, 15, 19, 20, 40):
            for name, found in answers.items():
                here.clock.now += 3600
                await locked_out(gate, name, "192.0.2.66")
                for n in range(others):
                    await tried(gate, f"name {n}", WRONG, "192.0.2.66")
                found.append(await tried(gate, name, WRONG, "192.0.2.66"))

        assert answers["Mei"] == answers["Nobody"]
        assert set(answers["Mei"]) == {"locked_out", "refused"}


async def test_an_account_that_was_changed_past_the_audit_log_is_not_let_in_and_its_session_ends(
    here, mei, tmp_path
):
    with closing(sqlite3.connect(tmp_path / "operators.db", isolation_level=None)) as database:
        database.execute("UPDATE accounts SET roles = 'executive'")

    assert (await mei.get("/api/session")).status == 401
    answer = await mei.sign_on("Mei")
    assert (answer.status, answer.json["code"]) == (401, "refused")
    assert [event["code"] for event in here.events("access_refused")] == ["altered"]
    here.accounts.restore("Mei", PASSWORD)
    assert (await mei.sign_on("Mei")).json["roles"] == ["supervisor"]


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


@pytest.mark.punctual
async def test_who_signs_on_while_somebody_writes_to_the_accounts_holds_up_nobody_else(here, tmp_path):
    here.account("Mei", "dealer")
    here.account("Ann", "supervisor")
    ann = await here.signed_on("Ann")
    with closing(sqlite3.connect(tmp_path / "operators.db", isolation_level=None)) as writing:
        writing.execute("BEGIN IMMEDIATE")
        browser = here.browser()
        coming = asyncio.create_task(browser.sign_on("Mei"))
        await asyncio.sleep(0.5)
        begun = time.monotonic()
        assert (await ann.order("change_shoe")).status == 200
        assert time.monotonic() - begun < 0.5
        assert not coming.done()
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


async def test_what_is_kept_of_a_session_is_no_key_to_it(here, mei):
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


async def test_a_page_that_comes_back_by_itself_is_no_activity(tmp_path):
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
        (b"", "the message is not JSON"),
        (b"{", "the message is not JSON"),
        (b"\xff", "the message is not JSON"),
        (b"[" * 10_000, "the message is not JSON"),
        (b"[]", "the message must be an object"),
        (b'{"name": "Mei"}', "password: is missing"),
        (b'{"name": 7, "password": "x"}', "name: must be text in quotes"),
        (b'{"name": "\\ud800", "password": "x"}', "the message is not JSON"),
        (b'{"name": "Mei", "password": "x", "role": "supervisor"}', "role: there is no such field"),
        (json.dumps({"name": "x" * 201, "password": "x"}).encode(), "name: must have at most 200 characters"),
    ],
)
async def test_what_is_no_sign_on_is_answered_and_leaves_no_trace(body, sentence, here):
    before = here.inputs()
    answer = await here.browser().ask("POST", "/api/session", body)

    assert (answer.status, answer.json["code"]) == (422, "bad_request")
    assert answer.json["reason"].startswith(f"send name and password as JSON: {sentence}")
    assert here.inputs() == before
