"""Finds rule conditions that no coup can meet, by counting: also those that depend on ranks and suits."""

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

from punto.baccarat.coup import Side
from punto.baccarat.wagers.completeness import Fault, impossible, taken
from punto.baccarat.wagers.condition import Condition
from punto.baccarat.wagers.definition import Game, Rule, Wager
from punto.baccarat.wagers.pay import PUSH
from punto.odds.composition import Composition
from punto.odds.exact import GameOdds


def never_deciding(game: Game) -> list[tuple[int, Fault]]:
    """Each rule that decides no coup from a full shoe or lists a value that no coup has; its wager's index first."""
    conditions = [[rule.when for rule in wager.rules] for wager in game.wagers]
    counts = _counts(game.decks, conditions)
    found: list[tuple[int, Fault]] = []
    deciding: list[tuple[int, int]] = []
    for number, wager in enumerate(game.wagers):
        for place, rule in enumerate(wager.rules):
            if counts[number][place]:
                deciding.append((number, place))
            else:
                earlier = _deciding_instead(game.decks, wager, place)
                message = (
                    taken(rule, earlier) if earlier else impossible(rule, partial(_possible, game.decks))
                )
                found.append((number, Fault(place, message)))
    narrowed = [
        (number, place, *each)
        for number, place in deciding
        for each in _with_one_value(conditions[number][place])
    ]
    alone = _counts(game.decks, [[condition] for *_, condition in narrowed])
    for (number, place, value, _), (count,) in zip(narrowed, alone, strict=True):
        if not count:
            rule = game.wagers[number].rules[place]
            message = f"no coup can meet {rule.name} with {value}: remove {value} from the list"
            found.append((number, Fault(place, message)))
    found += _never_won(game, deciding)
    return sorted(found, key=lambda each: (each[0], each[1].rule or 0))


def _never_won(game: Game, deciding: Collection[tuple[int, int]]) -> Iterator[tuple[int, Fault]]:
    """Each of the deciding rules that no seat can win, because its base wager never wins then."""
    for number, wager in enumerate(game.wagers):
        if not wager.requires_base_win:
            continue
        sides = game.sides_of(game.bases_for(wager))
        held = wager.beside(sides).rules
        (counts,) = _counts(game.decks, [[rule.when for rule in held]])
        won = {rule.name for rule, count in zip(held, counts, strict=True) if count}
        for place, rule in enumerate(wager.rules):
            if rule.wins and rule.name not in won and (number, place) in deciding:
                hands = " or ".join(side.value.capitalize() for side in Side if side in sides)
                message = f"{rule.name} can never win, because it needs a winning base wager on {hands}, which never wins on these coups"
                yield number, Fault(place, message)


def _deciding_instead(decks: int, wager: Wager, place: int) -> list[str]:
    """The rules before this one that decide its coups; none if no coup meets it."""
    mine = wager.rules[place].when
    both = [(rule.name, _both(rule.when, mine)) for rule in wager.rules[:place]]
    shared = [(name, condition) for name, condition in both if condition is not None]
    if not shared:
        return []
    (counts,) = _counts(decks, [[condition for _, condition in shared]])
    return [name for (name, _), count in zip(shared, counts, strict=True) if count]


def _possible(decks: int, condition: Condition) -> bool:
    ((count,),) = _counts(decks, [[condition]])
    return count > 0


def _both(one: Condition, other: Condition) -> Condition | None:
    """The condition that meets both; None if they share no value of a feature that both have."""
    asked: dict[str, Any] = {name: getattr(other, name) for name in other.asked}
    for name in one.asked.keys() & other.asked.keys():
        values = one.asked[name] & other.asked[name]
        if not values:
            return None
        if isinstance(asked[name], tuple):
            asked[name] = tuple(values)
    return replace(one, **asked)


def _with_one_value(condition: Condition) -> Iterator[tuple[str, Condition]]:
    """The condition reduced to one value of one of its lists, for each value; with its text."""
    for name in condition.asked:
        values = getattr(condition, name)
        if isinstance(values, tuple) and len(values) > 1:
            for value in values:
                alone: dict[str, Any] = {name: (value,)}
                yield f"{name} = [{json.dumps(value)}]", replace(condition, **alone)


def _counts(decks: int, wagers: Sequence[Sequence[Condition]]) -> list[list[int]]:
    return _counted(decks, tuple(map(tuple, wagers)))


@lru_cache(maxsize=1024)
def _counted(decks: int, wagers: tuple[tuple[Condition, ...], ...]) -> list[list[int]]:
    """The orders of six cards for which each wager's condition is the first that holds.

    The pay of a rule and the base wager beside it do not matter here, so a wager alone counts as a base
    wager.
    """
    if not wagers:
        return []
    numbered = tuple(
        Wager(
            name=str(number),
            title="",
            base=True,
            rules=tuple(Rule(name=str(place), pays=PUSH, when=each) for place, each in enumerate(conditions)),
        )
        for number, conditions in enumerate(wagers)
    )
    odds = GameOdds(Game(name="", title="", sheet="", wagers=numbered, decks=decks))
    counts = odds.counts(Composition.of_decks(decks))
    return [[counts[wager.name][rule.name] for rule in wager.rules] for wager in numbered]
