"""`punto rotate`: what is replaced is where it belongs, and an interrupted run locks nobody out and is finished by the next one."""

import base64
import hashlib
import os
import stat
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from punto.commands import certificate, rotate
from punto.controller.config.file import load_config
from punto.runtime.tls import server_tls
from tests.command import punto
from tests.doctor.test_planted_faults import make_certificate

TABLE = """\
version = 1
[table]
id = "table-1"
name = "Baccarat 1"
game = "dragon-bonus-1"
[shoe]
port = "/dev/null"
key_file = "shoe.key"
[mqtt]
username = "table-1"
password_file = "$CREDENTIALS_DIRECTORY/mqtt-password"
[record]
path = "table.db"
[accounts]
path = "operators.db"
[console]
certificate = "certificate.pem"
key = "certificate.key"
"""
NOBODY = 65534
KEY = "ab" * 32


class Killed(BaseException):
    """The command is killed between two steps."""


def killed_after(monkeypatch: pytest.MonkeyPatch, number: int) -> list[int]:
    """Have the next run killed after so many steps; returns a list that gets how many there are."""
    count: list[int] = []

    def carry_out(steps: Sequence[Callable[[], object]]) -> None:
        count.append(len(steps))
        for step in steps[:number]:
            step()
        raise Killed

    monkeypatch.setattr(rotate, "carry_out", carry_out)
    return count


@pytest.fixture
def pc(tmp_path):
    (tmp_path / "table-1.toml").write_text(TABLE)
    (tmp_path / "shoe.key").write_text(f"{KEY}\n")
    make_certificate(tmp_path, 90)
    made = punto("broker-users", str(tmp_path / "table-1.toml"), "--out", str(tmp_path / "users"))
    assert made.returncode == 0, made.stderr
    (tmp_path / "punto.passwd").write_bytes((tmp_path / "users" / "punto.passwd").read_bytes())
    (tmp_path / "table-1.mqtt-password").write_bytes((tmp_path / "users/passwords/table-1").read_bytes())
    for name, mode in (
        ("punto.passwd", 0o640),
        ("table-1.mqtt-password", 0o600),
        ("shoe.key", 0o640),
        ("certificate.key", 0o440),
    ):
        (tmp_path / name).chmod(mode)
        if os.geteuid() == 0:
            os.chown(tmp_path / name, 0, NOBODY)
    return tmp_path


def rotated(pc: Path, *words: str) -> str:
    ran = punto("rotate", words[0], str(pc / "table-1.toml"), *words[1:])
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout


def password(pc: Path, *more: str) -> str:
    return rotated(
        pc, "password", "--users", str(pc / "users"), "--passwords", str(pc / "punto.passwd"), *more
    )


def lets_in(file: Path, user: str, given: str) -> bool:
    """Whether Mosquitto with this file of passwords takes a user with a password."""
    _, _, rounds, salt, known = dict(line.split(":", 1) for line in file.read_text().splitlines())[
        user
    ].split("$")
    found = hashlib.pbkdf2_hmac("sha512", given.encode(), base64.b64decode(salt), int(rounds))
    return base64.b64encode(found).decode() == known


def of(path: Path) -> tuple[int, int, int]:
    known = path.stat()
    return stat.S_IMODE(known.st_mode), known.st_uid, known.st_gid


def test_the_broker_and_the_table_get_another_password(pc):
    before, others = (pc / "table-1.mqtt-password").read_text().strip(), (pc / "punto.passwd").read_text()
    files = [pc / "punto.passwd", pc / "table-1.mqtt-password", pc / "users/passwords/table-1"]
    owners = [of(file) for file in files]

    said = password(pc)

    new = (pc / "table-1.mqtt-password").read_text().strip()
    assert new != before
    for file in (pc / "punto.passwd", pc / "users" / "punto.passwd"):
        assert lets_in(file, "table-1", new)
        assert not lets_in(file, "table-1", before)
    assert [
        line for line in (pc / "punto.passwd").read_text().splitlines() if not line.startswith("table-1:")
    ] == [line for line in others.splitlines() if not line.startswith("table-1:")]
    assert [of(file) for file in files] == owners
    assert said == "run: systemctl reload mosquitto && systemctl restart punto@table-1\n"


def test_a_user_without_a_program_here_gets_another_password_to_take_away(pc):
    said = password(pc, "--user", "table-1-seat-1")

    assert lets_in(
        pc / "punto.passwd", "table-1-seat-1", (pc / "users/passwords/table-1-seat-1").read_text().strip()
    )
    assert "give the password in" in said
    assert "punto@" not in said


@pytest.mark.parametrize("steps", range(6))
def test_a_password_of_an_interrupted_run_is_the_one_of_the_next(pc, monkeypatch, steps):
    before = (pc / "table-1.mqtt-password").read_text().strip()
    with monkeypatch.context() as patched:
        number = killed_after(patched, steps)
        with pytest.raises(Killed):
            password(pc)
    assert number == [5], "kill it after each step"
    # Neither end has lost the password that the other has, or a run of the command gives it.
    broker, own = pc / "punto.passwd", (pc / "table-1.mqtt-password").read_text().strip()
    assert lets_in(broker, "table-1", own) or lets_in(
        broker, "table-1", (pc / "users/passwords/table-1.new").read_text().strip()
    )
    made = {each.read_text() for each in (pc / "users/passwords").glob("table-1.new")}

    password(pc)

    new = (pc / "table-1.mqtt-password").read_text()
    assert new.strip() != before
    assert made <= {new}
    assert lets_in(broker, "table-1", new.strip())
    assert (pc / "users/passwords/table-1").read_text() == new
    assert not (pc / "users/passwords/table-1.new").exists()


