"""What the small devices on serial lines have in common: a port around a pure link, served until the device is lost."""

import asyncio
import random
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import asdict
from typing import Final, Protocol

from punto.drivers.frame import HIGHEST
from punto.drivers.framing import Counters
from punto.drivers.retried import AnyUser, DeviceLostError, Retried
from punto.drivers.serial_port import READ_BYTES, Port, PortLostError

TICK_SECONDS: Final = 0.1  # how often silence is looked for; with the link's 0.8 s a loss is seen within 1 s
REOPEN_SECONDS = 10.0  # a silent port is opened anew, in case the adapter hangs


class Introduced(Protocol):
    """What a device said of itself."""

    @property
    def serial(self) -> str:
        """What it calls itself."""


class SmallLink(Protocol):
    """What the device's pure link is to every one of these drivers; the rest is its own driver's."""

    @property
    def here(self) -> Introduced | None:
        """What the device said of itself, None while it is not heard."""

    @property
    def counters(self) -> Counters:
        """What was counted since the link was made: a dataclass."""

    def connect(self, now: float, token: int) -> None:
        """Begin a connection."""

    def silence(self, now: float) -> str | None:
        """Notice silence, and say why; call after all that is readable has been received."""

    def silent_seconds(self, now: float) -> float:
        """How long the device has not been heard, once it has been called lost; else 0."""


class SerialDevice(Retried[AnyUser]):
    """A device at a serial port, named as in the log ("keypad"), and its link.

    `path` is best one of /dev/serial/by-id, which stays the same wherever the cable is plugged in.
    """

    def __init__(self, path: str, baud: int, device: str, link: SmallLink) -> None:
        super().__init__(path, device)
        self._baud = baud
        self._small_link = link
        self._connections = 0

    @abstractmethod
    def _to_say(self, now: float, user: AnyUser) -> bytes:
        """What is due for the line."""

    @abstractmethod
    async def _take(self, data: bytes, now: float, port: Port, user: AnyUser) -> None:
        """Take what came, and have `user` do what it says. Nothing is read meanwhile."""

    def _serial(self) -> str | None:
        here = self._small_link.here
        return None if here is None else here.serial

    def _counters(self) -> Mapping[str, int]:
        return {**asdict(self._small_link.counters), "connections": self._connections}

    async def _connection(self, user: AnyUser) -> None:
        try:
            port = Port(self.path, self._baud, self._device)
        except PortLostError as lost:
            raise DeviceLostError(str(lost)) from lost
        self._connections += 1
        try:
            await self._serve(port, user)
        except PortLostError as lost:
            port.forget_output()
            raise DeviceLostError(str(lost)) from lost
        finally:
            port.close()

    async def _serve(self, port: Port, user: AnyUser) -> None:
        """Say, read, take, until the port is lost."""
        clock = asyncio.get_running_loop().time
        link = self._small_link
        link.connect(clock(), random.randint(1, HIGHEST))
        while True:
            port.write(self._to_say(clock(), user))
            data = await port.read(TICK_SECONDS)
            now = clock()
            await self._take(data, now, port, user)
            # Silence is judged only when all that came has been read.
            silence = link.silence(now) if len(data) < READ_BYTES else None
            if silence is not None:
                self._lost(silence, user)
            elif link.here is not None:
                self._connected(user)
            if link.silent_seconds(now):
                port.check_path()
            if link.silent_seconds(now) > REOPEN_SECONDS:
                port.forget_output()
                return
