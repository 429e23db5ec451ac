"""What is no record, and whose it is."""

import asyncio
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from punto.baccarat.table.order_kinds import CloseTable
from punto.controller.journal import schema
from punto.controller.journal.journal import Journal
from punto.controller.journal.recovery import replay
from punto.controller.journal.schema import RecordError
from tests.command import punto
from tests.controller.journal.records import start_on
from tests.controller.table_in_this_process import HERE, table
from tests.controller.table_on_a_machine import Table, replayed
from tests.deadline import DEADLINE


def _no_database(path: Path) -> None:
    path.write_bytes(b"these are the minutes of a meeting, and they are long enough\n" * 100)


def _other_program(path: Path) -> None:
    with closing(sqlite3.connect(path)) as shell:
        shell.executescript(
            "PRAGMA application_id = 77; CREATE TABLE photos (id); INSERT INTO photos VALUES (1)"
        )


def _of_format(number: int, path: Path) -> None:
    schema.open_for_writing(path).close()
    with closing(sqlite3.connect(path)) as shell:
        shell.execute(f"PRAGMA user_version = {number}")


def _half_a_record(path: Path) -> None:
    schema.open_for_writing(path).close()
    with closing(sqlite3.connect(path)) as shell:
        shell.execute("DROP TABLE inputs")


def _damaged(path: Path) -> None:
    asyncio.run(_some_inputs(path))
    content = bytearray(path.read_bytes())
    content[4096 : 3 * 4096] = os.urandom(2 * 4096)
    path.write_bytes(content)


async def _some_inputs(path: Path) -> None:
    async with table(path) as here:
        await here.begin_shoe()
        await here.play(30)


NO_RECORDS: list[tuple[Callable[[Path], None], str]] = [
    (_no_database, "file is not a database"),
    (_other_program, "is an SQLite file but not a record of this program: give another path"),
    *(
        (partial(_of_format, number), f"has record format {number}, but this program reads {schema.FORMAT}: ")
        for number in (schema.FORMAT - 1, schema.FORMAT + 1)
    ),
    (_half_a_record, "no such table: inputs"),
    (_damaged, "malformed|damaged"),
    (Path.mkdir, "unable to open|Is a directory"),
]
NAMES = ["no database", "another program's", "older", "newer", "half a record", "damaged", "a directory"]


@pytest.mark.parametrize(("make", "sentence"), NO_RECORDS, ids=NAMES)
def test_what_is_not_a_record_is_refused_and_left_as_it_was(tmp_path, make, sentence):
    own = Table(tmp_path, None)
    make(own.record)
    before = own.record.is_file() and own.record.read_bytes()
    done = punto("run", "--config", str(own.config))

    assert done.returncode == 1
    assert re.fullmatch(rf"punto run: .*({sentence}).*\n", done.stderr)
    assert (own.record.is_file() and own.record.read_bytes()) == before


@pytest.mark.parametrize(("make", "sentence"), NO_RECORDS, ids=NAMES)
def test_a_replay_of_what_is_not_a_record_says_so(tmp_path, make, sentence):
    make(tmp_path / "table.db")
    status, output = replayed(tmp_path / "table.db")

    assert status in {1, 2}
    assert "Traceback" not in output


def test_a_replay_of_nothing_says_so(tmp_path):
    status, output = replayed(tmp_path / "table.db")

    assert (status, output) == (2, f"punto replay: there is no record at {tmp_path / 'table.db'}\n")


@pytest.fixture
def elsewhere() -> Iterator[Path]:
    """A folder that other users can get at."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


AS_NOBODY = """
import asyncio, os, sys
from pathlib import Path
from punto.controller.journal.journal import Journal
from punto.controller.journal.schema import RecordError
if os.getuid() == 0:
    os.setuid(65534)
async def main():
    try:
        Journal.open(Path(sys.argv[1]))
    except RecordError as error:
        print(error)
asyncio.run(main())
"""


@pytest.mark.parametrize("path", ["table.db", "new/table.db", "own.db"])
def test_without_permission_it_says_which_file_and_why(elsewhere, path):
    (elsewhere / "own.db").touch(mode=0o400)
    (elsewhere / "own.db.lock").touch(mode=0o666)
    (elsewhere / "own.db.lock").chmod(0o666)
    elsewhere.chmod(0o555)
    done = subprocess.run(
        [sys.executable, "-c", AS_NOBODY, elsewhere / path],
        capture_output=True,
        text=True,
        check=False,
        cwd=HERE,
    )

    assert done.stderr == ""
    assert done.stdout.startswith(f"cannot open the record {elsewhere / path}: ")


def test_two_services_cannot_have_one_record(tmp_path):
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    with Table(tmp_path / "one", None) as first:
        second = Table(tmp_path / "two", None)
        second.record.symlink_to(first.record)  # by whatever name
        second.begin_to_start()

        assert second.process.wait(DEADLINE) == 1
        assert second.said()[-1] == (
            f"punto run: another service has the record {second.record} open: stop that service"
        )
        assert first.up()


async def test_a_service_whose_record_another_one_has_written_to_ends_and_says_so(tmp_path):
    record = tmp_path / "table.db"
    async with table(record) as first:
        await first.begin_shoe()
        (tmp_path / "table.db.lock").unlink()
        async with table(record) as second:
            await second.order(CloseTable("mei"))
        with pytest.raises(
            RecordError,
            match=r"^another program has written to this record, so this service has stopped writing. Make ",
        ):
            await first.draw()

    assert replay(record).difference is None


async def test_only_its_owner_and_its_group_may_read_a_record(tmp_path):
    async with table(tmp_path / "table.db") as here:
        await here.begin_shoe()

        assert {file.name: oct(file.stat().st_mode & 0o777) for file in tmp_path.iterdir()} == {
            f"table.db{more}": "0o640" for more in ("", "-wal", "-shm", ".lock")
        }


async def test_a_folder_that_is_not_there_is_reported_and_not_made(tmp_path):
    record = tmp_path / "ponto" / "table.db"
    with pytest.raises(
        RecordError, match=r"cannot open the record .*table\.db: No such file or directory; check"
    ):
        await start_on(record)

    assert not record.parent.exists()


async def test_a_closed_journal_can_be_opened_again(tmp_path):
    journal = Journal.open(tmp_path / "table.db")
    await journal.close()

    await start_on(tmp_path / "table.db")


def test_only_its_owner_reads_the_backup_that_the_guide_makes(tmp_path):
    page = (HERE / "docs" / "how-to" / "back-up-and-replay.md").read_text(encoding="utf-8")
    (commands,) = re.findall(r"\n## Back up\n.*?```sh\n(.*?)```", page, re.DOTALL)
    asyncio.run(_some_inputs(tmp_path / "table-1.db"))
    (tmp_path / "table-1.db").chmod(0o600)
    backup = tmp_path / "backup"
    backup.mkdir()
    assert "--to /backup/table-1 " in commands
    here = commands.replace("/backup/table-1 ", f"{backup} ").replace("punto ", f"{sys.executable} -m punto ")
    subprocess.run(["sh", "-ec", f"umask 022\n{here}"], cwd=tmp_path, check=True)  # as a shell begins

    (made,) = backup.iterdir()
    assert made.stat().st_mode & 0o777 == 0o600
    assert replay(made).rounds == replay(tmp_path / "table-1.db").rounds
