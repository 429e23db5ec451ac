"""The part of the host's end of a serial link that is the same for every device: pure, with the times passed in.

A device is lost when it has sent no sign of life for a while. The reason depends on what has arrived since it was last
connected: nothing, noise, frames of another version, frames of another device, or its own frames.

One link lives as long as its driver, over many connections. Times are seconds of any clock that does not go back.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Generic, Protocol

from punto.drivers.frame import HIGHEST, AnyFrame
from punto.drivers.framing import VERSION, Counters, Decoder

SILENCE_SECONDS: Final = 0.8  # with the time to notice it, a loss is detected within one second


class Introduced(Protocol):
    """A device's introduction of itself."""

    @property
    def serial(self) -> str:
        """Its serial number."""


@dataclass(slots=True)
class LinkCounters(Counters):
    """The counts of a link since it was made, with those of its decoder."""

    silences: int = 0


class Link(Generic[AnyFrame]):
    """The link of one device. `device` is its name in the log and in the reasons ("keypad"); `types` reads its frames.

    `here` is the device's introduction, None while it is not connected.
    """

    def __init__(
        self, device: str, types: Mapping[int, Callable[[int, bytes], AnyFrame]], counters: LinkCounters
    ) -> None:
        self.device = device
        self.counters = counters
        self.here: Introduced | None = None
        self._types = types
        self._decoder = Decoder(types, counters)
        self._token = 1  # a number from 1 to 2**32-1 that the device must repeat
        self._heard_at = 0.0
        self._silent = False
        self._begin_diagnosis()

    def connect(self, now: float, token: int) -> None:
        """Begin a connection; `token` is a number from 1 to 2**32-1 that no recent connection had.

        Frames that the line still holds from an earlier connection have another token, and are discarded.
        """
        self._decoder = Decoder(self._types, self.counters)
        self._token = token
        self.disconnect()
        self._heard_at = now
        self._silent = False
        self._begin_diagnosis()

    def silence(self, now: float) -> str | None:
        """The reason for the loss if the device counts as lost from now on; else None.

        Call it about ten times a second, when everything readable has been received.
        """
        if self._silent or now - self._heard_at < SILENCE_SECONDS:
            return None
        reason = self._why_silent()
        self._silent = True
        self.counters.silences += 1
        self._token = self._token % HIGHEST + 1
        self.disconnect()
        self._begin_diagnosis()
        return reason

    def silent_seconds(self, now: float) -> float:
        """Seconds since the last sign of life of a lost device; else 0."""
        return now - self._heard_at if self._silent else 0.0

    def _heard(self, now: float) -> None:
        """Record a sign of life."""
        self._heard_at = now
        self._silent = False
        self._known = True

    def disconnect(self) -> None:
        """End the connection: the device counts as lost until it sends a sign of life again."""
        self.here = None

    def _begin_diagnosis(self) -> None:
        self._known = False  # a sign of life has arrived since then
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
                f"the {device} uses version {counted.version_seen} of the link and this host version {VERSION}: "
                "update the older one"
            )
        if unknown:
            return "another device is at this port, or the line returns what the host sends: check the plug"
        if broken:
            return f"bytes arrive but no frames: check the baud rate, and that this is the {device}'s port"
        return f"the port is open but the {device} sends nothing: check its power and its cable"

    def _seen(self) -> tuple[int, int, int, int]:
        counted = self.counters
        return counted.frames, counted.other_version, counted.unknown_type, counted.broken
