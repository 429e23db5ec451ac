"""The words of a language, from its catalogue: the same as the page's."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Final

from punto.runtime.gaming_days import read_zone

CATALOGS: Final = Path(__file__).parent / "catalogs"


def languages() -> tuple[str, ...]:
    """The languages of the displays: one per catalogue file."""
    return tuple(sorted(path.stem for path in CATALOGS.glob("*.json")))


def _zone(name: str) -> tzinfo:
    try:
        return read_zone(name)
    except ValueError:
        return UTC  # this machine does not know the zone


class Words:
    """One language's words by key."""

    def __init__(self, language: str) -> None:
        self._language = language
        self._words: dict[str, str] = json.loads((CATALOGS / f"{language}.json").read_text(encoding="utf-8"))

    def __call__(self, key: str) -> str:
        """The words for a key that every catalogue has."""
        return self._words[key]

    def title(self, titles: Mapping[str, str], own: str) -> str:
        """A title in this language, if the game file has one, or else its own."""
        return titles.get(self._language, own)

    def wager(self, name: str, title: str, titles: Mapping[str, str]) -> str:
        """The name of a wager: in this language from its game file, or else from the catalogue, or else its title."""
        return self.title(titles, self._words.get(f"wager.{name}", title))

    def reason(self, reason: str, seen: str | None, now: datetime, zone: str) -> str:
        """The reason why a board is not live, and when the table was seen last by the clock of the house's zone, or of UTC.

        Its own text after a colon stays as it is.
        """
        said, colon, its_own = reason.partition(": ")
        words = f"{self._words.get(f'reason.{said}', said)}{colon}{its_own}"
        if seen is None:
            return words
        house = _zone(zone)
        then, here = datetime.fromisoformat(seen).astimezone(house), now.astimezone(house)
        form = "%H:%M" if then.date() == here.date() else "%Y-%m-%d %H:%M"
        return f"{words}. {self('seen').format(time=then.strftime(form))}"
