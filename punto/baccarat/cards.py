"""Playing cards as the shoe names them: rank, then suit, two letters."""

from collections.abc import Sequence
from enum import StrEnum

RANKS = "A23456789TJQK"
SUITS = "SHDC"


class Card(StrEnum):
    """One of the 52 cards; its value is its code, such as `9S` or `TD` (T is ten).

    `points` is its value in the count (sheet 004: ace one, 2 to 9 their face, ten and pictures nothing).

    Raises:
        ValueError: `Card(code)` is called with a value that is not a card's code.
    """

    AS, AH, AD, AC = "AS", "AH", "AD", "AC"
    TWO_S, TWO_H, TWO_D, TWO_C = "2S", "2H", "2D", "2C"
    THREE_S, THREE_H, THREE_D, THREE_C = "3S", "3H", "3D", "3C"
    FOUR_S, FOUR_H, FOUR_D, FOUR_C = "4S", "4H", "4D", "4C"
    FIVE_S, FIVE_H, FIVE_D, FIVE_C = "5S", "5H", "5D", "5C"
    SIX_S, SIX_H, SIX_D, SIX_C = "6S", "6H", "6D", "6C"
    SEVEN_S, SEVEN_H, SEVEN_D, SEVEN_C = "7S", "7H", "7D", "7C"
    EIGHT_S, EIGHT_H, EIGHT_D, EIGHT_C = "8S", "8H", "8D", "8C"
    NINE_S, NINE_H, NINE_D, NINE_C = "9S", "9H", "9D", "9C"
    TS, TH, TD, TC = "TS", "TH", "TD", "TC"
    JS, JH, JD, JC = "JS", "JH", "JD", "JC"
    QS, QH, QD, QC = "QS", "QH", "QD", "QC"
    KS, KH, KD, KC = "KS", "KH", "KD", "KC"

    rank: str
    suit: str
    points: int

    def __init__(self, code: str) -> None:
        self.rank = code[0]
        self.suit = code[1]
        self.points = "A23456789".find(self.rank) + 1

    @classmethod
    def _missing_(cls, value: object) -> "Card | None":
        raise ValueError(
            f"{value!r} is not a card: write rank A23456789TJQK, then suit SHDC, such as 9S or TD"
        )


STANDARD_DECK: tuple[Card, ...] = tuple(Card)


def check_one_shoe(cards: Sequence[Card], decks: int) -> None:
    """Check that cards can come from one shoe of this number of decks.

    Raises:
        ValueError: a card occurs more often than the shoe has it.
    """
    if len(cards) > decks:
        for card in cards:
            if (times := cards.count(card)) > decks:
                raise ValueError(f"{card} occurs {times} times, but a shoe of {decks} decks has only {decks}")
