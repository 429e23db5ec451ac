"""What the record says over HTTP: rounds, a round's inputs, a shift."""

import json
import sqlite3
import time
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from punto.baccarat.cards import Card
from punto.baccarat.table.events import (
    CardDrawn,
    CardOverdrawn,
    ClockStepped,
    ConfigurationKeypad,
    CutCardSeen,
    Flooded,
    LidMoved,
    LinkNoise,
    RecordsLost,
    ReverseMovement,
    ServiceStarted,
    ShoeEvent,
    ShoeFault,
    ShoeHello,
    ShoeLost,
)
from punto.baccarat.table.meters import every
from punto.baccarat.table.order_kinds import CallSupervisor, OpenBetting
from punto.configs.expectations import WIN, shipped
from punto.controller.engine import HouseRules
from punto.controller.journal import store
from punto.controller.journal.schema import RecordError
from punto.messages.building import timestamp
from punto.reports import shift as reports
from punto.reports.shift import MOST_LISTED, Reports
from punto.runtime.gaming_days import Calendar
from tests.baccarat.table.croupier import BANKER_NATURAL, COMMANDS, LONG, PLAYER_NATURAL, TIE, Croupier
from tests.consoles.consoles import Browser, Here, consoles
from tests.controller.table_in_this_process import edited, rows, settings


async def deal(here: Here, *hands: str, seats: int = 0) -> None:
    """These hands, one after the other, with a wager of so many seats on Player."""
    for hand in hands:
        wagers = (f"wager {seat} player 1000" for seat in range(1, seats + 1))
        await here.table.do(*wagers, f"draw {hand}")


async def opened(here: Here) -> Browser:
    here.account("Mei", "supervisor")
    browser = await here.signed_on("Mei")
    await here.table.begin_shoe()
    await here.table.order(OpenBetting("mei"))
    return browser


@pytest_asyncio.fixture
async def mei(here):
    """The browser of Mei, at a table that takes wagers."""
    return await opened(here)


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


async def test_rounds_are_read_newest_first_and_page_by_page(here, mei):
    assert (await mei.get("/api/rounds")).json == {"rounds": [], "more": False}
    await deal(here, PLAYER_NATURAL, LONG, TIE, PLAYER_NATURAL, LONG)

    assert await pages(mei, 2) == [[5, 4], [3, 2], [1]]
    assert await pages(mei, 5) == [[5, 4, 3, 2, 1]]
    last = (await mei.get("/api/rounds?limit=1")).json["rounds"][0]
    assert (last["game"], last["round"]["player"]) == ("dragon-bonus-1", ["KS", "5S", "4D"])
    assert json.loads(rows(here.record, "SELECT record FROM rounds WHERE round = 5")[0][0]) == last["round"]


async def test_a_round_has_the_entries_that_corrected_and_voided_it_on_whichever_page_it_is(here, mei):
    await deal(here, PLAYER_NATURAL, LONG, seats=1)
    swapped = {"player": PLAYER_NATURAL.split()[1::2], "banker": PLAYER_NATURAL.split()[::2]}
    await deal(here, PLAYER_NATURAL, seats=1)
    await mei.order("correct_round", round=3, reason="hands swapped", **swapped)
    await mei.order("void_round", round=3, reason="wrong shoe")
    await deal(here, LONG)

    def entries(past: dict[str, Any]) -> list[tuple[int, str]]:
        return [(each["round"]["round"], each["round"]["reason"]) for each in past["entries"]]

    own = [(4, "hands swapped"), (5, "wrong shoe")]
    for query in ("limit=10", "limit=2&before=4", "limit=2&before=5"):
        found = {
            each["round"]["round"]: entries(each)
            for each in (await mei.get(f"/api/rounds?{query}")).json["rounds"]
        }
        assert {number: each for number, each in found.items() if each} == {3: own}
    third = (await mei.get("/api/rounds/3")).json
    assert (entries(third), third["title"]) == (own, here.table.state.settings.game.title)
    assert third["titles"] == here.table.state.settings.game.titles
    assert entries((await mei.get("/api/rounds/4")).json) == []


async def test_what_the_table_shows_is_read_however_slow_the_disk_is(tmp_path, monkeypatch):
    add_steps = store.add_steps

    def late(*args: Any) -> None:
        time.sleep(0.3)
        add_steps(*args)

    monkeypatch.setattr(store, "add_steps", late)
    async with consoles(tmp_path) as here:
        browser = await opened(here)
        await deal(here, PLAYER_NATURAL)
        assert await pages(browser, 2) == [[1]]
        await deal(here, LONG)
        assert (await browser.get("/api/rounds/2")).json["round"]["round"] == 2
        await deal(here, LONG)
        assert (await browser.get("/api/shift")).json["rounds"] == {"played": 3}


