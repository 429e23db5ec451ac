"""The part of the host's end of a serial link that is the same for every device: pure, with the times passed in.

A device is lost when it has sent no sign of life for a while. The reason depends on what has arrived since it was last
connected: nothing, noise, frames of another version, frames of another device, or its own frames.

One link lives as long as its driver, over many connections. Times are seconds of any clock that does not go back.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Generic, Protocol

from punto.drivers.frame import HIGHEST, AnyFrame, Frame
from punto.drivers.framing import UNSEALED, Counters, Decoder, Seal, encode
from punto.runtime.bucket import Bucket

_OTHER_VERSION: Final = {
    1: "update the older of the two",
    2: "enrol a key in the device, or write link_version = 1 if the house allows a device without a key",
}
MOST_FRAMES: Final = 300
FRAMES_PER_SECOND: Final = 100
"""More than so many frames at once, or on average, are not a device's: twenty sensors that repeat five times a second send as
many."""
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

    `here` is the device's introduction, None while it is not connected. `seal` is the host's, for a device with a key.
    """

    def __init__(
        self,
        device: str,
        types: Mapping[int, Callable[[int, bytes], AnyFrame]],
        counters: LinkCounters,
        seal: Seal = UNSEALED,
    ) -> None:
        self.device = device
        self._seal = seal
        self.counters = counters
        self.here: Introduced | None = None
        self.unproven = False  # what is at the line does not have the enrolled key
        self._types = types
        self._decoder = Decoder(types, counters, seal)
        self._token = 1  # a number from 1 to 2**32-1 that the device must repeat
        self._heard_at = 0.0
        self._untimely = 0  # the frames that had come late or twice by then
        self._silent = False
        self._torn = False  # a frame was lost without which the device's state is not known
        self._bound = Bucket(MOST_FRAMES, FRAMES_PER_SECOND)
        self._begin_diagnosis()

    def connect(self, now: float, token: int) -> None:
        """Begin a connection; `token` is a number from 1 to 2**32-1 that no recent connection had.

        Frames that the line still holds from an earlier connection have another token, and are discarded.
        """
        self._decoder = Decoder(self._types, self.counters, self._seal)
        self._seal.disconnect()
        self._token = token
        self.disconnect()
        self._heard_at = now
        self._silent = self._torn = False
        self._bound.fill(now)
        self._begin_diagnosis()

    def silence(self, now: float) -> str | None:
        """The reason for the loss if the device counts as lost from now on; else None.

        Call it about ten times a second, when everything readable has been received.
        """
        if self._silent or (now - self._heard_at < SILENCE_SECONDS and not self._torn):
            return None
        reason = self._why_silent()
        self._silent, self._torn = True, False
        self._seal.disconnect()
        self.counters.silences += 1
        self._token = self._token % HIGHEST + 1
        self.disconnect()
        self._begin_diagnosis()
        return reason

    def silent_seconds(self, now: float) -> float:
        """Seconds since the last sign of life of a lost device; else 0."""
        return now - self._heard_at if self._silent else 0.0

    def babbles(self, now: float) -> bool:
        """Whether something at the line sends more than the device can. Then leave the line for a while."""
        return not self._bound.has(0, now)

    def _decode(self, data: bytes, now: float) -> Iterator[AnyFrame]:
        """The frames that these bytes complete, in order. All that arrives counts, however broken."""
        before = sum(self._seen())
        yield from self._decoder.each(data, now)
        self._bound.has(0, now)
        self._bound.take(sum(self._seen()) - before)

    @property
    def ready(self) -> bool:
        """Whether the link's own bytes can be sent."""
        return self._seal.ready

    def handshake(self, now: float) -> bytes:
        """The bytes by which the ends of a sealed line come to know each other.

        Send them after the link's own: from then on the device may not understand what was sealed before.
        """
        return self._seal.handshake(now)

    def _encode(self, frame: Frame) -> bytes:
        return encode(frame, self._seal)

    def _heard(self, now: float) -> None:
        """Record a sign of life: the frame at hand, which was made when it was not held back."""
        self._heard_at = max(self._heard_at, now - self._seal.age)
        self._untimely = self.counters.untimely
        self._silent = self.unproven = False
        self._known = True

    def disconnect(self) -> None:
        """End the connection: the device counts as lost until it sends a sign of life again."""
        self.here = None

    def _begin_diagnosis(self) -> None:
        self._known = False  # a sign of life has arrived since then
        self._seen_before = self._seen()
        self._received_before = self._decoder.received

    def _why_silent(self) -> str:
        device, counted = self.device, self.counters
        frames, versions, unknown, _, unsealed, _ = (
            now - before for now, before in zip(self._seen(), self._seen_before, strict=True)
        )
        untimely = counted.untimely > self._untimely
        if self._known or frames or untimely:
            late = f"frames of the {device} come too late or twice: check what is connected between the {device} and this host"
            silent = f"no sign of life for {SILENCE_SECONDS} s: check the {device}'s power and its cable"
            return late if untimely else silent
        if versions:
            return (
                f"the {device} uses version {counted.version_seen} of the link, but this host uses version "
                f"{self._seal.version}: {_OTHER_VERSION[self._seal.version]}"
            )
        if unsealed:
            self.unproven = True
            return (
                f"the {device} does not have the key of its key_file: check that it is the right device, and enrol the key in it "
                "(docs/how-to/add-a-device.md)"
            )
        if unknown:
            return "another device is at this port, or the line returns what the host sends: check the plug"
        if self._decoder.received > self._received_before:  # also bytes that no delimiter ever ends
            return f"bytes arrive but no frames: check the baud rate, and that this is the {device}'s port"
        return f"the port is open but the {device} sends nothing: check its power and its cable"

    def _seen(self) -> tuple[int, int, int, int, int, int]:
        counted = self.counters
        whole = counted.frames, counted.other_version, counted.unknown_type
        return *whole, counted.broken, counted.not_sealed, counted.untimely
