"""The win page and the reports as PDFs on A4, with their fonts, so that every printer can print every name."""

from collections.abc import Iterable, Iterator, Sequence
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
_PAD: Final = 0.4
"""Above and below a row's text, in millimetres."""


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
    table = _Table(sheet, section.columns, widths)
    table.head(size)
    for at, cells in enumerate(section.rows):
        sheet.set_font("punto", "B" if section.has_sum and at == last else "", size)
        table.row(cells)


class _Table:
    """Writes the rows of a table. The library's own tables lay out each text several times, which took most of a long report's time."""

    def __init__(self, sheet: FPDF, columns: Sequence[Column], widths: Sequence[float]) -> None:
        self._sheet = sheet
        self._columns = columns
        self._widths = widths

    def head(self, size: float) -> None:
        """Write the headings."""
        self._sheet.set_font("punto", "B", size)
        self._write(self._broken([column.heading for column in self._columns]))

    def row(self, cells: Sequence[str]) -> None:
        """Write a row below a line; on a new page, the headings come again."""
        sheet, texts = self._sheet, self._broken(cells)
        if sheet.will_page_break(_height(texts)):
            style, size = sheet.font_style, sheet.font_size_pt
            sheet.add_page()
            self.head(size)
            sheet.set_font("punto", style, size)
        sheet.line(sheet.l_margin, sheet.get_y(), sheet.l_margin + sum(self._widths), sheet.get_y())
        self._write(texts)

    def _broken(self, cells: Sequence[str]) -> list[list[str]]:
        return [
            _broken(self._sheet, text, width - _GAP / 2)
            for text, width in zip(cells, self._widths, strict=True)
        ]

    def _write(self, texts: Sequence[Sequence[str]]) -> None:
        sheet = self._sheet
        top, left, margin = sheet.get_y() + _PAD, sheet.l_margin, sheet.c_margin
        sheet.c_margin = 0
        for column, width, lines in zip(self._columns, self._widths, texts, strict=True):
            for at, line in enumerate(lines):
                sheet.set_xy(left, top + at * _LINE)
                sheet.cell(width - _GAP / 2, _LINE, line, align="R" if column.number else "L")
            left += width
        sheet.c_margin = margin
        sheet.set_xy(sheet.l_margin, top - _PAD + _height(texts))


def _height(texts: Sequence[Sequence[str]]) -> float:
    """The height of a row of broken texts."""
    return max(map(len, texts)) * _LINE + 2 * _PAD


def _broken(sheet: FPDF, text: str, width: float) -> list[str]:
    """A text in lines that are no wider than this, broken between words, and in words that are wider."""
    if sheet.get_string_width(text) <= width:
        return [text]
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if sheet.get_string_width(longer) <= width:
            lines[-1] = longer
            continue
        parts = list(_parts(sheet, word, width))
        lines[-1:] = [lines[-1], *parts] if lines[-1] else parts
    return lines


def _parts(sheet: FPDF, word: str, width: float) -> Iterator[str]:
    """A word in parts that are no wider than this."""
    part = ""
    for character in word:
        if part and sheet.get_string_width(part + character) > width:
            yield part
            part = ""
        part += character
    yield part


def _fit(
    sheet: FPDF, columns: Sequence[Column], rows: Sequence[Sequence[str]], size: float = _SIZE
) -> tuple[float, tuple[float, ...]]:
    """The size of the letters, and the width that each column needs for its longest text.

    If the page is too narrow for that, each column has room for its longest word, and the texts are broken into lines. If it is too
    narrow for the words, the letters are smaller.
    """
    sheet.set_font("punto", "B", size)  # of the headings, which is the wider one
    texts = [[column.heading, *(row[at] for row in rows)] for at, column in enumerate(columns)]
    longest = [max(map(sheet.get_string_width, set(each))) + _GAP for each in texts]
    words = [
        max(map(sheet.get_string_width, {word for text in each for word in text.split() or [""]}))
        for each in texts
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
