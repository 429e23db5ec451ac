"""`punto setup` at a real pseudo-terminal, on a disk that is mounted at a folder."""

import os
import pty
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from punto.commands.key_words import in_blocks, modules_of, words_of
from punto.commands.setup.answers import DeviceAnswer, read_answers
from punto.controller.accounts.roles import Role
from punto.controller.config.file import load_config
from tests.command import punto
from tests.commands.setup.disk import disk_with_mosquitto

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="gives files to the user of a service"),
    pytest.mark.skipif(shutil.which("systemd-sysusers") is None, reason="needs systemd-sysusers"),
]
ENDS = r"(?:\[[^\]]*\]: |has the key: |a random one\): )\Z"
"""How a question ends, after which the terminal waits."""
AS_ROOT = """
import os, sys
from punto.commands.cli import main
from punto.commands.setup import setting_up
from punto.commands.setup.rehearsal import User
setting_up.User = lambda *_: User(os.geteuid(), os.getegid())
sys.exit(main())
"""
"""The command, whose accounts root makes: the Python of these tests can be in a folder that only root may enter."""


@pytest.fixture
def disk() -> Iterator[Path]:
    with disk_with_mosquitto() as root:
        yield root


def at_a_terminal(root: Path, *typed: str) -> str:
    """What `punto setup` shows to a person who types these lines, each when the command waits for it."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", AS_ROOT, "setup", "--root", str(root), "--no-rehearsal"]
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8", "TERM": "xterm"}
    lines, shown, asked = iter(typed), "", 0
    with subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True, env=environment
    ) as process:  # fmt: skip
        os.close(theirs)
        data = b""
        while True:
            try:
                part = os.read(ours, 4096)
            except OSError:  # the other end is closed
                break
            data += part
            shown = data.decode(errors="ignore").replace("\r\n", "\n")
            if len(shown) > asked and re.search(ENDS, shown):
                asked = len(shown)
                os.write(ours, f"{next(lines)}\n".encode())
        status = process.wait()
    os.close(ours)
    assert (status, list(lines)) == (0, []), shown
    return shown


def test_a_person_sets_up_a_table_and_changes_an_answer_later(disk: Path) -> None:
    first = at_a_terminal(
        disk, "Salon 8", "", "", "", "", "/dev/ttyS0 shoe", "", "Mei", "", "a long password"
    )  # fmt: skip
    key = (disk / "etc/punto/table-1.shoe.key").read_text().strip()

    assert in_blocks(modules_of(key)).replace("\r", "") in first
    assert all(re.search(rf"\d+ {word}\b", first) for word in words_of(key))
    assert key[:4] in first
    assert "a long password" not in first
    assert "http://127.0.0.1:8090/dealer" in first
    answers = read_answers(disk / "etc/punto/table-1.answers")
    assert (answers.name, answers.shoe, answers.people) == (
        "Salon 8",
        DeviceAnswer(port="/dev/ttyS0"),
        {"Mei": (Role.SUPERVISOR,)},
    )

    later = at_a_terminal(disk, "Salon 9", *[""] * 7, "")

    assert "[Salon 8]" in later
    assert "[/dev/ttyS0 shoe]" in later
    assert load_config(disk / "etc/punto/table-1.toml").table.name == "Salon 9"
    assert (disk / "etc/punto/table-1.shoe.key").read_text().strip() == key
    file = disk / "var/lib/punto/table-1/operators.db"
    assert punto("operators", "--accounts", str(file), "list").stdout.split("\t")[1:3] == [
        "Mei",
        "supervisor",
    ]
