"""The coups that the tables of cases name are what they are named for."""

import pytest

from punto.baccarat.cards import Card
from punto.baccarat.coup import Winner, total
from tests.wagers.coups import (
    EIGHT_OVER_ZERO,
    NATURAL,
    NATURAL_NINE_OVER_ZERO,
    NATURAL_OVER_NATURAL,
    NATURAL_TIES,
    NEARLY_SUITED_BY_NINE,
    NINE_OVER_ONE,
    NOT_NATURAL,
    OTHER_NINE_OVER_ZERO,
    OTHER_TIES,
    OVER_ZERO,
    SUITED_BY_EIGHT,
    SUITED_BY_NINE,
    TWO_THREE_FOUR_OTHERWISE,
    coup,
)


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
    for points, codes in ties.items():
        found = coup(codes)
        assert (found.winner, found.player_total, found.natural) == (Winner.TIE, points, natural)


def hands(codes: str) -> tuple[Winner, tuple[Card, ...], tuple[Card, ...]]:
    """Who won, and the winning and the other hand; Player's first in a tie."""
    found = coup(codes)
    won = (found.banker, found.player) if found.winner is Winner.BANKER else (found.player, found.banker)
    return found.winner, *won


def suits(cards: tuple[Card, ...]) -> set[str]:
    return {card.suit for card in cards}


@pytest.mark.parametrize(("side", "kind"), OVER_ZERO)
def test_two_three_four_comes_over_zero_in_each_kind_of_suits(side, kind):
    for codes in OVER_ZERO[side, kind]:
        winner, won, lost = hands(codes)

        assert (winner, total(won), total(lost)) == (side, 9, 0)
        assert {card.rank for card in won} == set("234")
        assert kind == (
            "unsuited" if len(suits(won)) > 1 else "diamonds" if suits(won) == {"D"} else "suited"
        )


def test_two_three_four_comes_otherwise():
    for codes in TWO_THREE_FOUR_OTHERWISE:
        _, won, lost = hands(codes)

        assert {card.rank for card in won} == set("234")
        assert total(lost) > 0


@pytest.mark.parametrize(
    ("coups", "totals", "natural"),
    [
        (OTHER_NINE_OVER_ZERO, (9, 0), False),
        (NATURAL_NINE_OVER_ZERO, (9, 0), True),
        (EIGHT_OVER_ZERO, (8, 0), False),
        (NINE_OVER_ONE, (9, 1), False),
    ],
)
def test_each_side_wins_by_these_totals(coups, totals, natural):
    assert set(coups) == {"player", "banker"}
    for side, listed in coups.items():
        for codes in listed:
            winner, won, lost = hands(codes)

            assert (winner, total(won), total(lost)) == (side, *totals)
            assert coup(codes).natural is natural


def test_two_three_four_is_no_other_nine_over_zero():
    for codes in (each for listed in OTHER_NINE_OVER_ZERO.values() for each in listed):
        assert {card.rank for card in hands(codes)[1]} != set("234")


def test_coups_of_one_suit_are_of_one_suit():
    for (side, cards), listed in SUITED_BY_NINE.items():
        for codes in listed:
            found = coup(codes)
            assert (found.winner, found.margin, len(found.cards), len(suits(found.cards))) == (
                side,
                9,
                cards,
                1,
            )
    for side, listed in NEARLY_SUITED_BY_NINE.items():
        for codes in listed:
            found = coup(codes)
            assert (found.winner, found.margin, len(suits(found.cards))) == (side, 9, 2)
    for codes in SUITED_BY_EIGHT:
        found = coup(codes)
        assert (found.margin, len(suits(found.cards))) == (8, 1)
