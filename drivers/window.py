"""The host's window on a device's requests, which are presses and swipes: each is carried out at most once.

A device numbers its requests from its power-on, and repeats each until the host answers it, so the line delivers a request at
least once. The host therefore keeps the number of the last request and the answer to it as long as the device has power, also
while the cable is out: a request that comes again gets the same answer and is not carried out again.

Which requests are too old is for each device's link to say, because a keypad sends the age of a press, and a card reader
proves the age of a swipe by the status that it had received before.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Final, Generic, TypeVar

from punto.drivers.frame import NUMBER, SERIAL, Frame

STATUS_SECONDS: Final = 0.25  # how often the host sends its status
REPEAT_SECONDS: Final = 0.2  # after which a device repeats a request that is not answered
TEXT_BYTES: Final = 200  # the longest text of an answer


@dataclass(frozen=True, slots=True)
class Introduction(Frame):
    """Device to host: the device is connected. `token` is that of the status it answers, `session` that of its power-on."""

    token: int
    session: int
    serial: str
    FIELDS: ClassVar = {"token": NUMBER, "session": NUMBER, "serial": SERIAL}


@dataclass(frozen=True, slots=True)
class Reply(Frame):
    """Host to device: the answer to the request `number` of this session."""

    number: int
    session: int
    NUMBERED: ClassVar[str] = "number"


AnyReply = TypeVar("AnyReply", bound=Reply)


class Window(Generic[AnyReply]):
    """The requests of a device since its power-on; `encode` makes the bytes of a frame for its line.

    `session` is that of the power-on, 0 before the first one. `reply` is the answer to the last request, None while the request
    is carried out.
    """

    def __init__(self, encode: Callable[[Frame], bytes]) -> None:
        self.session = 0
        self.reply: AnyReply | None = None
        self._encode = encode
        self._taken = 0  # the last request that was carried out or refused
        self._out = b""

    def begin(self, session: int) -> None:
        """Begin a session: the device was switched on, and counts its requests from 1."""
        self.session, self.reply, self._taken = session, None, 0

    def is_repeat(self, number: int) -> bool:
        """Whether a request came before. The reply to the last one is sent again; the device needs none to those before it."""
        if number > self._taken:
            return False
        if number == self._taken and self.reply is not None:
            self.send(self.reply)
        return True

    def take(self, number: int) -> None:
        """Note that a request is carried out now, so that it is not taken again while its answer is not known."""
        self._taken, self.reply = number, None

    def answer(self, reply: AnyReply) -> bool:
        """Send the reply to a request, and keep it for its repeats.

        Returns False, and sends nothing, if the device was switched off after the request: it counts from 1 again.
        """
        if reply.session != self.session:
            return False
        self._taken, self.reply = reply.number, reply
        self.send(reply)
        return True

    def send(self, frame: Frame) -> None:
        """Send a frame; all frames go out in the order of these calls, because a seal counts them."""
        self._out += self._encode(frame)

    def data_to_send(self) -> bytes:
        """The bytes for the line."""
        data, self._out = self._out, b""
        return data

    def disconnect(self) -> None:
        """Discard what has not been sent, and keep the session: the device may have power and repeat its request."""
        self._out = b""
