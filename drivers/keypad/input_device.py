"""A keypad that is a Linux input device, such as a USB number pad: opened again for ever, and this program's alone.

What it presses reaches nothing else on the machine (the device is grabbed), and it is found again when it is plugged in
again. It has no display; its lights tell what became of a press: Num Lock that the table takes orders, Caps Lock
that more keys are wanted, Scroll Lock that the last press was refused.
"""

import asyncio
import errno
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from struct import Struct
from typing import Final, NoReturn, Protocol

import evdev
import structlog
from evdev import ecodes

from drivers.base import KeyAnswer, KeypadUser
from drivers.keypad.frames import STALE_MILLISECONDS
from drivers.keypad.link import TOO_LATE
from drivers.retried import DeviceLostError, Retried

BY_ID = Path("/dev/input/by-id")
TICK_SECONDS: Final = 0.25
EVENT: Final = Struct("@llHHi")
"""`struct input_event` of <linux/input.h>: seconds, microseconds, type, code, value."""
READ_EVENTS: Final = 64
PRESSED: Final = 1  # the value of a key event; 0 is the release, 2 a key that repeats because it is held

_log = structlog.get_logger("drivers.keypad")


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
            elif (type_, code) == (ecodes.EV_SYN, ecodes.SYN_REPORT):
                self._dropping = False
            elif type_ == ecodes.EV_KEY and value == PRESSED and not self._dropping:
                self.presses += 1
                yield self._names.get(code, f"CODE_{code}"), seconds + microseconds / 1e6


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


class InputKeypad(Retried[KeypadUser]):
    """The driver of a keypad that is an input device: `drivers.base.KeypadDriver`.

    `path` is best one of /dev/input/by-id, which stays the same wherever the keypad is plugged in.
    """

    def __init__(self, path: str) -> None:
        super().__init__(path, "keypad")
        self._reader = PressReader(key_names())
        self._connections = 0
        self._name: str | None = None

    def _serial(self) -> str | None:
        return self._name

    def _counters(self) -> Mapping[str, int]:
        reader = self._reader
        return {
            "presses": reader.presses,
            "overruns": reader.overruns,
            "connections": self._connections,
        }

    async def _connection(self, user: KeypadUser) -> None:
        try:
            device = open_device(self.path)
        except OSError as error:
            raise DeviceLostError(why_not_open(self.path, error)) from error
        self._connections += 1
        self._name = device.name
        try:
            self._connected(user)
            await self._serve(device, user)
        finally:
            device.close()

    async def _serve(self, device: Device, user: KeypadUser) -> NoReturn:
        """Read and ask until the device is gone. Nothing is read while an order is being carried out."""
        lights = _Lights(device)
        while True:
            lights.ready(user.lamps().ready)
            await _readable(device.fd, TICK_SECONDS)
            for key, at in self._reader.feed(_read(device.fd, self.path)):
                late = time.time() - at > STALE_MILLISECONDS / 1000
                answer = TOO_LATE if late else await user.press(key)
                lights.answer(answer)
                if answer.result == "refused":
                    _log.info("press refused", key=key, reason=answer.text)


class _Lights:
    """The keypad's lights; one that it has not stays dark."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._on: dict[int, bool] = {}
        self._more_until = 0.0

    def ready(self, on: bool) -> None:
        self._show(ecodes.LED_NUML, on)
        if self._now() > self._more_until:
            self._show(ecodes.LED_CAPSL, False)

    def answer(self, answer: KeyAnswer) -> None:
        self._more_until = self._now() + answer.seconds
        self._show(ecodes.LED_CAPSL, answer.result == "more")
        self._show(ecodes.LED_SCROLLL, answer.result == "refused")

    def _show(self, led: int, on: bool) -> None:
        if self._on.get(led) is on:
            return
        self._on[led] = on
        with suppress(OSError):  # a keypad that is gone is noticed by the next read
            self._device.set_led(led, on)

    @staticmethod
    def _now() -> float:
        return asyncio.get_running_loop().time()


async def _readable(fd: int, seconds: float) -> None:
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


def _read(fd: int, path: str) -> bytes:
    try:
        return os.read(fd, EVENT.size * READ_EVENTS)
    except BlockingIOError:
        return b""
    except OSError as error:
        raise DeviceLostError(f"the keypad {path} went away: check its cable") from error


def why_not_open(path: str, error: OSError) -> str:
    """Say why an input device could not be opened, and what to do."""
    match error.errno:
        case errno.ENOENT | errno.ENOTDIR:
            return (
                f"there is no input device {path}: check the keypad's cable and the path; {_devices_here()}"
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
