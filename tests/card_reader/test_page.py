"""docs/reference/card-reader.md says what the program does: its examples to the byte, its tables, its numbers."""

import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from cobs import cobs  # type: ignore[import-untyped]

from punto.drivers import framing
from punto.drivers.base import CardAnswer
from punto.drivers.card_reader import frames, input_device, number
from punto.drivers.card_reader.frames import Answer, Here, Status, Swipe
from punto.drivers.card_reader.link import CardReaderLink
from punto.drivers.card_reader.swiped import UNREADABLE
from punto.drivers.frame import SERIAL_BYTES, Frame
from punto.drivers.framing import encode
from punto.drivers.link import FRAMES_PER_SECOND, MOST_FRAMES, SILENCE_SECONDS
from punto.drivers.serial_device import REOPEN_SECONDS
from punto.simulators.card_reader.device import SHOWN_SECONDS
from tests.share import sampled

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "card-reader.md").read_text(encoding="utf-8")
KINDS = (Here, Swipe, Status, Answer)
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
        case "token" | "session":
            return f"{value:x}"
        case "awaited":
            return "yes" if value else "no"
        case "track":
            return f'"{value.decode()}"'
        case "text":
            return f'"{value}"'
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
    for each in damaged:
        here = decoder()
        assert all(found == frame for found in here.feed(each))
        here.feed(b"\0")
        assert here.feed(good) == [frame]  # and the next whole one is found


def test_every_frame_has_an_example_and_its_type_in_the_table():
    assert {lines[0].split()[0] for lines in BLOCKS} == {kind.__name__.upper() for kind in KINDS}
    assert dict(re.findall(r"^\| ([0-9a-f]{2}) \| ([A-Z]+) \|", PAGE, re.MULTILINE)) == {
        f"{kind.TYPE:x}": kind.__name__.upper() for kind in KINDS
    }


def test_the_examples_are_a_conversation_that_the_hosts_end_has():
    link = CardReaderLink()
    link.connect(0.0, 0x1233)
    seen = [decoder().feed(on_the_wire(wire))[0] for _, _, wire in BLOCKS]
    here, first, unreadable = seen[1], seen[3], seen[5]
    assert isinstance(here, Here)
    assert isinstance(first, Swipe)
    assert isinstance(seen[4], Answer)
    assert isinstance(seen[6], Answer)

    assert link.data_to_send(0.0, awaited=False) == encode(seen[0])
    assert link.receive(encode(here), 0.1) is None
    assert link.data_to_send(0.1, awaited=True) == encode(seen[2])
    link.receive(encode(Here(0x1235, 0xC0FFEE01, "CR-000042")), 0.1)
    assert link.receive(encode(first), 0.2) == first
    link.answer(first, CardAnswer("second_factor", seen[4].text), 0.2)
    assert link.data_to_send(0.2, awaited=True) == encode(seen[4])
    for turn in range(4):  # up to token 1239
        link.data_to_send(0.4 + turn * 0.3, awaited=True)
    assert link.receive(encode(unreadable), 1.4) == unreadable
    assert seen[6].text == UNREADABLE.text


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (r"1 to (\d+) printable ASCII", SERIAL_BYTES),
        (r"what was read, 0 to (\d+) bytes", frames.TRACK_BYTES),
        (r"(\d+) to \d+ characters, each a digit or `=`", number.SHORTEST),
        (r"\d+ to (\d+) characters, each a digit or `=`", number.LONGEST),
        (r"0 to (\d+) bytes of printable UTF-8", frames.TEXT_BYTES),
        (r"A text of more than (\d+) bytes", frames.TEXT_BYTES),
        (r"STATUS goes out every (\d+) ms", frames.STATUS_SECONDS * 1000),
        (r"(\d+) ms without a STATUS", SILENCE_SECONDS * 1000),
        (r"(\d+) ms without HERE", SILENCE_SECONDS * 1000),
        (r"at once and every (\d+) ms", frames.REPEAT_SECONDS * 1000),
        (r"after (\d+) ms, SWIPE goes out without", frames.STALE_SECONDS * 1000),
        (r"this connection that went out no more than (\d+) ms ago", frames.STALE_SECONDS * 1000),
        (r"the SWIPE's token went out no more than (\d+) ms ago", frames.STALE_SECONDS * 1000),
        (r"A swipe that is older than (\d+) s is never", frames.STALE_SECONDS),
        (r"If a swipe is older than (\d+) s", frames.STALE_SECONDS),
        (r"for more than (\d+) s is not accepted", frames.STALE_SECONDS),
        (r"more than (\d+) ms apart", input_device.GAP_SECONDS * 1000),
        (r"An answer is shown for (\d+) s", SHOWN_SECONDS),
        (r"opens the port again after (\d+) s", REOPEN_SECONDS),
        (r"more than (\d+) frames arrive at once", MOST_FRAMES),
        (r"or more than (\d+) a second on average", FRAMES_PER_SECOND),
        (r"reads nothing for (\d+) s", REOPEN_SECONDS),
    ],
)
def test_a_number_of_the_page_is_the_programs(words, said):
    (found,) = re.findall(words, re.sub(r"\s+", " ", PAGE))
    assert int(found) == said
