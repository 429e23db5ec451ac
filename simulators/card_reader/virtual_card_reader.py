"""The running virtual card reader: the device on a pseudo-terminal, and the futures of its answers."""

import asyncio
import random
from pathlib import Path

from punto.drivers.card_reader.frames import Answer
from punto.drivers.frame import HIGHEST
from punto.simulators.card_reader.device import CardReaderDevice
from punto.simulators.line import Faults, VirtualDevice


class VirtualCardReader(VirtualDevice[CardReaderDevice]):
    """One reader, from power-on until `run` is cancelled; `link` is a symlink to its line's current place."""

    def __init__(
        self,
        link: Path | None = None,
        serial: str = "VR-000001",
        faults: Faults | None = None,
        seed: str = "1",
        *,
        device_key: bytes | None = None,
    ) -> None:
        super().__init__(link, faults, random.Random(f"card reader {seed}"), device_key)
        self._serial = serial
        self._answers: dict[int, asyncio.Future[Answer]] = {}
        self.lose_power()

    @property
    def ready(self) -> bool:
        """Whether the reader shows that a swipe is awaited."""
        return self.device.ready(self._now())

    def _power_on(self) -> None:
        """Switch the reader off and on: it forgets the pending swipe, and restarts its numbering."""
        for waiting in self._answers.values():
            waiting.cancel()
        self._answers.clear()
        # not from the seed: a restarted reader must be recognised as one that was off
        session = random.SystemRandom().randint(1, HIGHEST)
        self.device = CardReaderDevice(self._serial, session, self._answered)
        self._changed.set()

    def swipe(self, track: str) -> asyncio.Future[Answer]:
        """Swipe a card; the future receives the host's answer, and is cancelled if none can come.

        Raises:
            NotTakenError: the reader does not take it now.
            ValueError: the data is longer than a track.
        """
        number = self.device.swipe(track.encode(), self._now())
        self._answers[number] = asyncio.get_running_loop().create_future()
        self._changed.set()
        return self._answers[number]

    def _answered(self, answer: Answer) -> None:
        waiting = self._answers.pop(answer.number)
        if not waiting.done():  # the caller may have cancelled it
            waiting.set_result(answer)