async def test_a_round_is_shown_with_every_input_from_its_first_to_its_last(here, mei):
    await deal(here, PLAYER_NATURAL, LONG, seats=2)
    found = (await mei.get("/api/rounds/2")).json

    assert found["round"]["round"] == 2
    assert [each["event"]["kind"] for each in found["inputs"]] == ["set_wager"] * 2 + ["card_drawn"] * 6
    assert [each["event"]["card"] for each in found["inputs"][2:]] == LONG.split()
    assert found["inputs"][-1]["ts"] == found["ts"]
    numbers = [each["seq"] for each in found["inputs"]]
    assert numbers == list(range(here.inputs() - 7, here.inputs() + 1))
    first = (await mei.get("/api/rounds/1")).json["inputs"]
    assert (first[0]["seq"], first[0]["event"]["kind"]) == (1, "service_started")
    assert first[-1]["seq"] == numbers[0] - 1


# What is called out, hands and what goes wrong, and what the inputs of the round then tell of cards.
TOLD = [
    ("next_coup", f"draw {LONG}", 1, LONG),
    ("next_coup", "draw KS 2S, correct 2 3S, draw 9H 3S", 1, "KS 2S 3S 9H 3S"),
    ("next_coup", "draw KS 2S 9H, void", 1, "KS 2S 9H"),
    ("next_coup", "draw KS 2S, unread, key 9H, draw 3S", 1, "KS 2S 9H 3S"),
    ("next_coup", "draw KS 2S, unsure 9D, key 9H, draw 3S", 1, "KS 2S ? 9H 3S"),
    ("next_coup", "draw KS, key 9H, draw 2S 9H 3S", 1, "KS ? 2S 9H 3S"),
    ("next_coup", "draw KS 2S, unread, draw 3S, key 9H", 1, "? ? ? ?"),
    # A card drawn too soon begins the next hand, and was public in none before.
    ("next_coup", "draw KS 2S 9H, overdraw 4C, resume, draw 3S", 1, "KS 2S 9H ? 3S"),
    ("next_coup", "overdraw 4C, resume, draw 4C 5C KD", 1, "? ? ? ?"),
    # Nor does it help to have two of a kind: that one is told would say what the other was.
    ("burn", "overdraw KS, resume, draw KS 2S 9H 3S", 1, "? KS 2S 9H 3S"),
    # What was burned unseen.
    ("burn", "change shoe, draw 2S 5C 6D KS 2S 9H 3S", 1, "? ? ? KS 2S 9H 3S"),
    ("burn", f"draw {PLAYER_NATURAL}, correct round KS 9D over 2S 3S", 2, ""),
]


@pytest.mark.parametrize(("overdraw", "commands", "number", "told"), TOLD)
async def test_inputs_tell_no_card_that_the_round_does_not_show(overdraw, commands, number, told, tmp_path):
    burned = "change shoe" in commands
    own = settings(overdraw=overdraw, burn="first_card" if burned else "none")
    async with consoles(tmp_path, own) as here:
        here.account("Mei", "supervisor")
        browser = await here.signed_on("Mei")
        croupier = Croupier(overdraw=overdraw)
        croupier.table = here.table.engine.execution.table
        for command in ["hello", "change shoe", *([] if burned else ["open"]), *commands.split(", ")]:
            verb = next(verb for verb in COMMANDS if f"{command} ".startswith(f"{verb} "))
            for event in COMMANDS[verb](croupier, command.removeprefix(verb).split()):
                await here.table.engine.submit([event], "test")
        inputs = (await browser.get(f"/api/rounds/{number}")).json["inputs"]

        found = [each["event"]["card"] or "?" for each in inputs if "card" in each["event"]]
        assert " ".join(found) == told


@pytest.mark.parametrize("number", ["0", "-1", "x", "1.5", str(2**53 + 1), "9" * 400, "2"])
async def test_a_round_that_does_not_exist_is_reported_as_missing(number, here, mei):
    await deal(here, PLAYER_NATURAL)
    answer = await mei.get(f"/api/rounds/{number}")

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
async def test_what_cannot_be_asked_is_answered_with_what_can(query, mei):
    answer = await mei.get(f"/api/{query}")

    assert (answer.status, answer.json["code"]) == (422, "bad_request")
    assert answer.json["reason"].startswith(query.partition("?")[2].partition("=")[0])


