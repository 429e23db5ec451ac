"""`punto setup`: set up the PC of a table."""

import argparse
import getpass
import os
import secrets
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from punto.commands.check_config import summaries
from punto.commands.doctor import patient_of
from punto.commands.setup.answers import Answers, read_answers
from punto.commands.setup.configuration import can_be_rehearsed, key_file
from punto.commands.setup.found import addresses, serial_ports, zone
from punto.commands.setup.machine import SYSTEMD, Machine, SetupError
from punto.commands.setup.page import address_of
from punto.commands.setup.plan import (
    CONFIGS,
    DISPLAYS,
    MOSQUITTO,
    answers_file,
    config_file,
    display_file,
    group_of,
    pit_file,
    plan_of,
)
from punto.commands.setup.questions import Found, asked
from punto.commands.setup.rehearsal import User, rehearse
from punto.configs.problems import ConfigError
from punto.configs.text_file import TextError, read_text
from punto.configs.toml_file import read
from punto.controller.config.file import load_config
from punto.doctor import broker, certificates, keys, machine, people, ports
from punto.doctor.checks import examine, jobs_of
from punto.doctor.findings import once, status_of

HELP: Final = (
    "Set up the PC of a table, by eight questions in a terminal or by a file of answers: its user and folders, the configurations of the table "
    "and its display, keys, a certificate for the consoles, the udev rules of its devices, the broker's users, the first accounts, and the units. The command checks the configuration, deals one hand from a "
    "virtual shoe into a record that is put aside in /var/lib/punto/TABLE/rehearsals, tests the devices and the broker, and starts the units. It "
    "keeps the answers in /etc/punto/TABLE.answers. To change an answer, run the command again, or change it in this file and give the file. If "
    "you have changed a file that the command wrote, it leaves the file alone until an answer changes the file too; then it keeps your file beside "
    "the new one. It never replaces a key, a password or an account. Run it as root."
)
_NO_TERMINAL: Final = "the questions need a terminal: run the command in one, or write --answers FILE"
_TESTED: Final = (
    ports.CHECK,
    keys.CHECK,
    broker.CHECK,
    machine.CLOCK,
    machine.DISK,
    certificates.CHECK,
    people.CHECK,
)
"""The doctor's checks that make sense before the units run."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the subcommand."""
    parser.add_argument(
        "--answers",
        type=Path,
        metavar="FILE",
        help="the answers, a TOML file (default: the command asks eight questions, with the former answers as defaults)",
    )
    parser.add_argument(
        "--table",
        default="table-1",
        metavar="NAME",
        help="the table that the questions are about, such as table-2 for the second one of this PC (default: table-1)",
    )
    parser.add_argument(
        "--root",
        type=Path,
        metavar="DIR",
        help="set up the disk that is mounted at this folder, and start nothing (default: this PC)",
    )
    parser.add_argument(
        "--passwords",
        type=Path,
        metavar="FILE",
        help="the passwords of new accounts, a line for each in the order of the answers (default: the command asks for them; with --answers they are random, and are printed once)",
    )
    parser.add_argument("--no-rehearsal", action="store_true", help="deal no hand")


