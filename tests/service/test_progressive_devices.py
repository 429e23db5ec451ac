"""The progressive's devices at a real engine with its record: each step and each refusal of both procedures by its device."""

import asyncio
import json
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Self

import pytest

from controller import engine
from controller.baccarat.cards import Card
from controller.journal.recovery import replay
from controller.operators.accounts import Account
from controller.operators.gate import Gate, NotLetInError, Policy
from controller.operators.keypad_door import KeypadDoor
from controller.operators.roles import Role
from controller.progressive.nexus import Confirm, EndGame
from controller.progressive.procedure import HandButton
from controller.table.events import CorrectRound, SignOn
from drivers.base import StartUnconfirmed, WagerPlaced, WagersLatched
from drivers.keypad.keys import KeyMap
from drivers.keypad.serial_line import SerialKeypad
from simulators.line import Faults
from tests.service.progressive_devices import (
    NOTHING,
    PASSWORD,
    SUITED,
    AtATable,
    at_a_table,
    enroll,
    settings,
    switched_on,
)
from tests.service.table_in_this_process import documented, rows, table
from tests.table.croupier import settings as table_settings

# --- the wager sensors


async def test_a_wager_that_is_recognised_lights_and_one_that_is_taken_back_does_not(tmp_path):
    async with at_a_table(tmp_path) as here:
        await here.open()
        here.sensors.put(2)
        here.sensors.put(5)
        await here.recognised(2, 5)
        here.sensors.take(2)
        await here.recognised(5)

    assert [event["seat"] for event in here.record("wager_placed")] == [2, 5]
    assert [event["seat"] for event in here.record("wager_lifted")] == [2]


async def test_start_game_counts_what_the_sensors_latched(tmp_path):
    async with at_a_table(tmp_path) as here:
        await here.open()
        await here.wager(2, 5)

        handled = await here.start()

        assert handled.refusal is None
        assert (here.step, here.hand.wagers) == ("playing", (2, 5))
        (started,) = here.record("start_game")
        assert (started["round"], started["who"], started["seats"]) == (1, "ann", [2, 5])
        here.sensors.take(2)  # the dealer takes the chips: the wagers stay lit, for they are in the game
        here.sensors.take(5)
        await here.until(lambda: here.hand.spent == (), "the sensors are empty")
        assert here.sensors.lit == {2, 5}
        await here.deal(NOTHING)


async def test_a_wager_after_the_start_is_refused_on_the_record_and_in_the_next_game(tmp_path):
    async with at_a_table(tmp_path) as here:
        await here.open()
        await here.wager(2)
        await here.start()
        here.sensors.take(2)

        here.sensors.put(3)
        await here.until(lambda: here.spots.late() == (3,), "the wager is late")

        assert here.hand.wagers == (2,)
        assert here.sensors.lit == {2}
        await here.until(lambda: here.incidents() == [("refused", "after_start")], "the incident is there")
        await here.deal(NOTHING)
        await here.over()
        await here.recognised(3)
        assert here.spots.late() == ()
        assert (await here.start()).refusal is None
        assert here.hand.wagers == (3,)


async def test_a_late_wager_that_is_taken_back_is_in_no_game(tmp_path):
    async with at_a_table(tmp_path) as here:
        await here.open()
        await here.wager(2)
        await here.start()
        here.sensors.put(3)
        await here.until(lambda: here.spots.late() == (3,), "the wager is late")
        here.sensors.take(3)
        await here.until(lambda: here.spots.late() == (), "it is gone")
        await here.deal(NOTHING)
        await here.over()

        await here.recognised()


async def test_a_wager_that_has_had_its_game_is_not_in_the_next_until_it_is_laid_anew(tmp_path):
    async with at_a_table(tmp_path) as here:
        await here.open()
        await here.wager(2, 5)
        await here.start()
        await here.deal(NOTHING)
        await here.over()
        await here.recognised()
        assert here.standing() == []  # long before they are called stuck
        here.sensors.take(5)
        here.sensors.put(5)
        await here.recognised(5)

        assert (await here.start()).refusal is None
        assert here.hand.wagers == (5,)
        await here.until(lambda: here.standing() == ["sensor_stuck"], "seat 2's wager is called stuck")
        here.sensors.take(2)
        await here.until(lambda: here.standing() == [], "it is gone")


async def test_start_twice_is_refused_and_the_sensors_are_not_told(tmp_path):
    async with at_a_table(tmp_path) as here:
        await here.open()
        await here.wager(2)

        first, second = await asyncio.gather(here.start(), here.start())

        assert first.refusal is None
        assert second.refusal is not None
        assert second.refusal.code == "already_started"
        assert len(here.record("start_game")) == 2
        assert here.sensors.device.round == 1


