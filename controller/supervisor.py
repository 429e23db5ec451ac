"""Starts the service's parts in order, keeps them in one task group, and stops them in order.

A lost device or broker is retried inside its own task. Everything else that escapes a task ends them all: the
process ends, systemd starts it again, and it recovers from the record.
"""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

import structlog

from punto.baccarat.table.events import ConfigurationKeypad, RecordDiffers
from punto.baccarat.table.shoe_orders import shoe_orders
from punto.configs.problems import ConfigError, Problem
from punto.controller import health
from punto.controller.components import own_components, own_version
from punto.controller.config import AccountsConfig, ConsoleConfig, ServiceConfig
from punto.controller.devices.coin_spot_door import CoinSpotDoor
from punto.controller.devices.keypad_door import KeypadDoor
from punto.controller.edge.live import LiveEdge
from punto.controller.engine import Engine
from punto.controller.journal.background import BackgroundReplay
from punto.controller.journal.journal import Journal
from punto.controller.messages import topics
from punto.controller.messages.building import progressive_message, timestamp
from punto.controller.messages.models import Device, Health, Info
from punto.controller.mqtt import Broker
from punto.controller.orders import socket_door
from punto.controller.orders.desk import Desk, Fitted
from punto.controller.outbox import Outbox
from punto.controller.sd_notify import notify
from punto.drivers.base import Devices, LinkHealth
from punto.version import __version__

if TYPE_CHECKING:
    from punto.controller.accounts.accounts import Accounts
    from punto.controller.accounts.gate import Gate
    from punto.controller.devices.card_door import CardDoor

STATE_EVERY_SECONDS = 1
"""How often the state is sent again, so that a display knows that it is live."""

_log = structlog.get_logger("controller")


class Consoles(Protocol):
    """The consoles of one table, which are opened when they are made."""

    async def serve(self) -> None:
        """Serve them until cancelled."""


ConsolesOf = Callable[[ServiceConfig, Engine, Desk, "Gate"], Consoles]


async def serve(
    config: ServiceConfig, devices: Devices, consoles_of: ConsolesOf, ready: Callable[[], None] | None = None
) -> None:
    """Run one table's service until cancelled; `ready` is called once it has recovered and takes orders.

    `consoles_of` makes the consoles if the configuration has any.

    Raises:
        ConfigError: the operators' socket or consoles cannot be made, or the broker's password not be read.
        RecordError: the record cannot be opened, trusted or written.
        RefusedError: the configuration may not be used with the table as it stands.
        ConfigError: what it names cannot be used.
    """
    outbox = Outbox()
    journal = Journal.open(config.record.path)
    try:
        topic = topics.Topics(config.mqtt.base if config.mqtt else "", config.table.id)
        engine = await Engine.start(
            journal,
            outbox,
            topic,
            config.settings(),
            own_version(),
            restricted=config.mqtt is not None and config.mqtt.restricted,
        )
        shoe = devices.shoe
        if shoe is not None:
            engine.direct_shoe = shoe.direct
            shoe.direct(shoe_orders(engine.state))
        report = health.HealthReport(engine, journal, outbox)
        broker = _broker(config, engine, journal, outbox, topic, devices, report)
        _log.info("table recovered", table=config.table.id, phase=engine.state.phase, inputs=engine.seq)
        ended = "the service failed"
        try:
            await _run(config, engine, journal, outbox, broker, devices, consoles_of, ready)
        except asyncio.CancelledError:
            ended = "the service was stopped"
            raise
        finally:
            notify("STOPPING=1")
            if broker is not None:
                await broker.say_offline(ended)
    finally:
        await journal.close()


