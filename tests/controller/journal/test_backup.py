"""Backups of a record, which are proven, and their restoration. Nothing is ever overwritten."""

import os
import re
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from punto.controller.journal import backup as backups
from punto.controller.journal.backup import back_up, restore
from punto.controller.journal.journal import Journal
from punto.controller.journal.recovery import Replayed, replay
from punto.controller.journal.schema import RecordError
from tests.command import punto
from tests.controller.table_in_this_process import table

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
        assert here.state.round.number == 6


async def test_a_running_table_is_not_restored(tmp_path):
    record = tmp_path / "table.db"
    async with table(record):
        made = back_up(record, tmp_path, NOW, "0.1.0")
        held = sorted(Path("/proc/self/fd").iterdir())
        with pytest.raises(RecordError, match="another service has the record"):
            restore(made.file, record, NOW, "0.1.0")
        assert sorted(Path("/proc/self/fd").iterdir()) == held  # the lock that was refused is not

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


async def test_a_backup_of_a_later_time_and_what_is_not_a_backup_of_the_record_remove_none(tmp_path):
    """The clock was ahead, or another program made files with names of backups."""
    record, folder = tmp_path / "table.db", tmp_path / "backups"
    folder.mkdir()
    async with table(record), table(tmp_path / "other.db") as other:
        await other.begin_shoe()
    ahead = [back_up(record, folder, NOW.replace(year=year), "0.1.0").file for year in (9998, 9999)]
    false = [folder / f"table.db.{NOW + timedelta(days=day):%Y%m%dT%H%M%S.%fZ}" for day in (-2, -1, 5)]
    false[1].touch()
    for each in (false[0], false[2]):
        back_up(tmp_path / "other.db", tmp_path, NOW, "0.1.0").file.rename(each)
    made = [back_up(record, folder, NOW + timedelta(hours=hour), "0.1.0", keep=2) for hour in range(3)]

    assert [each.removed for each in made] == [(), (), (made[0].file,)]
    assert [each.later for each in made] == [tuple(ahead)] * 3
    assert {*folder.iterdir()} == {*ahead, *false, made[1].file, made[2].file}
    ran = punto("backup", str(record), "--to", str(folder), "--keep", "1")
    assert ran.returncode == 0
    assert all(f"{each} has a time after this backup" in ran.stderr for each in ahead)


def _open_to_all(folder: Path) -> str:
    folder.chmod(0o777)
    return rf"other users can write to the folder {folder}.*chmod go-w"


def _of_another_user(folder: Path) -> str:
    os.chown(folder, 1, 1)
    return rf"the folder {folder} belongs to the user \S+, .*\(sudo -u \S+ punto \.\.\.\)"


def _below_another_users(folder: Path) -> str:
    return _of_another_user(folder.parent)


as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root to give a folder to another user")


@pytest.mark.parametrize(
    "give",
    [
        _open_to_all,
        pytest.param(_of_another_user, marks=as_root),
        pytest.param(_below_another_users, marks=as_root),
    ],
)
async def test_in_a_folder_in_which_another_user_can_exchange_files_nothing_is_written(tmp_path, give):
    """A link in the place of a file that root is about to write gives its user any file of the machine."""
    (tmp_path / "tables" / "own").mkdir(parents=True)
    theirs, record = tmp_path / "tables" / "own", tmp_path / "table.db"
    async with table(record):
        backup = back_up(record, tmp_path, NOW, "0.1.0").file
    shutil.copy(record, theirs / "table.db")
    (theirs / "new.db.lock").symlink_to(tmp_path / "nologin")
    (tmp_path / "link.db").symlink_to(theirs / "table.db")
    before = {*theirs.iterdir()}
    reason = give(theirs)

    for command in (
        ("backup", theirs / "table.db", "--to", tmp_path),
        ("backup", tmp_path / "link.db", "--to", tmp_path),
        ("backup", record, "--to", theirs),
        ("restore", backup, theirs / "new.db"),
        ("restore", backup, tmp_path / "link.db"),
    ):
        ran = punto(*map(str, command))
        assert ran.returncode == 2
        assert re.search(reason, ran.stderr)
    assert {*theirs.iterdir()} == before
    assert not (tmp_path / "nologin").exists()


