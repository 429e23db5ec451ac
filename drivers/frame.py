"""What the frames of all links have in common: what a frame is, and the rules that it checks itself by.

Every frame checks its own values when it is made, so the same rule refuses a wrong value that is about to be sent and
one that has arrived.
"""

from dataclasses import dataclass
from struct import Struct
from struct import error as StructError  # noqa: N812 - the standard library's name is in small letters
from typing import ClassVar, Final, Self

HIGHEST: Final = 0xFFFF_FFFF  # numbers are 32 bits and never wrap: at one a second, 136 years
SERIAL_BYTES: Final = 32


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
        return b""

    @classmethod
    def parse(cls, sequence: int, payload: bytes) -> Self:
        """Read the frame back from its sequence number and payload.

        Raises:
            ValueError: what the bytes say is not a frame of this type.
        """
        raise NotImplementedError


def within(name: str, value: int, low: int, high: int) -> None:
    """Refuse a value below `low` or above `high`.

    Raises:
        ValueError: it is.
    """
    if not low <= value <= high:
        raise ValueError(f"{name} is {value}: it must be {low} to {high}")


def check_serial(serial: str) -> None:
    """Refuse what is no serial number.

    Raises:
        ValueError: it is none.
    """
    if not serial.isascii() or not serial.isprintable() or " " in serial:
        raise ValueError(f"serial number {serial!r} must be printable ASCII without spaces")
    within("the length of the serial number", len(serial), 1, SERIAL_BYTES)


def unpack(layout: Struct, payload: bytes) -> tuple[int, ...]:
    """Read the numbers that a payload begins with.

    Raises:
        ValueError: it is too short for them.
    """
    try:
        return layout.unpack_from(payload)
    except StructError as error:
        raise ValueError("the payload is too short") from error


def shortened(text: str, longest: int) -> str:
    """The text within so many bytes of UTF-8; one that is too long ends at a word, with an ellipsis that says so."""
    if len(text.encode()) <= longest:
        return text
    room = longest - len("…".encode())
    kept = text.encode()[:room].decode(errors="ignore")
    return (kept.rsplit(" ", 1)[0] if " " in kept else kept) + "…"