async def test_sensors_that_do_not_answer_refuse_the_start_at_once(tmp_path):
    async with at_a_table(tmp_path) as here:
        await here.open()
        await here.wager(2)
        here.sensors.unplug()
        await here.until(lambda: not here.online, "the loss is on the record")

        handled = await here.start()

        assert handled.refusal is not None
        assert str(handled.refusal).startswith("the wager sensors do not answer: the port ")
        assert here.step == "betting"
        here.sensors.plug()
        await here.heard()
        assert (await here.start()).refusal is None


async def test_a_start_that_the_sensors_do_not_confirm_is_refused_and_a_late_latch_is_ended(
    tmp_path, monkeypatch
):
    async with at_a_table(tmp_path) as here:
        await here.open()
        await here.wager(2)
        # They hear the START and their answers come too late.
        monkeypatch.setattr(here.sensors, "_data_to_send", lambda _: [])

        handled = await here.start()

        assert handled.refusal is not None
        assert handled.refusal.code == "sensors_lost"
        assert here.step == "betting"
        monkeypatch.undo()
        await here.heard()
        await here.until(lambda: here.sensors.device.round == 0, "the sensors are told that it is over")
        assert here.step == "betting"
        # Its wager was in that START: it is dark, and in no game until it is laid anew.
        await here.recognised()
        assert (here.hand.spent, [event["seat"] for event in here.record("wager_voided")]) == ((2,), [2])
        assert (await here.start()).refusal is None
        (started,) = here.record("start_game")[1:]
        assert started["seats"] == []
        await here.deal(NOTHING)
        await here.over()
        await here.recognised()
        here.sensors.take(2)
        here.sensors.put(2)
        await here.recognised(2)
        assert (await here.start()).refusal is None
        assert here.hand.wagers == (2,)
        assert [code for kind, code in here.incidents() if kind == "refused"] == ["sensors_lost"]


async def test_a_wager_that_was_latched_before_it_was_told_is_in_the_game(tmp_path, monkeypatch):
    async with at_a_table(tmp_path) as here:
        await here.open()
        await here.wager(2)
        monkeypatch.setattr(here.sensors, "_data_to_send", lambda _: [])
        starting = asyncio.create_task(here.start())
        await here.until(lambda: here.spots.orders().round == 1, "the START is wanted")

        await here.spots.take([WagerPlaced(3, 9), WagersLatched(1, (2, 3))])

        assert (await starting).refusal is None
        assert here.hand.wagers == (2, 3)


async def test_sensors_that_say_themselves_that_it_is_unconfirmed_are_not_waited_for(tmp_path, monkeypatch):
    async with at_a_table(tmp_path) as here:
        await here.open()
        await here.wager(2)
        monkeypatch.setattr(here.sensors, "_data_to_send", lambda _: [])
        starting = asyncio.create_task(here.start())
        await here.until(lambda: here.spots.orders().round == 1, "the START is wanted")
        await here.spots.take([StartUnconfirmed(7), StartUnconfirmed(1), WagersLatched(1, (2,))])

        handled = await starting
        assert handled.refusal is not None
        assert handled.refusal.code == "start_unconfirmed"
        assert here.step == "betting"


async def test_a_start_that_is_pressed_twice_and_not_confirmed_starts_no_game_without_its_wagers(
    tmp_path, monkeypatch
):
    async with at_a_table(tmp_path) as here:
        await here.open()
        await here.wager(2)
        monkeypatch.setattr(here.sensors, "_data_to_send", lambda _: [])
        both = asyncio.gather(here.start(), here.start())
        await here.until(lambda: here.spots.orders().round == 1, "the START is wanted")
        monkeypatch.undo()
        await here.spots.take([StartUnconfirmed(1)])

        codes = [handled.refusal and handled.refusal.code for handled in await both]

        assert (codes, here.step) == (["start_unconfirmed"] * 2, "betting")
        await here.recognised()  # seen to be dark, it can be left out
        assert (await here.start()).refusal is None
        assert here.hand.wagers == ()


async def test_a_fault_of_a_sensor_is_an_alarm_until_it_is_mended(tmp_path):
    async with at_a_table(tmp_path) as here:
        await here.open()
        here.sensors.break_(3, "missing")
        await here.until(lambda: here.standing() == ["sensor_missing"], "the fault is an alarm")
        here.sensors.mend(3)
        await here.until(lambda: here.standing() == [], "the alarm is gone")

    assert [(event["fault"], event["stands"]) for event in here.record("sensor_fault")] == [
        ("missing", True),
        ("missing", False),
    ]


