"""The watch over the order of cards: whether a shoe comes in the order of the factory, or of an earlier shoe of its table.

The rounds of the store have the cards in the order that they left the shoe. What is followed is in memory alone, and follows from
the last shoes of each table in the store: so a start, or a new record of a table, changes nothing.
"""

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from itertools import groupby
from operator import itemgetter
from typing import Final, NamedTuple, Self

from sqlalchemy import Connection, RowMapping, select

from punto.baccarat.card_order import FACTORY, DealtShoe, ManyShoes, Order, order_of, packed, unpacked
from punto.baccarat.cards import Card
from punto.baccarat.evidence import alarm_at
from punto.baccarat.table.after_settlement import as_dealt
from punto.house import schema
from punto.house.disputes import REJECTED
from punto.house.live import CardOrder
from punto.house.reports import are_simulated
from punto.house.store import Store
from punto.house.taken import aware
from punto.runtime.gaming_days import written_day

EARLIER: Final = 4
"""A shoe is compared with each of so many shoes before it by neighbours, and its alarm stays for so many shoes after it."""
CARDS: Final = 60_000
"""So many cards of a table are remembered, in whole shoes: 150 shoes or more, those of a week if it is dealt all day. Cards are
counted and not shoes, because a shoe of one hand would otherwise take the place of a whole one.
"""
SHOES_A_DAY: Final = 30
"""The most shoes of a table in a day for which there is at most one false alarm a month."""
ORDERS: Final = 1 + 2 * (EARLIER + 1)
"""The orders that a shoe is compared with: that of new decks, and in both directions those of the last shoes and of all before."""
_ROUNDS_AT_ONCE: Final = 2000
_NEW_DECKS: Final = "new decks"
_BACKWARDS: Final = ", reversed"
_BEFORE: Final = "before"
"""The order of all shoes but the last ones, until it is known which of them it is."""
_LEAST: Final = 1000.0
"""Without so much evidence, it does not matter which."""


class _Record(NamedTuple):
    """A record of a table: its number in the store, the number of its last round, and when that ended."""

    id: int
    rounds: int
    ended: datetime


class _Shoe(NamedTuple):
    """A shoe by its record's number in the store, its own number there and the gaming day on which it began."""

    record: int
    number: int
    day: date

    def named(self, beside: Self) -> str:
        """Its name beside a shoe that has its order. Each record numbers its shoes from 1."""
        of_another = "" if self.record == beside.record else ", on an earlier record of the table"
        return f"shoe {self.number} of {written_day(self.day)}{of_another}"


