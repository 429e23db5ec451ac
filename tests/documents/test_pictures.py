"""The pictures in docs/images: the documents show those that `make screenshots` makes, and no others."""

import re

from tests.controller.table_in_this_process import HERE
from tools.screenshots.pictures import NAMES, without

PAGES = [*HERE.glob("*.md"), *(HERE / "docs").rglob("*.md")]


def test_the_pictures_on_the_pages_are_those_that_are_made():
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)

    assert set(re.findall(r"images/([\w-]+)\.png\)", text)) == NAMES


def test_text_stands_for_a_missing_picture_and_a_misspelt_name_is_left():
    page = "![The sign](../images/progressive-won.png) [4K](../images/floor-light.png) ![It](../images/floor-lihgt.png)"

    assert without(page, NAMES) == "*The sign* 4K ![It](../images/floor-lihgt.png)"
