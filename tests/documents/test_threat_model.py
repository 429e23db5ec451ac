"""The threat model: each boundary of its picture has every kind of threat, and each threat has tests that exist or a reason."""

import re
from pathlib import Path

import pytest

from tests.documents.test_sheets_page import names_in, sections

TESTS = Path(__file__).parents[1]
PAGE = (TESTS.parent / "docs" / "explanation" / "threat-model.md").read_text(encoding="utf-8")
KINDS = {
    *("Spoofing", "Tampering", "Repudiation"),
    *("Information disclosure", "Denial of service", "Elevation of privilege"),
}
BOUNDARIES = {
    title: [
        [cell.strip() for cell in line.strip("|").split(" | ")]
        for line in lines.splitlines()
        if line.startswith("|") and not re.match(r"\|(---| Kind)", line)
    ]
    for title, lines in sections(PAGE, r"^## (\d.+)$").items()
}
EVERY = [
    pytest.param(row, id=f"{title[0]} {row[1][:40]}") for title, rows in BOUNDARIES.items() for row in rows
]


def test_the_boundaries_are_those_of_the_picture():
    picture = PAGE.split("```")[1]

    assert [title.split(".")[0] for title in BOUNDARIES] == sorted(set(re.findall(r"\((\d)\)", picture)))


@pytest.mark.parametrize("title", BOUNDARIES)
def test_each_boundary_has_every_kind_of_threat(title):
    assert {row[0] for row in BOUNDARIES[title]} == KINDS


@pytest.mark.parametrize("row", EVERY)
def test_each_threat_has_tests_that_exist_or_the_reason_why_not(row):
    _, threat, defence, tests = row
    named = re.findall(r"`([\w/]+\.py)::(test_\w+)`", tests)

    assert threat
    assert defence
    assert len(named) == tests.count("::")
    assert named or re.match(r"none, because .{20}", tests)
    assert [f"{file}::{name}" for file, name in named if name not in names_in(TESTS / file)] == []
