"""Millions of rounds agree with the exact odds, on every wager and every rule of every game that ships."""

from functools import cache
from math import sqrt

import pytest

from punto.configs.game_files import load_game, shipped_games
from punto.odds.composition import Composition
from punto.odds.exact import GameOdds, WagerOdds
from punto.odds.simulation.outcomes import Outcomes
from punto.odds.simulation.simulator import ShoeRules, Simulation
from punto.odds.simulation.tally import estimates
from tests.odds.simulation.model import every_position
from tests.share import sampled

GAMES = shipped_games()
BOTH = pytest.mark.parametrize("shoe", [None, ShoeRules()], ids=["rounds", "shoes"])


# What the cut card does to whole shoes, to be seen in a billion rounds: see docs/reference/simulate.md.
OF_AN_EDGE = 2e-4
OF_A_SHARE = 5e-4


@cache
def odds_of() -> dict[str, GameOdds]:
    return {name: GameOdds(load_game(name)) for name in GAMES}


@cache
def exact(decks: int) -> dict[str, WagerOdds]:
    shoe = Composition.of_decks(decks)
    return {
        f"{name}/{position}": its
        for name, game in odds_of().items()
        for position, its in game.odds(shoe).items()
    }


@cache
def outcomes() -> Outcomes:
    return Outcomes(every_position([load_game(name) for name in GAMES]))


def distances(shoe, rounds, decks=8, of_an_edge=0.0, of_a_share=0.0):
    """How many sigmas each figure is off, the furthest first.

    For an edge they are the exact ones: an award that makes most of the variance may not come at all in a sample.
    """
    tally = Simulation(outcomes(), decks=decks, rounds=rounds, seed=1, shoe=shoe).run(2)
    found = []
    for each in estimates(tally, exact(decks)):
        sigma = sqrt(exact(decks)[each.name].variance / rounds)
        if sigma:
            found.append((_off(each.edge, of_an_edge) / sigma, each.name, "edge"))
        found += [
            (
                _off(rule.frequency, of_a_share * rule.frequency.exact) / rule.frequency.standard_error,
                each.name,
                rule.rule,
            )
            for rule in each.rules
            if 0 < rule.count < rounds
        ]
    return sorted(found, reverse=True)


def _off(figure, beyond):
    return max(0, abs(figure.simulated - figure.exact) - beyond)


@BOTH
def test_every_figure_is_within_four_sigmas_of_the_exact_one(shoe):
    found = distances(shoe, 20_000_000)

    assert len(found) > 500
    assert found[0][0] < 4, found[:5]


@BOTH
@pytest.mark.parametrize("decks", sampled([1, 6, 12], one_in=3))
def test_so_it_is_for_shoes_of_other_decks(decks, shoe):
    found = distances(shoe, 4_000_000, decks)

    assert found[0][0] < 4, found[:5]


@pytest.mark.soak
def test_a_billion_rounds_of_their_own_shoes_agree_too():
    found = distances(None, 1_000_000_000)

    assert found[0][0] < 4, found[:5]


@pytest.mark.soak
def test_a_billion_rounds_of_whole_shoes_agree_but_for_what_the_cut_card_does():
    found = distances(ShoeRules(), 1_000_000_000, of_an_edge=OF_AN_EDGE, of_a_share=OF_A_SHARE)

    assert found[0][0] < 4, found[:5]
