"""The messages of all tables: to the floor and to the intake, and the intake's requests to the tables."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Final

import structlog
from pydantic import AfterValidator, TypeAdapter, ValidationError

from punto.baccarat.wagers.definition import Game
from punto.configs.faults import first_fault
from punto.configs.problems import cut
from punto.controller.journal.entries import GAMES
from punto.house.config import FloorConfig
from punto.house.intake import Intake
from punto.house.live import Floor
from punto.messages.bounds import (
    LONGEST_PAYLOAD,
    books_in_bounds,
    check_sequence,
    incidents_in_bounds,
    meters_in_bounds,
    numbers_in_bounds,
    round_in_bounds,
    rounds_in_bounds,
)
from punto.messages.meters import TableMeters
from punto.messages.models import (
    Availability,
    Device,
    Health,
    Info,
    Message,
    Progressive,
    Round,
    State,
)
from punto.messages.requests import (
    BooksRequest,
    BooksResponse,
    IncidentsRequest,
    IncidentsResponse,
    Response,
    RoundsRequest,
    RoundsResponse,
)
from punto.messages.restricted import Edge
from punto.messages.topics import (
    AVAILABILITY,
    HEALTH,
    INFO,
    METERS,
    RESTRICTED_EDGE,
    ROUND,
    STATE,
    Topics,
    device,
    house_topic,
    progressive,
    request,
    response,
)
from punto.runtime.backoff import Backoff
from punto.runtime.broker_link import REFUSED, Connection, Link, Sender
from punto.runtime.broker_login import BrokerConfig
from punto.runtime.bucket import Bucket

_KINDS: Final[dict[str, Any]] = {
    AVAILABILITY: Annotated[Availability, AfterValidator(numbers_in_bounds)],
    INFO: Info,
    HEALTH: Annotated[Health, AfterValidator(numbers_in_bounds)],
    STATE: Annotated[State, AfterValidator(numbers_in_bounds)],
    METERS: Annotated[TableMeters, AfterValidator(meters_in_bounds)],
    ROUND: Annotated[Round, AfterValidator(round_in_bounds)],
    RESTRICTED_EDGE: Annotated[Edge, AfterValidator(numbers_in_bounds)],
    device("+"): Annotated[Device, AfterValidator(numbers_in_bounds)],
    progressive("+"): Annotated[Progressive, AfterValidator(numbers_in_bounds)],
    response("rounds"): Annotated[RoundsResponse, AfterValidator(rounds_in_bounds)] | Response,
    response("incidents"): Annotated[IncidentsResponse, AfterValidator(incidents_in_bounds)] | Response,
    response("books"): Annotated[BooksResponse, AfterValidator(books_in_bounds)] | Response,
}
"""What is read of each table, by the names of topics."""
_READ: Final[dict[str, TypeAdapter[Any]]] = {name: TypeAdapter(kind) for name, kind in _KINDS.items()}
_ANSWERS: Final = frozenset({response("rounds"), response("incidents"), response("books")})
_LONGEST: Final = dict.fromkeys((INFO, ROUND, *_ANSWERS), LONGEST_PAYLOAD) | {METERS: 65_536}
_LONGEST_OF_OTHERS: Final = 16_384
"""The most bytes of a message that a page of the floor shows a part of."""
BYTES_AT_ONCE: Final = 16_000_000
"""The bytes of a table that are read at once. What is not read is lost like a message on its way, and is requested again."""
BYTES_PER_SECOND: Final = 200_000
"""And on average. A table that plays sends a tenth of it."""
_BYTES_OF_ANY: Final = 500
"""Each message counts as so many bytes more, because to read it takes time."""
_VERBS: Final = {RoundsRequest: "rounds", IncidentsRequest: "incidents", BooksRequest: "books"}
_MOST_TABLES: Final = 20_000
_LONGEST_NAME: Final = 64
_ASK_SECONDS: Final = 0.1
_AHEAD: Final = timedelta(days=1)
"""The clock of a table may be ahead of the house's by so much."""
UNREAD_SECONDS: Final = 60.0
"""So long at least it is shown that a message could not be read, although the table's own next message is a good one."""
_UNREAD: Final = "{}: {}. Find out whether the table has this version of Punto, and who else has its password at the broker"
_UNSIGNED: Final = (
    "it is not signed with the key of the link, so it is not read: if {0} signs nothing yet, put the same {0}.key into "
    "key_folder of [mqtt] there and of [floor] here"
)
_RETAINED: Final = (
    "no table retains this message: stop the table's service and run `punto retire-table {}`, which clears it"
)
_TOO_MUCH: Final = "it sends more than a table does: find out whether it is the house's table"

_log = structlog.get_logger("punto.house")


class UnsignedError(ValueError):
    """A message in the name of a table is not signed with the key of its link: the table may not have sent it."""


