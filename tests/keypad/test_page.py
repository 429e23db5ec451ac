"""docs/reference/keypad.md says what the program does: its examples to the byte, its default map, its numbers."""

import re
from dataclasses import fields
from pathlib import Path

import pytest
from cobs import cobs  # type: ignore[import-untyped]

from punto.controller.config.devices import KeypadConfig
from punto.drivers import framing
from punto.drivers.base import KeypadLamps
from punto.drivers.frame import SERIAL_BYTES, Frame
from punto.drivers.framing import encode
from punto.drivers.keypad import frames
from punto.drivers.keypad.frames import Answer, Here, Noted, Press, Status, Switch
from punto.drivers.keypad.keys import DEFAULT, LONGEST_KEY, MEANINGS
from punto.drivers.link import FRAMES_PER_SECOND, MOST_FRAMES, SILENCE_SECONDS
from punto.drivers.serial_device import REOPEN_SECONDS
from punto.simulators.keypad.device import ROOM

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "keypad.md").read_text(encoding="utf-8")
NAMES: dict[type[Frame], str] = {
    Here: "HERE",
    Press: "PRESS",
    Switch: "SWITCH",
    Status: "STATUS",
    Answer: "ANSWER",
    Noted: "NOTED",
}
BLOCKS = [text.splitlines() for text in re.findall(r"^```frame\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)]


def in_words(frame: Frame) -> str:
    words = [NAMES[type(frame)]]
    for field in fields(frame):
        value = getattr(frame, field.name)
        if isinstance(value, KeypadLamps):
            value = ",".join(lamp.name for lamp in fields(value) if getattr(value, lamp.name))
        elif field.name in {"token", "session"}:
            value = f"{value:x}"
        elif field.name == "text":
            value = f'"{value}"'
        words.append(f"{field.name}={value}")
    return " ".join(words)


@pytest.mark.parametrize(("words", "decoded", "wire"), BLOCKS, ids=[lines[0][:40] for lines in BLOCKS])
def test_an_example_is_exact_both_ways(words, decoded, wire):
    on_the_wire = bytes.fromhex(wire.removeprefix("wire"))
    (frame,) = framing.Decoder[Frame]({kind.TYPE: kind.parse for kind in NAMES}).feed(on_the_wire)

    assert in_words(frame) == words
    assert encode(frame) == on_the_wire
    assert cobs.decode(on_the_wire[1:-1]) == bytes.fromhex(decoded.removeprefix("decoded"))


def test_every_frame_has_an_example_and_its_type_in_the_table():
    assert {lines[0].split()[0] for lines in BLOCKS} == set(NAMES.values())
    assert dict(re.findall(r"^\| ([0-9a-f]{2}) \| ([A-Z]+) \|", PAGE, re.MULTILINE)) == {
        f"{kind.TYPE:x}": name for kind, name in NAMES.items()
    }


@pytest.mark.parametrize(
    ("words", "number"),
    [
        (r"1 to (\d+) printable ASCII", SERIAL_BYTES),
        (r"1 to (\d+) of A-Z", LONGEST_KEY),
        (r"0 to (\d+) bytes of printable UTF-8", frames.TEXT_BYTES),
        (r"A text of more than (\d+) bytes", frames.TEXT_BYTES),
        (r"STATUS goes out every (\d+) ms", frames.STATUS_SECONDS * 1000),
        (r"(\d+) ms without a STATUS", SILENCE_SECONDS * 1000),
        (r"(\d+) ms without HERE", SILENCE_SECONDS * 1000),
        (r"unanswered press, every (\d+) ms", frames.REPEAT_SECONDS * 1000),
        (r"age of the PRESS is above (\d+) ms", frames.STALE_MILLISECONDS),
        (r"At most (\d+) presses wait", ROOM),
        (r"again within (\d+) ms", frames.BOUNCE_SECONDS * 1000),
        (r"sends the SWITCH again every (\d+) ms", frames.REPEAT_SECONDS * 1000),
        (r"opens the port again after (\d+) s", REOPEN_SECONDS),
        (r"more than (\d+) frames arrive at once", MOST_FRAMES),
        (r"or more than (\d+) a second on average", FRAMES_PER_SECOND),
        (r"reads nothing for (\d+) s", REOPEN_SECONDS),
        (r"baud = (\d+)", KeypadConfig(port="/dev/keypad").baud),
    ],
)
def test_a_number_of_the_page_is_the_programs(words, number):
    (found,) = re.findall(words, PAGE)
    assert int(found) == number


def test_the_page_has_every_meaning_and_the_keys_of_each():
    rows = dict(re.findall(r"^\| (`[^|]+`) \| (.+) \|$", PAGE, re.MULTILINE))
    written = " ".join(rows)
    for meaning in MEANINGS:
        if not re.fullmatch("rank [3-8]|hand [0-9]+", meaning):
            assert f"`{meaning}`" in written
    for key, meaning in DEFAULT.items():
        if not meaning.startswith(("rank", "suit", "hand")):
            assert any(f"`{key}`" in keys and f"`{meaning}`" in means for keys, means in rows.items())
