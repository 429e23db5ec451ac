"""deploy/trial/compose.yaml: what each of its services runs, run on this machine with other ports, without Docker."""

import json
import os
import re
import shutil
import signal
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from punto.controller.journal.recovery import replay
from tests.controller.table_in_this_process import rows
from tests.controller.table_on_a_machine import HERE, Program, wait_until
from tests.deadline import DEADLINE
from tests.ports import free_port

COMPOSE = yaml.safe_load((HERE / "deploy" / "trial" / "compose.yaml").read_text(encoding="utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
IMAGE = (HERE / "deploy" / "Dockerfile").read_text(encoding="utf-8")
PORTS = re.compile(r"\b(1884|80\d\d)\b")


def fetched(address: str) -> Any:
    with urllib.request.urlopen(address, timeout=DEADLINE) as answer:  # noqa: S310 - the display's own
        return json.load(answer)


@pytest.fixture
def ports() -> dict[str, str]:
    """A free port for each that the file names, so that all services find each other."""
    text = (HERE / "deploy" / "trial" / "compose.yaml").read_text(encoding="utf-8")
    return {port: str(free_port()) for port in PORTS.findall(text)}


@contextmanager
def service(name: str, folder: Path, ports: dict[str, str]) -> Iterator[Path]:
    """A service as the file has it, in a folder of its own; the path of what it says."""
    of, home, log = SERVICES[name], folder / name, folder / f"{name}.log"
    home.mkdir(exist_ok=True)
    (workdir,) = re.findall(r"^WORKDIR (/var.*)$", IMAGE, re.MULTILINE)
    assert all(volume.endswith(f":{workdir}") for volume in of.get("volumes", ()))

    def here(text: str) -> str:
        return PORTS.sub(lambda found: ports[found[1]], text).replace("/src/", f"{HERE}/")

    environment = {key: here(value) for key, value in of["environment"].items()}
    environment["PATH"] = f"{HERE / '.venv' / 'bin'}:{os.environ['PATH']}"
    with log.open("ab") as said:
        process = subprocess.Popen(
            [here(word) for word in of["command"]],
            cwd=home,
            env={**os.environ, **environment},
            stdout=said,
            stderr=said,
            start_new_session=True,
        )
    try:
        yield log
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(DEADLINE)


@pytest.mark.soak
def test_its_services_are_a_broker_two_tables_that_deal_and_a_display_of_both(tmp_path, ports):
    mosquitto = tmp_path / "mosquitto.conf"
    (mounted,) = SERVICES["broker"]["volumes"]
    own = (HERE / mounted.partition(":")[0]).read_text(encoding="utf-8")
    mosquitto.write_text(PORTS.sub(lambda found: ports[found[1]], own), encoding="utf-8")
    program = shutil.which("mosquitto", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")
    assert program
    broker = Program(tmp_path / "broker.log", program, "-c", mosquitto)
    tables = [name for name in SERVICES if name.startswith("table-")]
    display = f"http://127.0.0.1:{ports['8080']}"
    records = {table: tmp_path / table / "table.db" for table in tables}

    def dealt(table: str) -> int:
        return (
            len(rows(records[table], "SELECT * FROM inputs WHERE source = 'shoe'"))
            if records[table].exists()
            else 0
        )

    def live() -> bool:
        return all(fetched(f"{display}/healthz")[each]["live"] for each in tables)

    with broker, service("display", tmp_path, ports) as shown, service("table-2", tmp_path, ports):
        wait_until(lambda: "http://" in shown.read_text(), "the display has its page")
        with service("table-1", tmp_path, ports) as log:
            wait_until(
                lambda: live() and all(dealt(each) > 3 for each in tables), "both deal their first shoe"
            )
        wait_until(lambda: not live(), "the display misses a table that was stopped")
        with service("table-1", tmp_path, ports):
            wait_until(live, "it goes on")
        said = log.read_text(encoding="utf-8")
        names = [each["name"] for each in fetched(f"{display}/tables")]

    assert names == ["Baccarat 1 · SIMULATION", "Baccarat 2 · SIMULATION"]
    assert said.count(" as dealer or supervisor, password ") == 2
    assert len(set(re.findall("password (.+)", said))) == 1
    for table in tables:
        assert replay(records[table]).difference is None


def test_what_the_image_copies_is_what_its_context_has():
    allowed = {
        line[1:]
        for line in (HERE / "deploy" / "Dockerfile.dockerignore").read_text().splitlines()
        if line.startswith("!")
    }
    rooms = {each.name for each in (HERE / "punto").iterdir() if each.is_symlink()}
    package = (each for room in (*rooms, "punto") for each in (HERE / room).rglob("*/*"))
    linked = {str(each.resolve().relative_to(HERE)) for each in package if each.is_symlink()}

    assert allowed == rooms | linked | {
        "punto",
        "deploy/trial",
        "pyproject.toml",
        "locks",
        "README.md",
        "CHANGELOG.md",
        "LICENSE",
    }
    assert all((HERE / each).exists() for each in allowed)


def test_every_service_is_on_the_loopback_alone():
    assert {each["network_mode"] for each in SERVICES.values()} == {"host"}
    assert "listener 1884 127.0.0.1" in (HERE / "deploy" / "trial" / "mosquitto.conf").read_text()
    assert not any("--host" in each.get("command", ()) for each in SERVICES.values())
