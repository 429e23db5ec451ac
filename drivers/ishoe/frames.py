"""The frames of the shoe's link, version 1, with their bytes both ways; docs/reference/ishoe-link.md is the law of this file.

A frame is a header, a payload and a checksum, all big-endian. This module knows the header's numbers and the payloads;
`punto.drivers.framing` adds the checksum and the framing.
"""

# ruff: noqa: D102 - `sequence`, `payload` and `parse` are documented once, at `Frame`

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from struct import Struct
from typing import Any, ClassVar, Final, Literal, Self

from punto.baccarat.cards import Card
from punto.baccarat.table.events import Component
from punto.baccarat.table.shoe_orders import Lamps
from punto.drivers.frame import HIGHEST, Frame, check_serial, within

WINDOW = (
    64  # records that a shoe sends ahead of the acknowledgement: some 1.3 kB, a tenth of a second at 115200
)
STORE = 1024  # records that a shoe keeps at the least: more than two whole shoes of eight decks
RESERVE = 64  # places beyond them for what is no card let out, which a full shoe cannot hold back
HEARTBEAT_SECONDS = 0.25  # how often a shoe sends its heartbeat, whatever else it sends

TEXT_BYTES = 32  # the longest name or version of a component
FAULT_BYTES = 200  # the longest text of a fault
COMPONENTS = 8  # the most components in a hello: with the longest texts a hello still fits in a frame
DIGEST_BYTES = 32  # SHA-256

NOT_READ = b"??"  # stands for the card of an overdraw that the shoe could not read

# Flags of a heartbeat, of which an acknowledgement has only the first; the others are zero.
LOCKED = 0x01
LID_OPEN = 0x02
SENDING = 0x04
FULL = 0x08

# Lamps in one byte: three result lamps, then in two bits the hand that the next card is for; the rest are zero.
PLAYER = 0x01
BANKER = 0x02
TIE = 0x04
NEXT_SHIFT = 4
NEXT: tuple[Literal["none", "player", "banker", "burn"], ...] = ("none", "player", "banker", "burn")

_CARD = Struct(">2sB")
_LOG_AND_RECORD = Struct(">II")
_ACKNOWLEDGE = Struct(">IIBB")
_HEARTBEAT = Struct(">IIIIBBIB")
_HELLO_NUMBERS = Struct(">IIIBB")
_CODE = Struct(">H")


def _text_to_bytes(text: str) -> bytes:
    encoded = text.encode()
    return bytes((len(encoded),)) + encoded


def _check_text(name: str, text: str, shortest: int, longest: int) -> None:
    within(f"the length of {name} in UTF-8", len(text.encode()), shortest, longest)


class _Payload:
    """Reads a payload from its beginning; ValueError when it is too short or something is left."""

    def __init__(self, payload: bytes) -> None:
        self._rest = payload

    def take(self, size: int) -> bytes:
        if size > len(self._rest):
            raise ValueError(f"the payload ends {size - len(self._rest)} bytes too soon")
        taken, self._rest = self._rest[:size], self._rest[size:]
        return taken

    def text(self) -> str:
        return self.take(self.take(1)[0]).decode()

    def end(self) -> None:
        if self._rest:
            raise ValueError(f"the payload has {len(self._rest)} bytes too many")


def _unpack(layout: Struct, payload: bytes) -> tuple[Any, ...]:
    if len(payload) != layout.size:
        raise ValueError(f"the payload has {len(payload)} bytes instead of {layout.size}")
    return layout.unpack(payload)


def lamps_to_byte(lamps: Lamps) -> int:
    """Put the lamps into the byte that LAMPS and HEARTBEAT carry."""
    result = PLAYER * lamps.player | BANKER * lamps.banker | TIE * lamps.tie
    return result | NEXT.index(lamps.next) << NEXT_SHIFT


def lamps_from_byte(byte: int) -> Lamps:
    """Read the lamps' byte.

    Raises:
        ValueError: a bit that has no meaning is set.
    """
    lamps = Lamps(bool(byte & PLAYER), bool(byte & BANKER), bool(byte & TIE), NEXT[byte >> NEXT_SHIFT & 3])
    if lamps_to_byte(lamps) != byte:
        raise ValueError(f"lamps are {byte:#04x}: a bit without meaning is set")
    return lamps


