"""The keypad as a Linux input device, by the kernel's own event structures: these machines have no input devices.

The device's descriptor is a pipe's, and what would be asked of the kernel beside reading is remembered.
"""

import asyncio
import errno
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

import pytest
from evdev import DeviceInfo, ecodes
from hypothesis import given
from hypothesis import strategies as st

from punto.drivers import input_device
from punto.drivers.base import KeyAnswer, KeypadDriver, KeypadLamps, KeyPosition
from punto.drivers.input_device import EVENT, PressReader, key_names, why_not_open
from punto.drivers.keypad.input_device import InputKeypad
from punto.drivers.keypad.keys import DEFAULT
from punto.drivers.retried import DeviceLostError
from tests.drivers.benches import until
from tests.service.table_on_a_machine import HERE

# What a USB keypad's driver gives for a key, as `evtest` shows it: the scan code, the key, the report.
SCAN = (ecodes.EV_MSC, ecodes.MSC_SCAN, 0x7003A)
REPORT = (ecodes.EV_SYN, ecodes.SYN_REPORT, 0)
DROPPED = (ecodes.EV_SYN, ecodes.SYN_DROPPED, 0)

NAMES = key_names()
CODES = {name: code for code, name in NAMES.items()}


def recorded(*events: tuple[int, int, int], at: float | None = None) -> bytes:
    """The structures as a read of the device gives them."""
    seconds, rest = divmod(time.time() if at is None else at, 1)
    return b"".join(EVENT.pack(int(seconds), int(rest * 1e6), *event) for event in events)


def stroke(name: str, *, held: int = 0) -> list[tuple[int, int, int]]:
    """A key pressed, perhaps held until it repeats so often, and released."""
    key = (ecodes.EV_KEY, CODES[name])
    repeats = [event for _ in range(held) for event in ((*key, 2), REPORT)]
    return [SCAN, (*key, 1), REPORT, *repeats, SCAN, (*key, 0), REPORT]


def names(data: bytes) -> list[str]:
    return [name for name, _ in PressReader(NAMES).feed(data)]


# --- the structures


@pytest.mark.parametrize("key", sorted({key for keys in DEFAULT for key in keys.split()}))
def test_every_key_of_the_default_map_is_a_key_of_linux(key):
    assert names(recorded(*stroke(key))) == [key]


def test_a_stroke_as_the_kernel_lays_it_out():
    """F1 on a machine of 64 bits with the lowest byte first."""
    laid_out = bytes.fromhex(
        "40420f6a00000000 87d6120000000000 0400 0400 3a000700"
        "40420f6a00000000 87d6120000000000 0100 3b00 01000000"
        "40420f6a00000000 87d6120000000000 0000 0000 00000000"
    )

    assert list(PressReader(NAMES).feed(laid_out)) == [("F1", 0x6A0F4240 + 1.234567)]


def test_a_key_that_is_held_is_one_press():
    assert names(recorded(*stroke("F2", held=20))) == ["F2"]


def test_two_keys_at_once_are_both_pressed_in_order():
    nine, spade = (ecodes.EV_KEY, CODES["9"]), (ecodes.EV_KEY, CODES["S"])

    assert names(recorded((*nine, 1), REPORT, (*spade, 1), REPORT, (*nine, 0), (*spade, 0), REPORT)) == [
        "9",
        "S",
    ]


def test_what_is_no_key_is_no_press():
    moved = (ecodes.EV_REL, ecodes.REL_X, 1)
    light = (ecodes.EV_LED, ecodes.LED_NUML, 1)

    assert names(recorded(moved, REPORT, light, REPORT, SCAN, REPORT)) == []


def test_which_keys_are_down_is_known_at_each_press():
    reader = PressReader(NAMES)
    shift, nine = (ecodes.EV_KEY, CODES["LEFTSHIFT"]), (ecodes.EV_KEY, CODES["9"])
    data = recorded(
        (*shift, 1), (*nine, 1), (*nine, 0), (*shift, 2), (*shift, 0), (*nine, 1), REPORT, DROPPED
    )

    assert [(name, set(reader.down)) for name, _ in reader.feed(data)] == [
        ("LEFTSHIFT", {"LEFTSHIFT"}),
        ("9", {"LEFTSHIFT", "9"}),
        ("9", {"9"}),
    ]
    assert reader.down == set()  # after an overrun nobody knows


