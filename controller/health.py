"""The health message of the service, and the record's state for the consoles."""

import shutil
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from resource import getpagesize
from typing import Final

from punto.controller.engine import Engine
from punto.controller.journal.journal import Journal
from punto.controller.outbox import Outbox
from punto.drivers.base import LinkHealth
from punto.messages.building import timestamp
from punto.messages.models import Health
from punto.runtime import clock

EVERY_SECONDS: Final = 10
_HOLDS: Final = timedelta(seconds=2.5 * EVERY_SECONDS)


class HealthReport:
    """Makes the health message from the counters of the service's parts."""

    def __init__(
        self,
        engine: Engine,
        journal: Journal,
        outbox: Outbox,
        house_accounts: Callable[[], int | None] = lambda: None,
    ) -> None:
        self._house_accounts = house_accounts
        self._engine = engine
        self.journal = journal
        self._outbox = outbox
        self._started = clock.monotonic()
        self._reports = 0

    def message(self, now: datetime, links: Mapping[str, LinkHealth]) -> Health:
        """The next report; `links` has the devices' links by the devices' names."""
        self._reports += 1
        settings = self._engine.state.settings
        return Health(
            id=f"{settings.table}/health/{timestamp(now)}",
            seq=self._reports,
            ts=timestamp(now),
            simulation=settings.simulation,
            valid_until=timestamp(now + _HOLDS),
            uptime_seconds=round(clock.monotonic() - self._started, 3),
            record=self._engine.record_name,
            inputs=self._engine.seq,
            rounds=self.journal.last_round,
            rounds_waiting=self.journal.last_round - self.journal.rounds_sent,
            events_waiting=len(self._outbox.events),
            events_dropped=self._outbox.dropped,
            resident_bytes=resident_bytes(),
            links={name: dict(link.counters) for name, link in links.items()},
            house_accounts=self._house_accounts(),
            replay=self.journal.replayed,
        )


class RecordHealth:
    """The record as a console shows it. The service ends if it cannot write; it waits while another program holds the lock."""

    def __init__(self, journal: Journal, path: Path) -> None:
        self._journal = journal
        self._path = path
        self._since = clock.now()

    def health(self) -> LinkHealth:
        """The number of inputs, and the free space on the disk."""
        try:
            free = f"{shutil.disk_usage(self._path.parent).free / 1e9:,.1f} GB free on its disk"
        except OSError as error:  # the disk is away, which a page and a scrape must still show
            free = f"its disk does not answer: {error.strerror}"
        inputs = self._journal.last_seq
        blocked = self._journal.blocked
        reason = blocked or f"{inputs:,} inputs, {free}"
        return LinkHealth(str(self._path), not blocked, reason, self._since, None, {"inputs": inputs})


def resident_bytes() -> int:
    """The memory in use by this process, in bytes."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * getpagesize()
