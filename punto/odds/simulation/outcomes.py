"""Every outcome of a coup, as far as the wagers distinguish them.

Points come first: the two-card totals and the points of the fifth and sixth card determine which cards are
dealt and the totals, a *kind*. Pairs, ranks and suits make *variants* of a kind, if a rule uses them. All
variants that every wager settles by the same rules are one *outcome*. The deal comes from `Coup` and the
rules from `Wager.deciding_rule`; this module does not repeat either.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import permutations, product
from types import SimpleNamespace
from typing import Final, cast

import numpy as np
from numpy.typing import NDArray

from punto.baccarat.cards import RANKS, STANDARD_DECK, SUITS, Card
from punto.baccarat.coup import Coup, Winner
from punto.baccarat.wagers.condition import BY_POINTS, Condition
from punto.baccarat.wagers.definition import Wager
from punto.baccarat.wagers.pay import LOSE
from punto.odds.exact import Position
from punto.odds.simulation.kernel import NO_CARD, NO_RANK, PAIR_STATES, SUIT_STATES, Tables

_PAIRS: Final = frozenset({"player_pair", "banker_pair", "player_perfect_pair", "banker_perfect_pair"})
_DETAILS: Final = frozenset({"winning_ranks", "winning_suit", "coup_suit"})
_WINNERS: Final = (Winner.PLAYER, Winner.BANKER, Winner.TIE)
_OF_POINTS: Final = [[card for card in STANDARD_DECK if card.points == points] for points in range(10)]

NUMBERS: Final = {
    card: points + 16 * n for points, alike in enumerate(_OF_POINTS) for n, card in enumerate(alike)
}
"""Each card as the kernel has it: its points in the lower four bits."""


class Outcomes:
    """The outcomes that these positions distinguish.

    `rules` has for each position the names of the rules that may decide it, `deciding` for each outcome and
    position the index of the deciding rule. `kinds` has a coup of each kind.
    """

    def __init__(self, positions: Sequence[Position]) -> None:
        self.positions = tuple(positions)
        self.kinds, kind = _kinds()
        asking = [rule.when for position in positions for rule in position.wager.rules]
        asked = {name for when in asking for name in when.asked}
        hands = sorted({str(hand) for when in asking for hand in when.asked.get("winning_ranks", ())})
        pairs = PAIR_STATES**2 if asked & _PAIRS else 1
        details = (len(hands) + 1) * SUIT_STATES if asked & _DETAILS else 1
        settled = [_settled(position.wager, self.kinds, pairs, details, hands) for position in positions]
        self.rules = tuple(rules for rules, _ in settled)
        shape = (pairs, details, len(self.kinds))
        variants = np.stack([places.ravel() for _, places in settled], axis=1)
        self.deciding, outcome = np.unique(variants, axis=0, return_inverse=True)
        first = np.cumsum([0, *map(len, self.rules)])
        self.tables = Tables(
            rank=by_number(lambda card: RANKS.index(card.rank)).astype(np.uint8),
            suit=by_number(lambda card: 1 << SUITS.index(card.suit)).astype(np.uint8),
            kind=kind,
            winner=np.array([_WINNERS.index(coup.winner) for coup in self.kinds], np.uint8),
            third=np.array([_third_cards(coup) for coup in self.kinds], np.uint8),
            pairs=pairs > 1,
            detailed=np.array([_is_detailed(coup, asking) for coup in self.kinds]),
            hand=_hand_table(hands),
            one_suit=_suit_table(),
            outcome=outcome.reshape(shape).astype(np.uint32),
            rule=(self.deciding + first[:-1]).astype(np.uint32),
            first=first,
        )


def by_number(of: Callable[[Card], int]) -> NDArray[np.int64]:
    """A table of a property of each card, indexed by the card's number."""
    table = np.zeros(256, np.int64)
    for card, number in NUMBERS.items():
        table[number] = of(card)
    return table


def _kinds() -> tuple[tuple[Coup, ...], NDArray[np.uint16]]:
    """A coup of each kind, and the table that finds a kind."""
    found: dict[tuple[int, ...], int] = {}
    coups: list[Coup] = []
    kind = np.zeros((10, 10, 10, 10), np.uint16)

    def deal(coup: Coup, points: tuple[int, ...]) -> None:
        if not coup.over:
            for more in range(10):
                deal(coup.with_card(_OF_POINTS[more][0]), (*points, more))
            return
        result = (coup.player_total, coup.banker_total, coup.player_cards, coup.banker_cards)
        if result not in found:
            found[result] = len(coups)
            coups.append(coup)
        kind[points] = found[result] * 8 + coup.coup_cards

    for player, banker in product(range(10), repeat=2):
        cards = [_OF_POINTS[points][0] for points in (player, banker, 0, 0)]
        deal(Coup(tuple(cards)), (player, banker))
    return tuple(coups), kind


