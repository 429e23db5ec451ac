"""The clocks of the PC. The service reads them only here, so that a simulation can put its own in their place."""

import time
from datetime import UTC, datetime


def now() -> datetime:
    """The wall clock, in UTC. People and the network set it, so it can go back."""
    return datetime.now(UTC)


def monotonic() -> float:
    """Seconds on a clock that nobody sets."""
    return time.monotonic()
