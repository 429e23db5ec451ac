"""Money on a meter: whole millionths of a minor unit.

A share of a wager is in whole parts per million, so a stake in minor units times a rate is always a whole amount
and needs no rounding. Paid and shown amounts are whole minor units; the fraction stays on the meter.
"""

from fractions import Fraction
from functools import cache
from typing import Final

from punto.baccarat.wagers.pay import percentage

FINER: Final = 6
"""A meter has so many decimals more than the currency's unit."""
MINOR_UNIT: Final = 10**FINER
"""An amount on a meter that is worth one minor unit, such as a cent."""


MOST: Final = 10**12
"""More than any meter holds, in minor units; its millionths still fit a database integer."""


def amount(minor_units: int) -> int:
    """Convert whole minor units to a meter's amount."""
    return minor_units * MINOR_UNIT


def whole(amount: int) -> int:
    """The whole minor units in an amount; the fraction is cut off, not rounded."""
    return amount // MINOR_UNIT


def share(stake: int, rate: int) -> int:
    """A share of `rate` parts per million of a stake in minor units."""
    return stake * rate


def share_of_meter(meter: int, fraction: Fraction) -> int:
    """The whole minor units in a share of a meter."""
    return int(meter * fraction) // MINOR_UNIT


@cache  # the same few texts are parsed for each round
def parts_per_million(text: str) -> int:
    """Read a rate such as "20%" or "0.0001%".

    Raises:
        ValueError: it is not a percentage from 0% to 100%, or has a fraction of a part per million.
    """
    rate = percentage(text)
    if rate > 1:
        raise ValueError(f"{text!r} is more than a whole wager: write at most 100%")
    exact = rate * 1_000_000
    parts = round(exact)
    if parts != exact:
        raise ValueError(
            f"{text!r} has more than four decimals, so a share of a wager would have to be rounded: "
            f'write at most four, such as "{parts // 10_000}.{parts % 10_000:04}%"'
        )
    return parts
