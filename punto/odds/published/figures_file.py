"""The file of the figures that regulators' sheets print, and the game files to compare them with."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final

from pydantic import BeforeValidator

from punto.baccarat.coup import Side
from punto.baccarat.wagers.condition import STRICT
from punto.baccarat.wagers.definition import Game, Wager
from punto.configs.game_files import load_game
from punto.configs.problems import ConfigError
from punto.configs.toml_file import Path_, TomlFile, read, typed
from punto.odds.composition import MOST_DECKS

FILE: Final = "published-figures.toml"

_NUMBER: Final = re.compile(r"-?\d{1,12}(?:\.\d{1,12})?", re.ASCII)


def _as_printed(value: object) -> str:
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(text, str) or _NUMBER.fullmatch(text) is None:
        raise ValueError(f"must be a number as printed, such as 9.42, not {value!r}")
    return text


def _as_mark(value: object) -> object:
    if isinstance(value, bool) or value == "nearly":
        return value
    raise ValueError(f'must be true, false or "nearly", not {value!r}')


Printed = Annotated[str, BeforeValidator(_as_printed)]
"""A number as printed: 2.50 is more precise than 2.5."""
Reproducible = Annotated[bool | str, BeforeValidator(_as_mark)]
"""Whether the exact figure is expected to agree; "nearly": to be near."""


@dataclass(frozen=True, kw_only=True)
class HouseEdges:
    """The house edges of a Dragon Bonus table at a number of decks, in percent.

    `note` explains figures that do not agree. `game` names another game file to compare them with.
    """

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    table: int
    decks: int
    player: Printed
    banker: Printed
    sheet: str
    reproducible: Reproducible = True
    note: str = ""
    game: str = ""

    def __post_init__(self) -> None:
        _check_decks(self.decks)
        if not self.game and self.table not in {1, 2, 3}:
            raise ValueError(f'table must be 1, 2 or 3, not {self.table}; or name a game file: game = "..."')


_PROGRESSIVES: Final = {
    (1, 1): "progressive-1",
    (1, 5): "progressive-1-five-dollar",
    (2, 1): "progressive-2",
    (3, 1): "progressive-3",
}


@dataclass(frozen=True, kw_only=True)
class Statistics:
    """The printed statistics of a progressive's pay table for its wager of a number of dollars.

    Percent, percent, the N of "1 in N" for the top award, dollars, dollars. `side` is the base wager that
    they are for; if the sheet does not name one, a win of either hand counts. `decks` defaults to the game
    file's own.
    """

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    table: int
    denomination: int
    side: Side | None = None
    decks: int | None = None
    house_advantage: Printed
    hit_frequency: Printed
    one_in: Printed
    average: Printed
    seed_amount: Printed
    sheet: str
    reproducible: Reproducible = True
    game: str = ""

    def __post_init__(self) -> None:
        _check_decks(self.decks)
        if Fraction(self.one_in) < 1:
            raise ValueError(f"one_in must be at least 1, not {self.one_in}")
        if not self.game and (self.table, self.denomination) not in _PROGRESSIVES:
            known = ", ".join(f"{table} for ${dollars}" for table, dollars in _PROGRESSIVES)
            raise ValueError(
                f"table {self.table} for ${self.denomination} has no game file; there are game files for {known}. "
                'Or name a game file: game = "..."'
            )

    @property
    def title(self) -> str:
        """Its title in reports."""
        side = self.side.value.capitalize() if self.side else "either hand"
        return f"Progressive #{self.table}, ${self.denomination}, {side}"


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The limits of a Dragon Bonus wager, in dollars."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    minimum: Printed
    maximum: Printed
    sheet: str = "004"
    game: str = "dragon-bonus-1"


@dataclass(frozen=True, kw_only=True)
class MaximumWagers:
    """The maximum number of wagers that a player of Dai Bacc may have on one coup."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    maximum_wagers: Printed
    sheet: str = "003"
    game: str = "dai-bacc"


