"""The record's one writer: a thread that commits what it is given, in order, each batch durably.

What waits while one commit runs goes into the next together, so a fast shoe costs one commit for many cards. A
failure ends the writer, reaches everybody who waits, and escapes from `watch`: the process ends.
"""

import asyncio
import fcntl
import os
import sqlite3
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, Final, Self, TypeVar

from punto.baccarat.table.effects import Effect
from punto.baccarat.table.state import RoundRecord, TableState
from punto.controller.journal import schema, store
from punto.controller.journal.books import rows_of
from punto.controller.journal.entries import Entry, Head
from punto.controller.journal.incidents import Incident
from punto.controller.journal.schema import RecordError
from punto.controller.journal.snapshots import Snapshot

_T = TypeVar("_T")
_ROUNDS_SENT: Final = "rounds_sent"


@dataclass(slots=True)
class _Job:
    """Work for the writer, inside a transaction, and who waits for it."""

    work: Callable[[sqlite3.Connection], Any]
    then: Callable[[], Any] | None = None
    one_statement: bool = False
    done: asyncio.Future[Any] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


@dataclass(frozen=True, slots=True)
class Replayed:
    """The last replay in the background: when it finished, how much it derived again, and where the record differs, if it does."""

    finished: str
    inputs: int
    rounds: int
    difference: str | None