async def _run(  # noqa: PLR0913, PLR0917 - the parts of a service
    config: ServiceConfig,
    engine: Engine,
    journal: Journal,
    outbox: Outbox,
    broker: Broker | None,
    devices: Devices,
    consoles_of: ConsolesOf,
    ready: Callable[[], None] | None,
) -> None:
    spots = None if devices.coin_spot is None else CoinSpotDoor(engine, outbox, devices.coin_spot)
    if spots is not None:
        await spots.begin()
    cards = _card_door(config, engine, outbox, devices)
    gate = None if config.accounts is None else gate_of(config.accounts, config.console, engine)
    at_page = config.accounts is not None and config.accounts.approval == "page"
    links = _links(config, devices, broker, journal)
    fitted = replace(_fitted(config, devices, spots, cards), links=links)
    desk = Desk(engine, config.folder, fitted, gate, at_page=at_page)
    console = None if config.console is None or gate is None else consoles_of(config, engine, desk, gate)
    replay = BackgroundReplay(
        config.record.path, journal, lambda found: engine.submit([RecordDiffers(found)], "service")
    )
    of = config.operator
    door = None if of is None else socket_door.open_at(of.socket, of.mode_bits, of.group)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(journal.watch(), name="journal")
        tasks.create_task(_beat(engine, journal, outbox), name="heartbeat")
        tasks.create_task(replay.run(), name="replay")
        if door is not None:
            tasks.create_task(socket_door.serve(door, desk), name="operators")
        if console is not None:
            tasks.create_task(console.serve(), name="console")
        if devices.shoe is not None:
            tasks.create_task(devices.shoe.run(engine.submit_from_shoe), name="shoe")
        if spots is not None:
            _attend(tasks, spots.run(), "coin spot", broker, topics.DEVICE_COIN_SPOT, spots.message)
        if cards is not None:
            _attend(tasks, cards.run(), "card reader", broker, topics.DEVICE_CARD_READER, cards.message)
        _attend_keypads(tasks, config, engine, outbox, broker, devices, desk.fitted)
        if broker is not None:
            _attend_edge(tasks, config, engine, outbox, broker)
            for name in engine.meter_topics:
                broker.retain(
                    name,
                    lambda now: progressive_message(engine.state, engine.seq, engine.award_since, now),
                )
            tasks.create_task(broker.run(), name="broker")
        # Ready means that the record is recovered and orders are taken. A broker may be away for hours, and a
        # service that waited for it would be restarted for ever.
        notify("READY=1")
        if ready is not None:
            ready()


def _attend_edge(
    tasks: asyncio.TaskGroup, config: ServiceConfig, engine: Engine, outbox: Outbox, broker: Broker
) -> None:
    if config.edge is not None:
        edge = LiveEdge(config.table.id, config.edge.share, outbox)
        engine.watchers.append(edge.see)
        edge.see(engine.state, engine.seq)  # a start in mid-shoe finds one to value
        broker.retain(topics.RESTRICTED_EDGE, edge.message)
        tasks.create_task(edge.run(), name="edge")


def _attend(
    tasks: asyncio.TaskGroup,
    running: Coroutine[None, None, None],
    name: str,
    broker: Broker | None,
    topic: str,
    message: Callable[[datetime], Device],
) -> None:
    """Have a device's driver run, and its state published."""
    tasks.create_task(running, name=name)
    if broker is not None:
        broker.retain(topic, message)


def _fitted(
    config: ServiceConfig, devices: Devices, spots: CoinSpotDoor | None, cards: "CardDoor | None"
) -> Fitted:
    """What the table's devices do for its progressive."""

    def gives() -> frozenset[str]:
        kinds = set()
        if has_switch and devices.keypad is not None and devices.keypad.health().connected:
            kinds.add("turn_key")
        if devices.card_reader is not None and devices.card_reader.health().connected:
            kinds.add("swipe_card")
        if spots is not None:
            kinds |= {"wager_placed", "wager_lifted"}
        return frozenset(kinds)

    has_switch = config.keypad is not None and config.keypad.key_switch
    fitted = Fitted(gives=gives)
    if config.keypad is not None:
        fitted = replace(fitted, start_label=config.keypad.start_label)
    if spots is not None:
        fitted = replace(fitted, start_game=spots.start_game, late=spots.late)
    if cards is not None:
        fitted = replace(fitted, password_of=cards.password_of, give_password=cards.confirm)
    return fitted


def _links(
    config: ServiceConfig, devices: Devices, broker: Broker | None, journal: Journal
) -> Callable[[], dict[str, LinkHealth]]:
    """How the devices, the broker and the record stand, for the consoles."""
    parts = {
        "ishoe": devices.shoe,
        "keypad": devices.keypad,
        "coin_spot": devices.coin_spot,
        "card_reader": devices.card_reader,
        "broker": broker,
        "record": health.RecordHealth(journal, config.record.path),
    }
    return lambda: {name: part.health() for name, part in parts.items() if part is not None}


