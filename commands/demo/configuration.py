"""The configuration of a table of the demo, a file as for `punto run` with free ports; and its temporary accounts."""

import argparse
import json
import secrets
import socket
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, cast

from punto.baccarat.progressive.settings import Procedure
from punto.baccarat.wagers.definition import Limits
from punto.configs.game_files import load_game
from punto.configs.problems import ConfigError, Problem
from punto.controller.accounts.accounts import Accounts
from punto.controller.accounts.passwords import hashed
from punto.controller.accounts.roles import Role
from punto.controller.broker_login import BrokerConfig
from punto.controller.config.file import ServiceConfig, load_config
from punto.controller.config.sections import OperatorConfig
from punto.controller.messages.building import timestamp

LAST_PORT: Final = 65535
_LIMITS: Final = {"player": (500, 50_000), "banker": (500, 50_000), "tie": (500, 10_000)}
_CONFIG: Final = """\
version = 1

[table]
id = "{table}"
name = {name}
game = {game}
simulation = true
{cards}
{limits}
{progressive}
[record]
path = {record}

[mqtt]
port = {broker}

[operator]
socket = {socket}

[accounts]
path = {accounts}

[console]
port = {console}
idle_minutes = 480
notice = {notice}
"""
PROGRESSIVE: Final = "dragon"
_DEALERS_TABLE: Final = 'betting_closes = "order"\nnext_coup = "order"\n'
_PROGRESSIVE_CONFIG: Final = """\
[progressive]
id = "{id}"
wager = {wager}
reserve = "2%"
base_wagers = "recorded"
procedure = "{procedure}"

[coin_spot]
port = {coin_spot}
seats = [1, 2, 3, 4, 5, 6, 7]

{device}
"""
# The devices' links in the demo's folder.
COIN_SPOT, KEYPAD, CARD_READER = "coin-spot", "keypad", "card-reader"
_KEYPAD_CONFIG: Final = "[keypad]\nport = {port}\nkey_switch = true\n"
_CARD_READER_CONFIG: Final = "[card_reader]\nport = {port}\n"
_PEOPLE: Final = {"dealer": Role.DEALER, "supervisor": Role.SUPERVISOR}
_AT_THE_GAME_MANAGER: Final = {"executive": Role.EXECUTIVE, "auditor": Role.AUDITOR}
TRAINEE: Final = "trainee"
"""The dealer and supervisor of an attended table."""
_PRACTICE: Final = "Practice: you are dealer and supervisor, and the players are simulated. "
_BY_SHOE: Final = "The shoe deals when you close betting."
_BY_HAND: Final = "Key each card that you deal."
# The accounts of the people whom the demo simulates. An account has one session, so spectators use the other accounts.
DEALER, SUPERVISOR, EXECUTIVE, SECOND = "demo-dealer", "demo-supervisor", "demo-executive", "demo-second"
_PLAYED: Final = {
    DEALER: Role.DEALER,
    SUPERVISOR: Role.SUPERVISOR,
    EXECUTIVE: Role.EXECUTIVE,
    SECOND: Role.EXECUTIVE,
}


@dataclass(frozen=True, slots=True)
class Place:
    """A table of the demo: its id, its folder, and the ports of its console and of the broker."""

    table: str
    folder: Path
    console: int
    broker: int


def places(args: argparse.Namespace, folder: Path) -> list[Place]:
    """The tables' places: a single table in the folder itself, several tables in a folder for each."""
    broker = _free_port()
    if args.tables == 1:
        return [Place("demo", folder, port_for(args.console_port), broker)]
    found = []
    for number in range(args.tables):
        table = f"demo-{number + 1}"
        (folder / table).mkdir(exist_ok=True)
        console = port_for(args.console_port and args.console_port + number)
        found.append(Place(table, folder / table, console, broker))
    return found


