"""The AsyncAPI document passes the official parser, which does find what is wrong with one."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.deadline import DEADLINE
from tests.share import soaked

ROOT = Path(__file__).parents[2]
COMMITTED = ROOT / "docs" / "reference" / "asyncapi.json"

Parse = Callable[[Path], subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def parse() -> Parse:
    """The official parser, installed with the other packages of npm's the first time."""
    subprocess.run(["make", "--silent", "node_modules/.ready"], cwd=ROOT, check=True, timeout=DEADLINE)
    script = Path(__file__).with_name("parse_asyncapi.mjs")

    def run(document: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["node", script, document], check=False, capture_output=True, text=True, timeout=DEADLINE
        )

    return run


def test_the_committed_document_passes(parse):
    ran = parse(COMMITTED)

    assert (ran.returncode, ran.stderr) == (0, "")
    assert "error" not in ran.stdout


def channel_without_address(document: dict[str, Any]) -> None:
    document["channels"]["state"]["address"] = 5


def operation_on_no_channel(document: dict[str, Any]) -> None:
    document["operations"]["send_state"]["channel"]["$ref"] = "#/channels/nothing"


def payload_that_is_no_schema(document: dict[str, Any]) -> None:
    document["components"]["schemas"]["State"]["type"] = "sentence"


@pytest.mark.parametrize(
    "spoil",
    [payload_that_is_no_schema, *soaked(channel_without_address, operation_on_no_channel)],
)
def test_a_spoilt_document_does_not_pass(spoil, parse, tmp_path):
    document = json.loads(COMMITTED.read_text(encoding="utf-8"))
    spoil(document)
    spoilt = tmp_path / "asyncapi.json"
    spoilt.write_text(json.dumps(document), encoding="utf-8")

    ran = parse(spoilt)

    assert ran.returncode == 1
    assert "error" in ran.stdout + ran.stderr
