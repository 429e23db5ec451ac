"""`punto check-config`: report the errors of a configuration or a game file, or summarise it."""

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from math import lcm
from pathlib import Path
from typing import Final, NamedTuple

from punto.baccarat.currency import decimals_of, in_words, written
from punto.baccarat.progressive.settings import advice
from punto.baccarat.wagers.definition import Game, Limits
from punto.baccarat.wagers.unpaid import unpaid
from punto.configs.game_files import game_file, game_of, load_game, place_of, shipped_games
from punto.configs.problems import ConfigError, Problem, cut, meant
from punto.configs.toml_file import read
from punto.controller.config.devices import DeviceConfig, KeypadConfig
from punto.controller.config.file import ServiceConfig
from punto.controller.config.needs import missing_group, obstacles, unit_user
from punto.controller.config.sections import AccountsConfig, ConsoleConfig, ProgressiveConfig
from punto.controller.config.tables import doubles_of_files, link_problems, load_configs, these
from punto.drivers.address import is_network
from punto.house.config import load_game_manager
from punto.runtime.permissions import User
from punto.runtime.secret_file import secret_warnings

INPUT_BY_ID: Final = Path("/dev/input/by-id")
_WITH_ODDS: Final = find_spec("numpy") is not None
"""Whether the extra `odds` is installed. A table does not need it."""

