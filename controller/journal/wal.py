"""The write-ahead log beside a record: whether SQLite left out transactions of it that were complete.

SQLite reads the log up to the first frame whose checksum is wrong, because a power cut can leave the last transaction half written. It
does the same if a bit of an earlier frame changes later: then all transactions from this frame on are missing, without an error. The
record is written with `synchronous = FULL`, so a transaction is written only after the one before is on the disk. A frame that was
written whole, behind the end of a transaction that SQLite leaves out, therefore proves damage. The format is described at
https://www.sqlite.org/fileformat2.html#the_write_ahead_log.
"""

import struct
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

_HEADER: Final = struct.Struct(">8I")
_FRAME: Final = struct.Struct(">6I")
_MAGIC: Final = 0x377F0682
_READ_FRAMES: Final = 16
"""Where the shared memory has the number of the frames that SQLite reads, as a number of this machine."""


class _Frame(NamedTuple):
    ends: bool
    salts: tuple[int, int]
    sums: tuple[int, int]
    start: int


def damage(record: Path) -> str | None:
    """What shows that the log of a record is damaged, None without it. A connection must have read the record, and be open."""
    log = record.with_name(f"{record.name}-wal")
    with suppress(OSError), log.open("rb") as file:
        content = file.read()
        with record.with_name(f"{record.name}-shm").open("rb") as shared:
            number = shared.read(_READ_FRAMES + 4)[_READ_FRAMES:]
        file.seek(0)
        # A service may begin the log again at any moment: then its header has changed.
        if len(number) == 4 and file.read(_HEADER.size) == content[: _HEADER.size]:
            byte = _left_out(content, int.from_bytes(number, "little"))
            if byte is not None:
                return f"{log} is damaged near byte {byte}: the inputs after it cannot be read; keep the file, and restore a backup"
    return None


def _left_out(content: bytes, read: int) -> int | None:
    """The byte at which complete transactions begin that are not among the first frames that were read."""
    if len(content) < _HEADER.size:
        return None
    magic, _, page, *_ = header = _HEADER.unpack_from(content)
    damaged = (magic & ~1) != _MAGIC or _sums("<>"[magic & 1], (0, 0), content[:24]) != header[6:]
    if damaged:
        return 0 if any(content[_HEADER.size :]) else None
    size = _FRAME.size + page
    frames = [_frame(content, start) for start in range(_HEADER.size, len(content) - size + 1, size)][read:]
    ended = False
    for before, frame in pairwise(frames):
        ended = ended or before.ends
        if ended and frame.salts == header[4:6]:
            data = content[frame.start : frame.start + 8] + content[frame.start + 24 : frame.start + size]
            if _sums("<>"[magic & 1], before.sums, data) == frame.sums:
                return frames[0].start
    return None


def _frame(content: bytes, start: int) -> _Frame:
    _, pages, *others = _FRAME.unpack_from(content, start)
    return _Frame(pages > 0, (others[0], others[1]), (others[2], others[3]), start)


def _sums(order: str, sums: tuple[int, int], data: bytes) -> tuple[int, ...]:
    one, other = sums
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    for first, second in zip(words[::2], words[1::2], strict=True):
        one = (one + first + other) & 0xFFFFFFFF
        other = (other + second + one) & 0xFFFFFFFF
    return one, other
