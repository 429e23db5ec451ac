"""The accounts' file: its format, the row of an account, and the audit log with an entry for every change of a row.

The log exposes accounts that were not made with `punto operators`: a row that does not match its last entry is `altered`,
and its account cannot sign on.
"""

import os
import pwd
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from hashlib import sha256
from json import dumps
from pathlib import Path
from typing import Final, NamedTuple

from punto.controller.accounts.refusals import AccountsError
from punto.messages.building import timestamp
from punto.runtime.sqlite_errors import in_words

_APPLICATION_ID: Final = 0x50554E4F  # "PUNO"
_TRIGGER: Final = "CREATE TRIGGER {0} BEFORE {1} ON audit_log {2} BEGIN SELECT RAISE(ABORT, '{3}'); END"
_LOG: Final = (
    """
    CREATE TABLE audit_log (
        entry INTEGER PRIMARY KEY,
        at TEXT NOT NULL,
        who TEXT NOT NULL,
        what TEXT NOT NULL,
        number INTEGER NOT NULL,
        name TEXT NOT NULL,
        roles TEXT NOT NULL,
        disabled INTEGER NOT NULL,
        card INTEGER NOT NULL,
        version INTEGER NOT NULL,
        seal TEXT NOT NULL,
        hash TEXT NOT NULL
    ) STRICT
    """,
    "CREATE INDEX log_of_account ON audit_log (number, entry)",
    _TRIGGER.format("log_stays", "UPDATE", "", "an entry of the audit log cannot be changed"),
    _TRIGGER.format("log_is_kept", "DELETE", "", "an entry of the audit log cannot be deleted"),
    _TRIGGER.format(
        "log_grows",
        "INSERT",
        "WHEN NEW.entry != 1 + (SELECT count(*) FROM audit_log)",
        "an entry is added at the end of the audit log",
    ),
)
_TABLES: Final = (
    """
    CREATE TABLE accounts (
        folded TEXT PRIMARY KEY,
        name TEXT NOT NULL,
        roles TEXT NOT NULL,
        hash TEXT NOT NULL,
        disabled INTEGER NOT NULL DEFAULT 0,
        created TEXT NOT NULL,
        last_sign_on TEXT,
        version INTEGER NOT NULL DEFAULT 1,
        card BLOB UNIQUE,
        number INTEGER NOT NULL UNIQUE,
        security_key TEXT,
        sign_count INTEGER NOT NULL DEFAULT 0
    ) STRICT
    """,
    "CREATE TABLE card_secret (secret BLOB NOT NULL) STRICT",
    "CREATE TABLE browsers (hash TEXT, number INTEGER, seen TEXT NOT NULL, PRIMARY KEY (hash, number)) STRICT",
    # the copy of the house's accounts that the file has, if the house's Game Manager keeps them
    "CREATE TABLE house_copy (only INTEGER PRIMARY KEY CHECK (only = 1), version INTEGER NOT NULL, digest TEXT NOT NULL) STRICT",
    *_LOG,
)
_FORMAT: Final = 1


class LogEntry(NamedTuple):
    """An entry of the audit log: who changed an account, when (UTC), by which action, and the account after the change.

    `seal` is a hash of the account's whole row, including its security key and the hashes of its password and card, so
    that every change of a column needs an entry. `hash` is over the previous entry's hash and this entry.
    """

    entry: int
    at: str
    who: str
    what: str
    number: int
    name: str
    roles: str
    disabled: int
    card: int
    version: int
    seal: str
    hash: str

    def chained_to(self, before: str) -> str:
        """This entry's hash, from the previous entry's: SHA-256 in hex over both."""
        return sha256(dumps([before, *self[:-1]]).encode()).hexdigest()


class Row(NamedTuple):
    """An account's row, without its last sign-on and its key's sign count."""

    folded: str
    name: str
    roles: str
    hash: str
    disabled: int
    created: str
    version: int
    card: bytes | None
    number: int
    security_key: str | None = None

    def seal(self) -> str:
        """The hash in the row's last entry of the log: SHA-256 in hex over all columns."""
        return sha256(dumps(self, default=bytes.hex).encode()).hexdigest()


# --- the file


