"""Operators' accounts, in an SQLite file of their own: names, roles, hashes of passwords and of cards, never on the record.

`punto operators` writes it on the table's PC, and the service reads it while that goes on. The service writes sign-ons,
and the security keys that their owners add.
"""

import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from json import dumps, loads
from pathlib import Path
from typing import Final, Self

from punto.controller.accounts import file
from punto.controller.accounts.passwords import checked_name, folded, hash_of_card, hash_of_token, hashed
from punto.controller.accounts.refusals import AccountsError
from punto.controller.accounts.roles import Role
from punto.controller.accounts.security_keys import SecurityKey
from punto.drivers.card_reader.number import card_number

_KNOWN_BROWSERS: Final = 20
"""The browsers that are remembered for each account. One more replaces the one with the oldest sign-on."""


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


class Accounts:
    """The accounts' file, open.

    Each method raises AccountsError if the file cannot be read or written. One that changes an account raises it too if
    there is no such account, or it does not match the audit log.
    """

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
        with file.using(path, "opened"), ExitStack() as unless_opened:
            os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
            connection = unless_opened.enter_context(closing(sqlite3.connect(path, isolation_level=None)))
            file.check_or_upgrade(connection, path)
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
        """The account of this name, however its letters are written, small or capital; None where there is none."""
        return next(iter(self._read("WHERE folded = ?", folded(name))), None)

    def all(self) -> list[Account]:
        """Every account, by name."""
        return self._read("ORDER BY folded")

    def log(self) -> list[file.LogEntry]:
        """The audit log, the oldest entry first."""
        with file.using(self._path):
            return file.entries(self._connection)

    def not_as_logged(self) -> list[str]:
        """The names of accounts that do not match the audit log, or that it has and the file has not."""
        found = {each.name: each.altered for each in self.all()}
        gone = {each.name for each in self.log()} - found.keys()
        return sorted(gone | {name for name, altered in found.items() if altered})

    def known_at(self, browser: str) -> frozenset[int]:
        """The numbers of the accounts that have signed on in the browser with this token."""
        found = self._do("SELECT number FROM browsers WHERE hash = ?", hash_of_token(browser))
        return frozenset(number for (number,) in found)

    def hash_of(self, account: Account) -> str:
        """The hash of an account's password.

        Raises:
            AccountsError: the account is not there any more.
        """
        for (found,) in self._do("SELECT hash FROM accounts WHERE folded = ?", folded(account.name)):
            return str(found)
        raise AccountsError(f"there is no account {account.name!r} any more")

    def owner_of(self, number: str) -> Account | None:
        """The account that has the card of this number; None where none has, or one that is disabled.

        In any thread, for it has a connection of its own; best in another than the event loop's, for it takes tens of
        milliseconds.
        """
        hash_ = hash_of_card(number, self._card_secret)
        with self._connection_of_its_own() as connection:
            found = _accounts(connection, "WHERE card = ? AND NOT disabled", hash_)
        return next((each for each in found if not each.altered), None)

    def _read(self, where: str, *values: str | bytes) -> list[Account]:
        with file.using(self._path):
            return _accounts(self._connection, where, *values)

    # --- changing

    def add(
        self, name: str, roles: Iterable[Role], password: str, now: str, *, hash_: str | None = None
    ) -> None:
        """Make an account; `hash_` is the password's, where it is known already.

        Raises:
            AccountsError: the name or the password cannot be used, or the name is taken or looks like another.
        """
        from punto.controller.accounts.look_alikes import alike  # noqa: PLC0415 - the service makes no accounts

        name = checked_name(name)
        hash_ = hash_ or hashed(password, name)
        with self._writing():
            known: list[file.LogEntry | Account] = [*self.log(), *self.all()]
            for other in sorted({each.name for each in known}):
                if folded(other) == folded(name):
                    raise AccountsError(f"there is an account {other!r} already: take another name")
                if alike(other, name):
                    raise AccountsError(f"{name!r} looks like the account {other!r}: choose another name")
            number = 1 + max((each.number for each in known), default=0)
            self._put(file.Row(folded(name), name, _written(roles), hash_, 0, now, 1, None, number), "add")

    def set_disabled(self, name: str, *, disabled: bool) -> None:
        """Let an account in no more, or again."""
        self._change(name, "disable" if disabled else "enable", disabled=int(disabled))

    def set_password(self, name: str, password: str) -> None:
        """Give an account another password.

        Raises:
            AccountsError: the password cannot be used.
        """
        self._change(name, "password", hash=hashed(password, name))

    def set_roles(self, name: str, roles: Iterable[Role]) -> None:
        """Give an account these roles in place of those that it had."""
        self._change(name, "roles", roles=_written(roles))

    def enroll(self, name: str, number: str) -> None:
        """Give an account the card of this number, in place of one that it has.

        Raises:
            AccountsError: another account has this card, or it is no card's number.
        """
        try:
            hash_ = hash_of_card(card_number(number), self._card_secret)
        except ValueError as error:
            raise AccountsError(str(error)) from error
        for other in self._read("WHERE card = ? AND folded != ?", hash_, folded(name)):
            raise AccountsError(f"this card is {other.name!r}'s: remove it there first")
        self._change(name, "card", card=hash_)

    def remove_card(self, name: str) -> None:
        """Take an account's card from it, so that the card is nobody's; raises AccountsError if it has none."""
        self._change(name, "card --remove", card=None)

    def add_key(self, name: str, key: SecurityKey, sign_count: int, who: str) -> None:
        """Give an account its security key; `who` is noted in the log."""
        self._do("UPDATE accounts SET sign_count = ? WHERE folded = ?", sign_count, folded(name))
        self._change(name, "key", who, security_key=dumps(key))

    def remove_key(self, name: str) -> None:
        """Take an account's security key from it; raises AccountsError if it has none."""
        self._change(name, "key --remove", security_key=None)

    def counts_up(self, account: Account, sign_count: int) -> bool:
        """Take the sign count of an account's key; False if it is not above the last one: two keys have the same secret.

        A key that does not count always says 0. In any thread, for it has a connection of its own.
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

    def signed_on(self, account: Account, now: str, browser: str) -> None:
        """Note when an account last signed on, and in the browser with which token.

        In any thread, for it has a connection of its own.
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
            (row,) = file.rows(self._connection, "WHERE folded = ?", folded(name))
            for column, value in columns.items():
                if value is None and getattr(row, column) is None:
                    raise AccountsError(f"{account.name!r} has no {column.replace('_', ' ')}")
            # A key lets nobody sign on: it ends no session, and lifts no lock-out.
            version = row.version + ("security_key" not in columns)
            self._put(row._replace(version=version, **columns), what, who)  # type: ignore[arg-type] # five literals

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
        with file.using(self._path):
            return self._connection.execute(statement, values)

    @contextmanager
    def _connection_of_its_own(self) -> Iterator[sqlite3.Connection]:
        """A connection for any thread; what is written with it is written together."""
        with file.using(self._path), closing(sqlite3.connect(self._path)) as connection, connection:
            yield connection


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
        row.number or 0,
        altered,
        None if altered or row.security_key is None else SecurityKey(*loads(row.security_key)),
    )


def _written(roles: Iterable[Role]) -> str:
    return " ".join(dict.fromkeys(roles))
