"""Restores the table from the record: from a snapshot for a start, from the first input for a replay."""

import sqlite3
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import structlog
from pydantic import TypeAdapter, ValidationError

from punto.baccarat.table.effects import Effect, RoundEnded
from punto.baccarat.table.events import Event, ServiceStarted, SetWager
from punto.baccarat.table.state import RoundRecord
from punto.baccarat.table.table import Table
from punto.baccarat.table.turn import RefusedError
from punto.baccarat.wagers.definition import Game
from punto.configs.problems import cut
from punto.controller.journal import balances, meters, schema, store
from punto.controller.journal.answers import Answer, Answers
from punto.controller.journal.books import LOGGED, Row, rows_of
from punto.controller.journal.differing import difference, row_of
from punto.controller.journal.entries import (
    EVENTS,
    FIRST_HEAD,
    FIRST_LINK,
    ROUNDS,
    Entry,
    Head,
    repeated_key,
)
from punto.controller.journal.incidents import Incident, incidents_of
from punto.controller.journal.schema import RecordError
from punto.controller.journal.snapshots import Snapshot

FEW_INPUTS: Final = 2000
"""A start handles a record of up to this number of inputs from its first, without a snapshot."""
_OTHER_TABLE: Final = "the snapshot after input {} differs from the table that was computed again"

_log = structlog.get_logger("punto.controller.journal")


@dataclass(frozen=True, slots=True)
class Step:
    """An input handled again: its entry, its event, the table after it, its effects, incidents and refusal."""

    entry: Entry
    event: Event
    table: Table
    effects: list[Effect]
    incidents: list[Incident]
    refusal: RefusedError | None = None

    @property
    def book_rows(self) -> list[Row]:
        """The rows of what it did to the table's progressive."""
        return rows_of(self.entry.seq, self.entry.ts, self.table.state, self.effects)


@dataclass(slots=True)
class Recovered:
    """The result of a recovery: the table, None of an empty record; the last valid snapshot's input, 0 without one.

    `answers` are those to the seats' last wagers. `differences` describes snapshots and rows that were ignored
    because they differ from what the inputs give.
    """

    table: Table | None = None
    snapshot: int = 0
    answers: Answers = field(default_factory=Answers, compare=False)
    differences: list[str] = field(default_factory=list)

    def ignore(self, difference: str) -> None:
        """Log and keep a difference; the recovered table follows from the inputs instead."""
        _log.error("the record differs", found=difference, instead="its inputs")
        self.differences.append(difference)


def recover(connection: sqlite3.Connection) -> Recovered:
    """Restore the table at the end of the record, and add rows that follow from the inputs and are missing.

    A snapshot is used only if the inputs name it, if the inputs since the snapshot before lead to it, and if the
    resulting table agrees with the record's rows.

    Raises:
        RecordError: the record is broken since the first snapshot that is kept, or its schema is not this program's.
    """
    found = Recovered()
    with schema.readable(schema.path_of(connection)):
        connection.execute("BEGIN IMMEDIATE")
        _refuse(schema.schema_difference(connection))
        complete = schema.is_current(connection)
        if not complete:
            schema.complete(connection)
        sound = _sound_snapshots(connection, found)
        base = [snapshot for snapshot in sound[:1] if complete and snapshot.seq > FEW_INPUTS]
        seq = _derive(connection, found, base, sound[len(base) :])
        differs = _differs(connection, found)
        if differs is not None and base:
            found.ignore(differs)
            seq = _derive(connection, found, [], sound)
            differs = _differs(connection, found)
        if differs is not None:
            found.ignore(f"{differs}: its rows were changed")
        # The record may have been cut off after the input `seq`: then there are rows of later inputs.
        ended = store.last_round_input(connection)
        if ended > seq:
            raise RecordError(
                f"input {ended} is missing from the record, but the record has the round that this input ended: restore a backup"
            )
        rounds = 0 if found.table is None else found.table.state.round - 1
        _refuse(store.stray_row(connection, seq, rounds))
        connection.execute("COMMIT")
    return found


