"""What is ordered of a progressive over HTTP and over the socket: bounds, second persons, previews, and what devices do."""

import asyncio
from typing import Any

import pytest
import pytest_asyncio

from punto.baccarat.progressive.events import OpenMeter
from punto.baccarat.progressive.game_events import StartGame, WagerPlaced
from punto.baccarat.progressive.money import MOST
from punto.baccarat.table.order_kinds import OpenBetting
from punto.baccarat.table.settings import Settings
from punto.baccarat.table.state import TablesProgressive
from punto.baccarat.table.turn import RefusedError
from punto.controller.engine import Handled
from punto.controller.journal.recovery import replay
from punto.controller.orders.doors import Equipment
from tests.baccarat.table.croupier import settings as table_settings
from tests.consoles.consoles import PASSWORD, Browser, Here, consoles
from tests.controller.table_in_this_process import rows


def house(**meter: Any) -> Settings:
    return table_settings(
        game_name="progressive-2", meter={"procedure": "nexus", "base_wagers": "unseen", **meter}
    )


def progressive(here: Here) -> TablesProgressive:
    found = here.table.state.progressive
    assert found is not None
    return found


async def executive(here: Here) -> Browser:
    """An executive at a table whose meter is in service, another, and supervisors Eve and Omar."""
    here.account("Ida", "executive")
    here.account("Ivo", "executive")
    here.account("Eve", "supervisor")
    here.account("Omar", "supervisor")
    browser = await here.signed_on("Ida")
    assert (await browser.order("open_meter", approval=BY_IVO)).status == 200
    return browser


@pytest_asyncio.fixture
async def here(tmp_path):
    async with consoles(tmp_path, house()) as running:
        yield running


@pytest_asyncio.fixture
async def ida(here):
    return await executive(here)


BY_IVO = {"name": "Ivo", "password": PASSWORD}
BY_EVE = {"name": "Eve", "password": PASSWORD}

UNREADABLE: list[tuple[str, dict[str, Any], str]] = [
    ("adjust", {"cause": "whim", "amount": 1, "reason": "r"}, "adjust: cause: must be "),
    ("adjust", {"cause": "increase", "amount": -1, "reason": "r"}, "adjust: amount: must be 0 or more"),
    ("change_settings", {"procedure": "aquarius", "reason": "r"}, "change_settings has no 'procedure'"),
    ("change_settings", {"seed": MOST + 1, "reason": "r"}, f"change_settings: seed: must be {MOST} or less"),
    (
        "change_settings",
        {"contribution": "99%", "reserve": "2%", "reason": "r"},
        "change_settings: contribution",
    ),
    ("change_settings", {"reserve": "1%", "reason": 5}, "change_settings: reason: must be text in quotes"),
    ("start_game", {"round": 1, "seats": [1]}, "start_game has no 'seats'"),
    ("retire", {"reason": "x" * 201}, "retire: reason: must have at most 200 characters"),
    ("confirm", {"by": "Eve"}, "by: must be an object"),
    ("end_game", {"by": BY_EVE}, "end_game is given by the person who is signed on: leave `by` out"),
    ("confirm", {"approval": BY_EVE}, "confirm needs no approval"),
]


async def test_what_cannot_be_read_is_answered_with_what_to_write_and_leaves_no_trace(here, ida):
    before = here.inputs()
    for order, fields, sentence in UNREADABLE:
        answer = await ida.order(order, **fields)
        assert (answer.status, answer.json["code"]) == (422, "bad_request"), sentence
        assert answer.json["reason"].startswith(sentence), sentence

    assert here.inputs() == before


async def test_settings_are_changed_over_those_in_force_and_the_others_stay(tmp_path):
    async with consoles(tmp_path, house(reserve="2%", executive_from=500_000, approval_above=None)) as here:
        browser = await executive(here)
        for changes in ({"seed": 2_000_000}, {"executive_from": None, "split": "participants"}):
            answer = await browser.order("change_settings", reason="a new year", approval=BY_IVO, **changes)
            assert answer.status == 200, answer.text
        after = progressive(here).books.settings

        assert (after.seed, after.reserve, after.executive_from, after.split) == (
            2_000_000,
            "2%",
            None,
            "participants",
        )
        same = await browser.order("change_settings", reason="again", seed=2_000_000, approval=BY_IVO)
        assert (same.status, same.json["code"]) == (409, "same_settings")


