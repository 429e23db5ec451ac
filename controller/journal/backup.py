"""Copies of a record that are proven, and putting one in the place of a record. No file is ever overwritten."""

import os
import re
import sqlite3
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from punto.controller.journal import schema
from punto.controller.journal.journal import RESTORING, locked, restoring
from punto.controller.journal.recovery import Replayed, replay
from punto.controller.journal.schema import RecordError

_BESIDE: Final = ("", "-wal", "-shm")
"""The files of a record of SQLite."""
_STAMP: Final = "%Y%m%dT%H%M%S.%fZ"


@dataclass(frozen=True, slots=True)
class BackedUp:
    """A backup that was made: the file, the result of its replay, and the older backups that were removed."""

    file: Path
    proof: Replayed
    removed: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Restored:
    """A backup in the place of a record: the result of its replay, and where the files of the record before are now."""

    proof: Replayed
    moved: tuple[Path, ...]


def back_up(record: Path, folder: Path, now: datetime, version: str, keep: int | None = None) -> BackedUp:
    """Copy a record, which a service may be writing, into a folder, and replay the copy. `now` (UTC) is part of its name.

    The copy has the permissions and, if this user may set it, the owner of the record. With `keep`, only so many backups of this
    record remain; nothing is removed if the new one is not a proven record.

    Raises:
        RecordError: the record cannot be read, or the backup cannot be written.
    """
    file = folder / f"{record.name}.{now:{_STAMP}}"
    unproven = folder / f"{file.name}.part"
    try:
        with closing(schema.open_for_reading(record)) as source:
            schema.check_log(record)
            _copy(source, unproven, record)
        proof = replay(unproven, version=version)
        if proof.difference is None:
            unproven.rename(file)
            _sync(folder)
    except (OSError, sqlite3.Error) as error:
        with suppress(OSError):
            unproven.unlink()
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise RecordError(f"the backup {file} cannot be written: {reason}; nothing was removed") from error
    if proof.difference is not None:
        return BackedUp(unproven, proof, ())
    return BackedUp(file, proof, () if keep is None else _remove_old(record, folder, keep))


def _copy(source: sqlite3.Connection, to: Path, like: Path) -> None:
    """Copy a database into a new file, which is on the disk when this returns."""
    os.close(os.open(to, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    with closing(sqlite3.connect(to)) as copy:
        source.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")  # one file, without a WAL beside it
    _permit(to, like)
    _sync(to)


def _permit(file: Path, like: Path) -> None:
    """Give a file the permissions of another one, and its owner if this user may."""
    known = like.stat()
    with suppress(PermissionError):
        os.chown(file, known.st_uid, known.st_gid)
    file.chmod(known.st_mode & 0o777)


def _sync(path: Path) -> None:
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def _remove_old(record: Path, folder: Path, keep: int) -> tuple[Path, ...]:
    name = re.compile(re.escape(record.name) + r"\.\d{8}T\d{6}\.\d{6}Z")
    backups = sorted(each for each in folder.iterdir() if name.fullmatch(each.name))
    removed = tuple(backups[: -keep or None]) if len(backups) > keep else ()
    for each in removed:
        each.unlink()
    return removed


def restore(backup: Path, record: Path, now: datetime, version: str) -> Restored:
    """Put a copy of a backup, which is replayed before, in the place of a record. No service may have the record open.

    The files of the record before are kept beside it, with `now` (UTC) in their names: they may have inputs that the backup does not
    have, and they are what a laboratory needs if the record was damaged. If it is interrupted, no service opens the record until it is
    repeated.

    Raises:
        RecordError: the backup is not a proven record, a service has the record open, or the files cannot be written.
    """
    proof = replay(backup, version=version)
    if proof.difference is not None:
        raise RecordError(
            f"the backup {backup} differs from what its inputs give: {proof.difference}; choose another backup"
        )
    lock = locked(record)
    new = record.with_name(f"{record.name}.{now:{_STAMP}}{RESTORING}")
    interrupted = restoring(record)
    try:
        with closing(schema.open_for_reading(backup)) as source:
            schema.check_log(backup)
            _copy(source, new, record if record.exists() else backup)
        moved = tuple(_set_aside(record, now))
        new.rename(record)
        for each in interrupted:
            each.unlink()
        _sync(record.parent)
    except (OSError, sqlite3.Error) as error:
        if record.exists():  # nothing was moved
            with suppress(OSError):
                new.unlink()
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise RecordError(f"the backup cannot be restored to {record}: {reason}") from error
    finally:
        os.close(lock)
    return Restored(proof, moved)


def _set_aside(record: Path, now: datetime) -> list[Path]:
    moved = []
    for suffix in _BESIDE:
        file = record.with_name(f"{record.name}{suffix}")
        if file.exists():
            aside = record.with_name(f"{record.name}.{now:{_STAMP}}.replaced{suffix}")
            file.rename(aside)
            moved.append(aside)
    return moved
