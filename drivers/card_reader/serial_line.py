"""The driver of a card reader on a serial line, around the pure `CardReaderLink`."""

import asyncio

from punto.drivers.base import CardReaderUser
from punto.drivers.card_reader.link import CardReaderLink
from punto.drivers.card_reader.swiped import answer_to
from punto.drivers.framing import UNSEALED, Seal
from punto.drivers.serial_device import SerialDevice


class SerialCardReader(SerialDevice[CardReaderUser]):
    """The driver of a card reader at a serial port: `punto.drivers.base.CardReaderDriver`."""

    def __init__(self, path: str, baud: int, seal: Seal = UNSEALED) -> None:
        self._link = CardReaderLink(seal)
        super().__init__(path, baud, self._link)

    def _output(self, now: float, user: CardReaderUser) -> bytes:
        return self._link.data_to_send(now, awaited=user.awaited())

    async def _take(self, data: bytes, now: float, user: CardReaderUser) -> None:
        swipe = self._link.receive(data, now)
        if swipe is not None:
            self._connected(user)  # nothing is reported of a device that is not known yet
            track = swipe.track.decode(errors="replace")
            self._link.answer(swipe, await answer_to(track, user), asyncio.get_running_loop().time())
