"""The frames of the wager sensors' link, version 1, with their bytes both ways; docs/reference/coin-spot.md is the law of this file."""

# ruff: noqa: D102 - `sequence`, `payload` and `parse` are documented once, at `Frame`

from dataclasses import dataclass
from struct import Struct
from typing import ClassVar, Final, Self

from punto.drivers.frame import HIGHEST, Frame, check_serial, unpack, within

POSITIONS: Final = 15  # the longest chain
KEEP: Final = HIGHEST  # the round in orders that begin none and end none
MOST_TAKEN: Final = 2**31 - 1  # so that there are numbers above it for years of orders
ORDERS_SECONDS: Final = 0.25  # how often the host says its orders, or asks who is there
REPEAT_SECONDS: Final = 0.1  # after which a report that is not acknowledged is said again, and a START too
START_SECONDS: Final = 1.0  # older than that, a START that the device has not confirmed is not sent any more

_HERE: Final = Struct(">III")
_REPORT: Final = Struct(">IIIIIH")
_SPOT: Final = Struct(">BII")
_ASK: Final = Struct(">I")
_ORDERS: Final = Struct(">IIIIH")


@dataclass(frozen=True, slots=True)
class Spot:
    """A position as the concentrator knows it.

    `answers` counts the sensors that answer there: 0, 1, or 2 for two and more. `came` and `went` are the numbers of the
    changes by which a wager last came and last went, 0 if none did.
    """

    answers: int = 1
    came: int = 0
    went: int = 0

    def __post_init__(self) -> None:
        within("answers", self.answers, 0, 2)
        within("came", self.came, 0, HIGHEST)
        within("went", self.went, 0, HIGHEST)
        if self.came == self.went != 0:
            raise ValueError(f"change {self.came} cannot be a wager's coming and its going")
        if self.went and not self.came:
            raise ValueError("a wager cannot go where none came")

    @property
    def holds(self) -> bool:
        """Whether a wager lies there."""
        return self.came > self.went


@dataclass(frozen=True, slots=True)
class Here(Frame):
    """Device to host: who is there.

    `token` is that of the frame it answers, `boot` counts the device's power-ons, `taken` is the number of the last
    orders that it took since the last of them.
    """

    token: int
    boot: int
    taken: int
    serial: str
    TYPE: ClassVar[int] = 0x51

    def __post_init__(self) -> None:
        within("token", self.token, 1, HIGHEST)
        within("boot", self.boot, 1, HIGHEST)
        within("taken", self.taken, 0, MOST_TAKEN)
        check_serial(self.serial)

    def payload(self) -> bytes:
        return _HERE.pack(self.token, self.boot, self.taken) + self.serial.encode()

    @classmethod
    def parse(cls, sequence: int, payload: bytes) -> Self:
        within("the sequence number", sequence, 0, 0)
        token, boot, taken = unpack(_HERE, payload)
        return cls(token, boot, taken, payload[_HERE.size :].decode())


@dataclass(frozen=True, slots=True)
class Report(Frame):
    """Device to host: the whole picture after change `number` since power-on.

    `round` is the one that is started, 0 while wagers are open, and `latched` the positions that held a wager at its START.
    `start` is the number of the last START, 0 if none was. `spots` are the positions of the chain, from 1 on.
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

    def __post_init__(self) -> None:
        within("number", self.number, 0, HIGHEST)
        within("token", self.token, 1, HIGHEST)
        within("boot", self.boot, 1, HIGHEST)
        within("taken", self.taken, 0, MOST_TAKEN)
        within("round", self.round, 0, KEEP - 1)
        within("start", self.start, 1 if self.round else 0, self.number)
        within("the number of positions", len(self.spots), 1, POSITIONS)
        for spot in self.spots:
            within("the number of a change", max(spot.came, spot.went), 0, self.number)
        if self.latched and not self.round:
            raise ValueError("nothing is latched while no round is started")
        for position in self.latched:
            within("a latched position", position, 1, len(self.spots))

    @property
    def sequence(self) -> int:
        return self.number

    def payload(self) -> bytes:
        head = (self.token, self.boot, self.taken, self.round, self.start, _mask(self.latched))
        return _REPORT.pack(*head) + b"".join(_SPOT.pack(s.answers, s.came, s.went) for s in self.spots)

    @classmethod
    def parse(cls, sequence: int, payload: bytes) -> Self:
        token, boot, taken, round_, start, latched = unpack(_REPORT, payload)
        rest = payload[_REPORT.size :]
        if len(rest) % _SPOT.size:
            raise ValueError("the last position is not whole")
        spots = tuple(Spot(*numbers) for numbers in _SPOT.iter_unpack(rest))
        return cls(sequence, token, boot, taken, round_, start, _positions(latched), spots)


@dataclass(frozen=True, slots=True)
class Ask(Frame):
    """Host to device: who is there? The device answers with HERE."""

    token: int
    TYPE: ClassVar[int] = 0xD1

    def __post_init__(self) -> None:
        within("token", self.token, 1, HIGHEST)

    def payload(self) -> bytes:
        return _ASK.pack(self.token)

    @classmethod
    def parse(cls, sequence: int, payload: bytes) -> Self:
        within("the sequence number", sequence, 0, 0)
        within("the payload's length", len(payload), _ASK.size, _ASK.size)
        (token,) = unpack(_ASK, payload)
        return cls(token)


@dataclass(frozen=True, slots=True)
class Orders(Frame):
    """Host to device: the `number`-th orders for the power-on `boot`. The device answers with REPORT.

    `acknowledged` is the last change that is safe with the host, `round` the one that is to be started, 0 while wagers
    are open, `KEEP` to leave it as it is, and `lights` the positions that are lit.
    """

    number: int
    token: int
    boot: int
    acknowledged: int
    round: int
    lights: frozenset[int]
    TYPE: ClassVar[int] = 0xD2

    def __post_init__(self) -> None:
        within("number", self.number, 1, HIGHEST)
        within("token", self.token, 1, HIGHEST)
        within("boot", self.boot, 1, HIGHEST)
        within("acknowledged", self.acknowledged, 0, HIGHEST)
        within("round", self.round, 0, HIGHEST)
        for position in self.lights:
            within("a lit position", position, 1, POSITIONS)

    @property
    def sequence(self) -> int:
        return self.number

    def payload(self) -> bytes:
        return _ORDERS.pack(self.token, self.boot, self.acknowledged, self.round, _mask(self.lights))

    @classmethod
    def parse(cls, sequence: int, payload: bytes) -> Self:
        within("the payload's length", len(payload), _ORDERS.size, _ORDERS.size)
        token, boot, acknowledged, round_, lights = unpack(_ORDERS, payload)
        return cls(sequence, token, boot, acknowledged, round_, _positions(lights))


def _mask(positions: frozenset[int]) -> int:
    """Position 1 is bit 0."""
    return sum(1 << position - 1 for position in positions)


def _positions(mask: int) -> frozenset[int]:
    return frozenset(position for position in range(1, 17) if mask >> position - 1 & 1)


FromDevice = Here | Report
FromHost = Ask | Orders
