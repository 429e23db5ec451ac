"""A card's number: the text between the sentinels of its second track. Pure.

The number alone proves who its owner is. So no message contains it, not even a refusal.
"""

import re
from typing import Final

START: Final = ";"
END: Final = "?"
SHORTEST: Final = 6
SHORTEST_ENROLLED: Final = 10
"""A card of a person needs so many digits: with the reader's lock it would take a thousand years to guess one."""
LONGEST: Final = 37
"""Of the 40 characters of a second track (ISO/IEC 7811) two are the sentinels and one is the check character."""

_NUMBER: Final = re.compile(f"[0-9][0-9=]{{{SHORTEST - 1},{LONGEST - 1}}}")


def card_number(written: str) -> str:
    """The number in a text, with the track's sentinels or without them.

    Raises:
        ValueError: the text is not a card's number; the message does not contain it.
    """
    number = written.strip().removeprefix(START).removesuffix(END)
    if not _NUMBER.fullmatch(number):
        raise ValueError(
            f"this is not a card's number: write {SHORTEST} to {LONGEST} characters: first a digit, then digits or ="
        )
    return number
