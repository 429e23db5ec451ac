"""What monitoring sees of the tables of a process. All of it is what the service knows already, read when it is asked for."""

import asyncio
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Final, NamedTuple

from punto.baccarat.currency import decimals_of
from punto.baccarat.table.state import Phase
from punto.controller.config.file import ServiceConfig
from punto.controller.engine import Engine
from punto.controller.journal.backup import backups_in
from punto.controller.journal.journal import Journal
from punto.controller.outbox import Outbox
from punto.drivers.base import LinkHealth
from punto.runtime.metrics import Family, Sample, reading
from punto.version import __version__

FAMILIES: Final[Mapping[str, Family]] = {
    "punto_build_info": Family("gauge", "The version of the program; always 1.", ("version",)),
    "punto_table_info": Family(
        "gauge", "The table's game and currency; always 1.", ("table", "game", "currency", "simulation")
    ),
    "punto_table_up": Family("gauge", "Whether the table's record is open and orders are taken."),
    "punto_phase": Family("gauge", "Whether the table is in this phase.", ("table", "phase")),
    "punto_inputs_total": Family("counter", "Inputs on the record, which is the number of the last one."),
    "punto_rounds_total": Family("counter", "Rounds on the record, which is the number of the last one."),
    "punto_rounds_waiting": Family("gauge", "Rounds on the record that the broker does not have."),
    "punto_messages_waiting": Family("gauge", "Messages that wait for the broker."),
    "punto_messages_dropped_total": Family(
        "counter", "Messages that were dropped: no broker, or a slow one."
    ),
    "punto_link_connected": Family(
        "gauge", "Whether a device, the broker or the signer is connected.", ("table", "link")
    ),
    "punto_link_changed_timestamp_seconds": Family(
        "gauge", "When a link was last connected or lost.", ("table", "link")
    ),
    "punto_link_events_total": Family(
        "counter", "What a link has counted, such as broken frames.", ("table", "link", "event")
    ),
    "punto_commit_seconds": Family("histogram", "How long the record's commits took."),
    "punto_commits_waiting": Family("gauge", "Inputs and other work that wait for the record's writer."),
    "punto_record_bytes": Family("gauge", "The size of the record with its log."),
    "punto_record_free_bytes": Family("gauge", "The free space on the record's disk."),
    "punto_record_locked": Family("gauge", "Whether another program holds up the record's writer."),
    "punto_record_differs": Family("gauge", "Whether the last replay found a difference."),
    "punto_record_replayed_timestamp_seconds": Family(
        "gauge", "When the last replay in the background ended."
    ),
    "punto_backup_timestamp_seconds": Family("gauge", "When the newest backup was made, 0 without one."),
    "punto_people_signed_on": Family("gauge", "People who are signed on at the consoles or at the table."),
    "punto_alarms": Family("gauge", "Alarms that nobody has acknowledged.", ("table", "code")),
    "punto_stops": Family("gauge", "Stops: play waits for a person.", ("table", "code")),
    "punto_meter_amount": Family(
        "gauge", "The meter as displays show it, in the currency.", ("table", "progressive", "currency")
    ),
}
"""Each metric. A label has few values, which the program or the configuration fixes, and never a person."""
STUCK_SECONDS: Final = 10.0
"""A table proves its path to the disk every second. If it has not for so long, it makes no progress."""
_LOOK_SECONDS: Final = 1.0
_NOT_COUNTED: Final = frozenset({"version_seen"})  # a value among the counters


class TableParts(NamedTuple):
    """The parts of a table's service that are read."""

    config: ServiceConfig
    engine: Engine
    journal: Journal
    outbox: Outbox
    links: Callable[[], Mapping[str, LinkHealth]]
    people: Callable[[], int]


class _OnDisk(NamedTuple):
    """What only a look at the disk shows."""

    record: int
    free: int
    backup: float | None


