"""The host's end of the card reader's link without I/O: bytes and the time go in, swipes and bytes come out.

docs/reference/card-reader.md defines the link. Each swipe is delivered once and in order, and only if it is at most 2 s old.
The host measures the age itself: a swipe contains the last token that the reader had received when the card was swiped,
and each token is sent once, so the swipe is at most as old as its token. One `CardReaderLink` lives as long as its driver,
over many connections. Times are seconds of any clock that does not go back.

    swipe = link.receive(data, now)
    if swipe is not None:
        link.answer(swipe, result_of(swipe), now_after_that)
    send(link.data_to_send(now, awaited=awaited))
"""

from dataclasses import dataclass
from math import inf
from typing import Final

from punto.drivers import link
from punto.drivers.base import CardAnswer
from punto.drivers.card_reader.frames import STALE_SECONDS, Answer, FromReader, Here, Status, Swipe
from punto.drivers.frame import HIGHEST, parsers, shortened
from punto.drivers.framing import UNSEALED, Seal
from punto.drivers.window import STATUS_SECONDS, TEXT_BYTES, Window

TOO_LATE: Final = CardAnswer("refused", "that swipe came too late: swipe the card again")


@dataclass(slots=True)
class LinkCounters(link.LinkCounters):
    """The link's own counts, with those of every link."""

    swipes: int = 0  # delivered
    duplicates: int = 0  # swipes that had been delivered or refused before
    late: int = 0  # swipes refused for their age
    held_back: int = 0  # frames of an earlier connection or power-on, and a swipe that waits behind another
    restarts: int = 0  # the reader lost its power, or was replaced


class CardReaderLink(link.Link[FromReader]):
    """A card reader, over all its connections."""

    counters: LinkCounters
    here: Here | None

    def __init__(self, seal: Seal = UNSEALED) -> None:
        super().__init__("card reader", parsers(Here, Swipe), LinkCounters(), seal)
        # Sent to the reader.
        self._tokens: dict[int, float] = {}  # when each token was sent, as long as a swipe can be that old
        self._awaited = False
        self._sent_at = -inf
        self._swipes: Window[Answer] = Window(self._encode)

    # --- input

    def receive(self, data: bytes, now: float) -> Swipe | None:
        """Decode bytes from the line; return a new swipe, which must be answered before more is received."""
        new: Swipe | None = None
        for frame in self._decode(data, now):
            if isinstance(frame, Here):
                self._take_here(frame, now)
            elif self.here is None or frame.session != self._swipes.session or new is not None:
                self.counters.held_back += 1
            elif self._is_new(frame, now):
                new = frame
        return new

    def _take_here(self, here: Here, now: float) -> None:
        if here.token not in self._tokens:
            self.counters.held_back += 1
        elif here.session != self._swipes.session:
            # The power was off. The reader must answer a status that is sent from now on: no earlier frame can do that.
            self.counters.restarts += self._swipes.session != 0
            self._swipes.begin(here.session)
            self.disconnect()
        else:
            self.here = here
            self._heard(now)

    def _is_new(self, swipe: Swipe, now: float) -> bool:
        if self._swipes.is_repeat(swipe.number):
            self.counters.duplicates += 1
            return False
        if now - self._tokens.get(swipe.token, -inf) > STALE_SECONDS:
            self.counters.late += 1
            self.answer(swipe, TOO_LATE, now)
            return False
        self.counters.swipes += 1
        self._swipes.take(swipe.number)
        return True

    def disconnect(self) -> None:
        """End the connection; see `Link.disconnect`."""
        super().disconnect()
        self._tokens.clear()
        self._swipes.disconnect()
        self._sent_at = -inf

    # --- output

    def answer(self, swipe: Swipe, answer: CardAnswer, now: float) -> None:
        """Send the result of a swipe; it is sent again whenever the reader repeats the swipe.

        `now` is the time after the result was known: meanwhile nothing was read, so the reader does not count as silent.
        """
        text = shortened(answer.text, TEXT_BYTES)
        if self._swipes.answer(Answer(swipe.number, swipe.session, answer.result, text)):
            self._heard(now)

    def data_to_send(self, now: float, *, awaited: bool) -> bytes:
        """The bytes for the line: answers, and a status when it is due or `awaited` has changed."""
        data = self._swipes.data_to_send()
        if awaited != self._awaited or now - self._sent_at >= STATUS_SECONDS:
            self._awaited, self._sent_at = awaited, now
            self._token = self._token % HIGHEST + 1
            self._tokens = {each: at for each, at in self._tokens.items() if now - at <= STALE_SECONDS}
            self._tokens[self._token] = now
            data += self._encode(Status(self._token, awaited))
        return data
