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
import random
import statistics
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from benchmarks.a_year import play
from benchmarks.bench import Floor, Line, mosquitto, say
from punto.baccarat.progressive.game_events import StartGame, WagerPlaced
from punto.baccarat.table.events import Event
from punto.controller.engine import Engine
from punto.controller.journal import schema
from punto.controller.journal.journal import Journal
from punto.controller.journal.recovery import recover
from punto.controller.outbox import Outbox
from punto.messages.topics import Topics
from tests.baccarat.table.croupier import Croupier, settings

SAMPLES = 1000
BLOCK = 50
GAP_SECONDS = 0.008
DAYS = 15
YEAR = 365
ROUNDS_A_DAY = 822


def measure(folder: Path) -> list[Line]:
    """What a contribution adds to a START, and what a year's record to a start of the service."""
    say(
        "\nWhat four wagers add to the path of a game's START in the service's engine, beside the floor of the latency's part;"
    )
    say(
        "and the table recovered from a year's record, beside one of fifteen days (the year is dealt first, for some minutes).\n"
    )
    with mosquitto(folder) as broker:
        floor, contribution, start = _costs(folder, broker)
    share = contribution / floor
    say(f"  A START without wagers takes {start:.0f} µs more than an input that asks nothing of the meter.\n")
    few, few_seconds = _recovered(folder / "days.db", DAYS)
    rounds, seconds = _recovered(folder / "year.db", YEAR)
    return [
        Line(
            "a contribution",
            f"{contribution:.0f} µs, {100 * share:.1f}% of the floor's {floor:.0f} µs",
            "under 5%",
            share < 0.05,
        ),
        Line(
            "recovery of a year",
            f"{seconds:.2f} s of {rounds:,} rounds, {seconds / few_seconds:.1f} times of {few:,}",
            "under 1 s",
            seconds < 1,
        ),
    ]


def _costs(folder: Path, broker: int) -> tuple[float, float, float]:
    """Microseconds at the median: the floor's for a line, what a contribution adds to a START, and a START to an input
    that moves no meter; in alternating blocks of one run.
    """
    floor = Floor(folder, broker)
    time.sleep(1)
    draw = random.Random(1)

    def gap() -> None:
        time.sleep(GAP_SECONDS * draw.uniform(0.5, 1.5))

    def block() -> None:
        for _ in range(BLOCK):
            floor.write()
            gap()

    path = asyncio.run(_path(folder / "table.db", block, gap, draw))
    return (
        1e6 * statistics.median(floor.finish()),
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
        "wagers": StartGame(betting.round.number, "ann", (1, 3, 4, 7)),
        "no wagers": StartGame(betting.round.number, "ann", ()),
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
                engine.execution.table.state = betting
                began = time.perf_counter()
                (handled,) = await engine.submit([inputs[name]], "bench")
                taken[name].append(time.perf_counter() - began)
                if handled.refusal is not None:
                    raise handled.refusal
    await journal.close()
    return taken


def _recovered(path: Path, days: int) -> tuple[int, float]:
    """How many rounds so many days have, and the seconds to recover from them."""
    meter = {"reserve": "1%", "fixed_awards": "meter", "base_wagers": "unseen"}
    house = settings(game_name="progressive-1", meter=meter)
    played = play(path, house, days=days, rounds_a_day=ROUNDS_A_DAY, seed=1)
    times = []
    for _ in range(5):
        began = time.perf_counter()
        with closing(schema.open_for_writing(path)) as connection:
            found = recover(connection)
            times.append(time.perf_counter() - began)
        if found.differences:
            raise RuntimeError(found.differences)
    return played.rounds, statistics.median(times)
