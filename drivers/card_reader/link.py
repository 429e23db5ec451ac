"""The host's end of the card reader's link without I/O: bytes and the time go in, swipes and bytes come out.

The law is docs/reference/card-reader.md: each swipe is delivered once and in order, and none that is older than a moment. The age
is not the reader's word: a swipe says the token that the reader had last heard when the card went through, and every
token goes out once, so the swipe is at most as old as its token. One `CardReaderLink` lives as long as its driver, over
many connections: so a swipe whose answer was lost with the cable is answered again, and not delivered again. Times are
seconds of any clock that does not go back.

    swipe = link.receive(data, now)
    if swipe is not None:
        link.answer(swipe, what_became_of(swipe), now_by_now)
    send(link.data_to_send(now, awaited=awaited))
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf
from typing import Final

from punto.drivers import link
from punto.drivers.base import CardAnswer
from punto.drivers.card_reader.frames import (
    STALE_SECONDS,
    STATUS_SECONDS,
    TEXT_BYTES,
    Answer,
    FromReader,
    Here,
    Status,
    Swipe,
)
from punto.drivers.frame import HIGHEST, shortened
from punto.drivers.framing import encode

TOO_LATE: Final = CardAnswer("refused", "that swipe came too late: swipe the card again")
_TYPES: Final[Mapping[int, Callable[[int, bytes], FromReader]]] = {
    Here.TYPE: Here.parse,
    Swipe.TYPE: Swipe.parse,
}


@dataclass(slots=True)
class LinkCounters(link.LinkCounters):
    """What the link has seen, besides what every link counts."""

    swipes: int = 0  # delivered
    duplicates: int = 0  # swipes that had been delivered or refused before
    late: int = 0  # swipes refused for their age
    held_back: int = (
        0  # frames that are not for now: of an earlier time or power-on, or a swipe behind another
    )
    restarts: int = 0  # the reader lost its power, or is another


class CardReaderLink(link.Link[FromReader]):
    """A card reader, over all its connections."""

    counters: LinkCounters
    here: Here | None

    def __init__(self) -> None:
        super().__init__("card reader", _TYPES, LinkCounters())
        # What the reader was told: when each token went out that still says something.
        self._tokens: dict[int, float] = {}
        self._awaited = False
        self._said_at = -inf
        # What the reader said since its power came.
        self._session = 0
        self._taken = 0  # the last swipe that was delivered or refused
        self._answer: Answer | None = None  # to that one
        self._out = b""

    # --- what comes in

    def receive(self, data: bytes, now: float) -> Swipe | None:
        """Take bytes from the line; give the swipe that they tell, which is to be answered before more is received."""
        given: Swipe | None = None
        for frame in self._decoder.feed(data):
            if isinstance(frame, Here):
                self._take_here(frame, now)
            elif self.here is None or frame.session != self._session or given is not None:
                self.counters.held_back += 1
            elif self._is_new(frame, now):
                given = frame
        return given

    def _take_here(self, here: Here, now: float) -> None:
        if here.token not in self._tokens:
            self.counters.held_back += 1
        elif here.session != self._session:
            # The power was off. It must answer a status from after this, which nothing can that it said before.
            self.counters.restarts += self._session != 0
            self._session, self._taken, self._answer = here.session, 0, None
            self._lose()
        else:
            self.here = here
            self._heard(now)

    def _is_new(self, swipe: Swipe, now: float) -> bool:
        if swipe.number <= self._taken:
            self.counters.duplicates += 1
            if self._answer is not None and self._answer.number == swipe.number:
                self._out += encode(self._answer)
            return False
        if now - self._tokens.get(swipe.token, -inf) > STALE_SECONDS:
            self.counters.late += 1
            self.answer(swipe, TOO_LATE, now)
            return False
        self.counters.swipes += 1
        self._taken, self._answer = swipe.number, None
        return True

    def _lose(self) -> None:
        super()._lose()
        self._tokens.clear()
        self._out = b""
        self._said_at = -inf

    # --- what goes out

    def answer(self, swipe: Swipe, answer: CardAnswer, now: float) -> None:
        """Say what became of a swipe; it is said again whenever the reader asks.

        `now` is after the answer was found: nobody listened meanwhile, so the reader was not silent.
        """
        if swipe.session != self._session:
            return  # the reader was switched off meanwhile, and counts its swipes anew
        text = shortened(answer.text, TEXT_BYTES)
        self._taken = swipe.number
        self._answer = Answer(swipe.number, swipe.session, answer.result, text)
        self._out += encode(self._answer)
        self._heard(now)

    def data_to_send(self, now: float, *, awaited: bool) -> bytes:
        """Return the bytes for the line: answers, and a status when it is due or a swipe is awaited now and was not."""
        data, self._out = self._out, b""
        if awaited != self._awaited or now - self._said_at >= STATUS_SECONDS:
            self._awaited, self._said_at = awaited, now
            self._token = self._token % HIGHEST + 1
            self._tokens = {each: at for each, at in self._tokens.items() if now - at <= STALE_SECONDS}
            self._tokens[self._token] = now
            data += encode(Status(self._token, awaited))
        return data
