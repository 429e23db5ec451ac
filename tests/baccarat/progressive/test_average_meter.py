"""The meter at its top award, over many of them, is on average what the model behind the sheets' statistics says.

By the real pay tables and their real probabilities, from the exact odds of a full shoe: the top awards are one in a
million and rarer, so the wagers between two hits of the meter are drawn as a number, by the law that their number has,
and come in one round. A meter cannot tell: what it takes in of many wagers is the sum of what it takes in of each.
The toy pay table hits so often that every wager can be made one by one.
"""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from math import log, sqrt
from random import Random
from statistics import fmean, stdev
from typing import Final

import pytest

from punto.baccarat.progressive.events import (
    BookAward,
    Confirmation,
    Contribute,
    EndRound,
    LockAward,
    SeatWager,
    Won,
)
from punto.baccarat.wagers.condition import Condition
from punto.baccarat.wagers.definition import Rule, Wager
from punto.configs.game_files import load_game
from punto.odds.composition import Composition
from punto.odds.exact import GameOdds
from tests.baccarat.progressive.floor import PAY_TABLES, Floor, accounted

pytestmark = pytest.mark.by_chance

STAKE: Final = 100
SURE: Final = 3.5  # standard errors; beyond it once in two thousand times


@cache
def chances(pay_table: str) -> dict[str, Fraction]:
    """How often each rule of the meter's percentages decides, beside a wager on Banker."""
    game = load_game(pay_table)
    odds = GameOdds(game).odds(Composition.of_decks(game.decks))["progressive:banker"]
    return {rule.rule: rule.probability for rule in odds.rules if "of the meter" in rule.pays}


def model(wager: Wager, hits: dict[str, Fraction], rate: Fraction, seed: int) -> Fraction:
    """(S + c/p) / (1 + f q/p), in minor units."""
    nothing = Fraction(0)
    top = sum((chance for name, chance in hits.items() if _share(wager, name) == 1), nothing)
    paid = sum((_share(wager, name) * chance for name, chance in hits.items()), nothing)  # p + f q
    return (seed + rate * STAKE / top) / (paid / top)


def _share(wager: Wager, name: str) -> Fraction:
    return next(rule.pay.meter for rule in wager.rules if rule.name == name)


def top_awards(floor: Floor, wagers_between: Iterator[int], tiers: Iterator[str]) -> Iterator[int]:
    """What the meter was at each 100% award, from one hit of it to the next."""
    for number, (wagers, tier) in enumerate(zip(wagers_between, tiers, strict=False), start=1):
        floor.order(Contribute("t1", number, (SeatWager(1, wagers * STAKE),)))
        floor.order(LockAward("t1", number, Won(tier, (1,)), Confirmation("bob")))
        award = floor.state.locked[0]
        floor.order(BookAward("t1"))
        floor.order(EndRound("t1", number))
        floor.effects.clear()
        if award.whole_meter:
            yield award.amount


def agrees(found: list[int], expected: Fraction) -> bool:
    return abs(fmean(found) - float(expected)) < SURE * stdev(found) / sqrt(len(found))


@pytest.mark.parametrize(
    "pay_table", [pytest.param("progressive-2", marks=pytest.mark.soak), "progressive-3"]
)
def test_the_meter_at_the_top_award_is_on_average_what_the_model_says(pay_table):
    chance = Random(11)
    hits = chances(pay_table)
    in_all = float(sum(hits.values()))
    names, weights = list(hits), [float(each) for each in hits.values()]

    def wagers_between() -> Iterator[int]:
        while True:
            yield 1 + int(log(1 - chance.random()) / log(1 - in_all))

    def tiers() -> Iterator[str]:
        while True:
            yield chance.choices(names, weights)[0]

    wager = PAY_TABLES[pay_table]
    floor = Floor(pay_table=pay_table, approval_above=None)
    awards = top_awards(floor, wagers_between(), tiers())
    found = [next(awards) for _ in range(3000)]
    rate, seed = Fraction(floor.settings.contribution_rate, 1_000_000), floor.settings.seed

    assert agrees(found, model(wager, hits, rate, seed))
    assert not agrees(found, model(wager, hits, rate * Fraction(9, 10), seed))
    assert floor.state.ledger.given == accounted(floor.state.ledger)


@pytest.mark.soak
def test_the_same_holds_of_a_toy_pay_table_wager_by_wager():
    """A natural wins a quarter of the meter, and a natural 9 over 0 all of it: once in some 36 coups."""
    rules = (
        Rule(name="all", pays="100% of the meter", when=Condition(margin=(9,), natural=True)),
        Rule(name="quarter", pays="25% of the meter", when=Condition(natural=True)),
        Rule(name="lose", pays="lose"),
    )
    game = load_game("progressive-2")
    wager = replace(game.wager("progressive"), rules=rules, requires_base_win=False)
    toy = replace(game, wagers=(*game.wagers[:-1], wager))
    odds = GameOdds(toy).odds(Composition.of_decks(8))["progressive"]
    hits = {rule.rule: rule.probability for rule in odds.rules if "of the meter" in rule.pays}
    assert round(1 / hits["all"]) == 36

    floor, chance, found = Floor(wager=wager, seed=500), Random(12), []
    names, weights = ["all", "quarter", ""], [float(hits["all"]), float(hits["quarter"])]
    weights.append(1 - sum(weights))
    for number, tier in enumerate(chance.choices(names, weights, k=40_000), start=1):
        floor.order(Contribute("t1", number, (SeatWager(1, STAKE),)))
        if tier:
            floor.order(LockAward("t1", number, Won(tier, (1,)), Confirmation("bob")))
            found += [floor.state.locked[0].amount] * (tier == "all")
            floor.order(BookAward("t1"))
        floor.order(EndRound("t1", number))
        floor.effects.clear()

    # What is cut to whole cents stays on the meter and is paid next time: a cent is far within the error.
    assert agrees(found, model(wager, hits, Fraction(1, 5), 500))
    assert not agrees(found, model(wager, hits, Fraction(1, 5), 450))
