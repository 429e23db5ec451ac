"""A record that cannot be written ends the service."""

import asyncio
import os
import resource
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from punto.baccarat.table.order_kinds import CloseTable
from punto.controller.journal import schema
from punto.controller.journal.schema import RecordError
from tests.controller.journal.records import call
from tests.controller.table_in_this_process import rows, table
from tests.controller.table_on_a_machine import (
    Broker,
    Listener,
    Shoe,
    Table,
    expected_rounds,
    replayed,
    rounds,
    shoe_records,
    wait_until,
)
from tests.deadline import DEADLINE

pytestmark = pytest.mark.disk


async def test_what_goes_wrong_once_inputs_are_committed_is_heard_though_nobody_waits(tmp_path):
    def goes_wrong() -> None:
        raise AssertionError("it went wrong")

    async with table(tmp_path / "table.db") as here:
        here.journal.append([call(here)], None, goes_wrong).cancel()
        await asyncio.wait([here.watch], timeout=DEADLINE)

        assert isinstance(here.watch.exception(), AssertionError)


async def test_a_failure_reaches_everybody_and_nothing_after_it_is_taken(tmp_path):
    async with table(tmp_path / "table.db") as here:
        await here.begin_shoe()
        pages = here.journal.connection.execute("PRAGMA page_count").fetchone()[0]
        here.journal.connection.execute(f"PRAGMA max_page_count = {pages}")
        state = here.state
        waiting: list[asyncio.Future[Any]] = [
            here.journal.append([call(here, "x" * 9000)], None, lambda: None),
            asyncio.create_task(here.journal.rounds_after(0, 10)),
        ]
        await asyncio.sleep(0)
        waiting.append(asyncio.create_task(here.journal.rounds_after(0, 10)))
        done, _ = await asyncio.wait([*waiting, here.watch], timeout=DEADLINE)

        assert all(isinstance(task.exception(), RecordError) for task in done)
        assert len(done) == 4
        with pytest.raises(RecordError, match="could not be written: database or disk is full; make room"):
            await here.order(CloseTable("mei"))
        assert here.state is state


def test_a_start_on_a_full_disk_says_so_before_sqlite_maps_its_memory(tmp_path, monkeypatch):
    """A house of real processes found it: SIGBUS ended a start on a full ext4, without a word."""
    statvfs, path = os.statvfs, tmp_path / "table.db"
    blocks = schema.LEAST_FREE_BYTES // statvfs(tmp_path).f_frsize

    def left(at: Path, number: int) -> mock.Mock:
        return mock.Mock(f_bavail=number, f_frsize=statvfs(at).f_frsize)

    schema.open_for_writing(path).close()
    monkeypatch.setattr(os, "statvfs", lambda at: left(at, blocks))
    schema.open_for_writing(path).close()
    monkeypatch.setattr(os, "statvfs", lambda at: left(at, blocks - 1))
    with pytest.raises(
        RecordError, match=r"is full: it has [0-9]+ bytes left; make room for at least 262144"
    ):
        schema.open_for_writing(path)


def test_a_full_disk_ends_the_process_and_a_start_with_room_goes_on(tmp_path):
    with Broker(tmp_path) as broker, Table(tmp_path, broker) as own:
        shoe = Shoe(own.port, "--seed", "full", "--pace", "0.05", "--between", "0")
        with Listener(tmp_path, broker.port) as listener, shoe:
            own.begin_shoe()
            wait_until(lambda: len(rounds(own.record)) > 3 and listener.heard("state"), "some rounds")
            size = own.record.with_name("table.db-wal").stat().st_size
            resource.prlimit(own.process.pid, resource.RLIMIT_FSIZE, (size + 50_000, resource.RLIM_INFINITY))
            status = own.process.wait(DEADLINE)
            held = len(shoe_records(own.record))
            heard = listener.heard("event")

            assert status == 1
            (said,) = (line for line in own.said() if not line.startswith("{"))
            reason = said.removeprefix("punto run: ")
            assert reason.startswith(
                "the record could not be written: disk I/O error (SQLITE_IOERR_WRITE); the disk"
            )
            wait_until(
                lambda: (
                    f"the service failed: {reason}"
                    in {each.payload["reason"] for each in listener.heard("availability")}
                ),
                "the table says why it is away",
            )
            assert (
                listener.heard("state")[-1].payload["seq"]
                <= rows(own.record, "SELECT max(seq) FROM inputs")[0][0]
            )

            own.start()
            wait_until(lambda: len(shoe_records(own.record)) > held + 50, "play goes on")

        played, records = rounds(own.record), shoe_records(own.record)  # once: the last may still be coming
        assert played == expected_rounds("full", 1)[: len(played)]
        assert records == list(range(1, len(records) + 1))
        assert own.stop() == 0
    assert [event.payload["seq"] for event in heard] == list(
        range(heard[0].payload["seq"], heard[0].payload["seq"] + len(heard))
    )
    status, output = replayed(own.record)
    assert (status, output.splitlines()[-1]) == (0, "no difference")
