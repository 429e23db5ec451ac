"""One bundle with all that a record has of a round: for a dispute, and for people who have no other program than Python.

A bundle is a ZIP file:

| File | What it has |
|---|---|
| round.json | the round as it ended, and its corrections |
| inputs.jsonl | every input of the round and its corrections, then those up to a signed head; each with its hash |
| before.json | the table's whole state before the first of these inputs, and the hash of the input before it |
| shown.jsonl | after each input: the public state that displays got, the events, and the finished round |
| incidents.jsonl | refusals and alarms of these inputs |
| game.json | the game with its rules |
| heads.json | the signed heads of a witness that cover the inputs, with its countersignatures |
| manifest.json | the version of the program, the record's name, the SHA-256 of each of these files, and its own |

`evidence_verifier` checks it with nothing but Python. It is not in the bundle: who forged a bundle would forge it too.
"""

import hashlib
import json
import os
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from punto.baccarat.table.effects import Effect, Happened, RoundEnded
from punto.baccarat.table.state import RoundRecord, TableState
from punto.controller.journal import evidence_verifier, schema, store
from punto.controller.journal.entries import FIRST_LINK, ROUNDS, STATES, Entry, Head
from punto.controller.journal.incidents import Incident
from punto.controller.journal.meters import GAMES
from punto.controller.journal.recovery import Step, replay
from punto.controller.journal.schema import RecordError
from punto.controller.messages.building import event_message, round_message, state_message

VERIFIER: Final = Path(evidence_verifier.__file__)


class NoEvidenceError(Exception):
    """The record has no such round."""


@dataclass(frozen=True, slots=True)
class _Taken:
    """An input of the bundle with what it gave; the state is the one after it."""

    entry: Entry
    state: TableState
    effects: list[Effect]
    incidents: list[Incident]

    @property
    def rounds(self) -> list[RoundRecord]:
        return [each.record for each in self.effects if isinstance(each, RoundEnded)]


class _Taker:
    """Takes the steps of a replay that are the round's: from the round before to the last correction and the head that covers it."""

    def __init__(self, number: int, heads: Sequence[int]) -> None:
        self._number = number
        self._heads = heads
        self._link = FIRST_LINK
        self._state: TableState | None = None
        self._taken: list[_Taken] = []
        self._corrected = True  # whether a correction can still come: only of the last round
        self._last = 0
        self.before: tuple[str, TableState | None] = FIRST_LINK, None

    def see(self, step: Step) -> None:
        """Take a step, if it is one of them."""
        taken = _Taken(step.entry, step.table.state, step.effects, step.incidents)
        if not self._taken:
            self.before = self._link, self._state
        if self._corrected or step.entry.seq <= self._until:
            self._taken.append(taken)
        own = [self.is_own(each) for each in taken.rounds]
        if any(own) and self._corrected:
            self._last = step.entry.seq
        elif own and not self._last:
            self._taken.clear()
        if self._last and own and not own[-1]:
            self._corrected = False
        self._link, self._state = step.entry.chained_to(self._link), taken.state

    def is_own(self, record: RoundRecord) -> bool:
        """Whether it is the round, or a correction of it."""
        return self._number in {record.round, record.corrects}

    @property
    def _until(self) -> int:
        return min((seq for seq in self._heads if seq >= self._last), default=self._last)

    @property
    def steps(self) -> list[_Taken]:
        """What was taken, in order.

        Raises:
            NoEvidenceError: the round has not ended on the record.
        """
        if not self._last:
            raise NoEvidenceError(f"the record has no round {self._number}")
        return [each for each in self._taken if each.entry.seq <= self._until]


