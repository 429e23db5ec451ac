"""What monitoring sees of the tables of a service: Prometheus's own parser and program read it."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from prometheus_client.parser import text_string_to_metric_families

from punto.baccarat.table.state import Phase
from punto.commands.operator import ask
from punto.configs.problems import ConfigError
from punto.controller.config.tables import load_configs
from punto.controller.journal import schema, store
from punto.controller.metrics import FAMILIES, STUCK_SECONDS
from punto.controller.tables import Tables
from punto.runtime import clock
from tests.controller.table_on_a_machine import STAFF, Broker, wait_until
from tests.controller.test_many_tables import NAMES, House, spoil
from tests.deadline import DEADLINE
from tests.ports import free_port

Metrics = dict[tuple[str, frozenset[tuple[str, str]]], float]


class MonitoredHouse(House):
    """Two tables of one service, with an address for monitoring, and a folder of backups."""

    def __init__(self, folder: Path, broker: Broker | None) -> None:
        super().__init__(folder, broker)
        self.port = free_port()
        text = self.config.read_text(encoding="utf-8")
        section = f'version = 1\n[metrics]\nport = {self.port}\nbackups = "backups"\n'
        self.config.write_text(text.replace("version = 1\n", section, 1), encoding="utf-8")

    def get(self, path: str, **headers: str) -> tuple[int, str]:
        request = Request(f"http://127.0.0.1:{self.port}{path}", headers=headers)
        try:
            with urlopen(request, timeout=DEADLINE) as answer:  # noqa: S310 - of this machine
                return answer.status, answer.read().decode()
        except HTTPError as error:
            return error.code, error.read().decode()

    def health(self, path: str) -> tuple[int, dict[str, str]]:
        status, text = self.get(path)
        return status, json.loads(text)["faults"]

    def metrics(self) -> Metrics:
        return {
            (sample.name, frozenset(sample.labels.items())): sample.value
            for family in text_string_to_metric_families(self.get("/metrics")[1])
            for sample in family.samples
        }


def of(metrics: Metrics, name: str, table: str = "north", **labels: str) -> float | None:
    return metrics.get((name, frozenset({"table": table, **labels}.items())))


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MonitoredHouse]:
    """A house that no test changes: `north` has a shoe, and is open for play."""
    folder = tmp_path_factory.mktemp("house")
    with Broker(folder) as broker, MonitoredHouse(folder, broker) as running, running.shoe("north"):
        running.begin_shoe("north")
        wait_until(lambda: running.status("north")["phase"] == "betting", "north takes wagers")
        yield running


def test_the_metrics_are_what_the_service_knows(house):
    backup = house.folder / "backups" / "table.db.20260102T030405.000000Z"
    backup.parent.mkdir()
    backup.touch()
    wait_until(lambda: house.health("/readyz") == (200, {}), "both tables are ready")
    seen = house.metrics()
    with closing(schema.open_for_reading(house.record("north"))) as record:
        inputs = store.last_head(record).seq

    assert of(seen, "punto_table_up") == 1
    assert sum(of(seen, "punto_phase", phase=each.value) or 0 for each in Phase) == 1
    assert of(seen, "punto_phase", "south", phase="locked") == 1
    assert 0 < (of(seen, "punto_inputs_total") or 0) <= inputs
    assert of(seen, "punto_link_connected", link="shoe") == 1
    assert of(seen, "punto_link_connected", link="broker") == 1
    assert of(seen, "punto_link_connected", "south", link="shoe") == 0
    assert of(seen, "punto_people_signed_on") == 1
    assert of(seen, "punto_people_signed_on", "south") == 0
    assert (of(seen, "punto_commit_seconds_count") or 0) > 3
    assert of(seen, "punto_commit_seconds_count") == of(seen, "punto_commit_seconds_bucket", le="+Inf")
    assert (of(seen, "punto_record_bytes") or 0) >= house.record("north").stat().st_size
    assert of(seen, "punto_backup_timestamp_seconds") == 1767323045
    assert ("process_resident_memory_bytes", frozenset()) in seen


def test_the_metrics_have_no_person_and_only_what_the_catalogue_lists(house):
    text = house.get("/metrics")[1]
    families = {each.name for each in text_string_to_metric_families(text)}

    assert not re.search(rf"\b{STAFF['name']}\b", text)
    assert {each for each in families if not each.startswith("process_")} <= {
        name.removesuffix("_total") for name in FAMILIES
    }


@pytest.mark.skipif(shutil.which("promtool") is None, reason="Debian's package prometheus is not installed")
def test_prometheus_takes_the_metrics(house):
    text = house.get("/metrics")[1]
    found = subprocess.run(
        ["promtool", "check", "metrics"], input=text, text=True, capture_output=True, check=False
    )

    assert (found.returncode, found.stderr) == (0, "")


def test_the_page_of_another_site_reads_nothing(house):
    assert house.get("/metrics", Host="casino.example")[0] == 400
    assert house.get("/metrics", Host=f"localhost:{house.port}")[0] == 200


def test_a_table_is_ready_as_long_as_its_record_is_open_and_its_broker_connected(tmp_path):
    with Broker(tmp_path) as broker, MonitoredHouse(tmp_path, broker) as house:
        wait_until(lambda: house.health("/readyz") == (200, {}), "both are ready")
        broker.kill()
        wait_until(lambda: set(house.health("/readyz")[1]) == set(NAMES), "the broker is missed")
        status, faults = house.health("/readyz")

        assert status == 503
        assert all(why.startswith("broker: ") for why in faults.values())
        assert house.health("/healthz") == (200, {})

        spoil(house.record("south"))
        with suppress(OSError, ValueError):  # the table ends before it answers
            ask(house.folder / "south" / "sock", {"order": "sign_on", "by": STAFF})
        wait_until(lambda: "record" in house.health("/readyz")[1]["south"], "south has failed")
        seen = house.metrics()

        assert "another program has written to this record" in house.health("/readyz")[1]["south"]
        assert (of(seen, "punto_table_up"), of(seen, "punto_table_up", "south")) == (1, 0)
        assert of(seen, "punto_phase", "south", phase="locked") is None


async def test_a_table_without_signs_of_life_is_stuck(monkeypatch, tmp_path):
    now = [1000.0]
    monkeypatch.setattr(clock, "monotonic", lambda: now[0])
    House(tmp_path, None)
    tables = Tables(load_configs(tmp_path / "house.toml"), _never)
    assert tables.stuck() == {}, "a start may take its time"
    tables._opened("north")
    now[0] += STUCK_SECONDS
    assert tables.stuck() == {}
    now[0] += 1

    assert tables.stuck() == {"north": "its inputs have not reached the disk for 11 s"}
    tables._alive("north")
    assert tables.stuck() == {}


async def _never(*_: Any) -> None:
    raise AssertionError


def test_tables_of_one_file_have_one_address(tmp_path):
    House(tmp_path, None, "[table.metrics]\nport = 8097")
    text = (tmp_path / "house.toml").read_text(encoding="utf-8").replace("port = 8097", "port = 8098", 1)
    (tmp_path / "house.toml").write_text(text, encoding="utf-8")

    with pytest.raises(ConfigError, match="write \\[metrics\\] once"):
        load_configs(tmp_path / "house.toml")


def test_a_record_whose_disk_is_away_has_no_figures_of_it_and_all_others(tmp_path):
    folder = tmp_path / "disk"
    folder.mkdir()
    with MonitoredHouse(folder, None) as running:
        assert (of(running.metrics(), "punto_record_free_bytes") or 0) > 0
        folder.rename(tmp_path / "away")
        seen = running.metrics()

    assert of(seen, "punto_record_free_bytes") is None
    assert of(seen, "punto_table_up") == 1
