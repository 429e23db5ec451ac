"""What the controller knows of its devices: the Protocols of the drivers, and nothing of how a device is reached."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from controller.table.events import ShoeEvent
from controller.table.shoe_orders import ShoeOrders

# Takes one batch of events, in order, and returns when they are committed to the journal and handled, with what the
# table now wants of the shoe. Awaiting it is the backpressure: a driver reads nothing meanwhile.
Submit = Callable[[Sequence[ShoeEvent]], Awaitable[ShoeOrders]]


@dataclass(frozen=True, slots=True)
class LinkHealth:
    """How a device's link stands: a snapshot for the health message.

    `connected` says that the device has introduced itself and is heard, `reason` why not (empty while it is), `since`
    when that last changed (UTC). `counters` are counted since the driver was made.
    """

    port: str
    connected: bool
    reason: str
    since: datetime
    serial: str | None
    counters: Mapping[str, int]


class ShoeDriver(Protocol):
    """A shoe. It keeps trying for ever: whatever the device does arrives as an event, never as an exception."""

    async def run(self, submit: Submit) -> None:
        """Deliver events until cancelled. What `submit` raises escapes: it is not the device's."""

    def direct(self, orders: ShoeOrders) -> None:
        """Say what the table wants of the shoe, when that changed by something other than a batch from `run`.

        Called from the event loop; returns at once. Called before `run`, it says where the record left off.
        """

    def health(self) -> LinkHealth:
        """Tell how the link stands now."""
