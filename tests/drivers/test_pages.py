"""The pages of the links say what the program does: their examples to the byte, their tables and their numbers."""

import re

import pytest
from cobs import cobs  # type: ignore[import-untyped]

from punto.controller.config.devices import KeypadConfig
from punto.drivers.card_reader import frames as card_reader
from punto.drivers.card_reader import input_device, number
from punto.drivers.coin_spot import frames as coin_spot
from punto.drivers.frame import SERIAL_BYTES, parsers
from punto.drivers.framing import LONGEST, LONGEST_ENCODED, Decoder, encode
from punto.drivers.ishoe import frames as shoe
from punto.drivers.ishoe import link as shoe_link
from punto.drivers.keypad import frames as keypad
from punto.drivers.keypad.keys import LONGEST_KEY
from punto.drivers.link import FRAMES_PER_SECOND, MOST_FRAMES, SILENCE_SECONDS
from punto.drivers.serial_device import REOPEN_SECONDS
from punto.drivers.window import REPEAT_SECONDS, STATUS_SECONDS, TEXT_BYTES
from punto.simulators.card_reader.device import SHOWN_SECONDS
from punto.simulators.keypad.device import ROOM
from tests.drivers.devices import CARD_READER, COIN_SPOT, DEVICES, KEYPAD, SHOE
from tests.drivers.page import examples, in_words, name_of, page

EXAMPLES = [
    pytest.param(device, example, id=example.words[:50])
    for device in DEVICES
    for example in examples(device.page)
]


@pytest.mark.parametrize(("device", "example"), EXAMPLES)
def test_an_example_is_exact_in_words_before_cobs_and_on_the_wire(device, example):
    (frame,) = Decoder(parsers(*device.frames)).feed(example.wire)

    assert in_words(frame) == example.words
    assert encode(frame) == example.wire
    assert cobs.decode(example.wire[1:-1]) == example.decoded


@pytest.mark.parametrize("device", DEVICES, ids=str)
def test_every_frame_has_an_example_and_its_type_on_the_page(device):
    names = {name_of(kind): f"{kind.TYPE:02x}" for kind in device.frames}
    rows = re.findall(r"^\| ([0-9a-f]{2}) \| ([A-Z_]+) \|", page(device.page), re.MULTILINE)
    titles = re.findall(r"^### ([A-Z]+), type ([0-9a-f]{2}), sequence 0$", page(device.page), re.MULTILINE)

    assert {name: number for number, name in rows} | dict(titles) == names
    assert {example.words.split()[0] for example in examples(device.page)} == names.keys()