async def test_sensors_that_lost_their_power_say_anew_what_lies_there(tmp_path):
    async with at_a_table(tmp_path) as here:
        await here.open()
        await here.wager(2, 5)
        here.sensors.unplug()
        here.sensors.take(2)
        here.sensors.lose_power()
        here.sensors.plug()
        await here.heard()

        await here.recognised(5)


async def test_a_service_that_comes_up_takes_the_wagers_from_the_sensors_and_not_from_the_record(tmp_path):
    async with switched_on(tmp_path) as devices:
        async with at_a_table(tmp_path, devices=devices) as here:
            await here.open()
            await here.wager(2, 5)
        devices.sensors.take(2)
        devices.sensors.lose_power()  # it does not know that a wager was there
        async with at_a_table(tmp_path, devices=devices) as here:
            await here.heard()
            await here.recognised(5)
            await here.table.hello()
            assert (await here.start()).refusal is None
            assert here.hand.wagers == (5,)


async def test_a_service_that_comes_up_in_mid_game_finds_its_late_wager_again(tmp_path):
    async with switched_on(tmp_path) as devices:
        async with at_a_table(tmp_path, devices=devices) as here:
            await here.open()
            await here.wager(2, 5)
            await here.start()
            devices.sensors.put(3)
            await here.until(lambda: here.spots.late() == (3,), "the wager is late")
            devices.sensors.take(2)
            await here.until(lambda: here.hand.spent == (5,), "the dealer takes a chip")
            before = here.hand
        async with at_a_table(tmp_path, devices=devices) as here:
            await here.heard()
            await here.until(lambda: here.spots.late() == (3,), "the wager is late")
            assert (here.step, here.hand) == ("playing", before)
            assert here.spots.orders().round == 1
            assert [event["seat"] for event in here.record("wager_placed")] == [2, 5, 3, 3]
            await here.table.hello()
            await here.deal(SUITED)
            assert here.hand.won is not None
            assert here.hand.won.seats == (2, 5)


# --- coins that have had their game, whatever loses its power


async def a_game_to_its_end(here: AtATable) -> None:
    await here.deal(NOTHING)
    await here.over()


async def test_start_pressed_again_and_again_counts_no_wager_that_does_not_light(tmp_path, monkeypatch):
    async with at_a_table(tmp_path) as here:
        await here.open()
        await here.wager(2)
        monkeypatch.setattr(here.sensors, "_data_to_send", lambda _: [])
        assert (await here.start()).refusal is not None
        monkeypatch.undo()
        await here.heard()
        await here.recognised()
        here.sensors.put(5)
        await here.recognised(5)

        assert (await here.start()).refusal is None
        assert (await here.start()).refusal is not None

        assert (here.hand.wagers, here.hand.spent) == ((5,), (2, 5))
        await here.until(lambda: here.sensors.lit == {5}, "the wager of the game is lit")


@pytest.mark.parametrize("when", ["in the game", "after it"])
@pytest.mark.parametrize("what", ["sensors", "service", "both"])
async def test_a_coin_that_is_left_after_its_game_is_in_no_other_whatever_loses_its_power(
    tmp_path, what, when
):
    async with switched_on(tmp_path) as devices:

        async def power_goes(here: AtATable) -> None:
            if what != "service":
                devices.sensors.unplug()
                devices.sensors.lose_power()
                await here.until(lambda: not here.online, "the loss is on the record")
                devices.sensors.plug()
                await here.heard()

        async with at_a_table(tmp_path, devices=devices) as here:
            await here.open()
            await here.wager(2)
            assert (await here.start()).refusal is None
            if when == "after it":
                await a_game_to_its_end(here)
                await here.recognised()
            await power_goes(here)
            if what == "sensors":
                await its_coin_is_spent(here, when)
        if what != "sensors":
            async with at_a_table(tmp_path, devices=devices) as here:
                await here.heard()
                await here.table.hello()
                await its_coin_is_spent(here, when)
    assert replay(tmp_path / "table.db").difference is None


async def its_coin_is_spent(here: AtATable, when: str) -> None:
    """Seat 2's coin, which nobody touched, stays dark and is not counted; laid anew it is a wager."""
    if when == "in the game":
        await a_game_to_its_end(here)
    await here.recognised()
    here.sensors.put(5)
    await here.recognised(5)
    meter = here.meter
    assert (await here.start()).refusal is None
    assert (here.hand.wagers, here.meter) == ((5,), meter + 20)
    await a_game_to_its_end(here)
    here.sensors.take(2)
    here.sensors.put(2)
    await here.recognised(2)
    assert (await here.start()).refusal is None
    assert here.hand.wagers == (2,)


