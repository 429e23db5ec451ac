"""Copies of a record that are proven, and putting one in the place of a record. No file is ever overwritten."""

import os
import pwd
import re
import sqlite3
import stat
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from punto.controller.journal import schema, store
from punto.controller.journal.journal import RESTORING, locked, restoring
from punto.controller.journal.recovery import Replayed, replay
from punto.controller.journal.schema import RecordError
from punto.runtime.made_files import SHARED
from punto.runtime.sqlite_errors import in_words

_BESIDE: Final = ("", "-wal", "-shm")
"""The files of a record of SQLite."""
_STAMP: Final = "%Y%m%dT%H%M%S.%fZ"


@dataclass(frozen=True, slots=True)
class BackedUp:
    """A backup that was made: the file, the result of its replay, the older backups that were removed, and those of a later time."""

    file: Path
    proof: Replayed
    removed: tuple[Path, ...] = ()
    later: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Restored:
    """A backup in the place of a record: the result of its replay, and where the files of the record before are now."""

    proof: Replayed
    moved: tuple[Path, ...]


def back_up(record: Path, folder: Path, now: datetime, version: str, keep: int | None = None) -> BackedUp:
    """Copy a record, which a service may be writing, into a folder, and replay the copy. `now` (UTC) is part of its name.

    The copy has the permissions and, if this user may set it, the owner of the record. With `keep`, only so many backups of this
    record remain, the new one among them; nothing is removed if the new one is not a proven record.

    Raises:
        RecordError: the record cannot be read, the backup cannot be written, or another user can write to one of the folders.
    """
    _refuse_folders_of_others(record, folder)
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
    except (OSError, sqlite3.Error, RecordError) as error:
        with suppress(OSError):
            unproven.unlink()
        if isinstance(error, RecordError):
            raise
        reason = error.strerror if isinstance(error, OSError) else in_words(error, record)
        raise RecordError(f"the backup {file} cannot be written: {reason}; nothing was removed") from error
    if proof.difference is not None:
        return BackedUp(unproven, proof)
    return BackedUp(file, proof) if keep is None else BackedUp(file, proof, *_remove_old(file, record, keep))


def _refuse_folders_of_others(record: Path, *folders: Path) -> None:
    """Refuse folders in which another user can exchange a file for a link while this user writes the file.

    Such a link would give the other user any file of this one, so for root all folders above count too. In a folder such as /tmp,
    users cannot exchange the files of others.
    """
    user = os.geteuid()
    for folder in (record.parent, record.resolve().parent, *folders):
        here = folder.resolve()
        for each in (here, *here.parents) if user == 0 else (here,):
            try:
                known = each.stat()
            except OSError as error:
                raise RecordError(f"the folder {each} cannot be used: {error.strerror}") from error
            if known.st_uid not in {0, user}:
                owner = _user(known.st_uid)
                raise RecordError(
                    f"the folder {each} belongs to the user {owner}, who could exchange files there: run the command as this user "
                    f"(sudo -u {owner} punto ...)"
                )
            others = stat.S_IWOTH | (0 if known.st_gid == os.getegid() else stat.S_IWGRP)
            if known.st_mode & others and not known.st_mode & stat.S_ISVTX:
                raise RecordError(
                    f"other users can write to the folder {each}, and could exchange files there: run `chmod go-w {each}`"
                )


