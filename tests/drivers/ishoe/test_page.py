"""docs/reference/ishoe-link.md: its framing, and its sessions, which are what the host does.

tests/drivers/test_pages.py checks the page's frames and its numbers.
"""

import zlib
from collections.abc import Callable
from dataclasses import asdict, fields, replace
from typing import Any

import pytest
from cobs import cobs  # type: ignore[import-untyped]

from punto.baccarat.cards import Card
from punto.baccarat.table.shoe_orders import Lamps, ShoeOrders
from punto.drivers.framing import Decoder, encode
from punto.drivers.ishoe import frames
from punto.drivers.ishoe.link import IShoeLink
from tests.drivers.devices import SHOE
from tests.drivers.page import blocks, bytes_after, in_words, name_of, page

KINDS = {name_of(kind): kind for kind in frames.FRAMES}


@pytest.mark.parametrize("lines", blocks(SHOE.page, "cobs"), ids=lambda lines: lines[0])
def test_the_examples_of_cobs(lines):
    data, *stuffed = lines
    choices = [bytes_after("cobs", line) for line in stuffed]

    assert cobs.encode(bytes_after("data", data)) in choices
    assert {cobs.decode(choice) for choice in choices} == {bytes_after("data", data)}


@pytest.mark.parametrize("line", [line for lines in blocks(SHOE.page, "broken") for line in lines])
def test_the_examples_of_broken_frames_are_counted_as_the_page_says(line):
    counter, rest = line.split(maxsplit=1)
    decoder = Decoder(frames.TYPES)

    assert decoder.feed(bytes.fromhex(rest)) == []
    assert asdict(decoder.counters)[counter] == 1
    assert decoder.counters.broken == 1


def test_the_check_value_of_the_crc():
    assert f"{zlib.crc32(b'123456789'):08X}" == "CBF43926"
    assert "CBF43926" in page(SHOE.page)


# --- the sessions


def values(words: list[str]) -> dict[str, str]:
    return dict(word.split("=", 1) for word in words)


def frame_of(line: str) -> frames.AnyFrame:
    """The frame in these words, if it is one of those that the shoe sends in a session."""
    name, *words = line.split()
    written = values(words)
    kind = KINDS[name]
    names = [field.name for field in fields(kind) if field.name != "components"]
    return kind(**{name: value_of(name, written) for name in names})


def value_of(name: str, written: dict[str, str]) -> Any:
    word = written[name]
    read: dict[str, Callable[[str], Any]] = {
        "lamps": lambda _: lamps(written),
        "log": lambda word: int(word, 16),
        "card": Card,
        "serial": str,
    }
    if name in read:
        return read[name](word)
    return word == "yes" if word in {"yes", "no"} else int(word)


def lamps(written: dict[str, str]) -> Lamps:
    lit: dict[str, Any] = {name: name in written.get("lamps", "") for name in ("player", "banker", "tie")}
    return Lamps(**lit, next=written["next"])  # type: ignore[arg-type]


def orders_after(orders: ShoeOrders, written: dict[str, str]) -> ShoeOrders:
    changed: dict[str, Any] = {"taken": int(written["taken"])}
    if "accept" in written:
        changed |= {"accept": written["accept"], "log": int(written["log"], 16)}
    if "locked" in written:
        changed["locked"] = written["locked"] == "yes"
    if "next" in written:
        changed["lamps"] = lamps(written)
    return replace(orders, **changed)


def test_the_sessions_are_what_the_host_does():
    link, orders, now = IShoeLink(), ShoeOrders(), 0.0
    link.connect(now, 1)
    decoder = Decoder(frames.TYPES)
    answers: list[str] = []
    for side, line in (line.split(maxsplit=1) for block in blocks(SHOE.page, "session") for line in block):
        if side == "host":
            answers = answers or [in_words(frame) for frame in decoder.feed(link.data_to_send(now))]
            assert answers.pop(0) == line
            continue
        assert answers == []
        now += 0.01
        if side == "after":
            now += int(line.split()[0]) / 1000
        elif side == "shoe":
            if link.receive(encode(frame_of(line)), now):
                link.handled()
            link.want(orders)
        else:
            orders = orders_after(orders, values(line.split()))
            link.want(orders)

    assert answers == []
