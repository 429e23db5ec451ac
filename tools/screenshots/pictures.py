"""The pictures in docs/images: their names, and what a page shows in place of a picture that is missing.

`make screenshots` makes all of them, which takes minutes and Chromium, and only those of README are committed. So a missing picture
is no error, but a name that is not in this list is one. The hook of the site reads this file in an environment without the program,
so the file imports nothing of it.

python -m tools.screenshots.pictures    # the last step of `make screenshots`
"""

import re
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Final

IMAGES: Final = Path(__file__).parents[2] / "docs" / "images"
SCREENS: Final = {"1080p": (1920, 1080), "4k": (3840, 2160)}
THEMES: Final = ("lacquer", "jade", "night")
LAYOUTS: Final = {
    "landscape": "tables/table-1/i-score?layout=landscape",
    "portrait": "tables/table-1/i-score?layout=portrait",
    "roads": "tables/table-1/i-score?layout=roads",
    "split": "split?tables=table-1,table-2",
    "wall": "wall?tables=table-1,table-2,table-3,table-4,table-5,table-6",
}
"""The layouts of the i-Score, each with its address."""
_PARTS: Final = {
    "i-score": (
        *(f"{layout}-{theme}-{screen}" for layout in LAYOUTS for theme in THEMES for screen in SCREENS),
        *("landscape-zh-Hant", "strip", "dealing", "not-live"),
    ),
    "progressive": (
        *(f"{theme}-1080p" for theme in THEMES),
        *("lacquer-4k", "portrait", "zh-Hant", "won", "whole", "whole-portrait"),
    ),
    "console": (
        *(f"{page}{screen}" for page in ("dealer", "supervisor") for screen in ("", "-1080p", "-4k")),
        *("sign-on", "not-live", "dealer-burn", "dealer-next-card", "dealer-key-card", "dealer-call"),
        *("dealer-hands", "supervisor-void", "supervisor-correction", "supervisor-hands", "supervisor-shift"),
        *("supervisor-game", "aquarius-win", "nexus-win", "progressive-start", "progressive-signature"),
        "progressive-supervisor",
    ),
    "game-manager": (
        *("opening", "meters", "adjustment", "settings", "awards", "day", "day-dark", "week", "reconcile"),
    ),
    "floor": (
        *("light", "phone", "wall-4k", "reports", "alarms", "alarms-phone"),
        *("people", "shoes", "progressives"),
    ),
}
NAMES: Final = frozenset(
    ("floor", "demo-progressive", "edge-report", *(f"{of}-{part}" for of in _PARTS for part in _PARTS[of]))
)
_SHOWN: Final = re.compile(r"(?P<picture>!?)\[(?P<text>[^\]]*)\]\([^()\s]*images/(?P<name>[\w-]+)\.png\)")


def picture_file(name: str) -> Path:
    """The file of a picture.

    Raises:
        LookupError: the name is not in the list.
    """
    if name not in NAMES:
        raise LookupError(f"{name} is not in {__file__}: add it to the list")
    return IMAGES / f"{name}.png"


def missing() -> list[str]:
    """The names of the pictures that nobody has made here."""
    return sorted(name for name in NAMES if not picture_file(name).is_file())


def without(markdown: str, absent: Collection[str]) -> str:
    """A page with text in place of these pictures: in italics the alternative text of one that it shows, or the text of a link."""

    def shown(found: re.Match[str]) -> str:
        if found["name"] not in absent:
            return found[0]
        return f"*{found['text']}*" if found["picture"] else found["text"]

    return _SHOWN.sub(shown, markdown)


if __name__ == "__main__":
    if absent := missing():
        sys.exit(f"`make screenshots` does not make: {', '.join(absent)}")
