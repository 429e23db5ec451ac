"""The SQLite file: its tables, the triggers that protect them, and how it is opened.

Inputs, rounds, settlements, incidents, accounts of commission, meters and a progressive's books can be added but not changed, and added only for an
existing input or round. Triggers enforce this also in a SQLite shell. All these rows follow from the inputs; they
have tables so that people can query them. Snapshots cannot be changed, and the last ones cannot be deleted. A cursor
only moves forward, up to the last round. `schema_difference` checks that all this is in place.
"""

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from functools import cache
from pathlib import Path
from typing import Final

from punto.configs.problems import cut
from punto.controller.journal import books, meters, wal
from punto.runtime.made_files import SHARED, reserve
from punto.runtime.sqlite_errors import in_words, is_damage

APPLICATION_ID: Final = 0x50554E54  # "PUNT"
FORMAT: Final = 3

_TABLES: Final = """
CREATE TABLE inputs (
    seq INTEGER PRIMARY KEY,
    ts TEXT NOT NULL,
    source TEXT NOT NULL,
    payload TEXT NOT NULL,
    outcome TEXT NOT NULL,
    results TEXT NOT NULL,
    state TEXT NOT NULL,
    hash TEXT NOT NULL
) STRICT;
CREATE TABLE rounds (
    round INTEGER PRIMARY KEY,
    input INTEGER NOT NULL REFERENCES inputs (seq),
    ts TEXT NOT NULL,
    game TEXT NOT NULL,
    shoe INTEGER NOT NULL,
    coup INTEGER NOT NULL,
    status TEXT NOT NULL,
    player TEXT NOT NULL,
    banker TEXT NOT NULL,
    player_total INTEGER NOT NULL,
    banker_total INTEGER NOT NULL,
    winner TEXT,
    record TEXT NOT NULL
) STRICT;
CREATE TABLE settlements (
    round INTEGER NOT NULL REFERENCES rounds (round),
    seat INTEGER NOT NULL,
    wager TEXT NOT NULL,
    outcome TEXT NOT NULL,
    stake INTEGER NOT NULL,
    returned INTEGER NOT NULL,
    net INTEGER NOT NULL,
    rule TEXT NOT NULL,
    remainder TEXT NOT NULL,
    PRIMARY KEY (round, seat, wager)
) STRICT, WITHOUT ROWID;
CREATE TABLE snapshots (
    seq INTEGER PRIMARY KEY REFERENCES inputs (seq),
    state TEXT NOT NULL
) STRICT;
CREATE TABLE cursors (
    name TEXT PRIMARY KEY,
    at INTEGER NOT NULL
) STRICT;
CREATE TABLE commissions (
    input INTEGER NOT NULL REFERENCES inputs (seq),
    place INTEGER NOT NULL,
    seat INTEGER NOT NULL,
    cause TEXT NOT NULL,
    amount INTEGER NOT NULL,
    owed INTEGER NOT NULL CHECK (owed >= 0),
    round INTEGER,
    wager TEXT,
    PRIMARY KEY (input, place)
) STRICT, WITHOUT ROWID;
CREATE TABLE incidents (
    input INTEGER NOT NULL REFERENCES inputs (seq),
    place INTEGER NOT NULL,
    kind TEXT NOT NULL,
    code TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (input, place)
) STRICT, WITHOUT ROWID;
"""
FOLLOWING: Final = ("incidents", "commissions", *books.NEVER_EDITED)
"""The tables whose key is an input's number and the row's place among the rows of that input."""
_KEYS: Final = {
    "inputs": ("seq",),
    "rounds": ("round",),
    "settlements": ("round", "seat", "wager"),
    "snapshots": ("seq",),
    **dict.fromkeys(FOLLOWING, ("input", "place")),
    **meters.KEYS,
}
"""The key of each table whose rows are never edited."""
_PARENTS: Final = {
    "rounds": ("input", "inputs", "seq"),
    "settlements": ("round", "rounds", "round"),
    "snapshots": ("seq", "inputs", "seq"),
    **dict.fromkeys(FOLLOWING, ("input", "inputs", "seq")),
    **dict.fromkeys(meters.OF_ROUNDS, ("round", "rounds", "round")),
}
"""The foreign key of each table: its column, the other table, and the other table's column."""
SNAPSHOTS_KEPT: Final = 5
"""With one every 500 inputs, a start handles at least the last 2,000 inputs again, and so knows their wagers' answers."""
_SNAPSHOTS_GUARDED: Final = 2
"""Those that no program can delete. The number is part of the record's format."""
LEAST_FREE_BYTES: Final = 1 << 18
"""What the disk must have left for a start: SQLite's shared memory, and the first inputs."""


