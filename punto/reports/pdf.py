"""The win page and the reports as PDFs on A4, with their fonts, so that every printer can print every name."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from fpdf import FPDF
from fpdf.enums import XPos, YPos

from punto.reports.printed import Column, Fact, Report, Section
from punto.reports.win_page import SIGNATURES, WinPage

_FONTS: Final = Path(__file__).parent / "fonts"
_LATIN: Final = Path(__file__).parent.parent / "web" / "shared" / "fonts"
_CHINESE: Final = _FONTS / "droid-sans-fallback.ttf"
_A_COLUMN: Final = 8
"""Number of seats in a column; a second column has the rest, so that the page stays single."""
_LABEL: Final = 45
"""The width of the fact names, in millimetres."""
_MARGIN: Final = 15
_LINE: Final = 4.6
"""The height of a line of a report's table, in millimetres."""
_SIZE: Final = 8.5
"""The size of its letters, in points."""
_LEAST_SIZE: Final = 6.0
_GAP: Final = 2.5
"""Between two columns, in millimetres."""


def pdf(page: WinPage) -> bytes:
    """The page as a PDF."""
    sheet = FPDF(format="A4")
    sheet.set_title(f"{page.title}, {page.number}")
    _add_fonts(sheet, _texts(page))
    sheet.set_margin(20)
    sheet.set_auto_page_break(auto=True, margin=12)
    sheet.add_page()
    _head(sheet, page)
    for name, value in page.facts:
        _fact(sheet, name, value)
    _shares(sheet, page)
    _foot(sheet, page)
    return bytes(sheet.output())


def report_pdf(report: Report) -> bytes:
    """A report as a PDF, with the table's name and the page's number at the foot of each page."""
    sheet = _Paged(report)
    sheet.set_title(f"{report.title}, {report.table}")
    _add_fonts(sheet, _texts_of(report))
    sheet.set_margin(_MARGIN)
    sheet.set_auto_page_break(auto=True, margin=_MARGIN + 5)
    sheet.add_page()
    sheet.set_font("punto", "B", 18)
    _line(sheet, 9, report.title)
    for fact in report.about:
        sheet.set_font("punto", "", 9)
        sheet.cell(_LABEL, _LINE, fact.name)
        sheet.set_font("punto", "B", 9)
        _line(sheet, _LINE, fact.value)
    _figures(sheet, report.figures)
    for section in report.sections:
        _section(sheet, section)
    return bytes(sheet.output())


class _Paged(FPDF):
    """Numbers its pages."""

    def __init__(self, report: Report) -> None:
        super().__init__(format="A4", orientation="L" if report.wide else "P")
        self._report = report

    def footer(self) -> None:
        """Write the foot of a page; the library calls it."""
        self.set_y(-_MARGIN)
        self.set_font("punto", "", 8)
        report = self._report
        page = report.page.format(page=self.page_no(), pages=self.str_alias_nb_pages)
        self.cell(0, 5, f"{report.table} · {report.title}")
        self.set_x(self.l_margin)
        self.cell(0, 5, page, align="R")


def _add_fonts(sheet: FPDF, texts: Iterable[str]) -> None:
    sheet.add_font("punto", fname=_LATIN / "arimo-400.woff2")
    sheet.add_font("punto", "B", fname=_LATIN / "arimo-700.woff2")
    if any(ord(character) > 0x2E7F for text in texts for character in text):
        sheet.add_font("chinese", fname=_CHINESE)
        sheet.set_fallback_fonts(["chinese"], exact_match=False)


def _texts_of(report: Report) -> Iterable[str]:
    yield from (report.title, report.table, report.page)
    yield from (text for fact in (*report.about, *report.figures) for text in (fact.name, fact.value))
    for section in report.sections:
        yield from (section.title, section.note, section.nothing)
        yield from (column.heading for column in section.columns)
        yield from (cell for row in section.rows for cell in row)


def _figures(sheet: FPDF, figures: Sequence[Fact], in_a_row: int = 4) -> None:
    """Figures with their names above them, four in a row."""
    width = sheet.epw / in_a_row
    for at in range(0, len(figures), in_a_row):
        row = figures[at : at + in_a_row]
        sheet.ln(3)
        sheet.set_font("punto", "", 9)
        for fact in row:
            sheet.cell(width, 5, fact.name)
        sheet.ln()
        sheet.set_font("punto", "B", 15)
        for fact in row:
            sheet.cell(width, 7, fact.value)
        sheet.ln()


