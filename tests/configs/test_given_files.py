"""Files that people give the program: a pipe, a device or a file without end is an error, and never a hang."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from punto.commands.lab_report.inputs import bill, installation
from punto.commands.lab_report.results import Results
from punto.configs.game_files import load_game
from punto.configs.given_files import read_given
from punto.controller.accounts.accounts import Accounts
from punto.controller.journal import evidence_verifier
from punto.controller.journal.schema import open_for_writing
from punto.controller.signing.keys import SigningKey
from punto.displays.house import read_house
from punto.runtime.secret_file import read_secret
from punto.runtime.tls import client_tls, server_tls
from punto.simulators.sealed import read_key
from punto.simulators.shoe.scenario import read_scenario
from punto.simulators.shoe.store import Store
from punto.witness.store import heads_of
from tests.deadline import DEADLINE

ROOT: Final = Path(__file__).parents[2]


def theme(path: Path) -> None:
    """A house's theme, whose logo is at this path."""
    file = path.with_name("house.toml")
    file.write_text('logo = "given.svg"')
    read_house(file)


def results(path: Path) -> None:
    Results.read(path.parent, "0.1.0")


def manifest(path: Path) -> None:
    installation(path.parent)


READERS: Final[dict[str, tuple[str, Callable[[Path], Any]]]] = {
    "configuration": ("given", lambda path: load_game(str(path))),
    "scenario": ("given", lambda path: read_scenario(str(path))),
    "secret": ("given", lambda path: read_secret(path, "password", "mqtt.password_file")),
    "device's key": ("given", read_key),
    "signing key": ("given", SigningKey.open),
    "authority": ("given", lambda path: client_tls(path, None, None, "mqtt")),
    "certificate": ("given", lambda path: server_tls(path, path, "console")),
    "logo": ("given.svg", theme),
    "bill of materials": ("given", bill),
    "manifest": ("manifest.sum", manifest),
    "results of tests": ("given.xml", results),
    "file of a witness": ("given", lambda path: heads_of(path, "aa")),
    "record": ("given", open_for_writing),
    "accounts": ("given", Accounts.open),
    "store of a virtual shoe": ("given", Store),
}


@pytest.mark.parametrize("what", READERS)
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_what_is_not_a_file_is_an_error_and_never_a_hang(tmp_path, what, kind):
    name, reader = READERS[what]
    if kind == "pipe":
        os.mkfifo(tmp_path / name)
    else:
        (tmp_path / name).symlink_to("/dev/zero")

    with pytest.raises(Exception, match=f"it is a {kind}: name a file"):
        reader(tmp_path / name)


@pytest.mark.parametrize("what", ["secret", "device's key", "signing key", "logo"])
def test_a_file_without_end_is_not_read(tmp_path, what):
    name, reader = READERS[what]
    with (tmp_path / name).open("wb") as file:
        file.truncate(1 << 40)

    with pytest.raises(
        Exception, match=r"it has more than [\d,]+ bytes|has 1,099,511,627,776 bytes: make it"
    ):
        reader(tmp_path / name)


def test_a_file_of_just_so_many_bytes_is_read(tmp_path):
    (tmp_path / "given").write_bytes(b"12345")

    assert read_given(tmp_path / "given", 5) == b"12345"
    with pytest.raises(OSError, match="it has more than 4 bytes"):
        read_given(tmp_path / "given", 4)


def test_the_verifier_of_the_release_reads_no_pipe(tmp_path):
    os.mkfifo(tmp_path / "bundle")
    command = [sys.executable, "-I", "-S", evidence_verifier.__file__, str(tmp_path / "bundle")]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=DEADLINE)

    assert (ran.returncode, "cannot be read: it is not a file" in ran.stderr) == (2, True)


ITS_OWN: Final = re.compile(r"/proc/|shipped\.|files\(|_PAGES|PAGES /|STATIC /|CATALOGS /|source\.|own_files")
"""What the program reads of itself and of the system."""
OTHERS: Final = {
    "configs/given_files.py",  # the one way
    "punto/version.py",  # CHANGELOG.md, which ships with the program
    "controller/components.py",  # all files of the program
    "controller/signing/manifest.py",  # all files of the installation
    "punto/commands/lab_report/inputs.py",  # the program's own files, to compare them
    "punto/commands/lab_report/report.py",  # the games that ship
    "controller/journal/wal.py",  # what SQLite wrote beside a record
    "controller/journal/evidence_verifier.py",  # it is a file of its own, without the program
    "punto/doctor/ports.py",  # what the kernel says of a USB adapter
    "punto/commands/edge_report.py",  # it reads a stream, line by line
}


def test_the_program_reads_what_people_give_it_in_one_way():
    reading = re.compile(r"\.read_(text|bytes)\(|\.open\(\"rb\"|\bopen\([^)]*[\"']rb?[\"']")
    found = {
        str(path.relative_to(ROOT))
        for room in ("punto", "controller", "drivers", "simulators", "configs")
        for path in (ROOT / room).rglob("*.py")
        for line in path.read_text("utf-8").splitlines()
        if reading.search(line) and not ITS_OWN.search(line)
    }

    assert found <= OTHERS


def test_the_program_opens_no_archive_but_a_bundle_of_evidence():
    """A bundle is compared byte by byte with what its files give, so its entries cannot overlap or be others than it has."""
    found = {
        str(path.relative_to(ROOT))
        for room in ("punto", "controller", "drivers", "simulators", "configs")
        for path in (ROOT / room).rglob("*.py")
        if re.search(
            r"\b(zipfile|tarfile|gzip|bz2|lzma|unpack_archive|zlib\.decompress\()", path.read_text("utf-8")
        )
    }

    assert found == set()
