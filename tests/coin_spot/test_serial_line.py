"""What the wager sensors' driver does besides what all serial drivers do (tests/drivers/test_serial_devices.py)."""

import asyncio

import pytest

from punto.drivers.base import CoinSpotDriver
from punto.simulators.coin_spot import VirtualCoinSpot
from punto.simulators.line import Faults
from tests.drivers.benches import STUCK_SECONDS, CoinSpotBench, until


@pytest.fixture
def at(tmp_path) -> CoinSpotBench:
    return CoinSpotBench(tmp_path)


async def start(at, round_: int) -> tuple[int, ...]:
    at.user.round = round_
    await until(lambda: round_ in at.user.rounds)
    seats: tuple[int, ...] = at.user.rounds[round_]
    return seats


async def end(at) -> None:
    at.user.round = None
    await until(lambda: at.far.device.round == 0)


async def test_a_round_with_its_lights(at):
    driver: CoinSpotDriver = at.driver
    async with at.running():
        at.far.put(2)
        at.far.put(5)
        await until(lambda: at.far.lit == {2, 5})  # recognised
        assert await start(at, 1) == (2, 5)
        at.far.take(2)
        at.far.put(3)
        await until(lambda: at.user.late == {3: 1})
        assert at.far.lit == {2, 5}  # in the round, and the late one is not
        await end(at)
        at.far.take(5)
        await until(lambda: at.far.lit == {3})
        assert await start(at, 2) == (3,)

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
    at = CoinSpotBench(tmp_path, faults)
    async with at.running():
        for round_ in range(1, 6):
            seats = (round_, round_ + 1)
            for seat in seats:
                at.far.put(seat)
            at.user.round = round_
            await until(lambda: at.far.device.round == at.user.round or at.user.unconfirmed)
            at.far.put(7)  # after the START
            if not at.user.unconfirmed:
                assert await start(at, round_) == seats
                await until(lambda: at.user.late == {7: at.user.round})
            await end(at)
            for seat in (*seats, 7):
                at.far.take(seat)
            at.user.unconfirmed.clear()
            await until(lambda: not at.user.wagers)
        assert len(at.user.rounds) >= 3


@pytest.mark.punctual
async def test_a_cable_that_is_pulled_is_seen_at_once_and_what_happened_meanwhile_is_told(at, log_lines):
    loop = asyncio.get_running_loop()
    async with at.running():
        at.far.put(1)
        assert await start(at, 1) == (1,)
        pulled = loop.time()
        at.far.unplug()
        await until(lambda: not at.driver.health().connected)
        assert loop.time() - pulled < 1
        # Only the log is sure to still have it: the driver has looked for the port again by now.
        assert f"the port {at.link} was disconnected: check the coin spot's cable" in [
            line.get("reason") for line in log_lines
        ]
        await until(lambda: at.far.lit == frozenset())
        at.far.take(1)
        at.far.put(4)
        await until(lambda: at.reason.startswith("there is no port"))
        plugged = loop.time()
        at.far.plug()
        await at.connected()
        assert loop.time() - plugged < 2
        await until(lambda: at.user.late == {4: 1})

    assert len(at.user.found) == 1
    assert at.user.rounds == {1: (1,)}
    assert at.user.changes >= 4


async def test_a_start_while_the_cable_is_out_is_not_taken_up_when_it_is_back(at):
    async with at.running():
        at.far.unplug()
        await until(lambda: not at.driver.health().connected)
        at.user.round = 1
        at.far.put(1)
        await until(lambda: at.user.unconfirmed == [1])
        at.far.plug()
        await until(lambda: at.user.wagers == {1})
        assert at.far.device.round == 0
        await end(at)
        assert await start(at, 2) == (1,)


async def test_a_loss_of_power_is_told_from_a_lost_line_and_the_round_keeps_its_wagers(at):
    async with at.running():
        at.far.put(1)
        assert await start(at, 1) == (1,)
        at.far.lose_power()
        await until(lambda: len(at.user.found) == 2 and at.user.wagers == {1})
        at.far.put(2)
        await until(lambda: at.user.late == {2: 1})
        await end(at)

    assert at.user.rounds == {1: (1,)}


@pytest.mark.parametrize("fault", ["missing", "doubled"])
async def test_a_broken_sensor_is_reported_until_it_is_mended(at, fault):
    async with at.running():
        at.far.break_(3, fault)
        await until(lambda: at.user.faults == {(3, fault)})
        at.far.mend(3)
        await until(lambda: not at.user.faults)


async def test_a_stuck_sensor_is_reported_after_the_round(at):
    async with at.running():
        at.far.put(3)
        at.far.break_(3, "stuck")
        assert await start(at, 1) == (3,)
        at.far.take(3)
        await asyncio.sleep(STUCK_SECONDS)
        assert not at.user.faults
        await end(at)
        await until(lambda: at.user.faults == {(3, "stuck")})
        assert await start(at, 2) == ()
        at.far.mend(3)
        await until(lambda: not at.user.faults)


async def test_a_host_that_is_killed_finds_the_round_again(at):
    chain = asyncio.create_task(at.far.run())
    first = asyncio.create_task(at.driver.run(at.user))
    await at.connected()
    at.far.put(1)
    assert await start(at, 1) == (1,)
    first.cancel()
    await asyncio.wait([first])
    at.far.put(2)

    at.driver, at.user = at.new_driver(), at.new_user()
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
    chain = asyncio.create_task(at.far.run())
    driver = asyncio.create_task(at.driver.run(at.user))
    await at.connected()
    at.far.put(1)
    with pytest.raises(RuntimeError, match="the record cannot be written"):
        await driver
    assert at.far.device.number > at.far.device._acknowledged
    chain.cancel()
    await asyncio.wait([chain])


@pytest.mark.parametrize("positions", [0, 16])
def test_a_chain_that_cannot_be_is_refused(positions):
    with pytest.raises(ValueError, match="a chain has 1 to 15 positions"):
        VirtualCoinSpot(positions=positions)


async def test_a_host_that_asks_for_it_is_given_the_whole_picture_again(at):
    driver: CoinSpotDriver = at.driver
    async with at.running():
        at.far.put(2)
        await until(lambda: 2 in at.user.got)
        given = len(at.user.got)
        driver.report_again()
        await until(lambda: len(at.user.got) > given)