UNREADABLE: Final = (sqlite3.Error, OverflowError, UnicodeDecodeError)
"""What Python raises when it reads a damaged file: a number can be too large for SQLite, and an error's text no UTF-8."""


class RecordError(Exception):
    """The record cannot be read, written or trusted. The service must not continue; the message says what to do."""


class UnavailableError(RecordError):
    """The record cannot be read or written now, but nothing shows that it is damaged."""


def open_for_writing(path: Path) -> sqlite3.Connection:
    """Open the record, or create it; each commit is on the disk when it returns.

    Only the owner and the group may read the file: it has cards that the public has not seen.

    Raises:
        RecordError: the file cannot be opened or is not a record of this format.
    """
    with ExitStack() as on_error:
        try:
            reserve(path, SHARED)
            _check_space(path)
            _check_log_alone(path)
            connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            on_error.callback(connection.close)
            # This comes first: setting the journal mode would change the file of another program.
            is_new = not connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
            if not is_new:
                _check_format(connection, path)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")
            if is_new:
                _begin(connection)
        except (OSError, *UNREADABLE) as error:
            raise cannot_open(path, error) from error
        on_error.pop_all()
    return connection


def check_log(path: Path) -> None:
    """Check that SQLite reads all of the log beside a record that a connection has open.

    Raises:
        RecordError: transactions that were on the disk are missing.
    """
    damage = wal.damage(path)
    if damage is not None:
        raise RecordError(damage)


def _check_log_alone(path: Path) -> None:
    if not path.with_name(f"{path.name}-wal").exists():
        return  # a first start that was killed can leave a commit that is undone only by a connection that can write
    # A connection that can write would remove the log when it closes.
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        check_log(path)


def _check_space(path: Path) -> None:
    """Refuse a full disk before SQLite maps its shared memory: Linux ends a process that writes to a page without a block."""
    disk = os.statvfs(path)
    free = disk.f_bavail * disk.f_frsize
    if free < LEAST_FREE_BYTES:
        raise RecordError(
            f"the disk of the record {path} is full: it has {free} bytes left; make room for at least {LEAST_FREE_BYTES} bytes"
        )


def cannot_open(path: Path, error: Exception) -> RecordError:
    """The error of a record that cannot be opened."""
    return _in_words(f"cannot open the record {path}", path, error)


