"""A card reader that types, by the kernel's own event structures: these machines have no input devices.

The device's descriptor is a pipe's. What comes is what such a reader's driver gives: every character a key with its
scan code and its report, some milliseconds apart.
"""

import asyncio
import errno
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest
import structlog
from evdev import DeviceInfo, ecodes
from hypothesis import given, settings
from hypothesis import strategies as st

from punto.drivers.base import CardReaderDriver
from punto.drivers.card_reader import input_device
from punto.drivers.card_reader.input_device import GAP_SECONDS, InputCardReader, SwipeReader
from punto.drivers.input_device import EVENT, key_names
from tests.card_reader.test_number import NUMBERS
from tests.drivers.benches import CardReaderUser, until

SCAN = (ecodes.EV_MSC, ecodes.MSC_SCAN, 0x7001E)
REPORT = (ecodes.EV_SYN, ecodes.SYN_REPORT, 0)
DROPPED = (ecodes.EV_SYN, ecodes.SYN_DROPPED, 0)
SHIFT = ecodes.KEY_LEFTSHIFT

# Where the characters of a card's tracks are on a keyboard of the United States: the key, and whether with shift.
KEYS = {
    **{digit: (ecodes.ecodes[f"KEY_{digit}"], False) for digit in "0123456789"},
    **{letter: (ecodes.ecodes[f"KEY_{letter}"], True) for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"},
    ";": (ecodes.KEY_SEMICOLON, False),
    ":": (ecodes.KEY_SEMICOLON, True),
    "=": (ecodes.KEY_EQUAL, False),
    "+": (ecodes.KEY_EQUAL, True),
    "/": (ecodes.KEY_SLASH, False),
    "?": (ecodes.KEY_SLASH, True),
    "%": (ecodes.KEY_5, True),
    "^": (ecodes.KEY_6, True),
    "\n": (ecodes.KEY_ENTER, False),
}
CARD = "6000170042=2912"
NOW = 1_780_000_000.0


def event(at: float, *values: int) -> bytes:
    seconds, rest = divmod(at, 1)
    return EVENT.pack(int(seconds), int(rest * 1e6), *values)


def typed(text: str, *, at: float = NOW, apart: float = 0.01) -> bytes:
    """The structures as a read of the device gives them."""
    data = b""
    for place, character in enumerate(text):
        code, shifted = KEYS[character]
        when = at + place * apart
        strokes = [(code, 1), (code, 0)]
        if shifted:
            strokes = [(SHIFT, 1), *strokes, (SHIFT, 0)]
        for key, value in strokes:
            data += event(when, *SCAN) + event(when, ecodes.EV_KEY, key, value) + event(when, *REPORT)
    return data


def swipes(data: bytes) -> list[str]:
    return [track for track, _ in SwipeReader(key_names()).feed(data)]


# --- what is a swipe


@pytest.mark.parametrize(
    ("text", "tracks"),
    [
        (f";{CARD}?", [f";{CARD}?"]),
        (f";{CARD}?\n", [f";{CARD}?"]),
        (f"{CARD}\n", [CARD]),
        (f"%B6000170042^MEI/SUPERVISOR^2912?;{CARD}?\n", [f";{CARD}?"]),
        (f"%B6000170042^MEI^2912?;{CARD}?+0042?\n", [f";{CARD}?"]),  # a third track
        (f"%B6000170042^MEI^2912?;{CARD}?;0042=17?\n", [f";{CARD}?"]),  # as ISO/IEC 4909 begins it
        (f";6000;{CARD}?", [f";{CARD}?"]),
        (";E?\n", [";x?"]),  # how a reader says that it could not read
        ("\n", []),
        ("12345\n", []),
        (f"{CARD}", []),
        (f";{CARD}", []),
        (f";{CARD}/", []),
    ],
)
def test_a_swipe_is_the_second_track_or_all_up_to_enter(text, tracks):
    assert swipes(typed(text)) == tracks


@pytest.mark.parametrize("text", ["%B6000170042^MEI^2912?\n", "%E?\n", "^6000170042\n"])
def test_what_has_no_second_track_is_a_swipe_that_cannot_be_read(text):
    (track,) = swipes(typed(text))

    assert "x" in track


@settings(deadline=None)
@given(NUMBERS, st.sampled_from(["{}\n", ";{}?", ";{}?\n"]))
def test_every_number_that_a_reader_types_is_read(number, way):
    (track,) = swipes(typed(way.format(number)))

    assert track.strip(";?") == number


def test_a_swipe_says_when_it_came_to_its_end():
    ((_, at),) = SwipeReader(key_names()).feed(typed(f";{CARD}?"))

    assert at == pytest.approx(NOW + 0.01 * (len(CARD) + 1), abs=1e-5)


@pytest.mark.parametrize("text", [f";{CARD}?\n", f"{CARD}\n"])
def test_what_a_person_types_is_no_card(text):
    assert swipes(typed(text, apart=GAP_SECONDS + 0.01)) == []


def test_keys_that_were_typed_before_a_swipe_are_no_part_of_it():
    reader = SwipeReader(key_names())
    data = typed("99", apart=0.2) + typed(f"{CARD}\n", at=NOW + 0.5)

    assert [track for track, _ in reader.feed(data)] == [CARD]


def test_two_swipes_after_another_are_two():
    reader = SwipeReader(key_names())
    data = typed(f";{CARD}?\n") + typed(";6000170043?\n", at=NOW + 1)

    assert [track for track, _ in reader.feed(data)] == [f";{CARD}?", ";6000170043?"]


def test_a_swipe_may_come_in_pieces():
    reader = SwipeReader(key_names())
    data = typed(f";{CARD}?")
    pieces = [data[at : at + EVENT.size] for at in range(0, len(data), EVENT.size)]

    assert [track for piece in pieces for track, _ in reader.feed(piece)] == [f";{CARD}?"]


def test_digits_of_a_number_pad_are_digits():
    pad = b"".join(
        event(NOW, ecodes.EV_KEY, ecodes.ecodes[f"KEY_KP{digit}"], value)
        for digit in "600017"
        for value in (1, 0)
    )
    enter = event(NOW, ecodes.EV_KEY, ecodes.KEY_KPENTER, 1)

    assert swipes(pad + enter) == ["600017"]


@pytest.mark.parametrize("text", [f"{CARD}\n", f";{CARD}?"])
def test_a_swipe_of_which_the_kernel_lost_a_part_is_thrown_away_whole(text):
    """Also where the time of what is lost would look like a pause: a number without a digit is another card's."""
    whole, last = typed(text), typed(text[:-1])
    for place in range(EVENT.size, len(last), EVENT.size):
        for seconds in (0.0, 0.1):
            rest = whole[place:]
            later = b"".join(
                event(at + us / 1e6 + seconds, *values) for at, us, *values in EVENT.iter_unpack(rest)
            )
            assert swipes(whole[:place] + event(NOW, *DROPPED) + event(NOW, *REPORT) + later) == []


def test_the_swipe_after_one_of_which_a_part_was_lost_is_read():
    data = typed("60001") + event(NOW, *DROPPED) + event(NOW, *REPORT) + typed("70042", at=NOW + 0.05)

    assert swipes(data + typed(f"{CARD}\n", at=NOW + 1)) == [CARD]
    assert swipes(data + typed("\n", at=NOW + 0.1) + typed(f";{CARD}?", at=NOW + 0.12)) == [f";{CARD}?"]


def test_a_reader_that_types_for_ever_is_kept_no_more_of_than_a_card_has():
    reader = SwipeReader(key_names())
    list(reader.feed(typed("1" * 2000)))

    assert len(reader._typed) == input_device.LONGEST_TYPED


@settings(deadline=None)
@given(st.lists(st.binary(min_size=EVENT.size, max_size=EVENT.size), max_size=20))
def test_whatever_is_in_the_structures_nothing_is_raised(events):
    assert swipes(b"".join(events)) == []


# --- the driver


class FakeDevice:
    """Stands for `evdev.InputDevice`: reads come from a pipe."""

    def __init__(self) -> None:
        self.fd, self.cable = os.pipe2(os.O_NONBLOCK)
        self.info = DeviceInfo(3, 0x46D, 0xC534, 0x110)
        self.uniq = "A1B2C3"
        self.closed = False

    def grab(self) -> None:
        raise AssertionError("open_device grabs")

    def set_led(self, led_num: int, value: int) -> None:
        raise AssertionError("it has no lights")

    def close(self) -> None:
        os.close(self.fd)
        self.closed = True

    def type(self, data: bytes) -> None:
        os.write(self.cable, data)


class At:
    def __init__(self) -> None:
        self.driver = InputCardReader("/dev/input/by-id/usb-reader-event-kbd")
        self.user = CardReaderUser()
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
    monkeypatch.setattr("punto.drivers.input_device.open_device", here.open)
    return here


async def test_a_swipe_arrives(at):
    driver: CardReaderDriver = at.driver
    async with running(at):
        device = await at.plug()
        device.type(typed(f";{CARD}?\n", at=time.time()))
        await until(lambda: at.user.got == [CARD])

        assert driver.health().serial == "046d:c534:A1B2C3"
        assert driver.health().counters == {"swipes": 1, "late": 0, "overruns": 0, "connections": 1}


async def test_a_card_that_cannot_be_read_is_told(at):
    async with running(at):
        device = await at.plug()
        device.type(typed(";E?\n", at=time.time()))
        await until(lambda: at.user.unread == 1)

    assert at.user.got == []


async def test_a_swipe_that_waited_is_not_taken(at):
    async with running(at):
        device = await at.plug()
        device.type(typed(f";{CARD}?\n", at=time.time() - 3))
        await until(lambda: at.driver.health().counters["late"] == 1)
        device.type(typed(";6000170043?\n", at=time.time()))
        await until(lambda: at.user.got)

    assert at.user.got == ["6000170043"]


async def test_a_reader_is_waited_for_and_found_again_with_no_key_down(at, monkeypatch):
    gone = OSError(errno.ENODEV, "No such device")
    real = os.read
    async with running(at):
        await until(lambda: "check the card reader's cable" in at.driver.health().reason)
        first = await at.plug()
        first.type(event(time.time(), ecodes.EV_KEY, SHIFT, 1))
        await until(lambda: at.driver._reader.presses.down)
        at.error = OSError(errno.ENOENT, "No such file or directory")

        def read(fd: int, size: int) -> bytes:
            if fd == first.fd:  # what a device says that was pulled out, and no pipe does
                raise gone
            return real(fd, size)

        monkeypatch.setattr(os, "read", read)
        await until(lambda: first.closed)
        monkeypatch.undo()
        monkeypatch.setattr("punto.drivers.input_device.open_device", at.open)
        await until(lambda: "there is no input device" in at.driver.health().reason)
        second = await at.plug()
        second.type(typed(f";{CARD}?", at=time.time()))
        await until(lambda: at.user.got)

    assert at.user.got == [CARD]


async def test_what_the_user_raises_escapes(at):
    at.user.error = RuntimeError("the record cannot be written")
    task = asyncio.create_task(at.driver.run(at.user))
    device = await at.plug()
    device.type(typed(f";{CARD}?", at=time.time()))

    with pytest.raises(RuntimeError, match="the record cannot be written"):
        await task
    assert device.closed
    os.close(device.cable)


async def test_no_number_is_in_a_log_or_in_the_health(at):
    with structlog.testing.capture_logs() as logs:
        async with running(at):
            device = await at.plug()
            device.type(typed(f";{CARD}:?\n", at=time.time()))
            await until(lambda: at.user.unread == 1)
            device.type(typed(f";{CARD}?\n", at=time.time() - 3))
            await until(lambda: at.driver.health().counters["late"] == 1)
            told = str(at.driver.health())

    assert len(logs) >= 3
    assert "600017" not in f"{logs} {told}"
