"""One line of the record, its JSON, and the hash that chains it to the line before."""

import hashlib
import re
from dataclasses import dataclass
from typing import Annotated, Final, NamedTuple, Self

from pydantic import Field, TypeAdapter

from punto.baccarat.table.events import Event
from punto.baccarat.table.state import RoundRecord, TableState

EVENTS: Final[TypeAdapter[Event]] = TypeAdapter(Annotated[Event, Field(discriminator="kind")])
STATES: Final = TypeAdapter(TableState)
ROUNDS: Final = TypeAdapter(RoundRecord)

FIRST_LINK: Final = "0" * 64
"""What stands for the hash before the first entry."""


_HEAD: Final = re.compile(r"([1-9]\d{0,17}):([0-9a-f]{64})", re.ASCII)


class Head(NamedTuple):
    """The number of the last input and its hash, in which is every input before it: written `2817:9f86…`.

    Whoever has noted one where the record's keeper cannot get at it can tell whether the inputs up to it are still those.
    """

    seq: int
    hash: str

    @classmethod
    def of(cls, text: str) -> Self:
        """The head that was written so.

        Raises:
            ValueError: it was not.
        """
        found = _HEAD.fullmatch(text.strip())
        if found is None:
            raise ValueError(
                f"{text} is no input with its hash: write it as it was given, 2817:9f86…, with all 64 digits"
            )
        return cls(int(found[1]), found[2])

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
