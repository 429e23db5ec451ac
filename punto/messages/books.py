"""The books of a progressive as reports and messages have them: a gaming day, the week that it is in, the reconciliation.

`punto.reports` makes them from the record's postings.
"""

from dataclasses import dataclass, fields
from datetime import date
from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, PlainSerializer, SerializationInfo

from punto.baccarat.progressive.events import ConfirmedBy
from punto.baccarat.progressive.ledger import Cause
from punto.baccarat.progressive.settings import AMOUNTS, Payer
from punto.messages.amounts import Exact, Minor, minor, read_minor
from punto.messages.models import Currency, Part, Timestamp

DayState = Literal["ended", "open", "not_begun"]


@dataclass(frozen=True, slots=True)
class Accounts:
    """A progressive's balances, or their changes, in millionths of a minor unit; a source's balance is what it gave."""

    seed_money: Exact = 0
    contributions: Exact = 0
    adjustments: Exact = 0
    primary: Exact = 0
    reserve: Exact = 0
    overflow: Exact = 0
    paid: Exact = 0

    def __add__(self, other: "Accounts") -> "Accounts":
        return Accounts(  # each by its name: a large authority has hundreds of thousands of postings a day
            self.seed_money + other.seed_money,
            self.contributions + other.contributions,
            self.adjustments + other.adjustments,
            self.primary + other.primary,
            self.reserve + other.reserve,
            self.overflow + other.overflow,
            self.paid + other.paid,
        )

    @property
    def given(self) -> int:
        """The total that the sources have given."""
        return self.seed_money + self.contributions + self.adjustments

    @property
    def held(self) -> int:
        """The money held for the players: on the meter, in the reserve and in the overflow."""
        return self.primary + self.reserve + self.overflow


ACCOUNTS: Final = tuple(field.name for field in fields(Accounts))


# --- a gaming day


class FromTray(Part):
    """An award that the tray paid; `amount` is negative if it was backed out."""

    ts: Timestamp
    award: int
    tier: str
    table: str
    round: int
    amount: Minor
    who: str
    reason: str | None
    approved_by: str | None
    input: int


class NobodyWon(Part):
    """A confirmation of NOBODY WON, or the reopening (`again`) of a game that ended so, which has only who and why.

    Also the end of a game whose table's record was lost or restored (`lost`), with who and why; `round` is 0 if the table had none.

    `amount` is the amount that the award would have had for the `seats` that can have won it; the rest is as
    in an award.
    """

    ts: Timestamp
    progressive: str
    again: bool
    lost: bool = False
    table: str
    round: int
    tier: str | None = None
    seats: tuple[int, ...] = ()
    amount: Minor | None = None
    payer: Payer | None = None
    who: str
    by: ConfirmedBy | None = None
    level: str | None = None
    confirmed_by: str | None = None
    reason: str
    approved_by: str | None
    input: int


class Change(Part):
    """A change of the accounts: all contributions of the day as one, every other change separately, in order."""

    cause: Cause
    ts: Timestamp | None = None
    moved: Accounts
    tier: str | None = None
    table: str | None = None
    round: int | None = None
    award: int | None = None
    who: str | None = None
    reason: str | None = None
    approved_by: str | None = None


def _read_changed(changed: Any) -> Any:
    if not isinstance(changed, dict):
        return changed
    return {
        name: tuple(map(read_minor, values))
        if name in AMOUNTS and isinstance(values, list | tuple)
        else values
        for name, values in changed.items()
    }


def _write_changed(
    changed: dict[str, tuple[Any, Any]], info: SerializationInfo[str]
) -> dict[str, tuple[Any, Any]]:
    def write(name: str, value: Any) -> Any:
        return minor(value, info.context) if name in AMOUNTS and value is not None else value

    return {name: (write(name, before), write(name, after)) for name, (before, after) in changed.items()}


class SettingsChange(Part):
    """A change of the settings; `changed` has each setting's value before and after, with amounts as in the rest of the books."""

    ts: Timestamp
    who: str
    reason: str
    changed: Annotated[
        dict[str, tuple[Any, Any]],
        BeforeValidator(_read_changed),
        PlainSerializer(_write_changed, when_used="json"),
    ]


class Accrual(Part):
    """A progressive over a gaming day: `start` plus every change equals `end`, if it is `explained`.

    `open_awards` are those locked by the end and not yet booked. `from_tray` are the awards that the tray
    paid, which do not change the meter's accounts; `nobody_won` the games that ended with NOBODY WON.
    `left_out` counts the entries that a message does not list: it has all changes of a cause as one, and the first of the others.
    """

    progressive: str
    rounds: int
    wagers: int
    staked: Minor
    start: Accounts
    changes: tuple[Change, ...]
    end: Accounts
    explained: bool
    settings: tuple[SettingsChange, ...]
    open_awards: tuple[int, ...]
    from_tray: tuple[FromTray, ...]
    nobody_won: tuple[NobodyWon, ...]
    left_out: int = 0


