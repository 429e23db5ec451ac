"""What a progressive does about an event: entries for its record, in order."""

from dataclasses import dataclass
from typing import Literal

from controller.progressive.events import SeatWager
from controller.progressive.ledger import Posting
from controller.progressive.settings import Settings
from controller.progressive.state import Award


@dataclass(frozen=True, slots=True)
class Posted:
    """Money moved."""

    posting: Posting
    kind: Literal["posted"] = "posted"


@dataclass(frozen=True, slots=True)
class WagersCounted:
    """A round began at a table, with these progressive wagers."""

    table: str
    round: int
    wagers: tuple[SeatWager, ...]
    kind: Literal["wagers_counted"] = "wagers_counted"


@dataclass(frozen=True, slots=True)
class AwardLocked:
    """An award was fixed: it is logged, and can be backed out only by manual adjustment."""

    award: Award
    kind: Literal["award_locked"] = "award_locked"


@dataclass(frozen=True, slots=True)
class AwardBooked:
    """The meter was adjusted for an award, which is to be paid."""

    award: Award
    kind: Literal["award_booked"] = "award_booked"


@dataclass(frozen=True, slots=True)
class AwardBackedOut:
    """An award was put back on the meter."""

    award: Award
    kind: Literal["award_backed_out"] = "award_backed_out"


@dataclass(frozen=True, slots=True)
class SettingsChanged:
    """The settings before and after a change, and who made it."""

    before: Settings
    after: Settings
    reason: str
    who: str
    approved_by: str | None = None
    kind: Literal["settings_changed"] = "settings_changed"


@dataclass(frozen=True, slots=True)
class Retired:
    """The progressive is no more."""

    reason: str
    who: str
    approved_by: str | None
    kind: Literal["retired"] = "retired"


@dataclass(frozen=True, slots=True)
class CoinsCounted:
    """What was taken in wagers on a gaming day was counted, by hand or machine."""

    day: str
    amount: int
    who: str
    kind: Literal["coins_counted"] = "coins_counted"


@dataclass(frozen=True, slots=True)
class WinPagePrinted:
    """The win page of the award of this number was printed, as the original or as a copy."""

    award: int
    who: str
    original: bool
    kind: Literal["win_page_printed"] = "win_page_printed"


Effect = (
    Posted
    | WagersCounted
    | AwardLocked
    | AwardBooked
    | AwardBackedOut
    | SettingsChanged
    | Retired
    | CoinsCounted
    | WinPagePrinted
)
