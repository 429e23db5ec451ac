"""The house's limits and rules of wagers, within those of the game file."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from math import lcm
from typing import Annotated, Literal

from pydantic import Field, field_validator

from punto.baccarat.currency import in_words
from punto.baccarat.unit import Unit
from punto.baccarat.wagers.completeness import faults
from punto.baccarat.wagers.definition import Game, Limits, Wager
from punto.baccarat.wagers.pay import percentage
from punto.baccarat.wagers.unpaid import unpaid
from punto.configs.problems import ConfigError, Problem, cut, nearest
from punto.configs.section import Section
from punto.controller.config.jurisdiction import Law

Shown = Callable[[int], str]
"""How messages show an amount in minor units."""


class LimitsConfig(Section):
    """`[limits.WAGER]`: the house's limits for a wager. They must be within the limits of the game file.

    If a key is left out, the game file's limit applies.
    """

    minimum: Annotated[int, Field(ge=1), Unit("minor units")] | None = None
    """The smallest amount of the wager."""
    maximum: Annotated[int, Field(ge=1), Unit("minor units")] | None = None
    """The largest amount of the wager."""
    step: Annotated[int, Field(ge=1), Unit("minor units")] | None = None
    """The amount of the wager must be a multiple of this amount."""
    maximum_of_base: str | None = None
    """The largest amount of a side wager, as a share of the base wager that the same seat must have beside it, such as `"50%"`. If
    the side wager needs no base wager, its seat's larger wager on Player or Banker counts."""

    @field_validator("maximum_of_base")
    @classmethod
    def _is_a_percentage(cls, share: str | None) -> str | None:
        if share is not None and not percentage(share):
            raise ValueError("must be more than 0%: no amount would be allowed")
        return share


class RulesConfig(Section):
    """`[rules.WAGER]`: the house's rules for a wager, where the regulator's rule sheet leaves the choice to the house.

    The game file lists these rules under the wager's `house`, with the clause of the sheet for each rule. If a key is left out,
    the game file's rule applies.
    """

    requires_base: Literal["none", "any", "same_side"] | None = None
    """The base wager that a seat must have beside this wager: none, any, or the base wager on the same side."""
    requires_base_win: bool | None = None
    """Whether the wager wins only if the seat's own Player or Banker wager wins."""
    natural_nine: bool | None = None
    """Whether a natural (8 or 9 in two cards) that wins by 9 points counts as a win by 9."""


def house_game(
    game: Game,
    limits: dict[str, LimitsConfig],
    rules: dict[str, RulesConfig],
    law: Law,
    smallest_chip: int,
    currency: str,
) -> Game:
    """Another game with the house's limits in place of the file's, and with those of its rules that fit this game too.

    A person at a console has asked for it, so amounts in the errors are money of the table's currency.

    Raises:
        ConfigError: the limits are not within the file's or the law's, the game does not have the wager, or a wager has no
            amount in these chips, or none for which a win is paid.
    """
    fitting = {name: each for name, each in rules.items() if not [*_not_left(game, name, each)]}
    shown = partial(in_words, currency=currency)
    played = with_rules(in_chips(game, smallest_chip, shown), fitting)
    if problems := list(limit_problems(played, limits, law, shown)):
        raise ConfigError(problems)
    limited = with_limits(played, limits)
    if problems := list(unpaid_problems(limited, shown)):
        raise ConfigError(problems)
    return limited


def in_chips(game: Game, smallest_chip: int, shown: Shown = str) -> Game:
    """The game with wagers in multiples of the house's smallest chip, and with pays and commissions rounded to it.

    Raises:
        ConfigError: no amount of a wager is a multiple of the chip.
    """
    wagers = tuple(
        replace(each, limits=_limits_in_chips(each, game.title, smallest_chip, shown)) for each in game.wagers
    )
    rounding = replace(game.rounding, unit=lcm(game.rounding.unit, smallest_chip))
    return replace(game, wagers=wagers, rounding=rounding)


