"""Conditions in words: every feature is said, and nothing is said that does not matter."""

import random
from dataclasses import fields, replace
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punto.baccarat.cards import RANKS, STANDARD_DECK, SUITS, Card
from punto.baccarat.coup import Coup, Winner
from punto.baccarat.wagers.condition import Condition
from punto.baccarat.wagers.words import words

PLAYER, BANKER, TIE = Winner.PLAYER, Winner.BANKER, Winner.TIE

VALUES: dict[str, tuple[Any, ...]] = {
    "winner": tuple(Winner),
    "player_cards": (2, 3),
    "banker_cards": (2, 3),
    "coup_cards": (4, 5, 6),
    "player_total": tuple(range(10)),
    "banker_total": tuple(range(10)),
    "margin": tuple(range(10)),
    "natural": (True, False),
    "player_pair": (True, False),
    "banker_pair": (True, False),
    "player_perfect_pair": (True, False),
    "banker_perfect_pair": (True, False),
    "winning_ranks": ("2-3-4", "A-8", "9-T", "2-T-7"),
    "winning_suit": tuple(SUITS),
    "coup_suit": tuple(SUITS),
}
LISTS = [name for name, values in VALUES.items() if not isinstance(values[0], bool)]


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("", {}),
        ("", {"winner": (PLAYER, BANKER, TIE)}),
        # Who wins.
        ("Player wins", {"winner": (PLAYER,)}),
        ("Banker wins or ties", {"winner": (BANKER, TIE)}),
        ("A hand wins", {"winner": (PLAYER, BANKER)}),
        ("The hands tie", {"winner": (TIE,)}),
        ("The hands tie", {"margin": (0,)}),
        ("Player wins with a natural", {"winner": (PLAYER,), "natural": True}),
        ("Player wins, not natural", {"winner": (PLAYER,), "natural": False}),
        ("A hand wins with a natural", {"winner": (PLAYER, BANKER), "natural": True}),
        ("The hands tie on naturals", {"winner": (TIE,), "natural": True}),
        ("The hands tie, not natural", {"winner": (TIE,), "natural": False}),
        ("Player wins or ties; a natural ends the coup", {"winner": (PLAYER, TIE), "natural": True}),
        ("No natural ends the coup", {"natural": False}),
        # By how much.
        ("Player wins by 9, not natural", {"winner": (PLAYER,), "margin": (9,), "natural": False}),
        ("A hand wins by 9, not natural", {"margin": (9,), "natural": False}),
        ("A hand wins by 7, 8 or 9", {"margin": (7, 8, 9)}),
        ("Banker wins by 4", {"winner": (BANKER, TIE), "margin": (4,)}),
        ("The hands are 0 or 1 points apart", {"margin": (0, 1)}),
        ("Player wins or ties; the hands are 0 or 4 points apart", {"winner": (PLAYER, TIE), "margin": (0, 4)}),
        ("A hand wins 8 over 0, not natural", {"margin": (8,), "player_total": (0, 8), "natural": False}),
        ("Player wins 8 over 0", {"margin": (8,), "player_total": (8,)}),
        ("A hand wins by 8; Player has a total of 0 or 9", {"margin": (8,), "player_total": (0, 9)}),
        ("Player wins by 1 with a total of 8 or 9", {"margin": (1,), "player_total": (8, 9), "winner": (PLAYER,)}),
        ("Banker wins 8 over 0 with three cards", {"margin": (8,), "banker_total": (8,), "banker_cards": (3,)}),
        ("Player ties with a total of 6", {"margin": (0,), "player_total": (6,)}),
        # With what.
        ("Banker wins with a three-card 7", {"winner": (BANKER,), "banker_cards": (3,), "banker_total": (7,)}),
        ("Banker loses or ties with a three-card 7", {"winner": (PLAYER, TIE), "banker_cards": (3,), "banker_total": (7,)}),
        ("Banker wins with a total of 6", {"winner": (BANKER,), "banker_total": (6,)}),
        ("Player wins with three cards", {"winner": (PLAYER,), "player_cards": (3,)}),
        ("Player ties with a two-card 6 or 7", {"winner": (TIE,), "player_cards": (2,), "player_total": (6, 7)}),
        ("Player wins with a three-card 9 against a total of 8", {"winner": (PLAYER,), "player_cards": (3,), "player_total": (9,), "banker_total": (8,)}),
        ("Banker wins with a natural and a total of 9", {"winner": (BANKER,), "banker_total": (9,), "natural": True}),
        ("Player has a three-card 9", {"player_cards": (3,), "player_total": (9,)}),
        ("Player and Banker each have a three-card 9", {"player_cards": (3,), "player_total": (9,), "banker_cards": (3,), "banker_total": (9,)}),
        ("Player has three cards; Banker has a total of 7", {"player_cards": (3,), "banker_total": (7,)}),
        ("Player has two or three cards", {"player_cards": (2, 3)}),
        ("A hand wins; Player has a total of 6", {"winner": (PLAYER, BANKER), "player_total": (6,)}),
        # With which cards.
        ("A hand wins by 9 with 2-3-4 in any order, all diamonds", {"winning_ranks": ("2-3-4",), "margin": (9,), "winning_suit": ("D",)}),
        ("A hand wins with 2-3-4 in any order, all of one suit but not diamonds", {"winning_ranks": ("2-3-4",), "winning_suit": ("S", "H", "C")}),
        ("A hand wins with A-8 or 9-10 in any order", {"winning_ranks": ("A-8", "9-T")}),
        ("Player wins with cards that are all of one suit", {"winner": (PLAYER,), "winning_suit": ("S", "H", "D", "C")}),
        ("Player loses with three cards; the winning hand is all spades or all hearts", {"winner": (BANKER,), "player_cards": (3,), "winning_suit": ("S", "H")}),
        ("A hand wins by 9; the coup has six cards, all of one suit", {"margin": (9,), "coup_cards": (6,), "coup_suit": ("S", "H", "D", "C")}),
        ("The coup has five or six cards", {"coup_cards": (5, 6)}),
        ("The cards of the coup are all clubs", {"coup_suit": ("C",)}),
        ("Player's first two cards are a pair", {"player_pair": True}),
        ("Player's first two cards are a pair; Banker's first two cards are not a pair", {"player_pair": True, "banker_pair": False}),
        ("Each hand's first two cards are alike in rank and suit", {"player_perfect_pair": True, "banker_perfect_pair": True}),
        ("Player wins; Banker's first two cards are not alike in rank and suit", {"winner": (PLAYER,), "banker_perfect_pair": False}),
        # What no coup can be is said as it was asked.
        ("The hands tie; the winning hand is all spades", {"winner": (TIE,), "winning_suit": ("S",)}),
        ("The hands tie; the hands are 9 points apart", {"winner": (TIE,), "margin": (9,)}),
    ],
)  # fmt: skip
def test_a_condition_is_said_as_people_at_the_table_say_it(said, asked):
    assert words(Condition(**asked)) == said


