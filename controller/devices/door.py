"""The base of all doors, and the state of devices, broker and record as published and as consoles show it."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from datetime import datetime
from typing import Any, ClassVar, Final, Generic, Literal, TypeVar

import structlog

from punto.baccarat.table.events import DeviceHeard, Event
from punto.baccarat.table.state import TableState
from punto.controller.engine import Engine, Handled
from punto.controller.outbox import Outbox
from punto.drivers.base import Driver, LinkHealth
from punto.messages import topics
from punto.messages.building import shoe_message, timestamp
from punto.messages.models import Device, Part, Timestamp
from punto.runtime.broker_link import NO_RIGHTS, REFUSED, TAKEN_OVER

PAUSE_SECONDS: Final = 10.0
"""A device that reports more than a device can is asked again after so long."""

_log = structlog.get_logger("punto.controller.devices")

_Driver = TypeVar("_Driver", bound=Driver[Any])


class DeviceDoor(Generic[_Driver]):
    """The door of a device: it records the device's events and publishes the state of its link.

    Each method that records an event raises RecordError if that fails.
    """

    device: ClassVar[Any]
    """The device's name, also in its topic `devices/...`."""

    def __init__(self, engine: Engine, outbox: Outbox, driver: _Driver) -> None:
        self._engine = engine
        self._outbox = outbox
        self._driver: _Driver = driver
        self._changed = asyncio.Event()  # the device's link
        self._unproven = False
        # The serial number that the program could not record, as long as it is connected.
        self._failed: str | None = None
        self._hearing = asyncio.Lock()  # or a press would report a new device for a second time
        self._calm = asyncio.Event()  # not set after an input that the pace refused, until the pause is over
        self._calm.set()

    def link_changed(self) -> None:
        """Publish the device's state, and record which device it is."""
        if not self._driver.health().connected:
            self._failed = None
        self._outbox.snapshot_due(topics.device(self.device))
        self._changed.set()

    def message(self, now: datetime) -> Device:
        """The device's state and identity."""
        return device_message(self._engine.state, self._engine.seq, self.device, self._driver.health(), now)

    def health(self) -> LinkHealth:
        """The present state of the device's link."""
        return self._driver.health()

    def gives(self) -> frozenset[str]:
        """The kinds of orders that this device gives now, so that a desk refuses them."""
        return frozenset()

    async def begin(self) -> None:
        """Record what must be on the record before the table accepts orders."""

    async def run(self) -> None:
        """Serve the device until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._driver.run(self))
            tasks.create_task(self._attend())

    async def _attend(self) -> None:
        while True:
            await self._changed.wait()
            if not self._calm.is_set():
                await asyncio.sleep(PAUSE_SECONDS)
                self._calm.set()
            self._changed.clear()
            await self._on_link_changed()

    async def _on_link_changed(self) -> None:
        """Record what stands; also called `PAUSE_SECONDS` after an input that the pace refused."""
        await self._is_accepted()

    @property
    def _in_use(self) -> bool:
        """Whether a device is connected that the record has accepted."""
        return self._driver.health().connected and self._accepted

    @property
    def _accepted(self) -> bool:
        """Whether the record has accepted the device that is connected."""
        serial = self._driver.health().serial
        return serial is None or self._engine.state.devices.of_name(self.device).accepted == serial

    async def _is_accepted(self) -> bool:
        """Record which device is connected, unless the record has it, and return whether it may be used.

        A driver reports nothing before it knows the device's serial number.
        """
        async with self._hearing:
            health, known = self._driver.health(), self._engine.state.devices.of_name(self.device)
            if health.unproven and not self._unproven:
                self._unproven = await self._submit(DeviceHeard(self.device, None), "devices") is not None
            elif not health.unproven:
                self._unproven = False
            if health.serial not in {None, self._failed, known.offered or known.accepted}:
                heard = await self._submit(DeviceHeard(self.device, health.serial), "devices")
                self._failed = health.serial if heard is not None and heard.failed else None
            return self._accepted

    async def _submit(
        self, event: Event, source: str, give: Callable[[Any, str], Awaitable[Handled]] | None = None
    ) -> Handled | None:
        """Record one input of the device, by `give` if it goes to another door.

        Returns None if the device makes more of them than a device can. Such an input is summed up and not recorded;
        `_on_link_changed` records what then stands.
        """
        if self._engine.pace.allows(self.device.replace("_", " "), few=True):
            return await (give or self._give)(event, source)
        if self._calm.is_set():
            _log.warning(f"{self.device} reports too much", seconds=PAUSE_SECONDS)
        self._calm.clear()
        self._changed.set()
        return None

    async def _give(self, event: Event, source: str) -> Handled:
        (handled,) = await self._engine.submit([event], source)
        return handled


class ConsoleDevice(Part):
    """A device of the table, the broker or the record, as a console shows it: its state, since when, why, and its identity.

    `port` is its configured port, null if it is not known. `warning` is for the top of every console: what does not work
    while the device is offline; null otherwise.
    """

    device: str
    title: str
    state: Literal["online", "offline", "not_accepted"]
    reason: str
    since: Timestamp
    port: str | None
    serial: str | None
    versions: tuple[str, ...]
    warning: str | None


_TITLES: Final = {"coin_spot": "Wager sensors", "broker": "Message broker"}
_WARNINGS: Final = {
    "shoe": "The shoe is offline: no card can be dealt. Check its power and its cable.",
    "keypad": "The keypad is offline: give the keypad's orders at a console.",
    "coin_spot": "The wager sensors are offline: no progressive game can be started.",
    "card_reader": "The card reader is offline: a supervisor signs with name and password.",
    "record": "Another program has locked the record: play waits until that program ends. Nothing is lost.",
    "broker": "The message broker is offline: displays do not follow the table. Play continues, and every hand is recorded.",
}
_REFUSALS: Final = {
    REFUSED: "The message broker refuses this table: displays do not follow the table. Play continues, and every hand is recorded. Call a technician.",
    TAKEN_OVER: "Another client signs on at the message broker in place of this table: displays may not follow the table. Play continues, and every hand is recorded. Call a technician.",
    NO_RIGHTS: "The message broker refuses this table its topics: displays may not follow the table. Play continues, and every hand is recorded. Call a technician.",
}
"""What the top of a console says instead, by the reason of the broker's link."""


