"""The serial line between the shoe and the service's own driver: bytes are lost, flipped, cut off and doubled on it."""

import asyncio
from random import Random
from typing import Final

from punto.drivers.ishoe.frames import HEARTBEAT_SECONDS
from punto.drivers.line import PortLostError
from tests.simulated.disk import PROCESS, Process
from tests.simulated.shoe import Shoe
from tests.simulated.virtual_time import Cable, VirtualPort

PATH: Final = "/dev/simulated"
NOISE: Final = 0.25
"""The chance of each of these faults for each frame, while the line is noisy."""


class Wire(Cable):
    """The shoe at its cable."""

    def __init__(self, loop: asyncio.AbstractEventLoop, shoe: Shoe, chance: Random) -> None:
        super().__init__(chance, self._hear)
        self._loop = loop
        self._shoe = shoe
        for each in (self.to_device, self.to_host):
            each.delay = 0.01
        shoe.listeners.append(self._changed)
        loop.call_later(HEARTBEAT_SECONDS, self._beat)

    def noise(self, share: float) -> None:
        """Set how noisy the line is."""
        for each in (self.to_device, self.to_host):
            each.loss = each.flip = each.double = share

    def open(self) -> VirtualPort:
        if not self.plugged:
            raise PortLostError("the port is not there")
        self._port = _Port(self, PROCESS.get())
        return self._port

    def _hear(self, data: bytes) -> None:
        if self._shoe.power:
            self._shoe.device.receive(data)
            self._send()

    def _changed(self) -> None:
        if self.plugged and not self._shoe.cable:
            self.pull()
        elif not self.plugged and self._shoe.cable:
            self.plug()
        self._send()

    def _beat(self) -> None:
        self._loop.call_later(HEARTBEAT_SECONDS, self._beat)
        if self.plugged and self._shoe.power:
            self._shoe.device.heartbeat()
            self._send()

    def _send(self) -> None:
        if self._shoe.power:
            for frame in self._shoe.device.take_frames():
                if self.plugged:
                    self.to_host.carry(frame)


class _Port(VirtualPort):
    """The port of one process of the service."""

    def __init__(self, cable: Cable, process: Process) -> None:
        super().__init__(cable)
        self._process = process

    def write(self, data: bytes) -> None:
        if not self._process.dead:
            super().write(data)
