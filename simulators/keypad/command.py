"""The command of the virtual keypad: keys from the standard input, answers on the standard output."""

import argparse
import asyncio
from collections.abc import Awaitable, Iterator
from typing import Final

from punto.drivers.base import KeyPosition
from punto.drivers.keypad.frames import Answer
from punto.drivers.keypad.keys import is_key_name
from punto.simulators.keypad.virtual_keypad import VirtualKeypad
from punto.simulators.line import add_line_arguments, faults_of, run_command, run_until_stopped, say
from punto.simulators.sealed import read_key

HELP: Final = (
    "Simulate a dealer's keypad on a pseudo-terminal. A line of the standard input is the name of a key, such as F2, or several "
    "names separated by spaces, such as 9 S. A line can also be run or jph (turn the key), unplug or plug (the cable), or power "
    "(turn the keypad off and on again). The program ends at the end of the standard input."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `punto keypad`; docs/reference/keypad.md explains each."""
    add_line_arguments(parser, "keypad", "VK-000001")
    parser.add_argument(
        "--key-switch",
        action="store_true",
        help="simulate a keypad with a key switch; the key is at RUN at the start",
    )


def main(args: argparse.Namespace) -> int:
    """Run a virtual keypad until its input ends, SIGINT or SIGTERM; return the exit code."""
    return run_command("keypad", _run(args))


async def _run(args: argparse.Namespace) -> None:
    key: KeyPosition | None = "run" if args.key_switch else None
    keypad = VirtualKeypad(
        args.link, args.serial, faults_of(args.fault), args.seed, device_key=read_key(args.key_file), key=key
    )
    await run_until_stopped(keypad, lambda line: _act(keypad, line))


def _act(keypad: VirtualKeypad, line: str) -> Iterator[Awaitable[None]]:
    for word in line.split():
        match word:
            case _ if keypad.handle(word):
                pass
            case "run" | "jph":
                try:
                    keypad.turn(word)
                except ValueError as error:
                    say(f"{word}: {error}")
            case key if is_key_name(key):
                try:
                    pressed = keypad.press(key)
                except ValueError as error:
                    say(f"{key} not sent: {error}")
                else:
                    yield _tell(key, pressed)
            case _:
                say(f"{word} is not a key's name: write capitals, digits and _, or unplug, plug or power")


async def _tell(key: str, pressed: asyncio.Future[Answer]) -> None:
    await asyncio.wait([pressed])
    if pressed.cancelled():
        say(f"{key} forgotten: the power was off")
        return
    answer = pressed.result()
    say(f"{key} {answer.result}: {answer.text}")
