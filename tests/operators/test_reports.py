"""What the record says over HTTP: rounds, a round's inputs, a shift."""

import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from controller.baccarat.cards import Card
from controller.journal.store import RecordError
from controller.operators.reports import Reports
from controller.table.events import CardDrawn, OpenBetting, SetWager, ShoeFault
from tests.operators.consoles import Browser, Here, consoles
from tests.service.table_in_this_process import edited, rows
from tests.table.croupier import LONG, PLAYER_NATURAL, TIE


async def deal(here: Here, *hands: str, seats: int = 0) -> None:
    """These hands, one after the other, with a wager of so many seats on Player."""
    for hand in hands:
        for seat in range(1, seats + 1):
            await here.table.order(SetWager("w", seat, "player", 1000, here.table.state.round))
        for code in hand.split():
            await here.table.shoe(CardDrawn(here.table.state.link.expected, Card(code), 99))


async def opened(here: Here) -> Browser:
    here.account("Mei", "supervisor")
    browser = await here.signed_on("Mei")
    await here.table.begin_shoe()
    await here.table.order(OpenBetting("mei"))
    return browser


async def pages(browser: Browser, limit: int) -> list[list[int]]:
    """The numbers of all rounds, page by page."""
    found: list[list[int]] = []
    query = f"limit={limit}"
    while True:
        page = (await browser.get(f"/api/rounds?{query}")).json
        found.append([each["round"]["round"] for each in page["rounds"]])
        if not page["more"]:
            return found
        query = f"limit={limit}&before={found[-1][-1]}"


async def test_rounds_are_read_newest_first_and_page_by_page(tmp_path):
    async with consoles(tmp_path) as here:
        browser = await opened(here)
        assert (await browser.get("/api/rounds")).json == {"rounds": [], "more": False}
        await deal(here, PLAYER_NATURAL, LONG, TIE, PLAYER_NATURAL, LONG)

        assert await pages(browser, 2) == [[5, 4], [3, 2], [1]]
        assert await pages(browser, 5) == [[5, 4, 3, 2, 1]]
        last = (await browser.get("/api/rounds?limit=1")).json["rounds"][0]
        assert (last["game"], last["round"]["player"]) == ("dragon-bonus-1", ["KS", "5S", "4D"])
        assert (
            json.loads(rows(here.record, "SELECT record FROM rounds WHERE round = 5")[0][0]) == last["round"]
        )


async def test_a_round_is_shown_with_every_input_from_its_first_to_its_last(tmp_path):
    async with consoles(tmp_path) as here:
        browser = await opened(here)
        await deal(here, PLAYER_NATURAL, LONG, seats=2)
        found = (await browser.get("/api/rounds/2")).json

        assert found["round"]["round"] == 2
        assert [each["event"]["kind"] for each in found["inputs"]] == ["set_wager"] * 2 + ["card_drawn"] * 6
        assert [each["event"]["card"] for each in found["inputs"][2:]] == LONG.split()
        assert found["inputs"][-1]["ts"] == found["ts"]
        numbers = [each["seq"] for each in found["inputs"]]
        assert numbers == list(range(here.inputs() - 7, here.inputs() + 1))
        first = (await browser.get("/api/rounds/1")).json["inputs"]
        assert (first[0]["seq"], first[0]["event"]["kind"]) == (1, "service_started")
        assert first[-1]["seq"] == numbers[0] - 1


@pytest.mark.parametrize("number", ["0", "-1", "x", "1.5", str(2**53 + 1), "9" * 400, "2"])
async def test_a_round_that_is_none_is_said_to_be_none(number, tmp_path):
    async with consoles(tmp_path) as here:
        browser = await opened(here)
        await deal(here, PLAYER_NATURAL)
        answer = await browser.get(f"/api/rounds/{number}")

        assert answer.status == (404 if number == "2" else 422)
        assert answer.json["reason"]


@pytest.mark.parametrize(
    "query",
    [
        "rounds?limit=0",
        "rounds?limit=101",
        "rounds?before=0",
        "rounds?before=x",
        "shift?hours=0",
        "shift?hours=169",
    ],
)
async def test_what_cannot_be_asked_is_answered_with_what_can(query, tmp_path):
    async with consoles(tmp_path) as here:
        browser = await opened(here)
        answer = await browser.get(f"/api/{query}")

        assert (answer.status, answer.json["code"]) == (422, "bad_request")
        assert answer.json["reason"].startswith(query.partition("?")[2].partition("=")[0])


