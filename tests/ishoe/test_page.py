"""The examples of docs/reference/ishoe-link.md are what the program does, to the byte."""

import re
import zlib
from dataclasses import asdict, replace
from typing import Any

import pytest
from cobs import cobs  # type: ignore[import-untyped]

from punto.baccarat.cards import Card
from punto.baccarat.table.shoe_orders import Lamps, ShoeOrders
from punto.drivers.frame import SERIAL_BYTES
from punto.drivers.framing import LONGEST, LONGEST_ENCODED, Decoder, encode
from punto.drivers.ishoe import frames
from punto.drivers.ishoe.link import (
    ASK_AGAIN_SECONDS,
    MOST_TOLD,
    NOISE_FRAMES,
    NOISE_SECONDS,
    REPEAT_SECONDS,
    TOLD_SECONDS,
    IShoeLink,
)
from punto.drivers.link import SILENCE_SECONDS
from punto.drivers.serial_device import REOPEN_SECONDS
from tests.ishoe.page import NAMES, PAGE, blocks, bytes_of, in_words

FRAME_BLOCKS = blocks("frame")
FLAGS = ("locked", "lid_open", "sending", "full")


def bytes_after(word: str, line: str) -> bytes:
    name, rest = line.split(maxsplit=1)
    assert name == word
    return bytes_of(rest)


@pytest.mark.parametrize(
    ("words", "decoded", "wire"), FRAME_BLOCKS, ids=[lines[0][:40] for lines in FRAME_BLOCKS]
)
def test_an_example_is_exact_both_ways(words, decoded, wire):
    decoder = Decoder(frames.TYPES)
    on_the_wire = bytes_after("wire", wire)
    (frame,) = decoder.feed(on_the_wire)

    assert in_words(frame) == words
    assert encode(frame) == on_the_wire
    assert cobs.decode(on_the_wire[1:-1]) == bytes_after("decoded", decoded)


def test_every_frame_has_an_example():
    assert {lines[0].split()[0] for lines in FRAME_BLOCKS} == set(NAMES.values())
    assert set(NAMES) == set(frames.FRAMES)


@pytest.mark.parametrize("lines", blocks("cobs"), ids=lambda lines: lines[0])
def test_the_examples_of_cobs(lines):
    data, *stuffed = lines
    choices = [bytes_after("cobs", line) for line in stuffed]

    assert cobs.encode(bytes_after("data", data)) in choices
    assert {cobs.decode(choice) for choice in choices} == {bytes_after("data", data)}


@pytest.mark.parametrize("line", [line for lines in blocks("broken") for line in lines])
def test_the_examples_that_are_broken(line):
    counter, rest = line.split(maxsplit=1)
    decoder = Decoder(frames.TYPES)

    assert decoder.feed(bytes.fromhex(rest)) == []
    assert asdict(decoder.counters)[counter] == 1
    assert decoder.counters.broken == 1


def test_the_check_value_of_the_crc():
    assert f"{zlib.crc32(b'123456789'):08X}" == "CBF43926"
    assert "CBF43926" in PAGE


@pytest.mark.parametrize(
    ("sentence", "number"),
    [
        (r"heartbeat \| every (\d+) ms", frames.HEARTBEAT_SECONDS * 1000),
        (r"lost \| after (\d+) ms", SILENCE_SECONDS * 1000),
        (r"hello again \| every (\d+) ms", ASK_AGAIN_SECONDS * 1000),
        (r"no effect \| after (\d+) ms", REPEAT_SECONDS * 1000),
        (r"10 to (\d+) bytes", LONGEST),
        (r"between the delimiters has at most (\d+)", LONGEST_ENCODED),
        (r"fewer than (\d+) records are sent", frames.WINDOW),
        (r"The shoe keeps\*\* at least (\d+) records", frames.STORE),
        (r"a reserve of at least (\d+) more places", frames.RESERVE),
        (r"number is (\d+) or more above `first_kept`", frames.WINDOW),
        (r"`oversize` \| more than (\d+) bytes", LONGEST_ENCODED),
        (r"decodes to more than (\d+)", LONGEST),
        (r"counts more than (\d+) of these", MOST_TOLD),
        (r"of these events within (\d+) s", TOLD_SECONDS),
        (r"reads nothing for (\d+) s", REOPEN_SECONDS),
        (r"More than (\d+) broken frames", NOISE_FRAMES),
        (r"broken frames in (\d+) s", NOISE_SECONDS),
        (r"text for the technician: u8 length 0 to (\d+)", frames.FAULT_BYTES),
        (r"serial number: 1 to (\d+) printable", SERIAL_BYTES),
        (r"number of components, 0 to (\d+)", frames.COMPONENTS),
        (r"UTF-8 \| 1 to (\d+) bytes", frames.TEXT_BYTES),
    ],
)
def test_the_numbers_in_the_page_are_the_programs(sentence, number):
    found = re.search(sentence, PAGE)

    assert found is not None
    assert int(found[1]) == number


# --- the session


def values(words: list[str]) -> dict[str, str]:
    return dict(word.split("=", 1) for word in words)


def shoe_frame(words: list[str]) -> frames.AnyFrame:
    """The shoe's side of the session uses few kinds of frames."""
    kind, field = words[0], values(words[1:])
    number = {name: int(value) for name, value in field.items() if value.isdecimal() and name != "log"}
    if kind == "HELLO":
        log = int(field["log"], 16)
        return frames.Hello(
            field["serial"], log, number["first_kept"], number["next_record"], number["decks"]
        )
    if kind == "HEARTBEAT":
        state: dict[str, Any] = {name: field[name] == "yes" for name in FLAGS}
        state |= {
            name: number[name]
            for name in ("first_kept", "next_to_send", "next_record", "last_command", "decks")
        }
        return frames.Heartbeat(int(field["log"], 16), **state, lamps=lamps(field))
    if kind == "LID":
        return frames.LidRecord(number["record"], field["open"] == "yes")
    if kind == "CUT_CARD":
        return frames.CutCardRecord(number["record"])
    assert kind == "CARD"
    return frames.CardRecord(number["record"], Card(field["card"]), number["confidence"])


def lamps(field: dict[str, str]) -> Lamps:
    lit: dict[str, Any] = {name: name in field.get("lamps", "") for name in ("player", "banker", "tie")}
    lit["next"] = field["next"]
    return Lamps(**lit)


def orders_after(orders: ShoeOrders, field: dict[str, str]) -> ShoeOrders:
    changed: dict[str, Any] = {}
    if "accept" in field:
        changed |= {"accept": field["accept"], "log": int(field["log"], 16)}
    if "locked" in field:
        changed["locked"] = field["locked"] == "yes"
    if "next" in field:
        changed["lamps"] = lamps(field)
    return replace(orders, taken=int(field["taken"]), **changed)


def test_the_session_is_what_the_host_does():
    link, orders, now = IShoeLink(), ShoeOrders(), 0.0
    link.connect(now, 1)
    decoder = Decoder(frames.TYPES)
    answers: list[str] = []
    for side, line in (line.split(maxsplit=1) for block in blocks("session") for line in block):
        words = line.split()
        if side == "host":
            answers = answers or [in_words(frame) for frame in decoder.feed(link.data_to_send(now))]
            assert answers.pop(0) == line
            continue
        assert answers == []
        now += 0.01
        if side == "after":
            now += int(words[0]) / 1000
        elif side == "shoe":
            if link.receive(encode(shoe_frame(words)), now):
                link.handled()
            link.want(orders)
        else:
            orders = orders_after(orders, values(words))
            link.want(orders)

    assert answers == []
