"""A clock that jumps to whatever is next, and a serial line and its port on it that lose and delay what a test says."""

import asyncio
from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count
from random import Random
from typing import Any

from punto.drivers.line import PortLostError

SENDING_SECONDS = 0.001  # what a frame takes on the line


class VirtualTime(asyncio.SelectorEventLoop):
    """A loop that never waits: its time is that of the next thing to do. Two timers of one moment are in order."""

    def __init__(self) -> None:
        self.now = 1000.0
        self._timers: list[tuple[float, int, asyncio.TimerHandle]] = []
        self._numbers = count()
        super().__init__()

    def time(self) -> float:
        return self.now

    def call_at(  # type: ignore[override]
        self, when: float, callback: Any, *args: Any, context: Any = None
    ) -> asyncio.TimerHandle:
        timer = asyncio.TimerHandle(when, callback, args, self, context)
        heappush(self._timers, (when, next(self._numbers), timer))
        return timer

    def _run_once(self) -> None:
        """One turn of asyncio's loop without its selector, which nothing here waits for: that took a fifth of a test's time."""
        loop: Any = self
        ready, timers = loop._ready, self._timers
        while timers and timers[0][2].cancelled():
            heappop(timers)
        if not ready:
            if not timers:
                raise RuntimeError("nothing is left that could ever happen")
            self.now = max(self.now, timers[0][0])
        while timers and timers[0][0] <= self.now:
            ready.append(heappop(timers)[2])
        for _ in range(len(ready)):
            handle = ready.popleft()
            if not handle.cancelled():
                handle._run()


class Line:
    """One direction of a line: a frame is lost by this chance, or late by up to so many seconds, and none passes another.

    By the chances `flip` and `double`, it is damaged or comes twice.
    """

    def __init__(self, chance: Random, hear: Callable[[bytes], None]) -> None:
        self.loss = 0.0
        self.flip = 0.0
        self.double = 0.0
        self.delay = 0.0
        self._chance = chance
        self._hear = hear
        self._arrives = 0.0

    def carry(self, frame: bytes) -> None:
        if not frame or self._chance.random() < self.loss:
            return
        if self.flip and self._chance.random() < self.flip:
            frame = self._damaged(frame)
        loop = asyncio.get_running_loop()
        for _ in range(2 if self.double and self._chance.random() < self.double else 1):
            late = self._chance.random() * self.delay
            self._arrives = max(self._arrives, loop.time() + late) + SENDING_SECONDS
            loop.call_at(self._arrives, self._hear, frame)

    def _damaged(self, frame: bytes) -> bytes:
        """The frame with a flipped bit, without some bytes, or with some too many."""
        chance, at = self._chance, self._chance.randrange(len(frame))
        end = min(len(frame), at + chance.randint(1, 8))
        flipped = bytes((frame[at] ^ 1 << chance.randrange(8),))
        return frame[:at] + chance.choice(
            (flipped + frame[at + 1 :], frame[end:], chance.randbytes(4) + frame[at:])
        )


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


class HeardPort:
    """What a `punto.drivers.serial_port.Port` reads: bytes that the far end says, until it hangs up."""

    def __init__(self) -> None:
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


class VirtualPort(HeardPort):
    """`punto.drivers.serial_port.Port` at that cable."""

    def __init__(self, cable: Cable) -> None:
        super().__init__()
        self._cable = cable

    def write(self, data: bytes) -> None:
        self._cable.to_device.carry(data)

    def close(self) -> None:
        """Nothing is behind it that would have to be given back."""

    discard_output = check_line = close