@dataclass(frozen=True, kw_only=True)
class PrintedFigures:
    """A whole file. Its `signature` tables are other machines' software signatures, not figures."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    dragon_bonus: tuple[HouseEdges, ...] = ()
    progressive: tuple[Statistics, ...] = ()
    dragon_bonus_limits: Limits | None = None
    dai_bacc: MaximumWagers | None = None
    signature: tuple[dict[str, str], ...] = ()

    def __post_init__(self) -> None:
        if not any((self.dragon_bonus, self.progressive, self.dragon_bonus_limits, self.dai_bacc)):
            raise ValueError("the file has no figures: add a [[dragon_bonus]] or a [[progressive]]")


def _check_decks(decks: int | None) -> None:
    if decks is not None and not 1 <= decks <= MOST_DECKS:
        raise ValueError(f"decks must be from 1 to {MOST_DECKS}, not {decks}")


@dataclass(frozen=True)
class Source:
    """One table of the file of figures, and the game file to compare it with."""

    file: TomlFile
    at: Path_
    game: Game

    def error(self, message: str) -> ConfigError:
        """An error about the game for this purpose."""
        return ConfigError([self.file.problem((*self.at, "game"), f"{self.game.title} {message}")])

    def dragon_bonus(self, side: Side) -> Wager:
        """The game's Dragon Bonus wager on this side; raises ConfigError if the game does not have one."""
        name = f"dragon_bonus_{side.value}"
        try:
            return self.game.wager(name)
        except KeyError:
            raise self.error(f"has no wager {name}") from None

    def progressive(self) -> Wager:
        """The game's wager that pays from a meter; raises ConfigError if the game has none, or several."""
        found = [wager for wager in self.game.wagers if wager.progressive is not None]
        if len(found) != 1:
            raise self.error(f"must have one wager that pays from a meter, but has {len(found)}")
        return found[0]


Load = Callable[[str, Path | None], Game]
"""Reads the game of a name or path; a relative path is of the folder."""


class FiguresFile:
    """A file of figures, by default the one that ships with the program."""

    def __init__(self, path: Path | None = None, load: Load = load_game, game: Game | None = None) -> None:
        """Read the file; raises ConfigError if it cannot be read, or a key or value is wrong.

        `load` reads the game files that it names. With `game`, it gives only the figures of the game with this name,
        to compare with this game.
        """
        self._read, self._game = load, game
        if path is None:
            shipped = files("punto.odds.published") / FILE
            self._file = TomlFile.parse(str(shipped), shipped.read_bytes(), parse_float=str)
            self._folder = None
        else:
            self._file = read(path, parse_float=str)
            self._folder = path.parent
        self.figures = typed(self._file, PrintedFigures)
        self._games: dict[str, Game] = {}

    def house_edges(self) -> Iterator[tuple[HouseEdges, Source]]:
        """Each Dragon Bonus table with its source; raises ConfigError as `_sources` does."""
        for number, each in enumerate(self.figures.dragon_bonus):
            name = each.game or f"dragon-bonus-{each.table}"
            yield from ((each, source) for source in self._sources(("dragon_bonus", number), name))

    def statistics(self) -> Iterator[tuple[Statistics, Source]]:
        """Each progressive's pay table with its source; raises ConfigError as `_sources` does."""
        for number, each in enumerate(self.figures.progressive):
            name = each.game or _PROGRESSIVES[each.table, each.denomination]
            yield from ((each, source) for source in self._sources(("progressive", number), name))

    def limits(self) -> Iterator[tuple[Limits, Source]]:
        """The limits of Dragon Bonus, if there are any, with their source; raises ConfigError as `_sources` does."""
        if (limits := self.figures.dragon_bonus_limits) is not None:
            yield from ((limits, source) for source in self._sources(("dragon_bonus_limits",), limits.game))

    def maximum_wagers(self) -> Iterator[tuple[MaximumWagers, Source]]:
        """The limit of Dai Bacc, if there is one, with its source; raises ConfigError as `_sources` does."""
        if (maximum := self.figures.dai_bacc) is not None:
            yield from ((maximum, source) for source in self._sources(("dai_bacc",), maximum.game))

    def _sources(self, at: Path_, name: str) -> Iterator[Source]:
        """The game to compare the table at this place with, or none if it is not about `game`.

        Raises:
            ConfigError: the game file of this name cannot be used.
        """
        found = self._load(at, name)
        if self._game is None:
            yield Source(self._file, at, found)
        elif found.name == self._game.name:
            yield Source(self._file, at, self._game)

    def _load(self, at: Path_, name: str) -> Game:
        try:
            return self._read(name, self._folder)
        except ConfigError as error:
            raise ConfigError(
                self._file.problem((*at, "game"), each.message, each.suggestion)
                if each.file is None
                else each
                for each in error.problems
            ) from None
