"""The chances of what a table's meters count, against those of the published and the exact odds."""

from fractions import Fraction

import pytest

from punto.baccarat.table.meters import every
from punto.configs.game_files import load_game
from punto.odds.chances import chances
from punto.odds.composition import Composition
from punto.odds.exact import GameOdds


@pytest.mark.parametrize("name", ["mini-baccarat", "dragon-bonus-1", "dai-bacc"])
def test_the_rules_of_each_wager_and_the_results_of_each_hand_sum_to_one(name):
    game = load_game(name)
    found = chances(game)

    assert found.keys() == set(every(game))
    for wager in game.wagers:
        assert sum(chance for (of, _), chance in found.items() if of == wager.name) == 1
    assert sum(found[None, winner] for winner in ("player", "banker", "tie")) == 1


def test_they_are_those_of_the_exact_odds():
    game = load_game("mini-baccarat")
    found = chances(game)
    odds = GameOdds(game).odds(Composition.of_decks(game.decks))

    for name, figures in odds.items():
        for rule in figures.rules:
            assert found[name, rule.rule] == rule.probability
    assert found[None, "tie"] == found["tie", "tie"]


def test_a_natural_is_as_likely_as_two_cards_of_eight_or_nine_points_on_either_side():
    game = load_game("mini-baccarat")
    points = [128, *[32] * 9]  # cards of each number of points in eight decks
    hands = Fraction(0)
    for a in range(10):
        for b in range(10):
            for c in range(10):
                for d in range(10):
                    if (a + b) % 10 >= 8 or (c + d) % 10 >= 8:
                        left = points[:]
                        ways = 1
                        for each in (a, b, c, d):
                            ways *= left[each]
                            left[each] -= 1
                        hands += ways

    assert chances(game)[None, "natural"] == hands / (416 * 415 * 414 * 413)


def test_a_wager_that_needs_its_base_wager_to_win_is_counted_by_its_cards_alone():
    game = load_game("progressive-2")
    wager = game.wager("progressive")
    assert wager.requires_base_win

    found = chances(game)

    assert sum(found[wager.name, rule.name] for rule in wager.rules) == 1
    assert found[wager.name, wager.rules[5].name] > found[None, "natural"] / 2


def test_a_games_own_wager_may_have_any_name():
    game = load_game("mini-baccarat")

    assert (None, "natural") in chances(game)
