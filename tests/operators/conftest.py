import pytest

from punto.baccarat.table.table import Table


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
