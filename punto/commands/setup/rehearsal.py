"""Deals one hand from a virtual shoe, with the table's game and as the user of its service, into a record that is then put aside."""

import os
import secrets
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

from punto.commands.operator import ask
from punto.commands.setup.answers import Answers
from punto.commands.setup.configuration import rehearsal_config
from punto.commands.setup.machine import SetupError
from punto.configs.text_file import bytes_of
from punto.runtime.made_files import FOR_ALL, reserve, write_file

PUNTO: Final = (sys.executable, "-I", "-m", "punto")
SECONDS: Final = 300
"""How long a hand may take on a slow PC that has much else to do."""
_EVERY_SECONDS: Final = 0.1
_NAME: Final = "Rehearsal"
_ANSWER_SECONDS: Final = 300


class User(NamedTuple):
    """The numbers of the user of the table's service."""

    number: int
    group: int

    def run(self, *words: str, text: str = "") -> subprocess.CompletedProcess[str]:
        """Run a subcommand of `punto` as this user to its end.

        Raises:
            SetupError: this user cannot run the program.
        """
        try:
            return subprocess.run(  # noqa: S603 - no shell
                [*PUNTO, *words], input=text, capture_output=True, text=True, errors="replace", check=False,
                timeout=_ANSWER_SECONDS, user=self.number, group=self.group, extra_groups=[], cwd="/",
            )  # fmt: skip
        except PermissionError:
            message = f"the user of the table's service cannot run {sys.executable}: install Punto where every user can read it"
            raise SetupError(message) from None
        except subprocess.TimeoutExpired:
            raise SetupError(f"`punto {words[0]}` has not ended after {_ANSWER_SECONDS} s") from None

    @contextmanager
    def running(self, log: Path, *words: str) -> Iterator["subprocess.Popen[bytes]"]:
        """Have a subcommand run as this user until the end of the block."""
        reserve(log)
        with log.open("r+b") as said:
            process = subprocess.Popen(  # noqa: S603 - no shell
                [*PUNTO, *words], stdin=subprocess.DEVNULL, stdout=said, stderr=said,
                user=self.number, group=self.group, extra_groups=[], cwd="/",
            )  # fmt: skip
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(_ANSWER_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


class Rehearsed(NamedTuple):
    """The result of the hand in words, and the record that was put aside."""

    result: str
    record: Path


def rehearse(answers: Answers, user: User, folder: Path) -> Rehearsed:
    """Deal the hand, prove it by a replay, and put the record into `folder`.

    Raises:
        SetupError: no hand was settled; the message has the reason.
    """
    with tempfile.TemporaryDirectory(prefix="punto-rehearsal-") as name:
        place = Path(name)
        os.chown(place, user.number, user.group)
        config = place / "rehearsal.toml"
        write_file(config, rehearsal_config(answers, place).encode(), FOR_ALL)
        result = _dealt(config, place, user)
        proof = user.run("replay", str(place / "rehearsal.db"))
        if proof.returncode:
            raise SetupError(
                f"the replay of the rehearsal does not prove its record: {proof.stdout}{proof.stderr}"
            )
        folder.mkdir(mode=0o700, exist_ok=True)
        record = folder / f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}.db"
        with (
            closing(sqlite3.connect(place / "rehearsal.db")) as played,
            closing(sqlite3.connect(record)) as kept,
        ):
            played.backup(kept)  # with what may still be beside the file
        for each in (folder, record):
            os.chown(each, user.number, user.group)
        record.chmod(0o600)
    return Rehearsed(result, record)


def _dealt(config: Path, place: Path, user: User) -> str:
    """The result of the hand that was dealt."""
    until = time.monotonic() + SECONDS
    password, log = secrets.token_urlsafe(12), place.with_name(f"{place.name}.log")
    made = user.run(
        "operators", "--config", str(config), "add", _NAME, "--role", "supervisor", text=f"{password}\n"
    )
    if made.returncode:
        raise SetupError(f"the rehearsal cannot begin: {made.stderr.strip()}")
    by = {"by": {"name": _NAME, "password": password}}
    shoe = ("shoe", "--link", str(place / "shoe"), "--between", "0.1", "--quiet")
    try:
        with (
            user.running(log, *shoe),
            user.running(log, "run", "--config", str(config)) as table,
        ):
            for order in ("sign_on", "change_shoe"):
                while why := _refusal(place / "operator.sock", {"order": order, **by}):
                    _wait(until, table, log, why)
            while not (found := _rounds(place / "rehearsal.db")):
                _wait(until, table, log, "no hand was settled")
    finally:
        log.unlink(missing_ok=True)
    winner, player, banker = found[0]
    return f"{winner or 'no winner'}, Player {player}, Banker {banker}"


def _refusal(socket: Path, request: dict[str, Any]) -> str:
    """Why the table does not take an order, empty if it does."""
    try:
        answer = ask(socket, request, _ANSWER_SECONDS)
    except (OSError, ValueError) as error:  # it is still starting
        return str(error)
    return "" if answer["accepted"] else str(answer.get("reason"))


def _wait(until: float, table: "subprocess.Popen[bytes]", log: Path, why: str) -> None:
    if time.monotonic() > until or table.poll() is not None:
        last = bytes_of(log).decode(errors="replace").strip().splitlines()[-3:]
        raise SetupError(f"the rehearsal has no hand: {why.strip()}; the log ends with: {' | '.join(last)}")
    time.sleep(_EVERY_SECONDS)


def _rounds(record: Path) -> Sequence[tuple[str | None, int, int]]:
    try:
        with closing(sqlite3.connect(f"{record.as_uri()}?mode=ro", uri=True)) as connection:
            return connection.execute(
                "SELECT winner, player_total, banker_total FROM rounds LIMIT 1"
            ).fetchall()
    except sqlite3.OperationalError:  # it is not there yet, or it is being made
        return []
