"""What SQLite could not do with a record, in words: only a damaged record is a reason to restore a backup."""

import asyncio
import re
import resource
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import pytest
import structlog

from punto.controller.journal import background, schema, store
from punto.controller.journal.backup import back_up
from punto.controller.journal.recovery import replay
from punto.controller.journal.schema import RecordError
from punto.runtime.sqlite_errors import in_words, is_damage
from tests.command import punto
from tests.controller.table_in_this_process import eventually, table

HOLDS: Final = """
import sqlite3, sys
held = sqlite3.connect(sys.argv[1], isolation_level=None)
held.execute(sys.argv[2])
print("held", flush=True)
sys.stdin.read()
"""
WRITE: Final = "CREATE TABLE more AS SELECT randomblob(1000000)"


@contextmanager
def holding(record: Path, statement: str = "BEGIN IMMEDIATE") -> Iterator[int]:
    """Another process that has carried out a statement on the record, and stays; its number."""
    command = [sys.executable, "-c", HOLDS, str(record), statement]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        yield process.pid


@contextmanager
def small_files(most: int) -> Iterator[None]:
    """No file of this process can become longer than this."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


Words = tuple[str, bool]


def written(record: Path, *pragmas: str, mode: str = "rw", statement: str = WRITE) -> Words:
    """The error of a statement in words, and whether it is damage."""

    def write() -> None:
        address = f"file:{record}?mode={mode}"
        with closing(sqlite3.connect(address, uri=True, timeout=0)) as connection:
            for each in (*(f"PRAGMA {pragma}" for pragma in pragmas), statement):
                connection.execute(each).fetchone()

    with pytest.raises(sqlite3.Error) as error:
        write()
    return in_words(error.value, record), is_damage(error.value)


def busy(record: Path) -> Words:
    with holding(record):
        return written(record)


def locked_without_a_log(record: Path) -> Words:
    with closing(sqlite3.connect(record)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
    with holding(record, "BEGIN EXCLUSIVE"):
        return written(record)


def full(record: Path) -> Words:
    return written(record, "max_page_count = 1")


def read_only(record: Path) -> Words:
    return written(record, mode="ro")


def gone(record: Path) -> Words:
    record.unlink()
    return written(record)


def failing_disk(record: Path) -> Words:
    with small_files(record.stat().st_size):
        return written(record)


def damaged(record: Path) -> Words:
    content = bytearray(record.read_bytes())
    content[100:3000] = bytes(2900)
    record.write_bytes(content)
    return written(record)


def not_a_database(record: Path) -> Words:
    record.write_bytes(b"words, words, words\n" * 1000)
    return written(record)


def text_that_is_no_utf_8(record: Path) -> Words:
    return written(record, statement="SELECT CAST(x'ff' AS TEXT)")


CASES: Final = {
    busy: r"python\S* \(process \d+\) has a lock on the record, which is undamaged; end that program or wait for it, and start again",
    locked_without_a_log: r"python\S* \(process \d+\) has a lock on the record, which is undamaged; .*",
    full: r"database or disk is full; make room on the disk, and start again",
    read_only: r"attempt to write a readonly database; check that this user may write to the file and to its folder, and .*",
    gone: r"unable to open database file; check that the file exists, that this user may open it and write to its folder, and .*",
    failing_disk: r"disk I/O error \(SQLITE_IOERR_WRITE\); the disk or the connection to it fails, and the record itself may be undamaged: .*",
    damaged: r"database disk image is malformed; the record is damaged: restore a backup",
    not_a_database: r"file is not a database; check the path; if it is right, the record is damaged: restore a backup",
    text_that_is_no_utf_8: r"Could not decode to UTF-8 .*; the record is damaged: restore a backup",
}


@pytest.mark.parametrize("fault", CASES)
def test_each_kind_of_error_says_what_is_wrong_and_what_to_do(fault, short):
    said, damage = fault(short)

    assert re.fullmatch(CASES[fault], said)
    assert damage is ("restore a backup" in said)


async def test_a_start_waits_for_a_lock_and_names_the_program_that_has_it(short):
    async def start() -> None:
        async with table(short):
            pass

    def locked() -> list[str]:
        return [each["reason"] for each in logs if each["event"] == "record locked"]

    with structlog.testing.capture_logs() as logs:
        with holding(short) as pid:
            starting = asyncio.create_task(start())
            await eventually(locked, "the log names the program")
            assert not starting.done()
        await starting

    assert re.match(rf"python\S* \(process {pid}\) has a lock on the record: ", locked()[0])
    assert replay(short).difference is None


@pytest.fixture
def failing_reads(monkeypatch):
    """A disk that fails when a replay reads the record, which is beyond a test."""
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = sqlite3.SQLITE_IOERR_READ
    error.sqlite_errorname = "SQLITE_IOERR_READ"

    def fail(_: sqlite3.Connection) -> None:
        raise error

    monkeypatch.setattr(schema, "damage", fail)
    return r"the record cannot be read: disk I/O error \(SQLITE_IOERR_READ\); .* may be undamaged: .*"


def test_a_disk_that_fails_is_no_difference_of_the_record(short, failing_reads):
    with pytest.raises(RecordError, match=failing_reads):
        replay(short)
    ran = punto("replay", str(short))
    assert (ran.returncode, ran.stdout) == (2, "")
    assert re.search(failing_reads, ran.stderr)


def test_a_disk_that_fails_in_the_background_makes_no_alarm(short, failing_reads, capsys, monkeypatch):
    monkeypatch.setattr(background, "_end_with_the_service", lambda: None)
    with pytest.raises(SystemExit, match=failing_reads):
        background.main(str(short))
    assert capsys.readouterr().out == ""


def test_a_backup_on_a_failing_disk_leaves_nothing_and_says_why(short):
    with small_files(short.stat().st_size // 2), pytest.raises(RecordError) as error:
        back_up(short, short.parent, datetime.now(UTC), "0.1.0")

    assert re.search(
        r"cannot be written: disk I/O error \(SQLITE_IOERR_WRITE\); .*; nothing was removed", str(error.value)
    )
    assert [*short.parent.glob("*.part")] == []


def test_a_disk_that_fails_while_the_log_is_brought_into_the_record_is_reported_in_words(short):
    with closing(sqlite3.connect(short, isolation_level=None)) as writer:
        writer.execute("PRAGMA wal_autocheckpoint = 0")
        writer.execute(WRITE)
        with (
            small_files(short.stat().st_size),
            pytest.raises(RecordError, match=r"\(SQLITE_IOERR_WRITE\); the disk"),
        ):
            store.log_frames(short)
        assert store.log_frames(short) > 0


def test_the_log_is_left_alone_while_another_program_has_the_record_for_itself(short):
    with closing(sqlite3.connect(short, isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN IMMEDIATE")

        assert store.log_frames(short) == 0


def test_another_file_in_the_place_of_the_witness_s_does_not_make_the_record_damaged(short, tmp_path):
    (tmp_path / "witness.db").write_bytes(b"words, words, words\n" * 1000)
    ran = punto("evidence", "1", "--record", str(short), "--witness", str(tmp_path / "witness.db"))

    assert ran.returncode == 2
    assert ran.stderr == (
        f"punto evidence: {tmp_path}/witness.db cannot be read as the file of a witness: file is not a database; check the path; if it "
        "is right, the file of the witness is damaged: restore a backup\n"
    )
