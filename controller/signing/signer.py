"""The signer: a process of a user of its own, which alone has the key, and signs the heads of the tables of this machine.

It computes the hashes itself, from the head of a record that it signed last to the next one. So the table's user can have false
inputs signed from then on, but no other past of a record that has signed heads. The signer never opens a record.
"""

import asyncio
import pwd
import sqlite3
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from punto.configs.faults import first_fault
from punto.controller.journal.entries import Entry, Head, Recorded
from punto.controller.local_socket import Limits
from punto.controller.signing.heads import LARGEST_SEQ, HeadStatement, SignedHead
from punto.controller.signing.keys import SigningKey
from punto.messages.building import timestamp
from punto.runtime.bucket import Bucket
from punto.runtime.made_files import reserve

LONGEST_REQUEST: Final = 1 << 20
"""The most bytes of a request: more than the longest input. A table sends some 100 kB of inputs at once."""
LIMITS: Final = Limits(connections=8, seconds=30)
"""What the socket allows each user: a table has one connection, for a moment."""
MOST_RECORDS: Final = 100
"""The most records of a table. A table has one record for its whole life."""
CLOCK: Final = timedelta(minutes=2)
"""How much the time of a statement may differ from the signer's own."""
_PER_SECOND: Final = 20.0
_AT_ONCE: Final = 40
_BYTES: Final = 50_000
"""So many bytes count as one request more."""
_TABLES: Final = """
CREATE TABLE IF NOT EXISTS signed (
    "table" TEXT NOT NULL,
    record TEXT NOT NULL,
    user INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY ("table", record)
) STRICT;
CREATE TABLE IF NOT EXISTS forgotten (
    number INTEGER PRIMARY KEY,
    ts TEXT NOT NULL,
    reason TEXT NOT NULL,
    "table" TEXT NOT NULL,
    record TEXT NOT NULL,
    seq INTEGER NOT NULL,
    hash TEXT NOT NULL
) STRICT;
"""


class Refused(BaseModel):
    """The signer refuses a statement.

    - unreadable: it is not a statement;
    - since: the request must have the inputs after the input `seq`, which was signed last;
    - user: another user of the system signs for this table;
    - clock: the statement's time is not the present time;
    - behind, forked: the record is not the one that was signed before;
    - full: it signs for too many records of this table.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    refused: Literal["unreadable", "since", "user", "clock", "behind", "forked", "full"]
    text: str
    seq: Annotated[int, Field(ge=0, le=LARGEST_SEQ)] = 0


class HeadRequest(HeadStatement):
    """A statement to be signed, with the record's inputs from the one after `since`, which was signed last, to the head."""

    since: Annotated[int, Field(ge=0, le=LARGEST_SEQ)] = 0
    inputs: tuple[Recorded, ...] = ()

    @property
    def statement(self) -> HeadStatement:
        """What is signed."""
        return HeadStatement(**self.model_dump(exclude={"since", "inputs"}))


