"""Starts the service's parts in order, keeps them in one task group, and stops them in order.

A lost device or broker is retried inside its own task. Any other error in a task ends all tasks of the table. Then the
process ends, or `tables` starts the table again if the process has others; the table recovers from the record.
"""

import asyncio
import random
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, Protocol

import structlog

from punto.baccarat.table.events import ClockStepped, ConfigurationKeypad, LogHeld, RecordDiffers
from punto.baccarat.table.turn import RefusedError
from punto.baccarat.wagers.definition import Game
from punto.configs.expectations import Expectations
from punto.configs.problems import ConfigError
from punto.controller import clock, health, local_socket
from punto.controller.accounts.refusals import AccountsError
from punto.controller.clock_watch import ClockWatch
from punto.controller.components import own_components, own_version
from punto.controller.config.file import ServiceConfig
from punto.controller.config.sections import AccountsConfig, ConsoleConfig
from punto.controller.devices.coin_spot_door import CoinSpotDoor
from punto.controller.devices.device import DeviceDoor
from punto.controller.devices.keypad_door import KeypadDoor
from punto.controller.devices.shoe_door import ShoeDoor
from punto.controller.edge.live import LiveEdge
from punto.controller.engine import Engine, HouseRules
from punto.controller.expectations import Counts, ExactExpectations
from punto.controller.failures import messages_of
from punto.controller.gaming_days import Calendar
from punto.controller.journal.background import BackgroundReplay
from punto.controller.journal.journal import Journal
from punto.controller.journal.schema import RecordError
from punto.controller.linked import Authority, link_of
from punto.controller.messages import topics
from punto.controller.messages.building import head_message, timestamp
from punto.controller.messages.models import Health, Info, Message
from punto.controller.mqtt import Broker
from punto.controller.mqtt_requests import BooksOf
from punto.controller.orders.desk import Desk
from punto.controller.orders.doors import Fitted
from punto.controller.orders.socket_door import SocketDoor
from punto.controller.outbox import Outbox
from punto.controller.publication import meter_topics
from punto.controller.signing.head_signer import HeadSigner
from punto.drivers.base import Devices, DeviceWatch, LinkHealth
from punto.version import __version__

if TYPE_CHECKING:
    from punto.controller.accounts.gate import Gate
    from punto.controller.devices.card_door import CardDoor

EXPECTED: Final = (RecordError, RefusedError, ConfigError)
"""The errors of `serve` whose message tells an operator what to do."""
STATE_EVERY_SECONDS = 1
"""How often the state is sent again, so that a display can show that it is live."""

_log = structlog.get_logger("punto.controller")


class Consoles(Protocol):
    """The consoles of one table. Making them opens their port."""

    async def serve(self) -> None:
        """Serve them until cancelled."""

    def close(self) -> None:
        """Close their port, also if they were never served."""


class Linked(Protocol):
    """A device, the broker or the record, as the consoles show it."""

    def health(self) -> LinkHealth:
        """Its present state."""


@dataclass(frozen=True)
class Process:
    """The process that a table runs in: what the table reports to it, and what it shares with the other tables.

    `opened` is called when the record is recovered and orders are taken, and then `alive` about once a second, as long as
    the path to the disk works. Only the table that holds `replaying` replays its record in the background.
    """

    opened: Callable[[], None] = lambda: None
    alive: Callable[[], None] = lambda: None
    replaying: asyncio.Lock = field(default_factory=asyncio.Lock)
    counts: Counts = field(default_factory=Counts)


ConsolesOf = Callable[[ServiceConfig, Desk, "Gate"], Consoles]
DoorsOf = Callable[[ServiceConfig, Engine, Outbox], Iterable[DeviceDoor[Any]]]