EVERY_SMALL_LINK = {r"1 to (\d+) printable ASCII": SERIAL_BYTES}
WITH_A_WINDOW = EVERY_SMALL_LINK | {
    r"0 to (\d+) bytes of printable UTF-8": TEXT_BYTES,
    r"STATUS goes out every (\d+) ms": STATUS_SECONDS * 1000,
    r"(\d+) ms without a STATUS": SILENCE_SECONDS * 1000,
    r"(\d+) ms without HERE": SILENCE_SECONDS * 1000,
}
NUMBERS = {
    KEYPAD: WITH_A_WINDOW
    | {
        # The other small links point to these.
        r"opens the port again after (\d+) s": REOPEN_SECONDS,
        r"more than (\d+) frames arrive at once": MOST_FRAMES,
        r"or more than (\d+) a second on average": FRAMES_PER_SECOND,
        r"reads nothing for (\d+) s": REOPEN_SECONDS,
        r"A text of more than (\d+) bytes": TEXT_BYTES,
        r"1 to (\d+) of A-Z": LONGEST_KEY,
        r"unanswered press, every (\d+) ms": REPEAT_SECONDS * 1000,
        r"age of the PRESS is above (\d+) ms": keypad.STALE_MILLISECONDS,
        r"At most (\d+) presses wait": ROOM,
        r"again within (\d+) ms": keypad.BOUNCE_SECONDS * 1000,
        r"repeats the SWITCH every (\d+) ms": REPEAT_SECONDS * 1000,
        r"baud = (\d+)": KeypadConfig(port="/dev/keypad").baud,
    },
    CARD_READER: WITH_A_WINDOW
    | {
        r"what was read, 0 to (\d+) bytes": card_reader.TRACK_BYTES,
        r"(\d+) to \d+ characters, each a digit or `=`": number.SHORTEST,
        r"\d+ to (\d+) characters, each a digit or `=`": number.LONGEST,
        r"at once and every (\d+) ms": REPEAT_SECONDS * 1000,
        r"after (\d+) ms, SWIPE goes out without": card_reader.STALE_SECONDS * 1000,
        r"if the host sent it on this connection, no more than (\d+) ms ago": card_reader.STALE_SECONDS
        * 1000,
        r"more than (\d+) ms apart": input_device.GAP_SECONDS * 1000,
        r"An answer is shown for (\d+) s": SHOWN_SECONDS,
    },
    COIN_SPOT: EVERY_SMALL_LINK
    | {
        r"Up to (\d+) sensors": coin_spot.POSITIONS,
        r"1 to (\d+) of them": coin_spot.POSITIONS,
        r"ASK goes out every (\d+) ms": coin_spot.ORDERS_SECONDS * 1000,
        r"ORDERS go out every (\d+) ms": coin_spot.ORDERS_SECONDS * 1000,
        r"and every (\d+) ms while": coin_spot.REPEAT_SECONDS * 1000,
        r"and again every (\d+) ms": coin_spot.REPEAT_SECONDS * 1000,
        r"is \*valid\* for (\d+) ms": coin_spot.START_SECONDS * 1000,
        r"(\d+) ms without a good frame": SILENCE_SECONDS * 1000,
        r"(\d+) ms without HERE or REPORT": SILENCE_SECONDS * 1000,
    },
    SHOE: {
        r"heartbeat \| every (\d+) ms": shoe.HEARTBEAT_SECONDS * 1000,
        r"lost \| after (\d+) ms": SILENCE_SECONDS * 1000,
        r"hello again \| every (\d+) ms": shoe_link.ASK_AGAIN_SECONDS * 1000,
        r"no effect \| after (\d+) ms": shoe_link.REPEAT_SECONDS * 1000,
        r"10 to (\d+) bytes": LONGEST,
        r"between the delimiters has at most (\d+)": LONGEST_ENCODED,
        r"fewer than (\d+) records are sent": shoe.WINDOW,
        r"The shoe keeps\*\* at least (\d+) records": shoe.STORE,
        r"a reserve of at least (\d+) more places": shoe.RESERVE,
        r"number is (\d+) or more above `first_kept`": shoe.WINDOW,
        r"`oversize` \| more than (\d+) bytes": LONGEST_ENCODED,
        r"decodes to more than (\d+)": LONGEST,
        r"counts more than (\d+) of these": shoe_link.MOST_TOLD,
        r"of these events within (\d+) s": shoe_link.TOLD_SECONDS,
        r"reads nothing for (\d+) s": REOPEN_SECONDS,
        r"More than (\d+) broken frames": shoe_link.NOISE_FRAMES,
        r"broken frames in (\d+) s": shoe_link.NOISE_SECONDS,
        r"text for the technician: u8 length 0 to (\d+)": shoe.FAULT_BYTES,
        r"serial number: 1 to (\d+) printable": SERIAL_BYTES,
        r"number of components, 0 to (\d+)": shoe.COMPONENTS,
        r"UTF-8 \| 1 to (\d+) bytes": shoe.TEXT_BYTES,
    },
}


@pytest.mark.parametrize("device", DEVICES, ids=str)
def test_the_numbers_of_the_page_are_those_of_the_program(device):
    text = re.sub(r"\s+", " ", page(device.page))
    found = {words: [int(each) for each in set(re.findall(words, text))] for words in NUMBERS[device]}

    assert found == {words: [number] for words, number in NUMBERS[device].items()}
