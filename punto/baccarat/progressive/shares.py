"""The shares of an award, and the order of paying.

"The dealer will first pay the player farthest on his right and then move counter-clockwise to pay other
players" (sheet 001, appendix A). The players sit around the table across from the dealer: seen from above,
counter-clockwise from the dealer's right is towards the dealer's left. Odd minor units go out in the same order,
one to each.

The sheets do not say which seat has number 1. If seats are numbered from the dealer's right, as baccarat
tables commonly are, the farthest seat on that side is the lowest; if they are numbered from the left, it is
the highest.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

DealersSide = Literal["right", "left"]
"""A side of the table as the dealer sees it."""


@dataclass(frozen=True, slots=True)
class Share:
    """A seat's part of an award, in minor units."""

    seat: int
    amount: int


def order_of_paying(seats: Iterable[int], seat_one: DealersSide) -> tuple[int, ...]:
    """The seats in the order of paying and printing: from the dealer's right; `seat_one` is the side of seat 1."""
    return tuple(sorted(seats, reverse=seat_one == "left"))


def split(award: int, seats: Iterable[int], seat_one: DealersSide) -> tuple[Share, ...]:
    """Split an award in minor units into equal shares, in the order of paying; odd minor units go to the seats paid first."""
    order = order_of_paying(seats, seat_one)
    each, odd = divmod(award, len(order))
    return tuple(Share(seat, each + (place < odd)) for place, seat in enumerate(order))