def _sound_snapshots(connection: sqlite3.Connection, found: Recovered) -> list[Snapshot]:
    """The snapshots that the inputs name and that this version can read, in order.

    Raises:
        RecordError: the input before a snapshot is missing.
    """
    sound = []
    last = store.last_head(connection).seq
    for snapshot in (Snapshot(*row) for row in store.snapshots(connection)):
        if snapshot.seq > last:
            raise RecordError(
                f"input {snapshot.seq} is missing from the record, but the record has the snapshot after this input: restore a backup"
            )
        difference = snapshot.difference(connection)
        if difference is not None:
            found.ignore(difference)
        elif snapshot.table() is not None:
            sound.append(snapshot)
        else:
            _log.warning("snapshot ignored", seq=snapshot.seq, reason="another version wrote it")
    return sound


def _derive(
    connection: sqlite3.Connection, found: Recovered, base: Sequence[Snapshot], later: Sequence[Snapshot]
) -> int:
    """Handle the inputs after the snapshot `base`, or all inputs, and compare the `later` snapshots with the result.

    Returns the number of the last input.
    """
    on = base[0] if base else Snapshot()
    awaited = {snapshot.seq: snapshot for snapshot in later}
    seq, found.snapshot, found.table, found.answers = on.seq, on.seq, on.table(), Answers()
    for step in _steps(store.checked_entries(connection, seq, on.link), found.table):
        seq, found.table = step.entry.seq, step.table
        game = step.table.state.settings.game
        for effect in step.effects:
            if isinstance(effect, RoundEnded):
                store.add_round(connection, seq, step.entry.ts, game, effect.record)
        if isinstance(asked := step.event, SetWager):
            round_ = step.table.state.round
            found.answers.add(
                Answer(seq=seq, ts=step.entry.ts, round=round_, asked=asked, refusal=step.refusal)
            )
        store.add_incidents(connection, seq, step.incidents)
        store.add_book_rows(connection, step.book_rows)
        if (snapshot := awaited.get(seq)) is not None:
            if snapshot == Snapshot.of(seq, snapshot.link, step.table.state):
                found.snapshot = seq
            else:
                found.ignore(_OTHER_TABLE.format(seq))
    return seq


def _differs(connection: sqlite3.Connection, found: Recovered) -> str | None:
    return None if found.table is None else balances.difference(connection, found.table.state)


def _refuse(difference: str | None) -> None:
    """Raise the difference, if there is one, as a RecordError."""
    if difference is not None:
        raise RecordError(difference)


def _steps(entries: Iterator[Entry], table: Table | None) -> Iterator[Step]:
    for entry in entries:
        event = _event_of(entry)
        if table is None:
            if not isinstance(event, ServiceStarted):
                raise RecordError(f"the record begins with {event.kind}, not with the start of a service")
            table = Table.new(event.settings)
        try:
            effects = table.handle(event)
        except RefusedError as refusal:  # it was refused the first time too
            yield Step(entry, event, table, [], incidents_of(event, refusal), refusal)
        else:
            yield Step(entry, event, table, effects, incidents_of(event, effects))


def _event_of(entry: Entry) -> Event:
    try:
        event = EVENTS.validate_json(entry.payload, strict=True)
    except ValidationError as error:
        raise RecordError(f"input {entry.seq} cannot be read: {error.errors()[0]['msg']}") from error
    # What this version would write has no key twice, so only the inputs of other versions take this time.
    if not _is_written(entry, event) and (key := repeated_key(entry.payload)) is not None:
        raise RecordError(
            f"input {entry.seq} has the key {cut(key, 100)} twice, so programs read it differently: restore a backup"
        )
    return event


def _is_written(entry: Entry, event: Event) -> bool:
    """Whether the text of an input is what this version writes for its event."""
    return EVENTS.dump_json(event).decode() == entry.payload


def history(path: Path) -> Iterator[Step]:
    """Handle every input of a record again, in order, without changing the record. The service may be running.

    Raises:
        RecordError: the file cannot be opened as a record, or its next input is broken.
    """
    with schema.reading(path) as connection:
        yield from _steps(store.checked_entries(connection, 0, FIRST_LINK), None)


# --- replay


@dataclass(slots=True)
class Replayed:
    """The result of a replay: its numbers of inputs and rounds, and the first difference, None without one.

    - `waiting` counts the last inputs whose rows are missing: the service was killed, or is at work, between them and the rows,
      and its next start adds the rows. More inputs than a kill can leave without rows are a difference.
    - `reworded` counts the incidents that another version, one of `versions`, wrote with another text than this
      version would. They cannot be compared.
    - `head` is the record's head, `title` the table's name for people.
    """

    inputs: int = 0
    rounds: int = 0
    waiting: int = 0
    reworded: int = 0
    versions: list[str] = field(default_factory=list)
    head: Head = FIRST_HEAD
    title: str = "a table without a start"
    difference: str | None = None


