"""The simulated shoe and its line: it keeps its records until they are acknowledged, and sends them again and again."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, Final

from punto.baccarat.cards import Card
from punto.baccarat.table.events import (
    CardDrawn,
    CardOverdrawn,
    CardUnread,
    CutCardSeen,
    LidMoved,
    ShoeEvent,
    ShoeHello,
    ShoeLost,
    ShoeRecord,
)
from punto.baccarat.table.shoe_orders import ShoeOrders
from punto.drivers.base import LinkHealth, ShoeUser
from punto.simulators.shoe.order import shuffled, stacked

SERIAL: Final = "IS-1"
LOG: Final = 1


class Shoe:
    """The device. It outlives each process of the service."""

    def __init__(self, seed: str, chance: Random, decks: int, coups: Sequence[tuple[Card, ...]] = ()) -> None:
        self.chance = chance
        self.decks = decks
        self.loaded = 0
        self.orders = ShoeOrders()
        self.records: list[ShoeRecord] = []
        """All records ever made: record `n` is at `n - 1`."""
        self.kept_from = 1
        self.cable = True
        self.resends = 0
        self.swaps = 0
        self.misread: str | None = None
        self.doubtful: list[Card] = []
        """The cards that were drawn and not read for certain, of which the last may have to be keyed."""
        self.news = asyncio.Event()
        self.counted: Counter[str] = Counter()
        self._seed = seed
        self._coups = coups
        """Hands that win of a meter: each second hand is one of them."""
        self._cards: list[Card] = []
        self._cut_at = 0

    @property
    def next_record(self) -> int:
        return len(self.records) + 1

    @property
    def unlocked(self) -> bool:
        return self.cable and not self.orders.locked and self.orders.accept == SERIAL

    @property
    def pulled(self) -> bool:
        return not self.cable

    @property
    def empty(self) -> bool:
        return not self._cards

    def load(self, number: int) -> None:
        """Put shuffled cards into the shoe, with the cut card after so many."""
        self.loaded = number
        self._cards = shuffled(self._seed, number, self.decks)
        if self._coups:
            self._cards = stacked(self._cards, self._coups, 2)
        self._cut_at = len(self._cards) - self.chance.randint(45, 110)

    def draw(self) -> None:
        """Draw the next card."""
        if not self._cards:
            return
        card = self._cards.pop(0)
        record: ShoeRecord = CardDrawn(self.next_record, card, 99)
        if not self.unlocked and self.chance.random() < 0.5:
            record = CardOverdrawn(self.next_record, card, 99)
        elif self.misread == "unread":
            record = CardUnread(self.next_record)
        elif self.misread == "low":
            record = CardDrawn(self.next_record, self.chance.choice([card, *self._cards[:3]]), 60)
        if self.misread is not None:
            self.counted["card not read for certain"] += 1
            self.doubtful.append(card)
            self.misread = None
        self.records.append(record)
        if len(self._cards) == self._cut_at:
            self.records.append(CutCardSeen(self.next_record))
        self.news.set()

    def move_lid(self) -> None:
        self.records.append(LidMoved(self.next_record, open=True))
        self.records.append(LidMoved(self.next_record, open=False))
        self.news.set()

    def take_orders(self, orders: ShoeOrders) -> None:
        """Follow the table's orders, and delete what it has acknowledged."""
        self.orders = orders
        if orders.accept == SERIAL and orders.log == LOG:
            self.kept_from = max(self.kept_from, orders.taken + 1)

    def waiting(self, taken: int) -> list[ShoeEvent]:
        """The records to send to a table that has these: perhaps some again, perhaps in a wrong order."""
        first = taken + 1
        if self.resends and taken:
            self.resends -= 1
            first = max(self.kept_from, first - 3) if self.chance.random() < 0.5 else max(1, first - 3)
            self.counted["shoe records sent again"] += taken + 1 - first
        found: list[ShoeEvent] = list(self.records[first - 1 :])
        if self.swaps and len(found) > 1:
            self.swaps -= 1
            found[-2:] = found[:-3:-1]
            self.counted["shoe records in a wrong order"] += 1
        return found


class Line:
    """The driver of the shoe in one process."""

    def __init__(self, shoe: Shoe, wall: Callable[[], Any], acknowledges: Callable[[int], None]) -> None:
        self._shoe = shoe
        self._since = wall()
        self._acknowledges = acknowledges
        self._user: ShoeUser | None = None
        self._connected = False

    def health(self) -> LinkHealth:
        return LinkHealth("simulated", self._connected, "", self._since, SERIAL, {})

    def send(self) -> None:
        """The table's orders have changed."""
        if self._connected and self._user is not None:
            self._follow(self._user.orders())

    def _follow(self, orders: ShoeOrders) -> None:
        if orders.accept == SERIAL and orders.log == LOG:
            self._acknowledges(orders.taken)
        self._shoe.take_orders(orders)

    async def run(self, user: ShoeUser) -> None:
        shoe, self._user = self._shoe, user
        while True:
            await self._until(lambda: shoe.cable)
            await asyncio.sleep(0.05)
            await user.take([ShoeHello(SERIAL, LOG, shoe.kept_from, shoe.next_record, shoe.decks)])
            self._connected = True
            user.link_changed()
            while shoe.cable:
                shoe.news.clear()
                orders = user.orders()
                self._follow(orders)
                # If two records must come in a wrong order, more than one must wait.
                await asyncio.sleep(1.5 if shoe.swaps else 0.002 + shoe.chance.random() * 0.01)
                waits = shoe.resends or shoe.next_record > orders.taken + 1
                if shoe.pulled:
                    break
                if waits and (waiting := shoe.waiting(orders.taken)):
                    await user.take(waiting)
                    continue
                await self._until(shoe.news.is_set)
            self._connected = False
            await user.take([ShoeLost("the cable was pulled")])
            user.link_changed()

    async def _until(self, so: Callable[[], bool]) -> None:
        while not so() and not (self._connected and not self._shoe.cable):
            try:
                async with asyncio.timeout(0.25):
                    await self._shoe.news.wait()
            except TimeoutError:
                pass
            if self._shoe.news.is_set() and not so():
                self._shoe.news.clear()