# --- shoe to host, not numbered: what the shoe is, and that it is alive.


@dataclass(frozen=True, slots=True)
class Hello(Frame):
    """Who the shoe is and which records it has."""

    serial: str
    log: int
    first_kept: int
    next_record: int
    decks: int
    components: tuple[Component, ...] = ()
    TYPE: ClassVar[int] = 0x01

    def __post_init__(self) -> None:
        check_serial(self.serial)
        within("log", self.log, 1, HIGHEST)
        within("first_kept", self.first_kept, 1, self.next_record)
        within("next_record", self.next_record, 1, HIGHEST)
        within("decks", self.decks, 0, 255)
        within("the number of components", len(self.components), 0, COMPONENTS)
        for part in self.components:
            _check_text("a component's name", part.name, 1, TEXT_BYTES)
            _check_text("a component's version", part.version, 1, TEXT_BYTES)
            if part.digest != bytes.fromhex(part.digest).hex() or len(part.digest) != 2 * DIGEST_BYTES:
                raise ValueError(f"digest {part.digest!r} must be SHA-256 in 64 lower-case hex digits")

    def payload(self) -> bytes:
        numbers = (self.log, self.first_kept, self.next_record, self.decks, len(self.components))
        parts = (
            _text_to_bytes(part.name) + _text_to_bytes(part.version) + bytes.fromhex(part.digest)
            for part in self.components
        )
        return _text_to_bytes(self.serial) + _HELLO_NUMBERS.pack(*numbers) + b"".join(parts)

    @classmethod
    def parse(cls, sequence: int, payload: bytes) -> Self:
        within("the sequence number of a hello", sequence, 0, 0)
        rest = _Payload(payload)
        serial = rest.text()
        log, first_kept, next_record, decks, count = _HELLO_NUMBERS.unpack(rest.take(_HELLO_NUMBERS.size))
        components = tuple(_components(rest, count))
        rest.end()
        return cls(serial, log, first_kept, next_record, decks, components)


def _components(rest: _Payload, count: int) -> Iterator[Component]:
    for _ in range(count):
        yield Component(rest.text(), rest.text(), rest.take(DIGEST_BYTES).hex())


@dataclass(frozen=True, slots=True)
class Heartbeat(Frame):
    """The shoe is alive, and this is its state: enough for the host to notice anything that was lost.

    `next_to_send` is the record that it would send next and `next_record` the number that its next one will get;
    `decks` is what its hello says too.
    """

    log: int
    first_kept: int
    next_to_send: int
    next_record: int
    last_command: int
    locked: bool = True
    lid_open: bool = False
    sending: bool = False
    full: bool = False
    lamps: Lamps = Lamps()  # noqa: RUF009 - frozen, so one is as good as many
    decks: int = 0
    TYPE: ClassVar[int] = 0x02

    def __post_init__(self) -> None:
        within("log", self.log, 1, HIGHEST)
        within("next_record", self.next_record, 1, HIGHEST)
        within("next_to_send", self.next_to_send, 1, self.next_record)
        within("first_kept", self.first_kept, 1, self.next_to_send)
        within("last_command", self.last_command, 0, HIGHEST)
        within("decks", self.decks, 0, 255)

    def payload(self) -> bytes:
        flags = LOCKED * self.locked | LID_OPEN * self.lid_open | SENDING * self.sending | FULL * self.full
        numbers = (self.log, self.first_kept, self.next_to_send, self.next_record)
        return _HEARTBEAT.pack(*numbers, flags, lamps_to_byte(self.lamps), self.last_command, self.decks)

    @classmethod
    def parse(cls, sequence: int, payload: bytes) -> Self:
        within("the sequence number of a heartbeat", sequence, 0, 0)
        log, first_kept, next_to_send, next_record, flags, lamps, last, decks = _unpack(_HEARTBEAT, payload)
        within("flags", flags, 0, LOCKED | LID_OPEN | SENDING | FULL)
        state = (bool(flags & LOCKED), bool(flags & LID_OPEN), bool(flags & SENDING), bool(flags & FULL))
        return cls(log, first_kept, next_to_send, next_record, last, *state, lamps_from_byte(lamps), decks)