async def serve(
    config: ServiceConfig,
    devices: Devices,
    consoles_of: ConsolesOf,
    doors_of: DoorsOf,
    books_of: BooksOf,
    process: Process | None = None,
) -> None:
    """Run one table's service until cancelled. Each line of its log has the table's id.

    `consoles_of` makes the consoles, if they are configured. `doors_of` makes the doors of devices that no other
    part of the table needs. `books_of` reads the books of its meter for the house.

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
        calendar = Calendar.of() if config.progressive is None else config.progressive.calendar
        engine = await Engine.start(
            journal,
            outbox,
            topic,
            config.settings(),
            own_version(),
            restricted=restricted,
            house=HouseRules(calendar, config.outlawed),
        )
        service = _Service(config, engine, journal, outbox, devices, process or Process())
        ended = "the service failed"
        try:
            service.connect(topic, doors_of)
            if service.broker is not None:
                service.broker.requests.books_of = books_of
            _log.info("table recovered", phase=engine.state.phase, inputs=engine.seq)
            await service.run(consoles_of)
        except asyncio.CancelledError:
            ended = "the service was stopped"
            raise
        except Exception as error:
            ended = ": ".join([ended, *messages_of(error, RecordError)])
            raise
        finally:
            _log.info("table ended", reason=ended, inputs=engine.seq)
            service.opened.close()
            if service.broker is not None:
                await service.broker.publish_offline(ended)
    finally:
        await journal.close()


@dataclass
class _Service:
    """The parts of one table's service."""

    config: ServiceConfig
    engine: Engine
    journal: Journal
    outbox: Outbox
    devices: Devices
    process: Process
    gate: "Gate | None" = None
    broker: Broker | None = None
    doors: list[DeviceDoor[Any]] = field(default_factory=list)
    fitted: Fitted = field(default_factory=Fitted)
    authority: Authority | None = None
    signer: HeadSigner | None = None
    opened: ExitStack = field(default_factory=ExitStack)
    """What must not stay open for the table's next start, also if the task that serves it never began."""

    def connect(self, topic: topics.Topics, doors_of: DoorsOf) -> None:
        """Create what connects the engine with the devices, the accounts and the broker."""
        config, engine, outbox, devices = self.config, self.engine, self.outbox, self.devices
        shoe = None if devices.shoe is None else ShoeDoor(engine, outbox, devices.shoe)
        spots = None if devices.coin_spot is None else CoinSpotDoor(engine, outbox, devices.coin_spot)
        if config.accounts is not None:
            self.gate = gate_of(config.accounts, config.console, engine)
            self.opened.callback(self.gate.accounts.close)
        cards = _card_door(config, engine, outbox, devices, self.gate)
        keypad = None
        if devices.keypad is not None and config.keypad is not None:
            start_game = None if spots is None else spots.start_game
            keypad = KeypadDoor(engine, outbox, devices.keypad, config.keypad, start_game)
        others = doors_of(config, engine, outbox)
        self.doors = [door for door in (shoe, keypad, spots, cards, *others) if door is not None]
        links: dict[str, Linked] = {door.device: door for door in self.doors}
        report = health.HealthReport(engine, self.journal, outbox, self._house_accounts)
        self.broker = _broker(config, engine, outbox, topic, links, report)
        if self.broker is not None and config.accounts is not None and config.mqtt is not None:
            _listen_for_accounts(self.broker, config.accounts, config.mqtt.base, engine)
        # The consoles show the broker and the record too.
        parts = {**links, **({} if self.broker is None else {"broker": self.broker})}
        parts["record"] = health.RecordHealth(self.journal, config.record.path)
        if config.record.signer is not None:
            self.signer = HeadSigner(
                config.record.signer, config.table.id, self.journal, self._head_signed, self._differs
            )
            parts["signer"] = self.signer
        fitted = _fitted(config, self.doors, spots, cards)
        self.fitted = replace(fitted, links=lambda: _health_of(parts), meter=self._meter)

    def _head_signed(self) -> None:
        if self.engine.publication.restricted:
            self.outbox.snapshot_due(topics.RESTRICTED_HEAD)

    async def _differs(self, place: str) -> None:
        await self.engine.submit([RecordDiffers(place)], "service")

    def _house_accounts(self) -> int | None:
        """The version of the house's accounts that the table has, None if it has accounts of its own or they cannot be read."""
        if self.gate is None or self.config.accounts is None or self.config.accounts.house is None:
            return None
        try:
            return self.gate.accounts.house_version()
        except AccountsError:
            return None

    def _meter(self) -> int | None:
        return None if self.authority is None else self.authority.meter

    async def run(self, consoles_of: ConsolesOf) -> None:
        """Run all parts until one fails or the service is cancelled."""
        config, engine = self.config, self.engine
        for each in self.doors:
            await each.begin()
        desk = Desk(engine, config.folder, self.fitted, self.gate, config.law, config.rules)
        console = (
            None if config.console is None or self.gate is None else consoles_of(config, desk, self.gate)
        )
        if console is not None:
            self.opened.callback(console.close)
        exact = ExactExpectations(engine.state, self._expect, self.process.counts)
        engine.watch(exact.see)
        replay = BackgroundReplay(
            config.record.path,
            self.journal,
            self._differs,
            self.process.replaying,
        )
        of = config.operator
        door = None if of is None else local_socket.open_at(of.socket, of.mode_bits, of.group)
        if door is not None:
            self.opened.callback(door.close)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self.journal.watch(), name="journal")
            beat = _beat(engine, self.journal, self.outbox, self.process.alive)
            tasks.create_task(beat, name="heartbeat")
            tasks.create_task(replay.run(), name="replay")
            tasks.create_task(exact.run(), name="expectations")
            if self.signer is not None:
                tasks.create_task(self.signer.run(), name="signer")
            if door is not None:
                tasks.create_task(local_socket.serve(door, SocketDoor(desk)), name="operators")
            if console is not None:
                tasks.create_task(console.serve(), name="console")
            for each in self.doors:
                tasks.create_task(each.run(), name=each.device)
            if self.devices.configuration_keypad is not None:
                watch = _watch(self.devices.configuration_keypad, engine)
                tasks.create_task(watch, name="configuration keypad")
            if self.broker is not None:
                self.broker.expectations = exact.of
                self._publish(tasks, self.broker)
            # Open means that the record is recovered and orders are taken. The service does not wait for the broker: if
            # the broker were away for hours, systemd would restart the service again and again.
            self.process.opened()

    def _expect(self, game: Game, found: Expectations) -> None:
        """Keep expectations that were counted on the record, for reports, and publish the meters beside them."""
        self.journal.add_expectations(game, found)
        self.outbox.snapshot_due(topics.METERS)

    def _signed_head(self, now: datetime) -> Message | None:
        """The last signed head; the head as it is while the signer is away from the start on."""
        signed = None if self.signer is None else self.signer.signed
        if self.signer is not None and not self.signer.tried:
            return None
        fields = None if signed is None else signed.model_dump(exclude={"table"})
        return head_message(self.engine.state.settings, str(self.journal.head), now, fields)

    def _publish(self, tasks: asyncio.TaskGroup, broker: Broker) -> None:
        """Start the broker's link with the retained messages of devices, edges and meters."""
        config, engine = self.config, self.engine
        for each in self.doors:
            broker.retain(topics.device(each.device), each.message)
        if self.signer is not None and engine.publication.restricted:
            broker.retain(topics.RESTRICTED_HEAD, self._signed_head)
        if config.edge is not None:
            edge = LiveEdge(engine.state.settings, engine.record_name, config.edge.share, self.outbox)
            engine.watch(edge.see)
            edge.see(engine.state, engine.seq)  # the start may be in mid-shoe
            broker.retain(topics.RESTRICTED_EDGE, edge.message)
            tasks.create_task(edge.run(), name="edge")
        link = link_of(engine, broker, self.outbox, broker.topic)
        self.authority = link if isinstance(link, Authority) else None
        if link is not None:
            tasks.create_task(link.run(), name="meter")
            for name in meter_topics(engine.state):
                broker.retain(name, link.message)
        tasks.create_task(broker.run(), name="broker")


