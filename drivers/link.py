"""The host's end of a serial link, as far as it is the same for every device: pure, with the times passed in.

A device is lost when it has given no sign of life for a while. The reason comes from what the line has brought since the
device was last there: nothing, noise, frames of another version, frames of another device, or its own.

One link lives as long as its driver, over many connections. Times are seconds of any clock that does not go back.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Generic, Protocol

from punto.drivers.frame import HIGHEST
from punto.drivers.framing import VERSION, AnyFrame, Counters, Decoder

SILENCE_SECONDS: Final = 0.8  # with the time to notice, a loss is seen within one second


class Introduced(Protocol):
    """What a device said of itself."""

    @property
    def serial(self) -> str:
        """What it calls itself."""


@dataclass(slots=True)
class LinkCounters(Counters):
    """What a link has seen since it was made, besides what its decoder counts."""

    silences: int = 0


class Link(Generic[AnyFrame]):
    """The link of one device, named as in the log and in the reasons ("keypad"); `types` reads the device's frames.

    `here` is what the device said of itself, None while it is not heard.
    """

    def __init__(
        self, device: str, types: Mapping[int, Callable[[int, bytes], AnyFrame]], counters: LinkCounters
    ) -> None:
        self.device = device
        self.counters = counters
        self.here: Introduced | None = None
        self._types = types
        self._decoder = Decoder(types, counters)
        self._token = 1  # a number that the device must say again, from 1 to 2**32-1
        self._heard_at = 0.0
        self._silent = False
        self._miss()

    def connect(self, now: float, token: int) -> None:
        """Begin a connection; `token` is a number from 1 to 2**32-1 that no connection shortly before had.

        What the line still holds of an earlier time does not know it, and is not taken.
        """
        self._decoder = Decoder(self._types, self.counters)
        self._token = token
        self._lose()
        self._heard_at = now
        self._silent = False
        self._miss()

    def silence(self, now: float) -> str | None:
        """Give the reason if the device must be called lost now; once, until it is heard again.

        Call it some ten times a second, after all that is readable has been received.
        """
        if self._silent or now - self._heard_at < SILENCE_SECONDS:
            return None
        reason = self._why_silent()
        self._silent = True
        self.counters.silences += 1
        self._token = self._token % HIGHEST + 1
        self._lose()
        self._miss()
        return reason

    def silent_seconds(self, now: float) -> float:
        """How long the device has not been heard, once it has been called lost; else 0."""
        return now - self._heard_at if self._silent else 0.0

    def _heard(self, now: float) -> None:
        """Take note of a sign of life."""
        self._heard_at = now
        self._silent = False
        self._known = True

    def _lose(self) -> None:
        """Forget what holds only while the device is heard."""
        self.here = None

    def _miss(self) -> None:
        self._known = False  # the device has been heard since it was last missed
        self._seen_before = self._seen()

    def _why_silent(self) -> str:
        device, counted = self.device, self.counters
        frames, versions, unknown, broken = (
            now - before for now, before in zip(self._seen(), self._seen_before, strict=True)
        )
        if self._known or frames:
            return f"no sign of life for {SILENCE_SECONDS} s: check the {device}'s power and its cable"
        if versions:
            return (
                f"the {device} speaks version {counted.version_seen} of the link and this host version {VERSION}: "
                "update the older"
            )
        if unknown:
            return (
                "another device is at this port, or the line gives back what the host sends: check the plug"
            )
        if broken:
            return f"there are bytes but no frames: check the baud rate, and that this is the {device}'s port"
        return f"the port is open but the {device} says nothing: check its power and its cable"

    def _seen(self) -> tuple[int, int, int, int]:
        counted = self.counters
        return counted.frames, counted.other_version, counted.unknown_type, counted.broken
