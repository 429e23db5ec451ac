"""`punto shoe` as a process: `python -m punto.simulators.shoe` is the same command."""

import asyncio
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from punto.simulators.shoe import shuffled
from punto.simulators.shoe.store import Store
from tests.deadline import DEADLINE
from tests.share import soaked
from tests.simulators.shoe.host import Host, Table
from tests.started import Started

HERE = Path(__file__).parents[3]


@pytest.fixture
def start(tmp_path):
    """Start the command; with a link it is there when this returns."""
    processes = []

    def start(*options, wait=True, most_bytes=None):
        command = [sys.executable, "-m", "punto", "shoe", *map(str, options)]
        if most_bytes is not None:  # of a file: what a full disk is to the store
            command = ["prlimit", f"--fsize={most_bytes}", *command]
        pipe = subprocess.PIPE
        process = Started(command, cwd=HERE, stdout=pipe, stderr=pipe, text=True)
        processes.append(process)
        end = time.monotonic() + DEADLINE
        while wait and not (tmp_path / "shoe").is_symlink() and time.monotonic() < end:
            assert process.poll() is None, process.communicate()
            time.sleep(0.01)
        return process

    yield start
    for process in processes:
        process.kill()
        process.communicate()


@pytest.fixture
def link(tmp_path):
    return tmp_path / "shoe"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_cleanly_and_takes_its_link_along(start, link, number):
    process = start("--link", link)
    process.send_signal(number)
    out, errors = process.communicate(timeout=DEADLINE)

    assert (process.returncode, errors) == (0, "")
    assert not link.is_symlink()
    assert out.startswith(f"shoe VS-000001 is at {link} (/dev/pts/")


def test_quiet_is_quiet(start, link):
    process = start("--link", link, "--quiet")
    process.terminate()

    assert process.communicate(timeout=DEADLINE) == ("", "")


@pytest.mark.parametrize("window", [16, *soaked(1)])
async def test_kill_9_loses_no_card_and_doubles_none(start, link, window):
    host = Host(link, Table())
    options = ("--link", link, "--decks", 2, "--seed", "k", "--window", window, "--pace", 0.004)
    kills = 0
    while not host.table.over:
        link.unlink(missing_ok=True)
        process = start(*options)
        await host.until_taken(20)
        process.kill()
        process.wait()
        kills += 1
    dealt = host.table.dealt[0]

    assert dealt == shuffled("k", 1, 2)[: len(dealt)]
    assert [record.record for record in host.taken] == list(range(1, len(host.taken) + 1))
    assert len(dealt) > 90
    assert kills >= 4


async def test_the_memory_is_beside_the_link_unless_told_otherwise(start, link, tmp_path):
    for options, store in (((), "shoe.store"), (("--store", tmp_path / "memory"), "memory")):
        link.unlink(missing_ok=True)
        process = start("--link", link, "--decks", 1, *options)
        host = Host(link, Table())
        await host.until_over()
        process.terminate()
        await asyncio.to_thread(process.communicate)
        found = Store(tmp_path / store)

        assert found.inside.out == len(host.table.dealt[0])
        found.close()


@pytest.fixture
def passing(tmp_path, monkeypatch):
    """Where the command's temporary files are."""
    folder = tmp_path / "passing"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


def test_a_killed_shoe_leaves_its_memory_and_nothing_else(start, link, passing):
    process = start("--link", link)
    process.kill()
    process.wait()

    assert link.with_name("shoe.store").exists()
    assert list(passing.iterdir()) == []


def test_a_memory_that_nobody_named_is_gone_with_the_shoe(start, passing):
    process = start(wait=False)
    assert process.stdout.readline().startswith("shoe VS-000001 is at /dev/pts/")
    (folder,) = passing.iterdir()
    assert (folder / "store").exists()
    process.terminate()
    process.communicate(timeout=DEADLINE)

    assert list(passing.iterdir()) == []


def test_two_shoes_on_one_store_are_refused(start, link):
    start("--link", link)
    second = start("--link", link, wait=False)
    out, errors = second.communicate(timeout=DEADLINE)

    assert (second.returncode, out) == (1, "")
    assert (
        errors
        == f"punto shoe: another virtual shoe uses the store {link}.store: give this shoe another store\n"
    )
    assert link.is_symlink()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--fault", "noise=2"], "fault noise=2: write a chance from 0 to 1, such as noise=0.01"),
        (["--scenario", "nothing"], "there is no scenario nothing: write a file's path, or one of bad-line,"),
        (["--window", "0"], "window is 0: write 1 to 64"),
        (["--scenario", "overdraw", "--cut", "20"], "cut is 20, but shoe 1 has 16 cards: write 0"),
        (["--link", "/etc/hostname"], "/etc/hostname exists and is not a symlink"),
        (["--store", "/proc/none/store"], "cannot open the store /proc/none/store"),
    ],
)
def test_a_wrong_option_is_one_line_and_exit_1(start, options, says):
    process = start(*options, wait=False)
    out, errors = process.communicate(timeout=DEADLINE)

    assert process.returncode == 1
    assert out == ""
    assert errors.startswith(f"punto shoe: {says}")
    assert errors.count("\n") == 1


async def test_an_option_outranks_the_scenario_and_faults_add_up(start, link, tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text('serial = "FROM-FILE"\ndecks = 2\nfaults = ["repeat=1"]\n')
    start("--link", link, "--scenario", file, "--decks", "1", "--fault", "split=9")
    host = Host(link, Table())
    await host.until_over()
    host.close()

    assert {hello.serial for hello in host.hellos} == {"FROM-FILE"}
    assert host.hellos[-1].decks == 1
    assert host.decoder.counters.frames > 1.5 * len(host.taken)


async def test_a_shoe_goes_on_when_nobody_reads_what_it_says(start, link):
    process = start("--link", link, "--decks", "1")
    process.stdout.close()
    host = Host(link, Table(shoes=2))
    await host.until_over()
    process.terminate()
    process.wait(timeout=DEADLINE)

    assert (process.returncode, process.stderr.read()) == (0, "")


async def test_a_shoe_that_cannot_remember_stops_and_has_sent_nothing_that_it_forgot(start, link, tmp_path):
    process = start("--link", link, "--decks", "1", most_bytes=200_000)
    host = Host(link, Table(shoes=99))
    await host.until(lambda: process.poll() is not None)
    link.unlink(missing_ok=True)
    errors = process.stderr.read()
    again = start("--link", link, "--decks", "1")
    await host.until(lambda: len(host.table.dealt) > 8)

    assert process.returncode == 1
    assert errors.startswith("punto shoe: the store cannot be written: ")
    assert errors.count("\n") == 1
    assert again.poll() is None
    for number, dealt in enumerate(host.table.dealt[:-1], start=1):
        assert dealt == shuffled("1", number, 1)[: len(dealt)]
