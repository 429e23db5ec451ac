"""Everything that can happen to a progressive: the inputs, as the record keeps them.

Amounts are in minor units. `who` is the operator's name, `approved_by` a second person's. Whether an order needs one is
asked where it is taken (`punto.baccarat.table.approval`), and not here.
"""

from dataclasses import dataclass
from typing import Literal

from punto.baccarat.cards import Card
from punto.baccarat.coup import Side
from punto.baccarat.progressive.ledger import Cause
from punto.baccarat.progressive.settings import Settings

CardLevel = Literal["supervisor", "executive"]
ConfirmedBy = Literal["key", "card", "signature", "dealer"]
"""How an award is confirmed; by the dealer alone only where the house lets a dealer pay it from the tray."""


@dataclass(frozen=True, slots=True)
class Won:
    """The award that the hand on `side` won, and the seats that won it; that can have won it if not `certain`.

    For so many seats as `dealer_up_to` the dealer may confirm it without a supervisor. `player` and `banker` are the cards.
    """

    rule: str
    seats: tuple[int, ...]
    certain: bool = True
    side: Side | None = None
    dealer_up_to: int = 0
    player: tuple[Card, ...] = ()
    banker: tuple[Card, ...] = ()


@dataclass(frozen=True, slots=True)
class Authority:
    """Who confirms an award, or that nobody won one, and by what; `level` is that of the card or signature.

    `confirmed_by` pressed CONFIRM where that is another step than `who` completes it by.
    """

    who: str
    by: ConfirmedBy = "key"
    level: CardLevel | None = None
    confirmed_by: str | None = None


@dataclass(frozen=True, slots=True)
class SeatWager:
    """A seat's progressive wager in a round."""

    seat: int
    amount: int


@dataclass(frozen=True, slots=True)
class OpenMeter:
    """The meter is put into service, with its seed."""

    who: str
    approved_by: str | None = None
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
class ReopenedBy:
    """Who opens a game again that ended with nobody as its winner, why, and who approved it."""

    who: str
    reason: str
    approved_by: str | None


@dataclass(frozen=True, slots=True)
class ReopenRound:
    """A table's last round is looked at again: its cards were corrected after its end, or `by` says who orders it."""

    table: str
    round: int
    by: ReopenedBy | None = None
    kind: Literal["reopen_round"] = "reopen_round"


@dataclass(frozen=True, slots=True)
class LockAward:
    """It is verified that the seats of `won` won it: its amount is fixed now."""

    table: str
    round: int
    won: Won
    authority: Authority
    kind: Literal["lock_award"] = "lock_award"


@dataclass(frozen=True, slots=True)
class DenyAward:
    """It is verified that of the seats of `won`, which can have won it, none did."""

    table: str
    round: int
    won: Won
    reason: str
    approved_by: str | None
    authority: Authority
    kind: Literal["deny_award"] = "deny_award"


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
    | DenyAward
    | BookAward
    | BackOut
    | Adjust
    | ChangeSettings
    | Retire
    | CountCoins
)
