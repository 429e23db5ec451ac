"""Security keys: who adds one, what it approves at another person's page, and what it does not."""

import json
import sqlite3
import subprocess
import sys
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from punto.baccarat.table.order_kinds import VoidRound
from punto.controller.accounts.accounts import Accounts
from punto.controller.accounts.security_keys import SecurityKey
from punto.controller.orders.countersigning import APPROVAL_SECONDS
from tests.baccarat.table.croupier import PLAYER_NATURAL
from tests.consoles.consoles import PASSWORD, Here, consoles
from tests.consoles.software_key import PRESENT, SoftwareKey, encoded
from tests.consoles.test_countersigning import APPROVED, VOID
from tests.consoles.test_orders import at_betting


@asynccontextmanager
async def a_round_to_void(folder, own=None, **config):
    """Mei has ordered that round 1 be void, which waits at her page; Eve has a key."""
    async with consoles(folder, APPROVED, approval="session", **config) as here:
        here.account("Mei", "supervisor")
        here.account("Eve", "supervisor")
        await at_betting(here)
        await here.table.do(f"draw {PLAYER_NATURAL}")
        key = await key_of(here, "Eve", own)
        mei = await here.signed_on("Mei")
        asked = await mei.order("void_round", **VOID)
        assert asked.status == 202, asked.text
        yield here, mei, asked.json["waiting"], key


async def key_of(here: Here, name: str, own: SoftwareKey | None = None) -> SoftwareKey:
    """A key that this person has added, who has signed off since."""
    key, browser = own or SoftwareKey(), await here.signed_on(name)
    added = await key.register(browser)
    assert added.status == 204, added.text
    await browser.sign_off()
    return key


def refusals(here: Here) -> list[tuple[str | None, str, str]]:
    """What the record has of refusals: who, what, code."""
    return [(each["who"], each["what"], each["code"]) for each in here.events("access_refused")]


async def test_a_second_person_approves_an_order_with_their_key_at_the_first_persons_page(tmp_path):
    async with a_round_to_void(tmp_path) as (here, mei, number, key):
        approved = await key.approve(mei, number, "eve")
        (told,) = (await mei.view())["waiting"]

        assert (approved.status, approved.json["accepted"]) == (200, True), approved.text
        (event,) = here.events("void_round")
        assert (event["who"], event["approved_by"]) == ("Mei", "Eve")
        assert (told["outcome"], told["accepted"]) == ("approved by Eve", True)
        assert refusals(here) == []


# --- what is not approved


REFUSED = {
    "code": "not_approved",
    "reason": "approval: the name or the security key is wrong, or the account is disabled",
}


async def refused(here: Here, answer, *on_record: tuple[str | None, str]) -> None:
    """It was refused as any wrong key is, which is on the record, and the round stands."""
    assert (answer.status, answer.json) == (403, REFUSED)
    assert refusals(here) == [(who, "approve void_round", code) for who, code in on_record]
    assert here.events("void_round") == []


@pytest.mark.parametrize(
    ("what", "change"),
    [
        ("another key's secret", lambda key: replace(key, secret=SoftwareKey().secret)),
        ("another credential", lambda key: replace(key, id=b"x" * 32)),
        ("a page of another site", lambda key: replace(key, origin="https://example.com")),
        ("another port", lambda key: replace(key, origin="http://127.0.0.1:1")),
        ("another host", lambda key: replace(key, host="example.com")),
        ("nobody's PIN or finger", lambda key: replace(key, flags=PRESENT)),
        ("nobody's touch", lambda key: replace(key, flags=4)),
    ],
)
async def test_a_key_is_refused_that_says(tmp_path, what, change):
    async with a_round_to_void(tmp_path) as (here, mei, number, key):
        await refused(here, await change(key).approve(mei, number, "Eve"), ("Eve", "wrong_key"))


