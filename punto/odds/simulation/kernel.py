"""The deal itself, compiled: one processor deals some tens of millions of rounds a second.

Cards are shuffled from the front, after Fisher and Yates, only as many places as can be dealt. A shuffle
starts from the order that the previous one left, which makes no difference: from any order, each result is
equally likely. So a shuffle that runs out of draws is abandoned and begun again with fresh ones.

This module does not know the game: tables define who draws, which rule decides and what is burned.
"""

from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeVar, cast

import numba
import numpy as np
from numpy.typing import NDArray

NO_CARD: Final = 6
"""The place of a third card that is not dealt; a coup's places count from 0."""
NO_RANK: Final = 13
PAIR_STATES: Final = 3
"""A hand's pair: no pair, a pair, a perfect pair."""
SUIT_STATES: Final = 9
"""No suit, the winning hand of one of four, the whole coup of one of four."""
NEITHER: Final = 2
"""The winner of a tie; Player is 0, Banker 1."""
_POINTS: Final = 15
_ENDLESS: Final = 1 << 30


class Tables(NamedTuple):
    """The lookup tables for each round. A card is an eight-bit number, and its lower four bits are its points.

    - `rank`, `suit`: of each card; a suit is one bit of four.
    - `kind`: by the two-card totals of Player and Banker and the points of the fifth and sixth card: the kind
      of coup times 8, plus its number of cards.
    - `winner`, `third`: of each kind; `third` has the places of Player's and Banker's third cards.
    - `pairs`: whether pairs are distinguished; `detailed`: for each kind, whether ranks and suits are.
    - `hand`: by three ranks: the index of this hand among the wanted hands, counted from 1, or 0.
    - `one_suit`: by the suits of some cards: the suit that all of them have, counted from 1, or 0.
    - `outcome`: by both hands' pairs, by hand and suit, and by kind.
    - `rule`: by outcome and position: the deciding rule, numbered over all positions; `first`: the first rule
      of each position, and the number of rules.
    """

    rank: NDArray[np.uint8]
    suit: NDArray[np.uint8]
    kind: NDArray[np.uint16]
    winner: NDArray[np.uint8]
    third: NDArray[np.uint8]
    pairs: bool
    detailed: NDArray[np.bool_]
    hand: NDArray[np.uint16]
    one_suit: NDArray[np.uint8]
    outcome: NDArray[np.uint32]
    rule: NDArray[np.uint32]
    first: NDArray[np.int64]


class Play(NamedTuple):
    """The rules of play of a shoe.

    `places` that can be dealt, cards `burned` by each first card, itself included, cards before the `cut`
    card, and coups dealt `after` it if it comes within a coup.
    """

    places: int
    burned: NDArray[np.int64]
    cut: int
    after: int


class Limits(NamedTuple):
    """The maximum numbers of dealt `shoes` and `rounds`; `batch` shoes make a batch, 0 for no batches."""

    shoes: int
    rounds: int
    batch: int


class Count(NamedTuple):
    """The counts, all whole numbers.

    - `done`: how many shoes, rounds and batches are done, in this order.
    - `rules`: rounds that each rule has decided.
    - `products`: by rule and by index of a rule of the same position: the products of their rounds in a
      batch, summed over the batches. Empty if they are not needed.
    - `batch`: rounds of each outcome in the current batch.
    """

    done: NDArray[np.int64]
    rules: NDArray[np.int64]
    products: NDArray[np.int64]
    batch: NDArray[np.int64]


class Kept(NamedTuple):
    """Each round: its shoe and its number there, from 0; its cards, its kind and its outcome.

    There is room for every round or for none.
    """

    shoe: NDArray[np.int32]
    number: NDArray[np.int32]
    cards: NDArray[np.uint8]
    kind: NDArray[np.uint16]
    outcome: NDArray[np.uint32]


_Function = TypeVar("_Function", bound=Callable[..., Any])


def _compiled(function: _Function) -> _Function:
    """Compile with a cache, beside this file or in the user's cache, if either is writable."""
    try:
        return cast(_Function, numba.njit(nogil=True, cache=True)(function))
    except RuntimeError:  # "no locator available": the home is not writable either
        return cast(_Function, numba.njit(nogil=True)(function))


@_compiled
def shuffle(draws: NDArray[np.uint16], at: int, cards: NDArray[np.uint8], places: int) -> int:
    """Put equally likely cards into the first places; return the first draw not used, -1 if there were too few."""
    end = len(draws)
    for place in range(places):
        if at == end:
            return -1
        left = np.uint32(len(cards) - place)
        product = np.uint32(draws[at]) * left
        at += 1
        # Lemire's method: the few draws that would make some cards likelier than others are discarded.
        if product & 0xFFFF < left:
            fewest = np.uint32(1 << 16) % left
            while product & 0xFFFF < fewest:
                if at == end:
                    return -1
                product = np.uint32(draws[at]) * left
                at += 1
        other = place + np.int64(product >> 16)
        card = cards[place]
        cards[place] = cards[other]
        cards[other] = card
    return at


