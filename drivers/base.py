"""The Protocols between the controller and the drivers of its devices."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, Protocol, TypeVar

from punto.baccarat.table.events import ShoeEvent
from punto.baccarat.table.shoe_orders import ShoeOrders

if TYPE_CHECKING:  # codecs and links take the answers from here, and have no clock
    from datetime import datetime

BAUD: Final = 115_200  # the default rate of a serial device


@dataclass(frozen=True, slots=True)
class LinkHealth:
    """The state of a device's link, as a snapshot for the health message.

    `connected` is true while the device has introduced itself and sends signs of life. `reason` is why it is not
    connected, empty while it is. `since` is when that last changed (UTC). `counters` count from the driver's start.
    `unproven`: something is connected that does not have the enrolled key.
    """

    port: str
    connected: bool
    reason: str
    since: "datetime"
    serial: str | None
    counters: Mapping[str, int]
    unproven: bool = False


class LinkUser(Protocol):
    """The user of any device: its door in the controller."""

    def link_changed(self) -> None:
        """Handle a change of `health`: the device was connected or lost."""


User_contra = TypeVar("User_contra", contravariant=True)


class Driver(Protocol[User_contra]):
    """The driver of a device. It reconnects for ever: a lost device is a state, not an exception."""

    async def run(self, user: User_contra) -> None:
        """Report each event to the user once and in order, until cancelled. Exceptions of the user propagate."""

    def health(self) -> LinkHealth:
        """The present state of the device's link."""


class ShoeUser(LinkUser, Protocol):
    """The user of a shoe: its door."""

    async def take(self, events: Sequence[ShoeEvent]) -> None:
        """Handle one batch of events in order, and return when they are recorded. The driver must propagate exceptions.

        Awaiting it is the backpressure: meanwhile the driver reads nothing.
        """

    def orders(self) -> ShoeOrders:
        """The table's present orders. The record number `taken` is recorded, and the shoe may delete it."""


class ShoeDriver(Driver[ShoeUser], Protocol):
    """The driver of a shoe."""

    def send(self) -> None:
        """Send the user's orders to the shoe now. Call it when something other than a batch of events changed them.

        It must be called from the event loop, and returns without waiting.
        """


@dataclass(frozen=True, slots=True)
class KeyAnswer:
    """The result of a press: an order was carried out, more keys must follow, or it was refused.

    `text` tells the dealer the result or the reason. The keypad shows it for `seconds`; 0 means until the next text.
    """

    result: Literal["done", "more", "refused"]
    text: str
    seconds: int = 0


@dataclass(frozen=True, slots=True)
class KeypadLamps:
    """The lamps of a keypad: the table is `ready` for orders, a `card` must be keyed, play is `stopped`."""

    ready: bool = False
    card: bool = False
    stopped: bool = False


KeyPosition = Literal["run", "jph"]
"""The position of a supervisor's key at an Aquarius table."""


class KeypadUser(LinkUser, Protocol):
    """The user of a keypad: its door. The driver must propagate exceptions of `press` and `turned`."""

    async def press(self, key: str) -> KeyAnswer:
        """Handle one press of a key."""

    def restarted(self) -> None:
        """Handle a power-on of the keypad: it has forgotten what was pressed before."""

    async def turned(self, position: KeyPosition) -> None:
        """Handle the position of the key switch, if the keypad has one: when it is first known, and after each turn."""

    def lamps(self) -> KeypadLamps:
        """The lamps to show now. The driver calls it several times a second."""


KeypadDriver = Driver[KeypadUser]
"""The driver of a dealer's keypad. It refuses presses that are too old."""


@dataclass(frozen=True, slots=True)
class WagerPlaced:
    """A progressive wager came to the sensor of `seat`, in the device's change `number`.

    `late_for` is the round that the device had already started, None if wagers were open.
    """

    seat: int
    number: int
    late_for: int | None = None


@dataclass(frozen=True, slots=True)
class WagerLifted:
    """The wager of `seat` was taken away; it still counts if it was latched."""

    seat: int


