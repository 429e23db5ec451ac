"""The one way in which the program writes CSV (RFC 4180): no cell is a formula.

A spreadsheet executes a text that begins like a formula. Such a text can come from a person, from a table that was stolen or from a
stranger's game file, so it gets an apostrophe before it. Amounts are plain decimals, and the remainder of a payment is a fraction; both
stay as they are also below zero.
"""

import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

Cell = str | int | float | None
_BEGINS: Final = ("=", "+", "-", "@", "\t", "\r", "\n")
_NUMBER: Final = re.compile(r"-?[0-9]+(?:[./][0-9]+)?")


def csv_lines(rows: Iterable[Sequence[Cell]], end: str = "\r\n") -> Iterator[str]:
    """The lines of a CSV file, each with its end. None is an empty cell."""
    for row in rows:
        line = io.StringIO()
        writer = csv.writer(line, lineterminator=end)
        writer.writerow([as_text(cell) if isinstance(cell, str) else cell for cell in row])
        yield line.getvalue()


def as_text(cell: str) -> str:
    """A cell's text, changed if a spreadsheet would take it for a formula."""
    if _NUMBER.fullmatch(cell):
        return cell
    # As a spreadsheet may read it: full-width signs as signs, and invisible characters removed.
    plain = "".join(each for each in unicodedata.normalize("NFKC", cell) if each.isprintable())
    return f"'{cell}" if plain.lstrip().startswith(_BEGINS) or cell.startswith(_BEGINS) else cell
