"""A serial port as every driver uses it: locked, never waiting, and lost with a reason that a technician can act on."""

import asyncio
import errno
import os
import termios
from contextlib import suppress
from pathlib import Path
from typing import Final

import serial

READ_BYTES: Final = 4096  # the most that a terminal's input queue holds
UNSENT_BYTES: Final = 4096  # what is kept for a port that takes nothing; the links have the rest said again
BY_ID = Path("/dev/serial/by-id")


class PortLostError(Exception):
    """The port cannot be used or went away; the text says what to do about it."""


class Port:
    """An open serial port, locked for this program, whose reads and writes never wait.

    `device` is what is at the other end, in the words of the reasons: "shoe".

    Raises:
        PortLostError: the port cannot be opened.
    """

    def __init__(self, path: str, baud: int, device: str) -> None:
        self.path = path
        self._device = device
        self._unsent = bytearray()
        self._loop = asyncio.get_running_loop()
        try:
            self._serial = serial.Serial(path, baud, timeout=0, exclusive=True)
        except (OSError, ValueError, termios.error) as error:
            raise PortLostError(why_not_open(path, baud, device, error)) from error
        self._fd = self._serial.fileno()
        self._came = bytearray()
        self._lost = False
        self._waiting: asyncio.Future[None] | None = None
        self._listen()

    def close(self) -> None:
        """Give the port back, even if it is gone already."""
        self._loop.remove_reader(self._fd)
        self._loop.remove_writer(self._fd)
        self._serial.close()

    def forget_output(self) -> None:
        """Throw away what is still to be sent: the system waits up to 30 s for it when a dead port is closed."""
        self._unsent.clear()
        with suppress(OSError, termios.error):
            self._serial.reset_output_buffer()

    async def read(self, seconds: float) -> bytes:
        """What has come by now, or comes within so many seconds; nothing if nothing does.

        Raises:
            PortLostError: the port is gone.
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
        """Take what the port has, up to a bound: what is beyond it waits in the port and holds the device back."""
        try:
            data = os.read(self._fd, READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        self._came += data
        self._lost = not data  # a port that says it is ready and then gives nothing has been hung up
        if self._lost or len(self._came) >= READ_BYTES:
            self._loop.remove_reader(self._fd)
            self._listening = False
        self._wake()

    def _wake(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    def write(self, data: bytes) -> None:
        """Write now what the port takes and the rest when it can; frames for which there is no room are dropped whole.

        A port that is gone is noticed by the next read.
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
        if self._unsent:
            self._loop.add_writer(self._fd, self._write_unsent)
        else:
            self._loop.remove_writer(self._fd)

    def check_path(self) -> None:
        """Notice that the path leads to another device by now, as when an adapter came back under a new number.

        Raises:
            PortLostError: it does, or to none.
        """
        try:
            now = Path(self.path).stat().st_rdev
        except OSError as error:
            raise PortLostError(self._gone()) from error
        if now != os.fstat(self._fd).st_rdev:
            raise PortLostError(self._gone())

    def _gone(self) -> str:
        return f"the port {self.path} went away: check the {self._device}'s cable"


def why_not_open(path: str, baud: int, device: str, error: Exception) -> str:
    """Say why a port could not be opened, and what to do."""
    code = error.errno if isinstance(error, OSError) else None
    if code in {errno.ENOENT, errno.ENOTDIR}:
        return f"there is no port {path}: check the {device}'s cable and the path; {_ports_here()}"
    if code in {errno.EACCES, errno.EPERM}:
        return f"no permission for {path}: add the user of this service to the group {_group(path)}, or install the udev rule"
    if code in {errno.EAGAIN, errno.EBUSY}:
        return f"another program holds {path}: stop it (`fuser -v {path}` names it)"
    if code in {errno.ENXIO, errno.ENODEV, errno.EIO}:
        return f"the port {path} does not answer: pull the {device}'s cable and put it in again"
    if not _is_terminal(path):
        return f"{path} is not a serial port: name one, best by its path in {BY_ID}; {_ports_here()}"
    return f"cannot open {path} at {baud} baud: {error}"


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


def _ports_here() -> str:
    try:
        names = sorted(port.name for port in BY_ID.iterdir())
    except OSError:
        names = []
    return f"in {BY_ID} there is {', '.join(names) or 'nothing'}"
