"""Everything that can happen to a progressive: the inputs, as the record keeps them.

Amounts are in minor units. `who` is the operator's name, `approved_by` a second person's, where the settings ask for
one.
"""

from dataclasses import dataclass
from typing import Literal

from controller.progressive.ledger import Cause
from controller.progressive.settings import Settings

CardLevel = Literal["supervisor", "executive"]


@dataclass(frozen=True, slots=True)
class SeatWager:
    """A seat's progressive wager in a round."""

    seat: int
    amount: int


@dataclass(frozen=True, slots=True)
class OpenMeter:
    """The meter is put into service, with its seed."""

    who: str
    kind: Literal["open_meter"] = "open_meter"


@dataclass(frozen=True, slots=True)
class Contribute:
    """A round begins at a table, with these wagers on its sensors (START GAME); there may be none."""

    table: str
    round: int
    wagers: tuple[SeatWager, ...]
    kind: Literal["contribute"] = "contribute"


@dataclass(frozen=True, slots=True)
class EndRound:
    """A table's round is over (GAME OVER, END GAME)."""

    table: str
    round: int
    kind: Literal["end_round"] = "end_round"


@dataclass(frozen=True, slots=True)
class ReopenRound:
    """A table's last round is looked at again: its cards were corrected after its end."""

    table: str
    round: int
    kind: Literal["reopen_round"] = "reopen_round"


@dataclass(frozen=True, slots=True)
class LockAward:
    """A supervisor has verified that `seats` won the tier `rule`: its amount is fixed now.

    `card` is the level of the card that was swiped, None where a key is what confirms.
    """

    table: str
    round: int
    rule: str
    seats: tuple[int, ...]
    who: str
    card: CardLevel | None = None
    kind: Literal["lock_award"] = "lock_award"


@dataclass(frozen=True, slots=True)
class BookAward:
    """The meter is adjusted for the award that is locked at a table (Aquarius: the key is back in RUN)."""

    table: str
    kind: Literal["book_award"] = "book_award"


@dataclass(frozen=True, slots=True)
class BackOut:
    """A booked award is put back by manual adjustment (sheet 000, 7h; Nexus, 7g).

    Each progressive numbers its awards from 1: `progressive` says whose it is, None that it is the one in service.
    """

    award: int
    reason: str
    who: str
    approved_by: str | None = None
    progressive: str | None = None
    kind: Literal["back_out"] = "back_out"


@dataclass(frozen=True, slots=True)
class Adjust:
    """A manual adjustment: so much more on the meter, or less for one of the causes that allow it."""

    cause: Cause
    amount: int
    reason: str
    who: str
    approved_by: str | None = None
    kind: Literal["adjust"] = "adjust"


@dataclass(frozen=True, slots=True)
class ChangeSettings:
    """Other settings are in force from now on; a seed from the next meter on.

    `before` are those that whoever changes them saw, None if they look at none.
    """

    settings: Settings
    reason: str
    who: str
    approved_by: str | None = None
    before: Settings | None = None
    kind: Literal["change_settings"] = "change_settings"


@dataclass(frozen=True, slots=True)
class Retire:
    """The progressive is retired for good, and what it holds is taken off it."""

    reason: str
    who: str
    approved_by: str | None = None
    kind: Literal["retire"] = "retire"


@dataclass(frozen=True, slots=True)
class CountCoins:
    """The wagers that were taken on the gaming day `day`, such as "2026-11-21", were counted: so much, in minor units.

    It moves no money: it is what the books are reconciled with. `progressive` says whose wagers they were, which may be
    retired since; None that they were those of the one at the table.
    """

    day: str
    amount: int
    who: str
    progressive: str | None = None
    kind: Literal["count_coins"] = "count_coins"


@dataclass(frozen=True, slots=True)
class PrintWinPage:
    """The win page of an award of `progressive` is printed, which may be retired; `original` if it is the page to pay by.

    It changes nothing: it is there before the paper, so that no second original is ever made.
    """

    progressive: str
    award: int
    who: str
    original: bool
    kind: Literal["print_win_page"] = "print_win_page"


Event = (
    OpenMeter
    | Contribute
    | EndRound
    | ReopenRound
    | LockAward
    | BookAward
    | BackOut
    | Adjust
    | ChangeSettings
    | Retire
    | CountCoins
)
