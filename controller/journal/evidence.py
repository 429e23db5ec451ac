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
| heads.json | the signed heads of a witness that cover the inputs |
| manifest.json | the version of the program, the record's name, the SHA-256 of each of these files, and its own |
| verify.py | checks the bundle, with nothing but Python |
"""

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from punto.baccarat.table.effects import Happened, RoundEnded
from punto.baccarat.table.state import RoundRecord, TableState
from punto.controller.journal import evidence_verifier, schema, store
from punto.controller.journal.entries import FIRST_LINK, ROUNDS, STATES, Head
from punto.controller.journal.meters import GAMES, game_of
from punto.controller.journal.recovery import Step, history
from punto.controller.messages.building import event_message, round_message, state_message

VERIFIER: Final = Path(evidence_verifier.__file__)


class NoEvidenceError(Exception):
    """The record has no such round."""


def gather(record: Path, number: int, heads: Sequence[dict[str, Any]], version: str) -> dict[str, bytes]:
    """The files of the bundle for a round; `heads` are the signed heads of a witness, in order.

    Inputs are derived again from the first one, so this takes as long as a replay.

    Raises:
        NoEvidenceError: there is no round of this number.
        RecordError: the record cannot be opened, or an input is broken.
    """
    steps: list[Step] = []
    before: TableState | None = None
    link = FIRST_LINK
    with schema.reading(record) as connection:
        name = store.name(connection)
        first, last = _range(connection, number)
        covering = [seq for seq in map(_seq, heads) if seq >= last]
        last = min(covering, default=last)
        incidents = _incidents(connection, first, last)
        for step in history(record):
            if step.entry.seq < first:
                before, link = step.table.state, step.entry.chained_to(link)
            elif step.entry.seq <= last:
                steps.append(step)
        ended = {each: game_of(connection, each.round) for step in steps for each in _rounds(step)}
    own = [each for step in steps for each in _rounds(step) if number in {each.round, each.corrects}]
    files = {
        "round.json": _json([json.loads(ROUNDS.dump_json(each)) for each in own]),
        "before.json": _json(
            {"hash": link, "state": None if before is None else json.loads(STATES.dump_json(before))}
        ),
        "inputs.jsonl": _lines(_inputs(steps, link)),
        "shown.jsonl": _lines(_shown(steps, name, ended)),
        "incidents.jsonl": _lines(incidents),
        "game.json": GAMES.dump_json(steps[0].table.state.settings.game),
        "heads.json": _json([each for each in heads if first <= _seq(each) <= last]),
        "verify.py": VERIFIER.read_bytes(),
    }
    manifest = {
        "format": evidence_verifier.FORMAT,
        "program": version,
        "table": steps[0].table.state.settings.table,
        "record": name,
        "round": number,
        "files": {file: hashlib.sha256(content).hexdigest() for file, content in files.items()},
    }
    manifest["sha256"] = evidence_verifier.digest_of(manifest)
    return {"manifest.json": _json(manifest), **files}


def write(files: dict[str, bytes], out: Path) -> str:
    """Write a new bundle, and return its SHA-256. The same files give the same bundle, bit by bit.

    Raises:
        OSError: the file exists or cannot be written.
    """
    bundle = evidence_verifier.packed(files)
    with out.open("xb") as file:
        file.write(bundle)
    return hashlib.sha256(bundle).hexdigest()


def _range(connection: sqlite3.Connection, number: int) -> tuple[int, int]:
    """The first input after the round before, and the last one of the round or its corrections."""
    of_round = connection.execute(
        "SELECT min(input), max(input) FROM rounds WHERE round = ? OR json_extract(record, '$.corrects') = ?",
        (number, number),
    ).fetchone()
    if of_round[0] is None:
        raise NoEvidenceError(f"the record has no round {number}")
    (before,) = connection.execute("SELECT max(input) FROM rounds WHERE round < ?", (number,)).fetchone()
    return min(of_round[0], (before or 0) + 1), of_round[1]


def _seq(head: dict[str, Any]) -> int:
    return Head.of(head["head"]).seq


def _rounds(step: Step) -> list[RoundRecord]:
    return [each.record for each in step.effects if isinstance(each, RoundEnded)]


def _inputs(steps: Iterable[Step], link: str) -> Iterator[dict[str, Any]]:
    for step in steps:
        link = step.entry.chained_to(link)
        yield {**asdict(step.entry), "hash": link}


def _shown(
    steps: Iterable[Step], name: str, ended: dict[RoundRecord, tuple[str, str]]
) -> Iterator[dict[str, Any]]:
    for step in steps:
        entry, state = step.entry, step.table.state
        moment = datetime.fromisoformat(entry.ts)
        messages: list[Any] = [state_message(state, entry.seq, moment)]
        for effect in step.effects:
            if isinstance(effect, Happened):
                messages.append(event_message(state.settings, effect, entry.ts))
            if isinstance(effect, RoundEnded) and effect.record in ended:
                messages.append(
                    round_message(state.settings, effect.record, entry.ts, *ended[effect.record], name)
                )
        yield {"seq": entry.seq, "ts": entry.ts, "messages": [json.loads(each.wire()) for each in messages]}


def _incidents(connection: sqlite3.Connection, first: int, last: int) -> list[dict[str, Any]]:
    rows = connection.execute(
        "SELECT input, kind, code, text FROM incidents WHERE input BETWEEN ? AND ? ORDER BY input, place",
        (first, last),
    )
    return [{"seq": seq, "kind": kind, "code": code, "text": text} for seq, kind, code, text in rows]


def _json(value: Any) -> bytes:
    return json.dumps(value, indent=1, ensure_ascii=False).encode() + b"\n"


def _lines(values: Iterable[Any]) -> bytes:
    return b"".join(json.dumps(each, ensure_ascii=False).encode() + b"\n" for each in values)
