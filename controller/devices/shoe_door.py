"""The shoe's door: it records the shoe's events and derives the orders to the shoe from the table's state."""

from collections.abc import Sequence
from datetime import datetime

from punto.baccarat.table.events import ShoeEvent
from punto.baccarat.table.shoe_orders import ShoeOrders, shoe_orders
from punto.controller.devices.door import DeviceDoor
from punto.controller.engine import SHOE, Engine
from punto.controller.outbox import Outbox
from punto.drivers.base import ShoeDriver
from punto.messages.building import shoe_message
from punto.messages.models import Device


class ShoeDoor(DeviceDoor[ShoeDriver]):
    """The door of one table's shoe: `punto.drivers.base.ShoeUser`."""

    device = "shoe"

    def __init__(self, engine: Engine, outbox: Outbox, driver: ShoeDriver) -> None:
        super().__init__(engine, outbox, driver)
        # After its own events, the driver sends the orders with the acknowledgement.
        engine.watch(lambda *_: driver.send(), unless=SHOE)

    async def take(self, events: Sequence[ShoeEvent]) -> None:
        """Record a batch of events; see `ShoeUser.take`. Raises RecordError if that fails."""
        await self._engine.submit(events, SHOE)

    def orders(self) -> ShoeOrders:
        """The table's present orders to its shoe."""
        return shoe_orders(self._engine.state)

    def link_changed(self) -> None:
        """Do nothing: the shoe's hello and its loss are on the record, and are published from there."""

    def message(self, now: datetime) -> Device:
        """The shoe's state by the record: online, offline or not accepted."""
        return shoe_message(self._engine.state, self._engine.seq, self._engine.publication.shoe_since, now)
