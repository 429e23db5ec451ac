"""The errors of SQLite in words: what is wrong with a file, and what to do. Only damage is a reason to restore a backup."""

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from punto.configs.problems import cut

_BESIDE: Final = ("", "-wal", "-shm")
"""The files on which SQLite takes its locks."""
_READ_MARKS: Final = range(123, 128)
"""The bytes of the shared memory on which readers take their locks; see https://www.sqlite.org/walformat.html#wal_locks."""
_LONGEST: Final = 300
_REMEDIES: Final = {
    sqlite3.SQLITE_FULL: "make room on the disk, and start again",
    sqlite3.SQLITE_NOMEM: "the machine has too little memory left: end other programs, and start again",
    sqlite3.SQLITE_CANTOPEN: "check that the file exists, that this user may open it and write to its folder, and that the process may open "
    "more files (`ulimit -n`)",
    **dict.fromkeys(
        (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM),
        "check that this user may write to the file and to its folder, and that the disk is not mounted read-only",
    ),
    sqlite3.SQLITE_IOERR: "the disk or the connection to it fails, and {what} itself may be undamaged: read the messages of the kernel "
    "(`dmesg`), and copy all files of {what} to another disk before you start again",
    sqlite3.SQLITE_NOTADB: "check the path; if it is right, {what} is damaged: restore a backup",
}
_BUSY: Final = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL)
_ENVIRONMENT: Final = (*_BUSY, *_REMEDIES.keys() - {sqlite3.SQLITE_NOTADB})


def is_damage(error: BaseException) -> bool:
    """Whether the error comes from what is in the file, and not from locks, permissions, the disk or the machine."""
    return not isinstance(error, OSError) and _kind(error) not in _ENVIRONMENT


def in_words(error: BaseException, path: Path, what: str = "the record") -> str:
    """Why the file at `path` cannot be used, and what to do, as the end of a sentence; `what` is the file in words.

    An error that has to do with neither disk, machine, permissions nor a lock comes from what is in the file. Python raises some of
    these itself, and they have no code.
    """
    if isinstance(error, OSError):
        return f"{error.strerror}; check the path, the owner of the file, and the disk"
    code = _kind(error)
    if code in _BUSY:
        holders = " and ".join(locking(path)) or "another program"
        return f"{holders} has a lock on {what}, which is undamaged; end that program or wait for it, and start again"
    reason = cut(" ".join(str(error).split()), _LONGEST)  # SQLite puts the SQL of a view into it
    if code == sqlite3.SQLITE_IOERR and isinstance(error, sqlite3.Error):
        reason += f" ({error.sqlite_errorname})"
    return f"{reason}; {_REMEDIES.get(code, '{what} is damaged: restore a backup').format(what=what)}"


def is_busy(error: BaseException) -> bool:
    """Whether another program holds the lock that the program needs."""
    return _kind(error) in _BUSY


def _kind(error: BaseException) -> int:
    """The primary code of an error: SQLite tells details in the bits above the first eight. 0 without a code."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def locking(path: Path) -> Iterator[str]:
    """The other processes that hold a lock for writing on a database, such as "sqlite3 (process 1234)"; see proc_locks(5)."""
    return _holding(path, lambda lock: lock[3] == "WRITE")


def reading(path: Path) -> Iterator[str]:
    """The other processes that read a database in a transaction that is still open."""
    return _holding(path, lambda lock: lock[3] == "READ" and int(lock[6]) in _READ_MARKS)


def _holding(path: Path, counts: Callable[[list[str]], bool]) -> Iterator[str]:
    files, database = set(), path.resolve()
    for suffix in _BESIDE:
        with suppress(OSError):
            known = database.with_name(f"{database.name}{suffix}").stat()
            files.add(f"{os.major(known.st_dev):02x}:{os.minor(known.st_dev):02x}:{known.st_ino}")
    with suppress(OSError):
        locks = [line.split() for line in Path("/proc/locks").read_text(encoding="ascii").splitlines()]
        pids = {lock[4] for lock in locks if lock[5] in files and counts(lock)}
        for pid in sorted(pids - {str(os.getpid())}):
            with suppress(OSError):
                name = Path(f"/proc/{pid}/comm").read_text(encoding="utf-8", errors="replace").strip()
                yield f"{cut(name) if name.isprintable() else 'a program'} (process {pid})"
