"""The law of the board: live while the last new state is younger than it said, by one clock."""

import json
from datetime import datetime, timedelta

import pytest

from punto.displays.board import (
    LIVE,
    LOST,
    NO_BROKER,
    NO_METER,
    NO_PROGRESSIVE,
    NO_STATE,
    OFFLINE,
    PROGRESSIVE,
    PROGRESSIVE_LIVE,
    REFUSED,
    SITUATIONS,
    STOPPED,
    TWO_TABLES,
    Board,
    follow,
)
from punto.messages.building import timestamp
from punto.messages.models import State
from tests.displays.meters import Meter
from tests.displays.played import PlayedTable, availability


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def board(clock):
    return Board("table-1", clock)


@pytest.fixture
def table():
    return PlayedTable()


def holding(state: State, seconds: float) -> State:
    """The same state, saying that it holds good for so long."""
    until = datetime.fromisoformat(state.ts) + timedelta(seconds=seconds)
    return state.model_copy(update={"valid_until": timestamp(until)})


def test_a_board_that_has_heard_nothing_is_not_live(board):
    assert board.live_seconds == 0
    assert board.reason == NO_BROKER

    board.connected()

    assert board.live_seconds == 0
    assert board.reason == NO_STATE


@pytest.mark.parametrize(
    ("says", "believed"), [(2.5, 2.5), (1.0, 1.0), (3600, 2.5), (0, 0), (-5, 0)], ids=str
)
def test_a_new_state_is_believed_as_long_as_it_says_but_never_longer_than_the_display_promises(
    board, clock, table, says, believed
):
    board.take(holding(table.state(), says), retained=False)

    assert board.live_seconds == believed

    clock.now += believed

    assert board.live_seconds == 0


def test_a_state_that_the_broker_had_kept_makes_nothing_live(board, table):
    board.take(table.state(), retained=True)

    assert board.live_seconds == 0


def test_the_same_state_again_is_not_new(board, clock, table):
    state = table.state()
    board.take(state, retained=False)
    clock.now += 2
    board.take(state, retained=False)

    assert board.live_seconds == pytest.approx(0.5)


def test_only_states_make_the_board_live(board, table):
    board.take(table.scoreboard(), retained=False)
    board.take(availability("online", "started"), retained=False)

    assert board.live_seconds == 0


def test_offline_ends_it_at_once_with_the_reason_and_a_state_after_it_is_believed_again(board, table):
    board.take(table.state(), retained=False)
    board.take(availability("offline", "the table PC is being restarted"), retained=False)

    assert board.live_seconds == 0
    assert board.reason == "The table is offline: the table PC is being restarted"

    board.take(table.state(), retained=False)

    assert board.live_seconds == 2.5


@pytest.mark.parametrize(
    ("cause", "reason", "situation"),
    [("stopped", STOPPED, "stopped"), ("lost", LOST, "lost"), ("failed", "The table is offline: full", "offline")],
)  # fmt: skip
def test_a_table_that_was_offline_before_the_display_came_is_shown_since_it_was_last_seen(
    board, table, cause, reason, situation
):
    """Its service may run since and be refused by the broker, so nobody is told that it does not."""
    seen = table.state()
    board.connected()
    board.take(availability("offline", "full", cause), retained=True)
    board.take(seen, retained=True)

    assert (board.reason, board.situation, board.seen) == (reason, situation, seen.ts)
    code = SITUATIONS.get(reason, OFFLINE)[1]
    live = {"milliseconds": 0, "reason": reason, "code": code, "seen": seen.ts}
    assert json.loads(board.json(LIVE)) == live


async def test_a_page_that_came_before_what_the_broker_had_kept_is_told_when_the_table_was_last_seen(
    board, table
):
    news = follow(board)
    await anext(news)
    board.take(availability("offline", "full", "stopped"), retained=True)
    assert (await anext(news))[1] == LIVE

    board.take(table.state(), retained=True)

    assert [(await anext(news))[1] for _ in range(2)] == ["state", LIVE]


def test_a_display_of_two_tables_with_one_id_shows_neither_until_one_is_left(board, table):
    """Their messages come in turn, and nobody knows which of them is the table."""
    board.take(table.state(), retained=False)
    before = board.state
    board.take(availability("online", "running", other_record="bb"), retained=False)
    table.play(1)
    for message in (table.state(), table.scoreboard(), Meter().message()):
        board.take(message, retained=False)

    assert (board.reason, board.situation, board.live_seconds) == (TWO_TABLES, "two_tables", 0)
    assert (board.state, board.scoreboard, board.progressive) == (before, None, None)

    board.take(availability("offline", "the service was stopped", "stopped"), retained=False)
    assert board.reason == STOPPED
    board.take(table.state(), retained=False)
    assert board.situation == "live"


def test_a_board_reports_whether_it_is_live_or_why_it_is_not(board, clock, table):
    situations = [board.situation]
    board.disconnected(REFUSED)
    situations.append(board.situation)
    board.connected()
    situations.append(board.situation)
    board.take(table.state(), retained=False)
    situations.append(board.situation)
    clock.now += 3
    situations.append(board.situation)

    assert situations == ["no_broker", "refused", "silent", "live", "silent"]


def test_losing_the_broker_ends_it_at_once(board, table):
    board.take(table.state(), retained=False)
    board.disconnected()

    assert board.live_seconds == 0
    assert board.reason == NO_BROKER


def test_a_state_with_an_invalid_time_is_not_kept(board, table):
    state = table.state().model_copy(update={"ts": "2026-13-45T00:00:00.000000+00:00"})

    with pytest.raises(ValueError, match="month"):
        board.take(state, retained=False)
    assert board.live_seconds == 0


