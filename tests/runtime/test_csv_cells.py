"""CSV: each text comes back as it was, and is never a formula, whoever wrote it."""

import csv
import io
import re
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import pytest

from punto.house.edge_alarms import alarms_of, keep
from punto.house.store import Store
from punto.house.taken import TakenIncidents
from punto.messages.building import timestamp
from punto.messages.requests import RecordedIncident
from punto.runtime.csv_cells import Cell, as_text, csv_lines
from tests.consoles.consoles import Browser
from tests.house.pages.house import Floor, served
from tests.house.tables import BEGAN, played, told
from tests.house.test_edge_alarms import edges

ROOT: Final = Path(__file__).parents[2]
FORMULA: Final = '=HYPERLINK("http://x")'


@pytest.mark.parametrize(
    "begins", ["=", "+", "-", "@", "\t", "\r", "\n", "  =", "\uff1d", "\u200b=", "-1=", "-1/"]
)
def test_a_text_in_any_place_is_never_a_formula(begins):
    text = f"{begins}1+1"
    (line,) = csv_lines([[text, 1, None, text]])

    assert next(csv.reader(io.StringIO(line, newline=""))) == [f"'{text}", "1", "", f"'{text}"]
    assert as_text("an award of 1+1") == "an award of 1+1"


@pytest.mark.parametrize("number", ["-12.50", "0", "10000.00400000", "-0.000001"])
def test_an_amount_stays_a_number(number):
    assert as_text(number) == number


@pytest.mark.parametrize("fraction", ["7/20", "-1/2"])
def test_a_fraction_is_no_date(fraction):
    assert as_text(fraction) == f"'{fraction}"


@pytest.mark.parametrize("separator", [";", "\t"])
@pytest.mark.parametrize(
    "text", ["b{}=1+1", 'b{} "=1+1"', '"{}\uff1d1+1', "b\n=1+1{}", "b{0}c{0}@SUM(A1)", "b{}7/20"]
)
@pytest.mark.parametrize("place", [0, 1])
def test_a_spreadsheet_with_another_separator_finds_no_formula(separator, text, place):
    cells: list[Cell] = ["a", "c"]
    cells.insert(place, text.format(separator))
    (line,) = csv_lines([cells])

    rows = csv.reader(io.StringIO(line, newline=""), delimiter=separator)
    found = [cell.lstrip(' "') for row in rows for cell in row]
    assert len(found) > place
    assert [cell for cell in found if cell.startswith(("=", "@", "\uff1d", "7/20"))] == []


def test_a_text_with_semicolons_stays_as_it_is():
    assert as_text("moved; -3;0.50; by eve") == "moved; -3;0.50; by eve"


def test_commas_quotes_and_lines_within_a_cell_come_back_as_they_were():
    cells = ["a, b", 'said "no"', "two\nlines", "陳大文"]

    (line,) = csv_lines([cells])

    assert line == '"a, b","said ""no""","two\nlines",陳大文\r\n'
    assert next(csv.reader(io.StringIO(line, newline=""))) == cells


def fill(store: Store) -> None:
    """What a stolen table tells, with a formula in each text that the store takes in."""
    at = played(9, 60)
    one = next(each for each in at.rounds if each.settlements)
    settlement = replace(one.settlements[0], wager=FORMULA, rule=FORMULA)
    (taken,) = told([replace(one, round=1, settlements=(settlement,))], at, table=FORMULA, record=FORMULA)
    store.take([taken._replace(game=FORMULA, rules=FORMULA)])
    told_incidents = tuple(
        RecordedIncident(
            seq=seq,
            place=0,
            ts=timestamp(BEGAN + timedelta(minutes=70 + seq)),
            kind=kind,
            source="service",
            who=who,
            text="signed on",
            where=None,
        )
        for seq, (kind, who) in enumerate(
            (("session_begun", FORMULA), (FORMULA, None), ("session_ended", FORMULA)), 1
        )
    )
    store.take_incidents([TakenIncidents(FORMULA, FORMULA, False, 0, 5, told_incidents)])
    favourable: dict[str, Any] = {FORMULA: -0.02}
    keep(store, [*alarms_of(FORMULA, edges(1, record=FORMULA, **favourable))])


async def test_no_name_of_a_stolen_table_is_a_formula_in_what_the_house_downloads(tmp_path):
    found = {}
    async with served(tmp_path, Floor().view, fill=fill) as address:
        browser = Browser(urlsplit(address).port or 0)
        for what in ("reports", "people", "shoes"):
            answer = await browser.get(f"/api/{what}/2026-11-23/2026-11-25.csv")
            assert answer.status == 200
            found[what] = [*csv.reader(io.StringIO(answer.text, newline=""))]

    assert {
        name: {cell for row in rows for cell in row if cell.lstrip().startswith("=")}
        for name, rows in found.items()
    } == {
        "reports": set(),
        "people": set(),
        "shoes": set(),
    }
    hostile = {name: sum(f"'{FORMULA}" in row for row in rows) for name, rows in found.items()}
    assert min(hostile.values()) > 0


WRITERS: Final = {
    "punto/runtime/csv_cells.py": "csv.writer",
    "punto/house/export.py": "CSVWriter",
    "punto/odds/simulation/rounds_file.py": "CSVWriter",
    "punto/web/answers.py": 'media_type="text/csv"',
}


def test_the_program_writes_csv_in_one_way():
    """What writes by itself must have its texts from `as_text` or its lines from `csv_lines`."""
    found = {
        str(path.relative_to(ROOT)): set(
            re.findall(r'csv\.writer|DictWriter|CSVWriter|media_type="text/csv"|writerow', text)
        )
        for room in ("punto", "controller", "drivers", "simulators", "configs")
        for path in (ROOT / room).rglob("*.py")
        if "csv" in (text := path.read_text("utf-8"))
    }
    writing = {name: text for name, text in found.items() if text}

    assert writing.keys() == WRITERS.keys()
    for name in WRITERS:
        assert re.search(
            r"as_text\(|csv_lines\(|else str$|= as_text", (ROOT / name).read_text("utf-8"), re.MULTILINE
        )
