import pytest

from punto.baccarat.cards import STANDARD_DECK, Card, check_one_shoe

# Sheet 004: aces one, 2 to 9 their face, tens and pictures nothing.
POINTS = {
    "A": 1, "2": 2, "3": 3, "4": 4, "5": 5, "6": 6, "7": 7, "8": 8, "9": 9, "T": 0, "J": 0, "Q": 0, "K": 0,
}  # fmt: skip


def test_a_deck_is_every_rank_in_every_suit_once():
    assert sorted(STANDARD_DECK) == sorted(rank + suit for rank in POINTS for suit in "SHDC")


@pytest.mark.parametrize("card", STANDARD_DECK)
def test_a_card_is_its_rank_its_suit_and_its_points(card):
    assert (card.rank, card.suit) == tuple(card.value)
    assert card.points == POINTS[card.rank]


@pytest.mark.parametrize("code", ["", "A", "10S", "1S", "SA", "as", "AX", "AS ", "??"])
def test_what_is_not_a_card_is_refused_with_the_way_to_write_one(code):
    with pytest.raises(
        ValueError, match="is not a card: write rank A23456789TJQK, then suit SHDC, such as 9S"
    ) as error:
        Card(code)

    assert repr(code) in str(error.value)


def test_a_shoe_has_each_card_as_often_as_it_has_decks():
    check_one_shoe([Card("9S")] * 6, 6)
    check_one_shoe([*STANDARD_DECK] * 2, 2)
    with pytest.raises(ValueError, match="9S occurs 3 times, but a shoe of 2 decks has only 2"):
        check_one_shoe([Card("KD"), *[Card("9S")] * 3], 2)