async def test_a_browser_gets_the_latest_of_everything_and_then_each_change_live_last(board, clock, table):
    board.take(table.state(), retained=False)
    board.take(table.scoreboard(), retained=False)
    clock.now += 1
    news = follow(board)

    assert [await anext(news) for _ in range(3)] == [(board, "state"), (board, "scoreboard"), (board, LIVE)]
    live = {"milliseconds": 1500, "reason": NO_STATE, "code": 11, "seen": board.seen}
    assert json.loads(board.json(LIVE)) == live

    table.play(1)
    state = table.state()
    board.take(state, retained=False)

    assert [await anext(news) for _ in range(2)] == [(board, "state"), (board, LIVE)]
    assert board.json("state") == state.wire().decode()
    assert json.loads(board.json(LIVE))["milliseconds"] == 2500


async def test_a_slow_browser_gets_the_latest_and_nothing_is_queued_for_it(board, table):
    news = follow(board)
    await anext(news)
    for _ in range(50):
        table.play(1)
        board.take(table.state(), retained=False)
        board.take(table.scoreboard(), retained=False)

    assert [await anext(news) for _ in range(3)] == [(board, "state"), (board, LIVE), (board, "scoreboard")]
    assert json.loads(board.json("state"))["round"] == 51

    board.close()
    assert [name async for _, name in news] == []


async def test_who_follows_several_tables_hears_of_each_and_of_one_that_never_speaks_that_it_is_not_live(
    board, clock, table
):
    silent = Board("table-2", clock)
    news = follow(board, silent)
    assert [await anext(news) for _ in range(2)] == [(board, LIVE), (silent, LIVE)]

    for each in (board, silent):
        each.connected()
    board.take(table.state(), retained=False)

    assert [await anext(news) for _ in range(3)] == [(silent, LIVE), (board, "state"), (board, LIVE)]
    live = {"milliseconds": 0, "reason": NO_STATE, "code": 11, "seen": None}
    assert json.loads(silent.json(LIVE)) == live


# --- the progressive


async def told(board: Board) -> dict[str, object]:
    """What whoever comes now is told of the board, by name."""
    news = follow(board)
    last = LIVE if board.progressive is None else PROGRESSIVE_LIVE
    seen: dict[str, object] = {}
    while last not in seen:
        _, name = await anext(news)
        seen[name] = json.loads(board.json(name))
    return seen


async def test_a_table_without_a_progressive_tells_nothing_of_one(board, table):
    board.connected()
    board.take(table.state(), retained=False)

    assert (await told(board)).keys() == {"state", LIVE}


async def test_a_meter_is_live_by_itself_as_long_as_it_says(board, clock):
    board.connected()
    message = Meter().message()
    board.take(message, retained=False)

    assert (board.live_seconds, board.meter_live_seconds) == (0, 2.5)
    assert await told(board) == {
        PROGRESSIVE: json.loads(message.wire()),
        LIVE: {"milliseconds": 0, "reason": NO_STATE, "code": 11, "seen": None},
        PROGRESSIVE_LIVE: {"milliseconds": 2500, "reason": NO_METER, "code": 16, "seen": message.ts},
    }

    clock.now += 2.5

    assert board.meter_live_seconds == 0


def test_a_meter_that_the_broker_had_kept_or_that_comes_again_makes_nothing_live(board, clock):
    message = Meter().message()
    board.take(message, retained=True)

    assert board.progressive == message
    assert board.meter_live_seconds == 0

    board.take(Meter(1).message(), retained=False)
    again = board.progressive
    clock.now += 2
    board.take(again, retained=False)

    assert board.meter_live_seconds == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("ending", "reason"),
    [
        (
            lambda board: board.take(availability("offline", "off"), retained=False),
            "The table is offline: off",
        ),
        (Board.disconnected, NO_BROKER),
        (Board.connected, NO_METER),
        (lambda board: board.retract("dragon"), NO_PROGRESSIVE),
    ],
    ids=["offline", "broker away", "broker back", "retracted"],
)
async def test_what_ends_a_meter_ends_it_at_once_and_says_why(board, ending, reason):
    message = Meter().message()
    board.take(message, retained=False)
    news = follow(board)
    for _ in range(3):
        await anext(news)
    ending(board)

    heard = [(await anext(news))[1]]
    while heard[-1] != PROGRESSIVE_LIVE:
        heard.append((await anext(news))[1])
    seen = None if reason == NO_PROGRESSIVE else message.ts
    code = SITUATIONS.get(reason, OFFLINE)[1]
    live = {"milliseconds": 0, "reason": reason, "code": code, "seen": seen}
    assert json.loads(board.json(PROGRESSIVE_LIVE)) == live
    assert (board.json(PROGRESSIVE) == "null") == (reason == NO_PROGRESSIVE)
    assert (PROGRESSIVE in heard) == (reason == NO_PROGRESSIVE)


def test_a_table_shows_one_meter_and_another_only_once_that_is_not_live(board, clock):
    dragon, tiger = Meter().message(), Meter(progressive="tiger").message()
    board.take(dragon, retained=False)
    board.take(tiger, retained=True)
    board.take(tiger, retained=False)
    board.retract("tiger")

    assert board.progressive == dragon

    clock.now += 2.5
    board.take(tiger, retained=False)

    assert board.progressive == tiger


def test_an_award_with_an_invalid_time_is_not_kept(board):
    meter = Meter()
    meter.win(24_525_36)
    assert meter.award is not None
    meter.award = meter.award.model_copy(update={"won": "2026-13-45T00:00:00.000000+00:00"})

    with pytest.raises(ValueError, match="month"):
        board.take(meter.message(), retained=False)
    assert board.progressive is None
