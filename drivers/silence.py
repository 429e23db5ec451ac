"""When a device on a small link counts as lost, and why: pure, with the times passed in.

It is lost when it has given no sign of life for a while. Why is told from what the line has brought since it was last
there: nothing, noise, another version's frames, another device's, or its own.
"""

from typing import Final

from punto.drivers.framing import VERSION, Counters

SILENCE_SECONDS: Final = 0.8  # with the time to notice, a loss is seen within one second


class Silence:
    """A watch over one device, named as in the reasons ("keypad"), by the counters of its link's decoder."""

    def __init__(self, device: str, counters: Counters) -> None:
        self._device = device
        self._counters = counters
        self._heard_at = 0.0
        self._known = False  # the device has been heard since it was last missed
        self._silent = False
        self._seen_before = self._seen()

    def begin(self, now: float) -> None:
        """Begin a connection: nothing has been heard on it yet."""
        self._heard_at = now
        self._silent = False
        self._miss()

    def heard(self, now: float) -> None:
        """Take note of a sign of life."""
        self._heard_at = now
        self._silent = False
        self._known = True

    def seconds(self, now: float) -> float:
        """How long the device has not been heard, once it has been called lost; else 0."""
        return now - self._heard_at if self._silent else 0.0

    def tick(self, now: float) -> str | None:
        """Give the reason when the device must be called lost now; once, until it is heard again."""
        if self._silent or now - self._heard_at < SILENCE_SECONDS:
            return None
        reason = self._why()
        self._silent = True
        self._miss()
        return reason

    def _why(self) -> str:
        frames, versions, unknown, broken = (
            now - before for now, before in zip(self._seen(), self._seen_before, strict=True)
        )
        if self._known or frames:
            return f"no sign of life for {SILENCE_SECONDS} s: check the {self._device}'s cable"
        if versions:
            theirs = self._counters.version_seen
            return (
                f"the {self._device} speaks version {theirs} of the link and this host version {VERSION}: "
                "update the older"
            )
        if unknown:
            return (
                "another device is at this port, or the line gives back what the host sends: check the plug"
            )
        if broken:
            return f"there are bytes but no frames: check the baud rate, and that this is the {self._device}'s port"
        return f"the port is open but the {self._device} says nothing: check its cable"

    def _miss(self) -> None:
        self._known = False
        self._seen_before = self._seen()

    def _seen(self) -> tuple[int, int, int, int]:
        counted = self._counters
        return counted.frames, counted.other_version, counted.unknown_type, counted.broken
