"""Operators' accounts, in an SQLite file of their own: names, roles, hashes of passwords and cards. They are not on the record.

`punto operators` writes the file on the table's PC while the service reads it. The service writes sign-ons, and the
security keys that their owners add.
"""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from hashlib import sha256
from json import dumps, loads
from pathlib import Path
from typing import Final, Self

import structlog

from punto.configs.characters import folded
from punto.configs.problems import ConfigError, Problem
from punto.controller.accounts import file
from punto.controller.accounts.house import ROOM, CopiedAccount, CopyError, HouseCopy
from punto.controller.accounts.passwords import checked_name, hash_of_card, hash_of_token, hashed
from punto.controller.accounts.refusals import AccountsError
from punto.controller.accounts.roles import Role
from punto.controller.accounts.security_keys import SecurityKey
from punto.drivers.card_reader.number import SHORTEST_ENROLLED, card_number
from punto.messages.bounds import LONGEST_PAYLOAD
from punto.runtime.made_files import reserve

_KNOWN_BROWSERS: Final = 20
"""The number of browsers that are remembered for each account. A new one replaces the one with the oldest sign-on."""
HOUSE_KEEPS: Final = (
    "the house's Game Manager keeps the accounts of this table: change them there, with `punto operators --config game-manager.toml`. "
    "The change is here within seconds"
)
"""Why an account cannot be changed at a table of a house."""

_log = structlog.get_logger("punto.controller")


