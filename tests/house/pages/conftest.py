import pytest

from punto.house import web


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    """Each second of the pages' stream is told in a twentieth of it."""
    monkeypatch.setattr(web, "VIEW_EVERY_SECONDS", 0.05)
