"""What this PC has: devices with a guess at what each is, screens, addresses, and the zone of its clock."""

import asyncio
import socket
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from punto.doctor.patient import with_open
from punto.doctor.ports import ask, kernel_says, usb_of
from punto.drivers.base import BAUD
from punto.drivers.cable import BY_ID
from punto.drivers.card_reader.serial_line import SerialCardReader
from punto.drivers.coin_spot.seats import Seats
from punto.drivers.coin_spot.serial_line import SerialCoinSpot
from punto.drivers.ishoe.serial_line import SerialShoe
from punto.drivers.keypad.serial_line import SerialKeypad

SHOE: Final = "a shoe"
KEYPAD: Final = "a keypad"
SENSORS: Final = "wager sensors"
READER: Final = "a card reader"
NUMBER_PAD: Final = "a number pad"
KEYBOARD: Final = "a keyboard, or a card reader that types"
INPUTS: Final = Path("/dev/input/by-id")
SYSFS: Final = Path("/sys")
_ZONES: Final = "/usr/share/zoneinfo/"
_NO_SENSORS: Final = Seats.of((), 1)
_STUCK_SECONDS: Final = 20.0
# The codes of keys in <linux/input-event-codes.h>.
_KEY_1: Final = 2
_KEY_A: Final = 30
_KEY_KP1: Final = 79


def _sensors(path: str, baud: int) -> SerialCoinSpot:
    return SerialCoinSpot(path, baud, _NO_SENSORS, _STUCK_SECONDS)


_KINDS: Final[dict[str, Callable[[str, int], Any]]] = {
    SHOE: SerialShoe,
    KEYPAD: SerialKeypad,
    SENSORS: _sensors,
    READER: SerialCardReader,
}


class Port(NamedTuple):
    """A device: its path, what its adapter says of itself, and what is there. `typed` says that it is an input device."""

    path: Path
    adapter: str
    guess: str
    typed: bool = False
    unproven: bool = False
    """Whether nothing proves which device it is: it is an input device without a serial number."""

    def line(self) -> str:
        """The device for people."""
        return ": ".join(part for part in (str(self.path), self.about()) if part)

    def about(self) -> str:
        """What is known of the device but its path, for people."""
        number = "without a serial number" if self.unproven else ""
        return ": ".join(
            part for part in (self.adapter, ", ".join(filter(None, (self.guess, number)))) if part
        )


class Finder:
    """Looks for devices, again and again. A serial port is asked for what is there when it appears."""

    def __init__(self) -> None:
        self._known: dict[Path, Port] = {}

    def look(self) -> list[Port]:
        """The devices that are connected now."""
        self._known = {
            path: self._known.get(path) or Port(path, adapter_of(path), guess(path))
            for path in serial_paths()
        }
        return [*self._known.values(), *input_devices()]

    def look_again(self) -> list[Port]:
        """The same, after ports at which no device introduced itself are asked again."""
        self._known = {path: port for path, port in self._known.items() if port.guess in _KINDS}
        return self.look()


def serial_paths(folder: Path = BY_ID, devices: Path = Path("/dev")) -> Iterator[Path]:
    """The serial ports of USB adapters, each once: by its path that stays the same, if it has one."""
    by_id = sorted(folder.iterdir()) if folder.is_dir() else []
    known = {each.resolve() for each in by_id}
    yield from by_id
    for name in ("ttyUSB*", "ttyACM*"):
        yield from (each for each in sorted(devices.glob(name)) if each not in known)


def adapter_of(path: Path) -> str:
    """The maker, model and serial number of a USB device, empty if it does not say."""
    usb = usb_of(path)
    return "" if usb is None else " ".join(part for part in (usb.maker, usb.model, usb.serial) if part)


def guess(path: Path) -> str:
    """What is at the port: the device that introduces itself, or why none does. A port that a program has open is not touched."""
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


def input_devices(folder: Path = INPUTS, sysfs: Path = SYSFS) -> Iterator[Port]:
    """The input devices that have the keys of digits, by what the kernel knows of them. None is opened."""
    for path in sorted(folder.glob("*event*")) if folder.is_dir() else ():
        device = sysfs / "class" / "input" / path.resolve().name / "device"
        keys = _keys(kernel_says(device / "capabilities" / "key"))
        if not keys & (1 << _KEY_1 | 1 << _KEY_KP1):
            continue  # such as a mouse
        kind = KEYBOARD if keys & 1 << _KEY_A else NUMBER_PAD
        yield Port(
            path, kernel_says(device / "name"), kind, typed=True, unproven=not kernel_says(device / "uniq")
        )


def _keys(words: str) -> int:
    """The kernel's bits of keys: words of 64 bits in hexadecimal digits, the highest first."""
    bits = 0
    for word in words.split():
        bits = bits << 64 | int(word, 16)
    return bits


def screens(sysfs: Path = SYSFS) -> Iterator[str]:
    """The screens that are connected to this PC, each with its connector and its best size."""
    for connector in sorted((sysfs / "class" / "drm").glob("card*-*")):
        if kernel_says(connector / "status") == "connected":
            size = kernel_says(connector / "modes")
            yield " ".join(part for part in (connector.name.partition("-")[2], size) if part)


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
