"""The virtual keypad as it runs: the device on a pseudo-terminal, with the time and what goes wrong in it."""

import asyncio
import random
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from drivers.frame import HIGHEST
from drivers.keypad.frames import Answer
from simulators.keypad.device import KeypadDevice
from simulators.shoe.terminal import Terminal

TURN_SECONDS: Final = 0.02


@dataclass(frozen=True, slots=True)
class Faults:
    """What the line does to each frame of the keypad and each read of it: chances from 0 to 1, `delay` in seconds.

    `noise` puts random bytes before a frame.
    """

    drop: float = 0.0
    double: float = 0.0
    noise: float = 0.0
    delay: float = 0.0

    def __post_init__(self) -> None:
        for name in ("drop", "double", "noise"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} is a chance: it must be from 0 to 1")
        if not 0 <= self.delay <= 60:
            raise ValueError("delay is in seconds: it must be from 0 to 60")


class VirtualKeypad:
    """One keypad, from power-on until `run` is cancelled; `link` is a symlink that stands wherever its line is."""

    def __init__(
        self,
        link: Path | None = None,
        serial: str = "VK-000001",
        faults: Faults | None = None,
        seed: str = "1",
    ) -> None:
        self._terminal = Terminal(link)
        self._link = link
        self._serial = serial
        self._faults = faults or Faults()
        self._chance = random.Random(f"keypad {seed}")
        self._answers: dict[int, asyncio.Future[Answer]] = {}
        self._changed = asyncio.Event()
        self._timers: set[asyncio.TimerHandle] = set()
        self.lose_power()

    @property
    def path(self) -> str:
        """The host's end of the line: the link if there is one; empty while unplugged."""
        if not self._terminal.plugged_in:
            return ""
        return self._terminal.path if self._link is None else str(self._link)

    @property
    def connected(self) -> bool:
        """Whether the keypad hears a host."""
        return self.device.connected(self._now())

    def lose_power(self) -> None:
        """Switch the keypad off and on: it forgets what it has not sent, and counts anew."""
        session = random.SystemRandom().randint(1, HIGHEST)  # unlike any before, whatever the seed
        self.device = KeypadDevice(self._serial, session, self._answered)
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

    def unplug(self) -> None:
        """Pull the cable out. The keypad has a supply of its own and remembers its presses."""
        if not self._terminal.plugged_in:
            return
        asyncio.get_running_loop().remove_reader(self._terminal.fileno())
        self._terminal.unplug()

    def plug(self) -> None:
        """Plug the cable in: another pseudo-terminal under the same link.

        Raises:
            TerminalError: the link cannot be made.
        """
        self._terminal.plug()
        asyncio.get_running_loop().add_reader(self._terminal.fileno(), self._changed.set)
        self._changed.set()

    async def run(self) -> None:
        """Be a keypad until cancelled.

        Raises:
            TerminalError: the link cannot be made.
        """
        try:
            self.plug()
            while True:
                self._turn()
                with suppress(TimeoutError):
                    async with asyncio.timeout(TURN_SECONDS):
                        await self._changed.wait()
                self._changed.clear()
        finally:
            for timer in self._timers:
                timer.cancel()
            self.unplug()

    def _turn(self) -> None:
        now = self._now()
        heard = self._terminal.read() if self._terminal.plugged_in else b""
        if heard and self._chance.random() >= self._faults.drop:
            self.device.receive(heard, now)
        for frame in self.device.data_to_send(now):
            self._send(frame)

    def _send(self, frame: bytes) -> None:
        faults, chance = self._faults, self._chance.random
        if chance() < faults.noise:
            frame = self._chance.randbytes(20) + frame
        times = (chance() >= faults.drop) + (chance() < faults.double)
        for _ in range(times):
            if not faults.delay:
                self._terminal.write(frame)
                continue
            timer = asyncio.get_running_loop().call_later(
                chance() * faults.delay, self._terminal.write, frame
            )
            self._timers = {each for each in self._timers if each.when() > self._now()} | {timer}

    def _answered(self, answer: Answer) -> None:
        waiting = self._answers.pop(answer.number)
        if not waiting.done():  # whoever pressed may have gone
            waiting.set_result(answer)

    @staticmethod
    def _now() -> float:
        return asyncio.get_running_loop().time()
