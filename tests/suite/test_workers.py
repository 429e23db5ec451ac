"""Tests in several processes have the same results as in one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.deadline import DEADLINE

HERE = Path(__file__).parents[2]
ONE = """
import os
import pytest

@pytest.fixture(scope="module")
def opened():
    with open("opened", "a") as file:
        file.write(f"{os.getpid()}\\n")
    yield
    with open("closed", "a") as file:
        file.write(f"{os.getpid()}\\n")

@pytest.mark.parametrize("number", range(20))
def test_it_has_the_fixture(opened, number, capfd):
    print(number)
    assert capfd.readouterr().out == f"{number}\\n"
"""
HANGS = """
import time
import pytest

@pytest.fixture
def endless():
    yield
    time.sleep(600)

@pytest.mark.timeout(1)
def test_it_hangs(endless):
    time.sleep(600)

def test_it_passes():
    pass
"""
OTHER = """
import os
import time
import pytest

def test_it_fails(tmp_path):
    print("what it has printed")
    assert tmp_path == 1

def test_it_is_skipped():
    pytest.skip("not here")

def test_its_process_dies():
    os._exit(9)

def test_it_takes_long():
    time.sleep(0.2)

@pytest.mark.xfail(strict=True)
def test_it_is_expected_to_fail():
    assert False
"""


def run(folder: Path, *options: str, **modules: str) -> tuple[int, str]:
    """The exit status of pytest and its output."""
    for name, text in modules.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-c", "/dev/null", "--rootdir=.", "-p", "no:cacheprovider"]
    ran = subprocess.run(
        [*command, "-p", "tests.workers", "-rA", *options, "."],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(HERE), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        check=False,
    )
    return ran.returncode, ran.stdout + ran.stderr


@pytest.mark.parametrize("workers", [0, 1, 3])
def test_each_test_runs_once_with_its_fixtures(tmp_path, workers):
    status, output = run(tmp_path, "--workers", str(workers), test_one=ONE)
    opened, closed = ((tmp_path / name).read_text().split() for name in ("opened", "closed"))

    assert status == 0, output
    assert "20 passed" in output
    assert output.count("PASSED test_one.py::test_it_has_the_fixture[") == 20
    assert sorted(opened) == sorted(closed)
    assert 1 <= len(set(opened)) <= max(workers, 1)
    assert workers == 3 or len(opened) == 1


def test_failures_are_reported_with_what_they_printed_and_a_dead_process_fails_its_test_alone(tmp_path):
    status, output = run(tmp_path, "--workers", "2", test_one=ONE, test_other=OTHER)

    assert status == 1, output
    assert "2 failed, 21 passed, 1 skipped, 1 xfailed" in output
    assert "the worker died with the exit code 9 in this test" in output
    assert "FAILED test_other.py::test_its_process_dies" in output
    assert "what it has printed" in output


def test_a_test_that_hangs_whatever_interrupts_it_fails_alone(tmp_path):
    options = ("--workers", "1", "-p", "pytest_timeout")
    status, output = run(tmp_path, *options, test_hangs=HANGS)

    assert status == 1, output
    assert "1 failed, 1 passed" in output
    assert "the worker hung in this test" in output
    assert "FAILED test_hangs.py::test_it_hangs" in output


def test_no_test_begins_after_the_first_failure_if_so_asked(tmp_path):
    status, output = run(tmp_path, "--workers", "1", "-x", test_other=OTHER)

    assert status == 1
    assert "stopping after 1 failures" in output
    assert "1 failed in" in output


def test_an_error_of_the_collection_runs_no_test(tmp_path):
    status, output = run(tmp_path, "--workers", "2", test_one=ONE, test_wrong="import nothing_of_this_name")

    assert status == 2
    assert "1 error during collection" in output
    assert not (tmp_path / "opened").exists()