async def test_a_coin_that_was_taken_while_nobody_looked_is_not_held_against_the_next_one(tmp_path):
    async with switched_on(tmp_path) as devices:
        async with at_a_table(tmp_path, devices=devices) as here:
            await here.open()
            await here.wager(2)
            assert (await here.start()).refusal is None
            await a_game_to_its_end(here)
        devices.sensors.take(2)
        devices.sensors.lose_power()
        async with at_a_table(tmp_path, devices=devices) as here:
            await here.heard()
            await here.until(lambda: here.hand.spent == (), "the sensors say that it is gone")
            here.sensors.put(2)
            await here.recognised(2)


async def test_a_stuck_sensor_blocks_no_other_seats_game_over_a_loss_of_power(tmp_path):
    async with at_a_table(tmp_path) as here:
        await here.open()
        await here.wager(2, 5)
        assert (await here.start()).refusal is None
        here.sensors.break_(2, "stuck")
        here.sensors.take(2)
        here.sensors.take(5)
        await a_game_to_its_end(here)
        await here.until(lambda: here.standing() == ["sensor_stuck"], "it is called stuck")
        here.sensors.lose_power()
        here.sensors.put(5)
        await here.recognised(5)

        assert (await here.start()).refusal is None
        assert here.hand.wagers == (5,)
        assert here.standing() == ["sensor_stuck"]


@pytest.mark.parametrize("fault", ["missing", "doubled"])
async def test_a_wager_whose_sensor_fails_is_dark_and_keeps_nobody_from_the_start(tmp_path, fault):
    async with at_a_table(tmp_path) as here:
        await here.open()
        await here.wager(2, 5)
        here.sensors.break_(5, fault)
        await here.recognised(2)

        assert (await here.start()).refusal is None
        assert (here.hand.wagers, here.standing()) == ((2,), [f"sensor_{fault}"])
        await a_game_to_its_end(here)
        here.sensors.mend(5)
        await here.until(lambda: here.standing() == [], "it is mended")
        await here.recognised()
        here.sensors.take(5)
        here.sensors.put(5)
        await here.recognised(5)


async def test_a_late_wager_whose_sensor_fails_is_in_no_game(tmp_path):
    async with at_a_table(tmp_path) as here:
        await here.open()
        await here.wager(2)
        assert (await here.start()).refusal is None
        here.sensors.put(3)
        await here.until(lambda: here.spots.late() == (3,), "the wager is late")
        here.sensors.break_(3, "missing")
        await here.until(lambda: here.standing() == ["sensor_missing"], "the fault is an alarm")
        here.sensors.mend(3)
        await here.until(lambda: here.standing() == [], "it is mended")
        await a_game_to_its_end(here)
        await here.recognised()

        assert (await here.start()).refusal is None
        assert (here.hand.wagers, here.hand.spent) == ((), (2, 3))


async def test_a_game_that_is_opened_again_leaves_the_coins_of_the_next_as_they_are(tmp_path):
    async with switched_on(tmp_path) as devices:
        async with at_a_table(tmp_path, devices=devices) as here:
            await here.open()
            await here.wager(2)
            assert (await here.start()).refusal is None
            await here.deal("2H KC 3H JC 5D KD")
            await here.over()
            last = here.table.state.last
            assert last is not None
            here.sensors.take(2)
            here.sensors.put(2)
            here.sensors.put(3)
            await here.recognised(2, 3)
            cards = (Card("2H"), Card("3H"), Card("4H"))
            await here.give(CorrectRound("ann", last.round, cards, tuple(map(Card, last.banker)), "misread"))
            assert here.step == "settling"
        async with at_a_table(tmp_path, devices=devices) as here:
            await here.heard()
            here.sensors.put(4)
            await here.until(lambda: here.spots.late() == (4,), "a coin comes meanwhile")
            await here.until(
                lambda: here.sensors.lit == {2, 3}, "the game's wager is lit, and the next one's"
            )
            await here.press("F6 2")
            await here.turn("jph")
            await here.press("F7")
            await here.turn("run")
            assert (await here.press("F8")).result == "done"
            await here.recognised(2, 3, 4)
            await here.table.hello()
            assert (await here.start()).refusal is None
            assert here.hand.wagers == (2, 3, 4)


# --- Aquarius at the keypad


async def refused(here: AtATable, keys: str) -> str:
    """What the keypad shows of a press that must be refused."""
    answer = await here.press(keys)
    assert answer.result == "refused", answer
    return answer.text


