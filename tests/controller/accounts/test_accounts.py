"""Accounts: what the file holds, names, passwords and cards that can be used, and the command that makes them."""

import asyncio
import io
import os
import pty
import pwd
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, redirect_stderr, redirect_stdout
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

import pytest

from punto.commands.cli import main
from punto.controller.accounts import file as accounts_file
from punto.controller.accounts.accounts import Accounts
from punto.controller.accounts.passwords import verified
from punto.controller.accounts.refusals import AccountsError
from punto.controller.accounts.roles import Role
from punto.messages.building import timestamp
from tests.consoles.consoles import NOW, PASSWORD
from tests.controller.table_in_this_process import HERE
from tests.share import sampled


@pytest.fixture
def accounts(tmp_path: Path) -> Iterator[Accounts]:
    found = Accounts.open(tmp_path / "operators.db")
    yield found
    found.close()


def punto(folder: Path, *arguments: str, say: str = "") -> tuple[int, str, str]:
    """`punto operators` in this process: to start another takes many times as long as what it does."""
    said, complained = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(said), redirect_stderr(complained):
        patch.setattr(sys, "stdin", io.StringIO(say))
        try:
            status = main(["operators", "--accounts", str(folder / "operators.db"), *arguments])
        except SystemExit as refused:
            status = int(refused.code or 0)
    return status, said.getvalue(), complained.getvalue()


def test_there_is_no_account_that_nobody_made(accounts):
    assert accounts.all() == []


def test_a_password_is_kept_as_its_argon2id_hash_alone(accounts, tmp_path, costly_passwords):
    accounts.add("Mei", [Role.DEALER], PASSWORD, NOW)
    (account,) = accounts.all()
    hash_ = accounts.hash_of(account)

    assert hash_.startswith("$argon2id$v=19$")
    assert verified(hash_, PASSWORD)
    assert not verified(hash_, PASSWORD + " ")
    assert not any(PASSWORD.encode() in path.read_bytes() for path in tmp_path.iterdir())


def test_nobody_but_its_owner_may_read_the_file(accounts, tmp_path):
    accounts.add("Mei", [Role.DEALER], PASSWORD, NOW)
    before = os.umask(0)
    try:
        Accounts.open(tmp_path / "another.db").close()
    finally:
        os.umask(before)

    assert {path.stat().st_mode & 0o077 for path in tmp_path.iterdir()} == {0}


@pytest.mark.parametrize("name", ["Mei", "梅", "O'Neil", "Anna-Lena von Tal", "<b>Mei</b>", "x" * 40, "É"])
def test_names_are_as_people_have_them(name, accounts):
    accounts.add(name, [Role.DEALER], PASSWORD, NOW)

    assert accounts.find(name).name == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        "Mei ",
        " Mei",
        "Me  i",
        "Mei\n",
        "Mei\u200b",
        "\x00",
        "x" * 41,
        "\u202eieM",
        "M\u200dei",
        "M\u034fei",
        "Mei\ufe0f",
        "M\u3164i",
        "\u2800",
    ],
)
def test_a_name_that_could_be_taken_for_another_is_none(name, accounts):
    with pytest.raises(AccountsError, match="cannot be a name"):
        accounts.add(name, [Role.DEALER], PASSWORD, NOW)
    assert accounts.all() == []


@pytest.mark.parametrize("other", ["Mei", "MEI", "mei", "\uff2dei"])
def test_two_accounts_have_no_names_that_are_read_alike(other, accounts):
    accounts.add("Mei", [Role.DEALER], PASSWORD, NOW)
    with pytest.raises(AccountsError, match="there is an account 'Mei' already"):
        accounts.add(other, [Role.SUPERVISOR], PASSWORD, NOW)


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("Mei", "M\u0435i"),  # a Cyrillic e
        ("Mei", "\u039cei"),  # a Greek M
        ("MEI", "\u041c\u0415\u0406"),  # Cyrillic all through
        ("mei", "me\u0456"),
        ("Ann", "\u13aann"),  # a Cherokee A
        ("Omar", "0mar"),
        ("omar", "0mar"),
        ("Ill", "lll"),
        ("Karn", "Kam"),
        ("Li 1", "Li l"),
        ("O'Neil", "O\u2019Neil"),
        ("Li 1", "Li \u0661"),  # an Arabic 1, which is written from right to left
    ],
)
def test_two_accounts_have_no_names_that_look_alike(name, other, tmp_path):
    for file, first, second in (("one.db", name, other), ("two.db", other, name)):
        with closing(Accounts.open(tmp_path / file)) as accounts:
            accounts.add(first, [Role.SUPERVISOR], PASSWORD, NOW)
            with pytest.raises(
                AccountsError, match=f"{second!r} looks like the account {first!r}: choose another name"
            ):
                accounts.add(second, [Role.SUPERVISOR], PASSWORD, NOW)
            assert [each.name for each in accounts.all()] == [first]


