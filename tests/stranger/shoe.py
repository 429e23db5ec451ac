"""A card-recognition shoe with its dealer, written from docs/reference/ishoe-link.md and from nothing else.

It shares no code with the project, on purpose: what it and the project's driver agree on is what the page
says. Standard library only.

Use `PtyShoe(Shoe(Store(path), shoes))` as a context manager, or its `run()` in a thread of your own.
"""

import hashlib
import json
import os
import secrets
import select
import threading
import time
import tty
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

T = TypeVar("T")

# --- The wire (page, 2) ------------------------------------------------------------------------------------

VERSION = 0x01
SHORTEST, LONGEST = 10, 1024
LONGEST_RUN = 1029


def cobs_encode(data: bytes) -> bytes:
    """Take every 00 out of `data`."""
    out = bytearray()
    for block in data.split(b"\x00"):
        rest = block
        while len(rest) >= 254:
            out += b"\xff" + rest[:254]
            rest = rest[254:]
        out.append(len(rest) + 1)
        out += rest
    return bytes(out)


def cobs_decode(run: bytes) -> bytes:
    """Put every 00 back; ValueError if `run` is not COBS."""
    out = bytearray()
    at = 0
    while at < len(run):
        code = run[at]
        block = run[at + 1 : at + code]
        if code == 0 or len(block) != code - 1:
            raise ValueError(f"the run is not COBS at byte {at}")
        at += code
        out += block
        if code != 0xFF and at < len(run):
            out.append(0)
    return bytes(out)


def _crc_step(value: int) -> int:
    for _ in range(8):
        # EDB88320 is 04C11DB7 reflected.
        value = value >> 1 ^ (0xEDB88320 if value & 1 else 0)
    return value


CRC_STEPS = tuple(_crc_step(byte) for byte in range(256))


def crc32(data: bytes) -> int:
    """CRC-32 as in Ethernet, zip and PNG."""
    value = 0xFFFFFFFF
    for byte in data:
        value = value >> 8 ^ CRC_STEPS[(value ^ byte) & 0xFF]
    return value ^ 0xFFFFFFFF


def u16(value: int) -> bytes:
    return value.to_bytes(2, "big")


def u32(value: int) -> bytes:
    return value.to_bytes(4, "big")


def text(value: bytes) -> bytes:
    """One byte of length, then the bytes."""
    return bytes([len(value)]) + value


@dataclass(frozen=True)
class Frame:
    """What a frame says, without its version and CRC."""

    type: int
    sequence: int
    payload: bytes = b""

    def decoded(self) -> bytes:
        """From the version to the CRC."""
        body = bytes([VERSION, self.type]) + u32(self.sequence) + self.payload
        return body + u32(crc32(body))

    def wire(self) -> bytes:
        return b"\x00" + cobs_encode(self.decoded()) + b"\x00"


@dataclass
class Receiver:
    """Cuts bytes into frames. What it throws away stands in `counts`, under the page's names."""

    counts: Counter[str] = field(default_factory=Counter)
    _run: bytearray = field(default_factory=bytearray)
    _overlong: bool = False

    def feed(self, data: bytes) -> Iterator[Frame]:
        pieces = data.split(b"\x00")
        for number, piece in enumerate(pieces):
            self._gather(piece)
            if number < len(pieces) - 1:
                yield from self._end()

    def _gather(self, piece: bytes) -> None:
        if not self._overlong:
            self._run += piece
        if len(self._run) > LONGEST_RUN:
            self._overlong = True
            self._run.clear()

    def _end(self) -> Iterator[Frame]:
        run, overlong = bytes(self._run), self._overlong
        self._run.clear()
        self._overlong = False
        if overlong:
            self.counts["oversize"] += 1
        elif run:
            yield from self._open(run)

    def _open(self, run: bytes) -> Iterator[Frame]:
        try:
            decoded = cobs_decode(run)
        except ValueError:
            decoded = b""
        if len(decoded) > LONGEST:
            self.counts["oversize"] += 1
        elif len(decoded) < SHORTEST:
            self.counts["bad_framing"] += 1
        elif u32(crc32(decoded[:-4])) != decoded[-4:]:
            self.counts["bad_crc"] += 1
        elif decoded[0] != VERSION:
            self.counts["other_version"] += 1
        else:
            yield Frame(decoded[1], int.from_bytes(decoded[2:6], "big"), decoded[6:-4])


