"""The sections of the devices at the table: shoe, keypads, wager sensors and card reader."""

from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

from pydantic import AfterValidator, Field, ValidationInfo, model_validator

from punto.baccarat.table.settings import DeviceSection
from punto.baccarat.unit import Unit
from punto.configs.section import Section
from punto.configs.toml_file import in_folder
from punto.drivers.address import is_network, parsed
from punto.drivers.base import BAUD
from punto.drivers.coin_spot.seats import Seats
from punto.drivers.keypad.keys import KeyMap
from punto.runtime.secret_file import SecretFile, read_key


def _device_path(path: str, info: ValidationInfo) -> str:
    """The path of a device. A relative path is relative to the file's folder."""
    if not path:
        raise ValueError(
            f"{info.field_name} is empty: write the device's path, such as /dev/serial/by-id/usb-..."
        )
    return str(in_folder(Path(path), info))


def _serial_address(address: str, info: ValidationInfo) -> str:
    """The address of a serial line: a path, or an address in the network."""
    return parsed(address).geturl() if is_network(address) else _device_path(address, info)


DevicePath = Annotated[str, AfterValidator(_device_path)]
SerialAddress = Annotated[str, AfterValidator(_serial_address)]
Baud = Annotated[int, Field(ge=1200, le=4_000_000), Unit("bit/s")]


class DeviceConfig(Section):
    """A device that introduces itself: which one it must be, and how it proves that."""

    section: ClassVar[DeviceSection]

    serial: str | None = None
    """The serial number of the device. The table accepts another device only after the order `accept_device`. If left out, the
    table accepts the first device that is connected.
    """
    key_file: SecretFile | None = None
    """A text file with the device's key, which is 64 hexadecimal digits (`punto device-key`). For a credential from systemd,
    write `$CREDENTIALS_DIRECTORY/NAME`. With a key, the line uses [version 2 of the link](sealed-links.md), and the table ignores
    devices that do not have this key.
    """
    link_version: Literal[1, 2] = 2
    """The version of the line's protocol. With version 2, a device at a `port` needs a key, and a device at an `input` needs its
    own serial number. Write 1 only if the house allows a device without key or serial number. With version 1, another device can
    replace this device unnoticed. In a [simulation](../explanation/random-numbers.md), a device without a key can use version 2.
    """

    def key(self) -> bytes | None:
        """The device's key, None without one.

        Raises:
            ConfigError: the key cannot be read.
        """
        if self.key_file is None:
            return None
        return read_key(self.key_file, "device's key", f"{self.section}.key_file")


class SerialConfig(DeviceConfig):
    """A device at a serial `port`."""

    port: SerialAddress
    """The serial port. Use a path below `/dev/serial/by-id`, because such a path stays the same when other devices are plugged
    in. For a line at [a device server](../how-to/add-a-device.md#a-line-in-the-network), write `socket://HOST:PORT` or
    `rfc2217://HOST:PORT`.
    """
    baud: Baud = BAUD
    """The line's speed. With `socket://`, the device server sets the speed of its line itself."""


class SerialOrInputConfig(DeviceConfig):
    """A device that is at a serial `port` or is a Linux `input` device."""

    port: SerialAddress | None = None
    """The serial port. Give either `port` or `input`."""
    baud: Baud = BAUD
    """The line's speed, for a device at a `port`."""
    input: DevicePath | None = None
    """The path of a Linux input device, which is a device that types like a keyboard. It needs `punto[evdev]`."""

    @model_validator(mode="after")
    def _one_device(self) -> Self:
        if (self.port is None) is (self.input is None):
            raise ValueError(
                'give either port or input, such as port = "/dev/serial/by-id/usb-..." '
                'or input = "/dev/input/by-id/usb-...-event-kbd"'
            )
        return self


class ShoeConfig(SerialConfig):
    """`[shoe]`: the card-recognition shoe. Required with `cards = "shoe"`, and not allowed with `cards = "keyed"`."""

    section = "shoe"

    serial: str | None = None
    """The serial number of the shoe. The table accepts another shoe only after the order `accept_shoe`. If left out, the table
    accepts any shoe that is connected while no cards are in play.
    """


class KeypadConfig(SerialOrInputConfig):
    """`[keypad]`: the dealer's keypad."""

    section = "keypad"

    timeout: Annotated[float, Field(ge=0.5, le=30), Unit("seconds")] = 3.0
    """How long the table waits for the next key of a sequence."""
    keys: dict[str, str] = Field(default_factory=dict)
    """The orders of keys. The name of an entry is a key, or several keys that are pressed in sequence, separated by spaces. The
    value is the order. An entry adds to [the default map](keypad.md#set-it-up), or replaces the default entry of the same name.
    """
    key_switch: bool = False
    """Whether the keypad has a switch for the supervisor's key (Aquarius). Only a keypad at a `port` can have a switch."""
    start_label: Literal["START GAME", "COIN IN"] = "START GAME"
    """The label of the key that starts a game of the progressive."""

    @model_validator(mode="after")
    def _key_switch_at_a_port(self) -> Self:
        if self.key_switch and self.port is None:
            raise ValueError(
                "key_switch: only a keypad at a serial port can have a key switch: write port, or remove key_switch"
            )
        return self

    def key_map(self) -> KeyMap:
        """The orders of the keys.

        Raises:
            KeyMapError: a key or an order is invalid. In a loaded configuration, all are valid.
        """
        return KeyMap(self.keys)


class ConfigurationKeypadConfig(Section):
    """`[configuration_keypad]`: the score display's keypad, which must not be plugged in while a shoe is in use."""

    path: DevicePath
    """The path at which the keypad appears when it is plugged in. The service watches this path, and never opens the keypad."""


class CoinSpotConfig(SerialConfig):
    """`[coin_spot]`: the wager sensors of a progressive. Without this section the dealer marks the wagers at a console."""

    section = "coin_spot"

    seats: tuple[int, ...]
    """The seat of each sensor, in the order of the sensors on the cable. Use 0 for a sensor without a seat."""
    stuck_seconds: Annotated[float, Field(ge=1, le=600), Unit("seconds")] = 20.0
    """If a sensor still detects a wager this many seconds after the game of the wager has ended, the table reports the sensor as
    stuck.
    """

    def positions(self, seats: int) -> Seats:
        """The seat of each position, at a table with this number of seats.

        Raises:
            SeatsError: a seat is there twice, or does not exist.
        """
        return Seats.of(((at, seat) for at, seat in enumerate(self.seats, start=1) if seat), seats)


class CardReaderConfig(SerialOrInputConfig):
    """`[card_reader]`: the reader of Supervisor and Executive cards (Nexus Command)."""

    section = "card_reader"
