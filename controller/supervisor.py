"""Starts the service's parts in order, keeps them in one task group, and stops them in order.

A lost device or broker is retried inside its own task. Any other error in a task ends all tasks of the table. Then the
process ends, or `tables` starts the table again if the process has others; the table recovers from the record.
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Protocol

import structlog

from punto.baccarat.table.events import RecordDiffers
from punto.baccarat.table.turn import RefusedError
from punto.baccarat.wagers.definition import Game
from punto.configs.expectations import Expectations
from punto.configs.problems import ConfigError
from punto.controller import health, local_socket
from punto.controller.accounts.refusals import AccountsError
from punto.controller.components import own_components, own_version
from punto.controller.config.file import ServiceConfig
from punto.controller.config.sections import AccountsConfig, ConsoleConfig, MqttConfig
from punto.controller.engine import Engine, HouseRules
from punto.controller.equipment import equip, watch
from punto.controller.expectations import Counts, ExactExpectations
from punto.controller.heartbeat import beat
from punto.controller.journal.background import BackgroundReplay
from punto.controller.journal.journal import Journal
from punto.controller.journal.schema import RecordError
from punto.controller.meter_link.authority_end import AuthorityEnd
from punto.controller.meter_link.table_end import TableEnd
from punto.controller.metrics import MonitoredTable, TableParts
from punto.controller.mqtt import Broker, Contents
from punto.controller.mqtt_requests import BooksOf
from punto.controller.orders.desk import Desk
from punto.controller.orders.socket_door import SocketDoor
from punto.controller.outbox import Outbox
from punto.controller.publication import meter_topics
from punto.drivers.base import Devices, LinkHealth
from punto.messages import topics
from punto.messages.building import head_message, timestamp
from punto.messages.discovery import announcements
from punto.messages.models import ComponentDigest, Info, Message
from punto.runtime import clock
from punto.runtime.failures import messages_of
from punto.version import __version__

if TYPE_CHECKING:
    from punto.controller.accounts.gate import Gate
    from punto.controller.signing.head_signer import HeadSigner

EXPECTED: Final = (RecordError, RefusedError, ConfigError)
"""The errors of `serve` whose message tells an operator what to do."""

_log = structlog.get_logger("punto.controller")


class Consoles(Protocol):
    """The consoles of one table. Making them opens their port."""

    async def serve(self) -> None:
        """Serve them until cancelled."""

    def close(self) -> None:
        """Close their port, also if they were never served."""


@dataclass(frozen=True)
class Process:
    """The process that a table runs in: what the table reports to it, and what it shares with the other tables.

    `opened` is called when the record is recovered and orders are taken, and then `alive` about once a second, as long as
    the path to the disk works. `monitored` gets what monitoring sees of the table. Only the table that holds `replaying` replays its record in the background.
    """

    opened: Callable[[], None] = lambda: None
    alive: Callable[[], None] = lambda: None
    replaying: asyncio.Lock = field(default_factory=asyncio.Lock)
    counts: Counts = field(default_factory=Counts)
    monitored: Callable[[MonitoredTable], None] = lambda _: None


ConsolesOf = Callable[[ServiceConfig, Desk, "Gate"], Consoles]


async def serve(
    config: ServiceConfig,
    devices: Devices,
    consoles_of: ConsolesOf,
    books_of: BooksOf,
    process: Process | None = None,
) -> None:
    """Run one table's service until cancelled. Each line of its log has the table's id.

    `consoles_of` makes the consoles, if they are configured. `books_of` reads the books of its meter for the house.

    Raises:
        ConfigError: the operators' socket, the consoles, the accounts or the broker's password cannot be used.
        RecordError: the record cannot be opened, trusted or written.
        RefusedError: the configuration is not allowed in the table's present state.
    """
    structlog.contextvars.bind_contextvars(table=config.table.id)
    outbox = Outbox()
    journal = Journal.open(config.record.path)
    try:
        topic = topics.Topics(config.mqtt.base if config.mqtt else "", config.table.id)
        restricted = config.mqtt is not None and config.mqtt.restricted
        engine = await Engine.start(
            journal,
            outbox,
            topic,
            config.settings(),
            own_version(),
            restricted=restricted,
            house=HouseRules(config.calendar.calendar(), config.outlawed),
        )
        ended, service, opened = "the service failed", None, ExitStack()
        cause: Literal["stopped", "failed"] = "failed"
        try:
            table = _Table(config, engine, journal, outbox, topic, opened)
            service = _Service(table, process or Process(), devices, books_of)
            _log.info("table recovered", phase=engine.state.phase, inputs=engine.seq)
            await service.run(consoles_of)
        except asyncio.CancelledError:
            cause, ended = "stopped", "the service was stopped"
            raise
        except Exception as error:
            ended = ": ".join([ended, *messages_of(error, RecordError)])
            raise
        finally:
            _log.info("table ended", reason=ended, inputs=engine.seq)
            opened.close()
            if service is not None and service.broker is not None:
                await service.broker.publish_offline(cause, ended)
    finally:
        await journal.close()


class _Table(NamedTuple):
    """A table that is recovered. `opened` closes what must not stay open for its next start, also if no task has served it."""

    config: ServiceConfig
    engine: Engine
    journal: Journal
    outbox: Outbox
    topic: topics.Topics
    opened: ExitStack

    def head_signed(self) -> None:
        """Publish the signed head."""
        if self.engine.publication.restricted:
            self.outbox.snapshot_due(topics.RESTRICTED_HEAD)

    async def differs(self, place: str) -> None:
        """Record that the record differs from what its inputs give."""
        await self.engine.submit([RecordDiffers(place)], "service")

    def expect(self, game: Game, found: Expectations) -> None:
        """Keep expectations that were counted on the record, for reports, and publish the meters beside them."""
        self.journal.add_expectations(game, found)
        self.outbox.snapshot_due(topics.METERS)


class _Service:
    """The parts of one table's service."""

    def __init__(self, table: _Table, process: Process, devices: Devices, books_of: BooksOf) -> None:
        config, engine, journal, outbox, topic, opened = self._table = table
        self._process = process
        self._gate = gate = (
            None if config.accounts is None else gate_of(config.accounts, config.console, engine)
        )
        if gate is not None:
            opened.callback(gate.accounts.close)
        exact = ExactExpectations(engine.state, table.expect, process.counts)
        engine.watch(exact.see)
        replay = BackgroundReplay(config.record.path, journal, table.differs, process.replaying)
        self._runs: dict[str, Callable[[], Coroutine[Any, Any, None]]] = {
            "journal": journal.watch,
            "heartbeat": partial(beat, engine, journal, outbox, process.alive),
            "replay": replay.run,
            "expectations": exact.run,
        }
        self._doors, equipment = equip(config, engine, outbox, devices, gate)
        self._runs |= {door.device: door.run for door in self._doors}
        if devices.configuration_keypad is not None:
            self._runs["configuration keypad"] = partial(watch, devices.configuration_keypad, engine)
        parts: dict[str, Callable[[], LinkHealth]] = {door.device: door.health for door in self._doors}
        report = health.HealthReport(engine, journal, outbox, partial(_house_accounts, config, gate))
        links = dict(parts)
        self.broker: Broker | None = None
        if config.mqtt is not None:
            contents = Contents(
                partial(_info, config, own_components()),
                lambda now: report.message(now, _health_of(links)),
                exact.of,
                books_of,
                partial(_announced, config.mqtt, engine, topic),
            )
            self.broker = Broker(
                config.mqtt, engine, journal, outbox, topic, contents, config.mqtt.signing(topic.table)
            )
            parts["broker"] = self.broker.health
        # The consoles show the broker and the record too.
        parts["record"] = health.RecordHealth(journal, config.record.path).health
        signer = None
        if config.record.signer is not None:
            from punto.controller.signing.head_signer import HeadSigner  # noqa: PLC0415 - only for such a table

            signing = (config.record.signer, config.table.id, journal)
            signer = HeadSigner(*signing, table.head_signed, table.differs)
            parts["signer"], self._runs["signer"] = signer.health, signer.run
        link = None if self.broker is None else self._publish(self.broker, signer)
        equipment = replace(
            equipment,
            links=lambda: _health_of(parts),
            meter=lambda: link.meter if isinstance(link, TableEnd) else None,
        )
        seen = TableParts(config, engine, journal, outbox, equipment.links, partial(_people, engine, gate))
        self._process.monitored(MonitoredTable(seen))
        house = (config.law, config.rules, config.table.smallest_chip)
        self._desk = Desk(engine, config.folder, equipment, gate, *house)

    def _publish(self, broker: Broker, signer: "HeadSigner | None") -> TableEnd | AuthorityEnd | None:
        """Have the broker's link send and take what devices, accounts, edges and meters do; returns the meter's link."""
        config, engine, _, outbox, topic, _ = self._table
        for each in self._doors:
            broker.retain(topics.device(each.device), each.message)
        if config.accounts is not None:
            _listen_for_accounts(broker, config.accounts, topic.base, engine)
        if signer is not None and engine.publication.restricted:
            broker.retain(topics.RESTRICTED_HEAD, partial(_signed_head, self._table, signer))
        if config.edge is not None:
            from punto.controller.edge.live import LiveEdge  # noqa: PLC0415 - only for such a table

            edge = LiveEdge(engine.state.settings, engine.record_name, config.edge.share, outbox)
            engine.watch(edge.see)
            edge.see(engine.state, engine.seq)  # the start may be in mid-shoe
            broker.retain(topics.RESTRICTED_EDGE, edge.message)
            self._runs["edge"] = edge.run
        link, progressive = None, engine.state.progressive
        if progressive is not None:
            end = AuthorityEnd if progressive.link is None else TableEnd
            keys = {} if config.progressive is None else config.progressive.link_keys(topic.table)
            if progressive.books.settings.authority is not None and not keys:
                hint = "write key_folder in [progressive] of the authority and of its tables"
                _log.warning("what tables ask of the meter is not signed", hint=hint)
            link = end(engine, broker, outbox, topic, keys)
            self._runs["meter"] = link.run
            for name in meter_topics(engine.state):
                broker.retain(name, link.message)
        self._runs["broker"] = broker.run
        return link

    async def run(self, consoles_of: ConsolesOf) -> None:
        """Run all parts until one fails or the service is cancelled."""
        config, opened, runs = self._table.config, self._table.opened, dict(self._runs)
        for each in self._doors:
            await each.begin()
        if config.console is not None and self._gate is not None:
            console = consoles_of(config, self._desk, self._gate)
            opened.callback(console.close)
            runs["console"] = console.serve
        if config.operator is not None:
            of = config.operator
            door = local_socket.open_at(of.socket, of.mode_bits, of.group)
            opened.callback(door.close)
            runs["operators"] = partial(local_socket.serve, door, SocketDoor(self._desk))
        async with asyncio.TaskGroup() as tasks:
            for name, run in runs.items():
                tasks.create_task(run(), name=name)
            # Open means that the record is recovered and orders are taken. The service does not wait for the broker: if
            # the broker were away for hours, systemd would restart the service again and again.
            self._process.opened()


