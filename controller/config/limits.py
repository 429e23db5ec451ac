"""The house's limits of wagers, within those of the game file."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated

from pydantic import Field

from punto.baccarat.wagers.definition import Game, Limits
from punto.configs.problems import ConfigError, Problem, cut, nearest
from punto.configs.toml_file import Unit
from punto.controller.config.jurisdiction import Law
from punto.controller.config.section import Section


class LimitsConfig(Section):
    """`[limits.WAGER]`: the house's limits of a wager, within those of the game file.

    For a key that is left out, the game file's limit applies.
    """

    minimum: Annotated[int, Field(ge=1), Unit("minor units")] | None = None
    """The smallest amount of the wager."""
    maximum: Annotated[int, Field(ge=1), Unit("minor units")] | None = None
    """The largest amount of the wager."""
    step: Annotated[int, Field(ge=1), Unit("minor units")] | None = None
    """Amounts must be multiples of this."""


def house_game(game: Game, limits: dict[str, LimitsConfig], law: Law) -> Game:
    """The game with the house's limits in place of the file's.

    Raises:
        ConfigError: the limits are not within the file's or the law's, or the game does not have the wager.
    """
    if problems := list(limit_problems(game, limits, law)):
        raise ConfigError(problems)
    return with_limits(game, limits)


def limit_problems(game: Game, limits: dict[str, LimitsConfig], law: Law) -> Iterator[Problem]:
    """The house's limits that are not within the game file's, or else within the law's, with the key of each."""
    outside = list(_outside_the_file(game, limits))
    yield from outside
    if not outside:
        for rule in (each for each in law if each.in_force):
            yield from rule.breaches(with_limits(game, limits))


def _outside_the_file(game: Game, limits: dict[str, LimitsConfig]) -> Iterator[Problem]:
    names = [wager.name for wager in game.wagers]
    for name, house in limits.items():
        if name not in names:
            message = f"{game.title} has no wager {cut(name)!r}; it has {', '.join(names)}"
            yield Problem(message, key=f"limits.{name}", suggestion=nearest(name, names))
            continue
        sheet = game.wager(name).limits
        outside = [Problem(message, key=f"limits.{name}.{key}") for key, message in _outside(house, sheet)]
        yield from outside or _unusable(name, house, sheet)


def _outside(house: LimitsConfig, sheet: Limits) -> list[tuple[str, str]]:
    """Each key that allows more than the game file does, and the reason."""
    found = []
    if house.minimum is not None and house.minimum < sheet.minimum:
        found.append(("minimum", f"{house.minimum} is below the game file's minimum of {sheet.minimum}"))
    if house.maximum is not None and sheet.maximum is not None and house.maximum > sheet.maximum:
        found.append(("maximum", f"{house.maximum} is above the game file's maximum of {sheet.maximum}"))
    if house.step is not None and house.step % sheet.step:
        found.append(("step", f"{house.step} is not a multiple of the game file's step of {sheet.step}"))
    return found


def _unusable(name: str, house: LimitsConfig, sheet: Limits) -> list[Problem]:
    """Limits that no amount can meet, together with the game file's other limits."""
    try:
        wrong = _merged(house, sheet).off_step
    except ValueError as error:
        wrong = str(error)
    return [] if wrong is None else [Problem(wrong, key=f"limits.{name}")]


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