@pytest.mark.parametrize(
    ("name", "other"),
    [("Ana", "Anna"), ("Jose", "Jos\u00e9"), ("Ann", "Anne"), ("Mei 1", "Mei 11"), ("梅", "海")],
)
def test_two_accounts_may_have_names_that_differ_by_what_is_seen(name, other, accounts):
    accounts.add(name, [Role.DEALER], PASSWORD, NOW)
    accounts.add(other, [Role.DEALER], PASSWORD, NOW)

    assert {each.name for each in accounts.all()} == {name, other}


def test_every_account_has_a_number_that_no_other_has_or_had(accounts, tmp_path):
    for name in ("Mei", "Ann", "Omar"):
        accounts.add(name, [Role.DEALER], PASSWORD, NOW)
    with closing(sqlite3.connect(tmp_path / "operators.db", isolation_level=None)) as database:
        database.execute("DELETE FROM accounts WHERE name = 'Omar'")
    accounts.add("Tove", [Role.DEALER], PASSWORD, NOW)

    assert {each.name: each.number for each in accounts.all()} == {"Mei": 1, "Ann": 2, "Tove": 4}


@pytest.mark.parametrize("password", ["", "1234567", "x" * 1025])
def test_a_password_has_at_least_eight_characters(password, accounts):
    with pytest.raises(AccountsError, match="a password has 8 to 1024 characters; this one has"):
        accounts.add("Mei", [Role.DEALER], password, NOW)
    accounts.add("Mei", [Role.DEALER], PASSWORD, NOW)
    with pytest.raises(AccountsError, match="a password has 8"):
        accounts.set_password("Mei", password)
    assert verified(accounts.hash_of(accounts.find("Mei")), PASSWORD)


@pytest.mark.parametrize(
    "password",
    [
        "password",
        "Password1",
        "P@ssw0rd",
        "passwordpassword",
        "12345678",
        "qwertyuiop",
        "letmein1",
        "baccarat",
        "aaaaaaaaaaaaaaaaaaaa",
        "abcdefgh",
        "x" * 1024,
        "Anna-Lena von Tal",
        "anna-lena von tal",
        "annalena",
        "lat nov anel-anna",
    ],
)
def test_a_password_that_is_guessed_first_is_refused_and_so_is_the_name(password, accounts):
    with pytest.raises(AccountsError, match="this password is among the first 1,000,000 guesses"):
        accounts.add("Anna-Lena von Tal", [Role.DEALER], password, NOW)
    assert accounts.all() == []
    accounts.add("Anna-Lena von Tal", [Role.DEALER], PASSWORD, NOW)
    with pytest.raises(AccountsError, match="this password is among the first"):
        accounts.set_password("Anna-Lena von Tal", password)


@pytest.mark.parametrize(
    "password", ["hY7-kq2m", "punto banco", "four words of mine", "café noir", "梅の花が咲いた頃"]
)
def test_no_password_is_refused_for_the_kinds_of_its_characters(password, accounts):
    accounts.add("Mei", [Role.DEALER], password, NOW)

    assert verified(accounts.hash_of(accounts.find("Mei")), password)


def test_a_password_is_the_same_however_its_accents_are_typed(accounts):
    accounts.add("Mei", [Role.DEALER], "caf\u00e9 noir", NOW)

    assert verified(accounts.hash_of(accounts.find("Mei")), "cafe\u0301 noir")