def device_message(state: TableState, seq: int, device: str, health: LinkHealth, now: datetime) -> Device:
    """The message of a device's state and identity; `seq` is the number of the last input."""
    settings = state.settings
    refused = health.connected and state.devices.of_name(device).offered is not None
    return Device(
        id=f"{settings.table}/devices/{device}/{timestamp(health.since)}",
        seq=seq,
        ts=timestamp(now),
        simulation=settings.simulation,
        device=device,
        state="not_accepted" if refused else "online" if health.connected else "offline",
        reason="a supervisor must accept it" if refused else health.reason or "connected",
        since=timestamp(health.since),
        serial=health.serial,
        components=(),
    )


def console_devices(
    state: TableState, seq: int, shoe_since: datetime, links: Mapping[str, LinkHealth], now: datetime
) -> Iterator[ConsoleDevice]:
    """The shoe, if the table has one, and all other links, by their names."""
    others = {name: link for name, link in links.items() if name != "shoe"}
    shoe = [shoe_message(state, seq, shoe_since, now)] if state.settings.cards == "shoe" else []
    for each in [*shoe, *(device_message(state, seq, name, link, now) for name, link in others.items())]:
        words = each.device.replace("_", " ")
        warning = _REFUSALS.get(each.reason) or _WARNINGS.get(
            each.device, f"The {words} is offline: check its power and its cable."
        )
        yield ConsoleDevice(
            device=each.device,
            title=_TITLES.get(each.device, words.capitalize()),
            state=each.state,
            reason=each.reason,
            since=each.since,
            port=links[each.device].port if each.device in links else None,
            serial=each.serial,
            versions=tuple(f"{part.name} {part.version}" for part in each.components),
            warning=warning if each.state == "offline" else None,
        )
