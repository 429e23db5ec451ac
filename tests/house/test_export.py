"""Months as files, and the end of what was exported."""

import csv
import re
import subprocess
import threading
from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import pytest

from punto.house.export import drop_month, export_month
from punto.house.reports import floor_report
from punto.house.store import Store, StoreError
from punto.house.taken import TakenIncidents
from punto.messages.building import timestamp
from punto.messages.requests import RecordedIncident
from tests.bitflips.flips import FOUND, bits_of, flip_each
from tests.command import punto
from tests.deadline import DEADLINE, pauses
from tests.house.conftest import CALENDAR
from tests.house.house import stored
from tests.house.tables import played, told
from tests.postgresql import waits

NOVEMBER, OCTOBER = date(2026, 11, 1), date(2026, 10, 1)
LATER = date(2027, 1, 1)


@pytest.fixture
def filled(open_store):
    """A store with the rounds of a table, thirty of October and as many of November at least."""
    at = played(9, 60)
    store = open_store()
    moved = [
        each._replace(ts=each.ts - timedelta(days=30 if each.round.round <= 30 else 0))
        for each in told(at.rounds, at)
    ]
    store.take(moved)
    return store


def total(file: Path, what: str) -> int:
    ((found,),) = duckdb.execute(f"SELECT {what} FROM '{file}'").fetchall()  # noqa: S608 - of this test
    return int(found)


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_a_month_is_whole_in_its_files(filled, tmp_path, kind):
    files = export_month(filled, OCTOBER, tmp_path, kind)

    assert [each.name for each in files] == [
        f"{name}-2026-10.{kind}" for name in ("rounds", "settlements", "incidents", "books")
    ]
    assert total(files[0], "count(DISTINCT round)") == 30
    with filled.reading() as connection:
        asked = "SELECT count(*), sum(net) FROM settlements WHERE day < '2026-11-01'"
        count, net = connection.exec_driver_sql(asked).one()
    assert (total(files[1], "count(*)"), total(files[1], "sum(net)")) == (count, net)
    assert duckdb.execute(f"SELECT DISTINCT \"table\" FROM '{files[0]}'").fetchall() == [("table-1",)]  # noqa: S608


@pytest.mark.parametrize("end", [".part", ".sha256", ""])
def test_an_export_follows_no_link_in_the_folder_of_another_user(filled, tmp_path, end):
    victim, folder = tmp_path / "victim", tmp_path / "of another"
    victim.write_text("whole")
    folder.mkdir()
    link = folder / f"rounds-2026-10.csv{end}"
    link.symlink_to(victim)
    if end == ".part":
        export_month(filled, OCTOBER, folder, "csv")
    else:
        with pytest.raises(OSError, match="it is a link: name a file"):
            export_month(filled, OCTOBER, folder, "csv")

    assert victim.read_text() == "whole"
    assert link.is_symlink()


def test_only_the_group_of_the_user_reads_an_export(filled, tmp_path):
    for each in export_month(filled, OCTOBER, tmp_path, "parquet"):
        for path in (each, each.with_name(f"{each.name}.sha256")):
            assert path.stat().st_mode & 0o777 == 0o640


def test_what_was_not_exported_is_not_dropped(filled, tmp_path, url):
    before = floor_report(filled, OCTOBER, LATER)
    with pytest.raises(StoreError, match="was not exported"):
        drop_month(filled, OCTOBER, LATER)
    export_month(filled, OCTOBER, tmp_path, "parquet")
    with pytest.raises(StoreError, match="less than 30 days"):
        drop_month(filled, OCTOBER, date(2026, 11, 29))
    rounds = len(stored(url))

    assert drop_month(filled, OCTOBER, LATER) > 30
    assert [number for _, number, _ in stored(url)] == list(range(31, rounds + 1))
    assert floor_report(filled, OCTOBER, LATER) == before
    with pytest.raises(
        StoreError,
        match=r"was dropped: it is in the files rounds-2026-10\.parquet, settlements-2026-10\.parquet, ",
    ):
        export_month(filled, OCTOBER, tmp_path, "parquet")


def test_a_month_that_grew_since_is_exported_again_first(filled, tmp_path):
    export_month(filled, OCTOBER, tmp_path, "parquet")
    drop_month(filled, OCTOBER, LATER)
    export_month(filled, NOVEMBER, tmp_path, "parquet")
    at = played(9, 80)
    filled.take(told(at.rounds, at))
    with pytest.raises(StoreError, match="export the month again"):
        drop_month(filled, NOVEMBER, LATER)
    export_month(filled, NOVEMBER, tmp_path, "parquet")
    assert drop_month(filled, NOVEMBER, LATER)


