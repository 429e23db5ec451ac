"""The page of the sheets' clauses: each has a rule and a test, and each test exists."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "sheets.md"
TESTS = Path(__file__).parents[1]
ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in PAGE.read_text(encoding="utf-8").splitlines()
    if line.startswith("|") and not re.match(r"\|(---|\s*Clause)", line)
]
SHEETS = ["000", "001", "002", "003", "004"]


@cache
def names_in(path: Path) -> frozenset[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return frozenset(
        each.name
        for each in tree.body
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef) and each.name.startswith("test_")
    )


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_each_clause_has_what_it_is_here_and_a_test_that_exists(row):
    clause, says, here, tests = row
    assert clause
    assert says
    assert here
    named = re.findall(r"`([\w/]+\.py)::(test_\w+)`", tests)
    assert named
    assert len(named) == tests.count("::")
    for file, name in named:
        assert name in names_in(TESTS / file), f"{file} has no {name}"


@pytest.mark.parametrize("sheet", SHEETS)
def test_each_sheet_has_its_section(sheet):
    assert re.search(rf"^## Sheet {sheet}:", PAGE.read_text(encoding="utf-8"), re.MULTILINE)


def test_the_numbered_steps_of_each_procedure_are_all_there():
    """The steps 1 to 6 and 7a to 7h of Aquarius, to 7g of Nexus, and 1 to 5 of Dragon Bonus."""
    sections = re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    clauses = {
        part.partition("\n")[0]: {
            row.split(" | ")[0].strip("| ") for row in part.splitlines() if row.startswith("|")
        }
        for part in sections
    }
    for title, last in (
        ("Sheet 000: Aquarius, dealing procedure", "h"),
        ("Sheet 000: Nexus Command, dealing procedure", "g"),
    ):
        found = " ".join(clauses[title])
        for step in [*"12345", "6a", *(f"7{letter}" for letter in "abcdefgh"[: "abcdefgh".index(last) + 1])]:
            assert re.search(rf"(^|\W){step}(\W|$)", found), f"{title}: {step}"


def test_what_differs_says_why():
    differ = [row for row in ROWS if "**Differs**" in row[2]]
    assert differ
    for _, _, here, _ in differ:
        assert len(here.partition("**Differs**")[2]) > len(": because")
