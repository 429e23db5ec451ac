"""The files that the program makes: who may read them, that they are whole, and that no link leads them elsewhere."""

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from punto.controller.accounts.accounts import Accounts
from punto.controller.journal.schema import open_for_writing
from punto.controller.signing.keys import SigningKey
from punto.controller.signing.signer import Signer
from punto.house.store import Store
from punto.runtime.gaming_days import Calendar
from punto.simulators.shoe import store as shoe_store
from punto.witness.store import WitnessStore


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
    tmp_path, opened: Callable[[Path], object], allowed
):
    (tmp_path / "own").mkdir(mode=0o700)
    made = opened(tmp_path / "own" / "made.db")
    modes = {each.name: stat.S_IMODE(each.stat().st_mode) for each in (tmp_path / "own").iterdir()}
    made.__exit__(None, None, None) if hasattr(made, "__exit__") else made.close()

    assert "made.db" in modes
    assert {name: oct(mode) for name, mode in modes.items() if mode & ~allowed} == {}
