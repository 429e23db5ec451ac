"""A report in words, as a page shows it and a printer prints it: figures, and tables of text."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from punto.messages.models import Part
from punto.runtime.csv_cells import Cell

_NUMBER: Final = re.compile(r"-?[0-9,]+(?:\.[0-9]+)?")
_AMOUNT: Final = re.compile(r"(-?)([0-9]+)\.([0-9]{0,3}?)([0-9]{6})?")
"""An amount; on a meter it has six decimals more than its currency has."""
_MOMENT: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+(?:[+-][0-9]{2}:[0-9]{2})")
_CODE: Final = re.compile(r"[a-z0-9]+(?:_[a-z0-9]+)+")
_MANY_COLUMNS: Final = 8


class Fact(Part):
    """A figure or another fact, with its name."""

    name: str
    value: str


class Column(Part):
    """A column of a table; numbers stand at its right."""

    heading: str
    number: bool = False


class Section(Part):
    """A table; `note` says what it leaves out. If `of_rounds`, each row begins with the number of a round.

    The last row is the sum of the others if `has_sum`.
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    nothing: str = ""
    of_rounds: bool = False
    has_sum: bool = False


class Report(Part):
    """A report: `about` says of what it is, and `figures` what matters most.

    `page` numbers its pages on paper, with `{page}` and `{pages}` in it. A report that is `wide` is printed across the sheet.
    """

    title: str
    table: str
    language: str
    about: tuple[Fact, ...]
    figures: tuple[Fact, ...]
    sections: tuple[Section, ...]
    page: str
    wide: bool = False


def of_sheet(title: str, table: str, about: Sequence[Fact], rows: Iterable[Sequence[Cell]]) -> Report:
    """A report in English that is one sheet of `punto.reports.sheets`.

    Empty columns are left out, and a column that has the same text in each row is said once, above the table.
    """
    headings, *entries = rows
    names = [str(heading).replace("_", " ").capitalize() for heading in headings]
    columns = [[_text(row[at]) for row in entries] for at in range(len(names))]
    filled = [at for at, column in enumerate(columns) if any(column)]
    alike = [at for at in filled if len(entries) > 1 and len(set(columns[at])) == 1]
    kept = [at for at in filled if at not in alike]
    return Report(
        title=title,
        table=table,
        language="en",
        about=(*about, *(Fact(name=names[at], value=columns[at][0]) for at in alike)),
        figures=(),
        sections=(
            Section(
                title="",
                columns=tuple(Column(heading=names[at], number=_of_numbers(columns[at])) for at in kept),
                rows=tuple(tuple(columns[at][row] for at in kept) for row in range(len(entries))),
                nothing="There is nothing in this report.",
            ),
        ),
        page="Page {page} of {pages}",
        wide=len(kept) > _MANY_COLUMNS,
    )


def _text(cell: Cell) -> str:
    """A cell as people read it: an amount without needless decimals, a time to the second, and codes in words."""
    text = "" if cell is None else str(cell)
    if found := _AMOUNT.fullmatch(text):
        if not text.strip("-0."):
            return ""
        sign, units, part, finer = found.groups("")
        decimals = part + finer.rstrip("0")
        return f"{sign}{int(units):,}{'.' * bool(decimals)}{decimals}"
    if _MOMENT.fullmatch(text):
        return text[:19].replace("T", " ")
    return text.replace("_", " ") if _CODE.fullmatch(text) else text


def _of_numbers(column: Sequence[str]) -> bool:
    return all(_NUMBER.fullmatch(cell) for cell in column if cell)
