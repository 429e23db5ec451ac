"""`punto game-manager`: the Game Manager of a whole house."""

import argparse
import asyncio
import gc
import sys
from pathlib import Path
from typing import Final

from punto.baccarat.table.turn import RefusedError
from punto.commands.signals import until_stopped
from punto.consoles.entrance import entrance_of
from punto.controller.clock_watch import wait_for_clock
from punto.house.config import GameManagerConfig, load_game_manager
from punto.house.service import serve
from punto.house.store import StoreError
from punto.runtime import log
from punto.runtime.failures import messages_of

HELP: Final = (
    "Run the Game Manager of a house until SIGTERM or Ctrl-C. It takes in all tables' rounds from their messages, exactly once "
    "each, keeps them in SQLite or PostgreSQL, and shows the floor on its pages. It gives no orders, and the tables work without it. "
    "The exit status is 1 if the store cannot be used or the clock has not been set, and 2 if the configuration is invalid. In both cases, a message gives the "
    "reason."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the subcommand."""
    parser.add_argument(
        "--config",
        type=Path,
        required=True,
        metavar="FILE",
        help="the Game Manager's configuration, such as configs/game-manager.toml",
    )
    log.add_level(parser)


def main(args: argparse.Namespace) -> int:
    """Run until SIGTERM or Ctrl-C; 1 if the store cannot be used or the clock has not been set."""
    config = load_game_manager(args.config)
    write_log = log.set_up(human=sys.stderr.isatty(), level=args.log_level)
    status = 0
    try:
        try:
            asyncio.run(_until_stopped(config, args.log_level))
        finally:
            write_log()
    except* (StoreError, RefusedError) as errors:
        for message in messages_of(errors):
            print(f"punto game-manager: {message}", file=sys.stderr)
        status = 1
    return status


async def _until_stopped(config: GameManagerConfig, level: str) -> None:
    # Rounds that wait for the store are many objects, none of them garbage: to look for it takes a tenth of the intake.
    gc.freeze()
    gc.set_threshold(100_000)
    await until_stopped(_served(config), level)


async def _served(config: GameManagerConfig) -> None:
    await wait_for_clock(None)  # the floor's gaming days are by the clock
    await serve(config, entrance_of, lambda address: print(f"Game Manager on {address}", flush=True))
