"""`punto rotate`: replace a password of the broker, a key of a device or link, or the certificate of a table's consoles.

Each step leaves files with which every program can start and connect, as far as the other end allows it, and each finds out what an
interrupted run has done. So the command can be interrupted anywhere, and run again.
"""

import argparse
import os
import secrets
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from shlex import quote
from typing import Final, NamedTuple

from punto.commands.broker_users import hashed
from punto.commands.device_key import new_key
from punto.configs.given_files import read_given
from punto.configs.problems import ConfigError, Problem
from punto.configs.toml_file import read
from punto.controller.config.file import ServiceConfig, load_config
from punto.displays.options import read_options
from punto.doctor.patient import secret_of
from punto.runtime.broker_login import BrokerConfig
from punto.runtime.made_files import OWN, new_file, write_file
from punto.runtime.secret_file import read_secret
from punto.runtime.tls import new_of, server_tls

HELP: Final = (
    "Replace a password of the broker, a key or the certificate of the consoles. The command makes the new one, writes it where it belongs with "
    "the owner and the mode of the old one, and prints what to do next, such as the units to restart. It restarts nothing itself. If "
    "it is interrupted, run it again."
)
DEVICES: Final = ("shoe", "keypad", "coin_spot", "card_reader")
LINKS: Final = {
    "progressive": "the link to the authority of the meter",
    "mqtt": "the link to the Game Manager",
}
_MOST_BYTES: Final = 4_000_000
_USERS: Final = Path("/etc/punto-broker")
_BROKERS: Final = Path("/etc/mosquitto/punto.passwd")

Step = Callable[[], object]


class Work(NamedTuple):
    """The steps of a replacement, and what people do then."""

    steps: Sequence[Step]
    then: Sequence[str]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the subcommand takes."""
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="WHAT")

    def kind(name: str, what: str, file: str) -> argparse.ArgumentParser:
        made = kinds.add_parser(name, help=what, description=what)
        made.add_argument("file", type=Path, metavar="FILE", help=file)
        return made

    what = "replace the password of a table, a display or another user of the broker"
    password = kind("password", what, "the configuration of the table or display")
    password.add_argument("--user", help="another user of the broker, such as table-1-seat-3 or surveillance")
    password.add_argument("--users", type=Path, default=_USERS, metavar="DIR", help="the folder that `punto broker-users` wrote (default: %(default)s)")  # fmt: skip
    password.add_argument("--passwords", type=Path, default=_BROKERS, metavar="FILE", help="the broker's own file of passwords (default: %(default)s)")  # fmt: skip
    what = "replace the key of a device or of a table's link"
    key = kind("key", what, "the configuration of the table, or of the authority of a meter")
    key.add_argument("which", choices=[*DEVICES, *LINKS], help="the section of the configuration that names the key")  # fmt: skip
    key.add_argument(
        "--link", metavar="TABLE", help="at an authority: the table at the other end of the link"
    )
    key.add_argument("--finish", action="store_true", help="the other end has the new key: let it replace the old one")  # fmt: skip
    what = "replace the certificate of a table's consoles, and its key"
    certificate = kind("certificate", what, "the configuration of the table")
    certificate.add_argument("--given", nargs=2, type=Path, metavar="FILE", help="a certificate and its key from the house's authority; without them, the command makes a certificate that is signed by itself")  # fmt: skip
    certificate.add_argument("--days", type=int, default=365, help="the days for which it is valid, if the command makes it (default: %(default)s)")  # fmt: skip


def main(args: argparse.Namespace) -> int:
    """Carry out the steps; 1 on an error."""
    try:
        work = {"password": _password, "key": _key, "certificate": _certificate}[args.kind](args)
        carry_out(work.steps)
    except OSError as error:
        sys.stderr.write(f"punto rotate: {error.filename}: {error.strerror}\n")
        return 1
    print(*work.then, sep="\n")
    return 0


def carry_out(steps: Sequence[Step]) -> None:
    """Do the steps in order."""
    for step in steps:
        step()


def _replaced(path: Path, content: bytes, like: Path | None = None) -> None:
    """Write a file with the owner and the mode of the one that it replaces, or of `like`."""
    known = (like or path).stat()
    with new_file(path, known.st_mode & 0o777) as file:
        os.fchown(file.fileno(), known.st_uid, known.st_gid)
        file.write(content)


# --- a password of the broker


def _password(args: argparse.Namespace) -> Work:
    """Change the broker's file first, and the program's at once after it, because the broker takes only one password of a user.

    Until the broker reads its file again, the programs that run stay connected.
    """
    login, unit = _login(args.file)
    user = args.user or login.username
    if user is None:
        raise ConfigError(
            [Problem("is missing, so this program has no password", str(args.file), key="mqtt.username")]
        )
    own = login.password_file if user == login.username else None
    made = args.users / "passwords" / user
    new = made.with_name(f"{user}.new")
    if not made.exists():
        message = f"has no password of {user}: run the command on the PC on which you ran `punto broker-users`, or name its folder with --users"
        raise ConfigError([Problem(message, str(made.parent))])

    def make() -> None:
        if not new.exists():
            write_file(new, f"{secrets.token_urlsafe(24)}\n".encode(), OWN)

    def tell_broker(file: Path) -> Step:
        return lambda: _replaced(file, _with_password(file, user, read_secret(new, "password", "--users")))

    steps: list[Step] = [make, *map(tell_broker, (args.users / "punto.passwd", args.passwords))]
    then = [f"run: systemctl reload mosquitto{f' && systemctl restart {unit}' if own else ''}"]
    if own is not None:
        place = secret_of(args.file, own)
        steps.append(lambda: _replaced(place, read_given(new, _MOST_BYTES)))
    else:
        then.append(f"then give the password in {made} to the program that is {user}")
    steps.append(lambda: new.replace(made))
    return Work(steps, then)


def _login(file: Path) -> tuple[BrokerConfig, str]:
    """How the program with this configuration signs on at the broker, and its unit."""
    if "display" in read(file).document:
        mqtt: BrokerConfig | None = read_options(file, {}).mqtt
        unit = f"punto-display@{file.stem}"
    else:
        mqtt, unit = load_config(file).mqtt, f"punto@{file.stem}"
    if mqtt is None:
        raise ConfigError([Problem("is missing, so this program has no broker", str(file), key="mqtt")])
    return mqtt, unit


def _with_password(file: Path, user: str, password: str) -> bytes:
    """The broker's file with another password of a user."""
    lines = read_given(file, _MOST_BYTES).decode().splitlines()
    if user not in {line.partition(":")[0] for line in lines}:
        raise ConfigError([Problem(f"has no user {user}: run `punto broker-users`", str(file))])
    own = f"{user}:{hashed(password)}"
    return "".join(f"{own if line.partition(':')[0] == user else line}\n" for line in lines).encode()


