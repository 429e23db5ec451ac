"""Two services that publish as one table, each with a record: which records are disputed, and what a choice settles. It is pure.

A person chooses one record of a table against all others that are held back. The choice settles the dispute that this person looked
at, and nothing later: not a dispute with a record that is not among them, and a record against which it was made only as long as
this record keeps coming. If nothing of it was heard for DISPUTE_ENDS, the dispute is over, and its next message begins another.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any, Final, Literal, NamedTuple

from punto.messages.building import timestamp
from punto.messages.models import Part, Timestamp

DISPUTED: Final = "disputed"
REJECTED: Final = "rejected"
DISPUTE_ENDS: Final = timedelta(minutes=10)
"""A service reports every ten seconds, also if it was rejected."""


class Choice(NamedTuple):
    """The choice of a table's record `against` all others that were held back at `ts` (UTC), by `who`."""

    record: str
    against: frozenset[str]
    ts: datetime
    who: str

    def settles(self, record: str, heard: datetime | None, now: datetime) -> bool:
        """Whether it settles a dispute of this record, which was last heard at `heard`."""
        if record not in self.against:
            return record == self.record
        return now - max(self.ts, heard or self.ts) < DISPUTE_ENDS


def disputed_by(
    record: str,
    other: str | None,
    held_back: Mapping[str, str],
    choice: Choice | None,
    heard: Mapping[str, datetime],
    now: datetime,
) -> frozenset[str]:
    """The records of a table that are disputed because a service with `record` was heard, which may have heard one with an `other`.

    They are none if people know of the dispute. `held_back` says why nothing is taken in of a record, and `heard` when each was
    heard before. A record that only a message about another one names may be invented, so it counts only if it was heard itself.
    """

    def is_settled(each: str) -> bool:
        return choice is not None and choice.settles(each, heard.get(each), now)

    disputed = set[str]()
    if held_back.get(record) == REJECTED and not is_settled(record):
        disputed |= {record} if choice is None else {record, choice.record}
    if other is not None and other != record and is_heard(heard.get(other), now):
        both = {record, other}
        if not all(held_back.get(each) == DISPUTED or is_settled(each) for each in both):
            disputed |= both
    return frozenset(disputed)


def is_heard(heard: datetime | None, now: datetime) -> bool:
    """Whether a record that was last heard at `heard` still comes."""
    return heard is not None and now - heard < DISPUTE_ENDS


# --- what a person sees before choosing


class HeldRecord(Part):
    """A record of a table of which at least one is held back, and what the house knows of it.

    `rounds` were taken in, from `first_round` to `last_round`; what its service reports itself of its rounds may be forged. It was
    heard from `first_heard` to `last_heard`, by the house's clock.
    """

    record: str
    state: Literal["taken_in", "disputed", "rejected"]
    rounds: int
    first_round: Timestamp | None
    last_round: Timestamp | None
    reported_rounds: int | None
    reported_first_round: Timestamp | None
    reported_last_round: Timestamp | None
    first_heard: Timestamp
    last_heard: Timestamp | None
    words: str
    warnings: tuple[str, ...]


class Facts(NamedTuple):
    """What the house knows of a record, as in `HeldRecord`; times are in UTC."""

    record: str
    held_back: str | None
    rounds: int
    first_round: datetime | None
    last_round: datetime | None
    reported_rounds: int | None
    reported_first_round: datetime | None
    reported_last_round: datetime | None
    first_heard: datetime
    last_heard: datetime | None


def held_records(known: Iterable[Facts]) -> tuple[HeldRecord, ...]:
    """What a person must see of these records of a table before choosing one of them, in the order in which they were first heard."""
    every = sorted(known, key=lambda each: (each.first_heard, each.record))
    return tuple(
        HeldRecord(
            **_told(each),
            state=_STATES[each.held_back],
            words=_words(each),
            warnings=tuple(_warnings(each, [other for other in every if other is not each])),
        )
        for each in every
    )


def _told(of: Facts) -> dict[str, Any]:
    same = of._asdict()
    del same["held_back"]
    return {name: timestamp(each) if isinstance(each, datetime) else each for name, each in same.items()}


_STATES: Final[dict[str | None, Literal["taken_in", "disputed", "rejected"]]] = {
    None: "taken_in",
    DISPUTED: "disputed",
    REJECTED: "rejected",
}


def _words(of: Facts) -> str:
    taken_in = _rounds(of.rounds, of.first_round, of.last_round)
    reported = "no rounds"
    if of.reported_rounds is not None:
        reported = _rounds(of.reported_rounds, of.reported_first_round, of.reported_last_round)
    heard = "not since" if of.last_heard is None else f"last at {_minute(of.last_heard)}"
    return (
        f"{_STATES[of.held_back].replace('_', ' ')}; in the store: {taken_in}; reported by its service: {reported}; first heard at "
        f"{_minute(of.first_heard)}, {heard}"
    )


def _rounds(number: int, first: datetime | None, last: datetime | None) -> str:
    counted = f"{number:,} round{'' if number == 1 else 's'}"
    if first is None and last is None:
        return counted
    return f"{counted} from {_minute(first)} to {_minute(last)}"


def _minute(moment: datetime | None) -> str:
    return "an unknown time" if moment is None else f"{moment:%Y-%m-%d %H:%M} UTC"


def _warnings(of: Facts, others: list[Facts]) -> Iterator[str]:
    """Why a record may not be the table's: a copied or stolen table begins its record later, and has played less."""
    for other in others:
        if of.rounds < other.rounds:
            yield f"the store has fewer rounds of it than of {other.record}: {of.rounds:,} and {other.rounds:,}"
        if (of.reported_rounds or 0) < (other.reported_rounds or 0):
            yield (
                f"its service reports fewer rounds than that of {other.record}: {of.reported_rounds or 0:,} and "
                f"{other.reported_rounds:,}"
            )
        if of.first_heard > other.first_heard:
            yield f"it is newer than {other.record}, which was first heard at {_minute(other.first_heard)}"
        if _later(of.reported_first_round, other.reported_first_round):
            yield f"its first round was later than that of {other.record}, at {_minute(other.reported_first_round)}"


def _later(one: datetime | None, other: datetime | None) -> bool:
    return one is not None and other is not None and one > other


def what_becomes_of(rejected: HeldRecord) -> str:
    """What becomes of a record's rounds if another record is chosen."""
    kept = "No round of it was taken in"
    if rejected.rounds:
        kept = f"Its {rejected.rounds:,} rounds that were taken in stay in the store and in the reports"
    return (
        f"{rejected.record} is rejected. {kept}, and nothing more of it is taken in: all its other rounds are only in the file of "
        "this record, so keep this file for surveillance."
    )
