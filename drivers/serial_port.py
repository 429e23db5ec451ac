"""A serial port for drivers: locked, non-blocking, and lost with a reason that tells a technician what to do."""

import asyncio
import errno
import fcntl
import os
import termios
from contextlib import suppress
from pathlib import Path
from typing import Final

import serial

from punto.drivers.retried import listing

READ_BYTES: Final = 4096  # the most that a terminal's input queue holds
UNSENT_BYTES: Final = 4096  # the most that waits for a port that accepts nothing; the links repeat the rest
PSEUDO_TERMINALS: Final = range(136, 144)  # the major numbers of their other ends
BY_ID = Path("/dev/serial/by-id")


class PortLostError(Exception):
    """The port cannot be used or was removed; the text says what to do."""


class Port:
    """An open serial port, locked for this program, with non-blocking reads and writes.

    `device` names the device at the other end in the reasons: "shoe".

    Raises:
        PortLostError: the port cannot be opened.
    """

    def __init__(self, path: str, baud: int, device: str) -> None:
        self.path = path
        self._device = device
        self._unsent = bytearray()
        self._writing = False  # the loop calls `_write_unsent` when the port accepts more
        self._loop = asyncio.get_running_loop()
        try:
            self._serial = serial.Serial(path, baud, timeout=0, exclusive=True)
        except (OSError, ValueError, termios.error) as error:
            raise PortLostError(why_not_open(path, baud, device, error)) from error
        self._fd = self._serial.fileno()
        if not _is_pseudo_terminal(
            self._fd
        ):  # a simulator keeps its own end open, and with it the lock of a killed service
            fcntl.ioctl(self._fd, termios.TIOCEXCL)  # what `exclusive` asks for stops only who asks too
        self._came = bytearray()
        self._lost = False
        self._waiting: asyncio.Future[None] | None = None
        self._listen()

    def close(self) -> None:
        """Close the port, also if it was removed."""
        self._loop.remove_reader(self._fd)
        self._loop.remove_writer(self._fd)
        self._serial.close()

    def discard_output(self) -> None:
        """Discard unsent output: the system waits up to 30 s for it when a dead port is closed."""
        self._unsent.clear()
        with suppress(OSError, termios.error):
            self._serial.reset_output_buffer()

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
            raise PortLostError(self._gone())
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
        self._came += data
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

    def check_path(self) -> None:
        """Check that the path still leads to this device: an adapter can come back under a new number.

        Raises:
            PortLostError: the path leads to another device, or does not exist.
        """
        try:
            now = Path(self.path).stat().st_rdev
        except OSError as error:
            raise PortLostError(self._gone()) from error
        if now != os.fstat(self._fd).st_rdev:
            raise PortLostError(self._gone())

    def _gone(self) -> str:
        return f"the port {self.path} was disconnected: check the {self._device}'s cable"


def why_not_open(path: str, baud: int, device: str, error: Exception) -> str:
    """Explain why a port could not be opened, and what to do."""
    code = error.errno if isinstance(error, OSError) else None
    if code in {errno.ENOENT, errno.ENOTDIR}:
        return f"there is no port {path}: check the {device}'s cable and the path; {listing(BY_ID)}"
    if code in {errno.EACCES, errno.EPERM}:
        return f"no permission for {path}: give the device to the group of this table by a line in 60-punto.rules (docs/how-to/add-a-device.md); its group is {_group(path)}"
    if code in {errno.EAGAIN, errno.EBUSY}:
        return f"another program uses {path}: stop that program (`fuser -v {path}` names it)"
    if code in {errno.ENXIO, errno.ENODEV, errno.EIO}:
        return f"the port {path} does not answer: unplug the {device}'s cable and plug it in again"
    if not _is_terminal(path):
        return f"{path} is not a serial port: name a serial port, preferably by its path in {BY_ID}; {listing(BY_ID)}"
    return f"cannot open {path} at {baud} baud: {error}"


def _is_pseudo_terminal(fd: int) -> bool:
    return os.major(os.fstat(fd).st_rdev) in PSEUDO_TERMINALS


def _is_terminal(path: str) -> bool:
    try:
        found = os.open(path, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        return os.isatty(found)
    finally:
        os.close(found)


def _group(path: str) -> str:
    try:
        return Path(path).group()
    except (OSError, KeyError):
        return "that owns it"
