"""docs/reference/coin-spot.md says what the program does: its examples to the byte, its tables, its numbers."""

import re
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

import pytest
from cobs import cobs  # type: ignore[import-untyped]

from punto.drivers import framing
from punto.drivers.base import SensorFault
from punto.drivers.coin_spot import frames
from punto.drivers.coin_spot.frames import KEEP, Ask, Here, Orders, Report, Spot
from punto.drivers.frame import SERIAL_BYTES, Frame
from punto.drivers.framing import encode
from punto.drivers.link import FRAMES_PER_SECOND, MOST_FRAMES, SILENCE_SECONDS
from punto.drivers.serial_device import REOPEN_SECONDS
from tests.share import part, sampled

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "coin-spot.md").read_text(encoding="utf-8")
KINDS = (Here, Report, Ask, Orders)
BLOCKS = [text.splitlines() for text in re.findall(r"^```frame\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)]


def in_words(frame: Frame) -> str:
    return " ".join(
        [
            type(frame).__name__.upper(),
            *(f"{field.name}={written(field.name, getattr(frame, field.name))}" for field in fields(frame)),
        ]
    )


def written(name: str, value: Any) -> str:
    match name:
        case "token":
            return f"{value:x}"
        case "round":
            return {0: "open", KEEP: "keep"}.get(value, str(value))
        case "latched" | "lights":
            return ",".join(map(str, sorted(value))) or "none"
        case "spots":
            return ",".join(f"{spot.answers}/{spot.came}/{spot.went}" for spot in value)
        case _:
            return str(value)


def decoder() -> framing.Decoder[Frame]:
    return framing.Decoder[Frame]({kind.TYPE: kind.parse for kind in KINDS})


def on_the_wire(wire: str) -> bytes:
    return bytes.fromhex(wire.removeprefix("wire"))


@pytest.mark.parametrize(("words", "decoded", "wire"), BLOCKS, ids=[lines[0][:40] for lines in BLOCKS])
def test_an_example_is_exact_both_ways(words, decoded, wire):
    (frame,) = decoder().feed(on_the_wire(wire))

    assert in_words(frame) == words
    assert encode(frame) == on_the_wire(wire)
    assert cobs.decode(on_the_wire(wire)[1:-1]) == bytes.fromhex(decoded.removeprefix("decoded"))


@pytest.mark.parametrize(
    "wire", sampled([lines[2] for lines in BLOCKS], one_in=4), ids=[lines[0][:40] for lines in BLOCKS]
)
@pytest.mark.in_part
def test_a_flipped_lost_doubled_or_inserted_byte_makes_no_other_frame_of_an_example(wire):
    good = on_the_wire(wire)
    (frame,) = decoder().feed(good)
    damaged = [
        *(
            good[:at] + bytes([good[at] ^ 1 << bit]) + good[at + 1 :]
            for at in range(len(good))
            for bit in range(8)
        ),
        *(good[:at] + good[at + 1 :] for at in range(len(good))),
        *(good[: at + 1] + good[at:] for at in range(len(good))),
        *(good[:at] + bytes([byte]) + good[at:] for at in range(len(good)) for byte in range(256)),
    ]
    for each in part(damaged, one_in=3):
        here = decoder()
        assert all(found == frame for found in here.feed(each))
        here.feed(b"\0")
        assert here.feed(good) == [frame]  # and the next whole one is found


def test_every_frame_has_an_example_and_its_type_in_the_table():
    assert {lines[0].split()[0] for lines in BLOCKS} == {kind.__name__.upper() for kind in KINDS}
    assert dict(re.findall(r"^\| ([0-9a-f]{2}) \| ([A-Z]+) \|", PAGE, re.MULTILINE)) == {
        f"{kind.TYPE:x}": kind.__name__.upper() for kind in KINDS
    }


def test_the_examples_are_a_conversation_that_the_two_ends_have():
    """A late coin is in none of the page's latches, and the coin that was taken off after START is."""
    (last,) = [lines for lines in BLOCKS if lines[0].startswith("REPORT number=5")]
    (report,) = decoder().feed(on_the_wire(last[2]))

    assert isinstance(report, Report)
    assert report.latched == {2}
    assert report.spots == (Spot(1, 5, 0), Spot(1, 1, 4), Spot(0, 0, 0))


@pytest.mark.parametrize(
    ("words", "number"),
    [
        (r"1 to (\d+) printable ASCII", SERIAL_BYTES),
        (r"Up to (\d+) sensors", frames.POSITIONS),
        (r"1 to (\d+) of them", frames.POSITIONS),
        (r"ASK goes out every (\d+) ms", frames.ORDERS_SECONDS * 1000),
        (r"ORDERS go out every (\d+) ms", frames.ORDERS_SECONDS * 1000),
        (r"and every (\d+) ms while", frames.REPEAT_SECONDS * 1000),
        (r"and again every (\d+) ms", frames.REPEAT_SECONDS * 1000),
        (r"sends a START for (\d+) ms", frames.START_SECONDS * 1000),
        (r"(\d+) ms without a host", SILENCE_SECONDS * 1000),
        (r"(\d+) ms without a good frame", SILENCE_SECONDS * 1000),
        (r"(\d+) ms without HERE or REPORT", SILENCE_SECONDS * 1000),
        (r"opens the port again after (\d+) s", REOPEN_SECONDS),
        (r"more than (\d+) frames arrive at once", MOST_FRAMES),
        (r"or more than (\d+) a second on average", FRAMES_PER_SECOND),
        (r"reads nothing for (\d+) s", REOPEN_SECONDS),
    ],
)
def test_a_number_of_the_page_is_the_programs(words, number):
    (found,) = re.findall(words, PAGE)
    assert int(found) == number


def test_the_page_has_every_fault():
    assert set(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)) == set(get_args(SensorFault))