# --- What the shoe says (page, 4) --------------------------------------------------------------------------

HELLO, HEARTBEAT = 0x01, 0x02
CARD, UNREAD, CUT_CARD, LID, REVERSE, OVERDRAWN, FAULT = range(0x10, 0x17)
ASK_HELLO, ACKNOWLEDGE, RESEND, LOCK, UNLOCK, LAMPS = range(0x81, 0x87)

NO_PROMPT, PLAYER, BANKER, BURN = range(4)

RANKS, SUITS = "A23456789TJQK", "SHDC"
WINDOW = 64
STORE, RESERVE = 1024, 64
BEAT = 0.25


@dataclass(frozen=True)
class Component:
    name: str
    version: str
    digest: bytes

    def payload(self) -> bytes:
        return text(self.name.encode()) + text(self.version.encode()) + self.digest


def check_card(card: str) -> str:
    """The card itself; ValueError if it is none."""
    if len(card) != 2 or card[0] not in RANKS or card[1] not in SUITS:
        raise ValueError(f"{card!r} is no card: write a rank of {RANKS} and a suit of {SUITS}, as in TD")
    return card


def check_serial(serial: str) -> str:
    """The serial number itself; ValueError if a HELLO cannot carry it."""
    if not 1 <= len(serial) <= 32 or not all("!" <= sign <= "~" for sign in serial):
        raise ValueError(f"serial number {serial!r}: give 1 to 32 printable ASCII characters without spaces")
    return serial


# --- What survives the loss of power -----------------------------------------------------------------------


@dataclass
class Memory:
    """All that the shoe keeps. The cards lie in it too, so that a card and its record are one write."""

    log: int
    first_kept: int = 1
    records: list[tuple[int, str]] = field(default_factory=list)  # from first_kept on: type, payload in hex
    cards: list[str] = field(default_factory=list)  # the next to come first
    decks: int = 0
    loads: int = 0
    cut_card_passed: bool = False
    burn_heeded: bool = False  # this prompt to burn has been answered with new cards
    lid_open: bool = False

    @property
    def next_record(self) -> int:
        return self.first_kept + len(self.records)

    def record(self, number: int) -> Frame:
        kind, payload = self.records[number - self.first_kept]
        return Frame(kind, number, bytes.fromhex(payload))


