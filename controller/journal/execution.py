"""Executes inputs in memory: the table handles each one, and the step has all that the record keeps of it.

This is pure code. The service executes new inputs with it, and a start or a replay executes the recorded ones again. A start and a
replay follow the recorded outcome: the table that was played with does not change because a later version would decide otherwise.
"""

import hashlib
import json
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Final, get_type_hints

from pydantic import ValidationError

from punto.baccarat.cards import Card
from punto.baccarat.table.effects import Effect, RoundEnded
from punto.baccarat.table.events import Event, ServiceStarted
from punto.baccarat.table.order_kinds import ChangeShoe
from punto.baccarat.table.settings import Settings
from punto.baccarat.table.state import RoundRecord, Shoe, TableState
from punto.baccarat.table.table import Table
from punto.baccarat.table.turn import RefusedError
from punto.configs.problems import cut
from punto.controller.journal import rows
from punto.controller.journal.books import Row, rows_of
from punto.controller.journal.entries import (
    ACCEPTED,
    EVENTS,
    FAILED,
    FIRST_HEAD,
    REFUSED,
    Entry,
    Head,
    Recorded,
    digest,
    repeated_key,
)
from punto.controller.journal.incidents import incidents_of
from punto.controller.journal.schema import RecordError
from punto.controller.journal.snapshots import STATES

_FIELDS: Final = [each.name for each in fields(TableState)]
_CARDS: Final = {name: of == tuple[Card, ...] for name, of in get_type_hints(Shoe).items()}
"""The fields of a shoe, and which of them are cards."""
_UNKNOWN: Final = object()


def _field_json(state: TableState, name: str) -> bytes:
    """A field's value as JSON."""
    if name == "shoe":
        return b"{%s}" % b",".join(_of_the_shoe(state, each) for each in _CARDS)
    return STATES.dump_json(state, include={name})[len(f'{{"{name}":') : -1]


def _of_the_shoe(state: TableState, name: str) -> bytes:
    if _CARDS[name]:  # as pydantic writes cards, fifty times as fast: it reads each card's value in Python
        cards = getattr(state.shoe, name)
        return f'"{name}":{json.dumps(cards, separators=(",", ":"))}'.encode()
    return STATES.dump_json(state, include={"shoe": {name}})[len('{"shoe":{') : -2]