def test_a_month_is_dropped_after_the_earlier_ones(filled, tmp_path, url):
    """A round without its correction would count as it was before, if it were taken back later."""
    rounds = len(stored(url))
    export_month(filled, NOVEMBER, tmp_path, "parquet")
    with pytest.raises(StoreError, match=r"2026-10 still has rows.*with --month 2026-10$"):
        drop_month(filled, NOVEMBER, LATER)
    assert len(stored(url)) == rounds

    export_month(filled, OCTOBER, tmp_path, "parquet")
    drop_month(filled, OCTOBER, LATER)
    drop_month(filled, NOVEMBER, LATER)
    assert stored(url) == []


def test_rounds_that_are_being_taken_in_are_not_dropped(url, open_store, tmp_path):
    if url.startswith("sqlite"):
        pytest.skip("one transaction at a time writes")
    at, reached, go_on = played(9, 60), threading.Event(), threading.Event()
    rounds = [each._replace(ts=each.ts - timedelta(days=30)) for each in told(at.rounds, at)]

    class Slow(Store):
        def _add_sums(self, connection, sums):
            super()._add_sums(connection, sums)
            reached.set()
            assert go_on.wait(DEADLINE)

    store, slow = open_store(), Slow(url, CALENDAR)
    store.take(rounds[:40])
    export_month(store, OCTOBER, tmp_path, "csv")
    refused: list[StoreError] = []

    def drop() -> None:
        try:
            drop_month(store, OCTOBER, LATER)
        except StoreError as error:
            refused.append(error)

    taking = threading.Thread(target=slow.take, args=[rounds[40:]])
    taking.start()
    assert reached.wait(DEADLINE)
    dropping = threading.Thread(target=drop)
    dropping.start()
    for _ in pauses():
        with slow.reading() as connection:
            if waits(connection) or not dropping.is_alive():
                break
    go_on.set()
    taking.join()
    dropping.join()
    slow.close()

    assert [number for _, number, _ in stored(url)] == [each.round.round for each in rounds]
    assert "export the month again" in str(*refused)


def test_a_month_that_is_dropped_while_it_is_exported_again_stays_dropped(filled, tmp_path, monkeypatch):
    export_month(filled, OCTOBER, tmp_path, "csv")
    writing = filled.writing

    def writing_after_the_drop() -> Any:
        monkeypatch.setattr(filled, "writing", writing)
        drop_month(filled, OCTOBER, LATER)
        return writing()

    monkeypatch.setattr(filled, "writing", writing_after_the_drop)
    export_month(filled, OCTOBER, tmp_path, "csv")

    with pytest.raises(StoreError, match="2026-10 was dropped: it is in the files"):
        export_month(filled, OCTOBER, tmp_path, "csv")
    assert total(tmp_path / "rounds-2026-10.csv", "count(*)") == 30


def test_what_comes_after_its_month_was_dropped_is_exported_to_further_files_and_dropped(filled, tmp_path):
    export_month(filled, OCTOBER, tmp_path, "parquet")
    drop_month(filled, OCTOBER, LATER)
    late = played(11, 40)
    filled.take(
        [each._replace(ts=each.ts - timedelta(days=30)) for each in told(late.rounds, late, "table-2")]
    )
    with pytest.raises(StoreError, match=r"rounds of 2026-10 was not exported: export the month again"):
        drop_month(filled, OCTOBER, LATER)

    files = export_month(filled, OCTOBER, tmp_path, "parquet")

    assert [each.name for each in files] == [
        *("rounds-2026-10-2.parquet", "settlements-2026-10-2.parquet", "books-2026-10.parquet")
    ]
    assert (total(tmp_path / "rounds-2026-10.parquet", "count(*)"), total(files[0], "count(*)")) == (30, 40)
    assert duckdb.execute(f"SELECT DISTINCT \"table\" FROM '{files[0]}'").fetchall() == [("table-2",)]  # noqa: S608
    assert drop_month(filled, OCTOBER, LATER) == 40 + total(files[1], "count(*)")
    with pytest.raises(
        StoreError, match=r"dropped: it is in the files rounds-2026-10\.parquet, rounds-2026-10-2"
    ):
        export_month(filled, OCTOBER, tmp_path, "parquet")


