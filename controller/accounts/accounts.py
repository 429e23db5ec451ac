"""Operators' accounts, in an SQLite file of their own: names, roles, hashes of passwords and of cards, never on the record.

`punto operators` writes it on the table's PC, and the service reads it while that goes on. The service writes sign-ons,
and the security keys that their owners add. There is no account that
nobody made: every change is an entry in the file's audit log, and an account that does not match the log is not let in.
"""

import os
import pwd
import re
import secrets
import sqlite3
import unicodedata
from base64 import b64encode
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from json import dumps, loads
from pathlib import Path
from typing import Final, NamedTuple, Self

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from argon2.low_level import ARGON2_VERSION, Type, hash_secret_raw

from punto.controller.accounts.refusals import RefusalError
from punto.controller.accounts.roles import Role
from punto.controller.accounts.security_keys import SecurityKey
from punto.controller.messages.building import timestamp
from punto.drivers.card_reader.number import card_number

SHORTEST_PASSWORD: Final = 8
LONGEST_PASSWORD: Final = 1024
LONGEST_NAME: Final = 40
FEWEST_GUESSES: Final = 1_000_000
"""A password that takes fewer guesses, the likeliest first, is refused: zxcvbn calls it "very guessable"."""
_GUESSED: Final = 72
"""Characters that are judged, for the time that this takes grows with the square of the length."""
_NOT_DRAWN: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""Characters without a visible shape that `str.isprintable` accepts."""
_KNOWN_BROWSERS: Final = 20
"""The browsers that are remembered for each account. One more replaces the one with the oldest sign-on."""
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
_FORMATS: Final[tuple[tuple[str, ...], ...]] = (
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
    # 3: their numbers, the audit log, and the browsers where they have signed on
    (
        "ALTER TABLE accounts ADD COLUMN number INTEGER",
        "UPDATE accounts SET number = (SELECT count(*) FROM accounts AS earlier WHERE earlier.rowid <= accounts.rowid)",
        "CREATE UNIQUE INDEX number_of_one_account ON accounts (number)",
        "CREATE TABLE browsers (hash TEXT, number INTEGER, seen TEXT NOT NULL, PRIMARY KEY (hash, number)) STRICT",
        *_LOG,
    ),
    # 4: their security keys, and how often each has signed
    (
        "ALTER TABLE accounts ADD COLUMN security_key TEXT",
        "ALTER TABLE accounts ADD COLUMN sign_count INTEGER NOT NULL DEFAULT 0",
    ),
)
"""What brings a file to each format from the one before; a new file goes through all of them."""
_FORMAT: Final = len(_FORMATS)
_LOGGED: Final = 3
"""The first format with an audit log, which begins with the accounts that are there."""
_HASHER: Final = PasswordHasher()


class AccountsError(RefusalError):
    """The accounts cannot be read or changed so; the message says what to do."""

    def __init__(self, reason: str) -> None:
        super().__init__(503, "no_accounts", reason)


@dataclass(frozen=True, slots=True)
class Account:
    """An operator's account, which has a card or not, and a security key or not. Times are UTC.

    `version` counts the changes of password, roles, standing and card. `number` counts from 1 and is never used again. An
    `altered` account does not match the audit log: it has no roles here and is not let in.
    """

    name: str
    roles: tuple[Role, ...]
    disabled: bool
    created: str
    last_sign_on: str | None
    version: int
    has_card: bool
    number: int
    altered: bool = False
    security_key: SecurityKey | None = None


class LogEntry(NamedTuple):
    """An entry of the audit log: who changed an account, when (UTC), by which action, and the account after the change.

    `seal` is a hash of the account's whole row, including its security key and the hashes of its password and card, so that no column can be
    changed without an entry. `hash` is over the entry before and this one.
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
        """This entry's hash, given that of the entry before: SHA-256 in hex over both."""
        return sha256(dumps([before, *self[:-1]]).encode()).hexdigest()


