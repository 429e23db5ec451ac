"""Restores the table from the record: from a snapshot for a start, from the first input for a replay."""

import sqlite3
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import structlog
from pydantic import TypeAdapter, ValidationError

from punto.baccarat.table.events import ServiceStarted, SetWager
from punto.baccarat.table.table import Table
from punto.baccarat.wagers.definition import Game
from punto.controller.journal import balances, meters, rows, schema, store
from punto.controller.journal.answers import Answer, Answers
from punto.controller.journal.books import LOGGED, Row
from punto.controller.journal.differing import difference, row_of
from punto.controller.journal.entries import FIRST_HEAD, FIRST_LINK, GAMES, ROUNDS, Entry, Head, repeated_key
from punto.controller.journal.execution import Execution, StateDigest, Step, is_written, results_of
from punto.controller.journal.schema import RecordError
from punto.controller.journal.snapshots import Snapshot

FEW_INPUTS: Final = 2000
"""A start executes a record of up to this number of inputs from its first, without a snapshot."""
MOST_DIFFERENCES: Final = 20
"""How many differences a replay keeps."""
_OTHER_TABLE: Final = "the snapshot after input {} differs from the table that was computed again"

_log = structlog.get_logger("punto.controller.journal")


@dataclass(slots=True)
class Recovered:
    """The result of a recovery: the table and its record's head; the last valid snapshot's input, 0 without one.

    `answers` are those to the seats' last wagers. `differences` describes snapshots and rows that were ignored
    because they differ from what the inputs give; `otherwise` is the first input that this version would handle otherwise.
    """

    execution: Execution = field(default_factory=Execution)
    snapshot: int = 0
    answers: Answers = field(default_factory=Answers, compare=False)
    differences: list[str] = field(default_factory=list)
    otherwise: str | None = None

    @property
    def table(self) -> Table | None:
        """The table, None of an empty record."""
        return None if self.execution.is_empty else self.execution.table

    def ignore(self, difference: str) -> None:
        """Log and keep a difference; the recovered table follows from the inputs instead."""
        _log.error("the record differs", found=difference, instead="its inputs")
        self.differences.append(difference)


def recover(connection: sqlite3.Connection) -> Recovered:
    """Restore the table at the end of the record, which stays as it is.

    A snapshot is used only if the inputs cover it, if the inputs since the snapshot before lead to it, and if the
    resulting table agrees with the record's rows.

    Raises:
        RecordError: the record is broken since the first snapshot that is kept, or its schema is not this program's.
    """
    found = Recovered()
    with schema.readable(schema.path_of(connection)):
        connection.execute("BEGIN")
        _refuse(schema.schema_difference(connection))
        sound = _sound_snapshots(connection, found)
        base = sound[0] if sound and sound[0][0].seq > FEW_INPUTS else None
        _execute_again(connection, found, base, sound)
        differs = _differs(connection, found)
        if differs is not None and base is not None:
            found.ignore(differs)
            _execute_again(connection, found, None, sound)
            differs = _differs(connection, found)
        if differs is not None:
            found.ignore(f"{differs}: its rows were changed")
        # The record may have been cut off after the last input: then there are rows of later inputs.
        seq, ended = found.execution.head.seq, store.last_round_input(connection)
        if ended > seq:
            raise RecordError(
                f"input {ended} is missing from the record, but the record has the round that this input ended: restore a backup"
            )
        rounds = 0 if found.table is None else found.table.state.round.number - 1
        stray = store.stray_row(connection, seq, rounds)
        if stray is not None and found.otherwise is not None:
            raise RecordError(
                f"{found.otherwise}, so it cannot go on with this record: use the version of the program that wrote the record"
            )
        _refuse(stray)
        connection.execute("COMMIT")
    return found


_Sound = list[tuple[Snapshot, Table]]


