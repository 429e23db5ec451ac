"""The driver on real pseudo-terminals: every wager once, whatever becomes of the line and of the power."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from punto.drivers import serial_device
from punto.drivers.base import CoinSpotDriver, SensorEvent, SensorOrders, SensorsFound, WagerPlaced
from punto.drivers.coin_spot.seats import Seats
from punto.drivers.coin_spot.serial_line import SerialCoinSpot
from punto.drivers.serial_port import Port, PortLostError
from punto.simulators.coin_spot import VirtualCoinSpot
from punto.simulators.line import Faults
from tests.coin_spot.rig import Picture

BAUD = 115_200
STUCK_SECONDS = 0.5


class User(Picture):
    """Takes the events as a table does, and lights what it has recognised."""

    def __init__(self) -> None:
        super().__init__(tuple(range(1, 8)))
        self.round: int | None = None
        self.changes = 0
        self.error: Exception | None = None

    async def take(self, events: Sequence[SensorEvent]) -> None:  # type: ignore[override]
        await asyncio.sleep(0)
        super().take(events)
        if self.error is not None:
            raise self.error

    def orders(self) -> SensorOrders:
        if self.round is None:
            return SensorOrders(None, frozenset(self.wagers))
        return SensorOrders(self.round, frozenset(self.rounds.get(self.round, ())))

    def link_changed(self) -> None:
        self.changes += 1


class At:
    """A chain of seven sensors before seats 1 to 7, the driver, and who takes the events."""

    def __init__(self, link: Path, faults: Faults | None = None) -> None:
        self.link = link
        self.chain = VirtualCoinSpot(link, faults=faults, seed="test")
        self.driver = self.another_driver()
        self.user = User()

    def another_driver(self) -> SerialCoinSpot:
        seats = Seats.of([(n, n) for n in range(1, 8)], 7)
        return SerialCoinSpot(str(self.link), BAUD, seats, STUCK_SECONDS)

    @property
    def reason(self) -> str:
        return self.driver.health().reason

    async def connected(self) -> None:
        await until(lambda: self.chain.connected and self.driver.health().connected)

    async def start(self, round_: int) -> tuple[int, ...]:
        self.user.round = round_
        await until(lambda: round_ in self.user.rounds)
        return self.user.rounds[round_]

    async def end(self) -> None:
        self.user.round = None
        await until(lambda: self.chain.device.round == 0)


async def until(so: Callable[[], object], seconds: float = 10) -> None:
    end = time.monotonic() + seconds
    while not so():
        if time.monotonic() > end:
            raise TimeoutError
        await asyncio.sleep(0.005)


@asynccontextmanager
async def running(at: At, *, plugged_in: bool = True) -> AsyncIterator[At]:
    tasks = [asyncio.create_task(at.driver.run(at.user))]
    if plugged_in:
        tasks.append(asyncio.create_task(at.chain.run()))
        await at.connected()
    try:
        yield at
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        for task in tasks:
            with suppress(asyncio.CancelledError):
                task.result()


@pytest.fixture
def at(tmp_path):
    return At(tmp_path / "coin-spot")


async def test_a_round_with_its_lights(at):
    driver: CoinSpotDriver = at.driver
    async with running(at):
        at.chain.put(2)
        at.chain.put(5)
        await until(lambda: at.chain.lit == {2, 5})  # recognised
        assert await at.start(1) == (2, 5)
        at.chain.take(2)
        at.chain.put(3)
        await until(lambda: at.user.late == {3: 1})
        assert at.chain.lit == {2, 5}  # in the round, and the late one is not
        await at.end()
        at.chain.take(5)
        await until(lambda: at.chain.lit == {3})
        assert await at.start(2) == (3,)

    assert driver.health().counters["changes"] >= 5


@pytest.mark.parametrize(
    "faults",
    [
        Faults(double=1.0),
        Faults(drop=0.3),
        Faults(noise=0.7),
        Faults(delay=0.25),
        Faults(drop=0.2, double=0.3, noise=0.3, delay=0.15),
    ],
)
async def test_a_bad_line_costs_no_wager_and_makes_none(tmp_path, faults):
    at = At(tmp_path / "coin-spot", faults)
    async with running(at):
        for round_ in range(1, 6):
            seats = (round_, round_ + 1)
            for seat in seats:
                at.chain.put(seat)
            at.user.round = round_
            await until(lambda: at.chain.device.round == at.user.round or at.user.unconfirmed)
            at.chain.put(7)  # after the START
            if not at.user.unconfirmed:
                assert await at.start(round_) == seats
                await until(lambda: at.user.late == {7: at.user.round})
            await at.end()
            for seat in (*seats, 7):
                at.chain.take(seat)
            at.user.unconfirmed.clear()
            await until(lambda: not at.user.wagers)
        assert len(at.user.rounds) >= 3


@pytest.mark.punctual
async def test_a_cable_that_is_pulled_is_seen_at_once_and_what_happened_meanwhile_is_told(at):
    loop = asyncio.get_running_loop()
    async with running(at):
        at.chain.put(1)
        assert await at.start(1) == (1,)
        pulled = loop.time()
        at.chain.unplug()
        await until(lambda: not at.driver.health().connected)
        assert loop.time() - pulled < 1
        assert at.reason == f"the port {at.link} went away: check the coin spot's cable"
        await until(lambda: at.chain.lit == frozenset())
        at.chain.take(1)
        at.chain.put(4)
        await until(lambda: at.reason.startswith("there is no port"))
        plugged = loop.time()
        at.chain.plug()
        await at.connected()
        assert loop.time() - plugged < 2
        await until(lambda: at.user.late == {4: 1})

    assert len(at.user.found) == 1
    assert at.user.rounds == {1: (1,)}
    assert at.user.changes >= 4


async def test_a_start_while_the_cable_is_out_is_not_taken_up_when_it_is_back(at):
    async with running(at):
        at.chain.unplug()
        await until(lambda: not at.driver.health().connected)
        at.user.round = 1
        at.chain.put(1)
        await until(lambda: at.user.unconfirmed == [1])
        at.chain.plug()
        await until(lambda: at.user.wagers == {1})
        assert at.chain.device.round == 0
        await at.end()
        assert await at.start(2) == (1,)


async def test_a_loss_of_power_is_told_from_a_lost_line_and_the_round_keeps_its_wagers(at):
    async with running(at):
        at.chain.put(1)
        assert await at.start(1) == (1,)
        at.chain.lose_power()
        await until(lambda: len(at.user.found) == 2 and at.user.wagers == {1})
        at.chain.put(2)
        await until(lambda: at.user.late == {2: 1})
        await at.end()

    assert at.user.rounds == {1: (1,)}


@pytest.mark.parametrize("fault", ["missing", "doubled"])
async def test_a_broken_sensor_is_reported_until_it_is_mended(at, fault):
    async with running(at):
        at.chain.break_(3, fault)
        await until(lambda: at.user.faults == {(3, fault)})
        at.chain.mend(3)
        await until(lambda: not at.user.faults)


async def test_a_stuck_sensor_is_reported_after_the_round(at):
    async with running(at):
        at.chain.put(3)
        at.chain.break_(3, "stuck")
        assert await at.start(1) == (3,)
        at.chain.take(3)
        await asyncio.sleep(STUCK_SECONDS)
        assert not at.user.faults
        await at.end()
        await until(lambda: at.user.faults == {(3, "stuck")})
        assert await at.start(2) == ()
        at.chain.mend(3)
        await until(lambda: not at.user.faults)


async def test_a_silent_device_is_lost_with_a_reason_and_its_port_opened_anew(at, monkeypatch):
    monkeypatch.setattr(serial_device, "REOPEN_SECONDS", 1.0)
    async with running(at):
        deaf = at.chain.device.receive
        monkeypatch.setattr(at.chain.device, "receive", lambda *_: None)
        monkeypatch.setattr(at.chain.device, "data_to_send", lambda *_: [])
        await until(lambda: not at.driver.health().connected)
        assert at.reason == "no sign of life for 0.8 s: check the coin spot's cable"
        before = at.driver.health().counters["connections"]
        await until(lambda: at.driver.health().counters["connections"] > before)
        monkeypatch.undo()
        assert at.chain.device.receive == deaf
        await at.connected()


async def test_a_port_whose_link_leads_elsewhere_is_left(at):
    async with running(at):
        other = VirtualCoinSpot(at.link, "VC-000002")
        at.chain.device.receive = lambda *_: None  # the old line stays open and is silent
        task = asyncio.create_task(other.run())
        await until(lambda: at.driver.health().serial == "VC-000002")
        other.put(1)
        await until(lambda: at.user.wagers == {1})
        task.cancel()
        await asyncio.wait([task])


async def test_two_programs_cannot_have_one_chain(at):
    async with running(at):
        with pytest.raises(PortLostError, match="another program holds"):
            Port(str(at.link), BAUD, "another")
        other, user = at.another_driver(), User()
        task = asyncio.create_task(other.run(user))
        await until(lambda: "another program holds" in other.health().reason)
        at.chain.put(1)
        await until(lambda: at.user.wagers == {1})
        task.cancel()
        await asyncio.wait([task])

    assert user.told == []


async def test_a_chain_that_is_not_there_is_waited_for(at):
    async with running(at, plugged_in=False):
        await until(lambda: at.reason.startswith(f"there is no port {at.link}: check the coin spot's cable"))
        task = asyncio.create_task(at.chain.run())
        await at.connected()
        task.cancel()
        await asyncio.wait([task])

    assert at.driver.health().counters["connections"] == 1


async def test_a_host_that_is_killed_finds_the_round_again(at):
    chain = asyncio.create_task(at.chain.run())
    first = asyncio.create_task(at.driver.run(at.user))
    await at.connected()
    at.chain.put(1)
    assert await at.start(1) == (1,)
    first.cancel()
    await asyncio.wait([first])
    at.chain.put(2)

    at.driver, at.user = at.another_driver(), User()
    at.user.round = 1
    second = asyncio.create_task(at.driver.run(at.user))
    await until(lambda: at.user.wagers == {1, 2})
    assert at.user.rounds == {1: (1,)}
    assert at.user.late == {2: 1}
    assert at.user.unconfirmed == []
    for task in (second, chain):
        task.cancel()
        await asyncio.wait([task])


async def test_what_the_user_raises_escapes_and_is_not_acknowledged(at):
    at.user.error = RuntimeError("the record cannot be written")
    chain = asyncio.create_task(at.chain.run())
    driver = asyncio.create_task(at.driver.run(at.user))
    await at.connected()
    at.chain.put(1)
    with pytest.raises(RuntimeError, match="the record cannot be written"):
        await driver
    assert at.chain.device.number > at.chain.device._acknowledged
    chain.cancel()
    await asyncio.wait([chain])


async def test_junk_on_the_line_is_no_wager(at):
    async with running(at):
        for _ in range(50):
            at.chain._terminal.write(os.urandom(300))
            await asyncio.sleep(0)
        at.chain.put(1)
        await until(lambda: at.user.wagers == {1})

    assert [type(each) for each in at.user.told] == [SensorsFound, WagerPlaced]


@pytest.mark.parametrize("positions", [0, 16])
def test_a_chain_that_cannot_be_is_refused(positions):
    with pytest.raises(ValueError, match="a chain has 1 to 15 positions"):
        VirtualCoinSpot(positions=positions)
