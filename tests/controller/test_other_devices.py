"""Another keypad, chain of sensors or card reader on the line of the accepted one does nothing, and cards cannot be guessed."""

import asyncio
import json
import time
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from punto.baccarat.progressive.nexus import Confirm
from punto.baccarat.table.events import DeviceHeard
from punto.baccarat.table.order_kinds import AcceptDevice
from punto.controller.accounts.roles import Role
from punto.controller.config.devices import KeypadConfig
from punto.controller.devices import card_door, coin_spot_door, door
from punto.controller.devices.card_door import LOCKED_SECONDS, MISSES
from punto.controller.devices.keypad_door import KeypadDoor
from punto.drivers.base import KeyPosition
from punto.drivers.keypad.frames import BOUNCE_SECONDS
from punto.drivers.keypad.serial_line import SerialKeypad
from punto.drivers.seal import HostSeal
from punto.runtime.pace import AT_ONCE, Pace
from punto.simulators.card_reader import VirtualCardReader
from punto.simulators.coin_spot import VirtualCoinSpot
from punto.simulators.keypad import VirtualKeypad
from tests.controller.progressive_devices import (
    BOB,
    SEATS,
    SUITED,
    AtATable,
    at_a_table,
    enroll,
    running,
    settings,
)
from tests.controller.table_in_this_process import eventually, rows, table
from tests.controller.test_ordered_path import fails_at
from tests.drivers.benches import KEY

pytestmark = pytest.mark.usefixtures("cheap_passwords")


async def to_an_award(here: AtATable) -> None:
    """Seat 2 has won of the meter, and its hand is selected."""
    await here.open()
    await here.wager(2)
    await here.started()
    await here.deal(SUITED)
    assert (await here.press("F6 2")).result == "done"


async def test_another_keypad_books_no_award_until_a_supervisor_has_accepted_it(tmp_path):
    async with at_a_table(tmp_path, settings(procedure="aquarius")) as here:
        await to_an_award(here)
        here.devices.keypad.unplug()
        await here.until(lambda: not here.keypad.health().connected, "the keypad is gone")
        other = VirtualKeypad(tmp_path / "keypad", "VK-OTHER", key="jph")
        async with running(other.run()):
            await here.until(lambda: here.keypad.health().serial == "VK-OTHER", "the other one is heard")
            refused = await other.press("F7")

            assert (refused.result, here.step, here.key) == ("refused", "settling", "run")
            assert "this keypad is not accepted" in refused.text
            assert not here.keys.lamps().ready
            assert "other_keypad" in here.standing()
            assert here.keys.gives() == frozenset()  # the console has the key
            assert here.keys.message(datetime.now(UTC)).state == "not_accepted"

            await here.give(AcceptDevice("bob", "VK-OTHER"))
            assert here.keys.gives() == {"turn_key"}
            other.device.turn("run")
            other.device.turn("jph")
            await here.until(lambda: here.key == "jph", "its key counts now")
            await asyncio.sleep(2 * BOUNCE_SECONDS)  # or it would be a bounce of the press before
            assert (await other.press("F7")).result == "done"
            assert here.step == "logged"

    assert here.record("device_heard")[-1] == {
        "kind": "device_heard",
        "device": "keypad",
        "serial": "VK-OTHER",
    }


async def test_an_impostor_on_a_sealed_line_raises_the_alarm_each_time(tmp_path):
    async with table(tmp_path / "table.db", settings(procedure="aquarius")) as own:
        driver = SerialKeypad(str(tmp_path / "keypad"), 115_200, HostSeal(KEY))
        door = KeypadDoor(own.engine, own.outbox, driver, KeypadConfig(port="/dev/keypad"))

        def seen() -> int:
            found = rows(tmp_path / "table.db", "SELECT payload FROM inputs WHERE source = 'devices'")
            return sum(json.loads(payload)["serial"] is None for (payload,) in found)

        async with running(door.run()):
            for times in (1, 2):
                async with running(VirtualKeypad(tmp_path / "keypad", "VK-1", device_key=bytes(32)).run()):
                    await eventually(lambda times=times: seen() == times, "the impostor is on the record")  # type: ignore[misc]
                    await eventually(lambda: own.state.alarms, "its alarm stands")
                    assert [alarm.code for alarm in own.state.alarms] == ["other_keypad"]
                    assert "does not have the configured key" in own.state.alarms[0].text
                    assert not driver.health().connected
                async with running(VirtualKeypad(tmp_path / "keypad", "VK-1", device_key=KEY).run()):
                    await eventually(lambda: driver.health().connected, "the right one is back")


