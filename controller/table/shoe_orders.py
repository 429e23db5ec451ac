"""What the table wants of the shoe: a pure function of the table's state, carried out by the shoe's driver."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Lamps:
    """The lamps on the shoe: the result, and what the dealer must do with the next card.

    `next` is the hand that the next card belongs to; `burn` asks the dealer for a shoe change: load the new cards,
    turn the first and burn; `none` calls for no card.
    """

    player: bool = False
    banker: bool = False
    tie: bool = False
    next: Literal["none", "player", "banker", "burn"] = "none"


@dataclass(frozen=True, slots=True)
class ShoeOrders:
    """The state that the driver brings the shoe to and keeps it in.

    `accept` is the serial number of the shoe that may deal here (None: none may) and `log` its run of record numbers
    (None: whichever it introduces itself with). `expected` is the next record that the table wants; it moves on
    with every record, and by decision when a supervisor accepts a loss or an exchange.
    """

    accept: str | None = None
    log: int | None = None
    expected: int = 1
    locked: bool = True
    lamps: Lamps = Lamps()
