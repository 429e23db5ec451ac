"""The coups that the tables of cases name are what they are named for."""

import pytest

from controller.baccarat.coup import Winner
from tests.wagers.coups import NATURAL, NATURAL_OVER_NATURAL, NATURAL_TIES, NOT_NATURAL, OTHER_TIES, coup


@pytest.mark.parametrize(("coups", "natural"), [(NOT_NATURAL, False), (NATURAL, True)])
def test_each_margin_comes_for_each_side(coups, natural):
    assert set(coups) == {(side, margin) for side in ("player", "banker") for margin in range(1, 10)}
    for (side, margin), codes in coups.items():
        found = coup(codes)
        assert (found.winner, found.margin, found.natural) == (side, margin, natural)


@pytest.mark.parametrize("side", ["player", "banker"])
def test_a_natural_can_lose_to_another(side):
    found = coup(NATURAL_OVER_NATURAL[side])

    assert (found.winner, found.margin, found.natural) == (side, 1, True)
    assert {found.player_total, found.banker_total} == {8, 9}


@pytest.mark.parametrize(("ties", "natural"), [(NATURAL_TIES, True), (OTHER_TIES, False)])
def test_each_tie_is_of_its_total(ties, natural):
    for total, codes in ties.items():
        found = coup(codes)
        assert (found.winner, found.player_total, found.natural) == (Winner.TIE, total, natural)
