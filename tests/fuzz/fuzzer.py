"""Fuzzing with coverage: inputs that reach new lines of the program are kept, and changed further.

Atheris was rejected: its package is compiled for x86-64 alone, takes 134 MB on the disk, and ends its process at the first fault.

A target takes any bytes. It must not raise, must take less than `SECONDS` of the processor, and must not take `BYTES` of memory; what the program may raise by
its documents, the target itself catches. Inputs are plain files, so a corpus can be read: a game file, a message, a record.
"""

import hashlib
import re
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from math import inf
from pathlib import Path
from random import Random
from types import CodeType, FrameType
from typing import Any, Final

from tests.controller.table_in_this_process import HERE

CORPUS: Final = Path(__file__).with_name("corpus")
SECONDS: Final = 5.0
BYTES: Final = 1 << 29
_WORD: Final = re.compile(rb"[A-Za-z0-9_.-]{2,}|[^\sA-Za-z0-9]")
_INTERESTING: Final = (
    *(b"", b"\0", b"\xff", b"\n", b'"', b"\\", b"-1", b"0", b"1e999", b"NaN", b"Infinity", b"null", b"true"),
    *(
        b"9" * 20,
        b"9" * 5000,
        b"[" * 2000,
        b'{"a":' * 500,
        b"\xed\xa0\x80",
        b"\xef\xbb\xbf",
        "٣é\u202e".encode(),
        b"\\ud800",
    ),
)


@dataclass(frozen=True)
class Target:
    """What is fuzzed: it takes bytes.

    `seeds` gives inputs that are valid, and `longest` bounds the others, in bytes. `libraries` are packages whose lines count besides
    those of the program.
    """

    run: Callable[[bytes], None]
    seeds: Callable[[], Sequence[bytes]]
    longest: int = 8192
    libraries: tuple[str, ...] = ()


@dataclass(slots=True)
class FaultError(Exception):
    """An input that a target must bear and did not."""

    target: str
    data: bytes
    error: BaseException

    def __str__(self) -> str:
        return f"{self.target}: {type(self.error).__name__}: {self.error}"[:2000]


@dataclass(slots=True)
class Fuzzer:
    """Fuzzes one target. `found` are the faults, one for each place and kind of error.

    If it is not `guided`, inputs are changed without coverage, which takes a tenth of the time and finds less.
    """

    name: str
    target: Target
    chance: Random
    guided: bool = True
    executions: int = 0
    inputs: list[bytes] = field(default_factory=list)
    found: dict[str, FaultError] = field(default_factory=dict)
    _lines: set[tuple[CodeType, int]] = field(default_factory=set)
    _words: list[bytes] = field(default_factory=list)

    def begin(self) -> None:
        """Run the corpus and the seeds; these inputs are the first to be changed."""
        seeds = [*corpus_of(self.name).values(), *self.target.seeds()]
        self._words = [*sorted({word for seed in seeds for word in _WORD.findall(seed)}), *_INTERESTING]
        for seed in seeds:
            if self._reaches_more(seed) or not self.inputs or not self.guided:
                self.inputs.append(seed)

    def fuzz(self, *, seconds: float = inf, changes: float = inf) -> list[bytes]:
        """Change inputs for so long or so often, and return those that reached new lines, each cut as short as possible."""
        end, new = time.monotonic() + seconds, []
        while time.monotonic() < end and changes > 0:
            changes -= 1
            data = self._changed(self.chance.choice(self.inputs))
            more = self._reaches_more(data)
            if more:
                data = self._shortened(data, more)
                self.inputs.append(data)
                new.append(data)
        return new

    def _reaches_more(self, data: bytes) -> set[tuple[CodeType, int]]:
        """The new lines that the target reaches with this input."""
        lines: set[tuple[CodeType, int]] = set()
        if not self.guided:
            self._run(data)
            return lines
        with _traced(lines, self.target.libraries):
            self._run(data)
        more = lines - self._lines
        self._lines |= more
        return more

    def _run(self, data: bytes) -> None:
        self.executions += 1
        try:
            run(self.name, self.target, data)
        except FaultError as fault:
            self.found.setdefault(_place_of(fault.error), fault)

    def _shortened(self, data: bytes, lines: set[tuple[CodeType, int]]) -> bytes:
        size = len(data) // 2
        while size:
            at = 0
            while at < len(data):
                shorter, reached = data[:at] + data[at + size :], set[tuple[CodeType, int]]()
                with _traced(reached, self.target.libraries):
                    self._run(shorter)
                if lines <= reached:
                    data = shorter
                else:
                    at += size
                if len(data) > 2048:
                    return data  # it would take too long
            size //= 4
        return data

    def _changed(self, data: bytes) -> bytes:
        changed = bytearray(data)
        for _ in range(self.chance.choice((1, 1, 1, 2, 4, 8))):
            self._change(changed)
        return bytes(changed[: self.target.longest])

    def _change(self, data: bytearray) -> None:
        chance = self.chance
        at = chance.randrange(len(data) + 1)
        to = min(len(data), at + chance.choice((1, 2, 4, 16, 64)))
        match chance.randrange(8):
            case 0 if data:
                data[at % len(data)] ^= 1 << chance.randrange(8)
            case 1:
                data[at:to] = chance.randbytes(to - at)
            case 2:
                del data[at:to]
            case 3:
                data[at:at] = data[at:to] * chance.choice((1, 1, 3, 40))
            case 4:
                data[at:at] = chance.choice(self._words)
            case 5:
                words = list(_WORD.finditer(data))
                if words:
                    word = chance.choice(words)
                    data[word.start() : word.end()] = chance.choice(self._words)
            case 6:
                other = chance.choice(self.inputs)
                start = chance.randrange(len(other) + 1)
                data[at:to] = other[start : start + chance.choice((4, 32, 256))]
            case _:
                lines = data.split(b"\n")
                chance.shuffle(lines) if len(lines) < 4 else lines.insert(
                    chance.randrange(len(lines)), lines.pop(chance.randrange(len(lines)))
                )
                data[:] = b"\n".join(lines)