class Signer:
    """Signs statements, and remembers the last one of each record. Its methods run in one thread.

    `users` has the numbers of the users of the system that sign for tables, by the tables' ids. Without an entry, it is the user
    `punto-ID`, as which the unit `punto@ID` runs. While it is open, no other process can open the file `memory`.

    Raises:
        sqlite3.Error: the file of what was signed cannot be read or written.
    """

    longest = LONGEST_REQUEST

    def __init__(
        self,
        key: SigningKey,
        memory: Path,
        users: Mapping[str, int] | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._key = key
        self._users = users or {}
        self._now = now
        self._buckets: dict[int, Bucket] = {}
        with suppress(OSError):
            reserve(memory)
        self._memory = sqlite3.connect(memory, timeout=1, isolation_level=None)
        try:
            self._memory.execute("PRAGMA synchronous = FULL")
            self._memory.execute("PRAGMA locking_mode = EXCLUSIVE")
            self._memory.executescript(f"BEGIN EXCLUSIVE; {_TABLES} COMMIT;")
        except sqlite3.Error:
            self._memory.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._memory.close()

    @property
    def public(self) -> str:
        """The public key of what it signs."""
        return self._key.public

    async def answer(self, line: bytes, user: int) -> bytes:
        """The statement with its signature, or why it is refused. A user who asks too often waits."""
        await self._turn(user, 1 + len(line) / _BYTES)
        try:
            asked = HeadRequest.model_validate_json(line)
        except ValidationError as error:
            return self.unreadable(first_fault(error))
        return self.sign(asked, user).model_dump_json().encode()

    async def _turn(self, user: int, tokens: float) -> None:
        bucket = self._buckets.setdefault(user, Bucket(_AT_ONCE, _PER_SECOND, time.monotonic()))
        bucket.take(tokens)
        await asyncio.sleep(bucket.wait(time.monotonic()))

    def unreadable(self, reason: str) -> bytes:
        """The answer to what is not a statement."""
        return Refused(refused="unreadable", text=reason).model_dump_json().encode()

    def sign(self, asked: HeadRequest, user: int) -> SignedHead | Refused:
        """Sign the statement of this user of the operating system, after it is remembered."""
        refused = self._why_not(asked, user)
        if refused is not None:
            return refused
        statement = asked.statement
        at = statement.at
        row = (statement.table, statement.record, user, at.seq, at.hash)
        self._memory.execute(
            'INSERT OR REPLACE INTO signed ("table", record, user, seq, hash) VALUES (?, ?, ?, ?, ?)', row
        )
        return SignedHead.of(statement, self._key)

    def forget(self, table: str, reason: str) -> list[Head]:
        """Forget the heads of a table's records after a restore: the next one of each is signed as it is. The file keeps a note."""
        with self._memory:
            self._memory.execute("BEGIN")
            self._memory.execute(
                'INSERT INTO forgotten (ts, reason, "table", record, seq, hash) '
                'SELECT ?, ?, "table", record, seq, hash FROM signed WHERE "table" = ?',
                (timestamp(self._now()), reason, table),
            )
            gone = self._memory.execute(
                'DELETE FROM signed WHERE "table" = ? RETURNING seq, hash', (table,)
            ).fetchall()
        return [Head(*row) for row in gone]

    def _why_not(self, asked: HeadRequest, user: int) -> Refused | None:
        owner = self._user_of(asked.table)
        if owner != user:
            who = "no user" if owner is None else f"the user with the number {owner}"
            return Refused(
                refused="user", text=f"{who} signs for {asked.table}, not the one with the number {user}"
            )
        now = self._now()
        if not _is_near(asked.ts, now):
            return Refused(refused="clock", text=f"the signer's time is {timestamp(now)}, not {asked.ts}")
        last = self._memory.execute(
            'SELECT seq, hash FROM signed WHERE "table" = ? AND record = ?', (asked.table, asked.record)
        ).fetchone()
        if last is None:
            (count,) = self._memory.execute(
                'SELECT count(*) FROM signed WHERE "table" = ?', (asked.table,)
            ).fetchone()
            if count >= MOST_RECORDS:
                return Refused(refused="full", text=f"it signs for {count} records of this table already")
            return None
        return _contradiction(Head(*last), asked)

    def _user_of(self, table: str) -> int | None:
        if table in self._users:
            return self._users[table]
        try:
            return pwd.getpwnam(f"punto-{table}").pw_uid
        except KeyError:
            return None


def _is_near(ts: str, now: datetime) -> bool:
    try:
        return abs(datetime.fromisoformat(ts) - now) <= CLOCK
    except (ValueError, TypeError, OverflowError):  # no time, or one without its zone
        return False


def _contradiction(before: Head, asked: HeadRequest) -> Refused | None:
    """Why a statement does not follow the head that was signed before, None if it does."""
    at = asked.at
    if at.seq < before.seq:
        return Refused(
            refused="behind", text=f"input {before.seq} of this record was signed: the record was cut off"
        )
    since, inputs = (at.seq, ()) if at.seq == before.seq else (asked.since, asked.inputs)
    if since != before.seq or since + len(inputs) != at.seq:
        return Refused(
            refused="since", text=f"the inputs after input {before.seq} are needed", seq=before.seq
        )
    link = before.hash
    for seq, recorded in enumerate(inputs, before.seq + 1):
        link = Entry(seq, recorded).chained_to(link)
    if link != at.hash:
        return Refused(
            refused="forked",
            text=f"the inputs do not lead from input {before.seq}, which was signed, to this hash: the record was changed",
        )
    return None
