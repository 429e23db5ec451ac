"""Killed or switched off after any step of a game of the progressive, a table comes back to exactly that step.

The service is the real program and is ended without a warning; the devices are in this process, on real pseudo-terminals.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from punto.baccarat.progressive.aquarius import State as AquariusState
from punto.baccarat.progressive.state import State as Books
from punto.baccarat.table.state import TablesProgressive
from punto.controller.accounts.roles import Role
from punto.controller.journal.recovery import history
from tests.deadline import DEADLINE
from tests.ports import free_port
from tests.service.progressive_devices import SUITED, Devices, enroll, switched_on
from tests.service.table_in_this_process import eventually
from tests.service.table_on_a_machine import Broker, Listener, Table, inputs, replayed
from tests.share import ALL

pytestmark = pytest.mark.disk

CARD = "6000170001"
Step = tuple[str, Callable[["OnAMachine"], Awaitable[object]]]
"""A step of a game: where it leads, and how it is done."""


class OnAMachine:
    """A table whose service is a program, with its devices."""

    def __init__(self, table: Table, listener: Listener, devices: Devices, *, of_all: bool) -> None:
        self.of_all = (
            of_all  # a power cut is the sensors' too, and their wagers are left to lie through the game
        )
        self.table = table
        self.listener = listener
        self.devices = devices

    # --- what is known

    @property
    def progressive(self) -> TablesProgressive:
        """The progressive by its record."""
        (last,) = deque(history(self.table.record), maxlen=1)
        assert last.state.progressive is not None
        return last.state.progressive

    @property
    def said(self) -> dict[str, Any]:
        """What the service said last of the game and its meter."""
        return self.listener.last("progressive/dragon") or {"seq": 0}

    def published(self) -> set[str]:
        """The devices that are published as there, and have counters in the health message."""
        health = self.listener.last("health") or {}
        return {
            device
            for device in ("coin_spot", "keypad", "card_reader")
            if (self.listener.last(f"devices/{device}") or {}).get("state") == "online"
            and "frames" in health["links"][device]
        }

    async def until(self, so: Callable[[], object], what: str) -> None:
        await eventually(so, what)

    # --- what people do

    async def order(self, order: str, **fields: Any) -> None:
        """Somebody orders something; it must be accepted."""
        await asyncio.to_thread(lambda: self.table.order(order, **fields))

    async def press(self, keys: str) -> None:
        """The dealer presses keys; it must be carried out."""
        for key in keys.split():
            async with asyncio.timeout(DEADLINE):
                answer = await self.devices.keypad.press(key)
            assert answer.result != "refused", (keys, answer.text)

    async def lay(self) -> None:
        for seat in (2, 5):
            self.devices.sensors.put(seat)
        await self.until(lambda: self.devices.sensors.lit == {2, 5}, "the wagers are recognised")

    async def start_game(self) -> None:
        await self.order("start_game", round=1)
        await self.take_the_chips()

    async def press_start(self) -> None:
        await self.press("F5")
        await self.take_the_chips()

    async def take_the_chips(self) -> None:
        if self.of_all:
            return
        for seat in (2, 5):
            self.devices.sensors.take(seat)
        await self.until(lambda: self.progressive.procedure.hand.spent == (), "the chips are taken")

    async def deal(self) -> None:
        for position, card in enumerate(SUITED.split(), start=1):
            await self.order("key_card", card=card, position=position)

    async def turn(self, to: Any) -> None:
        self.devices.keypad.turn(to)

        def so() -> bool:
            procedure = self.progressive.procedure
            return isinstance(procedure, AquariusState) and procedure.key == to

        await self.until(so, f"the key is in {to}")

    async def swipe(self) -> None:
        await self.until(lambda: self.devices.reader.ready, "the reader shows that a swipe is awaited")
        async with asyncio.timeout(DEADLINE):
            answer = await self.devices.reader.swipe(CARD)
        assert answer.result == "accepted", answer.text

    # --- what happens to it

    async def start(self) -> None:
        """Start the service, and wait until its devices are there and it has said where it is."""
        seq = self.said["seq"]
        self.table.begin_to_start()
        await self.until(lambda: self.table.up() or not self.table.running, "the service takes orders")
        assert self.table.running, self.table.said()[-10:]
        await self.devices_are_there()
        await self.until(lambda: self.said["seq"] > seq, "it has said where it is")

    async def devices_are_there(self) -> None:
        """Wait until the service hears every device that it has."""
        sections = self.table.config.read_text()
        devices = self.devices
        await self.until(lambda: devices.sensors.connected, "the sensors hear the service")
        await self.until(lambda: devices.keypad.connected or "[keypad]" not in sections, "the keypad does")
        await self.until(
            lambda: devices.reader.connected or "[card_reader]" not in sections, "the reader does"
        )

    async def kill(self) -> None:
        """End the service as a power cut would, and start it again."""
        self.table.kill()
        if self.of_all:
            self.devices.sensors.lose_power()
        await self.start()

    async def comes_back_to(self, before: TablesProgressive) -> None:
        """Record, service and sensors must come to be as they were."""
        await self.until(lambda: self.progressive == before, f"it is {before.procedure.step} again")
        hand, step = before.procedure.hand, before.procedure.step.value
        started = step != "betting"
        lit = frozenset(hand.wagers if started else hand.sensors)
        await self.until(lambda: self.devices.sensors.lit == lit, f"{lit} are lit")
        if not self.of_all:
            await self.until(
                lambda: self.devices.sensors.device.round == (hand.round if started else 0),
                "the sensors are in its round",
            )
        assert (self.said["step"], self.said["meter"]) == (step, before.books.shown)


AQUARIUS: tuple[Step, ...] = (
    ("betting", OnAMachine.lay),
    ("playing", OnAMachine.press_start),
    ("settling", OnAMachine.deal),
    ("settling", lambda here: here.press("F6 2")),
    ("settling", lambda here: here.turn("jph")),
    ("settling", lambda here: here.press("F6 5")),
    ("logged", lambda here: here.press("F7")),
    ("adjusted", lambda here: here.turn("run")),
    ("betting", lambda here: here.press("F8")),
)
NEXUS: tuple[Step, ...] = (
    ("betting", OnAMachine.lay),
    ("playing", OnAMachine.start_game),
    ("settling", OnAMachine.deal),
    ("settling", lambda here: here.order("hand_button", seat=2)),
    ("settling", lambda here: here.order("hand_button", seat=5)),
    ("confirmed", lambda here: here.order("confirm")),
    ("adjusted", OnAMachine.swipe),
    ("betting", lambda here: here.order("end_game")),
)
PROCEDURES = {"aquarius": AQUARIUS, "nexus": NEXUS}


@asynccontextmanager
async def at_a_table(folder: Path, procedure: str, *, of_all: bool) -> AsyncIterator[OnAMachine]:
    """A table at which betting is open, and whose meter is in service."""
    sections = {
        "aquarius": f'[keypad]\nport = "{folder}/keypad"\nkey_switch = true\n',
        "nexus": (f'[card_reader]\nport = "{folder}/card-reader"\n[console]\nport = {free_port()}\n'),
    }[procedure]
    if procedure == "nexus":
        enroll(folder, "Bob", Role.SUPERVISOR, CARD)
    with Broker(folder) as broker, Listener(folder, broker.port) as listener:
        table = Table(folder, broker)
        written = table.config.read_text().replace("dragon-bonus-1", "progressive-2")
        written = written.replace(f'[shoe]\nport = "{table.port}"\n', 'cards = "keyed"\nburn = "none"\n')
        table.config.write_text(
            f'{written}{sections}[progressive]\nid = "dragon"\nprocedure = "{procedure}"\napproval_above = 1_000_000\n'
            f'[coin_spot]\nport = "{folder}/coin-spot"\nseats = [1, 2, 3, 4, 5, 6, 7]\n'
        )
        async with switched_on(folder) as devices:
            here = OnAMachine(table, listener, devices, of_all=of_all)
            try:
                await here.start()
                for order in ("sign_on", "open_meter", "change_shoe", "open_betting"):
                    await here.order(order)
                yield here
            finally:
                table.kill()


@pytest.mark.in_part
@pytest.mark.parametrize(
    ("procedure", "of_all"),
    [
        pytest.param("nexus", True, id="nexus, sensors too"),
        pytest.param("aquarius", False, id="aquarius, the service", marks=pytest.mark.soak),
        pytest.param("aquarius", True, id="aquarius, sensors too", marks=pytest.mark.soak),
        pytest.param("nexus", False, id="nexus, the service", marks=pytest.mark.soak),
    ],
)
async def test_a_service_that_is_killed_after_any_step_comes_back_to_exactly_that_step(
    tmp_path, procedure, of_all
):
    steps = PROCEDURES[procedure]
    # Without sensors after the odd steps, with them after the even ones.
    killed_after = range(len(steps)) if ALL else range(int(not of_all), len(steps), 2)
    async with at_a_table(tmp_path, procedure, of_all=of_all) as here:
        for number, (step, do) in enumerate(steps):
            await do(here)
            before = here.progressive
            assert before.procedure.step == step

            if number in killed_after:
                await here.kill()
                await here.comes_back_to(before)
        own = {"coin_spot", "keypad" if procedure == "aquarius" else "card_reader"}
        await here.until(lambda: here.published() == own, f"{own} are published as there")
        assert won(here.progressive.books) == [(250_010, "booked")]
        assert here.progressive.books.shown == 750_030
        assert here.progressive.procedure.hand.spent == ((2, 5) if of_all else ())
    assert len(inputs(here.table.record, "service_started")) == len(killed_after) + 1
    assert len(inputs(here.table.record, "start_game")) == 1
    assert len(inputs(here.table.record, "jpot", "swipe_card")) == 1
    assert replayed(here.table.record)[0] == 0


def won(books: Books) -> list[tuple[int, str]]:
    return [(award.amount, award.state.value) for award in books.awards]