class _Row(NamedTuple):
    """An account's row, but for its last sign-on and its key's sign count."""

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
        sealed = self[:-1] if self.security_key is None else self  # without one as before there were keys
        return sha256(dumps(sealed, default=bytes.hex).encode()).hexdigest()


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
        with _using(path, "opened"), ExitStack() as unless_opened:
            os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
            connection = unless_opened.enter_context(closing(sqlite3.connect(path, isolation_level=None)))
            _check_or_upgrade(connection, path)
            _check_log(connection, path)
            (card_secret,) = connection.execute("SELECT secret FROM card_secret").fetchone()
            unless_opened.pop_all()
        return cls(connection, path, card_secret)

    def again(self) -> Self:
        """The same file opened again, for another thread.

        Raises:
            AccountsError: it cannot be opened.
        """
        return self.open(self._path)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    # --- reading

    def find(self, name: str) -> Account | None:
        """The account of this name, however its letters are written, small or capital; None where there is none.

        Raises:
            AccountsError: the file cannot be read.
        """
        return next(iter(self._read("WHERE folded = ?", folded(name))), None)

    def all(self) -> list[Account]:
        """Every account, by name.

        Raises:
            AccountsError: the file cannot be read.
        """
        return self._read("ORDER BY folded")

    def log(self) -> list[LogEntry]:
        """The audit log, the oldest entry first.

        Raises:
            AccountsError: the file cannot be read.
        """
        with _using(self._path):
            return _log(self._connection)

    def not_as_logged(self) -> list[str]:
        """The names of accounts that do not match the audit log, or that it has and the file has not.

        Raises:
            AccountsError: the file cannot be read.
        """
        found = {each.name: each.altered for each in self.all()}
        gone = {each.name for each in self.log()} - found.keys()
        return sorted(gone | {name for name, altered in found.items() if altered})

    def known_at(self, browser: str) -> frozenset[int]:
        """The numbers of the accounts that have signed on in the browser with this token.

        Raises:
            AccountsError: the file cannot be read.
        """
        rows = self._do("SELECT number FROM browsers WHERE hash = ?", hash_of_token(browser))
        return frozenset(number for (number,) in rows)

    def hash_of(self, account: Account) -> str:
        """The hash of an account's password.

        Raises:
            AccountsError: the file cannot be read, or the account is not there any more.
        """
        for (found,) in self._do("SELECT hash FROM accounts WHERE folded = ?", folded(account.name)):
            return str(found)
        raise AccountsError(f"there is no account {account.name!r} any more")

    def owner_of(self, number: str) -> Account | None:
        """The account that has the card of this number; None where none has, or one that is disabled.

        In any thread, for it has a connection of its own; best in another than the event loop's, for it takes tens of
        milliseconds.

        Raises:
            AccountsError: the file cannot be read.
        """
        hash_ = self._hash_of_card(number)
        with self._connection_of_its_own() as connection:
            found = _accounts(connection, "WHERE card = ? AND NOT disabled", hash_)
        return next((each for each in found if not each.altered), None)

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
        with _using(self._path):
            return _accounts(self._connection, where, *values)

    # --- changing

    def add(self, name: str, roles: Iterable[Role], password: str, now: str) -> None:
        """Make an account.

        Raises:
            AccountsError: the name or the password cannot be used, or the name is taken or looks like another.
        """
        self.add_hashed(_checked_name(name), roles, hashed(password, name), now)

    def add_hashed(self, name: str, roles: Iterable[Role], hash_: str, now: str) -> None:
        """Make an account with a password that is hashed already.

        Raises:
            AccountsError: the name cannot be used, is taken or looks like another.
        """
        from punto.controller.accounts.look_alikes import alike  # noqa: PLC0415 - the service makes no accounts

        name = _checked_name(name)
        with self._writing():
            known: list[LogEntry | Account] = [*self.log(), *self.all()]
            for other in sorted({each.name for each in known}):
                if folded(other) == folded(name):
                    raise AccountsError(f"there is an account {other!r} already: take another name")
                if alike(other, name):
                    raise AccountsError(f"{name!r} looks like the account {other!r}: choose another name")
            number = 1 + max((each.number for each in known), default=0)
            row = _Row(folded(name), name, _written(roles), hash_, 0, now, 1, None, number)
            self._put(row, "add")

    def set_disabled(self, name: str, *, disabled: bool) -> None:
        """Let an account in no more, or again.

        Raises:
            AccountsError: there is no such account, or it does not match the audit log.
        """
        self._change(name, "disable" if disabled else "enable", disabled=int(disabled))

    def set_password(self, name: str, password: str) -> None:
        """Give an account another password.

        Raises:
            AccountsError: there is no such account, it does not match the audit log, or the password cannot be used.
        """
        self._change(name, "password", hash=hashed(password, name))

    def set_roles(self, name: str, roles: Iterable[Role]) -> None:
        """Give an account these roles in place of those that it had.

        Raises:
            AccountsError: there is no such account, or it does not match the audit log.
        """
        self._change(name, "roles", roles=_written(roles))

    def enroll(self, name: str, number: str) -> None:
        """Give an account the card of this number, in place of one that it has.

        Raises:
            AccountsError: there is no such account, it does not match the audit log, another one has this card, or it is no card's number.
        """
        try:
            hash_ = self._hash_of_card(card_number(number))
        except ValueError as error:
            raise AccountsError(str(error)) from error
        for other in self._read("WHERE card = ? AND folded != ?", hash_, folded(name)):
            raise AccountsError(f"this card is {other.name!r}'s: remove it there first")
        self._change(name, "card", card=hash_)

    def remove_card(self, name: str) -> None:
        """Take an account's card from it, so that the card is nobody's.

        Raises:
            AccountsError: there is no such account, it does not match the audit log, or it has no card.
        """
        self._change(name, "card --remove", card=None)

    def add_key(self, name: str, key: SecurityKey, sign_count: int, who: str) -> None:
        """Give an account its security key; `who` is noted in the log.

        Raises:
            AccountsError: the file cannot be written, there is no such account, or it does not match the audit log.
        """
        self._do("UPDATE accounts SET sign_count = ? WHERE folded = ?", sign_count, folded(name))
        self._change(name, "key", who, security_key=dumps(key))

    def remove_key(self, name: str) -> None:
        """Take an account's security key from it.

        Raises:
            AccountsError: there is no such account, it does not match the audit log, or it has no key.
        """
        self._change(name, "key --remove", security_key=None)

    def counts_up(self, account: Account, sign_count: int) -> bool:
        """Take the sign count of an account's key; False if it is not above the last one: two keys have the same secret.

        A key that does not count always says 0. In any thread, for it has a connection of its own.

        Raises:
            AccountsError: the file cannot be written.
        """
        with self._connection_of_its_own() as connection:
            taken = connection.execute(
                "UPDATE accounts SET sign_count = ?1 WHERE number = ?2 AND (sign_count < ?1 OR sign_count + ?1 = 0)",
                (sign_count, account.number),
            )
            return taken.rowcount == 1

    def restore(self, name: str, password: str) -> None:
        """Bring an account that does not match the audit log back to what the log says, with this password, no card and no key.

        Raises:
            AccountsError: the log has no such account, the account matches it, or the password cannot be used.
        """
        hash_ = hashed(password, name)
        with self._writing():
            entries = [each for each in self.log() if folded(each.name) == folded(name)]
            if not entries:
                raise AccountsError(
                    f"the audit log has no account {name!r}: `punto operators` never made it, so it cannot be restored"
                )
            first, last = entries[0], entries[-1]
            account = self.find(name)
            if account is not None and not account.altered:
                raise AccountsError(f"{account.name!r} matches the audit log: there is nothing to restore")
            self._do("DELETE FROM accounts WHERE number = ? OR folded = ?", last.number, folded(last.name))
            row = _Row(
                folded(last.name),
                last.name,
                last.roles,
                hash_,
                last.disabled,
                first.at,
                last.version + 1,
                None,
                last.number,
            )
            self._put(row, "restore")

    def signed_on(self, account: Account, now: str, browser: str) -> None:
        """Note when an account last signed on, and in the browser with which token.

        In any thread, for it has a connection of its own.

        Raises:
            AccountsError: the file cannot be written.
        """
        number, hash_ = account.number, hash_of_token(browser)
        with self._connection_of_its_own() as connection:
            connection.execute("UPDATE accounts SET last_sign_on = ? WHERE number = ?", (now, number))
            connection.execute("INSERT OR REPLACE INTO browsers VALUES (?, ?, ?)", (hash_, number, now))
            connection.execute(
                "DELETE FROM browsers WHERE number = ?1 AND hash NOT IN "
                "(SELECT hash FROM browsers WHERE number = ?1 ORDER BY seen DESC LIMIT ?2)",
                (number, _KNOWN_BROWSERS),
            )

    def _change(
        self, name: str, what: str, who: str | None = None, **columns: str | int | bytes | None
    ) -> None:
        with self._writing():
            account = self.find(name)
            if account is None:
                known = ", ".join(repr(each.name) for each in self.all()) or "none"
                raise AccountsError(f"there is no account {name!r}; there are: {known}")
            if account.altered:
                raise AccountsError(
                    f"{account.name!r} does not match the audit log: someone changed it without `punto operators`. Find out who, "
                    "then bring the account back with `punto operators restore`"
                )
            (row,) = _rows(self._connection, "WHERE folded = ?", folded(name))
            for column, value in columns.items():
                if value is None and getattr(row, column) is None:
                    raise AccountsError(f"{account.name!r} has no {column.replace('_', ' ')}")
            # A key lets nobody sign on: it ends no session, and lifts no lock-out.
            version = row.version + ("security_key" not in columns)
            self._put(row._replace(version=version, **columns), what, who)  # type: ignore[arg-type] # five literals

    def _put(self, row: _Row, what: str, who: str | None = None) -> None:
        """Write an account's row and its entry in the log, within `_writing`."""
        columns = ", ".join(_Row._fields)
        held = ", ".join("?" * len(_Row._fields))
        others = ", ".join(f"{each} = excluded.{each}" for each in _Row._fields[1:])
        self._do(
            f"INSERT INTO accounts ({columns}) VALUES ({held}) ON CONFLICT (folded) DO UPDATE SET {others}",  # noqa: S608 - the fields above
            *row,
        )
        _note(self._connection, row, what, who)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Write everything within, or nothing."""
        self._do("BEGIN IMMEDIATE")
        try:
            yield
            self._do("COMMIT")
        finally:
            if self._connection.in_transaction:
                self._connection.rollback()

    def _do(self, statement: str, *values: str | int | bytes | None) -> sqlite3.Cursor:
        with _using(self._path):
            return self._connection.execute(statement, values)

    @contextmanager
    def _connection_of_its_own(self) -> Iterator[sqlite3.Connection]:
        """A connection for any thread; what is written with it is written together."""
        with _using(self._path), closing(sqlite3.connect(self._path)) as connection, connection:
            yield connection


# --- names and passwords


def folded(name: str) -> str:
    """A name as it is compared: two accounts that a person could take for one another have the same."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def _checked_name(name: str) -> str:
    """A new account's name in composed form."""
    name = unicodedata.normalize("NFC", name)
    drawn = name.isprintable() and not _NOT_DRAWN.search(name)
    if not name or len(name) > LONGEST_NAME or not drawn or name != " ".join(name.split()):
        raise AccountsError(
            f"{name[:100]!r} cannot be a name: write 1 to {LONGEST_NAME} letters, single spaces between words"
        )
    return name


