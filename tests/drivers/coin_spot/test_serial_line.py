"""What the wager sensors' driver does besides what all serial drivers do (tests/drivers/test_serial_devices.py)."""

import asyncio

import pytest

from tests.drivers.benches import CoinSpotBench, going, until


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


async def test_wagers_are_lit_when_they_are_recognised_and_while_they_are_in_the_round(at):
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

    assert at.counters["changes"] >= 5


async def test_a_start_while_the_cable_is_out_is_reported_and_not_taken_up_when_it_is_back(at):
    async with at.running():
        at.far.unplug()
        await at.lost()
        at.user.round = 1
        at.far.put(1)
        await until(lambda: at.user.unconfirmed == [1])
        at.far.plug()
        await until(lambda: at.user.wagers == {1})
        assert at.far.device.round == 0
        await end(at)
        assert await start(at, 2) == (1,)


async def test_what_the_user_did_not_record_is_not_acknowledged(at):
    at.user.error = RuntimeError("the record cannot be written")
    async with going(at.far.run()):
        driver = asyncio.create_task(at.driver.run(at.user))
        await at.connected()
        at.far.put(1)
        with pytest.raises(RuntimeError, match="the record cannot be written"):
            await driver
        assert at.far.device.number > at.far.device._acknowledged


async def test_the_whole_picture_is_reported_again_on_demand(at):
    async with at.running():
        at.far.put(2)
        await until(lambda: 2 in at.user.got)
        reported = len(at.user.got)
        at.driver.report_again()
        await until(lambda: len(at.user.got) > reported)
