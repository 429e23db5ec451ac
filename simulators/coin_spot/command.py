"""The command of the virtual wager sensors: coins from the standard input, rounds and lights on the standard output."""

import argparse
import asyncio
from collections.abc import Awaitable, Iterable
from typing import Final

from punto.simulators.coin_spot.device import BREAKS
from punto.simulators.coin_spot.virtual_coin_spot import AT_A_TABLE, VirtualCoinSpot
from punto.simulators.line import (
    TURN_SECONDS,
    add_line_arguments,
    faults_of,
    run_command,
    run_until_stopped,
    say,
)
from punto.simulators.sealed import read_key

HELP: Final = (
    "Simulate a chain of wager sensors on a pseudo-terminal. A line of the standard input is a word and one or more positions, "
    "such as put 3 5. The word is put, take, stuck, missing, doubled or mend. A line can also be unplug or plug (the cable), or "
    "power (turn the sensors off and on again). The program prints which sensors the host lights, and which sensors held a "
    "wager when a round began. The program ends at the end of the standard input."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `punto coin-spot`; docs/reference/coin-spot.md explains each."""
    add_line_arguments(parser, "chain", "VC-000001")
    parser.add_argument(
        "--positions",
        type=int,
        default=AT_A_TABLE,
        metavar="N",
        help=f"the number of sensors in the chain (default: {AT_A_TABLE})",
    )


def main(args: argparse.Namespace) -> int:
    """Run virtual wager sensors until the input ends, SIGINT or SIGTERM; return the exit code."""
    return run_command("coin-spot", _run(args))


async def _run(args: argparse.Namespace) -> None:
    chain = VirtualCoinSpot(
        args.link,
        args.serial,
        faults_of(args.fault),
        args.seed,
        device_key=read_key(args.key_file),
        positions=args.positions,
    )
    await run_until_stopped(chain, lambda line: _act(chain, line), _tell(chain))


def _act(chain: VirtualCoinSpot, line: str) -> Iterable[Awaitable[None]]:
    match line.split():
        case [word] if chain.handle(word):
            pass
        case [word, *positions] if positions and (word in {"put", "take", "mend"} or word in BREAKS):
            for position in positions:
                _act_at(chain, word, position)
        case []:
            pass
        case _:
            say(
                f"{line.strip()}: write put, take, {', '.join(BREAKS)} or mend with positions, or unplug, plug or power"
            )
    return ()


def _act_at(chain: VirtualCoinSpot, word: str, written: str) -> None:
    try:
        position = int(written)
        match word:
            case "put" | "take" | "mend":
                getattr(chain, word)(position)
            case "stuck" | "missing" | "doubled":
                chain.break_(position, word)
    except ValueError:
        say(f"there is no position {written}: write 1 to {len(chain.sensors)}")


async def _tell(chain: VirtualCoinSpot) -> None:
    """Print what the host does, as it changes."""
    round_, lit = 0, frozenset[int]()
    while True:
        if chain.device.round != round_:
            round_ = chain.device.round
            say(f"round {round_}: {_words(chain.device.latched)}" if round_ else "open")
        if chain.lit != lit:
            lit = chain.lit
            say(f"lit: {_words(lit)}")
        await asyncio.sleep(TURN_SECONDS)


def _words(positions: frozenset[int]) -> str:
    return " ".join(map(str, sorted(positions))) or "none"