def hashed(password: str, name: str = "") -> str:
    """The Argon2id hash of a new password, of the account of this name.

    By NIST SP 800-63B it must be long enough, and neither common nor derived from the name. There are no rules about kinds
    of characters, and no password expires.

    Raises:
        AccountsError: it is too short or too long, or too easily guessed.
    """
    if not SHORTEST_PASSWORD <= len(password) <= LONGEST_PASSWORD:
        raise AccountsError(
            f"a password has {SHORTEST_PASSWORD} to {LONGEST_PASSWORD} characters; this one has {len(password)}"
        )
    from zxcvbn import zxcvbn  # noqa: PLC0415 - its lists take 30 ms and 10 MB, and only new passwords need them

    if zxcvbn(password[:_GUESSED], user_inputs=[name, *name.split()])["guesses"] < FEWEST_GUESSES:
        raise AccountsError(
            f"this password is among the first {FEWEST_GUESSES:,} guesses: it is common, a pattern or the account's name. Choose a "
            "longer one, for example four unrelated words"
        )
    return _HASHER.hash(_composed(password))


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
    before = _format_of(connection)
    for format_, statements in enumerate(_FORMATS, start=1):
        if _format_of(connection) < format_:
            for statement in statements:
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {format_}")
    if before < _LOGGED:
        for row in _rows(connection, "ORDER BY number"):
            _note(connection, row, "log begun")
    connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
    connection.execute("COMMIT")


