"""The log beside a record: what a power cut leaves of it is no damage, and a bit that has changed is."""

import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from punto.baccarat.table.order_kinds import CallSupervisor
from punto.controller.journal import wal
from punto.controller.journal.backup import back_up
from punto.controller.journal.recovery import replay
from punto.controller.journal.schema import RecordError
from tests.controller.journal.records import start_on
from tests.controller.table_in_this_process import table

FRAME = 24 + 4096
DATA = 2000
"""A byte of the first page in the log."""


@pytest.fixture
async def cut_off(tmp_path):
    """A record whose last transactions are in its log, as a power cut leaves both."""
    own, left = tmp_path / "own" / "table.db", tmp_path / "table.db"
    own.parent.mkdir()
    async with table(own) as here:
        await here.begin_shoe()
        for reason in ("one", "two", "three"):
            await here.order(CallSupervisor("mei", reason))
        for end in ("", "-wal"):
            shutil.copy(f"{own}{end}", f"{left}{end}")
    return left


def log_of(record: Path) -> Path:
    return record.with_name(f"{record.name}-wal")


def flip(record: Path, byte: int) -> None:
    content = bytearray(log_of(record).read_bytes())
    content[byte] ^= 16
    log_of(record).write_bytes(content)


def ends_of(log: bytes) -> list[int]:
    """Where the last frame of each transaction begins."""
    return [start for start in range(32, len(log), FRAME) if any(log[start + 4 : start + 8])]


@contextmanager
def read(record: Path) -> Iterator[None]:
    """A connection that has read the record, as `damage` needs one."""
    with closing(sqlite3.connect(f"{record.as_uri()}?mode=ro", uri=True)) as database:
        database.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        yield


async def test_a_flipped_bit_ends_a_start_a_replay_and_a_backup_and_leaves_the_log(cut_off, tmp_path):
    assert replay(cut_off).difference is None
    flip(cut_off, DATA)
    before = log_of(cut_off).read_bytes()

    sentence = f"{log_of(cut_off)} is damaged near byte {{}}: the inputs after it cannot be read"
    with pytest.raises(RecordError, match=re.escape(sentence.format(32))):
        replay(cut_off)
    with pytest.raises(RecordError, match="is damaged near byte 32"):
        back_up(cut_off, tmp_path, datetime.now(UTC), "0.1.0")
    with pytest.raises(RecordError, match="is damaged near byte 32"):
        await start_on(cut_off)
    assert log_of(cut_off).read_bytes() == before
    flip(cut_off, DATA)
    later = ends_of(log_of(cut_off).read_bytes())[0] + FRAME
    flip(cut_off, later + DATA)
    assert str(replay(cut_off).difference).startswith(sentence.format(later))


@pytest.mark.parametrize("byte", [0, 10, 17, 25])
def test_a_flipped_bit_of_the_logs_header_is_found(cut_off, byte):
    flip(cut_off, byte)

    with pytest.raises((RecordError, AssertionError)):
        assert replay(cut_off).difference is None


def test_what_a_power_cut_leaves_is_not_damaged(cut_off):
    """The log ends anywhere, or its last transaction has a hole: the disk writes the parts of one transaction in any order."""
    whole = log_of(cut_off).read_bytes()
    frames = range(32, len(whole), FRAME)
    left = [whole[:end] for start in frames for end in (start, start + 10, start + 2000)]
    last = [start for start in frames if start > ends_of(whole)[-2]]
    left += [whole[:start] + bytes(FRAME) + whole[start + FRAME :] for start in last]

    for content in left:
        log_of(cut_off).write_bytes(content)
        with read(cut_off):
            assert wal.damage(cut_off) is None


async def test_a_start_undoes_the_commit_that_a_killed_first_start_left_half_done(tmp_path):
    record, begun = tmp_path / "table.db", tmp_path / "begun.db"
    with closing(sqlite3.connect(begun, isolation_level=None)) as first:
        first.execute("PRAGMA cache_size = 1")
        first.execute("BEGIN")
        first.execute("CREATE TABLE pages (content)")
        first.executemany("INSERT INTO pages VALUES (zeroblob(4096))", [()] * 100)
        for end in ("", "-journal"):
            shutil.copyfile(f"{begun}{end}", f"{record}{end}")
    assert record.stat().st_size > 0

    async with table(record) as here:
        assert here.state.phase == "locked"


async def test_a_log_that_is_written_or_begun_again_is_not_damaged(tmp_path):
    record = tmp_path / "table.db"
    async with table(record) as here:
        await here.begin_shoe()
        with read(record):
            for number in range(40):
                await here.order(CallSupervisor("mei", f"call {number}"))
                assert wal.damage(record) is None
        with closing(sqlite3.connect(record)) as other:
            assert other.execute("PRAGMA wal_checkpoint(RESTART)").fetchone()[0] == 0
        await here.order(CallSupervisor("mei", "once more"))
        with read(record):
            assert wal.damage(record) is None
