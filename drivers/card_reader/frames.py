"""The frames of the card reader's link, version 1, with their bytes both ways; docs/reference/card-reader.md is the law of this file."""

# ruff: noqa: D102 - `sequence`, `payload` and `parse` are documented once, at `Frame`

from dataclasses import dataclass, field
from struct import Struct
from typing import ClassVar, Final, Literal, Self, get_args

from punto.drivers.frame import HIGHEST, Frame, check_serial, unpack, within

STATUS_SECONDS: Final = 0.25  # how often the host says that it is there
REPEAT_SECONDS: Final = 0.2  # after which a reader sends a swipe again that has not been answered
STALE_SECONDS: Final = 2.0  # older than that, a swipe is not taken any more: whoever swiped may have gone
TRACK_BYTES: Final = (
    107  # the longest track of a card: that much may be said, though no card's number is so long
)
TEXT_BYTES: Final = 200

Result = Literal["accepted", "refused", "second_factor"]
RESULTS: Final[tuple[Result, ...]] = get_args(Result)

_TWO: Final = Struct(">II")
_FLAGGED: Final = Struct(">IB")


@dataclass(frozen=True, slots=True)
class Here(Frame):
    """Reader to host: the reader is there. `token` is that of the status it answers, `session` of its power-on."""

    token: int
    session: int
    serial: str
    TYPE: ClassVar[int] = 0x61

    def __post_init__(self) -> None:
        within("token", self.token, 1, HIGHEST)
        within("session", self.session, 1, HIGHEST)
        check_serial(self.serial)

    def payload(self) -> bytes:
        return _TWO.pack(self.token, self.session) + self.serial.encode()

    @classmethod
    def parse(cls, sequence: int, payload: bytes) -> Self:
        within("the sequence number", sequence, 0, 0)
        token, session = unpack(_TWO, payload)
        return cls(token, session, payload[_TWO.size :].decode())


@dataclass(frozen=True, slots=True)
class Swipe(Frame):
    """Reader to host: the `number`-th swipe since power-on.

    `token` is that of the last status before it, however often it is said. `track` is what was read, nothing where
    nothing could be; it is not in the frame's text, for a card's number is in no log.
    """

    number: int
    session: int
    token: int
    track: bytes = field(repr=False)
    TYPE: ClassVar[int] = 0x62

    def __post_init__(self) -> None:
        within("number", self.number, 1, HIGHEST)
        within("session", self.session, 1, HIGHEST)
        within("token", self.token, 1, HIGHEST)
        within("the length of the track", len(self.track), 0, TRACK_BYTES)

    @property
    def sequence(self) -> int:
        return self.number

    def payload(self) -> bytes:
        return _TWO.pack(self.session, self.token) + self.track

    @classmethod
    def parse(cls, sequence: int, payload: bytes) -> Self:
        session, token = unpack(_TWO, payload)
        return cls(sequence, session, token, payload[_TWO.size :])


@dataclass(frozen=True, slots=True)
class Status(Frame):
    """Host to reader: the host is there, and whether a swipe is awaited. The reader answers with HERE."""

    token: int
    awaited: bool
    TYPE: ClassVar[int] = 0xE1

    def __post_init__(self) -> None:
        within("token", self.token, 1, HIGHEST)

    def payload(self) -> bytes:
        return _FLAGGED.pack(self.token, self.awaited)

    @classmethod
    def parse(cls, sequence: int, payload: bytes) -> Self:
        within("the sequence number", sequence, 0, 0)
        within("the payload's length", len(payload), _FLAGGED.size, _FLAGGED.size)
        token, awaited = unpack(_FLAGGED, payload)
        within("awaited", awaited, 0, 1)
        return cls(token, bool(awaited))


@dataclass(frozen=True, slots=True)
class Answer(Frame):
    """Host to reader: what became of the swipe `number` of this session, and words for whoever swiped."""

    number: int
    session: int
    result: Result
    text: str
    TYPE: ClassVar[int] = 0xE2

    def __post_init__(self) -> None:
        within("number", self.number, 1, HIGHEST)
        within("session", self.session, 1, HIGHEST)
        within("the length of the text in UTF-8", len(self.text.encode()), 0, TEXT_BYTES)

    @property
    def sequence(self) -> int:
        return self.number

    def payload(self) -> bytes:
        return _FLAGGED.pack(self.session, RESULTS.index(self.result) + 1) + self.text.encode()

    @classmethod
    def parse(cls, sequence: int, payload: bytes) -> Self:
        session, result = unpack(_FLAGGED, payload)
        within("result", result, 1, len(RESULTS))
        return cls(sequence, session, RESULTS[result - 1], payload[_FLAGGED.size :].decode())


FromReader = Here | Swipe
FromHost = Status | Answer
