"""Writes and reads the rows of the record, inside the caller's transaction. `schema` has the tables."""

import hashlib
import sqlite3
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Final, NamedTuple

from punto.baccarat.table.state import RoundRecord
from punto.baccarat.wagers.definition import Game
from punto.controller.journal import books
from punto.controller.journal.entries import FIRST_HEAD, ROUNDS, Entry, Head
from punto.controller.journal.incidents import Incident
from punto.controller.journal.meters import KEYS, OF_ROUNDS, add_meters, game_of
from punto.controller.journal.schema import FOLLOWING, SNAPSHOTS_KEPT, RecordError, has_meters, is_complete

_BESIDE_THE_PAYLOAD = 100
"""About the bytes of an entry's other columns."""
MOST_BEHIND: Final = 20
"""Inputs that can be on the record, besides the last ones that came together, before the rows of an earlier input are."""

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


def add_round(connection: sqlite3.Connection, seq: int, ts: str, game: Game, record: RoundRecord) -> None:
    """Add a round of a game that the input `seq` ended, unless the record has it, as it may in recovery."""
    if not _value(connection, "SELECT 1 FROM rounds WHERE round = ?", (record.round,)):
        _add_round_alone(connection, seq, ts, game.name, record)
    add_meters(connection, game, record)


def _add_round_alone(
    connection: sqlite3.Connection, seq: int, ts: str, game: str, record: RoundRecord
) -> None:
    connection.execute(
        "INSERT INTO rounds VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", round_row(seq, ts, game, record)
    )
    connection.executemany(
        "INSERT INTO settlements VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", settlement_rows(record)
    )


def add_incidents(connection: sqlite3.Connection, seq: int, incidents: Sequence[Incident]) -> None:
    """Add the incidents of the input `seq`, unless the record has them, as it may in recovery."""
    connection.executemany(_insert("incidents", 5), incident_rows(seq, incidents))


def add_book_rows(connection: sqlite3.Connection, rows: Sequence[books.Row]) -> None:
    """Add a progressive's rows, unless the record has them, as it may in recovery."""
    for row in rows:
        connection.execute(_insert(row.table, len(row.values)), row.values)


@cache
def _insert(table: str, columns: int) -> str:
    """The statement that adds a row unless there is one with the same input and place, its first two columns."""
    marks = ", ".join(f"?{n}" for n in range(1, columns + 1))
    # Not OR IGNORE, which would also ignore a posting that does not sum to zero.
    return (
        f"INSERT INTO {table} SELECT {marks} "  # noqa: S608 - literals
        f"WHERE NOT EXISTS (SELECT 1 FROM {table} WHERE input = ?1 AND place = ?2)"
    )


def book_rows(connection: sqlite3.Connection, seq: int) -> list[books.Row]:
    """A progressive's rows on the record that follow from an input, in order."""
    found = [
        books.Row(table, row)
        for table in books.NEVER_EDITED
        for row in connection.execute(f"SELECT * FROM {table} WHERE input = ?", (seq,))  # noqa: S608
    ]
    return sorted(found, key=lambda row: row.values[:2])


def stray_row(connection: sqlite3.Connection, inputs: int, rounds: int) -> str | None:
    """The error of a row whose input or round is not among the record's `inputs` and `rounds`; None without one.

    Only the first and last keys are read, so a start does not read a year of rows. A wrong row between them is not
    found here: a replay compares the rows of each input, and `stray_settlement` reads all settlements.
    """
    places = [
        *(("inputs", "seq", inputs), ("snapshots", "seq", inputs)),
        *(("rounds", "round", rounds), ("settlements", "round", rounds), ("cursors", "at", rounds)),
    ]
    later = None
    if is_complete(connection):
        places += [(table, "input", inputs) for table in FOLLOWING]
    else:
        later = _has_table(connection, *FOLLOWING)
    if has_meters(connection):
        places += [(table, "round", rounds) for table in OF_ROUNDS]
    else:
        later = later or _has_table(connection, *KEYS)
    if later is not None:
        return f"the record has the table {later}, but the format of the record has no such table: restore a backup"
    for table, column, last in places:
        for end in ("min", "max"):
            found = _value(connection, f"SELECT {end}({column}) FROM {table}")  # noqa: S608 - literals
            if found is not None and not 1 <= found <= last:
                what = "round" if column in {"round", "at"} else "input"
                return f"{table} has a row of {what} {found}, but the {what}s on the record are 1 to {last}: restore a backup"
    return None


def _has_table(connection: sqlite3.Connection, *names: str) -> str | None:
    """One of these tables that the record has, None if it has none of them."""
    found = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
    return next((name for (name,) in found if name in names), None)


def stray_settlement(connection: sqlite3.Connection) -> int | None:
    """A round that has a settlement but no row in `rounds`, None if there is none."""
    found: int | None = _value(
        connection,
        "SELECT round FROM settlements AS s WHERE NOT EXISTS (SELECT 1 FROM rounds WHERE round = s.round) LIMIT 1",
    )
    return found


