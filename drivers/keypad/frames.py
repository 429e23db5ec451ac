"""The frames of the keypad's link, version 1, with their bytes both ways; docs/keypad.md is the law of this file.

Every frame checks its own values when it is made, so the same rule refuses a wrong value that is about to be sent and
one that has arrived.
"""

# ruff: noqa: D102 - `sequence`, `payload` and `parse` are documented once, at `Frame`

from dataclasses import dataclass
from struct import Struct
from struct import error as StructError  # noqa: N812 - the standard library's name is in small letters
from typing import ClassVar, Final, Literal, Self, get_args

from drivers.base import KeypadLamps
from drivers.keypad.keys import LONGEST_KEY, is_key_name

HIGHEST: Final = 0xFFFF_FFFF
STATUS_SECONDS: Final = 0.25  # how often the host says how things stand
SILENCE_SECONDS: Final = (
    0.8  # three of them missed: with the time to notice, a loss is seen within one second
)
REPEAT_SECONDS: Final = 0.2  # after which a keypad sends a press again that has not been answered
STALE_MILLISECONDS: Final = 1000  # older than that, a press is not an order any more
OLDEST_MILLISECONDS: Final = 0xFFFF  # of a press that is older still, a keypad says this
SERIAL_BYTES: Final = 32
TEXT_BYTES: Final = 200

Result = Literal["done", "more", "refused"]
RESULTS: Final[tuple[Result, ...]] = get_args(Result)

_HERE: Final = Struct(">II")
_PRESS: Final = Struct(">IH")
_STATUS: Final = Struct(">IB")
_ANSWER: Final = Struct(">IBB")


def _within(name: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise ValueError(f"{name} is {value}: it must be {low} to {high}")


def _unpack(layout: Struct, payload: bytes) -> tuple[int, ...]:
    try:
        return layout.unpack_from(payload)
    except StructError as error:
        raise ValueError("the payload is too short") from error


@dataclass(frozen=True, slots=True)
class Frame:
    """What every frame has: a type, a sequence number (0 where frames are not numbered) and a payload."""

    TYPE: ClassVar[int]

    @property
    def sequence(self) -> int:
        """The number in the frame's header."""
        return 0

    def payload(self) -> bytes:
        """The bytes between header and checksum."""
        raise NotImplementedError

    @classmethod
    def parse(cls, sequence: int, payload: bytes) -> Self:
        """Read the frame back from its sequence number and payload.

        Raises:
            ValueError: what the bytes say is not a frame of this type.
        """
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Here(Frame):
    """Keypad to host: the keypad is there. `token` is that of the status it answers, `session` of its power-on."""

    token: int
    session: int
    serial: str
    TYPE: ClassVar[int] = 0x41

    def __post_init__(self) -> None:
        _within("token", self.token, 1, HIGHEST)
        _within("session", self.session, 1, HIGHEST)
        if not self.serial.isascii() or not self.serial.isprintable() or " " in self.serial:
            raise ValueError(f"serial number {self.serial!r} must be printable ASCII without spaces")
        _within("the length of the serial number", len(self.serial), 1, SERIAL_BYTES)

    def payload(self) -> bytes:
        return _HERE.pack(self.token, self.session) + self.serial.encode()

    @classmethod
    def parse(cls, sequence: int, payload: bytes) -> Self:
        _within("the sequence number", sequence, 0, 0)
        token, session = _unpack(_HERE, payload)
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
        _within("number", self.number, 1, HIGHEST)
        _within("session", self.session, 1, HIGHEST)
        _within("age", self.age, 0, OLDEST_MILLISECONDS)
        if not is_key_name(self.key):
            raise ValueError(f"{self.key!r} is no key's name: 1 to {LONGEST_KEY} capitals, digits and _")

    @property
    def sequence(self) -> int:
        return self.number

    def payload(self) -> bytes:
        return _PRESS.pack(self.session, self.age) + self.key.encode()

    @classmethod
    def parse(cls, sequence: int, payload: bytes) -> Self:
        session, age = _unpack(_PRESS, payload)
        return cls(sequence, session, age, payload[_PRESS.size :].decode())


@dataclass(frozen=True, slots=True)
class Status(Frame):
    """Host to keypad: the host is there, and this is what the lamps show. The keypad answers with HERE."""

    token: int
    lamps: KeypadLamps
    TYPE: ClassVar[int] = 0xC1

    def __post_init__(self) -> None:
        _within("token", self.token, 1, HIGHEST)

    def payload(self) -> bytes:
        lamps = self.lamps
        return _STATUS.pack(self.token, lamps.ready | lamps.card << 1 | lamps.stopped << 2)

    @classmethod
    def parse(cls, sequence: int, payload: bytes) -> Self:
        _within("the sequence number", sequence, 0, 0)
        _within("the payload's length", len(payload), _STATUS.size, _STATUS.size)
        token, bits = _unpack(_STATUS, payload)
        _within("lamps", bits, 0, 7)
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
        _within("number", self.number, 1, HIGHEST)
        _within("session", self.session, 1, HIGHEST)
        _within("seconds", self.seconds, 0, 255)
        _within("the length of the text in UTF-8", len(self.text.encode()), 0, TEXT_BYTES)

    @property
    def sequence(self) -> int:
        return self.number

    def payload(self) -> bytes:
        return _ANSWER.pack(self.session, RESULTS.index(self.result) + 1, self.seconds) + self.text.encode()

    @classmethod
    def parse(cls, sequence: int, payload: bytes) -> Self:
        session, result, seconds = _unpack(_ANSWER, payload)
        _within("result", result, 1, len(RESULTS))
        return cls(sequence, session, RESULTS[result - 1], seconds, payload[_ANSWER.size :].decode())


FromKeypad = Here | Press
FromHost = Status | Answer
