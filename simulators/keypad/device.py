"""The keypad itself: its end of the link by docs/reference/keypad.md, without a line and without a clock.

Pass bytes from the host to `receive` and keys to `press`; `data_to_send` returns the bytes for the line.
"""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf
from typing import Final

from punto.drivers.base import KeypadLamps, KeyPosition
from punto.drivers.framing import Decoder, encode
from punto.drivers.keypad import frames
from punto.drivers.link import SILENCE_SECONDS
from punto.drivers.window import REPEAT_SECONDS

ROOM: Final = 8
"""Maximum number of presses that wait for an answer; after that a person sees that nothing happens."""

_TYPES: Final[Mapping[int, Callable[[int, bytes], frames.FromHost]]] = {
    frames.Status.TYPE: frames.Status.parse,
    frames.Answer.TYPE: frames.Answer.parse,
    frames.Noted.TYPE: frames.Noted.parse,
}


@dataclass(frozen=True, slots=True)
class _Waiting:
    number: int
    key: str
    at: float


class KeypadDevice:
    """A keypad that has just been switched on; `answered` is called with each answer.

    `key` is the position of its key switch, None for a keypad without one.
    """

    def __init__(
        self,
        serial: str,
        session: int,
        answered: Callable[[frames.Answer], None],
        key: KeyPosition | None = None,
    ) -> None:
        self.lamps = KeypadLamps()
        self._serial = serial
        self._session = session
        self._answered = answered
        self._decoder = Decoder[frames.FromHost](_TYPES)
        self._number = 0
        self._waiting: deque[_Waiting] = deque()
        self._sent_at = -inf
        self._heard_at = -inf
        self._tokens: list[int] = []
        self._switch = None if key is None else frames.Switch(1, session, key)
        self._token = 0  # of the connected host
        self._noted = 0  # the position that this host has
        self._switch_sent_at = -inf

    def connected(self, now: float) -> bool:
        """Whether a host is connected; without one the keypad shows this, and its lamps are dark."""
        return now - self._heard_at < SILENCE_SECONDS

    def press(self, key: str, now: float) -> int | None:
        """Press a key; return the press's number, None if too many wait for an answer."""
        if len(self._waiting) >= ROOM:
            return None
        self._number += 1
        self._waiting.append(_Waiting(self._number, key, now))
        return self._number

    def turn(self, key: KeyPosition) -> None:
        """Turn the key; turning it to its current position does nothing.

        Raises:
            ValueError: the keypad has no key switch.
        """
        if self._switch is None:
            raise ValueError("this keypad has no key switch")
        if key != self._switch.position:
            self._switch = frames.Switch(self._switch.number + 1, self._session, key)
            self._switch_sent_at = -inf

    def receive(self, data: bytes, now: float) -> None:
        """Take bytes from the host."""
        for frame in self._decoder.feed(data):
            if isinstance(frame, frames.Status):
                self._heard_at = now
                self.lamps = frame.lamps
                self._tokens.append(frame.token)
                if (
                    frame.token != self._token
                ):  # another host, or another connection: it may not know the position
                    self._token, self._noted = frame.token, 0
            elif isinstance(frame, frames.Noted):
                if frame.session == self._session:
                    self._noted = frame.number
            elif self._is_awaited(frame):
                self._waiting.popleft()
                self._sent_at = -inf
                self._answered(frame)

    def _is_awaited(self, answer: frames.Answer) -> bool:
        """Whether it answers the oldest press: an answer to another is a repeat, or meant for another device."""
        return bool(self._waiting) and (answer.session, answer.number) == (
            self._session,
            self._waiting[0].number,
        )

    def data_to_send(self, now: float) -> list[bytes]:
        """Return the frames for the line: identity, status answers, and the oldest press until answered."""
        sent = [encode(frames.Here(token, self._session, self._serial)) for token in self._tokens]
        self._tokens.clear()
        if self._waiting and now - self._sent_at >= REPEAT_SECONDS:
            self._sent_at = now
            first = self._waiting[0]
            age = min(round((now - first.at) * 1000), frames.OLDEST_MILLISECONDS)
            sent.append(encode(frames.Press(first.number, self._session, age, first.key)))
        if self._is_to_be_said(now) and self._switch is not None:
            self._switch_sent_at = now
            sent.append(encode(self._switch))
        return sent

    def _is_to_be_said(self, now: float) -> bool:
        """Whether the connected host does not have the key's position."""
        return (
            self._switch is not None
            and self._token != 0
            and self._noted != self._switch.number
            and now - self._switch_sent_at >= REPEAT_SECONDS
        )
