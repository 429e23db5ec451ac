"""The simulated disk: SQLite's own commits, in steps between which the process can be killed and the disk can fail."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from contextvars import ContextVar
from pathlib import Path
from queue import SimpleQueue
from random import Random
from typing import Any, Final, Protocol

from punto.controller.journal.journal import Journal
from tests.simulated.loop import InTurn

FULL: Final = "database or disk is full"
BROKEN: Final = "disk I/O error"


class Process(Protocol):
    """The process of a service, as its disk and its network see it."""

    dead: bool

    @property
    def disk(self) -> "Disk": ...

    def kill(self, when: str) -> None: ...

    def committed(self) -> None: ...


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
    """A connection whose commits can fail."""

    def __init__(self, connection: sqlite3.Connection, disk: Disk) -> None:
        self._connection = connection
        self._disk = disk

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def execute(self, statement: str, *values: Any) -> sqlite3.Cursor:
        commits = statement == "COMMIT" or (
            statement.startswith("INSERT") and not self._connection.in_transaction
        )
        fault = self._disk.take("full", "broken", "broken after") if commits else None
        if fault in {"full", "broken"}:
            self._disk.failed = True
            raise sqlite3.OperationalError(FULL if fault == "full" else BROKEN)
        done = self._connection.execute(statement, *values)
        if fault is not None:  # the disk reports an error although the commit is on it
            self._disk.failed = True
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
        stepped: Any = self
        stepped._connection = _Connection(connection, self.process.disk)
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
        disk, process = self.process.disk, self.process
        if disk.take("kill before"):
            process.kill("before a commit")
            return
        before = self.connection.total_changes
        self._writer.running = self._write_waiting()
        if self.connection.total_changes != before:
            process.committed()
        if disk.take("kill after"):
            process.kill("after a commit, before its results are handed back")
            return
        self.wake()
