"""docs/tutorials: each is followed to its end in a shell, and prints what it shows."""

import pytest

from tests.controller.table_on_a_machine import HERE
from tests.documents.blocks import blocks_of, carried_out
from tests.ports import free_port
from tests.share import soaked

TUTORIALS = sorted((HERE / "docs" / "tutorials").glob("first-*.md"))


@pytest.mark.parametrize("page", [TUTORIALS[-1], *soaked(*TUTORIALS[:-1])], ids=lambda page: page.stem)
def test_a_reader_can_follow_it(page, tmp_path):
    tutorial = page.read_text(encoding="utf-8")
    for port in ("1884", "8081"):  # another reader may be at it
        tutorial = tutorial.replace(port, str(free_port()))
    carried_out(blocks_of(tutorial), tmp_path)


def test_each_tutorial_is_followed():
    assert {page.name for page in (HERE / "docs" / "tutorials").glob("*.md")} == {
        "README.md", *(page.name for page in TUTORIALS)
    }  # fmt: skip
