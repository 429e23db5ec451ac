"""A start after a kill, with a record of 100,000 rounds and of 1,000,000, and the stages of it.

The last shoes are executed and written as a service does. The many before are copies of one shoe's rows with other numbers, so the
record is as large as a played one; a start does not read them, because it begins at a snapshot.
"""

import sqlite3
import statistics
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from benchmarks.bench import Line, Service, mosquitto, say
from punto.baccarat.table.events import CardDrawn, CutCardSeen, Event, ServiceStarted, ShoeHello
from punto.baccarat.table.order_kinds import ChangeShoe, SignOn
from punto.baccarat.table.settings import Settings
from punto.baccarat.table.state import Phase, TableState
from punto.controller.config.tables import load_configs
from punto.controller.engine import SHOE, SNAPSHOT_EVERY
from punto.controller.journal import schema, store
from punto.controller.journal.execution import Execution
from punto.controller.journal.recovery import recover
from punto.controller.journal.snapshots import Snapshot
from punto.messages.building import timestamp
from punto.simulators.shoe.shuffle import shuffled

BOUNDS: Final = {100_000: 1.0, 1_000_000: 1.0}
"""Rounds of a record, and the most seconds of a start with it."""
LAST_SHOES: Final = 7
"""Their inputs are more than those since the first snapshot that is kept."""
CUT_CARD: Final = 14
"""Cards behind the cut card."""
STARTS: Final = 5
BEGAN: Final = datetime(2026, 1, 1, 12, tzinfo=UTC)


def measure(folder: Path) -> list[Line]:
    """Seconds of a start after a kill, and of its stages, at the median."""
    say(f"\nA start after a kill, until an order is answered: the median of {STARTS} starts.\n")
    with mosquitto(folder) as broker:
        lines: list[Line] = []
        for rounds, most in BOUNDS.items():
            service = Service(folder / str(rounds), broker, str(folder / "no shoe"))
            (config,) = load_configs(service.config)
            with closing(schema.open_for_writing(service.record)) as connection:
                connection.execute("PRAGMA synchronous = OFF")
                connection.execute("BEGIN")
                Record(connection, config.settings()).write(rounds)
                connection.execute("COMMIT")
            recovery = statistics.median([_recovery(service.record) for _ in range(STARTS)])
            seconds = statistics.median([_start(service) for _ in range(STARTS)])
            lines += [
                Line(f"start, {rounds:,} rounds", f"{seconds:.2f} s", f"at most {most}", seconds <= most),
                Line("… of it the recovery", f"{recovery:.2f} s", "", True),
            ]
    loading = statistics.median([_loading() for _ in range(STARTS)])
    return [*lines, Line("… and Python's imports", f"{loading:.2f} s", "", True)]


def _start(service: Service) -> float:
    try:
        return service.start()
    finally:
        service.kill()


def _recovery(record: Path) -> float:
    with closing(schema.open_for_writing(record)) as connection:
        began = time.perf_counter()
        found = recover(connection)
        if found.differences:
            raise RuntimeError(found.differences)
        return time.perf_counter() - began


def _loading() -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", "import punto.commands.run"], check=True)
    return time.perf_counter() - began


class Record:
    """A record without a service: what the table executes is written at once."""

    def __init__(self, connection: sqlite3.Connection, settings: Settings) -> None:
        self._connection = connection
        self._execution = Execution()
        self._snapshot = 0
        self._taken = 0
        self._do("service", ServiceStarted("bench", settings))
        self._do(SHOE, ShoeHello("BENCH-1", 1, 1, 1, settings.game.decks))
        self._do("bench", SignOn("ann"))

    @property
    def state(self) -> TableState:
        """The table's state after the last input."""
        return self._execution.state

    def write(self, rounds: int) -> None:
        """Write at least so many rounds."""
        first = self._execution.head.seq + 1
        self.play_shoe()
        copies = (rounds - LAST_SHOES * self.state.round.number) // (self.state.round.number - 1) + LAST_SHOES
        self._copy(first, copies)
        self._snapshot = -SNAPSHOT_EVERY  # due: no snapshot is after a copy
        for _ in range(LAST_SHOES):
            self.play_shoe()
        store.set_cursor(self._connection, "rounds_sent", self.state.round.number - 1)

    def play_shoe(self) -> None:
        """Deal a whole shoe."""
        self._do("bench", ChangeShoe("ann"))
        cards = shuffled("bench", 1, self.state.settings.game.decks)
        for card in cards[:-CUT_CARD]:
            self._draw(CardDrawn(0, card, 99))
        self._draw(CutCardSeen(0))
        for card in cards[-CUT_CARD:]:
            if self.state.phase in {Phase.BETTING, Phase.DEALING}:
                self._draw(CardDrawn(0, card, 99))

    def _draw(self, record: CardDrawn | CutCardSeen) -> None:
        self._taken += 1
        self._do(SHOE, replace(record, record=self._taken))

    def _do(self, source: str, event: Event) -> None:
        due = self._execution.head.seq + 1 - self._snapshot >= SNAPSHOT_EVERY
        step = self._execution.execute(timestamp(BEGAN), source, event, snapshot=due)
        if step.refusal is not None:
            raise step.refusal
        store.add_steps(self._connection, [step])
        if due:
            self._snapshot = step.seq
            store.add_snapshot(self._connection, Snapshot.of(step.seq, step.state))

    def _copy(self, first: int, copies: int) -> None:
        """Write the rows of the inputs from `first` again, so many times, and have the table go on after the last copy."""
        inputs, rounds = self._execution.head.seq + 1 - first, self.state.round.number - 1
        for table, key, every in (
            ("inputs", "seq", inputs),
            ("rounds", "round", rounds),
            ("decided", "round", rounds),
        ):
            columns = store.columns(self._connection, table)
            moved = {key: f"{key} + copy * {every}", "input": f"input + copy * {inputs}"}
            found = ", ".join([moved.get(name, name) for name in columns])
            self._connection.execute(
                "WITH RECURSIVE copies (copy) AS (SELECT 1 UNION ALL SELECT copy + 1 FROM copies WHERE copy < ?) "  # noqa: S608 - literals
                f"INSERT INTO {table} SELECT {found} FROM copies CROSS JOIN {table} WHERE {key} >= ? ORDER BY copy, {key}",
                (copies, first if table == "inputs" else 1),
            )
        self._execution.head = store.last_head(self._connection)
        self._execution.table.state = self.state.replace(
            round=self.state.round.replace(number=self.state.round.number + copies * rounds)
        )
