"""Snapshots of the table, which make a start fast.

The input before a snapshot covers the digest of the table's state, so a snapshot that was changed, or that another program added,
is found by the chain of hashes.
"""

import json
from contextlib import suppress
from typing import Final, NamedTuple

from pydantic import TypeAdapter, ValidationError

from punto.baccarat.table.state import TableState
from punto.controller.journal.evidence_verifier import state_digest

STATES: Final = TypeAdapter(TableState)


class Snapshot(NamedTuple):
    """The table after the input `seq`, as JSON."""

    seq: int
    content: str

    @classmethod
    def of(cls, seq: int, state: TableState) -> "Snapshot":
        """Make the snapshot of a state."""
        return cls(seq, STATES.dump_json(state).decode())

    def is_the_one(self, digest: str) -> bool:
        """Whether its state has this digest, whatever version of the program wrote it."""
        with suppress(ValueError, RecursionError, AttributeError):
            return state_digest(json.loads(self.content)) == digest
        return False

    def state(self) -> TableState | None:
        """The state in it, None if another version wrote it in another form."""
        try:
            state = STATES.validate_json(self.content, strict=True)
        except ValidationError:
            return None
        return state if STATES.dump_json(state).decode() == self.content else None
