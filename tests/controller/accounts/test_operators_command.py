"""`punto operators`: the command that makes, lists and changes accounts."""

import io
import os
import pty
import sqlite3
import subprocess
import sys
from contextlib import closing, redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from punto.commands.cli import main
from punto.controller.accounts.accounts import Accounts
from punto.controller.accounts.passwords import verified
from tests.consoles.consoles import PASSWORD
from tests.controller.accounts.test_cards import ANOTHER, CARD
from tests.controller.table_in_this_process import HERE
from tests.share import sampled


def punto(folder: Path, *arguments: str, say: str = "") -> tuple[int, str, str]:
    """`punto operators` in this process: to start another takes many times as long as what it does."""
    said, complained = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(said), redirect_stderr(complained):
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(say.encode())))
        try:
            status = main(["operators", "--accounts", str(folder / "operators.db"), *arguments])
        except SystemExit as refused:
            status = int(refused.code or 0)
    return status, said.getvalue(), complained.getvalue()


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


def test_the_command_reports_an_altered_account_and_restores_it(tmp_path):
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
def test_the_command_reports_what_is_wrong(arguments, say, sentence, tmp_path):
    with closing(Accounts.open(tmp_path / "operators.db")):
        status, out, err = punto(tmp_path, *arguments, say=say)

    assert (status, out) == (1, "")
    assert err.startswith(f"punto operators: {sentence}")
    assert err.count("\n") == 1
    assert not say or say not in err


@pytest.mark.parametrize("arguments", [["add", "Mei"], ["add", "Mei", "--role", "king"], ["drop", "Mei"], []])
def test_an_invalid_command_is_refused_with_its_usage(arguments, tmp_path):
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


def test_a_password_without_end_is_refused_and_not_read_whole(tmp_path):
    class Endless(io.BytesIO):
        def readline(self, size: int | None = -1, /) -> bytes:
            assert size is not None
            assert size > 0
            return b"x" * size

    class Stdin(io.StringIO):
        buffer = Endless()

    complained = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stderr(complained):
        patch.setattr(sys, "stdin", Stdin())
        status = main(
            ["operators", "--accounts", str(tmp_path / "operators.db"), "add", "Mei", "--role", "dealer"]
        )

    assert (status, "the line is longer than" in complained.getvalue()) == (1, True)
