"""Does everything that the answers of a table need, with a person who is at a terminal or at a page."""

import secrets
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, Protocol

from punto.commands.check_config import summaries
from punto.commands.doctor import patient_of
from punto.commands.setup.answers import Answers
from punto.commands.setup.configuration import can_be_rehearsed, key_file
from punto.commands.setup.found import screens
from punto.commands.setup.machine import SYSTEMD, Machine, SetupError
from punto.commands.setup.page import rows_of
from punto.commands.setup.plan import (
    CONFIGS,
    DISPLAYS,
    MOSQUITTO,
    config_file,
    display_file,
    group_of,
    pit_file,
    plan_of,
)
from punto.commands.setup.rehearsal import User, rehearse
from punto.configs.problems import ConfigError
from punto.configs.text_file import read_text
from punto.configs.toml_file import read
from punto.controller.config.file import load_config
from punto.doctor import broker, certificates, keys, machine, people, ports
from punto.doctor.checks import examine, jobs_of
from punto.doctor.findings import once, status_of

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
_KIOSK: Final = Path("/etc/punto-kiosk")


class Person(Protocol):
    """The person who sets up the PC. A key and a password are shown to the person alone, and never with the other lines."""

    def show(self, text: str) -> None:
        """Show a line about what was done."""

    def password(self, name: str) -> str | None:
        """The password of a new account, None if a random one is wanted."""

    def random_password(self, name: str, password: str) -> None:
        """Show the random password of a new account, which is not stored anywhere."""

    def key(self, device: str, digits: str) -> None:
        """Show a device's new key, until it is in the device."""

    def test_again(self) -> bool:
        """Whether to test again, after something was wrong."""


def set_up(given: Answers, root: Path | None, person: Person, *, rehearsal: bool) -> Mapping[str, str]:
    """Do everything that the answers need. Returns what the page for the pit says.

    Raises:
        SetupError: the PC lacks something; the message says what to do.
        ConfigError: the configuration that follows from the answers is invalid.
    """
    root = None if root is None else root.resolve()
    pc = Machine(root, person.show)
    answers = given.with_ports(_taken(pc, given.table))
    config, display = pc.place(config_file(given.table)), pc.place(display_file(given.table))
    has_mosquitto = pc.place(MOSQUITTO).is_dir()
    if answers.broker is None and not has_mosquitto:
        person.show(
            "no broker   this PC has no Mosquitto: run `apt install mosquitto`, and this command again"
        )
    pc.carry_out(plan_of(answers, mosquitto=has_mosquitto))
    user = User(pc.number(group_of(given.table), "passwd"), pc.number(group_of(given.table)))
    folder = pc.place(Path("/var/lib/punto", given.table))
    _show_keys(answers, pc, person, began=(folder / f"{given.table}.db").exists())
    _make_accounts(answers, folder / "operators.db", user, person)
    for line in summaries([config, display]):
        if root is None and line.lower().startswith("warning"):  # about this PC
            person.show(line)
    if rehearsal and _is_due(config, folder / "rehearsals") and can_be_rehearsed(answers):
        person.show("rehearsal   a virtual shoe deals one hand ...")
        done = rehearse(answers, user, folder / "rehearsals")
        person.show(f"rehearsal   {done.result}; proven, and put aside in {done.record}")
    while root is None and _test(config, person):
        if not person.test_again():
            break
    _start(pc, answers, person)
    _tell_screens(pc, answers, person)
    rows = rows_of(answers)
    for name in ("Dealer", "Supervisor", "Display"):
        person.show(f"{name.lower():<11} {rows[name]}")
    person.show(f"print this  {pit_file(answers.table)}")
    return rows


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


def _show_keys(answers: Answers, pc: Machine, person: Person, *, began: bool) -> None:
    """Show each new key, so that a person can put it into the device with the tool of its maker.

    As long as the table has not begun its record, all keys are shown, because the command may have been interrupted.
    """
    for section, device in answers.devices():
        path = CONFIGS / key_file(answers, section)
        if device.keyed and (path in pc.changed or not began):
            person.key(section.replace("_", " "), read_text(pc.place(path)).strip())


def _make_accounts(answers: Answers, file: Path, user: User, person: Person) -> None:
    """Make the accounts that are not there yet, as the service's user."""
    at = ("operators", "--accounts", str(file))
    there = user.run(*at, "list").stdout.splitlines() if file.exists() else []
    known = {name: roles for _, name, roles, *_ in (line.split("\t") for line in there)}
    for name, roles in answers.people.items():
        if name in known:
            if known[name] != ", ".join(roles):
                person.show(
                    f"left alone  the account {name}, {known[name]}: `punto operators roles` changes its roles"
                )
            continue
        given = person.password(name)
        password = given or secrets.token_urlsafe(9)
        options = [word for role in roles for word in ("--role", str(role))]
        done = user.run(*at, "add", name, *options, text=f"{password}\n")
        if done.returncode:
            raise SetupError(done.stderr.strip().removeprefix("punto operators: "))
        person.show(f"account     {name}, {', '.join(roles)}")
        if given is None:
            person.random_password(name, password)


def _test(config: Path, person: Person) -> int:
    """Show what the doctor says of the devices, the broker, the keys and the people; 1 if something is wrong."""
    patient = patient_of(config, load_config(config), None, None, frozenset())
    if patient is None:
        return 0
    found = [*once(examine([each for each in jobs_of(patient) if each.name in _TESTED]))]
    for each in found:
        person.show(each.line())
    return status_of(found)


def _start(pc: Machine, answers: Answers, person: Person) -> None:
    """Start the units, but interrupt no table that runs."""
    units = [f"punto@{answers.table}", f"punto-display@{answers.table}"]
    if pc.root is not None or not SYSTEMD.exists():
        person.show(
            f"not started systemd does not run there: run `systemctl enable --now {' '.join(units)}` when it does"
        )
        return
    active = [each for each in units if not subprocess.call(["systemctl", "is-active", "--quiet", each])]  # noqa: S603, S607
    pc.run(["systemctl", "enable", "--now", *units])
    changed = {units[0]: config_file(answers.table), units[1]: display_file(answers.table)}
    stale = [each for each in active if changed[each] in pc.changed]
    if stale:
        person.show(
            f"it runs     close the table, and run `systemctl restart {' '.join(stale)}`: it still has its former configuration"
        )
    else:
        person.show(f"started     {' '.join(units)}")


def _tell_screens(pc: Machine, answers: Answers, person: Person) -> None:
    """Tell how a screen of this PC shows the table."""
    for screen in screens() if pc.root is None else ():
        address = rows_of(answers)["Display"]
        how = (
            f"write ADDRESS={address} into {_KIOSK / 'kiosk.conf'}, and run `systemctl enable --now punto-kiosk@tty1`"
            if _KIOSK.is_dir()
            else f"install punto-kiosk to show {address} on it"
        )
        person.show(f"screen      {screen}: {how}")