def replay(
    path: Path,
    see: Callable[[Step], None] | None = None,
    *,
    version: str | None = None,
    noted: Sequence[Head] = (),
) -> Replayed:
    """Derive everything again from the first input, and compare it with the record.

    - `see` is called with each step; a RecordError that it raises is a difference.
    - `version` is this program's. Rows that it wrote are compared exactly. In rows of other versions, fields that have
      their default value may be missing, and the texts of incidents may differ.
    - `noted` are heads that were stored earlier; the record must still have them.

    Raises:
        RecordError: the file cannot be opened as a record, or cannot be read now.
    """
    found = Replayed()
    with schema.reading(path) as connection:
        try:
            with schema.readable(path):
                schema.check_log(path)
                _refuse(schema.damage(connection))
                _refuse(schema.schema_difference(connection))
                found.head = store.last_head(connection)
                _compare_heads(connection, noted, found.head)
                _Comparison(connection, found, version).all(see)
        except schema.UnavailableError:
            raise  # it is no difference
        except RecordError as difference:
            found.difference = str(difference)
    return found


def _compare_heads(connection: sqlite3.Connection, noted: Sequence[Head], last: Head) -> None:
    """Refuse a record without these heads. A forged record can have a valid chain, but not the noted hashes."""
    for head in noted:
        link = store.link_of(connection, head.seq)
        if link is None:
            raise RecordError(
                f"the noted head belongs to input {head.seq}, but the record ends with input {last.seq}"
            )
        if link != head.hash:
            raise RecordError(
                f"input {head.seq} does not have the noted hash: this input or an earlier one was changed, and all later "
                "hashes were computed again"
            )


