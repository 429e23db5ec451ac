"""The order of the cards in a shoe: a shuffle that can be reproduced. Pure."""

from collections import Counter
from collections.abc import Sequence
from random import Random

from punto.baccarat.cards import STANDARD_DECK, Card
from punto.baccarat.coup import Coup


def shuffled(seed: str, shoe_number: int, decks: int) -> list[Card]:
    """Shuffle the cards of one shoe; the first of the list leaves the shoe first.

    `shoe_number` counts the shoes loaded from 1. The scheme is
    `random.Random(f"{seed}/{shoe_number}").shuffle` of the decks one after the other, each in the order of
    `STANDARD_DECK`.
    """
    cards = list(STANDARD_DECK) * decks
    Random(f"{seed}/{shoe_number}").shuffle(cards)
    return cards


def stacked(cards: Sequence[Card], coups: Sequence[tuple[Card, ...]], every: int) -> list[Card]:
    """Put whole coups into a shoe: every `every`-th coup is the next of `coups`, which start again after the last.

    Their cards are fetched from further back and change places with those that they displace, so the shoe
    holds the same cards. A coup waits if the rest of the shoe lacks its cards. Coups are counted as at a
    table by default: the first card sets how many are burned, an ace one.
    """
    order = list(cards)
    begins = 1 + (order[0].points or 10)
    number = placed = 0
    while (size := _size_of_coup(order[begins:])) is not None:
        number += 1
        wanted = coups[placed % len(coups)]
        if number % every == 0 and Counter(wanted) <= Counter(order[begins:]):
            for place, card in enumerate(wanted, start=begins):
                found = order.index(card, place)
                order[place], order[found] = card, order[place]
            placed += 1
            size = len(wanted)
        begins += size
    return order


def _size_of_coup(cards: Sequence[Card]) -> int | None:
    """The number of these cards that make the next coup, None if they do not make one."""
    return next((size for size in range(4, 7) if len(cards) >= size and Coup(tuple(cards[:size])).over), None)


def with_surplus_copy(cards: Sequence[Card], earliest: int, decks: int) -> list[Card] | None:
    """Put a card into the shoe that it must not hold: the ninth copy of an exact card, with eight decks.

    It takes the place of the first card, not before number `earliest` (from 1), by when all `decks` copies of
    some card have come. None if that never happens.
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
