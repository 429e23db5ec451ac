import pytest


@pytest.fixture(autouse=True)
def _quick(cheap_passwords, quick_refusals):
    """Hundreds of tests sign on or ask too often, and few of them are about what that costs or how long it takes."""
