"""How fast each client may ask: a token bucket for each, before anything is recorded.

What is refused is not on the record one by one, but summed up, so that a flood costs neither disk nor the others' turn.
"""

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from punto.baccarat.table.events import Flooded
from punto.runtime.bucket import Bucket

PER_SECOND: Final = 5.0
"""How often a client may ask on average: more often than a person or a seat's terminal does for long."""
PROGRAM: Final = 4
"""How many times as often a user of the local socket may ask: programs of the house give orders there."""
AT_ONCE: Final = 100
"""How often a client may ask at once, after a pause."""
FEW_AT_ONCE: Final = 40
"""How many reports of a device are taken at once, as many as all sensors of a table have to say when a round ends; and how many
orders of an account: each is on the record."""
SUMMED_SECONDS: Final = 10
"""The refusals of so many seconds are one input for the record."""
DEAR: Final = 10
"""What is recorded or read for nothing counts as so many requests: a refused wager, a sign-on, a page of rounds."""
MOST_CLIENTS: Final = 1000
"""Seats, accounts and devices are fewer. A client more shares a bucket with all that are too many."""


def pages_of(account: str) -> str:
    """The client that an account's pages are: what they load by themselves takes nothing from the account's orders."""
    return f"account {account} at its pages"


@dataclass(slots=True)
class _Client:
    bucket: Bucket
    refused: int = 0
    since: float = math.inf


class Pace:
    """The buckets of one table's clients, by their names: `seat 3`, `account mei`."""

    def __init__(
        self,
        per_second: float = PER_SECOND,
        at_once: int = AT_ONCE,
        clock: Callable[[], float] = time.monotonic,
        few_at_once: int = FEW_AT_ONCE,
    ) -> None:
        self._per_second = per_second
        self._at_once = at_once
        self._few_at_once = few_at_once
        self._clock = clock
        self._clients: dict[str, _Client] = {}

    def allows(self, client: str, times: int = 1, *, few: bool = False) -> bool:
        """Whether a client, which may ask so many `times` as often as others, may ask now. If not, the refusal is counted."""
        known, now = self._client(client, times, few=few), self._clock()
        if known.bucket.has(1, now):
            known.bucket.take(1)
            return True
        known.refused += 1
        known.since = min(known.since, now)
        return False

    def charge(self, client: str) -> None:
        """Count the client's last request as `DEAR` ones. It may ask again when it would have asked so often."""
        self._client(client).bucket.take(DEAR - 1)

    def _client(self, client: str, times: int = 1, *, few: bool = False) -> _Client:
        if client not in self._clients:
            if len(self._clients) >= MOST_CLIENTS:
                client = "the others"
            at_once = min(self._at_once, self._few_at_once) if few else self._at_once
            bucket = Bucket(at_once, self._per_second * times, self._clock())
            self._clients.setdefault(client, _Client(bucket))
        return self._clients[client]

    def refused(self, client: str) -> int:
        """How many requests of a client were refused since its last sum."""
        known = self._clients.get(client)
        return 0 if known is None else known.refused

    def summed_up(self) -> Iterator[Flooded]:
        """The refusals that are due for the record, which are then counted anew."""
        now = self._clock()
        for client, known in self._clients.items():
            if now - known.since >= SUMMED_SECONDS:
                yield Flooded(client, known.refused, math.ceil(now - known.since))
                known.refused, known.since = 0, math.inf
