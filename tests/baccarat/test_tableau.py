"""The table of play, cell by cell, against the sheet as it is printed."""

from itertools import product

import pytest

from punto.baccarat.cards import Card
from punto.baccarat.coup import Coup, Side

# Sheet 004. Player: 0-1-2-3-4-5 draws, 6-7 stands.
PLAYER = "DDDDDDSS"
# Banker's total -> what Banker does when Player's third card is 0 1 2 3 4 5 6 7 8 9, and when Player stood.
BANKER = {
    0: ("D D D D D D D D D D", "D"),
    1: ("D D D D D D D D D D", "D"),
    2: ("D D D D D D D D D D", "D"),
    3: ("D D D D D D D D S D", "D"),
    4: ("S S D D D D D D S S", "D"),
    5: ("S S S S D D D D S S", "D"),
    6: ("S S S S S S D D S S", "S"),
    7: ("S S S S S S S S S S", "S"),
}
THIRD_CARDS = "TA23456789"  # by their points, 0 to 9

DRAWN = [
    pytest.param(player, banker, third, row.split()[third], id=f"{player}-{banker}-{third}")
    for player in range(8)
    if PLAYER[player] == "D"
    for banker, (row, _) in BANKER.items()
    for third in range(10)
]
STOOD = [
    pytest.param(player, banker, banker_does, id=f"{player}-{banker}")
    for player in range(8)
    if PLAYER[player] == "S"
    for banker, (_, banker_does) in BANKER.items()
]
SPLITS = {
    total: [(a, b) for a, b in product(range(10), repeat=2) if (a + b) % 10 == total] for total in range(10)
}


def two_cards(total: int, way: int = 0) -> tuple[Card, Card]:
    """Two cards of this total, in the `way`-th of its ten ways."""
    first, second = SPLITS[total][way]
    return Card(f"{THIRD_CARDS[first]}S"), Card(f"{THIRD_CARDS[second]}H")


def first_four(player: int, banker: int, way: int = 0) -> Coup:
    (p1, p2), (b1, b2) = two_cards(player, way), two_cards(banker, way)
    return Coup((p1, b1, p2, b2))


def test_there_are_as_many_cells_as_the_sheet_has():
    assert len(DRAWN) == 6 * 8 * 10
    assert len(STOOD) == 2 * 8


@pytest.mark.parametrize(("player", "banker", "third", "banker_does"), DRAWN)
def test_when_player_draws_banker_goes_by_the_third_card(player, banker, third, banker_does):
    before = first_four(player, banker)
    after = before.with_card(Card(f"{THIRD_CARDS[third]}C"))

    assert before.next_side is Side.PLAYER
    assert len(after.player) == 3
    assert after.next_side is (Side.BANKER if banker_does == "D" else None)


@pytest.mark.parametrize(("player", "banker", "banker_does"), STOOD)
def test_when_player_stands_banker_draws_to_five(player, banker, banker_does):
    coup = first_four(player, banker)

    assert coup.next_side is (Side.BANKER if banker_does == "D" else None)


@pytest.mark.parametrize("way", range(10))
def test_how_a_total_is_made_makes_no_difference(way):
    for player, banker in product(range(10), repeat=2):
        assert first_four(player, banker, way).next_side is first_four(player, banker).next_side


@pytest.mark.parametrize(
    ("player", "banker"), [(p, b) for p, b in product(range(10), repeat=2) if p >= 8 or b >= 8]
)
def test_a_natural_on_either_side_ends_the_coup(player, banker):
    coup = first_four(player, banker)

    assert coup.over
    assert coup.natural


@pytest.mark.parametrize(("player", "banker"), [*product(range(8), repeat=2)])
def test_below_eight_there_is_no_natural(player, banker):
    assert not first_four(player, banker).natural
