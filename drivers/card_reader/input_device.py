"""The driver of a card reader that types like a keyboard (a *wedge*).

It is a Linux input device with the keys of a US keyboard. It answers no questions and shows nothing, so the user must show
the result of a swipe. Typed keys are a card's track if they come faster than a person types.
"""

import time
from collections.abc import Iterator, Mapping
from typing import Final, NoReturn

from punto.drivers.base import CardReaderUser
from punto.drivers.card_reader.frames import STALE_SECONDS
from punto.drivers.card_reader.number import END, SHORTEST, START
from punto.drivers.card_reader.swiped import answer_to
from punto.drivers.input_device import Device, InputDevice, PressReader, key_names

GAP_SECONDS: Final = 0.05
"""The longest pause between two characters of a swipe: a reader takes about 10 ms, and no person types this fast for long."""
LONGEST_TYPED: Final = 300  # characters of all tracks of a card with their sentinels; the rest is discarded

_CHARACTERS: Final[Mapping[str, str]] = {
    **{digit: digit for digit in "0123456789"},
    **{f"KP{digit}": digit for digit in "0123456789"},
    "SEMICOLON": START,
    "EQUAL": "=",
    "ENTER": "\n",
    "KPENTER": "\n",
}
_SHIFTED: Final[Mapping[str, str]] = {"SLASH": END, "ENTER": "\n", "KPENTER": "\n"}
_SHIFTS: Final = frozenset({"LEFTSHIFT", "RIGHTSHIFT"})
_OTHER: Final = "x"  # a character that no number has


class SwipeReader:
    """Finds the swipes in the presses of a device's keys; `names` is code -> name.

    A swipe is the text from the second track's start sentinel to its end sentinel, or without sentinels everything up to
    Enter. If the kernel lost a part, the whole swipe is discarded: without a digit, the number would be another card's.
    """

    def __init__(self, names: Mapping[int, str]) -> None:
        self.presses = PressReader(names)
        self._overruns = 0
        self._typed = ""
        self._typed_at = 0.0
        self._over = False  # discard keys up to a pause or Enter: the track is complete, or a part is lost

    def feed(self, data: bytes) -> Iterator[tuple[str, float]]:
        """Read whole event structures; yield the track of each swipe, and the time of its end as of `time.time`."""
        for key, at in self.presses.feed(data):
            if key in _SHIFTS:
                continue
            if self._overruns != self.presses.overruns:
                self._overruns = self.presses.overruns
                self._discard(over=True)
            elif at - self._typed_at > GAP_SECONDS:
                self._discard()
            self._typed_at = at
            track = self._ended_by(self._character(key))
            if track:
                yield track, at

    def begin(self) -> None:
        """Begin with a device that has just been opened: no key is down."""
        self.presses.down.clear()
        self._discard()

    def _discard(self, *, over: bool = False) -> None:
        self._typed = ""
        self._over = over

    def _character(self, key: str) -> str:
        shifted = not _SHIFTS.isdisjoint(self.presses.down)
        return (_SHIFTED if shifted else _CHARACTERS).get(key, _OTHER)

    def _ended_by(self, character: str) -> str | None:
        """The track that ends with this character, or None."""
        typed = self._typed
        if character == "\n":
            is_swipe = not self._over and (len(typed) >= SHORTEST or END in typed)
            self._discard()
            return typed if is_swipe else None
        if character == START and not self._over:
            self._typed = START
        elif len(typed) < LONGEST_TYPED:
            self._typed += character
        if character == END and typed.startswith(START) and not self._over:
            track = self._typed
            self._discard(over=True)
            return track
        return None


class InputCardReader(InputDevice[CardReaderUser]):
    """The driver of a card reader that is an input device: `punto.drivers.base.CardReaderDriver`."""

    def __init__(self, path: str, *, by_model: bool = False) -> None:
        super().__init__(path, "card reader", by_model=by_model)
        self._reader = SwipeReader(key_names())
        self._swipes = 0
        self._late = 0

    def _counters(self) -> Mapping[str, int]:
        return {
            "swipes": self._swipes,
            "late": self._late,
            "overruns": self._reader.presses.overruns,
            "connections": self._connections,
        }

    async def _serve(self, device: Device, user: CardReaderUser) -> NoReturn:
        self._reader.begin()
        while True:
            for track, at in self._reader.feed(await self._read(device)):
                if time.time() - at > STALE_SECONDS:
                    self._late += 1
                    self._log.info("swipe refused", reason="it came too late")
                    continue
                self._swipes += 1
                answer = await answer_to(track, user)
                if answer.result == "refused":
                    self._log.info("swipe refused", reason=answer.text)
