"""The frames of the wager sensors' link, version 1. docs/reference/coin-spot.md defines them."""

from dataclasses import dataclass
from struct import Struct
from typing import ClassVar, Final

from punto.drivers.frame import HIGHEST, NUMBER, SERIAL, Field, Frame, Number, Reader, within

POSITIONS: Final = 15  # the longest chain
KEEP: Final = HIGHEST  # the round of orders that neither start nor end a round
MOST_TAKEN: Final = 2**31 - 1  # leaves numbers for years of orders above it
ORDERS_SECONDS: Final = 0.25  # how often the host sends its orders, or asks for an introduction
REPEAT_SECONDS: Final = 0.1  # after which a report that is not acknowledged is sent again, and a START too
START_SECONDS: Final = 1.0  # a START that the device has not confirmed by then is not sent again

_SPOT: Final = Struct(">BII")
_FROM_0: Final = Number(0)
_TAKEN: Final = Number(0, MOST_TAKEN)


@dataclass(frozen=True, slots=True)
class Spot:
    """A position as the concentrator knows it.

    `answers` counts the sensors that answer there: 0, 1, or 2 for two and more. `came` and `went` are the numbers of
    the changes by which a wager last came and last went, 0 if there was no such change.
    """

    answers: int = 1
    came: int = 0
    went: int = 0

    def __post_init__(self) -> None:
        within("answers", self.answers, 0, 2)
        within("came", self.came, 0, HIGHEST)
        within("went", self.went, 0, HIGHEST)
        if self.came == self.went != 0:
            raise ValueError(f"a wager cannot come and go in the same change: {self.came}")
        if self.went and not self.came:
            raise ValueError("a wager cannot go from a position if no wager came to this position")

    @property
    def holds(self) -> bool:
        """Whether a wager lies there."""
        return self.came > self.went


class _Positions(Field):
    """Positions as the bits of two bytes; position 1 is bit 0."""

    def check(self, name: str, value: frozenset[int]) -> None:
        for position in value:
            within(f"a position in {name}", position, 1, POSITIONS)

    def pack(self, value: frozenset[int]) -> bytes:
        return sum(1 << position - 1 for position in value).to_bytes(2)

    def unpack(self, name: str, payload: Reader) -> frozenset[int]:  # noqa: ARG002 - as `Field.unpack`
        mask = int.from_bytes(payload.take(2))
        return frozenset(position for position in range(1, 17) if mask >> position - 1 & 1)


class _Spots(Field):
    """The positions of a chain, up to the end of the payload: a byte and two numbers each."""

    def check(self, name: str, value: tuple[Spot, ...]) -> None:
        within(f"the number of {name}", len(value), 1, POSITIONS)

    def pack(self, value: tuple[Spot, ...]) -> bytes:
        return b"".join(_SPOT.pack(spot.answers, spot.came, spot.went) for spot in value)

    def unpack(self, name: str, payload: Reader) -> tuple[Spot, ...]:  # noqa: ARG002 - as `Field.unpack`
        rest = payload.rest()
        if len(rest) % _SPOT.size:
            raise ValueError("the last position is incomplete")
        return tuple(Spot(*numbers) for numbers in _SPOT.iter_unpack(rest))


@dataclass(frozen=True, slots=True)
class Here(Frame):
    """Device to host: an introduction.

    `token` is that of the frame it answers, `boot` counts the device's power-ons, `taken` is the number of the last
    orders that it accepted since the last power-on.
    """

    token: int
    boot: int
    taken: int
    serial: str
    TYPE: ClassVar[int] = 0x51
    FIELDS: ClassVar = {"token": NUMBER, "boot": NUMBER, "taken": _TAKEN, "serial": SERIAL}


@dataclass(frozen=True, slots=True)
class Report(Frame):
    """Device to host: the state of all positions after change `number` since power-on.

    `round` is the round that is started, 0 while wagers are open, and `latched` the positions that held a wager at its
    START. `start` is the number of the last START, 0 if there was none. `spots` are the positions of the chain from 1.
    """

    number: int
    token: int
    boot: int
    taken: int
    round: int
    start: int
    latched: frozenset[int]
    spots: tuple[Spot, ...]
    TYPE: ClassVar[int] = 0x52
    NUMBERED: ClassVar[str] = "number"
    FIELDS: ClassVar = {
        "number": _FROM_0,
        "token": NUMBER,
        "boot": NUMBER,
        "taken": _TAKEN,
        "round": Number(0, KEEP - 1),
        "start": _FROM_0,
        "latched": _Positions(),
        "spots": _Spots(),
    }

    def __post_init__(self) -> None:
        Frame.__post_init__(self)
        within("start", self.start, 1 if self.round else 0, self.number)
        for spot in self.spots:
            within("the number of a change", max(spot.came, spot.went), 0, self.number)
        if self.latched and not self.round:
            raise ValueError("no position can be latched before a round is started")
        within("the last latched position", max(self.latched, default=0), 0, len(self.spots))


@dataclass(frozen=True, slots=True)
class Ask(Frame):
    """Host to device: a request for an introduction. The device answers with HERE."""

    token: int
    TYPE: ClassVar[int] = 0xD1
    FIELDS: ClassVar = {"token": NUMBER}


@dataclass(frozen=True, slots=True)
class Orders(Frame):
    """Host to device: the `number`-th orders for the power-on `boot`. The device answers with REPORT.

    `acknowledged` is the last change that the host has recorded. `round` is the round to start, 0 while wagers are open,
    `KEEP` to change nothing. `lights` are the positions that are lit.
    """

    number: int
    token: int
    boot: int
    acknowledged: int
    round: int
    lights: frozenset[int]
    TYPE: ClassVar[int] = 0xD2
    NUMBERED: ClassVar[str] = "number"
    FIELDS: ClassVar = {
        "number": NUMBER,
        "token": NUMBER,
        "boot": NUMBER,
        "acknowledged": _FROM_0,
        "round": _FROM_0,
        "lights": _Positions(),
    }


FromDevice = Here | Report
FromHost = Ask | Orders
