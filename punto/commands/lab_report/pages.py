"""The tables of the documents: the report gathers what the documents say, so that each fact is in one place."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

_PAGES: Final = Path(__file__).parent / "pages"
_RULE: Final = re.compile(r"^\|(?:\s*:?-+:?\s*\|)+$")


class Row(NamedTuple):
    """A row of a table: the title of its section, and its cells in Markdown."""

    section: str
    cells: tuple[str, ...]


def text_of(name: str) -> str:
    """The Markdown of a page that ships with the program."""
    return (_PAGES / name).read_text(encoding="utf-8")


def sections(page: str) -> Iterator[tuple[str, list[str]]]:
    """The title and the lines of each section below a heading of the second level."""
    for section in re.split(r"^## ", page, flags=re.MULTILINE)[1:]:
        title, *lines = section.splitlines()
        yield title, lines


def rows(page: str) -> Iterator[Row]:
    """The rows of each table with a section, without the heads of the tables."""
    for title, lines in sections(page):
        yield from (Row(title, cells) for cells in table(lines))


def table(lines: list[str]) -> Iterator[tuple[str, ...]]:
    """The cells of each row of the tables among the lines, without the heads of the tables."""
    for number, line in enumerate(lines):
        head = number + 1 < len(lines) and _RULE.match(lines[number + 1])
        if line.startswith("|") and not head and not _RULE.match(line):
            yield tuple(cell.strip() for cell in line.strip().strip("|").split(" | "))


def plain(markdown: str) -> str:
    """The text without links, marks of code, and bold or slanted letters."""
    return re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", markdown).replace("`", "").replace("*", "")


def paragraphs(lines: list[str]) -> list[str]:
    """Each paragraph, item and block of code of a text outside its tables and headings."""
    prose = re.sub(r"^```.*$", "", "\n".join(lines), flags=re.MULTILINE)
    found = re.split(r"\n\s*\n|\n(?=- )", prose)
    return [
        plain(" ".join(each.split())) for each in found if each.strip() and not re.match(r"\s*[|#]", each)
    ]
