"""`punto doctor`: find out what is wrong with the PC of a table, and name the command that mends it."""

import argparse
import json
import re
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from shlex import quote
from typing import Any, Final

from punto.commands.check_config import summaries
from punto.commands.operator import ask
from punto.commands.run import devices_of
from punto.configs.problems import ConfigError, Problem
from punto.configs.toml_file import read
from punto.controller.config.file import ServiceConfig
from punto.controller.config.needs import unit_user
from punto.controller.config.tables import load_configs
from punto.displays.options import read_options
from punto.doctor import displays
from punto.doctor.checks import Job, examine, jobs_of
from punto.doctor.findings import Finding, once, status_of
from punto.doctor.patient import Patient, Process, locking
from punto.runtime.permissions import User

HELP: Final = (
    "Find out what is wrong with the PC of a table. The command checks the configuration, the ports of the devices, keys and passwords, the "
    "broker, the clock, the disk, the record and its backups, certificates, accounts, addresses, the systemd unit, and the displays. It prints "
    "a line for each: `ok`, `warning`, `wrong` or `not checked`, what was checked, and how it is; below it, a command that mends it. The "
    "command changes nothing, and does not disturb a service that runs. Run it as root, because other users cannot see everything. The exit "
    "status is 1 if something is wrong; a warning does not change it."
)
CONFIGURATION: Final = "configuration"
_COMMAND: Final = re.compile(r"run `([^`]+)`|: (ch(?:mod|grp|own) .+)$")
"""The command in a message of `punto check-config`."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the subcommand."""
    parser.add_argument(
        "file",
        nargs="+",
        type=Path,
        metavar="FILE",
        help="the configurations of this PC: those of its tables and displays. With several, also what two of them must not both have is found",
    )
    parser.add_argument(
        "--as",
        dest="user",
        metavar="USER",
        help="the user of the table's service (default: the user punto-NAME of the unit for NAME.toml, if this PC has it, or else the user "
        "who runs the command)",
    )
    parser.add_argument(
        "--backups",
        type=Path,
        metavar="DIR",
        help="the folder of the backups of the records (`punto backup --to DIR`)",
    )
    parser.add_argument("--json", action="store_true", help="print the findings as a list in JSON")


def main(args: argparse.Namespace) -> int:
    """Print the findings; 1 if something is wrong."""
    found = list(once(findings_of(args.file, args.user, args.backups)))
    if args.json:
        print(json.dumps([each.document() for each in found], indent=2))
    else:
        print(*(each.line() for each in found), sep="\n")
    return status_of(found)


def findings_of(files: list[Path], user: str | None = None, backups: Path | None = None) -> list[Finding]:
    """The findings about all files, in the order of the checks."""
    tables: list[tuple[Path, ServiceConfig]] = []
    screens: list[displays.Screen] = []
    for file in files:
        try:
            keys = read(file).document.keys()
            if "table" in keys:
                tables += [(file, config) for config in load_configs(file)]
            elif "display" in keys:
                options = read_options(file, {})
                page = options.display
                screens.append(displays.Screen(file, page.host, page.port, page.tables, options.mqtt))
        except ConfigError:
            continue  # it is among the findings of the configuration
    known = frozenset(config.table.id for _, config in tables)
    jobs = [Job(CONFIGURATION, partial(_configuration, files, user), 60.0)]
    for file, config in tables:
        patient = patient_of(file, config, user, backups, known)
        if patient is not None:
            jobs += jobs_of(patient, config.table.id if len(tables) > 1 else "")
    jobs += [Job(displays.CHECK, partial(displays.check, each, known), 15.0) for each in screens]
    found = examine(jobs)
    if not screens:
        how = "give the configurations of the displays too"
        found.append(Finding(displays.CHECK, "not checked", displays.CHECK, how))
    return found


def table_findings(
    file: Path, table: str, service: Process, links: Mapping[str, Mapping[str, Any]]
) -> list[Finding]:
    """The findings about one table of the service that runs, as its own user, for people at the consoles: without the log."""
    jobs = [Job(CONFIGURATION, partial(_configuration, [file], None), 60.0)]
    try:
        configs = load_configs(file)
    except ConfigError:
        configs = ()  # the findings of the configuration say why
    known = frozenset(config.table.id for config in configs)
    for config in configs:
        if config.table.id == table:
            told = (service, links)
            patient = Patient(file, config, User.here(), devices_of, *told, known=known, at_a_console=True)
            jobs += jobs_of(patient)
    return examine(jobs)


def _configuration(files: list[Path], user: str | None) -> Iterator[Finding]:
    """What `punto check-config` finds."""
    try:
        summary = summaries(files, user)
    except ConfigError as error:
        yield from map(_wrong, error.problems)
        return
    fine = True
    for line in summary:
        kind, _, text = line.partition(": ")
        if kind.lower() == "warning":
            fine = False
            yield Finding(CONFIGURATION, "warning", "check-config", text, _command_in(text))
    if fine:
        yield Finding(CONFIGURATION, "ok", "check-config", "it finds nothing")


def _wrong(problem: Problem) -> Finding:
    place = ":".join(str(part) for part in (problem.file, problem.line) if part is not None) or CONFIGURATION
    message = str(problem).removeprefix(f"{place}: ")
    return Finding(CONFIGURATION, "wrong", place, message, _command_in(message) or _renamed(problem))


def _command_in(message: str) -> str | None:
    match = _COMMAND.search(message)
    return None if match is None else match[1] or match[2]


def _renamed(problem: Problem) -> str | None:
    """The command that corrects the name of a key, if the message suggests one."""
    name = problem.key.rpartition(".")[2]
    if (
        problem.suggestion is None
        or problem.line is None
        or not re.fullmatch(r"\w+", f"{name}{problem.suggestion}")
    ):
        return None
    return f"sed -i '{problem.line}s/{name}/{problem.suggestion}/' {quote(str(problem.file))}"


def patient_of(
    file: Path, config: ServiceConfig, name: str | None, backups: Path | None, known: frozenset[str]
) -> Patient | None:
    """What the checks know of a table; None if its user does not exist, which the configuration's findings say."""
    try:
        user = User.named(name) if name is not None else unit_user(file) or User.here()
    except LookupError:
        return None
    service = locking(Path(f"{config.record.path.resolve()}.lock"))
    links = None if service is None else _links(config)
    return Patient(file, config, user, devices_of, service, links, backups, known)


def _links(config: ServiceConfig) -> Mapping[str, Mapping[str, Any]] | None:
    """What the running service reports of its links; None if it cannot be asked."""
    if config.operator is None:
        return None
    try:
        answer = ask(config.operator.socket, {"order": "status"})
    except (OSError, ValueError):
        return None
    found: Mapping[str, Mapping[str, Any]] | None = answer.get("links")
    return found
