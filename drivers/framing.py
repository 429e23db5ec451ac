"""Bytes to frames and back: COBS framing and CRC-32, the same on every serial line of Punto.

Pure and bounded in memory. `Decoder.feed` accepts any bytes without raising, keeps at most one frame's length of them,
counts what it discards and finds the next whole frame.

A frame is a version, a type, a sequence number, a payload and the checksum, big-endian. Each device has types of its own,
so that a device on the wrong line is noticed. Each device's `frames` module defines its payloads.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from struct import Struct
from typing import Final, Generic
from zlib import crc32

from cobs import cobs  # type: ignore[import-untyped]

from punto.drivers.frame import AnyFrame, Frame

VERSION: Final = 1  # the first byte of every frame; frames of another version are not read
DELIMITER: Final = b"\0"
LONGEST: Final = 1024  # bytes of a frame before COBS
LONGEST_ENCODED: Final[int] = cobs.max_encoded_length(LONGEST)

_HEADER: Final = Struct(">BBI")  # version, type, sequence number
_CRC: Final = Struct(">I")
_SHORTEST: Final = _HEADER.size + _CRC.size


def encode(frame: Frame) -> bytes:
    """The bytes on the wire, with a delimiter before and after.

    The first delimiter cuts off the noise that the idle line has gathered since the last frame.
    """
    body = _HEADER.pack(VERSION, frame.TYPE, frame.sequence) + frame.payload()
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
    frames: int = 0  # valid frames

    @property
    def broken(self) -> int:
        """The number of frames that arrived and could not be used at all."""
        return self.bad_framing + self.bad_crc + self.oversize + self.malformed


class Decoder(Generic[AnyFrame]):
    """Finds the frames in a stream of bytes, however it is cut into pieces.

    `types` maps a type's number to a function that reads its frames from sequence number and payload; it raises ValueError
    if they are invalid.
    """

    def __init__(
        self, types: Mapping[int, Callable[[int, bytes], AnyFrame]], counters: Counters | None = None
    ) -> None:
        self._types = types
        self.counters = Counters() if counters is None else counters
        self._run = bytearray()  # the bytes since the last delimiter, never more than LONGEST_ENCODED
        self._skipping = False  # the run grew too long: everything up to the next delimiter is discarded

    def feed(self, data: bytes) -> list[AnyFrame]:
        """Add the next bytes of the stream and return the frames that they complete, in order."""
        frames: list[AnyFrame] = []
        *ended, rest = data.split(DELIMITER)
        for piece in ended:
            self._extend(piece)
            frame = self._end_run()
            if frame is not None:
                frames.append(frame)
        self._extend(rest)
        return frames

    def _extend(self, piece: bytes) -> None:
        if self._skipping:
            return
        if len(self._run) + len(piece) > LONGEST_ENCODED:
            self.counters.oversize += 1
            self._skipping = True
            self._run.clear()
            return
        self._run += piece

    def _end_run(self) -> AnyFrame | None:
        run = bytes(self._run)
        self._run.clear()
        self._skipping = False
        return self._frame(run) if run else None

    def _frame(self, run: bytes) -> AnyFrame | None:
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
        return self._known(body)

    def _known(self, body: bytes) -> AnyFrame | None:
        version, number, sequence = _HEADER.unpack_from(body)
        if version != VERSION:
            self.counters.other_version += 1
            self.counters.version_seen = version
            return None
        if number not in self._types:
            self.counters.unknown_type += 1
            return None
        try:
            frame = self._types[number](sequence, body[_HEADER.size :])
        except ValueError:
            self.counters.malformed += 1
            return None
        self.counters.frames += 1
        return frame
