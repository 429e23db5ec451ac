"""How long commits took: a histogram that the writer adds to."""

from bisect import bisect_left
from typing import Final, NamedTuple

BOUNDS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
"""The upper bounds of the buckets, in seconds: a commit of a good disk takes 1 ms, and one of an old card 100 ms."""


class Histogram(NamedTuple):
    """The counts of values up to each bound, the last of them of all values, and the sum of the values."""

    buckets: list[tuple[str, float]]
    total: float


class CommitTimes:
    """The times of a journal's commits. Only the writer's thread adds to it, and any other may read it."""

    def __init__(self) -> None:
        self._counts = [0] * (len(BOUNDS) + 1)
        self._total = 0.0

    def add(self, seconds: float) -> None:
        """Count a commit."""
        self._counts[bisect_left(BOUNDS, seconds)] += 1
        self._total += seconds

    def histogram(self) -> Histogram:
        """All commits so far."""
        buckets, so_far = [], 0
        for bound, count in zip((*BOUNDS, "+Inf"), self._counts, strict=True):
            so_far += count
            buckets.append((str(bound), float(so_far)))
        return Histogram(buckets, self._total)