def main(args: argparse.Namespace) -> int:
    """Set up the PC; 1 if something must be mended first."""
    try:
        _require_root()
        lines = [] if args.passwords is None else read_text(args.passwords).splitlines()
        terminal = Console(iter(lines), asks=args.answers is None)
        answers = _asked(terminal, args.table) if args.answers is None else read_answers(args.answers)
        set_up(answers, args.root, terminal, rehearsal=not args.no_rehearsal)
    except (ConfigError, SetupError, TextError) as error:
        print(f"punto setup: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"punto setup: {error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    except EOFError:
        print(f"punto setup: {_NO_TERMINAL}", file=sys.stderr)
        return 1
    return 0


class Console:
    """The terminal. Passwords are the given ones, and then those that a person types if the command `asks`."""

    def __init__(self, passwords: Iterator[str], *, asks: bool) -> None:
        self._passwords = passwords
        self.asks = asks

    def show(self, text: str) -> None:
        """Show a line."""
        print(text, flush=True)

    def ask(self, question: str) -> str:
        """Show a question, and return what is typed."""
        return input(question)

    def password(self, name: str) -> str | None:
        """The password of a new account, None if a random one is wanted."""
        given = next(self._passwords, None)
        if given is None and self.asks:
            given = getpass.getpass(f"Password of {name} (Enter: a random one): ") or None
        return given


def _asked(terminal: Console, table: str) -> Answers:
    if not sys.stdin.isatty():
        raise SetupError(_NO_TERMINAL)
    terminal.show("Looking for devices ...")
    return asked(terminal, _known(table), Found(serial_ports(), [*addresses()]))


def _known(table: str) -> Answers:
    """The former answers of a table, or the defaults."""
    file = answers_file(table)
    if file.exists():
        return read_answers(file)
    number = table.rpartition("-")[2]
    name = f"Baccarat {number}" if number.isdecimal() else "Baccarat"
    try:
        return Answers(table=table, name=name, zone=zone())
    except ValidationError as error:
        raise SetupError(error.errors()[0]["msg"].removeprefix("Value error, ")) from None


def _require_root() -> None:
    if os.geteuid() != 0:
        raise SetupError("only root can set up a PC: write sudo before the command")


def set_up(given: Answers, root: Path | None, terminal: Console, *, rehearsal: bool) -> None:
    """Do everything that the answers need.

    Raises:
        SetupError: the PC lacks something; the message says what to do.
        ConfigError: the configuration that follows from the answers is invalid.
    """
    root = None if root is None else root.resolve()
    pc = Machine(root, print)
    answers = given.with_ports(_taken(pc, given.table))
    config, display = pc.place(config_file(given.table)), pc.place(display_file(given.table))
    has_mosquitto = pc.place(MOSQUITTO).is_dir()
    if answers.broker is None and not has_mosquitto:
        print("no broker   this PC has no Mosquitto: run `apt install mosquitto`, and this command again")
    pc.carry_out(plan_of(answers, mosquitto=has_mosquitto))
    user = User(pc.number(group_of(given.table), "passwd"), pc.number(group_of(given.table)))
    folder = pc.place(Path("/var/lib/punto", given.table))
    if terminal.asks:
        _show_keys(answers, pc, terminal)
    _make_accounts(answers, folder / "operators.db", user, terminal)
    for line in summaries([config, display]):
        if root is None and line.lower().startswith("warning"):  # about this PC
            print(line)
    if rehearsal and _is_due(config, folder / "rehearsals") and can_be_rehearsed(answers):
        print("rehearsal   a virtual shoe deals one hand ...", flush=True)
        done = rehearse(answers, user, folder / "rehearsals")
        print(f"rehearsal   {done.result}; proven, and put aside in {done.record}")
    while root is None and _test(config) and terminal.asks:
        if terminal.ask("Mend this and press Enter to test again, or type s to go on: ").strip():
            break
    _start(pc, answers)
    _end(answers)


def _is_due(config: Path, rehearsals: Path) -> bool:
    """Whether no hand was dealt since the configuration was written."""
    written = config.stat().st_mtime
    return not any(each.stat().st_mtime >= written for each in rehearsals.glob("*.db"))


def _taken(pc: Machine, table: str) -> set[int]:
    """The ports that pages of other tables of the PC have."""
    found: set[int] = set()
    for path in (*pc.tables(), *sorted(pc.place(DISPLAYS).glob("*.toml"))):
        if path.stem != table:
            with suppress(ConfigError):
                sections = read(path).document
                found |= {sections.get(name, {}).get("port", 0) for name in ("console", "display")}
    return found


def _show_keys(answers: Answers, pc: Machine, terminal: Console) -> None:
    """Show each new key, so that a person can put it into the device with the tool of its maker."""
    for section, device in answers.devices():
        path = CONFIGS / key_file(answers, section)
        if device.keyed and path in pc.changed:
            digits = read_text(pc.place(path)).strip()
            groups = textwrap.wrap(digits, 4)
            lines = [" ".join(groups[at : at + 8]) for at in range(0, len(groups), 8)]
            terminal.show(f"Put this key into the {section.replace('_', ' ')} with the tool of its maker:")
            terminal.show("\n".join(f"    {line}" for line in lines))
            terminal.ask("Press Enter when it has the key: ")


def _make_accounts(answers: Answers, file: Path, user: User, terminal: Console) -> None:
    """Make the accounts that are not there yet, as the service's user."""
    at = ("operators", "--accounts", str(file))
    there = user.run(*at, "list").stdout.splitlines() if file.exists() else []
    known = {name: roles for _, name, roles, *_ in (line.split("\t") for line in there)}
    for name, roles in answers.people.items():
        if name in known:
            if known[name] != ", ".join(roles):
                print(
                    f"left alone  the account {name}, {known[name]}: `punto operators roles` changes its roles"
                )
            continue
        given = terminal.password(name)
        password = given or secrets.token_urlsafe(9)
        options = [word for role in roles for word in ("--role", str(role))]
        done = user.run(*at, "add", name, *options, text=f"{password}\n")
        if done.returncode:
            raise SetupError(done.stderr.strip().removeprefix("punto operators: "))
        its = "" if given else f", with the password {password} : write it down, because it is not stored"
        print(f"account     {name}, {', '.join(roles)}{its}")


def _test(config: Path) -> int:
    """Print what the doctor says of the devices, the broker, the keys and the people; 1 if something is wrong."""
    patient = patient_of(config, load_config(config), None, None, frozenset())
    if patient is None:
        return 0
    found = [*once(examine([each for each in jobs_of(patient) if each.name in _TESTED]))]
    print(*(each.line() for each in found), sep="\n", flush=True)
    return status_of(found)


def _start(pc: Machine, answers: Answers) -> None:
    """Start the units, but interrupt no table that runs."""
    units = [f"punto@{answers.table}", f"punto-display@{answers.table}"]
    if pc.root is not None or not SYSTEMD.exists():
        print(
            f"not started systemd does not run there: run `systemctl enable --now {' '.join(units)}` when it does"
        )
        return
    active = [each for each in units if not subprocess.call(["systemctl", "is-active", "--quiet", each])]  # noqa: S603, S607
    pc.run(["systemctl", "enable", "--now", *units])
    changed = {units[0]: config_file(answers.table), units[1]: display_file(answers.table)}
    stale = [each for each in active if changed[each] in pc.changed]
    if stale:
        print(
            f"it runs     close the table, and run `systemctl restart {' '.join(stale)}`: it still has its former configuration"
        )
    else:
        print(f"started     {' '.join(units)}")


def _end(answers: Answers) -> None:
    print(f"consoles    {address_of(answers.console, tls=not answers.console.on_loopback)}")
    print(f"display     {address_of(answers.display, tls=False)}")
    print(f"print this  {pit_file(answers.table)}")
