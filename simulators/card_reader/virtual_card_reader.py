"""The running virtual card reader: the device on a pseudo-terminal, and the futures of its answers."""

import asyncio
import random
from pathlib import Path

from punto.drivers.card_reader.frames import Answer
from punto.simulators.card_reader.device import CardReaderDevice
from punto.simulators.line import AnsweredDevice, Faults


class VirtualCardReader(AnsweredDevice[CardReaderDevice, Answer]):
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
        self.lose_power()

    @property
    def ready(self) -> bool:
        """Whether the reader shows that a swipe is awaited."""
        return self.device.ready(self._now())

    def _new_device(self, session: int) -> CardReaderDevice:
        return CardReaderDevice(self._serial, session, self._answered)

    def swipe(self, track: str) -> asyncio.Future[Answer]:
        """Swipe a card; the future receives the host's answer, and is cancelled if none can come.

        Raises:
            NotTakenError: the reader does not take it now.
            ValueError: the data is longer than a track.
        """
        number = self.device.swipe(track.encode(), self._now())
        return self._answer_to(number)
