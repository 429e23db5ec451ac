"""Amounts in reports: exact decimals of the currency's unit, so that readers do not round them.

A meter counts in millionths of a minor unit, which is eight decimals of the unit; paid and counted amounts
are in minor units, which is two decimals.
"""

from typing import Annotated, Final

from pydantic import PlainSerializer

from punto.baccarat.progressive.money import MINOR_UNIT

_UNIT: Final = 100 * MINOR_UNIT


def exact(amount: int) -> str:
    """An amount on a meter: 1_000_000_400_000 as "10000.00400000"."""
    whole, part = divmod(abs(amount), _UNIT)
    return f"{'-' * (amount < 0)}{whole}.{part:08}"


def cents(minor_units: int) -> str:
    """An amount in minor units: 250010 as "2500.10"."""
    whole, part = divmod(abs(minor_units), 100)
    return f"{'-' * (minor_units < 0)}{whole}.{part:02}"


Exact = Annotated[int, PlainSerializer(exact, return_type=str)]
"""An amount in millionths of a minor unit, written with eight decimals."""

Cents = Annotated[int, PlainSerializer(cents, return_type=str)]
"""An amount in minor units, written with two decimals."""