async def test_a_round_is_played_at_the_keypad_with_each_refusal(tmp_path):
    async with at_a_table(tmp_path) as here:
        await here.open()
        await here.wager(2, 5)
        assert "no game has been started" in await refused(here, "F8")
        assert "no game has been started" in await refused(here, "F6 2")

        answer = await here.press("F5")
        assert (answer.result, answer.text) == ("done", "START GAME: wagers of 2 5")
        assert here.meter == 1_000_040
        assert "this game has been started" in await refused(here, "F5")
        assert "the hand is not over" in await refused(here, "F6 2")
        assert "the hand is not over" in await refused(here, "F8")
        assert "no hand is selected" in await refused(here, "F7")

        await here.deal(SUITED)
        assert "seat 3 has no progressive wager" in await refused(here, "F6 3")
        assert "the key is in RUN" in await refused(here, "F7")
        assert "is not confirmed" in await refused(here, "F8")
        await here.turn("jph")
        assert "no hand is selected" in await refused(here, "F7")
        assert (await here.press("F6 2")).text == "seat 2 is selected"
        assert "seat 5 won as well" in await refused(here, "F7")
        assert (await here.press("F6 KP5")).text == "seat 5 is selected"
        assert (await here.press("F6 5")).text == "seat 5 is taken back"
        await here.press("F6 5")
        assert "the key is in JPH" in await refused(here, "F8")

        assert (await here.press("F7")).text == "the award is logged: turn the key to RUN"
        assert (here.step, here.meter) == ("logged", 1_000_040)
        assert "this award is confirmed and logged" in await refused(here, "F7")
        assert "this award is confirmed and logged" in await refused(here, "F6 2")
        assert "the meter is not adjusted yet" in await refused(here, "F8")
        await here.turn("run")
        assert (here.step, here.meter) == ("adjusted", 750_030)
        assert "this award is confirmed and logged" in await refused(here, "F7")
        assert (await here.press("F8")).text == "the game is over"
        assert here.step == "betting"

    turned = [(event["to"], event["who"]) for event in here.record("turn_key")]
    assert turned == [("jph", "key switch"), ("run", "key switch")]
    assert {event["who"] for event in here.record("jpot")} == {"key switch"}
    assert here.sources("jpot") == {"keypad, ann at the table"}
    assert {event["who"] for event in here.record("hand_button", "start_game", "game_over")} == {"ann"}
    assert len(here.record("jpot")) == 7  # each refusal of them is on the record


async def test_a_hand_that_won_nothing_of_the_meter_is_refused_at_its_button(tmp_path):
    async with at_a_table(tmp_path) as here:
        await here.open()
        await here.wager(2)
        await here.press("F5")
        await here.deal(NOTHING)

        assert "the hand of seat 2 won nothing" in await refused(here, "F6 2")
        assert (await here.press("F8")).result == "done"


async def test_start_game_at_the_keypad_waits_for_the_sensors_and_says_why_not(tmp_path):
    async with at_a_table(tmp_path) as here:
        await here.open()
        await here.wager(2)
        here.sensors.unplug()
        await here.until(lambda: not here.online, "the loss is on the record")

        assert "the wager sensors do not answer" in await refused(here, "F5")


async def test_a_coin_in_keypad_calls_the_key_so(tmp_path):
    async with at_a_table(tmp_path) as here:
        await here.open()
        door = KeypadDoor(
            here.table.engine, here.table.outbox, here.keypad, KeyMap(), 3.0, start_label="COIN IN"
        )

        assert (await door.press("F8")).text == "no game has been started: press COIN IN first"


async def test_a_keypad_that_bounces_takes_no_hand_back(tmp_path):
    async with at_a_table(tmp_path) as here:
        await here.open()
        await here.wager(2)
        await here.press("F5")
        await here.deal(SUITED)
        here.devices.keypad.press("F6")
        answers = [here.devices.keypad.press(key) for key in ("2", "2")]

        async with asyncio.timeout(10):
            assert {(await answer).text for answer in answers} == {"seat 2 is selected"}
        assert here.hand.selected == (2,)
        assert len(here.record("hand_button")) == 1


async def test_no_award_is_logged_before_the_key_switch_has_said_where_it_stands(tmp_path):
    async with at_a_table(tmp_path) as here:
        await here.open()
        await here.wager(2)
        await here.press("F5")
        await here.deal(SUITED)
        await here.press("F6 2")
        await here.turn("jph")
        door = KeypadDoor(
            here.table.engine, here.table.outbox, here.keypad, KeyMap(), 3.0, key_switch=True
        )  # a service that has just come up, and a keypad that is not there yet

        assert (await door.press("F7")).text.startswith("the key switch has not said where it stands")
        assert here.step == "settling"
        await door.turned("jph")
        assert (await door.press("F7")).result == "done"


async def test_where_the_key_stands_is_not_known_while_the_keypad_is_away(tmp_path):
    async with at_a_table(tmp_path) as here:
        await here.open()
        await here.wager(2)
        await here.press("F5")
        await here.deal(SUITED)
        await here.press("F6 2")
        await here.turn("jph")
        here.devices.keypad.unplug()
        await here.until(lambda: not here.keypad.health().connected, "the keypad is away")

        answer = await here.keys.press("F7")

        assert (answer.result, here.step) == ("refused", "settling")
        here.devices.keypad.plug()
        await here.heard()
        await here.until(lambda: not here.keys._key_unknown, "the keypad says where it stands")
        assert (await here.press("F7")).result == "done"


