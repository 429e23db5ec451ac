"""The command of the virtual keypad: keys from the standard input, answers on the standard output."""

import argparse
import asyncio
import dataclasses
import signal
import sys
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Final

from controller.problems import nearest
from drivers.keypad.frames import Answer
from drivers.keypad.keys import is_key_name
from simulators.keypad.virtual_keypad import Faults, VirtualKeypad
from simulators.shoe.terminal import TerminalError

HELP: Final = (
    "A dealer's keypad on a pseudo-terminal. Each line of the standard input has names of keys with spaces between, such "
    "as F2 or 9 S, or one of the words unplug, plug and power (off and on again). It ends with the input."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `punto keypad`; docs/keypad.md explains each."""
    add = parser.add_argument
    add(
        "--link",
        type=Path,
        required=True,
        metavar="PATH",
        help="symlink that always stands for the keypad's pseudo-terminal",
    )
    add("--serial", default="VK-000001", metavar="TEXT", help="serial number (default: VK-000001)")
    add("--seed", default="1", metavar="TEXT", help="what the faults come from (default: 1)")
    add(
        "--fault",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="what goes wrong on the line: drop, double or noise, chances from 0 to 1, or delay in seconds",
    )


def main(args: argparse.Namespace) -> int:
    """Run a virtual keypad until its input ends, SIGINT or SIGTERM; give the exit code."""
    try:
        asyncio.run(_until_stopped(args.link, args.serial, faults_of(args.fault), args.seed))
    except (ValueError, TerminalError) as error:
        sys.stderr.write(f"punto keypad: {error}\n")
        return 1
    return 0


def faults_of(written: list[str]) -> Faults:
    """Read faults as they are written on the command line.

    Raises:
        ValueError: one is unknown or has no such value.
    """
    names = [field.name for field in dataclasses.fields(Faults)]
    values = {}
    for each in written:
        name, _, value = each.partition("=")
        if name not in names:
            close = nearest(name, names)
            raise ValueError(
                f"there is no fault {name!r}: write {', '.join(names)}"
                + (f" (did you mean {close}?)" if close else "")
            )
        try:
            values[name] = float(value)
        except ValueError:
            raise ValueError(f"{name}={value} is no number: write it such as {name}=0.1") from None
    return Faults(**values)


async def _until_stopped(link: Path, serial: str, faults: Faults, seed: str) -> None:
    keypad = VirtualKeypad(link, serial, faults, seed)
    running = asyncio.ensure_future(keypad.run())
    typing = asyncio.ensure_future(_type(keypad))
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, typing.cancel)
    await asyncio.wait([running, typing], return_when=asyncio.FIRST_COMPLETED)
    for task in (typing, running):
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _type(keypad: VirtualKeypad) -> None:
    lines: asyncio.Queue[str] = asyncio.Queue()
    loop = asyncio.get_running_loop()

    def read() -> None:
        with suppress(RuntimeError):  # the loop has ended meanwhile
            for line in sys.stdin:
                loop.call_soon_threadsafe(lines.put_nowait, line)
            loop.call_soon_threadsafe(lines.put_nowait, "")

    Thread(target=read, daemon=True).start()
    waiting: set[asyncio.Task[None]] = set()
    while line := await lines.get():
        for word in line.split():
            _act(keypad, word, waiting)
    if waiting:
        await asyncio.wait(waiting)


def _act(keypad: VirtualKeypad, word: str, waiting: set[asyncio.Task[None]]) -> None:
    match word:
        case "unplug":
            keypad.unplug()
        case "plug":
            keypad.unplug()
            keypad.plug()
        case "power":
            keypad.lose_power()
        case key if is_key_name(key):
            try:
                pressed = keypad.press(key)
            except ValueError as error:
                _say(f"{key} not sent: {error}")
                return
            task = asyncio.ensure_future(_tell(key, pressed))
            waiting.add(task)
            task.add_done_callback(waiting.discard)
        case _:
            _say(f"{word} is no key's name: write capitals, digits and _, or unplug, plug or power")


async def _tell(key: str, pressed: asyncio.Future[Answer]) -> None:
    await asyncio.wait([pressed])
    if pressed.cancelled():
        _say(f"{key} forgotten: the power was off")
        return
    answer = pressed.result()
    _say(f"{key} {answer.result}: {answer.text}")


def _say(line: str) -> None:
    print(line, flush=True)
