"""The frames of the shoe's link, version 1. docs/reference/ishoe-link.md defines them.

A frame is a header, a payload and a checksum, all big-endian. This module knows the header's numbers and the payloads;
`punto.drivers.framing` adds the checksum and the framing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from struct import Struct
from typing import ClassVar, Final, Literal, Self

from punto.baccarat.cards import Card
from punto.baccarat.table.events import Component
from punto.baccarat.table.shoe_orders import Lamps
from punto.drivers.frame import (
    FLAG,
    HIGHEST,
    NUMBER,
    SERIAL_BYTES,
    Field,
    Frame,
    Number,
    Reader,
    Serial,
    Text,
    parsers,
    within,
)

WINDOW = (
    64  # records that a shoe sends ahead of the acknowledgement: 1.3 kB, a tenth of a second at 115200 baud
)
STORE = 1024  # the fewest records that a shoe keeps: more than two whole shoes of eight decks
RESERVE = 64  # places beyond them for records that are not cards, which a full shoe cannot hold back
HEARTBEAT_SECONDS = 0.25  # the time between two heartbeats, whatever else the shoe sends

TEXT_BYTES = 32  # the longest name or version of a component
FAULT_BYTES = 200  # the longest text of a fault
COMPONENTS = 8  # the most components in a hello: with the longest texts a hello still fits in a frame
DIGEST_BYTES = 32  # SHA-256

NOT_READ = b"??"  # in place of the card of an overdraw that the shoe could not read

# Flags of a heartbeat; the others are zero.
LOCKED = 0x01
LID_OPEN = 0x02
SENDING = 0x04
FULL = 0x08

# Lamps in one byte: three result lamps, then in two bits the hand that the next card is for; the other bits are zero.
PLAYER = 0x01
BANKER = 0x02
TIE = 0x04
NEXT_SHIFT = 4
NEXT: tuple[Literal["none", "player", "banker", "burn"], ...] = ("none", "player", "banker", "burn")

_HEARTBEAT: Final = Struct(">IIIIBBIB")
_FROM_0: Final = Number(0)
_BYTE: Final = Number(0, 255, size=1)


class _SizedText(Text):
    """Text in UTF-8 after its length in a byte."""

    def pack(self, value: str) -> bytes:
        encoded = value.encode()
        return bytes((len(encoded),)) + encoded

    def unpack(self, name: str, payload: Reader) -> str:  # noqa: ARG002 - as `Field.unpack`
        return payload.take(payload.take(1)[0]).decode()


class _SizedSerial(Serial, _SizedText):
    """A serial number after its length in a byte."""


_PART: Final = _SizedText(1, TEXT_BYTES)


class _Components(Field):
    """The number of components in a byte, then each component's name, version and digest."""

    def check(self, name: str, value: tuple[Component, ...]) -> None:
        within(f"the number of {name}", len(value), 0, COMPONENTS)
        for part in value:
            _PART.check("a component's name", part.name)
            _PART.check("a component's version", part.version)
            if part.digest != bytes.fromhex(part.digest).hex() or len(part.digest) != 2 * DIGEST_BYTES:
                raise ValueError(f"digest {part.digest!r} must be SHA-256 in 64 lower-case hex digits")

    def pack(self, value: tuple[Component, ...]) -> bytes:
        parts = (
            _PART.pack(part.name) + _PART.pack(part.version) + bytes.fromhex(part.digest) for part in value
        )
        return bytes((len(value),)) + b"".join(parts)

    def unpack(self, name: str, payload: Reader) -> tuple[Component, ...]:
        (count,) = payload.take(1)
        return tuple(
            Component(
                _PART.unpack(name, payload), _PART.unpack(name, payload), payload.take(DIGEST_BYTES).hex()
            )
            for _ in range(count)
        )


class _Card(Field):
    """A card in two letters; `None` is a card that was not read, if `unread` allows it."""

    def __init__(self, *, unread: bool = False) -> None:
        self._unread = unread

    def pack(self, value: Card | None) -> bytes:
        return NOT_READ if value is None else value.encode()

    def unpack(self, name: str, payload: Reader) -> Card | None:  # noqa: ARG002 - as `Field.unpack`
        code = payload.take(2)
        return None if self._unread and code == NOT_READ else Card(code.decode())


