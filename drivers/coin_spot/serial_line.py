"""The driver of the wager sensors: a serial port around the pure `CoinSpotLink`."""

import asyncio

from punto.drivers.base import CoinSpotUser
from punto.drivers.coin_spot.link import CoinSpotLink
from punto.drivers.coin_spot.seats import Seats
from punto.drivers.framing import UNSEALED, Seal
from punto.drivers.serial_device import SerialDevice


class SerialCoinSpot(SerialDevice[CoinSpotUser]):
    """The driver of a chain of wager sensors at a serial port: `punto.drivers.base.CoinSpotDriver`.

    If a wager of a round still lies there `stuck_seconds` after the end of the round, its sensor has the fault "stuck".
    """

    def __init__(
        self, path: str, baud: int, seats: Seats, stuck_seconds: float, seal: Seal = UNSEALED
    ) -> None:
        self.seats = frozenset(seats.by_position.values())
        self._link = CoinSpotLink(seats, stuck_seconds, seal)
        super().__init__(path, baud, self._link)

    def report_again(self) -> None:
        """See `CoinSpotDriver.report_again`."""
        self._link.forget()

    async def _connection(self, user: CoinSpotUser) -> None:
        try:
            await super()._connection(user)
        finally:
            self._link.disconnect()

    async def _while_disconnected(self, user: CoinSpotUser) -> None:
        now = asyncio.get_running_loop().time()
        self._link.want(now, user.orders())
        events = self._link.tick(now)
        if events:
            await user.take(events)

    def _output(self, now: float, user: CoinSpotUser) -> bytes:
        self._link.want(now, user.orders())
        return self._link.data_to_send(now)

    async def _take(self, data: bytes, now: float, user: CoinSpotUser) -> None:
        """Report the events. Nothing is acknowledged until `user` has recorded it."""
        events = self._link.receive(data, now) + self._link.tick(now)
        if self._link.here is not None:
            self._connected(user)  # nothing is reported of a device that is not known yet
        if events:
            await user.take(events)
