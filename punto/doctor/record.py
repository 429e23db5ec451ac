"""The health of the record, and the age of its backups."""

import socket
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from shlex import quote
from typing import Final

from punto.controller.journal import schema, store
from punto.controller.journal.backup import backups_in
from punto.controller.journal.entries import FIRST_LINK
from punto.controller.journal.schema import RecordError
from punto.doctor.findings import Finding, Level
from punto.doctor.patient import Patient

RECORD: Final = "record"
BACKUPS: Final = "backups"
LAST_ENTRIES: Final = 2000
"""So many inputs at the end of the record are compared with the chain of hashes; `punto replay` computes all of them again."""
_LATE: Final = timedelta(hours=26)
_TOO_LATE: Final = timedelta(days=7)


def record(patient: Patient) -> Iterator[Finding]:
    """The record: SQLite's own check, the format, the end of the chain, and the signer."""
    path = patient.config.record.path
    if not path.exists():
        yield Finding(RECORD, "ok", str(path), "there is none yet: the first start of the service makes it")
        return
    try:
        with schema.reading(path) as connection:
            how, fault = _read(connection)
    except RecordError as error:
        how, fault = "", str(error)
    if fault:
        yield Finding(RECORD, "wrong", str(path), fault, _restore(patient))
    else:
        yield Finding(RECORD, "ok", str(path), how)
    signer = patient.config.record.signer
    if signer is not None:
        yield _signer(signer)


def _read(connection: sqlite3.Connection) -> tuple[str, str]:
    """How the record is, and its first fault, which is empty without one."""
    (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if found != "ok":
        return "", f"the record is damaged: {found}"
    differs = schema.schema_difference(connection)
    if differs is not None:
        return "", differs
    head = store.last_head(connection)
    first = max(0, head.seq - LAST_ENTRIES)
    before = FIRST_LINK if first == 0 else store.link_of(connection, first)
    if before is None:
        return "", f"input {first} is missing from the record"
    checked = sum(1 for _ in store.checked_entries(connection, first, before))
    return f"format {schema.FORMAT}, {head.seq:,} inputs, the chain of the last {checked:,} holds", ""


def _restore(patient: Patient) -> str | None:
    """The command that puts the newest backup in the place of the record, None without a backup."""
    found = backups_of(patient)
    if not found:
        return None
    newest = quote(str(found[-1][1]))
    return patient.as_user(f"punto restore {newest} {quote(str(patient.config.record.path))}")


def _signer(path: Path) -> Finding:
    what = f"signer at {path}"
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as door:
            door.settimeout(2)
            door.connect(str(path))
    except OSError as error:
        how = f"it does not answer ({error.strerror or error}), so heads are published without a signature"
        return Finding(RECORD, "wrong", what, how, "systemctl restart punto-signer")
    return Finding(RECORD, "ok", what, "it answers")


# --- backups


def backups(patient: Patient) -> Iterator[Finding]:
    """The newest backup of the record."""
    if patient.backups is None:
        yield Finding(BACKUPS, "not checked", "backups", "name their folder with --backups DIR")
        return
    found = backups_of(patient)
    yield judged_backups(patient, found[-1][0] if found else None, datetime.now(UTC))


def judged_backups(patient: Patient, newest: datetime | None, now: datetime) -> Finding:
    """How old the newest backup is."""
    folder = patient.backups
    copy = f"punto backup {quote(str(patient.config.record.path))} --to {quote(str(folder))} --keep 30"
    command = patient.as_user(copy)
    if newest is None:
        return Finding(
            BACKUPS, "wrong", str(folder), f"it has no backup of {patient.config.record.path.name}", command
        )
    age = now - newest
    level: Level = "wrong" if age > _TOO_LATE else "warning" if age > _LATE else "ok"
    hours = age / timedelta(hours=1)
    how = (
        f"the newest backup is {hours:.0f} hours old"
        if hours < 72
        else f"the newest backup is {hours / 24:.0f} days old"
    )
    return Finding(BACKUPS, level, str(folder), how, None if level == "ok" else command)


def backups_of(patient: Patient) -> list[tuple[datetime, Path]]:
    """The backups of the record in the folder, with their times, the oldest first."""
    return [] if patient.backups is None else backups_in(patient.backups, patient.config.record.path)