@dataclass(frozen=True, slots=True)
class WagersLatched:
    """The device has started `round`: only these seats have a progressive wager in it."""

    round: int
    seats: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class StartUnconfirmed:
    """The device did not confirm the START of `round` in time, and the driver no longer sends it.

    The device may have started the round all the same: if it did and the table still wants the round, `WagersLatched`
    follows.
    """

    round: int


SensorFault = Literal["missing", "doubled", "stuck", "unassigned"]
"""No sensor answers; two answer; a wager of the previous round is still there; a sensor without a seat answers."""


@dataclass(frozen=True, slots=True)
class SensorFailed:
    """A sensor has a fault; `seat` is None if its position has no seat."""

    position: int
    seat: int | None
    fault: SensorFault


@dataclass(frozen=True, slots=True)
class SensorMended:
    """A sensor no longer has this fault."""

    position: int
    seat: int | None
    fault: SensorFault


@dataclass(frozen=True, slots=True)
class SensorsFound:
    """The first report after a start of the host or of the sensors: it replaces what was known before.

    `empty` seats have no wager. Seats in `lying` have a wager that can be in a coming round, and a `WagerPlaced` follows
    for each. Seats in `spent` have a wager that has had its START, whether or not the START was reported. The state of all
    other seats is unknown. A latched round keeps its wagers, and a fault lasts until it is mended.
    """

    empty: tuple[int, ...]
    lying: tuple[int, ...]
    spent: tuple[int, ...] = ()


SensorEvent = (
    WagerPlaced | WagerLifted | WagersLatched | StartUnconfirmed | SensorFailed | SensorMended | SensorsFound
)


@dataclass(frozen=True, slots=True)
class SensorOrders:
    """The table's orders to its sensors: the `round` that is started, None while wagers are open, and the lit seats.

    Round numbers begin at 1 and never decrease; a round that was started and ended can be started again. The first orders
    that a driver receives are the state of the record. If they contain a round, the driver continues it only if the
    device has started it.
    """

    round: int | None = None
    lights: frozenset[int] = frozenset()


class CoinSpotUser(LinkUser, Protocol):
    """The user of the wager sensors: their door."""

    async def take(self, events: Sequence[SensorEvent]) -> None:
        """Handle events in order, and return when they are recorded. The driver must propagate exceptions."""

    def orders(self) -> SensorOrders:
        """The table's present orders. The driver calls it several times a second."""


class CoinSpotDriver(Driver[CoinSpotUser], Protocol):
    """The driver of a table's wager sensors."""

    @property
    def seats(self) -> frozenset[int]:
        """The seats that have a sensor."""

    def report_again(self) -> None:
        """Report the whole state again, as after a start: what was reported so far was not taken."""


class DeviceWatch(Protocol):
    """Watches for a device that must not be attached while a shoe is in use."""

    async def run(self, report: Callable[[bool, str], Awaitable[None]]) -> None:
        """Report each change until cancelled: whether the device is attached, and at which path.

        At first it counts as not attached. Exceptions of `report` propagate.
        """


@dataclass(frozen=True, slots=True)
class CardAnswer:
    """The result of a swipe: accepted, refused, or the card's owner must give a `second_factor` as well.

    `text` tells the card's owner why, or what to do.
    """

    result: Literal["accepted", "refused", "second_factor"]
    text: str


class CardReaderUser(LinkUser, Protocol):
    """The user of a card reader: its door."""

    async def swipe(self, number: str) -> CardAnswer:
        """Handle one swipe of the card with this number. The number is secret: no log and no message may contain it.

        The driver must propagate exceptions.
        """

    async def unreadable(self) -> None:
        """Handle a swipe of a card that could not be read; the reader shows that to the card's owner."""

    def awaited(self) -> bool:
        """Whether the table waits for a swipe, as the reader shows it. The driver calls it several times a second."""


CardReaderDriver = Driver[CardReaderUser]
"""The driver of a card reader. It reports every swipe, whether or not one is awaited, and refuses swipes that are too old."""


@dataclass(frozen=True, slots=True)
class Devices:
    """The drivers of a table's devices; None for a device that the table does not have."""

    shoe: ShoeDriver | None = None
    keypad: KeypadDriver | None = None
    configuration_keypad: DeviceWatch | None = None
    coin_spot: CoinSpotDriver | None = None
    card_reader: CardReaderDriver | None = None