class Journal:
    """The record, open for one service. All methods are called from the event loop.

    `last_seq` is the number of the last input that was given, `head` the last one that is on the disk.
    """

    def __init__(self, connection: sqlite3.Connection, lock: int) -> None:
        self._connection = connection
        self._lock = lock
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._loop = asyncio.get_running_loop()
        self._failed: asyncio.Future[None] = self._loop.create_future()
        self.head = store.last_head(connection)
        self.last_seq = self.head.seq
        self._given = self._written = (
            self.head
        )  # the writer's own: after its last statement, and after its last commit
        self.last_round = store.last_round(connection)
        self.last_award_ts: str | None = None
        self.rounds_sent = store.cursor(connection, _ROUNDS_SENT)
        self.last_snapshot = 0
        self.replayed: Replayed | None = None
        self._thread = threading.Thread(target=self._write, name="journal", daemon=True)

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open the record for this process alone; `start` begins the writing.

        Raises:
            RecordError: it cannot be opened, or another process has it.
        """
        try:
            # A lock file of its own: closing a second handle on the record itself would drop SQLite's own locks.
            # Beside the file that is really meant, so that one record has one lock by whatever name.
            lock = os.open(f"{path.resolve()}.lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o640)
        except OSError as error:
            raise schema.cannot_open(path, error) from error
        connection = None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            connection = schema.open_for_writing(path)
            return cls(connection, lock)
        except BlockingIOError as error:
            os.close(lock)
            raise RecordError(f"another service has the record {path} open: stop it first") from error
        except (RecordError, OSError, sqlite3.Error) as error:
            if connection is not None:
                connection.close()
            os.close(lock)
            raise error if isinstance(error, RecordError) else schema.cannot_open(path, error) from error

    @property
    def connection(self) -> sqlite3.Connection:
        """The database, for recovery before `start`."""
        return self._connection

    def start(self, last_snapshot: int) -> None:
        """Begin to write, after recovery, which found the snapshot after the input `last_snapshot` to be the last sound one."""
        self.last_snapshot = last_snapshot
        self.last_round = store.last_round(self._connection)
        self.last_award_ts = store.last_award_ts(self._connection)
        self._thread.start()

    def raised(self, code: str, text: str) -> tuple[str | None, str | None]:
        """When this alarm last came, and whose input that was, for recovery before `start`; see `engine.Raised`."""
        return store.raised(self._connection, code, text)

    async def watch(self) -> None:
        """Wait for a failure.

        Raises:
            RecordError: the writer failed; nothing after the failure is on the record.
        """
        await asyncio.shield(self._failed)

    async def close(self) -> None:
        """Commit what waits and close."""
        await asyncio.sleep(0)  # what is to be given to the writer is given
        if self._thread.is_alive():
            self._jobs.put(None)
            await asyncio.to_thread(self._thread.join)
        self._connection.close()
        os.close(self._lock)

    # --- what is written

    def append(
        self, ts: str, source: str, payloads: Sequence[str], then: Callable[[], _T]
    ) -> asyncio.Future[_T]:
        """Commit inputs, all or none, numbered on from `last_seq`, and then call `then`, whose result is the future's.

        `then` is called in the event loop once they are on the disk, in the order of the inputs, whether or not
        anybody still waits for the future: what is on the record is handled.

        Raises:
            RecordError: they could not be committed; from the future.
        """
        first = self.last_seq + 1
        entries = [Entry(first + n, ts, source, payload) for n, payload in enumerate(payloads)]
        self.last_seq += len(entries)

        def work(connection: sqlite3.Connection) -> None:
            self._given = store.add_entries(connection, entries, self._given)

        return self._give(_Job(work, then, one_statement=len(entries) == 1))

    def add_round(self, seq: int, ts: str, game: str, record: RoundRecord) -> asyncio.Future[None]:
        """Put a round on the record that the input `seq` ended; done when it is committed."""

        def work(connection: sqlite3.Connection) -> None:
            store.add_round(connection, seq, ts, game, record)
            self.last_round = max(self.last_round, record.round)

        return self._put(work)

    def add_incidents(self, seq: int, incidents: Sequence[Incident]) -> None:
        """Put on the record what was out of the ordinary about the input `seq`."""
        self._put(lambda connection: store.add_incidents(connection, seq, incidents))

    def add_book_rows(self, seq: int, ts: str, state: TableState, effects: Sequence[Effect]) -> None:
        """Put on the record what the input `seq` did to the progressive of a table, which is in `state` after it."""
        self._put(lambda connection: store.add_book_rows(connection, rows_of(seq, ts, state, effects)))

    def add_snapshot(self, snapshot: Snapshot) -> None:
        """Keep a snapshot that the input after it names, to recover from."""
        self.last_snapshot = snapshot.seq
        self._put(lambda connection: store.add_snapshot(connection, *snapshot.row))

    def rounds_were_sent(self, number: int) -> None:
        """Remember that the broker has every round up to this one."""
        self.rounds_sent = number
        self._put(lambda connection: store.set_cursor(connection, _ROUNDS_SENT, number))

    async def rounds_after(self, number: int, limit: int) -> list[tuple[str, str, RoundRecord]]:
        """At most `limit` committed rounds after the one of this number: time, game's name, record."""
        return await self._put(lambda connection: store.rounds_after(connection, number, limit))

    async def written(self) -> None:
        """Wait until all that was given is on the record, for who then reads it through a connection of their own.

        Raises:
            RecordError: it could not be put there.
        """
        await self._put(lambda _: None)

    # --- the writer

    def _put(self, work: Callable[[sqlite3.Connection], _T]) -> asyncio.Future[_T]:
        """Give the writer what follows from an input, once whoever waits for the input has the answer.

        At once it would take the interpreter from them to write a row that nobody waits for.
        """
        self._raise_failure()
        job = _Job(work)
        self._loop.call_soon(self._give_later, job)
        return job.done

    def _give_later(self, job: _Job) -> None:
        self._jobs.put(job)
        if self._failed.done():  # the writer is gone, and this is what it left
            self._fail_all(self._left())

    def _give(self, job: _Job) -> asyncio.Future[Any]:
        self._raise_failure()
        self._jobs.put(job)
        return job.done

    def _raise_failure(self) -> None:
        if self._failed.done():
            self._failed.result()

    def _write(self) -> None:
        while True:
            jobs, last = self._take()
            if jobs:
                try:
                    results = self._commit(jobs)
                except BaseException as error:  # noqa: BLE001 - whatever it is, it reaches the loop and ends the process
                    self._loop.call_soon_threadsafe(self._fail, jobs, self._reason(error), error)
                    return
                self._loop.call_soon_threadsafe(self._finish, jobs, results, self._written)
            if last:
                return

    def _take(self) -> tuple[list[_Job], bool]:
        """Everything that waits, at least one, and whether it is the last."""
        jobs: list[_Job] = []
        job = self._jobs.get()
        while job is not None:
            jobs.append(job)
            try:
                job = self._jobs.get_nowait()
            except Empty:
                return jobs, False
        return jobs, True

    def _commit(self, jobs: Sequence[_Job]) -> list[Any]:
        if len(jobs) == 1 and jobs[0].one_statement:
            results = [jobs[0].work(self._connection)]  # SQLite commits it by itself
        else:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                results = [job.work(self._connection) for job in jobs]
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise
        self._written = self._given
        return results

    def _reason(self, cause: BaseException) -> str:
        """Why nothing more can be written, and what to do; in the writer's thread, which has the connection."""
        with suppress(sqlite3.Error):
            if store.last_head(self._connection) not in {self._written, self._given}:
                return (
                    "another program has written to this record, so this one writes no more: see that one service alone has it "
                    "open and that nobody takes its .lock file away, run `punto replay` on it, then start the service again"
                )
        return f"the record could not be written ({cause}): check the disk's space and health"

    def _finish(self, jobs: Sequence[_Job], results: Sequence[Any], head: Head) -> None:
        self.head = head
        for job, result in zip(jobs, results, strict=True):
            try:
                answer = result if job.then is None else job.then()
            except BaseException as error:  # noqa: BLE001 - see below
                # Raised where the job is awaited; where nobody does any more, it ends the process all the same.
                heard_by = self._failed if job.done.done() else job.done
                if not heard_by.done():
                    heard_by.set_exception(error)
            else:
                if not job.done.done():
                    job.done.set_result(answer)

    def _fail(self, jobs: Sequence[_Job], reason: str, cause: BaseException) -> None:
        error = RecordError(reason)
        error.__cause__ = cause
        if not self._failed.done():
            self._failed.set_exception(error)
        self._failed.exception()  # it counts as heard
        self._fail_all([*jobs, *self._left()])

    def _fail_all(self, jobs: Sequence[_Job]) -> None:
        error = self._failed.exception()
        for job in jobs:
            if error is not None and not job.done.done():
                job.done.set_exception(error)
            # One that nobody waits for counts as heard: `watch` carries the news, or who waits for an input.
            if not job.done.cancelled():
                job.done.exception()

    def _left(self) -> list[_Job]:
        """What was given to the writer after it had failed, and before that was known here."""
        left: list[_Job] = []
        with suppress(Empty):
            while True:
                if (job := self._jobs.get_nowait()) is not None:
                    left.append(job)
        return left
