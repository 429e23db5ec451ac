"""Problems in a file that a person wrote: the place, the error, and the name that was probably meant."""

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from punto.configs.characters import visible

_LONGEST: Final = 200


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem to correct; `key` is dotted, with places in lists counted from 1, such as `wagers[2].rules`."""

    message: str
    file: str | None = None
    line: int | None = None
    key: str = ""
    suggestion: str | None = None

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line) if part is not None)
        meant = f" (did you mean {self.suggestion}?)" if self.suggestion else ""
        return visible(": ".join(part for part in (place, self.key, self.message) if part) + meant)


class ConfigError(ValueError):
    """A file that cannot be used. `problems` lists every problem found, and its text has one per line."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


def not_one_line(text: str) -> str | None:
    """Why people cannot read a text as a line on displays, in tables and in records; None if they can."""
    if text.strip() and len(text) <= _LONGEST and text.isprintable():
        return None
    return f"must be one line of 1 to {_LONGEST} printable characters, not {cut(text)!r}"


def cut(text: str, most: int = 60) -> str:
    """A text cut to a length that fits a message."""
    return text if len(text) <= most else text[:most] + "…"


def meant(name: str, known: Iterable[str]) -> str:
    """The name that was probably meant, in brackets; nothing where none is near."""
    close = nearest(name, known)
    return "" if close is None else f" (did you mean {close}?)"


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that `name` is probably a typing error for, None if none is similar."""
    return next(iter(get_close_matches(name, list(known), n=1, cutoff=0.6)), None)
