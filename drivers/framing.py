"""Bytes to frames and back: COBS framing and CRC-32, the same on every serial line of Punto.

Pure and bounded in memory. `Decoder.feed` accepts any bytes without raising, keeps at most one frame's length of them,
counts what it discards and finds the next whole frame.

A frame is a version, a type, a sequence number, a payload and the checksum, big-endian. Each device has types of its own,
so that a device on the wrong line is noticed. Each device's `frames` module defines its payloads.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import inf
from struct import Struct
from typing import ClassVar, Final, Generic
from zlib import crc32

from cobs import cobs  # type: ignore[import-untyped]

from punto.drivers.frame import AnyFrame, Frame

DELIMITER: Final = b"\0"
LONGEST: Final = 1024  # bytes of a frame before COBS
LONGEST_ENCODED: Final[int] = cobs.max_encoded_length(LONGEST)

HEADER: Final = Struct(">BBI")  # version, type, sequence number
_CRC: Final = Struct(">I")
_SHORTEST: Final = HEADER.size + _CRC.size


class RepeatedError(ValueError):
    """The other end made this frame, but it has been heard already, or a later one has."""


class DelayedError(ValueError):
    """The other end made this frame, but too long ago."""


class Seal:
    """What an end of a line adds to its frames, so that the other end knows who made them: in version 1 nothing.

    A frame's body is everything before its checksum. `version` is the first byte of every frame; frames of another version
    are not read.
    """

    version: ClassVar[int] = 1
    age: float = 0.0
    """For how many seconds the last opened frame can have been held back at most."""
    missing: bool = False
    """Whether a frame of the other end between the last opened frame and the one before was lost."""

    @property
    def ready(self) -> bool:
        """Whether frames can be sent: the ends know each other."""
        return True

    def close(self, body: bytes) -> bytes | None:
        """The body as it is sent; None if nothing can be sent yet."""
        return body

    def open(self, body: bytes, now: float) -> bytes | None:  # noqa: ARG002 - version 2 needs the time
        """The body as it was before `close` at the other end; None if it was for this seal alone.

        Raises:
            RepeatedError: it comes a second time, or after a later one.
            DelayedError: it was held back for too long.
            ValueError: it is not of the other end.
        """
        return body

    def handshake(self, now: float) -> bytes:  # noqa: ARG002 - version 2 needs the time
        """The bytes to send now, so that the ends know each other, and how old a frame is."""
        return b""

    def disconnect(self) -> None:
        """Forget the other end."""


UNSEALED: Final = Seal()


def encode(frame: Frame, seal: Seal = UNSEALED) -> bytes:
    """The bytes on the wire, with a delimiter before and after; none if the seal does not know the other end yet.

    The first delimiter cuts off the noise that the idle line has gathered since the last frame.
    """
    body = seal.close(HEADER.pack(seal.version, frame.TYPE, frame.sequence) + frame.payload())
    return b"" if body is None else on_the_wire(body)


def on_the_wire(body: bytes) -> bytes:
    """A body with its checksum, stuffed, between delimiters."""
    stuffed: bytes = cobs.encode(body + _CRC.pack(crc32(body)))
    return DELIMITER + stuffed + DELIMITER


@dataclass(slots=True)
class Counters:
    """The counts of a decoder since it was made.

    The first four are broken frames: noise, another baud rate or half frames. Frames of unknown types and other versions
    arrived whole, but this program cannot read them.
    """

    bad_framing: int = 0  # not COBS, or too short for a frame
    bad_crc: int = 0  # the checksum is wrong
    oversize: int = 0  # longer than any frame, with or without the delimiter
    malformed: int = 0  # the checksum is right and the content is invalid: a fault of the other end's program
    unknown_type: int = 0
    other_version: int = 0
    version_seen: int = 0  # the last other version, 0 if none
    not_sealed: int = 0  # in version 2: made without the enrolled key, or in an earlier session
    repeated: int = 0  # in version 2: not newer than a frame of this session that was heard before
    delayed: int = 0  # in version 2: held back for too long
    frames: int = 0  # valid frames

    @property
    def broken(self) -> int:
        """The number of frames that arrived and could not be used at all."""
        return self.bad_framing + self.bad_crc + self.oversize + self.malformed

    @property
    def untimely(self) -> int:
        """The number of frames that the other end made and that came too late or twice."""
        return self.repeated + self.delayed


class Decoder(Generic[AnyFrame]):
    """Finds the frames in a stream of bytes, however it is cut into pieces.

    `types` maps a type's number to a function that reads its frames from sequence number and payload; it raises ValueError
    if they are invalid.
    """

    def __init__(
        self,
        types: Mapping[int, Callable[[int, bytes], AnyFrame]],
        counters: Counters | None = None,
        seal: Seal = UNSEALED,
    ) -> None:
        self._types = types
        self._seal = seal
        self.counters = Counters() if counters is None else counters
        self.received = 0  # bytes of the stream so far
        self._run = bytearray()  # the bytes since the last delimiter, never more than LONGEST_ENCODED
        self._skipping = False  # the run grew too long: everything up to the next delimiter is discarded

    def feed(self, data: bytes, now: float = inf) -> list[AnyFrame]:
        """Add the next bytes of the stream and return the frames that they complete, in order.

        Only a host with a key needs the time `now`, in seconds.
        """
        return list(self.each(data, now))

    def each(self, data: bytes, now: float) -> Iterator[AnyFrame]:
        """As `feed`, but the seal's `age` and `missing` are those of the frame that was given last."""
        self.received += len(data)
        *ended, rest = data.split(DELIMITER)
        for piece in ended:
            self._extend(piece)
            frame = self._end_run(now)
            if frame is not None:
                yield frame
        self._extend(rest)

    def _extend(self, piece: bytes) -> None:
        if self._skipping:
            return
        if len(self._run) + len(piece) > LONGEST_ENCODED:
            self.counters.oversize += 1
            self._skipping = True
            self._run.clear()
            return
        self._run += piece

    def _end_run(self, now: float) -> AnyFrame | None:
        run = bytes(self._run)
        self._run.clear()
        self._skipping = False
        return self._frame(run, now) if run else None

    def _frame(self, run: bytes, now: float) -> AnyFrame | None:
        try:
            decoded = cobs.decode(run)
        except cobs.DecodeError:
            self.counters.bad_framing += 1
            return None
        if len(decoded) < _SHORTEST:
            self.counters.bad_framing += 1
            return None
        if len(decoded) > LONGEST:
            self.counters.oversize += 1
            return None
        body = decoded[: -_CRC.size]
        if crc32(body) != _CRC.unpack_from(decoded, len(body))[0]:
            self.counters.bad_crc += 1
            return None
        return self._of_this_seal(body, now)

    def _of_this_seal(self, body: bytes, now: float) -> AnyFrame | None:
        version = body[0]
        if version != self._seal.version:
            self.counters.other_version += 1
            self.counters.version_seen = version
            return None
        try:
            opened = self._seal.open(body, now)
        except RepeatedError:
            self.counters.repeated += 1
            return None
        except DelayedError:
            self.counters.delayed += 1
            return None
        except ValueError:
            self.counters.not_sealed += 1
            return None
        return None if opened is None else self._known(opened)

    def _known(self, body: bytes) -> AnyFrame | None:
        _, number, sequence = HEADER.unpack_from(body)
        if number not in self._types:
            self.counters.unknown_type += 1
            return None
        try:
            frame = self._types[number](sequence, body[HEADER.size :])
        except ValueError:
            self.counters.malformed += 1
            return None
        self.counters.frames += 1
        return frame
