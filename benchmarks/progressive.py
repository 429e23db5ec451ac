"""What a progressive adds: to the path of an input by a contribution, and to a start by a year of its books.

A contribution is what the wagers of a game do to the meter: counted, checked, posted, known, and a row of the record. It
comes with a game's START GAME, an input on the path that a card takes as well. So it is measured there: in the service's own
engine, from the input's submission to its answer, a START with four wagers beside one with none, as it differs in nothing
else. That has in it what the journal's thread takes of the interpreter for the row of the posting, and not the START's
own work, of the procedure at the table and for the round that begins: that stands in a figure of its own, beside an input
that the same procedure handles and that asks nothing of the meter.

Each input comes after a pause, as at a table, and so does each line of the floor that it is compared with. That matters: the
same START in a loop, with its code and data in the processor's caches, takes a fifth of what it takes 8 ms later, even
where the processor has been kept busy in between; and the floor's line takes a half.
"""

import asyncio
import gc
import json
import os
import random
import sqlite3
import statistics
import subprocess
import sys
import time
import tty
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from benchmarks.bench import Subscriber
from controller.engine import Engine
from controller.journal import store
from controller.journal.journal import Journal
from controller.journal.recovery import recover
from controller.messages.topics import Topics
from controller.outbox import Outbox
from controller.progressive.procedure import StartGame, WagerPlaced
from controller.table.events import Event
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
    """Microseconds at the median: the floor's, what a contribution adds to a START, and a START to an input that moves no meter."""

    floor: float
    contribution: float
    start: float


@dataclass(frozen=True)
class Starts:
    """Seconds to recover the table, from so many rounds on the record."""

    rounds: int
    seconds: float
    few_rounds: int
    few_seconds: float


def contribution(folder: Path, broker: int) -> Costs:
    """The floor's time for a line, and what a contribution adds to the path of a START, in alternating blocks of one run."""
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
    draw = random.Random(1)

    def gap() -> None:
        time.sleep(GAP_SECONDS * draw.uniform(0.5, 1.5))

    def block() -> None:
        for _ in range(BLOCK):
            sent.append(time.monotonic())
            os.write(master, json.dumps({"padding": "x" * 200}).encode() + b"\n")
            gap()

    path = asyncio.run(_path(folder / "table.db", block, gap, draw))
    arrived = [at for at, _ in floors.finish()]
    floor.kill()
    taken = [there - here for here, there in zip(sent, arrived, strict=True)]
    return Costs(
        1e6 * statistics.median(taken),
        1e6 * _more(path["wagers"], path["no wagers"]),
        1e6 * _more(path["no wagers"], path["sensed"]),
    )


def _more(these: list[float], those: list[float]) -> float:
    """How much longer these took, at the median: each beside the one of its time, for the disk has better and worse ones."""
    return statistics.median(this - that for this, that in zip(these, those, strict=True))


async def _path(
    record: Path, block: Callable[[], None], gap: Callable[[], None], draw: random.Random
) -> dict[str, list[float]]:
    """Seconds from each input's submission to its answer: of a START with four wagers, of one with none, and of a wager that
    a sensor sees.

    The engine and its journal are the service's. The table is put back into the same betting before each input, so that
    one game can be started after another; the record of this table is of no use but for the time that it takes.
    """
    meter = {"reserve": "1%", "base_wagers": "unseen"}
    betting = Croupier.at_betting("meter", game_name="progressive-2", meter=meter).state
    inputs: dict[str, Event] = {
        "wagers": StartGame(betting.round, "ann", (1, 3, 4, 7)),
        "no wagers": StartGame(betting.round, "ann", ()),
        "sensed": WagerPlaced(2),
    }
    taken: dict[str, list[float]] = {name: [] for name in inputs}
    journal = Journal.open(record)
    engine = await Engine.start(journal, Outbox(), Topics("", "bench"), betting.settings, "bench")
    gc.freeze()
    sys.setswitchinterval(0.0005)  # both as `punto run` has it
    for _ in range(SAMPLES // BLOCK):
        block()
        for _ in range(BLOCK):
            for name in draw.sample(list(inputs), len(inputs)):
                gap()
                engine.table.state = betting
                began = time.perf_counter()
                (handled,) = await engine.submit([inputs[name]], "bench")
                taken[name].append(time.perf_counter() - began)
                if handled.refusal is not None:
                    raise handled.refusal
                await engine.written()
    await journal.close()
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
        _renumber(connection, inputs * (COPIES - 1), rounds * (COPIES - 1))
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _renumber(connection: sqlite3.Connection, inputs: int, rounds: int) -> None:
    """Number the inputs and rounds from 1 again, and chain the inputs after the last snapshot anew: a hash has the number in it."""
    triggers = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall()
    connection.execute("BEGIN")
    for (name,) in triggers:
        connection.execute(f"DROP TRIGGER {name}")
    for table, column, by in (
        *(("inputs", "seq", inputs), ("snapshots", "seq", inputs), ("incidents", "input", inputs)),
        *(("rounds", "input", inputs), ("rounds", "round", rounds), ("settlements", "round", rounds)),
        *((books, "input", inputs) for books in ("postings", "progressive_rounds", "progressive_log")),
    ):
        for shift in (FAR, by - FAR):  # in two steps, or one number would be met on the way to another
            connection.execute(f"UPDATE {table} SET {column} = {column} + {shift}")  # noqa: S608
    connection.execute(
        f"UPDATE snapshots SET state = json_set(state, '$.round', json_extract(state, '$.round') + {rounds})"  # noqa: S608
    )
    at, link = connection.execute("SELECT seq, hash FROM snapshots ORDER BY seq DESC LIMIT 1").fetchone()
    for entry, _ in list(store.entries_after(connection, at)):
        link = entry.chained_to(link)
        connection.execute("UPDATE inputs SET hash = ? WHERE seq = ?", (link, entry.seq))
    connection.execute("COMMIT")
