"""Evidence against an expectation: by chance, however often it is read, it reaches E at most once in E times."""

from collections import defaultdict
from collections.abc import Mapping
from itertools import pairwise
from math import log

import pytest

from punto.baccarat.evidence import MOST, NONE, _rise, alarm_at, of_count, of_win
from tests.share import share

HANDS = share(300, one_in=3)


def chance_to_reach(evidence: float, outcomes: Mapping[int, float], of) -> float:
    """The exact chance that the evidence is ever so strong within HANDS hands, if a table is looked at after each hand.

    `outcomes` has the chance of what a hand counts, and `of` gives the evidence of a sum over some hands.
    """
    sums, reached = {0: 1.0}, 0.0
    for hands in range(1, HANDS + 1):
        after: defaultdict[int, float] = defaultdict(float)
        for counted, before in sums.items():
            for more, chance in outcomes.items():
                after[counted + more] += before * chance
        found = {counted for counted in after if of(counted, hands) >= evidence}
        reached += sum(after.pop(counted) for counted in found)
        sums = after
    return reached


@pytest.mark.in_part
@pytest.mark.parametrize("chance", [0.4586, 0.0952, 0.0031, 0.9])
@pytest.mark.parametrize("evidence", [20, 100, 2000])
def test_hits_by_chance_ever_reach_an_evidence_at_most_once_in_so_many_times(chance, evidence):
    outcomes = {0: 1 - chance, 1: chance}

    reached = chance_to_reach(evidence, outcomes, lambda hits, hands: of_count(hits, hands, chance))

    assert 0 < reached <= 1 / evidence


@pytest.mark.in_part
@pytest.mark.parametrize(
    ("outcomes", "evidence"),
    [
        ({1: 0.4586, 0: 0.0952, -1: 0.4462}, 20),  # Player
        ({1: 0.9048, -8: 0.0952}, 20),  # Tie
        ({1: 0.97, -30: 0.03}, 11),
    ],
)  # fmt: skip
def test_wins_by_chance_ever_reach_an_evidence_at_most_once_in_so_many_times(outcomes, evidence):
    mean = sum(kept * chance for kept, chance in outcomes.items())
    variance = sum((kept - mean) ** 2 * chance for kept, chance in outcomes.items())

    def of(kept: float, hands: int) -> float:
        off = 100 * (kept - hands * mean)
        widest = max(outcomes) - mean if off > 0 else mean - min(outcomes)
        return of_win(off, hands * 100**2, variance, widest)

    assert chance_to_reach(evidence, outcomes, of) <= 1 / evidence


def test_a_house_that_wins_too_much_or_too_little_is_found():
    squares = 10_000 * 100_00**2
    a_unit = squares**0.5
    strong = [of_win(errors * a_unit, squares, 1.0, 1.0) for errors in (6, 10, 14)]

    assert strong[0] < 1000 < strong[1] < 1e6 < strong[2]
    assert of_win(-14 * a_unit, squares, 1.0, 1.0) == strong[2]
    assert of_win(14 * a_unit, squares, 1.0, 30.0) < strong[2]  # where a hand may win more, so much says less


@pytest.mark.parametrize("hands", [1, 20, 2_000, 100_000])
def test_the_first_hit_of_a_rare_rule_is_no_evidence_but_some_of_them_are(hands):
    chance = 1.7e-6  # 2-3-4 over 0 in diamonds

    assert of_count(1, hands, chance) == NONE
    by_hits = [of_count(hits, hands, chance) for hits in range(1, 9)]
    assert all(less < more for less, more in pairwise(by_hits[2:]))
    assert by_hits[-1] > 1e6


def test_hits_and_misses_are_the_same_evidence():
    assert of_count(600, 1000, 0.4586) == pytest.approx(of_count(400, 1000, 1 - 0.4586))


def test_what_cannot_be_by_chance_is_as_much_as_can_be_said():
    assert of_count(1000, 1000, 0.01) == of_win(-1e9, 1000, 1.0, 1.0) == MOST


def test_what_is_as_expected_is_no_evidence():
    assert of_count(0, 0, 0.1) == of_count(10, 100, 0.1) == of_win(0, 0, 1.0, 1.0) == NONE
    assert of_win(5, -1, 1.0, 1.0) == NONE  # sums that a store has rounded


def test_a_gamma_function_of_large_numbers_is_exact():
    assert _rise(1e12, 40) == pytest.approx(sum(log(1e12 + each) for each in range(40)), abs=1e-9)
    assert _rise(2000, 500) == pytest.approx(sum(log(2000 + each) for each in range(500)), rel=1e-13)
    assert _rise(2.5, 500) == pytest.approx(sum(log(2.5 + each) for each in range(500)), rel=1e-13)


def test_all_figures_of_a_month_have_one_false_alarm_at_most():
    assert alarm_at(200 * 40) == 31 * 200 * 40
