"""Players' progressive wagers: which coins go on a sensor and when, and who removes them. Pure.

A coin that is taken at the start ("for 1") belongs to the dealer from then on; one that stays ("to 1") lies
there until the game is over.
"""

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from punto.baccarat.wagers.definition import Wager

Moment = Literal["in_time", "late", "not_at_all"]


@dataclass(frozen=True, slots=True)
class Habits:
    """How often a player who has wagered puts a coin on the sensor, and how often the coin comes after START GAME."""

    coin: float = 0.8
    late: float = 0.05


@dataclass(frozen=True, slots=True)
class Move:
    """A coin put on a seat's sensor, or taken from it."""

    do: Literal["put", "take"]
    seat: int


class Coins:
    """The coins of a table; those of `regulars` are never forgotten and never late."""

    def __init__(self, wager: Wager, habits: Habits, regulars: Iterable[int], draw: random.Random) -> None:
        self._stays = any(rule.wins and not rule.pay.stake_taken for rule in wager.rules)
        self._habits = habits
        self._regulars = frozenset(regulars)
        self._draw = draw
        self._lying: set[int] = set()
        self._lit: frozenset[int] = frozenset()
        self._late: list[int] = []
        self._started = False

    def clear(self) -> Iterator[Move]:
        """Remove the remaining coins, before the wagers of a round."""
        self._late.clear()
        self._started = False
        yield from self._take(self._lying)

    def wagered(self, seat: int) -> Iterator[Move]:
        """A seat has made its other wagers, and decides on this one."""
        moment = self._moment(seat)
        if moment == "in_time":
            yield self._put(seat)
        elif moment == "late":
            self._late.append(seat)

    def lit(self, seats: Iterable[int]) -> Iterator[Move]:
        """The seats whose lamps are lit before a game. A coin whose lamp has gone dark is in no game, so it is placed again."""
        before, self._lit = self._lit, frozenset(seats)
        for seat in sorted(before & self._lying - self._lit):
            yield from self._take([seat])
            yield self._put(seat)

    def started(self) -> Iterator[Move]:
        """START GAME was pressed: the dealer takes the coins that are due, and then the late ones come."""
        self._started = True
        if not self._stays:
            yield from self._take(self._lying)
        yield from [self._put(seat) for seat in self._late]

    def over(self) -> Iterator[Move]:
        """The game is over: its coins have been settled, and late coins go back."""
        if self._started:
            yield from self.clear()

    def _moment(self, seat: int) -> Moment:
        if seat in self._regulars:
            return "in_time"
        if self._draw.random() >= self._habits.coin:
            return "not_at_all"
        return "late" if self._draw.random() < self._habits.late else "in_time"

    def _put(self, seat: int) -> Move:
        self._lying.add(seat)
        return Move("put", seat)

    def _take(self, seats: Iterable[int]) -> Iterator[Move]:
        for seat in sorted(seats):
            self._lying.discard(seat)
            yield Move("take", seat)
