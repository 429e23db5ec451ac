import pytest


@pytest.fixture(autouse=True)
def _cheap(cheap_passwords):
    """Hundreds of tests sign on, and few of them are about what that costs."""
