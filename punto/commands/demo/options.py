"""The options of simulated tables, and of the authority that keeps a meter for several of them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from punto.baccarat.cards import Card
from punto.baccarat.progressive.settings import Procedure
from punto.baccarat.wagers.definition import Game
from punto.configs.game_files import load_game
from punto.configs.problems import ConfigError, Problem
from punto.runtime.broker_login import BrokerConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class TableOptions:
    """A simulated table, or the authority that keeps the meter of several tables.

    - `table`: its id; `folder`: that of its files; `console`: the port of its consoles; `broker`: without a login.
    - `game`: a game file, or the name of a game that ships.
    - `seed` determines the cards and the players' wagers. `pace` is the pause between two cards, and `between` the pause between
      two coups, in seconds.
    - `procedure`: how awards of a progressive are confirmed, None for aquarius.
    - `meter`: the progressive's id; `authority`: the service that keeps the meter, None for the table itself; `linked`: at the
      authority, the tables that share the meter. Nobody deals at the authority.
    - `attended`: a person is dealer and supervisor.
    - `own_process`: the service runs in a process of its own.
    - `deal`: hands, or names of hands; every `every`-th coup is the next of them. None for the tiers of the game's meter, if any.
    """

    table: str
    folder: Path
    console: int
    broker: BrokerConfig
    game: str
    seed: int
    pace: float
    between: float
    procedure: Procedure | None = None
    meter: str = "dragon"
    authority: str | None = None
    linked: tuple[str, ...] = ()
    attended: bool = False
    own_process: bool = False
    deal: tuple[str | tuple[Card, ...], ...] | None = None
    every: int = 1


def tables_like(first: TableOptions, games: Sequence[str], linked: int = 0) -> list[TableOptions]:
    """A table for each of these games, in a folder of its own; ids and ports count up from those of `first`.

    If `linked` is not 0, that many tables share the meter of `first`, and its authority is the first of the list. A meter is for
    one game only, so these tables have the same game as the first table with a progressive.

    Raises:
        ConfigError: a game cannot be read, or too few tables can be linked.
    """

    def like(name: str | int, number: int) -> TableOptions:
        table = f"{first.table}-{name}"
        console = first.console and first.console + number
        return replace(first, table=table, folder=first.folder / table, console=console)

    tables = [
        replace(
            like(number + 1, number), game=game, seed=first.seed + number, meter=f"{first.meter}-{number + 1}"
        )
        for number, game in enumerate(games)
    ]
    if not linked:
        return tables
    game = next((game for game in games if meter_of(load_game(game)) is not None), None)
    if game is None:
        raise ConfigError([Problem("--linked needs a progressive: add progressive-2 to --games")])
    sharing = [each for each in tables if each.game == game][:linked]
    if len(sharing) < linked:
        message = f"--linked {linked}: only {len(sharing)} of {len(tables)} tables have the game {game}: add tables, or write --linked {len(sharing)}"
        raise ConfigError([Problem(message)])
    authority = like("meter", len(tables))
    return [
        replace(
            authority, game=game, authority=authority.table, linked=tuple(each.table for each in sharing)
        ),
        *(
            replace(each, meter=first.meter, authority=authority.table) if each in sharing else each
            for each in tables
        ),
    ]


def meter_of(game: Game) -> str | None:
    """The game's wager that wins from a meter, None if it has none."""
    return next((wager.name for wager in game.wagers if wager.progressive is not None), None)
