"""The words of a language, from its catalogue: the same as the pages'."""

import json
import re
from datetime import date
from functools import cache
from pathlib import Path
from typing import Final, Literal

from punto.runtime.gaming_days import written_day

Language = Literal["en", "zh-Hans", "zh-Hant"]
CATALOGS: Final = Path(__file__).parent / "catalogs"
"""The pages' words by key, a file for each language of `[console]`: LANGUAGE.json."""
_SAID: Final = "said."
_CODE: Final = re.compile(r"[a-z]+(?:_[a-z0-9]+)+")


class Words:
    """One language's words by key."""

    def __init__(self, language: Language) -> None:
        self.language = language
        self._words: dict[str, str] = json.loads((CATALOGS / f"{language}.json").read_text(encoding="utf-8"))
        self._sentences = [
            (re.compile(_pattern(key.removeprefix(_SAID))), words)
            for key, words in self._words.items()
            if key.startswith(_SAID)
        ]

    def __call__(self, key: str, **values: object) -> str:
        """The words for a key that every catalogue has, with these values in them."""
        return self._words[key].format(**values)

    def wager(self, name: str, title: str) -> str:
        """The name of a wager: from the catalogue, or else the title in its game file."""
        return self._words.get(f"wager.{name}", title)

    def day(self, day: date) -> str:
        """A day as the pages write it: "24 Nov 2026"."""
        return written_day(day) if self.language == "en" else f"{day.year}年{day.month}月{day.day}日"

    def order(self, kind: str) -> str:
        """The label of an order."""
        return self._words.get(f"label.{kind}", self.named(kind))

    def named(self, code: str) -> str:
        """A name of programs in words: `card_outside_play` is "card outside play"."""
        return self._words.get(f"name.{code}", code.replace("_", " "))

    def said(self, text: str) -> str:
        """A sentence of the service, and so what it names; as it is if the catalogue does not have it."""
        for pattern, words in self._sentences:
            if found := pattern.fullmatch(text):
                values = {name: self.said(value) for name, value in found.groupdict().items()}
                return str(words.format(**values))
        known = self._words.get(f"name.{text}")
        return known or (self.named(text) if _CODE.fullmatch(text) else text)


@cache
def words_of(language: Language) -> Words:
    """The words of a language that has a catalogue."""
    return Words(language)


def _pattern(said: str) -> str:
    """The sentence as a pattern: `{N}` is a number, and `{name}` any text."""
    parts = re.split(r"\{(\w+)\}", said)
    for at in range(1, len(parts), 2):
        of = r"\d+" if re.fullmatch("[A-Z]", parts[at]) else ".+?"
        parts[at] = f"(?P<{parts[at]}>{of})"
    parts[::2] = map(re.escape, parts[::2])
    return "".join(parts)
