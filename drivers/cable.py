"""A serial line at this PC: locked for this program, and lost with a reason that tells a technician what to do."""

import errno
import fcntl
import os
import termios
from contextlib import suppress
from pathlib import Path
from typing import Final

import serial

from punto.drivers.line import Line, PortLostError
from punto.drivers.retried import listing

PSEUDO_TERMINALS: Final = range(136, 144)  # the major numbers of their other ends
BY_ID = Path("/dev/serial/by-id")


class Cable(Line):
    """The open serial line at a path, locked for this program.

    Raises:
        PortLostError: it cannot be opened.
    """

    def __init__(self, path: str, baud: int, device: str) -> None:
        self._path = path
        self._device = device
        try:
            self._serial = serial.Serial(path, baud, timeout=0, exclusive=True)
        except (OSError, ValueError, termios.error) as error:
            raise PortLostError(why_not_open(path, baud, device, error)) from error
        self._fd = self._serial.fileno()
        if not _is_pseudo_terminal(
            self._fd
        ):  # a simulator keeps its own end open, and with it the lock of a killed service
            fcntl.ioctl(self._fd, termios.TIOCEXCL)  # what `exclusive` asks for stops only who asks too

    def fileno(self) -> int:
        """The open descriptor."""
        return self._fd

    def close(self) -> None:
        """Close the line, also if it was removed."""
        self._serial.close()

    def discard_output(self) -> None:
        """Discard unsent output: the system waits up to 30 s for it when a dead port is closed."""
        with suppress(OSError, termios.error):
            self._serial.reset_output_buffer()

    def is_same(self) -> bool:
        """Whether the path still leads to this line: an adapter can come back under a new number."""
        try:
            return Path(self._path).stat().st_rdev == os.fstat(self._fd).st_rdev
        except OSError:
            return False

    def gone(self) -> str:
        """The reason to give when the line has ended."""
        return f"the port {self._path} was disconnected: check the {self._device}'s cable"


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
