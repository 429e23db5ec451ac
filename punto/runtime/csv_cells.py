"""The one way in which the program writes CSV (RFC 4180): no cell is a formula.

A spreadsheet executes a text that begins like a formula. Such a text can come from a person, from a table that was stolen or from a
stranger's game file, so it gets an apostrophe before it. So does the rest of a text after a semicolon, a tab or the end of a line,
because the spreadsheets of many countries split there. Quotes were rejected, because these spreadsheets keep to them only in the first
cell of a row. A fraction, such as the remainder of a payment, has an apostrophe too, because a spreadsheet reads 7/20 as a date.
Amounts are plain decimals and stay as they are also below zero.
"""

import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

Cell = str | int | float | None
_BEGINS: Final = ("=", "+", "-", "@", "\t", "\r", "\n")
_NUMBER: Final = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")
_FRACTION: Final = re.compile(r"-?[0-9]+/[0-9]+")
_ENDS: Final = re.compile(r"([;\t\r\n])")
"""Where some spreadsheet may end a cell."""


def csv_lines(rows: Iterable[Sequence[Cell]], end: str = "\r\n") -> Iterator[str]:
    """The lines of a CSV file, each with its end. None is an empty cell."""
    for row in rows:
        line = io.StringIO()
        writer = csv.writer(line, lineterminator=end)
        writer.writerow([as_text(cell) if isinstance(cell, str) else cell for cell in row])
        yield line.getvalue()


def as_text(cell: str) -> str:
    """A cell's text, changed if a spreadsheet would take it, or the rest of it, for a formula or a date."""
    if _NUMBER.fullmatch(cell):
        return cell
    first, *rest = _ENDS.split(cell)
    guarded = "".join(f"'{each}" if _is_formula(each) else each for each in rest)
    return f"'{first}{guarded}" if _is_formula(first) or cell.startswith(_BEGINS) else first + guarded


def _is_formula(text: str) -> bool:
    """Whether a spreadsheet would not leave it as it is."""
    if _NUMBER.fullmatch(text.strip(" ")):
        return False
    # As a spreadsheet may read it: full-width signs as signs, and invisible characters removed.
    plain = "".join(each for each in unicodedata.normalize("NFKC", text) if each.isprintable())
    return plain.lstrip(' "').startswith(_BEGINS) or _FRACTION.fullmatch(plain.strip(' "')) is not None
