"""What waits for the broker is bounded, and in order."""

import pytest

from punto.controller.outbox import MOST_WAITING, Outbox
from tests.controller.table_in_this_process import table


def put(outbox: Outbox, numbers: range) -> None:
    for n in numbers:
        outbox.put("event", b"%d" % n)


async def test_events_leave_in_the_order_in_which_they_came():
    outbox = Outbox()
    taken: list[bytes] = []
    outbox.connect(lambda: taken.append(outbox.take()[1]))
    put(outbox, range(50))

    assert taken == [b"%d" % n for n in range(50)]


async def test_a_broker_that_takes_nothing_costs_the_oldest_and_no_more_memory():
    outbox = Outbox()
    outbox.connect(lambda: None)
    put(outbox, range(MOST_WAITING + 100))

    assert len(outbox.events) == MOST_WAITING
    assert outbox.dropped == 100
    assert outbox.take()[:2] == ("event", b"100")


async def test_with_a_broker_that_goes_what_waited_is_dropped():
    outbox = Outbox()
    outbox.connect(lambda: None)
    put(outbox, range(10))
    outbox.disconnect()

    assert (len(outbox.events), outbox.dropped) == (0, 10)


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


async def test_a_snapshot_that_another_service_waits_for_is_sent_at_once_and_kept_for_the_next_connection():
    outbox = Outbox()
    sent: list[set[str]] = []
    outbox.connect(lambda: sent.append(set(outbox.at_once)))
    outbox.snapshot_at_once("meter/request")
    assert (sent, outbox.due) == ([{"meter/request"}], {"meter/request"})

    outbox.disconnect()
    assert (outbox.at_once, outbox.due) == (set(), {"meter/request"})


async def test_none_waiting_is_an_error_to_take_from():
    with pytest.raises(IndexError):
        Outbox().take()