@dataclass(frozen=True, slots=True)
class Account:
    """An operator's account. Times are UTC.

    `version` counts the changes of password, roles, `disabled` and card. `number` counts from 1 and is never used again.
    An `altered` account does not match the audit log: it has no roles here and cannot sign on.
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


class Accounts:
    """The open accounts' file.

    Each method raises AccountsError if the file cannot be read or written. A method that changes an account also raises it
    if there is no such account, or if the account does not match the audit log.
    """

    def __init__(self, connection: sqlite3.Connection, path: Path, card_secret: bytes) -> None:
        self._connection = connection
        self._path = path
        self._card_secret = card_secret

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open the file, or create it; only its owner may read it.

        Raises:
            AccountsError: the file cannot be opened, or is not a file of accounts.
        """
        with file.using(path, "opened"), ExitStack() as unless_opened:
            reserve(path)
            connection = unless_opened.enter_context(closing(sqlite3.connect(path, isolation_level=None)))
            file.check(connection, path)
            file.check_log(connection, path)
            (card_secret,) = connection.execute("SELECT secret FROM card_secret").fetchone()
            unless_opened.pop_all()
        return cls(connection, path, card_secret)

    def again(self) -> Self:
        """The same file opened again, for another thread."""
        return self.open(self._path)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    # --- reading

    def find(self, name: str) -> Account | None:
        """The account of this name in small or capital letters, or None."""
        return next(iter(self._read("WHERE folded = ?", folded(name))), None)

    def all(self) -> list[Account]:
        """All accounts, by name."""
        return self._read("ORDER BY folded")

    def log(self) -> list[file.LogEntry]:
        """The audit log, the oldest entry first."""
        with file.using(self._path):
            return file.entries(self._connection)

    def not_as_logged(self) -> list[str]:
        """The names of accounts that do not match the audit log, or that only the log has."""
        found = {each.name: each.altered for each in self.all()}
        gone = {each.name for each in self.log()} - found.keys()
        return sorted(gone | {name for name, altered in found.items() if altered})

    def known_at(self, browser: str) -> frozenset[int]:
        """The numbers of the accounts that have signed on in the browser with this token before."""
        found = self._do("SELECT number FROM browsers WHERE hash = ?", hash_of_token(browser))
        return frozenset(number for (number,) in found)

    def hash_of(self, account: Account) -> str:
        """The hash of an account's password; raises AccountsError if the account no longer exists."""
        for (found,) in self._do("SELECT hash FROM accounts WHERE folded = ?", folded(account.name)):
            return str(found)
        raise AccountsError(f"the account {account.name!r} no longer exists")

    def owner_of(self, number: str) -> Account | None:
        """The account with the card of this number; None if there is no such account, or it is disabled.

        It has its own connection and works in any thread. Do not call it in the event loop: it takes tens of milliseconds.
        """
        with self._connection_of_its_own() as connection:
            # Not the one from the start: the house may have sent another.
            (secret,) = connection.execute("SELECT secret FROM card_secret").fetchone()
            hash_ = hash_of_card(number, secret)
            found = _accounts(connection, "WHERE card = ? AND NOT disabled", hash_)
        return next((each for each in found if not each.altered), None)

    def _read(self, where: str, *values: str | bytes) -> list[Account]:
        with file.using(self._path):
            return _accounts(self._connection, where, *values)

    # --- changing

    def add(
        self, name: str, roles: Iterable[Role], password: str, now: str, *, hash_: str | None = None
    ) -> None:
        """Make an account; `hash_` is the password's hash if it is already known.

        Raises:
            AccountsError: the name or the password is invalid, or the name is taken or looks like another.
        """
        from punto.controller.accounts.look_alikes import alike  # noqa: PLC0415 - the service makes no accounts

        name = checked_name(name)
        hash_ = hash_ or hashed(password, name)
        with self._changing():
            known: list[file.LogEntry | Account] = [*self.log(), *self.all()]
            for other in sorted({each.name for each in known}):
                if folded(other) == folded(name):
                    raise AccountsError(f"there is an account {other!r} already: take another name")
                if alike(other, name):
                    raise AccountsError(f"{name!r} looks like the account {other!r}: choose another name")
            number = 1 + max((each.number for each in known), default=0)
            self._put(file.Row(folded(name), name, _written(roles), hash_, 0, now, 1, None, number), "add")
            self._check_size()

    def set_disabled(self, name: str, *, disabled: bool) -> None:
        """Disable an account, or enable it again."""
        self._change(name, "disable" if disabled else "enable", disabled=int(disabled))

    def set_password(self, name: str, password: str) -> None:
        """Change an account's password; raises AccountsError if the new one is invalid."""
        self._change(name, "password", hash=hashed(password, name))

    def set_roles(self, name: str, roles: Iterable[Role]) -> None:
        """Replace an account's roles."""
        self._change(name, "roles", roles=_written(roles))

    def enroll(self, name: str, number: str) -> None:
        """Give an account the card of this number; it replaces an earlier card.

        Raises:
            AccountsError: another account has this card, or the number is not a card's.
        """
        try:
            given = card_number(number)
        except ValueError as error:
            raise AccountsError(str(error)) from error
        if len(given.partition("=")[0]) < SHORTEST_ENROLLED:
            raise AccountsError(
                f"a person's card needs at least {SHORTEST_ENROLLED} digits, so that nobody can guess it"
            )
        hash_ = hash_of_card(given, self._card_secret)
        for other in self._read("WHERE card = ? AND folded != ?", hash_, folded(name)):
            raise AccountsError(
                f"this card belongs to the account {other.name!r}: remove it from that account first"
            )
        self._change(name, "card", card=hash_)

    def remove_card(self, name: str) -> None:
        """Remove an account's card, which then has no owner; raises AccountsError if it has no card."""
        self._change(name, "card --remove", card=None)

    def add_key(self, name: str, key: SecurityKey, sign_count: int, who: str) -> None:
        """Give an account its security key; the log has `who` added it."""
        self._change(name, "key", who, security_key=dumps(key))
        self._do("UPDATE accounts SET sign_count = ? WHERE folded = ?", sign_count, folded(name))

    def remove_key(self, name: str) -> None:
        """Remove an account's security key; raises AccountsError if it has no key."""
        self._change(name, "key --remove", security_key=None)

    def counts_up(self, account: Account, sign_count: int) -> bool:
        """Store the sign count of an account's key; False if it is not above the last one: two keys have the same secret.

        The count of a key that does not count is always 0. It has its own connection and works in any thread.
        """
        with self._connection_of_its_own() as connection:
            taken = connection.execute(
                "UPDATE accounts SET sign_count = ?1 WHERE number = ?2 AND (sign_count < ?1 OR sign_count + ?1 = 0)",
                (sign_count, account.number),
            )
            return taken.rowcount == 1

    def restore(self, name: str, password: str) -> None:
        """Restore an account that does not match the audit log from the log, with this password, no card and no key.

        Raises:
            AccountsError: the log has no such account, the account matches it, or the password is invalid.
        """
        hash_ = hashed(password, name)
        with self._changing():
            its = [each for each in self.log() if folded(each.name) == folded(name)]
            if not its:
                raise AccountsError(
                    f"the audit log has no account {name!r}: `punto operators` never made it, so it cannot be restored"
                )
            at, last, account = its[0].at, its[-1], self.find(name)
            if account is not None and not account.altered:
                raise AccountsError(f"{account.name!r} matches the audit log: there is nothing to restore")
            key = folded(last.name)
            self._do("DELETE FROM accounts WHERE number = ? OR folded = ?", last.number, key)
            version = last.version + 1
            row = file.Row(
                key, last.name, last.roles, hash_, last.disabled, at, version, card=None, number=last.number
            )
            self._put(row, "restore")

    # --- the accounts of a whole house

    def version(self) -> int:
        """The number of changes of all accounts: the number of the log's last entry."""
        return int(self._do("SELECT coalesce(max(entry), 0) FROM audit_log").fetchone()[0])

    def is_copy(self) -> bool:
        """Whether these are the accounts of a house, which its Game Manager keeps."""
        return self._do("SELECT 1 FROM house_copy").fetchone() is not None

    def house_version(self) -> int:
        """The version of the house's accounts that this is a copy of, 0 if there is none yet."""
        found = self._do("SELECT version FROM house_copy").fetchone()
        return 0 if found is None else int(found[0])

    def copy(self) -> HouseCopy:
        """All accounts for the tables, without those that do not match the audit log: a table keeps its earlier copy of these."""
        altered = {each.number for each in self.all() if each.altered}
        with file.using(self._path):
            rows = file.rows(self._connection, "ORDER BY number")
        return HouseCopy(
            version=self.version(),
            card_secret=self._card_secret,
            accounts=tuple(CopiedAccount(**row._asdict()) for row in rows if row.number not in altered),
        )

    def adopt(self, copy: HouseCopy) -> bool:
        """Take over the house's accounts, whole or not at all; False if nothing had to be changed.

        Raises:
            CopyError: the file has a later copy, or another one of this version.
            AccountsError: the file has accounts of its own.
        """
        rows = [file.Row(**dict(each)) for each in copy.accounts]
        seals = "".join(row.seal() for row in rows)
        digest = sha256(copy.card_secret + seals.encode()).hexdigest()
        with self._writing():
            held = self._do("SELECT version, digest FROM house_copy").fetchone()
            if held is None and self.version() > 0:
                raise AccountsError(
                    f"{self._path} has accounts of this table, and the house's cannot be added: give [accounts] the path of a new file"
                )
            if held is not None and (
                held[0] > copy.version or (held[0] == copy.version and held[1] != digest)
            ):
                raise CopyError(
                    "stale", f"it has version {copy.version}, and this table has version {held[0]} already"
                )
            for each in self.all():
                if each.altered:  # by somebody who is not of the house
                    self._do("DELETE FROM accounts WHERE number = ?", each.number)
            known = {row.number: row for row in file.rows(self._connection, "")}
            new = [row for row in rows if known.get(row.number) != row]
            for row in new:
                # Two accounts may exchange their cards.
                self._do("UPDATE accounts SET card = NULL WHERE number = ?", row.number)
                if row.number in known and known[row.number].security_key != row.security_key:
                    self._do("UPDATE accounts SET sign_count = 0 WHERE number = ?", row.number)
            for row in new:
                self._put(row, f"house copy {copy.version}", "the house")
            self._do("UPDATE card_secret SET secret = ?", copy.card_secret)
            self._do("INSERT OR REPLACE INTO house_copy VALUES (1, ?, ?)", copy.version, digest)
        return bool(new)

    def signed_on(self, account: Account, now: str, browser: str) -> None:
        """Store an account's last sign-on, and the token of its browser.

        It has its own connection and works in any thread.
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
        with self._changing():
            account = self.find(name)
            if account is None:
                known = ", ".join(repr(each.name) for each in self.all()) or "none"
                raise AccountsError(f"there is no account {name!r}; there are: {known}")
            if account.altered:
                raise AccountsError(
                    f"{account.name!r} does not match the audit log: someone changed it without `punto operators`. Find out who, "
                    "then bring the account back with `punto operators restore`"
                )
            (row,) = file.rows(self._connection, "WHERE folded = ?", folded(name))
            for column, value in columns.items():
                if value is None and getattr(row, column) is None:
                    raise AccountsError(f"{account.name!r} has no {column.replace('_', ' ')}")
            # A security key is not used to sign on, so a change of it ends no session and no lock-out.
            version = row.version + ("security_key" not in columns)
            self._put(row._replace(version=version, **columns), what, who)  # type: ignore[arg-type] # five literals
            if columns.get("card") is not None or columns.get("security_key") is not None:
                self._check_size()

    def _put(self, row: file.Row, what: str, who: str | None = None) -> None:
        """Write an account's row and its entry in the log, within `_writing`."""
        columns = ", ".join(file.Row._fields)
        held = ", ".join("?" * len(file.Row._fields))
        others = ", ".join(f"{each} = excluded.{each}" for each in file.Row._fields[1:])
        self._do(
            f"INSERT INTO accounts ({columns}) VALUES ({held}) ON CONFLICT (folded) DO UPDATE SET {others}",  # noqa: S608 - the fields above
            *row,
        )
        file.note(self._connection, row, what, who)

    def _check_size(self) -> None:
        """Whether the tables of a house can still get all accounts, within `_changing`."""
        if (size := self.copy().size()) > LONGEST_PAYLOAD - ROOM:
            raise AccountsError(
                f"there are too many accounts: their copy for the tables would have {size} bytes, and the broker takes "
                f"{LONGEST_PAYLOAD}. Remove the cards and security keys of people who have left, or use several Game Managers"
            )

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """One transaction that changes an account here; raises AccountsError if the house's Game Manager keeps the accounts."""
        with self._writing():
            if self.is_copy():
                raise AccountsError(HOUSE_KEEPS)
            yield

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """One transaction: everything in the block is written, or nothing."""
        self._do("BEGIN IMMEDIATE")
        try:
            yield
            self._do("COMMIT")
        finally:
            if self._connection.in_transaction:
                self._connection.rollback()

    def _do(self, statement: str, *values: str | int | bytes | None) -> sqlite3.Cursor:
        with file.using(self._path):
            return self._connection.execute(statement, values)

    @contextmanager
    def _connection_of_its_own(self) -> Iterator[sqlite3.Connection]:
        """A connection for any thread, in one transaction."""
        with file.using(self._path), closing(sqlite3.connect(self._path)) as connection, connection:
            yield connection