class Store:
    """A memory on disk: one line of SHA-256, one of JSON, replaced as a whole."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def load(self) -> Memory:
        """The memory as it was saved; one with a new log if there is none or it cannot be trusted."""
        try:
            digest, body = self.path.read_text("utf-8").splitlines()
        except (OSError, ValueError):
            return self._new()
        if hashlib.sha256(body.encode()).hexdigest() != digest:
            return self._new()
        kept = json.loads(body)
        kept["records"] = [(kind, payload) for kind, payload in kept["records"]]
        return Memory(**kept)

    def save(self, memory: Memory) -> None:
        """Return when it is on the disk."""
        body = json.dumps(asdict(memory))
        digest = hashlib.sha256(body.encode()).hexdigest()
        fresh = self.path.with_name(self.path.name + ".new")
        with fresh.open("w", encoding="utf-8") as out:
            out.write(f"{digest}\n{body}\n")
            out.flush()
            os.fsync(out.fileno())
        fresh.replace(self.path)
        folder = os.open(self.path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def _new(self) -> Memory:
        memory = Memory(log=1 + secrets.randbelow(0xFFFFFFFF))
        self.save(memory)
        return memory


# --- The shoe (page, 5 and 6) ------------------------------------------------------------------------------


class Shoe:
    """The shoe from power-on: bytes in by `receive`, bytes out by `take_output`, no clock and no line.

    Whoever owns it calls `heartbeat` every 250 ms and `deal` whenever something may have changed.

    Args:
        store: where it keeps its memory.
        shoes: the cards to load, one list for each shoe change, then from the first again.
        serial: its serial number.
        components: what HELLO tells of it; None for this program itself.
        cut_from_end: the cut card lies before the card that is so many from the end.
    """

    counts_decks = True
    """Whether it reports its decks. The host stops a shoe of other decks than its game's."""

    def __init__(
        self,
        store: Store,
        shoes: Sequence[Sequence[str]] = (),
        *,
        serial: str = "STRANGER-1",
        components: Sequence[Component] | None = None,
        cut_from_end: int = 14,
    ) -> None:
        self.store = store
        self.shoes = [[check_card(card) for card in shoe] for shoe in shoes]
        self.serial = check_serial(serial)
        self.components = own_components() if components is None else components
        self.cut_from_end = cut_from_end
        self.power_on()

    def power_on(self) -> None:
        """Begin as after a loss of power: only the memory on disk is left."""
        self.memory = self.store.load()
        self.receiver = Receiver()
        self.locked = True
        self.lamps = 0
        self.lamps_known = False  # dark since power-on is not a prompt of the host
        self.sending = False
        self.last_command = 0
        self.next_to_send = self.memory.first_kept
        self._output: list[bytes] = []
        self._say_hello()

    # What it says

    def take_output(self) -> list[bytes]:
        """The frames to be written, in order."""
        output, self._output = self._output, []
        return output

    def heartbeat(self) -> None:
        flags = self.locked | self.memory.lid_open << 1 | self.sending << 2 | self.full << 3
        numbers = (self.memory.log, self.memory.first_kept, self.next_to_send, self.memory.next_record)
        payload = b"".join(map(u32, numbers)) + bytes([flags, self.lamps]) + u32(self.last_command)
        self._output.append(Frame(HEARTBEAT, 0, payload + bytes([self.memory.decks])).wire())

    def _say_hello(self) -> None:
        self.sending = False
        numbers = (self.memory.log, self.memory.first_kept, self.memory.next_record)
        payload = text(self.serial.encode()) + b"".join(map(u32, numbers))
        payload += bytes([self.memory.decks, len(self.components)])
        payload += b"".join(component.payload() for component in self.components)
        self._output.append(Frame(HELLO, 0, payload).wire())

    def _send(self) -> None:
        memory = self.memory
        while (
            self.sending
            and self.next_to_send < memory.next_record
            and self.next_to_send - memory.first_kept < WINDOW
        ):
            self._output.append(memory.record(self.next_to_send).wire())
            self.next_to_send += 1

    # What it hears

    def receive(self, data: bytes) -> None:
        for frame in self.receiver.feed(data):
            self._obey(frame)

    def _obey(self, frame: Frame) -> None:
        commands: dict[int, tuple[int, Callable[[bytes], None]]] = {
            ASK_HELLO: (0, lambda _: self._say_hello()),
            ACKNOWLEDGE: (10, self._acknowledge),
            RESEND: (8, self._resend),
            LOCK: (0, lambda _: self._lock(locked=True)),
            UNLOCK: (0, lambda _: self._lock(locked=False)),
            LAMPS: (1, self._show),
        }
        if frame.type not in commands:
            self.receiver.counts["unknown_type"] += 1
            return
        size, command = commands[frame.type]
        if len(frame.payload) != size or not frame.sequence or not has_meaning(frame):
            self.receiver.counts["malformed"] += 1
            return
        self.last_command = frame.sequence
        command(frame.payload)

    def _acknowledge(self, payload: bytes) -> None:
        log, number = position(payload)
        memory = self.memory
        if log != memory.log or number >= memory.next_record:
            return
        if number >= memory.first_kept:
            self._forget(number)
            self.store.save(memory)
        self._lock(locked=bool(payload[8]))
        self._show(payload[9:])
        self._send()

    def _forget(self, number: int) -> None:
        memory = self.memory
        del memory.records[: number + 1 - memory.first_kept]
        memory.first_kept = number + 1
        self.next_to_send = max(self.next_to_send, memory.first_kept)

    def _resend(self, payload: bytes) -> None:
        log, number = position(payload)
        if log != self.memory.log or number > self.memory.next_record:
            return
        self.sending = True
        self.next_to_send = max(number, self.memory.first_kept)
        self._send()

    def _lock(self, *, locked: bool) -> None:
        self.locked = locked

    def _show(self, payload: bytes) -> None:
        self.lamps = payload[0]
        self.lamps_known = True

    # What happens to it

    @property
    def full(self) -> bool:
        return len(self.memory.records) >= STORE

    @property
    def prompt(self) -> int:
        return self.lamps >> 4 & 3

    def happens(self, kind: int, payload: bytes = b"") -> int:
        """Store a record, send it if it may be sent now, and return its number."""
        number = self.memory.next_record
        self.memory.records.append((kind, payload.hex()))
        if len(self.memory.records) > STORE + RESERVE:
            self._forget(self.memory.first_kept)
        self.store.save(self.memory)
        self._send()
        return number

    @property
    def held(self) -> bool:
        """Whether no card comes out, whatever the prompt is."""
        return self.locked or self.full or self.memory.lid_open

    def let_out(self, card: str, confidence: int = 99) -> int | None:
        """Let a card out and return its record's number; None if none may come out."""
        if self.held:
            return None
        return self.happens(CARD, check_card(card).encode() + bytes([confidence]))

    def move_lid(self, *, is_open: bool) -> int:
        self.memory.lid_open = is_open
        return self.happens(LID, bytes([is_open]))

    def fault(self, code: int, message: str) -> int:
        if len(message.encode()) > 200:
            raise ValueError("a fault's text has at most 200 bytes: say it shorter")
        return self.happens(FAULT, u16(code) + text(message.encode()))

    # The dealer at it

    def deal(self) -> bool:
        """Do the next thing that a dealer would, and say whether there was one.

        A prompt is heeded only when all records are acknowledged: then it is what the last card led to.
        """
        memory = self.memory
        if 0 < len(memory.cards) == self.cut_from_end and not memory.cut_card_passed:
            memory.cut_card_passed = True
            self.happens(CUT_CARD)
            return True
        if memory.records or not self.lamps_known:
            return False
        if self.prompt != BURN and memory.burn_heeded:
            memory.burn_heeded = False
            self.store.save(memory)
        if self.prompt == BURN and not memory.burn_heeded and self.shoes:
            self._load()
            return True
        return self.prompt != NO_PROMPT and self._next_card()

    def _load(self) -> None:
        """Open the shoe, put new cards in, close it: one step in the store, so no half of it can be left."""
        memory = self.memory
        memory.cards = list(self.shoes[memory.loads % len(self.shoes)])
        memory.loads += 1
        memory.cut_card_passed = False
        memory.burn_heeded = True
        decks, odd = divmod(len(memory.cards), 52)
        self._decks_are(decks if self.counts_decks and not odd else 0)
        memory.records.append((LID, b"\x01".hex()))
        self.happens(LID, b"\x00")

    def _decks_are(self, decks: int) -> None:
        if decks != self.memory.decks:
            self.memory.decks = decks
            self._say_hello()

    def _next_card(self) -> bool:
        memory = self.memory
        if self.held or not memory.cards:
            return False
        self.let_out(memory.cards.pop(0))
        if not memory.cards:
            self._decks_are(0)
            self.store.save(memory)
        return True


