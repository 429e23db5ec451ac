"""Game files: those that ship with the program, and a house's own."""

from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

from controller.problems import ConfigError, Problem, nearest
from controller.toml_file import TomlFile, read, typed
from controller.wagers.definition import Game

SUFFIX: Final = ".toml"


def _shipped() -> dict[str, Traversable]:
    folder = files("configs") / "games"
    return {each.name.removesuffix(SUFFIX): each for each in folder.iterdir() if each.name.endswith(SUFFIX)}


def shipped_games() -> list[str]:
    """The names of the games that ship with the program."""
    return sorted(_shipped())


def load_game(name_or_path: str, folder: Path | None = None) -> Game:
    """The game of this name that ships with the program, or else the one in this file.

    A shipped game's name is never read as a path: write `./name` for a file that is called like one. `folder` is
    what a relative path is relative to, by default the working directory.

    Raises:
        ConfigError: there is no such game or file, or it cannot be played as written. A problem about the name
            itself, and not about what a file says, has no `file`.
    """
    shipped = _shipped().get(name_or_path)
    if shipped is not None:
        return typed(TomlFile.parse(str(shipped), shipped.read_bytes()), Game)
    path = (folder or Path()) / name_or_path
    if not path.exists():
        raise ConfigError([_unknown(name_or_path, path)])
    return typed(read(path), Game)


def _unknown(name: str, path: Path) -> Problem:
    games = shipped_games()
    if "/" in name or name.endswith(SUFFIX):
        return Problem(f"there is no game file {path}")
    return Problem(
        f"there is no game {name!r}; these ship with the program: {', '.join(games)}; "
        "for a game file of your own write its path",
        suggestion=nearest(name, games),
    )
