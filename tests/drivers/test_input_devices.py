"""Keypads and card readers that are Linux input devices: their events, and what the drivers of both do."""

import asyncio
import errno
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from evdev import ecodes
from hypothesis import given
from hypothesis import strategies as st

from punto.drivers import input_device
from punto.drivers.card_reader.input_device import InputCardReader
from punto.drivers.input_device import EVENT, PressReader, why_not_open
from punto.drivers.keypad.input_device import InputKeypad
from punto.drivers.keypad.keys import DEFAULT
from punto.drivers.retried import DeviceLostError
from tests.command import punto
from tests.drivers.benches import CardReaderUser, KeypadUser, User, until
from tests.drivers.input_devices import (
    CODES,
    DROPPED,
    NAMES,
    REPORT,
    SCAN,
    Event,
    FakeDevice,
    Port,
    recorded,
    stroke,
)

PATH = "/dev/input/by-id/usb-pad-event-kbd"


def names(*events: Event) -> list[str]:
    return [name for name, _ in PressReader(NAMES).feed(recorded(*events))]


# --- the structures


@pytest.mark.parametrize("key", sorted({key for keys in DEFAULT for key in keys.split()}))
def test_every_key_of_the_default_map_is_a_key_of_linux(key):
    assert names(*stroke(key)) == [key]


def test_a_stroke_is_read_as_the_kernel_lays_it_out():
    """F1 on a machine of 64 bits with the lowest byte first."""
    laid_out = bytes.fromhex(
        "40420f6a00000000 87d6120000000000 0400 0400 3a000700"
        "40420f6a00000000 87d6120000000000 0100 3b00 01000000"
        "40420f6a00000000 87d6120000000000 0000 0000 00000000"
    )

    assert list(PressReader(NAMES).feed(laid_out)) == [("F1", 0x6A0F4240 + 1.234567)]


NINE, SPADE = (ecodes.EV_KEY, CODES["9"]), (ecodes.EV_KEY, CODES["S"])


@pytest.mark.parametrize(
    ("events", "pressed"),
    [
        (stroke("F2", held=20), ["F2"]),
        ([(*NINE, 1), REPORT, (*SPADE, 1), REPORT, (*NINE, 0), (*SPADE, 0), REPORT], ["9", "S"]),
        ([(ecodes.EV_REL, ecodes.REL_X, 1), REPORT], []),
        ([(ecodes.EV_LED, ecodes.LED_NUML, 1), REPORT, SCAN, REPORT], []),
        ([(ecodes.EV_KEY, 0x2FE, 1), REPORT], ["CODE_766"]),
    ],
    ids=["held", "two at once", "a movement", "a light", "without a name"],
)
def test_each_key_that_is_pressed_is_one_press(events, pressed):
    assert names(*events) == pressed


