"""Writes and reads the rows of the record, inside the caller's transaction. `schema` has the tables."""

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from punto.baccarat.table.state import RoundRecord
from punto.configs.expectations import shipped
from punto.controller.journal import rows, schema
from punto.controller.journal.books import Row, Value
from punto.controller.journal.entries import FIRST_HEAD, GAMES, ROUNDS, Entry, Head, Recorded
from punto.controller.journal.execution import Step
from punto.controller.journal.meters import OF_ROUNDS, add_expectations, game_of
from punto.controller.journal.schema import FOLLOWING, SNAPSHOTS_KEPT, RecordError
from punto.controller.journal.snapshots import Snapshot
from punto.messages.building import timestamp
from punto.runtime.sqlite_errors import is_busy

_BESIDE_THE_PAYLOAD = 300
"""About the bytes of an entry's other columns."""
_NO_INPUT: Final = 2**62
"""Above every input's number."""
_STEP_OR_START: Final = """
SELECT seq, json_extract(payload, '$.before'), json_extract(payload, '$.after') FROM inputs
WHERE seq > ? AND seq < ? AND json_extract(payload, '$.kind') IN ('clock_stepped', 'service_started') ORDER BY seq DESC LIMIT 1
"""
_LAST_AND_START: Final = """
SELECT ts FROM (SELECT seq, ts FROM inputs WHERE seq <= ? ORDER BY seq DESC LIMIT 2) ORDER BY seq
"""

# --- writing, inside a transaction


def add_steps(connection: sqlite3.Connection, steps: Iterable[Step]) -> None:
    """Add executed inputs with the rows that follow from them."""
    inputs: list[tuple[int | str, ...]] = []
    following: dict[str, list[tuple[Value, ...]]] = {}
    for step in steps:
        inputs.append((step.entry.seq, *step.entry.recorded, step.hash))
        for row in step.rows:
            following.setdefault(row.table, []).append(row.values)
    # Most transactions have one input and no rows: a single statement takes half the time of two.
    if len(inputs) == 1:
        connection.execute(_insert("inputs", len(inputs[0])), inputs[0])
    else:
        connection.executemany(_insert("inputs", len(inputs[0])), inputs)
    for table in sorted(following, key=rows.TABLES.index):
        connection.executemany(_insert(table, len(following[table][0])), following[table])
    for *_, definition in following.get("games", ()):
        game = GAMES.validate_json(str(definition))
        add_expectations(connection, game, shipped(game))


@cache
def _insert(table: str, columns: int) -> str:
    return f"INSERT INTO {table} VALUES ({', '.join('?' * columns)})"  # noqa: S608 - literals


def add_snapshot(connection: sqlite3.Connection, snapshot: Snapshot) -> None:
    """Add a snapshot, and delete all but the last `SNAPSHOTS_KEPT`."""
    connection.execute("INSERT INTO snapshots VALUES (?, ?)", snapshot)
    connection.execute(
        "DELETE FROM snapshots WHERE seq NOT IN (SELECT seq FROM snapshots ORDER BY seq DESC LIMIT ?)",
        (SNAPSHOTS_KEPT,),
    )


def set_cursor(connection: sqlite3.Connection, name: str, at: int) -> None:
    """Store the position of a reader of the record."""
    connection.execute("INSERT OR REPLACE INTO cursors VALUES (?, ?)", (name, at))


# --- reading


def log_frames(path: Path) -> int:
    """Bring what is possible of the log into the record's file, and return the number of pages that the log still has.

    It is 0 while another program has a lock, because nothing can be brought then, and the writer says who has it.

    Raises:
        RecordError: the file cannot be read or written.
    """
    with schema.readable(path), closing(sqlite3.connect(path, timeout=0)) as connection:
        try:
            _, frames, _ = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        except sqlite3.OperationalError as error:
            if is_busy(error):
                return 0
            raise
        return int(frames)


def rows_of(connection: sqlite3.Connection, seq: int, rounds: Iterable[int]) -> list[Row]:
    """The rows on the record that follow from an input, which ended these `rounds`."""
    of_input = [(table, "input", seq) for table in FOLLOWING]
    of_rounds = [(table, "round", each) for each in rounds for table in ("rounds", "settlements", *OF_ROUNDS)]
    return [
        Row(table, row)
        for table, column, key in (*of_input, *of_rounds)
        for row in connection.execute(f"SELECT * FROM {table} WHERE {column} = ?", (key,))  # noqa: S608
    ]


def counts(connection: sqlite3.Connection) -> dict[str, int]:
    """The number of rows in each table whose rows follow from inputs."""
    return {table: _value(connection, f"SELECT count(*) FROM {table}") for table in rows.TABLES}  # noqa: S608


