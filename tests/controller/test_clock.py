"""A start waits for a clock that can be right; one that was set is on the record, while the service runs and while it did not."""

import asyncio
import ctypes
import os
import re
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from punto.baccarat.table.turn import RefusedError
from punto.commands.cli import main
from punto.controller import clock_watch
from punto.controller.clock_watch import RELEASED, WAIT_SECONDS, ClockWatch, wait_for_clock
from punto.controller.engine import HouseRules
from punto.runtime import clock
from punto.version import released
from tests.controller.table_in_this_process import rows, table
from tests.controller.table_on_a_machine import Table, wait_until

NEVER_SET = datetime(1970, 1, 1, 0, 0, 30, tzinfo=UTC)
NOW = RELEASED + timedelta(days=30)
STEPS = "SELECT json_extract(payload, '$.before'), json_extract(payload, '$.after') FROM inputs WHERE payload LIKE '%clock_stepped%'"


def test_a_house_whose_clock_is_not_set_does_not_start(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(clock_watch, "WAIT_SECONDS", 0.0)
    monkeypatch.setattr(clock, "now", lambda: NEVER_SET)
    config = tmp_path / "house.toml"
    config.write_text('version = 1\n[store]\npath = "store.db"\n', encoding="utf-8")

    assert main(["game-manager", "--config", str(config)]) == 1
    assert "the clock of this PC shows 1970-01-01" in capsys.readouterr().err


async def test_a_configuration_that_was_read_by_the_law_of_another_day_is_refused(tmp_path):
    house = HouseRules(outlawed=lambda _: "player has a maximum of 5,000.00, but the law allows only 300.00")
    with pytest.raises(RefusedError, match=r"allows only 300\.00\. Correct the game and the limits"):
        async with table(tmp_path / "table.db", house=house):
            pass


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


class Clocks:
    """The clocks of a PC on which the wall clock shows `shown`, and is set to NOW after some seconds.

    The PC was started `booted` seconds ago, and its clock is synchronised after `synchronised_after` more; nothing says so if this is None.
    """

    def __init__(
        self,
        monkeypatch: pytest.MonkeyPatch,
        shown: datetime,
        set_after: float,
        booted: float = 1e6,
        synchronised_after: float | None = None,
    ) -> None:
        self.seconds = 0.0
        after = synchronised_after
        monkeypatch.setattr(clock, "since_boot", lambda: booted + self.seconds)
        monkeypatch.setattr(clock, "synchronised", lambda: None if after is None else self.seconds >= after)
        monkeypatch.setattr(clock, "now", lambda: shown if self.seconds < set_after else NOW)
        monkeypatch.setattr(clock, "monotonic", lambda: self.seconds)
        monkeypatch.setattr(asyncio, "sleep", self._sleep)

    async def _sleep(self, seconds: float) -> None:
        self.seconds += seconds


EARLIER, LATER = NOW - timedelta(hours=1), NOW + timedelta(hours=1)
SOON, NEVER = 5.0, 10 * WAIT_SECONDS


@pytest.mark.parametrize(
    ("shown", "set_after", "last", "waited"),
    [
        (NOW, 0, None, 0),
        (NOW, 0, EARLIER, 0),
        (NOW, 0, NOW + timedelta(seconds=0.9), 0),
        (NEVER_SET, SOON, None, SOON),
        (NEVER_SET, SOON, EARLIER, SOON),
        (EARLIER - timedelta(days=1), SOON, EARLIER, SOON),
        (NOW, NEVER, LATER, WAIT_SECONDS),  # the clock before may have been the wrong one
    ],
)  # fmt: skip
async def test_a_start_waits_until_the_clock_can_be_right(
    monkeypatch, log_lines, shown, set_after, last, waited
):
    clocks = Clocks(monkeypatch, shown, set_after)
    await wait_for_clock(last)

    assert clocks.seconds == waited
    assert [line["event"] for line in log_lines].count("waiting for the clock") == (waited > 0)


@pytest.mark.parametrize(
    ("booted", "synchronised_after", "waited"),
    [
        (10, 0, 0),
        (10, SOON, SOON),
        (10, NEVER, WAIT_SECONDS - 10),  # a PC without a network plays too
        (10, None, 0),
        (WAIT_SECONDS, NEVER, 0),  # a restart in the middle of a hand
    ],
)
async def test_a_start_with_the_pc_waits_for_a_synchronised_clock_and_says_so(
    monkeypatch, log_lines, booted, synchronised_after, waited
):
    clocks = Clocks(monkeypatch, NOW, 0, booted, synchronised_after)
    await wait_for_clock(EARLIER)

    assert clocks.seconds == waited
    reasons = [line["reason"] for line in log_lines if line["event"] == "waiting for the clock"]
    assert len(reasons) == (waited > 0)
    assert all("no program has synchronised the clock of this PC" in each for each in reasons)


@pytest.mark.parametrize(
    ("kernel", "timesync", "synchronised", "known"),
    [(0, False, False, True), (5, False, False, False), (5, True, False, False), (5, True, True, True),
     (-1, False, False, None), (-1, True, False, False), (-1, True, True, True)],
)  # fmt: skip
def test_the_kernel_or_timesyncd_says_whether_the_clock_is_synchronised(
    tmp_path, monkeypatch, kernel, timesync, synchronised, known
):
    file = tmp_path / "timesync" / "synchronized"
    if timesync:
        file.parent.mkdir()
    if synchronised:
        file.touch()
    monkeypatch.setattr(clock, "_TIMESYNC", file)

    class Library:
        def adjtimex(self, _: object) -> object:
            return kernel

    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: Library())

    assert clock.synchronised() is known


