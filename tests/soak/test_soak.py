"""The soak's own equipment, and a short soak; `python -m tests.soak` is the long one (docs/explanation/reliability.md)."""

import os
import shutil
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.controller.table_on_a_machine import HERE
from tests.soak.house import missing
from tests.soak.shim import NAME, Failing, Shim, compiled

ABSENT = missing()
of_root = pytest.mark.skipif(bool(ABSENT), reason=f"a soak needs {', '.join(ABSENT)}")
WRITER = """\
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA journal_mode = WAL")
connection.execute("PRAGMA synchronous = FULL")
connection.execute("CREATE TABLE IF NOT EXISTS rows (at TEXT)")
for _ in range(2):
    connection.execute("INSERT INTO rows VALUES (datetime())")
print(connection.execute("SELECT max(at) FROM rows").fetchone()[0])
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory) -> Path:
    if shutil.which("cc") is None:
        pytest.skip("it needs a C compiler")
    return compiled(tmp_path_factory.mktemp("shim"))


def write(folder: Path, library: Path, shim: Shim) -> subprocess.CompletedProcess[str]:
    """Write to a record with the shim loaded."""
    command: list[str | Path] = [sys.executable, "-c", WRITER, folder / "table.db"]
    environment = {**os.environ, "LD_PRELOAD": str(library), NAME: str(shim.path)}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("kind", [each for each in Failing if each is not Failing.NOTHING])
def test_sqlite_gets_the_errors_of_the_shim_and_none_of_its_own(tmp_path, library, kind):
    shim = Shim(tmp_path / "shim")
    assert write(tmp_path, library, shim).returncode == 0
    assert shim.struck == 0

    shim.fail(kind)
    failed = write(tmp_path, library, shim)
    assert "disk I/O error" in failed.stderr
    assert shim.struck > 0

    shim.mend()
    assert write(tmp_path, library, shim).returncode == 0


def test_the_shim_sets_the_wall_clock(tmp_path, library):
    shim = Shim(tmp_path / "shim")
    shim.set_clock(400 * 86400)
    written = datetime.fromisoformat(write(tmp_path, library, shim).stdout.strip()).replace(tzinfo=UTC)

    assert timedelta(days=399) < written - datetime.now(UTC) < timedelta(days=401)


def soak(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command: list[str | Path] = [
        sys.executable,
        "-m",
        "tests.soak",
        "--file",
        folder / "soak.jsonl",
        *options,
    ]
    return subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=False)


@of_root
@pytest.mark.soak
def test_nothing_is_lost_or_doubled_while_real_faults_strike(tmp_path):
    done = soak(tmp_path, "--minutes", "3", "--hours", "0.04")
    print(done.stdout)

    assert done.returncode == 0, done.stdout + done.stderr[-3000:]


@of_root
@pytest.mark.soak
@pytest.mark.parametrize(
    "mutation",
    [
        "answer an input before it is committed",
        "forget the answer to a repeated wager request",
        "ignore an error of the disk",
    ],
)
def test_a_mistake_of_the_service_is_found(tmp_path, mutation):
    done = soak(tmp_path, "--minutes", "4", "--hours", "0.2", "--mutation", mutation)

    assert done.returncode == 1, done.stdout
    assert "WRONG" in done.stdout
