"""The events of a progressive: its inputs, as the record keeps them.

Amounts are in minor units. `who` is the operator's name, `approved_by` a second person's.
`punto.baccarat.table.approval` decides if an order needs a second person; this module does not.
"""

from dataclasses import dataclass
from typing import Literal

from punto.baccarat.cards import Card
from punto.baccarat.coup import Side
from punto.baccarat.progressive.ledger import Cause
from punto.baccarat.progressive.settings import Settings

CardLevel = Literal["supervisor", "executive"]
ConfirmedBy = Literal["key", "card", "signature", "dealer"]
"""How an award is confirmed; `dealer` only if the house lets the dealer confirm awards from the tray."""


@dataclass(frozen=True, slots=True)
class Won:
    """The award that the hand on `side` won, and its winning seats; if not `certain`, the seats that can have won it.

    The dealer may confirm it without a supervisor for up to `dealer_up_to` seats. `player` and `banker` are
    the cards.
    """

    rule: str
    seats: tuple[int, ...]
    certain: bool = True
    side: Side | None = None
    dealer_up_to: int = 0
    player: tuple[Card, ...] = ()
    banker: tuple[Card, ...] = ()


@dataclass(frozen=True, slots=True)
class Confirmation:
    """The person who confirms an award or NOBODY WON, and how; `level` is that of the card or signature.

    `confirmed_by` pressed CONFIRM, if completing it is a separate step by `who`.
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
    """A round begins at a table, with these wagers on its sensors (START GAME); the wagers may be empty."""

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
    """The person who reopens a game that ended with NOBODY WON, the reason, and the second person who approved it."""

    who: str
    reason: str
    approved_by: str | None


@dataclass(frozen=True, slots=True)
class ReopenRound:
    """A table's last round is reopened: its cards were corrected after its end, or a person ordered it (`by`)."""

    table: str
    round: int
    by: ReopenedBy | None = None
    kind: Literal["reopen_round"] = "reopen_round"


@dataclass(frozen=True, slots=True)
class LockAward:
    """A confirmed award for the seats of `won`: its amount is fixed now."""

    table: str
    round: int
    won: Won
    confirmation: Confirmation
    kind: Literal["lock_award"] = "lock_award"


@dataclass(frozen=True, slots=True)
class DenyAward:
    """Confirmation that none of the seats of `won`, which can have won it, did win."""

    table: str
    round: int
    won: Won
    reason: str
    approved_by: str | None
    confirmation: Confirmation
    kind: Literal["deny_award"] = "deny_award"


@dataclass(frozen=True, slots=True)
class BookAward:
    """The meter is adjusted for the award locked at a table (Aquarius: the key is back in RUN)."""

    table: str
    kind: Literal["book_award"] = "book_award"


@dataclass(frozen=True, slots=True)
class BackOut:
    """A booked award is put back by manual adjustment (sheet 000, 7h; Nexus, 7g).

    Each progressive numbers its awards from 1: `progressive` says which one it belongs to, None for the one
    in service.
    """

    award: int
    reason: str
    who: str
    approved_by: str | None = None
    progressive: str | None = None
    kind: Literal["back_out"] = "back_out"


@dataclass(frozen=True, slots=True)
class Adjust:
    """A manual adjustment: an amount added to the meter, or taken off it for one of the causes that allow this."""

    cause: Cause
    amount: int
    reason: str
    who: str
    approved_by: str | None = None
    kind: Literal["adjust"] = "adjust"


@dataclass(frozen=True, slots=True)
class ChangeSettings:
    """New settings apply from now on; a new seed applies from the next meter on.

    `before` holds the settings that the person saw when changing them, None if the person did not see them.
    """

    settings: Settings
    reason: str
    who: str
    approved_by: str | None = None
    before: Settings | None = None
    kind: Literal["change_settings"] = "change_settings"


@dataclass(frozen=True, slots=True)
class Retire:
    """The progressive is retired for good, and the money on its meter is taken off."""

    reason: str
    who: str
    approved_by: str | None = None
    kind: Literal["retire"] = "retire"


@dataclass(frozen=True, slots=True)
class ForgetTable:
    """The record of a linked table was lost or restored: the game of its last round no longer holds the meter up."""

    table: str
    reason: str
    who: str
    approved_by: str | None = None
    kind: Literal["forget_table"] = "forget_table"


@dataclass(frozen=True, slots=True)
class CountCoins:
    """The counted wagers of the gaming day `day`, such as "2026-11-21", in minor units.

    It moves no money: reconciliation compares the books with it. `progressive` says whose wagers they were,
    also if it is retired since; None for the progressive at the table.
    """

    day: str
    amount: int
    who: str
    progressive: str | None = None
    kind: Literal["count_coins"] = "count_coins"


@dataclass(frozen=True, slots=True)
class PrintWinPage:
    """The win page of an award of `progressive`, which may be retired, is printed; `original` for the page to pay by.

    It changes no state. It is recorded before printing, so that a second original is never made.
    """

    progressive: str
    award: int
    who: str
    original: bool
    kind: Literal["print_win_page"] = "print_win_page"


_OfRounds = Contribute | EndRound | ReopenRound | LockAward | DenyAward | BookAward
_OfTheMeter = BackOut | Adjust | ChangeSettings | Retire | ForgetTable | CountCoins
Event = OpenMeter | _OfRounds | _OfTheMeter
