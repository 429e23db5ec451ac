"""Accounts: what the file holds, names and passwords that can be used, and the command that makes them."""

import os
import pty
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from controller.operators.accounts import Accounts, AccountsError, verified
from controller.operators.roles import Role
from tests.operators.consoles import NOW, PASSWORD
from tests.service.table_in_this_process import HERE


@pytest.fixture
def accounts(tmp_path: Path) -> Iterator[Accounts]:
    found = Accounts.open(tmp_path / "operators.db")
    yield found
    found.close()


def punto(folder: Path, *arguments: str, say: str = "") -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "controller", "operators", "--accounts", folder / "operators.db", *arguments],
        cwd=HERE,
        input=say,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return done.returncode, done.stdout, done.stderr


def test_there_is_no_account_that_nobody_made(accounts):
    assert accounts.all() == []


def test_a_password_is_kept_as_its_argon2id_hash_alone(accounts, tmp_path):
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
    "name", ["", " ", "Mei ", " Mei", "Me  i", "Mei\n", "Mei\u200b", "\x00", "x" * 41, "\u202eieM"]
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


@pytest.mark.parametrize("password", ["", "1234567", "x" * 1025])
def test_a_password_has_at_least_eight_characters(password, accounts):
    with pytest.raises(AccountsError, match="a password has 8 to 1024 characters; this one has"):
        accounts.add("Mei", [Role.DEALER], password, NOW)
    accounts.add("Mei", [Role.DEALER], PASSWORD, NOW)
    with pytest.raises(AccountsError, match="a password has 8"):
        accounts.set_password("Mei", password)
    assert verified(accounts.hash_of(accounts.find("Mei")), PASSWORD)


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
    ):
        change()
        versions.append(accounts.find("Mei").version)
    accounts.signed_on(accounts.find("Mei"), NOW)

    assert versions == [1, 2, 3, 4, 5]
    assert accounts.find("Mei").version == 5
    assert accounts.find("Mei").roles == (Role.AUDITOR,)


def _no_folder(path: Path) -> None:
    del path


def _text(path: Path) -> None:
    path.write_text("the minutes of a meeting" * 1000)


def _folder(path: Path) -> None:
    path.mkdir()


def _other_database(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE minutes (text)")


def _later_format(path: Path) -> None:
    Accounts.open(path).close()
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA user_version = 9")


@pytest.mark.parametrize(
    ("make", "name", "sentence"),
    [
        (_no_folder, "none/operators.db", "cannot be opened: No such file or directory; check the path"),
        (_text, "operators.db", "cannot be opened: file is not a database"),
        (_folder, "operators.db", "cannot be opened: Is a directory"),
        (_other_database, "operators.db", "is an SQLite file and holds no accounts: give another path"),
        (_later_format, "operators.db", "has accounts in format 9 and this program reads 1"),
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
    assert punto(tmp_path, "list") == (0, "", "")
    assert punto(tmp_path, "add", "Mei", "--role", "dealer", say=f"{PASSWORD}\n") == (0, "", "")
    assert punto(tmp_path, "add", "Ann", "--role", "supervisor", "--role", "auditor", say=PASSWORD)[0] == 0
    assert punto(tmp_path, "roles", "Mei", "--role", "technician")[0] == 0
    assert punto(tmp_path, "disable", "ann")[0] == 0

    assert punto(tmp_path, "list")[1] == (
        "Ann\tsupervisor, auditor\tdisabled\tlast sign-on never\nMei\ttechnician\tenabled\tlast sign-on never\n"
    )
    assert punto(tmp_path, "enable", "Ann")[0] == 0
    assert "disabled" not in punto(tmp_path, "list")[1]
    assert punto(tmp_path, "password", "Mei", say="another password\n")[0] == 0
    with closing(Accounts.open(tmp_path / "operators.db")) as accounts:
        found = accounts.find("Mei")
        assert found is not None
        assert verified(accounts.hash_of(found), "another password")


@pytest.mark.parametrize(
    ("arguments", "say", "sentence"),
    [
        (["add", "Mei", "--role", "dealer"], "", "a password has 8 to 1024 characters; this one has 0"),
        (["add", "Mei", "--role", "dealer"], "short", "a password has 8 to 1024 characters; this one has 5"),
        (["add", "", "--role", "dealer"], PASSWORD, "'' cannot be a name"),
        (["password", "Mei"], PASSWORD, "there is no account 'Mei'; there are: none"),
        (["roles", "Mei", "--role", "dealer"], "", "there is no account 'Mei'"),
        (["disable", "Mei"], "", "there is no account 'Mei'"),
    ],
)
def test_the_command_says_what_is_wrong(arguments, say, sentence, tmp_path):
    status, out, err = punto(tmp_path, *arguments, say=say)

    assert (status, out) == (1, "")
    assert err.startswith(f"punto operators: {sentence}")
    assert err.count("\n") == 1


@pytest.mark.parametrize("arguments", [["add", "Mei"], ["add", "Mei", "--role", "king"], ["drop", "Mei"], []])
def test_a_command_that_is_none_is_refused_with_its_usage(arguments, tmp_path):
    status, _, err = punto(tmp_path, *arguments)

    assert status == 2
    assert "usage: punto operators" in err


@pytest.mark.parametrize(("again", "status"), [(PASSWORD, 0), ("another", 1)])
def test_at_a_terminal_a_password_is_asked_for_twice_and_not_shown(again, status, tmp_path):
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "controller", "operators", "--accounts", tmp_path / "operators.db"]
    command += ["add", "Mei", "--role", "dealer"]
    with subprocess.Popen(
        command, cwd=HERE, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
    ) as process:
        os.close(theirs)
        shown = b""
        for prompt, answer in ((b"New password: ", PASSWORD), (b"Again: ", again)):
            while prompt not in shown:
                shown += os.read(ours, 1000)
            os.write(ours, answer.encode() + b"\n")
        try:
            while more := os.read(ours, 1000):
                shown += more
        except OSError:  # how a terminal says that nobody is there any more
            pass
        os.close(ours)

    assert process.returncode == status
    assert PASSWORD.encode() not in shown
    assert (b"the two are not the same: nothing was changed" in shown) is bool(status)
