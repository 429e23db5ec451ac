"""Orders that wait for a second person, who approves at a session of their own, or with a security key at the first page.

They wait in memory for 2 min, and are recorded only when they are carried out: an order without its approval has not
happened.
"""

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, Final

from punto.baccarat.table.state import TableState
from punto.controller.accounts.refusals import RefusalError

APPROVAL_SECONDS: Final = 120.0
_OUTCOME_SECONDS: Final = 10.0
"""How long the outcome of an order is shown."""
_MOST: Final = 8
_MOST_OF_ONE: Final = 2


@dataclass(frozen=True, slots=True)
class Waiting:
    """An order of `giver` that came from `source` and needs a second person, for the reason `why`.

    `hand` is the shoe and round in which it was given, and
    `version` the version of the giver's account at that time. `outcome` is its result, shown for 10 s after its end. `nonce`
    changes after each attempt to approve the order with a key.
    """

    number: int
    kind: str
    order: Any
    giver: str
    source: Any
    why: str
    hand: tuple[int, int]
    until: float
    version: int | None
    outcome: str | None = None
    accepted: bool = False
    being_given: bool = False
    nonce: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)

    @property
    def waits(self) -> bool:
        """Whether it still waits for an approval."""
        return self.outcome is None and not self.being_given

    def concerns(self, name: str) -> bool:
        """Whether this person gave the order, or it was signed at their page."""
        return name in {self.giver, self.source.name}

    def challenge(self, name: str) -> bytes:
        """The challenge that the security key of the person with this name signs to approve exactly this order."""
        return sha256(self.nonce + f"{self.number} {self.order!r} {name}".encode()).digest()


class Countersigning:
    """The orders of one table that wait for a second person."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._number = 0
        self._orders: dict[int, Waiting] = {}

    def add(self, order: Any, source: Any, why: str, state: TableState, version: int | None) -> Waiting:
        """Add an order. It replaces an earlier one of the same person and kind.

        Raises:
            RefusalError: too many orders wait, 8 in all or 2 of one person.
        """
        kind, giver = order.kind, order.who
        own = [each for each in self.all(state) if each.giver == giver]
        for each in own:
            if each.kind == kind:
                del self._orders[each.number]
        others = sum(each.kind != kind for each in own)
        if len(self.all(state)) >= _MOST or others >= _MOST_OF_ONE:
            raise RefusalError(
                429,
                "too_many",
                "too many orders wait for a second person: have these orders approved or declined",
                5,
            )
        self._number += 1
        hand, until = (state.shoe.number, state.round.number), self._clock() + APPROVAL_SECONDS
        waiting = Waiting(self._number, kind, order, giver, source, why, hand, until, version)
        self._orders[self._number] = waiting
        return waiting

    def all(self, state: TableState) -> tuple[Waiting, ...]:
        """The orders that still wait: not those of another hand, nor those that waited too long."""
        now, hand = self._clock(), (state.shoe.number, state.round.number)
        self._orders = {
            number: each
            for number, each in self._orders.items()
            if each.being_given or (each.until > now and (each.outcome is not None or each.hand == hand))
        }
        return tuple(each for each in self._orders.values() if each.waits)

    def shown(self, name: str, state: TableState) -> tuple[Waiting, ...]:
        """All orders that wait, and this person's own that are being carried out or have just ended."""
        waiting = self.all(state)
        own = (each for each in self._orders.values() if not each.waits and each.concerns(name))
        return (*waiting, *own)

    def find(self, number: int, state: TableState) -> Waiting:
        """The order of this number; raises RefusalError if it no longer waits."""
        found = next((each for each in self.all(state) if each.number == number), None)
        if found is None:
            raise RefusalError(
                404,
                "not_waiting",
                "this order no longer waits for approval: its time is over, the table has changed, or another person has approved "
                "or declined it",
            )
        return found

    def spend(self, waiting: Waiting) -> None:
        """Make an earlier signature of a security key invalid for this order."""
        self._orders[waiting.number] = replace(waiting, nonce=secrets.token_bytes(32))

    def take(self, waiting: Waiting) -> None:
        """Mark an order as being carried out; it is shown until `ended`."""
        self._orders[waiting.number] = replace(waiting, being_given=True)

    def ended(self, waiting: Waiting, outcome: str, *, accepted: bool = False) -> None:
        """Show the outcome of an order to the person who gave it."""
        until = self._clock() + _OUTCOME_SECONDS
        self._orders[waiting.number] = replace(waiting, outcome=outcome, accepted=accepted, until=until)

    def seconds_left(self, waiting: Waiting) -> int:
        """The seconds that an order still waits."""
        return max(0, round(waiting.until - self._clock()))
