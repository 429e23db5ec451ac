"""`punto demo`: run a whole table on one machine. The demo needs no special hardware, no root rights and no network.

The demo runs the table's service, a score display, a broker, a simulated shoe and simulated people. The service and
the display are the real programs. If the rules do not allow a shoe to read the game's cards, a simulated dealer enters
the cards by hand. For a game with a progressive (a jackpot), the demo also simulates the wager sensors. The dealer of such
a game works at a keypad, or at a console with a card reader. The shoe of such a game contains a hand for each tier of the
pay table, so each tier is won within minutes.
"""

import argparse
import asyncio
import logging
import signal
import sys
import tempfile
from collections.abc import Awaitable, Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import structlog

from punto.baccarat.table.turn import RefusedError
from punto.commands.demo.broker import DemoBroker
from punto.commands.demo.configuration import (
    LAST_PORT,
    Secrets,
    is_free,
    make_accounts,
    mqtt_of,
    places,
    write_config,
)
from punto.commands.demo.table import DemoTable, hand
from punto.commands.demo.telling import EnoughError, print_late, print_rounds, welcome
from punto.commands.numbers import whole
from punto.commands.run import messages_of
from punto.configs.problems import ConfigError, Problem, cut
from punto.controller import log
from punto.controller.config.file import ServiceConfig
from punto.controller.journal.schema import RecordError
from punto.displays.options import DisplayOptions, MqttOptions, PageOptions
from punto.displays.server import serve as serve_display

