"""docs/reference/keypad.md has every meaning of a key; tests/drivers/test_pages.py checks what it says of the link."""

import re

from punto.drivers.keypad.keys import DEFAULT, MEANINGS
from tests.drivers.page import page


def test_the_page_has_every_meaning_and_the_keys_of_each():
    rows = dict(re.findall(r"^\| (`[^|]+`) \| (.+) \|$", page("keypad.md"), re.MULTILINE))
    written = " ".join(rows)
    for meaning in MEANINGS:
        if not re.fullmatch("rank [3-8]|hand [0-9]+", meaning):
            assert f"`{meaning}`" in written
    for key, meaning in DEFAULT.items():
        if not meaning.startswith(("rank", "suit", "hand")):
            assert any(f"`{key}`" in keys and f"`{meaning}`" in means for keys, means in rows.items())
