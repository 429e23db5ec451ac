"""A keypad that is a Linux input device, such as a USB number pad: opened again for ever, and this program's alone.

What it presses reaches nothing else on the machine (the device is grabbed), and it is found again when it is plugged in
again. It has no display; its lights tell what became of a press: Num Lock that the table takes orders, Caps Lock
that more keys are wanted, Scroll Lock that the last press was refused.
"""

import asyncio
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Final, NoReturn

import structlog
from evdev import ecodes

from punto.drivers.base import KeyAnswer, KeypadUser
from punto.drivers.input_device import (
    Device,
    PressReader,
    key_names,
    open_device,
    read,
    readable,
    why_not_open,
)
from punto.drivers.keypad.contact import Contact
from punto.drivers.keypad.frames import STALE_MILLISECONDS
from punto.drivers.keypad.link import TOO_LATE
from punto.drivers.retried import DeviceLostError, Retried

TICK_SECONDS: Final = 0.25

_log = structlog.get_logger("punto.drivers.keypad")


class InputKeypad(Retried[KeypadUser]):
    """The driver of a keypad that is an input device: `punto.drivers.base.KeypadDriver`.

    `path` is best one of /dev/input/by-id, which stays the same wherever the keypad is plugged in.
    """

    def __init__(self, path: str) -> None:
        super().__init__(path, "keypad")
        self._reader = PressReader(key_names())
        self._contact = Contact()
        self._bounces = 0
        self._connections = 0
        self._name: str | None = None

    def _serial(self) -> str | None:
        return self._name

    def _counters(self) -> Mapping[str, int]:
        reader = self._reader
        return {
            "presses": reader.presses,
            "bounces": self._bounces,
            "overruns": reader.overruns,
            "connections": self._connections,
        }

    async def _connection(self, user: KeypadUser) -> None:
        try:
            device = open_device(self.path)
        except OSError as error:
            raise DeviceLostError(why_not_open(self.path, "keypad", error)) from error
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
            await readable(device.fd, TICK_SECONDS)
            for key, at in self._reader.feed(read(device.fd, self.path, "keypad")):
                if self._contact.bounced(key, at):
                    self._bounces += 1
                    continue
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
