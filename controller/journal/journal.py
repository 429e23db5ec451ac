"""The record's only writer: a thread that commits its jobs in order, each batch durably.

The jobs that arrive during one commit go into the next together, so a fast shoe needs one commit for many cards.
A failure ends the writer; it is raised to every waiting caller and from `watch`, which ends the process.
"""

import asyncio
import fcntl
import glob
import os
import secrets
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from contextvars import copy_context
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, Final, Self, TypeVar

import structlog

from punto.baccarat.wagers.definition import Game
from punto.configs.expectations import Expectations
from punto.controller.journal import schema, store
from punto.controller.journal.commit_times import CommitTimes
from punto.controller.journal.entries import Entry, Head
from punto.controller.journal.execution import Step
from punto.controller.journal.meters import add_expectations
from punto.controller.journal.schema import RecordError
from punto.controller.journal.snapshots import Snapshot
from punto.messages.models import Replay
from punto.runtime import clock
from punto.runtime.made_files import SHARED
from punto.runtime.sqlite_errors import in_words, is_busy, locking, reading

_log = structlog.get_logger("punto.controller.journal")
_T = TypeVar("_T")
_ROUNDS_SENT: Final = "rounds_sent"
_SECRET_BYTES: Final = 16


@dataclass(slots=True)
class _Job:
    """Work for the writer, inside a transaction, and the future of its result.

    It is executed inputs with a snapshot after them, or None; or any other `work` with the database. `then` is called in the event
    loop when the job is on the disk, and its result is the future's.
    """

    steps: Sequence[Step] = ()
    snapshot: Snapshot | None = None
    work: Callable[[sqlite3.Connection], Any] | None = None
    then: Callable[[], Any] | None = None
    done: asyncio.Future[Any] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


MOST_FRAMES: Final = 4000
"""Pages of 4 kB in the log, which SQLite shortens after 1,000, before it is said who holds it up."""
RESTORING: Final = ".restoring"
"""How the name of a copy ends that will take the place of a record."""


def restoring(path: Path) -> list[Path]:
    """The copies of backups that have not taken the place of this record, because their restore was interrupted."""
    return sorted(path.parent.glob(f"{glob.escape(path.name)}.*{RESTORING}"))


def locked(path: Path) -> int:
    """Take the lock of a record, which one process has until it closes the file descriptor.

    It is a file of its own, because closing a second handle on the record would drop SQLite's locks, and beside the file that links
    lead to, so that a record has one lock under all its names.

    Raises:
        RecordError: another process has it, or the file cannot be made.
    """
    with ExitStack() as on_error:
        try:
            lock = os.open(
                f"{path.resolve()}.lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, SHARED
            )
            on_error.callback(os.close, lock)
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise RecordError(f"another service has the record {path} open: stop that service") from error
        except OSError as error:
            raise schema.cannot_open(path, error) from error
        on_error.pop_all()
    return lock


