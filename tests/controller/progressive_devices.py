"""A table of the progressive with its devices: the engine and its record in this process, the devices on real pseudo-terminals.

async with at_a_table(folder) as here:
    here.sensors.put(2)
    await here.started()
    await here.deal(SUITED)
"""

import asyncio
import json
from collections.abc import AsyncIterator, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from unittest.mock import patch

from punto.baccarat.progressive.aquarius import GameOver
from punto.baccarat.progressive.game_events import StartGame
from punto.baccarat.progressive.procedure import Hand
from punto.baccarat.table.events import Event
from punto.baccarat.table.settings import Settings
from punto.controller.accounts.accounts import Accounts
from punto.controller.accounts.roles import Role
from punto.controller.config.devices import KeypadConfig
from punto.controller.devices import coin_spot_door
from punto.controller.devices.card_door import CardDoor
from punto.controller.devices.coin_spot_door import CoinSpotDoor
from punto.controller.devices.keypad_door import KeypadDoor
from punto.controller.engine import Handled
from punto.drivers.card_reader.frames import Answer as CardSaid
from punto.drivers.card_reader.link import TOO_LATE
from punto.drivers.card_reader.serial_line import SerialCardReader
from punto.drivers.coin_spot import link as coin_spot_link
from punto.drivers.coin_spot.seats import Seats
from punto.drivers.coin_spot.serial_line import SerialCoinSpot
from punto.drivers.keypad.frames import BOUNCE_SECONDS, Answer
from punto.drivers.keypad.serial_line import SerialKeypad
from punto.simulators.card_reader import VirtualCardReader
from punto.simulators.coin_spot import VirtualCoinSpot
from punto.simulators.keypad import VirtualKeypad
from punto.simulators.line import Faults
from tests.baccarat.table.croupier import settings as table_settings
from tests.controller.table_in_this_process import Table, eventually, rows, table
from tests.deadline import DEADLINE

SUITED = "2H KC 3H JC 4H KD"  # 9 over 0 with 2-3-4 of hearts: 25% of the meter
NOTHING = "KS 2S 5S 3S 4D 9D"  # 9 over 4, which is no award
SEATS = 7
BOB = "6000170001"  # a supervisor's card
PASSWORD = "correct horse"  # noqa: S105 - a test's
STUCK_SECONDS = 2.0


def settings(**meter: Any) -> Settings:
    """A table that pays by progressive #2, with recorded base wagers."""
    return table_settings(game_name="progressive-2", meter={"reserve": "1%", **meter})


@dataclass
class Devices:
    """The devices at the table, which outlive the service."""

    folder: Path
    sensors: VirtualCoinSpot
    keypad: VirtualKeypad
    reader: VirtualCardReader

    @classmethod
    def at(cls, folder: Path, faults: Faults | None = None) -> "Devices":
        return cls(
            folder,
            VirtualCoinSpot(folder / "coin-spot", faults=faults, positions=SEATS),
            VirtualKeypad(folder / "keypad", faults=faults, key="run"),
            VirtualCardReader(folder / "card-reader", faults=faults),
        )