async def test_a_start_that_bounces_shows_why_it_was_refused(tmp_path, monkeypatch):
    async with at_a_table(tmp_path) as here:
        await here.open()
        await here.wager(2)
        monkeypatch.setattr(here.sensors, "_data_to_send", lambda _: [])
        async with asyncio.timeout(10):
            first, second = await asyncio.gather(*(here.devices.keypad.press("F5") for _ in range(2)))

        assert first.text == second.text
        assert "wager sensors" in first.text


async def test_a_key_that_was_turned_while_nobody_looked_is_where_it_stands(tmp_path):
    async with switched_on(tmp_path) as devices:
        async with at_a_table(tmp_path, devices=devices) as here:
            await here.open()
            await here.wager(2)
            await here.press("F5")
            await here.deal(SUITED)
            await here.press("F6 2")
            await here.turn("jph")
            await here.press("F7")
            assert here.step == "logged"
        devices.keypad.turn("run")
        async with at_a_table(tmp_path, devices=devices) as here:
            await here.until(lambda: here.step == "adjusted", "the meter is adjusted")

    assert [event["to"] for event in here.record("turn_key")] == ["jph", "run"]


async def test_a_table_without_a_progressive_has_no_use_for_its_keys(tmp_path):
    async with table(tmp_path / "table.db", table_settings()) as own:
        await own.order(SignOn("ann"))
        door = KeypadDoor(own.engine, own.outbox, SerialKeypad("/dev/keypad", 115_200), KeyMap(), 3.0)
        before = own.engine.seq

        for keys in ("F8", "F7"):
            assert "this table has no progressive" in (await door.press(keys)).text
        await door.turned("jph")
        assert own.engine.seq == before


# --- Nexus Command with cards

BOB, EVE, ANN, LOST = "6000170001", "6000170002=2912", "6000170003", "6000179999"


def waiting(here: AtATable) -> str | None:
    """Whose password is asked for."""
    return None if here.cards.pending is None else here.cards.pending.owner.name


async def to_a_win(here: AtATable, *cards: str) -> None:
    """Seats 2 and 5 won a quarter of the meter, their hands are selected, and these cards have been given out."""
    roles = {BOB: ("Bob", Role.SUPERVISOR), EVE: ("Eve", Role.EXECUTIVE), ANN: ("Ann", Role.DEALER)}
    for card in cards:
        name, role = roles[card]
        await asyncio.to_thread(enroll, here.devices.folder, name, role, card)
    await here.open()
    await here.wager(2, 5)
    assert (await here.start()).refusal is None
    await here.deal(SUITED)
    await here.give(HandButton(2, "ann"), HandButton(5, "ann"))


async def test_a_supervisors_card_completes_an_award_and_adjusts_the_meter_at_once(tmp_path):
    async with at_a_table(tmp_path, settings(procedure="nexus")) as here:
        await to_a_win(here, BOB)
        early = await here.swipe(BOB)
        assert (early.result, early.text.split(":")[0]) == (
            "refused",
            "no award is confirmed that a card could complete",
        )
        assert not here.devices.reader.ready
        await here.give(Confirm("bob"))
        await here.until(lambda: here.devices.reader.ready, "the reader shows that a swipe is awaited")

        done = await here.swipe(BOB)

        assert (done.result, here.step, here.meter) == ("accepted", "adjusted", 750_030)
        twice = await here.swipe(BOB)
        assert (twice.result, here.meter) == ("refused", 750_030)
        assert "this award is confirmed and logged" in twice.text
        await here.give(EndGame("ann"))

    swipes = [(event["who"], event["level"]) for event in here.record("swipe_card")]
    assert swipes == [("Bob", "supervisor")] * 3
    assert here.sources("swipe_card") == {"card reader"}


async def test_a_card_that_is_nobodys_or_a_dealers_is_refused_on_the_record_without_its_number(tmp_path):
    async with at_a_table(tmp_path, settings(procedure="nexus")) as here:
        await to_a_win(here, ANN)
        await here.give(Confirm("bob"))

        for card in (LOST, ANN):
            assert (await here.swipe(card)).result == "refused"
        assert (await here.swipe("garbled")).result == "refused"
        assert here.step == "confirmed"

    refusals = [(event["who"], event["code"]) for event in here.record("access_refused")]
    assert refusals == [(None, "unknown_card"), ("Ann", "not_of_role")]
    written = (tmp_path / "table.db").read_bytes() + (tmp_path / "operators.db").read_bytes()
    assert not [card for card in (BOB, EVE, ANN, LOST) if card[:10].encode() in written]


