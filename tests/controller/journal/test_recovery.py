"""The table is recovered from its record."""

import asyncio
import json

import pytest

from punto.baccarat.table.events import ReverseMovement
from punto.baccarat.table.order_kinds import CallSupervisor
from punto.controller.engine import SNAPSHOT_EVERY
from punto.controller.journal import recovery
from punto.controller.journal.evidence_verifier import state_digest
from punto.controller.journal.recovery import replay
from punto.controller.journal.schema import SNAPSHOTS_KEPT, RecordError
from tests.controller.journal.records import INCIDENTS, recovered, rewrite, take_snapshot
from tests.controller.table_in_this_process import edited, rows, table
from tests.controller.table_on_a_machine import replayed
from tests.controller.test_progressive_record import AWARD, to_the_win
from tests.controller.test_progressive_record import settings as progressive_settings


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


async def test_a_snapshot_of_a_version_that_knew_less_is_passed_over_without_an_alarm(tmp_path):
    record = tmp_path / "table.db"
    async with table(record) as here:
        await here.begin_shoe()
        await take_snapshot(here)
        state = here.state
    ((seq, content),) = rows(record, "SELECT seq, state FROM snapshots")
    knew = json.loads(content)
    del knew["retired_progressives"], knew["happenings"]
    with edited(record) as shell:
        shell.execute("UPDATE snapshots SET state = ?", (json.dumps(knew),))
    rewrite(
        record,
        lambda entry: (
            entry.recorded._replace(state=state_digest(knew)) if entry.seq == seq else entry.recorded
        ),
    )

    found = recovered(record)
    assert (found.snapshot, found.differences) == (0, [])
    assert found.table is not None
    assert found.table.state == state
    assert replay(record).difference is None


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


async def test_what_was_out_of_the_ordinary_is_on_the_record_by_its_input(troubled):
    found = rows(troubled, "SELECT kind, code FROM incidents ORDER BY input")
    (refused,) = rows(
        troubled, "SELECT payload, text FROM incidents JOIN inputs ON seq = input WHERE kind = 'refused'"
    )

    assert found == INCIDENTS
    assert refused[0] == '{"who":"mei","card":"9S","position":null,"kind":"key_card"}'
    assert refused[1].startswith("the table needs no keyed card now, ")


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

    assert (status, output.splitlines()[-1]) == (0, "no difference")