# --- a key of a device or a link


def _key(args: argparse.Namespace) -> Work:
    """The new key waits beside the old one until the other end has it. The authority of a meter and the Game Manager accept both."""
    config = load_config(args.file)
    key = _key_file(config, args)
    new = key.with_name(f"{key.stem}.new{key.suffix}")
    unit = f"punto@{args.file.stem}"
    if args.finish:
        if not new.exists():
            return Work((), (f"{key} is the only key: nothing waits to replace it",))
        # A device or link that was offline for the change connects with the new key at its next attempt.
        return Work((lambda: new.replace(key),), (f"run: systemctl restart {unit}",))

    def make() -> None:
        if not new.exists():
            _replaced(new, new_key(), like=key)

    again = f"punto rotate key {quote(str(args.file))} {args.which}{f' --link {quote(args.link)}' if args.link else ''} --finish"
    if args.which in DEVICES:
        then = [
            f"put the key in {new} into the {args.which.replace('_', ' ')} with its maker's tool, and then",
            f"run: {again}",
        ]
    elif args.link:
        other = f"{args.link}.key in the key_folder on the PC of {args.link}"
        then = [
            f"run: systemctl restart {unit}",
            f"then copy {new} to {other}, restart that table, and",
            f"run: {again}",
        ]
    else:
        other = "authority" if args.which == "progressive" else "Game Manager"
        then = [
            f"copy {new} to {new.name} in the key_folder of the {other}, restart the {other}, and then",
            f"run: {again}",
            f"then let {new.name} replace {key.name} at the {other} too, and restart it",
        ]  # fmt: skip
    return Work((make,), then)


def _key_file(config: ServiceConfig, args: argparse.Namespace) -> Path:
    """The file of the key that the arguments name."""
    which, table = args.which, config.table.id
    files: dict[str, Path] = {}
    if which in DEVICES:
        device = dict(config.devices()).get(which)
        found = None if device is None else device.key_file
    elif which == "mqtt":
        found = None if config.mqtt is None else config.mqtt.key_file(table)
    else:
        if config.progressive is not None:
            files = {
                each: file
                for each, file in config.progressive.key_files(table)
                if not file.stem.endswith(".new")
            }
        found = files.get(args.link or table)
        if files and found is None:
            message = f"say with --link which of its tables: {', '.join(files)}"
            raise ConfigError([Problem(message, str(args.file), key="progressive.tables")])
    if found is None:
        name = "key_file" if which in DEVICES else "key_folder"
        raise ConfigError(
            [Problem("is missing, so there is no key to replace", str(args.file), key=f"{which}.{name}")]
        )
    return found


# --- the certificate of the consoles


def _certificate(args: argparse.Namespace) -> Work:
    """Let the new key wait beside the old one until the certificate is replaced, because two files cannot be replaced at once.

    A service that starts in between takes the key that belongs to the certificate (`server_tls`).
    """
    console = load_config(args.file).console
    if console is None or console.certificate is None or console.key is None:
        message = "is missing, so the consoles have no certificate: write certificate and key"
        raise ConfigError([Problem(message, str(args.file), key="console.certificate")])
    certificate, key, host = console.certificate, console.key, console.host
    new = new_of(key)
    pending = certificate.with_name(f"{certificate.name}.new")

    def make() -> None:
        if pending.exists() and new.exists():
            return
        made = _given(*args.given) if args.given else _self_signed(certificate.stem, host, args.days)
        for path, content, like in ((new, made[1], key), (pending, made[0], certificate)):
            _replaced(path, content, like=like if like.exists() else args.file)

    def check() -> None:
        try:
            server_tls(pending, new, "console")
        except ConfigError:
            for each in (pending, new):
                each.unlink()
            raise

    steps: list[Step] = [make, check, lambda: pending.replace(certificate), lambda: new.replace(key)]
    if new.exists() and not pending.exists():  # an interrupted run has replaced the certificate
        steps = steps[3:]
    return Work(steps, (f"run: systemctl restart punto@{args.file.stem}",))


def _given(certificate: Path, key: Path) -> tuple[bytes, bytes]:
    return read_given(certificate, _MOST_BYTES), read_given(key, _MOST_BYTES)


def _self_signed(table: str, host: str, days: int) -> tuple[bytes, bytes]:
    from punto.commands.certificate import make  # noqa: PLC0415 - an extra

    return make(table, host, datetime.now(UTC), timedelta(days=days))
