"""The simulated shoe: it keeps its records until they are acknowledged, sends them again and again, and can lose its memory.

It is the device of the virtual shoe (`simulators.shoe.device`) with a memory in place of a file. `Line` is a quick driver of it,
which gives the service the events of the link; with `serial_line.Wire`, the service's own driver speaks with it in bytes.
"""

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random
from typing import Any, Final

from punto.baccarat.cards import STANDARD_DECK, Card
from punto.baccarat.table.events import (
    CardDrawn,
    CardOverdrawn,
    CardUnread,
    CutCardSeen,
    LidMoved,
    RecordsLost,
    ShoeEvent,
    ShoeHello,
    ShoeLost,
    ShoeRecord,
)
from punto.baccarat.table.shoe_orders import ShoeOrders
from punto.drivers.base import LinkHealth, ShoeUser
from punto.drivers.frame import HIGHEST
from punto.drivers.ishoe import frames
from punto.simulators.shoe.device import CONFIDENCE, ShoeDevice
from punto.simulators.shoe.shuffle import shuffled, stacked
from punto.simulators.shoe.store import Inside, Store
from tests.simulated.disk import PROCESS

SERIAL: Final = "IS-1"
UNSURE: Final = 60
_ACE: Final = Card("AS")


class Memory(Store):
    """The memory of the shoe. `made` has all records that it ever had, by log and number."""

    def __init__(self, chance: Random) -> None:
        self.made: dict[tuple[int, int], ShoeRecord] = {}
        self.lost: set[tuple[int, int]] = set()
        """Records that it lost before they were acknowledged."""
        self.inside = Inside()
        self._chance = chance
        self._frames: deque[bytes] = deque()
        self._added = 0
        self._begin()

    def _begin(self) -> None:
        self.log, self.next_record = self._chance.randint(1, HIGHEST), 1

    def add(self, record: frames.Record) -> None:
        self.made[self.log, record.record] = _as_event(record)
        super().add(record)

    def lose(self) -> None:
        self.lose_records(self.next_record - self.first_kept)
        self._begin()

    def lose_records(self, count: int) -> None:
        """Lose the oldest records that it keeps."""
        first = self.first_kept
        self.lost |= {(self.log, number) for number in range(first, first + count)}
        self.forget(first + count - 1)

    def cards_from(self, first: int) -> list[Card]:
        """The cards of the records from this one on."""
        records = (self.made[self.log, number] for number in range(first, self.next_record))
        return [record.card for record in records if isinstance(record, CardDrawn)]

    def commit(self) -> None:
        """There is no file."""


class Device(ShoeDevice):
    """The device at its end of the link. `acknowledges` is called with each acknowledgement of the table."""

    def __init__(self, memory: Memory, chance: Random, acknowledges: Callable[[int, int], None]) -> None:
        self.acknowledges = acknowledges
        self.stuck = False
        """Whether it reads each card as an ace of spades, and is sure of it."""
        self._chance = chance
        super().__init__(memory, SERIAL)

    def _keep(self, record: frames.Record) -> None:
        if isinstance(record, frames.CardRecord) and record.confidence == UNSURE:
            record = replace(record, card=self._chance.choice((record.card, *STANDARD_DECK[:3])))
        elif isinstance(record, frames.CardRecord) and self.stuck:
            record = replace(record, card=_ACE)
        super()._keep(record)

    def _hello(self) -> frames.Hello:
        return replace(super()._hello(), components=())  # it does not say that it is virtual

    def _acknowledge(self, command: frames.Acknowledge) -> None:
        self.acknowledges(command.log, command.record)
        super()._acknowledge(command)


