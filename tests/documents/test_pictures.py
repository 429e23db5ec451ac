"""The pictures of the documents: those that commands make, and no others."""

import re

from tools.screenshots.__main__ import SERIES
from tools.screenshots.pictures import DOCS, DRAWN, GALLERY, shown, without

NAMES = {name for series in SERIES for name in series.NAMES}
LARGEST = 6_000_000
"""Bytes of all approved pictures, because each clone of the repository has them, and each of their changes."""


def test_the_pictures_on_the_pages_are_those_that_are_made():
    made = {f"images/{file}" for file in ("a-hand.webp", *(f"{name}.png" for name in NAMES | DRAWN))}

    assert shown() <= made | {f"gallery/{name}.webp" for name in NAMES}


def test_the_gallery_shows_each_picture_once():
    page = (DOCS / "reference" / "gallery.md").read_text(encoding="utf-8")

    assert sorted(re.findall(r"\(\.\./gallery/([\w-]+)\.webp\)", page)) == sorted(NAMES)


def test_the_approved_pictures_are_those_of_the_pages_and_small():
    files = list(GALLERY.iterdir())

    assert {each.name for each in files} <= {f"{name}.webp" for name in NAMES}
    assert sum(each.stat().st_size for each in files) < LARGEST


def test_text_stands_for_a_missing_picture():
    page = "![The sign](../images/sign.png) [4K](../images/floor.png) ![It](../gallery/board.webp) ![Here](images/here.png)"
    absent = {"images/sign.png", "images/floor.png", "gallery/board.webp"}

    assert without(page, absent) == "*The sign* 4K *It* ![Here](images/here.png)"
