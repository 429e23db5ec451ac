import pytest
from argon2 import PasswordHasher

from punto.controller.accounts import passwords

REAL = passwords._HASHER, passwords._CARD_COST
CHEAP = {"time_cost": 1, "memory_cost": 8, "parallelism": 1}


@pytest.fixture(autouse=True)
def cheap_passwords(monkeypatch):
    """Argon2id as always, but at next to no cost: hundreds of tests sign on, and few of them are about that."""
    monkeypatch.setattr(passwords, "_HASHER", PasswordHasher(**CHEAP))
    monkeypatch.setattr(passwords, "_CARD_COST", CHEAP)


@pytest.fixture
def costly_passwords(monkeypatch, cheap_passwords):
    """Passwords that cost what they cost at a table, for what is true only then."""
    hasher, card_cost = REAL
    monkeypatch.setattr(passwords, "_HASHER", hasher)
    monkeypatch.setattr(passwords, "_CARD_COST", card_cost)
