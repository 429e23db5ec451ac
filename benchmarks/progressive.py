"""What a progressive adds: to the path of a card by a contribution, and to a start by a year of its books."""

import json
import os
import random
import sqlite3
import statistics
import subprocess
import sys
import time
import tty
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from benchmarks.bench import Subscriber
from controller.journal import store
from controller.journal.books import rows_of
from controller.journal.recovery import recover
from controller.progressive.procedure import StartGame
from controller.table.state import TableState
from controller.table.table import Table
from tests.service.a_year import play
from tests.table.croupier import Croupier, settings

SAMPLES = 1000
BLOCK = 50
GAP_SECONDS = 0.008
DAYS = 15
ROUNDS_A_DAY = 822
FAR = 10**9  # above every number of an input
COPIES = 25  # of fifteen days: a year and some days


@dataclass(frozen=True)
class Costs:
    """Microseconds at the median: the floor's, and what a contribution adds to it."""

    floor: float
    contribution: float


@dataclass(frozen=True)
class Starts:
    """Seconds to recover the table, from so many rounds on the record."""

    rounds: int
    seconds: float
    few_rounds: int
    few_seconds: float


def contribution(folder: Path, broker: int) -> Costs:
    """The floor's time for a line, and that of a game's START, in alternating blocks of one run."""
    master, slave = os.openpty()
    tty.setraw(slave)
    floor = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.floor", os.ttyname(slave), str(broker), str(folder / "floor.db")],
        stdout=subprocess.PIPE,
    )
    if floor.stdout is None or floor.stdout.readline().strip() != b"ready":
        raise RuntimeError("the floor did not start")
    floors = Subscriber(broker, "floor/event")
    time.sleep(1)
    sent: list[float] = []
    added: list[float] = []
    draw = random.Random(1)
    game = _Game(folder / "table.db")
    for _ in range(SAMPLES // BLOCK):
        for _ in range(BLOCK):
            sent.append(time.monotonic())
            os.write(master, json.dumps({"padding": "x" * 200}).encode() + b"\n")
            time.sleep(GAP_SECONDS * draw.uniform(0.5, 1.5))
        added += [game.start() for _ in range(BLOCK)]
    arrived = [at for at, _ in floors.finish()]
    floor.kill()
    taken = [there - here for here, there in zip(sent, arrived, strict=True)]
    return Costs(1e6 * statistics.median(taken), 1e6 * statistics.median(added))


class _Game:
    """A table at which games are started, with wagers at four seats: the contribution, its rows, and their writing."""

    def __init__(self, path: Path) -> None:
        self._connection = store.open_for_writing(path)
        croupier = Croupier.at_betting(
            game_name="progressive-2", meter={"reserve": "1%", "base_wagers": "unseen"}
        ).do("meter")
        self._betting: TableState = croupier.state
        self._table = Table(self._betting)
        self._seq = 0
        self._connection.execute("PRAGMA foreign_keys = OFF")

    def start(self) -> float:
        """Seconds that one START takes beyond what every input does: handled, made into rows, written in a transaction."""
        self._seq += 1
        self._table.state = self._betting
        event = StartGame(self._betting.round, "ann", (1, 3, 4, 7))
        self._connection.execute("BEGIN")
        began = time.perf_counter()
        effects = self._table.handle(event)
        rows = rows_of(self._seq, "2026-11-21T21:05:09.123456+00:00", self._table.state, effects)
        store.add_book_rows(self._connection, rows)
        taken = time.perf_counter() - began
        self._connection.execute("ROLLBACK")
        return taken


def starts(folder: Path) -> Starts:
    """Recover from a record of some days, and from the same with a year's rows before them."""
    path = folder / "year.db"
    meter = {"reserve": "1%", "fixed_awards": "meter", "base_wagers": "unseen"}
    played = play(
        path,
        settings(game_name="progressive-1", meter=meter),
        days=DAYS,
        rounds_a_day=ROUNDS_A_DAY,
        seed=1,
    )
    few = _recovered(path)
    _fill_up(path, played.inputs, played.rounds)
    with closing(sqlite3.connect(path)) as connection:
        rounds = connection.execute("SELECT count(*) FROM rounds").fetchone()[0]
    return Starts(rounds, _recovered(path), played.rounds, few)


def _recovered(path: Path) -> float:
    times = []
    for _ in range(5):
        began = time.perf_counter()
        with closing(store.open_for_writing(path)) as connection:
            recover(connection)
            times.append(time.perf_counter() - began)
    return statistics.median(times)


def _fill_up(path: Path, inputs: int, rounds: int) -> None:
    """Put copies of all rows before the first, under numbers below it, which no start looks at and every search may meet."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        for copy in range(1, COPIES):
            connection.execute("BEGIN")
            for table, key, by in (
                ("inputs", "seq", inputs),
                ("rounds", "round", rounds),
                ("settlements", "round", rounds),
                ("incidents", "input", inputs),
                ("postings", "input", inputs),
                ("progressive_rounds", "input", inputs),
                ("progressive_log", "input", inputs),
            ):
                columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
                shifted = [f"{name} - {by * copy}" if name == key else name for name in columns]
                if table == "rounds":
                    shifted[columns.index("input")] = f"input - {inputs * copy}"
                connection.execute(
                    f"INSERT INTO {table} SELECT {', '.join(shifted)} FROM {table} WHERE {key} > 0"  # noqa: S608
                )
            connection.execute("COMMIT")
        _renumber(connection, inputs * (COPIES - 1))
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _renumber(connection: sqlite3.Connection, by: int) -> None:
    """Number the inputs from 1 again, and chain those after the last snapshot anew: their hashes have their numbers in them."""
    triggers = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall()
    connection.execute("BEGIN")
    for (name,) in triggers:
        connection.execute(f"DROP TRIGGER {name}")
    for table, column in (
        *(("inputs", "seq"), ("snapshots", "seq"), ("rounds", "input"), ("incidents", "input")),
        *(("postings", "input"), ("progressive_rounds", "input"), ("progressive_log", "input")),
    ):
        for shift in (FAR, by - FAR):  # in two steps, or one number would be met on the way to another
            connection.execute(f"UPDATE {table} SET {column} = {column} + {shift}")  # noqa: S608
    at, link = connection.execute("SELECT seq, hash FROM snapshots ORDER BY seq DESC LIMIT 1").fetchone()
    for entry, _ in list(store.entries_after(connection, at)):
        link = entry.chained_to(link)
        connection.execute("UPDATE inputs SET hash = ? WHERE seq = ?", (link, entry.seq))
    connection.execute("COMMIT")