def _sound_snapshots(connection: sqlite3.Connection, found: Recovered) -> _Sound:
    """The snapshots that the inputs cover and that this version can read, in order, each with its table.

    Raises:
        RecordError: the input before a snapshot is missing.
    """
    sound: _Sound = []
    last = store.last_head(connection).seq
    for snapshot in store.snapshots(connection):
        if snapshot.seq > last:
            raise RecordError(
                f"input {snapshot.seq} is missing from the record, but the record has the snapshot after this input: restore a backup"
            )
        if not snapshot.is_the_one(store.state_digest_of(connection, snapshot.seq)):
            found.ignore(_not_taken(snapshot))
        elif (state := snapshot.state()) is None:
            _log.warning("snapshot ignored", seq=snapshot.seq, reason="another version wrote it")
        else:
            sound.append((snapshot, Table(state)))
    return sound


def _not_taken(snapshot: Snapshot) -> str:
    return f"the snapshot after input {snapshot.seq} is not the one that was taken"


def _execute_again(
    connection: sqlite3.Connection, found: Recovered, base: tuple[Snapshot, Table] | None, sound: _Sound
) -> None:
    """Execute the inputs after the snapshot `base`, or all inputs, and compare the later snapshots with the result."""
    found.snapshot, found.answers, head, table = 0, Answers(), FIRST_HEAD, None
    if base is not None:
        found.snapshot, table = base[0].seq, Table(base[1].state)
        head = Head(found.snapshot, store.link_of(connection, found.snapshot) or "")
    game = meters.game_of(connection, 0 if table is None else table.state.round.number - 1)
    found.execution = Execution(table, head, game)
    awaited = {snapshot.seq: of for snapshot, of in sound}
    for entry in store.checked_entries(connection, *head):
        step = found.execution.again(entry)
        if step.otherwise is not None:
            # The table follows the record; a replay says whether the record differs.
            _log.warning("input handled otherwise", found=step.otherwise)
            found.otherwise = found.otherwise or step.otherwise
        if isinstance(step.event, SetWager):
            found.answers.add(Answer.of(step, step.event))
        if (snapshot := awaited.get(step.seq)) is not None:
            if snapshot.state == step.state:
                found.snapshot = step.seq
            else:
                found.ignore(_OTHER_TABLE.format(step.seq))


def _differs(connection: sqlite3.Connection, found: Recovered) -> str | None:
    return None if found.table is None else balances.difference(connection, found.table.state)


def _refuse(difference: str | None) -> None:
    """Raise the difference, if there is one, as a RecordError."""
    if difference is not None:
        raise RecordError(difference)


def _steps(entries: Iterator[Entry]) -> Iterator[Step]:
    return map(Execution().again, entries)


def history(path: Path) -> Iterator[Step]:
    """Execute every input of a record again, in order, without changing the record. The service may be running.

    Raises:
        RecordError: the file cannot be opened as a record, or its next input is broken.
    """
    with schema.reading(path) as connection:
        yield from _steps(store.checked_entries(connection, 0, FIRST_LINK))


# --- replay


@dataclass(slots=True)
class Replayed:
    """The result of a replay: its numbers of inputs and rounds, and its differences, at most MOST_DIFFERENCES.

    - `otherwise` describes inputs that another version handled and that this version would handle otherwise.
    - `reworded` counts the incidents that another version, one of `versions`, wrote with another text than this
      version would. They cannot be compared.
    - `head` is the record's head, `title` the table's name for people.
    """

    inputs: int = 0
    rounds: int = 0
    otherwise: list[str] = field(default_factory=list)
    reworded: int = 0
    versions: list[str] = field(default_factory=list)
    head: Head = FIRST_HEAD
    title: str = "a table without a start"
    differences: list[str] = field(default_factory=list)

    @property
    def difference(self) -> str | None:
        """The first difference, None without one."""
        return self.differences[0] if self.differences else None

    def differs(self, difference: str | None) -> None:
        """Keep a difference, if there is one."""
        if difference is not None and len(self.differences) < MOST_DIFFERENCES:
            self.differences.append(difference)