def _format_of(connection: sqlite3.Connection) -> int:
    found: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return found


def _rows(connection: sqlite3.Connection, where: str, *values: str | bytes) -> list[_Row]:
    columns = ", ".join(_Row._fields)
    return [
        _Row(*row)
        for row in connection.execute(f"SELECT {columns} FROM accounts {where}", values)  # noqa: S608 - literals
    ]


def _accounts(connection: sqlite3.Connection, where: str, *values: str | bytes) -> list[Account]:
    columns = ", ".join(_Row._fields)
    seal = "(SELECT seal FROM audit_log WHERE number = accounts.number ORDER BY entry DESC LIMIT 1)"
    rows = connection.execute(f"SELECT {seal}, last_sign_on, {columns} FROM accounts {where}", values)  # noqa: S608 - literals
    return [_account(_Row(*row), last_sign_on, seal) for seal, last_sign_on, *row in rows]


def _account(row: _Row, last_sign_on: str | None, seal: str | None) -> Account:
    altered = row.seal() != seal
    return Account(
        row.name,
        () if altered else tuple(Role(role) for role in row.roles.split()),
        bool(row.disabled),
        row.created,
        last_sign_on,
        row.version,
        row.card is not None,
        row.number or 0,
        altered,
        None if altered or row.security_key is None else SecurityKey(*loads(row.security_key)),
    )