def test_which_keys_are_down_is_known_at_each_press():
    reader = PressReader(NAMES)
    shift = (ecodes.EV_KEY, CODES["LEFTSHIFT"])
    data = recorded(
        (*shift, 1), (*NINE, 1), (*NINE, 0), (*shift, 2), (*shift, 0), (*NINE, 1), REPORT, DROPPED
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


def test_half_a_structure_is_an_error():
    with pytest.raises(ValueError, match="not a whole number of events"):
        list(PressReader(NAMES).feed(recorded(REPORT)[:-1]))


@given(st.lists(st.binary(min_size=EVENT.size, max_size=EVENT.size), max_size=20))
def test_whatever_is_in_the_structures_nothing_is_raised(events):
    reader = PressReader(NAMES)
    found = list(reader.feed(b"".join(events)))

    assert reader.presses == len(found) <= len(events)


# --- the drivers


@dataclass
class Kind:
    device: str
    driver: Callable[..., InputKeypad | InputCardReader]
    user: Callable[[], User]
    things: tuple[str, ...]
    keys: Callable[[str], list[str]]
    """The keys that are typed for a thing."""
    stale_seconds: float
    counters: dict[str, int]

    def typed(self, thing: str, at: float | None = None) -> bytes:
        return recorded(*(event for key in self.keys(thing) for event in stroke(key)), at=at)


KINDS = [
    Kind(
        "keypad",
        InputKeypad,
        KeypadUser,
        ("9", "S", "F2"),
        lambda key: [key],
        1.0,
        {"presses": 3, "bounces": 0, "overruns": 0, "connections": 1},
    ),
    Kind(
        "card reader",
        InputCardReader,
        CardReaderUser,
        ("600017001", "600017002", "600017003"),
        lambda number: [*number, "ENTER"],
        2.0,
        {"swipes": 3, "late": 0, "overruns": 0, "connections": 1},
    ),
]


@pytest.fixture(params=KINDS, ids=lambda kind: kind.device)
def kind(request) -> Kind:
    return request.param  # type: ignore[no-any-return]


@pytest.fixture
def port(kind, monkeypatch) -> Port:
    return Port(kind.driver(PATH), kind.user(), monkeypatch)


async def test_what_is_typed_arrives_in_order(kind, port):
    async with port.running():
        device = await port.plug()
        for thing in kind.things:
            device.types(kind.typed(thing))
        await port.got(kind.things)

        assert port.driver.health().serial == "046d:c534:A1B2C3"
        assert port.counters == kind.counters


async def test_what_waited_for_too_long_is_not_taken(kind, port):
    first, second, third = kind.things
    now = time.time()
    async with port.running():
        device = await port.plug()
        device.types(kind.typed(first, now - kind.stale_seconds - 0.5))
        device.types(kind.typed(second, now - kind.stale_seconds + 60) + kind.typed(third, now + 60))

        await port.got([second, third])


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
async def test_a_device_is_identified_by_its_own_number_and_not_by_its_model(
    kind, monkeypatch, uniq, by_model, serial, reason
):
    port = Port(kind.driver(PATH, by_model=by_model), kind.user(), monkeypatch)
    port.uniq, port.error = uniq, None
    async with port.running():
        await until(lambda: port.driver.health().connected or (reason and reason in port.reason))

        assert port.driver.health().serial == serial
        assert all(device.closed for device in port.devices) or serial


async def test_a_device_whose_name_is_not_text_is_lost_and_the_service_continues(port):
    port.error = UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte")
    async with port.running():
        await until(lambda: "a name or serial number that is not" in port.reason)


async def test_a_device_is_waited_for_and_found_again(kind, port):
    missing = f"there is no input device {PATH}: check the {kind.device}'s cable"
    async with port.running():
        await until(lambda: port.reason.startswith(missing))
        await port.plug()
        await port.unplug()
        await until(lambda: port.reason.startswith(missing))
        second = await port.plug()
        second.types(kind.typed(kind.things[0]))
        await until(lambda: kind.things[0] in port.user.got)

        assert port.user.changes >= 4


async def test_an_exception_of_the_user_propagates_and_the_device_is_closed(kind, port):
    port.user.error = RuntimeError("the record cannot be written")
    driver = asyncio.create_task(port.driver.run(port.user))
    device = await port.plug()
    device.types(kind.typed(kind.things[0]))
    with pytest.raises(RuntimeError, match="the record cannot be written"):
        await driver

    assert device.closed
    os.close(device.cable)


# --- opening it


def test_a_read_with_nothing_there_is_empty_and_one_of_a_removed_device_is_its_loss():
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
def test_the_reason_why_a_device_cannot_be_opened_says_what_to_do(number, reason):
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
def test_the_real_evdev_refuses_what_is_not_an_input_device(tmp_path, make: Callable[[object], None]):
    path = tmp_path / "pad"
    make(path)

    with pytest.raises(OSError) as error:
        input_device.open_device(str(path))
    assert str(path) in why_not_open(str(path), "keypad", error.value)


@pytest.mark.parametrize("busy", [False, True])
def test_a_device_is_grabbed_or_closed_again_if_another_program_has_it(monkeypatch, busy):
    device = FakeDevice()
    grabs = []

    def grab() -> None:
        grabs.append(1)
        if busy:
            raise OSError(errno.EBUSY, "Device or resource busy")

    monkeypatch.setattr(device, "grab", grab)
    monkeypatch.setattr("evdev.InputDevice", lambda _: device)
    if busy:
        with pytest.raises(OSError, match="busy"):
            input_device.open_device("/dev/input/pad")
    else:
        assert input_device.open_device("/dev/input/pad") is device
        assert not device.closed
        device.close()

    assert grabs == [1]
    assert device.closed
    os.close(device.cable)


def test_without_the_extra_the_command_says_what_to_install(tmp_path, monkeypatch):
    path = tmp_path / "table.toml"
    path.write_text(
        'version = 1\n[table]\nid = "t"\nname = "T"\ngame = "dragon-bonus-1"\ncards = "keyed"\n'
        '[record]\npath = "t.db"\n[operator]\nsocket = "t.sock"\n[keypad]\ninput = "/dev/input/pad"\n'
    )
    for module in ("punto.drivers.input_device", "punto.drivers.keypad.input_device"):
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "evdev", None)
    ran = punto("run", "--config", str(path))

    assert ran.returncode == 2
    assert ran.stderr == "punto run needs evdev, which is not installed: install punto[evdev]\n"