@pytest.mark.parametrize(("approval", "at_page"), [("page", True), ("session", False)])
async def test_a_preview_says_why_a_second_person_must_approve_and_whether_they_can_at_this_page(
    approval, at_page, tmp_path
):
    async with consoles(tmp_path, house(approval_above=1000), approval=approval) as here:
        here.account("Ida", "executive")
        browser = await here.signed_on("Ida")
        seeded = await browser.preview("open_meter")
        await here.table.order(OpenMeter("Ida", "Ivo"))
        before = here.inputs()
        adjustment: dict[str, Any] = {"cause": "increase", "reason": "the anniversary"}
        small = await browser.preview("adjust", amount=1000, **adjustment)
        large = await browser.preview("adjust", amount=1001, **adjustment)
        settings = await browser.preview("change_settings", reason="more", split="participants")

        assert (small.json["accepted"], small.json["second"]) == (True, None)
        for needed, why in (
            (seeded, "the amount 10,000.00 is more than 10.00"),
            (large, "the amount 10.01 is more than 10.00"),
            (settings, "each setting of a progressive can move money"),
        ):
            assert (needed.json["accepted"], needed.json["at_page"]) == (True, at_page)
            assert needed.json["second"].startswith(why)
        assert here.inputs() == before
        assert (await browser.view())["waiting"] == []


async def test_a_preview_of_an_adjustment_says_what_the_displays_would_show_and_moves_nothing(here, ida):
    adjustment: dict[str, Any] = {"cause": "malfunction", "amount": 2550, "reason": "counted twice"}
    before, inputs = here.table.state, here.inputs()
    shown = await ida.preview("adjust", **adjustment)
    too_much = await ida.preview("adjust", **{**adjustment, "amount": 1_000_001})
    counted = await ida.preview("count_coins", day="2026-11-21", amount=100)

    assert (shown.json["accepted"], shown.json["meter"]) == (True, 997_450)
    assert (too_much.json["accepted"], too_much.json["code"]) == (False, "more_than_meter")
    assert (counted.json["accepted"], counted.json["meter"]) == (True, None)
    assert here.table.state is before
    assert here.inputs() == inputs


async def test_coins_are_counted_of_the_progressive_that_is_named_if_it_is_one_of_the_tables(here, ida):
    answers = [
        await ida.order("count_coins", day="2026-11-21", amount=100, **named)
        for named in ({}, {"progressive": "dragon"}, {"progressive": "tiger"}, {"progressive": 1})
    ]

    assert [answer.status for answer in answers] == [200, 200, 409, 422]
    assert answers[2].json["code"] == "unknown_progressive"
    assert "never had a progressive tiger: write dragon" in answers[2].json["reason"]
    counted = rows(here.record, "SELECT progressive FROM progressive_log WHERE kind = 'coins_counted'")
    assert counted == [("dragon",)] * 2


async def test_what_is_refused_of_the_progressive_is_in_the_report_of_the_shift_with_where_it_came_from(
    tmp_path,
):
    async with consoles(tmp_path, house()) as here:
        browser = await executive(here)
        assert (await browser.order("confirm", by=BY_EVE)).json["code"] == "no_hand_selected"
        assert (await browser.order("wager_lifted", seat=1)).status == 200
        await browser.order("adjust", cause="retirement", amount=1, reason="r", approval=BY_EVE)
        told = (await browser.get("/api/shift")).json["refused"]

        assert [(each["kind"], each["who"], each["source"]) for each in told] == [
            ("confirm", "Eve", "operator Ida"),
            ("adjust", "Ida", "operator Ida"),
        ]
        assert told[0]["text"].startswith("refused: no seat can be selected yet")
        found = rows(here.record, "SELECT code FROM incidents WHERE kind = 'refused' ORDER BY input")
        assert found == [("no_hand_selected",), ("not_a_cause",)]
    assert replay(tmp_path / "table.db").difference is None


async def test_two_adjustments_at_once_are_one_after_the_other_on_the_record(tmp_path):
    async with consoles(tmp_path, house(approval_above=10**6)) as here:
        browser = await executive(here)
        answers = await asyncio.gather(
            *(browser.order("adjust", cause="increase", amount=100, reason=str(n)) for n in range(8))
        )

        assert [answer.status for answer in answers] == [200] * 8
        assert len({answer.json["seq"] for answer in answers}) == 8
        assert progressive(here).books.shown == 1_000_800
        numbers = rows(here.record, "SELECT number FROM postings ORDER BY input, place")
        assert numbers == [(n,) for n in range(1, 10)]


# --- signed by another at the dealer's page


