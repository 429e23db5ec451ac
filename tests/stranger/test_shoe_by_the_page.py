"""The page's own examples, for a shoe that was written from the page alone (shoe.py).

What this shoe does besides is held against the real driver, in test_with_the_real_driver.py.
"""

import re
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.stranger.shoe import (
    ACKNOWLEDGE,
    ASK_HELLO,
    BANKER,
    BURN,
    CARD,
    CUT_CARD,
    FAULT,
    HEARTBEAT,
    HELLO,
    LAMPS,
    LID,
    LOCK,
    NO_PROMPT,
    OVERDRAWN,
    PLAYER,
    RESEND,
    REVERSE,
    UNLOCK,
    UNREAD,
    Component,
    Frame,
    Memory,
    Receiver,
    Shoe,
    Store,
    cobs_decode,
    cobs_encode,
    text,
    u16,
    u32,
)

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "ishoe-link.md").read_text("utf-8")

# --- The page's examples -----------------------------------------------------------------------------------


def fences(kind: str) -> list[list[str]]:
    return [
        block.strip().splitlines()
        for block in re.findall(rf"^```{kind}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    ]


KINDS = {
    "HELLO": HELLO,
    "HEARTBEAT": HEARTBEAT,
    "CARD": CARD,
    "UNREAD": UNREAD,
    "CUT_CARD": CUT_CARD,
    "LID": LID,
    "REVERSE": REVERSE,
    "OVERDRAWN": OVERDRAWN,
    "FAULT": FAULT,
    "ASK_HELLO": ASK_HELLO,
    "ACKNOWLEDGE": ACKNOWLEDGE,
    "RESEND": RESEND,
    "LOCK": LOCK,
    "UNLOCK": UNLOCK,
    "LAMPS": LAMPS,
}
PROMPTS = {"none": NO_PROMPT, "player": PLAYER, "banker": BANKER, "burn": BURN}
RESULTS = {"none": 0, "player": 1, "banker": 2, "tie": 4}


def bytes_of(words: str) -> bytes:
    """Bytes as the page writes them: `07*254` stands for 254 times the same."""
    spelled = [word.split("*") if "*" in word else (word, "1") for word in words.split()]
    return b"".join(bytes.fromhex(byte) * int(times) for byte, times in spelled)


def lamps_of(said: dict[str, str]) -> bytes:
    return bytes([sum(RESULTS[lamp] for lamp in said["lamps"].split(",")) | PROMPTS[said["next"]] << 4])


def card_of(said: dict[str, str]) -> bytes:
    return said["card"].encode() + bytes([int(said["confidence"])])


def hello_of(said: dict[str, str]) -> bytes:
    components = said.get("component", "").split()
    payload = text(said["serial"].encode()) + bytes.fromhex(said["log"])
    payload += u32(int(said["first_kept"])) + u32(int(said["next_record"]))
    payload += bytes([int(said["decks"]), len(components)])
    for component in components:
        name, version, digest = component.split("/")
        payload += Component(name, version, bytes.fromhex(digest)).payload()
    return payload


def heartbeat_of(said: dict[str, str]) -> bytes:
    flags = sum(
        (said[flag] == "yes") << bit for bit, flag in enumerate(("locked", "lid_open", "sending", "full"))
    )
    numbers = [u32(int(said[number])) for number in ("first_kept", "next_to_send", "next_record")]
    return (
        bytes.fromhex(said["log"])
        + b"".join(numbers)
        + bytes([flags])
        + lamps_of(said)
        + u32(int(said["last_command"]))
        + bytes([int(said["decks"])])
    )


PAYLOADS: dict[str, Callable[[dict[str, str]], bytes]] = {
    "HELLO": hello_of,
    "HEARTBEAT": heartbeat_of,
    "CARD": card_of,
    "OVERDRAWN": card_of,
    "LID": lambda said: bytes([said["open"] == "yes"]),
    "FAULT": lambda said: u16(int(said["code"])) + text(said["text"].encode()),
    "ACKNOWLEDGE": lambda said: (
        bytes.fromhex(said["log"])
        + u32(int(said["record"]))
        + bytes([said["locked"] == "yes"])
        + lamps_of(said)
    ),
    "RESEND": lambda said: bytes.fromhex(said["log"]) + u32(int(said["record"])),
    "LAMPS": lamps_of,
}


def frame_of(line: str) -> Frame:
    """The frame that a line of the page's notation describes."""
    name, *words = shlex.split(line)
    said: dict[str, str] = {}
    for word in words:
        key, value = word.split("=", 1)
        said[key] = f"{said[key]} {value}" if key in said else value
    number = said.get("command") if KINDS[name] >= 0x80 else said.get("record")
    payload = PAYLOADS[name](said) if name in PAYLOADS else b""
    return Frame(KINDS[name], int(number or 0), payload)


def frames_in(data: bytes) -> list[Frame]:
    return list(Receiver().feed(data))


@pytest.mark.parametrize("lines", fences("cobs"))
def test_cobs_as_in_the_page(lines: list[str]):
    data, first, *others = (bytes_of(line.split(None, 1)[1]) for line in lines)

    assert cobs_encode(data) == first
    assert {cobs_decode(coded) for coded in (first, *others)} == {data}


@pytest.mark.parametrize("lines", fences("frame"), ids=lambda lines: lines[0].split(" component")[0])
def test_a_frame_is_the_pages_to_the_byte(lines: list[str]):
    frame = frame_of(lines[0])
    decoded, wire = (bytes.fromhex(line.split(None, 1)[1]) for line in lines[1:])

    assert frame.decoded() == decoded
    assert frame.wire() == wire
    assert frames_in(wire) == [frame]


def test_the_page_shows_every_type():
    shown = {lines[0].split()[0] for lines in fences("frame")}

    assert shown == set(KINDS)


@pytest.mark.parametrize("line", fences("broken")[0])
def test_what_arrives_broken_is_counted_by_the_pages_name(store: Store, line: str):
    name, wire = line.split(None, 1)
    shoe = Shoe(store)

    # The card among them, had it come whole, would be one of the shoe's own types.
    assert orders(shoe) == []
    shoe.receive(bytes.fromhex(wire))
    assert said(shoe) == []
    assert shoe.receiver.counts == {name: 1}


# --- The shoe without a line -------------------------------------------------------------------------------

LOG = 0x5EED0001


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
    example = fences("frame")[2][0]

    assert [frame.type for frame in hello] == [HELLO]
    assert "first_kept=417" in example
    assert beat(shoe) == frame_of(example)


def test_the_session_of_the_page(store: Store):
    """All four parts, the shoe's lines said by this shoe; its dealer draws and is drawn as the story tells."""
    first, second, third, fourth = ([line.split(None, 1) for line in lines] for lines in fences("session"))
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
