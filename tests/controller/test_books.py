"""The books of a meter over MQTT: for the house's Game Manager alone, in its turn, and while play goes on."""

import asyncio
import threading
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from punto.baccarat.progressive.events import CountCoins, OpenMeter
from punto.baccarat.progressive.game_events import StartGame
from punto.baccarat.table.order_kinds import OpenBetting
from punto.controller.mqtt_requests import MOST_BOOKS_WAITING
from punto.messages.books import Books
from punto.reports.books import books_of_day
from punto.runtime.gaming_days import Calendar
from punto.runtime.pace import Pace
from tests.controller.at_a_broker import online
from tests.controller.table_in_this_process import (
    Ear,
    Table,
    connected,
    documented,
    ear,
    edited,
    eventually,
    table,
)
from tests.deadline import DEADLINE
from tests.reports.house import house

OWN = "request/books/by/game-manager"


def today() -> str:
    return Calendar.of().day_of(datetime.now(UTC)).isoformat()


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Table]:
    """A table with a meter, and three wagers on it."""
    async with table(tmp_path / "table.db", house()) as own:
        await own.begin_shoe()
        await own.order(OpenMeter("eve", "bob"))
        await own.order(OpenBetting("mei"))
        await own.order(StartGame(own.state.round.number, "mei", (1, 3, 5)))
        yield own


async def answers(listening: Ear, *requests: dict[str, Any]) -> list[dict[str, Any]]:
    """The answers to these requests of the Game Manager."""
    heard = len(listening.of("response/books"))
    for each in requests:
        await listening.publish(OWN, each)
    await eventually(lambda: len(listening.of("response/books")) == heard + len(requests), "the answers")
    return listening.of("response/books")[heard:]


async def test_the_answer_is_what_the_tables_own_reports_have(here, mosquitto):
    async with ear(mosquitto.port) as listening, connected(here, mosquitto.port):
        await online(listening)
        (answer,) = await answers(listening, {"id": "b", "day": today()})

        assert documented("response/books", answer)
        assert (answer["request"], answer["record"]) == ("b", here.engine.record_name)
        assert answer["seq"] == here.engine.seq
        found = Books.model_validate(answer["books"])
        path, now = here.journal.path, datetime.now(UTC)
        assert found == await asyncio.to_thread(books_of_day, path, found.day.day, here.engine.calendar, now)
        (accrual,) = found.day.progressives
        assert (accrual.wagers, accrual.end.reserve, found.day.state) == (3, 3 * 333_300, "open")


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        ({"id": "r"}, "day: is missing"),
        ({"id": "r", "day": "today"}, "day: must be a day such as 2026-11-21, not "),
        ({"id": "r", "day": 20_000}, "day: must be a day such as 2026-11-21, not "),
        ({"id": "r", "day": "1999-12-31"}, "day: 1999-12-31 is too far from today"),
        ({"id": "r", "day": "9999-12-31"}, "day: 9999-12-31 is too far from today"),
        ({"id": "r", "day": "2026-11-21", "limit": 1}, "limit: there is no such field"),
    ],
)
async def test_an_invalid_request_is_answered_with_its_fault(here, mosquitto, asked, error):
    async with ear(mosquitto.port) as listening, connected(here, mosquitto.port):
        await online(listening)
        (answer,) = await answers(listening, asked)

        assert documented("response/books", answer)
        assert (answer["request"], answer["error"][: len(error)]) == ("r", error)


async def test_a_table_without_a_meter_of_its_own_says_so(tmp_path, mosquitto):
    async with (
        table(tmp_path / "table.db") as here,
        ear(mosquitto.port) as listening,
        connected(here, mosquitto.port),
    ):
        await online(listening)
        (answer,) = await answers(listening, {"id": "b", "day": today()})

        assert answer["error"].startswith("this service keeps no meter")


async def test_a_record_that_another_program_changed_is_reported_and_the_service_goes_on(here, mosquitto):
    await here.order(CountCoins(today(), 300, "eve"))
    with edited(here.journal.path) as record:
        record.execute("UPDATE progressive_log SET record = '{}'")
    async with ear(mosquitto.port) as listening, connected(here, mosquitto.port):
        await online(listening)
        (answer,) = await answers(listening, {"id": "b", "day": today()})
        await listening.publish("request/rounds", {"id": "r", "after": 0})

        assert answer["error"].endswith("run `punto replay` to find the change")
        await listening.last("response/rounds", lambda last: last["request"] == "r")


async def test_other_requests_are_answered_while_books_are_read_and_too_many_are_refused(here, mosquitto):
    go_on = threading.Event()

    def slowly(*of: Any) -> Books:
        assert go_on.wait(DEADLINE)
        return books_of_day(*of)

    here.engine.pace = Pace(per_second=1000, at_once=10_000)
    async with ear(mosquitto.port) as listening, connected(here, mosquitto.port, books_of=slowly):
        await online(listening)
        for number in range(MOST_BOOKS_WAITING + 2):  # one is being read, and one is too many
            await listening.publish(OWN, {"id": f"b{number}", "day": today()})
        await listening.publish("request/rounds", {"id": "r", "after": 0})
        await listening.last("response/rounds", lambda last: last["request"] == "r")
        (refused,) = listening.of("response/books")
        go_on.set()
        await eventually(lambda: len(listening.of("response/books")) == MOST_BOOKS_WAITING + 2, "all")

        assert refused["error"].startswith("too many requests for books wait")
        assert [each["request"] for each in listening.of("response/books")[1:]] == [
            f"b{number}" for number in range(MOST_BOOKS_WAITING + 1)
        ]


async def test_a_request_counts_as_ten(here, mosquitto):
    here.engine.pace = Pace(clock=lambda: 0.0)
    async with ear(mosquitto.port) as listening, connected(here, mosquitto.port):
        await online(listening)
        found = await answers(listening, *({"id": f"b{n}", "day": today()} for n in range(11)))

        assert [each["request"] for each in found].count(None) == 1
        (refused,) = [each for each in found if each["request"] is None]
        assert refused["error"].startswith("too many requests in a short time")
