"""The command of the virtual card reader: cards from the standard input, answers on the standard output."""

import argparse
import asyncio
from collections.abc import Awaitable, Iterator
from typing import Final

from punto.drivers.card_reader.frames import Answer
from punto.simulators.card_reader.device import NotTakenError
from punto.simulators.card_reader.virtual_card_reader import VirtualCardReader
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
    "Simulate a reader of supervisors' and executives' cards on a pseudo-terminal. A line of the standard input can be swipe "
    "NUMBER or garble (swipe a card that cannot be read). A line can also be unplug or plug (the cable), or power (turn the "
    "reader off and on again). The program prints whether the host waits for a swipe, and prints the host's answers. The "
    "program ends at the end of the standard input."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `punto card-reader`; docs/reference/card-reader.md explains each."""
    add_line_arguments(parser, "card reader", "VR-000001")


def main(args: argparse.Namespace) -> int:
    """Run a virtual card reader until its input ends, SIGINT or SIGTERM; return the exit code."""
    return run_command("card-reader", _run(args))


async def _run(args: argparse.Namespace) -> None:
    reader = VirtualCardReader(
        args.link, args.serial, faults_of(args.fault), args.seed, device_key=read_key(args.key_file)
    )
    await run_until_stopped(reader, lambda line: _act(reader, line), _tell_ready(reader))


def _act(reader: VirtualCardReader, line: str) -> Iterator[Awaitable[None]]:
    match line.split():
        case [word] if reader.handle(word):
            pass
        case ["swipe", number]:
            yield from _swipe(reader, number)
        case ["garble"]:
            yield from _swipe(reader, "")
        case []:
            pass
        case _:  # not repeated in the message: it may contain a card's number
            say("write swipe with a card's number, garble, unplug, plug or power")


def _swipe(reader: VirtualCardReader, track: str) -> Iterator[Awaitable[None]]:
    try:
        swiped = reader.swipe(track)
    except (NotTakenError, ValueError) as error:
        say(f"swipe not taken: {error}")
    else:
        yield _tell(swiped)


async def _tell(swiped: asyncio.Future[Answer]) -> None:
    await asyncio.wait([swiped])
    if swiped.cancelled():
        say("swipe forgotten: the power was off")
        return
    answer = swiped.result()
    say(f"{answer.result.replace('_', ' ')}: {answer.text}")


async def _tell_ready(reader: VirtualCardReader) -> None:
    """Print whether a swipe is awaited, as it changes."""
    ready = False
    while True:
        if reader.ready != ready:
            ready = reader.ready
            say("a swipe is awaited" if ready else "no swipe is awaited")
        await asyncio.sleep(TURN_SECONDS)
