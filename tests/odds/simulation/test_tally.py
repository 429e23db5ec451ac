"""What the rounds say: means, and their errors, as they are found from the rounds one by one."""

from math import sqrt
from statistics import stdev

import pytest

from punto.configs.game_files import load_game
from punto.odds.composition import Composition
from punto.odds.exact import GameOdds
from punto.odds.simulation.simulator import ShoeRules
from punto.odds.simulation.tally import Estimate, estimates
from tests.odds.simulation.model import deal, outcomes_of

GAME = load_game("side-wagers")
OUTCOMES = outcomes_of(GAME)
ODDS = GameOdds(GAME).odds(Composition.of_decks(8))


def worth(rounds, position):
    """What each round pays net on a position."""
    nets = {rule.rule: rule.net for rule in ODDS[position].rules}
    return [nets[each.rules[position]] for each in rounds]


def error_of_ratio(sums, sizes):
    """The standard error of the sum of some sums by the sum of their sizes."""
    mean = sum(sums) / sum(sizes)
    squares = sum((one - mean * size) ** 2 for one, size in zip(sums, sizes, strict=True))
    return sqrt(squares * len(sums) / (len(sums) - 1)) / sum(sizes)


def test_counts_are_those_of_the_rounds():
    tally, rounds = deal(OUTCOMES, rounds=20_000, shoe=ShoeRules())

    for place, position in enumerate(OUTCOMES.positions):
        decided = [each.rules[position.name] for each in rounds]
        assert tally.rules(place) == {rule: decided.count(rule) for rule in OUTCOMES.rules[place]}


def test_an_edge_is_what_the_house_keeps_of_a_unit_staked():
    tally, rounds = deal(OUTCOMES, rounds=20_000)

    for each in estimates(tally, ODDS):
        assert each.edge.simulated == float(-sum(worth(rounds, each.name)) / 20_000)
        assert each.edge.exact == float(ODDS[each.name].edge)


def test_the_error_over_independent_rounds_is_that_of_their_mean():
    tally, rounds = deal(OUTCOMES, rounds=5_000)

    assert tally.batches == 5_000
    for each in estimates(tally, ODDS):
        assert each.edge.standard_error == pytest.approx(
            stdev(map(float, worth(rounds, each.name))) / sqrt(5_000)
        )
        for rule in each.rules:
            decided = [float(one.rules[each.name] == rule.rule) for one in rounds]
            assert rule.frequency.simulated == sum(decided) / 5_000
            assert rule.frequency.standard_error == pytest.approx(stdev(decided) / sqrt(5_000))


def test_the_error_over_shoes_is_that_of_batches_of_sixteen_of_them():
    # Beyond the end of the first draws; the last batch has fewer shoes, and its last shoe fewer rounds.
    tally, rounds = deal(OUTCOMES, rounds=20_000, shoe=ShoeRules())
    batches = [
        [each for each in rounds if each.shoe // 16 == number] for number in range(rounds[-1].shoe // 16 + 1)
    ]
    sizes = [len(each) for each in batches]

    assert tally.batches == len(batches) == 16
    assert tally.shoes == rounds[-1].shoe + 1
    for each in estimates(tally, ODDS):
        sums = [float(sum(worth(batch, each.name))) for batch in batches]
        assert each.edge.standard_error == pytest.approx(error_of_ratio(sums, sizes))
        for rule in each.rules:
            decided = [sum(one.rules[each.name] == rule.rule for one in batch) for batch in batches]
            assert rule.frequency.standard_error == pytest.approx(error_of_ratio(decided, sizes))


@pytest.mark.parametrize(("rounds", "shoe"), [(1, None), (1_000, ShoeRules())])
def test_too_few_rounds_have_no_error_to_tell(rounds, shoe):
    tally, _ = deal(OUTCOMES, rounds=rounds, shoe=shoe)

    for each in estimates(tally, ODDS):
        assert (each.edge.standard_error, each.edge.sigmas) == (None, None)


def test_sigmas_are_counted_from_the_exact_figure():
    assert Estimate(0.5, 0.125, 0.75).sigmas == -2
    assert Estimate(0.0, 0.0, 0.75).sigmas is None
    assert Estimate(0.5, None, 0.75).sigmas is None
