"""A key's contact: what is one press of it, though it closes more than once."""

from math import inf

from punto.drivers.keypad.frames import BOUNCE_SECONDS


class Contact:
    """Tells a press from a bounce: the same key again, sooner than anybody presses it twice."""

    def __init__(self) -> None:
        self._key = ""
        self._at = -inf

    def bounced(self, key: str, at: float) -> bool:
        """Whether this is the last press once more; `at` is when the contact closed."""
        again = key == self._key and at - self._at < BOUNCE_SECONDS
        self._key, self._at = key, at
        return again
