"""A table in this process: record, engine and broker's connection are the real ones, the shoe is played by the test.

It is quicker than a table of programs, and what goes wrong inside it can be brought about from here.
"""

import asyncio
import json
import re
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, closing, contextmanager, suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import aiomqtt
from jsonschema import Draft202012Validator

from punto.baccarat.cards import Card
from punto.baccarat.table.events import (
    Event,
    ServiceStarted,
    SetWager,
    ShoeEvent,
    ShoeHello,
)
from punto.baccarat.table.order_kinds import ChangeShoe, Reveal, SignOn
from punto.baccarat.table.settings import Settings
from punto.baccarat.table.state import TableState
from punto.baccarat.wagers.definition import Limits
from punto.configs.expectations import shipped
from punto.configs.game_files import load_game
from punto.controller.engine import SHOE, Engine, HouseRules
from punto.controller.health import HealthReport
from punto.controller.journal.journal import Journal
from punto.controller.mqtt import Broker, Contents
from punto.controller.mqtt_requests import BooksOf
from punto.controller.outbox import Outbox
from punto.messages import topics
from punto.messages.building import timestamp
from punto.messages.models import Info
from punto.messages.schema import file_of, json_schemas
from punto.messages.topics import CHANNELS
from punto.reports.books import books_of_day
from punto.runtime.broker_login import BrokerConfig
from punto.runtime.signatures import Signing
from punto.simulators.shoe.shuffle import shuffled
from tests.baccarat.table.croupier import events_of
from tests.deadline import DEADLINE, pauses

HERE = Path(__file__).parents[2]
TABLE = "table-1"
TOPIC = topics.Topics("punto", TABLE)
STAKE = 5000

_game = cache(load_game)  # hundreds of tests play the same few games


def settings(game: str = "dragon-bonus-1", **changes: Any) -> Settings:
    """Settings of a table without a burn, every wager from 5.00 to 10,000.00 in steps of 5.00."""
    read = _game(game)
    limits = Limits(minimum=500, maximum=1_000_000, step=500)
    wagers = tuple(replace(wager, limits=limits) for wager in read.wagers)
    own: dict[str, Any] = {"table": TABLE, "name": "Baccarat 1", "burn": "none"}
    return Settings(game=replace(read, wagers=wagers), **{**own, **changes})


class Table:
    """An engine with its record and outbox, and whoever is at the table."""

    def __init__(self, engine: Engine, journal: Journal, outbox: Outbox) -> None:
        self.engine = engine
        self.journal = journal
        self.outbox = outbox
        self.watch = asyncio.create_task(journal.watch())
        self.record = 1
        self._cards: list[Card] = []

    @property
    def state(self) -> TableState:
        return self.engine.state

    @property
    def settings(self) -> Settings:
        return self.state.settings

    @property
    def last_round(self) -> int:
        return self.state.history.last.round if self.state.history.last else 0

    def next_record(self) -> int:
        self.record += 1
        return self.record - 1

    async def do(self, *commands: str) -> None:
        """What happens, in a croupier's words: `do("open", "draw KS 2S 9H 3S", "lid open")`; no order may be refused."""
        for command in commands:
            self.record = self.state.link.expected
            for event in events_of(self, command):
                await (self.shoe(event) if isinstance(event, ShoeEvent) else self.order(event))

    async def shoe(self, *events: ShoeEvent) -> None:
        await self.engine.submit(events, SHOE)

    async def order(self, event: Event) -> None:
        (handled,) = await self.engine.submit([event], "operator mei")
        assert handled.refusal is None, handled.refusal

    async def hello(self) -> None:
        link = self.state.link
        expected = max([link.expected, *(mark.taken + 1 for mark in link.earlier if mark.serial == "IS-1")])
        await self.shoe(ShoeHello("IS-1", 1, expected, expected, self.state.settings.game.decks))

    async def begin_shoe(self) -> None:
        """From wherever to betting, with a shoe that only this seed and number give."""
        if not self.state.link.online:
            await self.hello()
        if self.state.phase == "locked":
            await self.order(SignOn("mei"))
        await self.order(ChangeShoe("mei"))
        self._cards = shuffled("service", self.state.shoe.number, self.state.settings.game.decks)

    async def draw(self, cards: int = 1) -> None:
        for _ in range(cards):
            await self.do(f"draw {self._cards.pop(0)}")

    async def play(self, rounds: int, seats: Sequence[int] = ()) -> None:
        """Deal so many rounds to their end, each of these seats with a wager on Player; a new shoe when one is over."""
        until = self.state.round.number + rounds
        while self.state.round.number < until:
            if self.state.phase == "betting" and self.state.round.coup is None:
                for seat in seats:
                    await self.order(
                        SetWager(f"{self.state.round.number}", seat, "player", STAKE, self.state.round.number)
                    )
            if self.state.phase == "reveal":
                await self.order(Reveal("mei"))
                continue
            await self.draw()
            if len(self._cards) == 14:
                await self.do("cut card")
            if self.state.shoe_over:
                await self.begin_shoe()


@asynccontextmanager
async def table(
    record: Path,
    own: Settings | None = None,
    *,
    restricted: bool = False,
    version: str = "0.1.0",
    house: HouseRules | None = None,
) -> AsyncIterator[Table]:
    """A table that has started on this record, without a broker until `connected`."""
    outbox = Outbox()
    journal = Journal.open(record)
    try:
        engine = await Engine.start(
            journal, outbox, TOPIC, own or settings(), version, restricted=restricted, house=house
        )
        here = Table(engine, journal, outbox)
        try:
            yield here
        finally:
            here.watch.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await here.watch
    finally:
        await journal.close()


class Login(BrokerConfig):
    """A broker, and the password at it without a file."""

    secret: str | None = None

    def password(self) -> str | None:
        return self.secret


