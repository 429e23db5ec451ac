"""The device's end of a window (`punto.drivers.window`): a request goes out again and again until the host answers it."""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from math import inf
from typing import Any, Generic, NamedTuple

from punto.drivers.frame import Frame, parsers
from punto.drivers.framing import Decoder, encode
from punto.drivers.link import SILENCE_SECONDS
from punto.drivers.window import REPEAT_SECONDS, AnyReply, Introduction


class _Request(NamedTuple):
    number: int
    as_of: Callable[[float], Frame]  # the request as it is sent at a time


class RequestingDevice(ABC, Generic[AnyReply]):
    """A device that has just been switched on; `answered` is called with each answer."""

    def __init__(
        self,
        serial: str,
        session: int,
        answered: Callable[[AnyReply], None],
        introduction: type[Introduction],
        answer: type[AnyReply],
        *others_of_host: type[Frame],
    ) -> None:
        self._serial = serial
        self._session = session
        self._answered = answered
        self._introduction = introduction
        self._answer = answer
        self._decoder: Decoder[Any] = Decoder(parsers(answer, *others_of_host))
        self._number = 0
        self._waiting: deque[_Request] = deque()
        self._sent_at = -inf
        self._heard_at = -inf
        self._tokens: list[int] = []  # of statuses that are still to be answered

    def connected(self, now: float) -> bool:
        """Whether a host is connected; without one the device shows this, and its lamps are dark."""
        return now - self._heard_at < SILENCE_SECONDS

    def _next(self) -> int:
        """The number of the next request."""
        self._number += 1
        return self._number

    def _ask(self, number: int, as_of: Callable[[float], Frame]) -> int:
        """Repeat a request, made anew for each time that it is sent, until it is answered; returns its number."""
        self._waiting.append(_Request(number, as_of))
        return number

    def receive(self, data: bytes, now: float) -> None:
        """Take bytes from the host. An answer to another request than the oldest is a repeat, or meant for another device."""
        for frame in self._decoder.feed(data):
            if not isinstance(frame, self._answer):
                self._take(frame, now)
            elif self._waiting and (frame.session, frame.number) == (self._session, self._waiting[0].number):
                self._waiting.popleft()
                self._sent_at = -inf
                self._take(frame, now)
                self._answered(frame)

    @abstractmethod
    def _take(self, frame: Any, now: float) -> None:
        """Take a frame of the host that is not an answer, or the answer to the oldest request."""

    def _hear(self, token: int, now: float) -> None:
        """Take the token of a status."""
        self._heard_at = now
        self._tokens.append(token)

    def data_to_send(self, now: float) -> list[bytes]:
        """The frames for the line: an introduction for each status, and the oldest request until it is answered."""
        sent = [encode(self._introduction(token, self._session, self._serial)) for token in self._tokens]
        self._tokens.clear()
        if self._waiting and now - self._sent_at >= REPEAT_SECONDS:
            self._sent_at = now
            sent.append(encode(self._waiting[0].as_of(now)))
        return sent