class AtATable:
    """A service that runs, its table, and who is at it."""

    def __init__(
        self, own: Table, devices: Devices, *, sensors: int = SEATS, second_factor: bool = False
    ) -> None:
        self.table = own
        self.devices = devices
        self.sensors = devices.sensors
        seats = Seats.of([(n, n) for n in range(1, sensors + 1)], SEATS)
        self.driver = SerialCoinSpot(str(devices.folder / "coin-spot"), 115_200, seats, STUCK_SECONDS)
        self._pressed = ""
        self.spots = CoinSpotDoor(own.engine, own.outbox, self.driver)
        self.keypad = SerialKeypad(str(devices.folder / "keypad"), 115_200)
        self.keys = KeypadDoor(
            own.engine,
            own.outbox,
            self.keypad,
            KeypadConfig(port="/dev/keypad", key_switch=True),
            self.spots.start_game,
        )

        self.accounts = Accounts.open(devices.folder / "operators.db")
        self.reader = SerialCardReader(str(devices.folder / "card-reader"), 115_200)
        self.now = 0.0
        self.cards = CardDoor(
            own.engine,
            own.outbox,
            self.reader,
            self.accounts,
            second_factor=second_factor,
            clock=lambda: self.now,
        )

    # --- what is known

    @property
    def hand(self) -> Hand:
        assert self.table.state.progressive is not None
        return self.table.state.progressive.procedure.hand

    @property
    def step(self) -> str:
        assert self.table.state.progressive is not None
        return self.table.state.progressive.procedure.step.value

    @property
    def key(self) -> str:
        assert self.table.state.progressive is not None
        assert self.table.state.progressive.procedure.kind == "aquarius"
        return self.table.state.progressive.procedure.key

    @property
    def meter(self) -> int:
        """What the meter shows, in cents."""
        assert self.table.state.progressive is not None
        return self.table.state.progressive.books.shown

    @property
    def online(self) -> bool:
        return self.table.state.devices.sensors is not None and self.table.state.devices.sensors.online

    async def until(self, so: Any, what: str) -> None:
        await eventually(so, what)

    async def recognised(self, *seats: int) -> None:
        """Wait until these seats' wagers, and no others, are on the record, and lit."""
        await self.until(
            lambda: self.hand.sensors == seats and self.sensors.lit == frozenset(seats), f"{seats} are lit"
        )

    async def heard(self) -> None:
        """Wait until the sensors are heard, and the record says so."""
        await self.until(
            lambda: self.sensors.connected and self.online and self.driver.health().connected,
            "the sensors are heard",
        )
        await self.until(
            lambda: self.devices.keypad.connected and self.keypad.health().connected, "the keypad is heard"
        )

    # --- what people do

    async def give(self, *events: Event) -> None:
        for event in events:
            await self.table.order(event)

    async def open(self) -> None:
        """From the first day to betting."""
        await self.table.do("sign on")
        await self.table.hello()
        await self.table.do("meter", "change shoe", "open")
        await self.heard()

    async def wager(self, *seats: int) -> None:
        """These seats make a wager on Player, and lay one on the sensor."""
        for seat in seats:
            await self.table.do(f"wager {seat} player 500")
            self.sensors.put(seat)
        await self.recognised(*sorted({*self.hand.sensors, *seats}))

    async def start(self) -> Handled:
        """The dealer presses START GAME."""
        order = StartGame(self.table.state.round.number, "ann")
        return await self.spots.start_game(order, "operator ann")

    async def started(self) -> None:
        """The same, and the sensors confirm it, even if the machine stands still for longer than a dealer would wait."""
        with (
            patch.object(coin_spot_door, "CONFIRM_SECONDS", DEADLINE),
            patch.object(coin_spot_link, "START_SECONDS", DEADLINE),
        ):
            assert (await self.start()).refusal is None

    async def take_the_chips(self) -> None:
        """The dealer takes the wagers that are in the game off the sensors."""
        for seat in self.hand.wagers:
            self.sensors.take(seat)
        await self.until(lambda: self.hand.spent == (), "the chips are taken")

    async def press(self, keys: str) -> Answer:
        """The dealer presses keys; what the keypad shows of the last."""
        for key in keys.split():
            if key == self._pressed:
                await asyncio.sleep(1.2 * BOUNCE_SECONDS)  # nobody's finger is quicker
            self._pressed = key
            async with asyncio.timeout(DEADLINE):
                answer = await self.devices.keypad.press(key)
        return answer

    async def turn(self, to: Literal["run", "jph"]) -> None:
        """A supervisor turns the key."""
        self.devices.keypad.turn(to)
        await self.until(lambda: self.key == to, f"the key is in {to}")

    async def swipe(self, card: str) -> CardSaid:
        """A card is swiped, again if a busy machine took it too late; what the reader shows."""
        async with asyncio.timeout(DEADLINE):
            while True:
                await self.until(lambda: self.devices.reader.connected, "the reader hears the service")
                said = await self.devices.reader.swipe(card)
                if said.text != TOO_LATE.text:
                    return said

    async def deal(self, codes: str) -> None:
        await self.table.do(f"draw {codes}")

    async def over(self) -> None:
        """The dealer presses GAME OVER."""
        await self.give(GameOver("ann"))

    def incidents(self) -> list[tuple[str, str]]:
        """Kind and code of every incident, in order."""
        return rows(
            self.devices.folder / "table.db", "SELECT kind, code FROM incidents ORDER BY input, place"
        )

    def sources(self, kind: str) -> set[str]:
        """Where the inputs of this kind came from."""
        found = rows(self.devices.folder / "table.db", "SELECT payload, source FROM inputs")
        return {source for payload, source in found if json.loads(payload)["kind"] == kind}

    def standing(self) -> list[str]:
        """The codes of the alarms that stand."""
        return [alarm.code for alarm in self.table.state.alarms]

    def record(self, *kinds: str) -> list[dict[str, Any]]:
        """The inputs of these kinds, in order."""
        found = rows(self.devices.folder / "table.db", "SELECT payload FROM inputs ORDER BY seq")
        return [event for (payload,) in found if (event := json.loads(payload))["kind"] in kinds]


def enroll(folder: Path, name: str, role: Role, card: str) -> None:
    """Somebody gets an account, and this card."""
    accounts = Accounts.open(folder / "operators.db")
    accounts.add(name, [role], PASSWORD, "2026-11-21T00:00:00Z")
    accounts.enroll(name, card)
    accounts.close()


@asynccontextmanager
async def at_a_table(
    folder: Path,
    own: Settings | None = None,
    devices: Devices | None = None,
    *,
    sensors: int = SEATS,
    second_factor: bool = False,
) -> AsyncIterator[AtATable]:
    """A service on the record in `folder`, with devices of its own unless some are there already.

    The first seats have `sensors`, as far as the service knows.
    """
    async with AsyncExitStack() as stack:
        if devices is None:
            devices = await stack.enter_async_context(switched_on(folder))
        engine = await stack.enter_async_context(table(folder / "table.db", own or settings()))
        here = AtATable(engine, devices, sensors=sensors, second_factor=second_factor)
        await here.spots.begin()
        await stack.enter_async_context(running(here.spots.run()))
        await stack.enter_async_context(running(here.keys.run()))
        await stack.enter_async_context(running(here.cards.run()))
        yield here


@asynccontextmanager
async def switched_on(folder: Path, faults: Faults | None = None) -> AsyncIterator[Devices]:
    """The devices, with power, on lines with these faults."""
    devices = Devices.at(folder, faults)
    async with (
        running(devices.sensors.run()),
        running(devices.keypad.run()),
        running(devices.reader.run()),
    ):
        yield devices


@asynccontextmanager
async def running(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Have it run meanwhile."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
