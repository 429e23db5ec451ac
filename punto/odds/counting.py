"""Counts the orders of the cards in a shoe that make the coups of a kind, exactly.

Cards leave the shoe one by one, so the orders of a kind are a product of falling factorials: the number of
nines for its first nine, one less for its second. Kinds with the same cards have the same product, whichever
hand got which of them. The number of orders of first cards that make an outcome of the same cards does not
depend on the shoe: it is counted once, and a shoe only adds a vector of products.

Every number is whole and no sum is above the orders of six cards of the shoe. Those are below 2**53 up to 8
decks, where floating-point numbers are exact and their matrix products fast, and below 2**63 up to 12.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product
from math import perm
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from punto.baccarat.cards import RANKS, SUITS
from punto.odds.composition import CARDS_OF_A_COUP
from punto.odds.coups import NO_CARD, Alphabet, Coups, Symbols, points
from punto.odds.deciding import Term

# The products are small. Threads do not make them faster, and if other processes are busy the threads wait
# for each other: a shoe's edges then take thirty times as long.
threadpool_limits(1, user_api="blas")

Numbers = NDArray[Any]
"""Whole numbers in an array of float64 or int64, the last axis over shoes."""

_EXACT_IN_FLOATS: Final = 2**53
_FEWEST: Final = 4
"""The cards of the shortest coup."""
_BASE: Final = 16
"""Symbols are digits of this base if several are one number; the last digit means no card."""
_LAST: Final = _BASE - 1


class Shoes:
    """The cards left in some shoes, for one alphabet: the number of each symbol, in total and of each suit."""

    def __init__(self, alphabet: Alphabet, compositions: NDArray[np.int64]) -> None:
        """Take compositions of shape (shoes, 52), in the order of `STANDARD_DECK`."""
        self.cards = compositions.sum(axis=1)
        exact = perm(int(self.cards.max()), CARDS_OF_A_COUP) < _EXACT_IN_FLOATS
        kind = np.float64 if exact else np.int64
        by_rank = compositions.T.reshape(len(RANKS), len(SUITS), -1)
        if alphabet == "points":
            by_rank = np.concatenate([by_rank[:9], by_rank[9:].sum(axis=0, keepdims=True)])
        self._by_suit = by_rank.astype(kind)
        self.plain = _falling(self._by_suit.sum(axis=1))
        rest: Numbers = np.ones((CARDS_OF_A_COUP + 1, len(self.cards)), kind)
        rest[:-1] = self.cards - np.arange(CARDS_OF_A_COUP)[:, None]
        self.rest: Numbers = np.cumprod(rest[::-1], axis=0)[::-1]
        """For each size of a coup, the number of orders of the cards after it, up to the sixth."""

    @cached_property
    def suited(self) -> Numbers:
        """`plain`, then the same of each suit, then a row of ones: the factor of no card."""
        parts = [_falling(self._by_suit[:, suit]) for suit in range(len(SUITS))]
        return np.concatenate([self.plain, *parts, self.rest[CARDS_OF_A_COUP:]])


def _falling(counts: Numbers) -> Numbers:
    """The number of choices for the first card of a symbol, its second …: shape (symbols * 6, shoes)."""
    taken = np.arange(CARDS_OF_A_COUP, dtype=counts.dtype)
    ways: Numbers = np.maximum(counts[:, None, :] - taken[None, :, None], 0)
    return ways.reshape(-1, counts.shape[-1])


class PlainCounts:
    """Counts of kinds without a condition on suits: a matrix over the different sets of cards."""

    def __init__(self, coups: Coups, wanted: Sequence[Sequence[Term]]) -> None:
        """Count the orders that do not depend on the shoe; `wanted` has the terms of each number."""
        used = np.logical_or.reduce([term.times != 0 for terms in wanted for term in terms])
        self._levels, place, ends = _sets(coups, used.tobytes())
        matrix = np.zeros((len(wanted), ends[-1]))
        for row, terms in enumerate(wanted):
            for term in terms:
                matrix[row] += np.bincount(place, (coups.orders * term.times)[used], ends[-1])
        # Several rules often have the same condition, such as a tie that is not a natural: it is counted
        # once.
        rows: dict[bytes, int] = {}
        self._which = [rows.setdefault(row.tobytes(), len(rows)) for row in matrix]
        different = matrix[[self._which.index(number) for number in range(len(rows))]]
        by_size = np.split(different, ends[1:-1], axis=1)
        self._matrices = {
            np.dtype(kind): dict(enumerate((part.astype(kind) for part in by_size), _FEWEST))
            for kind in (np.float64, np.int64)
        }

    def __call__(self, shoes: Shoes) -> Numbers:
        """The wanted numbers, of shape (wanted, shoes)."""
        ways = np.ones_like(shoes.plain[:1])
        matrices = self._matrices[ways.dtype]
        counts: Numbers = np.zeros_like(ways)
        for size, level in enumerate(self._levels, 1):
            ways = np.take(ways, level.parents, axis=0)
            ways *= np.take(shoes.plain, level.factors, axis=0)
            if size in matrices:
                counts = counts + (matrices[size] @ ways) * shoes.rest[size]
        return counts[self._which]


@dataclass(frozen=True, eq=False)
class _Level:
    """Sets of equal size: sorted numbers, each with its index without its last card, and that card's factor."""

    sets: Symbols
    parents: Symbols
    factors: Symbols


