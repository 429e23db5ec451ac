"""The documents: each is in the index, and `make check` finds links that lead nowhere and prose that is hard to read."""

import pytest

from tools import documents
from tools.documents import DOCS, ROOT, broken, faults, links


def test_the_first_page_leads_to_what_everybody_looks_for():
    found = {
        "ARCHITECTURE.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "examples/README.md",
        "docs/README.md",
    }

    assert found <= set(links(ROOT / "README.md"))


def test_every_document_is_in_the_index():
    index = ROOT / "docs" / "README.md"

    assert {str(page.relative_to(index.parent)) for page in DOCS if page != index} <= set(links(index))


def test_a_link_that_leads_nowhere_is_reported(tmp_path, monkeypatch):
    page = tmp_path / "page.md"
    page.write_text(
        "# The shoe\n[1](#the-shoe) [2](#a-shoe) [3](page.md#the-shoe) [4](other.md) [5](made/x.png) [6](made/y.png) `[7](code)`\n",
        encoding="utf-8",
    )
    (tmp_path / ".gitignore").write_text("build/\n/made/*\n!/made/y.png\n", encoding="utf-8")
    monkeypatch.setattr(documents, "ROOT", tmp_path)

    assert [each.partition(":")[0] for each in broken(page)] == ["#a-shoe", "other.md", "made/y.png"]


JOINED = "The link has one purpose: no card is ever lost, doubled or invented, whatever happens to the cable. So the shoe numbers every event, and keeps its record until the host has stored and acknowledged it."


@pytest.mark.parametrize(
    ("paragraph", "fault"),
    [
        (
            "The link has one purpose. No card is ever lost. It fulfils this purpose.",
            "join three short sentences",
        ),
        (
            "A card fell. It was the 9S. See `a.b`, [the *page* of it](a.md). It is gone.",
            "join three short sentences",
        ),
        (
            "The shoe numbers every event, so that none is lost on the way to the host. The shoe keeps the record of each event until the host has it. This is why.",
            "three sentences in a row begin with The",
        ),
        ("The shoe sends a card and " + 50 * "more " + "to the host.", "has 59 words: split it"),
        ("A file that is none is refused.", "'is none'"),
        ("It asks anew.", "'anew'"),
        ("Whoever has no key is refused.", "'Whoever'"),
        ("Is the count short, recount.", "'Is the count short,'"),
        ("This is no number.", "'is no '"),
    ],
)
def test_prose_that_is_hard_to_read_is_reported(paragraph, fault):
    assert any(fault in each for each in faults(f"# A page\n\n{paragraph}\n"))
    assert list(faults(f"> {paragraph}\n")) == []  # an example


@pytest.mark.parametrize(
    ("page", "fault"),
    [
        (JOINED.replace(". ", ".\n"), "1: one paragraph is one line"),
        ("- Press the key, and wait.\n" * 20, "1: the sentences have 5.0 words on average"),
        (
            f"{JOINED}\n- The shoe sends it to the host of the table, which then stores it on its disk.\n"
            * 20,
            "1: 40 of 60",
        ),
    ],
)
def test_a_page_of_split_sentences_is_reported(page, fault):
    assert any(each.startswith(fault) for each in faults(page))
