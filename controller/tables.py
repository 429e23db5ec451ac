"""Runs the services of a process's tables, and keeps them apart: a table that fails does not end the others.

An error that endangers a record is never passed over. In a process with one table it ends the process, and systemd starts the
process again. In a process with several tables it ends the table in the same way, and `Tables` starts only this table again,
after a pause: a start opens the record anew and checks it, whether a process or a table starts. If no table is left, the process
ends.
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import partial
from typing import Any, Final

import structlog

from punto.controller.config.file import ServiceConfig
from punto.controller.expectations import Counts
from punto.controller.metrics import FAMILIES, STUCK_SECONDS, MonitoredTable, of_the_program
from punto.controller.supervisor import EXPECTED, Process
from punto.runtime import clock
from punto.runtime.failures import errors_of, messages_of
from punto.runtime.metrics import Sample, reading
from punto.runtime.sd_notify import notify

AGAIN_AFTER_SECONDS: Final = 10.0
"""The pause before a failed table starts again: a start takes time from the other tables."""

_log = structlog.get_logger("punto.controller")

Serve = Callable[[ServiceConfig, Process], Coroutine[Any, Any, None]]
"""Runs the service of one table until cancelled, as `supervisor.serve` does."""


class Tables:
    """The tables of one process. `ready` is called once, when each table is open or has failed.

    systemd hears of all of them together: that they are ready, and that each open table makes progress. Monitoring sees each.
    """

    families = FAMILIES

    def __init__(
        self, configs: Sequence[ServiceConfig], serve: Serve, ready: Callable[[], None] = lambda: None
    ) -> None:
        self.failures: dict[str, list[str]] = {}
        """The tables that have failed, each with the messages of its last failure."""
        self._configs = configs
        self._serve = serve
        self._ready: Callable[[], None] | None = ready
        self._starting = {config.table.id for config in configs}
        self._open: set[str] = set()
        self._alive_at: dict[str, float] = {}
        self._monitored: dict[str, MonitoredTable] = {}
        self._silent: set[str] = set()  # no sign of life since systemd was last told
        self._replaying = asyncio.Lock()
        self._counts = Counts()

    async def run(self) -> None:
        """Run all tables until cancelled. If the last table fails, its error is raised in a group."""
        try:
            async with asyncio.TaskGroup() as tasks:
                for config in self._configs:
                    tasks.create_task(self._keep(config), name=config.table.id)
        finally:
            if self._ready is None:
                notify("STOPPING=1")

    async def _keep(self, config: ServiceConfig) -> None:
        """Run a table, and start it again after a failure."""
        table = config.table.id
        structlog.contextvars.bind_contextvars(table=table)
        while True:
            process = Process(
                partial(self._opened, table),
                partial(self._alive, table),
                self._replaying,
                self._counts,
                partial(self._monitored.__setitem__, table),
            )
            try:
                # In a separate task: before Python 3.13, the task of a group may keep the cancellation of the group.
                await asyncio.create_task(self._serve(config, process), name=f"{table} service")
            except Exception as error:  # every failure ends the table
                self._failed(table, error)
                ending = (task := asyncio.current_task()) is not None and task.cancelling()
                if ending or not self._starting | self._open:
                    raise
                unexpected = [each for each in errors_of(error) if not isinstance(each, EXPECTED)]
                _log.error(
                    "table failed",
                    reason="; ".join(self.failures[table]),
                    again_in_seconds=AGAIN_AFTER_SECONDS,
                    exc_info=error if unexpected else None,
                )
            await asyncio.sleep(AGAIN_AFTER_SECONDS)
            self._starting.add(table)

    def _opened(self, table: str) -> None:
        self._starting.discard(table)
        self._open.add(table)
        self._alive_at[table] = clock.monotonic()
        self._tell_ready()

    def _failed(self, table: str, error: Exception) -> None:
        self.failures[table] = messages_of(error)
        for those in (self._starting, self._open, self._silent):
            those.discard(table)
        self._monitored.pop(table, None)
        self._tell_ready()

    def _tell_ready(self) -> None:
        if self._ready is not None and self._open and not self._starting:
            notify("READY=1")
            self._ready()
            self._ready = None

    def _alive(self, table: str) -> None:
        """Note a sign of life, and feed systemd's watchdog if each open table has given one since the last time."""
        self._alive_at[table] = clock.monotonic()
        self._silent.discard(table)
        if not self._silent:
            notify("WATCHDOG=1")
            self._silent = set(self._open)

    # --- for monitoring

    async def samples(self) -> Sequence[Sample]:
        """The values of all tables."""
        found = [of_the_program()]
        for table in (config.table.id for config in self._configs):
            found.append(reading("punto_table_up", table, value=table in self._open))
            if (monitored := self._monitored.get(table)) is not None:
                found += await monitored.samples()
        return found

    def stuck(self) -> Mapping[str, str]:
        """The open tables whose path to the disk has not worked for a while, as systemd's watchdog sees them."""
        now = clock.monotonic()
        silent = {table: now - self._alive_at[table] for table in sorted(self._open)}
        return {
            table: f"its inputs have not reached the disk for {seconds:.0f} s"
            for table, seconds in silent.items()
            if seconds > STUCK_SECONDS
        }

    def unready(self) -> Mapping[str, str]:
        """The tables that are not open, or cannot do their work now."""
        found = {}
        for table in (config.table.id for config in self._configs):
            if table in self._open:
                reason = self._monitored[table].unready()
            else:
                reason = "it starts" if table in self._starting else "; ".join(self.failures.get(table, ()))
            if reason:
                found[table] = reason
        return found