@dataclass
class _Followed:
    """What was followed of a table: the shoe in play, and those before it, each with its cards."""

    read: dict[int, int] = field(default_factory=dict)
    """The last round that was read of each record."""
    before: deque[tuple[_Shoe, bytes]] = field(default_factory=deque)
    remembered: int = 0
    """The cards of these shoes."""
    shoe: _Shoe | None = None
    began: datetime | None = None
    dealt: DealtShoe = field(default_factory=lambda: DealtShoe(0, {}))
    many: tuple[list[_Shoe], ManyShoes, ManyShoes] = ([], ManyShoes([]), ManyShoes([]))
    reached: dict[_Shoe, tuple[str, float]] = field(default_factory=dict)
    unknown: set[tuple[str, str]] = field(default_factory=set)
    """The games, by name and rules, of rounds that could not be followed without them."""

    def is_out_of_turn(self, row: RowMapping) -> bool:
        """Whether a round is of a shoe that began before the one in play, as after a return to an earlier record."""
        if self.shoe is None or self.began is None or row["record_id"] == self.shoe.record:
            return False
        return aware(row["ts"]) < self.began or any(
            (row["record_id"], row["shoe"]) == shoe[:2] for shoe, _ in self.before
        )

    def deal(self, row: RowMapping, decks: int, *, compared: bool = True) -> None:
        """Further cards of the shoe in play, or of a new one. If it is not `compared`, it is only remembered."""
        if self.shoe is None or (row["record_id"], row["shoe"]) != self.shoe[:2]:
            self._begin(_Shoe(row["record_id"], row["shoe"], row["day"]), decks, compared=compared)
            self.began = aware(row["ts"])
        hands = (tuple(map(Card, row[side].split())) for side in ("player", "banker"))
        for card in as_dealt(*hands):
            self.dealt.draw(card)
        if self.shoe in self.reached:
            self.reached[self.shoe] = self._strongest(self.shoe)

    def _begin(self, shoe: _Shoe, decks: int, *, compared: bool) -> None:
        if self.shoe is not None:
            self.before.append((self.shoe, packed(self.dealt.cards)))
            self.remembered += len(self.dealt.cards)
            while self.remembered - len(self.before[0][1]) >= CARDS:
                self.remembered -= len(self.before.popleft()[1])
        self.shoe = shoe
        self.dealt = DealtShoe(decks, self._orders(shoe) if compared else {})
        if compared:
            self.reached[shoe] = _NEW_DECKS, 0.0
            for old in [*self.reached][: -EARLIER - 1]:
                del self.reached[old]

    def _orders(self, beside: _Shoe) -> dict[str, Order]:
        shoes = [*self.before]
        last, earlier = shoes[-EARLIER:], shoes[:-EARLIER]
        orders: dict[str, Order] = {_NEW_DECKS: FACTORY}
        for shoe, cards in last:
            orders[shoe.named(beside)] = order_of(unpacked(cards))
            orders[shoe.named(beside) + _BACKWARDS] = order_of(unpacked(cards[::-1]))
        forwards = ManyShoes([cards for _, cards in earlier])
        backwards = ManyShoes([cards[::-1] for _, cards in earlier])
        self.many = [shoe for shoe, _ in earlier], forwards, backwards
        return {**orders, _BEFORE: forwards, _BEFORE + _BACKWARDS: backwards}

    def _strongest(self, beside: _Shoe) -> tuple[str, float]:
        """The order for which the evidence is strongest, in words, and that evidence."""
        trials = self.dealt.trials
        name = max(trials, key=lambda name: trials[name].reached)
        evidence = trials[name].reached
        if name.startswith(_BEFORE) and evidence >= _LEAST:
            shoes, forwards, backwards = self.many
            many, more = (backwards, _BACKWARDS) if name.endswith(_BACKWARDS) else (forwards, "")
            name = shoes[many.nearest(self.dealt.cards)].named(beside) + more
        return name, evidence


