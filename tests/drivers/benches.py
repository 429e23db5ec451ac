"""Each serial device on a pseudo-terminal: its simulated far end, its driver, and a user who remembers what came.

tests/drivers/test_serial_devices.py holds the driver of each to the same rules. A new device needs a user and a bench.
"""

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from punto.baccarat.cards import STANDARD_DECK
from punto.baccarat.table.events import ShoeEvent, ShoeRecord
from punto.baccarat.table.shoe_orders import ShoeOrders
from punto.drivers.base import (
    BAUD,
    CardAnswer,
    KeyAnswer,
    KeypadLamps,
    KeyPosition,
    SensorEvent,
    SensorOrders,
    WagerPlaced,
)
from punto.drivers.card_reader.serial_line import SerialCardReader
from punto.drivers.coin_spot.seats import Seats
from punto.drivers.coin_spot.serial_line import SerialCoinSpot
from punto.drivers.framing import UNSEALED, Seal
from punto.drivers.ishoe.serial_line import SerialShoe
from punto.drivers.keypad.serial_line import SerialKeypad
from punto.drivers.seal import HostSeal
from punto.simulators.card_reader import VirtualCardReader
from punto.simulators.coin_spot import VirtualCoinSpot
from punto.simulators.keypad import VirtualKeypad
from punto.simulators.line import Faults
from tests.deadline import DEADLINE, pauses
from tests.drivers.coin_spot.rig import Picture
from tests.drivers.ishoe.model import LOG, SERIAL, ShoeOnALine

STUCK_SECONDS = 0.5


async def until(so: Callable[[], object], seconds: float = DEADLINE) -> float:
    """Wait until it is so, and give how long it took."""
    start = time.perf_counter()
    for pause in pauses(seconds):
        if so():
            return time.perf_counter() - start
        await asyncio.sleep(pause)
    raise TimeoutError


class User:
    """What came, in order, and how often the link changed; `busy` holds it up (it is then `held`) and `error` is raised."""

    def __init__(self) -> None:
        self.got: list[Any] = []
        self.changes = 0
        self.error: Exception | None = None
        self.busy: asyncio.Event | None = None
        self.held = False

    def link_changed(self) -> None:
        self.changes += 1

    async def hold(self) -> None:
        if self.busy is not None:
            self.held = True
            await self.busy.wait()
            self.held = False
        if self.error is not None:
            raise self.error


class KeypadUser(User):
    def __init__(self) -> None:
        super().__init__()
        self.positions: list[KeyPosition] = []
        self.restarts = 0
        self.shown = KeypadLamps(ready=True)
        self.answers: dict[str, KeyAnswer] = {}

    async def press(self, key: str) -> KeyAnswer:
        self.got.append(key)
        await self.hold()
        return self.answers.get(key, KeyAnswer("done", f"{key} is done"))

    async def turned(self, position: KeyPosition) -> None:
        self.positions.append(position)

    def restarted(self) -> None:
        self.restarts += 1

    def lamps(self) -> KeypadLamps:
        return self.shown


class CardReaderUser(User):
    def __init__(self) -> None:
        super().__init__()
        self.unread = 0
        self.awaits = False
        self.answer = CardAnswer("accepted", "the award is confirmed")

    async def swipe(self, number: str) -> CardAnswer:
        self.got.append(number)
        await self.hold()
        return self.answer

    async def unreadable(self) -> None:
        self.unread += 1

    def awaited(self) -> bool:
        return self.awaits


class CoinSpotUser(User, Picture):
    """Lights what it has recognised, as a table does; got are the seats of wagers."""

    def __init__(self) -> None:
        Picture.__init__(self, tuple(range(1, 8)))
        User.__init__(self)
        self.round: int | None = None

    async def take(self, events: Sequence[SensorEvent]) -> None:  # type: ignore[override]
        await asyncio.sleep(0)
        super().take(events)
        placed = [event.seat for event in events if isinstance(event, WagerPlaced)]
        self.got += placed
        if placed:
            await self.hold()

    def orders(self) -> SensorOrders:
        if self.round is None:
            return SensorOrders(None, frozenset(self.wagers))
        return SensorOrders(self.round, frozenset(self.rounds.get(self.round, ())))


class ShoeUser(User):
    """Takes the batches as the engine does, and remembers when; got are the cards, in two letters."""

    def __init__(self) -> None:
        super().__init__()
        self.events: list[ShoeEvent] = []
        self.times: list[float] = []
        self.wanted = ShoeOrders(accept=SERIAL, log=LOG, locked=False)

    async def take(self, events: Sequence[ShoeEvent]) -> None:
        records = [event for event in events if isinstance(event, ShoeRecord)]
        if records:
            await self.hold()
            self.wanted = replace(self.wanted, taken=records[-1].record)
        self.events += events
        self.got += [str(event.card) for event in records if hasattr(event, "card")]
        self.times += [time.perf_counter()] * len(records)

    def orders(self) -> ShoeOrders:
        return self.wanted