class _Lamps(Field):
    """The lamps as the bits of a byte."""

    def pack(self, value: Lamps) -> bytes:
        return bytes((lamps_to_byte(value),))

    def unpack(self, name: str, payload: Reader) -> Lamps:  # noqa: ARG002 - as `Field.unpack`
        return lamps_from_byte(payload.take(1)[0])


def lamps_to_byte(lamps: Lamps) -> int:
    """Put the lamps into the byte that LAMPS and HEARTBEAT carry."""
    result = PLAYER * lamps.player | BANKER * lamps.banker | TIE * lamps.tie
    return result | NEXT.index(lamps.next) << NEXT_SHIFT


def lamps_from_byte(byte: int) -> Lamps:
    """Read the lamps' byte; raises ValueError if a bit without a meaning is set."""
    lamps = Lamps(bool(byte & PLAYER), bool(byte & BANKER), bool(byte & TIE), NEXT[byte >> NEXT_SHIFT & 3])
    if lamps_to_byte(lamps) != byte:
        raise ValueError(f"lamps are {byte:#04x}: a bit without meaning is set")
    return lamps


# --- shoe to host, not numbered: the shoe's identity and its state.


@dataclass(frozen=True, slots=True)
class Hello(Frame):
    """The shoe's introduction: its identity and the records that it has."""

    serial: str
    log: int
    first_kept: int
    next_record: int
    decks: int
    components: tuple[Component, ...] = ()
    TYPE: ClassVar[int] = 0x01
    FIELDS: ClassVar = {
        "serial": _SizedSerial(1, SERIAL_BYTES),
        "log": NUMBER,
        "first_kept": _FROM_0,
        "next_record": NUMBER,
        "decks": _BYTE,
        "components": _Components(),
    }

    def __post_init__(self) -> None:
        Frame.__post_init__(self)
        within("first_kept", self.first_kept, 1, self.next_record)


@dataclass(frozen=True, slots=True)
class Heartbeat(Frame):
    """The shoe's state, sent again and again: enough for the host to notice anything that was lost.

    `next_to_send` is the record that the shoe would send next and `next_record` the number of its next new record.
    `decks` is the same as in its hello.
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
    lamps: Lamps = Lamps()  # noqa: RUF009 - frozen, so all frames can share it
    decks: int = 0
    TYPE: ClassVar[int] = 0x02
    FIELDS: ClassVar = {
        "log": NUMBER,
        "first_kept": _FROM_0,
        "next_to_send": _FROM_0,
        "next_record": NUMBER,
        "last_command": _FROM_0,
        "decks": _BYTE,
    }

    def __post_init__(self) -> None:
        Frame.__post_init__(self)
        within("next_to_send", self.next_to_send, 1, self.next_record)
        within("first_kept", self.first_kept, 1, self.next_to_send)

    def payload(self) -> bytes:
        """The bytes between header and checksum; four fields share the flags' byte."""
        flags = LOCKED * self.locked | LID_OPEN * self.lid_open | SENDING * self.sending | FULL * self.full
        numbers = (self.log, self.first_kept, self.next_to_send, self.next_record)
        return _HEARTBEAT.pack(*numbers, flags, lamps_to_byte(self.lamps), self.last_command, self.decks)

    @classmethod
    def parse(cls, sequence: int, payload: bytes) -> Self:
        """Read the frame back; see `Frame.parse`."""
        within("the sequence number", sequence, 0, 0)
        reader = Reader(payload)
        numbers = _HEARTBEAT.unpack(reader.take(_HEARTBEAT.size))
        reader.end()
        log, first_kept, next_to_send, next_record, flags, lamps, last, decks = numbers
        within("flags", flags, 0, LOCKED | LID_OPEN | SENDING | FULL)
        state = (bool(flags & LOCKED), bool(flags & LID_OPEN), bool(flags & SENDING), bool(flags & FULL))
        return cls(log, first_kept, next_to_send, next_record, last, *state, lamps_from_byte(lamps), decks)


# --- shoe to host, numbered: the records, which the shoe keeps until they are acknowledged.

_RECORD: Final[Mapping[str, Field]] = {"record": Number(high=HIGHEST - 1)}  # the next one has a number too