async def test_a_shift_sums_up_what_was_played_and_what_went_wrong(here, mei):
    here.account("Ann", "dealer")
    await here.browser().sign_on("Ann", "incorrect horse")
    await deal(here, PLAYER_NATURAL, TIE, seats=2)
    await deal(here, "KS", seats=1)
    await mei.order("void_coup", reason="a card fell")
    await deal(here, PLAYER_NATURAL, seats=1)
    last = here.table.state.round.number - 1
    await mei.order("void_round", round=last, reason="wrong shoe")
    await mei.order("call_supervisor", reason="a dispute at seat 3")
    await here.table.shoe(ShoeFault(here.table.state.link.expected, 17, "reader window dirty"))
    shift = (await mei.get("/api/shift?hours=1")).json

    assert shift["rounds"] == {"played": 2, "void": 2, "correction": 1}
    assert shift["hands_an_hour"] is None  # so few hands in a moment tell nothing
    # Two of 10.00 won and two pushed; one went back, and one won and was taken back.
    assert shift["wagers"] == [
        {
            "wager": "player",
            "title": "Player",
            "wagers": 4,
            "staked": 4000,
            "returned": 4000 + 2000,
            "net": 2000,
        }
    ]
    assert [(each["who"], each["reason"], each["round"], each["entry"]) for each in shift["voids"]] == [
        ("Mei", "a card fell", 3, None),
        ("Mei", "wrong shoe", 4, 5),
    ]
    assert [
        (each["corrects"], each["voided"], each["who"], each["reason"], each["net"])
        for each in shift["corrections"]
    ] == [(4, True, "Mei", "wrong shoe", -1000)]
    assert [each["text"] for each in shift["devices"]] == ["the service started, version 0.1.0"]
    assert shift["raised"] == 2
    assert [(each["what"], each["who"], each["text"]) for each in shift["alarms"]] == [
        ("call", "Mei", "called a supervisor: a dispute at seat 3"),
        (
            "stop",
            None,
            "the shoe reports error 17: reader window dirty in play: a supervisor must check the shoe and resume play",
        ),
    ]
    assert [(each["who"], each["text"], each["where"]) for each in shift["access"]] == [
        ("Mei", "signed on", "127.0.0.1"),
        ("Ann", "refused sign_on: wrong_password", "127.0.0.1"),
    ]


async def shift_of(browser: Browser) -> dict[str, Any]:
    """Hands and corrections as they are counted, and what was staked and returned."""
    found = (await browser.get("/api/shift?hours=1")).json
    return {
        **found["rounds"],
        "totals": [
            (each["wagers"], each["staked"], each["returned"], each["net"]) for each in found["wagers"]
        ],
        "net on the record": sum(each["net"] for each in found["wagers"]),
    }


def happened(here: Here, now: datetime, ago: dict[str, list[int]]) -> None:
    """Let the last inputs of each kind have come so many seconds ago."""
    with edited(here.record) as record:
        for kind, seconds in ago.items():
            of_kind = f"json_extract(payload, '$.kind') = '{kind}'"
            found = record.execute(f"SELECT seq FROM inputs WHERE {of_kind} ORDER BY seq").fetchall()  # noqa: S608 - literals
            for (seq,), before in zip(found[-len(seconds) :], seconds, strict=True):
                then = timestamp(now - timedelta(seconds=before))
                record.execute("UPDATE inputs SET ts = ? WHERE seq = ?", (then, seq))


async def test_a_shift_has_how_long_play_was_stopped_and_counts_two_stops_at_a_time_once(here, mei):
    await deal(here, PLAYER_NATURAL)
    shoe = here.table.state.link.expected
    await mei.order("hold_play", reason="a break")
    await here.table.shoe(ShoeFault(shoe, 17, "reader window dirty"))
    await mei.order("resume_play", reason="checked")
    await here.table.begin_shoe()
    await mei.order("open_betting")
    await deal(here, PLAYER_NATURAL)
    await mei.order("hold_play", reason="a dispute")
    now = datetime.now(UTC)
    happened(here, now, {"hold_play": [1200, 60], "shoe_fault": [1140], "resume_play": [900]})
    shift = Reports(here.record).shift(1, now, here.table.state)

    resumed = timestamp(now - timedelta(seconds=900))
    stops = [each for each in shift.alarms if each.what == "stop"]
    assert [each.until for each in stops] == [resumed, resumed, None]
    assert (shift.stopped_seconds, shift.shoes) == (300 + 60, 2)