def test_every_change_of_an_account_gives_it_another_version(accounts):
    accounts.add("Mei", [Role.DEALER], PASSWORD, NOW)
    versions = [accounts.find("Mei").version]
    for change in (
        lambda: accounts.set_disabled("mei", disabled=True),
        lambda: accounts.set_disabled("mei", disabled=False),
        lambda: accounts.set_password("mei", "another password"),
        lambda: accounts.set_roles("mei", [Role.AUDITOR, Role.AUDITOR]),
        lambda: accounts.enroll("mei", CARD),
        lambda: accounts.remove_card("mei"),
    ):
        change()
        versions.append(accounts.find("Mei").version)
    accounts.signed_on(accounts.find("Mei"), NOW, "a browser")

    assert versions == [1, 2, 3, 4, 5, 6, 7]
    assert accounts.find("Mei").version == 7
    assert accounts.find("Mei").roles == (Role.AUDITOR,)


# --- cards

CARD, ANOTHER = "6000170042=2912", "6000170043=2912"


def test_a_card_belongs_to_the_account_that_it_was_given_to(accounts):
    accounts.add("Mei", [Role.SUPERVISOR], PASSWORD, NOW)
    accounts.add("Ann", [Role.EXECUTIVE], PASSWORD, NOW)
    assert accounts.owner_of(CARD) is None
    accounts.enroll("mei", CARD)
    accounts.enroll("Ann", ANOTHER)

    assert accounts.owner_of(CARD) == accounts.find("Mei")
    assert accounts.owner_of(ANOTHER) == accounts.find("Ann")
    assert accounts.owner_of("6000170044=2912") is None
    assert accounts.owner_of("6000170042") is None
    assert [each.has_card for each in accounts.all()] == [True, True]


@pytest.mark.parametrize("number", ["6" * 9, "6" * 9 + "=2912", ";" + "6" * 6 + "?"])
def test_a_persons_card_has_at_least_ten_digits(accounts, number):
    accounts.add("Mei", [Role.SUPERVISOR], PASSWORD, NOW)

    with pytest.raises(AccountsError, match="a person's card needs at least 10 digits"):
        accounts.enroll("Mei", number)

    accounts.enroll("Mei", "6" * 10)
    assert accounts.find("Mei").has_card


def test_a_card_is_typed_with_its_sentinels_or_without(accounts):
    accounts.add("Mei", [Role.SUPERVISOR], PASSWORD, NOW)
    accounts.enroll("Mei", f";{CARD}?")

    assert accounts.owner_of(CARD) == accounts.find("Mei")


def test_a_card_of_one_account_is_no_card_of_another(accounts):
    for name in ("Mei", "Ann"):
        accounts.add(name, [Role.SUPERVISOR], PASSWORD, NOW)
    accounts.enroll("Mei", CARD)
    with pytest.raises(
        AccountsError, match="this card belongs to the account 'Mei': remove it from that account first"
    ):
        accounts.enroll("Ann", CARD)
    accounts.enroll("Mei", CARD)  # which is its own
    accounts.set_disabled("Mei", disabled=True)
    with pytest.raises(AccountsError, match="this card belongs to the account 'Mei'"):
        accounts.enroll("Ann", CARD)

    accounts.remove_card("Mei")
    accounts.enroll("Ann", CARD)
    assert accounts.owner_of(CARD) == accounts.find("Ann")


def test_the_file_itself_refuses_a_card_on_two_accounts(accounts, tmp_path):
    for name in ("Mei", "Ann"):
        accounts.add(name, [Role.SUPERVISOR], PASSWORD, NOW)
    accounts.enroll("Mei", CARD)
    with (
        closing(sqlite3.connect(tmp_path / "operators.db")) as database,
        pytest.raises(sqlite3.IntegrityError),
    ):
        database.execute("UPDATE accounts SET card = (SELECT card FROM accounts WHERE name = 'Mei')")


def test_another_card_takes_the_place_of_the_one_before(accounts):
    accounts.add("Mei", [Role.SUPERVISOR], PASSWORD, NOW)
    accounts.enroll("Mei", CARD)
    accounts.enroll("Mei", ANOTHER)

    assert accounts.owner_of(CARD) is None
    assert accounts.owner_of(ANOTHER) == accounts.find("Mei")


def test_a_lost_card_is_nobodys(accounts):
    accounts.add("Mei", [Role.SUPERVISOR], PASSWORD, NOW)
    accounts.enroll("Mei", CARD)
    accounts.remove_card("mei")

    assert accounts.owner_of(CARD) is None
    assert not accounts.find("Mei").has_card
    with pytest.raises(AccountsError, match="'Mei' has no card"):
        accounts.remove_card("Mei")


