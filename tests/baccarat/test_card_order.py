"""The order of a shoe's cards: by chance it is nobody's, and a shoe that comes as before is found within a few cards."""

import pytest

from punto.baccarat.card_order import FACTORY, DealtShoe, ManyShoes, Order, order_of, packed, unpacked
from punto.baccarat.cards import Card
from punto.baccarat.evidence import Trials
from tests.baccarat.shoes import DECKS, NEW_DECK, riffled, shuffled

ALARM = 1_700_000.0
"""That of 200 tables."""


def found_at(cards: list[Card], order: Order) -> int | None:
    """The number of cards after which the order is an alarm, None if it is none in the whole shoe."""
    shoe = DealtShoe(DECKS, {"it": order})
    for number, card in enumerate(cards, 1):
        shoe.draw(card)
        if shoe.trials["it"].reached >= ALARM:
            return number
    return None


OLD = shuffled(1)
CASES = {
    "new decks": (NEW_DECK * DECKS, FACTORY, 9),
    "new decks, kings first": (NEW_DECK[::-1] * DECKS, FACTORY, 9),
    "new decks, shuffled once": (riffled(NEW_DECK * DECKS, 1, seed=1), FACTORY, 70),
    "the shoe before": (OLD, order_of(OLD[:380]), 14),
    "the shoe before, cut elsewhere": (OLD[77:] + OLD[:77], order_of(OLD[:380]), 14),
    "the shoe before, shuffled once": (riffled(OLD, 1, seed=1), order_of(OLD[:380]), 150),
    "the shoe before, backwards": (OLD[::-1], order_of(reversed(OLD[:380])), 55),
}


@pytest.mark.parametrize("case", CASES)
def test_cards_in_an_order_that_they_had_are_found(case):
    cards, order, latest = CASES[case]
    at = found_at(cards, order)

    assert at is not None
    assert at <= latest


@pytest.mark.parametrize("seed", range(2, 12))
def test_cards_that_are_well_shuffled_are_in_nobodys_order(seed):
    cards = shuffled(seed)

    for order in (FACTORY, order_of(OLD), order_of(reversed(OLD))):
        shoe = DealtShoe(DECKS, {"it": order})
        for card in cards:
            shoe.draw(card)
        assert shoe.trials["it"].reached < 1000


def test_by_chance_an_order_reaches_an_evidence_at_most_once_in_so_many_times():
    """Whole decks of 52, whose cards follow each other with other chances the fewer are left."""
    reached = []
    for seed in range(1500):
        shoe = DealtShoe(1, {"it": FACTORY})
        for card in shuffled(seed, decks=1):
            shoe.draw(card)
        reached.append(shoe.trials["it"].reached)

    for evidence in (11, 30, 100):
        assert sum(each >= evidence for each in reached) <= len(reached) / evidence


def test_a_card_that_the_shoe_cannot_have_says_nothing():
    shoe = DealtShoe(1, {"it": FACTORY})
    for _ in range(20):
        shoe.draw(Card("7S"))
        shoe.draw(Card("8S"))

    assert shoe.trials["it"].reached < 10
    assert len(shoe.cards) == 40


def test_what_trials_have_reached_stays_reached():
    trials = Trials(220)
    for hit in (True,) * 20:
        trials.add(hit=hit, chance=0.1)
    reached = trials.reached
    for _ in range(200):
        trials.add(hit=False, chance=0.1)

    assert trials.reached == reached > 1e9


def test_cards_that_are_packed_are_a_byte_each_and_the_same_afterwards():
    cards = shuffled(2)
    kept = packed(cards)
    assert (len(kept), unpacked(kept)) == (len(cards), cards)


def test_of_many_shoes_what_followed_three_cards_in_any_of_them_follows():
    first, second, third = map(shuffled, (11, 12, 13))
    many = ManyShoes([packed(each) for each in (first, second, third)])

    assert second[103] in many.following(second[:103])
    assert many.following(second[:2]) == set()
    assert many.following(third) == many.following(third[-3:])  # after the last card of all, nothing follows
    assert [many.nearest(each[40:140]) for each in (first, second, third)] == [0, 1, 2]
    assert ManyShoes([]).nearest(first) == 0


def test_no_card_follows_from_one_shoe_to_the_next():
    cards = shuffled(14, 1)
    many = ManyShoes([packed(cards), packed(cards[::-1])])
    assert many.following(cards[-3:]) == set()
