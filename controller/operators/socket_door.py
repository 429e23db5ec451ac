"""The local door: a Unix socket whose file permissions say who may order, and whose peer is who orders.

One line of JSON in, one line of JSON back. The name on the record is that of the operating system's user at the
other end, which the kernel tells; nobody can claim another.
"""

import asyncio
import os
import pwd
import socket
import struct
from pathlib import Path
from typing import Final

import structlog

from controller.operators.desk import Desk

LONGEST_REQUEST: Final = 16384
_PEER: Final = struct.Struct("3i")  # struct ucred: process, user and group

_log = structlog.get_logger("controller.operators")


async def serve(path: Path, mode: int, desk: Desk) -> None:
    """Listen until cancelled; what the engine raises ends everything, as it must.

    Raises:
        RecordError: an order could not be put on the record.
        OSError: the socket cannot be made there.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    failure: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def visit(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await _attend(reader, writer, desk)
        except (ConnectionError, TimeoutError) as error:
            _log.info("operator's connection ended", reason=str(error))
        except Exception as error:  # noqa: BLE001 - whatever it is, it ends the service and not just this visit
            if not failure.done():
                failure.set_exception(error)
        finally:
            writer.close()

    narrow = os.umask(0o777 & ~mode)  # from the first moment, not only after a later chmod
    try:
        server = await asyncio.start_unix_server(visit, path, limit=LONGEST_REQUEST)
    finally:
        os.umask(narrow)
    try:
        async with server:
            await failure
    finally:
        path.unlink(missing_ok=True)


async def _attend(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, desk: Desk) -> None:
    who = _peer(writer.get_extra_info("socket"))
    while True:
        try:
            line = await reader.readline()
        except ValueError:
            writer.write(b'{"accepted":false,"code":"bad_request","reason":"the request is too long"}\n')
            await writer.drain()
            return
        if not line:
            return
        answer = await desk.ask(line, who)
        writer.write(answer.model_dump_json(by_alias=True).encode() + b"\n")
        await writer.drain()


def _peer(connection: socket.socket) -> str:
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size)
    _, user, _ = _PEER.unpack(credentials)
    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return f"uid {user}"
