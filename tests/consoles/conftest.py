import pytest
import pytest_asyncio

from punto.baccarat.table.table import Table
from tests.consoles.consoles import consoles


@pytest.fixture(autouse=True)
def _quick(cheap_passwords, quick_refusals):
    """Hundreds of tests sign on or ask too often, and few of them are about what that costs or how long it takes."""


@pytest.fixture
def evaluations(monkeypatch):
    """The kinds of the events that a table has handled or tried, in order."""
    found, handle = [], Table.handle

    def noted(table, event, **how):
        found.append(event.kind)
        return handle(table, event, **how)

    monkeypatch.setattr(Table, "handle", noted)
    return found


@pytest_asyncio.fixture
async def here(tmp_path):
    """A table that has started, with its consoles as they are by default."""
    async with consoles(tmp_path) as running:
        yield running


@pytest_asyncio.fixture
async def mei(here):
    """The browser of Mei, a supervisor, who has signed on."""
    here.account("Mei", "supervisor")
    return await here.signed_on("Mei")


@pytest_asyncio.fixture
async def eve(here):
    """The browser of Eve, another supervisor."""
    here.account("Eve", "supervisor")
    return await here.signed_on("Eve")
