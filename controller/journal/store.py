"""The SQLite file: its tables, and what is done with them inside one transaction.

Entries, rounds, settlements, incidents and a progressive's books can be added and never changed, and added only to an
input or a round that is there: triggers refuse it even to a person with a shell. All but the entries follow from these;
they stand in tables of their own so that a person can query them. Snapshots cannot be changed either, and the last ones
not be deleted; a cursor goes forward, as far as the rounds go. `schema_difference` tells whether all this is in place.
"""

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Final

from punto.baccarat.table.state import RoundRecord
from punto.configs.problems import cut
from punto.controller.journal import books
from punto.controller.journal.entries import FIRST_HEAD, ROUNDS, Entry, Head
from punto.controller.journal.incidents import Incident

APPLICATION_ID: Final = 0x50554E54  # "PUNT"
FORMAT: Final = 3
_EARLIER: Final = frozenset({1, 2})
"""Formats that recovery completes. 1 has rounds and settlements alone, 2 has snapshots that no input names."""
_ROUNDS_ALONE: Final = 1

_TABLES: Final = """
CREATE TABLE inputs (
    seq INTEGER PRIMARY KEY,
    ts TEXT NOT NULL,
    source TEXT NOT NULL,
    payload TEXT NOT NULL,
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
    hash TEXT NOT NULL,
    state TEXT NOT NULL
) STRICT;
CREATE TABLE cursors (
    name TEXT PRIMARY KEY,
    at INTEGER NOT NULL
) STRICT;
"""
_INCIDENTS: Final = """
CREATE TABLE incidents (
    input INTEGER NOT NULL REFERENCES inputs (seq),
    place INTEGER NOT NULL,
    kind TEXT NOT NULL,
    code TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (input, place)
) STRICT, WITHOUT ROWID;
"""
_LATER_TABLES: Final = _INCIDENTS + books.TABLES
_FOLLOWING: Final = ("incidents", *books.NEVER_EDITED)
"""The tables whose rows are of an input, by its number and their place in what followed from it."""
_KEYS: Final = {
    "inputs": ("seq",),
    "rounds": ("round",),
    "settlements": ("round", "seat", "wager"),
    "snapshots": ("seq",),
    **dict.fromkeys(_FOLLOWING, ("input", "place")),
}
"""What is never edited, by its key."""
_PARENTS: Final = {
    "rounds": ("input", "inputs", "seq"),
    "settlements": ("round", "rounds", "round"),
    "snapshots": ("seq", "inputs", "seq"),
    **dict.fromkeys(_FOLLOWING, ("input", "inputs", "seq")),
}
"""Which column of a table names a row of which other one, by which of its columns."""
_SNAPSHOTS_KEPT: Final = 2


class RecordError(Exception):
    """The record cannot be read, written or trusted. Nothing may go on; the message says what to do."""


def open_for_writing(path: Path) -> sqlite3.Connection:
    """Open the record, or begin it where there is none; each commit is on the disk when it returns.

    It has cards that the public has not seen: beside its owner, its group alone may read it.

    Raises:
        RecordError: the file cannot be opened or is no record of this format.
    """
    try:
        os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o640))
        connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    except (OSError, sqlite3.Error) as error:
        raise cannot_open(path, error) from error
    try:
        # Before anything else, for even the journal mode would be a change to somebody else's file.
        is_new = not connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
        if not is_new:
            _check_format(connection, path)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        if is_new:
            _begin(connection)
    except sqlite3.Error as error:
        connection.close()
        raise cannot_open(path, error) from error
    except RecordError:
        connection.close()
        raise
    return connection


def cannot_open(path: Path, error: Exception) -> RecordError:
    """What to say of a record that cannot be opened."""
    reason = error.strerror if isinstance(error, OSError) else str(error)
    return RecordError(f"cannot open the record {path}: {reason}; check the path, its owner and the disk")


def damaged(error: sqlite3.Error | OverflowError) -> RecordError:
    """What to say of a record that was opened and cannot be read to its end."""
    return RecordError(f"the record cannot be read: {error}; it is damaged: restore a backup")


def open_for_reading(path: Path) -> sqlite3.Connection:
    """Open a record that may be in use, without changing it.

    Raises:
        RecordError: the file is not there or is no record of this format.
    """
    if not os.path.isfile(path):  # noqa: PTH113 - a path of any length
        raise RecordError(f"there is no record at {cut(str(path), 200)}")
    message = f"cannot read {path}: {{}}; it is no record, it is damaged, or it may not be read by this user"
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)
    except sqlite3.Error as error:
        raise RecordError(message.format(error)) from error
    try:
        _check_format(connection, path)
    except sqlite3.Error as error:
        connection.close()
        raise RecordError(message.format(error)) from error
    except RecordError:
        connection.close()
        raise
    return connection


