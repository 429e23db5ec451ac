"""The reader itself: its end of the link by docs/reference/card-reader.md, without a line and without a clock.

Pass bytes from the host to `receive` and cards to `swipe`; `data_to_send` returns the bytes for the line.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf
from typing import Final

from punto.drivers.card_reader import frames
from punto.drivers.framing import Decoder, encode
from punto.drivers.link import SILENCE_SECONDS
from punto.drivers.window import REPEAT_SECONDS

SHOWN_SECONDS: Final = 10.0
"""The time for which an answer is shown."""

_TYPES: Final[Mapping[int, Callable[[int, bytes], frames.FromHost]]] = {
    frames.Status.TYPE: frames.Status.parse,
    frames.Answer.TYPE: frames.Answer.parse,
}


class NotTakenError(Exception):
    """The reader does not take this swipe; the message says why, and the reader shows it."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    swipe: frames.Swipe
    at: float

    def as_of(self, now: float) -> frames.Swipe:
        """The swipe as reported now: without its card if it is too old to be taken."""
        swipe = self.swipe
        if now - self.at <= frames.STALE_SECONDS:
            return swipe
        return frames.Swipe(swipe.number, swipe.session, swipe.token, b"")


class CardReaderDevice:
    """A reader that has just been switched on; `answered` is called with each answer."""

    def __init__(self, serial: str, session: int, answered: Callable[[frames.Answer], None]) -> None:
        self._serial = serial
        self._session = session
        self._answered = answered
        self._decoder = Decoder[frames.FromHost](_TYPES)
        self._number = 0
        self._waiting: _Waiting | None = None
        self._sent_at = -inf
        self._awaited = False
        self._token = 0
        self._heard_at = -inf
        self._tokens: list[int] = []  # still to be answered
        self._answer: frames.Answer | None = None
        self._answered_at = -inf

    def connected(self, now: float) -> bool:
        """Whether a host is connected; without one the reader shows this, and takes no card."""
        return now - self._heard_at < SILENCE_SECONDS

    def ready(self, now: float) -> bool:
        """Whether the lamp is lit that means that a swipe is awaited."""
        return self._awaited and self.connected(now)

    def shown(self, now: float) -> frames.Answer | None:
        """The shown answer, with its lamp and its words."""
        return self._answer if now - self._answered_at < SHOWN_SECONDS else None

    def swipe(self, track: bytes, now: float) -> int:
        """Swipe a card with this data, empty if it could not be read; return the swipe's number.

        Raises:
            NotTakenError: no host is connected, or the previous swipe waits for its answer.
        """
        if not self.connected(now):
            raise NotTakenError("no host is connected: the reader takes no card")
        if self._waiting is not None:
            raise NotTakenError("the previous swipe has no answer yet: wait for the answer")
        self._number += 1
        self._waiting = _Waiting(frames.Swipe(self._number, self._session, self._token, track), now)
        self._sent_at = -inf
        self._answer = None
        return self._number

    def receive(self, data: bytes, now: float) -> None:
        """Take bytes from the host."""
        for frame in self._decoder.feed(data):
            if isinstance(frame, frames.Status):
                self._heard_at = now
                self._awaited = frame.awaited
                self._token = frame.token
                self._tokens.append(frame.token)
            elif self._is_awaited(frame):
                self._waiting = None
                self._answer, self._answered_at = frame, now
                self._answered(frame)

    def _is_awaited(self, answer: frames.Answer) -> bool:
        """Whether it answers the pending swipe: an answer to another is a repeat, or meant for another device."""
        waiting = self._waiting
        return waiting is not None and (answer.session, answer.number) == (
            self._session,
            waiting.swipe.number,
        )

    def data_to_send(self, now: float) -> list[bytes]:
        """Return the frames for the line: identity, status answers, and the swipe until it is answered."""
        sent = [encode(frames.Here(token, self._session, self._serial)) for token in self._tokens]
        self._tokens.clear()
        if self._waiting is not None and now - self._sent_at >= REPEAT_SECONDS:
            self._sent_at = now
            sent.append(encode(self._waiting.as_of(now)))
        return sent
