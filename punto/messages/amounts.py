"""Amounts in reports and books: exact decimals of the currency's unit, so that readers do not round them.

Paid and counted amounts are in minor units, and have the decimals of the currency's unit. A meter counts in millionths
of a minor unit, so what is on a meter has six decimals more. That is why a reader needs no currency: the digits of an
amount are the amount. A model does not know its currency, so whoever writes it says which it is:
`report.model_dump_json(context="USD")`.
"""

import re
from collections.abc import Callable
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, PlainSerializer, SerializationInfo

from punto.baccarat.currency import DECIMALS, written
from punto.baccarat.progressive.money import FINER

_MOST_DIGITS: Final = 20


def exact(amount: int, currency: str) -> str:
    """An amount on a meter: 1_000_000_400_000 in USD as "10000.00400000"."""
    return written(amount, currency, group="", finer=FINER)


def minor(minor_units: int, currency: str) -> str:
    """An amount in minor units: 250010 in USD as "2500.10"."""
    return written(minor_units, currency, group="")


def _read(finer: int) -> Callable[[Any], Any]:
    """Reads an amount with so many decimals below the minor unit, as it is written; leaves what is not text."""
    allowed = sorted({decimals + finer for decimals in DECIMALS.values()})
    form = re.compile(rf"(-?\d{{1,{_MOST_DIGITS}}})(?:\.(\d+))?", re.ASCII)

    def read(amount: Any) -> Any:
        if not isinstance(amount, str):
            return amount
        found = form.fullmatch(amount)
        if found is None or len(found[2] or "") not in allowed:
            raise ValueError(f"must be an amount with {' or '.join(map(str, allowed))} decimals")
        return int(found[1] + (found[2] or ""))

    return read


def _write_exact(amount: int, info: SerializationInfo[str]) -> str:
    return exact(amount, info.context)


def _write_minor(amount: int, info: SerializationInfo[str]) -> str:
    return minor(amount, info.context)


Exact = Annotated[int, BeforeValidator(_read(FINER)), PlainSerializer(_write_exact, when_used="json")]
"""An amount in millionths of a minor unit, written with six decimals more than the currency's unit has."""

read_minor: Final = _read(0)
"""Reads an amount in minor units as it is written; leaves what is not text."""

Minor = Annotated[int, BeforeValidator(read_minor), PlainSerializer(_write_minor, when_used="json")]
"""An amount in minor units, written with the decimals of the currency's unit."""

IN_ITS_CURRENCY: Final = PlainSerializer(
    lambda part: part.model_dump(mode="json", context=part.currency), when_used="json"
)
"""Of a part that has the currency of its own amounts, beside others that may have another."""
