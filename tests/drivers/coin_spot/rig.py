"""Both ends of the sensors' link, and a user who checks what the host is told."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from punto.drivers.base import (
    SensorEvent,
    SensorFailed,
    SensorMended,
    SensorOrders,
    SensorsFound,
    StartUnconfirmed,
    WagerLifted,
    WagerPlaced,
    WagersLatched,
)
from punto.drivers.coin_spot.link import CoinSpotLink
from punto.drivers.coin_spot.seats import Seats
from punto.drivers.framing import Seal
from punto.simulators.coin_spot.device import Break, Concentrator, Sensor
from tests.drivers.ends import Ends

STUCK_SECONDS = 2.0


@dataclass
class Picture:
    """What a user knows who believes every event; one that does not fit what came before is an error."""

    seats: tuple[int, ...] = ()
    wagers: set[int] = field(default_factory=set)
    unsure: set[int] = field(
        default_factory=set
    )  # of these the first picture could not tell, or their round was before
    late: dict[int, int] = field(default_factory=dict)
    rounds: dict[int, tuple[int, ...]] = field(default_factory=dict)
    unconfirmed: list[int] = field(default_factory=list)
    faults: set[tuple[int, str]] = field(default_factory=set)
    found: list[SensorsFound] = field(default_factory=list)
    told: list[SensorEvent] = field(default_factory=list)

    def take(self, events: Sequence[SensorEvent]) -> None:  # noqa: C901 - flat: one case an event
        for event in events:
            self.told.append(event)
            match event:
                case WagerPlaced():
                    assert event.seat not in self.wagers - self.unsure
                    self.unsure.discard(event.seat)
                    self.wagers.add(event.seat)
                    if event.late_for is not None:
                        self.late[event.seat] = event.late_for
                case WagerLifted():
                    if event.seat in self.unsure:
                        self.wagers.add(event.seat)
                        self.unsure.remove(event.seat)
                    self.wagers.remove(event.seat)
                    self.late.pop(event.seat, None)
                case WagersLatched():
                    assert event.round not in self.rounds
                    self.rounds[event.round] = event.seats
                case StartUnconfirmed():
                    self.unconfirmed.append(event.round)
                case SensorFailed():
                    assert (event.position, event.fault) not in self.faults
                    self.faults.add((event.position, event.fault))
                case SensorMended():
                    self.faults.remove((event.position, event.fault))
                case SensorsFound():
                    said = {*event.empty, *event.lying}
                    self.wagers -= said
                    self.unsure = set(self.seats) - said
                    self.late.clear()
                    self.found.append(event)


@dataclass
class Latch:
    """What the device latched, and which coin lay there then, by seat."""

    round: int
    positions: frozenset[int]
    coins: dict[int, int]


class Rig(Ends):
    """A chain of so many sensors, the seat of each by its number times ten, and its host."""

    link: CoinSpotLink

    def __init__(self, key: bytes | None = None, positions: int = 3) -> None:
        self.seats = Seats.of([(n, n * 10) for n in range(1, positions + 1)], 150)
        self.sensors = [Sensor() for _ in range(positions)]
        self.coins: dict[int, int] = {}  # position -> which coin lies there
        self.coins_so_far = 0
        self.latches: list[Latch] = []
        self.orders = SensorOrders()
        super().__init__(key)

    def switch_on(self) -> None:
        self.device = Concentrator("VC-1", self.boot, self.sensors)

    def new_link(self, seal: Seal) -> CoinSpotLink:
        self.user = Picture(self.seats.seats(range(1, 16)))
        return CoinSpotLink(self.seats, STUCK_SECONDS, seal)

    def put(self, *positions: int) -> None:
        for position in positions:
            self.sensors[position - 1].put()
            self.coins_so_far += 1
            self.coins[position] = self.coins_so_far
        self.device.look()

    def take(self, *positions: int) -> None:
        for position in positions:
            self.sensors[position - 1].take()
            self.coins.pop(position, None)
        self.device.look()

    def break_(self, position: int, how: Break) -> None:
        self.sensors[position - 1].break_(how)
        self.device.look()

    def mend(self, position: int) -> None:
        self.sensors[position - 1].mend()
        self.device.look()

    def want(self, round_: int | None, lights: Iterable[int] = ()) -> None:
        self.orders = SensorOrders(round_, frozenset(lights))

    def from_link(self) -> bytes:
        self.link.want(self.now, self.orders)
        return self.link.data_to_send(self.now)

    def to_device(self, data: bytes) -> None:
        before = self.device.round
        self.device.receive(data, self.now)
        if self.device.round not in {0, before}:
            coins = {position * 10: self.coins[position] for position in self.device.latched}
            self.latches.append(Latch(self.device.round, self.device.latched, coins))

    def from_device(self) -> list[bytes]:
        return self.device.data_to_send(self.now)

    def host_hears(self, data: bytes) -> list[SensorEvent]:
        events = [*self.link.receive(data, self.now), *self.link.tick(self.now)]
        self.user.take(events)
        return events

    def turn(self, seconds: float | None = None) -> list[SensorEvent]:
        """One exchange, and then time passes; all that was told."""
        told = len(self.user.told)
        super().turn(seconds)
        return self.user.told[told:]

    def settle(self, seconds: float = 1.0) -> list[SensorEvent]:
        """Exchanges for a while; all that was told."""
        told = len(self.user.told)
        self.runs(seconds)
        return self.user.told[told:]

    def does(self) -> bool:
        self.put(self.coins_so_far + 1)
        return True

    @property
    def got(self) -> list[int]:
        return [event.seat // 10 for event in self.user.told if isinstance(event, WagerPlaced)]
