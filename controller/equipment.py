"""The doors of a table's devices, and what the devices do in place of a person at a desk."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from punto.baccarat.table.events import ConfigurationKeypad
from punto.controller.config.file import ServiceConfig
from punto.controller.devices.coin_spot_door import CoinSpotDoor
from punto.controller.devices.door import DeviceDoor
from punto.controller.devices.keypad_door import KeypadDoor
from punto.controller.devices.shoe_door import ShoeDoor
from punto.controller.engine import Engine
from punto.controller.orders.doors import Equipment
from punto.controller.outbox import Outbox
from punto.drivers.base import Devices, DeviceWatch
from punto.runtime import clock

if TYPE_CHECKING:
    from punto.controller.accounts.gate import Gate
    from punto.controller.devices.card_door import CardDoor


def equip(
    config: ServiceConfig, engine: Engine, outbox: Outbox, devices: Devices, gate: "Gate | None"
) -> tuple[list[DeviceDoor[Any]], Equipment]:
    """The doors of these devices, and what they do for the table's progressive."""
    shoe = None if devices.shoe is None else ShoeDoor(engine, outbox, devices.shoe)
    spots = None if devices.coin_spot is None else CoinSpotDoor(engine, outbox, devices.coin_spot)
    cards = card_door(config, engine, outbox, devices, gate)
    keypad = None
    if devices.keypad is not None and config.keypad is not None:
        start_game = None if spots is None else spots.start_game
        keypad = KeypadDoor(engine, outbox, devices.keypad, config.keypad, start_game)
    doors: list[DeviceDoor[Any]] = [door for door in (shoe, keypad, spots, cards) if door is not None]
    equipment = Equipment(gives=lambda: frozenset().union(*(door.gives() for door in doors)))
    if config.keypad is not None:
        equipment = replace(equipment, start_label=config.keypad.start_label)
    if spots is not None:
        equipment = replace(equipment, start_game=spots.start_game, late=spots.late)
    if cards is not None:
        equipment = replace(equipment, password_of=cards.password_of, give_password=cards.confirm)
    return doors, equipment


def card_door(
    config: ServiceConfig, engine: Engine, outbox: Outbox, devices: Devices, gate: "Gate | None"
) -> "CardDoor | None":
    """The door of the card reader, None without one or without accounts."""
    if devices.card_reader is None or gate is None or config.progressive is None:
        return None
    from punto.controller.devices.card_door import CardDoor  # noqa: PLC0415 - as with the accounts

    second_factor = config.progressive.second_factor
    return CardDoor(
        engine, outbox, devices.card_reader, gate.accounts, second_factor=second_factor, clock=clock.monotonic
    )


async def watch(keypad: DeviceWatch, engine: Engine) -> None:
    """Record when the score display's configuration keypad is attached or removed."""

    async def report(attached: bool, path: str) -> None:
        await engine.submit([ConfigurationKeypad(attached, path)], "configuration keypad")

    await keypad.run(report)
