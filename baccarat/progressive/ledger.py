"""The books of one meter, by double entry.

The law: money comes from three sources (seed money, contributions, adjustments) and is in one of four places (the
primary meter, the reserve, the overflow, or paid, by tier). A posting's lines sum to zero, so after each of them

    seed money + contributions + adjustments = primary + reserve + overflow + paid

`LINES` says which accounts a cause may move, and which way. So the meter goes down for what is listed there and for
nothing else: an award, a documented malfunction, an over-limit display, recovery of seed, and retirement.

No posting is ever changed. The ledger keeps the balances; the postings themselves are effects, and the record's.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from operator import attrgetter
from typing import Final

from punto.baccarat.progressive.value import Value


class Account(StrEnum):
    """Where money comes from, and where it is."""

    SEED_MONEY = "seed_money"
    CONTRIBUTIONS = "contributions"
    ADJUSTMENTS = "adjustments"
    PRIMARY = "primary"
    RESERVE = "reserve"
    OVERFLOW = "overflow"
    PAID = "paid"


SOURCES: Final = frozenset({Account.SEED_MONEY, Account.CONTRIBUTIONS, Account.ADJUSTMENTS})
HOLDINGS: Final = frozenset({Account.PRIMARY, Account.RESERVE, Account.OVERFLOW})
# Seed money goes back to the house only as far as it came from there. Adjustments are the balance of both ways.
_NEVER_BELOW_ZERO: Final = HOLDINGS | {Account.SEED_MONEY}


class Cause(StrEnum):
    """Why money moves."""

    SEED = "seed"
    CONTRIBUTION = "contribution"
    RESERVE_ADDED = "reserve_added"
    OVERFLOW_ADDED = "overflow_added"
    INCREASE = "increase"
    BACK_OUT = "back_out"
    AWARD = "award"
    MALFUNCTION = "malfunction"
    OVER_LIMIT = "over_limit"
    RECOVERY_OF_SEED = "recovery_of_seed"
    RETIREMENT = "retirement"


_IN, _OUT = 1, -1

# What goes into the primary meter goes into the overflow as far as it would pass the display limit.
_TO_METER: Final = {Account.PRIMARY: _IN, Account.OVERFLOW: _IN}

LINES: Final[dict[Cause, dict[Account, int]]] = {
    Cause.SEED: {Account.SEED_MONEY: _OUT, **_TO_METER},
    Cause.CONTRIBUTION: {Account.CONTRIBUTIONS: _OUT, **_TO_METER, Account.RESERVE: _IN},
    Cause.RESERVE_ADDED: {Account.RESERVE: _OUT, **_TO_METER},
    Cause.OVERFLOW_ADDED: {Account.OVERFLOW: _OUT, Account.PRIMARY: _IN},
    Cause.INCREASE: {Account.ADJUSTMENTS: _OUT, **_TO_METER},
    Cause.BACK_OUT: {Account.PAID: _OUT, **_TO_METER},
    Cause.AWARD: {Account.PRIMARY: _OUT, Account.PAID: _IN},
    Cause.MALFUNCTION: {Account.PRIMARY: _OUT, Account.ADJUSTMENTS: _IN},
    Cause.OVER_LIMIT: {Account.PRIMARY: _OUT, Account.OVERFLOW: _IN},
    Cause.RECOVERY_OF_SEED: {Account.PRIMARY: _OUT, Account.SEED_MONEY: _IN},
    Cause.RETIREMENT: {
        Account.PRIMARY: _OUT,
        Account.RESERVE: _OUT,
        Account.OVERFLOW: _OUT,
        Account.ADJUSTMENTS: _IN,
    },
}
"""Cause -> account -> which way money may go: into it or out of it."""


class PostingError(ValueError):
    """A posting that the books do not allow."""


@dataclass(frozen=True, slots=True)
class Line:
    """What an account gets, negative where it gives, in millionths of a minor unit; `tier` says who was paid."""

    account: Account
    amount: int
    tier: str | None = None


_AMOUNT: Final = attrgetter("amount")
_BALANCES: Final[dict[Account, str]] = {
    account: account.value for account in Account if account is not Account.PAID
}
"""The ledger's field for each account that is one sum."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """What a posting is about: a table's round, an award, or what somebody decided and why."""

    table: str | None = None
    round: int | None = None
    award: int | None = None
    who: str | None = None
    reason: str | None = None
    approved_by: str | None = None


@dataclass(frozen=True, slots=True)
class Posting:
    """One entry in the books, numbered from 1 without gaps."""

    number: int
    cause: Cause
    lines: tuple[Line, ...]
    reference: Reference


@dataclass(frozen=True, slots=True)
class Paid:
    """What the meter has paid for a tier, which has its rule's name."""

    tier: str
    amount: int


