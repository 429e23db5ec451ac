"""The record is durable, in order and chained, and nobody edits it with a shell."""

import asyncio
import hashlib
import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from tests.controller.journal.records import call, take_snapshot
from tests.controller.table_in_this_process import rows, table

pytestmark = pytest.mark.disk


async def test_a_commit_is_on_the_disk_when_it_returns(tmp_path):
    async with table(tmp_path / "table.db") as here:
        connection = here.journal.connection
        found = {
            name: connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("journal_mode", "synchronous", "foreign_keys")
        }

    assert found == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1}  # 2 is FULL


async def test_what_waits_is_committed_together_and_in_order(tmp_path):
    async with table(tmp_path / "table.db") as here:
        commits: list[str] = []
        here.journal.connection.set_trace_callback(
            lambda sql: commits.append(sql) if sql == "COMMIT" else None
        )
        before = here.journal.last_seq
        handled: list[int] = []
        await asyncio.gather(
            *(
                here.journal.append(
                    [call(here, f"call {n}") for _ in range(n % 3 + 1)], None, partial(handled.append, n)
                )
                for n in range(100)
            )
        )
        here.journal.connection.set_trace_callback(None)
    found = rows(tmp_path / "table.db", "SELECT seq, payload ->> '$.reason' FROM inputs ORDER BY seq")[
        before:
    ]
    calls = [f"call {n}" for n in range(100) for _ in range(n % 3 + 1)]

    assert [call for _, call in found] == calls
    assert [seq for seq, _ in found] == list(range(before + 1, before + 1 + len(calls)))
    assert handled == list(range(100))
    assert len(commits) < 20


@pytest.fixture
def filled(troubled: Path) -> Path:
    """A record with a row in each table that a table without a progressive fills."""

    async def fill() -> None:
        async with table(troubled) as here:
            await take_snapshot(here)
            here.journal.rounds_were_sent(1)

    asyncio.run(fill())
    return troubled


def test_every_input_is_chained_to_the_one_before(played):
    before = "0" * 64
    found = rows(
        played, "SELECT hash, seq, ts, source, payload, outcome, results, state FROM inputs ORDER BY seq"
    )
    for link, *covered in found:
        before = hashlib.sha256("\n".join([before, *map(str, covered)]).encode()).hexdigest()

        assert link == before


@pytest.mark.parametrize(
    ("name", "column"),
    [
        *(("inputs", "rowid"), ("rounds", "rowid"), ("settlements", "seat"), ("incidents", "place")),
        *(("snapshots", "seq"), ("cursors", "at")),
        *(("games", "rules"), ("decided", "rule"), ("expectations", "mean")),
    ],
)
@pytest.mark.parametrize("change", ["UPDATE {} SET {} = {}", "DELETE FROM {}"])
def test_a_person_with_a_shell_cannot_edit_the_record(filled, name, column, change):
    change = change.format(name, column, column)
    with (
        closing(sqlite3.connect(filled)) as shell,
        pytest.raises(
            sqlite3.IntegrityError,
            match=r"the record is never edited|the last snapshots are kept|a cursor is only set",
        ),
    ):
        shell.execute(change)


@pytest.mark.parametrize("at", [3, 0, -1])
def test_a_person_with_a_shell_cannot_set_a_cursor_back_or_beyond_the_rounds(filled, at):
    with (
        closing(sqlite3.connect(filled)) as shell,
        pytest.raises(sqlite3.IntegrityError, match="a cursor goes forward, and not beyond the last round"),
    ):
        shell.execute("REPLACE INTO cursors VALUES ('rounds_sent', ?)", (at,))


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("settlements", "(999, 7, 'tie', 'win', 100, 900, 800, 'tie', '0')"),
        ("rounds", "(999, 999999, '', '', 1, 1, 'played', '', '', 0, 0, NULL, '')"),
        ("games", "(999, 'mini-baccarat', '', '{}')"),
        ("decided", "(999, 'tie', 'tie')"),
        ("incidents", "(999999, 0, 'alarm', 'eve', 'eve')"),
        ("commissions", "(999999, 0, 2, 'waived', -50, 0, NULL, NULL)"),
        ("postings", "(999999, 0, '', '', 1, '', 0, 0, 0, 0, 0, 0, 0, '', '', 0, 0, '', '', '')"),
        ("progressive_rounds", "(999999, 0, '', '', '', 1, 1, 1, '')"),
        ("progressive_log", "(999999, 0, '', '', '', NULL, '')"),
        ("snapshots", "(999999, '{}')"),
    ],
)
def test_a_person_with_a_shell_cannot_add_a_row_of_no_round_or_input(troubled, name, row):
    with (
        closing(sqlite3.connect(troubled)) as shell,
        pytest.raises(sqlite3.IntegrityError, match=r"the record has no such (round|input)"),
    ):
        shell.execute(f"INSERT OR IGNORE INTO {name} VALUES {row}")  # noqa: S608 - a literal


@pytest.mark.parametrize(
    ("name", "key", "columns"),
    [
        ("inputs", "seq", "seq, ts, 'operator eve', payload, outcome, results, state, hash"),
        ("rounds", "round", "round, input, ts, game, shoe, coup, status, player, banker, 0, 0, 'tie', record"),
        ("settlements", "round", "round, seat, wager, outcome, stake, returned + 1, net + 1, rule, remainder"),
        ("incidents", "input", "input, place, kind, code, 'nothing happened'"),
        ("games", "round", "round, name, 'others', definition"),
        ("decided", "round", "round, wager, 'tie'"),
        ("expectations", "rules", "rules, wager, rule, 0.5, variance"),
    ],
)  # fmt: skip
def test_a_person_with_a_shell_cannot_replace_a_row(filled, name, key, columns):
    with (
        closing(sqlite3.connect(filled)) as shell,
        pytest.raises(sqlite3.IntegrityError, match="the record is never edited"),
    ):
        shell.execute(f"REPLACE INTO {name} SELECT {columns} FROM {name} ORDER BY {key} LIMIT 1")  # noqa: S608


def test_a_person_with_a_shell_cannot_replace_a_snapshot(filled):
    with (
        closing(sqlite3.connect(filled)) as shell,
        pytest.raises(sqlite3.IntegrityError, match="the record is never edited"),
    ):
        shell.execute("REPLACE INTO snapshots SELECT seq, replace(state, 'mei', 'eve') FROM snapshots")
