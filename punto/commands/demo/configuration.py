"""The configuration of a simulated table, a file as for `punto run` with free ports; and its temporary accounts."""

import atexit
import json
import secrets
import socket
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, cast

from argon2 import PasswordHasher

from punto.baccarat.wagers.definition import Limits
from punto.commands.demo.options import TableOptions, meter_of
from punto.commands.device_key import make_key
from punto.configs.game_files import load_game
from punto.configs.problems import ConfigError, Problem
from punto.controller.accounts.accounts import Accounts
from punto.controller.accounts.roles import Role
from punto.controller.config.file import ServiceConfig, load_config
from punto.controller.config.sections import OperatorConfig
from punto.messages.building import timestamp
from punto.runtime.broker_login import BrokerConfig
from punto.runtime.made_files import OWN, write_file

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
host = {host}
port = {port}
base = {base}

[operator]
socket = {socket}

[accounts]
path = {accounts}

[console]
port = {console}
idle_minutes = 480
notice = {notice}
"""
_DEALERS_TABLE: Final = 'betting_closes = "order"\nnext_coup = "order"\n'
_PROGRESSIVE_CONFIG: Final = """\
[progressive]
id = {id}
wager = {wager}
procedure = "{procedure}"
"""
_METER_CONFIG: Final = 'reserve = "2%"\nbase_wagers = "recorded"\n'
_COIN_SPOT_CONFIG: Final = "[coin_spot]\nport = {port}\nseats = [1, 2, 3, 4, 5, 6, 7]\n"
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


def write_config(options: TableOptions, accounts: Path) -> ServiceConfig:
    """Write this table's configuration, and read it as `punto run` does.

    Raises:
        ConfigError: the game cannot be read, or the options do not fit the game.
    """
    game, folder = options.game, options.folder
    own = load_game(game)
    metered = meter_of(own)
    if metered is None and options.procedure is not None:
        message = f"--procedure needs a progressive, which {own.name} does not have: remove --procedure, or add --game progressive"
        raise ConfigError([Problem(message)])
    wagers = {wager.name: wager for wager in own.wagers}
    limits = "".join(
        f"[limits.{name}]\nminimum = {low}\nmaximum = {high}\nstep = {low}\n\n"
        for name, (low, high) in _LIMITS.items()
        if name in wagers and wagers[name].limits == Limits()
    )
    # By the approval letter, a shoe may not read a variation that is dealt face down.
    by_hand = bool(options.linked) or (own.variation and own.dealt == "face_down")
    cards = 'cards = "keyed"\n' if by_hand else f"\n[shoe]\nport = {_written(folder / 'shoe')}\n"
    folder.mkdir(exist_ok=True)
    path = config_of(folder)
    text = _CONFIG.format(
        table=options.table,
        name=json.dumps(f"Punto {options.table.replace('-', ' ').title()}"),
        game=_written(Path(game).absolute() if Path(game).is_file() else game),
        cards=_DEALERS_TABLE + cards if options.attended or metered is not None else cards,
        limits=limits,
        progressive="" if metered is None else _progressive_config(metered, options),
        record=_written(folder / "table.db"),
        host=_written(options.broker.host),
        port=options.broker.port,
        base=_written(options.broker.base),
        socket=_written(folder / "operator.sock"),
        console=port_for(options.console),
        notice=json.dumps(_PRACTICE + (_BY_HAND if by_hand else _BY_SHOE) if options.attended else ""),
        accounts=_written(accounts),
    )
    write_file(path, text.encode(), OWN)
    return load_config(path)


def _written(path: Path | str) -> str:
    return json.dumps(str(path))


def _progressive_config(wager: str, options: TableOptions) -> str:
    procedure = options.procedure or "aquarius"
    text = _PROGRESSIVE_CONFIG.format(id=_written(options.meter), wager=_written(wager), procedure=procedure)
    if options.authority is not None:
        keys = _keys_of(options)
        text += f"authority = {_written(options.authority)}\nkey_folder = {_written(keys)}\n"
    if options.authority in {None, options.table}:
        text += _METER_CONFIG
    if options.linked:
        return f"{text}tables = {json.dumps(options.linked)}\n"  # nobody deals at the authority
    text += _COIN_SPOT_CONFIG.format(port=_written(options.folder / COIN_SPOT))
    if options.attended:  # there is no such device: its orders are given at the console
        return text
    link, section = (
        (KEYPAD, _KEYPAD_CONFIG) if procedure == "aquarius" else (CARD_READER, _CARD_READER_CONFIG)
    )
    return text + section.format(port=_written(options.folder / link))


def _keys_of(options: TableOptions) -> Path:
    """The folder with the keys of all links, and those that the table or authority needs in it."""
    keys = options.folder.parent / "keys"
    keys.mkdir(exist_ok=True)
    for table in options.linked or (options.table,):
        with suppress(FileExistsError):  # the other end has made it
            make_key(keys / f"{table}.key")
    return keys


def config_of(folder: Path) -> Path:
    """The configuration in a table's folder."""
    return folder / "table.toml"


def mqtt_of(config: ServiceConfig) -> BrokerConfig:
    """The broker's settings, which every simulated table has."""
    return cast(BrokerConfig, config.mqtt)


def is_dealt(config: ServiceConfig) -> bool:
    """Whether somebody deals there, unlike at the authority of a meter."""
    return config.progressive is None or not config.progressive.tables


def socket_of(config: ServiceConfig) -> Path:
    """The operators' socket."""
    return cast(OperatorConfig, config.operator).socket


# --- accounts


@dataclass(frozen=True, slots=True)
class Secrets:
    """The temporary secrets of this run: the password of all accounts, and the number of the supervisor's card."""

    password: str
    card: str


def make_accounts(path: Path, configs: Sequence[ServiceConfig], *, attended: bool = False) -> Secrets:
    """Make the temporary accounts of this run, for all tables."""
    passing = Secrets(secrets.token_urlsafe(9), str(secrets.randbelow(9 * 10**15) + 10**15))
    people: dict[str, tuple[Role, ...]] = {SUPERVISOR: (Role.SUPERVISOR,)}
    for config in configs:
        played = {} if config.progressive is None else _PLAYED
        people |= {name: (role,) for name, role in (people_of(config) | played).items()}
    if attended:
        people[TRAINEE] = (Role.DEALER, Role.SUPERVISOR)
    accounts = Accounts.open(path)
    try:
        # Simulated people give their password with each order. A random one needs no costly hash.
        hash_ = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1).hash(passing.password)
        for name, roles in people.items():
            accounts.add(name, roles, passing.password, timestamp(datetime.now(UTC)), hash_=hash_)
        if any(config.card_reader is not None for config in configs):
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
    return wanted if 0 < wanted <= LAST_PORT and is_free(wanted) else free_port()


def free_port() -> int:
    """A port on which no program on this machine listens, another one at each call.

    It stays bound until this process ends, so that no other program gets it before the part that is to listen there: Linux
    lets several sockets that all set SO_REUSEADDR, as servers do, bind a port on which none listens.
    """
    held = socket.socket()
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held.bind(("127.0.0.1", 0))
    atexit.register(held.close)
    port: int = held.getsockname()[1]
    return port


def is_free(port: int) -> bool:
    """Whether no program on this machine listens on the port."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        return probe.connect_ex(("127.0.0.1", port)) != 0