async def test_what_was_signed_for_another_order_approves_nothing(tmp_path):
    async with a_round_to_void(tmp_path) as (here, mei, number, key):
        asked = await mei.ask("POST", f"/api/approvals/{number}/key-options", {"name": "Eve"})
        again = await mei.order("void_round", round=1, reason="another reason")
        assert again.json["waiting"] != number

        old = await key.answer(mei, number, "Eve", key.signed(mei, asked.json))
        other = await key.answer(mei, again.json["waiting"], "Eve", key.signed(mei, asked.json))

        assert (old.status, old.json["code"]) == (404, "not_waiting")
        await refused(here, other, ("Eve", "wrong_key"))


async def test_what_was_signed_approves_no_order_that_has_changed(tmp_path):
    async with a_round_to_void(tmp_path) as (here, mei, number, key):
        asked = await mei.ask("POST", f"/api/approvals/{number}/key-options", {"name": "Eve"})
        waiting = here.desk.waiting._orders
        assert isinstance(waiting[number].order, VoidRound)
        waiting[number] = replace(waiting[number], order=replace(waiting[number].order, reason="another"))

        answer = await key.answer(mei, number, "Eve", key.signed(mei, asked.json))

        await refused(here, answer, ("Eve", "wrong_key"))


async def test_what_was_signed_in_one_name_approves_nothing_in_another(tmp_path):
    async with a_round_to_void(tmp_path) as (here, mei, number, key):
        here.account("Ana", "supervisor")
        asked = await mei.ask("POST", f"/api/approvals/{number}/key-options", {"name": "Ana"})

        answer = await key.answer(mei, number, "Eve", key.signed(mei, asked.json))

        await refused(here, answer, ("Eve", "wrong_key"))


async def test_what_was_signed_is_worth_one_attempt(tmp_path):
    async with a_round_to_void(tmp_path) as (here, mei, number, key):
        asked = await mei.ask("POST", f"/api/approvals/{number}/key-options", {"name": "Eve"})
        credential = key.signed(mei, asked.json)
        broken = credential | {"response": credential["response"] | {"signature": encoded(b"another")}}

        await refused(here, await key.answer(mei, number, "Eve", broken), ("Eve", "wrong_key"))
        replayed = await key.answer(mei, number, "Eve", credential)

        await refused(here, replayed, ("Eve", "wrong_key"), ("Eve", "wrong_key"))


@pytest.mark.parametrize(("count", "is_a_copy"), [(3, True), (4, True), (5, False), (-1, True)])
async def test_a_key_whose_count_goes_back_or_stands_is_a_copy_and_is_refused(tmp_path, count, is_a_copy):
    async with a_round_to_void(tmp_path, SoftwareKey(count=5)) as (here, mei, number, key):
        key.count = count  # and one more when it signs

        answer = await key.approve(mei, number, "Eve")

        if is_a_copy:
            await refused(here, answer, ("Eve", "cloned_key"))
        else:
            assert answer.status == 200


async def test_a_key_that_does_not_count_approves_as_others_do(tmp_path):
    async with a_round_to_void(tmp_path, SoftwareKey(count=0)) as (_, mei, number, key):
        assert (await key.approve(mei, number, "Eve")).status == 200


async def test_a_key_that_was_removed_approves_nothing(tmp_path):
    async with a_round_to_void(tmp_path) as (here, mei, number, key):
        here.accounts.remove_key("Eve")

        await refused(here, await key.approve(mei, number, "Eve"), ("Eve", "wrong_key"))


@pytest.mark.parametrize("altered", [False, True])
async def test_a_key_of_an_account_that_is_disabled_or_altered_approves_nothing(tmp_path, altered):
    async with a_round_to_void(tmp_path) as (here, mei, number, key):
        if altered:
            with sqlite3.connect(tmp_path / "operators.db") as database:
                database.execute("UPDATE accounts SET roles = 'executive' WHERE name = 'Eve'")
        else:
            here.accounts.set_disabled("Eve", disabled=True)

        answer = await key.approve(mei, number, "Eve")

        await refused(here, answer, ("Eve", "wrong_key" if altered else "disabled"))


