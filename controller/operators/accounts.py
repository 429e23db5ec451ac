"""Operators' accounts, in an SQLite file of their own: names, roles, hashes of passwords and of cards, never on the record.

`punto operators` writes it on the table's PC, and the service reads it while that goes on. There is no account that
nobody made.
"""

import os
import secrets
import sqlite3
import unicodedata
from base64 import b64encode
from collections.abc import Iterable
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from argon2.low_level import ARGON2_VERSION, Type, hash_secret_raw

from controller.operators.roles import Role
from drivers.card_reader.number import card_number

SHORTEST_PASSWORD: Final = 8
LONGEST_PASSWORD: Final = 1024
LONGEST_NAME: Final = 40
_APPLICATION_ID: Final = 0x50554E4F  # "PUNO"
_FORMATS: Final = (
    # 1: accounts
    (
        """
        CREATE TABLE accounts (
            folded TEXT PRIMARY KEY,
            name TEXT NOT NULL,
            roles TEXT NOT NULL,
            hash TEXT NOT NULL,
            disabled INTEGER NOT NULL DEFAULT 0,
            created TEXT NOT NULL,
            last_sign_on TEXT,
            version INTEGER NOT NULL DEFAULT 1
        ) STRICT
        """,
    ),
    # 2: their cards
    (
        "ALTER TABLE accounts ADD COLUMN card BLOB",
        "CREATE UNIQUE INDEX card_of_one_account ON accounts (card)",
        "CREATE TABLE card_secret (secret BLOB NOT NULL) STRICT",
        "INSERT INTO card_secret VALUES (new_secret())",
    ),
)
"""What brings a file to each format from the one before; a new file goes through all of them."""
_FORMAT: Final = len(_FORMATS)
_HASHER: Final = PasswordHasher()