UNSIGNED = Signing(())


def broker_of(
    table: Table,
    port: int,
    password: str | None = None,
    books_of: BooksOf = books_of_day,
    signing: Signing = UNSIGNED,
    announced: Callable[[], Mapping[str, bytes]] = dict,
    **broker: Any,
) -> Broker:
    """The connection of this table to a broker."""
    report = HealthReport(table.engine, table.journal, table.outbox)

    def info(now: Any) -> Info:
        return Info(
            id="info",
            seq=0,
            ts=timestamp(now),
            simulation=table.state.settings.simulation,
            version="0.1.0",
            components=(),
            configuration_digest="0" * 64,
            configuration={},
        )

    return Broker(
        Login(port=port, secret=password, **broker),
        table.engine,
        table.journal,
        table.outbox,
        TOPIC,
        Contents(info, lambda now: report.message(now, {}), shipped, books_of, announced),
        signing,
    )


@asynccontextmanager
async def connected(table: Table, port: int, **address: Any) -> AsyncIterator[Broker]:
    """The table with its connection to a broker, which may be away; what ends the connection's task is raised."""
    broker = broker_of(table, port, **address)
    running = asyncio.create_task(broker.run())
    try:
        yield broker
        assert not running.done() or running.result()  # for ever, or it says why not
    finally:
        running.cancel()
        await asyncio.wait([running])
        if not running.cancelled():
            running.result()


async def eventually(so: Callable[[], object], what: str, seconds: float = DEADLINE) -> None:
    """Wait for something that becomes true.

    Raises:
        TimeoutError: it did not, in so many seconds.
    """
    for pause in pauses(seconds):
        if so():
            return
        await asyncio.sleep(pause)
    raise TimeoutError(f"after {seconds:g} s still not so: {what}")


# --- who listens


class Ear:
    """A client on some topics, connected as long as its broker is.

    `heard` has (name below the table, payload, retain), and `wire` the same with the payload's bytes.
    """

    def __init__(self, client: aiomqtt.Client) -> None:
        self.client = client
        self.heard: list[tuple[str, dict[str, Any], bool]] = []
        self.wire: list[tuple[str, bytes, bool]] = []

    async def listen(self) -> None:
        with suppress(aiomqtt.MqttError):
            async for message in self.client.messages:
                assert isinstance(message.payload, bytes)
                name = message.topic.value.removeprefix(TOPIC(""))
                payload = _read(message.payload)
                self.heard.append((name, payload, message.retain))
                self.wire.append((name, message.payload, message.retain))

    def of(self, name: str) -> list[dict[str, Any]]:
        """The payloads of a topic, in order."""
        return [payload for each, payload, _ in self.heard if each == name]

    def names(self) -> set[str]:
        """The topics heard so far."""
        return {name for name, _, _ in self.heard}

    def said(self) -> str:
        """All that was heard, as it was on the wire."""
        return json.dumps([(name, payload) for name, payload, _ in self.heard])

    async def last(self, name: str, so: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
        """Wait until the last message of a topic is so, and return it."""
        await eventually(lambda: self.of(name) and so(self.of(name)[-1]), f"{name} is as it should be")
        return self.of(name)[-1]

    async def publish(self, name: str, payload: Any, *, retain: bool = False) -> None:
        """Publish JSON, or bytes as they are, below the table's topic."""
        wire = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        await self.client.publish(TOPIC(name), wire, qos=1, retain=retain)


def _read(payload: bytes) -> Any:
    try:
        return json.loads(payload)
    except (ValueError, RecursionError):
        return {}  # what a test itself published


@asynccontextmanager
async def ear(port: int, topic: str = "punto/#", **login: Any) -> AsyncIterator[Ear]:
    """Somebody who listens, and may publish."""
    async with aiomqtt.Client("127.0.0.1", port, timeout=DEADLINE, **login) as client:
        client.pending_calls_threshold = 10_000
        await client.subscribe(topic, qos=1)
        listening = Ear(client)
        task = asyncio.create_task(listening.listen())
        try:
            yield listening
        finally:
            task.cancel()
            await asyncio.wait([task])


_schemas = cache(json_schemas)


@cache
def schema_of(name: str) -> tuple[Draft202012Validator, ...]:
    """What the schemas of the messages on a topic say."""
    for channel in CHANNELS:
        pattern = re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(channel.name))
        if re.fullmatch(pattern, name):
            return tuple(Draft202012Validator(_schemas()[file_of(model)]) for model in channel.messages)
    raise LookupError(f"there is no topic {name}")


def documented(name: str, payload: dict[str, Any]) -> bool:
    """Whether a payload is as a schema of its topic says."""
    return any(validator.is_valid(payload) for validator in schema_of(name))


# --- the record, as somebody with a shell sees it


@contextmanager
def edited(record: Path) -> Iterator[sqlite3.Connection]:
    """The record's file with its triggers dropped, for somebody who knows how."""
    with closing(sqlite3.connect(record, isolation_level=None)) as database:
        triggers = database.execute(
            "SELECT name, tbl_name, sql FROM sqlite_schema WHERE type = 'trigger'"
        ).fetchall()
        for name, *_ in triggers:
            database.execute(f"DROP TRIGGER {name}")
        yield database
        tables = {name for (name,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
        for _, its_table, sql in triggers:
            if its_table in tables:
                database.execute(sql)


def rows(record: Path, query: str) -> list[Any]:
    """What a query finds on the record."""
    with closing(sqlite3.connect(f"file:{record}?mode=ro", uri=True)) as database:
        return database.execute(query).fetchall()


def started(own: Settings) -> ServiceStarted:
    """A start with these settings."""
    return ServiceStarted("0.1.0", own)