@_compiled
def _detail(
    coup: NDArray[np.uint8],
    winner: np.int64,
    third: NDArray[np.uint8],
    rank: NDArray[np.uint8],
    suit: NDArray[np.uint8],
    hand: NDArray[np.uint16],
    one_suit: NDArray[np.uint8],
) -> np.int64:
    """The wanted hand that has won, and whether the winning hand or the coup has one suit."""
    whole = suit[coup[0]] | suit[coup[1]] | suit[coup[2]] | suit[coup[3]]
    for place in third:
        if place != NO_CARD:
            whole |= suit[coup[place]]
    found = np.int64(one_suit[whole])
    if found:
        found += (SUIT_STATES - 1) // 2
    if winner != NEITHER:
        one, two = coup[winner], coup[winner + 2]
        suits = suit[one] | suit[two]
        last = np.int64(NO_RANK)
        if third[winner] != NO_CARD:
            suits |= suit[coup[third[winner]]]
            last = np.int64(rank[coup[third[winner]]])
        found = max(found, np.int64(one_suit[suits]))
        found += np.int64(hand[rank[one], rank[two], last]) * SUIT_STATES
    return found


@_compiled
def close_batch(tables: Tables, count: Count) -> None:
    """Add a batch to the counts, and begin the next."""
    rule, first = tables.rule, tables.first
    batch, total, products = count.batch, count.rules, count.products
    rules = np.zeros(len(total), np.int64)
    for outcome in np.flatnonzero(batch):
        for position in range(rule.shape[1]):
            rules[rule[outcome, position]] += batch[outcome]
        batch[outcome] = 0
    for one, rounds in enumerate(rules):
        total[one] += rounds
    if len(products):
        for position in range(rule.shape[1]):
            for one in range(first[position], first[position + 1]):
                for other in range(first[position], first[position + 1]):
                    products[one, other - first[position]] += rules[one] * rules[other]
    count.done[2] += 1


@_compiled
def _keep(kept: Kept, at: int, what: tuple[int, int, np.int64, np.uint32], cards: NDArray[np.uint8]) -> None:
    kept.shoe[at], kept.number[at], kept.kind[at], kept.outcome[at] = what
    for place, card in enumerate(cards):
        kept.cards[at, place] = card


@_compiled
def deal(  # noqa: C901 - one loop: what is taken out of it is called for each round
    draws: NDArray[np.uint16],
    cards: NDArray[np.uint8],
    tables: Tables,
    play: Play,
    limits: Limits,
    count: Count,
    kept: Kept,
) -> None:
    """Deal and count until a limit is reached or the draws are used up.

    A shoe is begun only if the draws are sufficient for it. The last batch is left open.
    """
    rank, suit, kinds = tables.rank, tables.suit, tables.kind
    pairs, detailed, outcomes = tables.pairs, tables.detailed, tables.outcome
    winner, third, hand, one_suit = tables.winner, tables.third, tables.hand, tables.one_suit
    batch = count.batch
    keep = len(kept.outcome) > 0
    shoe, done, _ = count.done
    at = 0
    while shoe < limits.shoes and done < limits.rounds:
        at = shuffle(draws, at, cards, play.places)
        if at < 0:
            break
        place = play.burned[cards[0]]
        left = _ENDLESS
        number = 0
        while left and done < limits.rounds:
            if place == play.cut:
                left = 1  # the cut card comes in place of a coup's first card: that coup is the last
            elif place > play.cut and left > play.after:
                left = play.after  # it came within the coup before
                if not left:
                    break
            p1, b1, p2, b2 = cards[place], cards[place + 1], cards[place + 2], cards[place + 3]
            player = np.int64(p1 & _POINTS) + np.int64(p2 & _POINTS)
            banker = np.int64(b1 & _POINTS) + np.int64(b2 & _POINTS)
            player = player - 10 if player >= 10 else player
            banker = banker - 10 if banker >= 10 else banker
            found = np.int64(kinds[player, banker, cards[place + 4] & _POINTS, cards[place + 5] & _POINTS])
            size = found & 7
            kind = found >> 3
            pair = detail = np.int64(0)
            if pairs:
                pair = np.int64(rank[p1] == rank[p2]) + np.int64(p1 == p2)
                pair = pair * PAIR_STATES + np.int64(rank[b1] == rank[b2]) + np.int64(b1 == b2)
            if detailed[kind]:
                six = cards[place : place + 6]
                detail = _detail(six, np.int64(winner[kind]), third[kind], rank, suit, hand, one_suit)
            outcome = outcomes[pair, detail, kind]
            batch[outcome] += 1
            if keep:
                _keep(kept, done, (shoe, number, kind, outcome), cards[place : place + size])
            number += 1
            place += size
            done += 1
            left -= 1
        shoe += 1
        if limits.batch and shoe % limits.batch == 0:
            close_batch(tables, count)
    count.done[0] = shoe
    count.done[1] = done
