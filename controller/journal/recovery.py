"""Getting the table back from the record: from the last snapshot for a start, from the first input for a replay."""

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import structlog
from pydantic import TypeAdapter, ValidationError

from punto.baccarat.table.effects import Effect, RoundEnded
from punto.baccarat.table.events import Event, ServiceStarted
from punto.baccarat.table.table import Table
from punto.baccarat.table.turn import RefusedError
from punto.controller.journal import balances, schema, store
from punto.controller.journal.books import LOGGED, Row, rows_of
from punto.controller.journal.differing import difference, row_of
from punto.controller.journal.entries import EVENTS, FIRST_HEAD, FIRST_LINK, ROUNDS, Entry, Head
from punto.controller.journal.incidents import Incident, incidents_of
from punto.controller.journal.schema import RecordError
from punto.controller.journal.snapshots import Snapshot

FEW_INPUTS: Final = 2000
"""Inputs that a start handles all again, whatever snapshots there are."""
_OTHER_TABLE: Final = "the snapshot after input {} differs from the table derived again"

_log = structlog.get_logger("punto.controller.journal")


@dataclass(frozen=True, slots=True)
class Step:
    """An input handled again: its entry, what it said, the table after it, what came of it."""

    entry: Entry
    event: Event
    table: Table
    effects: list[Effect]
    incidents: list[Incident]

    @property
    def book_rows(self) -> list[Row]:
        """What it did to the table's progressive, as the record has it."""
        return rows_of(self.entry.seq, self.entry.ts, self.table.state, self.effects)


@dataclass(slots=True)
class Recovered:
    """What a start goes on from: the table, None of an empty record; the last sound snapshot's input, 0 if there is none.

    `differences` says what was passed over, because it is not what the inputs give: a snapshot, or rows.
    """

    table: Table | None = None
    snapshot: int = 0
    differences: list[str] = field(default_factory=list)

    def pass_over(self, difference: str) -> None:
        """Note something that is not what the inputs give."""
        _log.error("the record differs", found=difference, instead="its inputs")
        self.differences.append(difference)


def recover(connection: sqlite3.Connection) -> Recovered:
    """The table as it was when the record ends.

    What follows from the inputs and is not in its tables yet is added. No snapshot is trusted by itself: the inputs name it,
    the one before leads to it, and the table that comes of it is the one that the record's rows tell of.

    Raises:
        RecordError: the record is broken since the last snapshot but one, or its schema is not this program's.
    """
    found = Recovered()
    try:
        connection.execute("BEGIN IMMEDIATE")
        _refuse_other_schema(connection)
        if not schema.is_current(connection):
            schema.complete(connection)
        sound = _sound_snapshots(connection, found)
        base = [snapshot for snapshot in sound[:1] if snapshot.seq > FEW_INPUTS]
        seq = _derive(connection, found, base, sound[len(base) :])
        differs = _differs(connection, found)
        if differs is not None and base:
            found.pass_over(differs)
            seq = _derive(connection, found, [], sound)
            differs = _differs(connection, found)
        if differs is not None:
            found.pass_over(f"{differs}: not by its rows")
        _check_end(connection, seq, 0 if found.table is None else found.table.state.round - 1)
        connection.execute("COMMIT")
    except (sqlite3.Error, OverflowError) as error:  # the latter: a number beyond those that SQLite has
        raise schema.damaged(error) from error
    return found


def _sound_snapshots(connection: sqlite3.Connection, found: Recovered) -> list[Snapshot]:
    """The snapshots that the inputs name and that this version can read, in order.

    Raises:
        RecordError: a snapshot's own input is missing.
    """
    sound = []
    last = store.last_head(connection).seq
    for snapshot in (Snapshot(*row) for row in store.snapshots(connection)):
        if snapshot.seq > last:
            raise RecordError(
                f"input {snapshot.seq} is missing from the record, and the snapshot after it is there: restore a backup"
            )
        difference = snapshot.difference(connection)
        if difference is not None:
            found.pass_over(difference)
        elif snapshot.table() is not None:
            sound.append(snapshot)
        else:  # Written by another version. A snapshot is a shortcut: the inputs are the truth, and they are here.
            _log.warning("snapshot passed over", seq=snapshot.seq, reason="another version wrote it")
    return sound


