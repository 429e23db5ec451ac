"""The driver of a keypad that is a Linux input device, such as a USB number pad.

The keypad has no display; its lights show the result of a press. Num Lock: the table accepts orders. Caps Lock: more keys
must follow. Scroll Lock: the last press was refused.
"""

import asyncio
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import NoReturn

from evdev import ecodes

from punto.drivers.base import KeyAnswer, KeypadUser
from punto.drivers.input_device import Device, InputDevice, PressReader, key_names
from punto.drivers.keypad.contact import Contact
from punto.drivers.keypad.frames import STALE_MILLISECONDS
from punto.drivers.keypad.link import TOO_LATE


class InputKeypad(InputDevice[KeypadUser]):
    """The driver of a keypad that is an input device: `punto.drivers.base.KeypadDriver`."""

    def __init__(self, path: str, *, by_model: bool = False) -> None:
        super().__init__(path, "keypad", by_model=by_model)
        self._reader = PressReader(key_names())
        self._contact = Contact()
        self._bounces = 0

    def _counters(self) -> Mapping[str, int]:
        return {
            "presses": self._reader.presses,
            "bounces": self._bounces,
            "overruns": self._reader.overruns,
            "connections": self._connections,
        }

    async def _serve(self, device: Device, user: KeypadUser) -> NoReturn:
        lights = _Lights(device)
        while True:
            lights.ready(user.lamps().ready)
            for key, at in self._reader.feed(await self._read(device)):
                if self._contact.bounced(key, at):
                    self._bounces += 1
                    continue
                late = time.time() - at > STALE_MILLISECONDS / 1000
                answer = TOO_LATE if late else await user.press(key)
                lights.answer(answer)
                if answer.result == "refused":
                    self._log.info("press refused", key=key, reason=answer.text)


class _Lights:
    """The keypad's lights; a keypad may have only some of them."""

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
        with suppress(OSError):  # if the keypad was removed, the next read reports it
            self._device.set_led(led, on)

    @staticmethod
    def _now() -> float:
        return asyncio.get_running_loop().time()
