"""Amounts of a wager that win and are paid nothing, because the pay is rounded to nothing or the commission to the whole win."""

from collections.abc import Iterator
from itertools import islice
from math import ceil
from typing import Final, NamedTuple

from punto.baccarat.wagers.definition import Rule, Wager
from punto.baccarat.wagers.pay import Rounding

_MOST: Final = 10_000
"""So many amounts are tried from either end. One is enough, unless a commission is above 50%."""


class Unpaid(NamedTuple):
    """A rule that wins, the smallest amount that it pays nothing, and the smallest from which it pays every amount.

    `paid_from` is None if the limits allow no such amount. If it pays no amount that they allow, it `never_pays`.
    """

    rule: Rule
    amount: int
    paid_from: int | None
    never_pays: bool


def unpaid(wager: Wager, rounding: Rounding) -> Iterator[Unpaid]:
    """The rules of a wager that win and pay nothing for some amount within its limits. A meter pays to the minor unit."""
    limits = wager.limits
    least = -(-limits.minimum // limits.step) * limits.step
    for rule in wager.rules:
        pay = rule.pay
        if not rule.wins or pay.meter:
            continue
        # From here on, the win is more than what rounding can take.
        enough = (
            -(-ceil((rounding.unit + 1) / (pay.odds * (1 - pay.commission))) // limits.step) * limits.step
        )
        last = enough if limits.maximum is None else min(enough, limits.maximum)
        amounts = range(least, last + 1, limits.step)
        none = [each for each in islice(amounts, _MOST) if not pay.paid(each, rounding)]
        if not none:
            continue
        largest = next(
            (each for each in islice(reversed(amounts), _MOST) if not pay.paid(each, rounding)), last
        )
        paid_from = largest + limits.step
        beyond = limits.maximum is not None and paid_from > limits.maximum
        never = beyond and len(none) == len(amounts[:_MOST])
        yield Unpaid(rule, none[0], None if beyond else paid_from, never)