def gather(
    record: Path,
    number: int,
    heads: Sequence[dict[str, Any]],
    version: str,
    *,
    written_by: str | None = None,
) -> dict[str, bytes]:
    """The files of the bundle for a round; `heads` are the signed heads of a witness, in order.

    All is derived from the inputs: the record is replayed, by this `version` of the program. The manifest names the version that
    the bundle was `written_by`.

    Raises:
        NoEvidenceError: there is no round of this number.
        RecordError: the record cannot be opened, or differs from what its inputs give, or does not have the heads.
    """
    taker = _Taker(number, [_at(each).seq for each in heads])
    found = replay(record, taker.see, version=version, noted=[_at(each) for each in heads])
    if found.difference is not None:
        raise RecordError(f"the record proves nothing, because it differs: {found.difference}")
    with schema.reading(record) as connection:
        name = store.name(connection)
    steps, (link, before) = taker.steps, taker.before
    own = [(step, each) for step in steps for each in step.rounds if taker.is_own(each)]
    settings = own[0][0].state.settings
    first, last = steps[0].entry.seq, steps[-1].entry.seq
    files = {
        "round.json": _json([json.loads(ROUNDS.dump_json(each)) for _, each in own]),
        "before.json": _json(
            {"hash": link, "state": None if before is None else json.loads(STATES.dump_json(before))}
        ),
        "inputs.jsonl": _lines(_inputs(steps, link)),
        "shown.jsonl": _lines(_shown(steps, name)),
        "incidents.jsonl": _lines(
            {"seq": step.entry.seq, **asdict(each)} for step in steps for each in step.incidents
        ),
        "game.json": GAMES.dump_json(settings.game),
        "heads.json": _json([each for each in heads if first <= _at(each).seq <= last]),
    }
    manifest = {
        "format": evidence_verifier.FORMAT,
        "program": written_by or version,
        "table": settings.table,
        "record": name,
        "round": number,
        "files": {file: hashlib.sha256(content).hexdigest() for file, content in files.items()},
    }
    manifest["sha256"] = evidence_verifier.digest_of(manifest)
    return {"manifest.json": _json(manifest), **files}


def differing(bundle: bytes, record: Path, version: str) -> list[str]:
    """The files of a bundle that are not what the record gives for its round and its heads.

    Raises:
        NoEvidenceError: the record has no such round.
        RecordError: as `gather`.
        ValueError: it is not a bundle.
    """
    try:
        files = evidence_verifier.unpacked(bundle)
        manifest, heads = (json.loads(files[name]) for name in ("manifest.json", "heads.json"))
        number, written_by = manifest["round"], manifest["program"]
        own = gather(record, number, heads, version, written_by=written_by)
    except (zipfile.BadZipFile, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"this is not a bundle: {error!r}") from error
    return sorted(name for name in own.keys() | files.keys() if own.get(name) != files.get(name))


def write(files: dict[str, bytes], out: Path) -> str:
    """Write a new bundle that only its owner may read, and return its SHA-256. The same files give the same bundle, bit by bit.

    Raises:
        OSError: the file exists or cannot be written.
    """
    bundle = evidence_verifier.packed(files)
    with open(out, "xb", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
        file.write(bundle)
    return hashlib.sha256(bundle).hexdigest()


def _at(head: dict[str, Any]) -> Head:
    return Head.of(head["head"])


def _inputs(steps: Iterable[_Taken], link: str) -> Iterator[dict[str, Any]]:
    for step in steps:
        link = step.entry.chained_to(link)
        yield {**asdict(step.entry), "hash": link}


def _shown(steps: Iterable[_Taken], name: str) -> Iterator[dict[str, Any]]:
    for step in steps:
        entry, state = step.entry, step.state
        game = state.settings.game
        messages: list[Any] = [state_message(state, entry.seq, datetime.fromisoformat(entry.ts))]
        for effect in step.effects:
            if isinstance(effect, Happened):
                messages.append(event_message(state.settings, effect, entry.ts))
            if isinstance(effect, RoundEnded):
                messages.append(
                    round_message(state.settings, effect.record, entry.ts, game.name, game.rules_digest, name)
                )
        yield {"seq": entry.seq, "ts": entry.ts, "messages": [json.loads(each.wire()) for each in messages]}


def _json(value: Any) -> bytes:
    return json.dumps(value, indent=1, ensure_ascii=False).encode() + b"\n"


def _lines(values: Iterable[Any]) -> bytes:
    return b"".join(json.dumps(each, ensure_ascii=False).encode() + b"\n" for each in values)