class Day(Part):
    """The accrual report of a gaming day, which begins and ends by the house's clock.

    `elsewhere` counts the entries with a time of this day that are in another day's report: the clock was
    changed.
    """

    day: date
    begins: Timestamp
    ends: Timestamp
    state: DayState
    elsewhere: int
    progressives: tuple[Accrual, ...]


# --- a gaming week


class Component(Part):
    """The change by a cause over a week of the held money: negative if it was paid out or taken off."""

    cause: Cause
    to_meter: Exact
    to_reserve: Exact


class Deposit(Part):
    """The weekly deposit of the custodian of a progressive's fund: the change of the money held for the players.

    Held money is on the meter, in the reserve and in the overflow. `deposit` is in whole minor units; the fractions
    of one at the week's start and end are `carried_in` and `carried_out`, and belong to the deposit of a
    later week. A negative deposit must be drawn from the fund.
    """

    progressive: str
    start: Exact
    components: tuple[Component, ...]
    end: Exact
    carried_in: Exact
    carried_out: Exact
    deposit: Minor
    explained: bool


class Week(Part):
    """The weekly deposit figure; the gaming week begins with the gaming day `first`. `elsewhere` is as in a day."""

    first: date
    last: date
    begins: Timestamp
    ends: Timestamp
    state: DayState
    elsewhere: int
    progressives: tuple[Deposit, ...]


# --- the reconciliation of a gaming day


class Check(Part):
    """Two ways to the same amount: the ledger's, and the one computed from the rest of the record."""

    what: Literal["contributions", "reserve", "awards", "back_outs", "seed"]
    ledger: Exact
    expected: Exact


class Difference(Part):
    """A wrong ledger entry, and its place on the record: the number of an input."""

    input: int
    text: str


class CoinCount(Part):
    """A count of the coins of the gaming day `day`, and when it was entered."""

    day: date
    amount: Minor
    who: str
    ts: Timestamp


class Coins(Part):
    """The wagers taken off the sensors, by the last count of the day. `difference` is counted less taken.

    `taken` is None if wagers stay on the sensors and no coins are dropped; `counted` is None without a count.
    """

    taken: Minor | None
    counted: Minor | None = None
    who: str | None = None
    ts: Timestamp | None = None
    difference: Minor | None = None
    todo: str


class Reconciled(Part):
    """A progressive's compared books of a gaming day. `from_tray` is the tray's payments of awards, less back-outs.

    `counts` are the counts of coins that were entered on this day, of whichever day they are. `left_out` counts the differences
    that a message does not list.
    """

    progressive: str
    balanced: bool
    from_tray: Minor
    checks: tuple[Check, ...]
    differences: tuple[Difference, ...]
    coins: Coins
    counts: tuple[CoinCount, ...] = ()
    left_out: int = 0

    @property
    def agrees(self) -> bool:
        """Whether nothing differs, apart from the coins."""
        checked = all(check.ledger == check.expected for check in self.checks)
        return self.balanced and not self.differences and checked


class Reconciliation(Part):
    """The reconciliation of a gaming day. `agrees` if nothing differs, apart from the coins.

    `elsewhere` counts the entries with a time of this day that are in another day's report.
    """

    day: date
    begins: Timestamp
    ends: Timestamp
    state: DayState
    elsewhere: int
    agrees: bool
    progressives: tuple[Reconciled, ...]


# --- all of it


class Books(Part):
    """The books of a gaming day, with the gaming week that it is in. `first` is the gaming day of the record's first entry.

    They are of the progressives that were in service in this week up to this day, and `currency` is that of their amounts.
    """

    currency: Currency
    first: date | None
    day: Day
    week: Week
    reconciliation: Reconciliation

    def of(self, *progressives: str) -> "Books":
        """The same books of these progressives only."""
        accruals = tuple(each for each in self.day.progressives if each.progressive in progressives)
        deposits = tuple(each for each in self.week.progressives if each.progressive in progressives)
        compared = tuple(
            each for each in self.reconciliation.progressives if each.progressive in progressives
        )
        agrees = all(each.agrees for each in compared)
        return Books(
            currency=self.currency,
            first=self.first,
            day=self.day.model_copy(update={"progressives": accruals}),
            week=self.week.model_copy(update={"progressives": deposits}),
            reconciliation=self.reconciliation.model_copy(
                update={"agrees": agrees, "progressives": compared}
            ),
        )