async def test_a_stop_that_the_shoe_ended_does_not_go_on_because_another_stop_stands(here, mei):
    await deal(here, PLAYER_NATURAL)
    next_ = expected(here)
    for decks in (6, 8):
        await here.table.shoe(ShoeHello("IS-1", 1, next_, next_, decks))
    assert here.table.state.waiting.stops == ()
    await mei.order("hold_play", reason="a dispute")
    now = datetime.now(UTC)
    happened(here, now, {"shoe_hello": [1200, 1190], "hold_play": [60]})

    shift = Reports(here.record).shift(1, now, here.table.state)

    assert [each.until for each in shift.alarms if each.what == "stop"] == [None, None]
    assert shift.stopped_seconds == 60


async def test_a_shift_has_what_the_house_took_and_paid_however_often_a_round_was_corrected(here, mei):
    await deal(here, PLAYER_NATURAL, PLAYER_NATURAL, seats=1)  # both won
    lost = {"player": PLAYER_NATURAL.split()[1::2], "banker": PLAYER_NATURAL.split()[::2]}
    found = []
    for kind, fields in (
        ("correct_round", {**lost, "reason": "hands swapped"}),
        ("void_round", {"reason": "wrong shoe"}),
    ):
        answer = await mei.order(kind, round=2, **fields)
        assert answer.status == 200, answer.json
        shift = await shift_of(mei)
        assert shift.pop("net on the record") == rows(here.record, "SELECT sum(net) FROM settlements")[0][0]
        found.append(shift)

    assert found == [
        {"played": 2, "correction": 1, "totals": [(2, 2000, 2000, 0)]},
        {"played": 1, "void": 1, "correction": 2, "totals": [(1, 1000, 2000, 1000)]},
    ]
    corrections = (await mei.get("/api/shift?hours=1")).json["corrections"]
    assert [(each["corrects"], each["voided"], each["net"]) for each in corrections] == [
        (2, False, -2000),
        (2, True, 1000),
    ]


async def test_a_shift_has_the_commission_that_was_marked_collected_and_waived_in_it(tmp_path, monkeypatch):
    monkeypatch.setattr(reports, "MOST_LISTED", 2)
    began = datetime.now(UTC) - timedelta(hours=12)  # before the shift, at any hour at which this test runs
    house = HouseRules(Calendar.of(f"{began:%H}:00"))
    async with consoles(tmp_path, settings(commission="shoe_end"), house=house) as here:
        browser = await opened(here)
        play = [f"wager {seat} banker 1000" for seat in (1, 2, 3, 5)]
        await here.table.do(*play, f"draw {BANKER_NATURAL}", "collect 5 50", "collect 1 50", "collect 2 50")
        with edited(here.record) as record:
            then = (datetime.now(UTC) - timedelta(hours=9)).isoformat(timespec="microseconds")
            record.execute('UPDATE inputs SET ts = ? WHERE payload LIKE \'%"seat":5,"amount"%\'', (then,))
        await here.table.do("wager 3 banker 500", f"draw {BANKER_NATURAL}", "void round", "waive 3 50")
        await here.table.do("wager 3 banker 500", f"draw {BANKER_NATURAL}")
        shift = (await browser.get("/api/shift?hours=8")).json

    commission = shift["commission"]
    assert commission["shift"] == {"earned": 25, "collected": 100, "waived": 50}
    assert commission["day"] == {"earned": 225, "collected": 150, "waived": 50}
    assert commission["owed"] == [{"seat": 3, "amount": 25}]
    assert [(each["seat"], each["cause"], each["amount"], each["who"]) for each in commission["cleared"]] == [
        (2, "collected", 50, "ann"),
        (3, "waived", 50, "bob"),
    ]
    assert (commission["cleared"][1]["approved_by"], commission["cleared"][1]["reason"]) == ("eve", "left")
    assert "cleared" in shift["more"]
    assert "waived the commission of seat 3: left" in [each["text"] for each in shift["alarms"]]


async def test_a_waived_commission_that_is_owed_again_is_not_listed_as_waived(tmp_path):
    async with consoles(tmp_path, settings(commission="shoe_end")) as here:
        browser = await opened(here)
        won = ("wager 3 banker 1000", f"draw {BANKER_NATURAL}")
        await here.table.do(*won, "waive 3 50", "void round")
        commission = (await browser.get("/api/shift?hours=8")).json["commission"]

    assert commission["shift"] == {"earned": 0, "collected": 0, "waived": 0}
    assert [(each["cause"], each["amount"]) for each in commission["cleared"]] == [("waived", 50)]


async def test_a_shift_says_nothing_of_commission_that_is_kept_from_each_win(here, mei):
    await deal(here, PLAYER_NATURAL, seats=1)

    assert (await mei.get("/api/shift")).json["commission"] is None


