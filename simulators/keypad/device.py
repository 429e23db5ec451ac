"""The keypad itself: its end of the link by docs/reference/keypad.md, without a line and without a clock.

Pass bytes from the host to `receive` and keys to `press`; `data_to_send` returns the bytes for the line.
"""

from collections.abc import Callable
from math import inf
from typing import Final

from punto.drivers.base import KeypadLamps, KeyPosition
from punto.drivers.framing import encode
from punto.drivers.keypad import frames
from punto.drivers.window import REPEAT_SECONDS
from punto.simulators.window import RequestingDevice

ROOM: Final = 8
"""Maximum number of presses that wait for an answer; after that a person sees that nothing happens."""


class KeypadDevice(RequestingDevice[frames.Answer]):
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
        super().__init__(serial, session, answered, frames.Here, frames.Answer, frames.Status, frames.Noted)
        self.lamps = KeypadLamps()
        self._switch = None if key is None else frames.Switch(1, session, key)
        self._token = 0  # of the connected host
        self._noted = 0  # the position that this host has
        self._switch_sent_at = -inf

    def press(self, key: str, now: float) -> int | None:
        """Press a key; return the press's number, None if too many wait for an answer."""
        if len(self._waiting) >= ROOM:
            return None
        number = self._next()

        def as_of(later: float) -> frames.Press:
            age = min(round((later - now) * 1000), frames.OLDEST_MILLISECONDS)
            return frames.Press(number, self._session, age, key)

        return self._ask(number, as_of)

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

    def _take(self, frame: frames.FromHost, now: float) -> None:
        if isinstance(frame, frames.Status):
            self._hear(frame.token, now)
            self.lamps = frame.lamps
            # Another host, or another connection: it may not know the position.
            if frame.token != self._token:
                self._token, self._noted = frame.token, 0
        elif isinstance(frame, frames.Noted) and frame.session == self._session:
            self._noted = frame.number

    def data_to_send(self, now: float) -> list[bytes]:
        """As `RequestingDevice.data_to_send`, and the position of the key until it is noted."""
        sent = super().data_to_send(now)
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
