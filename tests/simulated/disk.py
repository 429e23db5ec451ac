"""The simulated disk, and the path of inputs over it: SQLite's own commits, in steps between which the process can be killed.

An input is executed, committed, and then published and answered. The process can end between any two of these steps, and in the
middle of what is published.
"""

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from pathlib import Path
from queue import SimpleQueue
from random import Random
from typing import Any, Final, Protocol

from punto.controller.journal.execution import Step
from punto.controller.journal.journal import Journal
from punto.controller.journal.snapshots import Snapshot
from punto.controller.outbox import Outbox
from tests.simulated.loop import InTurn

FULL: Final = "database or disk is full"
BROKEN: Final = "disk I/O error"
NEXT: Final = frozenset(
    {
        *("kill executed", "kill before", "kill after", "kill publishing", "kill at a round"),
        *("full", "broken", "broken after"),
    }
)
"""The faults that happen at the next commit, or on the way to it or from it."""
GONE: Final = "the process was killed"
MOST_PUBLISHED: Final = 3
"""A kill in the middle of what is published comes before one of the first so many messages, or after all of them."""


class Process(Protocol):
    """The process of a service, as its disk and its network see it."""

    dead: bool
    journal: "SteppedJournal | None"

    @property
    def disk(self) -> "Disk": ...

    def kill(self, when: str) -> None: ...

    def committed(self) -> None: ...

    def published(self) -> None: ...


PROCESS: ContextVar[Process] = ContextVar("process")
"""The process in which the code runs."""


class Disk:
    """What happens to the next commit: one fault at a time."""

    def __init__(self, chance: Random) -> None:
        self.chance = chance
        self.next: str | None = None
        self.slow_until = 0.0
        self.failed = False
        """Whether the process that runs has seen an error of it."""
        self.publishes = 0
        """Before how many-th message of those that are published now the process is killed; 0 if it is not."""

    def seconds(self, now: float) -> float:
        """How long a commit takes."""
        slowest = 0.6 if now < self.slow_until else 0.02
        return 0.0005 + self.chance.random() ** 3 * slowest

    def take(self, *faults: str) -> str | None:
        """The next fault, if it is one of these."""
        found = self.next if self.next in faults else None
        if found is not None:
            self.next = None
        return found


class _Connection:
    """A connection whose commits can fail, and which a killed process has no more."""

    def __init__(self, connection: sqlite3.Connection, process: Process) -> None:
        self._connection = connection
        self._process = process
        self._changes = connection.total_changes

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def execute(self, statement: str, *values: Any) -> sqlite3.Cursor:
        disk, process = self._process.disk, self._process
        commits = statement == "COMMIT" or (
            statement.startswith("INSERT") and not self._connection.in_transaction
        )
        if commits and disk.take("kill before"):
            process.kill("before a commit")
        if process.dead and statement != "ROLLBACK":
            raise sqlite3.OperationalError(GONE)
        fault = disk.take("full", "broken", "broken after") if commits else None
        if fault in {"full", "broken"}:
            disk.failed = True
            raise sqlite3.OperationalError(FULL if fault == "full" else BROKEN)
        done = self._connection.execute(statement, *values)
        if commits and self._connection.total_changes != self._changes:
            self._changes = self._connection.total_changes
            process.committed()
        if commits and disk.take("kill after"):
            process.kill("after a commit, before its results are handed back")
        if fault is not None:  # the disk reports an error although the commit is on it
            disk.failed = True
            raise sqlite3.OperationalError(BROKEN)
        return done


class _Jobs(SimpleQueue[Any]):
    def __init__(self, wake: Callable[[], None]) -> None:
        super().__init__()
        self._wake = wake

    def put(self, item: Any, block: bool = True, timeout: float | None = None) -> None:
        super().put(item, block, timeout)
        self._wake()


