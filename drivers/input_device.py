"""The driver of a Linux input device, for keypads and card readers.

The device is grabbed: no other program on the machine receives what it types.
"""

import asyncio
import errno
import os
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from struct import Struct
from typing import Final, NoReturn, Protocol

import evdev
from evdev import ecodes

from punto.drivers.frame import SERIAL, SERIAL_BYTES
from punto.drivers.retried import AnyUser, DeviceLostError, Retried, listing

BY_ID = Path("/dev/input/by-id")
EVENT: Final = Struct("@llHHi")
"""`struct input_event` of <linux/input.h>: seconds, microseconds, type, code, value."""
READ_EVENTS: Final = 64
RELEASED: Final = 0  # the value of a key event
PRESSED: Final = 1  # 2 is a key that repeats because it is held
TICK_SECONDS: Final = 0.25
_NOT_PRINTABLE: Final = f"has a name or serial number that is not 1 to {SERIAL_BYTES} printable ASCII characters: use another device"


def key_names() -> dict[int, str]:
    """Code -> name of every key that Linux knows, without the `KEY_`; the first name if there are several."""
    return {
        code: (names if isinstance(names, str) else names[0]).removeprefix("KEY_")
        for code, names in ecodes.KEY.items()
    }


class PressReader:
    """Finds the presses of keys in an input device's events; `names` is code -> name.

    A key that is held counts once. If the kernel's buffer overflowed, the events up to the next report are discarded.
    """

    def __init__(self, names: Mapping[int, str]) -> None:
        self.presses = 0
        self.overruns = 0
        self.down: set[str] = set()  # the keys that are down as of the last event
        self._names = names
        self._dropping = False

    def feed(self, data: bytes) -> Iterator[tuple[str, float]]:
        """Read whole event structures, as a read of the device returns them; yield each pressed key and its time.

        The time is the kernel's, in seconds of `time.time`.

        Raises:
            ValueError: the length is not a multiple of a structure's.
        """
        if len(data) % EVENT.size:
            raise ValueError(f"{len(data)} bytes are not a whole number of events of {EVENT.size} bytes")
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


class DeviceNumbers(Protocol):
    """The part of an `evdev.DeviceInfo` that the drivers use."""

    @property
    def vendor(self) -> int:
        """The maker's number, of 16 bits."""

    @property
    def product(self) -> int:
        """The model's number, of 16 bits."""


class Device(Protocol):
    """The part of an `evdev.InputDevice` that the drivers use."""

    fd: int
    uniq: str

    @property
    def info(self) -> "DeviceNumbers":
        """The numbers of its maker and its model."""

    def grab(self) -> None:
        """Take the device for this program alone."""

    def set_led(self, led_num: int, value: int) -> None:
        """Turn a light on or off."""

    def close(self) -> None:
        """Close the device and release it."""


def open_device(path: str) -> Device:
    """Open and grab an input device.

    Raises:
        OSError: the device cannot be opened or grabbed.
    """
    device = evdev.InputDevice(path)
    try:
        device.grab()
    except OSError:
        device.close()
        raise
    return device


async def readable(fd: int, seconds: float) -> None:
    """Wait until there is something to read, for at most `seconds`."""
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
    """Read the event structures that have arrived; empty if there are none.

    Raises:
        DeviceLostError: the device was removed.
    """
    try:
        return os.read(fd, EVENT.size * READ_EVENTS)
    except BlockingIOError:
        return b""
    except OSError as error:
        raise DeviceLostError(f"the {device} {path} was disconnected: check its cable") from error


class InputDevice(Retried[AnyUser]):
    """The driver of an input device; `device` is its name in the log ("keypad").

    Use a `path` in /dev/input/by-id: it stays the same wherever the device is plugged in. With `by_model`, a device without
    a serial number of its own is served too: any device of its model then passes as it.
    """

    def __init__(self, path: str, device: str, *, by_model: bool) -> None:
        super().__init__(path, device)
        self._connections = 0
        self._by_model = by_model
        self._number: str | None = None

    @abstractmethod
    async def _serve(self, device: Device, user: AnyUser) -> NoReturn:
        """Read and report until DeviceLostError. Nothing is read while the user handles a report."""

    def _serial(self) -> str | None:
        return self._number

    async def _connection(self, user: AnyUser) -> None:
        try:
            device = open_device(self.path)
        except OSError as error:
            raise DeviceLostError(why_not_open(self.path, self._device, error)) from error
        except UnicodeDecodeError as error:  # of its name or its serial number, in evdev
            raise DeviceLostError(f"the {self._device} {self.path} {_NOT_PRINTABLE}") from error
        self._connections += 1
        try:
            self._number = self._number_of(device)
            self._connected(user)
            await self._serve(device, user)
        finally:
            device.close()

    def _number_of(self, device: Device) -> str:
        """The numbers of maker and model, and its own serial number.

        Raises:
            DeviceLostError: it has no serial number and needs one, or its serial number is not one for the record.
        """
        model = f"{device.info.vendor:04x}:{device.info.product:04x}"
        if not device.uniq and self._by_model:
            return model
        if not device.uniq:
            section = self._device.replace(" ", "_")
            raise DeviceLostError(
                f"the {self._device} {self.path} has no serial number, so another device of its model could replace it unnoticed. "
                f"Use a device with a serial number. Or write link_version = 1 in [{section}] if the house allows this device"
            )
        try:
            SERIAL.check("serial", device.uniq)
        except ValueError as error:
            raise DeviceLostError(f"the {self._device} {self.path} {_NOT_PRINTABLE}") from error
        return f"{model}:{device.uniq}"

    async def _read(self, device: Device) -> bytes:
        """The event structures that arrive within a tick; empty if there are none."""
        await readable(device.fd, TICK_SECONDS)
        return read(device.fd, self.path, self._device)


def why_not_open(path: str, device: str, error: OSError) -> str:
    """Explain why an input device could not be opened, and what to do."""
    match error.errno:
        case errno.ENOENT | errno.ENOTDIR:
            return (
                f"there is no input device {path}: check the {device}'s cable and the path; {listing(BY_ID)}"
            )
        case errno.EACCES | errno.EPERM:
            return f"no permission for {path}: give the device to the group of this table by a line in 60-punto.rules (docs/how-to/add-a-device.md)"
        case errno.EBUSY:
            return f"another program has grabbed {path}: stop that program (`fuser -v {path}` names it)"
        case errno.ENOTTY | errno.EINVAL:
            return f"{path} is not an input device: name an input device, preferably by its path in {BY_ID}; {listing(BY_ID)}"
        case _:
            return f"cannot open {path}: {error.strerror or error}"