def test_the_key_of_a_device_is_replaced_when_the_device_has_the_new_one(pc):
    key, new, owner = pc / "shoe.key", pc / "shoe.new.key", of(pc / "shoe.key")

    said = rotated(pc, "key", "shoe")
    assert "put the key in" in said
    assert f"rotate key {pc / 'table-1.toml'} shoe --finish" in said
    made = new.read_text()
    assert (key.read_text(), of(new)) == (f"{KEY}\n", owner)
    rotated(pc, "key", "shoe")  # again, after an interruption
    assert new.read_text() == made != key.read_text()

    assert rotated(pc, "key", "shoe", "--finish") == "run: systemctl restart punto@table-1\n"
    assert (key.read_text(), of(key), new.exists()) == (made, owner, False)
    assert "nothing waits" in rotated(pc, "key", "shoe", "--finish")
    assert key.read_text() == made


def test_an_authority_accepts_both_keys_of_a_link_until_the_end(pc):
    keys = pc / "keys"
    keys.mkdir()
    for table in ("table-1", "table-2"):
        (keys / f"{table}.key").write_text(f"{KEY}\n")
    (pc / "table-1.toml").write_text(
        'version = 1\n[table]\nid = "meter-1"\nname = "Dragon"\ngame = "progressive-2"\ncards = "keyed"\n'
        '[mqtt]\n[record]\npath = "meter-1.db"\n[progressive]\nid = "dragon"\nauthority = "meter-1"\n'
        'tables = ["table-1", "table-2"]\nkey_folder = "keys"\n'
    )
    refused = punto("rotate", "key", str(pc / "table-1.toml"), "progressive")
    assert "say with --link which of its tables: table-1, table-2" in refused.stderr

    said = rotated(pc, "key", "progressive", "--link", "table-2")
    assert "run: systemctl restart punto@table-1\nthen copy" in said
    assert (keys / "table-2.new.key").read_text() != (keys / "table-2.key").read_text() == f"{KEY}\n"
    rotated(pc, "key", "progressive", "--link", "table-2", "--finish")
    assert sorted(each.name for each in keys.iterdir()) == ["table-1.key", "table-2.key"]
    assert (keys / "table-2.key").read_text() != f"{KEY}\n"


@pytest.mark.parametrize("steps", range(5))
def test_a_table_can_start_after_each_step_of_a_new_certificate(pc, monkeypatch, steps):
    pair = pc / "certificate.pem", pc / "certificate.key"
    before, owner = [each.read_bytes() for each in pair], of(pair[1])
    with monkeypatch.context() as patched:
        number = killed_after(patched, steps)
        with pytest.raises(Killed):
            rotated(pc, "certificate")
    assert number == [4], "kill it after each step"
    assert server_tls(*pair, "console") is not None

    said = rotated(pc, "certificate")

    assert said == "run: systemctl restart punto@table-1\n"
    assert server_tls(*pair, "console") is not None
    assert all(each.read_bytes() != old for each, old in zip(pair, before, strict=True))
    assert of(pair[1]) == owner
    assert list(pc.glob("*.new")) == []


def test_the_setup_renews_a_certificate_that_was_replaced_by_one_that_signs_itself(pc):
    rotated(pc, "certificate", "--days", "60")
    console = load_config(pc / "table-1.toml").console
    assert console is not None
    pair, host, now = (pc / "certificate.pem", pc / "certificate.key"), console.host, datetime.now(UTC)

    assert [certificate.must_be_made(*pair, host, now + timedelta(days=days)) for days in (0, 40)] == [
        False,
        True,
    ]


def test_a_certificate_of_the_house_is_taken_with_its_key_alone(pc, tmp_path_factory):
    given, other = tmp_path_factory.mktemp("given"), tmp_path_factory.mktemp("other")
    make_certificate(given, 400)
    make_certificate(other, 400)
    before = (pc / "certificate.pem").read_bytes()

    wrong = punto(
        "rotate",
        "certificate",
        str(pc / "table-1.toml"),
        "--given",
        str(given / "certificate.pem"),
        str(other / "certificate.key"),
    )
    assert wrong.returncode != 0
    assert "cannot be used" in wrong.stderr
    assert ((pc / "certificate.pem").read_bytes(), list(pc.glob("*.new"))) == (before, [])

    rotated(pc, "certificate", "--given", str(given / "certificate.pem"), str(given / "certificate.key"))
    assert (pc / "certificate.pem").read_bytes() == (given / "certificate.pem").read_bytes()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("password", "--users", "/nowhere"), "has no password of table-1"),
        (("key", "keypad"), "there is no key to replace"),
        (("key", "mqtt"), "there is no key to replace"),
    ],
)
def test_what_cannot_be_replaced_is_reported(pc, words, message):
    ran = punto("rotate", words[0], str(pc / "table-1.toml"), *words[1:])
    assert ran.returncode != 0
    assert message in ran.stderr
