"""The keypad itself: its end of the link as docs/keypad.md has it, without a line and without a clock.

Bytes from the host go in with `receive`, keys with `press`, and `data_to_send` gives what goes on the line.
"""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf
from typing import Final

from drivers.base import KeypadLamps
from drivers.framing import Decoder, encode
from drivers.keypad.frames import (
    OLDEST_MILLISECONDS,
    REPEAT_SECONDS,
    Answer,
    FromHost,
    Here,
    Press,
    Status,
)
from drivers.silence import SILENCE_SECONDS

ROOM: Final = 8
"""Presses that wait for an answer; a person who presses more sees that nothing happens."""

_TYPES: Final[Mapping[int, Callable[[int, bytes], FromHost]]] = {
    Status.TYPE: Status.parse,
    Answer.TYPE: Answer.parse,
}


@dataclass(frozen=True, slots=True)
class _Waiting:
    number: int
    key: str
    at: float


class KeypadDevice:
    """A keypad that has just been switched on; `answered` is called with each answer."""

    def __init__(self, serial: str, session: int, answered: Callable[[Answer], None]) -> None:
        self.lamps = KeypadLamps()
        self._serial = serial
        self._session = session
        self._answered = answered
        self._decoder = Decoder[FromHost](_TYPES)
        self._number = 0
        self._waiting: deque[_Waiting] = deque()
        self._sent_at = -inf
        self._heard_at = -inf
        self._tokens: list[int] = []

    def connected(self, now: float) -> bool:
        """Whether a host is heard; without one the keypad shows so, and its lamps are dark."""
        return now - self._heard_at < SILENCE_SECONDS

    def press(self, key: str, now: float) -> int | None:
        """Press a key; give the press's number, None when too many wait for an answer."""
        if len(self._waiting) >= ROOM:
            return None
        self._number += 1
        self._waiting.append(_Waiting(self._number, key, now))
        return self._number

    def receive(self, data: bytes, now: float) -> None:
        """Take what the host says."""
        for frame in self._decoder.feed(data):
            if isinstance(frame, Status):
                self._heard_at = now
                self.lamps = frame.lamps
                self._tokens.append(frame.token)
            elif self._is_awaited(frame):
                self._waiting.popleft()
                self._sent_at = -inf
                self._answered(frame)

    def _is_awaited(self, answer: Answer) -> bool:
        """Whether it is the answer to the oldest press: one to another is a repeat, or meant for somebody else."""
        return bool(self._waiting) and (answer.session, answer.number) == (
            self._session,
            self._waiting[0].number,
        )

    def data_to_send(self, now: float) -> list[bytes]:
        """Give the frames for the line: who is there, to each status, and the oldest press until it is answered."""
        frames = [encode(Here(token, self._session, self._serial)) for token in self._tokens]
        self._tokens.clear()
        if self._waiting and now - self._sent_at >= REPEAT_SECONDS:
            self._sent_at = now
            first = self._waiting[0]
            age = min(round((now - first.at) * 1000), OLDEST_MILLISECONDS)
            frames.append(encode(Press(first.number, self._session, age, first.key)))
        return frames
