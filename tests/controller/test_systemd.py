"""What systemd is told, over a real socket of its own kind."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest

from punto.runtime.sd_notify import notify
from tests.controller.table_on_a_machine import HERE, Table, wait_until
from tests.deadline import DEADLINE


class Systemd:
    """The receiving end of NOTIFY_SOCKET."""

    def __init__(self, address: str) -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(f"\0{address[1:]}" if address.startswith("@") else address)
        self.socket.settimeout(DEADLINE)

    def told(self) -> str:
        """The next message."""
        return self.socket.recv(1000).decode()


@pytest.fixture(params=["path", "abstract"])
def systemd(request, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Systemd]:
    address = str(tmp_path / "notify") if request.param == "path" else f"@punto-test-{os.getpid()}"
    here = Systemd(address)
    monkeypatch.setenv("NOTIFY_SOCKET", address)
    yield here
    here.socket.close()


def test_it_is_told_of_the_start_of_life_and_of_the_end(tmp_path, systemd):
    service = Table(tmp_path, None)
    with service:
        told = [systemd.told() for _ in range(3)]
        status = service.stop(signal.SIGTERM)
        while told[-1] != "STOPPING=1":
            told.append(systemd.told())

    assert status == 0
    assert told[:3] == ["READY=1", "WATCHDOG=1", "WATCHDOG=1"]


def logged(service: Table) -> list[str]:
    """The events in the service's log."""
    return [json.loads(line)["event"] for line in service.said() if line.startswith("{")]


def test_ready_is_told_after_recovery_and_when_orders_are_taken(tmp_path, systemd):
    service = Table(tmp_path, None)
    service.begin_to_start()
    try:
        assert systemd.told() == "READY=1"
        assert service.up()
        # A thread writes the log, so a line may be later than what it tells of.
        wait_until(lambda: "table recovered" in logged(service), "the recovery is in the log")
    finally:
        service.kill()


def test_a_service_that_cannot_start_is_never_ready(tmp_path, systemd):
    service = Table(tmp_path, None)
    service.record.write_text("the minutes of a meeting")
    service.begin_to_start()
    systemd.socket.settimeout(0.2)

    assert service.process.wait(DEADLINE) == 1
    with pytest.raises(TimeoutError):
        systemd.told()


@pytest.mark.parametrize("address", [None, ""])
def test_without_systemd_no_socket_is_opened_and_nothing_is_logged(monkeypatch, log_lines, address):
    opened = mock.Mock()
    if address is None:
        monkeypatch.delenv("NOTIFY_SOCKET", raising=False)
    else:
        monkeypatch.setenv("NOTIFY_SOCKET", address)
    with mock.patch("socket.socket", opened):
        notify("READY=1")

    assert (opened.mock_calls, log_lines) == ([], [])


def test_a_systemd_that_does_not_listen_is_logged_and_holds_nothing_up(tmp_path, monkeypatch, log_lines):
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "nobody"))
    notify("READY=1")
    assert [(line["event"], line["message"]) for line in log_lines] == [("systemd not notified", "READY=1")]
    full = Systemd(str(tmp_path / "full"))
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "full"))
    for _ in range(1000):  # more than a socket holds that nobody reads
        notify("WATCHDOG=1")
    full.socket.close()


def test_only_named_devices_are_given_to_a_table_and_none_to_the_group_of_all_serial_ports():
    """A member of `dialout` could open any adapter, also one that is not the table's."""
    rules = [
        line.strip("# ")
        for file in (HERE / "systemd").iterdir()
        for line in file.read_text(encoding="utf-8").splitlines()
    ]
    devices = [line for line in rules if line.startswith("SUBSYSTEM")]
    given = [re.findall(r'ATTRS\{(\w+)\}=="\w+"|GROUP="([\w-]+)", MODE="(\d+)"', line) for line in devices]

    assert not [line for line in rules if "dialout" in line]
    assert given == [[("idVendor", "", ""), ("idProduct", "", ""), ("", "punto-table-1", "0660")]] * 2


UNITS = ["punto@", "punto-display@", "punto-game-manager", "punto-signer", "punto-witness"]


def test_every_unit_starts_python_and_nothing_else():
    started = {
        line.split()[0]
        for file in (HERE / "systemd").iterdir()
        for line in re.findall(r"^Exec\w+=(.+)$", file.read_text(encoding="utf-8"), re.MULTILINE)
    }

    assert started == {"/opt/punto/bin/python"}


@pytest.mark.parametrize("unit", [*(f"{unit}.service" for unit in UNITS), "punto-signer-tpm.conf"])
def test_no_variable_of_the_environment_adds_code_to_a_unit(unit, tmp_path):
    text = (HERE / "systemd" / unit).read_text(encoding="utf-8")
    (command,) = re.findall(r"^ExecStart=/opt/punto/bin/python (.*) -m punto ", text, re.MULTILINE)
    (tmp_path / "sitecustomize.py").write_text("print('added')")
    added = {
        name: str(tmp_path) for name in ("PYTHONPATH", "PYTHONHOME", "PYTHONPLATLIBDIR", "PYTHONUSERBASE")
    }
    ran = subprocess.run(
        [sys.executable, *command.split(), "-c", "import sys; print(sys.flags.isolated)"],
        env={**os.environ, **added},
        check=False,
        capture_output=True,
        text=True,
    )

    assert (ran.stdout, ran.returncode) == ("1\n", 0)
    if unit.endswith(".conf"):  # what a unit unsets, a drop-in leaves unset
        return
    # Its child processes and the system's libraries read variables too.
    unset = {
        name for line in re.findall(r"^UnsetEnvironment=(.*)", text, re.MULTILINE) for name in line.split()
    }
    assert unset >= {
        *added,
        "PYTHONPYCACHEPREFIX",
        "LD_PRELOAD",
        "LD_LIBRARY_PATH",
        "LD_AUDIT",
        "OPENSSL_CONF",
    }


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="needs systemd-analyze (systemd)")
@pytest.mark.parametrize(
    ("unit", "added"), [*((unit, "") for unit in UNITS), ("punto-signer", "punto-signer-tpm.conf")]
)
def test_a_unit_leaves_its_program_little(tmp_path, unit, added):
    """systemd's own measure, from 0 to 10; a unit without any protection has 9.6."""
    files = [HERE / "systemd" / name for name in (f"{unit}.service", added) if name]
    whole = tmp_path / f"{unit}.service"
    whole.write_text("".join(file.read_text(encoding="utf-8") for file in files), encoding="utf-8")
    command = ["systemd-analyze", "security", "--offline=true", "--no-pager", "--threshold=19"]
    ran = subprocess.run([*command, whole], check=False, capture_output=True, text=True)

    assert ran.returncode == 0, ran.stdout
    assert float(re.findall(r"exposure level for \S+: ([\d.]+)", ran.stdout)[0]) < 2
