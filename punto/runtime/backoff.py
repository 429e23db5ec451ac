"""The pause before the next attempt at something that failed. Every retry uses it."""

import random


class Backoff:
    """Exponential backoff with full jitter, so that all tables do not reconnect at the same moment after a power cut.

    A pause is a random number from 0 to a limit in seconds. The limit begins at `first`, doubles with each failure and
    ends at `longest`.
    """

    def __init__(self, first: float, longest: float) -> None:
        self._first = first
        self._longest = longest
        self.failures = 0
        """Pauses taken since the last success."""

    def pause(self) -> float:
        """Seconds to wait after one more failure."""
        limit = min(self._longest, self._first * 2 ** min(self.failures, 30))
        self.failures += 1
        return random.uniform(0, limit)

    def reset(self) -> None:
        """Begin again with the shortest pauses, after a success."""
        self.failures = 0
