"""How long a test waits for an event: far longer than the event takes, even on a machine that has much else to do.

A shorter limit is for a test that is about this limit, and such a test is marked `punctual`.
"""

import time
from collections.abc import Iterator
from typing import Final

DEADLINE: Final = 240.0
"""In seconds. Pytest ends a test that takes longer than its `timeout` in pyproject.toml, which is more than twice as long."""


def pauses(seconds: float = DEADLINE) -> Iterator[float]:
    """Seconds to sleep between two looks whether an event has come, until `seconds` have passed.

    Each pause is a twentieth of the time so far, because what takes long is not found late by that, and a look costs a
    processor more than a sleep does.
    """
    start = time.monotonic()
    while (gone := time.monotonic() - start) < seconds:
        yield min(0.002 + gone / 20, 0.05)
