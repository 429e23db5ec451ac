"""The win page as a PDF: one sheet of A4 with its fonts, so that every printer can print every name."""

from pathlib import Path
from typing import Any, Final

from fpdf import FPDF
from fpdf.enums import XPos, YPos

from punto.reports.win_page import SIGNATURES, WinPage

_FONTS: Final = Path(__file__).parent / "fonts"
_LATIN: Final = Path(__file__).parent.parent / "web" / "shared" / "fonts"
_CHINESE: Final = _FONTS / "droid-sans-fallback.ttf"
_A_COLUMN: Final = 8
"""Number of seats in a column; a second column has the rest, so that the page stays single."""
_LABEL: Final = 45
"""The width of the fact names, in millimetres."""


def pdf(page: WinPage) -> bytes:
    """The page as a PDF."""
    sheet = FPDF(format="A4")
    sheet.set_title(f"{page.title}, {page.number}")
    sheet.add_font("punto", fname=_LATIN / "arimo-400.woff2")
    sheet.add_font("punto", "B", fname=_LATIN / "arimo-700.woff2")
    if any(ord(character) > 0x2E7F for text in _texts(page) for character in text):
        sheet.add_font("chinese", fname=_CHINESE)
        sheet.set_fallback_fonts(["chinese"], exact_match=False)
    sheet.set_margin(20)
    sheet.set_auto_page_break(auto=True, margin=12)
    sheet.add_page()
    _head(sheet, page)
    for name, value in page.facts:
        _fact(sheet, name, value)
    _shares(sheet, page)
    _foot(sheet, page)
    return bytes(sheet.output())


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
