"""Host and shoe over lines that lose, double, delay and damage: the journal gets every record once, in order.

The shoe is the model that was written from the page; the host is the real link and a journal. Time is simulated, so a
bad line of minutes takes no time.
"""

import random
from collections import deque
from dataclasses import dataclass, field, replace

import pytest

from punto.baccarat.cards import STANDARD_DECK
from punto.baccarat.table.events import RecordsLost, ShoeEvent, ShoeHello, ShoeLost, ShoeRecord
from punto.baccarat.table.shoe_orders import Lamps, ShoeOrders
from punto.drivers.ishoe import frames
from punto.drivers.ishoe.link import IShoeLink
from tests.ishoe.model import LOG, SERIAL, ModelShoe

pytestmark = pytest.mark.by_chance

STEP = 0.01


@dataclass
class Line:
    """One direction of the wire: what goes wrong with each piece of what is sent."""

    chance: random.Random
    loses: float = 0.0  # chance of each byte to get lost
    damages: float = 0.0  # chance of each byte to become another
    doubles: float = 0.0  # chance of each piece to come twice
    drops: float = 0.0  # chance of each piece to get lost whole
    gathers: float = 0.0  # noise bytes before each piece, as a chance
    steps: int = 0  # how long it takes
    one_by_one: bool = False
    cut: bool = False
    _under_way: deque[tuple[int, bytes]] = field(default_factory=deque)

    def send(self, data: bytes, step: int) -> None:
        if self.cut or not data or self.chance.random() < self.drops:
            return
        times = 2 if self.chance.random() < self.doubles else 1
        noise = self.chance.randbytes(20) if self.chance.random() < self.gathers else b""
        arriving = bytes(map(self._damaged, noise + data * times)) if self.damages else noise + data * times
        if self.loses:
            arriving = bytes(byte for byte in arriving if self.chance.random() >= self.loses)
        self._under_way.append((step + self.steps, arriving))

    def arrives(self, step: int) -> list[bytes]:
        pieces = []
        while self._under_way and self._under_way[0][0] <= step:
            data = self._under_way.popleft()[1]
            pieces += [bytes((byte,)) for byte in data] if self.one_by_one else [data]
        return pieces

    def _damaged(self, byte: int) -> int:
        return self.chance.randrange(256) if self.chance.random() < self.damages else byte


class Host:
    """The link with a journal. A batch is committed before the table answers and before it is acknowledged."""

    def __init__(self) -> None:
        self.journal: list[ShoeEvent] = []
        self.records: list[ShoeRecord] = []
        self.locked = False
        self.restart(0.0)

    def restart(self, now: float) -> None:
        self.link = IShoeLink()
        self.link.want(self.orders())
        self.link.connect(now, 1)

    def orders(self) -> ShoeOrders:
        """The lamps follow the records, as a table's do."""
        taken = len(self.records)
        lamps = Lamps(banker=taken % 3 == 0, next=("player", "banker")[taken % 2])
        return ShoeOrders(SERIAL, LOG, taken, self.locked, lamps)

    def takes(self, events: list[ShoeEvent]) -> None:
        if not events:
            return
        self.journal += events
        self.records += [event for event in events if isinstance(event, ShoeRecord)]
        self.link.handled()
        self.link.want(self.orders())


class World:
    def __init__(self, seed: int = 1, **faults) -> None:
        self.chance = random.Random(seed)
        self.shoe = ModelShoe()
        self.host = Host()
        self.up = Line(self.chance, **faults)
        self.down = Line(self.chance, **faults)
        self.made: list[frames.Record] = []
        self.step = 0

    @property
    def now(self) -> float:
        return self.step * STEP

    @property
    def last_told(self) -> str:
        return self.host.journal[-1].kind

    def runs(self, seconds: float, cards_a_second: float = 0.0) -> None:
        for _ in range(round(seconds / STEP)):
            self.step += 1
            if self.chance.random() < cards_a_second * STEP:
                self.made.append(self.shoe.happens(self._record))
            if self.step % 25 == 0:
                self.shoe.heartbeat()
            self.up.send(self.shoe.data_to_send(), self.step)
            for piece in self.up.arrives(self.step):
                self.host.takes(self.host.link.receive(piece, self.now))
            if reason := self.host.link.silence(self.now):
                self.host.takes([ShoeLost(reason)])
            self.down.send(self.host.link.data_to_send(self.now), self.step)
            for piece in self.down.arrives(self.step):
                self.shoe.receive(piece)
            self.nothing_is_forgotten_that_is_not_in_the_journal()

    def nothing_is_forgotten_that_is_not_in_the_journal(self) -> None:
        assert self.shoe.first_kept <= len(self.host.records) + 1

    def _record(self, number: int) -> frames.Record:
        kinds = (
            frames.CardRecord(number, self.chance.choice(STANDARD_DECK), self.chance.randrange(101)),
            frames.UnreadRecord(number),
            frames.LidRecord(number, open=self.chance.random() < 0.5),
        )
        return self.chance.choices(kinds, (8, 1, 1))[0]

    def mended(self) -> None:
        for line in (self.up, self.down):
            line.loses = line.damages = line.doubles = line.drops = line.gathers = 0.0
            line.cut = False

    def all_arrived(self) -> None:
        """Every record is in the journal once and in order, the shoe is rid of them and shows what the table wants."""
        assert [event.record for event in self.host.records] == list(range(1, len(self.made) + 1))
        assert [told(event) for event in self.host.records] == [told(record) for record in self.made]
        assert self.shoe.stored == {}
        orders = self.host.orders()
        assert (self.shoe.locked, self.shoe.lamps) == (orders.locked, orders.lamps)
        assert not any(isinstance(event, RecordsLost) for event in self.host.journal)


