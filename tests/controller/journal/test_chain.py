"""The hash of an input covers all that the record keeps of it, and what a person changes in any column is found."""

import asyncio
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from punto.baccarat.table.order_kinds import CallSupervisor, CloseTable
from punto.controller.journal import rows as following
from punto.controller.journal.entries import Entry, Recorded
from punto.controller.journal.recovery import replay
from tests.baccarat.table.croupier import BANKER_NATURAL
from tests.controller.journal.records import rewrite, take_snapshot
from tests.controller.table_in_this_process import edited, rows, table
from tests.controller.test_progressive_record import AWARD, settings, to_the_win
from tests.share import soaked

VERSION = "0.1.0"
CHANGED = r"input \d+ (is missing from the record$|of the record, or the input before it, was changed after )"


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A record with a row in every table, and with a refused input."""
    record = tmp_path_factory.mktemp("full") / "table.db"

    async def play() -> None:
        async with table(record, replace(settings(), commission="shoe_end")) as here:
            await to_the_win(here)
            await here.do(*AWARD, "wager 2 banker 500", f"draw {BANKER_NATURAL}")
            await here.order(CallSupervisor("mei", "a dispute"))
            await take_snapshot(here)
            await here.engine.submit([CloseTable("mei"), CloseTable("mei")], "operator mei")

    asyncio.run(play())
    return record


@pytest.fixture
def record(full: Path, tmp_path: Path) -> Path:
    shutil.copy(full, tmp_path / "table.db")
    return tmp_path / "table.db"


def columns_of(record: Path, name: str) -> dict[str, str]:
    """The columns of a table, and the type of each."""
    return dict(rows(record, f"SELECT name, type FROM pragma_table_info('{name}')"))  # noqa: S608


def other(value: Any, kind: str) -> Any:
    return (value or 0) + 1000 if kind == "INTEGER" else f"{value or ''}x"


@pytest.mark.parametrize("name", following.TABLES)
@pytest.mark.parametrize("version", [VERSION, *soaked("another")])
def test_each_column_of_each_row_that_follows_is_covered(record, name, version):
    (row, *_) = rows(record, f"SELECT * FROM {name}")  # noqa: S608 - names of tables
    columns = columns_of(record, name)
    assert replay(record, version=version).difference is None
    for (column, kind), value in zip(columns.items(), row, strict=True):
        same = " AND ".join(f"{each} IS ?" for each in columns)
        with edited(record) as shell:
            shell.execute("PRAGMA ignore_check_constraints = ON")
            update = f"UPDATE {name} SET {column} = ? WHERE {same}"  # noqa: S608 - names of columns
            assert shell.execute(update, (other(value, kind), *row)).rowcount == 1
        assert replay(record, version=version).difference is not None, column
        with edited(record) as shell:
            shell.execute(f"DELETE FROM {name} WHERE {column} IS ?", (other(value, kind),))  # noqa: S608
        assert replay(record, version=version).difference is not None, column
        with edited(record) as shell:
            shell.execute(f"INSERT INTO {name} VALUES ({', '.join('?' * len(row))})", row)  # noqa: S608
    assert replay(record, version=version).difference is None


def test_each_column_of_an_input_is_covered_by_its_hash(record):
    columns, entries = columns_of(record, "inputs"), rows(record, "SELECT * FROM inputs")
    assert [*columns] == ["seq", *Recorded._fields, "hash"]
    for row in (entries[0], entries[len(entries) // 2], entries[-1]):
        for (column, kind), value in zip(columns.items(), row, strict=True):
            with edited(record) as shell:
                shell.execute(f"UPDATE inputs SET {column} = ? WHERE seq = ?", (other(value, kind), row[0]))  # noqa: S608
            assert re.match(CHANGED, str(replay(record).difference)), column
            with edited(record) as shell:
                shell.execute(f"DELETE FROM inputs WHERE {column} = ?", (other(value, kind),))  # noqa: S608
                shell.execute(f"INSERT INTO inputs VALUES ({', '.join('?' * len(row))})", row)  # noqa: S608
    assert replay(record, version=VERSION).difference is None


@pytest.mark.parametrize(
    ("column", "value", "sentence"),
    [
        ("outcome", "refused not_now", "input {} [(]{}[)] was refused not_now, but this version of the program has it "),
        ("outcome", "failed " + "0" * 64, "input {} [(]{}[)] was failed 000000000000, but this version of the program has it "),
        ("outcome", "accepted", "input {} [(]{}[)] was accepted, but this version of the program has it refused not_now"),
        ("outcome", "lost", "input {} [(]{}[)] was lost, but this version of the program has it "),
        ("results", "0" * 64, "the rows of input {} are not those that the input's hash covers"),
        ("results", "", "the rows of input {} are not those that the input's hash covers"),
        ("state", "0" * 64, "the state after input {} is not the one that "),
        ("state", "", "the (state|snapshot) after input {} is not the one that "),
    ],
)  # fmt: skip
def test_what_became_of_an_input_follows_from_it_though_all_hashes_were_made_again(
    record, column, value, sentence
):
    """The chain alone does not protect a record of which no head was noted."""
    entries = rows(record, f"SELECT seq, {column}, payload ->> 'kind' FROM inputs ORDER BY seq")  # noqa: S608
    changed = [each for each in entries if each[1] != value]
    assert changed
    for seq, was, kind in changed:
        set_part(record, seq, column, value)
        found = replay(record, version=VERSION).differences
        assert any(re.match(sentence.format(seq, kind), each) for each in found), seq
        set_part(record, seq, column, was)


def set_part(record: Path, seq: int, column: str, value: str) -> None:
    def changed(entry: Entry) -> Recorded:
        return entry.recorded._replace(**{column: value}) if entry.seq == seq else entry.recorded

    rewrite(record, changed)
