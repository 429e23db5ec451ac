"""The AsyncAPI document passes the official parser, which does find what is wrong with one."""

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent / "asyncapi"
COMMITTED = Path(__file__).parents[2] / "docs" / "reference" / "asyncapi.json"

Parse = Callable[[Path], subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def parse() -> Parse:
    """The official parser, installed beside its lock file the first time."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        pytest.fail("the official parser needs node and npm: install them, or deselect this file")
    installed = HERE / "node_modules" / ".package-lock.json"
    wanted = (HERE / "package-lock.json").stat().st_mtime
    if not installed.exists() or installed.stat().st_mtime < wanted:
        subprocess.run(
            [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"],
            cwd=HERE,
            check=True,
            capture_output=True,
            timeout=110,
        )

    def run(document: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [node, HERE / "parse.mjs", document], check=False, capture_output=True, text=True, timeout=60
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
    [channel_without_address, operation_on_no_channel, payload_that_is_no_schema],
)
def test_a_spoilt_document_does_not_pass(spoil, parse, tmp_path):
    document = json.loads(COMMITTED.read_text(encoding="utf-8"))
    spoil(document)
    spoilt = tmp_path / "asyncapi.json"
    spoilt.write_text(json.dumps(document), encoding="utf-8")

    ran = parse(spoilt)

    assert ran.returncode == 1
    assert "error" in ran.stdout + ran.stderr


def test_the_lock_file_names_no_registry():
    locked = json.loads((HERE / "package-lock.json").read_text(encoding="utf-8"))

    assert not [name for name, package in locked["packages"].items() if "resolved" in package]
