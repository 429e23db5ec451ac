"""A table's record of many days, dealt as fast as the rules can: what the service would have written, without its waiting.

The inputs are executed and written with the journal's own functions, a day in a transaction. So the record is one that a
service would take up, and only the time that it took is not the table's.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Final

from punto.baccarat.cards import Card
from punto.baccarat.progressive.aquarius import GameOver, Jpot, Key, TurnKey
from punto.baccarat.progressive.events import Adjust, BackOut, ChangeSettings, CountCoins, OpenMeter
from punto.baccarat.progressive.game_events import HandButton, NobodyWon, StartGame
from punto.baccarat.progressive.ledger import Cause
from punto.baccarat.progressive.state import AwardState
from punto.baccarat.table.events import CardDrawn, CutCardSeen, Event, ServiceStarted, ShoeHello
from punto.baccarat.table.order_kinds import ChangeShoe, OpenBetting, SignOn
from punto.baccarat.table.settings import Settings
from punto.baccarat.table.state import TablesProgressive, TableState
from punto.controller.journal import schema, store
from punto.controller.journal.execution import Execution
from punto.controller.journal.snapshots import Snapshot
from punto.simulators.shoe.shuffle import shuffled

FIRST_DAY: Final = datetime(2025, 10, 25, 6, 0, tzinfo=UTC)  # a night later summer time ends in Europe
SEATS: Final = tuple(range(1, 8))
SNAPSHOT_EVERY: Final = 500


@dataclass(frozen=True)
class Played:
    """What was written: so many inputs and rounds, with so many awards."""

    inputs: int
    rounds: int
    awards: int


def play(path: Path, settings: Settings, *, days: int, rounds_a_day: int, seed: int) -> Played:
    """Write the record of so many days; `settings` are of a table with a progressive by Aquarius, base wagers unseen."""
    with closing(schema.open_for_writing(path)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        year = _Year(connection, settings, Random(seed))
        for day in range(days):
            connection.execute("BEGIN")
            if day == 0:
                year.open()
            year.play_day(FIRST_DAY + timedelta(days=day), rounds_a_day)
            connection.execute("COMMIT")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return Played(year.seq, year.rounds, year.progressive.books.next_award - 1)


class _Year:
    def __init__(self, connection: sqlite3.Connection, settings: Settings, chance: Random) -> None:
        self.rounds = 0
        self._connection = connection
        self._chance = chance
        self._settings = settings
        self._execution = Execution()
        self._snapshot = 0
        self._now = FIRST_DAY
        self._record = 1
        self._cards: Iterator[Card] = iter(())
        self._left = 0

    def open(self) -> None:
        """The first start of the service, and everything until betting."""
        decks = self._settings.game.decks
        self._do(ServiceStarted("0.1.0", self._settings))
        self._do(ShoeHello("IS-1", 1, 1, 1, decks), SignOn("ann"), OpenMeter("eve", "bob"))
        self._change_shoe()

    @property
    def seq(self) -> int:
        """The number of the last input."""
        return self._execution.head.seq

    @property
    def _state(self) -> TableState:
        return self._execution.state

    @property
    def progressive(self) -> TablesProgressive:
        found = self._state.progressive
        if found is None:
            raise ValueError("this table has no progressive")
        return found

    def play_day(self, begins: datetime, rounds: int) -> None:
        """A day's rounds, and what people order of the meter meanwhile."""
        self._now = begins
        taken = 0
        for number in range(rounds):
            seats = tuple(seat for seat in SEATS if self._chance.random() < 0.4)
            taken += len(seats)
            self._play(seats)
            self._now = begins + timedelta(hours=23) * number / rounds
            if self._chance.random() < 0.005:
                self._now -= timedelta(minutes=self._chance.randint(1, 90))  # the clock is set back
            if self._chance.random() < 0.01:
                self._order_something()
        lost = self._chance.choice((0, 0, 0, 1))
        self._do(CountCoins(begins.date().isoformat(), (taken - min(lost, taken)) * 100, "eve"))

    # --- a round

    def _play(self, seats: tuple[int, ...]) -> None:
        if self._left < 20:
            self._change_shoe()
        self._do(StartGame(self._state.round.number, "ann", seats))
        before = self._state.round.number
        while self._state.round.number == before:
            self._left -= 1
            self._do(CardDrawn(self._next_record(), next(self._cards), 99))
        self.rounds += 1
        hand = self.progressive.procedure.hand
        if hand.won is not None and self._chance.random() < 0.9:
            winners = [seat for seat in hand.won.seats if self._chance.random() < 0.6] or hand.won.seats[:1]
            self._do(*(HandButton(seat, "ann") for seat in winners))
            self._do(TurnKey(Key.JPH, "key switch"), Jpot("key switch"))
            self._do(TurnKey(Key.RUN, "key switch"))
        elif hand.won is not None:
            self._nobody_won()
        self._do(GameOver("ann"))

    def _nobody_won(self) -> None:
        self._do(TurnKey(Key.JPH, "key switch"), NobodyWon("bob", "no base wager won"))
        self._do(TurnKey(Key.RUN, "key switch"))

    def _change_shoe(self) -> None:
        if self._record > 1:
            self._do(CutCardSeen(self._next_record()))
        self._do(ChangeShoe("ann"), OpenBetting("ann"))
        state = self._state
        cards = shuffled("a year", state.shoe.number, state.settings.game.decks)
        self._cards, self._left = iter(cards), len(cards)

    def _next_record(self) -> int:
        self._record += 1
        return self._record - 1

    # --- what people order of the meter

    def _order_something(self) -> None:
        books = self.progressive.books
        what = self._chance.random()
        amount = self._chance.randint(1, 50_000)
        if what < 0.5:
            cause = self._chance.choice((Cause.INCREASE, Cause.MALFUNCTION, Cause.RECOVERY_OF_SEED))
            self._do(Adjust(cause, amount, f"no. {self.seq}", "eve", "bob"))
        elif what < 0.8:
            contribution = self._chance.choice(("20%", "12.3456%", "0.0001%", "26%"))
            reserve = self._chance.choice(("0%", "1%", "0.7%"))
            others = replace(books.settings, contribution=contribution, reserve=reserve)
            self._do(ChangeSettings(others, "a trial", "eve", "bob"))
        elif books.awards and books.awards[-1].state is AwardState.BOOKED:
            self._do(BackOut(books.awards[-1].id, "paid by mistake", "eve", "bob"))
            if self._state.award_waits:  # it was the last hand's, which is open again
                self._nobody_won()
                self._do(GameOver("ann"))

    # --- the record

    def _do(self, *events: Event) -> None:
        for event in events:
            due = self.seq + 1 - self._snapshot >= SNAPSHOT_EVERY
            ts = self._now.isoformat(timespec="microseconds")
            step = self._execution.execute(ts, "a year", event, snapshot=due)
            store.add_steps(self._connection, [step])
            if due:
                self._snapshot = step.seq
                store.add_snapshot(self._connection, Snapshot.of(step.seq, step.state))