def _user(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return f"'#{number}'"  # as sudo takes it, in a shell


def _copy(source: sqlite3.Connection, to: Path, like: Path | None) -> None:
    """Copy a database into a new file, which is on the disk when this returns.

    The file has the permissions of another one, and its owner if this user may set it; without another one, those of a new record.
    """
    file = os.open(to, os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    try:
        with closing(sqlite3.connect(to)) as copy:
            source.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")  # one file, without a WAL beside it
        if like is not None:
            known = like.stat()
            with suppress(PermissionError):
                os.fchown(file, known.st_uid, known.st_gid)
        os.fchmod(file, SHARED if like is None else known.st_mode & 0o777)
        os.fsync(file)
    finally:
        os.close(file)


def _sync(folder: Path) -> None:
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def _remove_old(new: Path, record: Path, keep: int) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
    """Remove all but the newest backups, and return those, and the backups whose time is later than that of the new one.

    These are from a time when the clock was ahead: they do not count, because they would have newer ones removed.
    """
    stamped = re.compile(re.escape(record.name) + r"\.\d{8}T\d{6}\.\d{6}Z")
    of_record = _name(new)
    backups = sorted(
        each
        for each in new.parent.iterdir()
        if stamped.fullmatch(each.name) and each != new and _name(each) == of_record
    )
    older = [each for each in backups if each < new]
    removed = older[: max(0, len(older) + 1 - keep)]
    for each in removed:
        each.unlink()
    return tuple(removed), tuple(each for each in backups if each > new)


def _name(backup: Path) -> str | None:
    """The name of the record of which this is a backup, None if the file is not a record."""
    try:
        with closing(schema.open_for_reading(backup)) as connection:
            return store.name(connection)
    except (RecordError, sqlite3.Error):
        return None


def backups_in(folder: Path, record: Path) -> list[tuple[datetime, Path]]:
    """The backups of a record in a folder, with their times, the oldest first; none if there is no such folder."""
    if not folder.is_dir():
        return []
    name = re.compile(re.escape(record.name) + r"\.(\d{8}T\d{6}\.\d{6}Z)")
    found = ((name.fullmatch(each.name), each) for each in folder.iterdir())
    return sorted(
        (datetime.strptime(match[1], _STAMP).replace(tzinfo=UTC), path) for match, path in found if match
    )


def restore(backup: Path, record: Path, now: datetime, version: str) -> Restored:
    """Put a copy of a backup, which is replayed before, in the place of a record. No service may have the record open.

    The files of the record before are kept beside it, with `now` (UTC) in their names: they may have inputs that the backup does not
    have, and they are what a laboratory needs if the record was damaged. If it is interrupted, no service opens the record until it is
    repeated.

    Raises:
        RecordError: the backup is not a proven record, a service has the record open, the files cannot be written, or another user
            can write to the folder of the record.
    """
    _refuse_folders_of_others(record)
    new = record.with_name(f"{record.name}.{now:{_STAMP}}{RESTORING}")
    with closing(schema.open_for_reading(backup)) as source:
        schema.check_log(backup)
        lock = locked(record)
        interrupted = restoring(record)
        try:
            _copy(source, new, record if record.exists() else None)
            proof = _proof(new, backup, version)
            moved = tuple(_set_aside(record, now))
            new.rename(record)
            for each in interrupted:
                each.unlink()
            _sync(record.parent)
        except (OSError, sqlite3.Error, RecordError) as error:
            if record.exists() or isinstance(error, RecordError):  # nothing was moved
                with suppress(OSError):
                    new.unlink()
            if isinstance(error, RecordError):
                raise
            reason = error.strerror if isinstance(error, OSError) else in_words(error, backup, "the backup")
            raise RecordError(f"the backup cannot be restored to {record}: {reason}") from error
        finally:
            os.close(lock)
    return Restored(proof, moved)


def _proof(copy: Path, backup: Path, version: str) -> Replayed:
    """The replay of a copy: the backup itself could be exchanged after its replay."""
    proof = replay(copy, version=version)
    if proof.difference is not None:
        raise RecordError(
            f"the backup {backup} differs from what its inputs give: {proof.difference}; choose another backup"
        )
    return proof


def _set_aside(record: Path, now: datetime) -> list[Path]:
    moved = []
    for suffix in _BESIDE:
        file = record.with_name(f"{record.name}{suffix}")
        if file.exists():
            aside = record.with_name(f"{record.name}.{now:{_STAMP}}.replaced{suffix}")
            file.rename(aside)
            moved.append(aside)
    return moved
