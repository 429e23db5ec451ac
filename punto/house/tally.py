"""What a round adds to the sums of its gaming day. It is pure: the store adds the sums up.

A correction counts with the round that it corrects: it takes that round out as it was settled before, and puts it in as it is
settled now. A round that was voided after settlement is out, as at the table (`baccarat.table.meters`).
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date
from typing import NamedTuple

from punto.baccarat.coup import Coup
from punto.baccarat.table.after_settlement import as_dealt
from punto.baccarat.table.meters import Handle, deciding, handle_of
from punto.baccarat.table.state import RoundRecord
from punto.baccarat.wagers.definition import Game


class Place(NamedTuple):
    """Where a round counts: the gaming day, the record's number in the store, the game's name and the digest of its rules."""

    day: date
    record_id: int
    game: str
    rules: str


@dataclass(slots=True)
class Sums:
    """Changes of sums: rounds by status, wagers by name, and hits by wager and rule, each at its place.

    Without a wager, its name is empty.
    """

    counts: Counter[tuple[Place, str]] = field(default_factory=Counter)
    handles: dict[tuple[Place, str], Handle] = field(default_factory=dict)
    hits: Counter[tuple[Place, str, str]] = field(default_factory=Counter)

    def add(self, place: Place, record: RoundRecord, game: Game | None, sign: int = 1) -> None:
        """Count a played round as it is settled; with `sign` -1, take it out. Without its game, it hits nothing, and nothing is rounded."""
        for handle in handle_of(record.settlements, game):
            self._add_handle(place, handle, sign)
        if game is not None:
            self.add_hits(place, record, game, sign)

    def add_of_game(self, place: Place, record: RoundRecord, game: Game) -> None:
        """Count what a played round adds by its game's rules, which were not known when the round was counted."""
        for handle in handle_of(record.settlements, game):
            self._add_handle(place, Handle(handle.wager, rounded=handle.rounded))
        self.add_hits(place, record, game)

    def add_differences(self, place: Place, correction: RoundRecord) -> None:
        """Count the amounts of a correction whose round is not known any more: it was dropped, and what it had hit with it."""
        for each in correction.settlements:
            self._add_handle(place, Handle(each.wager, returned=each.returned))

    def _add_handle(self, place: Place, handle: Handle, sign: int = 1) -> None:
        at = place, handle.wager
        self.handles[at] = self.handles.get(at, Handle(handle.wager)).plus(handle, sign)

    def add_hits(self, place: Place, record: RoundRecord, game: Game, sign: int = 1) -> None:
        """Count what a played round hits."""
        for wager, rule in deciding(game, Coup(as_dealt(record.player, record.banker))):
            self.hits[place, wager or "", rule] += sign


class Counted(NamedTuple):
    """A round where it counts, as it was settled last."""

    place: Place
    record: RoundRecord


def count(
    sums: Sums, place: Place, record: RoundRecord, before: Counted | None, game: Game | None
) -> Counted | None:
    """Add a round to sums. `before` is the round that it corrects, None if that is not known or counts no more.

    `game` is the game of the round that counts. Returns that round, None if none does.
    """
    sums.counts[place, record.status] += 1
    if record.status == "played":
        sums.add(place, record, game)
        return Counted(place, record)
    if record.status != "correction" or before is None:
        return None
    sums.add(*before, game, -1)
    if record.winner is None:
        sums.counts[before.place, "played"] -= 1
        sums.counts[before.place, "void"] += 1
        return None
    after = before.record.corrected_by(record)
    sums.add(before.place, after, game)
    return Counted(before.place, after)


def as_settled(played: RoundRecord, corrections: Iterable[RoundRecord]) -> RoundRecord | None:
    """A played round after its corrections, in their order; None if the last of them voided it."""
    for each in corrections:
        if each.winner is None:
            return None
        played = played.corrected_by(each)
    return played