def _begin(connection: sqlite3.Connection) -> None:
    statements = _TABLES + _LATER_TABLES + "".join(_triggers())
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
            f"WHEN OLD.seq IN (SELECT seq FROM snapshots ORDER BY seq DESC LIMIT {_SNAPSHOTS_KEPT})",  # noqa: S608 - a number
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
        # INSERT OR REPLACE would edit a row and set off neither of those.
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
        # A shell does not keep foreign keys unless it is told to.
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


def is_complete(connection: sqlite3.Connection) -> bool:
    """Whether the record has all its tables; one that the first version began lacks some."""
    return _format(connection) != _ROUNDS_ALONE


def is_current(connection: sqlite3.Connection) -> bool:
    """Whether the record is of this format; one of an earlier format is completed by the next start."""
    return _format(connection) == FORMAT


def complete(connection: sqlite3.Connection) -> None:
    """Give a record of an earlier format what it lacks, inside the transaction that fills it; its snapshots go."""
    later = [] if is_complete(connection) else [each for each in _LATER_TABLES.split(";") if each.strip()]
    statements = ("DELETE FROM snapshots", *later, *_triggers(), f"PRAGMA user_version = {FORMAT}")
    for statement in statements:
        connection.execute(statement)


def schema_difference(connection: sqlite3.Connection) -> str | None:
    """How the record's tables, indexes, triggers and views differ from this program's, None if they do not.

    A trigger of the right name that does nothing, or one too many, lets a row be changed, or swallows it. A record of an
    earlier format may lack what that format did not have.
    """
    expected, found = _own_schema(), _schema(connection)
    for kind, name in sorted({*expected, *found}, key=lambda each: (each[0] != "table", each)):
        what = f"{kind} {cut(name, 100)}"
        if (kind, name) not in expected:
            return f"{what} is in the record, and this program did not make it: restore a backup"
        if (kind, name) not in found:
            if is_current(connection):
                return f"{what} is missing from the record: restore a backup"
        elif found[kind, name] != expected[kind, name]:
            return f"{what} in the record is not as this program makes it: restore a backup"
    return None


_Schema = dict[tuple[str, str], tuple[str, str | None]]


@cache
def _own_schema() -> _Schema:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        _begin(connection)
        return _schema(connection)


def _schema(connection: sqlite3.Connection) -> _Schema:
    """What there is, by kind and name: the table that it belongs to, and its SQL whatever the spaces and lines."""
    rows = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema")
    return {
        (kind, name): (table, None if sql is None else " ".join(sql.split()))
        for kind, name, table, sql in rows
    }


def _format(connection: sqlite3.Connection) -> int:
    found: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return found


def _check_format(connection: sqlite3.Connection, path: Path) -> None:
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    if application != APPLICATION_ID:
        raise RecordError(f"{path} is an SQLite file but no record of this program: give another path")
    found = _format(connection)
    if found not in {FORMAT, *_EARLIER}:
        raise RecordError(
            f"{path} has record format {found} and this program reads {FORMAT}: use the program that wrote it"
        )


# --- writing, inside a transaction


def add_entries(connection: sqlite3.Connection, entries: Sequence[Entry], head: Head) -> Head:
    """Add entries after the record's head and return the new one."""
    rows = []
    for entry in entries:
        head = Head(entry.seq, entry.chained_to(head.hash))
        rows.append((entry.seq, entry.ts, entry.source, entry.payload, head.hash))
    if len(rows) == 1:
        connection.execute("INSERT INTO inputs VALUES (?, ?, ?, ?, ?)", rows[0])
    else:
        connection.executemany("INSERT INTO inputs VALUES (?, ?, ?, ?, ?)", rows)
    return head


def add_round(connection: sqlite3.Connection, seq: int, ts: str, game: str, record: RoundRecord) -> None:
    """Add a round that the input `seq` ended, unless recovery finds it there already."""
    known = connection.execute("SELECT 1 FROM rounds WHERE round = ?", (record.round,)).fetchone()
    if known:
        return
    connection.execute(
        "INSERT INTO rounds VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", round_row(seq, ts, game, record)
    )
    connection.executemany(
        "INSERT INTO settlements VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        settlement_rows(record),
    )


def add_incidents(connection: sqlite3.Connection, seq: int, incidents: Sequence[Incident]) -> None:
    """Add the incidents of the input `seq`, unless recovery finds them there already."""
    connection.executemany(_insert("incidents", 5), incident_rows(seq, incidents))


def add_book_rows(connection: sqlite3.Connection, rows: Sequence[books.Row]) -> None:
    """Add what an input did to a progressive, unless recovery finds it there already."""
    for row in rows:
        connection.execute(_insert(row.table, len(row.values)), row.values)


