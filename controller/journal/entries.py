"""One line of the record, its JSON, and the hash that chains it to the line before."""

import hashlib
from dataclasses import dataclass
from typing import Annotated, Final, NamedTuple

from pydantic import Field, TypeAdapter

from controller.table.events import Event
from controller.table.state import RoundRecord, TableState

EVENTS: Final[TypeAdapter[Event]] = TypeAdapter(Annotated[Event, Field(discriminator="kind")])
STATES: Final = TypeAdapter(TableState)
ROUNDS: Final = TypeAdapter(RoundRecord)

FIRST_LINK: Final = "0" * 64
"""What stands for the hash before the first entry."""


class Head(NamedTuple):
    """The number of the last input and its hash, in which is every input before it: written `2817:9f86…`.

    Whoever has noted one where the record's keeper cannot get at it can tell whether the inputs up to it are still those.
    """

    seq: int
    hash: str

    def __str__(self) -> str:
        return f"{self.seq}:{self.hash}"


FIRST_HEAD: Final = Head(0, FIRST_LINK)


@dataclass(frozen=True, slots=True)
class Entry:
    """An input on the record: `seq` from 1 without gaps, `ts` RFC 3339 UTC, who or what it came from, its JSON."""

    seq: int
    ts: str
    source: str
    payload: str

    def chained_to(self, before: str) -> str:
        """This entry's hash, given that of the entry before: SHA-256 in hex over both."""
        line = f"{before}\n{self.seq}\n{self.ts}\n{self.source}\n{self.payload}"
        return hashlib.sha256(line.encode()).hexdigest()
