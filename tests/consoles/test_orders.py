"""Orders over HTTP: what they do, what is said of those that are refused or unreadable, approval, and previews."""

import json
from itertools import product
from typing import Any

import pytest

from punto.baccarat.cards import Card
from punto.baccarat.table.catalogue import CATALOGUE
from punto.baccarat.table.order_kinds import OpenBetting, ResumePlay
from punto.controller.accounts.roles import Role
from punto.controller.orders.desk import Desk
from punto.controller.orders.doors import Peer
from punto.runtime.pace import FEW_AT_ONCE, Pace
from tests.baccarat.table.croupier import PLAYER_NATURAL
from tests.consoles.consoles import PASSWORD, Here, consoles
from tests.controller.table_in_this_process import HERE, rows, settings


async def at_betting(here: Here) -> None:
    """With a shoe, a supervisor at the table and wagers for the coming coup."""
    await here.table.begin_shoe()
    await here.table.do("open", "wager 1 player 1000", "wager 2 banker 2000", "wager 3 tie 500")


APPROVAL = {"name": "Eve", "password": PASSWORD}


async def test_an_order_is_carried_out_in_the_name_of_who_is_signed_on(here, mei):
    answer = await mei.order("change_shoe")

    assert (answer.status, answer.json["accepted"], answer.json["seq"]) == (200, True, here.inputs())
    assert here.table.state.phase == "shoe_change"
    assert rows(here.record, "SELECT source, payload FROM inputs ORDER BY seq DESC LIMIT 1") == [
        ("operator Mei", '{"who":"Mei","kind":"change_shoe"}')
    ]


async def test_an_order_that_the_table_refuses_is_on_the_record_and_its_reason_is_reported(here, mei):
    answer = await mei.order("reveal")

    assert answer.status == 409
    assert {**answer.json, "reason": None} == {
        "accepted": False,
        "seq": here.inputs(),
        "code": "not_now",
        "reason": None,
        "waiting": None,
    }
    assert answer.json["reason"].startswith("not now: the table is closed. You can now: ")
    assert here.events("reveal")[-1] == {"who": "Mei", "kind": "reveal"}


@pytest.mark.parametrize(("role", "of_supervisors"), [(Role.DEALER, False), (Role.SUPERVISOR, True)])
async def test_a_refusal_offers_what_its_giver_may_order_and_nothing_else(role, of_supervisors, here):
    here.account("Mei", role)
    refused = await (await here.signed_on("Mei")).order("reveal")
    offered = refused.json["reason"].partition("You can now: ")[2].split(", ")

    assert set(offered) <= {each.label for each in CATALOGUE.values() if role in each.roles}
    assert (CATALOGUE["change_shoe"].label in offered) is of_supervisors


UNREADABLE: list[tuple[Any, str]] = [
    (b"", "the message is missing"),
    (b"{", "the message is not JSON: it ends within an object at line 1 column 1"),
    (b'{"order": "void_coup", "reason": "\\ud800"}', "the message is not JSON: "),
    (b"[" * 10_000, "the message is not JSON: "),
    ({}, "order: is missing"),
    ([], "the message must be an object"),
    ({"order": "status"}, "there is no order 'status'"),
    ({"order": "key_card", "card": "9S", "position": "1"}, "key_card: position: must be "),
    ({"order": "key_card", "card": "9S", "place": 1}, "key_card has no 'place'"),
    ({"order": "open_betting", "approval": APPROVAL}, "open_betting needs no approval: leave `approval` out"),
    ({"order": "void_coup", "reason": "x", "approval": "Eve"}, "approval: must be an object"),
    (
        {"order": "void_coup", "reason": "x", "approval": {"name": "Eve"}},
        "approval.password: is missing",
    ),
    (
        {"order": "change_game", "game": "operators.db"},
        "change_game: game: there is no game 'operators.db'",
    ),
    (
        {"order": "change_game", "game": "mini-baccarat", "limits": {"player": {"min": 700}}},
        "change_game: limits.player.min: there is no such limit: write minimum, maximum, step",
    ),
    (
        {
            "order": "change_game",
            "game": "mini-baccarat",
            "limits": {"player": {"minimum": 700, "step": 500}},
        },
        "change_game: limits.player: the minimum 7.00 USD is not a multiple of the step 5.00 USD: write a multiple of the step",
    ),
]
"""What the requests at the socket do not show (`tests/controller/test_operators.py`)."""