class StateDigest:
    """Computes the digest of a table's state from those of its fields, and remembers each until the field changes.

    The larger fields, such as the game's rules, hardly ever change, so a digest takes a tenth of the time of the whole JSON.
    """

    def __init__(self) -> None:
        self._known: dict[str, tuple[object, str]] = dict.fromkeys(_FIELDS, (_UNKNOWN, ""))

    def of(self, state: TableState) -> str:
        """The SHA-256, in hex, over a line for each field: its name and the SHA-256 of its JSON."""
        for name, (before, _) in self._known.items():
            if (value := getattr(state, name)) is not before:
                line = f"{name} {hashlib.sha256(_field_json(state, name)).hexdigest()}\n"
                self._known[name] = value, line
        return digest("".join([line for _, line in self._known.values()]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """An executed input: its entry on the record with the hash, its event, and what followed.

    `state` is the table's state after it, and `rows` are the record's rows that follow from it. `refusal` is the answer to an order
    or a wager that was refused or failed. `failure` is the traceback if the program could not handle the input. `otherwise` says
    how this version would have handled a recorded input, if not as the record says.
    """

    entry: Entry
    hash: str
    event: Event
    state: TableState
    effects: Sequence[Effect] = ()
    rows: Sequence[Row] = ()
    refusal: RefusedError | None = None
    failure: str | None = None
    otherwise: str | None = None

    @property
    def seq(self) -> int:
        """The input's number."""
        return self.entry.seq

    @property
    def head(self) -> Head:
        """The record's head after it."""
        return Head(self.entry.seq, self.hash)

    @property
    def failed(self) -> bool:
        """Whether the program could not handle it."""
        return self.entry.recorded.outcome.startswith(FAILED)

    @property
    def rounds(self) -> list[RoundRecord]:
        """The rounds that it ended."""
        return rows.rounds_in(self.effects)

    @property
    def starts_hand(self) -> bool:
        """Whether the next hand starts from the state after it, so that the chain covers the state."""
        return _starts_hand(self.event, self.entry.recorded.outcome, self.effects)


def _starts_hand(event: Event, outcome: str, effects: Sequence[Effect]) -> bool:
    began_shoe = isinstance(event, ChangeShoe) and outcome == ACCEPTED
    return began_shoe or any(isinstance(each, RoundEnded) for each in effects)


@dataclass(slots=True)
class _Outcome:
    """What became of an event: the effects or the refusal, the rows, and the words for the record."""

    recorded: str = ACCEPTED
    effects: Sequence[Effect] = ()
    rows: list[Row] = field(default_factory=list)
    refusal: RefusedError | None = None
    failure: str | None = None


class Execution:
    """A table and the head of its record. Each method executes the next input.

    `table` is None before the first input of a record. `game` has the name and the rules of the last round's game.
    """

    def __init__(
        self, table: Table | None = None, head: Head = FIRST_HEAD, game: tuple[str, str] = ("", "")
    ) -> None:
        self._table = table
        self.head = head
        self._game = game
        self._digests = StateDigest()

    @property
    def table(self) -> Table:
        """The table, of a record that has an input."""
        if self._table is None:
            raise AssertionError("no service has started on this record")
        return self._table

    @property
    def is_empty(self) -> bool:
        """Whether the record has no input yet."""
        return self._table is None

    @property
    def state(self) -> TableState:
        """The table's state after the last executed input."""
        return self.table.state

    def state_or(self, settings: Settings) -> TableState:
        """The state; of an empty record, that of a new table with these settings."""
        return Table.new(settings).state if self.is_empty else self.state

    @property
    def position(self) -> tuple[TableState, Head, tuple[str, str]]:
        """The position after the last executed input, for `go_back`."""
        return self.state, self.head, self._game

    def go_back(self, position: tuple[TableState, Head, tuple[str, str]]) -> None:
        """Take back the inputs since this position. They must not be on the record."""
        self.table.state, self.head, self._game = position

    def execute(self, ts: str, source: str, event: Event, *, snapshot: bool = False) -> Step:
        """Execute a new input. With `snapshot`, the entry covers the state even if no hand starts from it."""
        payload = EVENTS.dump_json(event).decode()
        self._begin(event)
        outcome = self._handled(ts, event)
        covered = snapshot or _starts_hand(event, outcome.recorded, outcome.effects)
        state = self._digests.of(self.state) if covered else ""
        results = results_of(outcome.rows)
        entry = Entry(self.head.seq + 1, Recorded(ts, source, payload, outcome.recorded, results, state))
        return self._step(entry, event, outcome)

    def again(self, entry: Entry) -> Step:
        """Execute a recorded input again, as the record says what became of it.

        Raises:
            RecordError: the input cannot be read.
        """
        event = event_of(entry)
        self._begin(event)
        before = self.state
        would = self._handled(entry.ts, event)
        recorded = entry.recorded.outcome
        if recorded == would.recorded:
            return self._step(entry, event, would)
        kind, _, detail = recorded.partition(" ")
        self.table.state = before
        followed = _Outcome(recorded)
        if kind == FAILED:
            followed = self._failed(entry.ts, event, detail)
        elif kind == REFUSED:
            refusal = would.refusal or RefusedError(detail, "an earlier version of the program refused it")
            followed = self._refused(entry.seq, event, RefusedError(detail, str(refusal)))
        if kind == FAILED == would.recorded.partition(" ")[0]:
            return self._step(entry, event, followed)
        text = f"input {entry.seq} ({event.kind}) was {_shown(recorded)}, but this version of the program has it {_shown(would.recorded)}"
        return self._step(entry, event, followed, text)

    def _begin(self, event: Event) -> None:
        if self._table is None:
            if not isinstance(event, ServiceStarted):
                raise RecordError(f"the record begins with {event.kind}, not with the start of a service")
            self._table = Table.new(event.settings)

    def _handled(self, ts: str, event: Event) -> _Outcome:
        """Have the table handle the event. If the program cannot, the table notes that alone."""
        before, seq = self.state, self.head.seq + 1
        try:
            effects = self.table.handle(event)
            return _Outcome(ACCEPTED, effects, self._rows(seq, ts, event, effects))
        except RefusedError as refusal:
            return self._refused(seq, event, refusal)
        except Exception:  # noqa: BLE001 - whatever a rule's code raises, the record goes on
            self.table.state = before
            failure = traceback.format_exc()
            return self._failed(ts, event, digest(failure), failure)

    def _refused(self, seq: int, event: Event, refusal: RefusedError) -> _Outcome:
        noted = rows.of_incidents(seq, incidents_of(event, refusal))
        return _Outcome(f"{REFUSED} {refusal.code}", (), noted, refusal)

    def _failed(self, ts: str, event: Event, name: str, failure: str | None = None) -> _Outcome:
        effects, refusal = self.table.fail(event, name)
        outcome = effects if effects or refusal is None else refusal
        noted = self._rows(self.head.seq + 1, ts, event, outcome)
        return _Outcome(f"{FAILED} {name}", effects, noted, refusal, failure)

    def _rows(self, seq: int, ts: str, event: Event, outcome: Sequence[Effect] | RefusedError) -> list[Row]:
        found = rows.of_incidents(seq, incidents_of(event, outcome))
        if isinstance(outcome, RefusedError):
            return found
        game, last = self.state.settings.game, self._game
        for record in rows.rounds_in(outcome):
            begins = last != (last := (game.name, game.rules_digest))
            found += rows.of_round(seq, ts, game, record, begins=begins)
        return found + rows.of_commissions(seq, outcome) + rows_of(seq, ts, self.state, outcome)

    def _step(self, entry: Entry, event: Event, outcome: _Outcome, otherwise: str | None = None) -> Step:
        if any(row.table == "rounds" for row in outcome.rows):
            game = self.state.settings.game
            self._game = game.name, game.rules_digest
        self.head = Head(entry.seq, entry.chained_to(self.head.hash))
        return Step(
            entry=entry,
            hash=self.head.hash,
            event=event,
            state=self.state,
            effects=outcome.effects,
            rows=outcome.rows,
            refusal=outcome.refusal,
            failure=outcome.failure,
            otherwise=otherwise,
        )


def results_of(found: Sequence[Row]) -> str:
    """The digest of the rows that follow from an input, empty without rows."""
    return digest(rows.text(found)) if found else ""


def _shown(outcome: str) -> str:
    """An outcome for people; of a digest, as much as identifies it."""
    kind, _, detail = outcome.partition(" ")
    return f"{kind} {detail[:12]}" if kind == FAILED else outcome


def event_of(entry: Entry) -> Event:
    """The event of a recorded input.

    Raises:
        RecordError: it cannot be read, or can be read in two ways.
    """
    try:
        event = EVENTS.validate_json(entry.payload, strict=True)
    except ValidationError as error:
        raise RecordError(f"input {entry.seq} cannot be read: {error.errors()[0]['msg']}") from error
    # What this version would write has no key twice, so only the inputs of other versions take this time.
    if not is_written(entry, event) and (key := repeated_key(entry.payload)) is not None:
        raise RecordError(
            f"input {entry.seq} has the key {cut(key, 100)} twice, so programs read it differently: restore a backup"
        )
    return event


def is_written(entry: Entry, event: Event) -> bool:
    """Whether the text of an input is what this version writes for its event."""
    return EVENTS.dump_json(event).decode() == entry.payload
