"""A file that a stranger made takes the verifier neither much memory nor much time."""

import asyncio
import json
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from punto.controller.journal import evidence_verifier as verifier
from punto.controller.journal.evidence import gather
from punto.controller.signing.keys import SigningKey
from tests.controller.journal.bundles import Files, chained, entries_of, forged, heads_of
from tests.controller.table_in_this_process import table
from tests.share import sampled

MOST_KB = 200_000
"""What the verifier may take of the memory: a bundle has up to 32 MB."""
MOST_SECONDS = 60
"""Each of these takes some seconds at most; a machine that does much else may take longer."""
MEASURED = """
import runpy, sys
sys.argv = [*sys.argv[1:]]
try:
    runpy.run_path(sys.argv[0], run_name="__main__")
except SystemExit as end:
    status = end.code
with open("/proc/self/status") as file:
    (peak,) = (line.split()[1] for line in file if line.startswith("VmHWM"))
print(peak, file=sys.stderr)
sys.exit(status)
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    """The files of a bundle in which another round ends after its own, so that it can no longer be corrected."""
    folder = tmp_path_factory.mktemp("true")
    record = folder / "table.db"

    async def play() -> None:
        async with table(record) as here:
            await here.begin_shoe()
            await here.play(6, seats=[1])

    asyncio.run(play())
    return gather(record, 2, heads_of(record, SigningKey.open(folder / "key"))[-1:], "0.1.0")


def measured(bundle: Path) -> tuple[int, str, int]:
    """The status and the output of the verifier, and the most memory that it took, in kB."""
    command = [sys.executable, "-I", "-S", "-c", MEASURED, verifier.__file__, str(bundle), "--without-heads"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=4 * MOST_SECONDS)
    return ran.returncode, ran.stdout, int(ran.stderr)


def _far_apart(files: Files) -> bytes:
    entries = entries_of(files)
    entries[-1]["seq"] = 10_000_000
    return verifier.packed(forged(files, inputs=chained(files, entries)))


def _the_same_bytes_many_times(files: Files) -> bytes:
    """A ZIP file of 118 KB, whose directory names the same megabyte of the file two thousand times."""
    bundle = verifier.packed(files)
    name, size = b"round.json", len(files["round.json"])
    start = bundle.index(b"PK\3\4" + struct.pack("<H", 20))
    of = struct.pack("<5H3I2H", 20, 0, 0, 0, 33, 0, size, size, len(name), 0)
    entry = b"PK\1\2" + struct.pack("<H", 0x314) + of
    entry += struct.pack("<3H2I", 0, 0, 0, 0o600 << 16, start) + name
    directory = entry * 2000
    end = struct.pack("<4H2IH", 0, 0, 2000, 2000, len(directory), len(bundle), 0)
    return bundle + directory + b"PK\5\6" + end


def _many_files(_: Files) -> bytes:
    """As many files as a bundle can have bytes for, each with another name."""
    headers = (
        b"PK\3\4" + struct.pack("<5H3I2H", 20, 0, 0, 0, 33, 0, 0, 0, 6, 0) + b"%06d" % number
        for number in range(verifier.LARGEST // 40)
    )
    return b"".join(headers)


def _file(name: str, content: Callable[[], bytes]) -> Callable[[Files], bytes]:
    """A bundle with this file, whose digest is right; the manifest has no digest but its own."""
    if name == "manifest":
        return lambda files: verifier.packed({**files, "manifest.json": content()})
    return lambda files: verifier.packed(forged(files, **{name: content()}))


def _of_size(piece: bytes, size: int) -> bytes:
    return piece * (size // len(piece))


ROOM = verifier.LARGEST - 2_000_000


def _many_inputs(files: Files) -> bytes:
    """The shortest inputs, whose hashes are a chain."""
    empty = dict.fromkeys(verifier.INPUT, "")
    line = len(verifier.line_of({**empty, "seq": 100_000, "hash": "0" * 64}))
    entries: list[dict[str, Any]] = entries_of(files)
    first = entries[-1]["seq"] + 1
    entries += [{**empty, "seq": first + number} for number in range(ROOM // line)]
    return verifier.packed(forged(files, inputs=chained(files, entries)))


def _large_inputs(files: Files) -> bytes:
    """Inputs of the hand whose rows are as many values as there can be."""
    first, *_ = entries_of(files)
    rows = json.dumps([["x", [[]]]] * 50_000)
    large = [{**first, "seq": first["seq"] + number, "rows": rows} for number in range(1, 30)]
    return verifier.packed(forged(files, inputs=chained(files, [first, *large])))


def _a_long_hand(files: Files) -> bytes:
    """Cards of which no hand is made, with all the values that the verifier keeps."""
    entries: list[dict[str, Any]] = entries_of(files)
    payload = json.dumps({"kind": "card_drawn", "card": "XX", "confidence": 99, "more": [[]] * 50})
    line = {**entries[1], "payload": payload, "outcome": "accepted", "rows": ""}
    first = entries[0]["seq"] + 1
    wagers = [{**line, "seq": first + number} for number in range(verifier.LARGEST_PARSED // 800)]
    return verifier.packed(forged(files, inputs=chained(files, [entries[0], *wagers])))


HOSTILE = {
    "inputs with numbers far apart": _far_apart,
    "the same bytes many times": _the_same_bytes_many_times,
    "many files": _many_files,
    "many inputs": _many_inputs,
    "large inputs": _large_inputs,
    "a long hand": _a_long_hand,
    "a line without an end": _file("inputs", lambda: _of_size(b"[],", ROOM)),
    "empty lines": _file("inputs", lambda: _of_size(b"\n", ROOM)),
    "a large file that is not parsed": _file("shown", lambda: _of_size(b"[],", ROOM)),
    "no bundle": lambda _: _of_size(b"PK\3\4" + bytes(30), verifier.LARGEST),
    "too many bytes": lambda _: bytes(2 * verifier.LARGEST),
}
IN_FILES = {
    f"{what} in {name}": _file(name, content)
    for name in ("before", "round", "heads", "inputs", "manifest")
    for what, content in {
        "lists of lists": lambda: b"[" * 1_000_000,
        "objects of objects": lambda: b'{"":' * 200_000,
        "a number of many digits": lambda: _of_size(b"9", 1_000_000),
        "many values": lambda: b"[" + _of_size(b"[],", ROOM) + b"[]]\n",
        "many values within the bounds": lambda: verifier.written([{}] * (verifier.LARGEST_PARSED // 8)),
    }.items()
}


@pytest.mark.in_part
@pytest.mark.parametrize("what", [*HOSTILE, *sampled(IN_FILES, one_in=3)])
def test_a_hostile_bundle_is_bounded(tmp_path, files, what):
    (tmp_path / "bundle.zip").write_bytes((HOSTILE | IN_FILES)[what](files))
    began = time.monotonic()
    status, output, peak = measured(tmp_path / "bundle.zip")

    assert "MemoryError" not in output
    assert (status, output.splitlines()[-1]) == (
        (0, "nothing is wrong in what is proven here")
        if what in {"many inputs", "a large file that is not parsed"}
        else (1, "something is wrong")
    )
    assert peak < MOST_KB
    assert time.monotonic() - began < MOST_SECONDS
