"""What an attempt to sign on can tell, and how wrong passwords lock out and slow down those who guess."""

import asyncio
import sqlite3
from contextlib import closing
from typing import Any, Literal

import pytest
from argon2 import PasswordHasher
from argon2.exceptions import VerifyMismatchError

from punto.controller.accounts import gate as gate_module
from punto.controller.accounts import passwords as passwords_module
from punto.controller.accounts.gate import Gate
from punto.controller.accounts.refusals import NotLetInError
from punto.runtime.pace import Pace
from tests.consoles.consoles import PASSWORD, Browser, consoles
from tests.consoles.test_sign_on import access
from tests.controller.table_in_this_process import settings

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


async def test_guesses_at_the_same_time_do_not_get_around_the_lock_out(tmp_path, costly_passwords, verified):
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
