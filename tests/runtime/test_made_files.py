"""The files that the program makes: who may read them, that they are whole, and that no link leads them elsewhere."""

import os
import re
import socket
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from punto.controller.accounts.accounts import Accounts
from punto.controller.journal.schema import open_for_writing
from punto.controller.signing.keys import SigningKey
from punto.controller.signing.signer import Signer
from punto.house.store import Store
from punto.runtime.gaming_days import Calendar
from punto.runtime.made_files import FOR_ALL, OWN, SHARED, new_file, own_folder, write_file
from punto.simulators.shoe import store as shoe_store
from punto.witness.store import WitnessStore

ROOT: Final = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def without_a_units_umask() -> Iterator[None]:
    """A person's shell can have any umask; this one forbids nothing."""
    before = os.umask(0)
    yield
    os.umask(before)


def store_of_a_house(path: Path) -> Store:
    store = Store(f"sqlite:///{path}", Calendar.of())
    assert store.leads()
    return store


def memory_of_a_signer(path: Path) -> Signer:
    signer = Signer(SigningKey.open(path.with_name("key")), path)
    return signer.__enter__()


def store_of_a_witness(path: Path) -> WitnessStore:
    return WitnessStore(path, SigningKey.open(path.with_name("key"))).__enter__()


@pytest.mark.parametrize(
    ("opened", "allowed"),
    [
        (store_of_a_house, 0o600),
        (store_of_a_witness, 0o600),
        (memory_of_a_signer, 0o600),
        (Accounts.open, 0o600),
        (open_for_writing, 0o640),
        (shoe_store.Store, 0o600),
    ],
)
def test_others_cannot_read_a_database_of_the_program_also_without_its_unit(
    tmp_path, opened: Callable[[Path], Any], allowed
):
    (tmp_path / "own").mkdir(mode=0o700)
    made = opened(tmp_path / "own" / "made.db")
    modes = {each.name: stat.S_IMODE(each.stat().st_mode) for each in (tmp_path / "own").iterdir()}
    made.__exit__(None, None, None) if hasattr(made, "__exit__") else made.close()

    assert "made.db" in modes
    assert {name: oct(mode) for name, mode in modes.items() if mode & ~allowed} == {}


def as_written(folder: Path) -> dict[str, tuple[int, ...]]:
    """What each file in the folder is, without the time at which it was read."""
    found = {each.name: each.lstat() for each in folder.iterdir()}
    return {name: (at.st_ino, at.st_mode, at.st_size, at.st_mtime_ns) for name, at in found.items()}


def pipe(path: Path) -> None:
    os.mkfifo(path)


def bound_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(str(path))


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (Path.mkdir, "Is a directory"),
        (pipe, "it is a pipe: name a file"),
        (bound_socket, "it is a socket: name a file"),
        (lambda path: path.symlink_to("/dev/null"), "it is a link: name a file"),
        (lambda path: path.symlink_to(path.with_name("victim")), "it is a link: name a file"),
        (lambda path: path.symlink_to("nothing"), "it is a link: name a file"),
    ],
    ids=["folder", "pipe", "socket", "link to a device", "link to a file", "link to nothing"],
)
def test_what_is_not_a_file_is_neither_followed_nor_replaced(tmp_path, made: Callable[[Path], None], said):
    victim, out = tmp_path / "victim", tmp_path / "out"
    victim.write_text("whole")
    made(out)
    before = as_written(tmp_path)

    with pytest.raises(OSError, match=said) as error:
        write_file(out, b"new", OWN)

    assert error.value.filename == str(out)
    assert victim.read_text() == "whole"
    assert as_written(tmp_path) == before


@pytest.mark.parametrize("mode", [OWN, SHARED, FOR_ALL])
@pytest.mark.parametrize("umask", [0o000, 0o077])
def test_a_file_has_its_mode_whatever_the_umask_and_the_file_before_were(tmp_path, mode, umask):
    out = tmp_path / "out"
    out.write_text("before")
    out.chmod(0o666)
    os.umask(umask)
    write_file(out, b"new", mode)

    assert (out.read_bytes(), stat.S_IMODE(out.stat().st_mode)) == (b"new", mode)
    assert [each.name for each in tmp_path.iterdir()] == ["out"]


def test_a_file_that_is_not_complete_is_private_and_changes_nothing(tmp_path):
    out = tmp_path / "out"
    out.write_text("before")

    def fail_halfway() -> None:
        with new_file(out, OWN) as file:
            file.write(b"half")
            (part,) = {*tmp_path.iterdir()} - {out}
            assert stat.S_IMODE(part.stat().st_mode) == OWN
            raise ConnectionError

    with pytest.raises(ConnectionError):
        fail_halfway()
    assert {each.name: each.read_text() for each in tmp_path.iterdir()} == {"out": "before"}


def test_a_file_that_is_not_to_be_replaced_stays_also_if_it_comes_meanwhile(tmp_path):
    out = tmp_path / "out"

    def write_while_another_does() -> None:
        with new_file(out, OWN, replace=False) as file:
            file.write(b"new")
            out.write_text("another's")

    for again in (write_while_another_does, write_while_another_does):
        with pytest.raises(FileExistsError):
            again()
        assert {each.name: each.read_text() for each in tmp_path.iterdir()} == {"out": "another's"}


def test_a_link_in_the_place_of_the_folder_leads_nowhere_else(tmp_path):
    """The folder's owner can exchange the folder while the file is written."""
    folder, elsewhere = tmp_path / "folder", tmp_path / "elsewhere"
    folder.mkdir()
    elsewhere.mkdir()
    with new_file(folder / "out", OWN) as file:
        file.write(b"new")
        folder.rename(tmp_path / "moved")
        folder.symlink_to(elsewhere)

    assert [*elsewhere.iterdir()] == []
    assert (tmp_path / "moved" / "out").read_bytes() == b"new"


def test_a_private_folder_is_not_another_one_that_a_link_leads_to(tmp_path):
    own_folder(tmp_path / "a" / "own")
    other = tmp_path / "other"
    other.mkdir(mode=0o755)
    (tmp_path / "link").symlink_to(other)

    assert stat.S_IMODE((tmp_path / "a" / "own").stat().st_mode) == 0o700
    with pytest.raises(NotADirectoryError):
        own_folder(tmp_path / "link")
    assert stat.S_IMODE(other.stat().st_mode) == 0o755


WRITING = re.compile(
    r"\.(write_text|write_bytes|touch)\(|\bopen\([^)]*[\"'][wax]b?\+?[\"']|mkstemp|NamedTemporaryFile|O_TRUNC"
)


def test_the_program_writes_files_in_one_way():
    """Each other way would follow a link, or leave half a file with the mode that a shell's umask allows."""
    rooms = ("punto", "controller", "drivers", "simulators", "configs")
    sources = {each.resolve() for room in rooms for each in (ROOT / room).rglob("*.py")}
    others = sorted(
        f"{each.relative_to(ROOT)}: {line.strip()}"
        for each in sources
        for line in each.read_text("utf-8").splitlines()
        if WRITING.search(line)
    )

    assert len(sources) > 300
    assert others == []