def test_after_an_overrun_nothing_is_taken_up_to_the_next_report():
    reader = PressReader(NAMES)
    data = recorded(DROPPED, (ecodes.EV_KEY, CODES["F1"], 1), REPORT, *stroke("F2"))

    assert [name for name, _ in reader.feed(data)] == ["F2"]
    assert reader.overruns == 1


def test_a_key_without_a_name_has_its_number():
    assert names(recorded((ecodes.EV_KEY, 0x2FE, 1), REPORT)) == ["CODE_766"]


def test_half_a_structure_is_an_error():
    with pytest.raises(ValueError, match="not a whole number of events"):
        names(recorded(REPORT)[:-1])


@given(st.lists(st.binary(min_size=EVENT.size, max_size=EVENT.size), max_size=20))
def test_whatever_is_in_the_structures_nothing_is_raised(events):
    reader = PressReader(NAMES)
    found = list(reader.feed(b"".join(events)))

    assert reader.presses == len(found) <= len(events)


# --- the driver


class FakeDevice:
    """Stands for `evdev.InputDevice`: reads come from a pipe, lights are remembered."""

    def __init__(self) -> None:
        self.fd, self.cable = os.pipe2(os.O_NONBLOCK)
        self.info = DeviceInfo(3, 0x46D, 0xC534, 0x110)
        self.uniq = "A1B2C3"
        self.name = "ACME number pad"
        self.lights: dict[int, int] = {}
        self.closed = False

    def grab(self) -> None:
        raise AssertionError("open_device grabs")

    def set_led(self, led_num: int, value: int) -> None:
        if led_num == ecodes.LED_CAPSL and "no Caps Lock" in self.name:
            raise OSError(errno.EBADF, "no such light")
        self.lights[led_num] = value

    def close(self) -> None:
        os.close(self.fd)
        self.closed = True

    def type(self, data: bytes) -> None:
        os.write(self.cable, data)


class User:
    def __init__(self) -> None:
        self.pressed: list[str] = []
        self.changes = 0
        self.answers: dict[str, KeyAnswer] = {}
        self.ready = True

    async def press(self, key: str) -> KeyAnswer:
        self.pressed.append(key)
        return self.answers.get(key, KeyAnswer("done", "done"))

    async def turned(self, position: KeyPosition) -> None:
        raise AssertionError(f"an input device has no key switch that stands at {position}")

    def restarted(self) -> None:
        raise AssertionError  # it has no power of its own

    def lamps(self) -> KeypadLamps:
        return KeypadLamps(ready=self.ready)

    def link_changed(self) -> None:
        self.changes += 1


class At:
    def __init__(self) -> None:
        self.driver = InputKeypad("/dev/input/by-id/usb-pad-event-kbd")
        self.user = User()
        self.devices: list[FakeDevice] = []
        self.error: OSError | None = OSError(errno.ENOENT, "No such file or directory")

    def open(self, path: str) -> FakeDevice:
        if self.error is not None:
            raise self.error
        self.devices.append(FakeDevice())
        return self.devices[-1]

    async def plug(self) -> FakeDevice:
        self.error = None
        await until(lambda: self.driver.health().connected)
        return self.devices[-1]

    async def pressed(self, count: int) -> list[str]:
        await until(lambda: len(self.user.pressed) >= count)
        return self.user.pressed


@asynccontextmanager
async def running(at: At) -> AsyncIterator[At]:
    task = asyncio.create_task(at.driver.run(at.user))
    try:
        yield at
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        for device in at.devices:
            os.close(device.cable)


@pytest.fixture
def at(monkeypatch):
    here = At()
    monkeypatch.setattr(input_device, "open_device", here.open)
    return here


async def test_presses_arrive_in_order(at):
    driver: KeypadDriver = at.driver
    async with running(at):
        device = await at.plug()
        device.type(recorded(*stroke("9"), *stroke("S"), *stroke("F2", held=3)))

        assert await at.pressed(3) == ["9", "S", "F2"]
        assert driver.health().serial == "046d:c534:A1B2C3"
        assert driver.health().counters == {
            "presses": 3,
            "bounces": 0,
            "overruns": 0,
            "connections": 1,
        }


