"""Which characters people see, and which names are the same to them: editors write the same letters in several Unicode forms."""

import re
from typing import Final
from unicodedata import category, normalize

_UNSEEN: Final = frozenset({"Cc", "Cf", "Zl", "Zp"})
"""Unicode's categories of control characters, of what changes its neighbours and is not drawn itself, such as the direction
of writing, and of the ends of lines and paragraphs: a report would not show what is on the record."""
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")


def is_plain(text: str) -> bool:
    """Whether it has only characters that people see."""
    return text.isprintable() or not any(category(each) in _UNSEEN for each in text)


def visible(text: str, keep: str = "") -> str:
    r"""The text with an escape such as `\x1b` in place of each character that people do not see, other than those to `keep`.

    So a name that comes from a file or from the network cannot move a terminal's cursor, change its colours or hide a line.
    """
    if text.isascii():  # as most texts, so this is the fast way
        return _CONTROL.sub(lambda found: found[0] if found[0] in keep else _escaped(found[0]), text)
    return "".join(
        _escaped(each) if category(each) in _UNSEEN and each not in keep else each for each in text
    )


def folded(name: str) -> str:
    """The form of a name for comparison: names that differ only in case or in Unicode form have the same one."""
    return normalize("NFKC", normalize("NFKC", name).casefold())


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
