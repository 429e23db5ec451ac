"""Who may do what on a machine that was set up by the documents, with the units, users and modes that ship."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.controller.table_on_a_machine import HERE, Program, wait_until
from tests.deadline import DEADLINE
from tests.deploy.installed_machine import INSTANCE, SUPERVISOR, TOOLS, Machine, Unit, namespaces_allowed

pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(os.getuid() != 0, reason="only root can be several users"),
    pytest.mark.skipif(
        not all(map(shutil.which, TOOLS)), reason=f"needs {', '.join(TOOLS)} (systemd, util-linux, iproute2)"
    ),
    pytest.mark.skipif(
        not namespaces_allowed(),
        reason="this container may not make namespaces, such as Docker's without --privileged",
    ),
]

PROBE = """
import socket, stat, os, sys
for path in sys.stdin.read().splitlines():
    try:
        if stat.S_ISSOCK(os.stat(path).st_mode):
            socket.socket(socket.AF_UNIX).connect(path)
        else:
            open(path, "rb").close()
    except PermissionError:
        continue
    print(path)
"""
"""Prints which of the files it can read, and which of the sockets it can connect to."""


class Installed(NamedTuple):
    """The machine with two tables, a display and the broker, all running."""

    machine: Machine
    table: Unit
    neighbour: Unit
    display: Unit
    everything: frozenset[str]

    @property
    def settings(self) -> dict[str, Any]:
        """The table's configuration."""
        return self.settings_of(self.table)

    def settings_of(self, unit: Unit) -> dict[str, Any]:
        """The configuration of a unit."""
        return tomllib.loads(self.machine.path(unit.config).read_text(encoding="utf-8"))

    def own(self, table: Unit) -> set[str]:
        """The files of a table that hold what the others must not know, or that give orders there."""
        settings = self.settings_of(table)
        key = Path(table.config).with_name(settings["shoe"]["key_file"])
        record, accounts = settings["record"]["path"], settings["accounts"]["path"]
        door = settings["operator"]["socket"]
        return {table.config, str(key), record, accounts, door, *table.secrets.values()}

    def may(self, identity: list[str]) -> set[str]:
        """Which files and sockets somebody can open."""
        files = "\n".join(sorted(self.everything))
        return set(
            self.machine.must(sys.executable, "-c", PROBE, identity=identity, typed=files).splitlines()
        )

    def heard(self, user: str, password: str, topic: str, seconds: int) -> subprocess.CompletedProcess[str]:
        """What a user of the broker hears first of a topic within so many seconds."""
        return self.machine.run(
            "mosquitto_sub", "-u", user, "-P", password, "-t", topic, "-C", "1", "-W", str(seconds), "-v"
        )


def configure(machine: Machine, path: str, *offered: str) -> None:
    """Take what a configuration offers as comments, as an editor would: lines that begin with `# KEY`."""
    file = machine.path(path)
    lines = file.read_text(encoding="utf-8").splitlines()
    for key in offered:
        (at,) = (number for number, line in enumerate(lines) if line.startswith(f"# {key}"))
        lines[at] = lines[at].removeprefix("# ")
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Iterator[Installed]:
    folder = tmp_path_factory.mktemp("installed")
    with Machine(folder) as machine:
        table, display = Unit(folder, machine, "punto"), Unit(folder, machine, "punto-display")
        neighbour = Unit(folder, machine, "punto", "table-2")
        configure(machine, table.config, "username", "password_file", "restricted", "group")
        configure(machine, display.config, "username", "password_file")
        machine.follow("Add a table to this PC")
        configure(machine, neighbour.config, "username", "password_file", "group")
        broker = Program(
            folder / "mosquitto.log", *machine.inside("mosquitto", "-c", "/etc/mosquitto/mosquitto.conf")
        )
        with broker, table, neighbour, display:
            units = (table, neighbour, display)
            wait_until(
                lambda: not table.running or not neighbour.running or len(machine.files("/run/punto")) == 2,
                "the tables have their sockets",
                seconds=DEADLINE,
            )
            wait_until(lambda: not display.running or live(machine), "the display is live", seconds=DEADLINE)
            assert [unit.name for unit in units if not unit.running] == []
            everything = machine.files("/etc", "/run", "/var/lib", "/var/log")
            yield Installed(machine, *units, frozenset(everything))


def live(machine: Machine) -> bool:
    """Whether the display shows the table as live."""
    fetch = "import urllib.request as r; print(r.urlopen('http://127.0.0.1:8080/healthz').read().decode())"
    got = machine.run(sys.executable, "-c", fetch)
    return got.returncode == 0 and bool(json.loads(got.stdout)["table-1"]["live"])


def test_the_display_opens_what_it_needs_and_nothing_else_of_the_service(installed):
    public = installed.may(installed.machine.identity("nobody"))
    own = {installed.display.config, *installed.display.secrets.values()}

    assert installed.may(installed.display.identity) - public == own


def test_nothing_of_a_table_is_public(installed):
    public = installed.may(installed.machine.identity("nobody"))
    ours = {path for path in installed.everything if "punto" in path}

    # The units, the folders' list, the udev rules and the broker's settings say nothing that does not ship.
    assert {Path(path).parts[1:3] for path in public & ours} <= {
        ("etc", "systemd"),
        ("etc", "tmpfiles.d"),
        ("etc", "udev"),
        ("etc", "mosquitto"),
    }
    assert not {path for path in public & ours if path.endswith(".passwd")}