def _derive(
    connection: sqlite3.Connection, found: Recovered, base: Sequence[Snapshot], later: Sequence[Snapshot]
) -> int:
    """Handle the inputs after the snapshot `base`, all where there is none, and hold the `later` ones against what comes of it."""
    on = base[0] if base else Snapshot()
    awaited = {snapshot.seq: snapshot for snapshot in later}
    seq, found.snapshot, found.table = on.seq, on.seq, on.table()
    for step in _steps(store.checked_entries(connection, seq, on.link), found.table):
        seq, found.table = step.entry.seq, step.table
        _add_rounds(connection, step)
        store.add_incidents(connection, seq, step.incidents)
        store.add_book_rows(connection, step.book_rows)
        if (snapshot := awaited.get(seq)) is not None:
            if snapshot == Snapshot.of(seq, snapshot.link, step.table.state):
                found.snapshot = seq
            else:
                found.pass_over(_OTHER_TABLE.format(seq))
    return seq


def _differs(connection: sqlite3.Connection, found: Recovered) -> str | None:
    return None if found.table is None else balances.difference(connection, found.table.state)


def _refuse_other_schema(connection: sqlite3.Connection) -> None:
    """Refuse a record in which something else than this program's triggers decides what can be written."""
    difference = schema.schema_difference(connection)
    if difference is not None:
        raise RecordError(difference)


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
            yield Step(entry, event, table, [], incidents_of(event, refusal))
        else:
            yield Step(entry, event, table, effects, incidents_of(event, effects))


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
    with schema.reading(path) as connection:
        yield from _steps(store.checked_entries(connection, 0, FIRST_LINK), None)


# --- replay


@dataclass(slots=True)
class Replayed:
    """What a replay found: how much it went through, and the first difference, None when there is none.

    `waiting` counts rounds at the end whose inputs are on the record and which are not in their table yet: the
    service went down in between, and its next start adds them. `reworded` counts incidents that another version of the
    program, one of `versions`, put in other words than this one would: they cannot be compared here. `head` is the record's.
    """

    inputs: int = 0
    rounds: int = 0
    waiting: int = 0
    reworded: int = 0
    versions: list[str] = field(default_factory=list)
    head: Head = FIRST_HEAD
    difference: str | None = None


def replay(
    path: Path,
    see: Callable[[Step], None] | None = None,
    *,
    version: str | None = None,
    noted: Sequence[Head] = (),
) -> Replayed:
    """Derive everything again from the first input, and compare it with what the record holds.

    `see` is shown each step; a RecordError that it raises is a difference. What this very program wrote, by its `version`, is
    compared to the letter; what another one wrote may lack what has its default now, and its incidents may be in other words.
    Heads that were `noted` before must still be those of the record.

    Raises:
        RecordError: the file cannot be opened as a record.
    """
    found = Replayed()
    with schema.reading(path) as connection:
        try:
            _refuse_other_schema(connection)
            found.head = store.last_head(connection)
            _compare_heads(connection, noted, found.head)
            _Comparison(connection, found, version).all(see)
        except RecordError as difference:
            found.difference = str(difference)
        except sqlite3.Error as error:
            found.difference = str(schema.damaged(error))
    return found


def _compare_heads(connection: sqlite3.Connection, noted: Sequence[Head], last: Head) -> None:
    """Refuse a record that is not the one of which these heads were noted, however well it is chained."""
    for head in noted:
        link = store.link_of(connection, head.seq)
        if link is None:
            raise RecordError(
                f"input {head.seq}, whose hash was noted, is not on the record, which ends with input {last.seq}"
            )
        if link != head.hash:
            raise RecordError(
                f"input {head.seq} has another hash than was noted: it, or one before it, was changed, and the hashes made anew"
            )