class Feed:
    """One connection for all tables. `refused` counts, by the name of a topic, messages that could not be read.

    Raises:
        ConfigError: the broker's password or certificate, or a key of a link, cannot be read.
    """

    def __init__(
        self,
        mqtt: BrokerConfig,
        config: FloorConfig,
        floor: Floor,
        intake: Intake,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._clock = clock
        self._base = mqtt.base
        self._client = config.client
        self._tables = frozenset(config.tables)
        self._signings = config.signings()
        self._floor = floor
        self._intake = intake
        self._link = Link(mqtt, Backoff(0.5, 5), lost=self._lost)
        self._met: dict[str, Bucket] = {}
        self._retained: dict[str, bytes] = {}
        self._unsent: set[str] = set()
        self.reason = "not reached yet"
        """Why the broker's messages do not come; empty if they do."""
        self.refused: Counter[str] = Counter()
        self._faults: dict[str, str] = {}
        self._unread: dict[str, dict[str, tuple[str, float]]] = {}
        """By table and the name of a topic: why the last message was not read, and until when that is shown at least."""

    def faults(self) -> dict[str, str]:
        """The tables that send too much, and since when what they send is not read."""
        return dict(self._faults)

    def unread(self) -> dict[str, str]:
        """The tables with messages that could not be read, and the reason of one."""
        return {
            table: _UNREAD.format(*min((kind, why) for kind, (why, _) in kinds.items()))
            for table, kinds in self._unread.items()
        }

    def publish(self, topic: str, payload: bytes) -> None:
        """Publish a retained message, now and at each connection to the broker."""
        self._retained[topic] = payload
        self._unsent.add(topic)

    async def run(self) -> None:
        """Follow the tables until cancelled; wait while the broker is away."""
        await self._link.run(self._follow)

    def _lost(self, reason: str) -> None:
        self.reason = reason if reason == REFUSED else f"the broker is away: {reason}"

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
        if name == AVAILABILITY and not payload:
            self._floor.clear(table)
        kind = house_topic(name)
        if kind not in _READ or not payload or not self._knows(table) or not self._has_room(table, payload):
            return
        try:
            _check_retained(table, kind, retained=retained)
            self._check_signature(table, payload)
            message = _read(kind, name, payload)
            self._pass(table, message, retained=retained)
        except Exception as error:  # noqa: BLE001 - whatever one table sends, the other tables are followed
            why = cut(first_fault(error) if isinstance(error, ValidationError) else str(error), 300)
            self._note_unread(table, kind, topic, why, unforeseen=not isinstance(error, ValueError))
            # One that is retained, or not signed, is not the answer to a request.
            if kind in _ANSWERS and not retained and not isinstance(error, UnsignedError):
                self._intake.give_up(table, f"its answer cannot be read: {why}")
        else:
            self._note_read(table, kind)

    def _check_signature(self, table: str, payload: bytes) -> None:
        """Raise UnsignedError if the message is not signed by the table."""
        if self._signings is None:
            return
        of = self._signings.get(table)
        if of is None or not of.holds(payload):
            raise UnsignedError(_UNSIGNED.format(table))

    def _note_unread(self, table: str, kind: str, topic: str, why: str, *, unforeseen: bool) -> None:
        self.refused[kind] += 1
        kinds = self._unread.setdefault(table, {})
        if kind not in kinds:
            _log.warning("message refused", topic=topic[:200], error=why, exc_info=unforeseen)
        kinds[kind] = (why, self._clock() + UNREAD_SECONDS)

    def _note_read(self, table: str, kind: str) -> None:
        _, until = self._unread.get(table, {}).get(kind, ("", float("inf")))
        if self._clock() >= until:
            del self._unread[table][kind]
            if not self._unread[table]:
                del self._unread[table]

    def _has_room(self, table: str, payload: bytes) -> bool:
        """Whether a table has not sent too much."""
        bucket, now = self._met[table], self._clock()
        if not bucket.has(0, now):
            if table not in self._faults:
                _log.warning("table sends too much", table=table)
            self._faults[table] = _TOO_MUCH
            return False
        if table in self._faults and bucket.has(BYTES_AT_ONCE / 2, now):
            del self._faults[table]
        bucket.take(len(payload) + _BYTES_OF_ANY)
        return True

    def _knows(self, table: str) -> bool:
        """Whether this is a table that is followed. The names and the number of tables are bounded."""
        if table in self._met:
            return True
        wanted = not self._tables or table in self._tables
        if not wanted or not 0 < len(table) <= _LONGEST_NAME or len(self._met) >= _MOST_TABLES:
            return False
        self._met[table] = Bucket(BYTES_AT_ONCE, BYTES_PER_SECOND, self._clock())
        return True

    def _pass(self, table: str, message: Message, *, retained: bool) -> None:
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
                self._learn(table, message)
                return
            case Round():
                self._intake.hear(table, message)
            case Edge():
                self._intake.hear_edges(table, message)
            case Health():
                self._intake.meet(table, message.rounds, message.inputs, message.record)
            case Availability():
                self._intake.hear_availability(table, message, retained=retained)
            case _:
                pass
        self._floor.take(table, message, retained=retained)

    def _learn(self, table: str, message: Info) -> None:
        if "game" in message.configuration:  # else the watch reports that it does not know the game
            self._intake.learn(table, _game_of(message))


def _check_retained(table: str, kind: str, *, retained: bool) -> None:
    """Raise ValueError if no table retains a message of this kind. It would come again with each connection."""
    if retained and kind in {ROUND, *_ANSWERS}:
        raise ValueError(_RETAINED.format(table))


def _read(kind: str, name: str, payload: bytes) -> Message:
    """The message at a name of a topic.

    Raises:
        ValueError: it is invalid, too long, of a time that has not come yet, or of another device than its topic.
    """
    if len(payload) > _LONGEST.get(kind, _LONGEST_OF_OTHERS):
        raise ValueError(f"the message has {len(payload)} bytes, which is too many")
    message: Message = _READ[kind].validate_json(payload)
    check_sequence(message, datetime.now(UTC) + _AHEAD)
    if isinstance(message, Device) and message.device != name.rpartition("/")[2]:
        raise ValueError("the message is of another device than its topic")
    return message


def _game_of(message: Info) -> Game:
    """The game in a table's configuration.

    Raises:
        ValueError: this version cannot read it.
    """
    return GAMES.validate_python(message.configuration["game"])