class Bench(ABC):
    """A device at `link`; `far` is its simulated end, and everything is named as in the log."""

    device: ClassVar[str]
    things: ClassVar[Sequence[Any]]
    """What the user gets of the things that `do` does, by their number; at least seven."""
    user_type: ClassVar[type[User]]
    enrolled: ClassVar[bytes | None] = None
    """The device's key, for version 2 of the link."""

    def __init__(self, folder: Path, faults: Faults | None = None) -> None:
        self.link = folder / self.device.replace(" ", "-")
        self.address = str(self.link)
        self.far = self.far_end("T-000001", faults)
        self.driver = self.new_driver()
        self.user = self.new_user()

    @property
    def seal(self) -> Seal:
        return UNSEALED if self.enrolled is None else HostSeal(self.enrolled)

    @abstractmethod
    def far_end(self, serial: str, faults: Faults | None = None) -> Any:
        """A simulated device."""

    @abstractmethod
    def new_driver(self) -> Any: ...

    def at_address(self, address: str) -> None:
        """The driver reaches the line at this address instead of its path."""
        self.address = address
        self.driver = self.new_driver()

    def new_user(self) -> Any:
        return self.user_type()

    @abstractmethod
    def begin(self, number: int, far: Any) -> Awaitable[bool]:
        """Do the thing of this number at the device; wait for whether it was taken."""

    def do(self, number: int, far: Any = None) -> "asyncio.Future[bool]":
        """Do a thing; the future tells whether it was taken, or refused."""
        return asyncio.ensure_future(self.begin(number, self.far if far is None else far))

    async def does(self, number: int, far: Any = None) -> bool:
        async with asyncio.timeout(DEADLINE):
            return await self.do(number, far)

    @property
    def reason(self) -> str:
        reason: str = self.driver.health().reason
        return reason

    @property
    def counters(self) -> dict[str, int]:
        counters: dict[str, int] = self.driver.health().counters
        return counters

    async def connected(self) -> None:
        await until(lambda: self.far.connected and self.driver.health().connected)

    def babbles(self, noise: bytes) -> bool:
        """Whether the driver has left the line because it babbles; if not, there is more noise."""
        left = "more than such a device can" in self.reason
        if not left:
            self.far._terminal.write(noise)
        return left

    async def lost(self) -> float:
        return await until(lambda: not self.driver.health().connected)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Any]:
        """The driver and the device run."""
        async with going(self.driver.run(self.user), self.far.run()):
            await self.connected()
            yield self


@asynccontextmanager
async def going(*runs: Any) -> AsyncIterator[None]:
    """These run, and are cancelled in the end; what they raise escapes."""
    tasks = [asyncio.create_task(run) for run in runs]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        for task in tasks:
            with suppress(asyncio.CancelledError):
                task.result()


class KeypadBench(Bench):
    device = "keypad"
    user_type = KeypadUser
    things = ("F1", "F2", "F3", "F4", "F5", "F6", "F7", "F8", "F9", "F10", "F11", "F12")

    def far_end(self, serial: str, faults: Faults | None = None) -> VirtualKeypad:
        return VirtualKeypad(self.link, serial, faults, "test", device_key=self.enrolled)

    def new_driver(self) -> SerialKeypad:
        return SerialKeypad(self.address, BAUD, self.seal)

    async def begin(self, number: int, far: Any) -> bool:
        return bool((await far.press(self.things[number])).result == "done")


class CardReaderBench(Bench):
    device = "card reader"
    user_type = CardReaderUser
    things = tuple(f"60001700{number:02}" for number in range(12))

    def far_end(self, serial: str, faults: Faults | None = None) -> VirtualCardReader:
        return VirtualCardReader(self.link, serial, faults, "test", device_key=self.enrolled)

    def new_driver(self) -> SerialCardReader:
        return SerialCardReader(self.address, BAUD, self.seal)

    async def begin(self, number: int, far: Any) -> bool:
        await until(lambda: far.connected)
        return bool((await far.swipe(self.things[number])).result == "accepted")


class CoinSpotBench(Bench):
    """A chain of seven sensors before seats 1 to 7."""

    device = "coin spot"
    user_type = CoinSpotUser
    things = (1, 2, 3, 4, 5, 6, 7)

    def far_end(self, serial: str, faults: Faults | None = None) -> VirtualCoinSpot:
        return VirtualCoinSpot(self.link, serial, faults=faults, seed="test", device_key=self.enrolled)

    def new_driver(self) -> SerialCoinSpot:
        return SerialCoinSpot(
            self.address, BAUD, Seats.of([(n, n) for n in range(1, 8)], 7), STUCK_SECONDS, self.seal
        )

    async def begin(self, number: int, far: Any) -> bool:
        far.put(self.things[number])
        await until(lambda: self.things[number] in self.user.got)
        return True


class ShoeBench(Bench):
    device = "shoe"
    things = tuple(map(str, STANDARD_DECK[:12]))

    def far_end(self, serial: str, faults: Faults | None = None) -> ShoeOnALine:
        # These delays change the order of frames. A serial line cannot, and the shoe's protocol relies on that.
        return ShoeOnALine(
            self.link, serial, None if faults is None else replace(faults, delay=0), self.enrolled
        )

    def new_driver(self) -> SerialShoe:
        return SerialShoe(self.address, BAUD, self.seal)

    def new_user(self) -> ShoeUser:
        user = ShoeUser()
        user.wanted = replace(user.wanted, accept=self.far.shoe.serial)
        return user

    async def begin(self, number: int, far: Any) -> bool:
        self.user.wanted = replace(self.user.wanted, accept=far.shoe.serial)
        far.draw(STANDARD_DECK[number])
        await until(lambda: self.things[number] in self.user.got)
        return True


KEY = bytes(range(32))