@dataclass(frozen=True, slots=True)
class Record(Frame):
    """Something that happened in the shoe, with its number."""

    record: int
    NUMBERED: ClassVar[str] = "record"
    FIELDS: ClassVar = _RECORD


@dataclass(frozen=True, slots=True)
class CardRecord(Record):
    """A card left the shoe and was read, with a confidence of 0 to 100."""

    card: Card
    confidence: int
    TYPE: ClassVar[int] = 0x10
    FIELDS: ClassVar = {**_RECORD, "card": _Card(), "confidence": Number(0, 100, size=1)}


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
    FIELDS: ClassVar = {**_RECORD, "open": FLAG}


@dataclass(frozen=True, slots=True)
class ReverseRecord(Record):
    """A card was pushed back into the shoe."""

    TYPE: ClassVar[int] = 0x14


@dataclass(frozen=True, slots=True)
class OverdrawnRecord(Record):
    """A card left the shoe when the shoe knew that no card was called for; `card` is None if it was not read."""

    card: Card | None
    confidence: int
    TYPE: ClassVar[int] = 0x15
    FIELDS: ClassVar = {**_RECORD, "card": _Card(unread=True), "confidence": _BYTE}

    def __post_init__(self) -> None:
        Frame.__post_init__(self)
        within("confidence", self.confidence, 0, 0 if self.card is None else 100)


@dataclass(frozen=True, slots=True)
class FaultRecord(Record):
    """The shoe reports an error of its own: its code and a text for the technician."""

    code: int
    text: str
    TYPE: ClassVar[int] = 0x16
    FIELDS: ClassVar = {**_RECORD, "code": Number(0, 0xFFFF, size=2), "text": _SizedText(0, FAULT_BYTES)}


# --- host to shoe: the commands. Each can be repeated without harm.

_COMMAND: Final[Mapping[str, Field]] = {"command": NUMBER}
_POSITION: Final[Mapping[str, Field]] = {**_COMMAND, "log": NUMBER, "record": NUMBER}


@dataclass(frozen=True, slots=True)
class Command(Frame):
    """A command to the shoe; `command` counts the host's frames on this connection from 1."""

    command: int
    NUMBERED: ClassVar[str] = "command"
    FIELDS: ClassVar = _COMMAND


@dataclass(frozen=True, slots=True)
class AskHello(Command):
    """Stop sending records, and send a hello."""

    TYPE: ClassVar[int] = 0x81


@dataclass(frozen=True, slots=True)
class Acknowledge(Command):
    """The host has recorded all records of `log` up to and including `record`: the shoe may delete them.

    The same frame has the orders that follow from these records, so that a shoe always gets both: whether it is locked
    from now on, and its lamps. The defaults are those of a shoe that has just been switched on.
    """

    log: int
    record: int
    locked: bool = True
    lamps: Lamps = Lamps()  # noqa: RUF009 - frozen, so all frames can share it
    TYPE: ClassVar[int] = 0x82
    FIELDS: ClassVar = {**_POSITION, "locked": FLAG, "lamps": _Lamps()}


@dataclass(frozen=True, slots=True)
class Resend(Command):
    """Send the records of `log` in order, beginning with `record`."""

    log: int
    record: int
    TYPE: ClassVar[int] = 0x83
    FIELDS: ClassVar = _POSITION


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
    FIELDS: ClassVar = {**_COMMAND, "lamps": _Lamps()}


# Every frame is one of these; `Record` and `Command` stand for their subclasses.
FromShoe = Hello | Heartbeat | Record
AnyFrame = FromShoe | Command

_FROM_SHOE: tuple[type[FromShoe], ...] = (
    *(Hello, Heartbeat),
    *(CardRecord, UnreadRecord, CutCardRecord, LidRecord, ReverseRecord, OverdrawnRecord, FaultRecord),
)
FRAMES: tuple[type[AnyFrame], ...] = (*_FROM_SHOE, AskHello, Acknowledge, Resend, Lock, Unlock, SetLamps)
FROM_SHOE: Final = parsers(*_FROM_SHOE)
"""The readers of the frames that a shoe sends."""
TYPES: Final = parsers(*FRAMES)
"""The readers of all frames of the link."""