def last_award_ts(connection: sqlite3.Connection) -> str | None:
    """When the last award of a meter was locked, None without one."""
    ts: str | None = _value(
        connection,
        "SELECT ts FROM progressive_log WHERE kind = 'award_locked' AND json_extract(record, '$.award.payer') IS NOT 'tray' "
        "ORDER BY input DESC LIMIT 1",
    )
    return ts


def raised(connection: sqlite3.Connection, code: str, text: str) -> tuple[str | None, str | None]:
    """When an alarm was last raised, and by whose input; see `engine.Raised`."""
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
    """Add the state after the input `seq`, whose hash is `link`, and delete all but the last `SNAPSHOTS_KEPT`."""
    connection.execute("INSERT INTO snapshots VALUES (?, ?, ?)", (seq, link, state))
    connection.execute(
        "DELETE FROM snapshots WHERE seq NOT IN (SELECT seq FROM snapshots ORDER BY seq DESC LIMIT ?)",
        (SNAPSHOTS_KEPT,),
    )


def set_cursor(connection: sqlite3.Connection, name: str, at: int) -> None:
    """Store the position of a reader of the record."""
    connection.execute("INSERT OR REPLACE INTO cursors VALUES (?, ?)", (name, at))


# --- reading


def entries_after(connection: sqlite3.Connection, seq: int) -> Iterator[tuple[Entry, str]]:
    """Every entry after `seq` with its hash, in order."""
    rows = connection.execute(
        "SELECT seq, ts, source, payload, hash FROM inputs WHERE seq > ? ORDER BY seq", (seq,)
    )
    return ((Entry(*row[:4]), row[4]) for row in rows)


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


def payload_of(connection: sqlite3.Connection, seq: int) -> str | None:
    """The JSON of an entry, None if there is no such entry."""
    payload: str | None = _value(connection, "SELECT payload FROM inputs WHERE seq = ?", (seq,))
    return payload


def snapshots(connection: sqlite3.Connection) -> list[tuple[int, str, str]]:
    """The snapshots in order: the input before each, that input's hash, and the state's JSON."""
    return connection.execute("SELECT seq, hash, state FROM snapshots ORDER BY seq").fetchall()


def cursor(connection: sqlite3.Connection, name: str) -> int:
    """The position of a reader of the record, 0 if it has not begun."""
    return _value(connection, "SELECT at FROM cursors WHERE name = ?", (name,)) or 0


def last_round_input(connection: sqlite3.Connection) -> int:
    """The number of the input that ended the last round on the record, 0 without a round."""
    # By the key `round`: searching for the highest input would read a year of rounds.
    return _value(connection, "SELECT input FROM rounds ORDER BY round DESC LIMIT 1") or 0


def derived_until(connection: sqlite3.Connection) -> int:
    """The last input whose incidents and book rows must be on the record: they are written in the order of the inputs."""
    if not is_complete(connection):
        return 0
    places = [("input", table) for table in FOLLOWING] + [("seq", "snapshots")]
    found = (_value(connection, f"SELECT max({column}) FROM {table}") for column, table in places)  # noqa: S608
    # A round's row is written after all rows of the inputs before the one that ended it.
    return max(last_round_input(connection) - 1, *(number or 0 for number in found))


def rows_until(connection: sqlite3.Connection) -> int:
    """The last input whose rows cannot be missing because the service was killed.

    A start adds the missing rows of all inputs before it. After that, the rows of an input wait at most until the inputs are
    written that came while it was handled. Inputs that came together have one time.
    """
    before = "SELECT seq FROM inputs WHERE ts != (SELECT ts FROM inputs ORDER BY seq DESC LIMIT 1) ORDER BY seq DESC LIMIT 1"
    until = max(0, (_value(connection, before) or 0) - MOST_BEHIND)
    started = _value(
        connection,
        "SELECT max(seq) FROM inputs WHERE seq > ? AND json_extract(payload, '$.kind') = 'service_started'",
        (until,),
    )
    return until if started is None else int(started) - 1


def first_since(connection: sqlite3.Connection, table: str, number: str, since: str) -> int:
    """The number of the first row at or after a time: numbers have no gaps, and times rise with them.

    The search begins at the end, so that it reads only the rows of the report. If the clock was set back in between, the
    result is one of several possible rows.
    """
    before = f"SELECT {number} FROM {table} WHERE ts < ? ORDER BY {number} DESC LIMIT 1"  # noqa: S608 - literals
    row = connection.execute(before, (since,)).fetchone()
    return 1 if row is None else row[0] + 1


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
    rows = connection.execute(
        "SELECT ts, game, record FROM rounds WHERE round > ? ORDER BY round LIMIT ?", (number, limit)
    )
    return [(ts, game, ROUNDS.validate_json(record, strict=True)) for ts, game, record in rows]


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
