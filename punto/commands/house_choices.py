"""What a house can decide of a wager where its sheet leaves a rule to it."""

from itertools import product
from typing import Any, Final

from punto.baccarat.wagers.definition import HouseRule, Wager

_VALUES: Final[dict[HouseRule, tuple[Any, ...]]] = {
    "requires_base": ("none", "any", "same_side"),
    "requires_base_win": (False, True),
    "natural_nine": (False, True),
}
"""The values of the rules that are left to the house."""


def otherwise(wager: Wager) -> list[tuple[list[tuple[HouseRule, Any]], Wager]]:
    """What a house can decide otherwise than the game file, rule by rule and then together, and the wager with it."""
    found = []
    for values in product(*([None, *_VALUES[each.rule]] for each in wager.house)):
        decided = [
            (left.rule, value) for left, value in zip(wager.house, values, strict=True) if value is not None
        ]
        other = wager
        for rule, value in decided:
            before, other = other, _with(other, rule, value)
            if other == before:
                break
        else:
            if decided:
                found.append((decided, other))
    return sorted(found, key=lambda each: len(each[0]))


def _with(wager: Wager, rule: HouseRule, value: Any) -> Wager:
    """The wager with this rule, or as it is if it cannot have it, such as `same_side` without a side."""
    try:
        return wager.with_rule(rule, value)
    except ValueError:
        return wager
