"""The law of a jurisdiction: dated limits from a file, to which a table is held."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from punto.baccarat.unit import Unit
from punto.baccarat.wagers.definition import Game
from punto.configs.game_files import named_file
from punto.configs.plain_text import PLAIN
from punto.configs.problems import ConfigError, Problem
from punto.configs.section import Section
from punto.configs.toml_file import typed
from punto.runtime.gaming_days import read_zone

_Text = Annotated[str, Field(min_length=1, max_length=200), PLAIN]


class JurisdictionConfig(Section):
    """`[jurisdiction]`: the law whose limits the table must keep. Without this section, only the game file's limits apply."""

    law: str
    """The name of a jurisdiction that ships with Punto (`washington`), or the path of a jurisdiction file."""


class DatedRule(Section):
    """`[[rules]]`: a limit of the law, with the days on which it holds."""

    limit: Literal["maximum_wager", "maximum_wagers"]
    """What is limited: one wager's amount, or the number of a player's wagers on a coup."""
    value: Annotated[int, Field(ge=1), Unit("minor units, or wagers")]
    """The most that is allowed."""
    since: date
    """The first day on which the rule holds."""
    until: date | None = None
    """The first day on which the rule no longer holds. If left out, it holds on all later days."""
    source: _Text
    """The legal text."""

    @model_validator(mode="after")
    def _holds_on_a_day(self) -> Self:
        if self.until is not None and self.until <= self.since:
            raise ValueError(f"until {self.until} must be a later day than since {self.since}")
        return self

    def holds_on(self, day: date) -> bool:
        """Whether the rule holds on a day."""
        return self.since <= day and (self.until is None or day < self.until)

    def breaches(self, game: Game, shown: Callable[[int], str]) -> Iterator[Problem]:
        """What a game with the house's limits allows beyond this rule, with amounts as they are `shown`."""
        if self.limit == "maximum_wagers":
            wagers = game.maximum_wagers or len(game.wagers)
            if wagers > self.value:
                allowed = f"but {self.source} allows only {self.value}: use a game file with maximum_wagers"
                message = f"{game.title} lets a player have {wagers} wagers on a coup, {allowed}"
                yield Problem(message, key="table.game")
            return
        for wager in game.wagers:
            most = wager.limits.maximum
            if most is None or most > self.value:
                what = "has no maximum" if most is None else f"has a maximum of {shown(most)}"
                allowed = shown(self.value)
                message = f"{wager.name} {what}, but {self.source} allows only {allowed}: write a maximum of at most {allowed}"
                yield Problem(message, key=f"limits.{wager.name}")


class JurisdictionFile(Section):
    """A jurisdiction file."""

    title: _Text
    """The jurisdiction's name."""
    currency: str
    """The currency of the amounts: an ISO 4217 code."""
    rules: Annotated[tuple[DatedRule, ...], Field(min_length=1)]


@dataclass(frozen=True, slots=True)
class Law:
    """The dated rules of a jurisdiction; their days begin at midnight by the clock of the house's `zone`."""

    rules: tuple[DatedRule, ...] = ()
    zone: str = "UTC"

    @property
    def in_force(self) -> list[DatedRule]:
        """The rules that hold today."""
        today = datetime.now(read_zone(self.zone)).date()
        return [rule for rule in self.rules if rule.holds_on(today)]


NO_LAW: Final = Law()


def read_law(name: str, folder: Path, currency: str, zone: str) -> Law:
    """The rules of the jurisdiction of this name or path, in the house's zone.

    Raises:
        ConfigError: there is no such file, it cannot be used, or its amounts are in another currency.
    """
    file = typed(named_file("jurisdiction", name, folder), JurisdictionFile)
    if file.currency != currency:
        raise ConfigError(
            [Problem(f"the limits of {file.title} are in {file.currency}, but the table plays in {currency}")]
        )
    return Law(file.rules, zone)
