"""`punto broker-users`: the broker's users of a house's tables, their passwords and what each may do."""

import argparse
import base64
import hashlib
import secrets
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from punto.commands.access_lists import HouseTable, bridges, house_access_list, users_of
from punto.configs.problems import ConfigError, Problem
from punto.configs.text_file import read_text
from punto.controller.config.file import ServiceConfig
from punto.controller.config.tables import load_configs
from punto.messages.discovery import discovery_topics
from punto.messages.topics import Topics, house_accounts, of_authority, of_linked
from punto.messages.topics import progressive as meter
from punto.runtime.made_files import FOR_ALL, OWN, SHARED, own_folder, write_file
from punto.runtime.secret_file import read_secret

HELP: Final = (
    "Make the broker's users for these tables. Each table has one user for its service, one for its displays, and one for each "
    "seat. The user `displays` is for a display that shows several tables, the user `game-manager` is for the "
    "house's Game Manager, and the user `surveillance` is for surveillance. "
    "DIR/punto.acl has the topics that each user may read and write. DIR/punto.passwd has the password hashes for Mosquitto. "
    "DIR/passwords has one file for each user, with the password of this user; only you can read these files. Existing "
    "passwords stay the "
    "same. With --node, DIR/bridges has one file for each table, which connects the table's own Mosquitto with each node of the "
    "house's broker. To add a table, run the command again with the configurations of all tables, old and new."
)
ROUNDS: Final = 1000
"""How often a password is hashed. It has 192 random bits, so more would only make connections slower."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the subcommand takes."""
    parser.add_argument(
        "file",
        nargs="+",
        type=Path,
        metavar="FILE",
        help="the configuration of a table or of several tables, with a section [mqtt]",
    )
    parser.add_argument(
        "--out",
        required=True,
        type=Path,
        metavar="DIR",
        help="the folder for the files; it is made if it does not exist",
    )
    parser.add_argument(
        "--node",
        action="append",
        default=[],
        metavar="HOST",
        help="a node of the house's broker; give this option once for each node",
    )


def main(args: argparse.Namespace) -> int:
    """Write the files; 1 on an error."""
    try:
        users = make_users(args.file, args.out, args.node)
    except ConfigError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except OSError as error:
        sys.stderr.write(f"punto broker-users: {error.filename} cannot be written: {error.strerror}\n")
        return 1
    sys.stdout.writelines(f"{user}  {args.out / 'passwords' / user}\n" for user in users)
    return 0


def make_users(files: Sequence[Path], out: Path, nodes: Sequence[str] = ()) -> Sequence[str]:
    """Write the files of the broker's users of all tables in these configurations, and return the users.

    Raises:
        ConfigError: a configuration or an existing password cannot be used.
        OSError: a file cannot be written.
    """
    tables = [_table(config, path) for path in files for config in load_configs(path)]
    users = users_of(tables)
    passwords, hashes = out / "passwords", out / "punto.passwd"
    own_folder(passwords)
    known = dict(line.partition(":")[::2] for line in _lines(hashes))
    lines = [f"{user}:{hashed(_password(passwords / user), known.get(user, ''))}\n" for user in users]
    write_file(hashes, "".join(lines).encode(), OWN)
    write_file(out / "punto.acl", house_access_list(tables).encode(), SHARED)
    if nodes:
        (out / "bridges").mkdir(exist_ok=True)
    for table in tables if nodes else ():
        bridge = out / "bridges" / f"{table.topics.table}.conf"
        write_file(bridge, bridges(table, nodes).encode(), FOR_ALL)
    return users


def _lines(path: Path) -> list[str]:
    return read_text(path).splitlines() if path.exists() else []


def _table(config: ServiceConfig, path: Path) -> HouseTable:
    if config.mqtt is None:
        raise ConfigError(
            [
                Problem(
                    "is missing, so this table has no broker: add the section [mqtt]", str(path), key="mqtt"
                )
            ]
        )
    own = Topics(config.mqtt.base, config.table.id)
    writes: tuple[str, ...] = ()
    if config.mqtt.discovery is not None:
        writes = (discovery_topics(config.mqtt.discovery_prefix, config.table.id),)
    return HouseTable(own, config.table.seats, tuple(_read_of_others(config, own)), writes)


def _read_of_others(config: ServiceConfig, own: Topics) -> Iterator[str]:
    """The topics of other services that this one reads: the house's accounts, and those of its progressive."""
    if config.accounts is not None and config.accounts.house is not None:
        yield house_accounts(own.base)
    progressive = config.progressive
    if progressive is None:
        return
    if progressive.authority not in {None, own.table}:
        yield from of_authority(Topics(own.base, progressive.authority), own.table, progressive.id)
        return
    yield Topics(own.base, "+")(meter(progressive.id))  # whoever else keeps this meter
    for table in progressive.tables:
        yield from of_linked(Topics(own.base, table))


def _password(path: Path) -> str:
    """The password in this file, made if it is not there."""
    if not path.exists():
        write_file(path, f"{secrets.token_urlsafe(24)}\n".encode(), OWN)
    return read_secret(path, "password", "--out")


def hashed(password: str, known: str = "") -> str:
    """A password as Mosquitto keeps it: PBKDF2 with SHA-512, its rounds, salt and hash. `known` stays if it is of this password."""
    salt = secrets.token_bytes(12)
    with suppress(ValueError, IndexError):
        of_known = base64.b64decode(known.split("$")[3])
        if _with_salt(password, of_known) == known:
            return known
    return _with_salt(password, salt)


def _with_salt(password: str, salt: bytes) -> str:
    found = hashlib.pbkdf2_hmac("sha512", password.encode(), salt, ROUNDS)
    return "$".join(["", "7", str(ROUNDS), *(base64.b64encode(each).decode() for each in (salt, found))])
