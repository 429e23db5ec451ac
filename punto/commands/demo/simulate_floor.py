"""`punto simulate-floor`: run many simulated tables on one machine, for tests, demonstrations and sizing."""

import argparse
import asyncio
import json
import sqlite3
import time
from collections import Counter, deque
from collections.abc import Sequence
from contextlib import closing, suppress
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from typing import Final

from punto.commands.demo.broker import DemoBroker
from punto.commands.demo.configuration import (
    LAST_PORT,
    Secrets,
    free_port,
    is_dealt,
    make_accounts,
    mqtt_of,
    write_config,
)
from punto.commands.demo.options import TableOptions, tables_like
from punto.commands.demo.running import EnoughError, deal, run
from punto.commands.demo.table import Begin, VirtualTable
from punto.commands.demo.telling import address_of, listed, this_program
from punto.commands.numbers import whole
from punto.configs.problems import ConfigError, Problem, cut
from punto.controller.config.file import ServiceConfig
from punto.displays.options import COMMAND, read_options
from punto.messages.topics import ROUND, Topics
from punto.runtime.backoff import Backoff
from punto.runtime.broker_link import Connection, Link, LinkError
from punto.runtime.broker_login import BrokerConfig

HELP: Final = (
    "Run many tables on one machine: virtual shoes, players, wager sensors and staff at real services, one service for each "
    "table. Every few seconds, a line reports the pace of the floor, the rounds on the records, the rounds that were published "
    "over MQTT, and the alarms. Ctrl-C ends the floor."
)
_GAMES: Final = ("dragon-bonus-1", "progressive-2", "ez-baccarat", "side-wagers")
_MOST_TABLES: Final = 100
_FASTEST: Final = 100
# Real dealing: with these pauses, a table without a progressive deals some 70 hands an hour.
_PACE_SECONDS: Final = 2.5
_BETWEEN_SECONDS: Final = 41
_LINE_SECONDS: Final = 5
_MEASURED: Final = 12
"""The pace of the floor is that of the last minute: of so many lines."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the subcommand."""
    tables = f"the number of tables, 1 to {_MOST_TABLES} (default: 10)"
    parser.add_argument("--tables", type=whole(1, _MOST_TABLES), default=10, metavar="N", help=tables)
    parser.add_argument(
        "--pace",
        type=_pace,
        default=1,
        metavar="X",
        help="how many times as fast as real dealing; 1 is some 70 hands an hour at a table, and some 40 at a table with a "
        "progressive (default: 1)",
    )
    parser.add_argument(
        "--games",
        type=lambda text: tuple(text.split(",")),
        default=_GAMES,
        metavar="GAME,...",
        help="game files, or names of games that ship with punto, with commas between them; the tables take these games in turn "
        f"(default: {','.join(_GAMES)})",
    )
    parser.add_argument(
        "--linked",
        type=whole(0, _MOST_TABLES),
        default=0,
        metavar="K",
        help="the first K tables with a progressive share one meter, which a service of its own keeps (default: 0)",
    )
    parser.add_argument(
        "--awards",
        action="store_true",
        help="at a table with a progressive, every fourth hand wins a tier of the pay table, as in the demo",
    )
    processes = "run each service in a process of its own, as in a house, and not all in this process"
    parser.add_argument("--processes", action="store_true", help=processes)
    parser.add_argument(
        "--seed",
        type=int,
        default=1,
        help="the number that determines the cards and the players' wagers (default: 1)",
    )
    rounds = "end when all tables together have published this number of rounds (default: run until Ctrl-C)"
    parser.add_argument("--rounds", type=whole(1), metavar="N", help=rounds)
    host = "the name or address of an MQTT broker that needs no password (default: a broker in this process)"
    parser.add_argument("--mqtt-host", metavar="HOST", help=host)
    parser.add_argument(
        "--mqtt-port", type=int, metavar="PORT", help="the port of that broker (default: 1883)"
    )
    parser.add_argument(
        "--base", metavar="TOPIC", help="the first part of the tables' topics (default: punto)"
    )
    parser.add_argument(
        "--console-port",
        type=whole(0, LAST_PORT),
        default=8100,
        metavar="PORT",
        help="the port of the first table's consoles; the other tables have the next ports. If a port is in use, its table "
        "takes a free port (default: 8100)",
    )
    parser.add_argument(
        "--dir",
        type=Path,
        help="the folder in which to keep configurations and records (default: a temporary folder)",
    )


def _pace(text: str) -> float:
    with suppress(ValueError):
        if 0 < (pace := float(text)) <= _FASTEST:
            return pace
    raise argparse.ArgumentTypeError(f"must be more than 0 and at most {_FASTEST}, not {cut(text)!r}")


def main(args: argparse.Namespace) -> int:
    """Deal until Ctrl-C, or until enough rounds were published; status 1 if a record cannot be used."""
    status = run("punto simulate-floor", args.dir, partial(_run, args))
    if status == 0:
        print("The floor has ended.")
    return status