def _in_words(what: str, path: Path, error: Exception) -> RecordError:
    kind = RecordError if is_damage(error) else UnavailableError
    return kind(f"{what}: {in_words(error, path)}")


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Raise an error that occurs while the open record at this path is read as one that says what to do.

    Raises:
        RecordError: the record cannot be read completely.
    """
    try:
        yield
    except UNREADABLE as error:
        raise _in_words("the record cannot be read", path, error) from error


def path_of(connection: sqlite3.Connection) -> Path:
    """The path of the record that a connection has open."""
    (name,) = connection.execute("SELECT CAST(file AS BLOB) FROM pragma_database_list").fetchone()
    return Path(os.fsdecode(name))  # which need not be UTF-8


def open_for_reading(path: Path) -> sqlite3.Connection:
    """Open a record that may be in use, without changing it.

    Raises:
        RecordError: the file does not exist or is not a record of this format.
    """
    if not os.path.isfile(path):  # noqa: PTH113 - a path of any length
        raise RecordError(f"there is no record at {cut(str(path), 200)}")
    with ExitStack() as on_error:
        try:
            uri = f"{path.absolute().as_uri()}?mode=ro"
            connection = sqlite3.connect(uri, uri=True, isolation_level=None)
            on_error.callback(connection.close)
            _check_format(connection, path)
        except UNREADABLE as error:
            raise _in_words(f"cannot read {path}", path, error) from error
        on_error.pop_all()
    return connection


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """A consistent view of a record, also while a service writes to it.

    Raises:
        RecordError: the file cannot be opened as a record, or an error occurs while it is read.
    """
    with closing(open_for_reading(path)) as connection, readable(path):
        connection.execute("BEGIN")
        yield connection


def _begin(connection: sqlite3.Connection) -> None:
    statements = _TABLES + books.TABLES + meters.TABLES + meters.VIEWS + "".join(_triggers())
    connection.executescript(
        f"BEGIN; {statements} PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {FORMAT}; COMMIT;"
    )


def _triggers() -> list[str]:
    return [
        *(
            _trigger(f"{table}_no_{verb.lower()}", verb, table, "the record is never edited")
            for table in _KEYS
            for verb in ("UPDATE", "DELETE")
            if (table, verb) != ("snapshots", "DELETE")
        ),
        _trigger(
            "snapshots_no_delete",
            "DELETE",
            "snapshots",
            "the last snapshots are kept",
            f"WHEN OLD.seq IN (SELECT seq FROM snapshots ORDER BY seq DESC LIMIT {_SNAPSHOTS_GUARDED})",  # noqa: S608 - a number
        ),
        *(
            _trigger(f"cursors_no_{verb.lower()}", verb, "cursors", "a cursor is only set")
            for verb in ("UPDATE", "DELETE")
        ),
        _trigger(
            "cursors_in_bounds",
            "INSERT",
            "cursors",
            "a cursor goes forward, and not beyond the last round",
            "WHEN NEW.at > (SELECT coalesce(max(round), 0) FROM rounds) "
            "OR NEW.at < (SELECT at FROM cursors WHERE name = NEW.name)",
        ),
        # INSERT OR REPLACE would edit a row without the triggers above.
        *(
            _trigger(
                f"{table}_no_replace",
                "INSERT",
                table,
                "the record is never edited",
                f"WHEN EXISTS (SELECT 1 FROM {table} WHERE {_same(key)})",  # noqa: S608 - literals
            )
            for table, key in _KEYS.items()
        ),
        # A SQLite shell does not enforce foreign keys by default.
        *(
            _trigger(
                f"{table}_no_stray",
                "INSERT",
                table,
                f"the record has no such {parent[:-1]}",
                f"WHEN NOT EXISTS (SELECT 1 FROM {parent} WHERE {key} = NEW.{column})",  # noqa: S608 - literals
            )
            for table, (column, parent, key) in _PARENTS.items()
        ),
    ]


def _trigger(name: str, verb: str, table: str, message: str, when: str = "") -> str:
    return (
        f"CREATE TRIGGER IF NOT EXISTS {name} BEFORE {verb} ON {table} {when} "
        f"BEGIN SELECT RAISE(ABORT, '{message}'); END;\n"
    )


def _same(key: Sequence[str]) -> str:
    return " AND ".join(f"{column} = NEW.{column}" for column in key)


def damage(connection: sqlite3.Connection) -> str | None:
    """The first fault that SQLite finds when it reads all pages and compares each index with its table, None without one."""
    (found,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    return None if found == "ok" else f"the record is damaged: {found}; restore a backup"


def schema_difference(connection: sqlite3.Connection) -> str | None:
    """The first difference of the record's tables, indexes, triggers and views from this program's, None without one.

    A changed or an additional trigger could allow a change or discard a row.
    """
    expected, found = _own_schema(), _schema(connection)
    for kind, name in sorted({*expected, *found}, key=lambda each: (each[0] != "table", each)):
        what = f"{kind} {cut(name, 100)}"
        if name.startswith("sqlite_stat"):
            return f"{what} is in the record, because a person ran ANALYZE on it: remove it with `DROP TABLE {cut(name, 100)}`"
        if (kind, name) not in expected:
            return f"{what} is in the record, but this program did not make it: restore a backup"
        if (kind, name) not in found:
            return f"{what} is missing from the record: restore a backup"
        if found[kind, name] != expected[kind, name]:
            return f"{what} in the record differs from this program's: restore a backup"
    return None


_Schema = dict[tuple[str, str], tuple[str, str | None]]


@cache
def _own_schema() -> _Schema:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        _begin(connection)
        return _schema(connection)


def _schema(connection: sqlite3.Connection) -> _Schema:
    """The record's parts by kind and name: the table of each, and its SQL with white space normalised."""
    rows = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema")
    return {
        # In a damaged file, a text can be bytes.
        (str(kind), str(name)): (str(table), None if sql is None else " ".join(str(sql).split()))
        for kind, name, table, sql in rows
    }


def _check_format(connection: sqlite3.Connection, path: Path) -> None:
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    if application != APPLICATION_ID:
        check_log(path)  # all of a new record can be in its log
        raise RecordError(f"{path} is an SQLite file but not a record of this program: give another path")
    found = connection.execute("PRAGMA user_version").fetchone()[0]
    if found != FORMAT:
        raise RecordError(
            f"{path} has record format {found}, but this program reads {FORMAT}: use the version of the program that wrote this "
            "record"
        )
