"""A clock that jumps to whatever is next, and a serial line and its port on it that lose and delay what a test says."""

import asyncio
import selectors
from collections.abc import Callable
from random import Random

from punto.drivers.serial_port import PortLostError

SENDING_SECONDS = 0.001  # what a frame takes on the line


class VirtualTime(asyncio.SelectorEventLoop):
    """A loop that never waits: its time is that of the next thing to do."""

    def __init__(self) -> None:
        self.now = 1000.0
        super().__init__(_NeverWaits(self))

    def time(self) -> float:
        return self.now


class _NeverWaits(selectors.SelectSelector):
    def __init__(self, clock: VirtualTime) -> None:
        super().__init__()
        self._clock = clock

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise RuntimeError("nothing is left that could ever happen")
        self._clock.now += max(timeout, 0.0)
        return super().select(0)


class Line:
    """One direction of a line: a frame is lost by this chance, or late by up to so many seconds, and none passes another."""

    def __init__(self, chance: Random, hear: Callable[[bytes], None]) -> None:
        self.loss = 0.0
        self.delay = 0.0
        self._chance = chance
        self._hear = hear
        self._arrives = 0.0

    def carry(self, frame: bytes) -> None:
        if not frame or self._chance.random() < self.loss:
            return
        loop = asyncio.get_running_loop()
        late = self._chance.random() * self.delay
        self._arrives = max(self._arrives, loop.time() + late) + SENDING_SECONDS
        loop.call_at(self._arrives, self._hear, frame)


class Cable:
    """Between a port and a device, in or out; what is under way when it is pulled is lost."""

    def __init__(self, chance: Random, device_hears: Callable[[bytes], None]) -> None:
        self.to_device = Line(chance, self._at_device)
        self.to_host = Line(chance, self._at_host)
        self._device_hears = device_hears
        self._plugged = True
        self._port: VirtualPort | None = None

    @property
    def plugged(self) -> bool:
        return self._plugged

    def plug(self) -> None:
        self._plugged = True

    def pull(self) -> None:
        self._plugged = False
        if self._port is not None:
            self._port.hang_up()
            self._port = None

    def open(self) -> "VirtualPort":
        if not self._plugged:
            raise PortLostError("the port is not there")
        self._port = VirtualPort(self)
        return self._port

    def _at_device(self, frame: bytes) -> None:
        if self._plugged:
            self._device_hears(frame)

    def _at_host(self, frame: bytes) -> None:
        if self._port is not None:
            self._port.hear(frame)


class VirtualPort:
    """`punto.drivers.serial_port.Port` at that cable."""

    def __init__(self, cable: Cable) -> None:
        self._cable = cable
        self._came = b""
        self._lost = False
        self._news = asyncio.Event()

    def hear(self, data: bytes) -> None:
        self._came += data
        self._news.set()

    def hang_up(self) -> None:
        self._lost = True
        self._news.set()

    async def read(self, seconds: float) -> bytes:
        timer = asyncio.get_running_loop().call_later(seconds, self._news.set)
        await self._news.wait()
        timer.cancel()
        self._news.clear()
        if self._lost:
            raise PortLostError("the port is gone")
        came, self._came = self._came, b""
        return came

    def write(self, data: bytes) -> None:
        self._cable.to_device.carry(data)

    def close(self) -> None:
        """Nothing is behind it that would have to be given back."""

    discard_output = check_path = close
