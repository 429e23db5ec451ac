"""A second person approves an order at a session of their own: who may, for how long, and what is on the record."""

import pytest
import pytest_asyncio

from punto.baccarat.progressive.events import OpenMeter
from punto.baccarat.table.order_kinds import CloseTable
from punto.controller.accounts.roles import Role
from punto.controller.orders.countersigning import APPROVAL_SECONDS
from tests.baccarat.table.croupier import PLAYER_NATURAL
from tests.baccarat.table.croupier import settings as table_settings
from tests.consoles.consoles import PASSWORD, consoles
from tests.consoles.test_orders import at_betting
from tests.controller.table_in_this_process import settings

APPROVED = settings(next_coup="order", approval=("void_round", "correct_round", "resume_play", "change_game"))
VOID = {"round": 1, "reason": "misdeal"}


@pytest_asyncio.fixture
async def here(tmp_path):
    """A table after round 1, where a second person approves at a session of their own."""
    async with consoles(tmp_path, APPROVED, approval="session") as running:
        await at_betting(running)
        await running.table.do(f"draw {PLAYER_NATURAL}")
        yield running


async def test_an_order_waits_until_a_second_person_approves_it_at_a_session_of_their_own(here, mei, eve):
    before = here.inputs()
    asked = await mei.order("void_round", **VOID)
    (waits,) = (await eve.view())["waiting"]

    assert (asked.status, asked.json["code"]) == (202, "awaits_approval")
    assert here.inputs() == before, "nothing has happened yet"
    assert (waits["giver"], waits["label"], waits["may"]) == ("Mei", "Void the last hand", True)
    assert waits["fields"] == {"round": "1", "reason": "misdeal"}

    approved = await eve.ask("POST", f"/api/approvals/{asked.json['waiting']}", {})
    (told,) = (await mei.view())["waiting"]

    assert (approved.status, approved.json["accepted"]) == (200, True)
    (event,) = here.events("void_round")
    assert (event["who"], event["approved_by"]) == ("Mei", "Eve")
    assert (told["own"], told["outcome"], told["accepted"]) == (True, "approved by Eve", True)


@pytest.mark.parametrize(
    ("who", "roles", "status", "code"),
    [
        ("Mei", ("supervisor",), 403, "not_approved"),
        ("Dan", ("dealer",), 403, "not_of_role"),
        ("Ada", ("auditor",), 403, "not_of_role"),
    ],
)
async def test_nobody_approves_their_own_order_or_one_that_is_not_of_their_role(
    here, mei, who, roles, status, code
):
    asked = await mei.order("void_round", **VOID)
    if who != "Mei":
        here.account(who, *roles)
    other = mei if who == "Mei" else await here.signed_on(who)
    refused = await other.ask("POST", f"/api/approvals/{asked.json['waiting']}", {})

    assert (refused.status, refused.json["code"]) == (status, code)
    assert here.events("void_round") == []


@pytest.mark.parametrize("change", ["disable", "roles"])
async def test_the_order_of_an_account_that_was_changed_since_is_approved_by_nobody(here, mei, eve, change):
    asked = await mei.order("void_round", **VOID)
    if change == "disable":
        here.accounts.set_disabled("Mei", disabled=True)
    else:
        here.accounts.set_roles("Mei", [Role.DEALER])
    refused = await eve.ask("POST", f"/api/approvals/{asked.json['waiting']}", {})

    assert (refused.status, refused.json["code"]) == (403, "not_approved")
    assert refused.json["reason"].startswith("the account of Mei was changed")
    assert here.events("void_round") == []
    assert (await eve.view())["waiting"] == []


async def test_a_password_at_the_first_persons_page_is_refused_unless_the_house_lets_it(here, mei):
    signed = await mei.order("void_round", **VOID, approval={"name": "Eve", "password": PASSWORD})

    assert (signed.status, signed.json["code"]) == (403, "not_approved")
    assert here.events("void_round") == []


async def test_it_waits_for_two_minutes_and_no_longer(here, mei, eve):
    asked = await mei.order("void_round", **VOID)
    here.clock.now += APPROVAL_SECONDS
    late = await eve.ask("POST", f"/api/approvals/{asked.json['waiting']}", {})

    assert (late.status, late.json["code"]) == (404, "not_waiting")
    assert here.events("void_round") == []


