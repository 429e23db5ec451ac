"""The documents: each is in the index, and every link leads somewhere."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = sorted((ROOT / "docs").rglob("*.md"))
PAGES = [*sorted(ROOT.glob("*.md")), ROOT / "examples" / "README.md", *DOCS]


def links(page: Path) -> list[str]:
    """What a page links to, outside its blocks of code and not on the network."""
    prose = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    return [to for to in re.findall(r"\]\(([^)\s]+)\)", prose) if "://" not in to]


def anchors(page: Path) -> set[str]:
    """The names of its headings, as a forge makes them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page):
    astray = []
    for link in links(page):
        path, _, anchor = link.partition("#")
        to = page.parent / path if path else page
        if not to.exists() or (anchor and anchor not in anchors(to)):
            astray.append(link)

    assert astray == []


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
