"""What this PC has: serial ports with a guess at the device, addresses, and the zone of its clock."""

import asyncio
import socket
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from punto.doctor.patient import with_open
from punto.doctor.ports import ask, usb_of
from punto.drivers.base import BAUD
from punto.drivers.cable import BY_ID
from punto.drivers.card_reader.serial_line import SerialCardReader
from punto.drivers.coin_spot.seats import Seats
from punto.drivers.coin_spot.serial_line import SerialCoinSpot
from punto.drivers.ishoe.serial_line import SerialShoe
from punto.drivers.keypad.serial_line import SerialKeypad

SHOE: Final = "a shoe"
_ZONES: Final = "/usr/share/zoneinfo/"
_NO_SENSORS: Final = Seats.of((), 1)
_STUCK_SECONDS: Final = 20.0


def _sensors(path: str, baud: int) -> SerialCoinSpot:
    return SerialCoinSpot(path, baud, _NO_SENSORS, _STUCK_SECONDS)


_KINDS: Final[dict[str, Callable[[str, int], Any]]] = {
    SHOE: SerialShoe,
    "a keypad": SerialKeypad,
    "wager sensors": _sensors,
    "a card reader": SerialCardReader,
}


class Port(NamedTuple):
    """A serial port: what its adapter says of itself, and what is there."""

    path: Path
    adapter: str
    guess: str

    def line(self) -> str:
        """The port for people."""
        return ": ".join(part for part in (str(self.path), self.adapter, self.guess) if part)


def serial_ports(folder: Path = BY_ID, devices: Path = Path("/dev")) -> list[Port]:
    """The serial ports of USB adapters. A port that no program has open is asked for its device; the others are not touched."""
    by_id = sorted(folder.iterdir()) if folder.is_dir() else []
    known = {each.resolve() for each in by_id}
    plain = [
        each for name in ("ttyUSB*", "ttyACM*") for each in sorted(devices.glob(name)) if each not in known
    ]
    return [Port(each, adapter_of(each), guess(each)) for each in (*by_id, *plain)]


def adapter_of(path: Path) -> str:
    """The maker, model and serial number of a USB device, empty if it does not say."""
    usb = usb_of(path)
    return "" if usb is None else " ".join(part for part in (usb.maker, usb.model, usb.serial) if part)


def guess(path: Path) -> str:
    """What is at the port: the device that introduces itself, or why none does."""
    holders = with_open(path)
    if holders:
        return f"in use by {holders[0]}"
    why = ""
    for kind, driver_of in _KINDS.items():
        why = asyncio.run(ask(driver_of(str(path), BAUD)))
        if not why:
            return kind
        if "uses version" in why:
            return "a device that wants a key"
        if "another device" not in why:  # it says nothing, so it would say nothing to the others either
            return why
    return why


def addresses() -> Iterator[str]:
    """The addresses of this PC in its networks."""
    with suppress(OSError):
        for family, _, _, _, address in socket.getaddrinfo(
            socket.gethostname(), None, type=socket.SOCK_STREAM
        ):
            if family == socket.AF_INET and not str(address[0]).startswith("127."):
                yield str(address[0])


def zone(localtime: Path = Path("/etc/localtime")) -> str:
    """The zone of the PC's clock."""
    _, here, name = str(localtime.resolve()).partition(_ZONES)
    return name if here else "UTC"
