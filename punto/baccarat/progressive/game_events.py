"""The events of a progressive game that both procedures share."""

from dataclasses import dataclass
from typing import Literal

from punto.baccarat.progressive import events


@dataclass(frozen=True, slots=True)
class WagerPlaced:
    """A sensor has detected a wager."""

    seat: int
    kind: Literal["wager_placed"] = "wager_placed"


@dataclass(frozen=True, slots=True)
class WagerLifted:
    """A sensor no longer detects a wager."""

    seat: int
    kind: Literal["wager_lifted"] = "wager_lifted"


@dataclass(frozen=True, slots=True)
class WagerVoided:
    """The chip on a sensor does not count in the coming game, because it is not certain that it is a wager.

    It must be lifted and placed again.
    """

    seat: int
    kind: Literal["wager_voided"] = "wager_voided"


@dataclass(frozen=True, slots=True)
class StartGame:
    """The dealer presses START GAME (COIN IN on older keypads) for this round.

    `seats` are those with a wager on their sensor at that time, as latched by the sensors; None if the table
    has no such sensors, and the detected wagers count.
    """

    round: int
    who: str
    seats: tuple[int, ...] | None = None
    kind: Literal["start_game"] = "start_game"


@dataclass(frozen=True, slots=True)
class HandDecided:
    """The round's cards are known, or were corrected, and won this award; None if they win none, as in a misdeal.

    Its `seats` may include any whose base wager won; those without a progressive wager win nothing.
    """

    won: events.Won | None = None
    kind: Literal["hand_decided"] = "hand_decided"


@dataclass(frozen=True, slots=True)
class AwardTakenBack:
    """The award of the last round was backed out at the Game Manager."""

    kind: Literal["award_taken_back"] = "award_taken_back"


@dataclass(frozen=True, slots=True)
class HandButton:
    """The dealer presses a seat's hand button; a second press deselects the hand."""

    seat: int
    who: str
    kind: Literal["hand_button"] = "hand_button"


@dataclass(frozen=True, slots=True)
class NobodyWon:
    """Confirmation by `who` that no seat won the award that the hand can have won, with the reason.

    `approved_by` is a second person who approved it, or None.
    """

    who: str
    reason: str
    approved_by: str | None = None
    kind: Literal["nobody_won"] = "nobody_won"


@dataclass(frozen=True, slots=True)
class ReopenGame:
    """The table's last game, which ended with NOBODY WON, is reopened; this always needs two people."""

    who: str
    reason: str
    approved_by: str | None = None
    kind: Literal["reopen_game"] = "reopen_game"


_Sensed = WagerPlaced | WagerLifted | WagerVoided
Event = _Sensed | StartGame | HandDecided | AwardTakenBack | HandButton | NobodyWon | ReopenGame
"""The events of either procedure."""


Order = (
    events.Contribute
    | events.ReopenRound
    | events.LockAward
    | events.DenyAward
    | events.BookAward
    | events.EndRound
)
"""The events that a procedure sends to the progressive."""