@pytest.mark.parametrize("last", [None, EARLIER])
@pytest.mark.parametrize("before", [timedelta(seconds=1), timedelta(days=1)])
async def test_a_clock_before_the_newest_release_of_the_changelog_is_refused(monkeypatch, last, before):
    """Nobody has to raise a figure in the code: the day of the release is that of CHANGELOG.md."""
    changelog = (Path(__file__).parents[2] / "CHANGELOG.md").read_text(encoding="utf-8")
    day = max(re.findall(r"^## \[[^]]+\] - (\S+)$", changelog, re.MULTILINE))
    began = datetime.fromisoformat(f"{day}T00:00:00+14:00")  # where the day begins first
    Clocks(monkeypatch, began - before, NEVER)
    with pytest.raises(RefusedError, match="before this version of the program"):
        await wait_for_clock(last if last is None else began - timedelta(days=2))

    Clocks(monkeypatch, began, NEVER)
    await wait_for_clock(None)


def test_the_newest_release_is_the_latest_day_of_the_changelog(tmp_path, monkeypatch):
    (tmp_path / "CHANGELOG.md").write_text(
        "## [Unreleased]\n\n## [1.1.0] - 2031-02-03\n\n- x 2099-01-01\n\n## [1.0.1] - 2030-12-31\n",
        encoding="utf-8",
    )
    monkeypatch.setattr("punto.version.__file__", str(tmp_path / "version.py"))

    assert released() == datetime(2031, 2, 2, 10, tzinfo=UTC)


@pytest.mark.parametrize("last", [None, EARLIER])
async def test_a_start_with_a_clock_that_nobody_sets_is_refused_after_a_minute(monkeypatch, log_lines, last):
    clocks = Clocks(monkeypatch, NEVER_SET, NEVER)
    with pytest.raises(RefusedError, match="the clock of this PC shows 1970-01-01T") as refused:
        await wait_for_clock(last)

    assert (clocks.seconds, refused.value.code) == (WAIT_SECONDS, "clock_not_set")


async def test_a_clock_set_back_while_the_service_was_off_is_on_the_record(tmp_path, monkeypatch):
    record = tmp_path / "table.db"
    real = clock.now
    monkeypatch.setattr(clock, "now", lambda: real() + timedelta(hours=1))
    async with table(record):
        pass
    monkeypatch.setattr(clock, "now", real)
    monkeypatch.setattr(clock_watch, "WAIT_SECONDS", 0.0)
    async with table(record):
        ((before, after),) = rows(record, STEPS)

    assert datetime.fromisoformat(after) < datetime.fromisoformat(before)


@pytest.mark.skipif(shutil.which("faketime") is None, reason="it needs faketime")
def test_a_service_records_a_clock_that_was_set_and_waits_for_one_that_is_behind_its_record(
    tmp_path, monkeypatch
):
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
        table.begin_to_start()
        waiting = "waiting for the clock"
        wait_until(lambda: any(waiting in line for line in table.said()), "it waits for the clock")
        assert not table.up()
        setting.write_text("+3700")
        table.wait_until_up()

    forward, *_ = rows(table.record, STEPS)
    assert (
        timedelta(minutes=59)
        < datetime.fromisoformat(forward[1]) - datetime.fromisoformat(forward[0])
        < timedelta(minutes=61)
    )


def _library() -> str:
    folders = (f"/usr/lib/{os.uname().machine}-linux-gnu/faketime", "/usr/lib/faketime")
    return next(f"{each}/libfaketime.so.1" for each in folders if Path(each).is_dir())
