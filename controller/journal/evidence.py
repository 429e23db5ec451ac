"""One bundle with all that a record has of a round: for a dispute, and for people who have no other program than Python.

A bundle is a ZIP file:

| File | What it has |
|---|---|
| inputs.jsonl | the input from whose state the hand started, every input of the round and its corrections, then those up to a signed head; each with its outcome, the rows of the record that follow from it, and its hash |
| before.json | the table's whole state after the first of these inputs, with the game and its rules, and the hash before this input |
| round.json | the round as it ended, and its corrections |
| shown.jsonl | after each input up to the end of the round, or its last correction: the public state that displays got, the events, and the finished round |
| heads.json | the signed heads of a witness that cover the inputs, with its countersignatures |
| manifest.json | the version of the program, the record's name, the SHA-256 of each of these files, and its own |

The hash of an input covers its outcome, its rows and, where a hand starts, the digest of the table's state. So a signed head proves
everything that decides, and not only the inputs. `evidence_verifier` checks it with nothing but Python. It is not in the bundle: who forged a bundle would forge it too.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from punto.baccarat.table.effects import Announced, RoundEnded
from punto.baccarat.table.state import RoundRecord
from punto.controller.journal import evidence_verifier, rows, schema, store
from punto.controller.journal.entries import FIRST_LINK, ROUNDS, Head
from punto.controller.journal.evidence_verifier import line_of, written
from punto.controller.journal.execution import StateDigest, Step
from punto.controller.journal.recovery import replay
from punto.controller.journal.schema import RecordError
from punto.controller.journal.snapshots import STATES
from punto.messages.building import event_message, round_message, state_message
from punto.runtime.made_files import OWN, write_file

VERIFIER: Final = Path(evidence_verifier.__file__)


class NoEvidenceError(Exception):
    """The record has no such round."""


class _Taker:
    """Takes the steps of a replay that are the round's: from where its hand starts to the last correction and the head that covers it."""

    def __init__(self, number: int, heads: Sequence[int]) -> None:
        self._number = number
        self._heads = heads
        self._link = FIRST_LINK
        self._taken: list[Step] = []
        self._corrected = True  # whether a correction can still come: only of the last round
        self.last = 0
        """The input that ended the round, or its last correction; 0 before it."""
        self.before = FIRST_LINK
        """The hash before the first step."""

    def see(self, step: Step) -> None:
        """Take a step, if it is one of them."""
        if self._corrected or step.seq <= self._until:
            self._taken.append(step)
        own = [self.is_own(each) for each in step.rounds]
        if any(own) and self._corrected:
            self.last = step.seq
        elif step.starts_hand and not self.last:
            self._taken, self.before = [step], self._link
        if self.last and own and not own[-1]:
            self._corrected = False
        self._link = step.hash

    def is_own(self, record: RoundRecord) -> bool:
        """Whether it is the round, or a correction of it."""
        return self._number in {record.round, record.corrects}

    @property
    def _until(self) -> int:
        return min((seq for seq in self._heads if seq >= self.last), default=self.last)

    @property
    def steps(self) -> list[Step]:
        """What was taken, in order.

        Raises:
            NoEvidenceError: the round has not ended on the record.
        """
        if not self.last:
            raise NoEvidenceError(f"the record has no round {self._number}")
        return [each for each in self._taken if each.seq <= self._until]


def gather(
    record: Path, number: int, heads: Sequence[dict[str, Any]], version: str, *, written_by: str | None = None
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
    steps = taker.steps
    own = [(step, each) for step in steps for each in step.rounds if taker.is_own(each)]
    settings = own[0][0].state.settings
    start, first, last = steps[0], steps[0].seq, steps[-1].seq
    state = start.state if start.starts_hand else None
    if state is not None and StateDigest().of(state) != start.entry.recorded.state:
        raise RecordError(
            f"another version of the program wrote input {first}, and only that version can prove its state: use that version"
        )
    shown = [each for each in (steps if state is None else steps[1:]) if each.seq <= taker.last]
    files = {
        "round.json": written([json.loads(ROUNDS.dump_json(each)) for _, each in own]),
        "before.json": written(
            {"hash": taker.before, "state": None if state is None else json.loads(STATES.dump_json(state))}
        ),
        "inputs.jsonl": b"".join(map(line_of, map(_input, steps))),
        "shown.jsonl": b"".join(map(line_of, _shown(shown, name))),
        "heads.json": written([each for each in heads if first <= _at(each).seq <= last]),
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
    return {"manifest.json": written(manifest), **files}


def differing(bundle: bytes, record: Path, version: str) -> list[str]:
    """The files of a bundle that are not what the record gives for its round and its heads.

    Raises:
        NoEvidenceError: the record has no such round.
        RecordError: as `gather`.
        ValueError: it is not a bundle, or it is one of another record.
    """
    try:
        files = evidence_verifier.unpacked(bundle)
        found = evidence_verifier.Bundle(files)
        number, written_by = found.manifest["round"], found.manifest["program"]
        _refuse_another(record, found.manifest)
        own = gather(record, number, found.file("heads.json", set()), version, written_by=written_by)
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"this is not a bundle: {error!r}") from error
    return sorted(name for name in own.keys() | files.keys() if own.get(name) != files.get(name))


def _refuse_another(record: Path, manifest: dict[str, Any]) -> None:
    with schema.reading(record) as connection:
        name = store.name(connection)
    if manifest["record"] != name:
        raise ValueError(
            f"the bundle is of the record {manifest['record']} of {manifest['table']}, but {record} is the record {name}: give --record the "
            "file of the bundle's record"
        )


def write(files: dict[str, bytes], out: Path) -> str:
    """Write a new bundle that only its owner may read, and return its SHA-256. The same files give the same bundle, bit by bit.

    Raises:
        OSError: the file exists or cannot be written.
        ValueError: the verifier would refuse the bundle, because it is too large.
    """
    bundle = evidence_verifier.packed(files)
    if len(bundle) > evidence_verifier.LARGEST:
        raise ValueError(
            f"the bundle would have {len(bundle):,} bytes, and the verifier takes at most {evidence_verifier.LARGEST:,}: "
            "it has every input up to the next signed head, so give --witness a file with a head that is nearer to the round"
        )
    write_file(out, bundle, OWN, replace=False)
    return hashlib.sha256(bundle).hexdigest()


def _at(head: dict[str, Any]) -> Head:
    return Head.of(head["head"])


def _input(step: Step) -> dict[str, Any]:
    results = rows.text(step.rows) if step.rows else ""
    return {"seq": step.seq, **step.entry.recorded._asdict(), "rows": results, "hash": step.hash}


def _shown(steps: Iterable[Step], name: str) -> Iterator[dict[str, Any]]:
    for step in steps:
        entry, state = step.entry, step.state
        game = state.settings.game
        messages: list[Any] = [state_message(state, entry.seq, datetime.fromisoformat(entry.ts))]
        for effect in step.effects:
            if isinstance(effect, Announced):
                messages.append(event_message(state.settings, effect, entry.ts))
            if isinstance(effect, RoundEnded):
                messages.append(
                    round_message(state.settings, effect.record, entry.ts, game.name, game.rules_digest, name)
                )
        yield {"seq": entry.seq, "ts": entry.ts, "messages": [json.loads(each.wire()) for each in messages]}