@cache
def _insert(table: str, columns: int) -> str:
    """The statement that adds a row which begins with its input and place, unless there is one of these."""
    marks = ", ".join(f"?{n}" for n in range(1, columns + 1))
    # Not OR IGNORE, which would pass over a posting that does not sum to zero as well.
    return (
        f"INSERT INTO {table} SELECT {marks} "  # noqa: S608 - literals
        f"WHERE NOT EXISTS (SELECT 1 FROM {table} WHERE input = ?1 AND place = ?2)"
    )


def book_rows(connection: sqlite3.Connection, seq: int) -> list[books.Row]:
    """What the record holds of what an input did to a progressive, in order."""
    found = [
        books.Row(table, row)
        for table in books.NEVER_EDITED
        for row in connection.execute(f"SELECT * FROM {table} WHERE input = ?", (seq,))  # noqa: S608
    ]
    return sorted(found, key=lambda row: row.values[:2])


def stray_row(connection: sqlite3.Connection, inputs: int, rounds: int) -> str | None:
    """A row that follows from none of so many inputs, which ended so many rounds: what is wrong with it, None if there is none.

    Found by keys, so a year of rows is not looked through at a start: a row between the first and the last input or round
    is not seen. `stray_settlement` sees all, and whoever goes through the inputs compares what is there of each.
    """
    places = [
        *(("inputs", "seq", inputs), ("snapshots", "seq", inputs)),
        *(("rounds", "round", rounds), ("settlements", "round", rounds), ("cursors", "at", rounds)),
    ]
    if is_complete(connection):
        places += [(table, "input", inputs) for table in _FOLLOWING]
    elif (later := _has_table(connection, *_FOLLOWING)) is not None:
        return f"the record has {later}, and its format is said to be one that had none: restore a backup"
    for table, column, last in places:
        for end in ("min", "max"):
            found = connection.execute(f"SELECT {end}({column}) FROM {table}").fetchone()[0]  # noqa: S608 - literals
            if found is not None and not 1 <= found <= last:
                what = "round" if column in {"round", "at"} else "input"
                return f"{table} has a row of {what} {found}, and the {what}s on the record are 1 to {last}: restore a backup"
    return None


def _has_table(connection: sqlite3.Connection, *names: str) -> str | None:
    """One of these tables that is there, None if none is."""
    found = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
    return next((name for (name,) in found if name in names), None)


def stray_settlement(connection: sqlite3.Connection) -> int | None:
    """A round that has a settlement and is not among the rounds, None if there is none."""
    row = connection.execute(
        "SELECT round FROM settlements AS s WHERE NOT EXISTS (SELECT 1 FROM rounds WHERE round = s.round) LIMIT 1"
    ).fetchone()
    return None if row is None else row[0]


def last_award_ts(connection: sqlite3.Connection) -> str | None:
    """When the last award of a meter was locked, None where none was."""
    row = connection.execute(
        "SELECT ts FROM progressive_log WHERE kind = 'award_locked' AND json_extract(record, '$.award.payer') IS NOT 'tray' "
        "ORDER BY input DESC LIMIT 1"
    ).fetchone()
    return None if row is None else row[0]


def raised(connection: sqlite3.Connection, code: str, text: str) -> tuple[str | None, str | None]:
    """When an alarm was last raised, and whose input that was; see `engine.Raised`."""
    row = connection.execute(
        "SELECT ts, json_extract(payload, '$.who') FROM incidents JOIN inputs ON seq = input "
        "WHERE kind = 'alarm' AND code = ? AND text = ? ORDER BY input DESC LIMIT 1",
        (code, text),
    ).fetchone()
    return (None, None) if row is None else row


def round_row(seq: int, ts: str, game: str, record: RoundRecord) -> tuple[int | str | None, ...]:
    """A round as its row in `rounds`."""
    return (
        record.round,
        seq,
        ts,
        game,
        record.shoe,
        record.coup,
        record.status,
        " ".join(record.player),
        " ".join(record.banker),
        record.player_total,
        record.banker_total,
        record.winner,
        ROUNDS.dump_json(record).decode(),
    )


def settlement_rows(record: RoundRecord) -> list[tuple[int | str, ...]]:
    """A round's settlements as their rows in `settlements`."""
    return [
        (
            record.round,
            each.seat,
            each.wager,
            each.outcome,
            each.stake,
            each.returned,
            each.net,
            each.rule,
            each.remainder,
        )
        for each in record.settlements
    ]


def incident_rows(seq: int, incidents: Sequence[Incident]) -> list[tuple[int | str, ...]]:
    """The incidents of an input as their rows in `incidents`."""
    return [(seq, place, each.kind, each.code, each.text) for place, each in enumerate(incidents)]


def columns(connection: sqlite3.Connection, table: str) -> list[str]:
    """The names of a table's columns, in order."""
    return [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]


