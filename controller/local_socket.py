"""A Unix socket for programs of this machine, protected by its file permissions: a request is one line, and so is its answer.

No user can keep others out, or use up the files of the service: each has a number of connections and a time limit for a request,
and all users together have `MOST_CONNECTIONS`. Beyond these, one of the user with most connections is ended.
"""

import asyncio
import os
import shutil
import socket
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Final, NamedTuple, Protocol

import structlog

from punto.configs.problems import ConfigError, Problem
from punto.web.listener import Listener, user_of

WAITING_AT_THE_DOOR: Final = 100
MOST_CONNECTIONS: Final = (
    200  # with those of the consoles, less than the usual limit of open files for a process
)

_log = structlog.get_logger("punto.controller")


class Answers(Protocol):
    """What a program at a socket answers. Its exceptions end the service."""

    longest: int
    """The most bytes of a request."""

    async def answer(self, line: bytes, user: int) -> bytes:
        """The answer to a request of the operating system's user with this number, without the newline."""

    def unreadable(self, reason: str) -> bytes:
        """The answer to a request that is not a line."""


class Limits(NamedTuple):
    """What a socket allows each user of the operating system: connections at once, and how long one may wait for a line."""

    connections: int
    seconds: float


LIMITS: Final = Limits(connections=100, seconds=30)


def open_at(
    path: Path,
    mode: int,
    group: str | None = None,
    *,
    whose: str = "the operators' socket",
    key: str = "operator",
) -> socket.socket:
    """Make the socket with the permissions `mode` and `group`, else our own group; its file never has wider ones.

    A socket that a dead service left behind is replaced. Errors name `whose` socket it is, and the `key` of the configuration.

    Raises:
        ConfigError: the socket cannot be made, or something else is at this path.
    """
    with ExitStack() as unless_made:
        unbound = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM).detach()
        door = unless_made.enter_context(Listener(fileno=unbound, most=MOST_CONNECTIONS))
        try:
            _make_way(path, whose, key)
            _bind(door, path)
            # In a folder that gives its group to new files, the socket would else have that group.
            shutil.chown(path, group=os.getegid() if group is None else group)
            path.chmod(mode)
            door.listen(WAITING_AT_THE_DOOR)
        except LookupError:
            raise _problem(
                f"there is no group {group!r} on this machine: make this group, or name another", key
            ) from None
        except OSError as error:
            raise _problem(f"{whose} {path} cannot be made: {error.strerror or error}", key) from error
        unless_made.pop_all()
    return door


def _make_way(path: Path, whose: str, key: str) -> None:
    if not path.parent.is_dir():
        raise _problem(
            f"the folder {path.parent} of {whose} does not exist: make it, or correct the path", key
        )
    if not path.exists():
        return
    if not path.is_socket():
        raise _problem(f"{path} exists and is not a socket: give another path, or remove this file", key)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.setblocking(False)
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink()
            return
        except BlockingIOError:
            pass  # a service listens, and its queue is full
    raise _problem(f"another service listens at {path}: stop that service, or give another path", key)


def _bind(door: socket.socket, path: Path) -> None:
    before = os.umask(0o177)
    try:
        door.bind(str(path))
    finally:
        os.umask(before)


def _problem(message: str, key: str) -> ConfigError:
    return ConfigError([Problem(message, key=key)])


async def serve(door: socket.socket, answers: Answers, limits: Limits = LIMITS) -> None:
    """Serve a socket of `open_at` until cancelled. Exceptions of `answers` propagate. A connection beyond the limits is refused."""
    path = Path(door.getsockname())
    failure: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    visits: set[asyncio.Task[None]] = set()
    connections: Counter[int] = Counter()

    async def visit(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, user: int) -> None:
        try:
            await _attend(reader, writer, answers, user, limits.seconds)
        except (ConnectionError, TimeoutError) as error:
            reason = str(error) or f"no request came, or no answer was read, for {limits.seconds:g} s"
            _log.info("local connection ended", reason=reason)
            writer.transport.abort()  # a close would wait until the rest of an answer is read
        except Exception as error:  # noqa: BLE001 - it must end the service, not only this connection
            if not failure.done():
                failure.set_exception(error)

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        user = user_of(writer.get_extra_info("socket"))
        if failure.done():  # `serve` has ended since the client connected
            writer.close()
            return
        if connections[user] >= limits.connections:
            reason = f"this user has {limits.connections} connections here: close one of them"
            writer.write(answers.unreadable(reason) + b"\n")
            writer.close()
            return
        connections[user] += 1
        this = asyncio.create_task(visit(reader, writer, user))
        visits.add(this)

        def ended(this: asyncio.Task[None]) -> None:
            # Also for a task that is cancelled before it has begun; otherwise its client would wait for ever.
            visits.discard(this)
            connections[user] -= 1
            writer.close()

        this.add_done_callback(ended)

    server = await asyncio.start_unix_server(accept, sock=door, limit=answers.longest)
    try:
        await failure
    finally:
        # Connected clients do not delay the end; a request that is being carried out is finished.
        failure.cancel()
        asyncio.get_running_loop().remove_reader(door)
        # A client that was just accepted gets its task first: `close` would lose the connection, and it would wait for ever.
        await asyncio.sleep(0)
        server.close()
        for each in visits:
            each.cancel()
        await asyncio.gather(*visits, return_exceptions=True)
        path.unlink(missing_ok=True)


async def _attend(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, answers: Answers, user: int, seconds: float
) -> None:
    async def send(answer: bytes) -> None:
        writer.write(answer + b"\n")
        async with asyncio.timeout(seconds):
            await writer.drain()

    while True:
        try:
            async with asyncio.timeout(seconds):
                line = await reader.readline()
        except ValueError:
            await send(answers.unreadable(f"the request is longer than {answers.longest} bytes"))
            return
        if not line:
            return
        if not line.endswith(b"\n"):  # it may be incomplete
            await send(answers.unreadable("the request does not end with a newline"))
            return
        await send(await answers.answer(line, user))
