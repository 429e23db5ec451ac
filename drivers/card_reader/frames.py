"""The frames of the card reader's link, version 1. docs/reference/card-reader.md defines them."""

from dataclasses import dataclass, field
from typing import ClassVar, Final, Literal, get_args

from punto.drivers.frame import FLAG, NUMBER, Choice, Field, Frame, Reader, Text, within
from punto.drivers.window import TEXT_BYTES, Introduction, Reply

STALE_SECONDS: Final = 2.0  # an older swipe is not accepted: the card's owner may have left
TRACK_BYTES: Final = 107  # the longest track of a card; a card's number is shorter

Result = Literal["accepted", "refused", "second_factor"]
RESULTS: Final[tuple[Result, ...]] = get_args(Result)


class _Track(Field):
    """The bytes of a track, up to the end of the payload."""

    def check(self, name: str, value: bytes) -> None:
        within(f"the length of the {name}", len(value), 0, TRACK_BYTES)

    def pack(self, value: bytes) -> bytes:
        return value

    def unpack(self, name: str, payload: Reader) -> bytes:  # noqa: ARG002 - as `Field.unpack`
        return payload.rest()


@dataclass(frozen=True, slots=True)
class Here(Introduction):
    """Reader to host: the reader is connected."""

    TYPE: ClassVar[int] = 0x61


@dataclass(frozen=True, slots=True)
class Swipe(Frame):
    """Reader to host: the `number`-th swipe since power-on.

    `token` is that of the last status before the swipe, however often the swipe is sent. `track` is what the reader
    read, empty if it read nothing. The frame's text leaves it out, because no log may hold a card's number.
    """

    number: int
    session: int
    token: int
    track: bytes = field(repr=False)
    TYPE: ClassVar[int] = 0x62
    NUMBERED: ClassVar[str] = "number"
    FIELDS: ClassVar = {"number": NUMBER, "session": NUMBER, "token": NUMBER, "track": _Track()}


@dataclass(frozen=True, slots=True)
class Status(Frame):
    """Host to reader: the host is connected; `awaited` tells whether it waits for a swipe. The reader answers with HERE."""

    token: int
    awaited: bool
    TYPE: ClassVar[int] = 0xE1
    FIELDS: ClassVar = {"token": NUMBER, "awaited": FLAG}


@dataclass(frozen=True, slots=True)
class Answer(Reply):
    """Host to reader: the result of a swipe, and a text for the card's owner."""

    result: Result
    text: str
    TYPE: ClassVar[int] = 0xE2
    FIELDS: ClassVar = {
        "number": NUMBER,
        "session": NUMBER,
        "result": Choice(RESULTS),
        "text": Text(0, TEXT_BYTES),
    }


FromReader = Here | Swipe
FromHost = Status | Answer
