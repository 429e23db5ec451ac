"""A signer's key that is sealed in a TPM: simulated by swtpm, in the environment that `make soak` makes."""

import asyncio
import os
import shutil
import subprocess
import sys
from base64 import b64decode, b64encode
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest

from punto.controller.journal.entries import Entry, Recorded
from punto.controller.signing.head_signer import ask
from punto.controller.signing.heads import SignedHead
from punto.controller.signing.keys import KeyFileError, SigningKey
from punto.controller.signing.signer import HeadRequest
from punto.controller.signing.tpm import SEALED
from punto.messages.building import timestamp
from tests.command import punto
from tests.controller.table_on_a_machine import HERE, Program, wait_until
from tests.ports import free_port, free_ports, takes_connections
from tools.supply_chain import locked

PACKAGES = next((HERE / ".venv-tpm").glob("lib/python3*/site-packages/tpm2_pytss"), HERE / "missing").parent
SEED = "import sys; from pathlib import Path; from punto.controller.signing.keys import SigningKey as S; "
SEED += "print(S.open(Path(sys.argv[1]), sys.argv[2])._key.private_bytes_raw().hex())"
needs_a_tpm = pytest.mark.skipif(
    not PACKAGES.is_dir() or shutil.which("swtpm") is None,
    reason="there is no environment with tpm2-pytss, or no swtpm: run `make .venv-tpm/.ready`",
)


def with_packages() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": f"{HERE}{os.pathsep}{PACKAGES}"}


def run(*command: str | Path) -> "subprocess.CompletedProcess[str]":
    """A Python program in the environment with tpm2-pytss."""
    return subprocess.run(
        [sys.executable, *command], env=with_packages(), capture_output=True, text=True, check=False
    )


def signer(key: Path, tpm: str) -> list[str | Path]:
    signed, door = key.with_name("signed.db"), key.with_name("signer.sock")
    own = f"t={os.getuid()}"
    files = ("--key", key, "--tpm", tpm, "--signed", signed, "--socket", door)
    return ["-m", "punto", "signer", *files, "--table", own]


@contextmanager
def simulated_tpm(state: Path) -> Iterator[str]:
    """A TPM with this state, as tpm2-pytss names it."""
    state.mkdir(exist_ok=True)
    port = free_ports(2)  # the second is where a TPM is switched on and off
    ports = ("--server", f"type=tcp,port={port},disconnect", "--ctrl", f"type=tcp,port={port + 1}")
    begun = ("--flags", "not-need-init,startup-clear", "--tpmstate", f"dir={state}")
    with Program(state / "swtpm.log", "swtpm", "socket", "--tpm2", *ports, *begun):
        wait_until(lambda: takes_connections(port, port + 1), "the TPM is there")
        yield f"swtpm:port={port}"


@pytest.fixture
def tpm(tmp_path) -> Iterator[str]:
    with simulated_tpm(tmp_path / "tpm") as tpm:
        yield tpm


# --- without a TPM


def test_a_signer_without_the_package_says_what_to_install(tmp_path):
    ran = punto(*map(str, signer(tmp_path / "key", "device:/dev/tpmrm0")[2:]))

    assert ran.returncode == 1
    assert "the package tpm2-pytss is not installed: install it as docs/how-to/" in ran.stderr
    assert not (tmp_path / "key").exists()


def test_a_sealed_key_is_not_read_without_its_tpm_and_a_key_on_the_disk_not_with_one(tmp_path):
    (tmp_path / "sealed").write_bytes(SEALED + b"QUFB\nQUFB\n")
    SigningKey.open(tmp_path / "plain")

    with pytest.raises(KeyFileError, match="is sealed in a TPM: name the TPM with --tpm"):
        SigningKey.open(tmp_path / "sealed")
    with pytest.raises(KeyFileError, match="is not sealed in a TPM: give another path"):
        SigningKey.open(tmp_path / "plain", "device:/dev/tpmrm0")


def test_what_the_packages_of_a_tpm_share_with_a_table_has_the_same_version():
    table = {each.name: each.version for each in locked((HERE / "locks" / "table.lock").read_text())}
    ours = [
        each
        for name in ("tpm.lock", "tpm-build.lock")
        for each in locked((HERE / "locks" / name).read_text())
    ]

    assert {"cffi", "cryptography"} <= {each.name for each in ours}
    assert [each for each in ours if table.get(each.name, each.version) != each.version] == []


# --- with one


