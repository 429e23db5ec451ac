"""The signer: a process of a user of its own, which alone has the key, and signs the heads of the tables of this machine.

It never signs two hashes of one input, and never an input before one that it has signed: what a table's user has said once, it
cannot take back with a record that was cut off or made anew.
"""

import sqlite3
from base64 import b64encode
from pathlib import Path
from typing import Final, Literal, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from punto.configs.faults import first_fault
from punto.controller.journal.entries import Head
from punto.controller.signing.heads import PURPOSE, HeadStatement, HeadText, SignedHead
from punto.controller.signing.keys import SigningKey

LONGEST_REQUEST: Final = 1024
_MOST_RECORDS: Final = 10_000
_TABLE: Final = """
CREATE TABLE IF NOT EXISTS signed (
    "table" TEXT NOT NULL,
    record TEXT NOT NULL,
    user INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY ("table", record)
) STRICT
"""


class Refused(BaseModel):
    """The signer refuses a statement.

    - unreadable: it is not a statement;
    - since: the record's own hash of the input `seq`, which was signed last, must be in the request;
    - user: another user of the system signs for this table;
    - behind, forked: the record is not the one that was signed before;
    - full: it signs for too many records.
    """

    model_config = ConfigDict(frozen=True)

    refused: Literal["unreadable", "since", "user", "behind", "forked", "full"]
    text: str
    seq: int = 0


class HeadRequest(HeadStatement):
    """A statement to be signed. `since` is the record's head at the input that was signed last: so the record is the same one."""

    since: HeadText | None = None

    @property
    def statement(self) -> HeadStatement:
        """What is signed."""
        return HeadStatement(**self.model_dump(exclude={"since"}))


class Signer:
    """Signs statements, and remembers the last one of each record. Its methods run in one thread.

    Raises:
        sqlite3.Error: the file of what was signed cannot be read or written.
    """

    longest = LONGEST_REQUEST

    def __init__(self, key: SigningKey, memory: Path) -> None:
        self._key = key
        self._memory = sqlite3.connect(memory, isolation_level=None)
        self._memory.execute("PRAGMA synchronous = FULL")
        self._memory.execute(_TABLE)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._memory.close()

    @property
    def public(self) -> str:
        """The public key of what it signs."""
        return self._key.public

    async def answer(self, line: bytes, user: int) -> bytes:
        """The statement with its signature, or why it is refused."""
        try:
            asked = HeadRequest.model_validate_json(line)
        except ValidationError as error:
            return self.unreadable(first_fault(error))
        return self.sign(asked, user).model_dump_json().encode()

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
        signature = b64encode(self._key.sign(PURPOSE, statement.body())).decode()
        return SignedHead(**statement.model_dump(), key=self._key.public, signature=signature)

    def _why_not(self, statement: HeadRequest, user: int) -> Refused | None:
        owner = self._memory.execute(
            'SELECT user FROM signed WHERE "table" = ? LIMIT 1', (statement.table,)
        ).fetchone()
        if owner is not None and owner[0] != user:
            return Refused(
                refused="user", text=f"the user with the number {owner[0]} signs for {statement.table}"
            )
        last = self._memory.execute(
            'SELECT seq, hash FROM signed WHERE "table" = ? AND record = ?',
            (statement.table, statement.record),
        ).fetchone()
        if last is None:
            (count,) = self._memory.execute("SELECT count(*) FROM signed").fetchone()
            if count >= _MOST_RECORDS:
                return Refused(refused="full", text=f"it signs for {count} records already")
            return None
        return _contradiction(Head(*last), statement)


def _contradiction(before: Head, statement: HeadRequest) -> Refused | None:
    """Why a statement does not follow the head that was signed before, None if it does."""
    at = statement.at
    if at.seq < before.seq:
        return Refused(
            refused="behind", text=f"input {before.seq} of this record was signed: the record was cut off"
        )
    since = None if statement.since is None else Head.of(statement.since)
    if since is None or since.seq != before.seq:
        return Refused(
            refused="since", text=f"the record's hash of input {before.seq} is needed", seq=before.seq
        )
    if since != before or (at.seq == before.seq and at != before):
        return Refused(
            refused="forked",
            text=f"another hash of input {before.seq} was signed: the record was changed",
        )
    return None
