"""The meters of the gaming day beside those of the table's life, over nights, corrections and restarts."""

import asyncio
from datetime import UTC, datetime, time, timedelta, tzinfo
from typing import Self
from zoneinfo import ZoneInfo

import pytest

from punto.baccarat.table.events import SetWager
from punto.baccarat.table.meters import Meters, of_game
from punto.baccarat.table.order_kinds import CorrectRound
from punto.controller import clock_watch, heartbeat
from punto.controller.engine import HouseRules
from punto.messages import topics
from punto.runtime import clock
from punto.runtime.gaming_days import Calendar
from tests.baccarat.table.croupier import LONG, PLAYER_NATURAL, TIE, cards
from tests.controller.table_in_this_process import Table, eventually, settings, table

OWN = settings("dragon-bonus-1", cards="keyed")
OPENED = ("sign on", "change shoe", "open")
NIGHT = datetime(2026, 11, 21, 6, tzinfo=UTC)
"""When the gaming day of the tests ends."""


class Clock(datetime):
    """A clock that stands until it is set."""

    at = NIGHT - timedelta(hours=1)

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Self:
        return cls.fromtimestamp(cls.at.timestamp(), tz)


@pytest.fixture(autouse=True)
def _clock(monkeypatch):
    monkeypatch.setattr(Clock, "at", NIGHT - timedelta(hours=1))
    monkeypatch.setattr(clock, "datetime", Clock)
    monkeypatch.setattr(clock_watch, "RELEASED", Clock.at)


def day(here: Table) -> Meters:
    return here.state.history.todays(here.state.settings.game)


def began(here: Table) -> datetime:
    assert here.state.history.day is not None
    return datetime.fromisoformat(here.state.history.day.began)


def results(meters: Meters) -> dict[str, int]:
    return {each.rule: each.hits for each in meters.hits if each.wager is None}


async def test_at_night_another_day_begins_and_the_tables_life_goes_on(tmp_path):
    async with table(tmp_path / "table.db", OWN) as here:
        await here.do(*OPENED, f"key {PLAYER_NATURAL}", f"key {TIE}")
        assert (day(here).hands, began(here)) == (2, NIGHT - timedelta(days=1))

        Clock.at = NIGHT
        await here.do(f"key {TIE}")

        assert (day(here).hands, results(day(here))) == (1, {"tie": 1})
        assert began(here) == NIGHT
        assert of_game(here.state.history.meters, OWN.game).hands == 3


async def test_a_day_without_a_hand_begins_too(tmp_path):
    async with table(tmp_path / "table.db", OWN) as here:
        await here.do(*OPENED, f"key {PLAYER_NATURAL}")

        for Clock.at, hands in ((NIGHT - timedelta(seconds=1), 1), (NIGHT, 0)):
            await here.engine.submit([], "service")
            assert day(here).hands == hands


async def test_after_a_clock_that_was_a_year_ahead_each_day_begins_again(tmp_path):
    async with table(tmp_path / "table.db", OWN) as here:
        await here.do(*OPENED, f"key {PLAYER_NATURAL}")
        before = Clock.at

        for Clock.at, first in ((before + timedelta(days=400), 1), (before, 2), (NIGHT, 3)):
            await here.do(f"key {TIE}")
            assert (began(here) <= Clock.at < began(here) + timedelta(days=1), day(here).hands) == (
                True,
                1,
            ), first


async def test_the_meters_are_published_when_a_day_begins(tmp_path, monkeypatch):
    monkeypatch.setattr(heartbeat, "STATE_EVERY_SECONDS", 0.01)
    async with table(tmp_path / "table.db", OWN) as here:
        here.outbox.due.clear()
        beating = asyncio.create_task(heartbeat.beat(here.engine, here.journal, here.outbox))
        await eventually(lambda: topics.STATE in here.outbox.due, "it beats")
        assert topics.METERS not in here.outbox.due
        Clock.at = NIGHT
        await eventually(lambda: topics.METERS in here.outbox.due, "the meters are due")
        beating.cancel()


async def test_a_restart_goes_on_with_the_day(tmp_path):
    async with table(tmp_path / "table.db", OWN) as here:
        await here.do(*OPENED, f"key {PLAYER_NATURAL}")
        Clock.at = NIGHT
        await here.do(f"key {TIE}", f"key {LONG}")
        before = day(here)
    async with table(tmp_path / "table.db", OWN) as here:
        assert day(here) == before
        assert before.hands == 2
        await here.do(*OPENED, f"key {TIE}")
        assert results(day(here)) == {"tie": 2, "player": 1}


async def test_a_hand_of_yesterday_that_is_settled_again_is_not_of_today(tmp_path):
    async with table(tmp_path / "table.db", OWN) as here:
        await here.do(*OPENED)
        await here.order(SetWager("w", 1, "player", 1000, 1))
        await here.do(f"key {PLAYER_NATURAL}")
        Clock.at = NIGHT
        await here.order(CorrectRound("mei", 1, cards("KS 5H"), cards("9S KD"), "misread"))
        assert results(of_game(here.state.history.meters, OWN.game)) == {"banker": 1, "natural": 1}
        await here.order(SetWager("w", 1, "player", 1000, here.state.round.number))
        await here.do(f"key {TIE}")

        assert (day(here).hands, results(day(here))) == (1, {"tie": 1})
        assert [(each.staked, each.returned) for each in day(here).handle] == [(1000, 1000)]
    async with table(tmp_path / "table.db", OWN) as here:
        assert (day(here).hands, results(day(here))) == (1, {"tie": 1})


async def test_the_day_is_the_houses(tmp_path):
    calendar = Calendar(time(9, 30), ZoneInfo("Asia/Macau"))
    async with table(tmp_path / "table.db", OWN, house=HouseRules(calendar)) as here:
        assert began(here) == datetime(2026, 11, 21, 1, 30, tzinfo=UTC)
