"""A clock that was set is on the record: while the service runs, and while it did not."""

import os
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from punto.controller.clock_watch import ClockWatch
from punto.runtime import clock
from tests.controller.table_in_this_process import rows
from tests.controller.table_on_a_machine import Table, wait_until

NOW = datetime(2026, 11, 25, 12, 0, tzinfo=UTC)
STEPS = "SELECT json_extract(payload, '$.before'), json_extract(payload, '$.after') FROM inputs WHERE payload LIKE '%clock_stepped%'"


@pytest.mark.parametrize(
    ("set_by", "stepped"), [(0.5, False), (-0.9, False), (1, True), (-1, True), (3600, True)]
)
def test_a_step_of_a_second_is_seen_once(set_by, stepped):
    watch = ClockWatch(NOW, 50.0)
    assert watch.look(NOW + timedelta(seconds=10), 60.0) is None
    set_to = NOW + timedelta(seconds=20 + set_by)
    found = watch.look(set_to, 70.0)

    assert found == ((NOW + timedelta(seconds=20), set_to) if stepped else None)
    assert watch.look(set_to + timedelta(seconds=5), 75.0) is None


def test_a_process_that_stands_still_between_two_clocks_is_not_a_step(monkeypatch):
    seconds = iter([50.0, 52.0, 52.0, 52.0])  # it stood still for two seconds
    monkeypatch.setattr(clock, "monotonic", lambda: next(seconds))
    monkeypatch.setattr(clock, "now", lambda: NOW)

    assert clock.both() == (NOW, 52.0)


@pytest.mark.skipif(shutil.which("faketime") is None, reason="it needs faketime")
def test_a_clock_that_was_set_is_on_the_record(tmp_path, monkeypatch):
    setting = tmp_path / "clock"
    setting.write_text("+0")
    with Table(tmp_path, None) as table:
        assert rows(table.record, STEPS) == []
        table.kill()
        command = table._command
        faked = (
            "/usr/bin/env",
            f"LD_PRELOAD={_library()}",
            f"FAKETIME_TIMESTAMP_FILE={setting}",
            "FAKETIME_NO_CACHE=1",
            "DONT_FAKE_MONOTONIC=1",
        )
        monkeypatch.setattr(type(table), "begin_to_start", lambda self, **_: super(Table, self).start())
        table._command = (*faked, *command)
        table.start()
        assert rows(table.record, STEPS) == []
        setting.write_text("+3600")
        wait_until(lambda: len(rows(table.record, STEPS)) == 1, "it was set forward")
        table.kill()
        setting.write_text("+0")
        table.start()
        wait_until(lambda: len(rows(table.record, STEPS)) == 2, "it was set back while the service was off")

    forward, back = rows(table.record, STEPS)
    assert (
        timedelta(minutes=59)
        < datetime.fromisoformat(forward[1]) - datetime.fromisoformat(forward[0])
        < timedelta(minutes=61)
    )
    assert datetime.fromisoformat(back[1]) < datetime.fromisoformat(back[0])


def _library() -> str:
    folders = (f"/usr/lib/{os.uname().machine}-linux-gnu/faketime", "/usr/lib/faketime")
    return next(f"{each}/libfaketime.so.1" for each in folders if Path(each).is_dir())
