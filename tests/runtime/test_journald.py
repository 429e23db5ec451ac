"""Log lines as records of the journal: with fields to select by, whatever a value contains, and without secrets."""

import asyncio
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.consoles.consoles import Browser
from tests.controller.table_on_a_machine import (
    STAFF,
    Broker,
    Shoe,
    Table,
    rounds,
    wait_until,
)
from tests.deadline import DEADLINE
from tests.ports import free_port, takes_connections
from tests.runtime.journals import JOURNALD, journald

HERE = Path(__file__).parents[2]
SET_UP = """
import os, sys, structlog
from punto.runtime import journald, log
journald.SOCKET = sys.argv[1]
log.set_up()
log = structlog.get_logger()
"""


def fields_of(datagram: bytes) -> dict[str, str]:
    """The fields of a record, as journald reads them: https://systemd.io/JOURNAL_NATIVE_PROTOCOL/."""
    found: dict[str, str] = {}
    while datagram:
        name, _, rest = datagram.partition(b"\n")
        assert b"=" not in name
        end = 8 + int.from_bytes(rest[:8], "little")
        found[name.decode()] = rest[8:end].decode()
        assert rest[end : end + 1] == b"\n"
        datagram = rest[end + 1 :]
    return found


def sent(program: str, folder: Path, *, connected: bool = True) -> tuple[list[dict[str, str]], str]:
    """The records that a program sends, and what it writes to its standard error."""
    address = folder / "socket"
    with (
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as journal,
        (folder / "stderr").open("w+", encoding="utf-8") as file,
    ):
        journal.bind(str(address))
        stream = os.fstat(file.fileno())
        inode = stream.st_ino if connected else stream.st_ino + 1
        environment = {**os.environ, "JOURNAL_STREAM": f"{stream.st_dev}:{inode}"}
        command = [sys.executable, "-c", SET_UP + program, str(address)]
        subprocess.run(command, cwd=HERE, stderr=file, env=environment, timeout=DEADLINE, check=True)
        journal.setblocking(False)
        found = []
        try:
            while datagram := journal.recv(1 << 20):
                found.append(fields_of(datagram))
        except BlockingIOError:
            pass
        file.seek(0)
        return found, file.read()


def test_a_line_is_a_record_with_a_field_for_each_of_its_values(tmp_path):
    program = 'structlog.contextvars.bind_contextvars(table="t-1")\nlog.warning("alarm", seq=7, text="a chip", round=None)'
    records, said = sent(program, tmp_path)

    assert records == [
        {
            "MESSAGE": 'alarm seq=7 text="a chip" round=null table=t-1',
            "PRIORITY": "4",
            "SYSLOG_IDENTIFIER": "punto",
            "PUNTO_EVENT": "alarm",
            "PUNTO_SEQ": "7",
            "PUNTO_TEXT": "a chip",
            "PUNTO_ROUND": "null",
            "PUNTO_TABLE": "t-1",
        }
    ]
    assert not said


def test_a_value_from_outside_adds_no_field_and_reaches_no_terminal(tmp_path):
    (record,), _ = sent('log.info("swipe", name="x\\nPRIORITY=0\\n\\x1b[31m")', tmp_path)

    assert record["PRIORITY"] == "6"
    assert record["PUNTO_NAME"] == r"x\nPRIORITY=0\n\x1b[31m"
    assert record["MESSAGE"] == rf'swipe name="{record["PUNTO_NAME"]}"'


def test_a_failure_has_its_traceback_in_its_message(tmp_path):
    (record,), _ = sent('try: 1 / 0\nexcept ZeroDivisionError: log.exception("failed", seq=7)', tmp_path)

    assert record["MESSAGE"].startswith("failed seq=7\nTraceback (most recent call last):\n")
    assert record["MESSAGE"].endswith("\nZeroDivisionError: division by zero")
    assert record["PRIORITY"] == "3"


def test_what_the_journal_does_not_take_is_on_the_standard_error(tmp_path):
    records, said = sent('log.info("long", text="x" * 1_000_000)\nlog.info("short")', tmp_path)
    assert [record["PUNTO_EVENT"] for record in records] == ["short"]
    assert said == f"long text={'x' * 1_000_000}\n"


def test_without_a_journal_behind_the_standard_error_the_lines_are_json(tmp_path):
    records, said = sent('log.info("swipe")', tmp_path, connected=False)

    assert not records
    assert said.startswith('{"event": "swipe"')


@pytest.mark.skipif(
    os.geteuid() != 0 or not JOURNALD.exists(),
    reason="only root can start journald, of Debian's package systemd",
)
def test_journalctl_selects_the_lines_of_a_table_and_no_field_has_a_secret(tmp_path):
    secrets = {"the broker": "broker's own", "a device": "5ec2e7" * 10 + "abcd"}
    files = {whose: tmp_path / whose for whose in secrets}
    for whose, file in files.items():
        file.write_text(secrets[whose])
        file.chmod(0o600)
    port = free_port()
    sections = (
        f'username = "table-1"\npassword_file = "{files["the broker"]}"\n[console]\nport = {port}\n'
        f'[keypad]\nport = "{tmp_path / "keypad"}"\nkey_file = "{files["a device"]}"\n'
    )
    browser = Browser(port)
    with journald() as journal, Broker(tmp_path) as broker:
        table = Table(tmp_path, broker, sections=sections, options=("--log-level", "debug"))
        table.program = ("tests.runtime.with_a_journal", str(journal.socket))
        with table, Shoe(table.port, "--pace", "0.01", "--seed", "log"):
            wait_until(lambda: takes_connections(port), "the consoles are open")
            for password in ("not the password", STAFF["password"]):
                answer = asyncio.run(browser.sign_on(STAFF["name"], password))
            assert answer.status == 200
            table.begin_shoe()
            wait_until(lambda: rounds(table.record), "a hand")
            assert table.stop() == 0
        wait_until(lambda: journal.records("PUNTO_EVENT=table ended"), "the last line is in the journal")
        hands = journal.records("PUNTO_TABLE=table-1", "PUNTO_EVENT=coup ended")
        everything = journal.shown("-o", "json", "--all")

    assert {"PUNTO_SEQ", "PUNTO_WINNER", "PUNTO_ROUND"} <= hands[0].keys()
    assert '"PUNTO_EVENT":"broker connected"' in everything
    secrets |= {"a person": STAFF["password"], "a mistyped one": "not the password", **browser.cookies}
    assert len(secrets) >= 5
    assert {whose: secret in everything for whose, secret in secrets.items()} == dict.fromkeys(secrets, False)