async def test_wagers_on_other_sensors_are_in_no_game_until_a_supervisor_has_accepted_them(tmp_path):
    async with at_a_table(tmp_path, settings(procedure="aquarius")) as here:
        await here.open()
        here.sensors.unplug()
        await here.until(lambda: not here.online, "the sensors are gone")
        other = VirtualCoinSpot(tmp_path / "coin-spot", "VC-OTHER", positions=SEATS)
        other.put(3)
        async with running(other.run()):
            await here.until(lambda: "other_coin_spot" in here.standing(), "the alarm is raised")
            assert (here.online, here.hand.sensors) == (False, ())
            assert (await here.start()).refusal is not None

            await here.give(AcceptDevice("bob", "VC-OTHER"))

            await here.until(lambda: here.online and here.hand.sensors == (3,), "its wagers count now")


async def test_a_card_at_another_reader_completes_nothing(tmp_path):
    await_award = settings(procedure="nexus")
    async with at_a_table(tmp_path, await_award) as here:
        enroll(tmp_path, "Bob", Role.SUPERVISOR, BOB)
        await here.until(lambda: here.reader.health().connected, "the reader is heard")
        await here.cards._is_accepted()
        here.devices.reader.unplug()
        await here.until(lambda: not here.reader.health().connected, "the reader is gone")
        assert here.cards.gives() == frozenset()
        await to_an_award(here)
        await here.give(Confirm("bob"))
        other = VirtualCardReader(tmp_path / "card-reader", "VR-OTHER")
        async with running(other.run()):
            await here.until(
                lambda: here.reader.health().connected and other.connected, "the other one is heard"
            )
            said = await other.swipe(BOB)

            assert (said.result, here.step) == ("refused", "confirmed")
            assert not here.cards.awaited()
            assert here.cards.gives() == frozenset()  # a console signs the award
            await here.give(AcceptDevice("bob", "VR-OTHER"))
            assert (await other.swipe(BOB)).result == "accepted"


async def test_while_no_award_waits_every_card_gets_the_same_answer(tmp_path):
    async with at_a_table(tmp_path, settings(procedure="nexus")) as here:
        enroll(tmp_path, "Bob", Role.SUPERVISOR, BOB)
        await here.open()

        answers = {(await here.swipe(card)).text for card in (BOB, "6000179999", "6000170003")}

        assert answers == {"no award waits for a card"}
        assert [(each["who"], each["code"]) for each in here.record("access_refused")] == [
            (None, "not_awaited")
        ] * 3


async def test_a_reader_at_which_cards_are_guessed_is_locked_with_an_alarm(tmp_path):
    async with at_a_table(tmp_path, settings(procedure="nexus")) as here:
        enroll(tmp_path, "Bob", Role.SUPERVISOR, BOB)
        await to_an_award(here)
        await here.give(Confirm("bob"))
        for number in range(MISSES):
            assert (await here.swipe(f"60001799{number:02}")).result == "refused"
        assert "card_guessing" in here.standing()

        before = len(here.record("access_refused"))
        assert "too many cards were refused" in (await here.swipe(BOB)).text
        assert (here.step, len(here.record("access_refused"))) == ("confirmed", before)

        here.now += LOCKED_SECONDS
        assert (await here.swipe(BOB)).result == "accepted"


async def test_misses_long_ago_do_not_count(tmp_path):
    async with at_a_table(tmp_path, settings(procedure="nexus")) as here:
        await here.open()
        for _ in range(MISSES):
            await here.swipe("6000179999")
            here.now += card_door.MISSED_SECONDS / (MISSES - 1) + 1

        assert "card_guessing" not in here.standing()


@pytest.mark.punctual
async def test_sensors_that_babble_are_not_read_for_a_while(tmp_path, monkeypatch):
    monkeypatch.setattr(door, "PAUSE_SECONDS", 1.0)
    async with at_a_table(tmp_path, settings(procedure="aquarius")) as here:
        await here.open()
        here.table.engine.pace = Pace(per_second=0, at_once=4)
        lies, before = False, time.monotonic()
        while not here.table.engine.pace.refused(coin_spot_door.SOURCE):
            (here.sensors.take if lies else here.sensors.put)(1)
            lies = not lies
            before = time.monotonic()
            await asyncio.sleep(0.1)
        paused = time.monotonic()
        assert len(here.record("wager_placed", "wager_lifted")) <= 4

        here.table.engine.pace = Pace()
        here.sensors.put(3)
        refused = (await here.start()).refusal
        assert refused is not None
        assert time.monotonic() - paused < 0.6  # a START does not wait for the sensors' pause
        await here.until(lambda: 3 in here.hand.sensors, "they are read and asked again")
        assert time.monotonic() - before > 0.9


