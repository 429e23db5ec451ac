"""Every way a coup can come out, as far as the wagers looked at tell one from another.

Points come first: the two-card totals and the points of the fifth and sixth card say which cards are dealt and what
the totals are, a *kind*. Pairs, ranks and suits make *variants* of a kind, where a rule asks for them. All variants
that every wager settles by the same rules are one *outcome*. The deal comes from `Coup` and the rules from
`Wager.deciding_rule`; nothing of either is said again here.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import permutations, product
from types import SimpleNamespace
from typing import Final, cast

import numpy as np
from numpy.typing import NDArray

from controller.baccarat.cards import RANKS, STANDARD_DECK, SUITS, Card
from controller.baccarat.coup import Coup, Winner
from controller.odds.exact import Position
from controller.odds.simulation.kernel import NO_CARD, NO_RANK, PAIR_STATES, SUIT_STATES, Tables
from controller.wagers.condition import BY_POINTS, Condition
from controller.wagers.definition import Wager
from controller.wagers.pay import LOSE

_PAIRS: Final = frozenset({"player_pair", "banker_pair", "player_perfect_pair", "banker_perfect_pair"})
_WINNERS: Final = (Winner.PLAYER, Winner.BANKER, Winner.TIE)
_OF_POINTS: Final = [[card for card in STANDARD_DECK if card.points == points] for points in range(10)]
NUMBERS: Final = {
    card: points + 16 * n for points, alike in enumerate(_OF_POINTS) for n, card in enumerate(alike)
}
"""Each card as the kernel has it: its points in the lower four bits."""


class Outcomes:
    """The outcomes that these positions tell apart, each with the rule that decides each position."""

    def __init__(self, positions: Sequence[Position]) -> None:
        self.positions = tuple(positions)
        asking = [rule.when for position in positions for rule in position.wager.rules]
        kinds, kind = _kinds()
        pairs = any(not _PAIRS.isdisjoint(when.asked) for when in asking)
        hands = sorted({str(hand) for when in asking for hand in when.asked.get("winning_ranks", ())})
        details = [_details(coup, asking, len(hands)) for coup in kinds]
        columns = [_deciding(position.wager) for position in positions]
        settled: dict[tuple[str, ...], int] = {}
        outcome = [
            settled.setdefault(tuple([rule_of(variant) for rule_of in columns]), len(settled))
            for coup, count in zip(kinds, details, strict=True)
            for pair in range(PAIR_STATES**2 if pairs else 1)
            for variant in (_features(coup, pair, detail, hands) for detail in range(count))
        ]
        self.rules: tuple[tuple[str, ...], ...] = tuple(settled)
        """For each outcome the name of the rule that decides each position."""
        self.kinds = tuple(kinds)
        """A coup of each kind."""
        size = np.array(details, np.int32)
        self.tables = Tables(
            rank=by_number(lambda card: RANKS.index(card.rank)).astype(np.uint8),
            suit=by_number(lambda card: 1 << SUITS.index(card.suit)).astype(np.uint8),
            kind=kind,
            winner=np.array([_WINNERS.index(coup.winner) for coup in kinds], np.uint8),
            third=np.array([_third_cards(coup) for coup in kinds], np.uint8),
            first=(np.cumsum(size) - size).astype(np.int32) * (PAIR_STATES**2 if pairs else 1),
            details=size,
            pairs=pairs,
            hand=_hand_table(hands),
            one_suit=np.array(_one_suit(), np.uint8),
            outcome=np.array(outcome, np.uint16),
        )

    def deciding(self, position: str) -> tuple[str, ...]:
        """For each outcome the name of the rule that decides this position."""
        column = [each.name for each in self.positions].index(position)
        return tuple(rules[column] for rules in self.rules)


def by_number(of: Callable[[Card], int]) -> NDArray[np.int64]:
    """A table of something of each card, to be looked up by the card's number."""
    table = np.zeros(256, np.int64)
    for card, number in NUMBERS.items():
        table[number] = of(card)
    return table


def _kinds() -> tuple[list[Coup], NDArray[np.uint16]]:
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
    return coups, kind


def _third_cards(coup: Coup) -> tuple[int, int]:
    banker = coup.coup_cards - 1 if coup.banker_cards == 3 else NO_CARD
    return (4 if coup.player_cards == 3 else NO_CARD), banker


# --- variants


class _Features(SimpleNamespace):
    """A variant, as a condition asks for it: the features of `Coup`."""


def _details(coup: Coup, asking: Iterable[Condition], hands: int) -> int:
    """How many variants by ranks and suits a kind has: none are told apart where points forbid every rule that asks."""
    asked = any(
        not when.asked.keys() <= BY_POINTS | _PAIRS
        and all(getattr(coup, name) in values for name, values in when.asked.items() if name in BY_POINTS)
        for when in asking
    )
    return (hands + 1) * SUIT_STATES if asked else 1


def _features(coup: Coup, pair: int, detail: int, hands: Sequence[str]) -> _Features:
    features = {name: getattr(coup, name) for name in BY_POINTS}
    for side, state in zip(("player", "banker"), divmod(pair, PAIR_STATES), strict=True):
        features |= {f"{side}_pair": state >= 1, f"{side}_perfect_pair": state == 2}
    hand, suited = divmod(detail, SUIT_STATES)
    suit = SUITS[(suited - 1) % len(SUITS)] if suited else None
    decided = coup.winner is not Winner.TIE
    return _Features(
        **features,
        winning_ranks=hands[hand - 1] if hand and decided else None,
        winning_suit=suit if decided else None,
        coup_suit=suit if suited > len(SUITS) else None,
    )


def _deciding(wager: Wager) -> Callable[[_Features], str]:
    """The name of the rule that decides a wager; asked once for each set of features that the wager looks at."""
    looked_at = sorted({name for rule in wager.rules for name in rule.when.asked})
    known: dict[tuple[object, ...], str] = {}

    def rule_of(features: _Features) -> str:
        key = tuple([getattr(features, name) for name in looked_at])
        if key not in known:
            # A condition asks a coup for its features by name, and a variant has them all.
            rule = wager.deciding_rule(cast(Coup, features))
            known[key] = LOSE if rule is None else rule.name
        return known[key]

    return rule_of


def _hand_table(hands: Iterable[str]) -> NDArray[np.uint16]:
    table = np.zeros((NO_RANK + 1,) * 3, np.uint16)
    for number, hand in enumerate(hands, 1):
        ranks = [RANKS.index(rank) for rank in hand.split("-")]
        ranks += [NO_RANK] * (3 - len(ranks))
        for order in permutations(ranks):
            table[order] = number
    return table


def _one_suit() -> list[int]:
    return [{1 << n: n + 1 for n in range(len(SUITS))}.get(suits, 0) for suits in range(1 << len(SUITS))]
