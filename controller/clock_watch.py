"""Sees that the clock of the PC was set, by a clock that nobody sets."""

from datetime import datetime, timedelta
from typing import Final

STEP: Final = timedelta(seconds=1)
"""A smaller difference may be of a clock that runs too fast or too slow: the system corrects it without a step."""


class ClockWatch:
    """Compares the wall clock with the monotonic one."""

    def __init__(self, now: datetime, monotonic: float) -> None:
        self._now = now
        self._monotonic = monotonic

    def look(self, now: datetime, monotonic: float) -> tuple[datetime, datetime] | None:
        """What the wall clock should show (UTC) and what it shows, if it was set since the last look."""
        expected = self._now + timedelta(seconds=monotonic - self._monotonic)
        self._now, self._monotonic = now, monotonic
        return None if abs(now - expected) < STEP else (expected, now)
