"""Starts the service's parts in order, keeps them in one task group, and stops them in order.

A lost device or broker is retried inside its own task. Everything else that escapes a task ends them all: the
process ends, systemd starts it again, and it recovers from the record.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

import structlog

from punto.baccarat.table.events import ConfigurationKeypad, RecordDiffers
from punto.configs.problems import ConfigError, Problem
from punto.controller import health
from punto.controller.accounts.refusals import AccountsError
from punto.controller.components import own_components, own_version
from punto.controller.config.file import ServiceConfig
from punto.controller.config.sections import AccountsConfig, ConsoleConfig
from punto.controller.devices.coin_spot_door import CoinSpotDoor
from punto.controller.devices.device import DeviceDoor
from punto.controller.devices.keypad_door import KeypadDoor
from punto.controller.devices.shoe_door import ShoeDoor
from punto.controller.edge.live import LiveEdge
from punto.controller.engine import Engine
from punto.controller.journal.background import BackgroundReplay
from punto.controller.journal.journal import Journal
from punto.controller.messages import topics
from punto.controller.messages.building import progressive_message, timestamp
from punto.controller.messages.models import Health, Info
from punto.controller.mqtt import Broker
from punto.controller.orders import socket_door
from punto.controller.orders.desk import Desk, Fitted
from punto.controller.outbox import Outbox
from punto.controller.sd_notify import notify
from punto.drivers.base import Devices, DeviceWatch, LinkHealth
from punto.version import __version__

if TYPE_CHECKING:
    from punto.controller.accounts.gate import Gate
    from punto.controller.devices.card_door import CardDoor

STATE_EVERY_SECONDS = 1
"""How often the state is sent again, so that a display knows that it is live."""

_log = structlog.get_logger("punto.controller")


class Consoles(Protocol):
    """The consoles of one table, which are opened when they are made."""

    async def serve(self) -> None:
        """Serve them until cancelled."""


class Linked(Protocol):
    """A device, the broker or the record."""

    def health(self) -> LinkHealth:
        """How it stands now."""


ConsolesOf = Callable[[ServiceConfig, Desk, "Gate"], Consoles]
DoorsOf = Callable[[ServiceConfig, Engine, Outbox], Iterable[DeviceDoor[Any]]]


async def serve(
    config: ServiceConfig,
    devices: Devices,
    consoles_of: ConsolesOf,
    doors_of: DoorsOf,
    ready: Callable[[], None] | None = None,
) -> None:
    """Run one table's service until cancelled; `ready` is called once it has recovered and takes orders.

    `consoles_of` makes the consoles if the configuration has any; `doors_of` those devices' doors that nothing else at the table
    needs to know.

    Raises:
        ConfigError: the operators' socket, the consoles, the accounts or the broker's password cannot be used.
        RecordError: the record cannot be opened, trusted or written.
        RefusedError: the configuration may not be used with the table as it stands.
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
        shoe = None if devices.shoe is None else ShoeDoor(engine, outbox, devices.shoe)
        spots = None if devices.coin_spot is None else CoinSpotDoor(engine, outbox, devices.coin_spot)
        gate = None if config.accounts is None else gate_of(config.accounts, config.console, engine)
        cards = _card_door(config, engine, outbox, devices, gate)
        fitted = _fitted(config, devices, spots, cards)
        keypad = _keypad_door(config, engine, outbox, devices, fitted)
        others = doors_of(config, engine, outbox)
        doors = [door for door in (shoe, keypad, spots, cards, *others) if door is not None]
        links: dict[str, Linked] = {door.device: door for door in doors}
        broker = _broker(config, engine, journal, outbox, topic, links)
        # The consoles show these too.
        parts = {**links, **({} if broker is None else {"broker": broker})}
        parts["record"] = health.RecordHealth(journal, config.record.path)
        fitted = replace(fitted, links=lambda: _health_of(parts))
        _log.info("table recovered", table=config.table.id, phase=engine.state.phase, inputs=engine.seq)
        ended = "the service failed"
        try:
            await _run(
                config, engine, journal, outbox, broker, devices, doors, fitted, gate, consoles_of, ready
            )
        except asyncio.CancelledError:
            ended = "the service was stopped"
            raise
        finally:
            _log.info("table ended", table=config.table.id, reason=ended, inputs=engine.seq)
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
    doors: Sequence[DeviceDoor[Any]],
    fitted: Fitted,
    gate: "Gate | None",
    consoles_of: ConsolesOf,
    ready: Callable[[], None] | None,
) -> None:
    for each in doors:
        await each.begin()
    desk = Desk(engine, config.folder, fitted, gate)
    console = None if config.console is None or gate is None else consoles_of(config, desk, gate)
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
        for each in doors:
            tasks.create_task(each.run(), name=each.device)
            if broker is not None:
                broker.retain(topics.device(each.device), each.message)
        if devices.configuration_keypad is not None:
            tasks.create_task(_watch(devices.configuration_keypad, engine), name="configuration keypad")
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


def _health_of(parts: Mapping[str, Linked]) -> dict[str, LinkHealth]:
    return {name: part.health() for name, part in parts.items()}


def _keypad_door(
    config: ServiceConfig, engine: Engine, outbox: Outbox, devices: Devices, fitted: Fitted
) -> KeypadDoor | None:
    if devices.keypad is None or config.keypad is None:
        return None
    return KeypadDoor(engine, outbox, devices.keypad, config.keypad, fitted.start_game)


async def _watch(keypad: DeviceWatch, engine: Engine) -> None:
    """Put on the record whether the score display's configuration keypad is there."""

    async def report(attached: bool, path: str) -> None:
        await engine.submit([ConfigurationKeypad(attached, path)], "configuration keypad")

    await keypad.run(report)


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


def gate_of(of: AccountsConfig, console: ConsoleConfig | None, engine: Engine) -> "Gate":
    """The way in for the people with accounts; whoever makes it closes it.

    Raises:
        ConfigError: the accounts cannot be opened.
    """
    # A table without accounts does not load what their passwords are checked with.
    from punto.controller.accounts.accounts import Accounts  # noqa: PLC0415
    from punto.controller.accounts.gate import Gate  # noqa: PLC0415

    try:
        accounts = Accounts.open(of.path)
    except AccountsError as error:
        raise ConfigError([Problem(str(error), key="accounts.path")]) from error
    for name in accounts.not_as_logged():
        _log.warning(
            "an account does not match the audit log and is not let in: see `punto operators log`, then restore the account",
            account=name,
        )
    return Gate(accounts, engine, of, 0 if console is None else console.idle_minutes)


def _card_door(
    config: ServiceConfig, engine: Engine, outbox: Outbox, devices: Devices, gate: "Gate | None"
) -> "CardDoor | None":
    if devices.card_reader is None or gate is None or config.progressive is None:
        return None
    from punto.controller.devices.card_door import CardDoor  # noqa: PLC0415 - as with the accounts

    second_factor = config.progressive.second_factor
    return CardDoor(engine, outbox, devices.card_reader, gate.accounts, second_factor=second_factor)


def _broker(
    config: ServiceConfig,
    engine: Engine,
    journal: Journal,
    outbox: Outbox,
    topic: topics.Topics,
    links: Mapping[str, Linked],
) -> Broker | None:
    if config.mqtt is None:
        return None
    components = own_components()
    report = health.HealthReport(engine, journal, outbox)

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
        return report.message(now, _health_of(links))

    return Broker(config.mqtt, engine, journal, outbox, topic, info, current_health)
