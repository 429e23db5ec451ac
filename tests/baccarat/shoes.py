"""The cards of whole shoes, in the order of the factory and shuffled well or badly."""

from random import Random

from punto.baccarat.cards import Card

DECKS = 8
NEW_DECK = [Card(rank + suit) for suit in "SDCH" for rank in "A23456789TJQK"]


def shuffled(seed: int, decks: int = DECKS) -> list[Card]:
    """The cards of a shoe, well shuffled."""
    cards = list(Card) * decks
    Random(seed).shuffle(cards)
    return cards


def riffled(cards: list[Card], times: int, seed: int) -> list[Card]:
    """Cards that were shuffled as people do it, so many times: cut near the middle, and each card from either part by its size."""
    dice = Random(seed)
    for _ in range(times):
        cut = sum(dice.random() < 0.5 for _ in cards)
        parts, cards = [cards[:cut], cards[cut:]], []
        while any(parts):
            one = parts[dice.random() * (len(parts[0]) + len(parts[1])) >= len(parts[0])]
            cards.append(one.pop(0))
    return cards