def write_config(args: argparse.Namespace, place: Place, accounts: Path) -> ServiceConfig:
    """Write this table's configuration, and read it as `punto run` does."""
    game: str = args.game
    own = load_game(game)
    metered = next((wager.name for wager in own.wagers if wager.progressive is not None), None)
    if metered is None and args.procedure is not None:
        message = f"--procedure needs a progressive, which {own.name} does not have: remove --procedure, or add --game progressive"
        raise ConfigError([Problem(message)])
    wagers = {wager.name: wager for wager in own.wagers}
    limits = "".join(
        f"[limits.{name}]\nminimum = {low}\nmaximum = {high}\nstep = {low}\n\n"
        for name, (low, high) in _LIMITS.items()
        if name in wagers and wagers[name].limits == Limits()
    )
    # By the approval letter, a shoe may not read a variation that is dealt face down.
    by_hand = own.variation and own.dealt == "face_down"
    cards = 'cards = "keyed"\n' if by_hand else f"\n[shoe]\nport = {_written(place.folder / 'shoe')}\n"
    path = place.folder / "table.toml"
    path.write_text(
        _CONFIG.format(
            table=place.table,
            name=json.dumps(f"Punto {place.table.replace('-', ' ').title()}"),
            game=_written(Path(game).absolute() if Path(game).is_file() else game),
            cards=_DEALERS_TABLE + cards if args.attended or metered is not None else cards,
            limits=limits,
            progressive="" if metered is None else _progressive_config(metered, args, place.folder),
            record=_written(place.folder / "table.db"),
            broker=place.broker,
            socket=_written(place.folder / "operator.sock"),
            console=place.console,
            notice=json.dumps(_PRACTICE + (_BY_HAND if by_hand else _BY_SHOE) if args.attended else ""),
            accounts=_written(accounts),
        ),
        encoding="utf-8",
    )
    return load_config(path)


def _written(path: Path | str) -> str:
    return json.dumps(str(path))


def _progressive_config(wager: str, args: argparse.Namespace, folder: Path) -> str:
    procedure: Procedure = args.procedure or "aquarius"
    aquarius = procedure == "aquarius"
    link, section = (KEYPAD, _KEYPAD_CONFIG) if aquarius else (CARD_READER, _CARD_READER_CONFIG)
    return _PROGRESSIVE_CONFIG.format(
        id=PROGRESSIVE,
        wager=json.dumps(wager),
        procedure=procedure,
        coin_spot=_written(folder / COIN_SPOT),
        # At an attended table there is no such device: its orders are given at the console.
        device="" if args.attended else section.format(port=_written(folder / link)),
    )


def mqtt_of(config: ServiceConfig) -> BrokerConfig:
    """The broker's settings, which every table of the demo has."""
    return cast(BrokerConfig, config.mqtt)


def socket_of(config: ServiceConfig) -> Path:
    """The operators' socket."""
    return cast(OperatorConfig, config.operator).socket


# --- accounts


@dataclass(frozen=True, slots=True)
class Secrets:
    """The temporary secrets of this run: the password of all accounts, and the number of the supervisor's card."""

    password: str
    card: str


def make_accounts(path: Path, configs: list[ServiceConfig], *, attended: bool) -> Secrets:
    """Make the temporary accounts of this run, for all tables."""
    passing = Secrets(secrets.token_urlsafe(9), str(secrets.randbelow(9 * 10**15) + 10**15))
    people: dict[str, tuple[Role, ...]] = {name: (role,) for name, role in people_of(configs[0]).items()}
    people[SUPERVISOR] = (Role.SUPERVISOR,)
    if configs[0].progressive is not None:
        people |= {name: (role,) for name, role in _PLAYED.items()}
    if attended:
        people[TRAINEE] = (Role.DEALER, Role.SUPERVISOR)
    accounts = Accounts.open(path)
    try:
        hash_ = hashed(passing.password)  # one hash for all accounts, because each takes 0.1 s
        for name, roles in people.items():
            accounts.add(name, roles, passing.password, timestamp(datetime.now(UTC)), hash_=hash_)
        if configs[0].card_reader is not None:
            accounts.enroll(SUPERVISOR, passing.card)
    finally:
        accounts.close()
    return passing


def people_of(config: ServiceConfig) -> dict[str, Role]:
    """The accounts for spectators."""
    return _PEOPLE | (_AT_THE_GAME_MANAGER if config.progressive is not None else {})


# --- ports


def port_for(wanted: int) -> int:
    """This port, or a free one if it is in use or 0."""
    return wanted if 0 < wanted <= LAST_PORT and is_free(wanted) else _free_port()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def is_free(port: int) -> bool:
    """Whether no program on this machine listens on the port."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        return probe.connect_ex(("127.0.0.1", port)) != 0
