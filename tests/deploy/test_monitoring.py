"""The files for Prometheus and Grafana in deploy/monitoring: they ask for metrics that the programs have, and the alerts fire when they must."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator

import pytest
import yaml

from punto.controller.metrics import FAMILIES as OF_A_TABLE
from punto.house.metrics import FAMILIES as OF_A_HOUSE
from tests.controller.table_in_this_process import HERE

FOLDER = HERE / "deploy" / "monitoring"
FAMILIES = {**OF_A_TABLE, **OF_A_HOUSE}
STANDARD = {"up", "process_resident_memory_bytes"}
"""What Prometheus itself and its client add."""
_PARTS = {"histogram": ("_bucket", "_sum", "_count")}
SERIES = {
    name + part: {*family.labels, *(["le"] if part == "_bucket" else [])}
    for name, family in FAMILIES.items()
    for part in _PARTS.get(family.kind, ("",))
}
"""Each time series with its labels."""
DASHBOARD = json.loads((FOLDER / "grafana" / "dashboard.json").read_text(encoding="utf-8"))
RULES = yaml.safe_load((FOLDER / "alerts.yml").read_text(encoding="utf-8"))["groups"][0]["rules"]


def queries() -> Iterator[tuple[str, str, str]]:
    """Each query of dashboard and rules with its place, and the text that shows its labels."""
    for panel in DASHBOARD["panels"]:
        for target in panel["targets"]:
            yield panel["title"], target["expr"], target["legendFormat"]
    for rule in RULES:
        yield rule["alert"], rule["expr"], " ".join(rule["annotations"].values())
    for variable in DASHBOARD["templating"]["list"]:
        if variable["type"] == "query":
            ((series, label),) = re.findall(r"label_values\((\w+), (\w+)\)", variable["query"])
            yield variable["name"], f'{series}{{{label}=""}}', ""


@pytest.mark.parametrize(("place", "query", "shown"), [*queries()], ids=[place for place, *_ in queries()])
def test_a_query_asks_for_metrics_and_labels_that_the_programs_have(place, query, shown):
    names = set(re.findall(r"\b(?:punto_|process_|up\b)\w*", query))
    assert names, place
    assert names <= SERIES.keys() | STANDARD

    known = {"job", "instance"}.union(*(SERIES.get(name, set()) for name in names))
    selected = {
        label for inner in re.findall(r"\{(.*?)\}", query) for label in re.findall(r"(\w+)\s*[=!]", inner)
    }
    grouped = {label for inner in re.findall(r"by \((.*?)\)", query) for label in inner.split(", ")}
    told = set(re.findall(r"\$labels\.(\w+)", shown)) | set(re.findall(r"\{\{(\w+)\}\}", shown))
    assert selected | grouped | told <= known
    assert told <= (grouped - {"le"} if grouped else known), "a sum has no other labels"


def test_every_alert_is_tested_both_ways():
    text = (FOLDER / "alerts_test.yml").read_text(encoding="utf-8")
    tests = [each for test in yaml.safe_load(text)["tests"] for each in test["alert_rule_test"]]

    for fires in (True, False):
        assert {each["alertname"] for each in tests if bool(each["exp_alerts"]) is fires} == {
            each["alert"] for each in RULES
        }


@pytest.mark.skipif(shutil.which("promtool") is None, reason="Debian's package prometheus is not installed")
@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "config", "prometheus.yml"),
        ("check", "rules", "alerts.yml"),
        ("test", "rules", "alerts_test.yml"),
    ],
    ids=" ".join,
)
def test_prometheus_takes_the_configuration_and_the_rules_pass_their_tests(arguments):
    found = subprocess.run(["promtool", *arguments], cwd=FOLDER, text=True, capture_output=True, check=False)

    assert found.returncode == 0, found.stdout + found.stderr


def test_the_dashboard_is_of_the_type_that_grafana_publishes(tmp_path):
    raw = HERE / "node_modules/@grafana/schema/dist/types/raw/dashboard/x/types.gen"
    for name, dashboard in (("good", DASHBOARD), ("bad", {**DASHBOARD, "panels": [{"gridpos": {}}]})):
        lines = (
            f"import type {{ Dashboard, Panel }} from {json.dumps(str(raw))};",
            # In JSON, a value of an enumeration is its text.
            "type Plain<T> = T extends string ? `${T}` : T extends object ? { [K in keyof T]: Plain<T[K]> } : T;",
            "type Whole = Plain<Omit<Dashboard, 'panels'> & { panels: Panel[] }>;",
            f"export const dashboard: Whole = {json.dumps(dashboard)};",
        )
        (tmp_path / f"{name}.ts").write_text("\n".join(lines), encoding="utf-8")
        command = [
            str(HERE / "node_modules/.bin/tsc"),
            "--noEmit",
            "--strict",
            "--skipLibCheck",
            "--ignoreConfig",
        ]
        found = subprocess.run(
            [*command, tmp_path / f"{name}.ts"], text=True, capture_output=True, check=False
        )
        assert (found.returncode == 0) is (name == "good"), found.stdout
