"""What the controller knows of its devices: the Protocols of the drivers, and nothing of how a device is reached."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, Protocol, TypeVar

from punto.baccarat.table.events import ShoeEvent
from punto.baccarat.table.shoe_orders import ShoeOrders

BAUD: Final = 115_200  # of a serial device whose configuration names none


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


class LinkUser(Protocol):
    """What every device's user must do."""

    def link_changed(self) -> None:
        """Take note that `health` has news: the device came or went."""


User_contra = TypeVar("User_contra", contravariant=True)


class Driver(Protocol[User_contra]):
    """The driver of a device, and the user that it reports to. It never gives up: a lost device is a state, not an exception."""

    async def run(self, user: User_contra) -> None:
        """Report to the user until cancelled, each thing once and in order. What the user raises escapes."""

    def health(self) -> LinkHealth:
        """The state of the device's link now."""


class ShoeUser(LinkUser, Protocol):
    """What a shoe reports to: its door."""

    async def take(self, events: Sequence[ShoeEvent]) -> None:
        """Take one batch of events, in order, and return when they are safe; what this raises must escape the driver.

        Awaiting it is the backpressure: a driver reads nothing meanwhile.
        """

    def orders(self) -> ShoeOrders:
        """What the table wants now. The record that `taken` names is safe, and the shoe may forget it."""


class ShoeDriver(Driver[ShoeUser], Protocol):
    """A shoe."""

    def send(self) -> None:
        """Have the shoe told at once what the user's orders are; call it when they changed by something else than a batch.

        Called from the event loop; returns at once.
        """


@dataclass(frozen=True, slots=True)
class KeyAnswer:
    """What became of a press: an order was carried out, more keys are wanted, or it was refused.

    `text` says which or why, in words for the dealer; it stands for so many `seconds`, 0 until the next one.
    """

    result: Literal["done", "more", "refused"]
    text: str
    seconds: int = 0


@dataclass(frozen=True, slots=True)
class KeypadLamps:
    """What a keypad shows without being asked: `ready` for orders, a `card` must be keyed, play is `stopped`."""

    ready: bool = False
    card: bool = False
    stopped: bool = False


KeyPosition = Literal["run", "jph"]
"""Where a supervisor's key stands at an Aquarius table."""


class KeypadUser(LinkUser, Protocol):
    """What a keypad reports to: its door."""

    async def press(self, key: str) -> KeyAnswer:
        """Take one press of a key; what this raises is not the keypad's and must escape the driver."""

    async def turned(self, position: KeyPosition) -> None:
        """Take where the key switch of a keypad that has one stands: once it is known, and each time that it is turned.

        What this raises must escape the driver.
        """

    def lamps(self) -> KeypadLamps:
        """What the keypad shows now; asked several times a second."""


KeypadDriver = Driver[KeypadUser]
"""A dealer's keypad. None of its presses was made longer than a moment ago."""


@dataclass(frozen=True, slots=True)
class WagerPlaced:
    """A progressive wager came to the sensor before `seat`, by the device's change `number`.

    `late_for` is the round that the device had started by then, None while wagers were open.
    """

    seat: int
    number: int
    late_for: int | None = None


@dataclass(frozen=True, slots=True)
class WagerLifted:
    """The wager before `seat` is no longer there; it still counts if it was latched."""

    seat: int


@dataclass(frozen=True, slots=True)
class WagersLatched:
    """The device has started `round`: these seats, and no others, have a progressive wager in it."""

    round: int
    seats: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class StartUnconfirmed:
    """The device did not confirm the START of `round` in time, and is not told of it any more.

    It may have taken it all the same: `WagersLatched` still follows if it did and the round is still wanted.
    """

    round: int


SensorFault = Literal["missing", "doubled", "stuck", "unassigned"]
"""No sensor answers; two do; a wager of the round before is still there; one answers that no seat has."""


@dataclass(frozen=True, slots=True)
class SensorFailed:
    """A sensor has a fault; `seat` is None where no seat is set for its position."""

    position: int
    seat: int | None
    fault: SensorFault


@dataclass(frozen=True, slots=True)
class SensorMended:
    """A sensor has this fault no more."""

    position: int
    seat: int | None
    fault: SensorFault


@dataclass(frozen=True, slots=True)
class SensorsFound:
    """The first picture since the host's start or the sensors' own: what was known to lie there before may not be so.

    On `empty` seats lies nothing. On those in `lying` is what can be a wager in a coming round, and each is told again. What
    lies on those in `spent` has had its START, whether or not anybody was told of it. Of all others nothing can be said. A
    round whose wagers were latched keeps them, and a fault stands until it is mended.
    """

    empty: tuple[int, ...]
    lying: tuple[int, ...]
    spent: tuple[int, ...] = ()


SensorEvent = (
    WagerPlaced | WagerLifted | WagersLatched | StartUnconfirmed | SensorFailed | SensorMended | SensorsFound
)


@dataclass(frozen=True, slots=True)
class SensorOrders:
    """What the table wants of its sensors: the `round` that is started, None while wagers are open, and the lit seats.

    A round's number is from 1 on and not below that of the one before it: one that was started and ended can be started
    again. The orders that a driver is given first say where the record left off: a round in them is taken up where the device has it started, and not started otherwise.
    """

    round: int | None = None
    lights: frozenset[int] = frozenset()


class CoinSpotUser(LinkUser, Protocol):
    """What the wager sensors report to: their door."""

    async def take(self, events: Sequence[SensorEvent]) -> None:
        """Take what happened, in order, and return when it is safe; what this raises must escape the driver."""

    def orders(self) -> SensorOrders:
        """What the table wants now; asked several times a second."""


class CoinSpotDriver(Driver[CoinSpotUser], Protocol):
    """A table's wager sensors."""

    @property
    def seats(self) -> frozenset[int]:
        """The seats that have a sensor."""


class DeviceWatch(Protocol):
    """The watch over a device that should not be there while a shoe is in use."""

    async def run(self, report: Callable[[bool, str], Awaitable[None]]) -> None:
        """Report until cancelled whether the device is attached, and at which path, each time that this changes.

        It counts as not attached to begin with. What `report` raises escapes.
        """


@dataclass(frozen=True, slots=True)
class CardAnswer:
    """What became of a swiped card: accepted, refused, or its owner must give a `second_factor` as well.

    `text` says why or what to do, in words for whoever swiped.
    """

    result: Literal["accepted", "refused", "second_factor"]
    text: str


class CardReaderUser(LinkUser, Protocol):
    """What a card reader reports to: its door."""

    async def swipe(self, number: str) -> CardAnswer:
        """Take one swipe of the card with this number, which is nobody else's to know: it is put in no log and no message.

        What this raises is not the reader's and must escape the driver.
        """

    async def unreadable(self) -> None:
        """Take note that a card was swiped and could not be read; the reader says so itself."""

    def awaited(self) -> bool:
        """Whether a swipe is awaited, as the reader shows it; asked several times a second."""


CardReaderDriver = Driver[CardReaderUser]
"""A reader of cards. Swipes are given whether or not one is awaited, and none was made longer than a moment ago."""


@dataclass(frozen=True, slots=True)
class Devices:
    """The drivers of a table's devices, None where it has no such device."""

    shoe: ShoeDriver | None = None
    keypad: KeypadDriver | None = None
    configuration_keypad: DeviceWatch | None = None
    coin_spot: CoinSpotDriver | None = None
    card_reader: CardReaderDriver | None = None
