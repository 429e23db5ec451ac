"""How fast each client may ask: a token bucket for each, before anything is recorded.

What is refused is not on the record one by one, but summed up, so that a flood costs neither disk nor the others' turn.
"""

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from punto.baccarat.table.events import Flooded

PER_SECOND: Final = 20.0
"""How often a client may ask on average: several times as often as a person or a seat's terminal does."""
AT_ONCE: Final = 100
"""How often a client may ask at once, after a pause."""
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
class _Bucket:
    tokens: float
    at: float
    refused: int = 0
    since: float = math.inf


class Pace:
    """The buckets of one table's clients, by their names: `seat 3`, `account mei`."""

    def __init__(
        self,
        per_second: float = PER_SECOND,
        at_once: int = AT_ONCE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._per_second = per_second
        self._at_once = at_once
        self._clock = clock
        self._buckets: dict[str, _Bucket] = {}

    def allows(self, client: str) -> bool:
        """Whether a client may ask now. If not, the refusal is counted."""
        bucket, now = self._bucket(client), self._clock()
        if bucket.tokens >= 1:
            bucket.tokens -= 1
            return True
        bucket.refused += 1
        bucket.since = min(bucket.since, now)
        return False

    def charge(self, client: str) -> None:
        """Count the client's last request as `DEAR` ones. It may ask again when it would have asked so often."""
        self._bucket(client).tokens -= DEAR - 1

    def _bucket(self, client: str) -> _Bucket:
        now = self._clock()
        if client not in self._buckets and len(self._buckets) >= MOST_CLIENTS:
            client = "the others"
        bucket = self._buckets.setdefault(client, _Bucket(self._at_once, now))
        bucket.tokens = min(self._at_once, bucket.tokens + (now - bucket.at) * self._per_second)
        bucket.at = now
        return bucket

    def refused(self, client: str) -> int:
        """How many requests of a client were refused since its last sum."""
        bucket = self._buckets.get(client)
        return 0 if bucket is None else bucket.refused

    def summed_up(self) -> Iterator[Flooded]:
        """The refusals that are due for the record, which are then counted anew."""
        now = self._clock()
        for client, bucket in self._buckets.items():
            if now - bucket.since >= SUMMED_SECONDS:
                yield Flooded(client, bucket.refused, math.ceil(now - bucket.since))
                bucket.refused, bucket.since = 0, math.inf
