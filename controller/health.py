"""How the service is doing, for the health message."""

import time
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from resource import getpagesize
from typing import Final

from controller.engine import Engine
from controller.journal.journal import Journal
from controller.messages.building import timestamp
from controller.messages.models import Health
from controller.outbox import Outbox

EVERY_SECONDS: Final = 10
_NONE: Final[Mapping[str, int]] = {}
_HOLDS: Final = timedelta(seconds=2.5 * EVERY_SECONDS)


class HealthReport:
    """Makes the health message from what the parts of the service count."""

    def __init__(self, engine: Engine, journal: Journal, outbox: Outbox) -> None:
        self._engine = engine
        self._journal = journal
        self._outbox = outbox
        self._started = time.monotonic()
        self._reports = 0

    def message(
        self,
        now: datetime,
        shoe_link: Mapping[str, int],
        keypad_link: Mapping[str, int],
        coin_spot_link: Mapping[str, int] = _NONE,
        card_reader_link: Mapping[str, int] = _NONE,
    ) -> Health:
        """The next report; the links are the counters of the devices' drivers."""
        self._reports += 1
        table = self._engine.state.settings.table
        return Health(
            id=f"{table}/health/{timestamp(now)}",
            seq=self._reports,
            ts=timestamp(now),
            valid_until=timestamp(now + _HOLDS),
            uptime_seconds=round(time.monotonic() - self._started, 3),
            inputs=self._engine.seq,
            rounds=self._journal.last_round,
            rounds_waiting=self._journal.last_round - self._journal.rounds_sent,
            events_waiting=len(self._outbox.events),
            events_dropped=self._outbox.dropped,
            resident_bytes=resident_bytes(),
            shoe_link=dict(shoe_link),
            keypad_link=dict(keypad_link),
            coin_spot_link=dict(coin_spot_link),
            card_reader_link=dict(card_reader_link),
        )


def resident_bytes() -> int:
    """The memory that this process has in use now."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * getpagesize()
