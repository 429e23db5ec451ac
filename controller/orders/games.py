"""The games that a table can be changed to: those that ship, and the house's own beside its configuration."""

from functools import cache
from pathlib import Path

from punto.baccarat.wagers.definition import Game
from punto.configs.game_files import SUFFIX, load_game, shipped_games
from punto.configs.problems import ConfigError
from punto.configs.toml_file import read


def game_names(folder: Path) -> list[str]:
    """The names that a configuration in `folder` can give a game; whether a file of them can be used is not known yet."""
    return [*shipped_games(), *_own(folder)]


def games_on_offer(folder: Path) -> dict[str, Game]:
    """Each of these games that can be used, by its name. It takes half a second the first time."""
    games = {name: _shipped_game(name) for name in shipped_games()}
    for name in _own(folder):
        try:
            games[name] = load_game(name, folder)
        except ConfigError:
            continue
    return games


_shipped_game = cache(load_game)


def _own(folder: Path) -> list[str]:
    """The game files among those in the folder; the configuration is there too, and others may be."""
    found = []
    for path in sorted(folder.glob(f"*{SUFFIX}")):
        try:
            if "wagers" in read(path).document:
                found.append(path.name)
        except ConfigError:
            continue
    return found
