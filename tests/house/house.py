"""A Game Manager of a house in a process of its own, and tables that tell their rounds over a real broker."""

import asyncio
import json
import sys
from collections.abc import Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from random import Random
from typing import Any
from urllib.request import urlopen

from sqlalchemy import create_engine, inspect, select

from punto.house import schema
from punto.messages.models import Message
from punto.messages.requests import IncidentsRequest, RoundsRequest
from punto.messages.topics import HEALTH, ROUND, Topics, response
from punto.runtime.backoff import Backoff
from punto.runtime.broker_link import Connection, Link, Sender
from punto.runtime.broker_login import BrokerConfig
from tests.controller.table_on_a_machine import Program
from tests.deadline import DEADLINE
from tests.house.told import Told
from tests.ports import free_port


class GameManager(Program):
    """`punto game-manager` with its pages at `port`."""

    def __init__(
        self,
        folder: Path,
        broker: int,
        store: str,
        name: str = "game-manager",
        login: str = "",
        more: str = "",
    ) -> None:
        self.port = free_port()
        self.config = config = folder / f"{name}.toml"
        where = f"address = {json.dumps(store)}" if "://" in store else f"path = {json.dumps(store)}"
        config.write_text(
            f"version = 1\n[mqtt]\nport = {broker}\n{login}\n[store]\n{where}\n[pages]\nport = {self.port}\n{more}"
        )
        super().__init__(
            folder / f"{name}.log", sys.executable, "-m", "punto", "game-manager", "--config", config
        )

    @property
    def opened(self) -> bool:
        """Whether it has pages."""
        return any(line.startswith("Game Manager on") for line in self.said())

    def asked(self, path: str) -> Any:
        """What it answers at this address."""
        with urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=DEADLINE) as answer:
            return json.load(answer)


class Tables:
    """Tables that play on whether or not the broker is there, and answer requests for their rounds."""

    def __init__(self, names: list[str], broker: int, seed: int = 0, **login: Any) -> None:
        self.tables = {name: Told(f"record of {name}") for name in names}
        self.playing = True
        self._dice = Random(seed)
        self._link = Link(BrokerConfig(port=broker, **login), Backoff(0.05, 0.1))

    @asynccontextmanager
    async def running(self) -> Any:
        """While these run."""
        self._sender: Sender | None = None
        tasks = [asyncio.create_task(self._link.run(self._talk)), asyncio.create_task(self._play())]
        try:
            yield self
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    async def _play(self) -> None:
        while True:
            name = self._dice.choice([*self.tables])
            if self.playing:
                self._tell(name, ROUND, self.tables[name].play(self._dice))
            if self._dice.random() < 0.01 or not self.playing:
                self._tell(name, HEALTH, self.tables[name].health())
            await asyncio.sleep(0.002 if self.playing else 0.2)

    def _tell(self, table: str, name: str, message: Message) -> None:
        if self._sender is not None:
            self._sender.send(Topics("punto", table)(name), message.wire())

    async def _talk(self, connection: Connection) -> None:
        await connection.subscribe(["punto/+/request/+/by/+"])
        self._sender = Sender(connection)
        try:
            async for message in connection.messages():
                _, table, _, verb, *_ = message.topic.split("/")
                if table not in self.tables:
                    continue
                kind = RoundsRequest if verb == "rounds" else IncidentsRequest
                answer = self.tables[table].answer(kind.model_validate_json(message.payload))
                self._tell(table, response(verb), answer)
        finally:
            self._sender = None

    def incidents(self) -> list[tuple[str, int]]:
        """All incidents: table, input."""
        return sorted(
            (name, each.seq)
            for name, table in self.tables.items()
            for each in table.incidents(0, table.inputs)
        )

    def rounds(self) -> list[tuple[str, int, str]]:
        """All rounds that were played: table, number, Player's cards."""
        return sorted(
            (name, number, " ".join(map(str, table.tell(number).round.player)))
            for name, table in self.tables.items()
            for number in range(1, len(table.rounds) + 1)
        )


@contextmanager
def reading(url: str) -> Iterator[Any]:
    """A connection to a store, as an analyst has it."""
    engine = create_engine(url)
    try:
        with engine.connect() as connection:
            yield connection
    finally:
        engine.dispose()


def is_made(url: str) -> bool:
    """Whether a Game Manager has made the store: one that is killed as it starts has not."""
    with reading(url) as connection:
        return bool(inspect(connection).has_table(schema.ROUNDS.name))


def stored(url: str) -> list[tuple[str, int, str]]:
    """All rounds in a store; none if no Game Manager has made it yet."""
    if not is_made(url):
        return []
    asked = select(schema.RECORDS.c.table, schema.ROUNDS.c.round, schema.ROUNDS.c.player).join_from(
        schema.ROUNDS, schema.RECORDS, schema.ROUNDS.c.record_id == schema.RECORDS.c.id
    )
    with reading(url) as connection:
        return sorted(tuple(row) for row in connection.execute(asked))


def stored_incidents(url: str) -> list[tuple[str, int]]:
    """All incidents in a store; none if no Game Manager has made it yet."""
    if not is_made(url):
        return []
    asked = select(schema.RECORDS.c.table, schema.INCIDENTS.c.seq).join_from(
        schema.INCIDENTS, schema.RECORDS, schema.INCIDENTS.c.record_id == schema.RECORDS.c.id
    )
    with reading(url) as connection:
        return sorted((table, seq) for table, seq in connection.execute(asked))
