"""The one rule for texts of people and programs that go on the record, whichever door they come through."""

from typing import Final

from pydantic import AfterValidator

from punto.configs.characters import is_plain


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
