"""The table is got back from its record, whatever a crash kept from it."""

import asyncio
import json
import sqlite3
from contextlib import closing

import pytest

from punto.baccarat.table.events import ReverseMovement
from punto.baccarat.table.order_kinds import CallSupervisor
from punto.baccarat.table.state import TableState
from punto.controller.engine import SNAPSHOT_EVERY
from punto.controller.journal import recovery, schema
from punto.controller.journal.recovery import Recovered, replay
from punto.controller.journal.schema import SNAPSHOTS_KEPT, RecordError
from punto.controller.journal.snapshots import Snapshot
from tests.journal.records import INCIDENTS, make_earlier, recovered, start_on, table_of, take_snapshot
from tests.service.table_in_this_process import edited, rows, table
from tests.service.table_on_a_machine import (
    replayed,
)
from tests.service.test_progressive_record import AWARD, to_the_win
from tests.service.test_progressive_record import settings as progressive_settings


def test_the_table_from_the_snapshot_is_the_table_from_the_first_input(record, monkeypatch):
    last = rows(record, "SELECT max(seq) FROM snapshots")[0][0]
    from_first = recovered(record)
    monkeypatch.setattr(recovery, "FEW_INPUTS", 0)
    from_snapshot = recovered(record)

    assert from_first.table is not None
    assert from_snapshot.table is not None
    assert from_first.table.state == from_snapshot.table.state
    assert (from_snapshot.snapshot, from_snapshot.differences) == (last, [])


def test_a_start_reads_no_input_before_the_first_snapshot_that_is_kept(record, monkeypatch):
    monkeypatch.setattr(recovery, "FEW_INPUTS", 0)
    right = recovered(record).table
    with edited(record) as shell:
        shell.execute("UPDATE inputs SET payload = '' WHERE seq < (SELECT min(seq) FROM snapshots)")

    found = recovered(record).table
    assert right is not None
    assert found is not None
    assert found.state == right.state


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE progressive_log SET record = '{' WHERE kind = 'award_locked'",
        "UPDATE inputs SET payload = '{' WHERE seq = (SELECT input FROM incidents WHERE code = 'supervisor_called')",
    ],
)
async def test_a_row_that_only_a_start_reads_and_cannot_be_read_is_refused(tmp_path, monkeypatch, damage):
    monkeypatch.setattr(recovery, "FEW_INPUTS", 0)
    record = tmp_path / "table.db"
    async with table(record, progressive_settings()) as here:
        await to_the_win(here)
        await here.do(*AWARD)
        await here.order(CallSupervisor("mei", "a dispute"))
        await take_snapshot(here)
    with edited(record) as shell:
        assert shell.execute(damage).rowcount == 1

    with pytest.raises(
        RecordError, match=r"the record cannot be read: .*; the record is damaged: restore a backup"
    ):
        async with table(record, progressive_settings()):
            pass


async def test_a_snapshot_of_a_version_that_knew_less_is_passed_over_without_an_alarm(tmp_path, monkeypatch):
    record = tmp_path / "table.db"
    ours = Snapshot.of

    def theirs(seq: int, link: str, state: TableState) -> Snapshot:
        knew = json.loads(ours(seq, link, state).content)
        del knew["retired_progressives"], knew["happenings"]
        return Snapshot(seq, link, json.dumps(knew))

    async with table(record) as here:
        await here.begin_shoe()
        monkeypatch.setattr(Snapshot, "of", theirs)
        await take_snapshot(here)
        monkeypatch.undo()
        state = here.state
    assert rows(record, "SELECT count(*) FROM snapshots") == [(1,)]

    found = recovered(record)
    assert found == Recovered(found.table, snapshot=0, differences=[])
    assert found.table is not None
    assert found.table.state == state
    assert replay(record).difference is None


async def test_the_snapshots_of_an_earlier_format_are_not_trusted_and_go(record):
    before = table_of(record)
    make_earlier(record)
    with edited(record) as shell:
        shell.execute("UPDATE snapshots SET state = replace(state, 'mei', 'eve')")

    assert table_of(record) == before
    assert rows(record, "SELECT count(*) FROM snapshots") == [(0,)]
    with closing(sqlite3.connect(record)) as shell, pytest.raises(sqlite3.IntegrityError):
        shell.execute("INSERT INTO cursors VALUES ('rounds_sent', 1000)")


async def test_a_snapshot_is_taken_every_so_many_inputs_and_the_last_ones_are_kept(tmp_path):
    record = tmp_path / "table.db"
    async with table(record) as here:
        await here.hello()
        for _ in range((SNAPSHOTS_KEPT + 1) * SNAPSHOT_EVERY):
            await here.shoe(ReverseMovement(here.state.link.expected))
    taken = [seq for (seq,) in rows(record, "SELECT seq FROM snapshots ORDER BY seq")]

    assert taken == [number * SNAPSHOT_EVERY for number in range(2, SNAPSHOTS_KEPT + 2)]


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
        shell.executescript("DELETE FROM settlements WHERE round > 198; DELETE FROM rounds WHERE round > 198")
    status, output = replayed(record)

    assert status == 3
    assert "no difference in what is there, but the rows of 2 of the last inputs are missing: " in output

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
    assert refused[1].startswith("the table needs no keyed card now, ")


async def test_incidents_that_a_crash_kept_back_are_added_by_the_next_start(troubled):
    before = rows(troubled, "SELECT * FROM incidents")
    with edited(troubled) as shell:
        shell.execute("DELETE FROM incidents WHERE kind IN ('alarm', 'stop')")
    found = replay(troubled)
    assert (found.difference, found.waiting) == (None, 2)

    await start_on(troubled)

    assert rows(troubled, "SELECT * FROM incidents") == before


async def test_a_record_of_before_incidents_were_noted_is_given_all_of_them_by_the_next_start(troubled):
    async with table(troubled) as here:
        await take_snapshot(here)
    before = rows(troubled, "SELECT * FROM incidents")
    make_earlier(troubled, 1)
    assert replay(troubled).difference is None

    await start_on(troubled)

    assert rows(troubled, "SELECT * FROM incidents") == before
    assert replay(troubled).difference is None
    with closing(sqlite3.connect(troubled)) as shell, pytest.raises(sqlite3.IntegrityError):
        shell.execute("DELETE FROM incidents")
    # The earlier version, which would write no incidents, opens it no more.
    assert rows(troubled, "PRAGMA user_version") == [(schema.FORMAT,)]


async def test_incidents_that_are_gone_from_before_a_snapshot_are_missed_though_none_came_after(troubled):
    async with table(troubled) as here:
        await take_snapshot(here)
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

    assert status in {0, 3}
    assert output.splitlines()[-1].startswith("no difference")
