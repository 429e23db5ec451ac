"""Snapshots of the table, which make a start fast.

The input after a snapshot, `SnapshotTaken`, has the digest of the snapshot's content. So the chain of hashes covers
it, and a snapshot that was changed, or added by another program, is found.
"""

import hashlib
import sqlite3
from dataclasses import dataclass
from typing import Self

from pydantic import ValidationError

from punto.baccarat.table.events import SnapshotTaken
from punto.baccarat.table.state import TableState
from punto.baccarat.table.table import Table
from punto.controller.journal import store
from punto.controller.journal.entries import EVENTS, FIRST_LINK, STATES


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The table after the input `seq`, whose hash is `link`, as JSON. With `seq` 0 it is before the first input."""

    seq: int = 0
    link: str = FIRST_LINK
    content: str = ""

    @classmethod
    def of(cls, seq: int, link: str, state: TableState) -> Self:
        """Make the snapshot of a state."""
        return cls(seq, link, STATES.dump_json(state).decode())

    @property
    def row(self) -> tuple[int, str, str]:
        """Its row on the record."""
        return self.seq, self.link, self.content

    @property
    def named(self) -> SnapshotTaken:
        """The input that follows it on the record and has its digest."""
        return SnapshotTaken(hashlib.sha256(self.content.encode()).hexdigest())

    def difference(self, connection: sqlite3.Connection) -> str | None:
        """The difference from the snapshot that the record names, None if there is none."""
        if store.link_of(connection, self.seq) != self.link:
            return f"the snapshot after input {self.seq} does not have the hash of that input"
        if store.payload_of(connection, self.seq + 1) != EVENTS.dump_json(self.named).decode():
            return f"the snapshot after input {self.seq} is not the one that was taken"
        return None

    def table(self) -> Table | None:
        """The table in it, None if another version wrote it in another form."""
        try:
            state = STATES.validate_json(self.content, strict=True)
        except ValidationError:
            return None
        return Table(state) if STATES.dump_json(state).decode() == self.content else None
