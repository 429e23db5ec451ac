"""A device server: the serial line at a path, for whoever connects over TCP, and what networks do to such connections."""

import asyncio
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self, cast

import serial
from serial.rfc2217 import PortManager

from punto.drivers.base import BAUD
from punto.drivers.cable import Cable
from punto.drivers.line import PortLostError
from punto.drivers.serial_port import Port


class DeviceServer:
    """Gives each client what the device says, and the device what any client says.

    `delay` is added to what is passed on, in seconds. `pieces` breaks it up into bytes of their own. With `orders`, it speaks RFC 2217 as pyserial's server does, and `set_to` is the speed
    that it was told.
    """

    def __init__(self, path: Path, orders: bool = False) -> None:
        self.delay = 0.0
        self.pieces = False
        self._passes = asyncio.Event()
        self._passes.set()
        self.connections = 0
        self._path = path
        self._setting: Any = serial.serial_for_url("loop://", 9600) if orders else None
        self._clients: dict[asyncio.StreamWriter, PortManager | None] = {}
        self._port: Port | None = None
        self._number = 0

    async def __aenter__(self) -> Self:
        await self._listen()
        self._tasks = {asyncio.create_task(self._from_device())}
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.switch_off()
        for task in self._tasks:
            task.cancel()
        await asyncio.wait(self._tasks)

    @property
    def address(self) -> str:
        return f"{'socket' if self._setting is None else 'rfc2217'}://127.0.0.1:{self._number}"

    @property
    def set_to(self) -> int:
        assert self._setting is not None
        return int(self._setting.baudrate)

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self._number)
        self._number = self._server.sockets[0].getsockname()[1]

    async def switch_off(self) -> None:
        """Nothing listens any more, and every connection ends."""
        self._server.close()
        self.cut()
        await self._server.wait_closed()

    async def switch_on(self) -> None:
        await self._listen()

    def stall(self) -> None:
        """Pass nothing on, and end nothing, as a network that is cut in the middle."""
        self._passes.clear()

    def go_on(self) -> None:
        self._passes.set()

    def cut(self) -> None:
        """End every connection, as a server does that starts again."""
        for client in self._clients:
            client.transport.abort()

    async def _from_device(self) -> None:
        while True:
            with suppress(PortLostError):
                self._port = Port(Cable(str(self._path), BAUD, "device"))
                try:
                    while True:
                        data = await self._port.read(1)
                        if data:
                            await self._pass_on(data)
                finally:
                    port, self._port = self._port, None
                    port.close()
            await asyncio.sleep(0.02)

    async def _pass_on(self, data: bytes) -> None:
        await self._passes.wait()
        await asyncio.sleep(self.delay)
        for client, manager in list(self._clients.items()):
            sent = data if manager is None else b"".join(manager.escape(data))
            for piece in [sent[at : at + 1] for at in range(len(sent))] if self.pieces else [sent]:
                client.write(piece)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        manager = None if self._setting is None else PortManager(self._setting, cast("Any", writer))
        self._clients[writer] = manager
        self._tasks.add(cast("asyncio.Task[None]", asyncio.current_task()))
        try:
            while data := await reader.read(1024):
                await self._passes.wait()
                await asyncio.sleep(self.delay)
                if self._port is not None:
                    self._port.write(data if manager is None else b"".join(manager.filter(data)))
        except (OSError, asyncio.CancelledError):
            pass  # the connection was cut, or the server ends; asyncio would log that a handler was cancelled
        finally:
            del self._clients[writer]
            writer.close()


class Ser2net:
    """Debian's ser2net before the line at a path."""

    def __init__(self, folder: Path, path: Path, port: int, accepter: str) -> None:
        self._configuration = folder / "ser2net.yaml"
        self._configuration.write_text(
            f"connection: &line\n  accepter: {accepter},127.0.0.1,{port}\n"
            f"  connector: serialdev(nouucplock),{path},115200n81,local\n"
        )
        self._log = folder / "ser2net.log"

    async def __aenter__(self) -> None:
        log = self._log.open("w")
        self._process = await asyncio.create_subprocess_exec(
            "ser2net", "-n", "-d", "-c", str(self._configuration), stdout=log, stderr=log
        )
        log.close()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.terminate()
        await self._process.wait()
