"""Finds the rule that decides each kind of coup, and under which suits.

A rule's conditions on points and ranks hold or do not hold for a whole kind. Its conditions on suits hold for
some of its cards. So a rule decides a kind if its own suits hold and those of no earlier rule do; by
inclusion and exclusion that is a sum, with signs, of counts in which all the required suits hold.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from punto.baccarat.cards import SUITS
from punto.baccarat.coup import Winner
from punto.baccarat.wagers.condition import Condition
from punto.odds.coups import BANKER, PLAYER, Coups, Mask

_Suits = frozenset[tuple[str, frozenset[object]]]
"""Conditions on suits: features, each once, with their allowed suits (any, for a perfect pair)."""
_Sum = dict[_Suits, int]
"""For coups that have these suits, how often each is added (or taken away)."""

_ANY_SUIT: Final = frozenset[object](SUITS)
_PERFECT: Final = {"player_perfect_pair": "player_pair", "banker_perfect_pair": "banker_pair"}
_EVERYWHERE: Final[_Sum] = {frozenset(): 1}
_OF_SUITS: Final = frozenset({"winning_suit", "coup_suit", *_PERFECT})


@dataclass(frozen=True)
class SuitGroup:
    """Cards that must have one suit, one of `suits`: their places in a kind."""

    places: tuple[int, ...]
    suits: frozenset[object]


@dataclass(frozen=True, eq=False)
class Term:
    """How often to add each kind (or take it away), with groups of cards of one suit each; others have any suit."""

    times: NDArray[np.int64]
    groups: tuple[SuitGroup, ...] = ()


def features_of(conditions: Iterable[Condition]) -> frozenset[str]:
    """The features, without suits, that the kinds of coups must distinguish to decide these."""
    asked = {name for condition in conditions for name in condition.asked}
    return frozenset(_PERFECT.get(name, name) for name in asked)


def terms(coups: Coups, conditions: Sequence[Condition]) -> list[list[Term]]:
    """For each condition, in order, the terms to add up to count the coups for which it is the first that holds."""
    found: list[list[Term]] = []
    # What earlier rules have not decided: a condition on the suits, and the kinds of coups that are left under it. At first
    # every kind is left, whatever its suits.
    left = [(_EVERYWHERE, np.ones(coups.cards.shape[1], dtype=bool))]
    for condition in conditions:
        mine: dict[tuple[SuitGroup, ...], NDArray[np.int64]] = {}
        for kinds, suits in _by_suits(coups, condition):
            after: dict[frozenset[tuple[_Suits, int]], tuple[_Sum, Mask]] = {}
            for where, mask in left:
                hit = mask & kinds
                decided = _times(where, suits)
                _add(mine, coups, hit, decided)
                for rest, its in ((where, mask & ~kinds), (_less(where, decided), hit)):
                    if rest and its.any():
                        key = frozenset(rest.items())
                        after[key] = (rest, after[key][1] | its if key in after else its)
            left = [*after.values()]
        found.append([Term(times, groups) for groups, times in mine.items() if times.any()])
    return found


def _by_suits(coups: Coups, condition: Condition) -> Iterator[tuple[Mask, _Sum]]:
    """The kinds that meet a condition, grouped by the suits under which they do."""
    mask = np.ones(coups.cards.shape[1], dtype=bool)
    asked: _Sum = _EVERYWHERE
    for name, values in condition.asked.items():
        if name not in _OF_SUITS:
            mask &= coups.having(name, values)
        elif name not in _PERFECT:
            asked = _times(asked, {frozenset({(name, values)}): 1})
        elif True in values:
            mask &= coups.having(_PERFECT[name], [True])
            asked = _times(asked, _perfect(name))
    parts: list[tuple[Mask, _Sum]] = [(mask, asked)]
    # Not a perfect pair: either the ranks differ, or the suits do.
    for name in (name for name, values in condition.asked.items() if name in _PERFECT and True not in values):
        pair = coups.having(_PERFECT[name], [True])
        differ = _less(_EVERYWHERE, _perfect(name))
        parts = [
            part
            for kinds, where in parts
            for part in ((kinds & ~pair, where), (kinds & pair, _times(where, differ)))
        ]
    for kinds, where in parts:
        if kinds.any():
            yield kinds, where


def _perfect(name: str) -> _Sum:
    return {frozenset({(name, _ANY_SUIT)}): 1}


# --- inclusion and exclusion


def _times(one: _Sum, other: _Sum) -> _Sum:
    """The coups for which both hold."""
    result: _Sum = {}
    for suits, sign in one.items():
        for more, by in other.items():
            both = _together(suits, more)
            if both is not None:
                result[both] = result.get(both, 0) + sign * by
    return {suits: times for suits, times in result.items() if times}


def _less(one: _Sum, other: _Sum) -> _Sum:
    """The coups for which the first holds and the other, which is part of it, does not."""
    result = dict(one)
    for suits, times in other.items():
        result[suits] = result.get(suits, 0) - times
    return {suits: times for suits, times in result.items() if times}


def _together(one: _Suits, other: _Suits) -> _Suits | None:
    """The combined conditions of both; None if no coup can meet them."""
    found = dict(one)
    for name, suits in other:
        found[name] = found.get(name, suits) & suits
    return frozenset(found.items()) if all(found.values()) else None


# --- cards of one suit


def _add(
    mine: dict[tuple[SuitGroup, ...], NDArray[np.int64]], coups: Coups, kinds: Mask, where: _Sum
) -> None:
    """Count these kinds if they have the suits of the sum, by the groups that these suits make."""
    for suits, times in where.items():
        by_winner = any(name == "winning_suit" for name, _ in suits)
        for winner in Winner if by_winner else (Winner.TIE,):
            groups = _groups(dict(suits), winner)
            if groups is None:
                continue
            won = kinds & coups.won_by(winner) if by_winner else kinds
            if won.any():
                mine.setdefault(groups, np.zeros(len(kinds), dtype=np.int64))[won] += times


def _groups(suits: Mapping[str, frozenset[object]], winner: Winner) -> tuple[SuitGroup, ...] | None:
    """The groups of cards that must have one suit if this hand wins; None if they never can."""
    winning = suits.get("winning_suit")
    if winning is not None and winner is Winner.TIE:
        return None
    if "coup_suit" in suits:  # then every hand and pair in it has that suit too
        both = suits["coup_suit"] & (winning or _ANY_SUIT)
        return (SuitGroup((*PLAYER, *BANKER), both),) if both else None
    groups = []
    for hand, name in ((PLAYER, "player_perfect_pair"), (BANKER, "banker_perfect_pair")):
        won = winner is (Winner.PLAYER if hand is PLAYER else Winner.BANKER)
        if winning is not None and won:  # then its first two cards have that suit too
            groups.append(SuitGroup(hand, winning))
        elif name in suits:
            groups.append(SuitGroup(hand[:2], _ANY_SUIT))
    return tuple(groups)