def _third_cards(coup: Coup) -> tuple[int, int]:
    banker = coup.coup_cards - 1 if coup.banker_cards == 3 else NO_CARD
    return (4 if coup.player_cards == 3 else NO_CARD), banker


def _features(coup: Coup, pair: int, detail: int, hands: Sequence[str]) -> SimpleNamespace:
    """A variant with the features of `Coup`, as conditions need it."""
    features = {name: getattr(coup, name) for name in BY_POINTS}
    for side, state in zip(("player", "banker"), divmod(pair, PAIR_STATES), strict=True):
        features |= {f"{side}_pair": state >= 1, f"{side}_perfect_pair": state == 2}
    hand, suited = divmod(detail, SUIT_STATES)
    suit = SUITS[(suited - 1) % len(SUITS)] if suited else None
    decided = coup.winner is not Winner.TIE
    return SimpleNamespace(
        **features,
        winning_ranks=hands[hand - 1] if hand and decided else None,
        winning_suit=suit if decided else None,
        coup_suit=suit if suited > len(SUITS) else None,
    )


def _is_detailed(coup: Coup, asking: Iterable[Condition]) -> bool:
    """Whether a rule with conditions on ranks or suits may hold for a kind."""
    return any(
        not _DETAILS.isdisjoint(when.asked)
        and all(getattr(coup, name) in values for name, values in when.asked.items() if name in BY_POINTS)
        for when in asking
    )


def _settled(
    wager: Wager, kinds: Sequence[Coup], pairs: int, details: int, hands: Sequence[str]
) -> tuple[tuple[str, ...], NDArray[np.uint16]]:
    """The names of a wager's rules, and the place of the deciding one by pairs, details and kind."""
    names = [rule.name for rule in wager.rules]
    if LOSE not in names:
        names.append(LOSE)
    looked_at = sorted({name for rule in wager.rules for name in rule.when.asked})
    decided = next(coup for coup in kinds if coup.winner is not Winner.TIE)

    def seen(coup: Coup, pair: int, detail: int) -> tuple[object, ...]:
        features = _features(coup, pair, detail, hands)
        return tuple([getattr(features, name) for name in looked_at])

    # Variants that look the same to the wager are evaluated once. A tie does not have a winning hand to look
    # at.
    some_kinds, kind = _distinct([(seen(coup, 0, 0), coup.winner is Winner.TIE) for coup in kinds])
    some_pairs, pair = _distinct([seen(decided, each, 0) for each in range(pairs)])
    some_details, detail = _distinct([seen(decided, 0, each) for each in range(details)])
    places = np.zeros((len(some_pairs), len(some_details), len(some_kinds)), np.uint16)
    for at in np.ndindex(places.shape):
        variant = _features(kinds[some_kinds[at[2]]], some_pairs[at[0]], some_details[at[1]], hands)
        # A condition reads a coup's features by name, and a variant has them all.
        rule = wager.deciding_rule(cast(Coup, variant))
        places[at] = names.index(LOSE if rule is None else rule.name)
    return tuple(names), places[np.ix_(pair, detail, kind)]


def _distinct(seen: Sequence[object]) -> tuple[list[int], list[int]]:
    """The indexes of the first of each distinct value, and for each value the index of its first."""
    found: dict[object, int] = {}
    which = [found.setdefault(each, len(found)) for each in seen]
    return [which.index(number) for number in range(len(found))], which


def _hand_table(hands: Iterable[str]) -> NDArray[np.uint16]:
    table = np.zeros((NO_RANK + 1,) * 3, np.uint16)
    for number, hand in enumerate(hands, 1):
        ranks = [RANKS.index(rank) for rank in hand.split("-")]
        ranks += [NO_RANK] * (3 - len(ranks))
        for order in permutations(ranks):
            table[order] = number
    return table


def _suit_table() -> NDArray[np.uint8]:
    table = np.zeros(1 << len(SUITS), np.uint8)
    for number in range(len(SUITS)):
        table[1 << number] = number + 1
    return table
