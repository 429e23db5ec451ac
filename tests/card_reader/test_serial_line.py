"""What a card reader's driver does besides what all serial drivers do (tests/drivers/test_serial_devices.py)."""

import asyncio
import time

import pytest
import structlog

from punto.drivers.base import CardAnswer, CardReaderDriver
from punto.drivers.card_reader.frames import Answer
from punto.simulators.card_reader.device import NotTakenError
from tests.drivers.benches import CardReaderBench, until

CARD = "6000170042=2912"


@pytest.fixture
def at(tmp_path) -> CardReaderBench:
    return CardReaderBench(tmp_path)


async def swipe(at, track: str = CARD) -> Answer:
    answer: Answer
    async with asyncio.timeout(10):
        answer = await at.far.swipe(track)
    return answer


@pytest.mark.parametrize("result", ["accepted", "refused", "second_factor"])
async def test_a_card_arrives_and_its_answer_is_shown(at, result):
    driver: CardReaderDriver = at.driver
    at.user.answer = CardAnswer(result, "so it is")
    async with at.running():
        answer = await swipe(at)
        assert (answer.result, answer.text) == (result, "so it is")
        assert at.far.device.shown(time.monotonic()) == answer

    assert at.user.got == [CARD]
    assert driver.health().counters["swipes"] == 1


async def test_the_sentinels_may_come_with_the_number(at):
    async with at.running():
        await swipe(at, f";{CARD}?")

    assert at.user.got == [CARD]


@pytest.mark.parametrize("track", ["", "6000", "%B6000170042^MEI?", "٦٠٠٠١٧", "9" * 107])
async def test_a_card_that_cannot_be_read_is_told_to_both_sides(at, track):
    async with at.running():
        answer = await swipe(at, track)
        assert (answer.result, answer.text) == ("refused", "the card could not be read: swipe it again")
        assert at.user.unread == 1
        assert (await swipe(at)).result == "accepted"

    assert at.user.got == [CARD]


async def test_the_lamp_follows_whether_a_swipe_is_awaited(at):
    async with at.running():
        assert not at.far.ready
        at.user.awaits = True
        await until(lambda: at.far.ready)
        at.user.awaits = False
        await until(lambda: not at.far.ready)


async def test_an_answer_that_is_lost_is_said_again_and_the_swipe_is_not_given_again(at):
    async with at.running():
        at.user.busy = asyncio.Event()
        waiting = at.far.swipe(CARD)
        await until(lambda: at.user.got)
        at.far.unplug()  # in mid-swipe: the answer finds no cable
        at.user.busy.set()
        await until(lambda: not at.driver.health().connected)
        at.far.plug()
        async with asyncio.timeout(60):
            answer = await waiting

    assert answer.text == "the award is confirmed"
    assert at.user.got == [CARD]


async def test_a_swipe_while_the_cable_is_out_is_refused_when_it_is_back(at):
    async with at.running():
        at.far.unplug()
        waiting = at.far.swipe(CARD)  # the reader does not know yet that no host is there
        await until(lambda: not at.driver.health().connected)
        at.far.plug()
        async with asyncio.timeout(60):
            answer = await waiting
        assert (answer.result, at.user.got) == ("refused", [])
        assert "too late" in answer.text

        await at.connected()
        assert (await swipe(at)).result == "accepted"


async def test_what_the_system_kept_back_is_not_delivered_late(at):
    """A driver that was held up reads what its port has kept meanwhile, and that is old by then."""
    async with at.running():
        at.user.busy = asyncio.Event()
        first = at.far.swipe("6000170001")
        await until(lambda: at.user.got)
        at.far.device._waiting = None  # it gives up on the first, as this protocol's reader does not
        second = at.far.swipe(CARD)
        await asyncio.sleep(2.3)  # the rule is about time
        at.user.busy.set()
        async with asyncio.timeout(60):
            answer = await second

    assert at.user.got == ["6000170001"]
    assert "too late" in answer.text
    first.cancel()


async def test_a_loss_of_power_is_counted_and_is_no_loss_of_the_line(at):
    async with at.running():
        await swipe(at)
        at.far.lose_power()
        await until(lambda: at.far.connected)
        await until(lambda: at.driver.health().counters["restarts"] == 1)
        await until(lambda: at.driver.health().serial is not None)
        assert (await swipe(at)).result == "accepted"
        assert at.driver.health().counters["silences"] == 0

    assert at.user.got == [CARD, CARD]


async def test_a_swipe_that_a_loss_of_power_took_is_told_to_whoever_waits(at):
    async with at.running():
        at.user.busy = asyncio.Event()
        waiting = at.far.swipe(CARD)
        at.far.lose_power()
        at.user.busy.set()

        assert waiting.cancelled()


async def test_the_host_after_one_that_ended_in_a_swipe_does_not_take_it_again(at):
    """It may have been acted on, and nobody is there to say so."""
    at.user.error = RuntimeError("the record cannot be written")
    reader = asyncio.create_task(at.far.run())
    driver = asyncio.create_task(at.driver.run(at.user))
    await at.connected()
    waiting = at.far.swipe(CARD)
    with pytest.raises(RuntimeError):
        await driver
    user = at.new_user()
    driver = asyncio.create_task(at.new_driver().run(user))
    async with asyncio.timeout(60):
        answer = await waiting

    assert (user.got, answer.result) == ([], "refused")
    for task in (reader, driver):
        task.cancel()
        await asyncio.wait([task])


async def test_no_number_is_in_a_log_or_in_the_health(at):
    at.user.answer = CardAnswer("refused", "that card is nobody's")
    with structlog.testing.capture_logs() as logs:
        async with at.running():
            await swipe(at)
            at.far.unplug()
            await until(lambda: not at.driver.health().connected)
            told = str(at.driver.health())

    assert logs
    assert "600017" not in f"{logs} {told}"


async def test_a_swipe_that_the_reader_does_not_take_is_told_to_whoever_swiped(at):
    with pytest.raises(NotTakenError, match="no host is connected"):
        at.far.swipe(CARD)
    async with at.running():
        waiting = at.far.swipe(CARD)
        with pytest.raises(NotTakenError, match="the previous swipe has no answer yet"):
            at.far.swipe("")
        async with asyncio.timeout(60):
            await waiting
