"""Checks that a wager's rules decide every coup, and that each rule can decide a coup.

The check covers every way that a coup can come out by points alone. The odds count what also depends on ranks
and suits; `punto check-config` runs both.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final

from punto.baccarat.cards import Card
from punto.baccarat.coup import Coup
from punto.baccarat.tableau import banker_draws, player_draws
from punto.baccarat.wagers.condition import BY_POINTS, Condition
from punto.baccarat.wagers.definition import LAST_RULE, Rule, Wager

_OF_POINTS: Final = "TA23456789"


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault in a wager's rules; `rule` is the index of the faulty rule, None if the fault concerns all rules."""

    rule: int | None
    message: str


@cache
def coups_by_points() -> tuple[Coup, ...]:
    """One coup for each way that totals and numbers of cards can come out."""
    found: dict[tuple[int, int, bool, bool], Coup] = {}
    for player in range(10):
        for banker in range(10):
            for third, fourth in _third_cards(player, banker):
                result = (
                    (player + (third or 0)) % 10,
                    (banker + (fourth or 0)) % 10,
                    third is None,
                    fourth is None,
                )
                if result not in found:
                    found[result] = _coup(player, banker, third, fourth)
    return tuple(found.values())


def _third_cards(player: int, banker: int) -> Iterator[tuple[int | None, int | None]]:
    """The points of both third cards that can follow these two-card totals, None for no card."""
    if player >= 8 or banker >= 8:
        yield None, None
        return
    for third in range(10) if player_draws(player) else (None,):
        for fourth in range(10) if banker_draws(banker, third) else (None,):
            yield third, fourth


def _coup(player: int, banker: int, third: int | None, fourth: int | None) -> Coup:
    """A coup with these points, in which ranks and suits mean nothing special."""
    codes = [_OF_POINTS[player] + "S", _OF_POINTS[banker] + "H", "KD", "KC"]
    codes += [_OF_POINTS[card] + suit for card, suit in ((third, "C"), (fourth, "D")) if card is not None]
    return Coup.complete(tuple(Card(code) for code in codes))


def _by_points(condition: Condition, coup: Coup) -> bool:
    return all(getattr(coup, name) in values for name, values in condition.asked.items() if name in BY_POINTS)


def faults(wager: Wager) -> list[Fault]:
    """The faults in the rules, in the order of the rules; empty if there are none."""

    def possible(condition: Condition) -> bool:
        return any(_by_points(condition, coup) for coup in coups_by_points())

    found = []
    decided: dict[Coup, str] = {}  # each coup's rule, by name
    for place, rule in enumerate(wager.rules):
        mine = [coup for coup in coups_by_points() if _by_points(rule.when, coup)]
        if all(coup in decided for coup in mine):
            instead = {decided[coup] for coup in mine}
            names = [each.name for each in wager.rules if each.name in instead]
            found.append(Fault(place, taken(rule, names) if names else impossible(rule, possible)))
        if rule.when.asked.keys() <= BY_POINTS:
            decided = dict.fromkeys(mine, rule.name) | decided
    undecided = next((coup for coup in coups_by_points() if coup not in decided), None)
    if undecided is not None:
        hands = f"Player {' '.join(undecided.player)}, Banker {' '.join(undecided.banker)}"
        message = f"no rule decides a coup such as {hands}. End the rules with a rule that has no `when`: {LAST_RULE}"
        found.append(Fault(None, message))
    return found


def taken(rule: Rule, earlier: Sequence[str]) -> str:
    """The fault that this rule decides no coup, because these earlier rules decide all coups that meet it."""
    what_to_do = f"move {rule.name} above them" if rule.when.asked else "narrow these earlier rules"
    return (
        f"{rule.name} can never decide, because earlier rules ({', '.join(earlier)}) decide every coup that meets it: "
        f"{what_to_do}, or leave {rule.name} out"
    )


def impossible(rule: Rule, possible: Callable[[Condition], bool]) -> str:
    """The fault that no coup meets this rule, with only the conflicting conditions; `possible` tells if a coup does."""
    least = rule.when
    for name in rule.when.asked:
        without: dict[str, Any] = {name: None}
        less = replace(least, **without)
        if not possible(less):
            least = less
    asked = [f"{name} = {json.dumps(getattr(least, name))}" for name in least.asked]
    return f"no coup can meet {rule.name}, because no coup has {' and '.join(asked)}"
