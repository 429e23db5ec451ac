"""The frames of the keypad's link. docs/reference/keypad.md defines them."""

from dataclasses import dataclass
from typing import ClassVar, Final, Literal, get_args

from punto.drivers.base import KeypadLamps, KeyPosition
from punto.drivers.frame import NUMBER, Choice, Field, Frame, Number, Reader, Text, within
from punto.drivers.keypad.keys import LONGEST_KEY, is_key_name
from punto.drivers.window import TEXT_BYTES, Introduction, Reply

STALE_MILLISECONDS: Final = 1000  # an older press is no longer an order
OLDEST_MILLISECONDS: Final = 0xFFFF  # the age that a keypad sends for every older press

BOUNCE_SECONDS: Final = 0.1  # the same key again within this time is one press whose contact bounced

Result = Literal["done", "more", "refused"]
RESULTS: Final[tuple[Result, ...]] = get_args(Result)

POSITIONS: Final[tuple[KeyPosition, ...]] = get_args(KeyPosition)


class _Key(Text):
    """The name of a key, up to the end of the payload."""

    def check(self, name: str, value: str) -> None:
        if not is_key_name(value):
            raise ValueError(
                f"{name}: {value!r} is not a key's name: 1 to {self.longest} capitals, digits and _"
            )


class _Lamps(Field):
    """The lamps as the bits of a byte."""

    def pack(self, value: KeypadLamps) -> bytes:
        return bytes((value.ready | value.card << 1 | value.stopped << 2,))

    def unpack(self, name: str, payload: Reader) -> KeypadLamps:
        (bits,) = payload.take(1)
        within(name, bits, 0, 7)
        return KeypadLamps(bool(bits & 1), bool(bits & 2), bool(bits & 4))


@dataclass(frozen=True, slots=True)
class Here(Introduction):
    """Keypad to host: the keypad is connected."""

    TYPE: ClassVar[int] = 0x41


@dataclass(frozen=True, slots=True)
class Press(Frame):
    """Keypad to host: the `number`-th press since power-on, `age` milliseconds ago."""

    number: int
    session: int
    age: int
    key: str
    TYPE: ClassVar[int] = 0x42
    NUMBERED: ClassVar[str] = "number"
    FIELDS: ClassVar = {
        "number": NUMBER,
        "session": NUMBER,
        "age": Number(0, OLDEST_MILLISECONDS, size=2),
        "key": _Key(1, LONGEST_KEY),
    }


@dataclass(frozen=True, slots=True)
class Switch(Frame):
    """Keypad to host: the `number`-th position of its key switch since power-on."""

    number: int
    session: int
    position: KeyPosition
    TYPE: ClassVar[int] = 0x43
    NUMBERED: ClassVar[str] = "number"
    FIELDS: ClassVar = {"number": NUMBER, "session": NUMBER, "position": Choice(POSITIONS)}


@dataclass(frozen=True, slots=True)
class Status(Frame):
    """Host to keypad: the host is connected, and these are the lamps to show. The keypad answers with HERE."""

    token: int
    lamps: KeypadLamps
    TYPE: ClassVar[int] = 0xC1
    FIELDS: ClassVar = {"token": NUMBER, "lamps": _Lamps()}


@dataclass(frozen=True, slots=True)
class Answer(Reply):
    """Host to keypad: the result of a press.

    The keypad shows the text for `seconds`; 0 means until the next text.
    """

    result: Result
    seconds: int
    text: str
    TYPE: ClassVar[int] = 0xC2
    FIELDS: ClassVar = {
        "number": NUMBER,
        "session": NUMBER,
        "result": Choice(RESULTS),
        "seconds": Number(0, 255, size=1),
        "text": Text(0, TEXT_BYTES),
    }


@dataclass(frozen=True, slots=True)
class Noted(Frame):
    """Host to keypad: the record has the position `number` of the key switch in this session."""

    number: int
    session: int
    TYPE: ClassVar[int] = 0xC3
    NUMBERED: ClassVar[str] = "number"
    FIELDS: ClassVar = {"number": NUMBER, "session": NUMBER}


FromKeypad = Here | Press | Switch
FromHost = Status | Answer | Noted
