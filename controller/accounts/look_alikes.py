"""Names that look alike, by the skeletons of Unicode Technical Standard 39 (UTS 39, section 4).

Only the commands that make and list accounts load this module: its data takes about 80 ms to read.
"""

import unicodedata
from typing import Final

from confusable_homoglyphs.confusables import confusables_data

_LEFT_TO_RIGHT_MARK: Final = "\u200e"
"""Around characters that are written from right to left, in the library's data."""


def _pairs() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for character, others in confusables_data.items():
        those = {other["c"].strip(_LEFT_TO_RIGHT_MARK) for other in others}
        found.setdefault(character.strip(_LEFT_TO_RIGHT_MARK), set()).update(those)
    return found


_PAIRS: Final = _pairs()
"""Characters and short sequences -> their look-alikes. UTS 39 maps every character to one prototype, and the library has
each line of that table in both directions: a prototype has many partners, every other character has one."""


def _prototype(character: str) -> str:
    if len(_PAIRS.get(character, ())) != 1:
        return character
    (other,) = _PAIRS[character]
    if len(other) > 1 or len(_PAIRS[other]) > 1:
        return other
    return min(character, other)  # a pair: either can be the prototype, as long as it is always the same one


def skeleton(text: str) -> str:
    """The skeleton of a text: two texts that look alike have the same skeleton. It is not for display."""
    text = unicodedata.normalize("NFD", text)
    for _ in range(2):  # a prototype of several characters can contain one of such a pair
        text = unicodedata.normalize("NFD", "".join(map(_prototype, text)))
    return text


def alike(one: str, other: str) -> bool:
    """Whether two names look alike, as written, in small letters or in capitals."""
    return not _looks(one).isdisjoint(_looks(other))


def _looks(name: str) -> set[str]:
    return {skeleton(name), skeleton(name.casefold()), skeleton(name.upper())}
