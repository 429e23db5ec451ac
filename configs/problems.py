"""What is wrong with a file that a person wrote: where, what, and the name that was probably meant."""

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing to correct; `key` is dotted, with places in lists counted from 1, such as `wagers[2].rules`."""

    message: str
    file: str | None = None
    line: int | None = None
    key: str = ""
    suggestion: str | None = None

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line) if part is not None)
        meant = f" (did you mean {self.suggestion}?)" if self.suggestion else ""
        return ": ".join(part for part in (place, self.key, self.message) if part) + meant


class ConfigError(ValueError):
    """A file that cannot be used as it stands. `problems` has all that was found, its text one a line."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


def cut(text: str, most: int = 60) -> str:
    """A text as it may stand in a message: not too long."""
    return text if len(text) <= most else text[:most] + "…"


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that `name` is probably a slip of, None where none is near."""
    return next(iter(get_close_matches(name, list(known), n=1, cutoff=0.6)), None)
