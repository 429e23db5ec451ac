"""Whether the cards of a shoe come in an order that they had before: that of the factory, or that of an earlier shoe.

An order is what follows what. So it is found wherever in the shoe it begins, and also if a bad shuffling has left only parts of it.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Final

from punto.baccarat.cards import RANKS, Card
from punto.baccarat.evidence import Trials

Order = Mapping[Card, frozenset[Card]]
"""The cards that follow each card, one or more because a shoe has several of each card."""


def order_of(cards: Iterable[Card]) -> Order:
    """The order of these cards."""
    following: defaultdict[Card, set[Card]] = defaultdict(set)
    for one, other in pairwise(cards):
        following[one].add(other)
    return {card: frozenset(others) for card, others in following.items()}


def _are_neighbours(one: Card, other: Card) -> bool:
    return one.suit == other.suit and abs(RANKS.index(one.rank) - RANKS.index(other.rank)) == 1


FACTORY: Final[Order] = {
    card: frozenset(each for each in Card if _are_neighbours(card, each)) for card in Card
}
"""New decks: suit by suit, and the ranks up or down as their makers have them."""


class DealtShoe:
    """The cards of a shoe so far, and the evidence that they come in each of some orders, by its name.

    The chance of a card is that of all cards that have not been seen, which is exact whatever was burned, because a burned card
    is one of them. A card that the shoe cannot have any more is wrongly read, and says nothing.
    """

    def __init__(self, decks: int, orders: Mapping[str, Order]) -> None:
        self.cards: list[Card] = []
        self.trials = {name: Trials(max(1, decks * len(Card))) for name in orders}
        self._orders = orders
        self._left = Counter(dict.fromkeys(Card, decks))

    def draw(self, card: Card) -> None:
        """A further card has left the shoe."""
        if self._left[card] > 0:
            if self.cards:
                unseen = self._left.total()
                for name, order in self._orders.items():
                    following = order.get(self.cards[-1], frozenset())
                    chance = sum(self._left[each] for each in following) / unseen
                    self.trials[name].add(hit=card in following, chance=chance)
            self._left[card] -= 1
        self.cards.append(card)
