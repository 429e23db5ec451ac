"""What `punto doctor` finds about the PC of the table, for the list of the devices and as a file to send to whoever helps.

The file has no password, key or name: it has nothing of the record, the accounts and the log, and what stands in a secret's file
or in the name of an account is left out wherever it occurs.
"""

import platform
import re
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, Final, Protocol

from pydantic import BaseModel

from punto.configs.given_files import read_given
from punto.controller.components import own_version
from punto.controller.config.file import ServiceConfig
from punto.controller.config.needs import secrets_of
from punto.controller.orders.doors import LinkNow
from punto.doctor.findings import Finding
from punto.messages.building import timestamp
from punto.runtime import clock

LEFT_OUT: Final = "[left out]"
_SHORTEST_SECRET: Final = 4
"""A shorter text is in ordinary words, and no password or key."""
_MOST_BYTES: Final = 100_000


class Examine(Protocol):
    """Examines the PC beside the service; `links` are the service's links then."""

    async def __call__(self, links: Callable[[], Mapping[str, LinkNow]]) -> list[Finding]: ...  # noqa: D102


class Examination(BaseModel):
    """What the doctor found at the time `ts` (UTC)."""

    ts: str
    findings: tuple[Finding, ...]


class Diagnostics(Examination):
    """The file: the findings, and the facts with which others can understand them."""

    table: str
    version: str
    python: str
    sqlite: str
    system: str
    links: dict[str, LinkNow]
    configuration_digest: str
    configuration: dict[str, Any]


class Doctor:
    """The doctor of one table, for the people at its consoles."""

    def __init__(self, config: ServiceConfig, examine: Examine) -> None:
        self._config = config
        self._examine = examine

    async def examination(self, links: Callable[[], Mapping[str, LinkNow]]) -> Examination:
        """Examine the PC now."""
        findings = await self._examine(links)
        return Examination(ts=timestamp(clock.now()), findings=tuple(findings))

    def diagnostics(
        self, found: Examination, links: Mapping[str, LinkNow], names: Iterable[str]
    ) -> dict[str, Any]:
        """The file, without the `names` of the people with accounts. It reads the files of the secrets, so not in the event loop."""
        made = Diagnostics(
            **dict(found),
            table=self._config.table.id,
            version=own_version(),
            python=platform.python_version(),
            sqlite=sqlite3.sqlite_version,
            system=platform.platform(),
            links=dict(links),
            configuration_digest=self._config.digest(),
            configuration=self._config.redacted(),
        )
        words = {*names, *self._secrets()}
        return {**_without(words, made.model_dump(mode="json")), "table": self._config.table.id}

    def name(self, now: datetime) -> str:
        """The name of the file."""
        return f"{self._config.table.id}-diagnostics-{now:%Y-%m-%d-%H%M}.json"

    def _secrets(self) -> Iterable[str]:
        """Each line of the files with secrets, as far as this user can read them."""
        for need in secrets_of(self._config):
            try:
                text = read_given(need.path, _MOST_BYTES).decode(errors="replace")
            except OSError:
                continue
            yield from (line.strip() for line in text.splitlines() if len(line.strip()) >= _SHORTEST_SECRET)


def _without(words: set[str], document: Any) -> Any:
    """JSON in which no text has one of the words."""
    if not words:
        return document
    pattern = re.compile(
        rf"(?<!\w)(?:{'|'.join(map(re.escape, sorted(words, key=len, reverse=True)))})(?!\w)"
    )

    def of(part: Any) -> Any:
        match part:
            case str():
                return pattern.sub(LEFT_OUT, part)
            case dict():
                return {of(key): of(value) for key, value in part.items()}
            case list():
                return [of(each) for each in part]
            case _:
                return part

    return of(document)
