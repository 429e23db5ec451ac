"""A card reader that types like a keyboard: what is a swipe, and what its driver does besides what others do.

Every character comes as a key with its scan code and its report, some milliseconds after the one before.
"""

import time

import pytest
import structlog
from evdev import ecodes
from hypothesis import given
from hypothesis import strategies as st

from punto.drivers.card_reader import input_device
from punto.drivers.card_reader.input_device import GAP_SECONDS, InputCardReader, SwipeReader
from punto.drivers.input_device import EVENT
from tests.drivers.benches import CardReaderUser, until
from tests.drivers.card_reader.test_number import NUMBERS
from tests.drivers.input_devices import DROPPED, NAMES, REPORT, SCAN, Port, recorded, stroke

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


def typed(text: str, *, at: float = NOW, apart: float = 0.01) -> bytes:
    """The structures as a read of the device gives them."""
    data = b""
    for place, character in enumerate(text):
        code, shifted = KEYS[character]
        strokes = [(code, 1), (code, 0)]
        if shifted:
            strokes = [(SHIFT, 1), *strokes, (SHIFT, 0)]
        events = [event for stroke in strokes for event in (SCAN, (ecodes.EV_KEY, *stroke), REPORT)]
        data += recorded(*events, at=at + place * apart)
    return data


def swipes(data: bytes) -> list[str]:
    return [track for track, _ in SwipeReader(NAMES).feed(data)]


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


@given(NUMBERS, st.sampled_from(["{}\n", ";{}?", ";{}?\n"]))
def test_every_number_that_a_reader_types_is_read(number, way):
    (track,) = swipes(typed(way.format(number)))

    assert track.strip(";?") == number


def test_a_swipe_says_when_it_came_to_its_end():
    ((_, at),) = SwipeReader(NAMES).feed(typed(f";{CARD}?"))

    assert at == pytest.approx(NOW + 0.01 * (len(CARD) + 1), abs=1e-5)


@pytest.mark.parametrize("text", [f";{CARD}?\n", f"{CARD}\n"])
def test_what_a_person_types_is_not_a_card(text):
    assert swipes(typed(text, apart=GAP_SECONDS + 0.01)) == []


def test_keys_that_were_typed_before_a_swipe_are_not_part_of_it():
    reader = SwipeReader(NAMES)
    data = typed("99", apart=0.2) + typed(f"{CARD}\n", at=NOW + 0.5)

    assert [track for track, _ in reader.feed(data)] == [CARD]


def test_two_swipes_after_another_are_two():
    reader = SwipeReader(NAMES)
    data = typed(f";{CARD}?\n") + typed(";6000170043?\n", at=NOW + 1)

    assert [track for track, _ in reader.feed(data)] == [f";{CARD}?", ";6000170043?"]


def test_a_swipe_may_come_in_pieces():
    reader = SwipeReader(NAMES)
    data = typed(f";{CARD}?")
    pieces = [data[at : at + EVENT.size] for at in range(0, len(data), EVENT.size)]

    assert [track for piece in pieces for track, _ in reader.feed(piece)] == [f";{CARD}?"]


def test_digits_of_a_number_pad_are_digits():
    keys = [f"KP{digit}" for digit in "600017"] + ["KPENTER"]

    assert swipes(recorded(*(event for key in keys for event in stroke(key)))) == ["600017"]


@pytest.mark.parametrize("text", [f"{CARD}\n", f";{CARD}?"])
def test_a_swipe_of_which_the_kernel_lost_a_part_is_thrown_away_whole(text):
    """Also where the time of what is lost would look like a pause: a number without a digit is another card's."""
    whole, last = typed(text), typed(text[:-1])
    for place in range(EVENT.size, len(last), EVENT.size):
        for seconds in (0.0, 0.1):
            rest = whole[place:]
            later = b"".join(
                recorded((kind, code, value), at=at + us / 1e6 + seconds)
                for at, us, kind, code, value in EVENT.iter_unpack(rest)
            )
            assert swipes(whole[:place] + recorded(DROPPED, REPORT, at=NOW) + later) == []


def test_the_swipe_after_one_of_which_a_part_was_lost_is_read():
    data = typed("60001") + recorded(DROPPED, REPORT, at=NOW) + typed("70042", at=NOW + 0.05)

    assert swipes(data + typed(f"{CARD}\n", at=NOW + 1)) == [CARD]
    assert swipes(data + typed("\n", at=NOW + 0.1) + typed(f";{CARD}?", at=NOW + 0.12)) == [f";{CARD}?"]


def test_a_reader_that_types_for_ever_is_kept_no_more_of_than_a_card_has():
    reader = SwipeReader(NAMES)
    list(reader.feed(typed("1" * 2000)))

    assert len(reader._typed) == input_device.LONGEST_TYPED


@given(st.lists(st.binary(min_size=EVENT.size, max_size=EVENT.size), max_size=20))
def test_whatever_is_in_the_structures_nothing_is_raised(events):
    assert swipes(b"".join(events)) == []


# --- the driver


@pytest.fixture
def port(monkeypatch) -> Port:
    return Port(InputCardReader("/dev/input/by-id/usb-reader-event-kbd"), CardReaderUser(), monkeypatch)


async def test_a_card_that_cannot_be_read_is_reported(port):
    async with port.running():
        device = await port.plug()
        device.types(typed(";E?\n", at=time.time()))
        await until(lambda: port.user.unread == 1)

    assert port.user.got == []


async def test_no_key_is_down_on_a_device_that_was_plugged_in_again(port):
    async with port.running():
        first = await port.plug()
        first.types(recorded((ecodes.EV_KEY, SHIFT, 1)))
        await until(lambda: port.driver._reader.presses.down)
        await port.unplug()
        second = await port.plug()
        second.types(typed(f";{CARD}?", at=time.time()))
        await until(lambda: port.user.got)

    assert port.user.got == [CARD]


async def test_no_number_is_in_a_log_or_in_the_health(port):
    with structlog.testing.capture_logs() as logs:
        async with port.running():
            device = await port.plug()
            device.types(typed(f";{CARD}:?\n", at=time.time()))
            await until(lambda: port.user.unread == 1)
            device.types(typed(f";{CARD}?\n", at=time.time() - 3))
            await until(lambda: port.counters["late"] == 1)
            told = str(port.driver.health())

    assert len(logs) >= 3
    assert "600017" not in f"{logs} {told}"
