"""The thin end of a keypad on a serial line, around the pure `KeypadLink`."""

import asyncio

from punto.drivers.base import KeypadUser
from punto.drivers.keypad.frames import Switch
from punto.drivers.keypad.link import KeypadLink
from punto.drivers.serial_device import TICK_SECONDS, SerialDevice


class SerialKeypad(SerialDevice[KeypadUser]):
    """The driver of a keypad at a serial port: `punto.drivers.base.KeypadDriver`."""

    def __init__(self, path: str, baud: int) -> None:
        self._link = KeypadLink()
        super().__init__(path, baud, self._link)

    def _to_say(self, now: float, user: KeypadUser) -> bytes:
        return self._link.data_to_send(now, user.lamps())

    async def _take(self, data: bytes, now: float, user: KeypadUser) -> None:
        """Carry orders out. That may take longer than the keypad waits for a sign of life, so it is given one meanwhile."""
        for told in self._link.receive(data, now):
            meanwhile = asyncio.create_task(self._stay())
            try:
                if isinstance(told, Switch):
                    await user.turned(told.position)
                    self._link.note(told)
                else:
                    self._link.answer(told, await user.press(told.key))
            finally:
                meanwhile.cancel()

    async def _stay(self) -> None:
        """Go on saying how things stand, until cancelled."""
        while True:
            await asyncio.sleep(TICK_SECONDS)
            self.send()