def test_the_card_of_a_disabled_account_is_nobodys_until_it_is_enabled_again(accounts):
    accounts.add("Mei", [Role.SUPERVISOR], PASSWORD, NOW)
    accounts.enroll("Mei", CARD)
    accounts.set_disabled("Mei", disabled=True)
    assert accounts.owner_of(CARD) is None
    accounts.set_disabled("Mei", disabled=False)

    assert accounts.owner_of(CARD) == accounts.find("Mei")


@pytest.mark.parametrize("number", ["", "60001", "MEI'S CARD", "1" * 38])
def test_what_is_no_cards_number_is_refused_and_not_said(number, accounts):
    accounts.add("Mei", [Role.SUPERVISOR], PASSWORD, NOW)
    with pytest.raises(AccountsError, match="this is not a card's number") as error:
        accounts.enroll("Mei", number)

    assert not number or number not in str(error.value)
    assert not accounts.find("Mei").has_card


def test_a_card_is_kept_as_a_keyed_hash_alone(accounts, tmp_path):
    accounts.add("Mei", [Role.SUPERVISOR], PASSWORD, NOW)
    accounts.enroll("Mei", CARD)

    assert not any(CARD.encode() in path.read_bytes() for path in tmp_path.iterdir())
    with closing(sqlite3.connect(tmp_path / "operators.db")) as database:
        ((hash_,),) = database.execute("SELECT card FROM accounts")
        ((secret,),) = database.execute("SELECT secret FROM card_secret")
    assert (len(hash_), len(secret)) == (32, 32)
    assert hash_ not in {sha256(CARD.encode()).digest(), sha256(secret + CARD.encode()).digest()}


def test_a_card_has_another_hash_in_every_file(tmp_path):
    hashes = set()
    for name in ("one.db", "two.db"):
        with closing(Accounts.open(tmp_path / name)) as accounts:
            accounts.add("Mei", [Role.SUPERVISOR], PASSWORD, NOW)
            accounts.enroll("Mei", CARD)
        with closing(sqlite3.connect(tmp_path / name)) as database:
            hashes |= set(database.execute("SELECT card FROM accounts"))

    assert len(hashes) == 2


def test_the_hash_of_a_card_is_the_one_that_files_have(tmp_path, costly_passwords):
    """By another secret, another cost or another way no card would be anybody's any more."""
    path = tmp_path / "operators.db"
    Accounts.open(path).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("UPDATE card_secret SET secret = ?", (bytes(range(32)),))
    with closing(Accounts.open(path)) as accounts:
        accounts.add("Mei", [Role.SUPERVISOR], PASSWORD, NOW)
        accounts.enroll("Mei", CARD)
    with closing(sqlite3.connect(path)) as database:
        ((hash_,),) = database.execute("SELECT card FROM accounts")

    assert hash_.hex() == "c04ba5cb83063204d4d44db5859334151785af884c8a1149c7d1531db62a6504"


async def test_whose_card_it_is_can_be_asked_in_any_thread(accounts):
    accounts.add("Mei", [Role.SUPERVISOR], PASSWORD, NOW)
    accounts.enroll("Mei", CARD)

    assert await asyncio.to_thread(accounts.owner_of, CARD) == accounts.find("Mei")


# --- the audit log


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


def test_a_sign_on_is_no_change(accounts):
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


def test_an_account_that_the_log_does_not_have_is_no_account(accounts, tmp_path):
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


# --- the file


def test_a_new_file_can_be_opened_by_several_at_once(tmp_path):
    def secret(_: int) -> bytes:
        with closing(Accounts.open(tmp_path / "operators.db")) as accounts:
            return accounts._card_secret

    with ThreadPoolExecutor(8) as threads:
        assert len(set(threads.map(secret, range(8)))) == 1


def test_a_file_that_could_not_be_initialized_is_empty_and_can_be_opened_later(tmp_path, monkeypatch):
    path = tmp_path / "operators.db"

    def no_bytes(_: int) -> bytes:
        raise OSError("no randomness")

    with monkeypatch.context() as without:
        without.setattr("secrets.token_bytes", no_bytes)
        with pytest.raises(AccountsError, match="cannot be opened"):
            Accounts.open(path)
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("SELECT * FROM sqlite_schema").fetchall() == []

    with closing(Accounts.open(path)) as accounts:
        accounts.add("Mei", [Role.DEALER], PASSWORD, NOW)


