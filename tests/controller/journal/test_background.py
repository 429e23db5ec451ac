"""The record is replayed while the service runs, in a process of its own, and a difference is an alarm."""

import asyncio
import os
import signal
import subprocess
import sys
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest
import structlog

from punto.baccarat.table.events import RecordDiffers
from punto.controller.health import HealthReport
from punto.controller.journal import background
from punto.controller.journal.background import PROGRAM, BackgroundReplay
from punto.messages.models import Health
from tests.controller.table_in_this_process import Table, edited, eventually, rows, table
from tests.controller.table_on_a_machine import Table as Service
from tests.controller.table_on_a_machine import wait_until
from tests.deadline import DEADLINE


@asynccontextmanager
async def replaying(record):
    async with table(record) as here:
        replay = BackgroundReplay(
            record, here.journal, lambda found: here.engine.submit([RecordDiffers(found)], "service")
        )
        task = asyncio.create_task(replay.run())
        try:
            yield here
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


def health(here: Table) -> Health:
    return HealthReport(here.engine, here.journal, here.outbox).message(datetime.now(UTC), {})


def replays() -> list[int]:
    """The processes of this one that replay."""
    found = []
    for pid in Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split():
        with suppress(OSError):
            if b"punto.controller.journal.background" in Path(f"/proc/{pid}/cmdline").read_bytes():
                found.append(int(pid))
    return found


@pytest.fixture(autouse=True)
def _at_once(monkeypatch):
    monkeypatch.setattr(background, "FIRST_AFTER_SECONDS", 0)


@pytest.mark.soak
async def test_a_record_without_a_difference_is_said_to_be_so_in_health(record):
    async with replaying(record) as here:
        assert health(here).replay is None
        await eventually(lambda: here.journal.replayed, "a replay has finished")
        replay = health(here).replay

    assert replay is not None
    assert (replay.rounds, replay.difference) == (200, None)
    assert replay.inputs > 1000
    assert here.state.alarms == ()


async def test_a_difference_that_a_start_does_not_see_is_an_alarm_without_the_cards(record):
    with edited(record) as shell:
        shell.execute("UPDATE rounds SET player = 'KS KS' WHERE round = 2")

    with structlog.testing.capture_logs() as logs:
        async with replaying(record) as here:
            assert here.state.alarms == ()
            await eventually(lambda: here.state.alarms, "the alarm")
            (alarm,) = here.state.alarms
            replay = health(here).replay

    assert (alarm.code, alarm.text.partition(":")[0]) == ("record_differs", "round 2 differs")
    assert "KS" not in alarm.text
    assert replay is not None
    assert replay.difference == "round 2 differs"
    assert rows(record, "SELECT kind, code FROM incidents") == [("alarm", "record_differs")]
    (difference,) = (each for each in logs if each["event"] == "the record differs")
    assert "player: KS KS on the record" in difference["found"]


async def test_it_gives_way_to_everything_else_and_play_goes_on(record):
    async with replaying(record) as here:
        await eventually(replays, "the process")
        (process,) = replays()
        await eventually(lambda: os.getpriority(os.PRIO_PROCESS, process) == 19, "it is nice")
        os.kill(process, signal.SIGSTOP)
        assert (
            "pydantic" not in Path(f"/proc/{process}/maps").read_text()
        )  # it was nice before it loaded the program
        await here.begin_shoe()
        await here.play(1)
        assert replays() == [process]
        assert here.journal.replayed is None
        os.kill(process, signal.SIGCONT)
        await eventually(lambda: here.journal.replayed, "it finished")


@pytest.mark.soak
async def test_there_is_one_at_a_time_and_it_comes_again(short, monkeypatch):
    monkeypatch.setattr(background, "EVERY_SECONDS", 0)
    seen = set()
    async with replaying(short) as here:
        finished: set[str] = set()
        while len(finished) < 3:
            assert len(replays()) <= 1
            seen.update(replays())
            if here.journal.replayed is not None:
                finished.add(here.journal.replayed.finished)
            await asyncio.sleep(0.01)

    assert len(seen) >= 3


@pytest.mark.soak
async def test_one_that_broke_off_is_begun_again(record, monkeypatch):
    monkeypatch.setattr(background, "AGAIN_AFTER_SECONDS", 0)
    async with replaying(record) as here:
        await eventually(replays, "the process")
        os.kill(replays()[0], signal.SIGKILL)
        await eventually(lambda: here.journal.replayed, "another one finished")

    assert here.state.alarms == ()


async def test_it_ends_with_the_service(record):
    async with replaying(record):
        await eventually(replays, "the process")

    assert replays() == []


def test_it_ends_when_the_service_was_killed(record):
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM, record],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=DEADLINE,
        check=False,
    )

    assert (ran.returncode, ran.stdout) == (1, b"")


def test_the_service_replays_its_record_after_its_start(tmp_path):
    own = Service(tmp_path, None)
    with own:
        own.order("sign_on")
        own.order("call_supervisor", reason="a dispute")
        own.stop()
        with edited(own.record) as shell:
            shell.execute("UPDATE incidents SET text = 'lunch'")
        own.start()
        wait_until(
            lambda: rows(own.record, "SELECT 1 FROM incidents WHERE code = 'record_differs'"), "the alarm"
        )

    assert rows(own.record, "SELECT text FROM incidents WHERE code = 'record_differs'")[0][0].startswith(
        "the incidents of input "
    )
