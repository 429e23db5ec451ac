"""The reader itself: its end of the link by docs/reference/card-reader.md, without a line and without a clock.

Pass bytes from the host to `receive` and cards to `swipe`; `data_to_send` returns the bytes for the line.
"""

from collections.abc import Callable
from dataclasses import replace
from math import inf
from typing import Final

from punto.drivers.card_reader import frames
from punto.simulators.window import RequestingDevice

SHOWN_SECONDS: Final = 10.0
"""The time for which an answer is shown."""


class NotTakenError(Exception):
    """The reader does not take this swipe; the message says why, and the reader shows it."""


class CardReaderDevice(RequestingDevice[frames.Answer]):
    """A reader that has just been switched on; `answered` is called with each answer."""

    def __init__(self, serial: str, session: int, answered: Callable[[frames.Answer], None]) -> None:
        super().__init__(serial, session, answered, frames.Here, frames.Answer, frames.Status)
        self._awaited = False
        self._token = 0
        self._shown: frames.Answer | None = None
        self._answered_at = -inf

    def ready(self, now: float) -> bool:
        """Whether the lamp is lit that means that a swipe is awaited."""
        return self._awaited and self.connected(now)

    def shown(self, now: float) -> frames.Answer | None:
        """The shown answer, with its lamp and its words."""
        return self._shown if now - self._answered_at < SHOWN_SECONDS else None

    def swipe(self, track: bytes, now: float) -> int:
        """Swipe a card with this data, empty if it could not be read; return the swipe's number.

        Raises:
            NotTakenError: no host is connected, or the previous swipe waits for its answer.
        """
        if not self.connected(now):
            raise NotTakenError("no host is connected: the reader takes no card")
        if self._waiting:
            raise NotTakenError("the previous swipe has no answer yet: wait for the answer")
        swipe = frames.Swipe(self._next(), self._session, self._token, track)
        without_card = replace(swipe, track=b"")
        self._shown = None
        return self._ask(
            swipe.number, lambda later: swipe if later - now <= frames.STALE_SECONDS else without_card
        )

    def _take(self, frame: frames.FromHost, now: float) -> None:
        if isinstance(frame, frames.Status):
            self._hear(frame.token, now)
            self._awaited, self._token = frame.awaited, frame.token
        else:
            self._shown, self._answered_at = frame, now