class _Writer(threading.Thread):
    """The writer's thread as steps of the loop: it is never started."""

    def __init__(self, journal: "SteppedJournal") -> None:
        super().__init__()
        self._journal = journal
        self.running = False

    def start(self) -> None:
        self.running = True
        self._journal.wake()

    def is_alive(self) -> bool:
        return self.running and not self._journal.process.dead

    def join(self, timeout: float | None = None) -> None:
        while self.is_alive():
            self._journal.step()


class _Handing:
    """The loop, as the writer sees it: what is handed to it comes later, and never in a killed process."""

    def __init__(self, journal: "SteppedJournal", loop: asyncio.AbstractEventLoop) -> None:
        self._journal = journal
        self._in_turn = InTurn(loop)
        self.call_soon = loop.call_soon

    def call_soon_threadsafe(self, call: Callable[..., object], *args: Any) -> None:
        self._in_turn.call_later(self._journal.process.disk.chance.random() * 0.001, self._call, call, *args)

    def _call(self, call: Callable[..., object], *args: Any) -> None:
        if not self._journal.process.dead:
            call(*args)


class SteppedJournal(Journal):
    """The journal without a thread: each commit is a step, and the results are handed back in a later one."""

    def __init__(self, path: Path, connection: sqlite3.Connection, lock: int) -> None:
        super().__init__(path, connection, lock)
        self.process = PROCESS.get()
        loop = asyncio.get_running_loop()
        self._loop_of_time = loop
        self._later = InTurn(loop)
        self._waits = False
        self._writer = _Writer(self)
        self.ends = {self.head.seq}
        """The last inputs of what was given to `append`: the record ends with one of them, because it has all of them or none."""
        stepped: Any = self
        stepped._connection = _Connection(connection, self.process)
        self.process.journal = self
        stepped._jobs = _Jobs(self.wake)
        stepped._thread = self._writer
        stepped._loop = _Handing(self, loop)

    def wake(self) -> None:
        """Commit what waits, a little later."""
        if self._waits or not self._writer.is_alive() or self._jobs.empty():
            return
        self._waits = True
        self._later.call_later(self.process.disk.seconds(self._loop_of_time.time()), self._wakes)

    def _wakes(self) -> None:
        self._waits = False
        if self._writer.is_alive() and not self._jobs.empty():
            self.step()

    def step(self) -> None:
        """One commit."""
        self._writer.running = self._write_waiting()
        self.wake()

    def append(
        self, steps: Sequence[Step], snapshot: Snapshot | None, then: Callable[[], Any]
    ) -> "asyncio.Future[Any]":
        """As the journal's own, with kills before and after it."""
        disk, process = self.process.disk, self.process
        self.ends.update(step.seq for step in steps[-1:])
        if steps and disk.take("kill executed"):
            process.kill("after inputs were executed, before they were given to the writer")

        def publish() -> Any:
            if steps and disk.take("kill publishing"):
                disk.publishes = disk.chance.randint(1, MOST_PUBLISHED)
            found = then()
            if disk.publishes:
                disk.publishes = 0
                process.kill("after inputs were published, before they were answered")
            if not process.dead:
                process.published()
            return found

        return super().append(steps, snapshot, publish)


class SteppedOutbox(Outbox):
    """The outbox, at which the process can be killed in the middle of what is published."""

    def __init__(self) -> None:
        super().__init__()
        self._process = PROCESS.get()

    def _step(self) -> None:
        disk = self._process.disk
        if disk.publishes:
            disk.publishes -= 1
            if not disk.publishes:
                self._process.kill("in the middle of what is published")

    def put(self, topic: str, payload: bytes, taken: Callable[[], None] = lambda: None) -> None:
        """See `Outbox.put`."""
        self._step()
        super().put(topic, payload, taken)

    def snapshot_due(self, *names: str) -> None:
        """See `Outbox.snapshot_due`."""
        self._step()
        super().snapshot_due(*names)

    def rounds_are_due(self) -> None:
        """See `Outbox.rounds_are_due`."""
        self._step()
        super().rounds_are_due()
