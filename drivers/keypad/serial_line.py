"""The thin end of a keypad on a serial line: a port, opened again for ever, around the pure `KeypadLink`."""

import asyncio
import random
from collections.abc import Mapping
from dataclasses import asdict
from typing import Final

from drivers.base import KeypadUser
from drivers.frame import HIGHEST
from drivers.keypad.frames import Switch
from drivers.keypad.link import KeypadLink
from drivers.retried import DeviceLostError, Retried
from drivers.serial_port import READ_BYTES, Port, PortLostError

TICK_SECONDS: Final = 0.1  # how often silence is looked for; with the link's 0.8 s a loss is seen within 1 s
REOPEN_SECONDS = 10.0  # a silent port is opened anew, in case the adapter hangs


class SerialKeypad(Retried[KeypadUser]):
    """The driver of a keypad at a serial port: `drivers.base.KeypadDriver`.

    `path` is best one of /dev/serial/by-id, which stays the same wherever the cable is plugged in.
    """

    def __init__(self, path: str, baud: int) -> None:
        super().__init__(path, "keypad")
        self._baud = baud
        self._link = KeypadLink()
        self._connections = 0

    def _serial(self) -> str | None:
        return None if self._link.here is None else self._link.here.serial

    def _counters(self) -> Mapping[str, int]:
        return {**asdict(self._link.counters), "connections": self._connections}

    async def _connection(self, user: KeypadUser) -> None:
        try:
            port = Port(self.path, self._baud, "keypad")
        except PortLostError as lost:
            raise DeviceLostError(str(lost)) from lost
        self._connections += 1
        try:
            await self._serve(port, user)
        except PortLostError as lost:
            port.forget_output()
            raise DeviceLostError(str(lost)) from lost
        finally:
            port.close()

    async def _serve(self, port: Port, user: KeypadUser) -> None:
        """Read, ask, answer, until the port is lost.

        Nothing is read while an order is being carried out. That may take longer than the keypad waits for a sign of life,
        so it is given one meanwhile.
        """
        clock = asyncio.get_running_loop().time
        link = self._link
        link.connect(clock(), random.randint(1, HIGHEST))
        while True:
            port.write(link.data_to_send(clock(), user.lamps()))
            data = await port.read(TICK_SECONDS)
            now = clock()
            for told in link.receive(data, now):
                meanwhile = asyncio.create_task(self._stay(port, user))
                try:
                    if isinstance(told, Switch):
                        await user.turned(told.position)
                        link.note(told)
                    else:
                        link.answer(told, await user.press(told.key))
                finally:
                    meanwhile.cancel()
            # Silence is judged only when all that came has been read.
            silence = link.tick(now) if len(data) < READ_BYTES else None
            if silence is not None:
                self._lost(silence, user)
            elif link.here is not None:
                self._connected(user)
            if link.silent_seconds(now):
                port.check_path()
            if link.silent_seconds(now) > REOPEN_SECONDS:
                port.forget_output()
                return

    async def _stay(self, port: Port, user: KeypadUser) -> None:
        """Go on saying how things stand, until cancelled."""
        while True:
            await asyncio.sleep(TICK_SECONDS)
            port.write(self._link.data_to_send(asyncio.get_running_loop().time(), user.lamps()))
