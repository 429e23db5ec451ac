"""Amounts that win and are paid nothing: what is found is what the settlement pays, for each pay, rounding and limit."""

from dataclasses import replace
from random import Random
from typing import Literal

import pytest

from punto.baccarat.coup import Coup
from punto.baccarat.wagers.definition import Limits, Rule, Wager
from punto.baccarat.wagers.pay import Rounding
from punto.baccarat.wagers.settlement import PlacedWager, settle
from punto.baccarat.wagers.unpaid import unpaid
from punto.configs.game_files import load_game
from tests.baccarat.table.croupier import cards

GAME = load_game("mini-baccarat")


def found(pays: str, rounding: Rounding, limits: Limits) -> list[tuple[int, int | None, bool]]:
    wager = Wager(name="own", title="Own", base=True, rules=(Rule(name="win", pays=pays),), limits=limits)
    return [(each.amount, each.paid_from, each.never_pays) for each in unpaid(wager, rounding)]


CASES = {
    "a chip on Banker": ("1 to 1 less 5%", Rounding(unit=1000), Limits(minimum=1000, step=1000), [(1000, 2000, False)]),
    "two chips at least": ("1 to 1 less 5%", Rounding(unit=1000), Limits(minimum=2000, step=1000), []),
    "a commission rounded down": ("1 to 1 less 5%", Rounding(unit=1000, commission="down"), Limits(minimum=1000, step=1000), []),
    "half of a yen": ("1 to 2", Rounding(), Limits(), [(1, 2, False)]),
    "half of a chip, rounded up": ("1 to 2", Rounding(unit=1000, mode="up"), Limits(minimum=1000, step=1000), []),
    "a hundredth, of any amount": ("1 to 100", Rounding(unit=1000), Limits(minimum=1000, maximum=99_000, step=1000), [(1000, None, True)]),
    "a hundredth, of the largest": ("1 to 100", Rounding(unit=1000), Limits(minimum=1000, maximum=100_000, step=1000), [(1000, 100_000, False)]),
    "a whole stake taken": ("1 for 3", Rounding(), Limits(minimum=2), [(2, 3, False)]),
    "a large unit": ("1 to 1 less 5%", Rounding(unit=10**12), Limits(), [(1, 10**12 + 1, False)]),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_the_amounts_that_win_nothing_are_found(case):
    pays, rounding, limits, amounts = CASES[case]

    if case == "a large unit":  # too many amounts to try: from some amount on, each one is paid
        ((amount, paid_from, never),) = found(pays, rounding, limits)
        assert (amount, never) == (1, False)
        assert paid_from is not None
        assert paid_from > 10**12
    else:
        assert found(pays, rounding, limits) == amounts


@pytest.mark.parametrize("seed", range(60))
def test_what_is_found_is_what_the_settlement_pays(seed):
    dice = Random(seed)
    modes: list[Literal["down", "up", "nearest"]] = ["down", "up", "nearest"]
    commission = dice.choice(["", " less 5%", " less 25%", " less 60%", " less 90%"])
    pays = f"{dice.randint(1, 3)} to {dice.randint(1, 4)}{commission}"
    rounding = Rounding(
        unit=dice.choice([1, 2, 5, 12]), mode=dice.choice(modes), commission=dice.choice(modes)
    )
    step = dice.randint(1, 4)
    least = step * dice.randint(1, 5)
    limits = Limits(minimum=least, maximum=least + step * dice.randint(0, 80), step=step)
    player = replace(GAME.wager("player"), rules=(Rule(name="win", pays=pays),), limits=limits)
    game = replace(GAME, wagers=(player,), rounding=rounding)
    assert limits.maximum is not None
    amounts = range(limits.minimum, limits.maximum + 1, step)
    coup = Coup(cards("9S KD KH 8S"))
    nothing = [each for each in amounts if settle(game, coup, [PlacedWager(1, "player", each)])[0].net == 0]

    if not nothing:
        assert found(pays, rounding, limits) == []
        return
    paid_from = next(
        each for each in range(nothing[-1], limits.maximum + step + 1, step) if each > nothing[-1]
    )
    assert found(pays, rounding, limits) == [
        (nothing[0], None if paid_from > limits.maximum else paid_from, len(nothing) == len(amounts))
    ]


def test_a_meter_pays_every_amount():
    progressive = load_game("progressive-1").wager("progressive")
    of_the_meter = {rule.name for rule in progressive.rules if rule.pay.meter}

    found = {each.rule.name for each in unpaid(progressive, Rounding(unit=10**9))}

    assert of_the_meter
    assert found == {rule.name for rule in progressive.rules if rule.wins} - of_the_meter