@needs_a_tpm
@pytest.mark.soak
async def test_the_key_is_the_same_after_a_start_of_signer_and_tpm_and_signs_heads(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", with_packages()["PYTHONPATH"])
    keys = set()
    for seq in (1, 2):
        with (
            simulated_tpm(tmp_path / "tpm") as tpm,
            Program(tmp_path / f"{seq}.log", sys.executable, *signer(tmp_path / "key", tpm)) as running,
        ):
            wait_until(running.said, "the signer is there")
            keys.add(running.said()[0].rpartition(" ")[2])
            told = Recorded("2026-11-25T12:00:00Z", "shoe", "a card")
            link = Entry(2, told).chained_to("1" * 64)
            asked = HeadRequest(
                table="t",
                record="a",
                head=f"1:{'1' * 64}" if seq == 1 else f"2:{link}",
                ts=timestamp(datetime.now(UTC)),
                since=1,
                inputs=(told,),
            )
            signed = await ask(tmp_path / "signer.sock", asked)
            assert isinstance(signed, SignedHead), signed
            assert signed.holds()
            keys.add(signed.key)

    assert len(keys) == 1
    assert (tmp_path / "key").stat().st_mode & 0o077 == 0


@needs_a_tpm
@pytest.mark.soak
async def test_neither_the_file_nor_the_bus_has_the_key(tmp_path, tpm):
    async with bus(tpm) as (tapped, crossed):
        made, read = [await asyncio.to_thread(run, "-c", SEED, tmp_path / "key", tapped) for _ in range(2)]
    assert made.stderr == ""
    assert read.stdout == made.stdout
    seed = bytes.fromhex(made.stdout)

    assert len(seed) == 32
    file = (tmp_path / "key").read_bytes()
    parts = [b64decode(line) for line in file.removeprefix(SEALED).split()]
    assert len(crossed) > 1000
    assert [
        where for where in (file, *parts, bytes(crossed)) if seed in where or b64encode(seed) in where
    ] == []


@needs_a_tpm
@pytest.mark.soak
def test_another_tpm_does_not_give_the_key(tmp_path, tpm):
    assert run("-c", SEED, tmp_path / "key", tpm).returncode == 0
    with simulated_tpm(tmp_path / "another") as another:
        ran = run(*signer(tmp_path / "key", another))

    assert ran.returncode == 1
    assert f"the key {tmp_path / 'key'} cannot be read or made: the TPM {another} refuses: " in ran.stderr


@needs_a_tpm
@pytest.mark.soak
def test_a_file_that_was_changed_gives_no_key_and_no_tpm_is_an_error(tmp_path, tpm):
    assert run("-c", SEED, tmp_path / "key", tpm).returncode == 0
    content = (tmp_path / "key").read_bytes()
    changed = [content[: len(SEALED)], content[:-20]]
    lines = content.splitlines(keepends=True)
    for number in (1, 2):
        blob = bytearray(b64decode(lines[number]))
        for at in (2, len(blob) // 2, len(blob) - 1):
            other = bytearray(blob)
            other[at] ^= 1
            changed.append(b"".join([*lines[:number], b64encode(other) + b"\n", *lines[number + 1 :]]))
    for each in changed:
        (tmp_path / "key").write_bytes(each)
        ran = run(*signer(tmp_path / "key", tpm))

        assert ran.returncode == 1, each
        assert f"punto signer: {tmp_path / 'key'}" in ran.stderr.replace("the key ", "")
    ran = run(*signer(tmp_path / "key", f"swtpm:port={free_port()}"))
    assert (ran.returncode, "Traceback" in ran.stderr) == (1, False)


@asynccontextmanager
async def bus(tpm: str) -> AsyncIterator[tuple[str, bytearray]]:
    """Another address of a TPM, and all bytes that cross there both ways."""
    crossed = bytearray()
    behind, first = int(tpm.rpartition("=")[2]), free_ports(2)
    async with AsyncExitStack() as servers:
        for number in (0, 1):
            tapped = partial(tap, port=behind + number, crossed=crossed)
            await servers.enter_async_context(await asyncio.start_server(tapped, "127.0.0.1", first + number))
        yield f"swtpm:port={first}", crossed


async def tap(near: asyncio.StreamReader, back: asyncio.StreamWriter, port: int, crossed: bytearray) -> None:
    far, on = await asyncio.open_connection("127.0.0.1", port)
    await asyncio.gather(copied(near, on, crossed), copied(far, back, crossed))


async def copied(source: asyncio.StreamReader, to: asyncio.StreamWriter, crossed: bytearray) -> None:
    while content := await source.read(65536):
        crossed += content
        to.write(content)
        await to.drain()
    to.close()