def _announced(config: MqttConfig, engine: Engine, topic: topics.Topics) -> dict[str, bytes]:
    """What tells Home Assistant of the table, or takes that back."""
    if config.discovery is None:
        return {}
    return announcements(engine.state, topic, config.discovery_prefix, wanted=config.discovery)


def _people(engine: Engine, gate: "Gate | None") -> int:
    """The number of people at the consoles and at the table."""
    names = frozenset() if gate is None else gate.signed_on
    return len(names | ({engine.state.operator} - {None}))


def _house_accounts(config: ServiceConfig, gate: "Gate | None") -> int | None:
    """The version of the house's accounts that the table has, None if it has accounts of its own or they cannot be read."""
    if gate is None or config.accounts is None or config.accounts.house is None:
        return None
    try:
        return gate.accounts.house_version()
    except AccountsError:
        return None


def _signed_head(table: _Table, signer: "HeadSigner", now: datetime) -> Message | None:
    """The last signed head; the head as it is while the signer is away from the start on."""
    if not signer.tried:
        return None
    fields = None if signer.signed is None else signer.signed.model_dump(exclude={"table"})
    return head_message(table.engine.state.settings, str(table.journal.head), now, fields)


def _health_of(parts: Mapping[str, Callable[[], LinkHealth]]) -> dict[str, LinkHealth]:
    return {name: health_of() for name, health_of in parts.items()}


