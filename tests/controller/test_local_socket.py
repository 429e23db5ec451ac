"""What one user of the machine can take of a local socket: its places, the service's files, and its time."""

import asyncio
import contextlib
import os
import resource
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

import psutil
import pytest

from punto.controller import local_socket
from punto.controller.local_socket import LIMITS, Limits
from tests.controller.table_in_this_process import eventually
from tests.deadline import DEADLINE

Line = tuple[asyncio.StreamReader, asyncio.StreamWriter]
SOON: Final = 0.3


class Echo:
    """Answers each request with itself."""

    longest = 100

    async def answer(self, line: bytes, user: int) -> bytes:
        return b"%d said %s" % (user, line.rstrip())

    def unreadable(self, reason: str) -> bytes:
        return b"refused: " + reason.encode()


class Flood(Echo):
    """Answers with more than a connection holds."""

    async def answer(self, line: bytes, user: int) -> bytes:
        return bytes(10_000_000)


@contextlib.asynccontextmanager
async def door(path: Path, limits: Limits = LIMITS, answers: Echo | None = None) -> AsyncIterator[Path]:
    opened = local_socket.open_at(path, 0o666)
    serving = asyncio.create_task(local_socket.serve(opened, answers or Echo(), limits))
    try:
        yield path
    finally:
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)


@contextlib.asynccontextmanager
async def silent(path: Path, number: int) -> AsyncIterator[list[Line]]:
    """So many connections that send nothing."""
    opened = [await asyncio.open_unix_connection(path) for _ in range(number)]
    try:
        yield opened
    finally:
        for _, writer in opened:
            writer.transport.abort()


async def asked(path: Path) -> bytes:
    """The answer to a request, or what is sent in place of one."""
    reader, writer = await asyncio.open_unix_connection(path)
    try:
        writer.write(b"hello\n")
        return await asyncio.wait_for(reader.readline(), DEADLINE)
    finally:
        writer.close()


ANSWER: Final = b"%d said hello\n" % os.getuid()


async def test_a_user_with_all_its_connections_open_is_told_so(tmp_path):
    async with door(tmp_path / "door", Limits(3, 30)) as path, silent(path, 3) as opened:
        assert await asked(path) == b"refused: this user has 3 connections here: close one of them\n"
        opened[0][1].write_eof()
        assert await opened[0][0].read() == b""
        assert await asked(path) == ANSWER


async def test_silent_connections_use_up_no_files_of_the_service(tmp_path):
    process = psutil.Process()
    async with door(tmp_path / "door") as path:
        before = process.num_fds()
        async with silent(path, 300):
            await asyncio.sleep(0.1)
            assert process.num_fds() - before - 300 <= local_socket.MOST_CONNECTIONS


@pytest.mark.parametrize("said", [b"", b"hel"], ids=["silent", "half a request"])
async def test_a_connection_that_sends_no_request_in_time_is_ended(tmp_path, said):
    async with door(tmp_path / "door", Limits(3, SOON)) as path, silent(path, 1) as [(reader, writer)]:
        writer.write(said)
        assert await asyncio.wait_for(reader.read(), DEADLINE) == b""


async def test_a_connection_that_reads_no_answer_in_time_is_ended(tmp_path):
    process = psutil.Process()
    async with door(tmp_path / "door", Limits(3, SOON), Flood()) as path:
        before = process.num_fds()
        with socket.socket(socket.AF_UNIX) as visitor:
            visitor.connect(str(path))
            visitor.sendall(b"hello\n")
            await eventually(lambda: process.num_fds() == before + 2, "it is taken")
            await eventually(lambda: process.num_fds() == before + 1, "its file is closed")


AS_NOBODY: Final = """
import os, socket, sys, time
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
opened = []
for _ in range(int(sys.argv[2])):
    opened.append(socket.socket(socket.AF_UNIX))
    opened[-1].connect(sys.argv[1])
print("open", flush=True)
time.sleep(60)
"""


@pytest.mark.skipif(os.getuid() != 0, reason="only root can be somebody else")
@pytest.mark.parametrize("most", [200, 10], ids=["each user's limit", "the limit of all"])
async def test_the_connections_of_one_user_keep_no_other_user_out(tmp_path, monkeypatch, most):
    monkeypatch.setattr(local_socket, "MOST_CONNECTIONS", most)
    path = Path(f"/tmp/punto-{os.getpid()}-{most}.sock")  # noqa: S108 - where others can get at it
    async with door(path, Limits(20, 60)):
        command = [sys.executable, "-c", AS_NOBODY, path, "40"]
        other = await asyncio.create_subprocess_exec(*map(str, command), stdout=subprocess.PIPE)
        try:
            assert other.stdout is not None
            assert await other.stdout.readline() == b"open\n"
            assert [await asked(path) for _ in range(3)] == [ANSWER] * 3
        finally:
            other.kill()
            await other.wait()


async def test_a_lack_of_file_descriptors_is_logged_and_waited_for(tmp_path):
    """One line a second, however many connections wait."""
    reported: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context))
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    async with door(tmp_path / "door") as path:
        with socket.socket(socket.AF_UNIX) as visitor:
            os.close(next_one := os.dup(0))
            resource.setrlimit(resource.RLIMIT_NOFILE, (next_one, hard))
            try:
                visitor.connect(str(path))
                visitor.sendall(b"hello\n")
                await asyncio.sleep(SOON)
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
            visitor.settimeout(10)
            assert await asyncio.to_thread(visitor.recv, 100) == ANSWER
    assert [each["message"] for each in reported] == ["socket.accept() out of system resource"]
