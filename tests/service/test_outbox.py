"""What waits for the broker is bounded, and in order."""

import asyncio

import pytest

from punto.controller.outbox import MANY_WAITING, MOST_WAITING, Outbox
from tests.service.table_in_this_process import table


def put(outbox: Outbox, numbers: range) -> None:
    for n in numbers:
        outbox.put("event", b"%d" % n)


async def has_room(outbox: Outbox) -> bool:
    """Whether the shoe goes on now."""
    try:
        await asyncio.wait_for(outbox.room(), 0.01)
    except TimeoutError:
        return False
    return True


async def test_events_leave_in_the_order_in_which_they_came():
    outbox = Outbox()
    taken: list[bytes] = []
    outbox.connect(lambda: taken.append(outbox.take()[1]))
    put(outbox, range(50))

    assert taken == [b"%d" % n for n in range(50)]


async def test_a_slow_broker_holds_the_shoe_back_until_half_is_taken():
    outbox = Outbox()
    outbox.connect(lambda: None)
    put(outbox, range(MANY_WAITING))

    assert await has_room(outbox)

    put(outbox, range(1))

    assert not await has_room(outbox)

    while len(outbox.events) > MANY_WAITING // 2 + 1:
        outbox.take()

    assert not await has_room(outbox)

    outbox.take()

    assert await has_room(outbox)


async def test_a_broker_that_takes_nothing_costs_the_oldest_and_no_more_memory():
    outbox = Outbox()
    outbox.connect(lambda: None)
    put(outbox, range(MOST_WAITING + 100))

    assert len(outbox.events) == MOST_WAITING
    assert outbox.dropped == 100
    assert outbox.take() == ("event", b"100")


async def test_a_broker_that_goes_lets_the_shoe_go_on():
    outbox = Outbox()
    outbox.connect(lambda: None)
    put(outbox, range(MANY_WAITING + 10))
    outbox.disconnect()

    assert await has_room(outbox)
    assert (len(outbox.events), outbox.dropped) == (0, MANY_WAITING + 10)


async def test_without_a_broker_events_are_counted_and_not_kept(tmp_path):
    async with table(tmp_path / "table.db", restricted=True) as here:
        await here.begin_shoe()
        await here.play(20)

        assert len(here.outbox.events) == 0
        assert here.outbox.dropped == here.state.happenings


async def test_a_snapshot_is_due_once_however_often_it_changed():
    outbox = Outbox()
    for _ in range(1000):
        outbox.snapshot_due("state")

    assert outbox.due == {"state"}
    assert outbox.snapshots_wake.is_set()


async def test_none_waiting_is_an_error_to_take_from():
    with pytest.raises(IndexError):
        Outbox().take()
