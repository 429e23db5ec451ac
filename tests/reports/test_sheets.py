"""CSV: what the reports have, exact, and harmless in a spreadsheet; and the command that prints it."""

import csv
import io
import json
import re
from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest

from punto.commands.cli import main
from punto.reports.record import opened
from punto.runtime.csv_cells import as_text
from tests.reports.house import Books, a_weekend, at_the_house

ZONE = ("--zone", "Asia/Macau")


def read(text: str) -> list[dict[str, str]]:
    assert text.endswith("\r\n")
    return list(csv.DictReader(io.StringIO(text, newline="")))


async def test_every_report_is_printed_as_csv_and_as_json_with_the_same_exact_figures(tmp_path, capsys):
    async with at_the_house(tmp_path, "2026-11-20 19:00") as here:
        await a_weekend(here)
    by_hand = Books(here.record)

    def printed(*asked: str) -> tuple[list[dict[str, str]], Any]:
        command = ("progressive", "report", "--record", str(here.record), *ZONE, *asked)
        assert main([*command, "--csv"]) == 0
        rows = read(capsys.readouterr().out)
        assert main([*command, "--json"]) == 0
        return rows, json.loads(capsys.readouterr().out)

    rows, meters = printed()
    assert Decimal(rows[0]["primary"]) == Decimal(meters[0]["accounts"]["primary"]) == by_hand.meter
    assert sum(Decimal(row["paid"]) for row in rows[1:]) == by_hand.paid

    rows, day = printed("--day", "2026-11-22")
    start, *changes, end = rows
    for account in ("primary", "reserve", "overflow", "paid", "seed_money", "contributions", "adjustments"):
        between = sum((Decimal(row[account]) for row in changes), Decimal(0))
        assert Decimal(start[account]) + between == Decimal(end[account])
    assert Decimal(end["primary"]) == Decimal(day["progressives"][0]["end"]["primary"]) == by_hand.meter
    assert [row["reason"] for row in changes if row["line"] == "increase"] == ["'=a promotion"]
    assert day["progressives"][0]["changes"][1]["reason"] == "=a promotion"  # JSON is nobody's formula

    rows, awards = printed("--awards")
    assert sum(Decimal(row["share"]) for row in rows) == sum(by_hand.awards)
    assert [award["number"] for award in awards["awards"]] == [2, 1]

    rows, week = printed("--week", "2026-11-22")
    assert rows[-1]["line"] == "deposit"
    assert rows[-1]["held"] == week["progressives"][0]["deposit"]

    rows, found = printed("--reconcile", "2026-11-20")
    assert found["agrees"]
    assert {row["difference"] for row in rows if row["what"] != "from_tray"} == {"0.00000000", "0.00"}

    rows, postings = printed("--postings")
    assert [{**row, "ts": each["ts"]} for row, each in zip(rows, postings, strict=True)] == [
        {name: as_text(str(cell or "")) if cell != 0 else "0" for name, cell in each.items()}
        for each in postings
    ]
    assert sum(Decimal(row["primary"]) for row in rows) == by_hand.meter
    with opened(here.record) as record:
        assert [posting["ts"] for posting in postings] == [posting.ts for posting in record.postings()]
    assert rows[0]["ts"].startswith("2026-11-20T20:00:")
    assert {row["ts"][-6:] for row in rows} == {"+08:00"}  # the house's clock
    assert [datetime.fromisoformat(row["ts"]) for row in rows] == [
        datetime.fromisoformat(posting["ts"]) for posting in postings
    ]


async def test_every_time_in_a_sheet_is_by_the_houses_clock(tmp_path, capsys):
    async with at_the_house(tmp_path, "2026-11-20 19:00") as here:
        await a_weekend(here)

    for asked in ((), ("--awards",), ("--day", "2026-11-22"), ("--postings",)):
        assert main(["progressive", "report", "--record", str(here.record), *ZONE, *asked]) == 0
        times = re.findall(r"\b2026-11-\d\dT[^,\r]*", capsys.readouterr().out)
        assert times
        assert {time[-6:] for time in times} == {"+08:00"}


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (("--day", "2026-02-30"), "is not a day"),
        (("--day", "20261122"), "is not a day"),
        (("--zone", "Asia/Nowhere"), "is not a time zone"),
        (("--day-starts", "6 am"), "'6 am' is not a time of day: write 00:00 to 23:59, such as 06:00"),
        (("--day-starts", "25:00"), "'25:00' is not a time of day"),
        (("--day-starts", "06:00:30"), "'06:00:30' is not a time of day"),
        (("--awards", "--limit", "0"), "argument --limit: must be a whole number from 1 to 1,000,000,000, not '0'"),
        (("--awards", "--limit", "all"), "argument --limit: must be a whole number from 1 to 1,000,000,000, not 'all'"),
        ((), "there is no record"),
    ],
)  # fmt: skip
def test_what_cannot_be_written_is_reported_in_a_line(asked: Sequence[str], told, tmp_path, capsys):
    status: object
    try:
        status = main(["progressive", "report", "--record", str(tmp_path / "none.db"), *asked])
    except SystemExit as left:
        status = left.code

    assert status == 2
    assert told in capsys.readouterr().err