class CardOrderWatch:
    """The watch over the order of the cards of one store.

    The shoes of a simulation, such as those of a rehearsal, are not those that the table deals for money.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._tables: dict[tuple[str, bool], _Followed] = {}

    def look(self) -> dict[str, tuple[CardOrder, ...]]:
        """The shoes of each table whose order is not by chance now.

        Raises:
            StoreAwayError: the store cannot be reached.
        """
        with self._store.reading() as connection:
            tables, simulated = _tables(connection), are_simulated(connection)
            for key, records in tables.items():
                self._tables[key] = self._follow(connection, self._tables.get(key), records)
        playing = {
            name: self._tables[name, simulation]
            for name, simulation in simulated.items()
            if (name, simulation) in tables and self._tables[name, simulation].reached
        }
        alarm = alarm_at(SHOES_A_DAY * ORDERS * len(playing))
        found = {
            name: tuple(
                CardOrder(shoe=shoe.number, order=order, evidence=evidence)
                for shoe, (order, evidence) in table.reached.items()
                if evidence >= alarm
            )
            for name, table in playing.items()
        }
        return {name: alarms for name, alarms in found.items() if alarms}

    def _follow(
        self, connection: Connection, table: _Followed | None, records: Sequence[_Record]
    ) -> _Followed:
        """The table with its new rounds; `records` are those that count, the one that played last first."""
        if (
            table is None
            or table.read.keys() - {each.id for each in records}  # one was rejected since
            or any(self._store.game(*game) is not None for game in table.unknown)
        ):
            return self._read_again(connection, records)
        new = [each for each in records if each.rounds > table.read.get(each.id, 0)]
        for record in reversed(new):
            for row in _rounds(connection, record, table.read.get(record.id, 0)):
                if table.is_out_of_turn(row):
                    return self._read_again(connection, records)
                self._deal(table, row)
            table.read[record.id] = record.rounds
        return table

    def _read_again(self, connection: Connection, records: Sequence[_Record]) -> _Followed:
        """The table from its last shoes in the store: those that alarms stand for, and those that they are compared with."""
        table = _Followed(read={each.id: each.rounds for each in records})
        shoes = _last_shoes(connection, records)
        for place, rows in enumerate(shoes):
            for row in rows:
                self._deal(table, row, compared=place >= len(shoes) - EARLIER - 1)
        return table

    def _deal(self, table: _Followed, row: RowMapping, *, compared: bool = True) -> None:
        game = self._store.game(row["game"], row["rules"])
        if game is None:
            table.unknown.add((row["game"], row["rules"]))
        else:
            table.deal(row, game.decks, compared=compared)


def _tables(connection: Connection) -> dict[tuple[str, bool], list[_Record]]:
    """The records of each table that have rounds, by its id and whether they are of a simulation, the one that played last first."""
    columns = schema.RECORDS.c
    asked = select(
        columns.table,
        columns.simulation,
        columns.held_back,
        columns.id,
        columns.rounds_at,
        columns.rounds_ts,
    ).where(columns.rounds_at > 0)
    found: defaultdict[tuple[str, bool], list[_Record]] = defaultdict(list)
    for table, simulation, held_back, id_, rounds, ended in connection.execute(asked):
        if held_back != REJECTED:
            found[table, simulation].append(_Record(id_, rounds, aware(ended)))
    for records in found.values():
        records.sort(key=lambda each: (each.ended, each.id), reverse=True)
    return found


def _last_shoes(connection: Connection, records: Sequence[_Record]) -> list[list[RowMapping]]:
    """The rounds of a table's last shoes over all its records, in the order in which the shoes began."""
    found: list[tuple[datetime, list[RowMapping]]] = []
    for record in records:
        others = (rows for _, rows in found[: -EARLIER - 1])
        if sum(map(_cards, others)) >= CARDS and record.ended < found[0][0]:
            break
        began: datetime | None = None
        for rows in [*_compared(_shoes_of(connection, record))][::-1]:
            ts = aware(rows[0]["ts"])
            began = ts if began is None else max(ts, began)
            found.append((began, rows))
        found.sort(key=itemgetter(0))
        found = found[-len([*_compared(rows for _, rows in reversed(found))]) :]
    return [rows for _, rows in found]


def _compared(shoes: Iterable[list[RowMapping]]) -> Iterator[list[RowMapping]]:
    """Of these shoes, the newest first, those that alarms stand for, and those that all of them are compared with."""
    remembered = 0
    for place, rows in enumerate(shoes):
        if remembered >= CARDS:
            return
        yield rows
        if place > EARLIER:
            remembered += _cards(rows)


def _cards(rows: Iterable[RowMapping]) -> int:
    return sum(len(row["player"].split()) + len(row["banker"].split()) for row in rows)


def _shoes_of(connection: Connection, record: _Record) -> Iterator[list[RowMapping]]:
    """The rounds of the shoes of a record, the newest shoe first."""
    for _, backwards in groupby(_rounds(connection, record, 0, newest_first=True), key=itemgetter("shoe")):
        yield [*backwards][::-1]


def _rounds(
    connection: Connection, record: _Record, after: int, *, newest_first: bool = False
) -> Iterator[RowMapping]:
    """The rounds of a record after this one, without corrections, which change nothing in the order of the cards."""
    rounds = schema.ROUNDS.c
    asked = (
        select(
            rounds.record_id,
            rounds.round,
            rounds.day,
            rounds.ts,
            rounds.game,
            rounds.rules,
            rounds.shoe,
            rounds.player,
            rounds.banker,
        )
        .where(
            rounds.record_id == record.id,
            rounds.round > after,
            rounds.round <= record.rounds,
            rounds.status != "correction",
        )
        .order_by(rounds.round.desc() if newest_first else rounds.round)
    )
    with connection.execute(asked.execution_options(yield_per=_ROUNDS_AT_ONCE)) as result:
        yield from result.mappings()
