"""The page of the sheets' clauses: each clause of `sheets.txt` has its row, with a rule that exists and tests that exist."""

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from punto.controller import components

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "sheets.md"
TESTS = ROOT / "tests"
SHEETS = ["000", "001", "002", "003", "004"]
ROOMS = [(ROOT / "punto" / room).resolve() for room in components.ROOMS]
LIST = (Path(__file__).parent / "sheets.txt").read_text(encoding="utf-8")
"""The clauses in the order of the sheets. It was made from the sheets and not from the page."""


def sections(text: str, head: str) -> dict[str, str]:
    """The lines below each heading, by its title."""
    found = re.split(head, text, flags=re.MULTILINE)
    return dict(zip(found[1::2], found[2::2], strict=True))


CLAUSES = {
    title: [line.split(" | ")[0] for line in lines.strip().splitlines()]
    for title, lines in sections(LIST, r"^\[(.+)\]$").items()
}
ROWS = {
    title: [
        [cell.strip() for cell in line.strip("|").split(" | ")]
        for line in lines.splitlines()
        if line.startswith("|") and not re.match(r"\|(---|\s*Clause)", line)
    ]
    for title, lines in sections(PAGE.read_text(encoding="utf-8"), r"^## (.+)$").items()
}
EVERY = [pytest.param(row, id=f"{title[6:9]} {row[0]}") for title, rows in ROWS.items() for row in rows]


def strings(value: Any) -> Iterator[str]:
    """The keys and texts of a TOML document."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield from (key, *strings(each))
    elif isinstance(value, list):
        for each in value:
            yield from strings(each)
    else:
        yield str(value).lower() if isinstance(value, bool) else str(value)


@cache
def known() -> frozenset[str]:
    """What a rule may name: every name and text of the code, and every key and value of the game files.

    Comments and docstrings do not count.
    """
    found = {"WAGER", "punto"}  # a placeholder, and the command
    for room in ROOMS:
        for path in room.rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_bytes())):
                match node:
                    case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name):
                        found.add(name)
                    case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.keyword(arg=str(name)):
                        found.add(name)
                    case ast.Constant(value=str(text)) if len(text) < 40:
                        found.add(text)
    for path in (ROOT / "configs" / "games").glob("*.toml"):
        found.update(strings(tomllib.loads(path.read_text(encoding="utf-8"))))
    return frozenset(
        found
        | {path.stem for room in ROOMS for path in room.rglob("*.*") if path.suffix in {".py", ".toml"}}
        | {room.name for room in ROOMS}
    )


def unknown(option: str) -> list[str]:
    """What an option such as `split = "winners"` names that does not exist."""
    if option in known():
        return []
    return [word for word in re.findall(r'(?<=")[^"]+|[\w-]+', option) if word not in known()]


@cache
def names_in(path: Path) -> frozenset[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return frozenset(
        each.name
        for each in tree.body
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef) and each.name.startswith("test_")
    )


def test_every_sheet_is_there():
    assert sorted({title[6:9] for title in CLAUSES}) == SHEETS
    assert list(ROWS) == list(CLAUSES)


@pytest.mark.parametrize("title", CLAUSES)
def test_each_clause_has_its_row_in_the_order_of_the_sheet(title):
    assert [row[0] for row in ROWS[title]] == CLAUSES[title]


@pytest.mark.parametrize("row", EVERY)
def test_each_row_has_a_rule_that_exists(row):
    _, says, here, _ = row
    options = re.findall(r"`([^`]+)`", here)
    links = re.findall(r"\]\(([^)#]+)\)", here)

    assert says
    assert options or links, "name the option, the game file's rule, the code or the page"
    assert [word for option in options for word in unknown(option)] == []
    assert [link for link in links if not (PAGE.parent / link).is_file()] == []


@pytest.mark.parametrize("row", EVERY)
def test_each_row_has_tests_that_exist(row):
    named = re.findall(r"`([\w/]+\.py)::(test_\w+)`", row[3])

    assert named
    assert len(named) == row[3].count("::")
    assert [name for file, name in named if name not in names_in(TESTS / file)] == []


def test_what_differs_says_why():
    differ = [
        row[2].partition("**Differs**")[2] for rows in ROWS.values() for row in rows if "Differs" in row[2]
    ]

    assert differ
    assert [why for why in differ if not re.match(r"[^:]*: .+\bbecause .+", why)] == []
