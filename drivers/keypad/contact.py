"""A key's contact, which can close more than once in one press."""

from math import inf

from punto.drivers.keypad.frames import BOUNCE_SECONDS


class Contact:
    """Tells a press from a bounce: the same key again, sooner than a person can press it twice."""

    def __init__(self) -> None:
        self._key = ""
        self._at = -inf

    def bounced(self, key: str, at: float) -> bool:
        """Whether this is a bounce of the last press; `at` is when the contact closed, in seconds."""
        again = key == self._key and at - self._at < BOUNCE_SECONDS
        self._key, self._at = key, at
        return again