@pytest.mark.parametrize(
    ("uniq", "by_model", "serial", "reason"),
    [
        ("", False, None, "has no serial number, so another device of its model could replace it unnoticed"),
        ("", True, "046d:c534", ""),
        ("A1", True, "046d:c534:A1", ""),
        ("A\x1b[2J", True, None, "a name or serial number that is not 1 to 32 printable ASCII"),
        ("A" * 33, True, None, "a name or serial number that is not 1 to 32 printable ASCII"),
    ],
)
async def test_a_keypad_is_known_by_its_own_number_and_not_by_its_model(
    at, monkeypatch, uniq, by_model, serial, reason
):
    at.driver = InputKeypad("/dev/input/by-id/usb-pad-event-kbd", by_model=by_model)
    at.error = None
    made = at.open

    def numbered(path: str) -> FakeDevice:
        device: FakeDevice = made(path)
        device.uniq = uniq
        return device

    monkeypatch.setattr(input_device, "open_device", numbered)
    async with running(at):
        await until(lambda: at.driver.health().connected or (reason and reason in at.driver.health().reason))

        assert at.driver.health().serial == serial
        assert all(device.closed for device in at.devices) or serial


async def test_a_keypad_whose_name_is_not_text_is_lost_and_not_the_service(at, monkeypatch):
    def unreadable(path: str) -> FakeDevice:
        raise AssertionError(path + b"\xff".decode())

    monkeypatch.setattr(input_device, "open_device", unreadable)
    async with running(at):
        await until(lambda: "a name or serial number that is not" in at.driver.health().reason)


async def test_a_contact_that_bounces_is_one_press(at):
    async with running(at):
        device = await at.plug()
        now = time.time()
        device.type(recorded(*stroke("F2"), at=now) + recorded(*stroke("F2"), at=now + 0.02))
        device.type(recorded(*stroke("F2"), at=now + 0.2))

        assert await at.pressed(2) == ["F2", "F2"]
        assert at.driver.health().counters["bounces"] == 1


async def test_a_press_that_waited_longer_than_a_second_is_no_order(at):
    async with running(at):
        device = await at.plug()
        device.type(recorded(*stroke("F2"), at=time.time() - 1.5) + recorded(*stroke("F1")))

        assert await at.pressed(1) == ["F1"]


async def test_a_keypad_is_waited_for_and_found_again(at, monkeypatch):
    gone = OSError(errno.ENODEV, "No such device")
    real = os.read
    async with running(at):
        await until(lambda: "there is no input device" in at.driver.health().reason)
        first = await at.plug()
        at.error = OSError(errno.ENOENT, "No such file or directory")

        def read(fd: int, size: int) -> bytes:
            if fd == first.fd:  # what a device says that was pulled out, and no pipe does
                raise gone
            return real(fd, size)

        monkeypatch.setattr(os, "read", read)
        await until(lambda: first.closed)
        monkeypatch.undo()
        monkeypatch.setattr(input_device, "open_device", at.open)
        await until(lambda: "there is no input device" in at.driver.health().reason)
        second = await at.plug()
        second.type(recorded(*stroke("F1")))

        assert await at.pressed(1) == ["F1"]
        assert at.user.changes >= 4


async def test_the_lights_tell_what_became_of_a_press(at):
    at.user.answers = {
        "9": KeyAnswer("more", "9 ...", 1),
        "VOLUMEUP": KeyAnswer("refused", "means nothing"),
    }
    async with running(at):
        device = await at.plug()
        await until(lambda: device.lights.get(ecodes.LED_NUML) == 1)
        device.type(recorded(*stroke("9")))
        await until(lambda: device.lights.get(ecodes.LED_CAPSL) == 1)
        await until(lambda: device.lights.get(ecodes.LED_CAPSL) == 0)  # the sequence's time is over
        device.type(recorded(*stroke("VOLUMEUP")))
        await until(lambda: device.lights.get(ecodes.LED_SCROLLL) == 1)
        device.type(recorded(*stroke("F1")))
        await until(lambda: device.lights.get(ecodes.LED_SCROLLL) == 0)
        at.user.ready = False
        await until(lambda: device.lights.get(ecodes.LED_NUML) == 0)