async def test_a_key_that_another_wrote_into_the_file_is_nobodys(tmp_path):
    async with a_round_to_void(tmp_path) as (here, mei, number, _):
        thiefs = SoftwareKey()
        with sqlite3.connect(tmp_path / "operators.db") as database:
            mine = json.dumps([encoded(thiefs.id), encoded(thiefs.public), "2026-01-01"])
            database.execute("UPDATE accounts SET security_key = ? WHERE name = 'Eve'", (mine,))

        assert here.accounts.not_as_logged() == ["Eve"]
        await refused(here, await thiefs.approve(mei, number, "Eve"), ("Eve", "wrong_key"))


async def test_nobody_approves_their_own_order_with_their_key(tmp_path):
    async with a_round_to_void(tmp_path) as (here, _, number, _):
        key, mei = SoftwareKey(), await here.signed_on("Mei")
        assert (await key.register(mei)).status == 204

        answer = await key.approve(mei, number, "Mei")

        assert (answer.status, answer.json["code"]) == (403, "not_approved")
        assert answer.json["reason"] == "your own order needs another person's approval"
        assert here.events("void_round") == []


async def test_nobody_approves_with_a_key_what_is_not_of_their_role(tmp_path):
    async with a_round_to_void(tmp_path) as (here, mei, number, _):
        here.account("Dan", "dealer")
        key = await key_of(here, "Dan")

        answer = await key.approve(mei, number, "Dan")

        assert (answer.status, answer.json["code"]) == (403, "not_of_role")
        assert refusals(here) == [("Dan", "void_round", "not_of_role")]
        assert here.events("void_round") == []


async def test_a_key_is_used_at_the_page_where_the_order_waits_and_at_no_other(tmp_path):
    async with a_round_to_void(tmp_path) as (here, mei, number, key):
        here.account("Dan", "dealer")
        dan = await here.signed_on("Dan")
        asked = await mei.ask("POST", f"/api/approvals/{number}/key-options", {"name": "Eve"})

        for answer in (
            await key.approve(dan, number, "Eve"),
            await key.answer(dan, number, "Eve", key.signed(dan, asked.json)),
        ):
            assert (answer.status, answer.json["code"]) == (403, "not_approved")
        assert here.events("void_round") == []


async def test_what_was_signed_is_worth_nothing_once_the_order_waits_no_more(tmp_path):
    async with a_round_to_void(tmp_path) as (here, mei, number, key):
        asked = await mei.ask("POST", f"/api/approvals/{number}/key-options", {"name": "Eve"})
        here.clock.now += APPROVAL_SECONDS

        late = await key.answer(mei, number, "Eve", key.signed(mei, asked.json))

        assert (late.status, late.json["code"]) == (404, "not_waiting")
        assert here.events("void_round") == []


async def test_wrong_keys_lock_the_name_out_as_wrong_passwords_do_whether_or_not_it_is_an_accounts(tmp_path):
    async with a_round_to_void(tmp_path, lock_out_after=2) as (here, mei, number, key):
        here.account("Ana", "supervisor")
        answers = {
            name: [await SoftwareKey().approve(mei, number, name) for _ in range(3)]
            for name in ("Eve", "Ana", "Nobody")
        }

        said = {name: [(each.status, each.json) for each in own] for name, own in answers.items()}
        assert said["Eve"] == said["Ana"] == said["Nobody"]
        assert [status for status, _ in said["Eve"]] == [403, 429, 429]
        assert said["Eve"][0][1] == REFUSED
        codes = {
            who: [code for each, _, code in refusals(here) if each == who] for who in ("Eve", "Ana", None)
        }
        assert codes == {
            "Eve": ["wrong_key", "locked_out", "locked_out"],
            "Ana": ["wrong_key", "locked_out", "locked_out"],
            None: ["unknown_name"] * 3,
        }
        assert (await key.approve(mei, number, "Eve")).status == 429, "the right one too, while it lasts"