async def test_a_shift_sums_up_what_was_played_and_what_went_wrong(tmp_path):
    async with consoles(tmp_path) as here:
        browser = await opened(here)
        here.account("Ann", "dealer")
        await here.browser().sign_on("Ann", "incorrect horse")
        await deal(here, PLAYER_NATURAL, TIE, seats=2)
        await deal(here, "KS", seats=1)
        await browser.order("void_coup", reason="a card fell")
        await deal(here, PLAYER_NATURAL, seats=1)
        last = here.table.state.round - 1
        await browser.order("void_round", round=last, reason="wrong shoe")
        await browser.order("call_supervisor", reason="a dispute at seat 3")
        await here.table.shoe(ShoeFault(here.table.state.link.expected, 17, "reader window dirty"))
        shift = (await browser.get("/api/shift?hours=1")).json

        assert shift["rounds"] == {"played": 3, "void": 1, "correction": 1}
        assert shift["hands_an_hour"] > 0
        # Two of 10.00 won, two pushed, one went back, and one won and was taken back.
        assert shift["wagers"] == [
            {
                "wager": "player",
                "wagers": 6,
                "staked": 6000,
                "returned": 4000 + 2000 + 1000 + 1000,
                "net": 2000,
            }
        ]
        assert [(each["who"], each["reason"], each["round"]) for each in shift["voids"]] == [
            ("Mei", "a card fell", 3)
        ]
        assert [
            (each["corrects"], each["who"], each["reason"], each["net"]) for each in shift["corrections"]
        ] == [(4, "Mei", "wrong shoe", -1000)]
        assert [(each["who"], each["text"]) for each in shift["alarms"]] == [
            (None, "the service started, version 0.1.0"),
            ("Mei", "called a supervisor: a dispute at seat 3"),
            (None, "the shoe reported error 17: reader window dirty"),
        ]
        assert [(each["who"], each["text"], each["where"]) for each in shift["access"]] == [
            ("Mei", "signed on", "127.0.0.1"),
            ("Ann", "refused sign_on: wrong_password", "127.0.0.1"),
        ]


async def test_a_card_corrected_before_settlement_is_among_the_shifts_corrections(tmp_path):
    async with consoles(tmp_path) as here:
        browser = await opened(here)
        await here.table.shoe(CardDrawn(here.table.state.link.expected, Card("KS"), 99))
        await browser.order("correct_card", position=1, card="QS", reason="misread")
        await browser.order("void_coup", reason="a card fell")
        shift = (await browser.get("/api/shift?hours=1")).json

        assert [
            (each["round"], each["corrects"], each["who"], each["reason"]) for each in shift["corrections"]
        ] == [(1, None, "Mei", "misread")]


async def test_a_shift_begins_where_it_is_said_to(tmp_path):
    async with consoles(tmp_path) as here:
        await opened(here)
        await deal(here, *[PLAYER_NATURAL] * 5)
        now = datetime.now(UTC)
    hours_ago = {1: 30, 2: 9, 3: 7, 4: 2, 5: 0}
    with edited(here.record) as record:
        for number, hours in hours_ago.items():
            then = (now - timedelta(hours=hours)).isoformat(timespec="microseconds")
            record.execute("UPDATE rounds SET ts = ? WHERE round = ?", (then, number))
    reports = Reports(here.record)

    assert [reports.shift(hours, now).rounds.get("played", 0) for hours in (1, 3, 8, 24, 48)] == [
        1,
        2,
        3,
        4,
        5,
    ]


async def test_the_pace_is_that_of_the_last_hour(tmp_path):
    async with consoles(tmp_path) as here:
        await opened(here)
        await deal(here, *[PLAYER_NATURAL] * 8)
    now = datetime.now(UTC)
    with edited(here.record) as record:
        for number in range(1, 9):
            minutes = 200 if number <= 2 else 2 * (8 - number) + 10
            then = (now - timedelta(minutes=minutes)).isoformat(timespec="microseconds")
            record.execute("UPDATE rounds SET ts = ? WHERE round = ?", (then, number))
    reports = Reports(here.record)

    assert reports.hands_an_hour(now) == 18.0
    assert reports.hands_an_hour(now + timedelta(hours=2)) is None


async def test_a_record_that_cannot_be_read_is_no_report(tmp_path):
    (tmp_path / "table.db").write_bytes(b"no record" * 1000)

    with pytest.raises(RecordError):
        Reports(tmp_path / "table.db").rounds(None, 10)


def damage(record: Path, table: str) -> None:
    with closing(sqlite3.connect(record)) as database:
        database.execute(f"ALTER TABLE {table} RENAME TO elsewhere")


async def failing(folder: Path, table: str, method: str, path: str, body: Any = None) -> None:
    """Ask for something at a table whose record is damaged meanwhile, and wait for the consoles to end."""
    async with consoles(folder) as here:
        browser = await opened(here)
        damage(here.record, table)
        assert (await browser.ask(method, path, body)).status == 500
        await here.console_has_ended()


async def test_a_damaged_record_ends_the_service_and_is_not_just_an_answer(tmp_path):
    with pytest.raises(RecordError, match="the record cannot be read"):
        await failing(tmp_path, "settlements", "GET", "/api/shift")


async def test_an_order_that_cannot_be_recorded_ends_the_service(tmp_path):
    call = {"order": "call_supervisor", "reason": "a dispute"}
    with pytest.raises(RecordError, match="could not be written"):
        await failing(tmp_path, "inputs", "POST", "/api/orders", call)


async def test_a_refusal_that_cannot_be_recorded_ends_the_service(tmp_path):
    guess = {"name": "Mei", "password": "incorrect horse"}
    with pytest.raises(RecordError, match="could not be written"):
        await failing(tmp_path, "inputs", "POST", "/api/session", guess)
