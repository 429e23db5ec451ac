"""The witness's file (SQLite): the heads that it has heard, each with its own signature, and what it reported. Rows are never changed."""

import os
import sqlite3
from base64 import b64decode, b64encode
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple, Self
from urllib.parse import quote

from punto.configs.given_files import check_given
from punto.controller.journal.entries import Head
from punto.controller.signing.heads import SignedHead
from punto.controller.signing.keys import SigningKey, signed_by
from punto.messages.building import timestamp
from punto.runtime.made_files import reserve
from punto.runtime.sqlite_errors import in_words
from punto.witness.watching import Finding, Seen

PURPOSE: Final = b"punto witness 1\n"
_LAST_RESTORE: Final = (
    '(SELECT coalesce(max(number), 0) FROM restores WHERE "table" = heads."table" AND record = heads.record)'
)
_SET_ASIDE: Final = (
    'EXISTS (SELECT 1 FROM restores AS r WHERE r."table" = heads."table" AND r.record = heads.record AND r.number > restore '
    "AND r.seq < heads.seq)"
)
"""Whether a head is of inputs that a restored backup did not have."""
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS heads (
    "table" TEXT NOT NULL,
    record TEXT NOT NULL,
    seq INTEGER NOT NULL,
    hash TEXT NOT NULL,
    ts TEXT NOT NULL,
    key TEXT NOT NULL,
    signature TEXT NOT NULL,
    witnessed TEXT NOT NULL,
    witness TEXT NOT NULL,
    countersignature TEXT NOT NULL,
    restore INTEGER NOT NULL,
    PRIMARY KEY ("table", record, restore, seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS restores (
    number INTEGER PRIMARY KEY,
    ts TEXT NOT NULL,
    "table" TEXT NOT NULL,
    record TEXT NOT NULL,
    seq INTEGER NOT NULL,
    hash TEXT NOT NULL,
    reason TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS findings (
    number INTEGER PRIMARY KEY,
    ts TEXT NOT NULL,
    "table" TEXT NOT NULL,
    kind TEXT NOT NULL,
    text TEXT NOT NULL
) STRICT;
CREATE TRIGGER IF NOT EXISTS heads_stay BEFORE DELETE ON heads BEGIN SELECT RAISE(ABORT, 'heads are never deleted'); END;
CREATE TRIGGER IF NOT EXISTS heads_same BEFORE UPDATE ON heads BEGIN SELECT RAISE(ABORT, 'heads are never changed'); END;
CREATE TRIGGER IF NOT EXISTS restores_stay BEFORE DELETE ON restores BEGIN SELECT RAISE(ABORT, 'restores are never deleted'); END;
CREATE TRIGGER IF NOT EXISTS restores_same BEFORE UPDATE ON restores BEGIN SELECT RAISE(ABORT, 'restores are never changed'); END;
CREATE TRIGGER IF NOT EXISTS findings_stay BEFORE DELETE ON findings BEGIN SELECT RAISE(ABORT, 'findings are never deleted'); END;
CREATE TRIGGER IF NOT EXISTS findings_same BEFORE UPDATE ON findings BEGIN SELECT RAISE(ABORT, 'findings are never changed'); END;
"""


class Witnessed(NamedTuple):
    """A head as the witness has it: the table's signed head, the time at which it came, and the witness's key and signature."""

    told: SignedHead
    witnessed: str
    witness: str
    countersignature: str

    def holds(self) -> bool:
        """Whether the table's signer and the witness signed it."""
        try:
            countersignature = b64decode(self.countersignature, validate=True)
            return self.told.holds() and signed_by(
                self.witness, countersignature, PURPOSE, _body(self.told, self.witnessed)
            )
        except ValueError:  # no base64
            return False


def _body(told: SignedHead, witnessed: str) -> bytes:
    """What the witness signs: the signature of the table's signer, which covers the head, and the time at which it came."""
    return f"{told.signature}\n{witnessed}\n".encode()


class WitnessStore:
    """An open file. Each of its methods raises sqlite3.Error if it cannot be read or written."""

    def __init__(self, path: Path, key: SigningKey) -> None:
        self._key = key
        with suppress(OSError):
            reserve(path)
        self._file = sqlite3.connect(path, isolation_level=None)
        self._file.execute("PRAGMA journal_mode = WAL")
        self._file.execute("PRAGMA synchronous = FULL")
        self._file.executescript(_SCHEMA)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def seen(self) -> dict[str, Seen]:
        """What was heard before this start."""
        found: dict[str, Seen] = {}
        newest = 'SELECT "table", record, max(witnessed), key, ts FROM heads GROUP BY "table", record ORDER BY max(witnessed)'
        for table, record, _, key, ts in self._file.execute(newest):
            seen = found.setdefault(table, Seen())
            seen.key, seen.record, seen.ts = key, record, ts
        for table, record, seq, hash_ in self._file.execute(
            'SELECT "table", record, seq, hash FROM restores ORDER BY number'
        ):
            found[table].heads[record] = Head(seq, hash_)
        for table, record, seq, hash_ in self._file.execute(
            f'SELECT "table", record, max(seq), hash FROM heads WHERE restore = {_LAST_RESTORE} GROUP BY "table", record'  # noqa: S608
        ):
            found[table].heads[record] = Head(seq, hash_)
        return found

    def restored(self, table: str, head: Head, reason: str) -> int:
        """Note that a person says that the table's record was restored up to this head. Return how many heads this sets aside.

        Raises:
            ValueError: the witness has no later head of this table's record, or another hash of this input.
        """
        seen = self.seen().get(table, Seen())
        record = seen.record
        if record is None or head.seq >= seen.heads[record].seq:
            raise ValueError(
                f"the witness has no head of {table} after input {head.seq}: nothing is to be noted"
            )
        of = (table, record)
        known = self._file.execute(
            f'SELECT hash FROM heads WHERE "table" = ? AND record = ? AND seq = ? AND NOT {_SET_ASIDE}',  # noqa: S608
            (*of, head.seq),
        ).fetchone()
        if known not in {None, (head.hash,)}:
            raise ValueError(
                f"the witness has another hash of input {head.seq} of {table}: it is not the same record"
            )
        aside = f'SELECT count(*) FROM heads WHERE "table" = ? AND record = ? AND {_SET_ASIDE}'  # noqa: S608
        (before,) = self._file.execute(aside, of).fetchone()
        row = (timestamp(datetime.now(UTC)), *of, *head, reason)
        self._file.execute(
            'INSERT INTO restores (ts, "table", record, seq, hash, reason) VALUES (?, ?, ?, ?, ?, ?)', row
        )
        (after,) = self._file.execute(aside, of).fetchone()
        return int(after - before)

    def keep(self, told: SignedHead) -> None:
        """Add a head, unless it is there, with the witness's signature: over the table's one, and the time at which it was heard."""
        now = timestamp(datetime.now(UTC))
        row = (
            *(told.table, told.record, *told.at, told.ts, told.key, told.signature),
            *(now, self._key.public, b64encode(self._key.sign(PURPOSE, _body(told, now))).decode()),
        )
        number = 'SELECT coalesce(max(number), 0) FROM restores WHERE "table" = ? AND record = ?'
        self._file.execute(
            f"INSERT OR IGNORE INTO heads VALUES ({', '.join('?' * len(row))}, ({number}))",  # noqa: S608 - places
            (*row, told.table, told.record),
        )

    def note(self, found: Finding) -> None:
        """Add a finding."""
        row = (timestamp(datetime.now(UTC)), found.table, found.kind, found.text)
        self._file.execute('INSERT INTO findings (ts, "table", kind, text) VALUES (?, ?, ?, ?)', row)


class Restore(NamedTuple):
    """What a person has noted of a restore: when, the record's head then, why, and how many later heads the witness had."""

    ts: str
    head: Head
    reason: str
    aside: int


def restores_of(path: Path, record: str) -> list[Restore]:
    """The restores of a record in a witness's file, in order.

    Raises:
        ValueError: the file cannot be read.
    """
    asked = (
        'SELECT ts, seq, hash, reason, (SELECT count(*) FROM heads WHERE heads."table" = r."table" AND heads.record = r.record '
        "AND heads.restore < r.number AND heads.seq > r.seq) FROM restores AS r WHERE record = ? ORDER BY number"
    )
    with _reading(path) as connection:
        found = connection.execute(asked, (record,)).fetchall()
    return [Restore(ts, Head(seq, hash_), reason, aside) for ts, seq, hash_, reason, aside in found]


def heads_of(path: Path, record: str) -> list[Witnessed]:
    """The heads of a record in a witness's file, in order, without those that a noted restore has set aside.

    Raises:
        ValueError: the file cannot be read, or a row is not a head.
    """
    asked = (
        'SELECT "table", record, seq, hash, ts, key, signature, witnessed, witness, countersignature FROM heads '  # noqa: S608
        f"WHERE record = ? AND NOT {_SET_ASIDE} ORDER BY seq"
    )
    with _reading(path) as connection:
        return [
            Witnessed(
                SignedHead(
                    table=table, record=name, head=f"{seq}:{hash_}", ts=ts, key=key, signature=signature
                ),
                *rest,
            )
            for table, name, seq, hash_, ts, key, signature, *rest in connection.execute(asked, (record,))
        ]


@contextmanager
def _reading(path: Path) -> Iterator[sqlite3.Connection]:
    """A witness's file; an error of SQLite is a ValueError that names it."""
    try:
        check_given(path)
        with closing(sqlite3.connect(f"file:{quote(os.fsencode(path))}?mode=ro", uri=True)) as connection:
            yield connection
    except OSError as error:
        raise ValueError(f"{path} cannot be read as the file of a witness: {error.strerror}") from error
    except sqlite3.Error as error:
        reason = in_words(error, path, "the file of the witness")
        raise ValueError(f"{path} cannot be read as the file of a witness: {reason}") from error