async def test_a_keypad_that_babbles_is_refused_and_not_recorded(tmp_path):
    async with at_a_table(tmp_path, settings(procedure="aquarius")) as here:
        await here.open()
        here.table.engine.pace = Pace(per_second=0, at_once=0)

        refused = await here.keys.press("F12")

        assert (refused.result, refused.text) == ("refused", "too many presses at once: wait a moment")
        assert here.record("call_supervisor") == []


async def test_a_key_that_turns_without_end_is_recorded_a_few_times_and_where_it_stands_at_last(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(door, "PAUSE_SECONDS", 0.5)
    async with at_a_table(tmp_path, settings(procedure="aquarius")) as here:
        await here.open()
        here.table.engine.pace = Pace(per_second=0)
        for _ in range(300):
            await here.keys.turned("jph")
            await here.keys.turned("run")
        assert len(here.record("turn_key")) <= AT_ONCE
        recorded = here.key  # either, because a keypad that is lost and found has a share of the pace
        turns: tuple[KeyPosition, ...] = ("run", "jph") if recorded == "run" else ("jph", "run")
        for position in turns:
            here.devices.keypad.turn(position)  # so that a keypad that is found again reports the same
        await here.until(lambda: here.keys._unrecorded == position, "the keypad reports its key")
        assert (here.key, here.keys._key_unknown) == (recorded, True)

        here.table.engine.pace = Pace()

        await here.until(lambda: here.key == position, "the key's position is recorded")
        assert not here.keys._key_unknown


@pytest.mark.parametrize("name", ["keys", "spots", "cards"])
async def test_a_line_on_which_the_devices_change_without_end_is_recorded_a_few_times(
    tmp_path, monkeypatch, name
):
    async with at_a_table(tmp_path, settings(procedure="aquarius")) as here:
        await here.open()
        door = getattr(here, name)
        here.table.engine.pace = Pace(per_second=0)
        before, health = here.table.engine.seq, door.health()
        for number in range(300):
            found = replace(health, serial=f"K-{number}", unproven=number % 2 == 0, reason=str(number))
            monkeypatch.setattr(door._driver, "health", lambda found=found: found)
            await door._on_link_changed()

        assert 0 < here.table.engine.seq - before <= AT_ONCE


async def test_a_device_whose_report_the_program_cannot_handle_is_reported_once_each_time_that_it_is_connected(
    tmp_path, monkeypatch
):
    async with at_a_table(tmp_path, settings(procedure="aquarius")) as here:
        await here.open()
        await here.cards._is_accepted()  # so that it is not the reader whose report fails
        fails_at(monkeypatch, DeviceHeard)
        other = replace(here.keys.health(), serial="VK-OTHER")
        for times in (1, 2):
            for health in (replace(other, connected=False, serial=None), other):
                monkeypatch.setattr(here.keypad, "health", lambda health=health: health)
                here.keys.link_changed()
            for _ in range(5):
                assert (await here.keys.press("F2")).result == "refused"

            reported = [each["serial"] for each in here.record("device_heard")]
            assert reported.count("VK-OTHER") == times
        assert here.table.state.waiting.stops[0].text.endswith("Then unplug the keypad and plug it in again")


async def test_a_reader_that_swipes_without_end_is_refused_and_not_recorded(tmp_path):
    async with at_a_table(tmp_path, settings(procedure="nexus", executive_from=1)) as here:
        enroll(tmp_path, "Bob", Role.SUPERVISOR, BOB)
        await to_an_award(here)
        await here.give(Confirm("bob"))
        await here.cards._is_accepted()
        here.table.engine.pace = Pace(per_second=0, at_once=4)
        said = [(await here.cards.swipe(BOB)).text for _ in range(8)]

        assert said[4:] == ["too many cards at once: wait a moment, and swipe the card again"] * 4
        assert len(here.record("swipe_card")) == 4
