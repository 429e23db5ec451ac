"""The progressive's devices together, at a real engine with its record: they fail, are late, and repeat themselves."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Self

import pytest

from punto.baccarat.progressive.game_events import HandButton
from punto.baccarat.progressive.nexus import Confirm, EndGame
from punto.controller.accounts.roles import Role
from punto.controller.journal.recovery import replay
from punto.runtime import clock
from tests.controller.progressive_devices import BOB, SUITED, AtATable, at_a_table, enroll, settings
from tests.controller.table_in_this_process import documented, rows


async def test_what_is_published_of_sensors_and_card_reader_is_as_documented(tmp_path):
    async with at_a_table(tmp_path, settings(procedure="nexus")) as here:
        await here.open()
        await here.until(lambda: here.reader.health().connected, "the reader is heard")
        for name, message in (
            ("devices/coin_spot", here.spots.message),
            ("devices/card_reader", here.cards.message),
        ):
            payload = json.loads(message(datetime.now(UTC)).wire())
            assert documented(name, payload)
            assert (payload["device"], payload["state"]) == (name.removeprefix("devices/"), "online")
            assert name in here.table.outbox.due


# --- devices that fail, are late, or repeat themselves

Move = Callable[[AtATable], Awaitable[object]]
AQUARIUS: tuple[tuple[str, Move], ...] = (
    ("betting", lambda here: here.wager(2, 5)),
    ("playing", lambda here: here.press("F5")),
    ("playing", AtATable.take_the_chips),
    ("settling", lambda here: here.deal(SUITED)),
    ("settling", lambda here: here.press("F6 2")),
    ("settling", lambda here: here.press("F6 5")),
    ("settling", lambda here: here.turn("jph")),
    ("logged", lambda here: here.press("F7")),
    ("adjusted", lambda here: here.turn("run")),
    ("betting", lambda here: here.press("F8")),
)
NEXUS: tuple[tuple[str, Move], ...] = (
    ("betting", lambda here: here.wager(2, 5)),
    ("playing", lambda here: here.start()),
    ("playing", AtATable.take_the_chips),
    ("settling", lambda here: here.deal(SUITED)),
    ("settling", lambda here: here.give(HandButton(2, "ann"), HandButton(5, "ann"))),
    ("confirmed", lambda here: here.give(Confirm("bob"))),
    ("adjusted", lambda here: here.swipe(BOB)),
    ("betting", lambda here: here.give(EndGame("ann"))),
)
PROCEDURES = {"aquarius": AQUARIUS, "nexus": NEXUS}


async def lose_power(here: AtATable) -> None:
    """Every device is off for long enough to be missed, and on again."""
    devices = (here.devices.sensors, here.devices.keypad, here.devices.reader)
    for device in devices:
        device.unplug()
        device.lose_power()
    await here.until(lambda: not here.online, "the loss is on the record")
    for device in devices:
        device.plug()
    await here.heard()
    await here.until(lambda: here.devices.reader.connected, "the reader is heard")


@pytest.mark.parametrize(("procedure", "moves"), PROCEDURES.items())
async def test_devices_that_lose_their_power_after_any_step_leave_the_game_at_that_step(
    tmp_path, procedure, moves
):
    async with at_a_table(tmp_path, settings(procedure=procedure)) as here:
        await asyncio.to_thread(enroll, tmp_path, "Bob", Role.SUPERVISOR, BOB)
        await here.open()
        for step, move in moves:
            said = await move(here)
            assert here.step == step, said
            before = here.table.state.progressive

            await lose_power(here)

            await here.until(
                lambda before=before: here.table.state.progressive == before, f"it is {step} as before"
            )
        assert here.meter == 750_030


class _BackwardClock(datetime):
    """A clock that goes back by an hour each time that it is asked."""

    hours = 0

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Self:
        cls.hours += 1
        return super().now(tz) - timedelta(hours=cls.hours)


async def test_a_clock_that_jumps_back_changes_no_step_and_no_cent(tmp_path, monkeypatch):
    async with at_a_table(tmp_path) as here:
        await here.open()
        monkeypatch.setattr(clock, "datetime", _BackwardClock)
        for step, move in AQUARIUS:
            await move(here)
            assert here.step == step
        assert here.meter == 750_030
        before = here.table.state.progressive
    times = [ts for (ts,) in rows(tmp_path / "table.db", "SELECT ts FROM inputs ORDER BY seq")]
    assert times != sorted(times)
    assert replay(tmp_path / "table.db").difference is None
    monkeypatch.undo()
    async with at_a_table(tmp_path) as here:
        # The gaming day of a start is the one that the clock then shows.
        after = here.table.state.progressive
        assert before is not None
        assert after is not None
        assert after == replace(before, alone_since=after.alone_since, set_back_from=after.set_back_from)
