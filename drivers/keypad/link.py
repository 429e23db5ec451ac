"""The host's end of the keypad's link without I/O: bytes and the time go in, presses and bytes come out.

docs/reference/keypad.md defines the link. Each press is delivered once, after the keypad has answered this host, and only
if it is at most 1 s old. A position of the key switch is delivered once on each connection; in version 2 a connection ends
when a frame is lost, because it can have been a position. One `KeypadLink` lives as long as its driver, over many
connections. Times are seconds of any clock that does not go back.

    for received in link.receive(data, now):
        if isinstance(received, Switch):
            link.note(received)                       # when it is recorded
        else:
            link.answer(received, result_of(received))
    send(link.data_to_send(now, lamps))
"""

from dataclasses import dataclass, replace
from math import inf
from typing import Final

from punto.drivers import link
from punto.drivers.base import KeyAnswer, KeypadLamps
from punto.drivers.frame import parsers, shortened
from punto.drivers.framing import UNSEALED, Seal
from punto.drivers.keypad.contact import Contact
from punto.drivers.keypad.frames import STALE_MILLISECONDS, Answer, FromKeypad, Here, Noted, Press, Switch
from punto.drivers.keypad.frames import Status as StatusFrame
from punto.drivers.window import STATUS_SECONDS, TEXT_BYTES, Window

TOO_LATE: Final = KeyAnswer("refused", "that press came too late: look at the table, and press again")


@dataclass(slots=True)
class LinkCounters(link.LinkCounters):
    """The link's own counts, with those of every link."""

    presses: int = 0  # delivered
    duplicates: int = 0  # presses that had been delivered before
    bounces: int = 0  # presses that were bounces of the press before
    late: int = 0  # presses refused for their age, or because they were made before this host began
    held_back: int = 0  # before the keypad had answered this host, of another session, or after a lost frame


class KeypadLink(link.Link[FromKeypad]):
    """A keypad, over all its connections."""

    counters: LinkCounters
    here: Here | None

    def __init__(self, seal: Seal = UNSEALED) -> None:
        super().__init__("keypad", parsers(Here, Press, Switch), LinkCounters(), seal)
        self._began: float | None = None  # the first connection of this host
        self._presses: Window[Answer] = Window(self._encode)
        self._contact = Contact()
        self._turned = 0  # the last position of the key switch that was delivered
        self._noted = 0  # the last position that is recorded
        self._shown: KeypadLamps | None = None
        self._sent_at = -inf

    def connect(self, now: float, token: int) -> None:
        """As `Link.connect`."""
        super().connect(now, token)
        if self._began is None:
            self._began = now

    # --- input

    def receive(self, data: bytes, now: float) -> list[Press | Switch]:
        """Decode bytes from the line; return the new presses and positions, in order."""
        received: list[Press | Switch] = []
        for frame in self._decode(data, now):
            self._torn = self._torn or (self._seal.missing and self._turned > 0)
            if self._torn:
                self.counters.held_back += 1
            elif isinstance(frame, Here):
                self._take_here(frame, now)
            elif self.here is None or frame.session != self.here.session:
                self.counters.held_back += 1
            elif self._is_turned(frame) if isinstance(frame, Switch) else self._is_new(frame, now):
                received.append(frame)
        return received

    def _take_here(self, here: Here, now: float) -> None:
        if here.token != self._token:
            return
        self.here = here
        self._heard(now)
        if here.session != self._presses.session:
            self._presses.begin(here.session)
            self._contact, self._turned, self._noted = Contact(), 0, 0

    def _is_turned(self, switch: Switch) -> bool:
        if switch.number == self._noted:
            self.note(switch)
        is_new = switch.number > self._turned
        self._turned = max(self._turned, switch.number)
        return is_new

    def _is_new(self, press: Press, now: float) -> bool:
        if self._presses.is_repeat(press.number):
            self.counters.duplicates += 1
            return False
        if self._contact.bounced(press.key, now - press.age / 1000):
            self.counters.bounces += 1
            reply = self._presses.reply
            if reply is not None:  # a bounce gets its press's answer; until then the keypad repeats it
                self._presses.answer(replace(reply, number=press.number))
            return False
        # The host before this one may have carried out a press that was made before this host began.
        of_another_host = self._began is not None and now - press.age / 1000 < self._began
        if press.age > STALE_MILLISECONDS or of_another_host:
            self.counters.late += 1
            self.answer(press, TOO_LATE)
            return False
        self.counters.presses += 1
        self._presses.take(press.number)
        return True

    def disconnect(self) -> None:
        """End the connection; see `Link.disconnect`."""
        super().disconnect()
        self._presses.disconnect()
        self._sent_at = -inf
        self._turned = 0  # the position is delivered again on each connection

    def _why_silent(self) -> str:
        if self._torn:
            return "frames of the keypad were lost on the line: check its cable"
        return super()._why_silent()

    # --- output

    def answer(self, press: Press, answer: KeyAnswer) -> None:
        """Send the result of a press; it is sent again whenever the keypad repeats the press."""
        text = shortened(answer.text, TEXT_BYTES)
        self._presses.answer(Answer(press.number, press.session, answer.result, answer.seconds, text))

    def note(self, switch: Switch) -> None:
        """Confirm that a position of the key switch is recorded."""
        self._noted = switch.number
        self._presses.send(Noted(switch.number, switch.session))

    def data_to_send(self, now: float, lamps: KeypadLamps) -> bytes:
        """The bytes for the line: answers, and the status when it is due or the lamps have changed."""
        data = self._presses.data_to_send()
        if lamps != self._shown or now - self._sent_at >= STATUS_SECONDS:
            self._shown, self._sent_at = lamps, now
            data += self._encode(StatusFrame(self._token, lamps))
        return data
