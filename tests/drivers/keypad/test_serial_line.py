"""What a keypad's driver does besides what all serial drivers do (tests/drivers/test_serial_devices.py)."""

import asyncio
from itertools import groupby

import pytest

from punto.drivers.base import KeypadLamps, KeyPosition
from punto.simulators.keypad import VirtualKeypad
from punto.simulators.line import Faults
from tests.deadline import DEADLINE
from tests.drivers.benches import KeypadBench, going, until


@pytest.fixture
def at(tmp_path) -> KeypadBench:
    return KeypadBench(tmp_path)


async def test_keys_pressed_faster_than_they_are_answered_come_in_order_each_with_its_answer(at):
    async with at.running(), asyncio.timeout(DEADLINE):
        answers = await asyncio.gather(*(at.far.press(key) for key in ("9", "S", "F2")))

    assert at.user.got == ["9", "S", "F2"]
    assert [answer.text for answer in answers] == ["9 is done", "S is done", "F2 is done"]
    assert at.counters["presses"] == 3


async def test_a_loss_of_power_is_reported_however_short(at):
    async with at.running():
        assert await at.does(0)
        assert at.user.restarts == 1
        at.far.lose_power()
        assert await at.does(1)

        assert at.user.restarts == 2


async def test_the_keypad_is_not_without_its_host_while_an_order_takes_long(at):
    at.user.busy = asyncio.Event()
    async with at.running():
        waiting = at.do(0)
        await asyncio.sleep(1.5)
        await until(lambda: at.far.connected)  # a machine that stood still has lost it only for a moment
        at.user.busy.set()
        assert await waiting


async def test_presses_from_before_the_host_are_not_orders(at):
    """A terminal keeps what nobody has read."""
    async with going(at.far.run()), asyncio.timeout(DEADLINE):
        await until(lambda: at.far.path)
        waiting = at.far.press("F2")
        await asyncio.sleep(1.2)  # the press must grow old, on the line and in the keypad
        async with going(at.driver.run(at.user)):
            assert (await waiting).result == "refused"

    assert at.user.got == []


async def test_the_lamps_follow_the_table(at):
    async with at.running():
        await until(lambda: at.far.device.lamps == KeypadLamps(ready=True))
        at.user.shown = KeypadLamps(card=True, stopped=True)
        await until(lambda: at.far.device.lamps == KeypadLamps(card=True, stopped=True))


TURNS: tuple[KeyPosition, ...] = ("run", "jph", "run")


def without_repeats(positions: list[KeyPosition]) -> list[KeyPosition]:
    return [each for each, _ in groupby(positions)]


async def test_the_position_of_the_key_is_reported_once_over_a_bad_line_and_again_to_whoever_may_not_know_it(
    at,
):
    faults = Faults(drop=0.2, double=0.3, noise=0.3, delay=0.15)
    at.far = VirtualKeypad(at.link, faults=faults, seed="test", key="run")
    async with at.running():
        changes, turned = at.user.changes, list[KeyPosition]()
        for position in TURNS:
            at.far.turn(position)
            turned.append(position)
            await until(lambda: without_repeats(at.user.positions) == turned)
        await asyncio.sleep(0.5)  # in which it may be sent again
        # A keypad that a machine without time has lost reports its position to whoever may not know it.
        assert len(at.user.positions) <= 3 + at.user.changes - changes

        so_far = len(at.user.positions)
        at.far.lose_power()
        await until(lambda: len(at.user.positions) > so_far)

    at.driver, at.user = at.new_driver(), at.new_user()
    async with at.running():
        await until(lambda: at.user.positions == ["run"])


async def test_a_press_that_the_keypad_has_no_room_for_is_reported_to_whoever_pressed(at):
    for _ in range(8):
        at.far.press("F1")
    with pytest.raises(ValueError, match="too many presses wait"):
        at.far.press("F1")
