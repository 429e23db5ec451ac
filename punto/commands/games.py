"""`punto games`: list the games that ship, or describe games in Markdown."""

import argparse
import sys
from pathlib import Path
from typing import Final

from punto.commands.arguments import A_GAME, game_or_table
from punto.commands.games_page import FILE, games, page, sections
from punto.runtime.made_files import FOR_ALL, write_file

HELP: Final = (
    "List the games that ship with punto, with name, title and source. If you name games, print a description of these games in "
    "Markdown: the pays in words, and the exact odds. With --out, write the description to DIR/games.md. If you then name no "
    "game, the file describes all games that ship with punto."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the subcommand takes."""
    parser.add_argument("games", nargs="*", metavar="GAME", help=A_GAME)
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="the folder for games.md; it is made if it does not exist"
    )


def main(args: argparse.Namespace) -> int:
    """List the games or describe them; 1 if a file cannot be written."""
    if args.games or args.out is not None:
        return _describe(args)
    shipped = games()
    names, titles = (max(map(len, each)) for each in zip(*((g.name, g.title) for g in shipped), strict=True))
    for game in shipped:
        print(f"{game.name:<{names}}  {game.title:<{titles}}  {game.sheet}")
    return 0


def _describe(args: argparse.Namespace) -> int:
    text = sections([game_or_table(each) for each in args.games]).lstrip() if args.games else page()
    if args.out is None:
        sys.stdout.write(text)
        return 0
    try:
        args.out.mkdir(parents=True, exist_ok=True)
        write_file(args.out / FILE, text.encode(), FOR_ALL)
    except OSError as error:
        sys.stderr.write(f"punto games: {error.filename} cannot be written: {error.strerror}\n")
        return 1
    return 0
