"""A round of Aquarius at the keypad, at a real engine with its record: each step, and each refusal."""

import asyncio

import pytest

from punto.baccarat.table.order_kinds import SignOn
from punto.controller.config.devices import KeypadConfig
from punto.controller.devices.keypad_door import KeypadDoor
from punto.drivers.keypad.serial_line import SerialKeypad
from tests.baccarat.table.croupier import settings as table_settings
from tests.controller.progressive_devices import SUITED, AtATable, at_a_table, switched_on
from tests.controller.table_in_this_process import table
from tests.deadline import DEADLINE


async def refused(here: AtATable, keys: str) -> str:
    """What the keypad shows of a press that must be refused."""
    answer = await here.press(keys)
    assert answer.result == "refused", answer
    return answer.text


async def test_a_round_is_played_at_the_keypad_with_each_refusal(tmp_path):
    async with at_a_table(tmp_path) as here:
        await here.open()
        await here.wager(2, 5)
        assert "the game is not started" in await refused(here, "F8")
        assert "the game is not started" in await refused(here, "F6 2")

        answer = await here.press("F5")
        assert (answer.result, answer.text) == ("done", "START GAME: seats with a wager: 2 5")
        assert here.meter == 1_000_040
        assert "this game is already started" in await refused(here, "F5")
        assert "the hand is not over" in await refused(here, "F6 2")
        assert "the hand is not over" in await refused(here, "F8")
        assert "no seat can be selected yet" in await refused(here, "F7")

        await here.deal(SUITED)
        assert "seat 3 has no progressive wager" in await refused(here, "F6 3")
        assert "the key is at RUN" in await refused(here, "F7")
        assert "is not confirmed" in await refused(here, "F8")
        await here.turn("jph")
        assert "no hand is selected" in await refused(here, "F7")
        assert (await here.press("F6 2")).text == "seat 2 is selected"
        assert "seat 5 also won" in await refused(here, "F7")
        assert (await here.press("F6 KP5")).text == "seat 5 is selected"
        assert (await here.press("F6 5")).text == "seat 5 is no longer selected"
        await here.press("F6 5")
        assert "the key is at JPH" in await refused(here, "F8")

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
    in_run, in_jph = ["ann"], ["key switch"]  # whose J-POT it is; each refusal of them is on the record
    assert [event["who"] for event in here.record("jpot")] == 2 * in_run + 4 * in_jph + in_run
    assert here.sources("jpot") == {"keypad, ann at the table"}
    assert {event["who"] for event in here.record("hand_button", "start_game", "game_over")} == {"ann"}


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
            here.table.engine,
            here.table.outbox,
            here.keypad,
            KeypadConfig(port="/dev/keypad", start_label="COIN IN"),
        )

        assert (await door.press("F8")).text == "the game is not started: press COIN IN before this order"


@pytest.mark.punctual
async def test_a_keypad_that_bounces_takes_no_hand_back(tmp_path):
    async with at_a_table(tmp_path) as here:
        await here.open()
        await here.wager(2)
        await here.press("F5")
        await here.deal(SUITED)
        here.devices.keypad.press("F6")
        answers = [here.devices.keypad.press(key) for key in ("2", "2")]

        async with asyncio.timeout(DEADLINE):
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
            here.table.engine,
            here.table.outbox,
            here.keypad,
            KeypadConfig(port="/dev/keypad", key_switch=True),
        )  # a service that has just come up, and a keypad that is not there yet

        assert (await door.press("F7")).text.startswith("the position of the key switch is not known")
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


@pytest.mark.punctual
async def test_a_start_that_bounces_shows_why_it_was_refused(tmp_path, monkeypatch):
    async with at_a_table(tmp_path) as here:
        await here.open()
        await here.wager(2)
        monkeypatch.setattr(here.sensors, "_data_to_send", lambda _: [])
        async with asyncio.timeout(DEADLINE):
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
        door = KeypadDoor(
            own.engine, own.outbox, SerialKeypad("/dev/keypad", 115_200), KeypadConfig(port="/dev/keypad")
        )
        before = own.engine.seq

        for keys in ("F8", "F7"):
            assert "this table has no progressive" in (await door.press(keys)).text
        await door.turned("jph")
        assert own.engine.seq == before
