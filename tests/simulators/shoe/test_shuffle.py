from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punto.baccarat.cards import STANDARD_DECK, Card
from punto.baccarat.coup import Coup
from punto.simulators.shoe.shuffle import shuffled, stacked, with_surplus_copy


def test_a_seed_always_gives_the_same_cards():
    # Written down: they must never change, or no recorded run can be repeated.
    first = " ".join(shuffled("1", 1, 8)[:10])

    assert first == "6H KD 7D 5S 4C 9C 4S JC 8C 6S"


def test_the_scheme_is_as_documented():
    cards = [card for _ in range(6) for card in STANDARD_DECK]
    Random("table-4/3").shuffle(cards)

    assert shuffled("table-4", 3, 6) == cards


@pytest.mark.parametrize("decks", range(1, 9))
def test_a_shoe_holds_each_card_once_for_each_deck(decks):
    assert Counter(shuffled("x", 1, decks)) == dict.fromkeys(Card, decks)


def test_shoes_of_one_seed_and_seeds_differ():
    assert len({tuple(shuffled(seed, shoe, 8)) for seed in "12" for shoe in (1, 2, 3)}) == 6


@given(
    shoe=st.integers(1, 1000),
    decks=st.integers(1, 8),
    part=st.floats(0, 1),
)
def test_the_surplus_copy_is_the_first_card_to_come_once_too_often(shoe, decks, part):
    cards = shuffled("x", shoe, decks)
    earliest = 1 + int(part * (len(cards) - 1))
    changed = with_surplus_copy(cards, earliest, decks)
    assert changed is not None
    place = next(n for n in range(1, len(changed) + 1) if changed[:n].count(changed[n - 1]) > decks)

    assert place >= earliest
    assert [n for n in range(1, len(cards) + 1) if cards[n - 1] != changed[n - 1]] == [place]


def test_there_is_no_surplus_copy_where_no_card_is_complete():
    assert with_surplus_copy([Card.AS, Card.AH, Card.AS], 1, 2) is None


# --- coups put into a shoe

NATURAL = (Card("9S"), Card("4H"), Card("TD"), Card("3C"))
SIX_CARDS = tuple(map(Card, ["2D", "JC", "3D", "KS", "4D", "TH"]))


def coups_of(cards: list[Card]) -> list[tuple[Card, ...]]:
    """The coups of a shoe whose first card burns as many as it says."""
    coups, left = [], cards[1 + (cards[0].points or 10) :]
    while left:
        coup = Coup()
        while not coup.over and left:
            coup = coup.with_card(left.pop(0))
        coups += [coup.cards] if coup.over else []
    return coups


@given(seed=st.text(max_size=3), decks=st.integers(1, 8), every=st.integers(1, 100))
def test_stacking_a_shoe_puts_its_cards_into_another_order_and_nothing_else(seed, decks, every):
    before = shuffled(seed, 1, decks)
    after = stacked(before, [NATURAL, SIX_CARDS], every)

    assert Counter(after) == Counter(before)
    assert after[: 1 + (before[0].points or 10)] == before[: 1 + (before[0].points or 10)]


@given(seed=st.text(max_size=3), every=st.integers(3, 9))
def test_every_so_many_coups_is_the_next_of_those_put_in_as_long_as_there_are_cards_for_it(seed, every):
    cards = stacked(shuffled(seed, 1, 8), [NATURAL, SIX_CARDS], every)
    left = Counter(cards[1 + (cards[0].points or 10) :])
    put_in = 0

    for number, coup in enumerate(coups_of(cards), start=1):
        wanted = (NATURAL, SIX_CARDS)[put_in % 2]
        if number % every == 0 and Counter(wanted) <= left:
            assert coup == wanted
            put_in += 1
        left -= Counter(coup)
    assert put_in >= 2


def test_between_them_the_coups_are_those_of_the_shuffle_until_a_card_is_fetched():
    assert coups_of(stacked(shuffled("1", 1, 8), [NATURAL], 9))[:4] == coups_of(shuffled("1", 1, 8))[:4]


def test_a_coup_whose_cards_are_used_up_waits():
    coups = coups_of(stacked(shuffled("1", 1, 1), [NATURAL], 1))

    assert coups[0] == NATURAL
    assert coups.count(NATURAL) == 1
    assert len(coups) > 5
