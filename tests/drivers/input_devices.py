"""Linux input devices for the tests, by the kernel's own event structures: these machines have none.

The device's descriptor is a pipe's, and what would be asked of the kernel besides reading is remembered.
"""

import errno
import os
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from evdev import DeviceInfo, ecodes

from punto.drivers import input_device
from punto.drivers.input_device import EVENT, key_names
from tests.drivers.benches import User, going, until

# What a USB keyboard's driver gives with a key, as `evtest` shows it: the scan code before it, and the report after it.
SCAN = (ecodes.EV_MSC, ecodes.MSC_SCAN, 0x7003A)
REPORT = (ecodes.EV_SYN, ecodes.SYN_REPORT, 0)
DROPPED = (ecodes.EV_SYN, ecodes.SYN_DROPPED, 0)
NAMES = key_names()
CODES = {name: code for code, name in NAMES.items()}

Event = tuple[int, int, int]


def recorded(*events: Event, at: float | None = None) -> bytes:
    """The structures as a read of the device gives them."""
    seconds, rest = divmod(time.time() if at is None else at, 1)
    return b"".join(EVENT.pack(int(seconds), int(rest * 1e6), *event) for event in events)


def stroke(name: str, *, held: int = 0) -> list[Event]:
    """A key pressed, perhaps held until it repeats so often, and released."""
    key = (ecodes.EV_KEY, CODES[name])
    repeats = [event for _ in range(held) for event in ((*key, 2), REPORT)]
    return [SCAN, (*key, 1), REPORT, *repeats, SCAN, (*key, 0), REPORT]


class FakeDevice:
    """Stands for `evdev.InputDevice`."""

    def __init__(self, uniq: str = "A1B2C3") -> None:
        self.fd, self.cable = os.pipe2(os.O_NONBLOCK)
        self.info = DeviceInfo(3, 0x46D, 0xC534, 0x110)
        self.uniq = uniq
        self.lights: dict[int, int] = {}
        self.has_caps_lock = True
        self.closed = False

    def grab(self) -> None:
        raise AssertionError("open_device grabs")

    def set_led(self, led_num: int, value: int) -> None:
        if led_num == ecodes.LED_CAPSL and not self.has_caps_lock:
            raise OSError(errno.EBADF, "no such light")
        self.lights[led_num] = value

    def close(self) -> None:
        os.close(self.fd)
        self.closed = True

    def types(self, data: bytes) -> None:
        os.write(self.cable, data)


class Port:
    """Where a driver's device is plugged in; `devices` are those that were opened."""

    def __init__(self, driver: Any, user: User, monkeypatch: Any) -> None:
        self.driver = driver
        self.user: Any = user
        self.devices: list[FakeDevice] = []
        self.uniq = "A1B2C3"
        self.error: Exception | None = OSError(errno.ENOENT, "No such file or directory")
        self._gone: set[int] = set()
        self._read = os.read
        monkeypatch.setattr(input_device, "open_device", self._open)
        monkeypatch.setattr(os, "read", self._reads)

    def _open(self, _: str) -> FakeDevice:
        if self.error is not None:
            raise self.error
        self.devices.append(FakeDevice(self.uniq))
        return self.devices[-1]

    def _reads(self, fd: int, size: int) -> bytes:
        if fd in self._gone:  # what a device says that was pulled out, and no pipe does
            raise OSError(errno.ENODEV, "No such device")
        return self._read(fd, size)

    @property
    def reason(self) -> str:
        reason: str = self.driver.health().reason
        return reason

    @property
    def counters(self) -> dict[str, int]:
        counters: dict[str, int] = self.driver.health().counters
        return counters

    async def plug(self) -> FakeDevice:
        self.error = None
        await until(lambda: self.driver.health().connected)
        return self.devices[-1]

    async def unplug(self) -> None:
        self.error = OSError(errno.ENOENT, "No such file or directory")
        self._gone.add(self.devices[-1].fd)
        await until(lambda: self.devices[-1].closed)
        self._gone.clear()

    async def got(self, things: Sequence[str]) -> None:
        await until(lambda: len(self.user.got) >= len(things))
        assert self.user.got == list(things)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        try:
            async with going(self.driver.run(self.user)):
                yield
        finally:
            for device in self.devices:
                os.close(device.cable)
