"""Flips bits of a file, one at a time, and asks after each flip what its reader reads, and what the check finds.

A flip is *found* if a check says that something is wrong. It *changes nothing* if the reader reads exactly what it read before.
All other flips are missed: the content is another one, and no check says so.
"""

import marshal
import os
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, Final, Protocol

from punto.controller.components import own_version
from punto.controller.journal.entries import Head
from punto.controller.journal.recovery import replay
from punto.controller.journal.schema import RecordError
from tests.share import ALL

FOUND: Final = "are found"
BY_HEAD: Final = "are found by a noted head alone"

_PIECES: Final = 64
_MANY: Final = 2000
_SHOWN: Final = 20


class Reader(Protocol):
    """What is done with a folder whose files are whole, but for one bit."""

    def content(self) -> Hashable:
        """All that is read; None if it cannot be read."""

    def found(self) -> str | None:
        """How a person finds out that something is wrong: "are found", and by what; None if no check says so."""


@dataclass(slots=True)
class Tally:
    """What became of the flips; `missed` says where and which."""

    counts: Counter[str] = field(default_factory=Counter)
    missed: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.counts.total():,} flips: " + ", ".join(
            f"{count:,} {what}" for what, count in sorted(self.counts.items())
        )

    def add(self, what: str) -> None:
        self.counts[what] += 1

    def plus(self, other: "Tally") -> None:
        self.counts += other.counts
        self.missed += other.missed


def bits_of(file: Path, sample: int) -> Sequence[int]:
    """Every bit of a file with `make soak`, and a sample of them with `make test`."""
    every = range(file.stat().st_size * 8)
    return every if ALL else sorted(Random(file.name).sample(every, min(sample, len(every))))


def flip_each(
    folder: Path, name: str, bits: Sequence[int], reader: Callable[[Path], Reader], *, in_place: bool = False
) -> Tally:
    """Flip these bits of a file, one after the other, in copies of its folder and on all processors if there are many."""
    if in_place:
        return _flipped_in(folder, name, reader(folder), bits)
    run = partial(_flipped, folder, name, reader)
    if len(bits) < _MANY:
        return run(bits)
    total = Tally()
    pieces = [bits[start::_PIECES] for start in range(_PIECES)]
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("fork")) as processes:
        for tally in processes.map(run, pieces):
            total.plus(tally)
    return total


def _flipped(folder: Path, name: str, reader: Callable[[Path], Reader], bits: Sequence[int]) -> Tally:
    with TemporaryDirectory() as copies:
        copy = Path(copies) / "copy"
        shutil.copytree(folder, copy)
        return _flipped_in(copy, name, reader(copy), bits)


def _flipped_in(folder: Path, name: str, asked: Reader, bits: Sequence[int]) -> Tally:
    tally, known = Tally(), dict[Hashable, str | None]()
    whole, before = (folder / name).read_bytes(), asked.content()
    assert before is not None
    assert asked.found() is None
    file = os.open(folder / name, os.O_RDWR)
    for bit in bits:
        byte = bit // 8
        os.pwrite(file, bytes([whole[byte] ^ 1 << bit % 8]), byte)
        content = asked.content()
        if content == before:
            tally.add("change nothing")
        else:
            # A check is a function of what is read, so it needs to run once for each content.
            found = known[content] if content in known else asked.found()
            if content is not None:
                known[content] = found
            tally.add(found or "are missed")
            if found is None and len(tally.missed) < _SHOWN:
                around = whole[max(0, byte - 16) : byte + 16]
                tally.missed.append(f"{name} byte {byte} bit {bit % 8}, in {around!r}")
        os.pwrite(file, whole[byte : byte + 1], byte)
    os.close(file)
    return tally


# --- a record


@dataclass(frozen=True)
class OfRecord:
    """Reads a record row by row, and checks it as `punto replay` does, without heads and then with those that were `noted`."""

    record: Path
    noted: tuple[Head, ...] = ()

    def content(self) -> Hashable:
        try:
            with closing(sqlite3.connect(f"{self.record.as_uri()}?mode=ro", uri=True)) as database:
                return self._read(database)
        except (sqlite3.Error, UnicodeDecodeError, OverflowError):
            return None

    @staticmethod
    def _read(database: sqlite3.Connection) -> Hashable:
        def rows(query: str) -> list[Any]:
            return database.execute(query).fetchall()

        # A fault of an index, a free page or a header can change what a later reader or writer does.
        if rows("PRAGMA integrity_check(1)") != [("ok",)]:
            return None
        parts = rows("SELECT type, name, tbl_name, sql FROM sqlite_schema")
        tables = [rows(f"SELECT * FROM {name}") for kind, name, *_ in parts if kind == "table"]  # noqa: S608 - ours
        numbers = [rows(f"PRAGMA {name}") for name in ("application_id", "user_version", "encoding")]
        return marshal.dumps((parts, tables, numbers), 2)

    def found(self) -> str | None:
        if self._differs():
            return FOUND
        return BY_HEAD if self.noted and self._differs(*self.noted) else None

    def _differs(self, *noted: Head) -> bool:
        try:
            return replay(self.record, version=own_version(), noted=noted).difference is not None
        except RecordError as error:
            return bool(str(error))
