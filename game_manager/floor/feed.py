"""The messages of all tables: to the floor and to the intake, and the intake's requests to the tables."""

import asyncio
from collections import Counter
from typing import Any, Final

import structlog
from pydantic import TypeAdapter, ValidationError

from punto.baccarat.wagers.definition import Game
from punto.configs.faults import first_fault
from punto.controller.broker_login import BrokerConfig
from punto.controller.journal.meters import GAMES
from punto.controller.messages.meters import TableMeters
from punto.controller.messages.models import (
    Availability,
    Device,
    Health,
    Info,
    Payload,
    Progressive,
    Round,
    State,
)
from punto.controller.messages.requests import (
    BooksRequest,
    BooksResponse,
    IncidentsRequest,
    IncidentsResponse,
    Response,
    RoundsRequest,
    RoundsResponse,
)
from punto.controller.messages.restricted import Edge
from punto.controller.messages.topics import (
    AVAILABILITY,
    HEALTH,
    INFO,
    METERS,
    RESTRICTED_EDGE,
    ROUND,
    STATE,
    Topics,
    device,
    progressive,
    request,
    response,
)
from punto.controller.mqtt_link import Connection, Link, Sender
from punto.drivers.backoff import Backoff
from punto.game_manager.floor.config import FloorConfig
from punto.game_manager.floor.intake import Intake
from punto.game_manager.floor.live import Floor

_KINDS: Final[dict[str, Any]] = {
    AVAILABILITY: Availability,
    INFO: Info,
    HEALTH: Health,
    STATE: State,
    METERS: TableMeters,
    ROUND: Round,
    RESTRICTED_EDGE: Edge,
    device("+"): Device,
    progressive("+"): Progressive,
    response("rounds"): RoundsResponse | Response,
    response("incidents"): IncidentsResponse | Response,
    response("books"): BooksResponse | Response,
}
"""What is read of each table, by the names of topics."""
_READ: Final[dict[str, TypeAdapter[Any]]] = {name: TypeAdapter(kind) for name, kind in _KINDS.items()}
_VERBS: Final = {RoundsRequest: "rounds", IncidentsRequest: "incidents", BooksRequest: "books"}
_MOST_TABLES: Final = 20_000
_LONGEST_NAME: Final = 64
_ASK_SECONDS: Final = 0.1

_log = structlog.get_logger("punto.game_manager")


class Feed:
    """One connection for all tables. `refused` counts, by the name of a topic, messages that could not be read.

    Raises:
        ConfigError: the broker's password or certificate cannot be read.
    """

    def __init__(self, mqtt: BrokerConfig, config: FloorConfig, floor: Floor, intake: Intake) -> None:
        self._base = mqtt.base
        self._client = config.client
        self._tables = frozenset(config.tables)
        self._floor = floor
        self._intake = intake
        self._link = Link(mqtt, Backoff(0.5, 5), lost=self._lost)
        self._met: set[str] = set()
        self._retained: dict[str, bytes] = {}
        self._unsent: set[str] = set()
        self.reason = "not reached yet"
        """Why the broker's messages do not come; empty if they do."""
        self.refused: Counter[str] = Counter()

    def publish(self, topic: str, payload: bytes) -> None:
        """Publish a retained message, now and at each connection to the broker."""
        self._retained[topic] = payload
        self._unsent.add(topic)

    async def run(self) -> None:
        """Follow the tables until cancelled; wait while the broker is away."""
        await self._link.run(self._follow)

    def _lost(self, reason: str) -> None:
        self.reason = f"the broker is away: {reason}"

    async def _follow(self, connection: Connection) -> None:
        # QoS 0, at nearly half the cost: the cursors find what is missing, whoever lost it.
        if not await connection.subscribe([Topics(self._base, "+")(name) for name in _READ], qos=0):
            _log.warning(
                "broker refused a subscription",
                hint="let this user read all topics of the tables (punto broker-users)",
            )
        self.reason = ""
        self._unsent.update(self._retained)
        self._intake.connected()
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._ask(connection))
            async for message in connection.messages():
                self.take(message.topic, message.payload, retained=message.retained)

    async def _ask(self, connection: Connection) -> None:
        """Send the intake's requests."""
        sender, clock = Sender(connection), asyncio.get_running_loop().time
        while True:
            for table, asked in self._intake.to_ask(clock()):
                await sender.room()
                topic = Topics(self._base, table)(request(_VERBS[type(asked)], self._client))
                sender.send(topic, asked.model_dump_json().encode())
            while self._unsent:
                await sender.room()
                topic = self._unsent.pop()
                sender.send(topic, self._retained[topic], retain=True)
            await asyncio.sleep(_ASK_SECONDS)

    def take(self, topic: str, payload: bytes, *, retained: bool) -> None:
        """Pass a message on, if it is one of a table; count it and discard it if it cannot be read."""
        table, _, name = topic.removeprefix(f"{self._base}/").partition("/")
        kind = name if name in _READ else f"{name.rpartition('/')[0]}/+"
        if kind not in _READ or not payload or not self._knows(table):
            return
        try:
            message = _READ[kind].validate_json(payload)
            self._pass(table, message, retained=retained)
        except ValueError as error:
            self.refused[kind] += 1
            if self.refused[kind] == 1:
                why = first_fault(error) if isinstance(error, ValidationError) else str(error)
                _log.warning("message refused", topic=topic[:200], error=why)

    def _knows(self, table: str) -> bool:
        """Whether this is a table that is followed. The names and the number of tables are bounded."""
        if table in self._met:
            return True
        wanted = not self._tables or table in self._tables
        if not wanted or not 0 < len(table) <= _LONGEST_NAME or len(self._met) >= _MOST_TABLES:
            return False
        self._met.add(table)
        return True

    def _pass(self, table: str, message: Payload, *, retained: bool) -> None:
        match message:
            case Response():
                self._intake.refuse(table, message)
                return
            case RoundsResponse() | IncidentsResponse():
                self._intake.hear(table, message)
                return
            case BooksResponse():
                self._intake.hear(table, message)
            case Progressive() if not retained:
                self._intake.hear_meter(table, message)
            case Info():
                self._intake.learn(_game_of(message))
                return
            case Round():
                self._intake.hear(table, message)
            case Edge():
                self._intake.hear_edges(table, message)
            case Health():
                self._intake.meet(table, message.rounds, message.inputs)
            case Availability():
                self._intake.meet(table)
            case _:
                pass
        self._floor.take(table, message, retained=retained)


def _game_of(message: Info) -> Game:
    """The game in a table's configuration.

    Raises:
        ValueError: there is none that this version can read.
    """
    return GAMES.validate_python(message.configuration.get("game"))
