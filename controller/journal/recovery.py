"""Getting the table back from the record: from the last snapshot for a start, from the first input for a replay."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import structlog
from pydantic import TypeAdapter, ValidationError

from controller.journal import store
from controller.journal.books import LOGGED, Row, rows_of
from controller.journal.entries import EVENTS, FIRST_LINK, ROUNDS, STATES, Entry
from controller.journal.incidents import Incident, incidents_of
from controller.journal.store import RecordError
from controller.table.effects import Effect, RoundEnded
from controller.table.events import Event, ServiceStarted
from controller.table.table import Table
from controller.table.turn import RefusedError

_log = structlog.get_logger("controller.journal")


@dataclass(frozen=True, slots=True)
class Step:
    """An input handled again: its entry, the table after it, what came of it."""

    entry: Entry
    table: Table
    effects: list[Effect]
    incidents: list[Incident]

    @property
    def book_rows(self) -> list[Row]:
        """What it did to the table's progressive, as the record has it."""
        return rows_of(self.entry.seq, self.entry.ts, self.table.state, self.effects)


def recover(connection: sqlite3.Connection) -> Table | None:
    """The table as it was when the record ends, None of an empty record.

    What follows from the inputs and is not in its tables yet is added.

    Raises:
        RecordError: the record is broken since the last snapshot.
    """
    try:
        connection.execute("BEGIN IMMEDIATE")
        if store.is_complete(connection):
            seq, link, table = _at_snapshot(connection)
        else:
            store.complete(connection)
            seq, link, table = 0, FIRST_LINK, None
        store.guard(connection)
        for step in _steps(store.checked_entries(connection, seq, link), table):
            seq, table = step.entry.seq, step.table
            _add_rounds(connection, step)
            store.add_incidents(connection, seq, step.incidents)
            store.add_book_rows(connection, step.book_rows)
        _check_end(connection, seq, 0 if table is None else table.state.round - 1)
        connection.execute("COMMIT")
    except (sqlite3.Error, OverflowError) as error:  # the latter: a number beyond those that SQLite has
        raise store.damaged(error) from error
    return table


def _at_snapshot(connection: sqlite3.Connection) -> tuple[int, str, Table | None]:
    """The number and hash of the input to go on from, and the table after it: the first link where there is none.

    Raises:
        RecordError: the snapshot's own input is missing or was changed.
    """
    snapshot = store.last_snapshot(connection)
    if snapshot is None:
        return 0, FIRST_LINK, None
    seq, link, state = snapshot
    found = store.link_of(connection, seq)
    if found is None:
        raise RecordError(
            f"input {seq} is missing from the record, and the snapshot after it is there: restore a backup"
        )
    if found != link:
        raise RecordError(f"input {seq} of the record, or one before it, was changed after it was written")
    # Written by another version, perhaps. A snapshot is a shortcut: the inputs are the truth, and they are here.
    try:
        table = Table(STATES.validate_json(state, strict=True))
    except ValidationError:
        table = None
    if table is None or STATES.dump_json(table.state).decode() != state:
        _log.warning("snapshot passed over", seq=seq, instead="all inputs from the first")
        return 0, FIRST_LINK, None
    return seq, link, table


def _check_end(connection: sqlite3.Connection, seq: int, rounds: int) -> None:
    """Refuse a record that was cut off after the input `seq`, by which `rounds` had ended: it holds what followed."""
    ended = store.last_round_input(connection)
    if ended > seq:
        raise RecordError(
            f"input {ended} is missing from the record, and the round that it ended is there: restore a backup"
        )
    _refuse_stray_rows(connection, seq, rounds)


def _refuse_stray_rows(connection: sqlite3.Connection, inputs: int, rounds: int) -> None:
    """Refuse a record with a row that follows from no input: somebody wrote it, or took its input away."""
    stray = store.stray_row(connection, inputs, rounds)
    if stray is not None:
        raise RecordError(stray)


def _add_rounds(connection: sqlite3.Connection, step: Step) -> None:
    for effect in step.effects:
        if isinstance(effect, RoundEnded):
            game = step.table.state.settings.game.name
            store.add_round(connection, step.entry.seq, step.entry.ts, game, effect.record)


def _steps(entries: Iterator[Entry], table: Table | None) -> Iterator[Step]:
    for entry in entries:
        event = _event_of(entry)
        if table is None:
            if not isinstance(event, ServiceStarted):
                raise RecordError(f"the record begins with {event.kind}, not with the start of a service")
            table = Table.new(event.settings)
        try:
            effects = table.handle(event)
        except RefusedError as refusal:  # it was refused then, too
            yield Step(entry, table, [], incidents_of(event, refusal))
        else:
            yield Step(entry, table, effects, incidents_of(event, effects))


def _event_of(entry: Entry) -> Event:
    try:
        return EVENTS.validate_json(entry.payload, strict=True)
    except ValidationError as error:
        raise RecordError(f"input {entry.seq} cannot be read: {error.errors()[0]['msg']}") from error


def history(path: Path) -> Iterator[Step]:
    """Handle every input of a record again, in order, without changing it; the service may be running.

    Raises:
        RecordError: the file cannot be opened as a record, or is broken where the reading has come to.
    """
    with closing(store.open_for_reading(path)) as connection:
        connection.execute("BEGIN")  # one view of the record, though a service may be adding to it
        try:
            yield from _steps(store.checked_entries(connection, 0, FIRST_LINK), None)
        except sqlite3.Error as error:
            raise store.damaged(error) from error