def open_for_service(path: Path) -> Accounts:
    """The accounts' file of a service, with a warning in the log for each account that has a problem.

    Raises:
        ConfigError: the file cannot be opened.
    """
    try:
        accounts = Accounts.open(path)
    except AccountsError as error:
        raise ConfigError([Problem(str(error), key="accounts.path")]) from error
    for name in accounts.not_as_logged():
        _log.warning(
            "account does not match the audit log and cannot sign on: see `punto operators log`, then restore the account",
            account=name,
        )
    return accounts


def _accounts(connection: sqlite3.Connection, where: str, *values: str | bytes) -> list[Account]:
    columns = ", ".join(file.Row._fields)
    seal = "(SELECT seal FROM audit_log WHERE number = accounts.number ORDER BY entry DESC LIMIT 1)"
    found = connection.execute(f"SELECT {seal}, last_sign_on, {columns} FROM accounts {where}", values)  # noqa: S608 - literals
    return [_account(file.Row(*row), last_sign_on, seal) for seal, last_sign_on, *row in found]


def _account(row: file.Row, last_sign_on: str | None, seal: str | None) -> Account:
    altered = row.seal() != seal
    return Account(
        row.name,
        () if altered else tuple(Role(role) for role in row.roles.split()),
        bool(row.disabled),
        row.created,
        last_sign_on,
        row.version,
        row.card is not None,
        row.number,
        altered,
        None if altered or row.security_key is None else SecurityKey(*loads(row.security_key)),
    )


def _written(roles: Iterable[Role]) -> str:
    return " ".join(dict.fromkeys(roles))