def stray_row(connection: sqlite3.Connection, inputs: int, rounds: int) -> str | None:
    """The error of a row whose input or round is not among the record's `inputs` and `rounds`; None without one.

    Only the first and last keys are read, so a start does not read a year of rows. A wrong row between them is not
    found here: a replay compares the rows of each input, and counts all rows.
    """
    places = [
        *(("inputs", "seq", inputs), ("snapshots", "seq", inputs)),
        *(("rounds", "round", rounds), ("settlements", "round", rounds), ("cursors", "at", rounds)),
    ]
    places += [(table, "input", inputs) for table in FOLLOWING]
    places += [(table, "round", rounds) for table in OF_ROUNDS]
    for table, column, last in places:
        for end in ("min", "max"):
            found = _value(connection, f"SELECT {end}({column}) FROM {table}")  # noqa: S608 - literals
            if found is not None and not 1 <= found <= last:
                what = "round" if column in {"round", "at"} else "input"
                return f"{table} has a row of {what} {found}, but the {what}s on the record are 1 to {last}: restore a backup"
    return None


def last_award_ts(connection: sqlite3.Connection) -> str | None:
    """When the last award of a meter was locked, None without one."""
    ts: str | None = _value(
        connection,
        "SELECT ts FROM progressive_log WHERE kind = 'award_locked' AND json_extract(record, '$.award.payer') IS NOT 'tray' "
        "ORDER BY input DESC LIMIT 1",
    )
    return ts


def raised(
    connection: sqlite3.Connection, kind: Literal["alarm", "stop"], code: str, text: str
) -> tuple[str | None, str | None]:
    """When an alarm or a stop was last raised, and by whose input; see `publication.Raised`."""
    row = connection.execute(
        "SELECT ts, json_extract(payload, '$.who') FROM incidents JOIN inputs ON seq = input "
        "WHERE kind = ? AND code = ? AND text = ? ORDER BY input DESC LIMIT 1",
        (kind, code, text),
    ).fetchone()
    return (None, None) if row is None else row


def columns(connection: sqlite3.Connection, table: str) -> list[str]:
    """The names of a table's columns, in order."""
    return [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]


def entries_after(connection: sqlite3.Connection, seq: int) -> Iterator[tuple[Entry, str]]:
    """Every entry after `seq` with its hash, in order."""
    found = connection.execute("SELECT * FROM inputs WHERE seq > ? ORDER BY seq", (seq,))
    return ((Entry(row[0], Recorded(*row[1:-1])), row[-1]) for row in found)


def checked_entries(connection: sqlite3.Connection, seq: int, before: str) -> Iterator[Entry]:
    """Every entry after `seq`. Each is checked against the hash of the entry before; `before` is that of `seq`.

    Raises:
        RecordError: an entry is missing or was changed.
    """
    for entry, link in entries_after(connection, seq):
        if entry.seq != seq + 1:
            raise RecordError(f"input {seq + 1} is missing from the record")
        if entry.chained_to(before) != link:
            raise RecordError(
                f"input {entry.seq} of the record, or the input before it, was changed after the record was written"
            )
        seq, before = entry.seq, link
        yield entry


def some_entries(
    connection: sqlite3.Connection, after: int, until: int, size: int
) -> list[tuple[Entry, str]]:
    """The entries after `after` up to `until` with their hashes: at least one, if there is one, and then at most some `size` bytes."""
    found: list[tuple[Entry, str]] = []
    for entry, link in entries_after(connection, after):
        size -= len(entry.payload.encode()) + _BESIDE_THE_PAYLOAD
        if entry.seq > until or (found and size < 0):
            break
        found.append((entry, link))
    return found


def link_of(connection: sqlite3.Connection, seq: int) -> str | None:
    """The hash of an entry, None if there is no such entry."""
    link: str | None = _value(connection, "SELECT hash FROM inputs WHERE seq = ?", (seq,))
    return link


def name(connection: sqlite3.Connection) -> str:
    """A name of the record that follows from its first input."""
    return hashlib.sha256(f"record {link_of(connection, 1)}".encode()).hexdigest()[:16]


def last_head(connection: sqlite3.Connection) -> Head:
    """The last entry's number and hash; 0 and the first link of an empty record."""
    row = connection.execute("SELECT seq, hash FROM inputs ORDER BY seq DESC LIMIT 1").fetchone()
    return FIRST_HEAD if row is None else Head(*row)


def last_ts(connection: sqlite3.Connection) -> str | None:
    """The time of the last input, None of an empty record."""
    row = connection.execute("SELECT ts FROM inputs ORDER BY seq DESC LIMIT 1").fetchone()
    return None if row is None else str(row[0])