def test_a_correction_of_a_round_that_was_dropped_counts_what_was_paid_more_or_less(open_store, tmp_path):
    at = played(9, 80)
    rounds = [each._replace(ts=each.ts - timedelta(days=30)) for each in told(at.rounds, at)]
    index = next(i for i, each in enumerate(rounds) if each.round.corrects and each.round.winner and i > 20)
    late = rounds[index]._replace(ts=rounds[index].ts + timedelta(days=40))
    store = open_store()
    store.take(rounds[:index])
    won = wins(store)
    export_month(store, OCTOBER, tmp_path, "csv")
    drop_month(store, OCTOBER, LATER)

    open_store().take([late])  # as after a start

    more = Counter[str]()
    for each in late.round.settlements:
        more[each.wager] += each.returned
    assert wins(store) == {wager: win - more[wager] for wager, win in won.items()}
    assert any(more.values())


def wins(store: Store) -> dict[str, int]:
    """What the house has kept of each wager."""
    (table,) = floor_report(store, OCTOBER, LATER).tables
    return {each.wager: each.handle - each.returned for each in table.meters.wagers}


def test_the_command_exports_and_drops(filled, tmp_path, url):
    if not url.startswith("sqlite"):
        pytest.skip("the same command")
    config = tmp_path / "gm.toml"
    config.write_text(f'version = 1\n[store]\npath = "{filled.engine.url.database}"\n')
    for arguments, message in (
        (("export", "--month", "2026-13"), "is not a month"),
        (
            ("export", "--month", "2026-10", "--out", str(tmp_path / "none")),
            "cannot be written: No such file",
        ),
        (("drop", "--month", "2026-10"), "ended less than 30 days ago"),
    ):
        out = () if arguments[0] == "drop" or "--out" in arguments else ("--out", str(tmp_path))
        ended = punto("house", *arguments, *out, "--config", str(config))
        assert (ended.returncode > 0, message in ended.stderr) == (True, True), ended.stderr
    done = punto("house", "export", "--month", "2026-10", "--out", str(tmp_path), "--config", str(config))
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 4)


@dataclass(frozen=True)
class OfExport:
    """Reads a file, or what `sha256sum` reads of a digest, and checks the export as the guide says."""

    folder: Path
    name: str

    def content(self) -> Hashable:
        content = (self.folder / self.name).read_bytes()
        if not self.name.endswith(".sha256"):
            return content
        read = re.fullmatch(rb"([0-9a-fA-F]{64}) [ *](.+)\n", content)
        return None if read is None else (read[1].lower(), read[2])

    def found(self) -> str | None:
        command = ["sha256sum", "--check", "--strict", f"{self.name.removesuffix('.sha256')}.sha256"]
        ran = subprocess.run(
            command, cwd=self.folder, capture_output=True, text=True, errors="replace", check=False
        )
        return None if ran.returncode == 0 else FOUND


@pytest.mark.timeout(12 * 3600)
@pytest.mark.parametrize("kind", ["parquet", "csv"])
@pytest.mark.parametrize("end", ["", ".sha256"])
def test_each_flip_of_a_bit_of_an_export_is_found_or_changes_nothing(filled, tmp_path, kind, end):
    file = export_month(filled, OCTOBER, tmp_path, kind)[0]
    name = f"{file.name}{end}"
    tally = flip_each(
        tmp_path, name, bits_of(tmp_path / name, 20), partial(OfExport, name=name), in_place=True
    )
    print(tally)

    assert tally.missed == []
    assert tally.counts[FOUND] > 0


def test_no_text_of_a_table_is_a_formula_in_a_spreadsheet(open_store, tmp_path):
    store, formula, at = open_store(), '=HYPERLINK("http://x")', played(9, 60)
    one = next(each for each in at.rounds if each.settlements)
    settlement = replace(one.settlements[0], wager=formula, rule=formula, remainder=formula)
    (taken,) = told([replace(one, round=1, settlements=(settlement,))], at)
    incident = RecordedIncident(
        seq=1, place=0, ts=timestamp(taken.ts), kind=formula, source=formula, who=None, text="", where=None
    )
    store.take([taken._replace(game=formula, rules=formula)])
    store.take_incidents([TakenIncidents(taken.table, taken.record, False, 0, 5, (incident,))])

    for file in export_month(store, NOVEMBER, tmp_path, "csv"):
        with file.open(encoding="utf-8", newline="") as rows:
            cells = [cell for row in csv.DictReader(rows) for cell in row.values()]
        assert not [cell for cell in cells if cell.startswith("=")]
