"""A serial port for drivers: non-blocking and bounded, whatever line is behind it."""

import asyncio
import os
from typing import Final

from punto.drivers.address import is_network
from punto.drivers.cable import Cable
from punto.drivers.line import Line, PortLostError
from punto.drivers.network_line import connect

READ_BYTES: Final = 4096  # the most that a terminal's input queue holds
UNSENT_BYTES: Final = 4096  # the most that waits for a port that accepts nothing; the links repeat the rest


async def open_port(address: str, baud: int, device: str) -> "Port":
    """Open the port at a path, or at a `socket://` or `rfc2217://` address.

    `device` names the device at the other end in the reasons: "shoe".

    Raises:
        PortLostError: the port cannot be opened.
    """
    return Port(await connect(address, baud, device) if is_network(address) else Cable(address, baud, device))


class Port:
    """An open line with non-blocking reads and writes."""

    def __init__(self, line: Line) -> None:
        self._line = line
        self._fd = line.fileno()
        self._unsent = bytearray()
        self._writing = False  # the loop calls `_write_unsent` when the port accepts more
        self._loop = asyncio.get_running_loop()
        self._came = bytearray()
        self._lost = False
        self._waiting: asyncio.Future[None] | None = None
        self._listen()

    def close(self) -> None:
        """Close the port, also if it was removed."""
        self._loop.remove_reader(self._fd)
        self._loop.remove_writer(self._fd)
        self._line.close()

    def discard_output(self) -> None:
        """Discard unsent output."""
        self._unsent.clear()
        self._line.discard_output()

    async def read(self, seconds: float) -> bytes:
        """The bytes that have arrived, or the first that arrive within `seconds`; empty if there are none.

        Raises:
            PortLostError: the port was removed.
        """
        if not self._came and not self._lost:
            self._waiting = self._loop.create_future()
            timer = self._loop.call_later(seconds, self._wake)
            try:
                await self._waiting
            finally:
                timer.cancel()
                self._waiting = None
        came = bytes(self._came)
        self._came.clear()
        if self._lost and not came:
            raise PortLostError(self._line.gone())
        if not self._listening and not self._lost:
            self._listen()
        return came

    def _listen(self) -> None:
        self._loop.add_reader(self._fd, self._on_readable)
        self._listening = True

    def _on_readable(self) -> None:
        """Read from the port up to a bound: the rest waits in the port and makes the device wait."""
        try:
            data = os.read(self._fd, READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        self._came += self._line.decode(data)
        self._lost = not data  # a port that is ready and gives nothing was disconnected
        if self._lost or len(self._came) >= READ_BYTES:
            self._loop.remove_reader(self._fd)
            self._listening = False
        self._wake()

    def _wake(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    def write(self, data: bytes) -> None:
        """Write what the port accepts now, and the rest later; frames that do not fit are dropped whole.

        If the port was removed, the next read reports it.
        """
        data = self._line.encode(data)
        if len(self._unsent) + len(data) > UNSENT_BYTES:
            return
        self._unsent += data
        self._write_unsent()

    def _write_unsent(self) -> None:
        try:
            written = os.write(self._fd, self._unsent)
        except BlockingIOError:
            written = 0
        except OSError:
            written = len(self._unsent)
        del self._unsent[:written]
        if bool(self._unsent) is not self._writing:
            self._writing = not self._writing
            if self._writing:
                self._loop.add_writer(self._fd, self._write_unsent)
            else:
                self._loop.remove_writer(self._fd)

    def check_line(self) -> None:
        """Check that the port still leads to this device.

        Raises:
            PortLostError: it leads to another device, or does not exist.
        """
        if not self._line.is_same():
            raise PortLostError(self._line.gone())
