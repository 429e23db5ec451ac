"""A broker, and a table in this process."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.controller.table_in_this_process import Table, table
from tests.controller.table_on_a_machine import Broker


@pytest.fixture
def mosquitto(tmp_path: Path) -> Iterator[Broker]:
    with Broker(tmp_path) as broker:
        yield broker


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Table]:
    """A table at betting, round 2."""
    async with table(tmp_path / "table.db") as own:
        await own.begin_shoe()
        await own.play(1)
        yield own
