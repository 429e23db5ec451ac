"""The effects of an event on a progressive: entries for its record, in order."""

from dataclasses import dataclass
from typing import Literal

from punto.baccarat.progressive.events import CardLevel, ConfirmedBy, SeatWager
from punto.baccarat.progressive.ledger import Cause, Posting
from punto.baccarat.progressive.settings import Payer, Settings
from punto.baccarat.progressive.state import Award


@dataclass(frozen=True, slots=True)
class Posted:
    """Money moved."""

    posting: Posting
    kind: Literal["posted"] = "posted"


@dataclass(frozen=True, slots=True)
class WagersCounted:
    """A round began at a table with these progressive wagers."""

    table: str
    round: int
    wagers: tuple[SeatWager, ...]
    kind: Literal["wagers_counted"] = "wagers_counted"


@dataclass(frozen=True, slots=True)
class AwardLocked:
    """An award was fixed: it is logged, and only a manual adjustment can back it out."""

    award: Award
    kind: Literal["award_locked"] = "award_locked"


@dataclass(frozen=True, slots=True)
class AwardBooked:
    """An award is due for payment; if the meter pays it, the meter was adjusted."""

    award: Award
    kind: Literal["award_booked"] = "award_booked"


@dataclass(frozen=True, slots=True)
class AwardBackedOut:
    """An award was backed out, onto the meter if the meter had paid it; with who and why."""

    award: Award
    who: str
    reason: str
    approved_by: str | None = None
    kind: Literal["award_backed_out"] = "award_backed_out"


@dataclass(frozen=True, slots=True)
class NobodyWonLogged:
    """Confirmation that none of `seats` won the tier `rule`, which their hand can have won.

    `amount` is the amount that the award would have had. The other fields are as for an award.
    """

    table: str
    round: int
    rule: str
    seats: tuple[int, ...]
    amount: int
    payer: Payer
    reason: str
    who: str
    by: ConfirmedBy
    level: CardLevel | None = None
    confirmed_by: str | None = None
    approved_by: str | None = None
    kind: Literal["nobody_won"] = "nobody_won"


@dataclass(frozen=True, slots=True)
class GameReopened:
    """A game that had ended with NOBODY WON was reopened."""

    table: str
    round: int
    reason: str
    who: str
    approved_by: str | None
    kind: Literal["game_reopened"] = "game_reopened"


@dataclass(frozen=True, slots=True)
class TableForgotten:
    """The game of a table whose record was lost or restored was ended by an order; `round` is 0 if it has played none."""

    table: str
    round: int
    reason: str
    who: str
    approved_by: str | None
    kind: Literal["table_forgotten"] = "table_forgotten"


@dataclass(frozen=True, slots=True)
class SettingsChanged:
    """The settings before and after a change, and who changed them."""

    before: Settings
    after: Settings
    reason: str
    who: str
    approved_by: str | None = None
    kind: Literal["settings_changed"] = "settings_changed"


@dataclass(frozen=True, slots=True)
class Retired:
    """The progressive was retired."""

    reason: str
    who: str
    approved_by: str | None
    kind: Literal["retired"] = "retired"


@dataclass(frozen=True, slots=True)
class CoinsCounted:
    """The progressive wagers of a gaming day were counted, by hand or machine."""

    day: str
    amount: int
    who: str
    kind: Literal["coins_counted"] = "coins_counted"


@dataclass(frozen=True, slots=True)
class WinPagePrinted:
    """The win page of the award with this number was printed, as the original or as a copy."""

    award: int
    who: str
    original: bool
    kind: Literal["win_page_printed"] = "win_page_printed"


_OfAwards = AwardLocked | AwardBooked | AwardBackedOut | NobodyWonLogged | GameReopened | TableForgotten
Effect = Posted | WagersCounted | _OfAwards | SettingsChanged | Retired | CoinsCounted | WinPagePrinted


def table_of(entry: Effect) -> str | None:
    """The table whose game led to an entry; None for what the Game Manager ordered."""
    match entry:
        case Posted(posting):
            return None if posting.cause is Cause.BACK_OUT else posting.reference.table
        case AwardLocked(award) | AwardBooked(award):
            return award.table
        case WagersCounted() | NobodyWonLogged() | GameReopened():
            return entry.table
        case _:
            return None
