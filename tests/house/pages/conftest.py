"""A page of the browser, as the consoles' tests have it, and streams that are told sooner."""

import pytest

from punto.house import standing, web
from tests.consoles.pages.conftest import page

__all__ = ["page"]


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    """Each second of the pages' stream, and of the alarms behind it, is told in a twentieth of it."""
    monkeypatch.setattr(web, "VIEW_EVERY_SECONDS", 0.05)
    monkeypatch.setattr(standing, "LOOK_SECONDS", 0.05)
