"""What a check has found: what was checked, how it is, and one command that mends it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

from punto.configs.characters import visible

Level = Literal["ok", "warning", "wrong", "not checked"]

_WIDTH: Final = 13
"""Of the longest name of a check."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A line of the doctor. `check` is the name of the check, `what` the part that was checked, `how` how it is.

    `command` mends it, None if no command can. `table` is the table's id or the file, if several were given.
    """

    check: str
    level: Level
    what: str
    how: str
    command: str | None = None
    table: str = ""

    def line(self) -> str:
        """The finding for people, with the command on a line of its own."""
        of = f"{self.table}: " if self.table else ""
        command = "" if self.command is None else f"\n{'':{_WIDTH + 13}}run: {self.command}"
        return f"{self.level:<11} {self.check:<{_WIDTH}} {of}{visible(f'{self.what}: {self.how}')}{command}"

    def document(self) -> dict[str, Any]:
        """The finding for programs."""
        return asdict(self)


def status_of(findings: Iterable[Finding]) -> int:
    """The exit status: 1 if something is wrong. Warnings do not change it."""
    return int(any(each.level == "wrong" for each in findings))


def once(findings: Sequence[Finding]) -> Iterator[Finding]:
    """The findings, but of those with the same command only the first of the gravest: two checks can find the same fault.

    A warning without a command says nothing new if something is wrong with the path that it names.
    """
    wrong = {each.command for each in findings if each.level == "wrong"}
    paths = {word for each in findings if each.level == "wrong" for word in each.what.split() if "/" in word}
    given = set[str]()
    for each in findings:
        if each.level == "warning" and not paths.isdisjoint(f"{each.what} {each.how}".split()):
            continue
        if each.command is None:
            yield each
        elif each.command not in given and (each.level == "wrong" or each.command not in wrong):
            given.add(each.command)
            yield each