# --- shoe to host, numbered: the records, which the shoe keeps until they are acknowledged.


@dataclass(frozen=True, slots=True)
class Record(Frame):
    """Something that happened in the shoe, with its number."""

    record: int

    def __post_init__(self) -> None:
        within("the number of a record", self.record, 1, HIGHEST)

    @property
    def sequence(self) -> int:
        return self.record

    @classmethod
    def parse(cls, sequence: int, payload: bytes) -> Self:
        _Payload(payload).end()
        return cls(sequence)


@dataclass(frozen=True, slots=True)
class CardRecord(Record):
    """A card left the shoe and was read, with a confidence of 0 to 100."""

    card: Card
    confidence: int
    TYPE: ClassVar[int] = 0x10

    def __post_init__(self) -> None:
        Record.__post_init__(self)
        within("confidence", self.confidence, 0, 100)

    def payload(self) -> bytes:
        return _CARD.pack(self.card.encode(), self.confidence)

    @classmethod
    def parse(cls, sequence: int, payload: bytes) -> Self:
        code, confidence = _unpack(_CARD, payload)
        return cls(sequence, Card(code.decode()), confidence)


@dataclass(frozen=True, slots=True)
class UnreadRecord(Record):
    """A card left the shoe and could not be read."""

    TYPE: ClassVar[int] = 0x11


@dataclass(frozen=True, slots=True)
class CutCardRecord(Record):
    """The cut card reached the mouth of the shoe."""

    TYPE: ClassVar[int] = 0x12


@dataclass(frozen=True, slots=True)
class LidRecord(Record):
    """The lid was opened or closed."""

    open: bool
    TYPE: ClassVar[int] = 0x13

    def payload(self) -> bytes:
        return bytes((self.open,))

    @classmethod
    def parse(cls, sequence: int, payload: bytes) -> Self:
        if payload not in (b"\0", b"\1"):
            raise ValueError(f"the lid is {payload.hex()!r}: it must be 00 for closed or 01 for open")
        return cls(sequence, payload == b"\1")


@dataclass(frozen=True, slots=True)
class ReverseRecord(Record):
    """A card was pushed back into the shoe."""

    TYPE: ClassVar[int] = 0x14


@dataclass(frozen=True, slots=True)
class OverdrawnRecord(Record):
    """A card left the shoe though it knew that none was called for; `card` is None if it was not read."""

    card: Card | None
    confidence: int
    TYPE: ClassVar[int] = 0x15

    def __post_init__(self) -> None:
        Record.__post_init__(self)
        within("confidence", self.confidence, 0, 0 if self.card is None else 100)

    def payload(self) -> bytes:
        return _CARD.pack(NOT_READ if self.card is None else self.card.encode(), self.confidence)

    @classmethod
    def parse(cls, sequence: int, payload: bytes) -> Self:
        code, confidence = _unpack(_CARD, payload)
        return cls(sequence, None if code == NOT_READ else Card(code.decode()), confidence)


@dataclass(frozen=True, slots=True)
class FaultRecord(Record):
    """The shoe reports an error of its own: its code and a text for the technician."""

    code: int
    text: str
    TYPE: ClassVar[int] = 0x16

    def __post_init__(self) -> None:
        Record.__post_init__(self)
        within("the code of a fault", self.code, 0, 0xFFFF)
        _check_text("the text of a fault", self.text, 0, FAULT_BYTES)

    def payload(self) -> bytes:
        return _CODE.pack(self.code) + _text_to_bytes(self.text)

    @classmethod
    def parse(cls, sequence: int, payload: bytes) -> Self:
        rest = _Payload(payload)
        (code,) = _CODE.unpack(rest.take(_CODE.size))
        text = rest.text()
        rest.end()
        return cls(sequence, code, text)


# --- host to shoe: the commands. Each can be repeated without harm.