HELP: Final = (
    "Check the configurations of tables, a display's configuration, a Game Manager's configuration, a house's theme or a game. Of several files, the command also compares tables with the authority of their meter, and reports what two tables of one PC cannot both have, such as a port. "
    "On the PC of a table, it also reports each file that the service's user cannot read, with the command that gives the access. If there are errors, the command "
    "prints each error with the line and the key, and the exit status is 1. If there are no errors, the command prints a summary. `punto doctor` checks what runs."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the subcommand takes."""
    parser.add_argument(
        "--as",
        dest="user",
        metavar="USER",
        help="the user of the table's service, who must be able to use its files (default: the user punto-NAME of the unit for "
        "NAME.toml, if this machine has it, or else the user who runs the command)",
    )
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument(
        "file",
        nargs="*",
        default=[],
        type=Path,
        metavar="FILE",
        help="the files to check: a table's configuration, a display's, a Game Manager's, or a house's theme",
    )
    which.add_argument(
        "--game",
        metavar="FILE",
        help="the game to check: a game file, or the name of a game that ships with punto",
    )


def main(args: argparse.Namespace) -> int:
    """Check the files; 1 if one of them cannot be used."""
    try:
        if args.game is None:
            summary = summaries(args.file, args.user)
        else:
            game = _checked(args.game, None)
            summary = [*_game(game), *_name_warnings(game), *_edge_warnings(game)]
    except ConfigError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write("".join(f"{line}\n" for line in summary))
    return 0


def summaries(paths: Sequence[Path], user: str | None = None) -> list[str]:
    """Summarise all files, as services that run as `user`, or as the users of their units.

    Raises:
        ConfigError: with the problems of all files, or of tables that cannot be on one PC or that the authority of their meter refuses.
    """
    summary: list[str] = []
    problems: list[Problem] = []
    tables: list[tuple[Path, ServiceConfig]] = []
    for path in paths:
        try:
            summary += ["", *_summary(path)] if summary else _summary(path)
            found = load_configs(path) if "table" in read(path).document else ()
            tables += [(path, each) for each in found]
            on_this_machine = _on_this_machine(path, found, user)
            summary += on_this_machine.warnings
            problems += on_this_machine.problems
        except ConfigError as error:
            problems += error.problems
    problems += doubles_of_files(tables)
    if not problems:
        problems = [
            Problem(message, str(tables[number][0]), key="progressive.authority")
            for number, message in link_problems([config for _, config in tables])
        ]
    if problems:
        raise ConfigError(problems)
    return summary


class _OnThisMachine(NamedTuple):
    """What the services of a file lack on this machine: what keeps them from a start, and what does not."""

    problems: list[Problem]
    warnings: list[str]


def _on_this_machine(path: Path, configs: Sequence[ServiceConfig], name: str | None) -> _OnThisMachine:
    """Whether the service's user can use its files, and whether its group is there.

    If the user is known, this is the table's PC, and what keeps the service from a start is a problem. Otherwise it is a warning,
    because the file may be for another machine.
    """
    found = _OnThisMachine([], [])
    known = unit_user(path) if name is None else _user(name)
    user = User.here() if known is None else known

    def report(key: str, message: str, *, stops: bool) -> None:
        if known is not None and stops:
            file = read(path)
            found.problems.append(
                file.problem(tuple(key.split(".")), message) if key else Problem(message, str(path))
            )
        else:
            found.warnings.append(f"warning: {key or path}{' ' if key else ': '}{message}")

    for config in configs:
        if (group := missing_group(config)) is not None:
            message = (
                f"{group}: this machine has no such group: run `groupadd --system {group}`, or write another"
            )
            report("operator.group", message, stops=True)
        for need, stands in obstacles(config, path, user):
            where = need.path if stands.path == need.path else f"{need.path}, below {stands.path}"
            what = "write to" if need.access & os.W_OK else "read"
            message = f"{where}: the user {user.name} cannot {what} it: run `{stands.remedy}`"
            if not need.stops_the_table:
                message += f". The table goes on without its {need.key.partition('.')[0].replace('_', ' ')}"
            report(need.key, message, stops=need.stops_the_table)
    return found


def _user(name: str) -> User:
    try:
        return User.named(name)
    except LookupError:
        raise ConfigError([Problem(f"--as {cut(name)}: this machine has no such user")]) from None


def _summary(path: Path) -> Iterator[str]:
    """Summarise a table's configuration, a display's, a Game Manager's, or a house's theme. Their sections distinguish them."""
    keys = read(path).document.keys()
    if "table" in keys or "wagers" in keys:
        yield from _tables(load_configs(path), path.parent)
    elif "display" in keys:
        yield from _display(path)
    elif "store" in keys:
        yield from _game_manager(path)
    else:
        from punto.displays.house import HouseFile, read_house  # noqa: PLC0415 - as for a display

        if not keys & HouseFile.model_fields.keys():
            message = (
                "the file is not a configuration: a table's configuration has [table], a display's has [display], and a Game "
                "Manager's has [store]"
            )
            raise ConfigError([Problem(message, str(path))])
        read_house(path)
        yield f"house     {path}: a theme for a display's [display] house"


def _tables(configs: Sequence[ServiceConfig], folder: Path) -> Iterator[str]:
    """Each table, and then the warnings of all: with the tables that they are of, if there are several."""
    warnings: dict[str, list[str]] = {}
    for config in configs:
        if config is not configs[0]:
            yield ""
        game = _checked(config.table.game, folder)
        yield from (*_config(config), *_game(config.game), *_rules(config))
        of_games = (*_name_warnings(game), *_edge_warnings(config.game))
        for each in (*_warnings(config), *_advice(config), *of_games):
            warnings.setdefault(each, []).append(config.table.id)
    if len(configs) == 1:
        yield from warnings
        return
    yield ""
    for each, tables in warnings.items():
        kind, _, text = each.partition(": ")
        yield f"{kind}: {these(tables)}: {text}"


@cache
def _checked(name: str, folder: Path | None) -> Game:
    """The game. If the odds are installed, its rules on ranks and suits are checked too; a service does not do that."""
    file = game_file(name, folder)
    game = game_of(file)
    if not _WITH_ODDS:
        return game
    from punto.odds.checking import never_deciding  # noqa: PLC0415 - an extra

    problems = [
        file.problem(place_of(number, fault), fault.message) for number, fault in never_deciding(game)
    ]
    if problems:
        raise ConfigError(problems)
    return game


def _config(config: ServiceConfig) -> Iterator[str]:
    table, shoe, mqtt = config.table, config.shoe, config.mqtt
    yield f"table     {table.id}, {table.name!r}, {table.seats} seats, amounts in minor units of {table.currency}"
    if table.smallest_chip > 1:
        yield f"chips     from {in_words(table.smallest_chip, table.currency)}"
    yield f"cards     {'keyed by the dealer' if shoe is None else f'read by the shoe at {shoe.port}'}"
    if config.jurisdiction is None:
        yield 'law       not checked: name a jurisdiction, such as law = "washington" in [jurisdiction]'
    for rule in config.law.in_force:
        yield f"law       {rule.limit.replace('_', ' ')} {rule.value} ({rule.source})"
    yield f"record    {config.record.path}"
    topics = (
        "none: nothing is published"
        if mqtt is None
        else f"{mqtt.host}:{mqtt.port}, topics {mqtt.base}/{table.id}/..."
    )
    yield f"mqtt      {topics}"
    if config.accounts is not None:
        kept = "" if config.accounts.house is None else ", a copy of the house's accounts"
        yield f"accounts  {config.accounts.path}{kept}"
    if config.operator is not None:
        yield f"operator  {config.operator.socket}, mode {config.operator.mode}"
    console = config.console
    if console is not None:
        scheme = "http" if console.certificate is None else "https"
        yield f"console   {scheme}://{console.host}:{console.port}"
    if config.progressive is not None:
        yield from _progressive(config)
    if config.edge is not None:
        yield f"edge      published to surveillance, alarm above {config.edge.alarm}"
    yield f"digest    {config.digest()}"


def _display(path: Path) -> Iterator[str]:
    from punto.displays.options import read_options  # noqa: PLC0415 - a table's configuration does not need it

    options = read_options(path, {})
    page, mqtt = options.display, options.mqtt
    yield f"tables    {', '.join(page.tables)}, topics {mqtt.base}/... of the broker at {mqtt.host}:{mqtt.port}"
    yield f"pages     at {page.host}:{page.port}: {page.layout}, {page.theme}, {page.lang}"
    yield f"house     {page.house or 'the default theme'}"
    yield from mqtt.warnings()


def _game_manager(path: Path) -> Iterator[str]:
    config = load_game_manager(path)
    mqtt, pages = config.mqtt, config.pages
    tables = ", ".join(config.floor.tables) or "all tables"
    yield f"tables    {tables}, topics {mqtt.base}/... of the broker at {mqtt.host}:{mqtt.port}"
    yield f"store     {config.store.url}"
    scheme = "http" if pages.certificate is None else "https"
    yield f"pages     {scheme}://{pages.host}:{pages.port}"
    yield f"accounts  {'none: nobody is asked to sign on' if config.accounts is None else config.accounts.path}"
    yield from config.warnings()


def _progressive(config: ServiceConfig) -> Iterator[str]:
    settings = config.settings().progressive
    if settings is None:
        return
    yield (
        f"meter     {settings.progressive}, pays {settings.wager.title!r} by {settings.procedure.title()}: seed "
        f"{written(settings.seed, config.table.currency)}, takes in {settings.contribution}, reserve {settings.reserve} of each wager"
    )


def _advice(config: ServiceConfig) -> Iterator[str]:
    """Settings that the sheet advises against, with the sheet's words."""
    settings = config.settings().progressive
    for each in () if settings is None else advice(settings, config.table.currency):
        yield f'{"WARNING" if each.loud else "warning"}: progressive: {each.text}. Sheet 000: "{each.sheet}"'


def _game(game: Game) -> Iterator[str]:
    dealt = "face up" if game.dealt == "face_up" else "face down"
    variation = ", a variation" if game.variation else ""
    yield f"game      {game.name}, {game.title!r} (sheet {game.sheet}): {game.decks} decks, dealt {dealt}{variation}"
    yield "wagers    each with its limits in minor units"
    width = max(len(wager.name) for wager in game.wagers)
    for wager in game.wagers:
        yield f"  {wager.name:<{width}}  {_limits(wager.limits)}"


def _rules(config: ServiceConfig) -> Iterator[str]:
    """The rules that the house has chosen, each with the clause of the sheet that leaves it to the house."""
    chosen = [
        (wager, f"{left.rule} = {json.dumps(value)}", left.clause)
        for wager, rules in config.rules.items()
        for left in config.game.wager(wager).house
        if (value := getattr(rules, left.rule)) is not None
    ]
    if chosen:
        yield "rules     that the sheet leaves to the house, as chosen here"
        wagers, rules = (max(len(each[n]) for each in chosen) for n in (0, 1))
        yield from (f"  {wager:<{wagers}}  {rule:<{rules}}  {clause}" for wager, rule, clause in chosen)


def _limits(limits: Limits) -> str:
    upwards = (
        f"{limits.minimum} and more" if limits.maximum is None else f"{limits.minimum} to {limits.maximum}"
    )
    share = "" if limits.maximum_of_base is None else f", at most {limits.maximum_of_base} of the base wager"
    return f"{upwards}{share}" if limits.step == 1 else f"{upwards} in steps of {limits.step}{share}"


def _name_warnings(game: Game) -> Iterator[str]:
    if game.name in shipped_games() and game != load_game(game.name):
        yield (
            f"warning: {game.name} is the name of another game that ships with punto: "
            "give this game another name, so that records and messages can distinguish the two games"
        )


@cache
def _edge_warnings(game: Game) -> tuple[str, ...]:
    """Wagers that favour the players in a full shoe. Tables of a file that play the same game share the result."""
    return tuple(_favourable(game))


def _favourable(game: Game) -> Iterator[str]:
    if not _WITH_ODDS:
        yield "note: odds and unreachable rules are not checked: install punto[odds]"
        return
    from punto.odds.composition import Composition  # noqa: PLC0415 - an extra
    from punto.odds.exact import GameOdds  # noqa: PLC0415

    try:
        odds = GameOdds(game).odds(Composition.of_decks(game.decks))
    except ValueError as error:
        yield f"warning: the edges cannot be computed: {error}"
        return
    for name, its in odds.items():
        if its.edge < 0:
            yield f"warning: {name} favours the players by {float(-100 * its.edge):.4f}%{_remedy(name)}"


def _remedy(name: str) -> str:
    """What a house can do about a wager that favours the players. The name of a position has its base wagers."""
    wager, _, beside = name.partition(":")
    if "+" not in beside:
        return ": compare its pays (`punto odds`) with its sheet, and correct the game file"
    bases = " and ".join(beside.split("+"))
    return (
        f": a seat with wagers on {bases} wins {wager} if either of these base wagers wins. No sheet forbids these wagers: make a "
        "house "
        "rule against them, set high minimums, or watch such seats (docs/explanation/progressive.md, A seat with both base "
        "wagers)"
    )


def _warnings(config: ServiceConfig) -> Iterator[str]:
    """Valid settings that are likely to cause problems."""
    yield from _device_warnings(config)
    yield from _folder_warnings(config)
    yield from _accounts_warnings(config.accounts)
    if config.console is not None:
        yield from _console_warnings(config.console)
    if config.keypad is not None and config.keypad.input is not None:
        yield from _key_warnings(config.keypad)
    if config.progressive is not None:
        yield from _link_warnings(config.table.id, config.progressive)
    if config.progressive is None:
        for wager in config.game.wagers:
            if wager.progressive is not None:
                yield (
                    f"warning: {wager.name} pays from a meter, but the table has no meter: write [progressive]. Without this "
                    "section, awards are settled without books"
                )
    yield from _rounding_warnings(config.game)
    yield from _unpaid_warnings(config.game, config.table.currency)
    if config.mqtt is not None:
        yield from config.mqtt.warnings()
        if (file := config.mqtt.key_file(config.table.id)) is not None:
            yield from secret_warnings(file, "mqtt.key_folder", ": make it with `punto device-key`")


def _rounding_warnings(game: Game) -> Iterator[str]:
    """Wagers that cannot be paid exactly in the table's chips, so that their house edge is not that of the odds."""
    unit = game.rounding.unit
    for wager in game.wagers if unit > 1 else ():
        shares = {rule.pay.odds * (rule.pay.commission or 1) for rule in wager.rules}
        exact = lcm(wager.limits.step, *(unit * each.denominator for each in shares))
        if any(wager.limits.step * each % unit for each in shares):
            yield (
                f"warning: {wager.name} is paid in multiples of {unit}, and pays or commissions of its amounts are not, so they are "
                f"rounded and its house edge changes: write step = {exact} in [limits.{wager.name}]"
            )


def _unpaid_warnings(game: Game, currency: str) -> Iterator[str]:
    """Wagers whose limits allow an amount that wins and is paid nothing.

    A single minor unit of a currency with decimals, such as a cent, is no chip of a table, so a wager without a minimum that only
    this amount wins nothing on is not worth a warning.
    """
    coin = decimals_of(currency) > 0
    for wager in game.wagers:
        for each in unpaid(wager, game.rounding):
            if coin and each.amount == 1 and each.paid_from == 2:
                continue
            what = (
                "commission takes the whole win" if each.rule.pay.commission else "pay is rounded to nothing"
            )
            remedy = (
                "write a larger maximum, or a smaller smallest_chip"
                if each.paid_from is None
                else f"write minimum = {each.paid_from} in [limits.{wager.name}]"
            )
            yield (
                f"warning: {wager.name} wins and pays nothing if {in_words(each.amount, currency)} is wagered and {each.rule.name} "
                f"decides ({each.rule.pays}), because the {what}: {remedy}"
            )


def _device_warnings(config: ServiceConfig) -> Iterator[str]:
    """Devices that another one could pass as, or whose port or key can be missing."""
    for section, device in config.devices():
        path = device.port or getattr(device, "input", None)
        if path is not None and is_network(path):
            yield from _network_warnings(section, device)
        elif path is not None and not Path(path).exists():
            there = _listed(device.port is not None)
            key = "port" if device.port is not None else "input"
            yield f"warning: {section}.{key} {path} does not exist: plug the device in, or correct the path; {there}"
    if config.shoe is not None and not (
        is_network(config.shoe.port) or config.shoe.port.startswith("/dev/serial/by-id/")
    ):
        yield (
            f"warning: shoe.port {config.shoe.port} is not under /dev/serial/by-id, so it may belong to another device "
            "after the next restart: write the path under /dev/serial/by-id"
        )
    for section, device in config.devices():
        if device.key_file is not None:
            yield from secret_warnings(
                device.key_file, f"{section}.key_file", ": make it with `punto device-key`"
            )
        elif device.link_version == 1:
            yield (
                f"warning: {section}: link_version = 1, so another device could replace this one unnoticed: write key_file if "
                "this "
                "device can have a key (docs/how-to/add-a-device.md)"
            )


def _network_warnings(section: str, device: DeviceConfig) -> Iterator[str]:
    """A line in the network that has no proof of who is at its end."""
    if device.key_file is None:
        yield (
            f"warning: {section}.port is in the network, and the device has no key, so anybody in that network can send what a "
            f"{section.replace('_', ' ')} sends: write key_file, or give the line a network of its own"
        )


def _listed(serial: bool) -> str:
    """The serial ports or the input devices that are there."""
    from punto.drivers import cable  # noqa: PLC0415 - not for `--help`, or for a game
    from punto.drivers.retried import listing  # noqa: PLC0415

    return listing(cable.BY_ID if serial else INPUT_BY_ID)


def _link_warnings(table: str, progressive: ProgressiveConfig) -> Iterator[str]:
    """A simulation that signs nothing, and keys that can be missing."""
    if progressive.authority is not None and progressive.key_folder is None:
        yield (
            "warning: progressive: what the tables ask of the meter is not signed, so anyone with a table's password at the broker can "
            "move the meter: write key_folder (docs/how-to/link-tables.md)"
        )
    for _, file in progressive.key_files(table):
        yield from secret_warnings(file, "progressive.key_folder", ": make it with `punto device-key`")


def _folder_warnings(config: ServiceConfig) -> Iterator[str]:
    """Missing folders. A service does not make them, because the path may be wrong. systemd makes those in /run."""
    places = [("record.path", config.record.path)]
    if config.operator is not None and not config.operator.socket.is_relative_to("/run"):
        places.append(("operator.socket", config.operator.socket))
    for key, path in places:
        if not path.parent.is_dir():
            yield f"warning: {key} {path}: the folder {path.parent} does not exist: make it, or correct the path"


def _key_warnings(keypad: KeypadConfig) -> Iterator[str]:
    """Keys that no input device has. Without evdev, which has the names, `punto run` says what to install."""
    try:
        from punto.drivers.input_device import key_names  # noqa: PLC0415 - an extra
    except ImportError:
        return
    known = set(key_names().values())
    for keys in keypad.keys:
        for key in keys.split(" "):
            if key not in known:
                what = f"no input device has a key {key}{meant(key, known)}"
                yield f"warning: keypad.keys: {what}: {keys!r} is never pressed"


def _accounts_warnings(accounts: AccountsConfig | None) -> Iterator[str]:
    if accounts is None:
        yield (
            "warning: without accounts, nobody can give a supervisor's order, such as a shoe change: write [accounts]"
        )
    elif not accounts.path.is_file():
        yield f"warning: accounts.path {accounts.path} does not exist: make an account with `punto operators`"
    elif accounts.path.stat().st_mode & 0o077:
        yield f"warning: accounts.path {accounts.path} is open to other users of this machine: chmod go= {accounts.path}"


def _console_warnings(console: ConsoleConfig) -> Iterator[str]:
    for key, path in (("certificate", console.certificate), ("key", console.key)):
        if path is not None and not path.is_file():
            yield f"warning: console.{key} {path} does not exist"
    if console.key is not None and console.key.is_file() and console.key.stat().st_mode & 0o007:
        yield f"warning: console.key {console.key} is open to every user of this machine: chmod o= {console.key}"