class Journal:
    """The record, open for one service. Call all methods from the event loop.

    `last_seq` is the number of the last input given to `append`; `head` is the last input on the disk. `blocked` says who holds the
    record's lock while the writer waits for it, and is empty otherwise.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection, lock: int) -> None:
        self.path = path
        self._connection = connection
        self._lock = lock
        self._entered: list[_Job] = []
        self._jobs: SimpleQueue[list[_Job] | None] = SimpleQueue()
        self._loop = asyncio.get_running_loop()
        self._failed: asyncio.Future[None] = self._loop.create_future()
        self.head = store.last_head(connection)
        self.last_seq = self.head.seq
        # For the writer's thread only: the head after its last statement, and after its last commit.
        self._given = self._written = self.head
        self.last_round = store.last_round(connection)
        self.blocked = ""
        self.commit_times = CommitTimes()
        self._closing = False
        self.rounds_sent = store.cursor(connection, _ROUNDS_SENT)
        self.last_snapshot = 0
        self.replayed: Replay | None = None
        # In the caller's context, which has the table's id for the log: what the thread calls in the loop is logged too.
        self._thread = threading.Thread(
            target=copy_context().run, args=(self._write,), name="journal", daemon=True
        )

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open the record for this process only; `start` begins the writing.

        Raises:
            RecordError: the record cannot be opened, or another process has it open.
        """
        with ExitStack() as on_error:
            lock = locked(path)
            on_error.callback(os.close, lock)
            if unfinished := restoring(path):
                raise RecordError(
                    f"a restore of the record {path} was interrupted: run `punto restore` again, or remove {unfinished[0]} if the record "
                    "is the one that you want"
                )
            try:
                if not os.pread(lock, 1, 0):
                    os.pwrite(lock, secrets.token_hex(_SECRET_BYTES).encode(), 0)
                connection = schema.open_for_writing(path)
                on_error.callback(connection.close)
                journal = cls(path, connection, lock)
            except (OSError, sqlite3.Error) as error:
                raise schema.cannot_open(path, error) from error
            on_error.pop_all()
        return journal

    @property
    def secret(self) -> str:
        """A secret that is kept beside the record, so that each start has the same; only the service's user can read it."""
        return os.pread(self._lock, 2 * _SECRET_BYTES, 0).decode("ascii", "replace")

    @property
    def connection(self) -> sqlite3.Connection:
        """The database, to recover from before `start`."""
        return self._connection

    @property
    def waiting(self) -> int:
        """The number of jobs that the writer has not taken, those of one turn of the event loop as one."""
        return self._jobs.qsize() + bool(self._entered)

    def start(self, last_snapshot: int) -> None:
        """Begin to write, after recovery. The last valid snapshot is the one after the input `last_snapshot`."""
        self.last_snapshot = last_snapshot
        self._thread.start()

    async def watch(self) -> None:
        """Wait for a failure.

        Raises:
            RecordError: the writer failed. Nothing after the failure is on the record.
        """
        await asyncio.shield(self._failed)

    async def close(self) -> None:
        """Commit the waiting jobs and close."""
        self._closing = True
        self._hand_over()
        if self._thread.is_alive():
            self._jobs.put(None)
            await asyncio.to_thread(self._thread.join)
        self._connection.close()
        os.close(self._lock)

    # --- writing

    async def name(self) -> str:
        """A name of this record, which has an input: it does not disclose what the input is."""
        return await self._do(store.name)

    async def some_entries(self, after: int, until: int, size: int) -> list[tuple[Entry, str]]:
        """The inputs after `after` up to `until` with their hashes, as many as have some `size` bytes, but at least one."""
        return await self._do(lambda connection: store.some_entries(connection, after, until, size))

    def append(
        self, steps: Sequence[Step], snapshot: Snapshot | None, then: Callable[[], _T]
    ) -> asyncio.Future[_T]:
        """Commit executed inputs, all or none, with the snapshot after them. Then call `then`, whose result is the future's.

        `then` is called in the event loop when the inputs are on the disk, in the order of the inputs. It is called
        even if the future is cancelled: what every input on the record did is published.

        Raises:
            RecordError: the writer has failed. Also from the future: the inputs could not be committed.
        """
        if steps:
            self.last_seq = steps[-1].seq
        if snapshot is not None:
            self.last_snapshot = snapshot.seq
        return self._put(_Job(steps, snapshot, then=then))

    @contextmanager
    def unbroken(self) -> Iterator[None]:
        """Stop the writing if an error leaves executed inputs behind that are not given to `append`: the chain would have a gap."""
        try:
            yield
        except BaseException as error:
            self._fail([], f"the service could not execute an input ({error!r}): see its log", error)
            raise

    def add_expectations(self, game: Game, found: Expectations) -> None:
        """Write the expectations of a game that were counted."""
        self._do(lambda connection: add_expectations(connection, game, found))

    def rounds_were_sent(self, number: int) -> None:
        """Write that the broker has every round up to this number."""
        self.rounds_sent = number
        self._do(lambda connection: store.set_cursor(connection, _ROUNDS_SENT, number))

    async def rounds_after(self, number: int, limit: int) -> list[store.EndedRound]:
        """At most `limit` committed rounds after this number."""
        return await self._do(lambda connection: store.ended_after(connection, number, limit))

    async def held_by(self) -> str:
        """Who reads an old state of the record, so that SQLite cannot shorten its log; empty unless the log has become large."""
        frames = await asyncio.to_thread(store.log_frames, self.path)
        return (" and ".join(reading(self.path)) or "another program") if frames > MOST_FRAMES else ""

    # --- the writer

    def _do(self, work: Callable[[sqlite3.Connection], _T]) -> asyncio.Future[_T]:
        """Give the writer other work than inputs."""
        return self._put(_Job(work=work))

    def _put(self, job: _Job) -> asyncio.Future[Any]:
        """Give the writer a job, together with all others of this turn of the event loop.

        If the writer began with the first of them, its thread would take the interpreter from what enters the next.
        """
        self.raise_failure()
        if not self._entered:
            self._loop.call_soon(self._hand_over)
        self._entered.append(job)
        return job.done

    def _hand_over(self) -> None:
        jobs, self._entered = self._entered, []
        if self._failed.done():  # the writer has ended, and does not take them
            self._fail_all(jobs)
        elif jobs:
            self._jobs.put(jobs)

    def raise_failure(self) -> None:
        """Raise the writer's failure as a RecordError, if it has failed."""
        if self._failed.done():
            self._failed.result()

    def _write(self) -> None:
        while self._write_waiting():
            pass

    def _write_waiting(self) -> bool:
        """Commit the waiting jobs, at least one, and give their results to the loop. False if that was the end."""
        jobs, last = self._take()
        if jobs:
            try:
                results = self._commit_when_free(jobs)
            except BaseException as error:  # noqa: BLE001 - every error is passed to the loop and ends the process
                self._loop.call_soon_threadsafe(self._fail, jobs, self._reason(error), error)
                return False
            self._loop.call_soon_threadsafe(self._finish, jobs, results, self._written)
        return not last

    def _take(self) -> tuple[list[_Job], bool]:
        """All waiting jobs, at least one, and whether they are the last."""
        jobs: list[_Job] = []
        entered = self._jobs.get()
        while entered is not None:
            jobs += entered
            try:
                entered = self._jobs.get_nowait()
            except Empty:
                return jobs, False
        return jobs, True

    def _commit_when_free(self, jobs: Sequence[_Job]) -> list[Any]:
        """Commit, as soon as no other program holds the record's lock: an administrator's shell is no reason to end play."""
        blocked = False
        while True:
            began = clock.monotonic()
            try:
                results = self._commit(jobs)
            except sqlite3.OperationalError as error:
                if not is_busy(error) or self._closing:
                    raise
                blocked = True
                holders = " and ".join(locking(self.path)) or "another program"
                reason = (
                    f"{holders} has a lock on the record: play waits until that program ends or lets it go"
                )
                self._loop.call_soon_threadsafe(self._set_blocked, reason)
            else:
                self.commit_times.add(clock.monotonic() - began)
                if blocked:
                    self._loop.call_soon_threadsafe(self._set_blocked, "")
                return results

    def _commit(self, jobs: Sequence[_Job]) -> list[Any]:
        steps = [step for job in jobs for step in job.steps]
        alone = len(jobs) == len(steps) == 1 and not steps[0].rows and jobs[0].snapshot is None
        if not alone:
            self._connection.execute("BEGIN IMMEDIATE")
        try:
            if steps:
                store.add_steps(self._connection, steps)
                self._given = steps[-1].head
            results = [self._carry_out(job) for job in jobs]
            if not alone:  # SQLite commits a single statement itself
                self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise
        self._written = self._given
        return results

    def _carry_out(self, job: _Job) -> Any:
        if job.snapshot is not None:
            store.add_snapshot(self._connection, job.snapshot)
        return None if job.work is None else job.work(self._connection)

    def _set_blocked(self, reason: str) -> None:
        if bool(reason) is not bool(self.blocked):
            log = _log.warning if reason else _log.info
            log("record locked" if reason else "record free again", path=str(self.path), reason=reason)
        self.blocked = reason

    def _reason(self, cause: BaseException) -> str:
        """The error's message. It is made in the writer's thread, which owns the connection."""
        with suppress(sqlite3.Error):
            if store.last_head(self._connection) not in {self._written, self._given}:
                return (
                    "another program has written to this record, so this service has stopped writing. Make sure that only "
                    "one service opens the record and that nobody removes its .lock file. Then run `punto replay` on the "
                    "record, and start the service again"
                )
        return f"the record could not be written: {in_words(cause, self.path)}"

    def _finish(self, jobs: Sequence[_Job], results: Sequence[Any], head: Head) -> None:
        self.head = head
        ended = [record.round for job in jobs for step in job.steps for record in step.rounds]
        self.last_round = max(self.last_round, *ended) if ended else self.last_round
        for job, result in zip(jobs, results, strict=True):
            try:
                answer = result if job.then is None else job.then()
            except BaseException as error:  # noqa: BLE001 - see below
                # Raised from the job's future; if that is cancelled, from `watch`, which ends the process.
                future = self._failed if job.done.done() else job.done
                if not future.done():
                    future.set_exception(error)
            else:
                if not job.done.done():
                    job.done.set_result(answer)

    def _fail(self, jobs: Sequence[_Job], reason: str, cause: BaseException) -> None:
        error = RecordError(reason)
        error.__cause__ = cause
        if not self._failed.done():
            self._failed.set_exception(error)
        self._failed.exception()  # marks it as retrieved, so that asyncio does not log it
        self._fail_all([*jobs, *self._left()])

    def _fail_all(self, jobs: Sequence[_Job]) -> None:
        error = self._failed.exception()
        for job in jobs:
            if error is not None and not job.done.done():
                job.done.set_exception(error)
            # Mark it as retrieved, because a future may have no waiter: `watch`, or the waiter of an input, raises the error.
            if not job.done.cancelled():
                job.done.exception()

    def _left(self) -> list[_Job]:
        """The jobs that were given to the writer after it failed, before the event loop knew it."""
        left: list[_Job] = []
        with suppress(Empty):
            while True:
                left += self._jobs.get_nowait() or []
        return left
