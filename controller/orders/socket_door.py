"""The local door: a Unix socket, protected by its file permissions.

A request is one line of JSON, and so is its answer. If the table has accounts, each order is signed with the name and
password of an account; the record has that account, and as the source the operating system's user at the other end, as
reported by the kernel. If the table has no accounts, that user may give a dealer's orders.
"""

import asyncio
import os
import shutil
import socket
import struct
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import structlog

from punto.configs.problems import ConfigError, Problem
from punto.controller.accounts.file import system_user
from punto.controller.accounts.roles import Role
from punto.controller.orders.desk import Answer, Desk, Peer
from punto.controller.orders.requests import UnreadableError

LONGEST_REQUEST: Final = 16384
WAITING_AT_THE_DOOR: Final = 100
_PEER: Final = struct.Struct("3i")  # struct ucred: process, user and group

_log = structlog.get_logger("punto.consoles")


def open_at(path: Path, mode: int, group: str | None = None) -> socket.socket:
    """Make the socket with the permissions `mode` and `group`; its file never has wider ones.

    A socket that a dead service left behind is replaced.

    Raises:
        ConfigError: the socket cannot be made, or something else is at this path.
    """
    with ExitStack() as unless_made:
        door = unless_made.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
        try:
            _make_way(path)
            _bind(door, path)
            if group is not None:
                shutil.chown(path, group=group)
            path.chmod(mode)
            door.listen(WAITING_AT_THE_DOOR)
        except LookupError:
            raise _problem(
                f"there is no group {group!r} on this machine: make this group, or name another"
            ) from None
        except OSError as error:
            raise _problem(
                f"the operators' socket {path} cannot be made: {error.strerror or error}"
            ) from error
        unless_made.pop_all()
    return door


def _make_way(path: Path) -> None:
    if not path.parent.is_dir():
        raise _problem(
            f"the folder {path.parent} of the operators' socket does not exist: make it, or correct the path"
        )
    if not path.exists():
        return
    if not path.is_socket():
        raise _problem(f"{path} exists and is not a socket: give another path, or remove this file")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.setblocking(False)
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink()
            return
        except BlockingIOError:
            pass  # a service listens, and its queue is full
    raise _problem(f"another service listens at {path}: stop that service, or give another path")


def _bind(door: socket.socket, path: Path) -> None:
    before = os.umask(0o177)
    try:
        door.bind(str(path))
    finally:
        os.umask(before)


def _problem(message: str) -> ConfigError:
    return ConfigError([Problem(message, key="operator")])


async def serve(door: socket.socket, desk: Desk) -> None:
    """Serve a socket of `open_at` until cancelled. Exceptions of the engine propagate.

    Raises:
        RecordError: an order could not be recorded.
    """
    path = Path(door.getsockname())
    failure: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    visits: set[asyncio.Task[None]] = set()

    async def visit(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await _attend(reader, writer, desk)
        except (ConnectionError, TimeoutError) as error:
            _log.info("operator's connection ended", reason=str(error))
        except Exception as error:  # noqa: BLE001 - it must end the service, not only this connection
            if not failure.done():
                failure.set_exception(error)

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if failure.done():  # `serve` has ended since the client connected
            writer.close()
            return
        this = asyncio.create_task(visit(reader, writer))
        visits.add(this)
        this.add_done_callback(visits.discard)
        # Also for a task that is cancelled before it has begun; otherwise its client would wait for ever.
        this.add_done_callback(lambda _: writer.close())

    server = await asyncio.start_unix_server(accept, sock=door, limit=LONGEST_REQUEST)
    try:
        await failure
    finally:
        # Connected clients do not delay the end; an order that is being committed is still carried out.
        failure.cancel()
        asyncio.get_running_loop().remove_reader(door)
        # A client that was just accepted gets its task first: `close` would lose the connection, and it would wait for ever.
        await asyncio.sleep(0)
        server.close()
        for each in visits:
            each.cancel()
        await asyncio.gather(*visits, return_exceptions=True)
        path.unlink(missing_ok=True)


async def _attend(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, desk: Desk) -> None:
    # At a table with accounts the user has no roles: a signature gives an order its roles.
    roles = (Role.DEALER,) if desk.accounts is None else ()
    peer = Peer(_user(writer.get_extra_info("socket")), roles)
    while True:
        try:
            line = await reader.readline()
        except ValueError:
            too_long = UnreadableError(f"the request is longer than {LONGEST_REQUEST} bytes")
            await _send(writer, desk.refused(too_long))
            return
        if not line:
            return
        if not line.endswith(b"\n"):  # it may be incomplete
            await _send(writer, desk.refused(UnreadableError("the request does not end with a newline")))
            return
        await _send(writer, await desk.ask(line, peer))


async def _send(writer: asyncio.StreamWriter, answer: Answer) -> None:
    writer.write(answer.model_dump_json(by_alias=True).encode() + b"\n")
    await writer.drain()


def _user(connection: socket.socket) -> str:
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size)
    _, user, _ = _PEER.unpack(credentials)
    return system_user(user)
