"""Arguments and figures that several subcommands have in common."""

import argparse
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Final, Literal, TypeVar

from punto.baccarat.wagers.definition import Game
from punto.baccarat.wagers.pay import percentage
from punto.commands.numbers import whole
from punto.configs.game_files import game_file, game_of, is_table
from punto.configs.problems import ConfigError, Problem, cut

A_GAME: Final = (
    "the game to use: the name of a game that ships with punto, a game file, or a table's configuration (the game of this "
    "table, with the house's rules)"
)
"""The help of an argument that `game_or_table` reads."""

_T = TypeVar("_T")


def add_game(parser: argparse.ArgumentParser, *, required: bool = False, note: str = "") -> None:
    """Add the argument `--game`; `note` ends its help."""
    parser.add_argument("--game", required=required, metavar="FILE", help=f"{A_GAME}{note}")


def add_decks(parser: argparse.ArgumentParser, most: int, note: str = "") -> None:
    """Add the argument `--decks`, from 1 to `most`; `note` ends its help."""
    text = f"the number of decks, 1 to {most} (default: that of the game){note}"
    parser.add_argument("--decks", type=whole(1, most), metavar="D", help=text)


def game_with_decks(args: argparse.Namespace) -> Game:
    """The game of `--game`, with the decks of `--decks` if they are given.

    Raises:
        ConfigError: the game file cannot be read or is invalid.
    """
    game = game_or_table(args.game)
    return game if args.decks is None else replace(game, decks=args.decks)


def game_or_table(name: str, folder: Path | None = None) -> Game:
    """The game of a game file or of that name, or the game of a table's configuration with the house's limits and rules.

    If the configuration has several tables, they must all play the same game.

    `folder` is the base of a relative path, by default the working directory.

    Raises:
        ConfigError: the file cannot be read or is invalid.
    """
    file = game_file(name, folder)
    if not is_table(file):
        return game_of(file)
    from punto.controller.config.tables import load_configs  # noqa: PLC0415 - a filter loads nothing of the service

    path = (folder or Path()) / name
    first, *others = (config.game for config in load_configs(path))
    if any(each != first for each in others):
        message = "the tables of this file play different games or limits: name a game file, or the file of one table"
        raise ConfigError([Problem(message, str(path))])
    return first


def add_table(parser: argparse.ArgumentParser) -> None:
    """Add the argument `--table`, beside `--config`."""
    parser.add_argument(
        "--table",
        dest="of_table",
        metavar="ID",
        help="the id of the table, if the configuration has several tables",
    )


def checked(read: Callable[[str], _T]) -> Callable[[str], _T]:
    """`read` as the `type` of an argument: the message of its ValueError becomes the argument's error."""

    def read_argument(text: str) -> _T:
        try:
            return read(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return read_argument


def share(text: str) -> Fraction:
    """The `type` of an argument that is a percentage, such as 1%."""
    return checked(percentage)(cut(text))


def burn(text: str) -> Literal["first_card"] | int:
    """The `type` of the argument `--burn`: first_card, or a number of cards."""
    if text == "first_card":
        return "first_card"
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise argparse.ArgumentTypeError(f"must be first_card or a number of cards, not {cut(text)!r}")
    return int(text)


def percent(share_: Fraction) -> str:
    """A share in percent with four decimal places."""
    return f"{float(100 * share_):.4f}%"


def decks_text(game: Game) -> str:
    """The number of a game's decks: "1 deck" or "8 decks"."""
    return "1 deck" if game.decks == 1 else f"{game.decks} decks"