async def test_a_supervisor_signs_at_the_dealers_page_and_the_order_is_theirs(here, ida):
    here.account("Ann", "dealer")
    dealer = await here.signed_on("Ann")
    assert (await dealer.order("confirm")).status == 403
    answer = await dealer.order("confirm", by=BY_EVE)

    assert (answer.status, answer.json["code"]) == (409, "no_hand_selected")
    assert here.events("confirm") == [{"who": "Eve", "kind": "confirm"}]
    given = "SELECT source FROM inputs WHERE json_extract(payload, '$.kind') = 'confirm'"
    assert rows(here.record, given) == [("operator Ann",)]


@pytest.mark.parametrize(
    ("by", "code"),
    [
        ({"name": "Eve", "password": "incorrect horse"}, "wrong_password"),
        ({"name": "Nobody", "password": PASSWORD}, "unknown_name"),
        ({"name": "Ann", "password": PASSWORD}, "not_of_role"),
    ],
)
async def test_an_invalid_signature_is_refused_and_on_the_record(by, code, here, ida):
    here.account("Ann", "dealer")
    dealer = await here.signed_on("Ann")
    before = here.table.state
    answer = await dealer.order("confirm", by=by)

    assert (answer.status, answer.json["code"]) == (403, "not_signed")
    (refused,) = here.events("access_refused")
    assert (refused["code"], refused["what"]) == (code, "sign confirm")
    assert here.table.state is before


# --- what devices do


async def test_what_a_device_gives_is_taken_at_no_desk(tmp_path):
    given = frozenset({"wager_placed", "wager_lifted", "turn_key", "swipe_card"})
    async with consoles(tmp_path, house(), equipment=Equipment(gives=lambda: given)) as here:
        browser = await executive(here)
        for kind, fields in (
            ("wager_placed", {"seat": 1}),
            ("turn_key", {"to": "jph"}),
            ("swipe_card", {"level": "executive"}),
        ):
            answer = await browser.order(kind, **fields)
            assert (answer.status, answer.json["code"]) == (422, "bad_request")
            assert answer.json["reason"].startswith(f"{kind}: a device of this table gives this order")
        assert given.isdisjoint((await browser.view())["orders"])


async def test_a_game_is_started_by_the_sensors_where_there_are_some(tmp_path):
    answers = [RefusedError("no_sensors", "the sensors do not answer"), None]
    asked: list[tuple[StartGame, str]] = []

    async def start_game(order: StartGame, source: str) -> Handled:
        asked.append((order, source))
        return Handled(7, answers[len(asked) - 1])

    async with consoles(tmp_path, house(), equipment=Equipment(start_game=start_game)) as here:
        browser = await executive(here)
        refused = await browser.order("start_game", round=1)
        started = await browser.order("start_game", round=1)

        assert (refused.status, refused.json["code"]) == (409, "no_sensors")
        assert (started.status, started.json["seq"]) == (200, 7)
        assert asked == [(StartGame(1, "Ida"), "operator Ida")] * 2
        assert here.events("start_game") == []


async def test_wagers_that_were_keyed_are_those_of_one_game_and_not_of_the_next(here, ida):
    await here.table.begin_shoe()
    await here.table.order(OpenBetting("Ida"))
    for seat in (2, 5):
        await here.table.order(WagerPlaced(seat))
    assert (await ida.order("end_game")).json["code"] == "not_started"
    assert progressive(here).procedure.hand.sensors == (2, 5)
    assert (await ida.order("start_game", round=1)).status == 200
    await here.table.do("draw KS 2S 3H 3S 2D")
    assert (await ida.order("end_game")).status == 200

    assert progressive(here).procedure.hand.sensors == ()


async def test_of_two_executives_at_once_neither_takes_the_others_change_back(here, ida):
    answers = await asyncio.gather(
        ida.order("change_settings", reserve="3%", reason="one", approval=BY_IVO),
        ida.order("change_settings", seed=2_000_000, reason="other", approval=BY_IVO),
    )
    after = progressive(here).books.settings

    accepted = [answer.status == 200 for answer in answers]
    assert any(accepted)
    assert (after.reserve == "3%", after.seed == 2_000_000) == tuple(accepted)


async def test_who_is_not_of_the_table_gives_nothing_that_another_signs(here, ida):
    here.account("aud", "auditor")
    auditor = await here.signed_on("aud")
    answer = await auditor.order("turn_key", to="jph", by=BY_EVE)

    assert (answer.status, answer.json["code"]) == (403, "not_of_role")
