"""The driver on real pseudo-terminals: every press once, whatever becomes of the line and its answers."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from punto.drivers import serial_device
from punto.drivers.base import KeyAnswer, KeypadDriver, KeypadLamps, KeyPosition
from punto.drivers.keypad.frames import Answer
from punto.drivers.keypad.keys import DEFAULT
from punto.drivers.keypad.serial_line import SerialKeypad
from punto.drivers.serial_port import Port, PortLostError
from punto.simulators.keypad import VirtualKeypad
from punto.simulators.line import Faults

BAUD = 115_200


class User:
    """Takes the presses as the door does, and remembers them."""

    def __init__(self) -> None:
        self.pressed: list[str] = []
        self.positions: list[KeyPosition] = []
        self.shown = KeypadLamps(ready=True)
        self.changes = 0
        self.error: Exception | None = None
        self.busy: asyncio.Event | None = None

    async def press(self, key: str) -> KeyAnswer:
        self.pressed.append(key)
        if self.busy is not None:
            await self.busy.wait()
        if self.error is not None:
            raise self.error
        return KeyAnswer("done", f"{key} is done")

    async def turned(self, position: KeyPosition) -> None:
        self.positions.append(position)

    def lamps(self) -> KeypadLamps:
        return self.shown

    def link_changed(self) -> None:
        self.changes += 1


class At:
    """A keypad, the driver, and who takes the presses."""

    def __init__(self, link: Path, faults: Faults | None = None, key: KeyPosition | None = None) -> None:
        self.link = link
        self.keypad = VirtualKeypad(link, faults=faults, seed="test", key=key)
        self.driver = SerialKeypad(str(link), BAUD)
        self.user = User()

    @property
    def reason(self) -> str:
        return self.driver.health().reason

    async def press(self, key: str) -> Answer:
        async with asyncio.timeout(60):
            return await self.keypad.press(key)

    async def connected(self) -> None:
        await until(lambda: self.keypad.connected and self.driver.health().connected)


async def until(so: Callable[[], object], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not so():
        if time.monotonic() > end:
            raise TimeoutError
        await asyncio.sleep(0.005)


@asynccontextmanager
async def running(at: At, *, plugged_in: bool = True) -> AsyncIterator[At]:
    tasks = [asyncio.create_task(at.driver.run(at.user))]
    if plugged_in:
        tasks.append(asyncio.create_task(at.keypad.run()))
        await at.connected()
    try:
        yield at
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        for task in tasks:
            with suppress(asyncio.CancelledError):
                task.result()


@pytest.fixture
def at(tmp_path):
    return At(tmp_path / "keypad")


async def test_every_key_of_the_default_map_arrives_in_order(at):
    driver: KeypadDriver = at.driver
    keys = sorted({key for keys in DEFAULT for key in keys.split()})
    async with running(at):
        for key in keys:
            answer = await at.press(key)
            assert (answer.result, answer.text) == ("done", f"{key} is done")

    assert at.user.pressed == keys
    assert driver.health().counters["presses"] == len(keys)


async def test_keys_pressed_faster_than_they_are_answered_come_in_order(at):
    async with running(at):
        waiting = [at.keypad.press(key) for key in ("9", "S", "F2")]
        async with asyncio.timeout(60):
            await asyncio.gather(*waiting)

    assert at.user.pressed == ["9", "S", "F2"]


@pytest.mark.parametrize(
    "faults",
    [
        Faults(double=1.0),
        Faults(drop=0.3),
        Faults(noise=0.7),
        Faults(delay=0.25),
        Faults(drop=0.2, double=0.3, noise=0.3, delay=0.15),
    ],
)
async def test_a_bad_line_makes_of_each_press_one_press_or_a_refusal(tmp_path, faults):
    at = At(tmp_path / "keypad", faults)
    keys = [f"F{n}" for n in range(1, 13)]
    done = []
    async with running(at):
        for key in keys:
            answer = await at.press(key)
            if answer.result == "done":
                done.append(key)
            else:
                assert "too late" in answer.text

    # What was refused never arrived; what arrived was told so, or the answer came from the link's memory.
    assert at.user.pressed == done
    assert len(done) >= len(keys) // 2


async def test_an_answer_that_is_lost_is_said_again_and_the_press_is_not_given_again(at):
    async with running(at):
        at.user.busy = asyncio.Event()
        waiting = at.keypad.press("F2")
        await until(lambda: at.user.pressed)
        at.keypad.unplug()  # in mid-press: the answer finds no cable
        at.user.busy.set()
        await until(lambda: not at.driver.health().connected)
        at.keypad.plug()
        async with asyncio.timeout(60):
            answer = await waiting

    assert answer.text == "F2 is done"
    assert at.user.pressed == ["F2"]


async def test_a_press_while_the_cable_is_out_is_refused_when_it_is_back(at):
    async with running(at):
        at.keypad.unplug()
        await until(lambda: not at.driver.health().connected)
        waiting = at.keypad.press("F2")
        await asyncio.sleep(1.1)  # the rule is about time: the press must grow old
        at.keypad.plug()
        async with asyncio.timeout(60):
            answer = await waiting
        assert (answer.result, at.user.pressed) == ("refused", [])
        assert "too late" in answer.text

        assert (await at.press("F2")).result == "done"


@pytest.mark.punctual
async def test_a_cable_that_is_pulled_is_seen_at_once_and_one_that_is_back_too(at):
    loop = asyncio.get_running_loop()
    async with running(at):
        pulled = loop.time()
        at.keypad.unplug()
        await until(lambda: not at.driver.health().connected)
        assert loop.time() - pulled < 1
        assert at.reason == f"the port {at.link} went away: check the keypad's cable"
        await until(lambda: at.reason.startswith("there is no port"))
        plugged = loop.time()
        at.keypad.plug()
        await at.connected()
        assert loop.time() - plugged < 2

    assert at.user.changes >= 4


@pytest.mark.punctual
async def test_a_keypad_without_power_is_seen_within_a_second_and_counts_anew(at):
    async with running(at):
        await at.press("F1")
        at.keypad.lose_power()
        assert (await at.press("F1")).result == "done"

    assert at.user.pressed == ["F1", "F1"]


async def test_a_silent_keypad_is_lost_with_a_reason_and_its_port_opened_anew(at, monkeypatch):
    monkeypatch.setattr(serial_device, "REOPEN_SECONDS", 1.0)
    async with running(at):
        deaf = at.keypad.device.receive
        monkeypatch.setattr(at.keypad.device, "receive", lambda *_: None)
        await until(lambda: not at.driver.health().connected)
        assert at.reason == "no sign of life for 0.8 s: check the keypad's cable"
        before = at.driver.health().counters["connections"]
        await until(lambda: at.driver.health().counters["connections"] > before)
        monkeypatch.setattr(at.keypad.device, "receive", deaf)
        await at.connected()


async def test_a_port_whose_link_leads_elsewhere_is_left(at, tmp_path):
    async with running(at):
        other = VirtualKeypad(at.link, "VK-000002")
        at.keypad.device.receive = lambda *_: None  # the old line stays open and is silent
        task = asyncio.create_task(other.run())
        await until(lambda: at.driver.health().serial == "VK-000002")
        assert (await other.press("F1")).result == "done"
        task.cancel()
        await asyncio.wait([task])


async def test_two_programs_cannot_have_one_keypad(at):
    async with running(at):
        with pytest.raises(PortLostError, match="another program holds"):
            Port(str(at.link), BAUD, "another")
        other = SerialKeypad(str(at.link), BAUD)
        user = User()
        task = asyncio.create_task(other.run(user))
        await until(lambda: "another program holds" in other.health().reason)
        assert (await at.press("F1")).result == "done"
        task.cancel()
        await asyncio.wait([task])

    assert (at.user.pressed, user.pressed) == (["F1"], [])


async def test_a_keypad_that_is_not_there_is_waited_for(at):
    async with running(at, plugged_in=False):
        await until(lambda: at.reason.startswith(f"there is no port {at.link}: check the keypad's cable"))
        task = asyncio.create_task(at.keypad.run())
        await at.connected()
        task.cancel()
        await asyncio.wait([task])

    assert at.driver.health().counters["connections"] == 1


async def test_presses_from_before_the_host_are_no_orders(at):
    """A terminal keeps what nobody has read."""
    keypad = asyncio.create_task(at.keypad.run())
    await until(lambda: at.keypad.path)
    waiting = at.keypad.press("F2")
    await asyncio.sleep(1.2)  # the press must grow old, on the line and in the keypad
    driver = asyncio.create_task(at.driver.run(at.user))
    async with asyncio.timeout(60):
        assert (await waiting).result == "refused"

    assert at.user.pressed == []
    for task in (keypad, driver):
        task.cancel()
        await asyncio.wait([task])


async def test_the_lamps_follow_the_table(at):
    async with running(at):
        await until(lambda: at.keypad.device.lamps == KeypadLamps(ready=True))
        at.user.shown = KeypadLamps(card=True, stopped=True)
        await until(lambda: at.keypad.device.lamps == KeypadLamps(card=True, stopped=True))


async def test_what_the_user_raises_escapes(at):
    at.user.error = RuntimeError("the record cannot be written")
    keypad = asyncio.create_task(at.keypad.run())
    driver = asyncio.create_task(at.driver.run(at.user))
    await at.connected()
    waiting = at.keypad.press("F1")
    with pytest.raises(RuntimeError, match="the record cannot be written"):
        await driver
    waiting.cancel()
    keypad.cancel()
    await asyncio.wait([keypad])


@pytest.mark.parametrize(
    "faults",
    [Faults(), Faults(double=1.0), Faults(drop=0.3), Faults(drop=0.2, double=0.3, noise=0.3, delay=0.15)],
)
async def test_a_key_that_is_turned_is_told_once_over_any_line(tmp_path, faults):
    at = At(tmp_path / "keypad", faults, key="run")
    async with running(at):
        await until(lambda: at.user.positions == ["run"])
        at.keypad.turn("jph")
        await until(lambda: len(at.user.positions) == 2)
        at.keypad.turn("run")
        await until(lambda: len(at.user.positions) == 3)
        await asyncio.sleep(0.5)  # in which it may be said again

    assert at.user.positions == ["run", "jph", "run"]


async def test_where_the_key_stands_is_told_anew_after_a_loss_of_power_and_to_another_host(tmp_path):
    at = At(tmp_path / "keypad", key="jph")
    async with running(at):
        await until(lambda: at.user.positions == ["jph"])
        at.keypad.unplug()
        at.keypad.turn("run")
        at.keypad.turn("jph")
        at.keypad.plug()
        await until(lambda: len(at.user.positions) == 2)
        at.keypad.lose_power()
        await until(lambda: at.user.positions == ["jph"] * 3)

    at.driver, at.user = SerialKeypad(str(at.link), BAUD), User()
    async with running(at):
        await until(lambda: at.user.positions == ["jph"])


async def test_a_keypad_is_not_lost_while_an_order_takes_long(at):
    at.user.busy = asyncio.Event()
    async with running(at):
        waiting = at.keypad.press("F5")
        await until(lambda: at.user.pressed)
        for _ in range(15):
            await asyncio.sleep(0.1)
            assert at.keypad.connected
        at.user.busy.set()
        assert (await waiting).result == "done"

    assert at.driver.health().counters["silences"] == 0


async def test_junk_on_the_line_is_no_press(at):
    async with running(at):
        for _ in range(50):
            at.keypad._terminal.write(os.urandom(300))
            await asyncio.sleep(0)
        assert (await at.press("F1")).result == "done"

    assert at.user.pressed == ["F1"]


async def test_a_press_more_than_the_keypad_can_keep_is_told_to_whoever_pressed(at):
    for _ in range(8):
        at.keypad.press("F1")
    with pytest.raises(ValueError, match="too many presses wait"):
        at.keypad.press("F1")


@pytest.mark.parametrize("wrong", [{"drop": 1.1}, {"double": -0.1}, {"noise": 2}, {"delay": 61}])
def test_a_fault_that_cannot_be_is_refused(wrong):
    with pytest.raises(ValueError, match="must be from 0 to"):
        Faults(**wrong)