class AccountsError(Exception):
    """The accounts cannot be read or changed so; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Account:
    """An operator's account, which has a card or not. Times are UTC.

    `version` counts the changes of password, roles, standing and card.
    """

    name: str
    roles: tuple[Role, ...]
    disabled: bool
    created: str
    last_sign_on: str | None
    version: int
    has_card: bool


class Accounts:
    """The accounts' file, open."""

    def __init__(self, connection: sqlite3.Connection, path: Path, card_secret: bytes) -> None:
        self._connection = connection
        self._path = path
        self._card_secret = card_secret

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open the file, or begin it where there is none; nobody but its owner may read it.

        Raises:
            AccountsError: it cannot be opened, or is another file.
        """
        try:
            os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
            connection = sqlite3.connect(path, isolation_level=None)
        except (OSError, sqlite3.Error) as error:
            raise _cannot("opened", path, error) from error
        try:
            _check_or_upgrade(connection, path)
            card_secret: bytes = connection.execute("SELECT secret FROM card_secret").fetchone()[0]
        except sqlite3.Error as error:
            connection.close()
            raise _cannot("opened", path, error) from error
        except AccountsError:
            connection.close()
            raise
        return cls(connection, path, card_secret)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    # --- reading

    def find(self, name: str) -> Account | None:
        """The account of this name, however its letters are written, small or capital; None where there is none.

        Raises:
            AccountsError: the file cannot be read.
        """
        found = self._read("WHERE folded = ?", folded(name))
        return found[0] if found else None

    def all(self) -> list[Account]:
        """Every account, by name.

        Raises:
            AccountsError: the file cannot be read.
        """
        return self._read("ORDER BY folded")

    def hash_of(self, account: Account) -> str:
        """The hash of an account's password.

        Raises:
            AccountsError: the file cannot be read, or the account is not there any more.
        """
        rows = self._do("SELECT hash FROM accounts WHERE folded = ?", folded(account.name)).fetchall()
        if not rows:
            raise AccountsError(f"there is no account {account.name!r} any more")
        found: str = rows[0][0]
        return found

    def owner_of(self, number: str) -> Account | None:
        """The account that has the card of this number; None where none has, or one that is disabled.

        In any thread, for it has a connection of its own; best in another than the event loop's, for it takes tens of
        milliseconds.

        Raises:
            AccountsError: the file cannot be read.
        """
        hash_ = self._hash_of_card(number)
        try:
            with closing(sqlite3.connect(self._path, isolation_level=None)) as connection:
                found = _accounts(connection, "WHERE card = ? AND NOT disabled", hash_)
        except sqlite3.Error as error:
            raise _cannot("read or written", self._path, error) from error
        return found[0] if found else None

    def _hash_of_card(self, number: str) -> bytes:
        # A card's number is short, and often one of a row: against a plain hash all of them can be tried in minutes, and
        # one table of hashes would do for every house. So the hash is keyed with a secret of this file, the same for all its
        # cards, since a card is looked up by it. Who has the file has the secret too, so it is as slow as a password's.
        # What it costs is not the library's default: if that changed, no card would be anybody's any more.
        return hash_secret_raw(
            number.encode(),
            self._card_secret,
            time_cost=3,
            memory_cost=65536,  # KiB
            parallelism=4,
            hash_len=32,
            type=Type.ID,
        )

    def _read(self, where: str, *values: str | bytes) -> list[Account]:
        try:
            return _accounts(self._connection, where, *values)
        except sqlite3.Error as error:
            raise _cannot("read or written", self._path, error) from error

    # --- changing

    def add(self, name: str, roles: Iterable[Role], password: str, now: str) -> None:
        """Make an account.

        Raises:
            AccountsError: the name or the password cannot be used, or the name is taken.
        """
        self.add_hashed(checked_name(name), roles, hashed(password), now)

    def add_hashed(self, name: str, roles: Iterable[Role], hash_: str, now: str) -> None:
        """Make an account with a password that is hashed already.

        Raises:
            AccountsError: the name cannot be used, or is taken.
        """
        name = checked_name(name)
        if (other := self.find(name)) is not None:
            raise AccountsError(f"there is an account {other.name!r} already: take another name")
        self._do(
            "INSERT INTO accounts (folded, name, roles, hash, created) VALUES (?, ?, ?, ?, ?)",
            folded(name),
            name,
            _written(roles),
            hash_,
            now,
        )

    def set_disabled(self, name: str, *, disabled: bool) -> None:
        """Let an account in no more, or again.

        Raises:
            AccountsError: there is no such account.
        """
        self._change(name, "disabled", int(disabled))

    def set_password(self, name: str, password: str) -> None:
        """Give an account another password.

        Raises:
            AccountsError: there is no such account, or the password cannot be used.
        """
        self._change(name, "hash", hashed(password))

    def set_roles(self, name: str, roles: Iterable[Role]) -> None:
        """Give an account these roles in place of those that it had.

        Raises:
            AccountsError: there is no such account.
        """
        self._change(name, "roles", _written(roles))

    def enroll(self, name: str, number: str) -> None:
        """Give an account the card of this number, in place of one that it has.

        Raises:
            AccountsError: there is no such account, another one has this card, or it is no card's number.
        """
        try:
            hash_ = self._hash_of_card(card_number(number))
        except ValueError as error:
            raise AccountsError(str(error)) from error
        for other in self._read("WHERE card = ? AND folded != ?", hash_, folded(name)):
            raise AccountsError(f"this card is {other.name!r}'s: remove it there first")
        self._change(name, "card", hash_)

    def remove_card(self, name: str) -> None:
        """Take an account's card from it, so that the card is nobody's.

        Raises:
            AccountsError: there is no such account, or it has no card.
        """
        account = self.find(name)
        if account is not None and not account.has_card:
            raise AccountsError(f"{account.name!r} has no card")
        self._change(name, "card", None)

    def signed_on(self, account: Account, now: str) -> None:
        """Note when an account last signed on; in any thread, for it has a connection of its own.

        Raises:
            AccountsError: the file cannot be written.
        """
        try:
            with closing(sqlite3.connect(self._path, isolation_level=None)) as connection:
                connection.execute(
                    "UPDATE accounts SET last_sign_on = ? WHERE folded = ?", (now, folded(account.name))
                )
        except sqlite3.Error as error:
            raise _cannot("read or written", self._path, error) from error

    def _change(self, name: str, column: str, value: str | int | bytes | None) -> None:
        changed = self._do(
            f"UPDATE accounts SET {column} = ?, version = version + 1 WHERE folded = ?",  # noqa: S608 - four literals
            value,
            folded(name),
        )
        if not changed.rowcount:
            known = ", ".join(repr(each.name) for each in self.all()) or "none"
            raise AccountsError(f"there is no account {name!r}; there are: {known}")

    def _do(self, statement: str, *values: str | int | bytes | None) -> sqlite3.Cursor:
        try:
            return self._connection.execute(statement, values)
        except sqlite3.Error as error:
            raise _cannot("read or written", self._path, error) from error


# --- names and passwords


def folded(name: str) -> str:
    """A name as it is compared: two accounts that a person could take for one another have the same."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def checked_name(name: str) -> str:
    """A new account's name in composed form.

    Raises:
        AccountsError: it cannot be a name.
    """
    name = unicodedata.normalize("NFC", name)
    if not name or len(name) > LONGEST_NAME or not name.isprintable() or name != " ".join(name.split()):
        raise AccountsError(
            f"{name[:100]!r} cannot be a name: write 1 to {LONGEST_NAME} letters, single spaces between words"
        )
    return name