def replay(
    path: Path,
    see: Callable[[Step], None] | None = None,
    *,
    version: str | None = None,
    noted: Sequence[Head] = (),
) -> Replayed:
    """Derive everything again from the first input, and compare it with the record.

    The replay follows the recorded outcome of each input. If this version would handle an input otherwise, the replay says so and
    goes on; it is a difference only if this version wrote the input.

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
            found.differs(str(difference))
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


_Place = tuple[str, int]
"""A table, and the number of the round or input whose rows they are."""
_Rows = Mapping[str, Sequence[Any]]
"""The rows of a place, by their names for people."""


class _Comparison:
    """Compares a record with what its inputs give, and keeps what differs.

    The chain of hashes covers the digest of each input's rows. So the rows on the record are compared with the digest, and what
    the inputs give with the rows.
    """

    def __init__(self, connection: sqlite3.Connection, found: Replayed, version: str | None) -> None:
        self._connection = connection
        self._found = found
        self._version = version
        self._snapshots = {each.seq: each for each in store.snapshots(connection)}
        self._execution = Execution()
        self._digests = StateDigest()
        self._wrote: str | None = None  # the version that wrote the current input
        self._games: dict[str, Game] = {}  # all games of the table, by the digests of their rules
        self._seen: Counter[str] = Counter()  # the rows of each table

    def all(self, see: Callable[[Step], None] | None) -> None:
        # The chain alone first: to derive a year again takes hours, and a damaged input is known after a minute.
        deque(store.checked_entries(self._connection, 0, FIRST_LINK), maxlen=0)
        found = self._found
        for entry in store.checked_entries(self._connection, 0, FIRST_LINK):
            step = self._execution.again(entry)
            found.inputs = step.seq
            found.rounds += len(step.rounds)
            game = step.state.settings.game
            self._games[game.rules_digest] = game
            self._input(step)
            self._rows(step)
            self._state(step)
            if see is not None:
                see(step)
        _refuse(store.stray_row(self._connection, found.inputs, found.rounds))
        for table, count in store.counts(self._connection).items():
            if count != self._seen[table]:
                raise RecordError(
                    f"{table} has {count} rows, but {self._seen[table]} of them are of the inputs and rounds on the record"
                )
        _refuse(meters.stray_expectation(self._connection, self._games))

    @property
    def _is_own(self) -> bool:
        return self._wrote == self._version

    def _input(self, step: Step) -> None:
        if isinstance(step.event, ServiceStarted):
            self._wrote, self._found.title = step.event.version, step.event.settings.title
        if self._is_own and not is_written(step.entry, step.event):
            raise RecordError(
                f"the text of input {step.seq} is not what version {self._version} writes for it: restore a backup"
            )
        if self._is_own:
            self._found.differs(step.otherwise)
        elif step.otherwise is not None and len(self._found.otherwise) < MOST_DIFFERENCES:
            self._found.otherwise.append(step.otherwise)

    def _state(self, step: Step) -> None:
        """Compare the state that the chain covers, and a snapshot, with the state after an input."""
        recorded = step.entry.recorded.state
        if self._is_own and (recorded or step.starts_hand) and recorded != self._digests.of(step.state):
            self._found.differs(
                f"the state after input {step.seq} is not the one that follows from the inputs"
            )
        if (snapshot := self._snapshots.get(step.seq)) is not None:
            if not snapshot.is_the_one(recorded):
                self._found.differs(_not_taken(snapshot))
            elif (state := snapshot.state()) is not None and state != step.state:
                self._found.differs(_OTHER_TABLE.format(step.seq))

    def _rows(self, step: Step) -> None:
        """Compare the rows that follow from an input."""
        recorded = self._recorded(step)
        self._seen.update(row.table for row in recorded)
        self._expectations(step)
        if self._is_own and results_of(step.rows) == step.entry.recorded.results == results_of(recorded):
            return
        own, derived = _by_place(recorded), _by_place(step.rows)
        for place in sorted(own.keys() | derived.keys(), key=_order):
            this, that = own.get(place, {}), derived.get(place, {})
            self._same(place, this if self._is_own else self._as_now(place[0], this, that), that)
        if results_of(recorded) != step.entry.recorded.results:
            self._found.differs(f"the rows of input {step.seq} are not those that the input's hash covers")

    def _recorded(self, step: Step) -> list[Row]:
        if not step.entry.recorded.results and not step.rows:
            return []  # a row of this input would be counted
        return store.rows_of(self._connection, step.seq, [each.round for each in step.rounds])

    def _expectations(self, step: Step) -> None:
        game = step.state.settings.game
        if any(row.table == "games" for row in step.rows) and meters.expectations_differ(
            self._connection, game, complete=self._is_own
        ):
            raise RecordError(f"the expectations on the record do not follow from the rules of {game.name}")

    def _as_now(self, table: str, recorded: _Rows, derived: _Rows) -> _Rows:
        """The rows that another version wrote, as this version would write them."""
        if (kind := _JSON.get(table)) is not None:
            return {name: (*row[:-1], _as_now(kind, str(row[-1]))) for name, row in recorded.items()}
        if table != "incidents":
            return recorded
        texts = {name: row[-1] for name, row in derived.items() if row[:-1] == recorded.get(name, ())[:-1]}
        if others := [name for name, row in recorded.items() if texts.get(name, row[-1]) != row[-1]]:
            self._found.reworded += len(others)
            if self._wrote is not None and self._wrote not in self._found.versions:
                self._found.versions.append(self._wrote)
        return {name: (*row[:-1], texts.get(name, row[-1])) for name, row in recorded.items()}

    def _same(self, place: _Place, recorded: _Rows, derived: _Rows) -> None:
        """Note rows that differ."""
        if recorded != derived:
            columns = store.columns(self._connection, place[0])
            read = [
                {name: row_of(columns, row) for name, row in each.items()} for each in (recorded, derived)
            ]
            self._found.differs(f"{_differ(*place)}: {difference(*read)}")


_JSON: Final[dict[str, TypeAdapter[Any]]] = {"rounds": ROUNDS, "games": GAMES, "progressive_log": LOGGED}
"""The tables whose rows end with a JSON text, and what it is."""
_DIFFER: Final = {
    "rounds": "round {} differs",
    "settlements": "the settlements of round {} differ",
    "games": "the game of round {} differs",
    "decided": "the rules that decided round {} differ",
    "incidents": "the incidents of input {} differ",
    "commissions": "the commission of input {} differs",
}


def _differ(table: str, number: int) -> str:
    return _DIFFER.get(table, f"the meter's rows of input {{}} in {table} differ").format(number)


def _by_place(found: Iterable[Row]) -> dict[_Place, dict[str, Sequence[Any]]]:
    places: dict[_Place, dict[str, Sequence[Any]]] = {}
    for row in found:
        places.setdefault((row.table, int(row.values[0] or 0)), {})[_name(row)] = row.values
    return places


def _order(place: _Place) -> tuple[int, int]:
    return rows.TABLES.index(place[0]), place[1]


def _name(row: Row) -> str:
    """The name of a row among those of its place, for people."""
    match row.table:
        case "rounds" | "games":
            return ""
        case "settlements":
            return f"seat {row.values[1]} {row.values[2]}"
        case "decided":
            return str(row.values[1])
        case _:
            return f"place {row.values[1]}"


def _as_now(kind: TypeAdapter[Any], written: str) -> str:
    """JSON as this version would write it; unchanged if it cannot be read, or has a key twice."""
    try:
        now = kind.dump_json(kind.validate_json(written, strict=True, extra="forbid")).decode()
    except ValidationError:
        return written
    return now if now == written or repeated_key(written) is None else written
