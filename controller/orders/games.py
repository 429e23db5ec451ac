"""The games that a table can change to: the shipped games, and the house's own in its configuration's folder."""

from contextlib import suppress
from functools import cache
from pathlib import Path

from punto.baccarat.wagers.definition import Game
from punto.configs.game_files import SUFFIX, load_game, shipped_games
from punto.configs.problems import ConfigError
from punto.configs.toml_file import read
from punto.controller.config.limits import in_chips


def game_names(folder: Path) -> list[str]:
    """The names of games that a configuration in `folder` can use. The files are not checked."""
    return [*shipped_games(), *_own(folder)]


def games_on_offer(folder: Path, smallest_chip: int) -> dict[str, Game]:
    """The valid games among them, by name and in the table's chips. The first call takes half a second."""
    games = {}
    for name in game_names(folder):
        with suppress(ConfigError):
            game = _shipped_game(name) if name in shipped_games() else load_game(name, folder)
            games[name] = in_chips(game, smallest_chip)
    return games


_shipped_game = cache(load_game)


def _own(folder: Path) -> list[str]:
    """The names of the game files in the folder, which also has the configuration and perhaps other files."""
    found = []
    for path in sorted(folder.glob(f"*{SUFFIX}")):
        try:
            if "wagers" in read(path).document:
                found.append(path.name)
        except ConfigError:
            continue
    return found
