"""An input on the record, what became of it, and the hash that chains it to the input before."""

import hashlib
import json
import re
from typing import Annotated, Any, Final, NamedTuple, Self

from pydantic import ConfigDict, Field, TypeAdapter

from punto.baccarat.table.events import Event
from punto.baccarat.table.state import RoundRecord
from punto.baccarat.wagers.definition import Game
from punto.configs.problems import cut

EVENTS: Final[TypeAdapter[Event]] = TypeAdapter(
    Annotated[Event, Field(discriminator="kind")], config=ConfigDict(defer_build=True)
)
ROUNDS: Final = TypeAdapter(RoundRecord)
GAMES: Final[TypeAdapter[Game]] = TypeAdapter(Game)


def repeated_key(text: str) -> str | None:
    """A key that an object in this JSON has twice, None without one: SQLite reads the first of the two, and the program the last.

    Raises:
        ValueError: the text is not JSON.
    """
    repeated: list[str] = []

    def note(pairs: list[tuple[str, Any]]) -> None:
        keys = [key for key, _ in pairs]
        if len(set(keys)) != len(keys):
            repeated.append(next(key for key in keys if keys.count(key) > 1))

    json.loads(text, object_pairs_hook=note)
    return repeated[0] if repeated else None


FIRST_LINK: Final = "0" * 64
"""The hash before the first entry."""
_HEAD: Final = re.compile(r"([1-9]\d{0,17}):([0-9a-f]{64})", re.ASCII)


class Head(NamedTuple):
    """The number of the last input and its hash, written `2817:9f86…`. The hash covers every input before it too.

    A head that is stored separately from the record proves later that the inputs up to it are unchanged.
    """

    seq: int
    hash: str

    @classmethod
    def of(cls, text: str) -> Self:
        """Read a head from its text.

        Raises:
            ValueError: the text is not a head.
        """
        found = _HEAD.fullmatch(text.strip())
        if found is None:
            shown = cut(text, 100)
            raise ValueError(
                f"{shown if shown.isprintable() else ascii(shown)} is not an input's number and hash: write them as 2817:9f86…, with all 64 digits"
            )
        return cls(int(found[1]), found[2])

    def __str__(self) -> str:
        return f"{self.seq}:{self.hash}"


FIRST_HEAD: Final = Head(0, FIRST_LINK)


ACCEPTED: Final = "accepted"
REFUSED: Final = "refused"
FAILED: Final = "failed"
"""What the first word of an outcome can be."""


class Recorded(NamedTuple):
    """An input as the record keeps it; its number follows from its place.

    - `ts`, `source`, `payload`: its time in RFC 3339 and UTC, where it came from, and its JSON.
    - `outcome`: `accepted`; `refused` and the refusal's code; or `failed` and the SHA-256 of the traceback in the log.
    - `results`: the SHA-256 in hex of the rows that follow from it (`rows.text`); empty without rows.
    - `state`: the SHA-256 in hex of the table's state after it, as JSON, if it ends a round, begins a shoe or has a snapshot;
      otherwise empty.
    """

    ts: str
    source: str
    payload: str
    outcome: str = ACCEPTED
    results: str = ""
    state: str = ""


class Entry(NamedTuple):
    """An input on the record: its number, from 1 without gaps, and what the record keeps of it."""

    seq: int
    recorded: Recorded

    @property
    def ts(self) -> str:
        """Its time."""
        return self.recorded.ts

    @property
    def source(self) -> str:
        """Where it came from."""
        return self.recorded.source

    @property
    def payload(self) -> str:
        """Its JSON."""
        return self.recorded.payload

    def chained_to(self, before: str) -> str:
        """This entry's hash: SHA-256 in hex over the hash of the entry `before` and all of this entry."""
        return digest("\n".join((before, str(self.seq), *self.recorded)))


def digest(text: str) -> str:
    """The SHA-256 of a text, in hex."""
    return hashlib.sha256(text.encode()).hexdigest()
