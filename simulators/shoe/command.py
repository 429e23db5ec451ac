"""The command of the virtual shoe: its options and its run."""

import argparse
import asyncio
import os
import signal
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from punto.simulators.line import add_key_argument
from punto.simulators.sealed import read_key
from punto.simulators.shoe.faults import OptionError, parse_faults
from punto.simulators.shoe.options import ShoeOptions
from punto.simulators.shoe.scenario import ScenarioError, read_scenario, scenario_names
from punto.simulators.shoe.store import StoreError
from punto.simulators.shoe.terminal import TerminalError
from punto.simulators.shoe.virtual_shoe import VirtualShoe

_GIVEN = ("link", "seed", "decks", "cut", "pace", "between", "window", "serial")

HELP: Final = (
    "Simulate a card-recognition shoe on a pseudo-terminal. The simulated shoe uses the protocol in "
    "docs/reference/ishoe-link.md, so a table's service can work with this shoe as with a real one. The cards are shuffled from "
    "a seed, or come from a scenario. The shoe keeps its memory "
    "in a file (--store), and continues from this memory after a restart. Ctrl-C ends the program."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `punto shoe`; docs/reference/virtual-shoe.md explains each."""
    add = parser.add_argument
    add(
        "--link", type=Path, metavar="PATH", help="a symlink that always points to the shoe's pseudo-terminal"
    )
    add(
        "--store",
        type=Path,
        metavar="FILE",
        help="the file in which the shoe keeps its memory (default: PATH.store if you give --link PATH, otherwise a temporary "
        "file)",
    )
    add("--seed", metavar="TEXT", help="the text that determines the shuffles (default: 1)")
    add("--decks", type=int, metavar="N", help="the number of decks in a shoe, 1 to 8 (default: 8)")
    add(
        "--cut",
        type=int,
        metavar="N",
        help="the number of cards behind the cut card; 0 for no cut card (default: 14)",
    )
    add(
        "--pace",
        type=float,
        metavar="SECONDS",
        help="the pause between two cards (default: 0; the shoe then waits only for the host's acknowledgement)",
    )
    add(
        "--between",
        type=float,
        metavar="SECONDS",
        help="the pause after each result, and the time to load new cards (default: 0)",
    )
    add(
        "--window",
        type=int,
        metavar="N",
        help="draw a card only if fewer than N reports still wait for the host's acknowledgement (default: 1)",
    )
    add("--serial", metavar="TEXT", help="the serial number (default: VS-000001)")
    add_key_argument(parser)
    add(
        "--fault",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="simulate the fault NAME with the rate VALUE, such as noise=0.01; you can give this "
        "option more than once",
    )
    add(
        "--scenario",
        metavar="NAME|FILE",
        help="the scenario, which gives the shoe's cards, and the faults at some of these cards: a file, or one of "
        + ", ".join(scenario_names()),
    )
    add("--quiet", action="store_true", help="print only errors")


def main(args: argparse.Namespace) -> int:
    """Run a virtual shoe until SIGINT or SIGTERM; return the exit code."""
    say = (lambda _: None) if args.quiet else _say
    try:
        with _store(args) as store:
            asyncio.run(_run(_options(args, store), say))
    except (OptionError, ScenarioError, StoreError, TerminalError) as error:
        sys.stderr.write(f"punto shoe: {error}\n")
        return 1
    except sqlite3.Error as error:
        # Data that the store does not hold must not be sent: a shoe that cannot remember stops.
        sys.stderr.write(
            f"punto shoe: the store cannot be written: {error}; check the disk and start again\n"
        )
        return 1
    return 0


@contextmanager
def _store(args: argparse.Namespace) -> Iterator[Path]:
    """The file of the shoe's memory; without a name or a link for it, a temporary one."""
    if args.store is not None:
        yield args.store
    elif args.link is not None:
        yield args.link.with_name(f"{args.link.name}.store")
    else:
        with tempfile.TemporaryDirectory(prefix="shoe-") as passing:
            yield Path(passing) / "store"


def _options(args: argparse.Namespace, store: Path) -> ShoeOptions:
    scenario = None if args.scenario is None else read_scenario(args.scenario)
    settings: dict[str, Any] = {} if scenario is None else scenario.settings()
    settings |= {name: getattr(args, name) for name in _GIVEN if getattr(args, name) is not None}
    if args.fault:
        settings["faults"] = parse_faults(args.fault, settings.get("faults"))
    try:
        settings["key"] = read_key(args.key_file)
    except ValueError as error:
        raise OptionError(str(error)) from None
    return ShoeOptions(store=store, **settings)


async def _run(options: ShoeOptions, say: Callable[[str], None]) -> None:
    shoe = asyncio.ensure_future(VirtualShoe(options, say).run())
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, shoe.cancel)
    await asyncio.wait([shoe])
    if not shoe.cancelled():
        shoe.result()


def _say(line: str) -> None:
    try:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of the output has gone: that is not a reason to stop the shoe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
