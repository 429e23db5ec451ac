"""Which rule decides which kinds of coups, and under what suits.

What a rule asks of points and ranks is so or not so of a whole kind. What it asks of suits is so of some of its
cards. So a rule decides a kind where its own suits hold and those of no rule before it do; by inclusion and exclusion
that is a sum, with signs, of counts in which every suit that is asked for holds.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from controller.baccarat.cards import SUITS
from controller.baccarat.coup import Winner
from controller.odds.coups import BANKER, PLAYER, Coups, Mask
from controller.wagers.condition import Condition

Atom = tuple[str, frozenset[object]]
"""Something asked of suits: the feature, and the suits that it may have (any, for a perfect pair)."""
_Sum = dict[frozenset[Atom], int]
"""Sets of atoms that hold together, each with how often it is added (or taken away)."""

_ANY_SUIT: Final = frozenset[object](SUITS)
_PERFECT: Final = {"player_perfect_pair": "player_pair", "banker_perfect_pair": "banker_pair"}
_OF_SUITS: Final = frozenset({"winning_suit", "coup_suit", *_PERFECT})


@dataclass(frozen=True)
class SuitGroup:
    """Cards that must be of one suit, one of `suits`: their places in a kind."""

    places: tuple[int, ...]
    suits: frozenset[object]


@dataclass(frozen=True, eq=False)
class Term:
    """Kinds to count, `sign` times, with the groups of cards that have one suit each; the others have any."""

    kinds: Mask
    sign: int
    groups: tuple[SuitGroup, ...] = ()


def features_of(conditions: Iterable[Condition]) -> frozenset[str]:
    """The features, suits aside, that the kinds of coups must tell to decide these."""
    asked = {name for condition in conditions for name in condition.asked}
    return frozenset(_PERFECT.get(name, name) for name in asked)


def terms(coups: Coups, conditions: Sequence[Condition]) -> list[list[Term]]:
    """For each condition, in order, what to add up to count where it is the first that holds."""
    found: list[list[Term]] = []
    # Kinds that the rules so far leave, by what they asked of suits: where that holds, they have decided.
    left: dict[tuple[_Key, ...], Mask] = {(): np.ones(coups.cards.shape[1], dtype=bool)}
    for condition in conditions:
        mine: list[Term] = []
        for kinds, suits in _by_suits(coups, condition):
            after: dict[tuple[_Key, ...], Mask] = {}
            for earlier, mask in left.items():
                hit = mask & kinds
                mine += _counted(coups, hit, _where(suits, earlier))
                _put(after, earlier, mask & ~kinds)
                if suits != _NOTHING_ASKED:
                    _put(after, (*earlier, suits), hit)
            left = after
        found.append(mine)
    return found


_Key = tuple[frozenset[Atom], frozenset[Atom]]
"""What is asked of suits: the atoms that must hold, and those that must not."""
_NOTHING_ASKED: Final[_Key] = (frozenset(), frozenset())


def _put(groups: dict[tuple[_Key, ...], Mask], key: tuple[_Key, ...], mask: Mask) -> None:
    if mask.any():
        groups[key] = groups[key] | mask if key in groups else mask


def _by_suits(coups: Coups, condition: Condition) -> Iterator[tuple[Mask, _Key]]:
    """The kinds that a condition may hold of, parted by what it then still asks of suits."""
    mask = np.ones(coups.cards.shape[1], dtype=bool)
    asked: set[Atom] = set()
    for name, values in condition.asked.items():
        if name not in _OF_SUITS:
            mask &= coups.having(name, values)
        elif name not in _PERFECT:
            asked.add((name, values))
        elif True in values:
            mask &= coups.having(_PERFECT[name], [True])
            asked.add((name, _ANY_SUIT))
    parts: list[tuple[Mask, frozenset[Atom]]] = [(mask, frozenset())]
    # No perfect pair: the ranks differ, or else the suits do.
    for name in (name for name, values in condition.asked.items() if name in _PERFECT and True not in values):
        pair = coups.having(_PERFECT[name], [True])
        atom = (name, _ANY_SUIT)
        parts = [
            part
            for kinds, without in parts
            for part in ((kinds & ~pair, without), (kinds & pair, without | {atom}))
        ]
    for kinds, without in parts:
        if kinds.any():
            yield kinds, (frozenset(asked), without)


# --- inclusion and exclusion


def _where(own: _Key, earlier: Iterable[_Key]) -> _Sum:
    """Where this holds and none of those does."""
    result = _sum_of(own)
    for each in earlier:
        result = _times(result, _complement(_sum_of(each)))
    return result


def _sum_of(asked: _Key) -> _Sum:
    holds, fails = asked
    result: _Sum = {holds: 1}
    for atom in fails:
        result = _times(result, _complement({frozenset({atom}): 1}))
    return result


def _complement(terms_: _Sum) -> _Sum:
    result = {atoms: -sign for atoms, sign in terms_.items()}
    result[frozenset()] = result.get(frozenset(), 0) + 1
    return result


def _times(one: _Sum, other: _Sum) -> _Sum:
    result: _Sum = {}
    for atoms, sign in one.items():
        for more, by in other.items():
            result[atoms | more] = result.get(atoms | more, 0) + sign * by
    return result


# --- cards of one suit


def _counted(coups: Coups, kinds: Mask, sum_: _Sum) -> list[Term]:
    found = []
    for atoms, sign in sum_.items():
        if not sign or not kinds.any():
            continue
        if not atoms:
            found.append(Term(kinds, sign))
            continue
        by_winner = any(name == "winning_suit" for name, _ in atoms)
        for winner in Winner if by_winner else (Winner.TIE,):
            groups = _groups(atoms, winner)
            won = kinds & coups.won_by(winner) if by_winner else kinds
            if groups is not None and won.any():
                found.append(Term(won, sign, groups))
    return found


def _groups(atoms: frozenset[Atom], winner: Winner) -> tuple[SuitGroup, ...] | None:
    """The groups of cards that these atoms ask to be of one suit when this hand wins; None if they never can."""
    suits = {name: _common(atoms, name) for name, _ in atoms}
    winning = suits.get("winning_suit")
    if winning is not None and winner is Winner.TIE:
        return None
    if "coup_suit" in suits:  # then every hand and pair in it is of that suit too
        groups = [SuitGroup((*PLAYER, *BANKER), suits["coup_suit"] & suits.get("winning_suit", _ANY_SUIT))]
    else:
        groups = []
        for hand, name in ((PLAYER, "player_perfect_pair"), (BANKER, "banker_perfect_pair")):
            won = winner is (Winner.PLAYER if hand is PLAYER else Winner.BANKER)
            if winning is not None and won:  # then its first two cards are of that suit too
                groups.append(SuitGroup(hand, winning))
            elif name in suits:
                groups.append(SuitGroup(hand[:2], _ANY_SUIT))
    return tuple(groups) if all(group.suits for group in groups) else None


def _common(atoms: frozenset[Atom], name: str) -> frozenset[object]:
    """The suits that all atoms of this name allow."""
    common = _ANY_SUIT
    for its_name, suits in atoms:
        if its_name == name:
            common &= suits
    return common
