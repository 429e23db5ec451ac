"""Orders that wait for a second person, who approves them at a session of their own.

They wait in memory, for a short time, and nothing of them is on the record before they are given: an order that nobody
approved has not happened.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

from controller.operators.requests import RefusalError
from controller.table.state import TableState

APPROVAL_SECONDS: Final = 120.0
_TOLD_SECONDS: Final = 10.0
_MOST: Final = 8
_MOST_OF_ONE: Final = 2


@dataclass(frozen=True, slots=True)
class Waiting:
    """An order of `giver` that came from `source` and needs a second person, because of `why`.

    `hand` is the shoe and round that it was ordered in. `outcome` says what became of it, for a few seconds after its end.
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


class Countersigning:
    """The orders of one table that wait for a second person."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._number = 0
        self._waiting: dict[int, Waiting] = {}
        self._ended: dict[str, Waiting] = {}

    def add(self, kind: str, order: Any, giver: str, source: Any, why: str, state: TableState) -> Waiting:
        """Have an order wait. One of the same person and kind takes the place of the one before.

        Raises:
            RefusalError: as many wait as may.
        """
        own = [each for each in self.all(state) if each.giver == giver]
        for each in own:
            if each.kind == kind:
                del self._waiting[each.number]
        if len(self._waiting) >= _MOST or sum(each.kind != kind for each in own) >= _MOST_OF_ONE:
            raise RefusalError(
                429, "too_many", "too many orders wait for a second person: have them approved first", 5
            )
        self._number += 1
        waiting = Waiting(
            self._number, kind, order, giver, source, why, hand_of(state), self._clock() + APPROVAL_SECONDS
        )
        self._waiting[self._number] = waiting
        return waiting

    def all(self, state: TableState) -> tuple[Waiting, ...]:
        """Those that still wait: not those of another hand, nor those that waited too long."""
        now, hand = self._clock(), hand_of(state)
        self._waiting = {
            number: each for number, each in self._waiting.items() if each.until > now and each.hand == hand
        }
        return tuple(self._waiting.values())

    def take(self, number: int, state: TableState) -> Waiting:
        """Take one out, to be given or dropped.

        Raises:
            RefusalError: it does not wait any more.
        """
        self.all(state)
        found = self._waiting.pop(number, None)
        if found is None:
            raise RefusalError(
                404,
                "not_waiting",
                "this order does not wait any more: the time was up, the table has gone on, or it is done",
            )
        return found

    def ended(self, waiting: Waiting, outcome: str, *, accepted: bool = False) -> None:
        """Have whoever gave it be told what became of it."""
        until = self._clock() + _TOLD_SECONDS
        self._ended[waiting.giver] = replace(waiting, outcome=outcome, accepted=accepted, until=until)

    def last_of(self, giver: str) -> Waiting | None:
        """The last order of this person that ended, while that is news."""
        found = self._ended.get(giver)
        return found if found is not None and found.until > self._clock() else None

    def seconds_left(self, waiting: Waiting) -> int:
        """How long it still waits."""
        return max(0, round(waiting.until - self._clock()))


def hand_of(state: TableState) -> tuple[int, int]:
    """The shoe and the round that an order given now is about."""
    return (state.shoe, state.round)