async def test_a_link_in_the_place_of_a_lock_or_of_a_copy_is_not_followed(tmp_path):
    record, secret = tmp_path / "table.db", tmp_path / "secret"
    async with table(record):
        backup = back_up(record, tmp_path, NOW, "0.1.0").file
    secret.touch(0o600)
    (tmp_path / "new.db.lock").symlink_to(tmp_path / "nologin")
    with pytest.raises(RecordError, match="cannot open the record"):
        restore(backup, tmp_path / "new.db", NOW, "0.1.0")
    assert not (tmp_path / "nologin").exists()

    copy = tmp_path / "copy"

    class Exchanging(sqlite3.Connection):
        def backup(self, target: sqlite3.Connection, **_: Any) -> None:
            assert target.in_transaction is False
            copy.rename(tmp_path / "moved")
            copy.symlink_to(secret)

    record.chmod(0o640)
    source = sqlite3.connect(":memory:", factory=Exchanging)
    backups._copy(source, copy, record)
    assert secret.stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "moved").stat().st_mode & 0o777 == 0o640
    with pytest.raises(FileExistsError):
        backups._copy(source, copy, record)
    source.close()


async def test_what_is_restored_is_what_was_proven(tmp_path, monkeypatch, damaged):
    """The backup is exchanged as soon as it was replayed."""
    own = tmp_path / "own"
    own.mkdir()
    async with table(own / "table.db"):
        backup = back_up(own / "table.db", own, NOW, "0.1.0").file

    def exchanging(path: Path, version: str) -> Replayed:
        proof = replay(path, version=version)
        shutil.copy(damaged, backup)
        return proof

    monkeypatch.setattr(backups, "replay", exchanging)
    done = restore(backup, own / "table.db", NOW, "0.1.0")
    assert replay(backup).difference is not None
    assert (replay(own / "table.db").difference, replay(own / "table.db").head) == (None, done.proof.head)

    copy, before = backups._copy, {*own.iterdir()}

    def exchanging_back(*given: Any) -> None:
        copy(*given)
        shutil.copy(own / "table.db", backup)

    monkeypatch.setattr(backups, "_copy", exchanging_back)
    with pytest.raises(RecordError, match="choose another backup"):
        restore(backup, own / "table.db", NOW, "0.1.0")
    assert {*own.iterdir()} == before
    assert replay(own / "table.db").head == done.proof.head


async def test_a_record_that_is_restored_where_there_was_none_is_as_private_as_a_new_one(tmp_path):
    async with table(tmp_path / "table.db"):
        backup = back_up(tmp_path / "table.db", tmp_path, NOW, "0.1.0").file
    backup.chmod(0o777)
    restore(backup, tmp_path / "new.db", NOW, "0.1.0")
    known = (tmp_path / "new.db").stat()

    assert (known.st_mode & 0o777, known.st_uid) == (0o640, os.geteuid())


def test_a_folder_that_is_not_there_is_named(tmp_path):
    ran = punto("backup", str(tmp_path / "table.db"), "--to", str(tmp_path / "none"))

    assert (ran.returncode, f"the folder {tmp_path / 'none'} cannot be used: No such file" in ran.stderr) == (
        2,
        True,
    )


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

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(RecordError, match="No space left on device; nothing was removed"):
        back_up(tmp_path / "table.db", folder, NOW, "0.1.0")
    assert [*folder.iterdir()] == []
    copy = shutil.copy(tmp_path / "table.db", tmp_path / "copy.db")
    with pytest.raises(RecordError, match="cannot be restored"):
        restore(copy, tmp_path / "table.db", NOW, "0.1.0")
    assert replay(tmp_path / "table.db").difference is None
    await Journal.open(tmp_path / "table.db").close()
