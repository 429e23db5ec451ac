"""What is published of a device beside the shoe."""

from datetime import datetime

from controller.messages.building import timestamp
from controller.messages.models import Device
from drivers.base import LinkHealth


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
