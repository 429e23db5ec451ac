"""The log of all changes of accounts: what it has, that it only grows, and accounts that do not follow from it."""

import os
import pwd
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime

import pytest

from punto.controller.accounts import file as accounts_file
from punto.controller.accounts.accounts import Accounts
from punto.controller.accounts.passwords import verified
from punto.controller.accounts.refusals import AccountsError
from punto.controller.accounts.roles import Role
from punto.messages.building import timestamp
from tests.consoles.consoles import NOW, PASSWORD
from tests.controller.accounts.test_cards import CARD
from tests.controller.accounts.test_operators_command import punto


def _changed_in_every_way(accounts: Accounts) -> None:
    accounts.add("Mei", [Role.DEALER], PASSWORD, NOW)
    accounts.add("Ann", [Role.SUPERVISOR, Role.AUDITOR], PASSWORD, NOW)
    accounts.set_roles("Mei", [Role.TECHNICIAN])
    accounts.set_password("mei", "another password")
    accounts.set_disabled("Mei", disabled=True)
    accounts.set_disabled("Mei", disabled=False)
    accounts.enroll("Ann", CARD)
    accounts.remove_card("Ann")


def test_every_change_of_an_account_is_in_the_log_with_who_made_it_and_when(accounts, tmp_path):
    begun = timestamp(datetime.now(UTC))
    _changed_in_every_way(accounts)
    user = pwd.getpwuid(os.geteuid()).pw_name
    log = accounts.log()

    assert [
        (each.what, each.number, each.name, each.roles, each.disabled, each.card, each.version)
        for each in log
    ] == [
        ("add", 1, "Mei", "dealer", 0, 0, 1),
        ("add", 2, "Ann", "supervisor auditor", 0, 0, 1),
        ("roles", 1, "Mei", "technician", 0, 0, 2),
        ("password", 1, "Mei", "technician", 0, 0, 3),
        ("disable", 1, "Mei", "technician", 1, 0, 4),
        ("enable", 1, "Mei", "technician", 0, 0, 5),
        ("card", 2, "Ann", "supervisor auditor", 0, 1, 2),
        ("card --remove", 2, "Ann", "supervisor auditor", 0, 0, 3),
    ]
    assert {each.who for each in log} <= {user, f"{_login()} as {user}"}
    assert begun <= log[0].at <= log[-1].at <= timestamp(datetime.now(UTC))
    shown = repr(log)
    with closing(sqlite3.connect(tmp_path / "operators.db")) as database:
        secrets = [hash_ for (hash_,) in database.execute("SELECT hash FROM accounts")]
    assert not any(secret in shown for secret in (PASSWORD, "another password", CARD, *secrets))


def _login() -> str | None:
    try:
        return os.getlogin()
    except OSError:
        return None


def test_a_change_that_is_refused_is_not_in_the_log(accounts):
    _changed_in_every_way(accounts)
    before = accounts.log()
    for refused in (
        lambda: accounts.add("mei", [Role.EXECUTIVE], PASSWORD, NOW),
        lambda: accounts.set_roles("Nobody", [Role.EXECUTIVE]),
        lambda: accounts.set_password("Mei", "password"),
        lambda: accounts.remove_card("Ann"),
    ):
        with pytest.raises(AccountsError):
            refused()

    assert accounts.log() == before


def test_a_sign_on_does_not_change_the_log(accounts):
    _changed_in_every_way(accounts)
    before = accounts.log()
    mei = accounts.find("Mei")
    accounts.signed_on(mei, NOW, "a browser")

    assert accounts.log() == before
    assert not accounts.find("Mei").altered


_AFTER_ENTRY = "at, who, what, number, name, roles, disabled, card, version, seal, hash"


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit_log SET who = 'nobody' WHERE entry = 2",
        "DELETE FROM audit_log WHERE entry = 8",
        "DELETE FROM audit_log",
        "INSERT OR REPLACE INTO audit_log SELECT * FROM audit_log WHERE entry = 2",
        f"INSERT INTO audit_log SELECT 99, {_AFTER_ENTRY} FROM audit_log WHERE entry = 1",  # noqa: S608 - a test's
    ],
)
def test_the_file_itself_refuses_to_change_its_log(statement, accounts, tmp_path):
    _changed_in_every_way(accounts)
    with (
        closing(sqlite3.connect(tmp_path / "operators.db", isolation_level=None)) as database,
        pytest.raises(sqlite3.IntegrityError, match="audit log"),
    ):
        database.execute(statement)


def _past_the_triggers(statement: str) -> str:
    off = "DROP TRIGGER log_stays; DROP TRIGGER log_is_kept; DROP TRIGGER log_grows"
    return ";".join([off, statement, *accounts_file._LOG[-3:], ""])


