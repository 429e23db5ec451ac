"""Errors of a disk, and steps of the clock, in a process that runs: what shim.c does, as its owner sees it."""

import mmap
import os
import struct
import subprocess
from enum import IntEnum
from pathlib import Path
from typing import Final
from unittest import mock

from tests import started

SOURCE: Final = Path(__file__).with_name("shim.c")
NAME: Final = "PUNTO_SHIM"
"""The variable of a process that names its `Shim`."""
_KIND, _WAIT, _STRUCK, _SECONDS, _SLOW, _SIZE = 0, 4, 8, 56, 64, 72


class Failing(IntEnum):
    """What fails: the numbers of shim.c."""

    NOTHING = 0
    SYNC_FAILS = 1
    SYNC_FAILS_LATE = 2
    """A sync that fails although all is on the disk."""
    WRITE_FAILS = 3
    WRITE_IS_SHORT = 4
    """Half of the bytes are written."""
    WRITES_ARE_LOST = 5
    """The writes are thrown away, and the next sync fails: what Linux does when a disk does not take its pages."""


class Shim:
    """The switches of one process, in the file `path`; a process that is started again has the same ones."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.write_bytes(bytes(_SIZE))
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), _SIZE)

    def fail(self, kind: Failing, after: int = 0) -> None:
        """Let the calls of this kind fail, after so many that succeed."""
        struct.pack_into("=i", self._map, _WAIT, after)
        struct.pack_into("=i", self._map, _KIND, kind)

    def mend(self) -> None:
        """Let nothing fail."""
        self.fail(Failing.NOTHING)

    @property
    def struck(self) -> int:
        """How many calls have failed so far."""
        return sum(struct.unpack_from("=6q", self._map, _STRUCK))

    def slow(self, seconds: float) -> None:
        """Let each sync wait so long before and after it: a kill then finds commits half done. Nothing fails meanwhile."""
        struct.pack_into("=i", self._map, _SLOW, int(seconds * 1e6))

    def set_clock(self, seconds: int) -> None:
        """Set the wall clock of the process, as the difference to the right time in seconds."""
        struct.pack_into("=q", self._map, _SECONDS, seconds)


def compiled(folder: Path) -> Path:
    """Compile the library with the machine's C compiler."""
    library = folder / "shim.so"
    command: list[str | Path] = [
        "cc",
        "-O1",
        "-Wall",
        "-Werror",
        "-shared",
        "-fPIC",
        "-o",
        library,
        SOURCE,
        "-ldl",
    ]
    subprocess.run(command, check=True)
    return library


def preload(library: Path, mutation: str = "") -> None:
    """Load the library into the process from which each `punto` is forked (tests/started.py), and so into all of them.

    `mutation` is a mistake of tests/simulated/mutations.py, which is then in all of them too.
    """
    changed = {"LD_PRELOAD": str(library)}
    if mutation:
        changed |= {"PUNTO_LOADED_BY": "tests.soak.mutated", "PUNTO_MUTATION": mutation}
    with mock.patch.dict(os.environ, changed):
        started.load()
