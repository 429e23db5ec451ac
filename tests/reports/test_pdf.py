"""The reports as PDFs: long ones take little of the processor, and no text of them is cut."""

import cProfile
import io
import pstats

import pypdf

from punto.reports.pdf import report_pdf
from punto.reports.printed import Column, Fact, Report, Section

COLUMNS = ("Round", "Time", "Status", "Wager", "Staked", "Returned", "Win", "Meter")
ROW = (
    "2026-11-25 20:04:11",
    "played",
    "Dragon Bonus Player",
    "1,250.00",
    "2,500.00",
    "-1,250.00",
    "98,104.46",
)
MOST_CALLS = 10_000
"""Of functions for a row of eight texts; the library's own tables need more than twice as many."""


def report(rows: int, *, note: str = "") -> Report:
    columns = tuple(Column(heading=heading, number=at > 3) for at, heading in enumerate(COLUMNS))
    cells = tuple((str(row), *ROW[:-1], note or ROW[-1]) for row in range(rows))
    return Report(
        title="Daily report",
        table="Baccarat 1",
        language="en",
        about=(Fact(name="Day", value="2026-11-25"),),
        figures=(),
        sections=(Section(title="Rounds", columns=columns, rows=cells),),
        page="Page {page} of {pages}",
    )


def calls(rows: int) -> int:
    """How many functions a report of so many rows calls, which is the same on a busy machine."""
    profile = cProfile.Profile()
    profile.runcall(report_pdf, report(rows))
    return int(pstats.Stats(profile).total_calls)  # type: ignore[attr-defined]


def test_a_row_of_a_report_costs_the_same_in_a_long_report_and_not_much():
    calls(1)  # what is loaded at first
    few, some, many = map(calls, (20, 60, 140))
    a_row = (some - few) / 40
    assert a_row < MOST_CALLS
    assert (many - some) / 80 < 1.1 * a_row


def test_a_long_text_is_broken_and_every_page_has_the_headings():
    note = "the shoe was opened " * 12 + "x" * 120
    pages = pypdf.PdfReader(io.BytesIO(report_pdf(report(40, note=note.strip())))).pages
    texts = [page.extract_text() for page in pages]
    assert len(texts) > 2
    assert all("Win" in text for text in texts)
    found = "".join("".join(texts).split())
    assert found.count("opened") == 40 * 12
    assert found.count("x") >= 40 * 120