def _attend_keypads(
    tasks: asyncio.TaskGroup,
    config: ServiceConfig,
    engine: Engine,
    outbox: Outbox,
    broker: Broker | None,
    devices: Devices,
    fitted: Fitted,
) -> None:
    if devices.keypad is not None and config.keypad is not None:
        keypad = KeypadDoor(
            engine,
            outbox,
            devices.keypad,
            config.keypad.key_map(),
            config.keypad.timeout,
            start_game=fitted.start_game,
            key_switch=config.keypad.key_switch,
            start_label=config.keypad.start_label,
        )
        running = devices.keypad.run(keypad)
        _attend(tasks, running, "keypad", broker, topics.DEVICE_KEYPAD, keypad.message)
    if devices.configuration_keypad is not None:

        async def report(attached: bool, path: str) -> None:
            await engine.submit([ConfigurationKeypad(attached, path)], "configuration keypad")

        tasks.create_task(devices.configuration_keypad.run(report), name="configuration keypad")


async def _beat(engine: Engine, journal: Journal, outbox: Outbox) -> None:
    """Send the state again every second, and tell systemd that the path to the disk still works."""
    beats = 0
    while True:
        await asyncio.sleep(STATE_EVERY_SECONDS)
        async with engine.path:  # whoever holds the path up holds up this sign of life too
            await journal.rounds_after(journal.last_round, 1)
        notify("WATCHDOG=1")
        beats += 1
        outbox.snapshot_due(topics.STATE, *engine.meter_topics)
        if beats % health.EVERY_SECONDS == 0:
            outbox.snapshot_due(topics.HEALTH, topics.AVAILABILITY)
            if engine.restricted:
                outbox.snapshot_due(topics.RESTRICTED_HEAD)


def _accounts(config: AccountsConfig) -> "Accounts":
    # A table without accounts does not load what their passwords are checked with.
    from punto.controller.accounts.accounts import Accounts, AccountsError  # noqa: PLC0415

    try:
        return Accounts.open(config.path)
    except AccountsError as error:
        raise ConfigError([Problem(str(error), key="accounts.path")]) from error


def gate_of(of: AccountsConfig, console: ConsoleConfig | None, engine: Engine) -> "Gate":
    """The way in for the people with accounts; whoever makes it closes it.

    Raises:
        ConfigError: the accounts cannot be opened.
    """
    from punto.controller.accounts.gate import Gate, Policy  # noqa: PLC0415 - as above

    accounts = _accounts(of)
    for name in accounts.not_as_logged():
        _log.warning(
            "an account does not match the audit log and is not let in: see `punto operators log`, then restore the account",
            account=name,
        )
    idle = 0 if console is None else console.idle_minutes
    return Gate(
        accounts, engine, Policy(idle, of.lock_out_after, of.lock_out_minutes, of.refusals_per_minute)
    )


def _card_door(config: ServiceConfig, engine: Engine, outbox: Outbox, devices: Devices) -> "CardDoor | None":
    if devices.card_reader is None or config.accounts is None or config.progressive is None:
        return None
    from punto.controller.devices.card_door import CardDoor  # noqa: PLC0415 - as with the accounts

    accounts, second_factor = _accounts(config.accounts), config.progressive.second_factor
    return CardDoor(engine, outbox, devices.card_reader, accounts, second_factor=second_factor)


def _broker(
    config: ServiceConfig,
    engine: Engine,
    journal: Journal,
    outbox: Outbox,
    topic: topics.Topics,
    devices: Devices,
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
            version=__version__,
            components=components,
            configuration_digest=config.digest(),
            configuration=config.redacted(),
        )

    def current_health(now: datetime) -> Health:
        links = (devices.shoe, devices.keypad, devices.coin_spot, devices.card_reader)
        return report.message(now, *(each.health().counters if each is not None else {} for each in links))

    return Broker(config.mqtt, engine, journal, outbox, topic, info, current_health)