async def test_an_award_above_the_threshold_needs_an_executives_card(tmp_path):
    async with at_a_table(tmp_path, settings(procedure="nexus", executive_from=100_000)) as here:
        await to_a_win(here, BOB, EVE)
        await here.give(Confirm("bob"))

        refused_ = await here.swipe(BOB)

        assert refused_.text == "an award of 2,500.10 needs an Executive card: swipe one"
        assert (await here.swipe(EVE)).result == "accepted"
        assert here.step == "adjusted"


async def test_an_executive_award_asks_for_the_password_where_the_house_wants_it(tmp_path):
    own = settings(procedure="nexus", executive_from=100_000)
    async with at_a_table(tmp_path, own, second_factor=True) as here:
        await to_a_win(here, EVE)
        await here.give(Confirm("bob"))
        gate = Gate(here.accounts, here.table.engine, Policy(15, 3, 15, 10))

        async def password(written: str) -> str:
            try:
                return (await here.cards.confirm(written, "127.0.0.1", gate.second_factor)).result
            except NotLetInError as refusal:
                return refusal.code

        assert await password(PASSWORD) == "refused"  # nobody has swiped
        asked = await here.swipe(EVE)
        assert (asked.result, here.step) == ("second_factor", "confirmed")
        assert waiting(here) == "Eve"
        assert await password("wrong password") == "refused"
        here.now = 29.9
        assert waiting(here) == "Eve"
        here.now = 30.0
        assert waiting(here) is None
        assert await password(PASSWORD) == "refused"
        await here.swipe(EVE)
        assert (await here.swipe(LOST)).result == "refused"
        assert waiting(here) is None  # another card took its place
        await here.swipe(EVE)
        await here.give(HandButton(5, "ann"))
        assert waiting(here) is None  # the confirmation was taken back
        await here.give(HandButton(5, "ann"), Confirm("bob"))

        async def at_last(owner: Account, *_: str) -> Account:
            here.now += 30
            return owner

        await here.swipe(EVE)
        assert (await here.cards.confirm(PASSWORD, "127.0.0.1", at_last)).result == "refused"
        assert here.step == "confirmed"  # it took longer than a swipe waits
        await here.swipe(EVE)

        assert await password(PASSWORD) == "accepted"

        assert (here.step, here.meter) == ("adjusted", 750_030)
        assert waiting(here) is None
    assert [(event["who"], event["code"]) for event in here.record("access_refused")] == [
        ("Eve", "wrong_password"),
        (None, "unknown_card"),
    ]


async def test_a_password_completes_the_award_that_its_card_was_swiped_for_and_no_other(tmp_path):
    async with at_a_table(
        tmp_path, settings(procedure="nexus", executive_from=1, base_wagers="unseen"), second_factor=True
    ) as here:
        await to_a_win(here, EVE)
        await here.give(Confirm("bob"))
        assert (await here.swipe(EVE)).result == "second_factor"
        await here.give(HandButton(2, "ann"), Confirm("bob"))  # the same step, for seat 5 alone

        async def right(owner: Account, *_: object) -> Account:
            return owner

        answer = await here.cards.confirm(PASSWORD, "127.0.0.1", right)

        assert (answer.result, here.step) == ("refused", "confirmed")
        assert here.record("swipe_card") == []
        await here.give(HandButton(2, "ann"), Confirm("bob"))
        assert (await here.cards.confirm(PASSWORD, "127.0.0.1", right)).result == "refused"


async def test_wrong_passwords_after_a_swipe_lock_out_as_at_sign_on(tmp_path):
    own = settings(procedure="nexus", executive_from=100_000)
    async with at_a_table(tmp_path, own, second_factor=True) as here:
        await to_a_win(here, EVE)
        await here.give(Confirm("bob"))
        gate = Gate(here.accounts, here.table.engine, Policy(15, 2, 15, 10))
        await here.swipe(EVE)
        codes = []
        for written in ("wrong password", "wrong password", PASSWORD):
            with pytest.raises(NotLetInError) as refused_:
                await here.cards.confirm(written, "127.0.0.1", gate.second_factor)
            codes.append(refused_.value.code)

        assert codes == ["refused", "locked_out", "locked_out"]
        assert here.step == "confirmed"


async def test_a_supervisors_award_asks_an_executive_for_no_password(tmp_path):
    async with at_a_table(tmp_path, settings(procedure="nexus"), second_factor=True) as here:
        await to_a_win(here, EVE)
        await here.give(Confirm("bob"))

        assert (await here.swipe(EVE)).result == "accepted"