async def test_a_round_of_the_shift_before_that_is_voided_in_this_one_leaves_what_was_taken_back_in_its_totals(
    tmp_path,
):
    async with consoles(tmp_path) as here:
        browser = await opened(here)
        await deal(here, PLAYER_NATURAL, seats=1)  # won 10.00
        assert (await browser.order("void_round", round=1, reason="wrong shoe")).status == 200
        now = datetime.now(UTC)
    with edited(here.record) as record:
        then = (now - timedelta(hours=9)).isoformat(timespec="microseconds")
        record.execute("UPDATE rounds SET ts = ? WHERE round = 1", (then,))
    shift = Reports(here.record).shift(8, now, here.table.state)

    assert shift.rounds == {"void": 1, "correction": 1}
    assert [(each.wagers, each.staked, each.returned, each.net) for each in shift.wagers] == [
        (0, 0, -1000, -1000)
    ]
    assert [(each.round, each.entry) for each in shift.voids] == [(1, 2)]


async def test_a_shift_has_the_meters_of_its_hands_beside_those_of_the_tables_life_and_the_expectations(
    tmp_path,
):
    async with consoles(tmp_path) as here:
        browser = await opened(here)
        await deal(here, TIE, PLAYER_NATURAL, seats=1)
        await deal(here, PLAYER_NATURAL, LONG, TIE, seats=2)
        with edited(here.record) as record:
            then = (datetime.now(UTC) - timedelta(hours=9)).isoformat(timespec="microseconds")
            record.execute("UPDATE rounds SET ts = ? WHERE round <= 2", (then,))
        (meters,) = (await browser.get("/api/shift?hours=8")).json["meters"]

    game = here.table.state.settings.game
    assert (meters["game"], meters["title"], meters["rules"]) == (game.name, game.title, game.rules_digest)
    for part, hands, ties, drop in (("shift", 3, 1, 6000), ("lifetime", 5, 2, 8000)):
        found = meters[part]
        counts = {(each["wager"], each["rule"]): each for each in found["counts"]}
        (player,) = found["wagers"]
        expected = {key: pytest.approx(hands * shipped(game)[key].mean, rel=1e-8) for key in every(game)}

        assert found["hands"] == hands
        assert counts[None, "tie"]["hits"] == counts["tie", "tie"]["hits"] == ties
        assert {key: each["expected"] for key, each in counts.items()} == expected
        assert (player["handle"], player["expected"]) == (
            drop,
            pytest.approx(drop * shipped(game)["player", WIN].mean, rel=1e-8),
        )
        assert (
            player["win"] == {"shift": -4000, "lifetime": -5000}[part]
        )  # a tie pushes, Player won the others


async def test_a_shift_has_each_game_that_was_played_in_it_by_its_rules(here, mei):
    await deal(here, TIE)
    for game, hands in (("mini-baccarat", 2), ("dragon-bonus-1", 3)):
        await mei.order("close_table")
        assert (await mei.order("change_game", game=game)).status == 200
        await here.table.begin_shoe()
        await deal(here, *[PLAYER_NATURAL] * hands)
    meters = (await mei.get("/api/shift?hours=8")).json["meters"]

    assert [(each["game"], each["shift"]["hands"], each["lifetime"]["hands"]) for each in meters] == [
        ("dragon-bonus-1", 4, 4),
        ("mini-baccarat", 2, 2),
    ]


async def test_a_shift_without_a_hand_has_the_last_games_meters_and_a_new_table_no_meters(here, mei):
    assert (await mei.get("/api/shift")).json["meters"] == []
    await deal(here, TIE)
    with edited(here.record) as record:
        record.execute("UPDATE rounds SET ts = '2026-01-01T00:00:00.000000+00:00'")
    (meters,) = (await mei.get("/api/shift")).json["meters"]

    assert (meters["shift"]["hands"], meters["lifetime"]["hands"]) == (0, 1)


async def test_a_card_corrected_before_settlement_is_among_the_shifts_corrections(here, mei):
    await here.table.do("draw KS")
    await mei.order("correct_card", position=1, card="QS", reason="misread")
    await mei.order("void_coup", reason="a card fell")
    shift = (await mei.get("/api/shift?hours=1")).json

    assert [
        (each["round"], each["corrects"], each["who"], each["reason"]) for each in shift["corrections"]
    ] == [(1, None, "Mei", "misread")]


async def test_a_shift_begins_where_the_house_has_it_begin(tmp_path):
    async with consoles(tmp_path) as here:
        await opened(here)
        await deal(here, *[PLAYER_NATURAL] * 5)
        now = datetime.now(UTC)
    hours_ago = {1: 30, 2: 9, 3: 7, 4: 2, 5: 0}
    with edited(here.record) as record:
        for number, hours in hours_ago.items():
            then = (now - timedelta(hours=hours)).isoformat(timespec="microseconds")
            record.execute("UPDATE rounds SET ts = ? WHERE round = ?", (then, number))
    read = Reports(here.record)

    assert [
        read.shift(hours, now, here.table.state).rounds.get("played", 0) for hours in (1, 3, 8, 24, 48)
    ] == [
        1,
        2,
        3,
        4,
        5,
    ]


