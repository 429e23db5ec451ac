"""Snapshots of the table, which make a start fast, and how the record vouches for each.

The input after a snapshot, `SnapshotTaken`, has the digest of its content. So the chain of hashes has it too, and a snapshot
that was changed, or that another program added, is not the one that the record names.
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
    """The table after the input `seq`, whose hash is `link`, as JSON; of no input, it is the table before the first."""

    seq: int = 0
    link: str = FIRST_LINK
    content: str = ""

    @classmethod
    def of(cls, seq: int, link: str, state: TableState) -> Self:
        """The snapshot of a state."""
        return cls(seq, link, STATES.dump_json(state).decode())

    @property
    def row(self) -> tuple[int, str, str]:
        """It as the record has it."""
        return self.seq, self.link, self.content

    @property
    def named(self) -> SnapshotTaken:
        """The input that is to follow it on the record."""
        return SnapshotTaken(hashlib.sha256(self.content.encode()).hexdigest())

    def difference(self, connection: sqlite3.Connection) -> str | None:
        """How it is not the one that the record names, None if it is."""
        if store.link_of(connection, self.seq) != self.link:
            return f"the snapshot after input {self.seq} has another hash than that input"
        if store.payload_of(connection, self.seq + 1) != EVENTS.dump_json(self.named).decode():
            return f"the snapshot after input {self.seq} is not the one that was taken"
        return None

    def table(self) -> Table | None:
        """The table in it, None if it was written by another version, which put it otherwise."""
        try:
            state = STATES.validate_json(self.content, strict=True)
        except ValidationError:
            return None
        return Table(state) if STATES.dump_json(state).decode() == self.content else None