def _limits_in_chips(wager: Wager, title: str, chip: int, shown: Shown) -> Limits:
    limits = wager.limits
    step = lcm(limits.step, chip)
    least = -(-limits.minimum // step) * step
    most = None if limits.maximum is None else limits.maximum // step * step
    if most is not None and most < least:
        message = (
            f"{title} takes {shown(limits.minimum)} to {shown(limits.maximum or 0)} on {wager.name}, and none of these amounts is a "
            f"multiple of {shown(chip)}: copy the game file, and write limits for these chips"
        )
        raise ConfigError([Problem(message)])
    return replace(limits, minimum=least, maximum=most, step=step)


def unpaid_problems(game: Game, shown: Shown = str) -> Iterator[Problem]:
    """Wagers that can win by a rule and are paid nothing for any amount, so this game cannot be right with these limits and chips."""
    for wager in game.wagers:
        for each in unpaid(wager, game.rounding):
            if each.never_pays:
                message = (
                    f"{wager.name} pays nothing for any amount that wins by {each.rule.name} ({each.rule.pays}), because pays and "
                    f"commissions are rounded to {shown(game.rounding.unit)}: write a larger maximum, or a smaller smallest_chip"
                )
                yield Problem(message, key=f"limits.{wager.name}")
                break


def rule_problems(game: Game, rules: dict[str, RulesConfig]) -> Iterator[Problem]:
    """The house's rules that the game file does not leave to it, or that cannot be, with the key of each."""
    wrong = False
    for name, house in rules.items():
        for problem in _not_left(game, name, house):
            wrong = True
            yield problem
    if not wrong:
        try:
            with_rules(game, rules)
        except ValueError as error:
            yield Problem(str(error), key="rules")


def _not_left(game: Game, name: str, house: RulesConfig) -> Iterator[Problem]:
    names = [wager.name for wager in game.wagers]
    if name not in names:
        message = f"{game.title} has no wager {cut(name)!r}; it has {', '.join(names)}"
        yield Problem(message, key=f"rules.{name}", suggestion=nearest(name, names))
        return
    left = [each.rule for each in game.wager(name).house]
    for key in house.model_dump(exclude_none=True):
        if key not in left:
            may = f"rules of {name} that the house sets: {', '.join(left) or 'none'}"
            message = (
                f"{game.title} (sheet {game.sheet}) does not let the house set this rule of {name}; {may}"
            )
            yield Problem(message, key=f"rules.{name}.{key}")


def with_rules(game: Game, rules: dict[str, RulesConfig]) -> Game:
    """The game with the house's rules for those of its wagers that have any.

    Raises:
        ValueError: a wager cannot have these rules together.
    """
    wagers = (_ruled(wager, rules[wager.name]) if wager.name in rules else wager for wager in game.wagers)
    return replace(game, wagers=tuple(wagers))


def _ruled(wager: Wager, house: RulesConfig) -> Wager:
    for rule in wager.house:
        value = getattr(house, rule.rule)
        if value is not None:
            wager = wager.with_rule(rule.rule, value)
    for fault in faults(wager):
        raise ValueError(f"{wager.name}: {fault.message}")
    return wager


def limit_problems(
    game: Game, limits: dict[str, LimitsConfig], law: Law, shown: Shown = str
) -> Iterator[Problem]:
    """The house's limits that are not within the game file's, or else within the law's, with the key of each.

    By default, amounts are `shown` in minor units, as the files have them.
    """
    outside = list(_outside_the_file(game, limits, shown))
    yield from outside
    if not outside:
        for rule in law.in_force:
            yield from rule.breaches(with_limits(game, limits), shown)


def _outside_the_file(game: Game, limits: dict[str, LimitsConfig], shown: Shown) -> Iterator[Problem]:
    names = [wager.name for wager in game.wagers]
    for name, house in limits.items():
        if name not in names:
            message = f"{game.title} has no wager {cut(name)!r}; it has {', '.join(names)}"
            yield Problem(message, key=f"limits.{name}", suggestion=nearest(name, names))
            continue
        sheet = game.wager(name).limits
        outside = [
            Problem(message, key=f"limits.{name}.{key}") for key, message in _outside(house, sheet, shown)
        ]
        yield from outside or _unusable(game.wager(name), house, shown)


def _outside(house: LimitsConfig, sheet: Limits, shown: Shown) -> list[tuple[str, str]]:
    """Each key that allows more than the game file does, and the reason."""
    found = []
    if house.minimum is not None and house.minimum < sheet.minimum:
        bound = f"{shown(house.minimum)} is below the game file's minimum of {shown(sheet.minimum)}"
        found.append(("minimum", bound))
    if house.maximum is not None and sheet.maximum is not None and house.maximum > sheet.maximum:
        bound = f"{shown(house.maximum)} is above the game file's maximum of {shown(sheet.maximum)}"
        found.append(("maximum", bound))
    if house.step is not None and house.step % sheet.step:
        found.append(
            (
                "step",
                f"{shown(house.step)} is not a multiple of {shown(sheet.step)}, the step of the game file or the smallest chip",
            )
        )
    if house.maximum_of_base is not None and sheet.maximum_of_base is not None:
        own, most = house.maximum_of_base, sheet.maximum_of_base
        if percentage(own) > percentage(most):
            found.append(("maximum_of_base", f"{own} is above the game file's {most} of the base wager"))
    return found


def _unusable(wager: Wager, house: LimitsConfig, shown: Shown) -> list[Problem]:
    """Limits that no amount can meet, together with the game file's other limits, or that the wager cannot have."""
    least = wager.limits.minimum if house.minimum is None else house.minimum
    most = wager.limits.maximum if house.maximum is None else house.maximum
    if most is not None and most < least:
        wrong: str | None = f"the maximum {shown(most)} is below the minimum {shown(least)}"
    else:
        try:
            wrong = replace(wager, limits=_merged(house, wager.limits)).limits.off_step(shown)
        except ValueError as error:
            wrong = str(error)
    return [] if wrong is None else [Problem(wrong, key=f"limits.{wager.name}")]


def _merged(house: LimitsConfig, sheet: Limits) -> Limits:
    return replace(sheet, **house.model_dump(exclude_none=True))


def with_limits(game: Game, limits: dict[str, LimitsConfig]) -> Game:
    """The game with limits in which `limit_problems` finds no problems."""
    return replace(
        game,
        wagers=tuple(
            replace(wager, limits=_merged(limits[wager.name], wager.limits))
            if wager.name in limits
            else wager
            for wager in game.wagers
        ),
    )