class _Comparison:
    """Compares a record with what its inputs give. Each method raises a RecordError at a difference."""

    def __init__(self, connection: sqlite3.Connection, found: Replayed, version: str | None) -> None:
        self._connection = connection
        self._found = found
        self._version = version
        self._snapshots = {row[0]: Snapshot(*row) for row in store.snapshots(connection)}
        self._rules: tuple[str, str] | None = None  # the name and the rules of the last round's game
        self._wrote: str | None = None  # the version that wrote the current input
        self._games: dict[str, Game] = {}  # all games of the table, by the digests of their rules

    def all(self, see: Callable[[Step], None] | None) -> None:
        # The chain alone first: to derive a year again takes hours, and a damaged input is known after a minute.
        deque(store.checked_entries(self._connection, 0, FIRST_LINK), maxlen=0)
        recorded = store.last_round(self._connection)
        rows_until = store.rows_until(self._connection)
        has_incidents = schema.is_complete(self._connection)
        complete_until = max(rows_until, store.derived_until(self._connection)) if has_incidents else 0
        found = self._found
        for step in _steps(store.checked_entries(self._connection, 0, FIRST_LINK), None):
            found.inputs = step.entry.seq
            game = step.table.state.settings.game
            self._games[game.rules_digest] = game
            self._input(step)
            waits = has_incidents and found.inputs > complete_until and bool(step.incidents or step.book_rows)
            for effect in step.effects:
                if isinstance(effect, RoundEnded):
                    found.rounds += 1
                    if effect.record.round > recorded and found.inputs > rows_until:
                        waits = True
                    else:
                        self._round(step, effect)
            if found.inputs <= complete_until:
                self._incidents(step)
                self._book_rows(step)
            found.waiting += waits
            self._snapshot(step)
            if see is not None:
                see(step)
        _refuse(store.stray_row(self._connection, found.inputs, found.rounds))
        # The settlements of the record's rounds have been compared above.
        stray = store.stray_settlement(self._connection)
        if stray is not None:
            raise RecordError(f"the record has a settlement of round {stray}, but not the round")
        if schema.has_meters(self._connection):
            _refuse(meters.stray_expectation(self._connection, self._games))

    def _input(self, step: Step) -> None:
        if isinstance(step.event, ServiceStarted):
            self._wrote, self._found.title = step.event.version, step.event.settings.title
            _refuse(schema.format_difference(self._connection, step.event.format))
        if self._wrote == self._version and not _is_written(step.entry, step.event):
            raise RecordError(
                f"the text of input {step.entry.seq} is not what version {self._version} writes for it: restore a backup"
            )

    def _round(self, step: Step, ended: RoundEnded) -> None:
        number, game = ended.record.round, step.table.state.settings.game
        expected = store.round_row(step.entry.seq, step.entry.ts, game.name, ended.record)
        found = self._connection.execute("SELECT * FROM rounds WHERE round = ?", (number,)).fetchone()
        if found is None:
            raise RecordError(
                f"round {number} is missing from the record, but input {step.entry.seq} ended this round"
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
        if schema.has_meters(self._connection):
            self._meters(game, ended.record)

    def _meters(self, game: Game, record: RoundRecord) -> None:
        begins = self._rules != (game.name, game.rules_digest)
        self._rules = game.name, game.rules_digest
        began = self._connection.execute("SELECT * FROM games WHERE round = ?", (record.round,))
        self._same(
            f"the game of round {record.round} differs",
            "games",
            {row[1]: (*row[:-1], self._read(meters.GAMES, row[-1])) for row in began},
            {game.name: meters.game_row(game, record)} if begins else {},
        )
        of_this = self._wrote == self._version
        if begins and meters.expectations_differ(self._connection, game, complete=of_this):
            raise RecordError(f"the expectations on the record do not follow from the rules of {game.name}")
        decided = self._connection.execute("SELECT * FROM decided WHERE round = ?", (record.round,))
        self._same(
            f"the rules that decided round {record.round} differ",
            "decided",
            {row[1]: row for row in decided},
            {str(row[1]): row for row in meters.decided_rows(game, record)},
        )

    def _incidents(self, step: Step) -> None:
        seq = step.entry.seq
        found = self._connection.execute("SELECT * FROM incidents WHERE input = ?", (seq,)).fetchall()
        expected = store.incident_rows(seq, step.incidents)
        if not found and not expected:
            return
        if self._wrote != self._version:
            texts = {row[:-1]: row[-1] for row in expected}
            others = [row for row in found if texts.get(row[:-1], row[-1]) != row[-1]]
            if others:
                self._found.reworded += len(others)
                if self._wrote is not None and self._wrote not in self._found.versions:
                    self._found.versions.append(self._wrote)
            found = [(*row[:-1], texts.get(row[:-1], row[-1])) for row in found]
        self._same(
            f"the incidents of input {seq} differ",
            "incidents",
            {f"place {row[1]}": row for row in found},
            {f"place {row[1]}": row for row in expected},
        )

    def _book_rows(self, step: Step) -> None:
        seq, derived = step.entry.seq, step.book_rows
        recorded = [self._row_as_now(row) for row in store.book_rows(self._connection, seq)]
        for table in dict.fromkeys(row.table for row in (*recorded, *derived)):
            self._same(
                f"the meter's rows of input {seq} differ in {table}",
                table,
                {f"place {row.values[1]}": row.values for row in recorded if row.table == table},
                {f"place {row.values[1]}": row.values for row in derived if row.table == table},
            )

    def _row_as_now(self, row: Row) -> Row:
        if row.table != "progressive_log":
            return row
        return Row(row.table, (*row.values[:-1], self._read(LOGGED, str(row.values[-1]))))

    def _read(self, kind: TypeAdapter[Any], written: str) -> str:
        """The JSON that was written; if another version wrote it, as this version would write it."""
        return written if self._wrote == self._version else _as_now(kind, written)

    def _same(
        self,
        what: str,
        table: str,
        recorded: Mapping[str, Sequence[Any]],
        derived: Mapping[str, Sequence[Any]],
    ) -> None:
        """Refuse rows that differ. The keys of both are the rows' names for people."""
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
        if schema.names_snapshots(self._connection):
            _refuse(snapshot.difference(self._connection))
        # A start ignores a snapshot of another version too.
        if snapshot.table() is not None and snapshot != Snapshot.of(seq, snapshot.link, step.table.state):
            raise RecordError(_OTHER_TABLE.format(seq))


def _settlement(row: Sequence[Any]) -> str:
    return f"seat {row[1]} {row[2]}"


def _as_now(kind: TypeAdapter[Any], written: str) -> str:
    """JSON as this version would write it; unchanged if it cannot be read, or has a key twice."""
    try:
        now = kind.dump_json(kind.validate_json(written, strict=True, extra="forbid")).decode()
    except ValidationError:
        return written
    return now if now == written or repeated_key(written) is None else written
