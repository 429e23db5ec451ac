"""The words of a language, from its catalogue: the same that the page speaks."""

import json
from pathlib import Path
from typing import Final

CATALOGS: Final = Path(__file__).parent / "catalogs"


def languages() -> tuple[str, ...]:
    """The languages that the displays speak: each catalogue file is one."""
    return tuple(sorted(path.stem for path in CATALOGS.glob("*.json")))


class Words:
    """One language's words by key."""

    def __init__(self, language: str) -> None:
        self._words: dict[str, str] = json.loads((CATALOGS / f"{language}.json").read_text(encoding="utf-8"))

    def __call__(self, key: str) -> str:
        """The words for a key that every catalogue has."""
        return self._words[key]

    def wager(self, name: str, title: str) -> str:
        """What a wager is called: where the catalogue does not know it, by the title that its game gives it."""
        return self._words.get(f"wager.{name}", title)

    def reason(self, reason: str) -> str:
        """Why a board is not live; what the table itself adds after a colon stays as it is."""
        said, colon, its_own = reason.partition(": ")
        return f"{self._words.get(f'reason.{said}', said)}{colon}{its_own}"
