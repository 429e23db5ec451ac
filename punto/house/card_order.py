"""The watch over the order of cards: whether a shoe comes in the order of the factory, or of an earlier shoe of its table.

The rounds of the store have the cards in the order that they left the shoe. What is followed is in memory alone, so a start reads
the rounds of this gaming day and of the one before again.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Final

from sqlalchemy import Connection, RowMapping, select

from punto.baccarat.card_order import FACTORY, DealtShoe, Order, order_of
from punto.baccarat.cards import Card
from punto.baccarat.evidence import alarm_at
from punto.baccarat.table.after_settlement import as_dealt
from punto.house import schema
from punto.house.live import CardOrder
from punto.house.store import Store

EARLIER: Final = 4
"""A shoe is compared with so many shoes before it, and its alarm stays for so many shoes after it."""
SHOES_A_DAY: Final = 30
"""The most shoes of a table in a day for which there is at most one false alarm a month."""
ORDERS: Final = 1 + 2 * EARLIER
"""The orders that a shoe is compared with: that of new decks, and those of earlier shoes in both directions."""
_NEW_DECKS: Final = "new decks"
_A_DAY: Final = timedelta(days=1)


@dataclass
class _Table:
    """The shoes of a record: the one in play, what the last ones were, and the orders of these."""

    round: int = 0
    number: int | None = None
    shoe: DealtShoe = field(default_factory=lambda: DealtShoe(0, {}))
    orders: deque[tuple[int, tuple[Order, Order]]] = field(default_factory=lambda: deque(maxlen=EARLIER))
    reached: dict[int, tuple[str, float]] = field(default_factory=dict)

    def deal(self, shoe: int, decks: int, cards: tuple[Card, ...]) -> None:
        """Further cards of a shoe, which is a new one if it has another number."""
        if shoe != self.number:
            if self.number is not None:
                both = order_of(self.shoe.cards), order_of(reversed(self.shoe.cards))
                self.orders.append((self.number, both))
            named = (
                (f"shoe {number}{backwards}", order)
                for number, both in self.orders
                for backwards, order in zip(("", " backwards"), both, strict=True)
            )
            self.number, self.shoe = shoe, DealtShoe(decks, {_NEW_DECKS: FACTORY, **dict(named)})
        for card in cards:
            self.shoe.draw(card)
        self.reached[shoe] = max(
            ((name, each.reached) for name, each in self.shoe.trials.items()), key=lambda named: named[1]
        )
        for old in [*self.reached][: -EARLIER - 1]:
            del self.reached[old]


class CardOrderWatch:
    """The watch over the order of the cards of one store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._tables: dict[tuple[str, str], _Table] = {}

    def look(self, now: datetime) -> dict[str, tuple[CardOrder, ...]]:
        """The shoes of each table whose order is not by chance now (UTC).

        Raises:
            StoreAwayError: the store cannot be reached.
        """
        today = self._store.calendar.day_of(now)
        cursors = self._store.cursors()
        with self._store.reading() as connection:
            for key, cursor in cursors.items():
                table = self._tables.setdefault(key, _Table())
                if cursor.rounds > table.round:
                    for row in _rounds(connection, cursor.id, table.round, today):
                        self._deal(table, row)
        playing = {name for (name, _), table in self._tables.items() if table.reached}
        alarm = alarm_at(SHOES_A_DAY * ORDERS * len(playing))
        found: dict[str, tuple[CardOrder, ...]] = {}
        for (name, _), table in self._tables.items():
            alarms = tuple(
                CardOrder(shoe=shoe, order=order, evidence=evidence)
                for shoe, (order, evidence) in table.reached.items()
                if evidence >= alarm
            )
            if alarms:
                found[name] = (*found.get(name, ()), *alarms)
        return found

    def _deal(self, table: _Table, row: RowMapping) -> None:
        table.round = row["round"]
        game = self._store.game(row["game"], row["rules"])
        if game is not None and row["status"] != "correction":
            hands = (tuple(map(Card, row[side].split())) for side in ("player", "banker"))
            table.deal(row["shoe"], game.decks, as_dealt(*hands))


def _rounds(connection: Connection, record_id: int, after: int, today: date) -> Iterator[RowMapping]:
    """The rounds of a record after this one, of this gaming day and the one before: those of the shoes that alarms depend on."""
    rounds = schema.ROUNDS.c
    asked = (
        select(
            rounds.round, rounds.game, rounds.rules, rounds.shoe, rounds.status, rounds.player, rounds.banker
        )
        .where(rounds.record_id == record_id, rounds.round > after, rounds.day >= today - _A_DAY)
        .order_by(rounds.round)
    )
    rows = connection.execute(asked).mappings().all()
    first = rows[-1]["shoe"] - 2 * EARLIER if rows else 0
    yield from (row for row in rows if row["shoe"] >= first)
