"""The running virtual keypad: the device on a pseudo-terminal, and the futures of its answers."""

import asyncio
import random
from pathlib import Path

from punto.drivers.base import KeyPosition
from punto.drivers.keypad.frames import Answer
from punto.simulators.keypad.device import KeypadDevice
from punto.simulators.line import AnsweredDevice, Faults


class VirtualKeypad(AnsweredDevice[KeypadDevice, Answer]):
    """One keypad, from power-on until `run` is cancelled; `link` is a symlink to its line's current place.

    `key` is the position of its key switch, None for a keypad without one.
    """

    def __init__(
        self,
        link: Path | None = None,
        serial: str = "VK-000001",
        faults: Faults | None = None,
        seed: str = "1",
        *,
        device_key: bytes | None = None,
        key: KeyPosition | None = None,
    ) -> None:
        super().__init__(link, faults, random.Random(f"keypad {seed}"), device_key)
        self._serial = serial
        self._key = key
        self.lose_power()

    def _new_device(self, session: int) -> KeypadDevice:
        return KeypadDevice(self._serial, session, self._answered, self._key)

    def press(self, key: str) -> asyncio.Future[Answer]:
        """Press a key; the future receives the host's answer, and is cancelled if none can come.

        Raises:
            ValueError: too many presses wait for an answer.
        """
        number = self.device.press(key, self._now())
        if number is None:
            raise ValueError("too many presses wait for an answer: wait until the host is connected")
        return self._answer_to(number)

    def turn(self, key: KeyPosition) -> None:
        """Turn the key; raises ValueError if the keypad has no key switch."""
        self.device.turn(key)
        self._key = key
        self._changed.set()
