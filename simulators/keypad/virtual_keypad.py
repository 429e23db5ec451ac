"""The virtual keypad as it runs: the device on a pseudo-terminal, and who waits for its answers."""

import asyncio
import random
from pathlib import Path

from punto.drivers.base import KeyPosition
from punto.drivers.frame import HIGHEST
from punto.drivers.keypad.frames import Answer
from punto.simulators.keypad.device import KeypadDevice
from punto.simulators.line import DeviceOnALine, Faults


class VirtualKeypad(DeviceOnALine):
    """One keypad, from power-on until `run` is cancelled; `link` is a symlink that stands wherever its line is.

    `key` is where its key switch stands, None of a keypad that has none.
    """

    def __init__(
        self,
        link: Path | None = None,
        serial: str = "VK-000001",
        faults: Faults | None = None,
        seed: str = "1",
        *,
        key: KeyPosition | None = None,
    ) -> None:
        super().__init__(link, faults, random.Random(f"keypad {seed}"))
        self._serial = serial
        self._key = key
        self._answers: dict[int, asyncio.Future[Answer]] = {}
        self.lose_power()

    @property
    def connected(self) -> bool:
        """Whether the keypad hears a host."""
        return self.device.connected(self._now())

    def lose_power(self) -> None:
        """Switch the keypad off and on: it forgets what it has not sent, and counts anew. The key stays where it is."""
        session = random.SystemRandom().randint(1, HIGHEST)  # unlike any before, whatever the seed
        self.device = KeypadDevice(self._serial, session, self._answered, self._key)
        for waiting in self._answers.values():
            waiting.cancel()
        self._answers.clear()

    def press(self, key: str) -> asyncio.Future[Answer]:
        """Press a key; the future has the host's answer when it comes, and is cancelled if none can come.

        Raises:
            ValueError: too many presses wait for an answer.
        """
        number = self.device.press(key, self._now())
        if number is None:
            raise ValueError("too many presses wait for an answer: wait until the host is there")
        self._answers[number] = asyncio.get_running_loop().create_future()
        self._changed.set()
        return self._answers[number]

    def turn(self, key: KeyPosition) -> None:
        """Turn the key.

        Raises:
            ValueError: the keypad has no key switch.
        """
        self.device.turn(key)
        self._key = key
        self._changed.set()

    def _receive(self, data: bytes, now: float) -> None:
        self.device.receive(data, now)

    def _data_to_send(self, now: float) -> list[bytes]:
        return self.device.data_to_send(now)

    def _answered(self, answer: Answer) -> None:
        waiting = self._answers.pop(answer.number)
        if not waiting.done():  # whoever pressed may have gone
            waiting.set_result(answer)
