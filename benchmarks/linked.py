"""What the authority of a linked meter adds to START GAME: a linked table beside one that keeps its meter itself.

Both are services with a record and the same broker, and so is the authority. Measured is what a dealer waits for:
from the order at the local socket to its answer, which a linked table gives when its authority has counted the wager.
"""

import statistics
import time
from contextlib import ExitStack
from pathlib import Path

from benchmarks.bench import Line, say
from tests.controller.linked_services import Service
from tests.controller.table_on_a_machine import Broker

SAMPLES = 200
WARM_UP = 10
PAUSE_SECONDS = 0.2
"""Before START and after a game: a table takes twenty orders a second at its socket."""
NOTHING = "KS 2S 5S 3S 4D 9D"
SHOE = 8
"""Hands before the shoe is changed: it has eight of each card."""


def measure(folder: Path) -> list[Line]:
    """Milliseconds that a linked START takes longer than an unlinked one, at the median, in alternating games of one run."""
    say(f"START GAME with one wager at a linked and at an unlinked table in turn, {SAMPLES} each.\n")
    linked, alone = _seconds(folder)
    more = 1000 * (statistics.median(linked) - statistics.median(alone))
    figure = f"{more:.2f} ms more than {1000 * statistics.median(alone):.2f} ms at p50"
    return [Line("a linked START", figure, "at most 2 ms", more <= 2)]


def _seconds(folder: Path) -> tuple[list[float], list[float]]:
    with ExitStack() as running:
        broker = running.enter_context(Broker(folder))
        authority, linked = (Service(folder, broker, name) for name in ("meter-1", "t1"))
        alone = Service(folder, broker, "t2", 'authority = "meter-1"\n')
        text = alone.config.read_text(encoding="utf-8").replace('id = "dragon"', 'id = "own"')
        alone.config.write_text(text, encoding="utf-8")
        for each in (authority, linked, alone):
            running.enter_context(each)
        for each in (authority, alone):
            each.order("open_meter")
        linked.open()
        for order in ("sign_on", "change_shoe", "open_betting"):
            alone.order(order)
        taken: dict[Service, list[float]] = {linked: [], alone: []}
        for number in range(WARM_UP + SAMPLES):
            for table, times in taken.items():
                times.append(_game(table, number))
    return taken[linked][WARM_UP:], taken[alone][WARM_UP:]


def _game(table: Service, number: int) -> float:
    """Play a game; the seconds that its START took."""
    if number and number % SHOE == 0:
        table.order("change_shoe")
        table.order("open_betting")
    table.order("wager_placed", seat=1)
    shown = table.status()
    time.sleep(PAUSE_SECONDS)
    began = time.perf_counter()
    table.order("start_game", round=shown["round"])
    taken = time.perf_counter() - began
    table.play(NOTHING)
    table.order("game_over")
    table.order("wager_lifted", seat=1)
    time.sleep(PAUSE_SECONDS)
    return taken