@pytest.mark.parametrize(
    ("tampering", "wrong"),
    [
        *(
            (
                _past_the_triggers(statement),
                f"entry {entry} is missing or does not follow from the entry before",
            )
            for entry, statement in (
                (2, "UPDATE audit_log SET who = 'nobody' WHERE entry = 2"),
                (3, "UPDATE audit_log SET roles = 'executive' WHERE entry = 3"),
                (8, "UPDATE audit_log SET seal = '' WHERE entry = 8"),
                (1, "DELETE FROM audit_log WHERE entry = 1"),
                (4, "DELETE FROM audit_log WHERE entry = 4"),
                (
                    4,
                    "DELETE FROM audit_log WHERE entry = 4; UPDATE audit_log SET entry = entry - 1 WHERE entry > 4",
                ),
                (9, f"INSERT INTO audit_log SELECT 9, {_AFTER_ENTRY} FROM audit_log WHERE entry = 8"),  # noqa: S608 - a test's
            )
        ),
        (_past_the_triggers("").partition(";;")[0], "its table or its triggers differ"),
        ("DROP TRIGGER log_stays; CREATE TRIGGER log_stays BEFORE UPDATE ON audit_log BEGIN SELECT 1; END;", "its table or its triggers"),
        ("CREATE TRIGGER swallow BEFORE UPDATE ON accounts BEGIN SELECT RAISE(IGNORE); END;", "its table or its triggers"),
    ],
)  # fmt: skip
def test_a_file_whose_log_was_tampered_with_is_refused_with_what_to_do(tampering, wrong, accounts, tmp_path):
    _changed_in_every_way(accounts)
    with closing(sqlite3.connect(tmp_path / "operators.db", isolation_level=None)) as database:
        database.executescript(tampering)

    with pytest.raises(
        AccountsError, match=f"was tampered with: {wrong}.* Keep this file as evidence.*restore a backup"
    ):
        Accounts.open(tmp_path / "operators.db")
    status, _, err = punto(tmp_path, "list")
    assert (status, err.count("\n")) == (1, 1)
    assert wrong in err


_ALTERED = [
    "UPDATE accounts SET roles = 'executive' WHERE name = 'Mei'",
    "UPDATE accounts SET roles = 'executive', version = version + 1 WHERE name = 'Mei'",
    "UPDATE accounts SET roles = 'king' WHERE name = 'Mei'",
    "UPDATE accounts SET disabled = 1 WHERE name = 'Mei'",
    "UPDATE accounts SET version = 1 WHERE name = 'Mei'",
    "UPDATE accounts SET hash = (SELECT hash FROM accounts WHERE name = 'Ann') WHERE name = 'Mei'",
    "UPDATE accounts SET card = x'00' WHERE name = 'Mei'",
    "UPDATE accounts SET number = 7 WHERE name = 'Mei'",
    "UPDATE accounts SET name = 'Mel' WHERE name = 'Mei'",
]


@pytest.mark.parametrize("statement", _ALTERED)
def test_an_account_that_was_changed_past_the_log_is_found_and_can_do_nothing(statement, accounts, tmp_path):
    _changed_in_every_way(accounts)
    with closing(sqlite3.connect(tmp_path / "operators.db", isolation_level=None)) as database:
        database.execute(statement)

    with closing(Accounts.open(tmp_path / "operators.db")) as again:
        ann, mei = again.all()
        assert (ann.altered, mei.altered, mei.roles) == (False, True, ())
        assert mei.name in again.not_as_logged()
        with pytest.raises(AccountsError, match="does not match the audit log"):
            again.set_password("Mei", "another password")
        again.restore("Mei", PASSWORD)
        _, restored = again.all()
        assert (restored.name, restored.roles, restored.disabled) == ("Mei", (Role.TECHNICIAN,), False)
        assert (restored.number, restored.version, restored.altered) == (1, 6, False)
        assert verified(again.hash_of(restored), PASSWORD)
        assert again.not_as_logged() == []
        assert again.log()[-1].what == "restore"


def test_an_account_that_was_taken_away_past_the_log_is_missed_and_can_be_restored(accounts, tmp_path):
    _changed_in_every_way(accounts)
    with closing(sqlite3.connect(tmp_path / "operators.db", isolation_level=None)) as database:
        database.execute("DELETE FROM accounts WHERE name = 'Mei'")

    assert accounts.not_as_logged() == ["Mei"]
    with pytest.raises(AccountsError, match="there is an account 'Mei' already"):
        accounts.add("Mei", [Role.EXECUTIVE], PASSWORD, NOW)
    accounts.restore("mei", PASSWORD)
    assert accounts.find("Mei").roles == (Role.TECHNICIAN,)


def test_an_account_that_the_log_does_not_have_is_not_valid(accounts, tmp_path):
    _changed_in_every_way(accounts)
    with closing(sqlite3.connect(tmp_path / "operators.db", isolation_level=None)) as database:
        database.execute(
            "INSERT INTO accounts (folded, name, roles, hash, created, number) "
            "SELECT 'eve', 'Eve', 'executive', hash, created, 3 FROM accounts WHERE name = 'Mei'"
        )

    assert accounts.find("Eve").altered
    assert accounts.not_as_logged() == ["Eve"]
    with pytest.raises(AccountsError, match="the audit log has no account 'Eve'"):
        accounts.restore("Eve", PASSWORD)


def test_the_card_of_an_altered_account_is_nobodys(accounts, tmp_path):
    accounts.add("Mei", [Role.SUPERVISOR], PASSWORD, NOW)
    accounts.enroll("Mei", CARD)
    with closing(sqlite3.connect(tmp_path / "operators.db", isolation_level=None)) as database:
        database.execute("UPDATE accounts SET roles = 'executive'")

    assert accounts.owner_of(CARD) is None


def test_what_is_as_the_log_says_is_not_restored(accounts):
    accounts.add("Mei", [Role.DEALER], PASSWORD, NOW)
    with pytest.raises(AccountsError, match="'Mei' matches the audit log"):
        accounts.restore("Mei", PASSWORD)


def test_changes_at_the_same_time_are_one_chain(tmp_path):
    path = tmp_path / "operators.db"
    with closing(Accounts.open(path)) as accounts:
        accounts.add("Mei", [Role.DEALER], PASSWORD, NOW)

    def change(n: int) -> None:
        with closing(Accounts.open(path)) as mine:
            mine.set_disabled("Mei", disabled=bool(n % 2))

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(change, range(16)))
    with closing(Accounts.open(path)) as accounts:
        assert [each.version for each in accounts.log()] == list(range(1, 18))