_LAST_START = "SELECT max(seq) FROM inputs WHERE json_extract(payload, '$.kind') = 'service_started'"


@pytest.mark.parametrize(
    ("dealt", "steps", "played"),
    [
        (11, {}, 0),
        (11, {4: 10}, 3),  # the clock was ten hours behind, and was set after hand 3
        (11, {4: 2}, 0),  # it was two hours behind, so the hands are nine hours old
        (11, {2: -10, 4: 10}, 2),  # a right clock was set back after hand 1, and right again after hand 3
        (
            11,
            {2: "start", 4: 10},
            2,
        ),  # the PC was off after hand 1, and started with the time of its shutdown
        (
            11,
            {2: -10, 4: "start"},
            2,
        ),  # it was set back after hand 1, and right again while the service was off
        (7, {2: -10, 4: "start"}, 3),
        (
            9,
            {2: -10, 4: "start"},
            0,
        ),  # it was ahead, and set right: the service was off for less than ten hours
        (7, {4: -10}, 3),  # it was ahead: how old the hands are is not sure, so they are in the report
    ],
)
async def test_a_shift_has_the_hands_that_were_dealt_while_the_clock_was_behind(
    tmp_path, dealt, steps, played
):
    async with consoles(tmp_path) as here:
        await opened(here)
        for number in range(1, 5):
            if (step := steps.get(number)) is not None:
                was = datetime.now(UTC)
                happened = (
                    ServiceStarted("0.1.0", here.table.state.settings)
                    if step == "start"
                    else ClockStepped(timestamp(was), timestamp(was + timedelta(hours=step)))
                )
                await here.table.engine.submit([happened], "service")
            if number < 4:
                await deal(here, PLAYER_NATURAL)
        now = datetime.now(UTC)
    with edited(here.record) as record:
        then = timestamp(now - timedelta(hours=dealt))
        record.execute("UPDATE rounds SET ts = ?", (then,))
        record.execute(f"UPDATE inputs SET ts = ? WHERE seq < ({_LAST_START})", (then,))  # noqa: S608 - a literal
    shift = Reports(here.record).shift(8, now, here.table.state)

    assert shift.rounds.get("played", 0) == played
    age = min(dealt, 8)
    assert shift.hands_an_hour == (None if played == 0 else round(played / age, 1))


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
    read = Reports(here.record)

    assert read.hands_an_hour(now) == 18.0
    assert read.hands_an_hour(now + timedelta(hours=2)) is None


async def test_a_record_that_cannot_be_read_gives_no_report(tmp_path):
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


# --- what was out of the ordinary


async def alarms_of(here: Here, browser: Browser) -> list[tuple[str, str | None, str]]:
    """The alarms of the shift, and what else was noted but the service's start: code, who and text."""
    shift = (await browser.get("/api/shift?hours=1")).json
    found = [each for name in ("alarms", "refused", "devices") for each in shift[name]]
    found.sort(key=lambda each: each["seq"])
    return [(each["kind"], each["who"], each["text"]) for each in found if each["kind"] != "service_started"]


async def seen(here: Here, *events: ShoeEvent) -> None:
    for event in events:
        await here.table.shoe(event)


def expected(here: Here) -> int:
    return here.table.state.link.expected


async def test_an_order_that_was_refused_is_reported_as_refused(here, mei):
    orders: dict[str, dict[str, Any]] = {
        "resume_play": {"reason": "seen to"},
        "acknowledge_alarm": {"number": 7},
        "accept_shoe": {"serial": "IS-9"},
        "accept_device": {"serial": "KP-9"},
    }
    reasons = [(await mei.order(kind, **fields)).json["reason"] for kind, fields in orders.items()]
    await seen(here, ReverseMovement(expected(here)))
    assert (await mei.order("resume_play", reason="seen to")).status == 200

    told = await alarms_of(here, mei)
    assert told[:4] == [
        (kind, "Mei", f"refused: {reason}") for kind, reason in zip(orders, reasons, strict=True)
    ]
    assert told[4][:2] == ("reverse_movement", None)
    assert told[5:] == [("resume_play", "Mei", "resumed play: seen to")]