def state_digest_of(connection: sqlite3.Connection, seq: int) -> str:
    """The digest of the state after an input, empty if the input does not cover it or is not there."""
    return str(_value(connection, "SELECT state FROM inputs WHERE seq = ?", (seq,)) or "")


def snapshots(connection: sqlite3.Connection) -> list[Snapshot]:
    """The snapshots in order."""
    return [Snapshot(*row) for row in connection.execute("SELECT seq, state FROM snapshots ORDER BY seq")]


def cursor(connection: sqlite3.Connection, name: str) -> int:
    """The position of a reader of the record, 0 if it has not begun."""
    return _value(connection, "SELECT at FROM cursors WHERE name = ?", (name,)) or 0


def last_round_input(connection: sqlite3.Connection) -> int:
    """The number of the input that ended the last round on the record, 0 without a round."""
    # By the key `round`: searching for the highest input would read a year of rounds.
    return _value(connection, "SELECT input FROM rounds ORDER BY round DESC LIMIT 1") or 0


def first_since(connection: sqlite3.Connection, table: Literal["inputs", "rounds"], since: str) -> int:
    """The number of the first row at or after a time, by a clock that was set: rows keep the times of the clock before.

    The search begins at the end, so that it reads only the rows of the report. If a clock that was behind was set, the rows since the
    start of the service have too early times, and the search goes on among them with a time that is as much earlier. Rows before the
    start do not: a PC without a battery begins with the time of its shutdown, so the step has the time that it was off, and only the
    clock since then was wrong. A clock that was set back and came right while the service was off has no step of its own, but the start
    came at least as much later. If the clock was ahead, earlier rows can have times after `since` that were before it, and the result
    is the first of them: the report has too much rather than too little.
    """
    number, its_input = ("seq", "seq") if table == "inputs" else ("round", "input")
    before = f"SELECT {number}, {its_input} FROM {table} WHERE {its_input} < ? AND ts < ? ORDER BY {number} DESC LIMIT 1"  # noqa: S608 - literals
    until, behind = _NO_INPUT, timedelta()
    while True:
        at = timestamp(datetime.fromisoformat(since) - max(behind, timedelta()))
        row, its_input_number = connection.execute(before, (until, at)).fetchone() or (0, 0)
        found = connection.execute(_STEP_OR_START, (its_input_number, until)).fetchone()
        if found is None:
            return int(row) + 1
        until, was, became = found
        if was is None:
            behind = _set_right_before(connection, until)
        else:
            behind += _between(was, became)


def _set_right_before(connection: sqlite3.Connection, start: int) -> timedelta:
    """By how much the clock was behind before this start of the service, if it was set back while the service ran before.

    A clock that was ahead was rather set right by that step if the service was off for less time than the step.
    """
    step = connection.execute(_STEP_OR_START, (0, start)).fetchone()
    if step is None or step[1] is None:
        return timedelta()
    _, was, became = step
    back = _between(became, was)
    off = _between(*(ts for (ts,) in connection.execute(_LAST_AND_START, (start,))))
    return back if timedelta() < back <= off else timedelta()


def _between(earlier: str, later: str) -> timedelta:
    return datetime.fromisoformat(later) - datetime.fromisoformat(earlier)


def last_round(connection: sqlite3.Connection) -> int:
    """The number of the last round on the record, 0 without a round."""
    return _value(connection, "SELECT max(round) FROM rounds") or 0


def _value(connection: sqlite3.Connection, query: str, values: tuple[Any, ...] = ()) -> Any:
    """The first value of a query's first row, None without a row."""
    row = connection.execute(query, values).fetchone()
    return None if row is None else row[0]


def rounds_after(
    connection: sqlite3.Connection, number: int, limit: int
) -> list[tuple[str, str, RoundRecord]]:
    """At most `limit` rounds after this number: time, game's name, record."""
    found = connection.execute(
        "SELECT ts, game, record FROM rounds WHERE round > ? ORDER BY round LIMIT ?", (number, limit)
    )
    return [(ts, game, ROUNDS.validate_json(record, strict=True)) for ts, game, record in found]


class EndedRound(NamedTuple):
    """A round on the record: when it ended, the name of its game and the digest of the game's rules."""

    ts: str
    game: str
    rules: str
    record: RoundRecord


def ended_after(connection: sqlite3.Connection, number: int, limit: int) -> list[EndedRound]:
    """At most `limit` rounds after this number, of a record of the present format."""
    return [
        EndedRound(ts, *game_of(connection, record.round), record)
        for ts, _, record in rounds_after(connection, number, limit)
    ]
