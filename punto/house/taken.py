"""What is taken in of a record, as its table told it, and the cursors up to which it was. It is pure."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from hashlib import sha256
from typing import Any, NamedTuple, Protocol, Self

from punto.baccarat.table.state import RoundRecord
from punto.messages.books import Books
from punto.messages.requests import RecordedIncident


class Cursor(NamedTuple):
    """What was taken in of a record, which has the number `id` in the store.

    `rounds` is the number of its last round, `ended` when that ended, `incidents` the input up to which its incidents were, and
    `books` the last gaming day whose books were. `held_back` says that nothing is taken in of it: it is disputed or rejected.
    `heard` is when its service was last heard, which is noted while a record of its table is held back.
    """

    id: int
    rounds: int
    ended: datetime | None
    incidents: int
    books: date | None = None
    held_back: str | None = None
    heard: datetime | None = None

    @classmethod
    def of(cls, row: Sequence[Any]) -> Self:
        """From the columns of a record."""
        id_, rounds, ended, incidents, books, held_back, heard = row
        ended, heard = (None if each is None else aware(each) for each in (ended, heard))
        return cls(id_, rounds, ended, incidents, books, held_back, heard)


class OfRecord(Protocol):
    """Something that a table told of its record."""

    @property
    def table(self) -> str:
        """The table's id."""

    @property
    def record(self) -> str:
        """The name of the record."""

    @property
    def simulation(self) -> bool:
        """Whether the table is a simulation."""


Cursors = Mapping[tuple[str, str], Cursor]
"""By the table's id and the name of its record."""
Digests = Mapping[tuple[str, str], Mapping[int, str]]
"""Digests of rounds by their numbers, by the table's id and the name of its record."""


def newest(cursors: Cursors) -> dict[str, int]:
    """The number of each table's last round, of the newest of its records."""
    return {
        table: cursor.rounds
        for (table, _), cursor in sorted(cursors.items(), key=lambda each: each[1].id)
        if cursor.held_back is None
    }


class Disputed(NamedTuple):
    """A record of one of two services that publish with the table's id."""

    table: str
    record: str
    simulation: bool


class Reported(NamedTuple):
    """What a service reports of its record while a record of its table is held back: its rounds, and when the first and the last ended.

    `heard` is when the service was last heard.
    """

    heard: datetime | None = None
    rounds: int | None = None
    first: datetime | None = None
    last: datetime | None = None


class Taken(NamedTuple):
    """A round as its table told it: when it ended (UTC), its game, what identifies the game's rules, and the currency."""

    table: str
    record: str
    simulation: bool
    currency: str
    ts: datetime
    game: str
    rules: str
    round: RoundRecord

    @property
    def digest(self) -> str:
        """What tells it from another round with its number, of what the store has of it: SHA-256 in hexadecimal."""
        record = self.round
        settled = sorted(
            (each.seat, each.wager, each.outcome.value, each.stake, each.returned, each.net, each.rule)
            for each in record.settlements
        )
        hands = " ".join(record.player), " ".join(record.banker), record.player_total, record.banker_total
        at = self.ts.astimezone(UTC).isoformat(), self.game, self.rules, record.shoe, record.coup
        told = at, record.status, hands, record.corrects, settled
        return sha256(repr(told).encode()).hexdigest()


class TakenIncidents(NamedTuple):
    """The incidents and entrances of a record's inputs after `after` up to `until`, as its table told them."""

    table: str
    record: str
    simulation: bool
    after: int
    until: int
    incidents: tuple[RecordedIncident, ...]


class TakenBooks(NamedTuple):
    """The books of a gaming day that has ended, as the service told them at `ts`. `after` is the last day that was taken in before."""

    table: str
    record: str
    simulation: bool
    after: date | None
    ts: str
    books: Books


def aware(moment: datetime) -> datetime:
    """A moment of the store in UTC. SQLite keeps no offset."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