def position(payload: bytes) -> tuple[int, int]:
    """A log and a record."""
    return int.from_bytes(payload[:4], "big"), int.from_bytes(payload[4:8], "big")


def has_meaning(frame: Frame) -> bool:
    """Whether the payload of a command, which is as long as it should be, breaks no rule."""
    if frame.type in {ACKNOWLEDGE, RESEND} and 0 in position(frame.payload):
        return False
    if frame.type == ACKNOWLEDGE and frame.payload[8] > 1:
        return False
    return frame.type not in {ACKNOWLEDGE, LAMPS} or not frame.payload[-1] & ~0x37


def own_components() -> tuple[Component, ...]:
    """What HELLO tells of this program."""
    return (Component("stranger", "1.0", hashlib.sha256(Path(__file__).read_bytes()).digest()),)


# --- The line ----------------------------------------------------------------------------------------------


class PtyShoe:
    """A shoe on a pseudo-terminal, with the clock that it needs.

    `name` is the device that the host opens. As a context manager it runs in a thread of its own; `run` runs
    it in the caller's (asyncio: `asyncio.to_thread(pty_shoe.run)`, then `stop()`).
    """

    def __init__(self, shoe: Shoe, link: Path | None = None, *, pace: float = 0.0) -> None:
        self.shoe = shoe
        self.pace = pace
        # The other end stays open here too, so that a host may come and go and the line stays.
        self._ours, self._theirs = os.openpty()
        tty.setraw(self._theirs)
        os.set_blocking(self._ours, False)
        self.name = os.ttyname(self._theirs)
        self._woken, self._wake = os.pipe()
        self._mutex = threading.Lock()
        self._stopped = False
        self._thread = threading.Thread(target=self.run, name="shoe", daemon=True)
        self._link = link
        if link is not None:
            fresh = link.with_name(link.name + ".new")
            fresh.unlink(missing_ok=True)
            fresh.symlink_to(self.name)
            fresh.replace(link)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        self._thread.join()
        self.close()

    def stop(self) -> None:
        """Make `run` return; from any thread or a signal handler."""
        self._stopped = True
        os.write(self._wake, b".")

    def close(self) -> None:
        """Give the line back, after `run` has returned."""
        if self._link is not None:
            with suppress(OSError):
                if self._link.readlink() == Path(self.name):
                    self._link.unlink()
        for end in (self._ours, self._theirs, self._woken, self._wake):
            os.close(end)

    def do(self, action: Callable[[Shoe], T]) -> T:
        """Do something to the shoe from another thread, as `line.do(lambda shoe: shoe.move_lid(is_open=True))`."""
        with self._mutex:
            result = action(self.shoe)
        os.write(self._wake, b".")
        return result

    def run(self) -> None:
        """Serve the line until `stop`."""
        beat_at = time.monotonic() + BEAT
        card_at = 0.0
        while not self._stopped:
            with self._mutex:
                now = time.monotonic()
                if now >= beat_at:
                    self.shoe.heartbeat()
                    beat_at = max(beat_at + BEAT, now)
                dealt = now >= card_at and self.shoe.deal()
                if dealt:
                    card_at = now + self.pace
                self._write(self.shoe.take_output())
            if not dealt:
                wait = min(beat_at, card_at) if card_at > now else beat_at
                self._listen(max(0.0, wait - time.monotonic()))

    def _listen(self, longest: float) -> None:
        ready, _, _ = select.select([self._ours, self._woken], [], [], longest)
        if self._woken in ready:
            os.read(self._woken, 4096)
        if self._ours in ready:
            data = self._read()
            with self._mutex:
                self.shoe.receive(data)

    def _read(self) -> bytes:
        return os.read(self._ours, 4096)

    def _write(self, frames: list[bytes]) -> None:
        # A serial line waits for nobody: what finds no reader is lost, and the page knows how to go on.
        for frame in frames:
            with suppress(BlockingIOError):
                os.write(self._ours, frame)