async def test_what_is_asked_of_a_key_shows_nothing_of_an_account(tmp_path):
    async with a_round_to_void(tmp_path) as (here, mei, number, _):
        here.account("Ana", "supervisor")
        asked = [
            (await mei.ask("POST", f"/api/approvals/{number}/key-options", {"name": name})).json
            for name in ("Eve", "Ana", "Nobody")
        ]

        assert len({each.pop("challenge") for each in asked}) == 3
        assert asked[0] == asked[1] == asked[2]
        assert (asked[0]["rpId"], asked[0]["allowCredentials"]) == ("127.0.0.1", [])
        assert asked[0]["userVerification"] == "required"


# --- adding and removing


async def test_a_key_is_added_by_its_owner_with_their_password_and_noted_in_the_log(here, eve, tmp_path):
    asked = await eve.ask("POST", "/api/session/key-options", {"password": PASSWORD})
    key = SoftwareKey()

    added = await eve.ask("POST", "/api/session/key", {"credential": key.created(eve, asked.json)})
    account = here.accounts.find("Eve")

    assert added.status == 204, added.text
    assert asked.json["user"]["name"] == "Eve"
    assert asked.json["authenticatorSelection"]["userVerification"] == "required"
    assert account is not None
    assert account.security_key is not None
    assert account.security_key.credential == encoded(key.id)
    assert not account.altered
    assert [(each.who, each.what, each.version) for each in here.accounts.log()][1:] == [
        ("Eve at 127.0.0.1", "key", 1)
    ]
    assert (await eve.view())["you"] == "Eve", "the session goes on"
    Accounts.open(tmp_path / "operators.db").close()  # the log's chain holds


async def test_no_key_is_added_without_the_password(here, eve):
    wrong = await SoftwareKey().register(eve, "another password")
    unasked = await eve.ask(
        "POST", "/api/session/key", {"credential": SoftwareKey().created(eve, {"challenge": "x"})}
    )

    assert (wrong.status, wrong.json["code"]) == (403, "not_signed")
    assert refusals(here) == [("Eve", "add_key", "wrong_password")]
    assert (unasked.status, unasked.json["code"]) == (409, "not_adding")


async def test_what_was_asked_of_a_new_key_is_worth_one_attempt_within_two_minutes(here, eve):
    key = SoftwareKey()
    first = await eve.ask("POST", "/api/session/key-options", {"password": PASSWORD})
    wrong = await eve.ask("POST", "/api/session/key", {"credential": key.created(eve, {"challenge": "eA"})})
    again = await eve.ask("POST", "/api/session/key", {"credential": key.created(eve, first.json)})
    later = await eve.ask("POST", "/api/session/key-options", {"password": PASSWORD})
    here.clock.now += 120
    late = await eve.ask("POST", "/api/session/key", {"credential": key.created(eve, later.json)})

    assert (wrong.status, wrong.json["code"]) == (422, "wrong_key")
    assert [each.json["code"] for each in (again, late)] == ["not_adding", "not_adding"]
    account = here.accounts.find("Eve")
    assert account is not None
    assert account.security_key is None


async def test_a_new_key_must_know_its_owner(here):
    here.account("Eve", "supervisor")
    answer = await SoftwareKey(flags=PRESENT).register(await here.signed_on("Eve"))

    assert (answer.status, answer.json["code"]) == (422, "wrong_key")


async def test_whoever_has_learned_a_password_puts_no_key_in_the_place_of_its_owners(here, eve):
    thiefs = SoftwareKey()
    before = await eve.ask("POST", "/api/session/key-options", {"password": PASSWORD})
    kept = SoftwareKey()
    other = await here.signed_on("Eve")  # which ends the first session
    assert (await kept.register(other)).status == 204

    again = await SoftwareKey().register(other)
    gone = await eve.ask("POST", "/api/session/key", {"credential": thiefs.created(eve, before.json)})

    assert (again.status, again.json["code"]) == (409, "has_key")
    assert gone.status == 401
    account = here.accounts.find("Eve")
    assert account is not None
    assert account.security_key is not None
    assert account.security_key.credential == encoded(kept.id)


