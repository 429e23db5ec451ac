"""Every kind of coup, with the features that a condition may use, as arrays.

A kind is six symbols: Player's and Banker's cards, in the needed detail. If only points matter there are ten
symbols, if ranks do there are thirteen. The order of a hand's first two cards never matters, so a kind stands
for up to four orders. A kind does not contain suits: the number of a kind's cards with each suit depends on
the shoe.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations_with_replacement
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from punto.baccarat.cards import RANKS
from punto.baccarat.coup import Winner
from punto.baccarat.tableau import banker_draws, player_draws
from punto.baccarat.wagers.condition import BY_POINTS

Symbols = NDArray[np.int64]
Mask = NDArray[np.bool_]
Alphabet = Literal["points", "ranks"]

NO_CARD: Final = -1
PLAYER: Final = (0, 1, 2)
BANKER: Final = (3, 4, 5)
"""The places of a hand's cards in a kind; the third may be no card."""

_WINNERS: Final = (Winner.PLAYER, Winner.BANKER, Winner.TIE)
_OF_FIRST_FOUR: Final = frozenset({"player_pair", "banker_pair"})


@cache
def points(alphabet: Alphabet) -> tuple[int, ...]:
    """The points of each symbol: the ranks from the ace on, with ten and pictures separate or as one."""
    return (1, 2, 3, 4, 5, 6, 7, 8, 9, 0) if alphabet == "points" else (1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0, 0, 0)


@dataclass(frozen=True, eq=False)
class Coups:
    """Kinds of coups: `cards` of shape (6, kinds), `orders` the number of orders of first cards of each."""

    alphabet: Alphabet
    cards: Symbols
    orders: Symbols

    def having(self, name: str, values: Iterable[object]) -> Mask:
        """The kinds that have one of these values of a feature of `Coup` that does not depend on suits."""
        feature = self._features[name]
        found = np.zeros(feature.shape, dtype=bool)
        for value in values:  # there are few, for which `np.isin` takes several times as long
            found |= feature == _number(name, value)
        return found

    def won_by(self, winner: Winner) -> Mask:
        """The kinds that this hand wins."""
        return self.having("winner", [winner])

    @cached_property
    def _features(self) -> dict[str, Symbols]:
        """The features by their names in `Coup`, each as a number."""
        value = np.array([*points(self.alphabet), 0])  # the last symbol, no card, counts 0
        player, banker = (value[self.cards[list(hand)]].sum(axis=0) % 10 for hand in (PLAYER, BANKER))
        player_cards, banker_cards = (2 + (self.cards[hand[2]] != NO_CARD) for hand in (PLAYER, BANKER))
        first = [value[self.cards[list(hand[:2])]].sum(axis=0) % 10 for hand in (PLAYER, BANKER)]
        winner = np.select([player > banker, banker > player], [0, 1], 2)
        features = {
            "winner": winner,
            "player_cards": player_cards,
            "banker_cards": banker_cards,
            "coup_cards": player_cards + banker_cards,
            "player_total": player,
            "banker_total": banker,
            "margin": abs(player - banker),
            "natural": (np.maximum(*first) >= 8).astype(int),
        }
        if self.alphabet == "ranks":
            features["player_pair"] = (self.cards[0] == self.cards[1]).astype(int)
            features["banker_pair"] = (self.cards[3] == self.cards[4]).astype(int)
            hands = np.where(winner == 0, self.cards[list(PLAYER)], self.cards[list(BANKER)])
            features["winning_ranks"] = np.where(winner == 2, NO_CARD, _hand_number(hands))
        return features


def _number(name: str, value: object) -> int:
    """A feature's value as `Coups` has it."""
    if name == "winner":
        return _WINNERS.index(Winner(str(value)))
    if name == "winning_ranks":
        ranks = [RANKS.index(rank) for rank in str(value).split("-")]
        return int(_hand_number(np.array([*ranks, NO_CARD][:3])[:, None])[0])
    return int(value)  # type: ignore[call-overload, no-any-return]


def _hand_number(hands: Symbols) -> Symbols:
    """One number for each hand of up to three ranks, whatever their order."""
    low, middle, high = np.sort(np.where(hands == NO_CARD, len(RANKS), hands), axis=0)
    number: Symbols = (low * 14 + middle) * 14 + high
    return number


def alphabet_for(features: frozenset[str]) -> Alphabet:
    """The symbols that are sufficient to distinguish these features, without suits."""
    return "points" if features <= BY_POINTS | {"winning_suit", "coup_suit"} else "ranks"


def coups_for(features: frozenset[str]) -> Coups:
    """The kinds of coups needed for these features: those of four cards if later cards do not matter."""
    return _first_four() if features and features <= _OF_FIRST_FOUR else every_coup(alphabet_for(features))


@cache
def every_coup(alphabet: Alphabet) -> Coups:
    """All kinds of finished coups."""
    kinds, orders = _two_hands(alphabet)
    value = np.array(points(alphabet))
    player, banker = (value[kinds[list(hand[:2])]].sum(axis=0) % 10 for hand in (PLAYER, BANKER))
    over = np.maximum(player, banker) >= 8
    draws = ~over & np.isin(player, [total for total in range(8) if player_draws(total)])
    found = [(kinds[:, over], orders[over])]
    waiting: list[tuple[Symbols, Symbols, int | None]] = [
        (kinds[:, ~over & ~draws], orders[~over & ~draws], None)
    ]
    for symbol, its_points in enumerate(points(alphabet)):
        third = kinds[:, draws].copy()
        third[PLAYER[2]] = symbol
        waiting.append((third, orders[draws], its_points))
    for each, their_orders, third_points in waiting:
        total = value[each[list(BANKER[:2])]].sum(axis=0) % 10
        takes = np.isin(total, [t for t in range(8) if banker_draws(t, third_points)])
        found.append((each[:, ~takes], their_orders[~takes]))
        for symbol in range(len(value)):
            fourth = each[:, takes].copy()
            fourth[BANKER[2]] = symbol
            found.append((fourth, their_orders[takes]))
    return Coups(
        alphabet,
        np.concatenate([each for each, _ in found], axis=1),
        np.concatenate([each for _, each in found]),
    )


@cache
def _first_four() -> Coups:
    return Coups("ranks", *_two_hands("ranks"))


def _two_hands(alphabet: Alphabet) -> tuple[Symbols, Symbols]:
    """Every kind of the first four cards, without third cards."""
    pairs = np.array([*combinations_with_replacement(range(len(points(alphabet))), 2)]).T
    orders = np.where(pairs[0] == pairs[1], 1, 2)
    count = len(orders)
    player, banker = np.repeat(np.arange(count), count), np.tile(np.arange(count), count)
    kinds = np.full((6, count * count), NO_CARD)
    kinds[[0, 1]], kinds[[3, 4]] = pairs[:, player], pairs[:, banker]
    return kinds, orders[player] * orders[banker]
