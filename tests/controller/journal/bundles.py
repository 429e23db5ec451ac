"""Bundles of evidence, and what a person can do to them who has no key."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from punto.controller.journal import evidence_verifier as verifier
from punto.controller.journal import schema, store
from punto.controller.journal.recovery import history
from punto.controller.signing.heads import HeadStatement, SignedHead
from punto.controller.signing.keys import SigningKey
from tests.controller.table_in_this_process import TOPIC

Files = dict[str, bytes]


def heads_of(record: Path, key: SigningKey, every: int = 10) -> list[dict[str, Any]]:
    """The signed heads of every tenth input, or of each so many."""
    with schema.reading(record) as connection:
        name = store.name(connection)
    return [
        SignedHead.of(
            HeadStatement(table=TOPIC.table, record=name, head=str(step.head), ts=step.entry.ts), key
        ).model_dump()
        for step in history(record)
        if step.seq % every == 0
    ]


def checked(files: Files, *, without_heads: bool = False) -> list[str]:
    """What the verifier finds wrong."""
    return verifier.checked(verifier.packed(files), without_heads=without_heads)[1]


def entries_of(files: Files) -> list[dict[str, Any]]:
    return [json.loads(line) for line in files["inputs.jsonl"].splitlines()]


def forged(files: Files, **others: Any) -> Files:
    """A bundle with other contents, JSON or bytes, in which each digest that nobody signed was computed again."""
    changed = {**files}
    for name, content in others.items():
        file = next(each for each in files if each.startswith(name))
        changed[file] = content if isinstance(content, bytes) else text_of(file, content)
    manifest = json.loads(changed["manifest.json"])
    manifest["files"] = {
        name: hashlib.sha256(content).hexdigest()
        for name, content in changed.items()
        if name != "manifest.json"
    }
    manifest["sha256"] = verifier.digest_of(manifest)
    return {**changed, "manifest.json": verifier.written(manifest)}


def text_of(file: str, content: Any) -> bytes:
    """The contents of a file of a bundle."""
    lines = file.endswith(".jsonl")
    return b"".join(map(verifier.line_of, content)) if lines else verifier.written(content)


def chained(files: Files, entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The inputs with the digests of their rows and all hashes computed again."""
    link = json.loads(files["before.json"])["hash"]
    for entry in entries:
        rows = entry["rows"]
        entry["results"] = hashlib.sha256(rows.encode()).hexdigest() if rows else ""
        parts = (entry[part] for part in verifier.INPUT[1:7])
        text = "\n".join([link, str(entry["seq"]), *parts])
        link = entry["hash"] = hashlib.sha256(text.encode()).hexdigest()
    return entries


def with_round(files: Files, change: Callable[[dict[str, Any]], object]) -> Files:
    """A bundle as a forged record gives it, whose results are others; no head of the true record covers it."""
    entries, rounds = entries_of(files), []
    number = json.loads(files["manifest.json"])["round"]
    for entry in entries[1:]:
        rows = json.loads(entry["rows"] or "[]")
        for table, values in rows:
            record = json.loads(values[-1]) if table == "rounds" else {}
            if number in {record.get("round"), record.get("corrects")}:
                change(record)
                rounds.append(record)
                values[-1] = json.dumps(record)
        entry["rows"] = json.dumps(rows) if rows else ""
    return forged(files, inputs=chained(files, entries), round=rounds, heads=[])
