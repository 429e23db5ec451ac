"""Checks the clock of the PC: whether it can be right at a start, and whether it was set, by a clock that nobody sets."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Final

import structlog

from punto.baccarat.table.turn import RefusedError
from punto.messages.building import timestamp
from punto.runtime import clock
from punto.runtime.sd_notify import notify
from punto.version import released

STEP: Final = timedelta(seconds=1)
"""A smaller difference may be of a clock that runs too fast or too slow: the system corrects it without a step."""
RELEASED: Final = released().astimezone(UTC)
"""This version of the program was released later, so a clock that shows an earlier time has not been set."""
WAIT_SECONDS: Final = 60.0
"""How long a start waits for the clock. A PC without a battery for its clock has the time some seconds after its network."""

_log = structlog.get_logger("punto.controller")


async def wait_for_clock(last: datetime | None) -> None:
    """Wait until the clock can be right, at most `WAIT_SECONDS`.

    It cannot be right before this version of the program, or before `last`, the record's last input. If no program has synchronised it
    yet, the start waits too, but only until the PC has run for `WAIT_SECONDS`: a service that restarts later is in the middle of a hand,
    and a PC without a network has no other clock.

    After the wait, a clock before the last input counts, because the earlier one may have been wrong: a table that refused it could be
    unable to play for years.

    Raises:
        RefusedError: the clock is still before this version of the program.
    """
    earliest, until, waits = max(RELEASED, last or RELEASED), clock.monotonic() + WAIT_SECONDS, False
    while reason := _why_to_wait(now := clock.now(), earliest):
        if clock.monotonic() >= until:
            if now < RELEASED:
                raise RefusedError("clock_not_set", reason)
            _log.warning("clock accepted", reason=reason)
            break
        if not waits:
            waits = True
            _log.warning("waiting for the clock", reason=reason, at_most_seconds=WAIT_SECONDS)
            notify(f"STATUS=waiting for the clock: {reason}")
        await asyncio.sleep(1)
    if waits:
        _log.info(
            "no longer waiting for the clock",
            now=timestamp(clock.now()),
            synchronised=clock.synchronised(),
        )
        notify("STATUS=")


def _why_to_wait(now: datetime, earliest: datetime) -> str:
    """Why the clock is not right now, and what to do; empty if it can be right."""
    look = "check the network and the time server (`timedatectl` shows both)"
    if now + STEP <= earliest:
        which = "this version of the program" if earliest is RELEASED else "the last input on the record"
        return f"the clock of this PC shows {timestamp(now)}, which is before {which} ({timestamp(earliest)}): set the clock, or {look}"
    if clock.since_boot() < WAIT_SECONDS and clock.synchronised() is False:
        return f"no program has synchronised the clock of this PC since it was started: {look}"
    return ""


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
