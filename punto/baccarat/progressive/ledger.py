"""The books of one meter, by double entry.

Money comes from three sources (seed money, contributions, adjustments) and is in one of four places (the
primary meter, the reserve, the overflow, or paid, by tier). The lines of a posting sum to zero, so after each
posting

    seed money + contributions + adjustments = primary + reserve + overflow + paid

`LINES` lists which accounts a cause may move, and in which direction. So the meter goes down only for the
causes listed there: an award, a documented malfunction, an over-limit display, recovery of seed, and
retirement.

Postings never change. The ledger keeps the balances; the postings are effects that go to the record. The posting of
a wager is made by `contribute` in `orders.py`, and that of an award by `_book` in `awards.py`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from operator import attrgetter
from typing import Final

from punto.baccarat.progressive.value import Value


class Account(StrEnum):
    """The sources of money, and the places that hold it."""

    SEED_MONEY = "seed_money"
    CONTRIBUTIONS = "contributions"
    ADJUSTMENTS = "adjustments"
    PRIMARY = "primary"
    RESERVE = "reserve"
    OVERFLOW = "overflow"
    PAID = "paid"


SOURCES: Final = frozenset({Account.SEED_MONEY, Account.CONTRIBUTIONS, Account.ADJUSTMENTS})
HOLDINGS: Final = frozenset({Account.PRIMARY, Account.RESERVE, Account.OVERFLOW})
# Seed money returns to the house at most up to the amount that came from there. Adjustments are a net
# balance.
_NEVER_BELOW_ZERO: Final = HOLDINGS | {Account.SEED_MONEY}


class Cause(StrEnum):
    """The reasons for which money moves."""

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

# If a deposit would take the primary meter above the display limit, the excess goes into the overflow.
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
"""Cause -> account -> allowed direction of money: into the account or out of it."""


class PostingError(ValueError):
    """A posting that the books do not allow."""


@dataclass(frozen=True, slots=True)
class Line:
    """An account's change, in millionths of a minor unit, negative for money out; `tier` is the tier that was paid."""

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
    """The subject of a posting: a table's round, an award, or a person's decision and its reason."""

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
    """The total that the meter has paid for a tier, named by its rule."""

    tier: str
    amount: int


@dataclass(frozen=True, kw_only=True)
class Ledger(Value):
    """The balances after the posting `last`, in millionths of a minor unit.

    The balance of a source is the amount that it has given, less the amount returned to it.
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
    def given(self) -> int:
        """The total that the sources have given."""
        return self.seed_money + self.contributions + self.adjustments

    def post(self, cause: Cause, lines: Iterable[Line], reference: Reference) -> tuple["Ledger", Posting]:
        """Return the ledger after this posting, and the posting. Lines of zero are left out.

        Raises:
            PostingError: the lines do not sum to zero, this cause may not move them, or they would take an
                account below zero that must not be.
        """
        moved = tuple(filter(_AMOUNT, lines))
        total = sum(map(_AMOUNT, moved))
        if total or not moved:
            raise PostingError(f"the lines of a posting ({cause}) sum to {total}, but must sum to zero")
        allowed = LINES[cause]
        balances: dict[str, int] = {}
        paid = self.paid
        for line in moved:
            account, amount = line.account, line.amount
            if allowed.get(account, 0) * amount <= 0:
                way = "into" if amount > 0 else "out of"
                raise PostingError(f"a posting ({cause}) must not move money {way} {account}")
            if (account is Account.PAID) is (line.tier is None):
                raise PostingError(
                    "a posting's line for the account paid must name a tier, but its other lines must not"
                )
            if line.tier is not None:
                paid = _paid_more(paid, line.tier, amount)
            else:
                name = _BALANCES[account]
                gets = -amount if account in SOURCES else amount
                balances[name] = balances.get(name, getattr(self, name)) + gets
        if paid is not self.paid or min(balances.values()) < 0:
            _refuse_below_zero(cause, balances, paid)
        after = self.replace(last=self.last + 1, paid=paid, **balances)
        return after, Posting(after.last, cause, moved, reference)


def _refuse_below_zero(cause: Cause, balances: Mapping[str, int], paid: Iterable[Paid]) -> None:
    below = [name for name, balance in balances.items() if balance < 0 and name in _NEVER_BELOW_ZERO]
    below += [f"the amount paid for {each.tier}" for each in paid if each.amount < 0]
    if below:
        raise PostingError(f"a posting ({cause}) would take {' and '.join(sorted(below))} below zero")


def _paid_more(paid: tuple[Paid, ...], tier: str, amount: int) -> tuple[Paid, ...]:
    before = {each.tier: each.amount for each in paid}
    return tuple(Paid(*each) for each in {**before, tier: before.get(tier, 0) + amount}.items())
