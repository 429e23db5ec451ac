"""What a keypad's driver does besides what all serial drivers do (tests/drivers/test_serial_devices.py)."""

import asyncio

import pytest

from punto.drivers.base import KeypadDriver, KeypadLamps, KeyPosition
from punto.drivers.keypad.frames import Answer
from punto.drivers.keypad.keys import DEFAULT
from punto.simulators.keypad import VirtualKeypad
from punto.simulators.line import Faults
from tests.drivers.benches import KeypadBench, until


def bench(folder, faults=None, key: KeyPosition | None = None) -> KeypadBench:
    at = KeypadBench(folder)
    at.far = VirtualKeypad(at.link, faults=faults, seed="test", key=key)
    return at


@pytest.fixture
def at(tmp_path) -> KeypadBench:
    return bench(tmp_path)


async def press(at, key: str) -> Answer:
    answer: Answer
    async with asyncio.timeout(60):
        answer = await at.far.press(key)
    return answer


async def test_every_key_of_the_default_map_arrives_in_order(at):
    driver: KeypadDriver = at.driver
    keys = sorted({key for keys in DEFAULT for key in keys.split()})
    async with at.running():
        for key in keys:
            answer = await press(at, key)
            assert (answer.result, answer.text) == ("done", f"{key} is done")

    assert at.user.got == keys
    assert driver.health().counters["presses"] == len(keys)


async def test_a_loss_of_power_is_told_however_short(at):
    async with at.running():
        await press(at, "9")
        assert at.user.restarts == 1
        at.far.lose_power()
        await press(at, "S")

        assert at.user.restarts == 2
        assert at.driver.health().counters["silences"] == 0


async def test_keys_pressed_faster_than_they_are_answered_come_in_order(at):
    async with at.running():
        waiting = [at.far.press(key) for key in ("9", "S", "F2")]
        async with asyncio.timeout(60):
            await asyncio.gather(*waiting)

    assert at.user.got == ["9", "S", "F2"]


async def test_an_answer_that_is_lost_is_said_again_and_the_press_is_not_given_again(at):
    async with at.running():
        at.user.busy = asyncio.Event()
        waiting = at.far.press("F2")
        await until(lambda: at.user.got)
        at.far.unplug()  # in mid-press: the answer finds no cable
        at.user.busy.set()
        await until(lambda: not at.driver.health().connected)
        at.far.plug()
        async with asyncio.timeout(60):
            answer = await waiting

    assert answer.text == "F2 is done"
    assert at.user.got == ["F2"]


async def test_a_press_while_the_cable_is_out_is_refused_when_it_is_back(at):
    async with at.running():
        at.far.unplug()
        await until(lambda: not at.driver.health().connected)
        waiting = at.far.press("F2")
        await asyncio.sleep(1.1)  # the rule is about time: the press must grow old
        at.far.plug()
        async with asyncio.timeout(60):
            answer = await waiting
        assert (answer.result, at.user.got) == ("refused", [])
        assert "too late" in answer.text

        assert (await press(at, "F2")).result == "done"


@pytest.mark.punctual
async def test_a_keypad_without_power_is_seen_within_a_second_and_counts_anew(at):
    async with at.running():
        await press(at, "F1")
        at.far.lose_power()
        assert (await press(at, "F1")).result == "done"

    assert at.user.got == ["F1", "F1"]


async def test_presses_from_before_the_host_are_no_orders(at):
    """A terminal keeps what nobody has read."""
    keypad = asyncio.create_task(at.far.run())
    await until(lambda: at.far.path)
    waiting = at.far.press("F2")
    await asyncio.sleep(1.2)  # the press must grow old, on the line and in the keypad
    driver = asyncio.create_task(at.driver.run(at.user))
    async with asyncio.timeout(60):
        assert (await waiting).result == "refused"

    assert at.user.got == []
    for task in (keypad, driver):
        task.cancel()
        await asyncio.wait([task])


async def test_the_lamps_follow_the_table(at):
    async with at.running():
        await until(lambda: at.far.device.lamps == KeypadLamps(ready=True))
        at.user.shown = KeypadLamps(card=True, stopped=True)
        await until(lambda: at.far.device.lamps == KeypadLamps(card=True, stopped=True))


@pytest.mark.parametrize(
    "faults",
    [Faults(), Faults(double=1.0), Faults(drop=0.3), Faults(drop=0.2, double=0.3, noise=0.3, delay=0.15)],
)
async def test_a_key_that_is_turned_is_told_once_over_any_line(tmp_path, faults):
    at = bench(tmp_path, faults, key="run")
    async with at.running():
        await until(lambda: at.user.positions == ["run"])
        at.far.turn("jph")
        await until(lambda: len(at.user.positions) == 2)
        at.far.turn("run")
        await until(lambda: len(at.user.positions) == 3)
        await asyncio.sleep(0.5)  # in which it may be said again

    assert at.user.positions == ["run", "jph", "run"]


async def test_where_the_key_stands_is_told_anew_after_a_loss_of_power_and_to_another_host(tmp_path):
    at = bench(tmp_path, key="jph")
    async with at.running():
        await until(lambda: at.user.positions == ["jph"])
        at.far.unplug()
        at.far.turn("run")
        at.far.turn("jph")
        at.far.plug()
        await until(lambda: len(at.user.positions) == 2)
        at.far.lose_power()
        await until(lambda: at.user.positions == ["jph"] * 3)

    at.driver, at.user = at.new_driver(), at.new_user()
    async with at.running():
        await until(lambda: at.user.positions == ["jph"])


async def test_a_keypad_is_not_lost_while_an_order_takes_long(at):
    at.user.busy = asyncio.Event()
    async with at.running():
        waiting = at.far.press("F5")
        await until(lambda: at.user.got)
        for _ in range(15):
            await asyncio.sleep(0.1)
            assert at.far.connected
        at.user.busy.set()
        assert (await waiting).result == "done"

    assert at.driver.health().counters["silences"] == 0


async def test_a_press_more_than_the_keypad_can_keep_is_told_to_whoever_pressed(at):
    for _ in range(8):
        at.far.press("F1")
    with pytest.raises(ValueError, match="too many presses wait"):
        at.far.press("F1")


@pytest.mark.parametrize("wrong", [{"drop": 1.1}, {"double": -0.1}, {"noise": 2}, {"delay": 61}])
def test_a_fault_that_cannot_be_is_refused(wrong):
    with pytest.raises(ValueError, match="must be from 0 to"):
        Faults(**wrong)
