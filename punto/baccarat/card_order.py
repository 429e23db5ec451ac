"""Whether the cards of a shoe come in an order that they had before: that of the factory, or that of an earlier shoe.

An order is what follows what. So it is found wherever in the shoe it begins, and also if a bad shuffling has left only parts of it.
"""

from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Final, Protocol

from punto.baccarat.cards import RANKS, Card
from punto.baccarat.evidence import Trials

_CARDS: Final = tuple(Card)
_CODES: Final = {card: code for code, card in enumerate(_CARDS)}
_BETWEEN: Final = bytes([len(_CARDS)])
"""No card: it stands between two shoes."""
_ALIKE: Final = 3
"""So many cards in a row name a place in one of many shoes: by chance, they are in a week's shoes about every second time."""


class Order(Protocol):
    """What follows what."""

    def following(self, dealt: Sequence[Card]) -> Collection[Card]:
        """The cards that follow the last of these in this order; empty if it does not say."""


class Neighbours:
    """An order in which each card has others that follow it: one or more, because a shoe has several of each card."""

    def __init__(self, pairs: Iterable[tuple[Card, Card]]) -> None:
        following: defaultdict[Card, set[Card]] = defaultdict(set)
        for one, other in pairs:
            following[one].add(other)
        self._following = {card: frozenset(others) for card, others in following.items()}

    def following(self, dealt: Sequence[Card]) -> Collection[Card]:
        """The cards that followed the last one."""
        return self._following.get(dealt[-1], frozenset())


def order_of(cards: Iterable[Card]) -> Neighbours:
    """The order of these cards."""
    return Neighbours(pairwise(cards))


def _are_neighbours(one: Card, other: Card) -> bool:
    return one.suit == other.suit and abs(RANKS.index(one.rank) - RANKS.index(other.rank)) == 1


FACTORY: Final = Neighbours((one, other) for one in Card for other in Card if _are_neighbours(one, other))
"""New decks: suit by suit, and the ranks up or down as their makers have them."""


def packed(cards: Iterable[Card]) -> bytes:
    """Cards as they are kept of many shoes: a byte for each."""
    return bytes(map(_CODES.__getitem__, cards))


def unpacked(cards: bytes) -> list[Card]:
    """The cards that were `packed`."""
    return [_CARDS[code] for code in cards]


class ManyShoes:
    """The order of many shoes together: what followed the same three cards in any of them.

    So many shoes are one comparison, and need neither more evidence nor more time than one.
    """

    def __init__(self, shoes: Sequence[bytes]) -> None:
        self._cards = _BETWEEN.join(shoes)
        self._ends = [*accumulate(len(each) + len(_BETWEEN) for each in shoes)]

    def following(self, dealt: Sequence[Card]) -> Collection[Card]:
        """The cards that followed the last three."""
        next_ = (
            self._cards[at + _ALIKE] for at in self._places(dealt[-_ALIKE:]) if at + _ALIKE < len(self._cards)
        )
        return {_CARDS[code] for code in next_ if code < len(_CARDS)}

    def nearest(self, dealt: Sequence[Card]) -> int:
        """The place among the shoes of the one with the most of these cards in their order."""
        found = Counter(
            bisect(self._ends, at)
            for end in range(_ALIKE + 1, len(dealt) + 1)
            for at in self._places(dealt[end - _ALIKE - 1 : end])
        )
        return max(found, key=found.__getitem__, default=0)

    def _places(self, cards: Sequence[Card]) -> Iterator[int]:
        if len(cards) < _ALIKE:
            return
        wanted, at = packed(cards), -1
        while (at := self._cards.find(wanted, at + 1)) >= 0:
            yield at


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
            if self.cards and self._orders:
                unseen = self._left.total()
                for name, order in self._orders.items():
                    following = order.following(self.cards)
                    chance = sum(self._left[each] for each in following) / unseen
                    self.trials[name].add(hit=card in following, chance=chance)
            self._left[card] -= 1
        self.cards.append(card)
