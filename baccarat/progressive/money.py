"""Money on a meter: whole millionths of a minor unit.

A share of a wager is whole parts per million, so a stake in cents times a rate is always a whole amount and nothing is
ever rounded away. What is paid and shown is whole minor units; what is less than one stays on the meter.
"""

from fractions import Fraction
from functools import cache
from typing import Final

from punto.baccarat.wagers.pay import percentage

MINOR_UNIT: Final = 1_000_000
"""An amount on a meter that is worth one minor unit, such as a cent."""


MOST: Final = 10**12
"""In minor units, more than any meter holds; millionths of it are still numbers that a database has."""


def amount(minor_units: int) -> int:
    """So many whole minor units, as a meter counts them."""
    return minor_units * MINOR_UNIT


def whole(amount: int) -> int:
    """The whole minor units in an amount; what is less than one is cut off, not rounded."""
    return amount // MINOR_UNIT


def share(stake: int, rate: int) -> int:
    """A share of `rate` parts per million of a stake in minor units."""
    return stake * rate


def share_of_meter(meter: int, fraction: Fraction) -> int:
    """The whole minor units in a share of a meter."""
    return int(meter * fraction) // MINOR_UNIT


@cache  # the same few texts, for each round
def parts_per_million(text: str) -> int:
    """Read a rate such as "20%" or "0.0001%".

    Raises:
        ValueError: it is no percentage from 0% to 100%, or finer than a part per million.
    """
    rate = percentage(text)
    if rate > 1:
        raise ValueError(f"{text!r} is more than a whole wager: write at most 100%")
    exact = rate * 1_000_000
    parts = round(exact)
    if parts != exact:
        raise ValueError(
            f"{text!r} is finer than a part per million, and a share of a wager would have to be rounded: write at "
            f'most four decimals, such as "{parts // 10_000}.{parts % 10_000:04}%"'
        )
    return parts


def written(minor_units: int) -> str:
    """An amount for people: 123456 as "1,234.56"."""
    sign = "-" * (minor_units < 0)
    whole_units, hundredths = divmod(abs(minor_units), 100)
    return f"{sign}{whole_units:,}.{hundredths:02}"
