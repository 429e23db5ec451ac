"""Checks that each link of the documents leads somewhere: python -m tools.documents."""

import re
import sys
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
DOCS: Final = sorted((ROOT / "docs").rglob("*.md"))
PAGES: Final = [*sorted(ROOT.glob("*.md")), ROOT / "examples" / "README.md", *DOCS]


def links(page: Path) -> list[str]:
    """What a page links to, outside its blocks of code and not on the network."""
    prose = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    return [to for to in re.findall(r"\]\(([^)\s]+)\)", prose) if "://" not in to]


def anchors(page: Path) -> set[str]:
    """The names of its headings, as a forge makes them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken(page: Path) -> Iterator[str]:
    """The links that lead nowhere; a file that .gitignore names may be absent, because make writes it."""
    for link in links(page):
        path, _, anchor = link.partition("#")
        to = (page.parent / path).resolve() if path else page
        if not to.exists():
            if not made(to):
                yield f"{link}: there is no such file"
        elif anchor and anchor not in anchors(to):
            yield f"{link}: the page has no such heading"


def made(path: Path) -> bool:
    """Whether .gitignore names a file of the checkout by its path."""
    patterns = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    fitting = [
        each for each in patterns if "/" in each[:-1] and fnmatch(str(path), f"{ROOT}/{each.lstrip('!/')}")
    ]
    return bool(fitting) and not fitting[-1].startswith("!")


def main() -> int:
    """Print what is wrong; 1 if something is."""
    found = [f"{page.relative_to(ROOT)}: {each}" for page in PAGES for each in broken(page)]
    print(*found, sep="\n", end="\n" if found else "")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
