"""The frames of the keypad's link, version 1, with their bytes both ways; docs/reference/keypad.md is the law of this file."""

# ruff: noqa: D102 - `sequence`, `payload` and `parse` are documented once, at `Frame`

from dataclasses import dataclass
from struct import Struct
from typing import ClassVar, Final, Literal, Self, get_args

from punto.drivers.base import KeypadLamps, KeyPosition
from punto.drivers.frame import HIGHEST, Frame, check_serial, unpack, within
from punto.drivers.keypad.keys import LONGEST_KEY, is_key_name

STATUS_SECONDS: Final = 0.25  # how often the host says how things stand
REPEAT_SECONDS: Final = 0.2  # after which a keypad sends a press again that has not been answered
STALE_MILLISECONDS: Final = 1000  # older than that, a press is not an order any more
OLDEST_MILLISECONDS: Final = 0xFFFF  # of a press that is older still, a keypad says this
TEXT_BYTES: Final = 200

BOUNCE_SECONDS: Final = 0.1  # a key that comes again within less was pressed once, and its contact bounced

Result = Literal["done", "more", "refused"]
RESULTS: Final[tuple[Result, ...]] = get_args(Result)

POSITIONS: Final[tuple[KeyPosition, ...]] = get_args(KeyPosition)

_HERE: Final = Struct(">II")
_PRESS: Final = Struct(">IH")
_SWITCH: Final = Struct(">IB")
_NOTED: Final = Struct(">I")
_STATUS: Final = Struct(">IB")
_ANSWER: Final = Struct(">IBB")


@dataclass(frozen=True, slots=True)
class Here(Frame):
    """Keypad to host: the keypad is there. `token` is that of the status it answers, `session` of its power-on."""

    token: int
    session: int
    serial: str
    TYPE: ClassVar[int] = 0x41

    def __post_init__(self) -> None:
        within("token", self.token, 1, HIGHEST)
        within("session", self.session, 1, HIGHEST)
        check_serial(self.serial)

    def payload(self) -> bytes:
        return _HERE.pack(self.token, self.session) + self.serial.encode()

    @classmethod
    def parse(cls, sequence: int, payload: bytes) -> Self:
        within("the sequence number", sequence, 0, 0)
        token, session = unpack(_HERE, payload)
        return cls(token, session, payload[_HERE.size :].decode())


@dataclass(frozen=True, slots=True)
class Press(Frame):
    """Keypad to host: the `number`-th press since power-on, `age` milliseconds ago."""

    number: int
    session: int
    age: int
    key: str
    TYPE: ClassVar[int] = 0x42

    def __post_init__(self) -> None:
        within("number", self.number, 1, HIGHEST)
        within("session", self.session, 1, HIGHEST)
        within("age", self.age, 0, OLDEST_MILLISECONDS)
        if not is_key_name(self.key):
            raise ValueError(f"{self.key!r} is no key's name: 1 to {LONGEST_KEY} capitals, digits and _")

    @property
    def sequence(self) -> int:
        return self.number

    def payload(self) -> bytes:
        return _PRESS.pack(self.session, self.age) + self.key.encode()

    @classmethod
    def parse(cls, sequence: int, payload: bytes) -> Self:
        session, age = unpack(_PRESS, payload)
        return cls(sequence, session, age, payload[_PRESS.size :].decode())


@dataclass(frozen=True, slots=True)
class Switch(Frame):
    """Keypad to host: where its key switch stands since the `number`-th time that this was seen since power-on."""

    number: int
    session: int
    position: KeyPosition
    TYPE: ClassVar[int] = 0x43

    def __post_init__(self) -> None:
        within("number", self.number, 1, HIGHEST)
        within("session", self.session, 1, HIGHEST)

    @property
    def sequence(self) -> int:
        return self.number

    def payload(self) -> bytes:
        return _SWITCH.pack(self.session, POSITIONS.index(self.position) + 1)

    @classmethod
    def parse(cls, sequence: int, payload: bytes) -> Self:
        within("the payload's length", len(payload), _SWITCH.size, _SWITCH.size)
        session, position = unpack(_SWITCH, payload)
        within("position", position, 1, len(POSITIONS))
        return cls(sequence, session, POSITIONS[position - 1])


@dataclass(frozen=True, slots=True)
class Status(Frame):
    """Host to keypad: the host is there, and this is what the lamps show. The keypad answers with HERE."""

    token: int
    lamps: KeypadLamps
    TYPE: ClassVar[int] = 0xC1

    def __post_init__(self) -> None:
        within("token", self.token, 1, HIGHEST)

    def payload(self) -> bytes:
        lamps = self.lamps
        return _STATUS.pack(self.token, lamps.ready | lamps.card << 1 | lamps.stopped << 2)

    @classmethod
    def parse(cls, sequence: int, payload: bytes) -> Self:
        within("the sequence number", sequence, 0, 0)
        within("the payload's length", len(payload), _STATUS.size, _STATUS.size)
        token, bits = unpack(_STATUS, payload)
        within("lamps", bits, 0, 7)
        return cls(token, KeypadLamps(bool(bits & 1), bool(bits & 2), bool(bits & 4)))


@dataclass(frozen=True, slots=True)
class Answer(Frame):
    """Host to keypad: what became of the press `number` of this session; the text stands `seconds`, 0 for ever."""

    number: int
    session: int
    result: Result
    seconds: int
    text: str
    TYPE: ClassVar[int] = 0xC2

    def __post_init__(self) -> None:
        within("number", self.number, 1, HIGHEST)
        within("session", self.session, 1, HIGHEST)
        within("seconds", self.seconds, 0, 255)
        within("the length of the text in UTF-8", len(self.text.encode()), 0, TEXT_BYTES)

    @property
    def sequence(self) -> int:
        return self.number

    def payload(self) -> bytes:
        return _ANSWER.pack(self.session, RESULTS.index(self.result) + 1, self.seconds) + self.text.encode()

    @classmethod
    def parse(cls, sequence: int, payload: bytes) -> Self:
        session, result, seconds = unpack(_ANSWER, payload)
        within("result", result, 1, len(RESULTS))
        return cls(sequence, session, RESULTS[result - 1], seconds, payload[_ANSWER.size :].decode())


@dataclass(frozen=True, slots=True)
class Noted(Frame):
    """Host to keypad: what it said of its key switch with this `number`, in this session, is on the record."""

    number: int
    session: int
    TYPE: ClassVar[int] = 0xC3

    def __post_init__(self) -> None:
        within("number", self.number, 1, HIGHEST)
        within("session", self.session, 1, HIGHEST)

    @property
    def sequence(self) -> int:
        return self.number

    def payload(self) -> bytes:
        return _NOTED.pack(self.session)

    @classmethod
    def parse(cls, sequence: int, payload: bytes) -> Self:
        within("the payload's length", len(payload), _NOTED.size, _NOTED.size)
        (session,) = unpack(_NOTED, payload)
        return cls(sequence, session)


FromKeypad = Here | Press | Switch
FromHost = Status | Answer | Noted
