"""The driver of a device on a serial line: a port around a pure link, served until the device is lost."""

import asyncio
import random
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

from punto.drivers.frame import HIGHEST
from punto.drivers.line import PortLostError
from punto.drivers.link import Link
from punto.drivers.retried import AnyUser, DeviceLostError, Retried
from punto.drivers.serial_port import READ_BYTES, Port, open_port

TICK_SECONDS: Final = (
    0.1  # between two checks for silence; with the link's 0.8 s a loss is detected within 1 s
)
REOPEN_SECONDS = (
    10.0  # after which a silent port is opened again, in case the adapter hangs, and one that babbles
)

_BABBLES: Final = "sends more than such a device can: check which device is at the end of the cable"


class SerialDevice(Retried[AnyUser]):
    """The driver of a device at a serial port, with its link.

    Use a `path` in /dev/serial/by-id: it stays the same wherever the cable is plugged in.
    """

    def __init__(self, path: str, baud: int, link: Link[Any]) -> None:
        super().__init__(path, link.device)
        self._baud = baud
        self._serial_link = link
        self._connections = 0
        self._served: tuple[Port, AnyUser] | None = None
        self._reads = True

    @abstractmethod
    def _output(self, now: float, user: AnyUser) -> bytes:
        """The bytes to send now."""

    @abstractmethod
    async def _take(self, data: bytes, now: float, user: AnyUser) -> None:
        """Decode what arrived, and give it to `user`. Nothing is read meanwhile."""

    def send(self) -> None:
        """Send what is due now. Call it when something other than the device's data changed that."""
        if self._served is not None:
            port, user = self._served
            now = asyncio.get_running_loop().time()
            own = self._output(now, user) if self._serial_link.ready else b""
            port.write(own + (self._serial_link.handshake(now) if self._reads else b""))

    def _serial(self) -> str | None:
        here = self._serial_link.here
        return None if here is None else here.serial

    def _unproven(self) -> bool:
        return self._serial_link.unproven

    def _counters(self) -> Mapping[str, int]:
        return {**asdict(self._serial_link.counters), "connections": self._connections}

    async def _connection(self, user: AnyUser) -> None:
        try:
            port = await open_port(self.path, self._baud, self._device)
        except PortLostError as lost:
            raise DeviceLostError(str(lost)) from lost
        self._connections += 1
        self._served = port, user
        try:
            await self._serve(port, user)
        except PortLostError as lost:
            port.discard_output()
            raise DeviceLostError(str(lost)) from lost
        finally:
            self._served = None
            port.close()

    async def _serve(self, port: Port, user: AnyUser) -> None:
        """Send, read and decode until the port is lost."""
        clock = asyncio.get_running_loop().time
        link = self._serial_link
        link.connect(clock(), random.randint(1, HIGHEST))
        while True:
            self.send()
            data = await port.read(TICK_SECONDS)
            now = clock()
            self._reads = False
            try:
                await self._take(data, now, user)
            finally:
                self._reads = True
            # Check for silence only when everything that arrived has been read.
            silence = link.silence(now) if len(data) < READ_BYTES else None
            if silence is not None:
                await self._lost(silence, user)
            elif link.here is not None:
                self._connected(user)
            if link.babbles(now):
                await self._lost(f"the {self._device} {_BABBLES}", user)
                await asyncio.sleep(REOPEN_SECONDS)
                return
            if link.silent_seconds(now):
                port.check_line()
            if link.silent_seconds(now) > REOPEN_SECONDS:
                port.discard_output()
                return
