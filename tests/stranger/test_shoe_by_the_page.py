"""The page's own examples, for a shoe that was written from the page alone (shoe.py).

What this shoe does besides is held against the real driver, in test_with_the_real_driver.py.
"""

from collections.abc import Sequence
from pathlib import Path

import pytest

from punto.drivers.framing import encode
from tests.drivers.devices import SHOE
from tests.drivers.ishoe import test_page
from tests.drivers.page import blocks, bytes_after, examples
from tests.stranger.shoe import CARD, HELLO, Frame, Memory, Receiver, Shoe, Store, cobs_decode, cobs_encode

LOG = 0x5EED0001


def frames_in(data: bytes) -> list[Frame]:
    return list(Receiver().feed(data))


def frame_of(line: str) -> Frame:
    """The frame that a line of the page's notation describes."""
    (frame,) = frames_in(encode(test_page.frame_of(line)))
    return frame


@pytest.mark.parametrize("lines", blocks(SHOE.page, "cobs"), ids=lambda lines: lines[0])
def test_cobs_as_in_the_page(lines: list[str]):
    data, first, *others = (bytes_after(line.split()[0], line) for line in lines)

    assert cobs_encode(data) == first
    assert {cobs_decode(coded) for coded in (first, *others)} == {data}


@pytest.mark.parametrize("example", examples(SHOE.page), ids=lambda example: example.words[:50])
def test_a_frame_is_the_pages_to_the_byte(example):
    (frame,) = frames_in(example.wire)

    assert frame.decoded() == example.decoded
    assert frame.wire() == example.wire


@pytest.mark.parametrize("line", blocks(SHOE.page, "broken")[0])
def test_what_arrives_broken_is_counted_by_the_pages_name(store: Store, line: str):
    name, wire = line.split(None, 1)
    shoe = Shoe(store)

    # The card among them, had it come whole, would be one of the shoe's own types.
    assert orders(shoe) == []
    shoe.receive(bytes.fromhex(wire))
    assert said(shoe) == []
    assert shoe.receiver.counts == {name: 1}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(tmp_path / "shoe")
    store.save(Memory(log=LOG))
    return store


def said(shoe: Shoe) -> list[Frame]:
    return frames_in(b"".join(shoe.take_output()))


def orders(shoe: Shoe, *frames: Frame) -> list[Frame]:
    """Give the shoe the host's frames and return what it says to them."""
    said(shoe)
    shoe.receive(b"".join(frame.wire() for frame in frames))
    return said(shoe)


def beat(shoe: Shoe) -> Frame:
    said(shoe)
    shoe.heartbeat()
    return said(shoe)[0]


def test_power_on_is_hello_then_the_pages_heartbeat(store: Store):
    memory = Memory(log=LOG, first_kept=417, lid_open=True)
    store.save(memory)
    shoe = Shoe(store)
    hello = said(shoe)
    example = examples(SHOE.page)[2].words

    assert [frame.type for frame in hello] == [HELLO]
    assert "first_kept=417" in example
    assert beat(shoe) == frame_of(example)


def test_the_session_of_the_page(store: Store):
    """All four parts, the shoe's lines said by this shoe; its dealer draws and is drawn as the story tells."""
    first, second, third, fourth = (
        [line.split(None, 1) for line in lines] for lines in blocks(SHOE.page, "session")
    )
    store.save(
        Memory(
            log=LOG,
            first_kept=4,
            decks=8,
            cards=["KH", "4C", *["2D"] * 13],
            records=[(CARD, b"8S\x63".hex()), (CARD, b"9S\x62".hex())],
        )
    )
    shoe = Shoe(store, serial="IS-004711", components=())
    said(shoe)

    def play(lines: Sequence[list[str]]) -> list[Frame]:
        heard: list[Frame] = []
        for who, what in lines:
            if who == "host":
                heard += orders(shoe, frame_of(what))
        return heard

    def shoe_lines(lines: Sequence[list[str]]) -> list[Frame]:
        return [frame_of(what) for who, what in lines if who == "shoe"]

    def draw(confidence: int) -> list[Frame]:
        shoe.let_out(shoe.memory.cards.pop(0), confidence)
        return said(shoe)

    assert play(first) == shoe_lines(first)

    draw(97)  # lost on the line
    shoe.deal()
    cut_card = said(shoe)
    answers = play(second[:-3])

    assert cut_card + answers + draw(99) == shoe_lines(second)

    # The last ACKNOWLEDGE is lost.
    assert not shoe.deal()
    shoe.move_lid(is_open=True)
    heartbeat = beat(shoe)
    answers = play(third[:-3])
    shoe.move_lid(is_open=False)

    assert [heartbeat, *answers, *said(shoe)] == shoe_lines(third)
    play(third[-3:])
    before, after = fourth[:3], fourth[3:]
    play([before[2]])  # without the UNLOCK
    assert [beat(shoe)] == shoe_lines(after)
    assert not shoe.deal()
    play(after)
    assert shoe.deal()
