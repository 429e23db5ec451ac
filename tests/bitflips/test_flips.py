"""Each flip of one bit of what proves a table's play is found, or changes nothing."""

import asyncio
import shutil
import subprocess
from collections.abc import Hashable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random

import pytest

from punto.baccarat.table.order_kinds import CallSupervisor
from punto.controller.components import own_version
from punto.controller.journal import evidence_verifier, schema, store
from punto.controller.journal.entries import Head
from punto.controller.journal.evidence import gather, write
from punto.controller.signing import manifest
from punto.controller.signing.heads import HeadStatement, SignedHead
from punto.controller.signing.keys import SigningKey
from punto.version import __version__
from tests.bitflips.flips import BY_HEAD, FOUND, OfRecord, Tally, bits_of, flip_each
from tests.controller.journal.records import take_snapshot
from tests.controller.table_in_this_process import TOPIC, table
from tests.controller.table_on_a_machine import HERE
from tests.controller.test_progressive_record import AWARD, settings, to_the_win
from tests.share import part

RECORD = "table.db"
LOG = "table.db-wal"
SAMPLES = 10_000

pytestmark = pytest.mark.timeout(12 * 3600)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A folder with the record of a round, an incident and a snapshot, which was closed."""
    folder = tmp_path_factory.mktemp("small")

    async def play() -> None:
        async with table(folder / RECORD, version=own_version()) as here:
            await here.begin_shoe()
            await here.play(1, seats=[1])
            await here.order(CallSupervisor("mei", "a dispute"))
            await take_snapshot(here)

    asyncio.run(play())
    (folder / f"{RECORD}.lock").unlink()
    return folder


@pytest.fixture
def cut_off(small, tmp_path):
    """The same record as a power cut leaves it: the transactions of a second start are in its log alone.

    The last one is of an input with a row that follows from it, and only a noted head shows the loss of both.
    """
    own, left = tmp_path / "own" / RECORD, tmp_path / "left"
    for each in (own.parent, left):
        each.mkdir()
    shutil.copy(small / RECORD, own)

    async def play() -> None:
        async with table(own, version=own_version()) as here:
            await here.hello()
            await here.order(CallSupervisor("mei", "another dispute"))
            for name in (RECORD, LOG):
                shutil.copy(own.with_name(name), left)

    asyncio.run(play())
    return left


async def _many_rounds(record: Path) -> None:
    async with table(record, version=own_version()) as here:
        await here.begin_shoe()
        await here.play(600, seats=[1, 4])


async def _an_award(record: Path) -> None:
    async with table(record, settings(), version=own_version()) as here:
        await to_the_win(here)
        await here.do(*AWARD)


def read_record(folder: Path, noted: tuple[Head, ...] = ()) -> OfRecord:
    return OfRecord(folder / RECORD, noted)


def proven(tally: Tally) -> None:
    """Print what became of the flips, and state that none was missed."""
    print(tally)
    assert tally.missed == []
    assert tally.counts[FOUND] > 0


def test_of_a_record(small):
    bits = bits_of(small / RECORD, 150)

    proven(flip_each(small, RECORD, bits, read_record))


def test_of_a_log(cut_off):
    """A flip in the log cuts off its end. The last transaction then looks as if the power had been cut before it was complete."""
    with schema.reading(cut_off / RECORD) as connection:
        noted = store.last_head(connection)
    (cut_off / f"{RECORD}-shm").unlink(missing_ok=True)
    tally = flip_each(cut_off, LOG, bits_of(cut_off / LOG, 100), partial(read_record, noted=(noted,)))

    proven(tally)
    assert tally.counts[FOUND] > tally.counts[BY_HEAD] > 0


@pytest.mark.soak
@pytest.mark.parametrize(("name", "play"), [("many rounds", _many_rounds), ("an award", _an_award)])
def test_of_a_large_record(tmp_path, name, play):
    (tmp_path / name).mkdir()
    asyncio.run(play(tmp_path / name / RECORD))
    record = tmp_path / name / RECORD
    bits = sorted(Random(name).sample(range(record.stat().st_size * 8), SAMPLES))

    proven(flip_each(tmp_path / name, RECORD, bits, read_record))


# --- evidence


@dataclass(frozen=True)
class OfBundle:
    """Reads the files of a bundle, and checks it as the program in it does."""

    bundle: Path

    def content(self) -> Hashable:
        return self.bundle.read_bytes()  # no bit is free

    def found(self) -> str | None:
        _, faults = evidence_verifier.checked(self.bundle.read_bytes())
        return FOUND if faults else None


def read_bundle(folder: Path) -> OfBundle:
    return OfBundle(folder / "bundle.zip")


@pytest.fixture(scope="module")
def bundle(small, tmp_path_factory):
    """A bundle with a signed head."""
    folder = tmp_path_factory.mktemp("bundle")
    with schema.reading(small / RECORD) as connection:
        head = store.last_head(connection)
        statement = HeadStatement(
            table=TOPIC.table,
            record=store.name(connection),
            head=str(head),
            ts="2026-11-25T10:00:00.000000+00:00",
        )
    signed = SignedHead.of(statement, SigningKey.open(folder / "key")).model_dump()
    own = tmp_path_factory.mktemp("own")
    write(gather(small / RECORD, 1, [signed], own_version()), own / "bundle.zip")
    return own


def test_of_a_bundle(bundle):
    bits = bits_of(bundle / "bundle.zip", 200)

    proven(flip_each(bundle, "bundle.zip", bits, read_bundle))


def test_of_each_file_of_a_bundle_that_was_packed_again(bundle):
    """Also without the checksums of a ZIP file, as if a person had changed the file and packed the bundle again."""
    files = evidence_verifier.unpacked((bundle / "bundle.zip").read_bytes())
    tally = Tally()
    for name, content in files.items():
        for bit in part(range(len(content) * 8), one_in=50 if name == "manifest.json" else 1000):
            changed = bytearray(content)
            changed[bit // 8] ^= 1 << bit % 8
            _, faults = evidence_verifier.checked(evidence_verifier.packed({**files, name: bytes(changed)}))
            if not faults:
                tally.missed.append(f"{name} byte {bit // 8} bit {bit % 8}")
            tally.add(FOUND if faults else "are missed")

    proven(tally)


# --- the program's manifest


@dataclass(frozen=True)
class OfManifest:
    """Reads a file of a manifest, and checks the installation as systemd does before a start."""

    folder: Path
    name: str

    def content(self) -> Hashable:
        if self.name != manifest.PUBLIC:
            return (self.folder / self.name).read_bytes()
        command: list[str | Path] = [
            "openssl",
            "pkey",
            "-pubin",
            "-in",
            self.folder / self.name,
            "-outform",
            "DER",
        ]
        read = subprocess.run(command, capture_output=True, check=False)
        return read.stdout if read.returncode == 0 else None

    def found(self) -> str | None:
        command: list[str | Path] = [
            "sh",
            HERE / "systemd" / "punto-verify",
            self.folder,
            self.folder / "manifest.pem",
            __version__,
        ]
        ran = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
        assert ran.returncode in {0, 1}, ran
        assert bool(ran.stderr) == bool(ran.returncode), ran
        return FOUND if ran.stderr else None


@pytest.mark.parametrize("name", [manifest.SUM, manifest.SIGNATURE, *manifest.SUMMED, manifest.PUBLIC])
def test_of_a_manifest(tmp_path, name):
    own, folder = tmp_path / "installed", tmp_path / "manifest"
    for each in (own, folder):
        each.mkdir()
    (own / "a.py").write_text("print('a')")
    manifest.write(folder, SigningKey.open(tmp_path / "key"), [own])
    bits = bits_of(folder / name, 20)

    proven(flip_each(folder, name, bits, partial(OfManifest, name=name), in_place=True))