async def test_a_keypad_without_lights_works_too(at):
    at.user.answers = {"9": KeyAnswer("more", "9 ...", 3)}
    async with running(at):
        device = await at.plug()
        device.name = "no Caps Lock"
        device.type(recorded(*stroke("9"), *stroke("S")))

        assert await at.pressed(2) == ["9", "S"]


def test_a_read_with_nothing_there_is_nothing(at):
    device = FakeDevice()
    assert input_device.read(device.fd, "/dev/input/pad", "keypad") == b""
    device.close()
    with pytest.raises(DeviceLostError, match="the keypad /dev/input/pad was disconnected: check its cable"):
        input_device.read(device.fd, "/dev/input/pad", "keypad")
    os.close(device.cable)


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        (errno.ENOENT, "there is no input device /dev/pad: check the keypad's cable and the path; in "),
        (
            errno.EACCES,
            "no permission for /dev/pad: give the device to the group of this table by a line in 60-punto.rules",
        ),
        (errno.EBUSY, "another program has grabbed /dev/pad: stop that program"),
        (errno.ENOTTY, "/dev/pad is not an input device: name an input device"),
        (errno.EIO, "cannot open /dev/pad: Input/output error"),
    ],
)
def test_a_device_that_cannot_be_opened_says_what_to_do(number, reason):
    assert why_not_open("/dev/pad", "keypad", OSError(number, os.strerror(number))).startswith(reason)


def test_the_devices_that_there_are_are_named(tmp_path, monkeypatch):
    monkeypatch.setattr(input_device, "BY_ID", tmp_path)
    for name in ("usb-B-event-kbd", "usb-A-event-kbd"):
        (tmp_path / name).touch()

    reason = why_not_open("/dev/pad", "keypad", OSError(errno.ENOENT, "No such file"))
    assert reason.endswith(f"; in {tmp_path} there is usb-A-event-kbd, usb-B-event-kbd")


@pytest.mark.parametrize(
    "make", [lambda path: path.touch(), lambda path: path.mkdir(), os.mkfifo, lambda _: None]
)
def test_what_is_no_input_device_is_refused_by_the_real_evdev(tmp_path, make: Callable[[object], None]):
    path = tmp_path / "pad"
    make(path)

    with pytest.raises(OSError) as error:
        input_device.open_device(str(path))
    assert str(path) in why_not_open(str(path), "keypad", error.value)


def test_a_device_that_another_program_has_is_closed_again(monkeypatch):
    device = FakeDevice()

    def grab() -> None:
        raise OSError(errno.EBUSY, "Device or resource busy")

    monkeypatch.setattr(device, "grab", grab)
    monkeypatch.setattr("evdev.InputDevice", lambda _: device)
    with pytest.raises(OSError, match="busy"):
        input_device.open_device("/dev/input/pad")
    assert device.closed
    os.close(device.cable)


def test_a_device_is_grabbed(monkeypatch):
    device = FakeDevice()
    grabs = []
    monkeypatch.setattr(device, "grab", lambda: grabs.append(1))
    monkeypatch.setattr("evdev.InputDevice", lambda _: device)

    assert input_device.open_device("/dev/input/pad") is device
    assert grabs == [1]
    device.close()
    os.close(device.cable)


def test_without_the_extra_the_command_says_what_to_install(tmp_path):
    path = tmp_path / "table.toml"
    path.write_text(
        'version = 1\n[table]\nid = "t"\nname = "T"\ngame = "dragon-bonus-1"\ncards = "keyed"\n'
        '[record]\npath = "t.db"\n[operator]\nsocket = "t.sock"\n[keypad]\ninput = "/dev/input/pad"\n'
    )
    program = "import sys; sys.modules['evdev'] = None; from punto.commands.cli import main; sys.exit(main(sys.argv[1:]))"
    ran = subprocess.run(
        [sys.executable, "-c", program, "run", "--config", path],
        check=False, capture_output=True, text=True, cwd=HERE, timeout=60,
    )  # fmt: skip

    assert ran.returncode == 2
    assert ran.stderr.strip() == "punto run needs evdev, which is not installed: install punto[evdev]"
