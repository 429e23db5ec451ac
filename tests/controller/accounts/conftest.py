"""A table with its consoles, and sign-ons at next to no cost, as the consoles' tests have them; and accounts in a file."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from punto.controller.accounts.accounts import Accounts
from tests.consoles.conftest import _quick, here

__all__ = ["_quick", "here"]


@pytest.fixture
def accounts(tmp_path: Path) -> Iterator[Accounts]:
    found = Accounts.open(tmp_path / "operators.db")
    yield found
    found.close()
