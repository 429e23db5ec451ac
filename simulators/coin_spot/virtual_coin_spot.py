"""The running virtual wager sensors: the sensors, their coins, and their concentrator on a pseudo-terminal."""

import random
from pathlib import Path
from typing import Final

from punto.drivers.coin_spot.frames import POSITIONS
from punto.simulators.coin_spot.device import Break, Concentrator, Sensor
from punto.simulators.line import Faults, VirtualDevice

AT_A_TABLE: Final = 7
"""Default number of sensors in a chain."""


class VirtualCoinSpot(VirtualDevice[Concentrator]):
    """A chain of sensors with their concentrator, from power-on until `run` is cancelled.

    Raises:
        ValueError: the number of positions is invalid.
    """

    def __init__(
        self,
        link: Path | None = None,
        serial: str = "VC-000001",
        faults: Faults | None = None,
        seed: str = "1",
        *,
        device_key: bytes | None = None,
        positions: int = AT_A_TABLE,
    ) -> None:
        super().__init__(link, faults, random.Random(f"coin spot {seed}"), device_key)
        if not 1 <= positions <= POSITIONS:
            raise ValueError(f"a chain has 1 to {POSITIONS} positions, not {positions}")
        self._serial = serial
        self._boot = 0
        self.sensors = tuple(Sensor() for _ in range(positions))
        self.lose_power()

    @property
    def lit(self) -> frozenset[int]:
        """The lit positions."""
        return self.device.lit(self._now())

    def _power_on(self) -> None:
        """Switch the concentrator off and on. The coins on the sensors stay there."""
        self._boot += 1
        self.device = Concentrator(self._serial, self._boot, self.sensors)
        self._changed.set()

    def put(self, position: int) -> None:
        """Put a coin on a sensor; raises ValueError if the chain has no such position."""
        self._sensor(position).put()
        self._look()

    def take(self, position: int) -> None:
        """Take a coin from a sensor; raises ValueError if the chain has no such position."""
        self._sensor(position).take()
        self._look()

    def break_(self, position: int, how: Break) -> None:
        """Break a sensor; raises ValueError if the chain has no such position."""
        self._sensor(position).break_(how)
        self._look()

    def mend(self, position: int) -> None:
        """Repair a sensor; raises ValueError if the chain has no such position."""
        self._sensor(position).mend()
        self._look()

    def _sensor(self, position: int) -> Sensor:
        if not 1 <= position <= len(self.sensors):
            raise ValueError(f"there is no position {position}: write 1 to {len(self.sensors)}")
        return self.sensors[position - 1]

    def _look(self) -> None:
        self.device.look()
        self._changed.set()
