"""`punto demo`: run a whole table on one machine. The demo needs no special hardware, no root rights and no network.

The demo runs the table's service, a score display, a broker, a simulated shoe and simulated people. The service and
the display are the real programs. If the rules do not allow a shoe to read the game's cards, a simulated dealer enters
the cards by hand. For a game with a progressive (a jackpot), the demo also simulates the wager sensors. The dealer of such
a game works at a keypad, or at a console with a card reader. The shoe of such a game contains a hand for each tier of the
pay table, so each tier is won within minutes.
"""

import argparse
from contextlib import suppress
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from punto.commands.demo.broker import DemoBroker
from punto.commands.demo.configuration import (
    LAST_PORT,
    free_port,
    is_dealt,
    is_free,
    make_accounts,
    mqtt_of,
    port_for,
    write_config,
)
from punto.commands.demo.options import TableOptions, tables_like
from punto.commands.demo.running import deal, run
from punto.commands.demo.table import Begin, VirtualTable, hand
from punto.commands.demo.telling import act_printer, print_late, print_rounds, welcome
from punto.commands.numbers import whole
from punto.configs.problems import ConfigError, Problem, cut
from punto.controller.config.file import ServiceConfig
from punto.displays.options import DisplayOptions, MqttOptions, PageOptions
from punto.displays.server import serve as serve_display
from punto.house.config import FloorsBroker, GameManagerConfig, PagesConfig, StoreConfig
from punto.runtime.broker_login import BrokerConfig

_LONGEST_WAIT: Final = 3600  # seconds
_MOST_TABLES: Final = 8
_PROGRESSIVE_GAME: Final = "progressive-2"
_FLOOR: Final = "floor"
_FLOOR_LINKED: Final = 3
_HOUSE_PORT: Final = 8070
_FLOOR_GAMES: Final = (
    *[_PROGRESSIVE_GAME] * _FLOOR_LINKED,
    "dragon-bonus-1",
    "ez-baccarat",
    "side-wagers",
)
_JACKPOT_EVERY: Final = 6  # hands, in more than a minute


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the subcommand."""
    parser.add_argument(
        "--game",
        type=lambda name: _PROGRESSIVE_GAME if name == "progressive" else name,
        default="dragon-bonus-1",
        help=f"a game file, or the name of a game that ships with punto; progressive stands for {_PROGRESSIVE_GAME}, and {_FLOOR} for "
        f"{len(_FLOOR_GAMES)} tables of several games, of which {_FLOOR_LINKED} share the meter of a progressive (default: "
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
    browser = "do not open the display in a browser"
    parser.add_argument("--no-browser", dest="browser", action="store_false", help=browser)
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
    status = run("punto demo", args.dir, partial(_run, args), print_late)
    if status == 0:
        print("The demo has ended.")
    return status


async def _run(args: argparse.Namespace, folder: Path, accounts: Path) -> None:
    options = _tables(args, folder)
    configs = [write_config(each, accounts) for each in options]
    passing = make_accounts(accounts, configs, attended=args.attended)
    tables = [
        VirtualTable(each, config, passing, act_printer(config.table.id if len(configs) > 1 else ""))
        for each, config in zip(options, configs, strict=True)
    ]

    def begin_shared(begin: Begin) -> None:
        """Start what all tables share, and print its address."""
        house = None if args.game != _FLOOR else _house(folder, configs)
        if house is not None:
            begin(serve_house(house))
        print_addresses = welcome(
            configs, passing.password, house, attended=args.attended, browser=args.browser
        )
        begin(serve_display(_display(args.port, configs), print_addresses))
        begin(print_rounds(configs, args.rounds))

    await deal(tables, DemoBroker(mqtt_of(configs[0]).port), begin_shared)


def _tables(args: argparse.Namespace, folder: Path) -> list[TableOptions]:
    """The tables: a single table in the folder itself, several tables in a folder for each."""
    one = TableOptions(
        table="demo",
        folder=folder,
        console=args.console_port,
        broker=BrokerConfig(port=free_port()),
        game=args.game,
        seed=args.seed,
        pace=args.pace,
        between=args.between,
        procedure=args.procedure,
        attended=args.attended,
        deal=tuple(args.deal) or None,
    )
    if args.game == _FLOOR:
        return _floor(args, one)
    return [one] if args.tables == 1 else tables_like(one, [args.game] * args.tables)


def _floor(args: argparse.Namespace, one: TableOptions) -> list[TableOptions]:
    """Tables of several games; one of the linked tables wins the whole meter every few hands."""
    for given, option in ((args.tables != 1, "--tables"), (args.deal, "--deal")):
        if given:
            message = f"--game {_FLOOR} has its own tables and hands: remove {option}, or name another game"
            raise ConfigError([Problem(message)])
    tables = tables_like(replace(one, procedure=None), _FLOOR_GAMES, _FLOOR_LINKED)
    authority, winner, *others = (
        replace(each, procedure=args.procedure) for each in tables[: _FLOOR_LINKED + 1]
    )
    jackpots = replace(winner, deal=("jackpot",), every=_JACKPOT_EVERY)
    rest = [replace(each, deal=()) for each in others] + tables[_FLOOR_LINKED + 1 :]
    return [authority, jackpots, *rest]


def _house(folder: Path, configs: list[ServiceConfig]) -> GameManagerConfig | None:
    """The house's Game Manager, None if its extra is not installed."""
    if find_spec("sqlalchemy") is None:
        return None
    mqtt = mqtt_of(configs[0])
    return GameManagerConfig(
        version=1,
        mqtt=FloorsBroker(port=mqtt.port, base=mqtt.base),
        store=StoreConfig(path=folder / "game-manager.db"),
        pages=PagesConfig(port=port_for(_HOUSE_PORT)),
    )


async def serve_house(config: GameManagerConfig) -> None:
    """Run the house's Game Manager until cancelled."""
    from punto.consoles.entrance import entrance_of  # noqa: PLC0415 - an extra
    from punto.house.service import serve  # noqa: PLC0415 - an extra

    await serve(config, entrance_of)


def _display(port: int, configs: list[ServiceConfig]) -> DisplayOptions:
    mqtt, tables = mqtt_of(configs[0]), tuple(each.table.id for each in configs if is_dealt(each))
    return DisplayOptions(
        mqtt=MqttOptions(port=mqtt.port, base=mqtt.base),
        display=PageOptions(tables=tables, port=port if is_free(port) else 0),
    )