@dataclass(frozen=True, slots=True)
class Command(Frame):
    """What the host asks of the shoe; `command` counts the host's frames on this connection from 1."""

    command: int

    def __post_init__(self) -> None:
        within("the number of a command", self.command, 1, HIGHEST)

    @property
    def sequence(self) -> int:
        return self.command

    @classmethod
    def parse(cls, sequence: int, payload: bytes) -> Self:
        _Payload(payload).end()
        return cls(sequence)


@dataclass(frozen=True, slots=True)
class AskHello(Command):
    """Send no more records, and introduce yourself."""

    TYPE: ClassVar[int] = 0x81


@dataclass(frozen=True, slots=True)
class _Position(Command):
    """A command that names a place in one run of record numbers."""

    log: int
    record: int

    def __post_init__(self) -> None:
        Command.__post_init__(self)
        within("log", self.log, 1, HIGHEST)
        within("record", self.record, 1, HIGHEST)

    def payload(self) -> bytes:
        return _LOG_AND_RECORD.pack(self.log, self.record)

    @classmethod
    def parse(cls, sequence: int, payload: bytes) -> Self:
        log, record = _unpack(_LOG_AND_RECORD, payload)
        return cls(sequence, log, record)


@dataclass(frozen=True, slots=True)
class Acknowledge(_Position):
    """The host has all records of `log` up to and with `record` safely: the shoe may forget them.

    What they led to is in the same frame, so that no shoe can have the one without the other: whether it is locked
    from now on, and its lamps. Left out, they are those of a shoe that has just been switched on.
    """

    locked: bool = True
    lamps: Lamps = Lamps()  # noqa: RUF009 - frozen, so one is as good as many
    TYPE: ClassVar[int] = 0x82

    def payload(self) -> bytes:
        return _ACKNOWLEDGE.pack(self.log, self.record, LOCKED * self.locked, lamps_to_byte(self.lamps))

    @classmethod
    def parse(cls, sequence: int, payload: bytes) -> Self:
        log, record, flags, lamps = _unpack(_ACKNOWLEDGE, payload)
        within("flags", flags, 0, LOCKED)
        return cls(sequence, log, record, bool(flags & LOCKED), lamps_from_byte(lamps))


@dataclass(frozen=True, slots=True)
class Resend(_Position):
    """Send the records of `log` in order, from `record` on."""

    TYPE: ClassVar[int] = 0x83


@dataclass(frozen=True, slots=True)
class Lock(Command):
    """Let no card out."""

    TYPE: ClassVar[int] = 0x84


@dataclass(frozen=True, slots=True)
class Unlock(Command):
    """Let cards out."""

    TYPE: ClassVar[int] = 0x85


@dataclass(frozen=True, slots=True)
class SetLamps(Command):
    """Show these lamps, all at once."""

    lamps: Lamps
    TYPE: ClassVar[int] = 0x86

    def payload(self) -> bytes:
        return bytes((lamps_to_byte(self.lamps),))

    @classmethod
    def parse(cls, sequence: int, payload: bytes) -> Self:
        rest = _Payload(payload)
        (byte,) = rest.take(1)
        rest.end()
        return cls(sequence, lamps_from_byte(byte))


# Every frame is one of these; `Record` and `Command` stand for their subclasses.
FromShoe = Hello | Heartbeat | Record
AnyFrame = FromShoe | Command

_FROM_SHOE: tuple[type[FromShoe], ...] = (
    *(Hello, Heartbeat),
    *(CardRecord, UnreadRecord, CutCardRecord, LidRecord, ReverseRecord, OverdrawnRecord, FaultRecord),
)
FRAMES: tuple[type[AnyFrame], ...] = (*_FROM_SHOE, AskHello, Acknowledge, Resend, Lock, Unlock, SetLamps)
FROM_SHOE: Final[Mapping[int, Callable[[int, bytes], FromShoe]]] = {
    frame.TYPE: frame.parse for frame in _FROM_SHOE
}
"""How to read each type of frame that a shoe sends."""
TYPES: Final[Mapping[int, Callable[[int, bytes], AnyFrame]]] = {frame.TYPE: frame.parse for frame in FRAMES}
"""And each type that there is on the line."""