async def test_what_cannot_be_read_is_answered_with_what_to_write_and_leaves_no_trace(here, mei):
    before = here.inputs()
    for path, (body, sentence) in product(("/api/orders", "/api/preview"), UNREADABLE):
        answer = await mei.ask("POST", path, body)
        assert (answer.status, answer.json["code"]) == (422, "bad_request"), body
        assert answer.json["reason"].startswith(sentence), body

    assert here.inputs() == before


async def test_a_request_with_any_number_of_brackets_is_refused(here, tmp_path):
    here.table.engine.pace = Pace(at_once=10**6)
    desk, dealer = Desk(here.table.engine, tmp_path), Peer("mei", (Role.DEALER,))
    for depth in range(1200):
        nested = b"[" * depth + b"]" * depth
        answer = await desk.ask(b'{"order": "call_supervisor", "reason": ' + nested + b"}", dealer)
        assert answer.code == "bad_request", depth


async def test_a_card_that_is_keyed_again_after_a_lost_answer_is_not_a_second_one(tmp_path):
    async with consoles(tmp_path, settings(cards="keyed")) as here:
        here.account("Mei", "supervisor")
        browser = await here.signed_on("Mei")
        await browser.order("change_shoe")
        await browser.order("open_betting")
        position = (await browser.view())["prompt"]["position"]
        answers = [await browser.order("key_card", card="KS", position=position) for _ in range(2)]
        answers.append(await browser.order("key_card", card="2S"))

        assert [(answer.status, answer.json["code"]) for answer in answers] == [
            (200, None),
            (409, "wrong_position"),
            (200, None),
        ]
        assert (await browser.view())["prompt"]["position"] == 3


@pytest.mark.parametrize("reason", ["", " ", "\t\n", "\u00a0\u3000"])
async def test_an_empty_reason_is_refused_at_either_door(reason, here, mei, tmp_path):
    before = here.inputs()
    sentence = "call_supervisor: reason: write what happened"
    by_http = await mei.order("call_supervisor", reason=reason)
    request = json.dumps({"order": "call_supervisor", "reason": reason}).encode()
    dealer = Peer("mei", (Role.DEALER,))
    by_socket = await Desk(here.table.engine, tmp_path).ask(request, dealer)

    assert (by_http.status, by_http.json["code"]) == (422, "bad_request")
    assert by_http.json["reason"].startswith(sentence)
    assert (by_socket.code, (by_socket.reason or "").startswith(sentence)) == ("bad_request", True)
    assert here.inputs() == before


# --- a second person


@pytest.mark.parametrize(
    ("approval", "status", "code", "recorded"),
    [
        ({"name": "Eve", "password": "incorrect horse"}, 403, "not_approved", ("Eve", "wrong_password")),
        ({"name": "Nobody", "password": PASSWORD}, 403, "not_approved", (None, "unknown_name")),
        ({"name": "Ann", "password": PASSWORD}, 403, "not_approved", ("Ann", "not_of_role")),
        ({"name": "Bob", "password": PASSWORD}, 403, "not_approved", ("Bob", "disabled")),
    ],
)
async def test_an_invalid_approval_is_refused_and_on_the_record(approval, status, code, recorded, tmp_path):
    async with consoles(tmp_path, settings(approval=("void_round",))) as here:
        for name, role in (
            ("Mei", "supervisor"),
            ("Eve", "supervisor"),
            ("Ann", "dealer"),
            ("Bob", "supervisor"),
        ):
            here.account(name, role)
        here.accounts.set_disabled("Bob", disabled=True)
        browser = await here.signed_on("Mei")
        await at_betting(here)
        await here.table.do(f"draw {PLAYER_NATURAL}")
        answer = await browser.order("void_round", round=1, reason="misdeal", approval=approval)

        assert (answer.status, answer.json["code"]) == (status, code)
        last = here.events("access_refused")[-1]
        assert (last["who"], last["what"], last["code"]) == (recorded[0], "approve void_round", recorded[1])
        assert here.table.state.round.number == 2
        assert (await browser.get("/api/session")).status == 200