class Shoe:
    """The shoe, as people and faults handle it. It outlives each process of the service."""

    def __init__(
        self,
        seed: str,
        chance: Random,
        decks: int,
        acknowledges: Callable[[int, int], None],
        coups: Sequence[tuple[Card, ...]] = (),
        burned: int | None = None,
    ) -> None:
        self.chance = chance
        self.decks = decks
        self.loaded = 0
        self.memory = Memory(chance)
        self.device = Device(self.memory, chance, acknowledges)
        self.cable = True
        self.power = True
        self.starts = 0
        self.resends = 0
        self.swaps = 0
        self.misread: str | None = None
        self.stuck = 0
        """How many of the next cards it reads as one card."""
        self.doubtful: list[Card] = []
        """The cards that were drawn and not read for certain, of which the last may have to be keyed."""
        self.listeners: list[Callable[[], None]] = []
        """Called when there is something to send, or the cable or the power has changed."""
        self.counted: Counter[str] = Counter()
        self._seed = seed
        self._coups = coups
        """Hands that win of a meter: each hand is one of them, or each second hand."""
        self._burned = burned
        """The cards that are burned, None if the first card sets their number."""
        self._waits = chance.random() < 0.5
        """Whether it lets a card out only when all records are acknowledged, also while the cable is pulled."""

    @property
    def reachable(self) -> bool:
        return self.cable and self.power

    @property
    def unlocked(self) -> bool:
        free = not self.device.unacknowledged if self._waits else self.cable
        return self.power and free and not self.device.locked

    @property
    def empty(self) -> bool:
        return not self.device.inside.left

    def changed(self) -> None:
        """Call the listeners."""
        for each in list(self.listeners):
            each()

    def load(self, number: int) -> None:
        """Open the lid and put shuffled cards into the shoe, with the cut card after so many."""
        self.loaded = number
        order = shuffled(self._seed, number, self.decks)
        if self._coups:
            order = self._with_coups(order)
        self.device.load(tuple(order), self.decks, len(order) - self.chance.randint(45, 110))
        self.changed()

    def _with_coups(self, order: list[Card]) -> list[Card]:
        every = self.chance.randint(1, 2)
        if self._burned is None:
            return stacked(order, self._coups, every)
        # `stacked` begins after the cards that the first one burns: after an ace, after this and another card.
        burned, rest = order[: self._burned], order[self._burned :]
        return burned + stacked([_ACE, _ACE, *rest], self._coups, every)[2:]

    def draw(self) -> None:
        """Draw the next card, if the shoe lets it out."""
        if self.empty or not self.power:
            return
        overdrawn = not self.unlocked and self.chance.random() < 0.5
        sure = {"unread": None, "low": UNSURE}.get(self.misread or "", CONFIDENCE)
        self.device.stuck = bool(self.stuck) and not overdrawn
        card = self.device.let_out(sure, overdrawn=overdrawn)
        if self.stuck:
            self.counted["card read as another"] += 1
            self.stuck -= 1
            self.doubtful.append(card)
        if self.misread is not None:
            self.counted["card not read for certain"] += 1
            self.doubtful.append(card)
            self.misread = None
        self.changed()

    def move_lid(self, *, is_open: bool) -> None:
        if self.power:
            self.device.move_lid(is_open=is_open)
            self.changed()

    def plug(self, *, cable: bool) -> None:
        """Plug the cable in, or pull it."""
        self.cable = cable
        self.changed()

    def switch(self, *, power: bool) -> None:
        """Lose the power, or have it again."""
        if power and not self.power:
            self.device.power_on()
            self.starts += 1
        self.power = power
        self.changed()

    def lose(self, what: str) -> None:
        """Lose the power, and with it perhaps records that are not acknowledged, or the whole memory."""
        if self.unlocked or self.chance.random() < 0.2:
            self.draw()
        waiting = self.device.unacknowledged
        self.counted["shoe without power had records that were not acknowledged"] += waiting > 0
        if what == "memory":
            self.device.lose_memory()
        elif what == "records" and waiting:
            self.memory.lose_records(self.chance.randint(1, waiting))
        self.switch(power=False)

    def take_orders(self, orders: ShoeOrders, *, accepted: bool) -> None:
        """Follow the table's orders, and delete what it has acknowledged."""
        self.device.locked = orders.locked or not accepted
        if accepted and orders.log == self.memory.log and orders.taken < self.memory.next_record:
            self.device.acknowledges(orders.log, orders.taken)
            self.memory.forget(orders.taken)

    def waiting(self, taken: int) -> list[ShoeEvent]:
        """The records to send to a table that has these: perhaps some again, perhaps in a wrong order."""
        memory, first = self.memory, taken + 1
        if self.resends and taken:
            self.resends -= 1
            first = max(memory.first_kept, first - 3) if self.chance.random() < 0.5 else max(1, first - 3)
            self.counted["shoe records sent again"] += taken + 1 - first
        found: list[ShoeEvent] = [
            memory.made[memory.log, number] for number in range(first, memory.next_record)
        ]
        if self.swaps and len(found) > 1:
            self.swaps -= 1
            found[-2:] = found[:-3:-1]
            self.counted["shoe records in a wrong order"] += 1
        return found


