"""The expectations of what a table's meters count, against the exact odds; and the file of them that ships."""

from dataclasses import replace
from fractions import Fraction

import pytest

from punto.baccarat.table.meters import every
from punto.baccarat.wagers.definition import Game
from punto.configs.expectations import WIN, shipped
from punto.configs.game_files import load_game, shipped_games
from punto.odds.composition import Composition
from punto.odds.exact import GameOdds
from punto.odds.expectations import expectations, in_floats


def chances(game: Game) -> dict[tuple[str | None, str], Fraction]:
    """How likely each thing is that the meters of a game count."""
    found = expectations(game)
    return {key: mean for key, (mean, _) in found.items() if key[1] != WIN}


@pytest.mark.parametrize("name", ["mini-baccarat", "dragon-bonus-1", "dai-bacc"])
def test_the_rules_of_each_wager_and_the_results_of_each_hand_sum_to_one(name):
    game = load_game(name)
    found = chances(game)

    assert expectations(game).keys() - set(every(game)) == {(each.name, WIN) for each in game.wagers}
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
        assert expectations(game)[name, WIN] == (figures.edge, figures.variance)
    assert found[None, "tie"] == found["tie", "tie"]
    assert expectations(game)[None, "tie"][1] == found[None, "tie"] * (1 - found[None, "tie"])


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


def test_the_file_that_ships_has_the_exact_expectations_of_a_game_with_its_own_rules():
    game = load_game("progressive-1")

    assert shipped(game) == in_floats(expectations(game))


@pytest.mark.parametrize("name", shipped_games())
def test_all_that_the_meters_of_a_game_that_ships_can_count_is_in_the_file(name):
    game = load_game(name)

    assert shipped(game).keys() >= set(every(game))


@pytest.mark.parametrize(("rule", "value"), [("natural_nine", True), ("requires_base_win", False)])
def test_a_houses_option_of_a_game_that_ships_has_its_own_expectations(rule, value):
    game = load_game("progressive-1")
    own = tuple(each.with_rule(rule, value) if each.progressive else each for each in game.wagers)
    found = shipped(replace(game, wagers=own))

    assert found.keys() >= set(every(game))
    nine = found["progressive", "nine_over_zero"].mean - shipped(game)["progressive", "nine_over_zero"].mean
    assert (nine > 0) == (rule == "natural_nine")
    assert ("progressive", WIN) not in found