def gate_of(of: AccountsConfig, console: ConsoleConfig | None, engine: Engine) -> "Gate":
    """The gate for the people with accounts. The caller closes its accounts.

    Raises:
        ConfigError: the accounts cannot be opened.
    """
    # A table without accounts does not load the password library.
    from punto.controller.accounts.accounts import open_for_service  # noqa: PLC0415
    from punto.controller.accounts.at_a_table import TableAccesses  # noqa: PLC0415
    from punto.controller.accounts.gate import Gate  # noqa: PLC0415

    idle_minutes = 0 if console is None else console.idle_minutes
    accounts, accesses = open_for_service(of.path), TableAccesses(engine)
    return Gate(accounts, accesses, of, idle_minutes, clock.monotonic)


def _listen_for_accounts(broker: Broker, accounts: AccountsConfig, base: str, engine: Engine) -> None:
    """Take over the accounts of the house, if its Game Manager keeps them."""
    if accounts.house is not None:
        from punto.controller.accounts.at_a_table import TableAccesses  # noqa: PLC0415 - as with the gate
        from punto.controller.accounts.takeover import Takeover  # noqa: PLC0415

        takeover = Takeover(accounts.path, accounts.house, TableAccesses(engine))
        broker.listen(topics.house_accounts(base), takeover.take)


def _info(config: ServiceConfig, components: tuple[ComponentDigest, ...], now: datetime) -> Info:
    return Info(
        id=f"{config.table.id}/info/{__version__}/{config.digest()}",
        seq=0,
        ts=timestamp(now),
        simulation=config.table.simulation,
        version=__version__,
        components=components,
        configuration_digest=config.digest(),
        configuration=config.redacted(),
    )
