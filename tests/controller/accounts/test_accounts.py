"""Accounts: what the file holds, and the names and passwords that can be used."""

import os
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from punto.controller.accounts.accounts import Accounts
from punto.controller.accounts.passwords import verified
from punto.controller.accounts.refusals import AccountsError
from punto.controller.accounts.roles import Role
from tests.consoles.consoles import NOW, PASSWORD
from tests.controller.accounts.test_cards import CARD


def test_a_new_file_has_no_accounts(accounts):
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
def test_a_name_that_could_be_taken_for_another_is_refused(name, accounts):
    with pytest.raises(AccountsError, match="cannot be a name"):
        accounts.add(name, [Role.DEALER], PASSWORD, NOW)
    assert accounts.all() == []


@pytest.mark.parametrize("other", ["Mei", "MEI", "mei", "\uff2dei"])
def test_a_name_that_is_read_like_another_accounts_is_refused(other, accounts):
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
def test_a_name_that_looks_like_another_accounts_is_refused(name, other, tmp_path):
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