@dataclass(frozen=True, kw_only=True)
class Ledger(Value):
    """The balances after the posting `last`, in millionths of a minor unit.

    Of a source it is what it has given, less what has gone back to it.
    """

    last: int = 0
    seed_money: int = 0
    contributions: int = 0
    adjustments: int = 0
    primary: int = 0
    reserve: int = 0
    overflow: int = 0
    paid: tuple[Paid, ...] = ()

    @property
    def paid_in_all(self) -> int:
        """What the meter has paid, whatever the tier."""
        return sum(paid.amount for paid in self.paid)

    @property
    def given(self) -> int:
        """What the sources have given."""
        return self.seed_money + self.contributions + self.adjustments

    @property
    def accounted(self) -> int:
        """What is in the meter's accounts and what it has paid: always what the sources have given."""
        return self.primary + self.reserve + self.overflow + self.paid_in_all

    def paid_for(self, tier: str) -> int:
        """What the meter has paid for a tier."""
        return next((paid.amount for paid in self.paid if paid.tier == tier), 0)

    def post(self, cause: Cause, lines: Iterable[Line], reference: Reference) -> tuple["Ledger", Posting]:
        """The ledger after this posting, and the posting. Lines of nothing are left out.

        Raises:
            PostingError: the lines do not sum to zero, are not what this cause may move, or would leave an account
                below zero that cannot be.
        """
        moved = tuple(filter(_AMOUNT, lines))
        total = sum(map(_AMOUNT, moved))
        if total or not moved:
            raise PostingError(f"the lines of {cause} sum to {total}: what an account gets, others give")
        allowed = LINES[cause]
        balances: dict[str, int] = {}
        paid = self.paid
        for line in moved:
            account, amount = line.account, line.amount
            if allowed.get(account, 0) * amount <= 0:
                way = "into" if amount > 0 else "out of"
                raise PostingError(f"{cause} moves nothing {way} {account}")
            if (account is Account.PAID) is (line.tier is None):
                raise PostingError("what was paid names its tier, and nothing else has one")
            if line.tier is not None:
                paid = _paid_more(paid, line.tier, amount)
            else:
                name = _BALANCES[account]
                gets = -amount if account in SOURCES else amount
                balances[name] = balances.get(name, getattr(self, name)) + gets
        if paid is not self.paid or min(balances.values()) < 0:
            _refuse_below_zero(cause, balances, paid)
        after = self.but(last=self.last + 1, paid=paid, **balances)
        return after, Posting(after.last, cause, moved, reference)


def _refuse_below_zero(cause: Cause, balances: Mapping[str, int], paid: Iterable[Paid]) -> None:
    below = [name for name, balance in balances.items() if balance < 0 and name in _NEVER_BELOW_ZERO]
    below += [f"paid for {each.tier}" for each in paid if each.amount < 0]
    if below:
        raise PostingError(f"{cause} would leave {' and '.join(sorted(below))} below zero")


def _paid_more(paid: tuple[Paid, ...], tier: str, amount: int) -> tuple[Paid, ...]:
    before = {each.tier: each.amount for each in paid}
    return tuple(Paid(*each) for each in {**before, tier: before.get(tier, 0) + amount}.items())
