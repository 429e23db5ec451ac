"""What the odds are measured beside: the plain way to find them, and the program that a registry has.

No program was found on PyPI, crates.io or npm that finds the exact odds of what is left in a shoe. Those that are
published as source walk the tree of a coup by points, multiplying chances; so does `walk`, in Python or compiled.
npm has a program that deals.
"""

import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from punto.baccarat.cards import STANDARD_DECK
from punto.baccarat.tableau import banker_draws
from punto.baccarat.wagers.completeness import coups_by_points
from punto.baccarat.wagers.definition import Game

ENGINE: Final = "baccarat-engine@1.1.5"
"""Deals coups by the tableau and says who won; from npm, in JavaScript."""

_RUNS: Final = 10

_POINTS: Final = np.array([card.points for card in STANDARD_DECK])
_NO_THIRD: Final = 10
_DRAWS: Final = [[banker_draws(total, third) for third in (*range(10), None)] for total in range(8)]
"""Whether Banker draws, by Banker's total and the points of Player's third card."""
_ENDS: Final = 400
"""Both totals, and whether Player and Banker took a third card."""


def walk(left: Any, cards: int, draws: Any, found: Any) -> None:  # noqa: C901, PLR0912 - one branch for each card
    """Add the chance of each end of a coup to `found`: by both totals, and whether Player and Banker took a third card.

    `left` has how many cards of 0 to 9 points are left, of `cards` in all, and is as it was afterwards.
    """
    for a in range(10):
        chance_a = left[a] / cards
        left[a] -= 1
        for b in range(a + 1):
            chance_b = chance_a * (1 if b == a else 2) * left[b] / (cards - 1)
            left[b] -= 1
            player = (a + b) % 10
            for c in range(10):
                chance_c = chance_b * left[c] / (cards - 2)
                left[c] -= 1
                for d in range(c + 1):
                    chance = chance_c * (1 if d == c else 2) * left[d] / (cards - 3)
                    if chance <= 0:
                        continue
                    left[d] -= 1
                    banker = (c + d) % 10
                    if player >= 8 or banker >= 8:
                        found[(player * 10 + banker) * 4] += chance
                    elif player >= 6:
                        if draws[banker][_NO_THIRD]:
                            for f in range(10):
                                end = player * 10 + (banker + f) % 10
                                found[end * 4 + 1] += chance * left[f] / (cards - 4)
                        else:
                            found[(player * 10 + banker) * 4] += chance
                    else:
                        for e in range(10):
                            chance_e = chance * left[e] / (cards - 4)
                            total = (player + e) % 10
                            if not draws[banker][e]:
                                found[(total * 10 + banker) * 4 + 2] += chance_e
                                continue
                            left[e] -= 1
                            for f in range(10):
                                end = total * 10 + (banker + f) % 10
                                found[end * 4 + 3] += chance_e * left[f] / (cards - 5)
                            left[e] += 1
                    left[d] += 1
                left[c] += 1
            left[b] += 1
        left[a] += 1


class Walk:
    """The edges of a game of which only points matter: the chance of each end of a coup times what it pays."""

    def __init__(self, game: Game, compiler: Callable[..., Any] | None = None) -> None:
        """Walk in Python, or by what `compiler` makes of it."""
        self._walk = compiler(walk) if compiler else walk
        self._as_arrays = compiler is not None
        self._draws = np.array(_DRAWS) if compiler else _DRAWS
        self._nets = np.zeros((len(game.wagers), _ENDS))
        for coup in coups_by_points():
            thirds = 2 * (coup.player_cards == 3) + (coup.banker_cards == 3)
            end = (coup.player_total * 10 + coup.banker_total) * 4 + thirds
            for row, wager in enumerate(game.wagers):
                rule = wager.deciding_rule(coup)
                self._nets[row, end] = rule.pay.returned(1) - 1 if rule else -1

    def edges(self, compositions: NDArray[np.int64]) -> NDArray[np.float64]:
        """As `GameOdds.edges`, one shoe after the other."""
        return np.array([self._edges(composition) for composition in compositions])

    def _edges(self, composition: NDArray[np.int64]) -> NDArray[np.float64]:
        left = np.bincount(_POINTS, composition).astype(np.int64)
        cards = int(composition.sum())
        if self._as_arrays:
            found = np.zeros(_ENDS)
            self._walk(left, cards, self._draws, found)
            return -(self._nets @ found)
        ends = [0.0] * _ENDS
        self._walk(left.tolist(), cards, self._draws, ends)
        return -(self._nets @ ends)


@dataclass(frozen=True)
class Dealt:
    """What npm's program dealt, and how often each hand won and neither did."""

    rounds: int
    rounds_a_second: float
    player: int
    banker: int
    tie: int


def deal_with_engine(folder: Path, rounds: int) -> Dealt | None:
    """Fetch npm's program into this folder and have it deal, at its best of several runs; None where that cannot be."""
    fetch = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(folder), ENGINE]
    try:
        subprocess.run(fetch, check=True, capture_output=True, timeout=60)
        deal = ["node", "--eval", _DEAL, str(_RUNS), str(rounds)]
        done = subprocess.run(deal, check=True, capture_output=True, cwd=folder, timeout=120)
    except (OSError, subprocess.SubprocessError):
        return None
    rounds_a_second, won = json.loads(done.stdout)
    return Dealt(rounds, rounds_a_second, **won)


_DEAL: Final = """
const { BaccaratGameEngine } = require("baccarat-engine");
const engine = new BaccaratGameEngine();
const won = { player: 0, banker: 0, tie: 0 };
function deal(rounds) {
  for (let round = 0; round < rounds; round += 1) {
    if (engine.isBurnNeeded) {
      engine.shoe.cards = [];
      engine.shoe.createDecks();
      engine.shoe.shuffle();
      engine.burnCards();
    }
    won[engine.resultsEngine.calculateGameResult(engine.dealGame()).outcome] += 1;
  }
}
const [runs, rounds] = process.argv.slice(1).map(Number);
let best = Infinity;
for (let run = 0; run < runs; run += 1) {
  const began = process.hrtime.bigint();
  deal(rounds / runs);
  best = Math.min(best, Number(process.hrtime.bigint() - began) / 1e9);
}
console.log(JSON.stringify([rounds / runs / best, won]));
"""