def test_the_service_opens_its_own_and_no_other_passwords(installed):
    table, display = installed.table, installed.display
    may = installed.may(table.identity)

    assert installed.own(table) <= may
    assert not may & {display.config, *display.secrets, *display.secrets.values(), *table.secrets}
    assert "/etc/mosquitto/punto.passwd" not in may


def test_a_table_opens_nothing_of_another_table(installed):
    for one, other in (installed.table, installed.neighbour), (installed.neighbour, installed.table):
        theirs = {path for path in installed.everything if other.instance in path} | installed.own(other)
        public = installed.may(installed.machine.identity("nobody"))

        assert len(theirs) > 8
        assert installed.may(one.identity) & theirs <= public
        assert not installed.own(other) & public


def test_every_password_is_a_credential_of_one_unit(installed):
    units = (installed.table, installed.neighbour, installed.display)
    sources = [source for unit in units for source in unit.secrets]
    assert [len(unit.secrets) for unit in units] == [1, 1, 1]
    assert len(set(sources)) == len(units)
    for source in sources:
        found = installed.machine.path(source).stat()
        assert (found.st_uid, found.st_gid, found.st_mode & 0o777) == (0, 0, 0o600), source


def test_an_operator_gives_orders_and_reads_nothing(installed):
    door = installed.settings["operator"]["socket"]
    group = str(installed.machine.path(door).stat().st_gid)
    operator = installed.machine.identity("nobody", [group])
    public = installed.may(installed.machine.identity("nobody"))
    order = ("punto", "operator", "--socket", door, "--as", SUPERVISOR["name"], "sign-on")
    password = f"{SUPERVISOR['password']}\n"

    doors = {door, installed.settings_of(installed.neighbour)["operator"]["socket"]}

    assert installed.may(operator) - public == doors
    assert (
        "Permission denied"
        in installed.machine.run(*order, identity=installed.display.identity, typed=password).stderr
    )
    assert installed.machine.run(*order[:4], order[-1], identity=operator).returncode != 0  # nobody signed it
    installed.machine.must(*order, identity=operator, typed=password)


def test_the_displays_password_opens_no_restricted_topic_and_no_other_user(installed):
    (copy,) = installed.display.secrets.values()
    password = installed.machine.must("cat", copy, identity=installed.display.identity).rstrip("\n")
    watchers = installed.machine.must("cat", "/etc/punto-broker/passwords/surveillance").rstrip("\n")

    display = "table-1-display"
    assert installed.heard(display, password, "punto/+/state", 20).stdout.startswith("punto/table-1/state ")
    assert installed.heard("surveillance", watchers, "punto/+/restricted/#", 20).stdout
    assert not installed.heard(display, password, "punto/+/restricted/#", 3).stdout
    refused = installed.heard("table-1", password, "punto/+/restricted/#", 3)
    assert "not authorised" in refused.stderr


def test_check_config_has_no_warning_as_installed(installed):
    for unit in (installed.table, installed.display):
        said = installed.machine.must("punto", "check-config", unit.config)
        assert "warning" not in said, said


def test_a_table_of_an_earlier_version_goes_on_with_a_user_of_its_own(installed, tmp_path):
    """Its record, accounts, key and password were the user punto's, in folders for all tables."""
    machine, old = installed.machine, "table-3"
    for line in (
        "useradd --system --gid punto punto && install -d -o punto -g punto -m 0700 /var/lib/punto",
        f"sed 's|/{old}/operator.sock|/{old}.sock|; s|/var/lib/punto/{old}/|/var/lib/punto/|' > /etc/punto/{old}.toml",
        f"chgrp punto /etc/punto/{old}.toml && chmod 0640 /etc/punto/{old}.toml",
        "echo secret > /etc/punto/mqtt-password && echo secret > /etc/punto-display/mqtt-password",
        f"sudo -u punto punto operators --config /etc/punto/{old}.toml add Mei --role supervisor < /dev/stdin",
    ):
        shipped = (HERE / "configs" / "table.toml").read_text(encoding="utf-8").replace(INSTANCE, old)
        password = f"{SUPERVISOR['password']}\n"
        machine.must("sh", "-ec", line, typed=password if "operators" in line else shipped)
    start = f"echo $$ > /run/{old}.pid; exec punto run --config /etc/punto/{old}.toml"
    before = Program(tmp_path / "before.log", *machine.inside("sh", "-c", start))
    with before:
        wait_until(lambda: "table recovered" in "".join(before.said()), "the table is open", seconds=DEADLINE)
        machine.must("sh", "-c", f"kill $(cat /run/{old}.pid)")
        before.process.wait(DEADLINE)
    machine.must("sh", "-ec", f"chown punto:punto /var/lib/punto/{old}.db*")

    machine.follow("From a version with one user for all tables", old)
    unit = Unit(tmp_path, machine, "punto", old)
    with unit:
        wait_until(
            lambda: not unit.running or "table recovered" in "".join(unit.said()),
            "it is open",
            seconds=DEADLINE,
        )
        assert unit.running

    assert f"/var/lib/punto/{old}.db" not in machine.files("/var/lib/punto")
