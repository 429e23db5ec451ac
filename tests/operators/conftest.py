import pytest
from argon2 import PasswordHasher

from punto.controller.accounts import passwords

REAL = passwords._HASHER


@pytest.fixture(autouse=True)
def cheap_passwords(monkeypatch):
    """Argon2id as always, but at next to no cost: hundreds of tests sign on, and few of them are about that."""
    monkeypatch.setattr(passwords, "_HASHER", PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))


@pytest.fixture
def costly_passwords(monkeypatch, cheap_passwords):
    """Passwords that cost what they cost at a table, for what is true only then."""
    monkeypatch.setattr(passwords, "_HASHER", REAL)