def _no_folder(path: Path) -> None:
    del path


def _text(path: Path) -> None:
    path.write_text("the minutes of a meeting" * 1000)


def _folder(path: Path) -> None:
    path.mkdir()


def _other_database(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE minutes (text)")


def _other_format(path: Path) -> None:
    Accounts.open(path).close()
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA user_version = 5")


@pytest.mark.parametrize(
    ("make", "name", "sentence"),
    [
        (_no_folder, "none/operators.db", "cannot be opened: No such file or directory; check the path"),
        (_text, "operators.db", "cannot be opened: file is not a database"),
        (_folder, "operators.db", "cannot be opened: Is a directory"),
        (_other_database, "operators.db", "is an SQLite file without accounts: give another path"),
        (_other_format, "operators.db", "has accounts in format 5 and this program reads 1: use the version"),
    ],
)
def test_a_file_that_holds_no_accounts_is_left_as_it_is(make, name, sentence, tmp_path):
    path = tmp_path / name
    make(path)
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(AccountsError, match=sentence):
        Accounts.open(path)

    assert (path.read_bytes() if path.is_file() else None) == before


# --- punto operators


def test_the_command_makes_lists_and_changes_accounts(tmp_path):
    none = f"punto operators: there is no accounts' file at {tmp_path}/operators.db: make an account with `punto operators add`\n"
    assert punto(tmp_path, "list") == (1, "", none)
    assert punto(tmp_path, "add", "Mei", "--role", "dealer", say=f"{PASSWORD}\n") == (0, "", "")
    assert punto(tmp_path, "add", "Ann", "--role", "supervisor", "--role", "auditor", say=PASSWORD)[0] == 0
    assert punto(tmp_path, "roles", "Mei", "--role", "technician")[0] == 0
    assert punto(tmp_path, "disable", "ann")[0] == 0

    assert punto(tmp_path, "list")[1] == (
        "2\tAnn\tsupervisor, auditor\tdisabled\tlast sign-on never\tno card\tno key\n"
        "1\tMei\ttechnician\tenabled\tlast sign-on never\tno card\tno key\n"
    )
    assert punto(tmp_path, "enable", "Ann")[0] == 0
    assert "disabled" not in punto(tmp_path, "list")[1]
    assert punto(tmp_path, "password", "Mei", say="another password\n")[0] == 0
    with closing(Accounts.open(tmp_path / "operators.db")) as accounts:
        found = accounts.find("Mei")
        assert found is not None
        assert verified(accounts.hash_of(found), "another password")


def test_the_command_shows_the_log(tmp_path):
    assert punto(tmp_path, "add", "Mei", "--role", "dealer", "--role", "auditor", say=PASSWORD)[0] == 0
    assert punto(tmp_path, "disable", "Mei")[0] == 0
    status, out, err = punto(tmp_path, "log")
    with closing(Accounts.open(tmp_path / "operators.db")) as accounts:
        first, second = accounts.log()

    assert (status, err) == (0, "")
    assert out == (
        f"1\t{first.at}\t{first.who}\tadd\t1\tMei\tdealer, auditor\tenabled\tno card\t{first.hash}\n"
        f"2\t{second.at}\t{second.who}\tdisable\t1\tMei\tdealer, auditor\tdisabled\tno card\t{second.hash}\n"
    )


def test_the_command_tells_of_an_altered_account_and_restores_it(tmp_path):
    assert punto(tmp_path, "add", "Mei", "--role", "dealer", say=PASSWORD)[0] == 0
    with closing(sqlite3.connect(tmp_path / "operators.db", isolation_level=None)) as database:
        database.execute("UPDATE accounts SET roles = 'executive'")
    status, out, err = punto(tmp_path, "list")
    assert (status, out) == (0, "1\tMei\t\tenabled\tlast sign-on never\tno card\tno key\n")
    assert err.startswith("punto operators: 'Mei' does not match the log and cannot sign on")
    assert punto(tmp_path, "restore", "Mei", say=PASSWORD) == (0, "", "")

    assert punto(tmp_path, "list") == (
        0,
        "1\tMei\tdealer\tenabled\tlast sign-on never\tno card\tno key\n",
        "",
    )


def test_the_command_gives_and_takes_cards(tmp_path):
    assert punto(tmp_path, "add", "Mei", "--role", "supervisor", say=PASSWORD)[0] == 0
    assert punto(tmp_path, "card", "Mei", say=f";{CARD}?\n") == (0, "", "")
    assert punto(tmp_path, "list")[1].endswith("\tcard\tno key\n")
    with closing(Accounts.open(tmp_path / "operators.db")) as accounts:
        assert accounts.owner_of(CARD) == accounts.find("Mei")
    assert punto(tmp_path, "card", "mei", "--remove") == (0, "", "")
    assert punto(tmp_path, "list")[1].endswith("\tno card\tno key\n")
    status, out, err = punto(tmp_path, "card", "Mei", "--remove")

    assert (status, out) == (1, "")
    assert err == "punto operators: 'Mei' has no card\n"


@pytest.mark.parametrize(
    ("arguments", "say", "sentence"),
    [
        (["card", "Mei"], CARD, "there is no account 'Mei'; there are: none"),
        (["card", "Mei", "--remove"], "", "there is no account 'Mei'; there are: none"),
        (
            ["card", "Mei"],
            "6000",
            "this is not a card's number: write 6 to 37 characters: first a digit, then digits or =",
        ),
        (["add", "Mei", "--role", "dealer"], "", "a password has 8 to 1024 characters; this one has 0"),
        (["add", "Mei", "--role", "dealer"], "short", "a password has 8 to 1024 characters; this one has 5"),
        (["add", "Mei", "--role", "dealer"], "letmein1", "this password is among the first 1,000,000"),
        (["restore", "Mei"], PASSWORD, "the audit log has no account 'Mei'"),
        (["add", "", "--role", "dealer"], PASSWORD, "'' cannot be a name"),
        (["password", "Mei"], PASSWORD, "there is no account 'Mei'; there are: none"),
        (["roles", "Mei", "--role", "dealer"], "", "there is no account 'Mei'"),
        (["disable", "Mei"], "", "there is no account 'Mei'"),
    ],
)
def test_the_command_says_what_is_wrong(arguments, say, sentence, tmp_path):
    with closing(Accounts.open(tmp_path / "operators.db")):
        status, out, err = punto(tmp_path, *arguments, say=say)

    assert (status, out) == (1, "")
    assert err.startswith(f"punto operators: {sentence}")
    assert err.count("\n") == 1
    assert not say or say not in err


@pytest.mark.parametrize("arguments", [["add", "Mei"], ["add", "Mei", "--role", "king"], ["drop", "Mei"], []])
def test_a_command_that_is_none_is_refused_with_its_usage(arguments, tmp_path):
    status, _, err = punto(tmp_path, *arguments)

    assert status == 2
    assert "usage: punto operators" in err


@pytest.mark.parametrize(
    ("action", "secret", "again", "status"),
    sampled(
        [
            ("add", PASSWORD, PASSWORD, 0),
            ("add", PASSWORD, "another", 1),
            ("card", CARD, CARD, 0),
            ("card", CARD, ANOTHER, 1),
        ],
        one_in=4,
    ),
)
def test_at_a_terminal_a_secret_is_asked_for_twice_and_not_shown(action, secret, again, status, tmp_path):
    options, prompt = {
        "add": (["--role", "dealer"], b"New password: "),
        "card": ([], b"The card's number: "),
    }[action]
    if action == "card":
        assert punto(tmp_path, "add", "Mei", "--role", "dealer", say=PASSWORD)[0] == 0
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "punto", "operators", "--accounts", tmp_path / "operators.db"]
    command += [action, "Mei", *options]
    with subprocess.Popen(
        command, cwd=HERE, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
    ) as process:
        os.close(theirs)
        shown = b""
        for asked, answer in ((prompt, secret), (b"Again: ", again)):
            while asked not in shown:
                shown += os.read(ours, 1000)
            os.write(ours, answer.encode() + b"\n")
        try:
            while more := os.read(ours, 1000):
                shown += more
        except OSError:  # how a terminal says that nobody is there any more
            pass
        os.close(ours)

    assert process.returncode == status
    assert secret.encode() not in shown
    assert (b"the second entry differs from the first: nothing was changed" in shown) is bool(status)