def _section(sheet: FPDF, section: Section) -> None:
    sheet.ln(4)
    if not section.rows:
        sheet.set_font("punto", "", 9)
        _line(sheet, _LINE, section.nothing)
        return
    if sheet.will_page_break(4 * _LINE + 10):
        sheet.add_page()
    if section.title:
        sheet.set_font("punto", "B", 12)
        _line(sheet, 7, section.title)
    sheet.set_font("punto", "", _SIZE)
    if section.note:
        _line(sheet, _LINE, section.note)
    last = len(section.rows) - 1
    size, widths = _fit(sheet, section.columns, section.rows)
    sheet.set_font("punto", "", size)
    with sheet.table(
        col_widths=widths,
        text_align=tuple("RIGHT" if column.number else "LEFT" for column in section.columns),
        borders_layout="HORIZONTAL_LINES",
        line_height=_LINE,
        padding=(0.4, 1.2, 0.4, 0),
    ) as table:
        table.row([column.heading for column in section.columns])
        for at, cells in enumerate(section.rows):
            sheet.set_font("punto", "B" if section.has_sum and at == last else "", size)
            table.row(cells)


def _fit(
    sheet: FPDF, columns: Sequence[Column], rows: Sequence[Sequence[str]], size: float = _SIZE
) -> tuple[float, tuple[float, ...]]:
    """The size of the letters, and the width that each column needs for its longest text.

    If the page is too narrow for that, each column has room for its longest word, and the texts are broken into lines. If it is too
    narrow for the words, the letters are smaller.
    """
    sheet.set_font("punto", "B", size)  # of the headings, which is the wider one
    texts = [[column.heading, *(row[at] for row in rows)] for at, column in enumerate(columns)]
    longest = [max(map(sheet.get_string_width, each)) + _GAP for each in texts]
    words = [
        max(sheet.get_string_width(word) for text in each for word in text.split() or [""]) for each in texts
    ]
    least = [min(word + _GAP, whole) for word, whole in zip(words, longest, strict=True)]
    spare = sheet.epw - sum(least)
    wanted = sum(longest) - sum(least)
    if spare < 0 and size > _LEAST_SIZE:
        return _fit(sheet, columns, rows, size - 0.5)
    if spare <= 0:  # some words are broken too
        return size, tuple(each * sheet.epw / sum(least) for each in least)
    part = 1.0 if wanted <= spare else spare / wanted
    widths = [low + part * (high - low) for low, high in zip(least, longest, strict=True)]
    widths[-1] += sheet.epw - sum(widths)
    return size, tuple(widths)


def _texts(page: WinPage) -> list[str]:
    return [page.title, *(text for pair in (*page.facts, *page.shares) for text in pair)]


def _line(sheet: FPDF, height: float, text: str, **look: Any) -> None:
    """Write text from the current position to the margin, and move to the next line."""
    sheet.multi_cell(0, height, text, new_x=XPos.LMARGIN, new_y=YPos.NEXT, **look)


def _head(sheet: FPDF, page: WinPage) -> None:
    sheet.set_font("punto", "B", 20)
    sheet.cell(120, 10, page.title)
    _line(sheet, 10, page.copy, border=1 if page.copy else 0, align="C")
    if page.warning:
        sheet.ln(2)
        sheet.set_font("punto", "B", 14)
        _line(sheet, 10, page.warning, border=1, align="C")
    sheet.set_font("punto", "B", 32)
    _line(sheet, 18, page.amount)
    sheet.set_font("punto", "", 13)
    _line(sheet, 7, page.in_words)
    sheet.ln(4)


def _fact(sheet: FPDF, name: str, value: str) -> None:
    sheet.set_font("punto", "", 11)
    sheet.cell(_LABEL, 5, name)
    sheet.set_font("punto", "B", 11)
    _line(sheet, 5, value)


def _shares(sheet: FPDF, page: WinPage) -> None:
    sheet.ln(3)
    sheet.set_font("punto", "B", 14)
    _line(sheet, 9, "Pay, in this order")
    left, top = sheet.get_x(), sheet.get_y()
    for place, (seat, amount) in enumerate(page.shares):
        column, row = divmod(place, _A_COLUMN)
        sheet.set_xy(left + 90 * column, top + 7.5 * row)
        sheet.set_font("punto", "", 13)
        sheet.cell(30, 7.5, f"{place + 1}. {seat}", border="B")
        sheet.set_font("punto", "B", 13)
        sheet.cell(45, 7.5, amount, border="B", align="R")
    sheet.set_xy(left, top + 7.5 * min(len(page.shares), _A_COLUMN))


def _foot(sheet: FPDF, page: WinPage) -> None:
    sheet.ln(5)
    sheet.set_font("punto", "", 11)
    for name in SIGNATURES:
        sheet.cell(_LABEL, 12, name)
        sheet.cell(75, 12, "", border="B")
        sheet.cell(15, 12, "Date", align="R")
        _line(sheet, 12, "", border="B")
    sheet.ln(2)
    sheet.set_font("punto", "", 10)
    _line(sheet, 6, page.number)
