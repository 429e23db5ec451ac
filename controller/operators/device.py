"""What is published of a device beside the shoe, and what a console shows of all devices, the broker and the record."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict

from controller.messages.building import shoe_message, timestamp
from controller.messages.models import Device, Timestamp
from controller.table.state import TableState
from drivers.base import LinkHealth


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
    if state.settings.cards == "shoe":
        yield _console_device(shoe_message(state, seq, shoe_since, now), links.get("ishoe"))
    for name, health in links.items():
        if name != "ishoe":
            yield _console_device(device_message(state.settings.table, seq, name, health, now), health)


def _console_device(message: Device, health: LinkHealth | None) -> ConsoleDevice:
    return ConsoleDevice(
        device=message.device,
        title=_TITLES[message.device],
        state=message.state,
        reason=message.reason,
        since=message.since,
        port=None if health is None else health.port,
        serial=message.serial,
        versions=tuple(f"{part.name} {part.version}" for part in message.components),
        warning=_WARNINGS[message.device] if message.state == "offline" else None,
    )
