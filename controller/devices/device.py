"""What is published of a device beside the shoe, and what a console shows of all devices, the broker and the record."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import ClassVar, Final, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict

from punto.baccarat.table.events import Event
from punto.baccarat.table.state import TableState
from punto.controller.engine import Engine, Handled
from punto.controller.messages.building import shoe_message, timestamp
from punto.controller.messages.models import Device, Timestamp
from punto.controller.outbox import Outbox
from punto.drivers.base import CardReaderDriver, CoinSpotDriver, KeypadDriver, LinkHealth

_Driver = TypeVar("_Driver", CardReaderDriver, CoinSpotDriver, KeypadDriver)


class DeviceDoor(Generic[_Driver]):
    """The door of a device beside the shoe: what it says goes on the record, and how it is linked is published."""

    device: ClassVar[str]
    """Its name, which its topic `devices/...` has too."""

    def __init__(self, engine: Engine, outbox: Outbox, driver: _Driver) -> None:
        self._engine = engine
        self._outbox = outbox
        self._driver: _Driver = driver

    def link_changed(self) -> None:
        """Have the device's state published."""
        self._outbox.snapshot_due(f"devices/{self.device}")

    def message(self, now: datetime) -> Device:
        """The device: there or not, and which."""
        table, health = self._engine.state.settings.table, self._driver.health()
        return device_message(table, self._engine.seq, self.device, health, now)

    async def _submit(self, event: Event, source: str) -> Handled:
        (handled,) = await self._engine.submit([event], source)
        return handled


class ConsoleDevice(BaseModel):
    """A device of the table, the broker or the record as a console shows it: there or not, since when, why, and which.

    `port` is where it is looked for, null where the record does not say. `warning` is for the top of every console: what does
    not work while it is away; null while it is there.
    """

    model_config = ConfigDict(frozen=True)

    device: str
    title: str
    state: Literal["online", "offline", "not_accepted"]
    reason: str
    since: Timestamp
    port: str | None
    serial: str | None
    versions: tuple[str, ...]
    warning: str | None


_TITLES: Final = {
    "ishoe": "Shoe",
    "keypad": "Keypad",
    "coin_spot": "Wager sensors",
    "card_reader": "Card reader",
    "broker": "Message broker",
    "record": "Record",
}
_WARNINGS: Final = {
    "ishoe": "The shoe is offline: no card can be dealt. Check its power and its cable.",
    "keypad": "The keypad is offline: give its orders at a console.",
    "coin_spot": "The wager sensors are offline: no progressive game can be started.",
    "card_reader": "The card reader is offline: a supervisor signs with name and password.",
    "broker": "The message broker is away: the displays do not follow the table. Play goes on, and every hand is on the record.",
}


def device_message(table: str, seq: int, device: str, health: LinkHealth, now: datetime) -> Device:
    """A device: there or not, and which; `seq` is that of the last input."""
    return Device(
        id=f"{table}/devices/{device}/{timestamp(health.since)}",
        seq=seq,
        ts=timestamp(now),
        device=device,
        state="online" if health.connected else "offline",
        reason=health.reason or "connected",
        since=timestamp(health.since),
        serial=health.serial,
        components=(),
    )


def console_devices(
    state: TableState, seq: int, shoe_since: datetime, links: Mapping[str, LinkHealth], now: datetime
) -> Iterator[ConsoleDevice]:
    """The shoe, where one deals, and what else is linked, by its name."""
    table, others = state.settings.table, {name: link for name, link in links.items() if name != "ishoe"}
    shoe = [shoe_message(state, seq, shoe_since, now)] if state.settings.cards == "shoe" else []
    for each in [*shoe, *(device_message(table, seq, name, link, now) for name, link in others.items())]:
        yield ConsoleDevice(
            device=each.device,
            title=_TITLES[each.device],
            state=each.state,
            reason=each.reason,
            since=each.since,
            port=links[each.device].port if each.device in links else None,
            serial=each.serial,
            versions=tuple(f"{part.name} {part.version}" for part in each.components),
            warning=_WARNINGS[each.device] if each.state == "offline" else None,
        )
