"""How long to wait before the next attempt at something that failed: the one place that every retry takes its pauses from."""

import random


class Backoff:
    """Exponential backoff with full jitter: what failed together, as all tables do in a power cut, does not come back together.

    A pause is drawn from 0 up to a limit, which begins at `first`, doubles with each failure and ends at `longest` (seconds).
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
        """The attempt succeeded: begin again with the shortest pauses."""
        self.failures = 0
