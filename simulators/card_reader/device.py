"""The reader itself: its end of the link as docs/card-reader.md has it, without a line and without a clock.

Bytes from the host go in with `receive`, cards with `swipe`, and `data_to_send` gives what goes on the line.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf
from typing import Final

from punto.drivers.card_reader.frames import (
    REPEAT_SECONDS,
    STALE_SECONDS,
    Answer,
    FromHost,
    Here,
    Status,
    Swipe,
)
from punto.drivers.framing import Decoder, encode
from punto.drivers.silence import SILENCE_SECONDS

SHOWN_SECONDS: Final = 10.0
"""How long an answer is shown."""

_TYPES: Final[Mapping[int, Callable[[int, bytes], FromHost]]] = {
    Status.TYPE: Status.parse,
    Answer.TYPE: Answer.parse,
}


class NotTakenError(Exception):
    """The reader does not take this swipe; the message says why, and the reader shows it."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    swipe: Swipe
    at: float

    def as_of(self, now: float) -> Swipe:
        """The swipe as it is said now: one that is too old to be taken is said without its card."""
        swipe = self.swipe
        if now - self.at <= STALE_SECONDS:
            return swipe
        return Swipe(swipe.number, swipe.session, swipe.token, b"")


class CardReaderDevice:
    """A reader that has just been switched on; `answered` is called with each answer."""

    def __init__(self, serial: str, session: int, answered: Callable[[Answer], None]) -> None:
        self._serial = serial
        self._session = session
        self._answered = answered
        self._decoder = Decoder[FromHost](_TYPES)
        self._number = 0
        self._waiting: _Waiting | None = None
        self._sent_at = -inf
        self._awaited = False
        self._token = 0
        self._heard_at = -inf
        self._tokens: list[int] = []  # that are to be answered
        self._answer: Answer | None = None
        self._answered_at = -inf

    def connected(self, now: float) -> bool:
        """Whether a host is heard; without one the reader shows so, and takes no card."""
        return now - self._heard_at < SILENCE_SECONDS

    def ready(self, now: float) -> bool:
        """Whether the lamp is lit that says that a swipe is awaited."""
        return self._awaited and self.connected(now)

    def shown(self, now: float) -> Answer | None:
        """The answer that is shown, with its lamp and its words."""
        return self._answer if now - self._answered_at < SHOWN_SECONDS else None

    def swipe(self, track: bytes, now: float) -> int:
        """Swipe a card, of which this was read, nothing where nothing could be; give the swipe's number.

        Raises:
            NotTakenError: no host is heard, or the swipe before waits for its answer.
        """
        if not self.connected(now):
            raise NotTakenError("no host is heard: the reader takes no card")
        if self._waiting is not None:
            raise NotTakenError("the swipe before has no answer yet: wait for it")
        self._number += 1
        self._waiting = _Waiting(Swipe(self._number, self._session, self._token, track), now)
        self._sent_at = -inf
        self._answer = None
        return self._number

    def receive(self, data: bytes, now: float) -> None:
        """Take what the host says."""
        for frame in self._decoder.feed(data):
            if isinstance(frame, Status):
                self._heard_at = now
                self._awaited = frame.awaited
                self._token = frame.token
                self._tokens.append(frame.token)
            elif self._is_awaited(frame):
                self._waiting = None
                self._answer, self._answered_at = frame, now
                self._answered(frame)

    def _is_awaited(self, answer: Answer) -> bool:
        """Whether it is the answer to the swipe that waits: one to another is a repeat, or meant for somebody else."""
        waiting = self._waiting
        return waiting is not None and (answer.session, answer.number) == (
            self._session,
            waiting.swipe.number,
        )

    def data_to_send(self, now: float) -> list[bytes]:
        """Give the frames for the line: who is there, to each status, and the swipe until it is answered."""
        frames = [encode(Here(token, self._session, self._serial)) for token in self._tokens]
        self._tokens.clear()
        if self._waiting is not None and now - self._sent_at >= REPEAT_SECONDS:
            self._sent_at = now
            frames.append(encode(self._waiting.as_of(now)))
        return frames