def run(name: str, target: Target, data: bytes) -> None:
    """Run a target once.

    Raises:
        FaultError: it raised, took too long, or took too much memory.
    """
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        with _limited(SECONDS):
            target.run(data)
    except Exception as error:
        raise FaultError(name, data, error) from error
    taken = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    if taken > BYTES:
        raise FaultError(name, data, MemoryError(f"it took {taken:,} bytes"))


def corpus_of(name: str) -> dict[Path, bytes]:
    """The inputs that are kept for a target."""
    return {path: path.read_bytes() for path in sorted((CORPUS / name).glob("*"))}


def keep(name: str, data: bytes) -> Path:
    """Add an input to the corpus of a target."""
    path = CORPUS / name / hashlib.sha256(data).hexdigest()[:12]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def _place_of(error: BaseException) -> str:
    """The kind of an error and the innermost line of the program that raised it."""
    place, trace = "", error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if _is_of((), code.co_filename):
            place = f"{code.co_filename}:{trace.tb_lineno}"
        trace = trace.tb_next
    return f"{type(error).__name__} at {place}"


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    def ended(*_: object) -> None:
        raise TimeoutError(f"it takes more than {seconds:g} s of the processor")

    before = signal.signal(signal.SIGPROF, ended)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@cache
def _is_of(libraries: tuple[str, ...], path: str) -> bool:
    ours = path.startswith(str(HERE)) and "/tests/" not in path and "/.venv/" not in path
    return ours or any(f"/site-packages/{each}/" in path for each in libraries)


@contextmanager
def _traced(lines: set[tuple[CodeType, int]], libraries: tuple[str, ...]) -> Iterator[None]:
    """Note each line of the program that runs."""

    def line(frame: FrameType, event: str, _: Any) -> Any:
        if event == "line":
            lines.add((frame.f_code, frame.f_lineno))
        return line

    def call(frame: FrameType, _: str, __: Any) -> Any:
        return line if _is_of(libraries, frame.f_code.co_filename) else None

    before = sys.gettrace()
    sys.settrace(call)
    try:
        yield
    finally:
        sys.settrace(before)