async def _beat(
    engine: Engine, journal: Journal, outbox: Outbox, alive: Callable[[], None] = lambda: None
) -> None:
    """Send the state again every second, and call `alive` if the path to the disk still works."""
    beats, held, metered, watch = 0, "", engine.state, ClockWatch(*clock.both())
    # Tables that start together, in one process or after a power cut, do not send together from then on.
    await asyncio.sleep(random.uniform(0, STATE_EVERY_SECONDS))
    while True:
        await asyncio.sleep(STATE_EVERY_SECONDS)
        if (step := watch.look(*clock.both())) is not None:
            before, after = map(timestamp, step)
            await engine.submit([ClockStepped(before, after)], "service")
        if floods := [*engine.pace.summed_up()]:
            await engine.submit(floods, "service")
        await _proven(engine, journal, outbox, alive)
        beats += 1
        outbox.snapshot_due(topics.STATE, *meter_topics(engine.state))
        state = engine.state
        # Once a second is often enough for people. At each hand, it would delay the cards of a fast shoe.
        if (
            state.history.meters is not metered.history.meters
            or state.history.day is not metered.history.day
            or state.settings != metered.settings
        ):
            outbox.snapshot_due(topics.METERS)
        metered = state
        if beats % health.EVERY_SECONDS == 0:
            held, before = await journal.held_by(), held
            if held and not before:
                await engine.submit([LogHeld(held)], "service")
            outbox.snapshot_due(topics.HEALTH, topics.AVAILABILITY)
            if engine.publication.restricted:
                outbox.snapshot_due(topics.RESTRICTED_HEAD)


