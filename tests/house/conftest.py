import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from subprocess import CalledProcessError

import pytest

from punto.house.store import Store
from punto.runtime.gaming_days import Calendar
from tests.postgresql import Cluster

CALENDAR = Calendar.of()
SHARED = Path(tempfile.gettempdir()) / f"pg{os.getpid()}"
"""A folder that all workers know, because they are forked later. A socket's path is short, and a folder of pytest's is not."""
_numbers = count(1)


@pytest.fixture(scope="session")
def postgresql() -> Cluster:
    """One cluster for all workers, which the first that needs it makes: to make one takes longer than most tests with it."""
    SHARED.mkdir(mode=0o755, exist_ok=True)
    shared = Cluster(SHARED / "c")
    with (SHARED / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not shared.folder.exists():
            shared.make()
    return shared


def pytest_sessionfinish() -> None:
    """Stop the cluster, in the process that has forked all workers."""
    if SHARED.exists():
        with suppress(CalledProcessError):  # it could not be made
            Cluster(SHARED / "c").stop("immediate")
        shutil.rmtree(SHARED, ignore_errors=True)


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path) -> str:
    """The address of a new store."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/store.db"
    running: Cluster = request.getfixturevalue("postgresql")
    return running.make_database(f"store{os.getpid()}_{next(_numbers)}")


@pytest.fixture
def open_store(url) -> Iterator[Callable[[], Store]]:
    opened: list[Store] = []

    def open_it() -> Store:
        opened.append(Store(url, CALENDAR))
        return opened[-1]

    yield open_it
    for each in opened:
        each.close()