class _Comparison:
    """A record being compared with what its inputs give. Each method raises a RecordError at a difference."""

    def __init__(self, connection: sqlite3.Connection, found: Replayed, version: str | None) -> None:
        self._connection = connection
        self._found = found
        self._version = version
        self._snapshots = {row[0]: Snapshot(*row) for row in store.snapshots(connection)}
        self._wrote: str | None = None  # the version that took the input at hand

    def all(self, see: Callable[[Step], None] | None) -> None:
        recorded = store.last_round(self._connection)
        noted = store.derived_until(self._connection)
        found = self._found
        for step in _steps(store.checked_entries(self._connection, 0, FIRST_LINK), None):
            found.inputs = step.entry.seq
            if isinstance(step.event, ServiceStarted):
                self._wrote = step.event.version
            for effect in step.effects:
                if isinstance(effect, RoundEnded):
                    found.rounds += 1
                    if effect.record.round > recorded:
                        found.waiting += 1
                    else:
                        self._round(step, effect)
            if found.inputs <= noted:
                self._incidents(step)
                self._book_rows(step)
            self._snapshot(step)
            if see is not None:
                see(step)
        _refuse_stray_rows(self._connection, found.inputs, found.rounds)
        _refuse_stray_settlements(self._connection)

    def _round(self, step: Step, ended: RoundEnded) -> None:
        number = ended.record.round
        expected = store.round_row(
            step.entry.seq, step.entry.ts, step.table.state.settings.game.name, ended.record
        )
        found = self._connection.execute("SELECT * FROM rounds WHERE round = ?", (number,)).fetchone()
        if found is None:
            raise RecordError(
                f"round {number}, which input {step.entry.seq} ended, is missing from the rounds"
            )
        self._same(
            f"round {number} differs",
            "rounds",
            {"": (*found[:-1], self._read(ROUNDS, found[-1]))},
            {"": expected},
        )
        paid = self._connection.execute("SELECT * FROM settlements WHERE round = ?", (number,))
        self._same(
            f"the settlements of round {number} differ",
            "settlements",
            {_settlement(row): row for row in paid},
            {_settlement(row): row for row in store.settlement_rows(ended.record)},
        )

    def _incidents(self, step: Step) -> None:
        seq = step.entry.seq
        found = self._connection.execute("SELECT * FROM incidents WHERE input = ?", (seq,)).fetchall()
        expected = store.incident_rows(seq, step.incidents)
        if not found and not expected:
            return
        if self._wrote != self._version:
            words = {row[:-1]: row[-1] for row in expected}
            others = [row for row in found if words.get(row[:-1], row[-1]) != row[-1]]
            if others:
                self._found.reworded += len(others)
                if self._wrote is not None and self._wrote not in self._found.versions:
                    self._found.versions.append(self._wrote)
            found = [(*row[:-1], words.get(row[:-1], row[-1])) for row in found]
        self._same(
            f"the incidents of input {seq} differ",
            "incidents",
            {f"place {row[1]}": row for row in found},
            {f"place {row[1]}": row for row in expected},
        )

    def _book_rows(self, step: Step) -> None:
        """Refuse another amount, reason or award than there was."""
        seq, derived = step.entry.seq, step.book_rows
        recorded = [self._row_as_now(row) for row in store.book_rows(self._connection, seq)]
        for table in dict.fromkeys(row.table for row in (*recorded, *derived)):
            self._same(
                f"what input {seq} did to the meter differs in {table}",
                table,
                {f"place {row.values[1]}": row.values for row in recorded if row.table == table},
                {f"place {row.values[1]}": row.values for row in derived if row.table == table},
            )

    def _row_as_now(self, row: Row) -> Row:
        if row.table != "progressive_log":
            return row
        return Row(row.table, (*row.values[:-1], self._read(LOGGED, str(row.values[-1]))))

    def _read(self, kind: TypeAdapter[Any], written: str) -> str:
        """What was written, if it was by this program; by an earlier one, it may lack what has its default."""
        return written if self._wrote == self._version else _as_now(kind, written)

    def _same(
        self,
        what: str,
        table: str,
        recorded: Mapping[str, Sequence[Any]],
        derived: Mapping[str, Sequence[Any]],
    ) -> None:
        """Refuse other rows of a table than there were; both by what a person calls each."""
        if recorded != derived:
            columns = store.columns(self._connection, table)
            read = [
                {name: row_of(columns, row) for name, row in rows.items()} for rows in (recorded, derived)
            ]
            raise RecordError(f"{what}: {difference(*read)}")

    def _snapshot(self, step: Step) -> None:
        seq = step.entry.seq
        if seq not in self._snapshots:
            return
        snapshot = self._snapshots[seq]
        if schema.is_current(self._connection):
            difference = snapshot.difference(self._connection)
            if difference is not None:
                raise RecordError(difference)
        # One that another version wrote, a start passes over, too.
        if snapshot.table() is not None and snapshot != Snapshot.of(seq, snapshot.link, step.table.state):
            raise RecordError(_OTHER_TABLE.format(seq))


def _settlement(row: Sequence[Any]) -> str:
    return f"seat {row[1]} {row[2]}"


def _refuse_stray_settlements(connection: sqlite3.Connection) -> None:
    """Refuse a settlement of a round that is not there; those of each round that is have been compared with it."""
    stray = store.stray_settlement(connection)
    if stray is not None:
        raise RecordError(f"the record has a settlement of round {stray}, and that round is not on it")


def _as_now(kind: TypeAdapter[Any], written: str) -> str:
    """What was written, as this version would write it; itself where it cannot be read."""
    try:
        return kind.dump_json(kind.validate_json(written, strict=True)).decode()
    except ValidationError:
        return written
