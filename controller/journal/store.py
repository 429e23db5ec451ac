"""The rows of the record, written and read inside one transaction; `schema` has the tables that they are in."""

import sqlite3
from collections.abc import Iterator, Sequence
from functools import cache

from punto.baccarat.table.state import RoundRecord
from punto.controller.journal import books
from punto.controller.journal.entries import FIRST_HEAD, ROUNDS, Entry, Head
from punto.controller.journal.incidents import Incident
from punto.controller.journal.schema import FOLLOWING, SNAPSHOTS_KEPT, RecordError, is_complete

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
        places += [(table, "input", inputs) for table in FOLLOWING]
    elif (later := _has_table(connection, *FOLLOWING)) is not None:
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
        (SNAPSHOTS_KEPT,),
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
    places = [("input", table) for table in FOLLOWING] + [("seq", "snapshots")]
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
