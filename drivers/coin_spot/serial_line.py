"""The thin end of the wager sensors: a serial port, opened again for ever, around the pure `CoinSpotLink`."""

import asyncio
import random
from collections.abc import Mapping
from dataclasses import asdict
from typing import Final

from drivers.base import CoinSpotUser
from drivers.coin_spot.link import CoinSpotLink
from drivers.coin_spot.seats import Seats
from drivers.frame import HIGHEST
from drivers.retried import DeviceLostError, Retried
from drivers.serial_port import READ_BYTES, Port, PortLostError

TICK_SECONDS: Final = 0.1  # how often silence is looked for; with the link's 0.8 s a loss is seen within 1 s
REOPEN_SECONDS = 10.0  # a silent port is opened anew, in case the adapter hangs


class SerialCoinSpot(Retried[CoinSpotUser]):
    """The driver of a chain of wager sensors at a serial port: `drivers.base.CoinSpotDriver`.

    `path` is best one of /dev/serial/by-id, which stays the same wherever the cable is plugged in. After the end of a
    round a wager that was in it has `stuck_seconds` to go before its sensor is called stuck.
    """

    def __init__(self, path: str, baud: int, seats: Seats, stuck_seconds: float) -> None:
        super().__init__(path, "coin spot")
        self._baud = baud
        self._link = CoinSpotLink(seats, stuck_seconds)
        self._connections = 0

    def _serial(self) -> str | None:
        return None if self._link.here is None else self._link.here.serial

    def _counters(self) -> Mapping[str, int]:
        return {**asdict(self._link.counters), "connections": self._connections}

    async def _connection(self, user: CoinSpotUser) -> None:
        try:
            port = Port(self.path, self._baud, "coin spot")
        except PortLostError as lost:
            raise DeviceLostError(str(lost)) from lost
        self._connections += 1
        try:
            await self._serve(port, user)
        except PortLostError as lost:
            port.forget_output()
            raise DeviceLostError(str(lost)) from lost
        finally:
            self._link.disconnect()
            port.close()

    async def _while_away(self, user: CoinSpotUser) -> None:
        now = asyncio.get_running_loop().time()
        self._link.want(now, user.orders())
        events = self._link.tick(now)
        if events:
            await user.take(events)

    async def _serve(self, port: Port, user: CoinSpotUser) -> None:
        """Order, read, tell, until the port is lost. Nothing is read, and nothing acknowledged, until `user` has it safe."""
        clock = asyncio.get_running_loop().time
        link = self._link
        link.connect(clock(), random.randint(1, HIGHEST))
        while True:
            link.want(clock(), user.orders())
            port.write(link.data_to_send(clock()))
            data = await port.read(TICK_SECONDS)
            now = clock()
            events = link.receive(data, now) + link.tick(now)
            if events:
                await user.take(events)
            # Silence is judged only when all that came has been read.
            silence = link.silence(now) if len(data) < READ_BYTES else None
            if silence is not None:
                self._lost(silence, user)
            elif link.here is not None:
                self._connected(user)
            if link.silent_seconds(now):
                port.check_path()
            if link.silent_seconds(now) > REOPEN_SECONDS:
                port.forget_output()
                return