async def test_a_key_that_was_added_meanwhile_at_another_table_stays(here, eve):
    asked = await eve.ask("POST", "/api/session/key-options", {"password": PASSWORD})
    key = SoftwareKey()
    before = here.accounts.find("Eve")
    assert before is not None
    here.accounts.add_key("Eve", SecurityKey("another", "key", "now"), 0, "Eve elsewhere")

    answer = await eve.ask("POST", "/api/session/key", {"credential": key.created(eve, asked.json)})

    assert (answer.status, answer.json["code"]) == (409, "has_key")


@pytest.mark.soak
async def test_a_technician_lists_keys_and_removes_one_which_the_log_has(tmp_path):
    async with a_round_to_void(tmp_path) as (here, _, _, _):

        def operators(*arguments: str) -> subprocess.CompletedProcess[str]:
            file = ["--accounts", str(tmp_path / "operators.db")]
            command = [sys.executable, "-m", "punto", "operators", *file, *arguments]
            return subprocess.run(command, capture_output=True, text=True, check=False)

        before = operators("list").stdout.splitlines()
        removed, again = operators("key", "Eve", "--remove"), operators("key", "Eve", "--remove")
        after = operators("list").stdout.splitlines()

        assert before[0].split("\t")[-1].startswith("key since 2"), before
        assert before[1].endswith("\tno key")
        assert (removed.returncode, again.returncode) == (0, 1)
        assert again.stderr == "punto operators: 'Eve' has no security key\n"
        assert after[0].endswith("\tno key")
        assert here.accounts.log()[-1].what == "key --remove"
        assert operators("key", "Eve").returncode == 2, "there is no other way to a key than its owner's"


# --- what comes


@pytest.mark.parametrize(
    "credential",
    [
        {},
        {"id": None},
        {"id": "x", "rawId": "x", "type": "public-key", "response": {}},
        {"response": {"clientDataJSON": "e30", "authenticatorData": "", "signature": ""}},
        {"response": {"clientDataJSON": "=", "authenticatorData": "Ä", "signature": 1}},
        {"response": {"clientDataJSON": encoded(b"[" * 9000), "authenticatorData": "AA", "signature": "AA"}},
        {"response": {"attestationObject": encoded(b"\x81" * 9000), "clientDataJSON": "e30"}},
        {"response": {"attestationObject": encoded(b"\x9b" + b"\x7f" * 8), "clientDataJSON": "e30"}},
    ],
)
async def test_what_is_not_a_credential_is_refused_and_ends_nothing(tmp_path, credential):
    async with a_round_to_void(tmp_path) as (here, mei, number, key):
        own = {"id": encoded(key.id), "rawId": encoded(key.id), "type": "public-key"}
        assert (await mei.ask("POST", "/api/session/key-options", {"password": PASSWORD})).status == 200

        approved = await key.answer(mei, number, "Eve", own | credential)
        added = await mei.ask("POST", "/api/session/key", {"credential": own | credential})

        await refused(here, approved, ("Eve", "wrong_key"))
        assert (added.status, added.json["code"]) == (422, "wrong_key")


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "the message is missing"),
        (b"{}", "credential: is missing"),
        (b"[]", "the message must be an object"),
        (b'{"name": "Eve", "credential": []}', "credential: must be "),
        (b'{"name": 1, "credential": {}}', "name: must be text in quotes"),
    ],
)
async def test_a_body_that_cannot_be_read_is_answered_with_what_to_send(tmp_path, body, reason):
    async with a_round_to_void(tmp_path) as (_, mei, number, _):
        answer = await mei.ask("POST", f"/api/approvals/{number}/key", body)

        assert answer.status == 422
        assert answer.json["reason"].startswith(reason)


async def test_without_the_package_there_are_no_keys_and_the_table_goes_on(eve, monkeypatch):
    monkeypatch.setitem(sys.modules, "webauthn", None)

    answer = await SoftwareKey().register(eve)

    assert (answer.status, answer.json["code"]) == (503, "no_security_keys")
    assert (await eve.view())["you"] == "Eve"
