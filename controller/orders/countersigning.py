"""Orders that wait for a second person, who approves them at a session of their own, or with a security key where they wait.

They wait in memory, for a short time, and nothing of them is on the record before they are given: an order that nobody
approved has not happened.
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
_TOLD_SECONDS: Final = 10.0
_MOST: Final = 8
_MOST_OF_ONE: Final = 2


@dataclass(frozen=True, slots=True)
class Waiting:
    """An order of `giver` that came from `source` and needs a second person, because of `why`.

    `hand` is the shoe and round that it was ordered in. `outcome` says what became of it, for a few seconds after its end.
    `nonce` is new after each attempt to approve it with a key.
    """

    number: int
    kind: str
    order: Any
    giver: str
    source: Any
    why: str
    hand: tuple[int, int]
    until: float
    outcome: str | None = None
    accepted: bool = False
    being_given: bool = False
    nonce: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)

    @property
    def waits(self) -> bool:
        """Whether it still waits to be approved."""
        return self.outcome is None and not self.being_given

    def concerns(self, name: str) -> bool:
        """Whether this person gave it, or it was signed at their page."""
        return name in {self.giver, self.source.name}

    def challenge(self, name: str) -> bytes:
        """What the key of the person of this name signs to approve this very order."""
        return sha256(self.nonce + f"{self.number} {self.order!r} {name}".encode()).digest()


class Countersigning:
    """The orders of one table that wait for a second person."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._number = 0
        self._orders: dict[int, Waiting] = {}

    def add(self, order: Any, source: Any, why: str, state: TableState) -> Waiting:
        """Have an order wait. One of the same person and kind takes the place of the one before.

        Raises:
            RefusalError: as many wait as may.
        """
        kind, giver = order.kind, order.who
        own = [each for each in self.all(state) if each.giver == giver]
        for each in own:
            if each.kind == kind:
                del self._orders[each.number]
        others = sum(each.kind != kind for each in own)
        if len(self.all(state)) >= _MOST or others >= _MOST_OF_ONE:
            raise RefusalError(
                429, "too_many", "too many orders wait for a second person: have them approved first", 5
            )
        self._number += 1
        hand, until = (state.shoe, state.round), self._clock() + APPROVAL_SECONDS
        waiting = Waiting(self._number, kind, order, giver, source, why, hand, until)
        self._orders[self._number] = waiting
        return waiting

    def all(self, state: TableState) -> tuple[Waiting, ...]:
        """Those that still wait: not those of another hand, nor those that waited too long."""
        now, hand = self._clock(), (state.shoe, state.round)
        self._orders = {
            number: each
            for number, each in self._orders.items()
            if each.being_given or (each.until > now and (each.outcome is not None or each.hand == hand))
        }
        return tuple(each for each in self._orders.values() if each.waits)

    def shown(self, name: str, state: TableState) -> tuple[Waiting, ...]:
        """Those that wait, and of this person's also what is carried out now, and what has ended, while that is news."""
        waiting = self.all(state)
        own = (each for each in self._orders.values() if not each.waits and each.concerns(name))
        return (*waiting, *own)

    def find(self, number: int, state: TableState) -> Waiting:
        """The order of this number.

        Raises:
            RefusalError: it does not wait any more.
        """
        found = next((each for each in self.all(state) if each.number == number), None)
        if found is None:
            raise RefusalError(
                404,
                "not_waiting",
                "this order does not wait any more: the time was up, the table has gone on, or it is done",
            )
        return found

    def spend(self, waiting: Waiting) -> None:
        """Have what was signed to approve it be good for nothing more."""
        self._orders[waiting.number] = replace(waiting, nonce=secrets.token_bytes(32))

    def take(self, waiting: Waiting) -> None:
        """Take one out, to be given; it is shown until it has `ended`."""
        self._orders[waiting.number] = replace(waiting, being_given=True)

    def ended(self, waiting: Waiting, outcome: str, *, accepted: bool = False) -> None:
        """Have whoever gave it be told what became of it."""
        told = replace(waiting, outcome=outcome, accepted=accepted, until=self._clock() + _TOLD_SECONDS)
        self._orders[waiting.number] = told

    def seconds_left(self, waiting: Waiting) -> int:
        """How long it still waits."""
        return max(0, round(waiting.until - self._clock()))