def test_every_feature_has_values_here():
    assert list(VALUES) == [each.name for each in fields(Condition)]


@pytest.mark.parametrize("name", [each.name for each in fields(Condition)])
def test_every_feature_has_words_and_each_of_its_values_other_words(name):
    said = [words(alone(name, value)) for value in VALUES[name]]

    assert all(said)
    assert len(set(said)) == len(said)


def alone(name: str, value: Any) -> Condition:
    asked: dict[str, Any] = {name: (value,) if name in LISTS else value}
    return Condition(**asked)


def values(name: str) -> st.SearchStrategy[Any]:
    several = st.lists(st.sampled_from(VALUES[name]), min_size=1, max_size=4, unique=True).map(tuple)
    return several if name in LISTS else st.booleans()


@st.composite
def conditions_and_a_change(draw: st.DrawFn) -> tuple[Condition, Condition]:
    names = draw(st.lists(st.sampled_from(list(VALUES)), min_size=1, max_size=5, unique=True))
    condition = Condition(**{name: draw(values(name)) for name in names})
    changed = draw(st.sampled_from(names))
    return condition, replace(condition, **{changed: draw(st.none() | values(changed))})


@cache
def coups() -> tuple[Coup, ...]:
    """Coups of all kinds: from a whole deck, and from shoes of one or two suits or of few ranks."""
    source = random.Random(9)
    found = []
    for suits in ("SHDC", "S", "H", "D", "C", "SH"):
        for ranks in (RANKS, RANKS, "A2348T7", "A89T"):
            shoe = [
                card for card in STANDARD_DECK for _ in range(8) if card.suit in suits and card.rank in ranks
            ]
            found += [dealt(source.sample(shoe, 6)) for _ in range(100)]
    return tuple(found)


def dealt(cards: list[Card]) -> Coup:
    coup = Coup()
    for card in cards:
        if not coup.over:
            coup = coup.with_card(card)
    return coup


@given(conditions_and_a_change())
def test_conditions_with_the_same_words_are_met_by_the_same_coups(pair):
    one, other = pair

    if words(one) == words(other):
        assert [coup for coup in coups() if one.holds(coup)] == [
            coup for coup in coups() if other.holds(coup)
        ]
