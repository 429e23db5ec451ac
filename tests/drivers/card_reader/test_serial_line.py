"""What a card reader's driver does besides what all serial drivers do (tests/drivers/test_serial_devices.py)."""

import asyncio
import time

import pytest
import structlog

from punto.drivers.base import CardAnswer
from punto.drivers.card_reader.frames import Answer
from punto.simulators.card_reader.device import NotTakenError
from tests.deadline import DEADLINE
from tests.drivers.benches import CardReaderBench, until

CARD = "6000170042=2912"


@pytest.fixture
def at(tmp_path) -> CardReaderBench:
    return CardReaderBench(tmp_path)


async def swipe(at, track: str = CARD) -> Answer:
    answer: Answer
    async with asyncio.timeout(DEADLINE):
        answer = await at.far.swipe(track)
    return answer


async def test_a_card_arrives_without_its_sentinels_and_its_answer_is_shown(at):
    at.user.answer = CardAnswer("second_factor", "give your password")
    async with at.running():
        answer = await swipe(at, f";{CARD}?")
        assert (answer.result, answer.text) == ("second_factor", "give your password")
        assert at.far.device.shown(time.monotonic()) == answer

    assert at.user.got == [CARD]
    assert at.counters["swipes"] == 1


@pytest.mark.parametrize("track", ["", "٦٠٠٠١٧"])
async def test_a_card_that_cannot_be_read_is_reported_to_both_sides(at, track):
    async with at.running():
        answer = await swipe(at, track)
        assert (answer.result, answer.text) == ("refused", "the card could not be read: swipe it again")
        assert at.user.unread == 1
        assert (await swipe(at)).result == "accepted"

    assert at.user.got == [CARD]


async def test_the_lamp_shows_whether_a_swipe_is_awaited(at):
    async with at.running():
        assert not at.far.ready
        at.user.awaits = True
        await until(lambda: at.far.ready)
        at.user.awaits = False
        await until(lambda: not at.far.ready)


async def test_a_swipe_that_the_system_kept_back_is_not_delivered_late(at):
    """A driver that was held up reads what its port has kept meanwhile, and that is old by then."""
    async with at.running():
        at.user.busy = asyncio.Event()
        first = at.far.swipe("6000170001")
        await until(lambda: at.user.got)
        at.far.device._waiting.clear()  # it gives up on the first, as this protocol's reader does not
        second = at.far.swipe(CARD)
        await asyncio.sleep(2.3)  # the rule is about time
        at.user.busy.set()
        async with asyncio.timeout(DEADLINE):
            answer = await second

    assert at.user.got == ["6000170001"]
    assert "too late" in answer.text
    first.cancel()


async def test_no_number_is_in_a_log_or_in_the_health(at):
    at.user.answer = CardAnswer("refused", "that card is nobody's")
    with structlog.testing.capture_logs() as logs:
        async with at.running():
            await swipe(at)
            at.far.unplug()
            await at.lost()
            told = str(at.driver.health())

    assert logs
    assert "600017" not in f"{logs} {told}"


async def test_a_swipe_that_gets_no_answer_is_reported_to_whoever_swiped(at):
    with pytest.raises(NotTakenError, match="no host is connected"):
        at.far.swipe(CARD)
    async with at.running():
        at.user.busy = asyncio.Event()
        waiting = at.far.swipe(CARD)
        with pytest.raises(NotTakenError, match="the previous swipe has no answer yet"):
            at.far.swipe("")
        at.far.lose_power()
        at.user.busy.set()

        assert waiting.cancelled()
