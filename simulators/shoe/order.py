"""The order of the cards in a shoe: a shuffle that anybody can compute again. Pure."""

from collections import Counter
from collections.abc import Sequence
from random import Random

from controller.baccarat.cards import STANDARD_DECK, Card


def shuffled(seed: str, shoe_number: int, decks: int) -> list[Card]:
    """Shuffle the cards of one shoe; the first of the list leaves the shoe first.

    `shoe_number` counts the shoes loaded from 1. The scheme is `random.Random(f"{seed}/{shoe_number}").shuffle` of
    the decks one after the other, each in the order of `STANDARD_DECK`.
    """
    cards = list(STANDARD_DECK) * decks
    Random(f"{seed}/{shoe_number}").shuffle(cards)
    return cards


def with_surplus_copy(cards: Sequence[Card], earliest: int, decks: int) -> list[Card] | None:
    """Put a card into the shoe that it must not hold: the ninth copy of an exact card, with eight decks.

    It takes the place of the first card, not before number `earliest` (from 1), by when all `decks` copies of some
    card have come. None if that never happens.
    """
    seen: Counter[Card] = Counter()
    complete: Card | None = None
    for number, card in enumerate(cards, start=1):
        if complete is not None and number >= earliest:
            return [*cards[: number - 1], complete, *cards[number:]]
        seen[card] += 1
        if complete is None and seen[card] == decks:
            complete = card
    return None
