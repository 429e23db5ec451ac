"""One line of the record, its JSON, and the hash that chains it to the line before."""

import hashlib
from dataclasses import dataclass
from typing import Annotated, Final

from pydantic import Field, TypeAdapter

from controller.table.events import Event
from controller.table.state import RoundRecord, TableState

EVENTS: Final[TypeAdapter[Event]] = TypeAdapter(Annotated[Event, Field(discriminator="kind")])
STATES: Final = TypeAdapter(TableState)
ROUNDS: Final = TypeAdapter(RoundRecord)

FIRST_LINK: Final = "0" * 64
"""What stands for the hash before the first entry."""


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