@pytest.mark.parametrize(
    ("events", "kind", "text"),
    [
        ([LidMoved(0, open=True)], "lid_open", "the shoe's lid was opened in play"),
        ([CardDrawn(0, Card("KS"), 99)] * 9, "surplus_copy", "the shoe read a card although all copies of this card"),
        ([CardOverdrawn(0, Card("KS"), 99)], "overdraw", "a card left the shoe although the table needed no card"),
        ([RecordsLost(0, 0)], "records_lost", "records 1 to 3 of the shoe never arrived"),
        ([LinkNoise(40, 10)], "link_noise", "40 broken frames in 10 s"),
        ([ShoeLost("no sign of life")], "shoe_lost", "the shoe was lost: no sign of life"),
        (
            [ShoeHello("IS-2", 1, 1, 2, 8), CardDrawn(0, Card("KS"), 99)],
            "shoe_not_accepted",
            "the connected shoe is IS-2, but the cards in play are from the shoe IS-1: a supervisor must accept",
        ),
        (
            [ConfigurationKeypad(attached=True, path="/dev/keypad")],
            "configuration_keypad",
            "the score display's configuration keypad is plugged in at /dev/keypad while a shoe is in use",
        ),
        ([CutCardSeen(0)], None, ""),
    ],
    ids=str,
)  # fmt: skip
async def test_every_alarm_that_the_table_raised_is_in_the_shift(events, kind, text, here, mei):
    for event in events:
        here_and_now = {"record": expected(here)} if getattr(event, "record", None) == 0 else {}
        if isinstance(event, RecordsLost):
            here_and_now = {"first": expected(here), "last": expected(here) + 2}
        await here.table.engine.submit([replace(event, **here_and_now)], "shoe")

    told = await alarms_of(here, mei)
    raised = [(each[0], each[2]) for each in told]
    if kind is None:
        assert raised == []
        return
    assert [code for code, _ in raised] == [kind] * len(raised)
    assert raised[0][1].startswith(text)
    if kind == "shoe_not_accepted":
        assert raised.pop()[1].endswith("came from a shoe that is not accepted")
    assert len(raised) == 1


async def test_what_happens_outside_play_is_in_the_shift_too(here, mei):
    await mei.order("close_table")
    await seen(here, LidMoved(expected(here), open=True), CardDrawn(expected(here) + 1, Card("KS"), 99))
    await here.table.order(ConfigurationKeypad(attached=True, path="/dev/keypad"))
    await here.table.order(ConfigurationKeypad(attached=False, path="/dev/keypad"))
    await seen(here, LidMoved(expected(here), open=False))

    assert [(kind, text) for kind, _, text in await alarms_of(here, mei)] == [
        ("lid_moved", "the shoe's lid was opened"),
        ("card_outside_play", "a card left the shoe while no hand could use a card (phase closed)"),
        ("configuration_keypad", "the configuration keypad was plugged in"),
        ("configuration_keypad", "the configuration keypad was unplugged"),
    ]


async def test_a_lid_that_is_opened_between_two_shoes_is_no_alarm(here, mei):
    await mei.order("close_table")
    for is_open in (True, False):
        await seen(here, LidMoved(expected(here), open=is_open))
    shift = (await mei.get("/api/shift")).json

    assert (shift["raised"], shift["alarms"]) == (0, [])
    assert [each["text"] for each in shift["devices"][1:]] == [
        "the shoe's lid was opened",
    ]


async def test_a_call_whose_reason_followed_is_one_call_and_a_call_after_it_another(here, mei):
    for reason in ({}, {"reason": "a dispute"}, {"reason": "another dispute"}, {}):
        assert (await mei.order("call_supervisor", **reason)).status == 200
    (*_, number) = [each.number for each in here.table.state.alarms]
    await mei.order("acknowledge_alarm", number=number)
    await mei.order("call_supervisor", reason="once more")
    shift = (await mei.get("/api/shift")).json

    assert [(each["what"], each["text"].partition(": ")[2]) for each in shift["alarms"]] == [
        ("call", "a dispute"),
        ("call", "another dispute"),
        ("call", "A supervisor is called"),
        ("order", ""),
        ("call", "once more"),
    ]
    assert shift["raised"] == 4


async def test_a_shoe_that_was_unplugged_is_lost_once_however_often_the_driver_tries_again(here, mei):
    hello = ShoeHello("IS-1", expected(here), 1, expected(here), 8)
    unplugged = ("the line was lost: Input/output error", "there is no /dev/shoe")
    await seen(here, *map(ShoeLost, unplugged), hello, *map(ShoeLost, unplugged))
    shift = (await mei.get("/api/shift")).json

    lost = f"the shoe was lost: {unplugged[0]}"
    assert [each["text"] for each in shift["devices"][1:]] == [lost, lost]


