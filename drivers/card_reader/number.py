"""A card's number: what its second track holds between the sentinels, and what can be none. Pure.

A number lets its card's owner in. So no message says it, not even one that refuses it.
"""

import re
from typing import Final

START: Final = ";"
END: Final = "?"
SHORTEST: Final = 6
LONGEST: Final = 37
"""Of the 40 characters of a second track (ISO/IEC 7811) two are the sentinels and one is the check character."""

_NUMBER: Final = re.compile(f"[0-9][0-9=]{{{SHORTEST - 1},{LONGEST - 1}}}")


def card_number(written: str) -> str:
    """Give the number that is written, with the track's sentinels or without them.

    Raises:
        ValueError: it is none; the message does not say it.
    """
    number = written.strip().removeprefix(START).removesuffix(END)
    if not _NUMBER.fullmatch(number):
        raise ValueError(
            f"that is no card's number: it has {SHORTEST} to {LONGEST} digits and =, beginning with a digit"
        )
    return number