async def test_an_approval_does_not_get_around_the_lock_out(tmp_path):
    async with consoles(tmp_path, lock_out_after=3) as here:
        here.account("Mei", "supervisor")
        here.account("Eve", "supervisor")
        browser = await here.signed_on("Mei")
        wrong = {"name": "Eve", "password": "incorrect horse"}
        answers = [
            await browser.order("void_round", round=1, reason="r", approval=each)
            for each in (wrong, wrong, wrong, APPROVAL)
        ]

        assert [answer.status for answer in answers] == [403, 403, 429, 429]
        assert answers[3].json["code"] == "locked_out"
        assert int(answers[3].headers["retry-after"]) > 0


# --- another game


async def test_a_game_of_the_houses_own_and_its_limits(tmp_path):
    shipped = (
        shipped_file("mini-baccarat")
        .replace('name = "mini-baccarat"', 'name = "own"')
        .replace('title = "Mini Baccarat"', 'title = "Our Baccarat"')
    )
    (tmp_path / "own.toml").write_text(shipped, encoding="utf-8")
    (tmp_path / "broken.toml").write_text("wagers = 7", encoding="utf-8")
    (tmp_path / "table.toml").write_text("[table]", encoding="utf-8")
    async with consoles(tmp_path) as here:
        here.account("Mei", "supervisor")
        browser = await here.signed_on("Mei")
        games = {game["name"]: game for game in (await browser.get("/api/games")).json}
        assert {"own.toml", "mini-baccarat", "midi-baccarat"} <= games.keys()
        assert {"broken.toml", "table.toml"}.isdisjoint(games)
        assert games["own.toml"]["wagers"][0] == {
            "wager": "player",
            "title": "Player",
            "minimum": 1,
            "maximum": None,
            "step": 1,
            "maximum_of_base": None,
        }
        broken = await browser.order("change_game", game="broken.toml")
        assert (broken.status, "broken.toml:1: wagers: must be a list" in broken.json["reason"]) == (
            422,
            True,
        )
        limits = {"player": {"minimum": 2500, "maximum": 500_000, "step": 100}}
        answer = await browser.order("change_game", game="own.toml", limits=limits)

        assert answer.status == 200, answer.text
        assert (await browser.view())["state"]["game"] == "Our Baccarat"
        assert here.table.state.settings.game.wager("player").limits.minimum == 2500


def shipped_file(game: str) -> str:
    return (HERE / "configs" / "games" / f"{game}.toml").read_text(encoding="utf-8")


# --- previews


async def test_a_preview_shows_the_pay_difference_and_changes_nothing(tmp_path):
    async with consoles(tmp_path, settings(approval=("correct_round",))) as here:
        here.account("Mei", "supervisor")
        here.account("Eve", "supervisor")
        browser = await here.signed_on("Mei")
        await at_betting(here)
        await here.table.do(f"draw {PLAYER_NATURAL}")
        before, inputs = here.table.state, here.inputs()
        correction: dict[str, Any] = {
            "round": 1,
            "player": ["KS", "9H"],
            "banker": ["2S", "7D"],
            "reason": "misread",
        }
        shown = await browser.preview("correct_round", **correction)

        assert shown.status == 200
        assert shown.json["accepted"]
        assert [happening["kind"] for happening in shown.json["happenings"]] == [
            "round_corrected",
            "phase_entered",
        ]
        entry = shown.json["round"]
        assert (entry["status"], entry["corrects"], entry["winner"]) == ("correction", 1, "tie")
        assert {each["seat"]: each["net"] for each in entry["settlements"]} == {1: -1000, 2: 2000, 3: 4500}
        assert here.table.state is before
        assert here.inputs() == inputs
        done = await browser.order("correct_round", **correction, approval=APPROVAL)
        assert done.status == 200
        recorded = (await browser.get("/api/rounds?limit=1")).json["rounds"][0]["round"]
        assert recorded == {**entry, "approved_by": "Eve"}


@pytest.mark.parametrize("approval", [("void_round",), ()])
async def test_a_preview_says_whether_the_house_wants_a_second_person_and_an_order_then_waits(
    approval, tmp_path
):
    async with consoles(tmp_path, settings(approval=approval), approval="session") as here:
        here.account("Mei", "supervisor")
        browser = await here.signed_on("Mei")
        await at_betting(here)
        await here.table.do(f"draw {PLAYER_NATURAL}")
        shown = await browser.preview("void_round", round=1, reason="misdeal")
        second = "by this table's settings, a second person must approve this order" if approval else None
        assert (shown.json["accepted"], shown.json["second"], shown.json["at_page"]) == (True, second, False)
        answer = await browser.order("void_round", round=1, reason="misdeal")

        assert answer.status == (202 if approval else 200)


