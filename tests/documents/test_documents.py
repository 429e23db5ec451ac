"""The documents: each is in the index, and `make check` finds links that lead nowhere."""

from tools import documents
from tools.documents import DOCS, ROOT, broken, links


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