@lru_cache(maxsize=8)
def _sets(coups: Coups, used: bytes) -> tuple[list[_Level], Symbols, list[int]]:
    """The sets of cards of the kinds used, the number of each kind's set, and the end of each size's numbers."""
    cards = np.where(coups.cards == NO_CARD, _LAST, coups.cards)[:, np.frombuffer(used, dtype=np.bool_)]
    cards = np.sort(cards, axis=0)
    sizes = (cards != _LAST).sum(axis=0)
    levels = list(_levels(cards, sizes))
    place = np.zeros(len(sizes), dtype=np.int64)
    ends = [0]
    for size, level in enumerate(levels[_FEWEST - 1 :], _FEWEST):
        mine = sizes == size
        place[mine] = ends[-1] + np.searchsorted(level.sets, _number(cards[:size, mine]))
        ends.append(ends[-1] + len(level.sets))
    return levels, place, ends


def _levels(cards: Symbols, sizes: Symbols) -> Iterator[_Level]:
    """The sets of 1, 2 … cards from which the kinds are built."""
    before, copies = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    for size in range(1, int(sizes.max()) + 1):
        sets = np.unique(_number(cards[:size, sizes >= size]))
        parents = np.searchsorted(before, sets // _BASE)
        last = sets % _BASE
        again = (sets // _BASE % _BASE == last) & (size > 1)
        copies = np.where(again, copies[parents] + 1, 0)
        yield _Level(sets, parents, last * CARDS_OF_A_COUP + copies)
        before = sets


def _number(cards: Symbols) -> Symbols:
    """Symbols as digits of one number."""
    number = np.zeros(cards.shape[1], dtype=np.int64)
    for symbol in cards:
        number = number * _BASE + symbol
    return number


class SuitedCounts:
    """The count of one term in which groups of cards must have one suit."""

    def __init__(self, coups: Coups, term: Term) -> None:
        """Combine the kinds that have the same cards in each group, and the same ones outside."""
        kinds = term.times != 0
        cards = np.where(coups.cards == NO_CARD, _LAST, coups.cards)[:, kinds]
        places = [list(group.places) for group in term.groups]
        outside = [place for place in range(len(cards)) if not any(place in group for group in places)]
        parted = np.concatenate([np.sort(cards[part], axis=0) for part in (*places, outside)])
        _, first, inverse = np.unique(_number(parted), return_index=True, return_inverse=True)
        orders = np.bincount(inverse, (coups.orders * term.times)[kinds])
        cards = parted[:, first]
        parts = np.repeat(range(len(places) + 1), [len(part) for part in (*places, outside)])
        symbols = len(points(coups.alphabet))
        suits = [[SUITS.index(str(suit)) for suit in sorted(group.suits, key=str)] for group in term.groups]
        choices = [*product(*suits)]
        # There can be hundreds of thousands of columns.
        self._factors = np.concatenate(
            [_suited_factors(cards, parts, choice, symbols).astype(np.int16) for choice in choices], axis=1
        )
        self._sizes = np.tile((cards != _LAST).sum(axis=0, dtype=np.int8), len(choices))
        self._orders = np.tile(orders, len(choices))[:, None]

    def __call__(self, shoes: Shoes) -> Numbers:
        """The count in each shoe."""
        ways = np.take(shoes.rest, self._sizes, axis=0)
        ways *= self._orders.astype(ways.dtype)
        for factors in self._factors:
            ways *= np.take(shoes.suited, factors, axis=0)
        total: Numbers = ways.sum(axis=0)
        return total


def _suited_factors(cards: Symbols, parts: Symbols, choice: tuple[int, ...], symbols: int) -> Symbols:
    """The factors of each place's cards, as rows of `Shoes.suited`, if the groups have these suits.

    `parts` has the group of each place; the index after the last group means cards of any suit.
    """
    rows = symbols * CARDS_OF_A_COUP
    found = np.empty_like(cards)
    for place, part in enumerate(parts):
        copies = np.zeros(cards.shape[1], dtype=np.int64)
        for earlier, other in enumerate(parts[:place]):
            if part == len(choice) or choice[part] == choice[other]:
                copies += cards[earlier] == cards[place]
        first = 0 if part == len(choice) else rows * (1 + choice[part])
        factors = first + cards[place] * CARDS_OF_A_COUP + copies
        found[place] = np.where(cards[place] == _LAST, rows * (1 + len(SUITS)), factors)
    return found