def told(thing: object) -> tuple[object, ...]:
    return tuple(getattr(thing, name, None) for name in ("record", "card", "confidence", "open"))


LINES: dict[str, dict[str, float]] = {
    "perfect": {},
    "one byte at a time": {"one_by_one": True},
    "delayed by 150 ms": {"steps": 15},
    "delayed by 600 ms": {"steps": 60},
    "loses one byte in 200": {"loses": 0.005},
    "damages one byte in 200": {"damages": 0.005},
    "loses every fourth piece": {"drops": 0.25},
    "doubles every second piece": {"doubles": 0.5},
    "gathers noise": {"gathers": 0.5},
    "everything at once": {
        "loses": 0.002,
        "damages": 0.002,
        "drops": 0.1,
        "doubles": 0.1,
        "gathers": 0.1,
        "steps": 7,
        "one_by_one": True,
    },
}


@pytest.mark.parametrize("faults", LINES.values(), ids=LINES)
@pytest.mark.parametrize("seed", range(3))
def test_every_record_arrives_once_and_in_order(faults, seed):
    world = World(seed, **faults)
    world.runs(30, cards_a_second=4)
    world.mended()
    world.runs(5)

    assert len(world.made) > 80
    world.all_arrived()


@pytest.mark.parametrize("seed", range(8))
def test_nothing_is_lost_whatever_is_pulled_killed_or_switched_off(seed):
    world = World(seed, loses=0.001, drops=0.05, doubles=0.05, steps=2)
    for _ in range(12):
        world.runs(world.chance.uniform(0.1, 4), cards_a_second=6)
        match world.chance.choice(("cable", "shoe", "host", "both")):
            case "cable":
                world.up.cut = world.down.cut = True
                world.runs(world.chance.uniform(0.1, 3), cards_a_second=3)
                world.up.cut = world.down.cut = False
            case "shoe":
                world.shoe.lose_power()
            case "host":
                world.host.restart(world.now)
            case "both":
                world.shoe.lose_power()
                world.host.restart(world.now)
    world.mended()
    world.runs(5)

    assert len(world.made) > 80
    world.all_arrived()


def test_a_shoe_with_more_than_a_window_to_tell_tells_all_without_being_asked_twice():
    world = World()
    world.up.cut = world.down.cut = True
    world.runs(60, cards_a_second=10)
    world.mended()
    world.runs(3)

    assert len(world.made) > 500
    world.all_arrived()
    assert world.host.link.counters.duplicates == 0


def test_a_perfect_line_asks_for_nothing_again():
    world = World()
    world.runs(30, cards_a_second=4)
    counters = world.host.link.counters

    assert (counters.resends, counters.gaps, counters.duplicates, counters.broken) == (1, 0, 0, 0)
    assert [type(event) for event in world.host.journal if not hasattr(event, "record")] == [ShoeHello]


@pytest.mark.parametrize("seed", range(10))
def test_a_cable_pulled_is_seen_within_a_second_and_its_return_within_half(seed):
    world = World(seed)
    world.runs(3 + world.chance.random(), cards_a_second=2)
    world.up.cut = world.down.cut = True
    world.runs(0.99)

    assert world.last_told == "shoe_lost"
    world.mended()
    world.runs(0.51)
    assert world.last_told == "shoe_hello"


def test_an_order_that_got_lost_is_obeyed_by_the_next_heartbeat_but_one():
    world = World()
    world.runs(1)
    world.down.cut = True
    world.host.locked = True
    world.host.link.want(world.host.orders())
    world.runs(0.1)

    assert not world.shoe.locked
    world.mended()
    world.runs(0.5)
    assert world.shoe.locked


def test_what_a_record_led_to_comes_with_its_acknowledgement():
    world = World()
    world.runs(1)
    for _ in range(50):
        world.shoe.obeyed.clear()
        world.made.append(world.shoe.happens(world._record))
        world.runs(0.1)
        (command,) = world.shoe.obeyed

        assert isinstance(command, frames.Acknowledge)
        assert command.lamps == world.host.orders().lamps


class HandByHand(Host):
    """A table whose hands have five cards each: the fifth locks the shoe until a person lets play go on."""

    hands = 1

    def orders(self) -> ShoeOrders:
        over = len(self.records) >= 5 * self.hands
        return replace(super().orders(), locked=over, lamps=Lamps(next="none" if over else "player"))


@pytest.mark.parametrize("faults", LINES.values(), ids=LINES)
def test_a_shoe_that_waits_lets_no_card_out_after_the_last_of_a_hand_whatever_the_line_loses(faults):
    world = World(3, **faults)
    world.host = host = HandByHand()
    shoe = world.shoe
    for _ in range(12_000):
        if not shoe.locked and shoe.first_kept == shoe.next_record:
            world.made.append(shoe.happens(lambda number: frames.CardRecord(number, STANDARD_DECK[0], 99)))
        world.runs(STEP)

        assert len(world.made) <= 5 * host.hands
        if len(host.records) == 5 * host.hands and shoe.locked and world.chance.random() < 0.05:
            host.hands += 1
            host.link.want(host.orders())
    world.mended()
    world.runs(5)

    assert host.hands > 10
    world.all_arrived()


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(100))
def test_a_bad_line_for_hours(seed):
    world = World(seed, loses=0.003, damages=0.003, drops=0.1, doubles=0.1, gathers=0.1, steps=seed % 30)
    world.runs(600, cards_a_second=3)
    world.mended()
    world.runs(5)

    world.all_arrived()