_LONGEST_WAIT: Final = 3600  # seconds
_MOST_TABLES: Final = 8
_PROGRESSIVE_GAME: Final = "progressive-2"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the subcommand."""
    parser.add_argument(
        "--game",
        type=lambda name: _PROGRESSIVE_GAME if name == "progressive" else name,
        default="dragon-bonus-1",
        help=f"a game file, or the name of a game that ships with punto; progressive stands for {_PROGRESSIVE_GAME} (default: "
        "dragon-bonus-1)",
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=8,
        help="the number that determines the cards and the players' wagers (default: 8). Which wagers are in time also depends "
        "on --pace",
    )
    pace = "the pause between two cards (default: 0.7)"
    parser.add_argument("--pace", type=_seconds, default=0.7, metavar="SECONDS", help=pace)
    between = "the pause between two coups (default: 4)"
    parser.add_argument("--between", type=_seconds, default=4, metavar="SECONDS", help=between)
    rounds = "end when all tables together have played this number of rounds (default: run until Ctrl-C)"
    parser.add_argument("--rounds", type=whole(1), metavar="N", help=rounds)
    display = "the port of the display; if this port is in use, the demo takes a free port (default: 8080)"
    parser.add_argument("--port", type=_port, default=8080, metavar="PORT", help=display)
    parser.add_argument(
        "--console-port",
        type=_port,
        default=8090,
        metavar="PORT",
        help="the port of the first table's consoles; if this port is in use, the demo takes a free port (default: 8090)",
    )
    parser.add_argument(
        "--procedure",
        choices=("aquarius", "nexus"),
        help="how awards of a progressive are confirmed. aquarius (the default): with a keypad and a supervisor's key. nexus: "
        "with a console and swiped cards",
    )
    attended = "practise as the dealer and the supervisor at the consoles; only the players are simulated"
    parser.add_argument("--attended", action="store_true", help=attended)
    parser.add_argument(
        "--deal",
        type=hand,
        action="append",
        default=[],
        metavar="HAND",
        help="deal this hand again and again, until the shoe no longer has the cards of the hand. HAND is jackpot (a hand that "
        "wins the whole meter), awards (a hand for each tier of the pay table, one after the other), or cards in the order of "
        "dealing, such as '9S 4H TD 3C'. If you give --deal several times, these hands are dealt in turn",
    )
    tables = f"the number of tables, 1 to {_MOST_TABLES}; each has its own consoles, and one display shows all tables (default: 1)"
    parser.add_argument("--tables", type=whole(1, _MOST_TABLES), default=1, metavar="N", help=tables)
    parser.add_argument(
        "--dir", type=Path, help="the folder in which to keep the record (default: a temporary folder)"
    )


def _seconds(text: str) -> float:
    with suppress(ValueError):
        if 0 <= (seconds := float(text)) <= _LONGEST_WAIT:
            return seconds
    raise argparse.ArgumentTypeError(f"must be from 0 to {_LONGEST_WAIT} seconds, not {cut(text)!r}")


def _port(text: str) -> int:
    with suppress(ValueError):
        if 0 <= (port := int(text)) <= LAST_PORT:
            return port
    raise argparse.ArgumentTypeError(
        f"{cut(text)!r} is not a port: write 1 to {LAST_PORT}, or 0 for a free one"
    )


def main(args: argparse.Namespace) -> int:
    """Deal until Ctrl-C, or until enough rounds were dealt; status 1 if the record cannot be used."""
    log.set_up(human=True, level="error")
    structlog.configure(processors=[print_late, *structlog.get_config()["processors"]])
    logging.getLogger("amqtt").setLevel(logging.ERROR)
    logging.getLogger("transitions").setLevel(logging.ERROR)
    with tempfile.TemporaryDirectory(prefix="punto-demo-", ignore_cleanup_errors=True) as passing:
        folder = args.dir or Path(passing)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError([Problem(f"--dir: {cut(str(folder), 200)}: {error.strerror}")]) from None
        status = 0
        refused: BaseException | None = None
        try:
            with suppress(KeyboardInterrupt):
                asyncio.run(_run(args, folder.absolute(), Path(passing) / "operators.db"))
        except* (RecordError, RefusedError) as errors:
            for message in dict.fromkeys(messages_of(errors)):  # one failure reaches several tasks
                print(f"punto demo: {message}", file=sys.stderr)
            status = 1
        except* ConfigError as errors:
            refused = errors
    while isinstance(refused, BaseExceptionGroup):
        refused = refused.exceptions[0]
    if refused is not None:
        raise refused
    if status == 0:
        print("The demo has ended.")
    return status


async def _run(args: argparse.Namespace, folder: Path, accounts: Path) -> None:
    configs = [write_config(args, place, accounts) for place in places(args, folder)]
    passing = make_accounts(accounts, configs, attended=args.attended)
    tables = [
        DemoTable(argparse.Namespace(**{**vars(args), "seed": args.seed + number}), config, passing)
        for number, config in enumerate(configs)
    ]
    demo = asyncio.create_task(_deal(args, configs, tables, passing))

    def stop() -> None:
        _stop_logging()
        demo.cancel()

    for wanted in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(wanted, stop)
    with suppress(asyncio.CancelledError):
        try:
            await demo
        except* EnoughError:
            pass


def _stop_logging() -> None:
    """Stop logging at the end of the demo, because amqtt would log its lost connections."""
    asyncio.get_running_loop().set_exception_handler(lambda *_: None)
    logging.disable()


async def _part(work: Awaitable[None]) -> None:
    """Run a part of the demo. When one part ends, all parts and their connections end."""
    try:
        await work
    finally:
        _stop_logging()


async def _deal(
    args: argparse.Namespace, configs: list[ServiceConfig], tables: list[DemoTable], passing: Secrets
) -> None:
    mqtt = mqtt_of(configs[0])
    broker = DemoBroker(mqtt.port)
    await broker.start()
    try:
        async with asyncio.TaskGroup() as tasks:

            def begin(work: Coroutine[Any, Any, None]) -> None:
                tasks.create_task(_part(work))

            for table in tables:
                await table.open(begin)
            print_addresses = welcome(configs, passing.password, attended=args.attended)
            begin(serve_display(_display(args.port, configs), print_addresses))
            for table in tables:
                table.play(begin)
            begin(print_rounds(configs, args.rounds))
    finally:
        with suppress(Exception):  # errors of the broker do not matter at the demo's end
            await broker.shutdown()


def _display(port: int, configs: list[ServiceConfig]) -> DisplayOptions:
    mqtt, tables = mqtt_of(configs[0]), tuple(each.table.id for each in configs)
    return DisplayOptions(
        mqtt=MqttOptions(port=mqtt.port, base=mqtt.base),
        display=PageOptions(tables=tables, port=port if is_free(port) else 0),
    )
