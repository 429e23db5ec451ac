"""The clocks of the PC. The service reads them only here, so that a simulation can put its own in their place."""

import ctypes
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

_AT_ONCE_SECONDS = 0.1
_TIMESYNC: Final = Path("/run/systemd/timesync/synchronized")
_TIME_ERROR: Final = 5
"""What adjtimex returns while no program keeps the clock synchronised."""


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


def since_boot() -> float:
    """Seconds since the PC has started."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def synchronised() -> bool | None:
    """Whether a program keeps the wall clock synchronised; None if nothing says so.

    The kernel says so, by adjtimex(2), which chrony and systemd-timesyncd set, but not in the sandbox of a unit. There, the files of
    systemd-timesyncd do.
    """
    if _TIMESYNC.exists():
        return True
    try:
        state = ctypes.CDLL(None, use_errno=True).adjtimex(ctypes.create_string_buffer(512))
    except (AttributeError, OSError):
        state = -1
    if state < 0:
        return False if _TIMESYNC.parent.is_dir() else None
    return bool(state != _TIME_ERROR)