# --- the audit log


def _log(connection: sqlite3.Connection) -> list[LogEntry]:
    return [LogEntry(*row) for row in connection.execute("SELECT * FROM audit_log ORDER BY entry")]


def _note(connection: sqlite3.Connection, row: _Row, what: str, who: str | None = None) -> None:
    """Add an entry with this row of an account, as changed by `who`, or by whoever runs this program."""
    last = connection.execute("SELECT entry, hash FROM audit_log ORDER BY entry DESC LIMIT 1").fetchone()
    entry, before = last or (0, "")
    new = LogEntry(
        entry + 1,
        timestamp(datetime.now(UTC)),
        who or _who(),
        what,
        row.number,
        row.name,
        row.roles,
        row.disabled,
        int(row.card is not None),
        row.version,
        row.seal(),
        "",
    )
    new = new._replace(hash=new.chained_to(before))
    connection.execute(f"INSERT INTO audit_log VALUES ({', '.join('?' * len(new))})", new)  # noqa: S608 - marks


def _who() -> str:
    """The operating system's user; "tove as punto" if the system knows that it is someone else who logged in (sudo)."""
    try:
        user = pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        user = f"uid {os.geteuid()}"
    with suppress(OSError):
        if (login := os.getlogin()) != user:
            return f"{login} as {user}"
    return user


def _check_log(connection: sqlite3.Connection, path: Path) -> None:
    wrong = _what_is_wrong(connection)
    if wrong is not None:
        raise AccountsError(
            f"the audit log of {path} was tampered with: {wrong}. Keep this file as evidence and find out who had write access; "
            "then restore a backup, or start a new file and make the accounts again"
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
    for place, each in enumerate(_log(connection), start=1):
        if (each.entry, each.hash) != (place, each.chained_to(before)):
            return f"entry {place} is missing or does not follow from the one before"
        before = each.hash
    return None


def _written(roles: Iterable[Role]) -> str:
    return " ".join(dict.fromkeys(roles))


def hash_of_token(token: str) -> str:
    """What is kept of a browser's or a session's random token."""
    return sha256(token.encode()).hexdigest()


@contextmanager
def _using(path: Path, what: str = "read or written") -> Iterator[None]:
    """Have people told that the file cannot be used so, where it cannot."""
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise AccountsError(
            f"the accounts {path} cannot be {what}: {reason}; check the path, its owner and the disk"
        ) from error