def checked_password(password: str) -> str:
    """A new password.

    Raises:
        AccountsError: it is too short or too long.
    """
    if not SHORTEST_PASSWORD <= len(password) <= LONGEST_PASSWORD:
        raise AccountsError(
            f"a password has {SHORTEST_PASSWORD} to {LONGEST_PASSWORD} characters; this one has {len(password)}"
        )
    return password


def hashed(password: str) -> str:
    """The Argon2id hash of a new password.

    Raises:
        AccountsError: the password cannot be used.
    """
    return _HASHER.hash(_composed(checked_password(password)))


def nobodys_hash() -> str:
    """A hash that is no password's, made without hashing; to hold a password against it is as much work as ever."""
    cost = f"m={_HASHER.memory_cost},t={_HASHER.time_cost},p={_HASHER.parallelism}"
    salt, digest = (
        b64encode(secrets.token_bytes(length)).decode().rstrip("=")
        for length in (_HASHER.salt_len, _HASHER.hash_len)
    )
    return f"$argon2id$v={ARGON2_VERSION}${cost}${salt}${digest}"


def verified(hash_: str, password: str) -> bool:
    """Whether the hash is this password's. It takes tens of milliseconds, for which it holds no lock of the interpreter."""
    with suppress(VerificationError, InvalidHashError):
        return _HASHER.verify(hash_, _composed(password))
    return False


def _composed(password: str) -> str:
    return unicodedata.normalize("NFC", password)


# --- the file


def _check_or_upgrade(connection: sqlite3.Connection, path: Path) -> None:
    if not connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
        connection.execute("PRAGMA journal_mode = WAL")  # the service reads while the command writes
    elif connection.execute("PRAGMA application_id").fetchone()[0] != _APPLICATION_ID:
        raise AccountsError(f"{path} is an SQLite file and holds no accounts: give another path")
    if _format_of(connection) < _FORMAT:
        _upgrade(connection)
    found = _format_of(connection)
    if found != _FORMAT:
        raise AccountsError(
            f"{path} has accounts in format {found} and this program reads {_FORMAT}: use the program that wrote it"
        )


def _upgrade(connection: sqlite3.Connection) -> None:
    """Bring the file to this program's format, all of it or nothing; another program may be about to as well."""
    connection.create_function("new_secret", 0, lambda: secrets.token_bytes(32))
    connection.execute("BEGIN IMMEDIATE")
    for format_, statements in enumerate(_FORMATS, start=1):
        if _format_of(connection) < format_:
            for statement in statements:
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {format_}")
    connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
    connection.execute("COMMIT")


def _format_of(connection: sqlite3.Connection) -> int:
    found: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return found


def _accounts(connection: sqlite3.Connection, where: str, *values: str | bytes) -> list[Account]:
    columns = "name, roles, disabled, created, last_sign_on, version, card IS NOT NULL"
    rows = connection.execute(f"SELECT {columns} FROM accounts {where}", values).fetchall()  # noqa: S608 - two literals
    return [
        Account(
            name,
            tuple(Role(role) for role in roles.split()),
            bool(disabled),
            created,
            last,
            version,
            bool(has_card),
        )
        for name, roles, disabled, created, last, version, has_card in rows
    ]


def _written(roles: Iterable[Role]) -> str:
    return " ".join(dict.fromkeys(roles))


def _cannot(what: str, path: Path, error: Exception) -> AccountsError:
    reason = error.strerror if isinstance(error, OSError) else str(error)
    return AccountsError(
        f"the accounts {path} cannot be {what}: {reason}; check the path, its owner and the disk"
    )