async def test_a_hold_is_one_stop_with_the_person_who_held_play(here, mei):
    await mei.order("hold_play", reason="the last hand is disputed")
    shift = (await mei.get("/api/shift")).json

    assert shift["raised"] == 1
    assert [(each["what"], each["who"], each["text"]) for each in shift["alarms"]] == [
        ("stop", "Mei", "held play: the last hand is disputed")
    ]


async def keyed(browser: Browser) -> list[tuple[int | None, int | None, str, str | None]]:
    """The keyed cards of the shift: round, number in the coup, why, and who."""
    found = (await browser.get("/api/shift")).json["keyed"]
    return [(each["round"], each["position"], each["why"], each["who"]) for each in found]


async def test_a_card_that_had_to_be_keyed_is_in_the_shift_with_its_hand_the_reason_and_who_keyed_it(
    here, mei
):
    await deal(here, PLAYER_NATURAL)
    await here.table.do("draw KS 2S", "unread")
    assert (await mei.order("key_card", card="9H", position=3)).status == 200
    await here.table.do("unsure 9D")
    assert (await mei.order("key_card", card="3S", position=6)).status == 409  # refused, so not keyed
    await mei.order("void_coup", reason="a card fell")
    await here.table.do("draw KS 2S")
    await seen(here, ShoeLost("no sign of life"))
    assert (await mei.order("key_card", card="9H")).status == 200

    assert await keyed(mei) == [
        (2, 3, "the shoe could not read the card: key the card", "Mei"),
        (2, None, "the shoe is only 60% sure of the card, but the table requires 90%: key the card", None),
        (3, None, "the shoe was offline", "Mei"),
    ]


async def test_at_a_table_whose_cards_are_all_keyed_no_card_had_to_be(tmp_path):
    async with consoles(tmp_path, settings(cards="keyed")) as here:
        browser = await opened(here)
        for number, card in enumerate(PLAYER_NATURAL.split(), 1):
            assert (await browser.order("key_card", card=card, position=number)).status == 200

        assert await keyed(browser) == []


async def test_a_lock_out_is_an_alarm_of_the_shift_whose_name_is_among_the_sign_ons(tmp_path):
    async with consoles(tmp_path, lock_out_after=1) as here:
        browser = await opened(here)
        here.account("Ann", "dealer")
        await here.browser().sign_on("Ann", "incorrect horse")
        shift = (await browser.get("/api/shift")).json

        assert [kind for kind, *_ in await alarms_of(here, browser)] == ["locked_out"]
        assert (shift["access"][-1]["who"], shift["access"][-1]["text"]) == (
            "Ann",
            "refused sign_on: locked_out",
        )


# --- how much is told


async def test_a_round_with_more_inputs_than_are_shown_says_how_many_more(tmp_path, monkeypatch):
    monkeypatch.setattr(reports, "MOST_LISTED", 5)
    async with consoles(tmp_path) as here:
        browser = await opened(here)
        for _ in range(4):
            await browser.order("call_supervisor", reason="a dispute")
        before = here.inputs()
        await deal(here, PLAYER_NATURAL)
        found = (await browser.get("/api/rounds/1")).json

        assert [each["event"]["kind"] for each in found["inputs"]] == ["call_supervisor", *["card_drawn"] * 4]
        assert found["earlier"] == before - 1
        await deal(here, PLAYER_NATURAL)
        assert (await browser.get("/api/rounds/2")).json["earlier"] == 0


async def test_a_list_of_a_shift_with_more_entries_than_are_shown_says_so(here, mei):
    await here.table.engine.submit([CallSupervisor("mei", str(n)) for n in range(MOST_LISTED - 1)], "test")
    all_told = (await mei.get("/api/shift")).json
    await here.table.order(CallSupervisor("mei", "the last"))
    shift = (await mei.get("/api/shift")).json

    assert (len(all_told["alarms"]), all_told["more"]) == (MOST_LISTED - 1, [])
    # The service's start is no longer among the last inputs that are looked at.
    assert (len(shift["alarms"]), shift["more"]) == (MOST_LISTED, ["alarms", "refused", "devices"])
    assert shift["alarms"][-1]["text"] == "called a supervisor: the last"


async def test_a_flood_is_an_alarm_of_the_shift_whose_account_is_named_there_alone(here):
    here.account("Bob", "supervisor")
    browser = await here.signed_on("Bob")
    await here.table.engine.submit([Flooded("account Mei", 1400, 10)], "service")

    assert [(kind, who) for kind, who, _ in await alarms_of(here, browser)] == [("flood", "account Mei")]
    assert "Mei" not in (await browser.get("/api/table")).text
