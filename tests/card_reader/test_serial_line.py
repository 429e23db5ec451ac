"""The driver on real pseudo-terminals: every swipe once or refused, whatever becomes of the line and its answers."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
import structlog

from punto.drivers import serial_device
from punto.drivers.base import CardAnswer, CardReaderDriver
from punto.drivers.card_reader.frames import Answer
from punto.drivers.card_reader.serial_line import SerialCardReader
from punto.drivers.serial_port import Port, PortLostError
from punto.simulators.card_reader import VirtualCardReader
from punto.simulators.card_reader.device import NotTakenError
from punto.simulators.line import Faults

BAUD = 115_200
CARD = "6000170042=2912"


class User:
    """Takes the swipes as the table does, and remembers them."""

    def __init__(self) -> None:
        self.swiped: list[str] = []
        self.unread = 0
        self.awaits = False
        self.changes = 0
        self.answer = CardAnswer("accepted", "the award is confirmed")
        self.error: Exception | None = None
        self.busy: asyncio.Event | None = None

    async def swipe(self, number: str) -> CardAnswer:
        self.swiped.append(number)
        if self.busy is not None:
            await self.busy.wait()
        if self.error is not None:
            raise self.error
        return self.answer

    async def unreadable(self) -> None:
        self.unread += 1

    def awaited(self) -> bool:
        return self.awaits

    def link_changed(self) -> None:
        self.changes += 1


class At:
    """A reader, the driver, and who takes the swipes."""

    def __init__(self, link: Path, faults: Faults | None = None) -> None:
        self.link = link
        self.reader = VirtualCardReader(link, faults=faults, seed="test")
        self.driver = SerialCardReader(str(link), BAUD)
        self.user = User()

    @property
    def reason(self) -> str:
        return self.driver.health().reason

    async def swipe(self, track: str = CARD) -> Answer:
        async with asyncio.timeout(10):
            return await self.reader.swipe(track)

    async def connected(self) -> None:
        await until(lambda: self.reader.connected and self.driver.health().connected)


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
        tasks.append(asyncio.create_task(at.reader.run()))
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
    return At(tmp_path / "card-reader")


@pytest.mark.parametrize("result", ["accepted", "refused", "second_factor"])
async def test_a_card_arrives_and_its_answer_is_shown(at, result):
    driver: CardReaderDriver = at.driver
    at.user.answer = CardAnswer(result, "so it is")
    async with running(at):
        answer = await at.swipe()
        assert (answer.result, answer.text) == (result, "so it is")
        assert at.reader.device.shown(time.monotonic()) == answer

    assert at.user.swiped == [CARD]
    assert driver.health().counters["swipes"] == 1


async def test_the_sentinels_may_come_with_the_number(at):
    async with running(at):
        await at.swipe(f";{CARD}?")

    assert at.user.swiped == [CARD]


@pytest.mark.parametrize("track", ["", "6000", "%B6000170042^MEI?", "٦٠٠٠١٧", "9" * 107])
async def test_a_card_that_cannot_be_read_is_told_to_both_sides(at, track):
    async with running(at):
        answer = await at.swipe(track)
        assert (answer.result, answer.text) == ("refused", "the card could not be read: swipe it again")
        assert at.user.unread == 1
        assert (await at.swipe()).result == "accepted"

    assert at.user.swiped == [CARD]


async def test_the_lamp_follows_whether_a_swipe_is_awaited(at):
    async with running(at):
        assert not at.reader.ready
        at.user.awaits = True
        await until(lambda: at.reader.ready)
        at.user.awaits = False
        await until(lambda: not at.reader.ready)


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
async def test_a_bad_line_makes_of_each_swipe_one_or_a_refusal(tmp_path, faults):
    at = At(tmp_path / "card-reader", faults)
    cards = [f"60001700{n:02}" for n in range(12)]
    accepted = []
    async with running(at):
        for card in cards:
            await until(lambda: at.reader.connected)
            answer = await at.swipe(card)
            if answer.result == "accepted":
                accepted.append(card)
            else:
                assert "too late" in answer.text

    # What was refused never arrived; what arrived was told so, or the answer came from the link's memory.
    assert at.user.swiped == accepted
    assert len(accepted) >= len(cards) // 2


async def test_an_answer_that_is_lost_is_said_again_and_the_swipe_is_not_given_again(at):
    async with running(at):
        at.user.busy = asyncio.Event()
        waiting = at.reader.swipe(CARD)
        await until(lambda: at.user.swiped)
        at.reader.unplug()  # in mid-swipe: the answer finds no cable
        at.user.busy.set()
        await until(lambda: not at.driver.health().connected)
        at.reader.plug()
        async with asyncio.timeout(60):
            answer = await waiting

    assert answer.text == "the award is confirmed"
    assert at.user.swiped == [CARD]


async def test_a_swipe_while_the_cable_is_out_is_refused_when_it_is_back(at):
    async with running(at):
        at.reader.unplug()
        waiting = at.reader.swipe(CARD)  # the reader does not know yet that no host is there
        await until(lambda: not at.driver.health().connected)
        at.reader.plug()
        async with asyncio.timeout(60):
            answer = await waiting
        assert (answer.result, at.user.swiped) == ("refused", [])
        assert "too late" in answer.text

        await at.connected()
        assert (await at.swipe()).result == "accepted"


async def test_what_the_system_kept_back_is_not_delivered_late(at):
    """A driver that was held up reads what its port has kept meanwhile, and that is old by then."""
    async with running(at):
        at.user.busy = asyncio.Event()
        first = at.reader.swipe("6000170001")
        await until(lambda: at.user.swiped)
        at.reader.device._waiting = None  # it gives up on the first, as this protocol's reader does not
        second = at.reader.swipe(CARD)
        await asyncio.sleep(2.3)  # the rule is about time
        at.user.busy.set()
        async with asyncio.timeout(60):
            answer = await second

    assert at.user.swiped == ["6000170001"]
    assert "too late" in answer.text
    first.cancel()


async def test_a_slow_answer_is_no_loss_of_the_reader(at):
    async with running(at):
        changes = at.user.changes
        at.user.busy = asyncio.Event()
        waiting = at.reader.swipe(CARD)
        await asyncio.sleep(1.5)  # longer than a silence
        at.user.busy.set()
        async with asyncio.timeout(60):
            assert (await waiting).result == "accepted"
        await asyncio.sleep(0.3)

        assert at.user.changes == changes
        assert at.driver.health().counters["silences"] == 0


@pytest.mark.punctual
async def test_a_cable_that_is_pulled_is_seen_at_once_and_one_that_is_back_too(at):
    loop = asyncio.get_running_loop()
    async with running(at):
        pulled = loop.time()
        at.reader.unplug()
        await until(lambda: not at.driver.health().connected)
        assert loop.time() - pulled < 1
        assert at.reason == f"the port {at.link} went away: check the card reader's cable"
        await until(lambda: at.reason.startswith("there is no port"))
        plugged = loop.time()
        at.reader.plug()
        await at.connected()
        assert loop.time() - plugged < 2

    assert at.user.changes >= 4


async def test_a_loss_of_power_is_counted_and_is_no_loss_of_the_line(at):
    async with running(at):
        await at.swipe()
        at.reader.lose_power()
        await until(lambda: at.reader.connected)
        await until(lambda: at.driver.health().counters["restarts"] == 1)
        await until(lambda: at.driver.health().serial is not None)
        assert (await at.swipe()).result == "accepted"
        assert at.driver.health().counters["silences"] == 0

    assert at.user.swiped == [CARD, CARD]


async def test_a_swipe_that_a_loss_of_power_took_is_told_to_whoever_waits(at):
    async with running(at):
        at.user.busy = asyncio.Event()
        waiting = at.reader.swipe(CARD)
        at.reader.lose_power()
        at.user.busy.set()

        assert waiting.cancelled()


async def test_a_silent_reader_is_lost_with_a_reason_and_its_port_opened_anew(at, monkeypatch):
    monkeypatch.setattr(serial_device, "REOPEN_SECONDS", 1.0)
    async with running(at):
        deaf = at.reader.device.receive
        monkeypatch.setattr(at.reader.device, "receive", lambda *_: None)
        await until(lambda: not at.driver.health().connected)
        assert at.reason == "no sign of life for 0.8 s: check the card reader's cable"
        before = at.driver.health().counters["connections"]
        await until(lambda: at.driver.health().counters["connections"] > before)
        monkeypatch.setattr(at.reader.device, "receive", deaf)
        await at.connected()


async def test_a_port_whose_link_leads_elsewhere_is_left(at):
    async with running(at):
        other = VirtualCardReader(at.link, "VR-000002")
        at.reader.device.receive = lambda *_: None  # the old line stays open and is silent
        task = asyncio.create_task(other.run())
        await until(lambda: at.driver.health().serial == "VR-000002")
        assert (await other.swipe(CARD)).result == "accepted"
        task.cancel()
        await asyncio.wait([task])


async def test_two_programs_cannot_have_one_reader(at):
    async with running(at):
        with pytest.raises(PortLostError, match="another program holds"):
            Port(str(at.link), BAUD, "another")
        other = SerialCardReader(str(at.link), BAUD)
        user = User()
        task = asyncio.create_task(other.run(user))
        await until(lambda: "another program holds" in other.health().reason)
        assert (await at.swipe()).result == "accepted"
        task.cancel()
        await asyncio.wait([task])

    assert (at.user.swiped, user.swiped) == ([CARD], [])


async def test_a_reader_that_is_not_there_is_waited_for(at):
    async with running(at, plugged_in=False):
        await until(
            lambda: at.reason.startswith(f"there is no port {at.link}: check the card reader's cable")
        )
        task = asyncio.create_task(at.reader.run())
        await at.connected()
        task.cancel()
        await asyncio.wait([task])

    assert at.driver.health().counters["connections"] == 1


async def test_what_the_user_raises_escapes(at):
    at.user.error = RuntimeError("the record cannot be written")
    reader = asyncio.create_task(at.reader.run())
    driver = asyncio.create_task(at.driver.run(at.user))
    await at.connected()
    waiting = at.reader.swipe(CARD)
    with pytest.raises(RuntimeError, match="the record cannot be written"):
        await driver
    waiting.cancel()
    reader.cancel()
    await asyncio.wait([reader])


async def test_the_host_after_one_that_ended_in_a_swipe_does_not_take_it_again(at):
    """It may have been acted on, and nobody is there to say so."""
    at.user.error = RuntimeError("the record cannot be written")
    reader = asyncio.create_task(at.reader.run())
    driver = asyncio.create_task(at.driver.run(at.user))
    await at.connected()
    waiting = at.reader.swipe(CARD)
    with pytest.raises(RuntimeError):
        await driver
    user = User()
    driver = asyncio.create_task(SerialCardReader(str(at.link), BAUD).run(user))
    async with asyncio.timeout(60):
        answer = await waiting

    assert (user.swiped, answer.result) == ([], "refused")
    for task in (reader, driver):
        task.cancel()
        await asyncio.wait([task])


async def test_junk_on_the_line_is_no_swipe(at):
    async with running(at):
        for _ in range(50):
            at.reader._terminal.write(os.urandom(300))
            await asyncio.sleep(0)
        assert (await at.swipe()).result == "accepted"

    assert at.user.swiped == [CARD]


async def test_no_number_is_in_a_log_or_in_the_health(at):
    at.user.answer = CardAnswer("refused", "that card is nobody's")
    with structlog.testing.capture_logs() as logs:
        async with running(at):
            await at.swipe()
            at.reader.unplug()
            await until(lambda: not at.driver.health().connected)
            told = str(at.driver.health())

    assert logs
    assert "600017" not in f"{logs} {told}"


async def test_a_swipe_that_the_reader_does_not_take_is_told_to_whoever_swiped(at):
    with pytest.raises(NotTakenError, match="no host is heard"):
        at.reader.swipe(CARD)
    async with running(at):
        waiting = at.reader.swipe(CARD)
        with pytest.raises(NotTakenError, match="the swipe before has no answer yet"):
            at.reader.garble()
        async with asyncio.timeout(60):
            await waiting
