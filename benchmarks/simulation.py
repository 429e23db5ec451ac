"""How many rounds of baccarat are dealt and settled a second, beside simpler ways to do it.

In one process, after import and compilation, by processor time; only what a second job brings needs the clock on the
wall. The best of several runs counts, since whatever else the machine does can only make one longer. The others settle the same wagers over the same kind of shoes: plain Python with the project's own
`Coup` and rules; numpy with many shoes side by side, looking up the same tables. A program from npm, if it is given,
settles no wager: it says who won, and whether there was a pair or a natural.
"""

import math
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks import rivals
from benchmarks.bench import Line, say
from benchmarks.rivals import Dealt
from punto.baccarat.cards import STANDARD_DECK
from punto.baccarat.coup import Coup
from punto.configs.game_files import load_game, shipped_games
from punto.odds.composition import Composition
from punto.odds.exact import GameOdds, Position, positions
from punto.odds.simulation.outcomes import NUMBERS, Outcomes
from punto.odds.simulation.simulator import ShoeRules, Simulation

DECKS = 8
GAME = "dragon-bonus-1"
RUNS = 15
ROUNDS = 6_000_000
RUNS_ON_THE_WALL = 12
ROUNDS_ON_THE_WALL = 24_000_000
ENGINE_ROUNDS = 500_000


def measure(folder: Path) -> list[Line]:
    """Rounds a second, of whole shoes; beside what npm's program deals, if it can be had."""
    say("\nRounds of whole shoes, dealt and settled by one job, after import and compilation.\n")
    engine = rivals.deal_with_engine(folder, ENGINE_ROUNDS)
    one_game = positions(load_game(GAME))
    every_game = [
        Position(f"{name} {each.name}", each.wager)
        for name in shipped_games()
        for each in positions(load_game(name))
    ]
    simple, whole = Outcomes(one_game), Outcomes(every_game)
    dealt = {
        "one job": lambda: _simulated(simple, ROUNDS),
        "every game": lambda: _simulated(whole, ROUNDS),
        "numpy": lambda: _side_by_side(simple, shoes=1000),
        "plain Python": lambda: _one_by_one(one_game, shoes=10),
    }
    _simulated(simple, 1000)  # compiled by now
    rates = _best_rates(dealt, time.process_time, RUNS)
    ours, every, numpy, plain = (rates[name] for name in ("one job", "every game", "numpy", "plain Python"))
    on_the_wall = _best_rates(
        {str(jobs): partial(_simulated, simple, ROUNDS_ON_THE_WALL, jobs) for jobs in (1, 2)},
        time.perf_counter,
        RUNS_ON_THE_WALL,
    )
    ratio = on_the_wall["2"] / on_the_wall["1"]
    wagers = f"{len(one_game)} wagers"
    return [
        Line(f"rounds/s, {wagers}", f"{ours / 1e6:.1f} million", "at least 30", ours >= 30e6),
        Line(
            "… beside numpy",
            f"{ours / numpy:.0f} times {numpy / 1e6:.2f} million",
            "at least 3",
            ours >= 3 * numpy,
        ),
        Line(
            "… beside Python",
            f"{ours / plain:,.0f} times {plain:,.0f}",
            "at least 1,000",
            ours >= 1000 * plain,
        ),
        *_beside(engine, ours),
        Line(
            f"rounds/s, {len(every_game)} wagers", f"{every / 1e6:.1f} million", "at least 12", every >= 12e6
        ),
        Line("two jobs", f"{ratio:.2f} times one", "at least 1.8", ratio >= 1.8),
    ]


def _beside(engine: Dealt | None, ours: float) -> Iterator[Line]:
    """npm's program: its speed, and whether its hands win as often."""
    if engine is None:
        say(f"  {rivals.ENGINE} cannot be had from npm and run here: nothing to compare with there")
        return
    theirs, rounds = engine.rounds_a_second, engine.rounds
    figure = f"{ours / theirs:.0f} times {theirs / 1e6:.2f} million"
    yield Line("… beside npm's", figure, "at least 5", ours >= 5 * theirs)
    exact = GameOdds(load_game("mini-baccarat")).odds(Composition.of_decks(DECKS))
    errors = 0.0
    for name in ("player", "banker", "tie"):
        chance = float(exact[name].hit)
        error = abs(getattr(engine, name) - chance * rounds) / math.sqrt(chance * (1 - chance) * rounds)
        errors = max(errors, error)
    yield Line("… the same winners", f"to {errors:.1f} standard errors", "at most 5", errors <= 5)


def _best_rates(
    dealt: dict[str, Callable[[], int]], clock: Callable[[], float], runs: int
) -> dict[str, float]:
    """Rounds a second of each, at its best; in turn, so that all have the same weather."""
    best = dict.fromkeys(dealt, 0.0)
    for _ in range(runs):
        for name, deal in dealt.items():
            began = clock()
            rounds = deal()
            best[name] = max(best[name], rounds / (clock() - began))
    return best


def _simulated(outcomes: Outcomes, rounds: int, jobs: int = 1) -> int:
    simulation = Simulation(outcomes, decks=DECKS, rounds=rounds, seed=1, shoe=ShoeRules())
    return simulation.run(jobs).rounds


def _one_by_one(wagers: tuple[Position, ...], shoes: int) -> int:
    """Shoes dealt card by card, without burn, up to 14 cards from the end."""
    rng = random.Random(1)
    cards = list(STANDARD_DECK) * DECKS
    counts: Counter[tuple[str, str]] = Counter()
    rounds = 0
    for _ in range(shoes):
        rng.shuffle(cards)
        place = 0
        while place < len(cards) - 14:
            coup = Coup(tuple(cards[place : place + 4]))
            while not coup.over:
                coup = coup.with_card(cards[place + coup.coup_cards])
            for each in wagers:
                rule = each.wager.deciding_rule(coup)
                counts[each.name, "" if rule is None else rule.name] += 1
            place += coup.coup_cards
            rounds += 1
    return rounds


def _side_by_side(outcomes: Outcomes, shoes: int) -> int:
    """The same of many shoes at once, a round of each at a time."""
    rng = np.random.default_rng(1)
    tables = outcomes.tables
    cards = np.tile(np.array([NUMBERS[card] for card in STANDARD_DECK] * DECKS, np.uint8) & 15, (shoes, 1))
    cards = rng.permuted(cards, axis=1, out=cards)
    place = np.zeros(shoes, np.int64)
    row = np.arange(shoes)
    counts = np.zeros(len(outcomes.deciding), np.int64)
    while len(row):
        first, second, third, fourth, fifth, sixth = (cards[row, place + n] for n in range(6))
        found = tables.kind[(first + third) % 10, (second + fourth) % 10, fifth, sixth]
        counts += np.bincount(tables.outcome[0, 0, found >> 3], minlength=len(counts))
        place += found & 7
        going = place < cards.shape[1] - 14
        row, place = row[going], place[going]
    settled = np.zeros(len(outcomes.rules), np.int64)
    settled += counts @ outcomes.deciding  # every position's rules are counted, as the others count them
    return int(counts.sum())