def add_snapshot(connection: sqlite3.Connection, seq: int, link: str, state: str) -> None:
    """Keep the state after the input `seq`, which has the hash `link`, and let go of older ones than are needed to recover."""
    connection.execute("INSERT INTO snapshots VALUES (?, ?, ?)", (seq, link, state))
    connection.execute(
        "DELETE FROM snapshots WHERE seq NOT IN (SELECT seq FROM snapshots ORDER BY seq DESC LIMIT ?)",
        (_SNAPSHOTS_KEPT,),
    )


def set_cursor(connection: sqlite3.Connection, name: str, at: int) -> None:
    """Remember how far a reader of the record has come."""
    connection.execute("INSERT OR REPLACE INTO cursors VALUES (?, ?)", (name, at))


# --- reading


def entries_after(connection: sqlite3.Connection, seq: int) -> Iterator[tuple[Entry, str]]:
    """Every entry after `seq` with its hash, in order."""
    rows = connection.execute(
        "SELECT seq, ts, source, payload, hash FROM inputs WHERE seq > ? ORDER BY seq", (seq,)
    )
    return ((Entry(*row[:4]), row[4]) for row in rows)


def checked_entries(connection: sqlite3.Connection, seq: int, before: str) -> Iterator[Entry]:
    """Every entry after `seq`, each checked to be chained to the one before.

    Raises:
        RecordError: an entry is missing or was changed.
    """
    for entry, link in entries_after(connection, seq):
        if entry.seq != seq + 1:
            raise RecordError(f"input {seq + 1} is missing from the record")
        if entry.chained_to(before) != link:
            raise RecordError(
                f"input {entry.seq} of the record, or the one before it, was changed after it was written"
            )
        seq, before = entry.seq, link
        yield entry


def link_of(connection: sqlite3.Connection, seq: int) -> str | None:
    """The hash of an entry, None if it is not there."""
    row = connection.execute("SELECT hash FROM inputs WHERE seq = ?", (seq,)).fetchone()
    return None if row is None else row[0]


def last_head(connection: sqlite3.Connection) -> Head:
    """The last entry's number and hash; 0 and the first link of an empty record."""
    row = connection.execute("SELECT seq, hash FROM inputs ORDER BY seq DESC LIMIT 1").fetchone()
    return FIRST_HEAD if row is None else Head(*row)


def payload_of(connection: sqlite3.Connection, seq: int) -> str | None:
    """The JSON of an entry, None if it is not there."""
    row = connection.execute("SELECT payload FROM inputs WHERE seq = ?", (seq,)).fetchone()
    return None if row is None else row[0]


def snapshots(connection: sqlite3.Connection) -> list[tuple[int, str, str]]:
    """The snapshots in order: the input that each follows, that input's hash, and the state's JSON."""
    return connection.execute("SELECT seq, hash, state FROM snapshots ORDER BY seq").fetchall()


def cursor(connection: sqlite3.Connection, name: str) -> int:
    """How far a reader of the record has come, 0 if it never began."""
    row = connection.execute("SELECT at FROM cursors WHERE name = ?", (name,)).fetchone()
    return 0 if row is None else row[0]


def last_round_input(connection: sqlite3.Connection) -> int:
    """The number of the input that ended the last round on the record, 0 if there is none."""
    # By the round, which is the key: a year of rounds is not looked through for the highest input.
    row = connection.execute("SELECT input FROM rounds ORDER BY round DESC LIMIT 1").fetchone()
    return 0 if row is None else row[0]


def derived_until(connection: sqlite3.Connection) -> int:
    """The number of the last input whose incidents and book rows must be on the record: all go there in the inputs' order."""
    if not is_complete(connection):
        return 0
    places = [("input", table) for table in _FOLLOWING] + [("seq", "snapshots")]
    found = (
        connection.execute(f"SELECT max({column}) FROM {table}").fetchone()[0]  # noqa: S608
        for column, table in places
    )
    # A round's row comes after all that followed from the inputs before the one that ended it.
    return max(last_round_input(connection) - 1, *(number or 0 for number in found))


def last_round(connection: sqlite3.Connection) -> int:
    """The number of the last round on the record, 0 if there is none."""
    number: int = connection.execute("SELECT coalesce(max(round), 0) FROM rounds").fetchone()[0]
    return number


def rounds_after(
    connection: sqlite3.Connection, number: int, limit: int
) -> list[tuple[str, str, RoundRecord]]:
    """At most `limit` rounds after the one of this number: time, game's name, record."""
    rows = connection.execute(
        "SELECT ts, game, record FROM rounds WHERE round > ? ORDER BY round LIMIT ?", (number, limit)
    )
    return [(ts, game, ROUNDS.validate_json(record, strict=True)) for ts, game, record in rows]
