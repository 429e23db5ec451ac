"""The clocks of the PC. The service reads them only here, so that a simulation can put its own in their place."""

import time
from datetime import UTC, datetime

_AT_ONCE_SECONDS = 0.1


def now() -> datetime:
    """The wall clock, in UTC. People and the network set it, so it can go back."""
    return datetime.now(UTC)


def both() -> tuple[datetime, float]:
    """Both clocks at one moment: again, if the process did not go on at once between the two."""
    while True:
        before, wall, after = monotonic(), now(), monotonic()
        if after - before < _AT_ONCE_SECONDS:
            return wall, after


def monotonic() -> float:
    """Seconds on a clock that nobody sets."""
    return time.monotonic()
