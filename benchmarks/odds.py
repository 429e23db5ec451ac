"""Exact odds of what is left in a shoe, beside a walk of the tree, in alternating blocks of one process on one core.

Times are the processor's, so that what else the machine does counts as little as it can.
"""

import importlib
import importlib.util
import itertools
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.bench import Line, say
from benchmarks.rivals import Walk
from punto.baccarat.cards import STANDARD_DECK
from punto.baccarat.wagers.condition import BY_POINTS
from punto.baccarat.wagers.definition import Game
from punto.configs.game_files import load_game, shipped_games
from punto.odds.exact import GameOdds

GAME: Final = "dragon-bonus-1"
AT_ONCE: Final = 256
BLOCKS: Final = 30
BLOCK_SECONDS: Final = 0.01
WARM_UP: Final = 3
FEWEST_LEFT: Final = 14

Edges = Callable[[NDArray[np.int64]], NDArray[np.float64]]


def measure(_folder: Path) -> list[Line]:
    """Microseconds a shoe, at the median, measured in a process of its own."""
    say(
        "\nExact edges in shoes at random points, by processor time on one core, in alternating blocks. No program on PyPI,"
    )
    say(
        "crates.io or npm was found to have them; those published as source walk the tree of a coup by points, as here.\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.odds"],
        check=True,
        stdout=subprocess.PIPE,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    run = json.loads(done.stdout)
    ours = run["by_points"][GAME]
    lines = [Line(GAME, f"{ours:.0f} µs for every wager", "at most 250 µs", ours <= 250)]
    for name, least in (("Python", 50), ("numba", 1)):
        walk = run["walks"].get(name)
        if walk is None:
            say(f"  {name} is not installed: nothing to compare with there")
            continue
        figure = f"{walk / ours:,.1f} times faster than {walk:,.0f} µs"
        lines.append(Line(f"… a walk by {name}", figure, f"at least {least}", walk >= least * ours))
    points, slowest = max((taken, name) for name, taken in run["by_points"].items())
    whole, slowest_whole = max((taken / 1000, name) for name, taken in run["in_whole"].items())
    rate, difference = 1e6 / run["at_once"], run["difference"]
    return [
        *lines,
        Line("… the same edges", f"to {difference:.0e}", "at most 1e-12", difference <= 1e-12),
        Line("… many shoes at once", f"{rate:,.0f} a second", "at least 20,000", rate >= 20_000),
        Line("by points, any game", f"{points:.0f} µs or less ({slowest})", "at most 250 µs", points <= 250),
        Line(
            "with ranks and suits", f"{whole:.2f} ms or less ({slowest_whole})", "at most 20 ms", whole <= 20
        ),
    ]


def main() -> None:
    """Measure here, and print it for the process that asked.

    `by_points` has each game with those of its wagers that hang on points alone; `in_whole` the games that have others
    too, with all. `walks` are GAME's by a walk of the tree, in Python and, where there is numba, compiled. `at_once` is
    GAME's where all shoes are asked for together. `difference` is the most by which GAME's edges differ from a walk's.
    """
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    games = [load_game(name) for name in shipped_games()]
    by_points = {game.name: GameOdds(_by_points(game)).edges for game in games}
    in_whole = {game.name: GameOdds(game).edges for game in games if _by_points(game) != game}
    game = load_game(GAME)
    walks = {"Python": Walk(game).edges}
    if importlib.util.find_spec("numba"):
        walks["numba"] = Walk(game, importlib.import_module("numba").njit(error_model="numpy")).edges
    shoes = _shoes(game.decks)

    ours = by_points[GAME]
    one_by_one = [*by_points.values(), *in_whole.values(), *walks.values()]
    medians = iter(_medians([*((edges, 1) for edges in one_by_one), (ours, AT_ONCE)], shoes))
    found = {
        "by_points": {name: next(medians) for name in by_points},
        "in_whole": {name: next(medians) for name in in_whole},
        "walks": {name: next(medians) for name in walks},
        "at_once": next(medians),
        "difference": max(float(abs(ours(shoes[:20]) - walk(shoes[:20])).max()) for walk in walks.values()),
    }
    print(json.dumps(found))


def _by_points(game: Game) -> Game:
    """The game with those of its wagers that hang on points alone."""
    wagers = [
        wager for wager in game.wagers if all(rule.when.asked.keys() <= BY_POINTS for rule in wager.rules)
    ]
    return replace(game, wagers=tuple(wagers))


def _shoes(decks: int) -> NDArray[np.int64]:
    """What is left of shuffled shoes at random points."""
    draw = np.random.default_rng(1)
    cards = np.repeat(np.arange(len(STANDARD_DECK)), decks)
    left = draw.integers(FEWEST_LEFT, len(cards), AT_ONCE, endpoint=True)
    return np.array(
        [np.bincount(draw.permutation(cards)[:many], minlength=len(STANDARD_DECK)) for many in left]
    )


def _medians(contestants: Sequence[tuple[Edges, int]], shoes: NDArray[np.int64]) -> list[float]:
    """Microseconds a shoe of each, when it is asked for so many at once: in alternating blocks, after a warm-up."""
    next_shoes = itertools.cycle(range(len(shoes)))

    def call(edges: Edges, at_once: int) -> float:
        some = shoes if at_once == len(shoes) else shoes[(at := next(next_shoes)) : at + at_once]
        began = time.process_time()
        edges(some)
        return (time.process_time() - began) / at_once * 1e6

    calls = []
    for edges, at_once in contestants:
        taken = min(call(edges, at_once) for _ in range(WARM_UP))
        calls.append(max(1, int(BLOCK_SECONDS * 1e6 / (taken * at_once))))
    times: list[list[float]] = [[] for _ in contestants]
    for _ in range(BLOCKS):
        for (edges, at_once), many, its in zip(contestants, calls, times, strict=True):
            its += [call(edges, at_once) for _ in range(many)]
    return [statistics.median(its) for its in times]


if __name__ == "__main__":
    main()