async def _proven(engine: Engine, journal: Journal, outbox: Outbox, alive: Callable[[], None]) -> None:
    """Call `alive` if the path of the inputs to the disk works: this sign of life stops if the path is stuck.

    It does not stop while another program holds the record's lock, because a restart would not end that; the table is as it was.
    """
    way = engine.enter([], "service").done  # also begins a gaming day
    while not (await asyncio.wait([way], timeout=STATE_EVERY_SECONDS))[0]:
        if journal.blocked:
            alive()
            outbox.snapshot_due(topics.STATE, *meter_topics(engine.state))
    way.result()
    alive()


def _fitted(
    config: ServiceConfig,
    doors: Iterable[DeviceDoor[Any]],
    spots: CoinSpotDoor | None,
    cards: "CardDoor | None",
) -> Fitted:
    """The functions of the table's devices for its progressive."""
    fitted = Fitted(gives=lambda: frozenset().union(*(door.gives() for door in doors)))
    if config.keypad is not None:
        fitted = replace(fitted, start_label=config.keypad.start_label)
    if spots is not None:
        fitted = replace(fitted, start_game=spots.start_game, late=spots.late)
    if cards is not None:
        fitted = replace(fitted, password_of=cards.password_of, give_password=cards.confirm)
    return fitted


def _health_of(parts: Mapping[str, Linked]) -> dict[str, LinkHealth]:
    return {name: part.health() for name, part in parts.items()}


async def _watch(keypad: DeviceWatch, engine: Engine) -> None:
    """Record when the score display's configuration keypad is attached or removed."""

    async def report(attached: bool, path: str) -> None:
        await engine.submit([ConfigurationKeypad(attached, path)], "configuration keypad")

    await keypad.run(report)


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


def _card_door(
    config: ServiceConfig, engine: Engine, outbox: Outbox, devices: Devices, gate: "Gate | None"
) -> "CardDoor | None":
    if devices.card_reader is None or gate is None or config.progressive is None:
        return None
    from punto.controller.devices.card_door import CardDoor  # noqa: PLC0415 - as with the accounts

    second_factor = config.progressive.second_factor
    return CardDoor(
        engine, outbox, devices.card_reader, gate.accounts, second_factor=second_factor, clock=clock.monotonic
    )


def _broker(
    config: ServiceConfig,
    engine: Engine,
    outbox: Outbox,
    topic: topics.Topics,
    links: Mapping[str, Linked],
    report: health.HealthReport,
) -> Broker | None:
    if config.mqtt is None:
        return None
    components = own_components()

    def info(now: datetime) -> Info:
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

    def current_health(now: datetime) -> Health:
        return report.message(now, _health_of(links))

    return Broker(config.mqtt, engine, report.journal, outbox, topic, info, current_health)
