"""What tests of a table at a broker share."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from tests.controller.table_in_this_process import STAKE, Ear, eventually
from tests.ports import free_port

RETAINED = {"availability", "devices/shoe", "info", "health", "state", "scoreboard", "meters"}


async def online(listening: Ear) -> None:
    await listening.last("availability", lambda last: last["state"] == "online")
    await eventually(lambda: listening.names() >= RETAINED, "the whole snapshot")


class Cable:
    """A line to the broker that can be left hanging: neither end learns that nothing arrives any more."""

    def __init__(self, to: int) -> None:
        self.port = free_port()
        self._to = to
        self._server: asyncio.Server | None = None
        self._lines: list[tuple[asyncio.StreamWriter, asyncio.StreamWriter]] = []
        self._dead: set[int] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def laid(self) -> AsyncIterator["Cable"]:
        self._server = await asyncio.start_server(self._line, "127.0.0.1", self.port)
        try:
            yield self
        finally:
            self._server.close()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            for ends in self._lines:
                for end in ends:
                    end.close()

    def hang(self) -> None:
        """From now on nothing arrives over the lines that there are."""
        self._dead = set(range(len(self._lines)))

    @property
    def lines(self) -> int:
        return len(self._lines)

    async def _line(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        from_broker, to_broker = await asyncio.open_connection("127.0.0.1", self._to)
        number = len(self._lines)
        self._lines.append((writer, to_broker))
        for source, sink in ((reader, to_broker), (from_broker, writer)):
            task = asyncio.create_task(self._carry(number, source, sink))
            self._tasks.add(task)

    async def _carry(self, number: int, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while data := await source.read(65536):
                if number not in self._dead:
                    sink.write(data)
            if number not in self._dead:
                sink.close()


def wager(**changes: Any) -> dict[str, Any]:
    return {"id": "w-1", "round": 2, "wager": "player", "amount": STAKE, **changes}


def wager_answers(listening: Ear) -> list[dict[str, Any]]:
    return [
        payload
        for name, payload, _ in listening.heard
        if name.startswith("wagers/") and name.endswith("/result")
    ]