async def test_of_hidden_cards_a_preview_says_only_whether_a_second_person_is_needed(tmp_path):
    own = settings(betting_closes="order", next_coup="order", overdraw="next_coup", approval=("change_game",))
    async with consoles(tmp_path, own) as here:
        here.account("Mei", "supervisor")
        browser = await here.signed_on("Mei")
        await here.table.begin_shoe()
        await here.table.order(OpenBetting("Mei"))
        await here.table.do("draw 9S")
        await here.table.order(ResumePlay("omar", "seen"))
        shown = {
            order: (await browser.preview(order, **fields)).json
            for order, fields in (("change_game", {"game": "mini-baccarat"}), ("close_betting", {}))
        }

        assert {order: (each["accepted"], each["code"]) for order, each in shown.items()} == {
            "change_game": (False, "not_revealed"),
            "close_betting": (False, "not_revealed"),
        }
        assert (
            shown["change_game"]["second"]
            == "by this table's settings, a second person must approve this order"
        )
        assert shown["close_betting"]["second"] is None


async def test_a_preview_tells_no_card_that_waits_for_the_next_coup(tmp_path):
    own = settings(betting_closes="order", next_coup="order", overdraw="next_coup")
    async with consoles(tmp_path, own) as here:
        here.account("Mei", "dealer")
        browser = await here.signed_on("Mei")
        await here.table.begin_shoe()
        await here.table.order(OpenBetting("Mei"))
        await here.table.do("draw 9S")
        await here.table.order(ResumePlay("omar", "seen"))
        assert here.table.state.shoe.carried == (Card("9S"),)

        answer = await browser.preview("close_betting")

    assert answer.json["code"] == "not_revealed"
    assert "9S" not in answer.text


async def test_a_preview_of_what_would_be_refused_says_why(here, mei):
    inputs = here.inputs()
    shown = await mei.preview("void_round", round=1, reason="misdeal")

    assert (shown.status, shown.json["accepted"], shown.json["code"]) == (200, False, "no_round")
    assert shown.json["round"] is None
    assert here.inputs() == inputs


async def test_an_accounts_flood_of_orders_is_refused_before_the_record_and_no_other_account_waits(here):
    here.account("Mei", "dealer")
    here.account("Omar", "supervisor")
    here.table.engine.pace = Pace(clock=lambda: 0.0)
    mei, omar = await here.signed_on("Mei"), await here.signed_on("Omar")
    before = here.table.engine.seq
    answers = [await mei.order("call_supervisor", reason=f"call {n}") for n in range(FEW_AT_ONCE + 20)]

    assert [each.status for each in answers] == [200] * FEW_AT_ONCE + [429] * 20
    assert answers[-1].json["code"] == "too_fast"
    assert here.table.engine.seq == before + FEW_AT_ONCE
    assert (await omar.order("call_supervisor", reason="mine")).status == 200


UNSEEN = (
    "\0",
    "\t",
    "\n",
    "\r",
    "\x1b",
    "\x7f",
    "\x85",
    "\xad",
    "\u200b",
    "\u200e",
    "\u202e",
    "\u2066",
    "\u2028",
    "\u2029",
)
"""Control characters, what is not drawn, what changes the direction of writing, and ends of lines."""


@pytest.mark.parametrize("unseen", [*UNSEEN, "\ufeff", "\U000e0041"], ids=ascii)
async def test_a_reason_has_no_character_that_a_report_would_not_show(unseen, here, mei):
    before = here.inputs()
    fields = {"order": "call_supervisor", "reason": f"seat 3{unseen}"}
    refused = await mei.order(**fields)
    at_the_socket = await here.desk.ask(json.dumps(fields).encode(), Peer("mei", (Role.SUPERVISOR,)))

    assert (refused.status, refused.json["code"]) == (422, "bad_request")
    assert "without control or invisible characters" in refused.json["reason"]
    assert (at_the_socket.code, at_the_socket.reason) == ("bad_request", refused.json["reason"])
    assert here.inputs() == before
    assert (await mei.order("call_supervisor", reason="3 号位 Überfall №5")).status == 200
