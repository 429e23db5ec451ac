"""The one rule for texts of people and programs that go on the record, whichever door they come through."""

from typing import Final
from unicodedata import category

from pydantic import AfterValidator

_UNSEEN: Final = frozenset({"Cc", "Cf", "Zl", "Zp"})
"""Unicode's categories of control characters, of what changes its neighbours and is not drawn itself, such as the direction
of writing, and of the ends of lines and paragraphs: a report would not show what is on the record."""


def is_plain(text: str) -> bool:
    """Whether it has only characters that people see."""
    return text.isprintable() or not any(category(each) in _UNSEEN for each in text)


def plain(text: str) -> str:
    """The text, which fits in a line of the record and of a report.

    Raises:
        ValueError: it has a character that nobody sees.
    """
    if not is_plain(text):
        raise ValueError("write it without control or invisible characters, in one line")
    return text


PLAIN: Final = AfterValidator(plain)
"""In an `Annotated` after the bounds, whose errors come first."""
