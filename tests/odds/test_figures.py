"""What `GameOdds` refuses, and what it takes a meter to be."""

from fractions import Fraction

import numpy as np
import pytest

from punto.configs.game_files import load_game
from punto.odds.composition import Composition, CompositionError
from punto.odds.exact import GameOdds


def test_a_shoe_of_too_few_cards_has_no_edge():
    full, few = np.full(52, 8), np.zeros(52, np.int64)
    few[0] = 5

    with pytest.raises(
        CompositionError, match="a coup may need 6 cards, but only 5 are left in one of the shoes"
    ):
        GameOdds(load_game("mini-baccarat")).edges(np.array([full, few]))


def test_an_edge_of_nothing_has_no_minus():
    kings = Composition((0,) * 48 + (2,) * 4)

    (edges,) = GameOdds(load_game("mini-baccarat")).edges(np.array([kings.counts]))
    assert list(map(str, edges.tolist())) == ["0.0", "0.0", "-8.0"]


def test_a_meter_is_that_of_a_position_and_no_other():
    odds, shoe = GameOdds(load_game("progressive-3")), Composition.of_decks(8)
    average = odds.average_top_awards()["progressive:banker"]

    usual = odds.odds(shoe)
    assert odds.odds(shoe, {"progressive:banker": average}) == usual
    assert odds.odds(shoe, {"progressive:banker": average + 1}) != usual
    with pytest.raises(
        ValueError,
        match="'progressive' is not a position that pays from a meter: progressive:player, progressive:banker",
    ):
        odds.odds(shoe, {"progressive": Fraction(1)})