def _as_event(record: frames.Record) -> ShoeRecord:
    """What the table must be told of a record."""
    number = record.record
    match record:
        case frames.CardRecord(card=card, confidence=sure):
            return CardDrawn(number, card, sure)
        case frames.OverdrawnRecord(card=card, confidence=sure):
            return CardOverdrawn(number, card, sure)
        case frames.UnreadRecord():
            return CardUnread(number)
        case frames.CutCardRecord():
            return CutCardSeen(number)
        case frames.LidRecord(open=is_open):
            return LidMoved(number, is_open)
        case _:
            raise AssertionError(record)


class Line:
    """The quick driver of the shoe in one process."""

    def __init__(self, shoe: Shoe, wall: Callable[[], Any]) -> None:
        self._shoe = shoe
        self._since = wall()
        self._process = PROCESS.get()
        self._user: ShoeUser | None = None
        self._connected = False
        self._news = asyncio.Event()

    def health(self) -> LinkHealth:
        return LinkHealth("simulated", self._connected, "", self._since, SERIAL, {})

    def send(self) -> None:
        """The table's orders have changed."""
        if self._connected and self._user is not None:
            self._follow(self._user.orders())
            self._news.set()

    def _follow(self, orders: ShoeOrders) -> bool:
        accepted = orders.accept == SERIAL and orders.log in (None, self._shoe.memory.log)
        if not self._process.dead:
            self._shoe.take_orders(orders, accepted=accepted)
        return accepted

    async def run(self, user: ShoeUser) -> None:
        self._user = user
        self._shoe.listeners.append(self._news.set)
        try:
            while True:
                await self._until_reachable()
                await asyncio.sleep(0.05)
                await self._connection(user)
        finally:
            self._shoe.listeners.remove(self._news.set)

    async def _until_reachable(self) -> None:
        while not self._shoe.reachable:
            self._news.clear()
            await self._news.wait()

    async def _connection(self, user: ShoeUser) -> None:
        shoe, memory = self._shoe, self._shoe.memory
        starts, ignored = shoe.starts, False
        await user.take([ShoeHello(SERIAL, memory.log, memory.first_kept, memory.next_record, shoe.decks)])
        self._connected = True
        user.link_changed()
        while shoe.reachable and shoe.starts == starts:
            self._news.clear()
            orders = user.orders()
            accepted = self._follow(orders)
            # If two records must come in a wrong order, more than one must wait.
            await asyncio.sleep(1.5 if shoe.swaps else 0.002 + shoe.chance.random() * 0.01)
            if not shoe.reachable or shoe.starts != starts:
                break
            taken = orders.taken
            if not accepted:
                # Not a first record: if the shoe is accepted meanwhile, this would be that of its new memory.
                made = [record for record in memory.made.values() if record.record > 1]
                if not ignored and orders.log is not None and made:
                    ignored = True  # as a driver that does not hold back a shoe that is not accepted
                    await user.take(made[-1:])
                    continue
            elif memory.first_kept > taken + 1 and orders.log is not None:
                await user.take([RecordsLost(taken + 1, memory.first_kept - 1)])
                continue
            elif (shoe.resends or memory.next_record > taken + 1) and (waiting := shoe.waiting(taken)):
                await user.take(waiting)
                continue
            await self._news.wait()
        self._connected = False
        await user.take([ShoeLost("the cable was pulled, or the shoe has no power")])
        user.link_changed()
