"""`punto games`: the games that ship, and docs/games.md, which describes them."""

import argparse
import sys
from pathlib import Path
from typing import Final

from punto.commands.games_page import FILE, games, page

HELP: Final = (
    "List the games that ship with punto: name, title, source. With --out, write them all to DIR/games.md instead: what "
    "they pay, in words, and what that is worth, counted."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the subcommand takes."""
    parser.add_argument("--out", type=Path, metavar="DIR", help="made if it is not there")


def main(args: argparse.Namespace) -> int:
    """List the games or write their description; 1 if it cannot be written."""
    if args.out is None:
        shipped = games()
        names, titles = (
            max(map(len, each)) for each in zip(*((g.name, g.title) for g in shipped), strict=True)
        )
        for game in shipped:
            print(f"{game.name:<{names}}  {game.title:<{titles}}  {game.sheet}")
        return 0
    try:
        args.out.mkdir(parents=True, exist_ok=True)
        (args.out / FILE).write_text(page(), encoding="utf-8")
    except OSError as error:
        sys.stderr.write(f"punto games: {error.filename} cannot be written: {error.strerror}\n")
        return 1
    return 0