class MonitoredTable:
    """A table that is open."""

    def __init__(self, parts: TableParts) -> None:
        self._parts = parts
        self._disk: _OnDisk | None = None
        self._look: asyncio.Task[None] | None = None

    def unready(self) -> str:
        """Why the table cannot do its work now, empty if it can. A device that is away is not among the reasons: people go on."""
        broker = self._parts.links().get("broker")
        if self._parts.journal.blocked or broker is None or broker.connected:
            return self._parts.journal.blocked
        return f"broker: {broker.reason}"

    async def samples(self) -> Iterator[Sample]:
        """Its present values."""
        await self._look_at_the_disk()
        return self._samples()

    async def _look_at_the_disk(self) -> None:
        """Look, in a thread: the folder of the backups may be on another machine that does not answer. One look at a time."""
        if self._look is None or self._look.done():
            self._look = asyncio.create_task(self._looked())
        await asyncio.wait([self._look], timeout=_LOOK_SECONDS)

    async def _looked(self) -> None:
        metrics = self._parts.config.metrics
        folder = None if metrics is None else metrics.backups
        try:
            self._disk = await asyncio.to_thread(_on_disk, self._parts.journal.path, folder)
        except OSError:  # the disk is away: no figure is better than an old one
            self._disk = None

    def _samples(self) -> Iterator[Sample]:
        config, engine, journal, outbox, links, people = self._parts
        table, state = config.table.id, engine.state
        settings = state.settings
        info = (settings.game.name, settings.currency, str(settings.simulation).lower())
        yield reading("punto_table_info", table, *info, value=1)
        for phase in Phase:
            yield reading("punto_phase", table, phase.value, value=phase is state.phase)
        yield reading("punto_inputs_total", table, value=engine.seq)
        yield reading("punto_rounds_total", table, value=journal.last_round)
        yield reading("punto_rounds_waiting", table, value=journal.last_round - journal.rounds_sent)
        yield reading("punto_messages_waiting", table, value=len(outbox.events))
        yield reading("punto_messages_dropped_total", table, value=outbox.dropped)
        for name, link in links().items():
            yield reading("punto_link_connected", table, name, value=link.connected)
            yield reading("punto_link_changed_timestamp_seconds", table, name, value=link.since.timestamp())
            for event, count in link.counters.items():
                if event not in _NOT_COUNTED:
                    yield reading("punto_link_events_total", table, name, event, value=count)
        yield Sample("punto_commit_seconds", (table,), tuple(journal.commit_times.histogram()))
        yield reading("punto_commits_waiting", table, value=journal.waiting)
        yield reading("punto_record_locked", table, value=bool(journal.blocked))
        if (replay := journal.replayed) is not None:
            yield reading("punto_record_differs", table, value=replay.difference is not None)
            finished = datetime.fromisoformat(replay.finished).timestamp()
            yield reading("punto_record_replayed_timestamp_seconds", table, value=finished)
        if (disk := self._disk) is not None:
            yield reading("punto_record_bytes", table, value=disk.record)
            yield reading("punto_record_free_bytes", table, value=disk.free)
            if disk.backup is not None:
                yield reading("punto_backup_timestamp_seconds", table, value=disk.backup)
        yield reading("punto_people_signed_on", table, value=people())
        yield from _each_code("punto_alarms", table, (each.code for each in state.alarms))
        yield from _each_code("punto_stops", table, (each.code for each in state.waiting.stops))
        if state.progressive is not None:
            books = state.progressive.books
            amount = books.shown / 10 ** decimals_of(settings.currency)
            progressive = books.settings.progressive
            yield reading("punto_meter_amount", table, progressive, settings.currency, value=amount)


def _each_code(name: str, table: str, codes: Iterable[str]) -> Iterator[Sample]:
    found = [*codes]
    for code in sorted(set(found)):
        yield reading(name, table, code, value=found.count(code))


def _on_disk(record: Path, backups: Path | None) -> _OnDisk:
    files = (record, record.with_name(f"{record.name}-wal"))
    size = sum(each.stat().st_size for each in files if each.exists())
    free = shutil.disk_usage(record.parent).free
    if backups is None:
        return _OnDisk(size, free, None)
    found = backups_in(backups, record)
    return _OnDisk(size, free, found[-1][0].timestamp() if found else 0.0)


def of_the_program() -> Sample:
    """What no table has of its own."""
    return reading("punto_build_info", __version__, value=1)