# --- replay


@dataclass(frozen=True, slots=True)
class Replayed:
    """What a replay found: how much it went through, and the first difference, None when there is none.

    `waiting` counts rounds at the end whose inputs are on the record and which are not in their table yet: the
    service went down in between, and its next start adds them.
    """

    inputs: int
    rounds: int
    waiting: int
    difference: str | None


def replay(path: Path, see: Callable[[Step], None] | None = None) -> Replayed:
    """Derive everything again from the first input, and compare it with what the record holds.

    `see` is shown each step; a RecordError that it raises is a difference.

    Raises:
        RecordError: the file cannot be opened as a record.
    """
    connection = store.open_for_reading(path)
    connection.execute("BEGIN")  # one view of the record, though a service may be adding to it
    inputs = rounds = waiting = 0
    try:
        recorded = store.last_round(connection)
        noted = store.derived_until(connection)
        for step in _steps(store.checked_entries(connection, 0, FIRST_LINK), None):
            inputs = step.entry.seq
            for effect in step.effects:
                if isinstance(effect, RoundEnded):
                    rounds += 1
                    if effect.record.round > recorded:
                        waiting += 1
                    else:
                        _compare_round(connection, step, effect)
            if inputs <= noted:
                _compare_incidents(connection, step)
                _compare_book_rows(connection, step)
            _compare_snapshot(connection, step)
            if see is not None:
                see(step)
        _refuse_stray_rows(connection, inputs, rounds)
        _refuse_stray_settlements(connection)
    except RecordError as difference:
        return Replayed(inputs, rounds, waiting, str(difference))
    except sqlite3.Error as error:
        return Replayed(inputs, rounds, waiting, str(store.damaged(error)))
    finally:
        connection.close()
    return Replayed(inputs, rounds, waiting, None)


def _refuse_stray_settlements(connection: sqlite3.Connection) -> None:
    """Refuse a settlement of a round that is not there; those of each round that is have been compared with it."""
    stray = store.stray_settlement(connection)
    if stray is not None:
        raise RecordError(f"the record has a settlement of round {stray}, and that round is not on it")


def _compare_round(connection: sqlite3.Connection, step: Step, ended: RoundEnded) -> None:
    number = ended.record.round
    expected = store.round_row(
        step.entry.seq, step.entry.ts, step.table.state.settings.game.name, ended.record
    )
    found = connection.execute("SELECT * FROM rounds WHERE round = ?", (number,)).fetchone()
    if found is None:
        raise RecordError(f"round {number}, which input {step.entry.seq} ended, is missing from the rounds")
    # Written by an earlier version, it may lack what has its default.
    if (*found[:-1], _as_now(ROUNDS, found[-1])) != expected:
        raise RecordError(f"round {number} is recorded as {found} and derived as {expected}")
    paid = connection.execute(
        "SELECT * FROM settlements WHERE round = ? ORDER BY seat, wager", (number,)
    ).fetchall()
    derived = sorted(store.settlement_rows(ended.record), key=lambda row: (row[1], row[2]))
    if paid != derived:
        raise RecordError(
            f"the settlements of round {number} are recorded as {paid} and derived as {derived}"
        )


def _compare_incidents(connection: sqlite3.Connection, step: Step) -> None:
    """Refuse other incidents of an input than there were. Their words may be those of an earlier version."""
    seq = step.entry.seq
    found = connection.execute(
        "SELECT kind, code FROM incidents WHERE input = ? ORDER BY place", (seq,)
    ).fetchall()
    expected = [(each.kind, each.code) for each in step.incidents]
    if found != expected:
        raise RecordError(f"the incidents of input {seq} are recorded as {found} and derived as {expected}")


def _compare_book_rows(connection: sqlite3.Connection, step: Step) -> None:
    """Refuse another amount, reason or award than there was."""
    seq, expected = step.entry.seq, step.book_rows
    found = [_row_as_now(row) for row in store.book_rows(connection, seq)]
    if found != expected:
        raise RecordError(
            f"what input {seq} did to the meter is recorded as {found} and derived as {expected}"
        )


def _row_as_now(row: Row) -> Row:
    """A row as this version would write it: an earlier one may lack what has its default."""
    if row.table != "progressive_log":
        return row
    return Row(row.table, (*row.values[:-1], _as_now(LOGGED, str(row.values[-1]))))


def _compare_snapshot(connection: sqlite3.Connection, step: Step) -> None:
    seq = step.entry.seq
    row = connection.execute("SELECT state, hash FROM snapshots WHERE seq = ?", (seq,)).fetchone()
    if row is not None and row[1] != store.link_of(connection, seq):
        raise RecordError(f"the snapshot after input {seq} has another hash than that input")
    if row is None or _as_now(STATES, row[0]) != row[0]:
        return  # an earlier version's, which knew less of the table: a start passes over it, too
    if row[0] != STATES.dump_json(step.table.state).decode():
        raise RecordError(f"the snapshot after input {seq} differs from the table derived again")


def _as_now(kind: TypeAdapter[Any], written: str) -> str:
    """What was written, as this version would write it; itself where it cannot be read."""
    try:
        return kind.dump_json(kind.validate_json(written, strict=True)).decode()
    except ValidationError:
        return written
