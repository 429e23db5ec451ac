"""Amounts in reports and books: exact decimals of the currency's unit, so that readers do not round them.

A meter counts in millionths of a minor unit, which is eight decimals of the unit; paid and counted amounts
are in minor units, which is two decimals.
"""

import re
from collections.abc import Callable
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, PlainSerializer

from punto.baccarat.progressive.money import MINOR_UNIT

_UNIT: Final = 100 * MINOR_UNIT
_MOST_DIGITS: Final = 20


def exact(amount: int) -> str:
    """An amount on a meter: 1_000_000_400_000 as "10000.00400000"."""
    whole, part = divmod(abs(amount), _UNIT)
    return f"{'-' * (amount < 0)}{whole}.{part:08}"


def cents(minor_units: int) -> str:
    """An amount in minor units: 250010 as "2500.10"."""
    whole, part = divmod(abs(minor_units), 100)
    return f"{'-' * (minor_units < 0)}{whole}.{part:02}"


def _read(decimals: int) -> Callable[[Any], Any]:
    """Reads an amount as it is written, with so many decimals; leaves what is not text."""
    written = re.compile(rf"(-?\d{{1,{_MOST_DIGITS}}})\.(\d{{{decimals}}})", re.ASCII)

    def read(amount: Any) -> Any:
        if not isinstance(amount, str):
            return amount
        found = written.fullmatch(amount)
        if found is None:
            raise ValueError(f"must be an amount with {decimals} decimals")
        return int(found[1] + found[2])

    return read


Exact = Annotated[int, BeforeValidator(_read(8)), PlainSerializer(exact, return_type=str)]
"""An amount in millionths of a minor unit, written with eight decimals."""

Cents = Annotated[int, BeforeValidator(_read(2)), PlainSerializer(cents, return_type=str)]
"""An amount in minor units, written with two decimals."""
