"""The shoe as it runs, on a real pseudo-terminal, with a host at the other end."""

import asyncio
import os
from contextlib import asynccontextmanager, suppress
from types import SimpleNamespace

import pytest

from punto.drivers.ishoe import frames
from punto.simulators.shoe import ShoeOptions, VirtualShoe, shuffled
from punto.simulators.shoe.faults import parse_faults
from punto.simulators.shoe.scenario import Step
from tests.simulators.shoe.host import Host, Table


@pytest.fixture
def running(tmp_path):
    """A running shoe and a host with a table, `Table` if no other is given."""

    @asynccontextmanager
    async def running(table=None, **options):
        said: list[str] = []
        shoe = VirtualShoe(
            ShoeOptions(**{"store": tmp_path / "store", "link": tmp_path / "shoe"} | options), said.append
        )
        task = asyncio.create_task(shoe.run())
        ready = asyncio.create_task(shoe.ready())
        await asyncio.wait([task, ready], return_when=asyncio.FIRST_COMPLETED)
        ready.cancel()
        if task.done():
            task.result()
        host = Host(tmp_path / "shoe", table or Table())
        try:
            yield SimpleNamespace(shoe=shoe, host=host, table=host.table, said=said, task=task)
        finally:
            host.close()
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    return running


def numbers(host):
    return [record.record for record in host.taken]


@pytest.mark.parametrize("window", [1, 8, 64])
async def test_two_shoes_are_dealt_card_by_card_as_they_were_shuffled(running, window):
    async with running(Table(shoes=2), seed="x", window=window) as play:
        await play.host.until_over()
    first, second, _ = play.table.dealt

    assert (first, second) == (shuffled("x", 1, 8)[: len(first)], shuffled("x", 2, 8)[: len(second)])
    # The hand in which the cut card came, or the one that it came before, was the last.
    assert all(402 < len(dealt) <= 402 + 6 for dealt in (first, second))
    assert numbers(play.host) == list(range(1, len(play.host.taken) + 1))
    assert play.said[1:3] == [
        "shoe 1 loaded: 416 cards (seed x), cut card 14 from the end",
        "shoe 2 loaded: 416 cards (seed x), cut card 14 from the end",
    ]


@pytest.mark.punctual
async def test_a_heartbeat_comes_every_quarter_of_a_second_busy_or_not(running):
    async with running(Table(automatic=False)) as play:
        await play.host.until(lambda: play.host.heartbeats)
        before = len(play.host.heartbeats)
        await play.host.listen(2)

    assert 6 <= len(play.host.heartbeats) - before <= 9


@pytest.mark.parametrize(
    "faults",
    [
        ["split=3"],
        ["split=7", "noise=0.05", "flip=0.001", "lose=0.05", "repeat=0.05", "deaf=0.05"],
        ["unplug=0.3s/0.1s"],
        ["power=0.4s/0.2s"],
    ],
    ids=" ".join,
)
async def test_no_card_is_lost_doubled_or_invented_whatever_the_line_does(running, faults):
    async with running(decks=1, window=4, faults=parse_faults(faults)) as play:
        await play.host.until_over()
    dealt = play.table.dealt[0]

    assert dealt == shuffled("1", 1, 1)[: len(dealt)]
    assert len(dealt) > 38
    assert numbers(play.host) == list(range(1, len(play.host.taken) + 1))


async def test_an_unplugged_shoe_goes_on_where_it_was(running):
    async with running(decks=1, pace=0.02) as play:
        for cards in (5, 15, 25):
            await play.host.until(lambda cards=cards: len(play.table.dealt[0]) >= cards)
            play.shoe.unplug()
            await play.host.listen(0.1)
            assert play.shoe.path == ""
            play.shoe.plug()
        await play.host.until_over()
    dealt = play.table.dealt[0]

    assert play.host.hangups == 3
    assert dealt == shuffled("1", 1, 1)[: len(dealt)]
    assert len([line for line in play.said if "loaded" in line]) == 1


async def test_power_loss_is_silence_on_a_line_that_stays_and_loses_no_card(running):
    async with running(decks=1, pace=0.02) as play:
        await play.host.until(lambda: len(play.table.dealt[0]) >= 3)  # in the burn
        play.shoe.lose_power(3)
        await play.host.listen(0.1)
        heard = play.host.decoder.counters.frames
        await play.host.listen(0.6)
        silent = play.host.decoder.counters.frames == heard
        await play.host.until_over()
    dealt = play.table.dealt[0]

    assert silent
    assert play.host.hangups == 0
    assert dealt == shuffled("1", 1, 1)[: len(dealt)]
    assert len([line for line in play.said if "loaded" in line]) == 1  # the repeated burn was no new shoe


async def test_a_shoe_that_forgets_begins_another_log(running):
    async with running(decks=1, pace=0.02) as play:
        await play.host.until(lambda: len(play.table.dealt[0]) >= 3)
        play.shoe.lose_power(0.1, forget=True)
        with pytest.raises(AssertionError, match="another log"):
            await play.host.until_over()


async def test_steps_by_the_clock(running):
    steps = (
        Step("error", after=0.2, code=7, text="worn"),
        Step("reverse", after=0.3),
        Step("lid", after=0.4, seconds=0.3),
        Step("unplug", after=1, seconds=0.1),
        Step("power", after=1.3, seconds=0.1),
    )
    of_a_step = (frames.FaultRecord, frames.ReverseRecord, frames.LidRecord)
    async with running(Table(automatic=False), steps=steps) as play:
        await play.host.until(lambda: play.said[-1].startswith("the power"))
        await play.host.until(lambda: sum(isinstance(each, of_a_step) for each in play.host.taken) == 6)
    seen = [type(record) for record in play.host.taken if isinstance(record, of_a_step)]
    for _ in ("opened", "closed"):  # as the cards came in, perhaps after the first step
        seen.remove(frames.LidRecord)

    assert seen == [
        frames.FaultRecord,
        frames.ReverseRecord,
        frames.LidRecord,
        frames.LidRecord,
    ]
    assert play.host.hangups == 1


async def test_a_card_that_left_as_the_power_went_comes_with_the_next_hello(running):
    steps = (Step("power", at=4, seconds=0.1), Step("unplug", at=9, seconds=0.1))
    hellos_before: dict[int, int] = {}

    class Watch(Table):
        def take(self, record):
            super().take(record)
            hellos_before[len(self.dealt[0])] = len(play.host.hellos)

    async with running(Watch(), decks=1, steps=steps) as play:
        await play.host.until_over()
    dealt = play.table.dealt[0]

    assert dealt == shuffled("1", 1, 1)[: len(dealt)]
    assert [number for number in (4, 9) if hellos_before[number] > hellos_before[number - 1]] == [4, 9]
    assert play.host.hangups == 1


async def test_a_shoe_with_nobody_at_the_line_keeps_everything(running):
    """The line's buffer fills with heartbeats nobody reads; then a host comes and plays to the end."""
    async with running(decks=1) as play:
        filler = os.open(play.shoe.path, os.O_RDWR | os.O_NOCTTY)
        while not play.shoe._terminal.dropped:
            play.shoe._terminal.write(b"\x11" * 4000)
        await asyncio.sleep(0.6)
        os.close(filler)
        await play.host.until_over()
    dealt = play.table.dealt[0]

    assert dealt == shuffled("1", 1, 1)[: len(dealt)]
