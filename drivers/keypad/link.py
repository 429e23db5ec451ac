"""The host's end of the keypad's link without I/O: bytes and the time go in, presses and bytes come out.

The law is docs/reference/keypad.md: each press is delivered once, none before the keypad has answered this host, and none that
is older than a moment; a position of the key switch is delivered once, however old. One `KeypadLink` lives as long as its driver, over many connections: so a press whose answer
was lost with the cable is answered again, and not carried out again. Times are seconds of any clock that does not go back.

    for told in link.receive(data, now):
        if isinstance(told, Switch):
            link.note(told)                           # once it is safe
        else:
            link.answer(told, what_became_of(told))
    send(link.data_to_send(now, lamps))
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import inf
from typing import Final

from punto.drivers import link
from punto.drivers.base import KeyAnswer, KeypadLamps
from punto.drivers.frame import shortened
from punto.drivers.framing import encode
from punto.drivers.keypad.contact import Contact
from punto.drivers.keypad.frames import (
    STALE_MILLISECONDS,
    STATUS_SECONDS,
    TEXT_BYTES,
    Answer,
    FromKeypad,
    Here,
    Noted,
    Press,
    Switch,
)
from punto.drivers.keypad.frames import Status as StatusFrame

TOO_LATE: Final = KeyAnswer("refused", "that press came too late: look at the table, and press again")
_TYPES: Final[Mapping[int, Callable[[int, bytes], FromKeypad]]] = {
    Here.TYPE: Here.parse,
    Press.TYPE: Press.parse,
    Switch.TYPE: Switch.parse,
}


@dataclass(slots=True)
class LinkCounters(link.LinkCounters):
    """What the link has seen, besides what every link counts."""

    presses: int = 0  # delivered
    duplicates: int = 0  # presses that had been delivered before
    bounces: int = 0  # presses that were the one before once more
    late: int = 0  # presses refused for their age
    held_back: int = 0  # presses before the keypad had answered this host, or of another session


class KeypadLink(link.Link[FromKeypad]):
    """A keypad, over all its connections."""

    counters: LinkCounters
    here: Here | None

    def __init__(self) -> None:
        super().__init__("keypad", _TYPES, LinkCounters())
        self._session = 0  # of the presses below
        self._taken = 0  # the last press that was delivered or refused
        self._answer: Answer | None = None  # to that one
        self._contact = Contact()
        self._turned = 0  # the last position of the key switch that was delivered
        self._noted = 0  # and the last one that is safe
        self._out = b""
        self._shown: KeypadLamps | None = None
        self._said_at = -inf

    # --- what comes in

    def receive(self, data: bytes, now: float) -> list[Press | Switch]:
        """Take bytes from the line; give the presses and positions that have not been given yet, in order."""
        told: list[Press | Switch] = []
        for frame in self._decoder.feed(data):
            if isinstance(frame, Here):
                self._take_here(frame, now)
            elif self.here is None or frame.session != self.here.session:
                self.counters.held_back += 1
            elif self._is_turned(frame) if isinstance(frame, Switch) else self._is_new(frame, now):
                told.append(frame)
        return told

    def _take_here(self, here: Here, now: float) -> None:
        if here.token != self._token:
            return
        self.here = here
        self._heard(now)
        if here.session != self._session:
            self._session, self._taken, self._answer = here.session, 0, None
            self._contact, self._turned, self._noted = Contact(), 0, 0

    def _is_turned(self, switch: Switch) -> bool:
        if switch.number == self._noted:
            self.note(switch)
        is_new = switch.number > self._turned
        self._turned = max(self._turned, switch.number)
        return is_new

    def _is_new(self, press: Press, now: float) -> bool:
        if press.number <= self._taken:
            self.counters.duplicates += 1
            if self._answer is not None and self._answer.number == press.number:
                self._out += encode(self._answer)
            return False
        if self._contact.bounced(
            press.key, now - press.age / 1000
        ):  # and has the answer of the one that it is
            self.counters.bounces += 1
            if self._answer is not None:  # else it comes again
                self._say(replace(self._answer, number=press.number))
            return False
        if press.age > STALE_MILLISECONDS:
            self.counters.late += 1
            self.answer(press, TOO_LATE)
            return False
        self.counters.presses += 1
        self._taken, self._answer = press.number, None
        return True

    def _lose(self) -> None:
        super()._lose()
        self._out = b""
        self._said_at = -inf
        self._turned = 0  # where the key stands is told anew on each connection

    # --- what goes out

    def answer(self, press: Press, answer: KeyAnswer) -> None:
        """Say what became of a press; it is said again whenever the keypad asks."""
        text = shortened(answer.text, TEXT_BYTES)
        self._say(Answer(press.number, press.session, answer.result, answer.seconds, text))

    def _say(self, answer: Answer) -> None:
        if answer.session != self._session:
            return  # the keypad was switched off meanwhile, and counts its presses anew
        self._taken, self._answer = answer.number, answer
        self._out += encode(answer)

    def note(self, switch: Switch) -> None:
        """Say that a position of the key switch is safe."""
        self._noted = switch.number
        self._out += encode(Noted(switch.number, switch.session))

    def data_to_send(self, now: float, lamps: KeypadLamps) -> bytes:
        """Return the bytes for the line: answers, and how things stand when that is due or has changed."""
        data, self._out = self._out, b""
        if lamps != self._shown or now - self._said_at >= STATUS_SECONDS:
            self._shown, self._said_at = lamps, now
            data += encode(StatusFrame(self._token, lamps))
        return data