def check(connection: sqlite3.Connection, path: Path) -> None:
    """Make the tables in an empty file; raises AccountsError if the file is of another program or format."""
    if _is_empty(connection):
        connection.execute("PRAGMA journal_mode = WAL")  # the service reads while the command writes
        _initialize(connection)
    if _pragma(connection, "application_id") != _APPLICATION_ID:
        raise AccountsError(f"{path} is an SQLite file without accounts: give another path")
    if (found := _pragma(connection, "user_version")) != _FORMAT:
        raise AccountsError(
            f"{path} has accounts in format {found} and this program reads {_FORMAT}: use the version of the program that wrote "
            "this file"
        )


def _initialize(connection: sqlite3.Connection) -> None:
    """Make the tables in one transaction, unless another program has made them since."""
    connection.execute("BEGIN IMMEDIATE")
    if _is_empty(connection):
        for statement in _TABLES:
            connection.execute(statement)
        connection.execute("INSERT INTO card_secret VALUES (?)", (secrets.token_bytes(32),))
        connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {_FORMAT}")
    connection.execute("COMMIT")


def _is_empty(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM sqlite_schema").fetchone() is None


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])


def rows(connection: sqlite3.Connection, where: str, *values: str | bytes) -> list[Row]:
    """The rows of these accounts."""
    columns = ", ".join(Row._fields)
    found = connection.execute(f"SELECT {columns} FROM accounts {where}", values)  # noqa: S608 - literals
    return [Row(*row) for row in found]


# --- the audit log


def entries(connection: sqlite3.Connection) -> list[LogEntry]:
    """The audit log, the oldest entry first."""
    return [LogEntry(*row) for row in connection.execute("SELECT * FROM audit_log ORDER BY entry")]


def note(connection: sqlite3.Connection, row: Row, what: str, who: str | None = None) -> None:
    """Add an entry with this row of an account, changed by `who`, or by the user who runs this program."""
    last = connection.execute("SELECT entry, hash FROM audit_log ORDER BY entry DESC LIMIT 1").fetchone()
    entry, before = last or (0, "")
    now, card = timestamp(datetime.now(UTC)), int(row.card is not None)
    account = (row.number, row.name, row.roles, row.disabled, card, row.version)
    new = LogEntry(entry + 1, now, who or _who(), what, *account, row.seal(), hash="")
    new = new._replace(hash=new.chained_to(before))
    connection.execute(f"INSERT INTO audit_log VALUES ({', '.join('?' * len(new))})", new)  # noqa: S608 - marks


def system_user(number: int) -> str:
    """The name of the operating system's user with this number."""
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return f"uid {number}"


def _who() -> str:
    """The operating system's user; "tove as punto" if another user logged in (sudo)."""
    user = system_user(os.geteuid())
    with suppress(OSError):
        if (login := os.getlogin()) != user:
            return f"{login} as {user}"
    return user


def check_log(connection: sqlite3.Connection, path: Path) -> None:
    """Raise AccountsError if the log of this file was tampered with."""
    wrong = _what_is_wrong(connection)
    if wrong is not None:
        raise AccountsError(
            f"the audit log of {path} was tampered with: {wrong}. Keep this file as evidence and find out who had write access. "
            "Then restore a backup, or start a new file and make the accounts again"
        )


def _what_is_wrong(connection: sqlite3.Connection) -> str | None:
    schema = (
        "SELECT name, sql FROM sqlite_schema WHERE tbl_name = 'audit_log' OR type = 'trigger' ORDER BY name"
    )
    with closing(sqlite3.connect(":memory:")) as sound:
        for statement in _LOG:
            sound.execute(statement)
        if connection.execute(schema).fetchall() != sound.execute(schema).fetchall():
            return "its table or its triggers differ from what this program creates"
    before = ""
    for place, each in enumerate(entries(connection), start=1):
        if (each.entry, each.hash) != (place, each.chained_to(before)):
            return f"entry {place} is missing or does not follow from the entry before"
        before = each.hash
    return None


@contextmanager
def using(path: Path, what: str = "read or written") -> Iterator[None]:
    """Raise AccountsError if the file cannot be `what`."""
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        reason = in_words(error, path, "the file of the accounts")
        raise AccountsError(f"the accounts {path} cannot be {what}: {reason}") from error
