"""Numbers as they are written on a command line. The module imports little: `punto --help` loads it."""

import argparse
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Final

from punto.configs.problems import cut

_MOST_DIGITS: Final = 20


def whole_number(text: str) -> int:
    """A whole number in digits, such as 8 or 1_000_000, or in powers of ten, such as 1e6 or 2.5e6.

    Raises:
        ValueError: the text is not one.
    """
    if "e" not in text.lower():
        return int(text)
    try:
        number = Decimal(text)
    except InvalidOperation:
        raise ValueError("not a number") from None
    # the size is checked first: 1e999999999 does not fit into memory
    if not number.is_finite() or number.adjusted() > _MOST_DIGITS or number != number.to_integral_value():
        raise ValueError("not a whole number")
    return int(number)


def whole(lowest: int, highest: int | None = None) -> Callable[[str], int]:
    """The `type` of an argument that is a whole number from `lowest` to `highest`."""
    allowed = f"a whole number from {lowest}" + ("" if highest is None else f" to {highest:,}")

    def read(text: str) -> int:
        try:
            number = whole_number(text)
        except ValueError:
            number = lowest - 1
        if number < lowest or (highest is not None and number > highest):
            raise argparse.ArgumentTypeError(f"must be {allowed}, not {cut(text)!r}")
        return number

    return read
