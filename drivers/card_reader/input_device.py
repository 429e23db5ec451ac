"""A card reader that types like a keyboard (a *wedge*): opened again for ever, and this program's alone.

It is a Linux input device with the keys of a keyboard of the United States, and can neither be asked anything nor show anything.
What it types is a card's track if it comes as fast as no person types. What became of a swipe is for the user to show.
"""

import time
from collections.abc import Iterator, Mapping
from typing import Final, NoReturn

import structlog

from punto.drivers.base import CardReaderUser
from punto.drivers.card_reader.frames import STALE_SECONDS
from punto.drivers.card_reader.number import END, SHORTEST, START
from punto.drivers.card_reader.swiped import answer_to
from punto.drivers.input_device import (
    Device,
    PressReader,
    key_names,
    open_device,
    read,
    readable,
    why_not_open,
)
from punto.drivers.retried import DeviceLostError, Retried

TICK_SECONDS: Final = 0.25
GAP_SECONDS: Final = 0.05
"""Between two characters of a swipe: a reader takes some 10 ms, and no person goes on typing as fast as this."""
LONGEST_TYPED: Final = 300  # of all tracks of a card, with their sentinels; what comes beyond is no card's

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

_log = structlog.get_logger("punto.drivers.card_reader")


class SwipeReader:
    """Finds the swipes in the presses of a device's keys; `names` is code -> name.

    A swipe is what is typed from the second track's start sentinel to its end, or without sentinels all up to Enter. Where the
    kernel lost some of it, all of it is thrown away: a number with a digit missing would be another card's.
    """

    def __init__(self, names: Mapping[int, str]) -> None:
        self.presses = PressReader(names)
        self._overruns = 0
        self._typed = ""
        self._typed_at = 0.0
        self._over = (
            False  # what is typed up to a pause or Enter is not wanted: a track was given, or a part is lost
        )

    def feed(self, data: bytes) -> Iterator[tuple[str, float]]:
        """Take whole event structures; give the track of each swipe, and when it came to its end by `time.time`."""
        for key, at in self.presses.feed(data):
            if key in _SHIFTS:
                continue
            if self._overruns != self.presses.overruns:
                self._overruns = self.presses.overruns
                self._forget(over=True)
            elif at - self._typed_at > GAP_SECONDS:
                self._forget()
            self._typed_at = at
            track = self._ended_by(self._character(key))
            if track:
                yield track, at

    def begin(self) -> None:
        """Begin with a device that has just been opened: no key of it is down."""
        self.presses.down.clear()
        self._forget()

    def _forget(self, *, over: bool = False) -> None:
        self._typed = ""
        self._over = over

    def _character(self, key: str) -> str:
        shifted = not _SHIFTS.isdisjoint(self.presses.down)
        return (_SHIFTED if shifted else _CHARACTERS).get(key, _OTHER)

    def _ended_by(self, character: str) -> str | None:
        """The track that this character ends, if it ends one."""
        typed = self._typed
        if character == "\n":
            is_swipe = not self._over and (len(typed) >= SHORTEST or END in typed)
            self._forget()
            return typed if is_swipe else None
        if character == START and not self._over:
            self._typed = START
        elif len(typed) < LONGEST_TYPED:
            self._typed += character
        if character == END and typed.startswith(START) and not self._over:
            track = self._typed
            self._forget(over=True)
            return track
        return None


class InputCardReader(Retried[CardReaderUser]):
    """The driver of a card reader that is an input device: `punto.drivers.base.CardReaderDriver`.

    `path` is best one of /dev/input/by-id, which stays the same wherever the reader is plugged in.
    """

    def __init__(self, path: str) -> None:
        super().__init__(path, "card reader")
        self._reader = SwipeReader(key_names())
        self._swipes = 0
        self._late = 0
        self._connections = 0
        self._name: str | None = None

    def _serial(self) -> str | None:
        return self._name

    def _counters(self) -> Mapping[str, int]:
        return {
            "swipes": self._swipes,
            "late": self._late,
            "overruns": self._reader.presses.overruns,
            "connections": self._connections,
        }

    async def _connection(self, user: CardReaderUser) -> None:
        try:
            device = open_device(self.path)
        except OSError as error:
            raise DeviceLostError(why_not_open(self.path, "card reader", error)) from error
        self._connections += 1
        self._name = device.name
        self._reader.begin()
        try:
            self._connected(user)
            await self._serve(device, user)
        finally:
            device.close()

    async def _serve(self, device: Device, user: CardReaderUser) -> NoReturn:
        """Read and ask until the device is gone. Nothing is read while a swipe is being answered."""
        while True:
            await readable(device.fd, TICK_SECONDS)
            for track, at in self._reader.feed(read(device.fd, self.path, "card reader")):
                if time.time() - at > STALE_SECONDS:
                    self._late += 1
                    _log.info("swipe refused", reason="it came too late")
                    continue
                self._swipes += 1
                answer = await answer_to(track, user)
                if answer.result == "refused":
                    _log.info("swipe refused", reason=answer.text)