async def _run(args: argparse.Namespace, folder: Path, accounts: Path) -> None:
    own = args.mqtt_host is None and args.mqtt_port is None
    broker = _broker(args, free_port() if own else args.mqtt_port)
    if not own:
        await _reach(broker)
    options = tables_like(
        TableOptions(
            table="floor",
            folder=folder,
            console=args.console_port,
            broker=broker,
            game="",
            seed=args.seed,
            pace=_PACE_SECONDS / args.pace,
            between=_BETWEEN_SECONDS / args.pace,
            own_process=args.processes,
            deal=None if args.awards else (),
        ),
        list(islice(cycle(args.games), args.tables)),
        args.linked,
    )
    configs = [write_config(each, accounts) for each in options]
    passing = make_accounts(accounts, configs)
    tables = [
        VirtualTable(each, config, passing, lambda *_: None)
        for each, config in zip(options, configs, strict=True)
    ]

    def begin_shared(begin: Begin) -> None:
        count = FloorCount(configs)
        print(_opening(folder, configs, passing), flush=True)
        begin(count.listen(args.rounds))
        begin(_print_lines(count))

    await deal(tables, DemoBroker(broker.port) if own else None, begin_shared)


def _broker(args: argparse.Namespace, port: int | None) -> BrokerConfig:
    given = {("mqtt", "host"): args.mqtt_host, ("mqtt", "port"): port, ("mqtt", "base"): args.base}
    found = {place: value for place, value in given.items() if value is not None}
    return read_options(None, found | {("display", "tables"): ("floor",)}).mqtt


async def _reach(broker: BrokerConfig) -> None:
    """Check that the broker can be reached, because services wait for their broker without an end."""
    try:
        async with Link(broker, Backoff(1, 1)).connection():
            pass
    except LinkError as error:
        message = f"cannot use the broker at {broker.host} port {broker.port} ({error}): start one that needs no password, or remove --mqtt-host and --mqtt-port"
        raise ConfigError([Problem(message, COMMAND)]) from None


def _opening(folder: Path, configs: Sequence[ServiceConfig], passing: Secrets) -> str:
    mqtt, dealt = mqtt_of(configs[0]), [each.table.id for each in configs if is_dealt(each)]
    lines = {
        "files": f"{folder}, a folder for each table",
        "consoles": f"at the port in each table.toml, as dealer or supervisor, password {passing.password}",
    }
    for each in configs:
        if each.progressive is not None and each.progressive.tables:
            lines["linked tables"] = ", ".join(each.progressive.tables)
            lines["their Game Manager"] = f"{address_of(each)}game-manager as executive or auditor"
    shown = " ".join(f"--table {table}" for table in dealt)
    at = f"--mqtt-host {mqtt.host} --mqtt-port {mqtt.port} --base {mqtt.base}"
    lines["displays"] = f"{this_program()} display {shown} {at}"
    opening = "A table is open" if len(dealt) == 1 else f"{len(dealt)} tables are open"
    return f"{opening}.\n\n{listed(lines)}\n\nCtrl-C ends the floor.\n"


class FloorCount:
    """The rounds and alarms of the floor from now on, on the records of open tables and over MQTT."""

    def __init__(self, configs: Sequence[ServiceConfig]) -> None:
        self._records = [each.record.path for each in configs]
        self._mqtt = mqtt_of(configs[0])
        self._topics = [Topics(self._mqtt.base, each.table.id)(ROUND) for each in configs if is_dealt(each)]
        self._published: set[tuple[str, int]] = set()
        self._before = self._recorded()

    async def listen(self, rounds: int | None) -> None:
        """Count published rounds until cancelled.

        Raises:
            EnoughError: `rounds` rounds were published.
        """

        async def listen(connection: Connection) -> None:
            await connection.subscribe(self._topics)
            async for message in connection.messages():
                self._published.add((message.topic, json.loads(message.payload)["seq"]))
                if len(self._published) == rounds:
                    raise EnoughError

        await Link(self._mqtt, Backoff(1, 1)).run(listen)

    @property
    def published(self) -> int:
        """The rounds that were published; each counts once."""
        return len(self._published)

    def recorded(self) -> tuple[int, Counter[str]]:
        """The rounds and the codes of the alarms on the records."""
        rounds, alarms = self._recorded()
        return rounds - self._before[0], alarms - self._before[1]

    def _recorded(self) -> tuple[int, Counter[str]]:
        rounds, alarms = 0, Counter[str]()
        for path in self._records:
            with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as record:
                rounds += record.execute("SELECT coalesce(max(round), 0) FROM rounds").fetchone()[0]
                alarms.update(
                    code for (code,) in record.execute("SELECT code FROM incidents WHERE kind = 'alarm'")
                )
        return rounds, alarms


async def _print_lines(count: FloorCount) -> None:
    began = time.monotonic()
    marks = deque([(began, 0)], maxlen=_MEASURED + 1)
    while True:
        await asyncio.sleep(_LINE_SECONDS)
        rounds, alarms = await asyncio.to_thread(count.recorded)
        now = time.monotonic()
        marks.append((now, rounds))
        pace = 3600 * (rounds - marks[0][1]) / (now - marks[0][0])
        print(floor_line(now - began, pace, rounds, count.published, alarms), flush=True)


def floor_line(seconds: float, pace: float, recorded: int, published: int, alarms: Counter[str]) -> str:
    """A line about the floor, `seconds` after its opening; `pace` is in hands an hour."""
    codes = ", ".join(f"{code} {count}" for code, count in alarms.most_common())
    told = f"{alarms.total()} alarms" + (f" ({codes})" if codes else "")
    return f"{seconds:>6.0f} s  {pace:>7,.0f} hands an hour  {recorded:>7,} rounds recorded  {published:>7,} published  {told}"
