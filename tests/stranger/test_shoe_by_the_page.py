"""The stranger's shoe against the page's own examples, and under a tiny host written from the page."""

import hashlib
import os
import random
import re
import select
import shlex
import signal
import subprocess
import sys
import time
import tty
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.stranger.shoe import (
    ACKNOWLEDGE,
    ASK_HELLO,
    BANKER,
    BEAT,
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
    RANKS,
    RESEND,
    RESERVE,
    REVERSE,
    STORE,
    UNLOCK,
    UNREAD,
    WINDOW,
    Component,
    Frame,
    Memory,
    PtyShoe,
    Receiver,
    Shoe,
    Store,
    cobs_decode,
    cobs_encode,
    crc32,
    read_shoes,
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


def test_the_check_value_of_the_crc():
    assert f"{crc32(b'123456789'):08X}" == "CBF43926"


@pytest.mark.parametrize("lines", fences("cobs"))
def test_cobs_as_in_the_page(lines: list[str]):
    data, first, *others = (bytes_of(line.split(None, 1)[1]) for line in lines)

    assert cobs_encode(data) == first
    assert {cobs_decode(coded) for coded in (first, *others)} == {data}


@pytest.mark.parametrize("size", [0, 1, 253, 254, 255, 508, 1016, 1024])
@pytest.mark.parametrize("byte", [b"\x00", b"\x07"])
@pytest.mark.parametrize("tail", [b"", b"\x00"])
def test_cobs_gives_back_what_went_in_and_costs_what_the_page_says(size: int, byte: bytes, tail: bytes):
    data = (byte * size + tail)[:1024]
    coded = cobs_encode(data)

    assert cobs_decode(coded) == data
    assert 0 not in coded
    assert len(coded) <= 1029


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


def test_more_than_1029_bytes_are_thrown_away_up_to_the_next_delimiter():
    receiver = Receiver()
    good = Frame(LOCK, 1)

    assert list(receiver.feed(b"\x01" * 5000 + good.wire())) == [good]
    assert receiver.counts == {"oversize": 1}


def test_bytes_may_come_one_by_one():
    receiver = Receiver()
    wire = Frame(LOCK, 1).wire() + Frame(UNLOCK, 2).wire()

    assert [frame.type for byte in wire for frame in receiver.feed(bytes([byte]))] == [LOCK, UNLOCK]


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


def resend(number: int, log: int = LOG) -> Frame:
    return Frame(RESEND, 1, u32(log) + u32(number))


def acknowledge(number: int, log: int = LOG, *, locked: bool = False, prompt: int = NO_PROMPT) -> Frame:
    return Frame(ACKNOWLEDGE, 1, u32(log) + u32(number) + bytes([locked, prompt << 4]))


def lamps(prompt: int, number: int = 1) -> Frame:
    return Frame(LAMPS, number, bytes([prompt << 4]))


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


@pytest.mark.parametrize(
    ("frame", "first_kept"),
    [
        (acknowledge(2), 3),
        (acknowledge(3), 4),
        (acknowledge(4), 1),
        (acknowledge(2, log=1), 1),
    ],
    ids=["some", "all", "not there yet", "another log"],
)
def test_acknowledge(store: Store, frame: Frame, first_kept: int):
    shoe = Shoe(store)
    for _ in range(3):
        shoe.happens(REVERSE)
    orders(shoe, frame)

    assert shoe.memory.first_kept == first_kept
    assert store.load() == shoe.memory
    assert shoe.next_to_send == first_kept
    assert shoe.locked is (first_kept == 1)


def test_an_old_acknowledgement_forgets_nothing_and_its_orders_hold(store: Store):
    shoe = Shoe(store)
    for _ in range(3):
        shoe.happens(REVERSE)
    orders(shoe, acknowledge(2), acknowledge(1, locked=True, prompt=BANKER))

    assert (shoe.memory.first_kept, shoe.locked, shoe.prompt) == (3, True, BANKER)


@pytest.mark.parametrize(
    ("frame", "numbers", "sending"),
    [
        (resend(3), [3, 4], True),
        (resend(1), [2, 3, 4], True),
        (resend(5), [], True),
        (resend(6), [], False),
        (resend(3, log=1), [], False),
        (resend(0), [], False),
    ],
    ids=["kept", "no longer kept", "from now on", "above next_record", "another log", "none"],
)
def test_resend(store: Store, frame: Frame, numbers: list[int], sending: bool):
    shoe = Shoe(store)
    for _ in range(4):
        shoe.happens(REVERSE)
    orders(shoe, acknowledge(1))

    assert [record.sequence for record in orders(shoe, frame)] == numbers
    assert shoe.sending is sending


def test_not_more_than_64_records_are_sent_and_not_acknowledged(store: Store):
    shoe = Shoe(store)
    orders(shoe, resend(1))
    for _ in range(WINDOW + 10):
        shoe.happens(REVERSE)

    assert [record.sequence for record in said(shoe)] == list(range(1, 65))
    assert [record.sequence for record in orders(shoe, acknowledge(3))] == [65, 66, 67]


def test_a_full_shoe_says_so_and_lets_no_card_out(store: Store):
    memory = Memory(log=LOG, records=[(REVERSE, "")] * (STORE - 1))
    store.save(memory)
    shoe = Shoe(store)
    orders(shoe, Frame(UNLOCK, 1))

    assert not shoe.full
    assert shoe.let_out("9S") == STORE
    assert shoe.let_out("9S") is None
    assert beat(shoe).payload[16] == 0b1000

    orders(shoe, acknowledge(1))

    assert shoe.let_out("9S") == STORE + 1


def test_a_full_shoe_keeps_what_it_cannot_hold_back_and_at_last_lets_go_of_the_oldest(store: Store):
    memory = Memory(log=LOG, records=[(REVERSE, "")] * STORE)
    store.save(memory)
    shoe = Shoe(store)
    for _ in range(RESERVE):
        shoe.move_lid(is_open=True)

    assert (shoe.memory.first_kept, shoe.memory.next_record) == (1, STORE + RESERVE + 1)
    shoe.fault(17, "reader window dirty")
    assert (shoe.memory.first_kept, shoe.memory.next_record) == (2, STORE + RESERVE + 2)
    assert shoe.next_to_send == 2


def test_ask_hello_ends_the_sending(store: Store):
    shoe = Shoe(store)
    orders(shoe, resend(1))
    hello = orders(shoe, Frame(ASK_HELLO, 1))
    shoe.happens(REVERSE)

    assert [frame.type for frame in hello] == [HELLO]
    assert said(shoe) == []


@pytest.mark.parametrize(
    ("frame", "count"),
    [
        (Frame(LAMPS, 9, b"\x08"), "malformed"),
        (Frame(LAMPS, 9), "malformed"),
        (Frame(LOCK, 9, b"\x00"), "malformed"),
        (Frame(LOCK, 0), "malformed"),
        (Frame(RESEND, 9, u32(LOG)), "malformed"),
        (Frame(RESEND, 9, u32(0) + u32(1)), "malformed"),
        (acknowledge(0), "malformed"),
        (Frame(ACKNOWLEDGE, 9, u32(LOG) + u32(1)), "malformed"),
        (Frame(ACKNOWLEDGE, 9, u32(LOG) + u32(1) + b"\x02\x00"), "malformed"),
        (Frame(ACKNOWLEDGE, 9, u32(LOG) + u32(1) + b"\x00\x40"), "malformed"),
        (Frame(0x87, 9), "unknown_type"),
        (Frame(HEARTBEAT, 9), "unknown_type"),
    ],
)
def test_what_breaks_a_rule_is_counted_and_never_answered(store: Store, frame: Frame, count: str):
    shoe = Shoe(store)

    assert orders(shoe, frame) == []
    assert shoe.receiver.counts == {count: 1}
    assert shoe.last_command == 0


def test_another_version_is_counted_and_ignored(store: Store):
    shoe = Shoe(store)
    body = b"\x02\x85" + u32(1)
    shoe.receive(b"\x00" + cobs_encode(body + u32(crc32(body))) + b"\x00")

    assert shoe.receiver.counts == {"other_version": 1}
    assert shoe.locked


@pytest.mark.parametrize("damage", ["", "nonsense", "{}\n{}"])
def test_a_memory_that_cannot_be_trusted_is_a_new_log_from_1(store: Store, damage: str):
    store.path.write_text(damage)
    memory = store.load()

    assert memory.log != LOG
    assert (memory.first_kept, memory.next_record) == (1, 1)
    assert store.load() == memory


def test_a_restart_keeps_the_log_and_the_records(store: Store):
    shoe = Shoe(store)
    shoe.move_lid(is_open=True)
    shoe.fault(17, "reader window dirty")
    again = Shoe(store)

    assert orders(again, resend(1)) == [
        Frame(LID, 1, b"\x01"),
        Frame(FAULT, 2, u16(17) + text(b"reader window dirty")),
    ]


def test_a_file_of_cards():
    assert read_shoes("9S TD # the turned one\nAH\n---\n2C") == [["9S", "TD", "AH"], ["2C"]]
    with pytest.raises(ValueError, match="1S"):
        read_shoes("1S")
    with pytest.raises(ValueError, match="empty"):
        read_shoes("")


def test_the_dealer_loads_once_for_each_change_to_burn(store: Store):
    shoe = Shoe(store, [["AS", "2S", "3S"], ["4S"]])

    def deal(*, locked: bool, prompt: int) -> list[str]:
        """Deal what can be dealt under these orders, each card under its acknowledgement, but for the last."""
        assert shoe.deal()
        last = shoe.memory.next_record - 1
        orders(shoe, acknowledge(last, locked=locked, prompt=prompt))
        return list(shoe.memory.cards)

    orders(shoe, lamps(BURN))
    loaded = deal(locked=True, prompt=BURN)
    assert not shoe.deal()
    orders(shoe, Frame(UNLOCK, 1))
    turned = deal(locked=False, prompt=BURN)
    # A loss of power makes the lamps dark, which is no order: the same burn is not a new one.
    shoe.power_on()
    assert not shoe.deal()
    orders(shoe, Frame(UNLOCK, 1), lamps(BURN))
    burned = deal(locked=True, prompt=NO_PROMPT)
    assert not shoe.deal()
    orders(shoe, lamps(BURN))

    assert (loaded, turned, burned) == (["AS", "2S", "3S"], ["2S", "3S"], ["3S"])
    assert deal(locked=True, prompt=BURN) == ["4S"]
    assert shoe.memory.decks == 0


def test_loading_moves_the_lid_and_is_one_step(store: Store):
    shoe = Shoe(store, [["AS"] * 52])
    orders(shoe, lamps(BURN))
    shoe.deal()

    assert store.load().cards == ["AS"] * 52
    assert orders(shoe, resend(1)) == [Frame(LID, 1, b"\x01"), Frame(LID, 2, b"\x00")]
    assert beat(shoe).payload[-1] == 1


def test_no_card_comes_out_under_an_open_lid(store: Store):
    store.save(Memory(log=LOG, cards=["9S"] * 30))
    shoe = Shoe(store)
    shoe.move_lid(is_open=True)
    orders(shoe, acknowledge(1, prompt=PLAYER))

    assert not shoe.deal()
    shoe.move_lid(is_open=False)
    orders(shoe, acknowledge(2, prompt=PLAYER))
    assert shoe.deal()


def test_the_cut_card_is_told_when_it_is_at_the_mouth_and_the_card_behind_it_waits(store: Store):
    store.save(Memory(log=LOG, cards=["9S"] * 15))
    shoe = Shoe(store)
    orders(shoe, Frame(UNLOCK, 1), lamps(PLAYER))
    shoe.deal()
    orders(shoe, resend(1), Frame(LOCK, 2))

    assert shoe.deal()
    assert said(shoe) == [Frame(CUT_CARD, 2)]
    orders(shoe, acknowledge(1, prompt=PLAYER))
    assert not shoe.deal()
    orders(shoe, acknowledge(2, prompt=PLAYER))
    assert shoe.deal()


@pytest.mark.parametrize("arrives", [False, True], ids=["lost", "arrives"])
def test_no_card_after_the_last_of_a_hand_whether_its_acknowledgement_is_lost_or_arrives(
    store: Store, arrives: bool
):
    """The order to stop is in the acknowledgement: a shoe that waits has both or neither."""
    store.save(Memory(log=LOG, cards=["9S"] * 30))
    shoe = Shoe(store)
    orders(shoe, Frame(UNLOCK, 1), lamps(BANKER, 2))
    shoe.deal()
    before = len(shoe.memory.cards)
    if arrives:
        orders(shoe, acknowledge(1, locked=True))

    assert not shoe.deal()
    assert len(shoe.memory.cards) == before


# --- The shoe on its line, under a tiny host ----------------------------------------------------------------


def shoe_of(count: int) -> list[str]:
    cards = [rank + suit for rank in "A23456789TJQK" for suit in "SHDC"] * 2
    random.Random(7).shuffle(cards)
    return ["5H", *cards[: count - 1]]


def burns(turned: Frame) -> int:
    """How many cards this table burns for the turned one; the page leaves it to the host."""
    return min(RANKS.index(chr(turned.payload[0])) + 1, 10)


class Host:
    """The page's section 7 with a table that burns and then deals coups of four cards."""

    def __init__(self, name: str, journal: list[Frame], noise: random.Random | None = None) -> None:
        self.journal = journal
        self.noise = noise
        self.receiver = Receiver()
        self.log: int | None = None
        self.command = 0
        self.coup = 0
        self.repeat_at: dict[int, float] = {}
        self.done = False
        self.device = os.open(name, os.O_RDWR | os.O_NOCTTY)
        tty.setraw(self.device)

    @property
    def expected(self) -> int:
        return len(self.journal) + 1

    @property
    def wanted(self) -> tuple[bool, int]:
        """Locked, prompt."""
        cards = [frame for frame in self.journal if frame.type == CARD]
        to_burn = 1 + burns(cards[0]) if cards else 1
        if len(cards) < to_burn:
            return False, BURN
        coup, card = divmod(len(cards) - to_burn, 4)
        if card == 0 and coup >= self.coup:
            return True, NO_PROMPT
        return False, BANKER if card % 2 else PLAYER

    def run(self, records: int, longest: float = 20) -> None:
        """Until the journal has so many records; 0: to the end of the shoe."""
        end = time.monotonic() + longest
        ask_at = 0.0
        while not self.done and not 0 < records <= len(self.journal):
            assert time.monotonic() < end, "the shoe has come to rest"

            if self.log is None and time.monotonic() >= ask_at:
                self.write((ASK_HELLO, b""))
                ask_at = time.monotonic() + 0.25
            if select.select([self.device], [], [], 0.05)[0]:
                for frame in self.receiver.feed(self.damage(os.read(self.device, 4096))):
                    self.hear(frame)

    def damage(self, data: bytes) -> bytes:
        noise = self.noise
        if noise is None:
            return data
        return bytes(noise.randrange(256) if noise.random() < 1 / 400 else byte for byte in data)

    def write(self, *commands: tuple[int, bytes]) -> None:
        data = b""
        for kind, payload in commands:
            self.command += 1
            self.repeat_at[kind] = time.monotonic() + 0.2
            data += Frame(kind, self.command, payload).wire()
        os.write(self.device, self.damage(data))

    def repeat(self, kind: int, payload: bytes = b"") -> None:
        if time.monotonic() >= self.repeat_at.get(kind, 0.0):
            self.write((kind, payload))

    def numbered(self, record: int) -> bytes:
        return u32(self.log or 0) + u32(record)

    def orders(self) -> list[tuple[int, bytes]]:
        locked, prompt = self.wanted
        return [(LOCK if locked else UNLOCK, b""), (LAMPS, bytes([prompt << 4]))]

    def acknowledgement(self) -> tuple[int, bytes]:
        locked, prompt = self.wanted
        return ACKNOWLEDGE, self.numbered(self.expected - 1) + bytes([locked, prompt << 4])

    def hear(self, frame: Frame) -> None:
        if frame.type == HELLO:
            at = 1 + frame.payload[0]
            self.log = int.from_bytes(frame.payload[at : at + 4], "big")
            self.write(*self.orders(), (RESEND, self.numbered(self.expected)))
        elif self.log is None:
            return
        elif frame.type == HEARTBEAT:
            self.compare(frame.payload)
        elif frame.sequence > self.expected:
            self.repeat(RESEND, self.numbered(self.expected))
        else:
            if frame.sequence == self.expected:
                self.journal.append(frame)
            self.write(self.acknowledgement())

    def compare(self, payload: bytes) -> None:
        log, first_kept, next_to_send, next_record = (
            int.from_bytes(payload[at : at + 4], "big") for at in range(0, 16, 4)
        )
        locked, sending, prompt = bool(payload[16] & 1), bool(payload[16] & 4), payload[17] >> 4
        want_locked, want_prompt = self.wanted
        if log != self.log:
            self.repeat(ASK_HELLO)
            return
        if locked != want_locked:
            self.repeat(LOCK if want_locked else UNLOCK)
        if prompt != want_prompt:
            self.repeat(LAMPS, bytes([want_prompt << 4]))
        if next_to_send > self.expected or not sending:
            self.repeat(RESEND, self.numbered(self.expected))
        if first_kept < self.expected:
            self.repeat(*self.acknowledgement())
        elif first_kept == next_record and locked and want_locked and prompt == want_prompt:
            self.next_coup()

    def next_coup(self) -> None:
        if any(frame.type == CUT_CARD for frame in self.journal):
            self.done = True
        else:
            cards = [frame for frame in self.journal if frame.type == CARD]
            self.coup = (len(cards) - 1 - burns(cards[0])) // 4 + 1
            self.write(*self.orders())


def serve(
    name: str, journal: list[Frame], records: int = 0, noise: random.Random | None = None
) -> int | None:
    """Run a host and return the log that the shoe told it."""
    host = Host(name, journal, noise)
    try:
        host.run(records)
    finally:
        os.close(host.device)
    return host.log


def check(journal: Sequence[Frame], cards: list[str]) -> None:
    """Nothing lost, doubled or invented, and the cut card where it lay."""
    out = [frame.payload[:2].decode() for frame in journal if frame.type == CARD]
    types = [frame.type for frame in journal]
    before_cut_card = types[: types.index(CUT_CARD)].count(CARD)

    assert [frame.sequence for frame in journal] == list(range(1, len(journal) + 1))
    assert out == cards[: len(out)]
    assert before_cut_card == len(cards) - 14
    assert len(out) > before_cut_card


def test_a_whole_shoe_on_a_clean_line(tmp_path: Path):
    cards = shoe_of(42)
    journal: list[Frame] = []
    shoe = Shoe(Store(tmp_path / "store"), [cards])
    with PtyShoe(shoe, tmp_path / "line") as line:
        serve(str(tmp_path / "line"), journal)
        left = line.do(lambda shoe: list(shoe.memory.cards))

    check(journal, cards)

    # 6 burnt, then whole coups until the first that ends behind the cut card (28 cards).
    assert len(left) == 42 - 6 - 24
    assert not (tmp_path / "line").is_symlink()


@pytest.mark.parametrize("seed", [1, 2])
def test_a_whole_shoe_under_noise_with_losses_of_power_and_hosts(tmp_path: Path, seed: int):
    cards = shoe_of(42)
    journal: list[Frame] = []
    noise = random.Random(seed)
    with PtyShoe(Shoe(Store(tmp_path / "store"), [cards])) as line:
        for stop in (3, 11, 20, 24):
            serve(line.name, journal, stop, noise)
            if stop % 2:
                line.power_cycle()
        serve(line.name, journal, noise=noise)

    check(journal, cards)


@pytest.mark.punctual
def test_heartbeats_come_every_250_ms_with_nobody_there(tmp_path: Path):
    with PtyShoe(Shoe(Store(tmp_path / "store"))) as line:
        device = os.open(line.name, os.O_RDWR | os.O_NOCTTY)
        receiver = Receiver()
        times: list[float] = []
        while len(times) < 6:
            heard = list(receiver.feed(os.read(device, 4096)))
            times += [time.monotonic() for frame in heard if frame.type == HEARTBEAT]
        os.close(device)

    # The mean of five: one alone may be late on a busy machine.
    assert (times[-1] - times[0]) / 5 == pytest.approx(BEAT, abs=0.05)


def test_the_program_goes_on_where_it_was_killed(tmp_path: Path):
    cards = shoe_of(30)
    (tmp_path / "cards").write_text("\n".join(cards))
    link = tmp_path / "line"
    command = [sys.executable, str(ROOT / "tests/stranger/shoe.py"), "--serial", "XY-1"]
    for option, value in {
        "--link": link,
        "--store": tmp_path / "store",
        "--cards": tmp_path / "cards",
    }.items():
        command += [option, str(value)]
    journal: list[Frame] = []
    logs: list[int | None] = []

    for stop in (9, 0):
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:
            assert program.stdout is not None
            assert "log" in program.stdout.readline()

            try:
                logs.append(serve(str(link), journal, stop))
            finally:
                program.send_signal(signal.SIGKILL if stop else signal.SIGTERM)

    check(journal, cards)

    assert logs[0] == logs[1]
    assert program.returncode == 0


def test_a_bad_file_of_cards_is_told_and_not_traced(tmp_path: Path):
    (tmp_path / "cards").write_text("9S XX")
    command = [sys.executable, str(ROOT / "tests/stranger/shoe.py"), "--link", str(tmp_path / "line")]
    command += ["--store", str(tmp_path / "store"), "--cards", str(tmp_path / "cards")]
    result = subprocess.run(command, capture_output=True, text=True, check=False)

    assert result.returncode == 2
    assert "'XX' is no card" in result.stderr
    assert "Traceback" not in result.stderr


def test_the_component_is_the_program_as_it_is_installed(store: Store):
    said_hello = said(Shoe(store))[0].payload
    digest = hashlib.sha256((ROOT / "tests/stranger/shoe.py").read_bytes()).digest()

    assert said_hello.endswith(text(b"stranger") + text(b"1.0") + digest)
