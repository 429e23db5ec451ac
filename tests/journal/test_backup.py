"""Backups of a record, which are proven, and their restoration. Nothing is ever overwritten."""

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest

from punto.controller.journal import backup as backups
from punto.controller.journal.backup import back_up, restore
from punto.controller.journal.journal import Journal
from punto.controller.journal.recovery import replay
from punto.controller.journal.schema import RecordError
from tests.command import punto
from tests.service.table_in_this_process import table

NOW = datetime(2026, 11, 25, 12, 0, tzinfo=UTC)


async def test_a_running_table_is_backed_up_and_continues_where_the_backup_ended(tmp_path):
    record, folder = tmp_path / "table.db", tmp_path / "backups"
    folder.mkdir()
    async with table(record) as here:
        await here.begin_shoe()
        await here.play(5)
        record.chmod(0o640)
        made = back_up(record, folder, NOW, "0.1.0")
        await here.play(5)
    assert made.proof.difference is None
    assert made.file.stat().st_mode & 0o777 == 0o640
    assert [each.name for each in folder.iterdir()] == [made.file.name]

    done = restore(made.file, record, NOW + timedelta(hours=1), "0.1.0")
    assert done.proof.rounds == replay(record).rounds == 5
    (kept,) = done.moved
    assert replay(kept).rounds == 10
    async with table(record) as here:
        assert here.state.round == 6


async def test_a_running_table_is_not_restored(tmp_path):
    record = tmp_path / "table.db"
    async with table(record):
        made = back_up(record, tmp_path, NOW, "0.1.0")
        with pytest.raises(RecordError, match="another service has the record"):
            restore(made.file, record, NOW, "0.1.0")

    assert [each.name for each in tmp_path.iterdir() if "re" in each.suffix] == []  # .restoring, .replaced


@pytest.fixture
async def damaged(tmp_path):
    """A record with an input that was changed, whose triggers are there."""
    record = tmp_path / "table.db"
    async with table(record) as here:
        await here.begin_shoe()
        await here.play(2)
    with closing(sqlite3.connect(record)) as connection:
        (trigger,) = connection.execute(
            "SELECT sql FROM sqlite_master WHERE name = 'inputs_no_update'"
        ).fetchone()
        connection.execute("DROP TRIGGER inputs_no_update")
        connection.execute("UPDATE inputs SET ts = replace(ts, '2', '1') WHERE seq = 2")
        connection.execute(trigger)
        connection.commit()
    return record


def test_what_is_not_proven_is_kept_apart_removes_nothing_and_is_not_restored(tmp_path, damaged):
    folder = tmp_path / "backups"
    folder.mkdir()
    old = folder / f"table.db.{NOW - timedelta(days=1):%Y%m%dT%H%M%S.%fZ}"
    old.touch()
    ran = punto("backup", str(damaged), "--to", str(folder), "--keep", "1")
    assert ran.returncode == 1
    assert "differs from what its inputs give" in ran.stderr
    (copy,) = [each for each in folder.iterdir() if each != old]
    assert copy.suffix == ".part"

    ran = punto("restore", str(copy), str(tmp_path / "new.db"))
    assert (ran.returncode, (tmp_path / "new.db").exists()) == (2, False)
    assert "choose another backup" in ran.stderr


async def test_the_oldest_backups_of_the_same_record_alone_are_removed(tmp_path):
    async with table(tmp_path / "table.db"), table(tmp_path / "table.db.2"):
        pass
    (tmp_path / "table.db.notes").touch()
    other = back_up(tmp_path / "table.db.2", tmp_path, NOW, "0.1.0", keep=1).file
    made = [
        back_up(tmp_path / "table.db", tmp_path, NOW + timedelta(days=day), "0.1.0", keep=2)
        for day in range(4)
    ]

    assert [len(each.removed) for each in made] == [0, 0, 1, 1]
    assert [each.file.exists() for each in made] == [False, False, True, True]
    assert other.exists()


@pytest.mark.parametrize("step", ["copied", "before it is set aside", "set aside"])
async def test_a_restore_that_is_interrupted_is_repeated_before_a_service_opens_the_record(
    tmp_path, monkeypatch, step
):
    record = tmp_path / "table.db"
    async with table(record) as here:
        await here.begin_shoe()
        made = back_up(record, tmp_path, NOW, "0.1.0")
        await here.play(2)

    def killed(after: Callable[..., object] = lambda *_: None) -> Callable[..., None]:
        def run(*given: object) -> None:
            after(*given)
            raise KeyboardInterrupt

        return run

    with monkeypatch.context() as broken:
        if step == "copied":
            broken.setattr(backups, "_copy", killed(backups._copy))
        elif step == "before it is set aside":
            broken.setattr(backups, "_set_aside", killed())
        else:
            broken.setattr(backups, "_set_aside", killed(backups._set_aside))
        with pytest.raises(KeyboardInterrupt):
            restore(made.file, record, NOW, "0.1.0")
    with pytest.raises(RecordError, match=r"was interrupted: run `punto restore` again"):
        Journal.open(record)

    restore(made.file, record, NOW + timedelta(seconds=1), "0.1.0")
    assert replay(record).inputs == made.proof.inputs
    assert len([each for each in tmp_path.iterdir() if each.name.endswith(".replaced")]) == 1
    await Journal.open(record).close()


async def test_a_disk_without_room_leaves_neither_a_backup_nor_a_changed_record(tmp_path, monkeypatch):
    async with table(tmp_path / "table.db"):
        pass
    folder = tmp_path / "backups"
    folder.mkdir()

    def full(*_: object) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(backups, "_sync", full)
    with pytest.raises(RecordError, match="No space left on device; nothing was removed"):
        back_up(tmp_path / "table.db", folder, NOW, "0.1.0")
    assert [*folder.iterdir()] == []
    copy = shutil.copy(tmp_path / "table.db", tmp_path / "copy.db")
    with pytest.raises(RecordError, match="cannot be restored"):
        restore(copy, tmp_path / "table.db", NOW, "0.1.0")
    assert replay(tmp_path / "table.db").difference is None
    await Journal.open(tmp_path / "table.db").close()
