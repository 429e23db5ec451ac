from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from punto.controller.gaming_days import Calendar
from punto.game_manager.floor.store import Store
from tests.postgresql import Cluster, cluster

CALENDAR = Calendar.of()
_numbers = count(1)


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Cluster]:
    # A socket's path is short, and a folder of pytest's is not.
    with TemporaryDirectory(prefix="pg", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        with cluster(Path(folder) / "c") as running:
            yield running


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path) -> str:
    """The address of a new store."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/store.db"
    running: Cluster = request.getfixturevalue("postgresql")
    return running.make_database(f"store{next(_numbers)}")


@pytest.fixture
def open_store(url) -> Iterator[Callable[[], Store]]:
    opened: list[Store] = []

    def open_it() -> Store:
        opened.append(Store(url, CALENDAR))
        return opened[-1]

    yield open_it
    for each in opened:
        each.close()
