"""The concentrator of a chain of wager sensors: its end of docs/reference/coin-spot.md, without a line and without a clock.

The coins on the sensors and the sensors' faults belong to the table (`Sensor`) and outlast the concentrator's
power.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Final, Literal, get_args

from punto.drivers.coin_spot.frames import KEEP, REPEAT_SECONDS, Ask, FromHost, Here, Orders, Report, Spot
from punto.drivers.framing import Decoder, encode
from punto.drivers.link import SILENCE_SECONDS

Break = Literal["stuck", "missing", "doubled"]
BREAKS: Final[tuple[Break, ...]] = get_args(Break)

_TYPES: Final[Mapping[int, Callable[[int, bytes], FromHost]]] = {
    Ask.TYPE: Ask.parse,
    Orders.TYPE: Orders.parse,
}


@dataclass(slots=True)
class Sensor:
    """A sensor and its coin. A stuck sensor still reports a coin that was removed or that came since."""

    coin: bool = False
    broken: Break | None = None
    _held: bool = False

    @property
    def answers(self) -> int:
        """The number of sensors that answer at its position."""
        return {"missing": 0, "doubled": 2}.get(self.broken or "", 1)

    @property
    def sees(self) -> bool:
        """Whether it reports a coin."""
        return self.coin or self._held

    def put(self) -> None:
        """Put a coin on it."""
        self.coin = True
        self._held = self.broken == "stuck"

    def take(self) -> None:
        """Take the coin away."""
        self.coin = False

    def break_(self, how: Break) -> None:
        """Give it this fault, and no other."""
        self.broken = how
        self._held = how == "stuck" and self.coin

    def mend(self) -> None:
        """Repair it."""
        self.broken = None
        self._held = False


class Concentrator:
    """A concentrator switched on for the `boot`-th time; call `look` when the sensors have changed."""

    def __init__(self, serial: str, boot: int, sensors: Sequence[Sensor]) -> None:
        self.lights: frozenset[int] = frozenset()
        self.round = 0
        self.latched: frozenset[int] = frozenset()
        self.start = 0
        self.number = 0
        self.spots = [Spot() for _ in sensors]
        self._serial = serial
        self._boot = boot
        self._sensors = sensors
        self._decoder = Decoder[FromHost](_TYPES)
        self._token = 0
        self._taken = 0
        self._acknowledged = 0
        self._heard_at = -inf
        self._said_at = -inf
        self._said = 0
        self._answers: list[Callable[[], Here | Report]] = []
        self.look()

    def connected(self, now: float) -> bool:
        """Whether a host is connected."""
        return now - self._heard_at < SILENCE_SECONDS

    def lit(self, now: float) -> frozenset[int]:
        """The lit positions: none while no host is connected."""
        return self.lights if self.connected(now) else frozenset()

    def look(self) -> None:
        """Poll all sensors. A position keeps its state unless exactly one sensor answers."""
        for index, sensor in enumerate(self._sensors):
            spot = self.spots[index]
            if sensor.answers != spot.answers:
                self.number += 1
                spot = replace(spot, answers=sensor.answers)
            if spot.answers == 1 and sensor.sees != spot.holds:
                self.number += 1
                spot = replace(spot, came=self.number) if sensor.sees else replace(spot, went=self.number)
            self.spots[index] = spot

    def receive(self, data: bytes, now: float) -> None:
        """Take bytes from the host."""
        for frame in self._decoder.feed(data):
            self._heard_at = now
            self._token = frame.token
            if isinstance(frame, Ask) or frame.boot != self._boot:
                self._answers.append(self._here)
                continue
            if frame.number > self._taken:
                self._take(frame)
            self._answers.append(self._report)

    def _take(self, orders: Orders) -> None:
        self._taken = orders.number
        self._acknowledged = orders.acknowledged
        self.lights = orders.lights
        if orders.round in {KEEP, self.round}:
            return
        self.look()
        self.number += 1
        self.round = orders.round
        self.latched = frozenset()
        if self.round:
            self.latched = frozenset(
                position
                for position, spot in enumerate(self.spots, start=1)
                if spot.answers == 1 and spot.holds and spot.came > self.start
            )
            self.start = self.number

    def data_to_send(self, now: float) -> list[bytes]:
        """Return the frames for the line: answers, and the picture while the host does not know it."""
        frames = [answer() for answer in self._answers]
        self._answers.clear()
        unknown = self._token and self.number > self._acknowledged
        if unknown and (self.number > self._said or now - self._said_at >= REPEAT_SECONDS):
            frames.append(self._report())
        if any(isinstance(frame, Report) for frame in frames):
            self._said, self._said_at = self.number, now
        return [encode(frame) for frame in frames]

    def _here(self) -> Here:
        return Here(self._token, self._boot, self._taken, self._serial)

    def _report(self) -> Report:
        return Report(
            self.number,
            self._token,
            self._boot,
            self._taken,
            self.round,
            self.start,
            self.latched,
            tuple(self.spots),
        )
