"""The driver of a shoe: a serial port around the pure `IShoeLink`."""

from punto.baccarat.table.events import ShoeHello, ShoeLost
from punto.drivers.base import BAUD, ShoeUser
from punto.drivers.framing import UNSEALED, Seal
from punto.drivers.ishoe.link import IShoeLink
from punto.drivers.serial_device import SerialDevice


class SerialShoe(SerialDevice[ShoeUser]):
    """The driver of a shoe at a serial port: `punto.drivers.base.ShoeDriver`."""

    def __init__(self, path: str, baud: int = BAUD, seal: Seal = UNSEALED) -> None:
        self._link = IShoeLink(seal)
        super().__init__(path, baud, self._link)

    def _output(self, now: float, user: ShoeUser) -> bytes:
        self._link.want(user.orders())
        return self._link.data_to_send(now)

    async def _take(self, data: bytes, now: float, user: ShoeUser) -> None:
        events = self._link.receive(data, now)
        if events:
            await user.take(events)
            self._link.handled()
        if any(isinstance(event, ShoeHello) for event in events):
            self._connected(user)  # after a hello the table counts the shoe as online, whatever came with it

    async def _report_loss(self, reason: str, user: ShoeUser) -> None:
        await user.take([ShoeLost(reason)])
