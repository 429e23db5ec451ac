"""The shoe's door: what it says goes on the record, and what the table wants of it follows from the table's state."""

from collections.abc import Sequence
from datetime import datetime

from punto.baccarat.table.events import ShoeEvent
from punto.baccarat.table.shoe_orders import ShoeOrders, shoe_orders
from punto.controller.devices.device import DeviceDoor
from punto.controller.engine import Engine
from punto.controller.messages.building import shoe_message
from punto.controller.messages.models import Device
from punto.controller.outbox import Outbox
from punto.drivers.base import ShoeDriver


class ShoeDoor(DeviceDoor[ShoeDriver]):
    """Takes what one table's shoe says, and tells it what is wanted: `punto.drivers.base.ShoeUser`."""

    device = "shoe"

    def __init__(self, engine: Engine, outbox: Outbox, driver: ShoeDriver) -> None:
        super().__init__(engine, outbox, driver)
        engine.direct_shoe = driver.send

    async def take(self, events: Sequence[ShoeEvent]) -> None:
        """Put a batch on the record; see `ShoeUser.take`.

        Raises:
            RecordError: it could not be put there.
        """
        await self._engine.submit_from_shoe(events)

    def orders(self) -> ShoeOrders:
        """What the table wants of its shoe now."""
        return shoe_orders(self._engine.state)

    def link_changed(self) -> None:
        """Nothing: the shoe's hello and its loss are on the record, and are published from there."""

    def message(self, now: datetime) -> Device:
        """The shoe as the record has it: there or not, accepted or not."""
        return shoe_message(self._engine.state, self._engine.seq, self._engine.shoe_since, now)
