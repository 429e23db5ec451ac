"""The files of the pictures: in docs/images as large as their screens, and in docs/gallery the approved ones at half of it.

The pictures of docs/images are made by commands, and only those of README are committed, so a page shows text in place of one that
is missing. The hook of the site reads this file in an environment without the program, so the file imports nothing of it.
"""

import re
from collections.abc import Collection
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
DOCS: Final = ROOT / "docs"
IMAGES: Final = DOCS / "images"
GALLERY: Final = DOCS / "gallery"
DRAWN: Final = {"edge-report", "demo-progressive"}
"""The pictures of docs/images that have a command of their own."""
_SHOWN: Final = re.compile(
    r"(?P<picture>!?)\[(?P<text>[^\]]*)\]\([^()\s]*(?P<file>(?:images|gallery)/[\w-]+\.(?:png|webp))\)"
)


def shown() -> set[str]:
    """The files of the pictures that the documents show, from docs/."""
    pages = [*ROOT.glob("*.md"), *DOCS.rglob("*.md")]
    return {found["file"] for page in pages for found in _SHOWN.finditer(page.read_text(encoding="utf-8"))}


def missing() -> set[str]:
    """Those of them that nobody has made here."""
    return {file for file in shown() if not (DOCS / file).is_file()}


def without(markdown: str, absent: Collection[str]) -> str:
    """A page with text in place of these pictures: in italics the alternative text of one that it shows, or the text of a link."""

    def text(found: re.Match[str]) -> str:
        if found["file"] not in absent:
            return found[0]
        return f"*{found['text']}*" if found["picture"] else found["text"]

    return _SHOWN.sub(text, markdown)
