"""A Linux input device, as the drivers of keypads and of card readers use it: this program's alone, and lost with a reason.

What it types reaches nothing else on the machine: the device is grabbed. `device` is what it is in the words of the
reasons: "keypad".
"""

import asyncio
import errno
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from struct import Struct
from typing import Final, Protocol

import evdev
from evdev import ecodes

from punto.drivers.retried import DeviceLostError

BY_ID = Path("/dev/input/by-id")
EVENT: Final = Struct("@llHHi")
"""`struct input_event` of <linux/input.h>: seconds, microseconds, type, code, value."""
READ_EVENTS: Final = 64
RELEASED: Final = 0
PRESSED: Final = 1  # the value of a key event; 2 is a key that repeats because it is held


def key_names() -> dict[int, str]:
    """Code -> name of every key that Linux knows, without the `KEY_`; of several names the first."""
    return {
        code: (names if isinstance(names, str) else names[0]).removeprefix("KEY_")
        for code, names in ecodes.KEY.items()
    }


class PressReader:
    """Finds the presses in what an input device gives; `names` is code -> name.

    A key that is held counts once. When the kernel's buffer ran over, what came up to the next report is not trusted.
    """

    def __init__(self, names: Mapping[int, str]) -> None:
        self.presses = 0
        self.overruns = 0
        self.down: set[str] = set()  # the keys that are down as of the last event
        self._names = names
        self._dropping = False

    def feed(self, data: bytes) -> Iterator[tuple[str, float]]:
        """Take whole event structures, as a read of the device gives them; give each key pressed, and when.

        The time is the kernel's, in seconds of `time.time`.

        Raises:
            ValueError: it is no whole number of them.
        """
        if len(data) % EVENT.size:
            raise ValueError(f"{len(data)} bytes are no whole number of events of {EVENT.size}")
        for seconds, microseconds, type_, code, value in EVENT.iter_unpack(data):
            if (type_, code) == (ecodes.EV_SYN, ecodes.SYN_DROPPED):
                self.overruns += 1
                self._dropping = True
                self.down.clear()
            elif (type_, code) == (ecodes.EV_SYN, ecodes.SYN_REPORT):
                self._dropping = False
            elif type_ == ecodes.EV_KEY and not self._dropping:
                name = self._names.get(code, f"CODE_{code}")
                if value == PRESSED:
                    self.presses += 1
                    self.down.add(name)
                    yield name, seconds + microseconds / 1e6
                elif value == RELEASED:
                    self.down.discard(name)


class Device(Protocol):
    """What is needed of an `evdev.InputDevice`."""

    fd: int
    name: str

    def grab(self) -> None:
        """Take it away from everybody else."""

    def set_led(self, led_num: int, value: int) -> None:
        """Turn a light on or off."""

    def close(self) -> None:
        """Give it back."""


def open_device(path: str) -> Device:
    """Open and grab an input device.

    Raises:
        OSError: that cannot be done.
    """
    device = evdev.InputDevice(path)
    try:
        device.grab()
    except OSError:
        device.close()
        raise
    return device


async def readable(fd: int, seconds: float) -> None:
    """Wait until there is something to read, for at most so many seconds."""
    loop = asyncio.get_running_loop()
    there = asyncio.Event()
    loop.add_reader(fd, there.set)
    try:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await there.wait()
    finally:
        loop.remove_reader(fd)


def read(fd: int, path: str, device: str) -> bytes:
    """Give the event structures that there are, none if nothing is.

    Raises:
        DeviceLostError: the device is gone.
    """
    try:
        return os.read(fd, EVENT.size * READ_EVENTS)
    except BlockingIOError:
        return b""
    except OSError as error:
        raise DeviceLostError(f"the {device} {path} went away: check its cable") from error


def why_not_open(path: str, device: str, error: OSError) -> str:
    """Say why an input device could not be opened, and what to do."""
    match error.errno:
        case errno.ENOENT | errno.ENOTDIR:
            return (
                f"there is no input device {path}: check the {device}'s cable and the path; {_devices_here()}"
            )
        case errno.EACCES | errno.EPERM:
            return f"no permission for {path}: add the user of this service to the group input, or install the udev rule"
        case errno.EBUSY:
            return f"another program has grabbed {path}: stop it (`fuser -v {path}` names it)"
        case errno.ENOTTY | errno.EINVAL:
            return f"{path} is no input device: name one, best by its path in {BY_ID}; {_devices_here()}"
        case _:
            return f"cannot open {path}: {error.strerror or error}"


def _devices_here() -> str:
    try:
        names = sorted(device.name for device in BY_ID.iterdir())
    except OSError:
        names = []
    return f"in {BY_ID} there is {', '.join(names) or 'nothing'}"