async def test_it_is_about_the_hand_in_which_it_was_ordered_and_no_later_one(here, mei, eve):
    asked = await mei.order("void_round", **VOID)
    await mei.order("open_betting")
    await here.table.do(f"draw {PLAYER_NATURAL}")
    late = await eve.ask("POST", f"/api/approvals/{asked.json['waiting']}", {})

    assert (late.status, late.json["code"]) == (404, "not_waiting")
    assert here.events("void_round") == []


@pytest.mark.parametrize("who", ["Mei", "Eve"])
async def test_whoever_gave_it_and_whoever_may_approve_it_can_drop_it(here, mei, eve, who):
    asked = await mei.order("void_round", **VOID)
    number = asked.json["waiting"]
    dropped = await (mei if who == "Mei" else eve).ask("DELETE", f"/api/approvals/{number}")
    late = await eve.ask("POST", f"/api/approvals/{number}", {})

    assert (dropped.status, late.status) == (204, 404)
    assert (await mei.view())["waiting"][0]["outcome"] == f"declined by {who}"
    assert here.events("void_round") == []


@pytest.mark.parametrize("role", ["dealer", "auditor"])
async def test_a_person_who_may_not_approve_it_cannot_drop_it(here, mei, eve, role):
    asked = await mei.order("void_round", **VOID)
    here.account("Dan", role)
    dropped = await (await here.signed_on("Dan")).ask("DELETE", f"/api/approvals/{asked.json['waiting']}")

    assert (dropped.status, dropped.json["code"]) == (403, "not_of_role")
    assert len((await eve.view())["waiting"]) == 1


async def test_what_the_table_would_refuse_anyway_does_not_wait(mei):
    asked = await mei.order("void_round", round=7, reason="misdeal")

    assert (asked.status, asked.json["code"]) == (409, "needs_approval")
    assert (await mei.preview("void_round", round=7, reason="misdeal")).json["code"] == "not_last_round"


async def test_whoever_approves_a_change_of_settings_sees_what_is_changed_and_from_what(tmp_path):
    house = table_settings(game_name="progressive-2", meter={})
    async with consoles(tmp_path, house, approval="session") as here:
        here.account("Ida", "executive")
        here.account("Ivo", "executive")
        here.account("Eve", "supervisor")
        ida, ivo, eve = [await here.signed_on(name) for name in ("Ida", "Ivo", "Eve")]
        await here.table.order(OpenMeter("Ida", "Ivo"))
        asked = await ida.order(
            "change_settings", seed=900_000_000, split="participants", reason="a new year"
        )
        assert (asked.status, asked.json["code"]) == (202, "awaits_approval"), asked.text
        (waits,) = (await ivo.view())["waiting"]

        assert waits["fields"] == {
            "seed": "1000000 → 900000000",
            "split": "winners → participants",
            "reason": "a new year",
        }
        assert waits["why"].startswith("each setting of a progressive can move money")
        assert (await eve.view())["waiting"] == [], "a supervisor may not approve it"
        refused = await eve.ask("POST", f"/api/approvals/{asked.json['waiting']}", {})
        assert (refused.status, refused.json["code"]) == (403, "not_of_role")
        approved = await ivo.ask("POST", f"/api/approvals/{asked.json['waiting']}", {})
        assert approved.status == 200, approved.text
        (event,) = here.events("change_settings")
        assert (event["who"], event["approved_by"]) == ("Ida", "Ivo")


async def test_of_one_person_no_more_than_two_orders_of_other_kinds_wait(here, mei, eve):
    correction = {"round": 1, "player": ["KS", "9H"], "banker": ["2S", "7D"], "reason": "misread"}
    await here.table.order(CloseTable("Mei"))
    answers = [
        await mei.order("void_round", **VOID),
        await mei.order("correct_round", **correction),
        await mei.order("change_game", game="mini-baccarat"),
        await mei.order("void_round", round=1, reason="again"),
    ]

    assert [answer.status for answer in answers] == [202, 202, 429, 202]
    assert answers[2].json["code"] == "too_many"
    assert [(each["order"], each["fields"]["reason"]) for each in (await eve.view())["waiting"]] == [
        ("correct_round", "misread"),
        ("void_round", "again"),
    ]


async def test_nobody_makes_a_second_person_choose_among_many(mei, eve):
    for _ in range(5):
        await mei.order("void_round", **VOID)

    assert len((await eve.view())["waiting"]) == 1
