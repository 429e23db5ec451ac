"""What the frames of all links share: their fields, with bounds, and their bytes both ways.

A frame checks its values when it is made. The same rule therefore refuses a wrong value before it is sent and after it
has arrived.
"""

# ruff: noqa: D102 - `check`, `pack` and `unpack` are documented once, at `Field`

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Self, TypeVar

HIGHEST: Final = 0xFFFF_FFFF  # numbers have 32 bits and never wrap: at one a second they last 136 years
SERIAL_BYTES: Final = 32


class Reader:
    """Reads a payload from its beginning."""

    def __init__(self, payload: bytes) -> None:
        self._rest = payload

    def take(self, size: int) -> bytes:
        """Read the next `size` bytes; raises ValueError if there are fewer."""
        if size > len(self._rest):
            raise ValueError(f"the payload ends {size - len(self._rest)} bytes too soon")
        taken, self._rest = self._rest[:size], self._rest[size:]
        return taken

    def rest(self) -> bytes:
        """Read everything that is left."""
        return self.take(len(self._rest))

    def end(self) -> None:
        """Raise ValueError if anything is left."""
        if self._rest:
            raise ValueError(f"the payload has {len(self._rest)} bytes too many")


class Field(ABC):
    """A field of a payload. `check` and `unpack` raise ValueError if the value is invalid."""

    def check(self, name: str, value: Any) -> None:  # noqa: B027 - the bytes of some fields are always valid
        """Check the value of the field with this name."""

    @abstractmethod
    def pack(self, value: Any) -> bytes:
        """The value as bytes."""

    @abstractmethod
    def unpack(self, name: str, payload: Reader) -> Any:
        """Read the value from the next bytes of the payload."""


@dataclass(frozen=True, slots=True)
class Number(Field):
    """A number from `low` to `high` in `size` bytes, big-endian."""

    low: int = 1
    high: int = HIGHEST
    size: int = 4

    def check(self, name: str, value: int) -> None:
        within(name, value, self.low, self.high)

    def pack(self, value: int) -> bytes:
        return value.to_bytes(self.size)

    def unpack(self, name: str, payload: Reader) -> int:  # noqa: ARG002 - as `Field.unpack`
        return int.from_bytes(payload.take(self.size))


@dataclass(frozen=True, slots=True)
class Text(Field):
    """Printable text of `shortest` to `longest` bytes in UTF-8, up to the end of the payload.

    A device's texts reach the record, displays and logs, and a control character there could pass as something else.
    """

    shortest: int
    longest: int

    def check(self, name: str, value: str) -> None:
        if not value.isprintable():
            raise ValueError(f"{name} {value!r} must be printable text")
        within(f"the length of {name} in UTF-8", len(value.encode()), self.shortest, self.longest)

    def pack(self, value: str) -> bytes:
        return value.encode()

    def unpack(self, name: str, payload: Reader) -> str:  # noqa: ARG002 - as `Field.unpack`
        return payload.rest().decode()


class Serial(Text):
    """A serial number: 1 to 32 printable ASCII characters without spaces, up to the end of the payload."""

    def check(self, name: str, value: str) -> None:  # noqa: ARG002 - as `Field.check`
        if not value.isascii() or not value.isprintable() or " " in value:
            raise ValueError(f"serial number {value!r} must be printable ASCII without spaces")
        within("the length of the serial number", len(value), self.shortest, self.longest)


@dataclass(frozen=True, slots=True)
class Choice(Field):
    """One of several values, as one byte that counts them from 1."""

    values: tuple[Any, ...]
    first: int = 1

    def pack(self, value: Any) -> bytes:
        return bytes((self.values.index(value) + self.first,))

    def unpack(self, name: str, payload: Reader) -> Any:
        (number,) = payload.take(1)
        within(name, number, self.first, self.first + len(self.values) - 1)
        return self.values[number - self.first]


NUMBER: Final = Number()
SERIAL: Final = Serial(1, SERIAL_BYTES)
FLAG: Final = Choice((False, True), first=0)
"""A truth value as a byte, 0 or 1."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame: a type, a sequence number (0 where frames are not numbered) and a payload.

    Raises:
        ValueError: a value is out of its field's bounds.
    """

    TYPE: ClassVar[int]
    FIELDS: ClassVar[Mapping[str, Field]] = {}
    """The fields in the order of the payload."""
    NUMBERED: ClassVar[str] = ""
    """The field that is the sequence number and not in the payload; empty where frames are not numbered."""

    def __post_init__(self) -> None:
        """Check the values."""
        for name, field in self.FIELDS.items():
            field.check(name, getattr(self, name))

    @property
    def sequence(self) -> int:
        """The number in the frame's header."""
        return int(getattr(self, self.NUMBERED)) if self.NUMBERED else 0

    def payload(self) -> bytes:
        """The bytes between header and checksum."""
        packed = (
            field.pack(getattr(self, name)) for name, field in self.FIELDS.items() if name != self.NUMBERED
        )
        return b"".join(packed)

    @classmethod
    def parse(cls, sequence: int, payload: bytes) -> Self:
        """Read the frame back from its sequence number and payload.

        Raises:
            ValueError: these are not the bytes of a frame of this type.
        """
        if not cls.NUMBERED:
            within("the sequence number", sequence, 0, 0)
        reader = Reader(payload)
        values = {
            name: sequence if name == cls.NUMBERED else field.unpack(name, reader)
            for name, field in cls.FIELDS.items()
        }
        reader.end()
        return cls(**values)


AnyFrame = TypeVar("AnyFrame", bound=Frame)


def parsers(*kinds: type[AnyFrame]) -> dict[int, Callable[[int, bytes], AnyFrame]]:
    """Type number -> function that reads a frame of that type from its sequence number and payload."""
    return {kind.TYPE: kind.parse for kind in kinds}


def within(name: str, value: int, low: int, high: int) -> None:
    """Raise ValueError if the value is below `low` or above `high`."""
    if not low <= value <= high:
        raise ValueError(f"{name} is {value}: it must be {low} to {high}")


def shortened(text: str, longest: int) -> str:
    """The text as a device can show it, with spaces for what is not printable, in at most `longest` bytes of UTF-8.

    A longer text is cut at a word and ends with an ellipsis.
    """
    text = "".join(each if each.isprintable() else " " for each in text)
    if len(text.encode()) <= longest:
        return text
    room = longest - len("…".encode())
    kept = text.encode()[:room].decode(errors="ignore")
    return (kept.rsplit(" ", 1)[0] if " " in kept else kept) + "…"