async def test_accounts_that_cannot_be_read_complete_no_award_and_end_nothing(tmp_path):
    async with at_a_table(tmp_path, settings(procedure="nexus")) as here:
        await to_a_win(here, BOB)
        await here.give(Confirm("bob"))
        with closing(sqlite3.connect(tmp_path / "operators.db")) as database:
            database.execute("DROP TABLE accounts")

        answer = await here.swipe(BOB)

        assert (answer.result, answer.text) == ("refused", "the accounts cannot be read: call a technician")
        assert here.step == "confirmed"


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
            await move(here)
            assert here.step == step
            before = here.table.state.progressive

            await lose_power(here)

            await here.until(
                lambda before=before: here.table.state.progressive == before, f"it is {step} as before"
            )
        assert here.meter == 750_030


@pytest.mark.parametrize(
    "faults", [Faults(delay=0.2), Faults(double=1.0), Faults(drop=0.15, double=0.3, noise=0.3)]
)
async def test_devices_that_answer_late_or_twice_or_on_a_bad_line_play_the_same_game(tmp_path, faults):
    async with switched_on(tmp_path, faults) as devices, at_a_table(tmp_path, devices=devices) as here:
        await here.open()
        for step, move in AQUARIUS:
            await move(here)
            assert here.step == step
        assert here.meter == 750_030
    assert len(here.record("hand_button")) == 2
    assert [len(here.record(kind)) for kind in ("start_game", "jpot", "turn_key", "game_over")] == [
        1,
        1,
        2,
        1,
    ]


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
        monkeypatch.setattr(engine, "datetime", _BackwardClock)
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
        assert here.table.state.progressive == before


async def test_a_start_that_was_latched_and_not_recorded_is_none_after_a_kill(tmp_path, monkeypatch):
    async with switched_on(tmp_path) as devices:
        async with at_a_table(tmp_path, devices=devices) as here:
            await here.open()
            await here.wager(2)
            monkeypatch.setattr(here.spots, "_latched", nothing)  # it is killed before it could be recorded
            starting = asyncio.create_task(here.start())
            await here.until(lambda: devices.sensors.device.round == 1, "the sensors have latched it")
            starting.cancel()
        async with at_a_table(tmp_path, devices=devices) as here:
            await here.heard()
            await here.until(
                lambda: devices.sensors.device.round == 0, "the sensors are told that it is over"
            )
            assert here.step == "betting"
            assert here.record("start_game") == []
            await here.table.hello()
            await here.recognised()  # its coin has been in that start: it must be laid anew
            assert (here.hand.spent, [event["seat"] for event in here.record("wager_voided")]) == ((2,), [2])
            devices.sensors.take(2)
            devices.sensors.put(2)
            await here.recognised(2)
            assert (await here.start()).refusal is None
            assert here.hand.wagers == (2,)


@pytest.mark.parametrize("told", [False, True])
async def test_a_coin_that_was_latched_and_is_not_on_the_record_must_be_laid_anew(
    tmp_path, monkeypatch, told
):
    async with switched_on(tmp_path) as devices:
        async with at_a_table(tmp_path, devices=devices) as here:
            await here.open()
            if told:
                monkeypatch.setattr(here.spots, "_take", nothing)  # it is killed before it could be recorded
            else:
                monkeypatch.setattr(devices.sensors, "_data_to_send", lambda _: [])
            devices.sensors.put(2)
            starting = asyncio.create_task(here.start())
            await here.until(lambda: devices.sensors.device.round == 1, "the sensors have latched it")
            starting.cancel()
        monkeypatch.undo()
        async with at_a_table(tmp_path, devices=devices) as here:
            await here.heard()
            await here.until(lambda: here.hand.spent == (2,), "the record says what must be laid anew")
            assert here.record("wager_placed", "start_game") == []
            await here.recognised()
            devices.sensors.take(2)
            devices.sensors.put(2)
            await here.recognised(2)
            await here.table.hello()
            assert (await here.start()).refusal is None
            assert here.hand.wagers == (2,)


async def test_a_seat_that_has_no_sensor_any_more_has_nothing_to_lay_anew(tmp_path):
    async with switched_on(tmp_path) as devices:
        async with at_a_table(tmp_path, devices=devices) as here:
            await here.open()
            await here.wager(2, 5, 6)
            assert (await here.start()).refusal is None
            await a_game_to_its_end(here)
            here.sensors.take(6)
            here.sensors.put(6)
            await here.recognised(6)
        async with at_a_table(tmp_path, devices=devices, sensors=5) as here:
            assert (here.hand.sensors, here.hand.spent) == ((), (2, 5))
            await here.heard()
            await here.recognised()
            assert (here.hand.sensors, here.hand.spent) == ((), (2, 5))


async def nothing(_: object) -> None:
    """Do nothing of it."""
