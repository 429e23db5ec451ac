"""A token bucket: how much may come at once, and how much a second. Times are seconds of any clock that does not go back."""


class Bucket:
    """Begins full, with `at_once` tokens, and gets `per_second` more a second until it is full again."""

    def __init__(self, at_once: float, per_second: float, now: float = 0.0) -> None:
        self.at_once = at_once
        self._per_second = per_second
        self.fill(now)

    def fill(self, now: float) -> None:
        """Fill it."""
        self._tokens = float(self.at_once)
        self._at = now

    def has(self, tokens: float, now: float) -> bool:
        """Whether it holds so many tokens now."""
        self._tokens = min(self.at_once, self._tokens + (now - self._at) * self._per_second)
        self._at = now
        return self._tokens >= tokens

    def take(self, tokens: float) -> None:
        """Take tokens, more than it holds if need be: it owes the rest."""
        self._tokens -= tokens

    def wait(self, now: float) -> float:
        """How long it owes tokens from now on."""
        return 0.0 if self.has(0, now) else -self._tokens / self._per_second
