"""The driver of a keypad on a serial line, around the pure `KeypadLink`."""

import asyncio

from punto.drivers.base import KeypadUser
from punto.drivers.framing import UNSEALED, Seal
from punto.drivers.keypad.frames import Switch
from punto.drivers.keypad.link import KeypadLink
from punto.drivers.serial_device import TICK_SECONDS, SerialDevice


class SerialKeypad(SerialDevice[KeypadUser]):
    """The driver of a keypad at a serial port: `punto.drivers.base.KeypadDriver`."""

    def __init__(self, path: str, baud: int, seal: Seal = UNSEALED) -> None:
        self._link = KeypadLink(seal)
        self._session = 0
        super().__init__(path, baud, self._link)

    def _output(self, now: float, user: KeypadUser) -> bytes:
        return self._link.data_to_send(now, user.lamps())

    async def _take(self, data: bytes, now: float, user: KeypadUser) -> None:
        """Carry out orders. The host keeps sending its status, because an order can take longer than the keypad waits."""
        news = self._link.receive(data, now)
        if news:
            self._connected(user)  # nothing is reported of a device that is not known yet
        if self._link.here is not None and self._link.here.session != self._session:
            self._session = self._link.here.session
            user.restarted()  # a loss of power can be too short for a silence
        for received in news:
            meanwhile = asyncio.create_task(self._keep_alive())
            try:
                if isinstance(received, Switch):
                    await user.turned(received.position)
                    self._link.note(received)
                else:
                    self._link.answer(received, await user.press(received.key))
            finally:
                meanwhile.cancel()

    async def _keep_alive(self) -> None:
        """Send the status until cancelled."""
        while True:
            await asyncio.sleep(TICK_SECONDS)
            self.send()
