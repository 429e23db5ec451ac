"""The table is got back from its record, whatever a crash kept from it."""

import asyncio
import sqlite3
from contextlib import closing

import pytest

from controller.engine import SNAPSHOT_EVERY
from controller.journal import books, store
from controller.journal.entries import STATES
from controller.journal.recovery import replay
from controller.table.events import ReverseMovement
from tests.journal.records import INCIDENTS, start_on, table_of
from tests.service.table_in_this_process import edited, rows, table
from tests.service.table_on_a_machine import (
    replayed,
)


def test_the_table_from_the_snapshot_is_the_table_from_the_first_input(record):
    from_snapshot = table_of(record)
    with edited(record) as shell:
        shell.execute("DELETE FROM snapshots")

    assert table_of(record) == from_snapshot


def test_a_snapshot_that_cannot_be_read_is_passed_over_for_the_inputs(record):
    from_snapshot = table_of(record)
    with edited(record) as shell:
        shell.execute("UPDATE snapshots SET state = '{}'")

    assert table_of(record) == from_snapshot


def test_a_snapshot_of_a_version_that_knew_less_is_passed_over_by_a_replay_too(record):
    with edited(record) as shell:
        shell.execute(
            "UPDATE snapshots SET state = json_remove(state, '$.retired_progressives', '$.happenings')"
        )

    assert replay(record).difference is None


async def test_a_snapshot_is_taken_every_so_many_inputs_and_two_are_kept(tmp_path):
    record = tmp_path / "table.db"
    async with table(record) as here:
        await here.hello()
        for _ in range(3 * SNAPSHOT_EVERY):
            await here.shoe(ReverseMovement(here.state.link.expected))
    taken = [seq for (seq,) in rows(record, "SELECT seq FROM snapshots ORDER BY seq")]

    assert taken == [2 * SNAPSHOT_EVERY, 3 * SNAPSHOT_EVERY]


async def test_starts_again_and_again_do_not_put_the_snapshot_off(tmp_path):
    record = tmp_path / "table.db"
    for _ in range(3):
        async with table(record) as here:
            await here.hello()
            for _ in range(SNAPSHOT_EVERY // 2):
                await here.shoe(ReverseMovement(here.state.link.expected))

    assert rows(record, "SELECT count(*) FROM snapshots") == [(1,)]


async def test_rounds_that_a_crash_kept_from_their_table_are_added_by_the_next_start(record):
    with edited(record) as shell:
        before = shell.execute("SELECT * FROM rounds").fetchall()
        shell.executescript("DELETE FROM settlements WHERE round > 197; DELETE FROM rounds WHERE round > 197")
    status, output = replayed(record)

    assert status == 0
    assert "the last 3 rounds are not in their table yet: the next start of the service adds them" in output

    await start_on(record)

    assert rows(record, "SELECT * FROM rounds") == before
    assert replay(record).waiting == 0


async def test_what_was_out_of_the_ordinary_is_on_the_record_by_its_input(troubled):
    found = rows(troubled, "SELECT kind, code FROM incidents ORDER BY input")
    (refused,) = rows(
        troubled, "SELECT payload, text FROM incidents JOIN inputs ON seq = input WHERE kind = 'refused'"
    )

    assert found == INCIDENTS
    assert refused[0] == '{"who":"mei","card":"9S","position":null,"kind":"key_card"}'
    assert refused[1].startswith("no card is awaited: ")


async def test_incidents_that_a_crash_kept_back_are_added_by_the_next_start(troubled):
    before = rows(troubled, "SELECT * FROM incidents")
    with edited(troubled) as shell:
        shell.execute("DELETE FROM incidents WHERE kind IN ('alarm', 'stop')")
    assert replay(troubled).difference is None

    await start_on(troubled)

    assert rows(troubled, "SELECT * FROM incidents") == before


async def test_a_record_of_before_incidents_were_noted_is_given_all_of_them_by_the_next_start(troubled):
    async with table(troubled) as here:
        here.journal.add_snapshot(here.engine.seq, STATES.dump_json(here.state).decode())
    before = rows(troubled, "SELECT * FROM incidents")
    with edited(troubled) as shell:
        later = ("incidents", *books.NEVER_EDITED)
        shell.executescript("".join(f"DROP TABLE {name};" for name in later) + "PRAGMA user_version = 1")
    assert replay(troubled).difference is None

    await start_on(troubled)

    assert rows(troubled, "SELECT * FROM incidents") == before
    assert replay(troubled).difference is None
    with closing(sqlite3.connect(troubled)) as shell, pytest.raises(sqlite3.IntegrityError):
        shell.execute("DELETE FROM incidents")
    # The earlier version, which would write no incidents, opens it no more.
    assert rows(troubled, "PRAGMA user_version") == [(store.FORMAT,)]


async def test_incidents_that_are_gone_from_before_a_snapshot_are_missed_though_none_came_after(troubled):
    async with table(troubled) as here:
        here.journal.add_snapshot(here.engine.seq, STATES.dump_json(here.state).decode())
    with edited(troubled) as shell:
        shell.execute("DELETE FROM incidents")

    difference = replay(troubled).difference
    assert difference is not None
    assert difference.startswith("the incidents of input ")


async def test_a_replay_works_while_the_service_writes(tmp_path):
    record = tmp_path / "table.db"
    async with table(record) as here:
        await here.begin_shoe()
        replaying = asyncio.to_thread(replayed, record)
        replays = asyncio.create_task(replaying)
        while not replays.done():
            await here.play(1, seats=[2])
        status, output = await replays

    assert (status, output.splitlines()[-1]) == (0, "no difference")
