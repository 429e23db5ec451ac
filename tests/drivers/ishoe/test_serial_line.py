"""What the shoe's driver does besides what all serial drivers do (tests/drivers/test_serial_devices.py)."""

import asyncio
import sys
import time
from dataclasses import replace
from datetime import timedelta
from itertools import count, islice
from statistics import quantiles

import pytest

from punto.baccarat.cards import Card
from punto.baccarat.table.events import ShoeHello, ShoeLost
from punto.baccarat.table.shoe_orders import Lamps
from punto.drivers import serial_device, serial_port
from punto.drivers.base import ShoeDriver
from punto.drivers.framing import Decoder, encode
from punto.drivers.ishoe import frames
from tests.drivers.benches import ShoeBench, until


@pytest.fixture
def at(tmp_path) -> ShoeBench:
    return ShoeBench(tmp_path)


async def test_cards_come_in_and_orders_go_out(at):
    driver: ShoeDriver = at.driver
    async with at.running():
        at.far.draw(Card.NINE_S)
        at.far.draw(Card.KH)
        await until(lambda: at.user.got == ["9S", "KH"])
        await until(lambda: not at.far.shoe.stored)

        assert not at.far.shoe.locked
        at.user.wanted = replace(at.user.wanted, locked=True, lamps=Lamps(next="burn"))
        driver.send()
        await until(lambda: at.far.shoe.locked and at.far.shoe.lamps == Lamps(next="burn"))
        assert driver.health().counters["records"] == 2

    assert [type(event) for event in at.user.events if not hasattr(event, "record")][-1:] == [ShoeHello]
    driver.send()  # without a connection it does nothing


@pytest.mark.punctual
async def test_the_batch_is_committed_before_it_is_acknowledged_and_nothing_is_read_meanwhile(at):
    async with at.running():
        at.user.busy = asyncio.Event()
        at.far.draw(Card.NINE_S)
        await asyncio.sleep(0.3)
        at.far.draw(Card.KH)
        await asyncio.sleep(0.9)

        assert (at.user.got, len(at.far.shoe.stored)) == ([], 2)
        at.user.busy.set()
        await until(lambda: not at.far.shoe.stored)
        assert at.user.got == ["9S", "KH"]
        assert at.counters["silences"] == 0


async def test_orders_that_change_while_a_batch_is_committed_go_out_at_once(at):
    async with at.running():
        at.user.busy = asyncio.Event()
        at.far.draw(Card.NINE_S)
        await until(lambda: at.user.held)
        at.user.wanted = replace(at.user.wanted, locked=True)
        at.driver.send()
        await until(lambda: at.far.shoe.locked)

        assert (at.user.got, len(at.far.shoe.stored)) == ([], 1)
        at.user.busy.set()
        await until(lambda: not at.far.shoe.stored)


async def test_more_than_is_read_while_the_table_is_busy_waits_in_the_port(at):
    async with at.running():
        at.user.busy = asyncio.Event()
        at.far.draw(Card.NINE_S)
        await until(lambda: at.user.held)
        for _ in range(3):
            at.far._terminal.write(bytes(2000))
            await asyncio.sleep(0.05)
        at.far.draw(Card.KH)

        await until(lambda: not at.driver._served[0]._listening)
        assert len(at.driver._served[0]._came) < 2 * serial_port.READ_BYTES
        at.user.busy.set()
        await until(lambda: at.user.got == ["9S", "KH"])


@pytest.mark.punctual
async def test_a_card_is_submitted_at_once(at):
    async with at.running():
        took = []
        for count in range(1, 101):
            start = time.perf_counter()
            at.far.draw(Card.NINE_S)
            await until(lambda count=count: len(at.user.got) == count)  # type: ignore[misc]
            took.append(at.user.times[-1] - start)

    # A machine that has other things to do holds up some of them; what waits for a tick holds up all.
    assert quantiles(took, n=4)[0] < 0.005


@pytest.mark.punctual
def test_decoding_a_card_costs_little():
    from timeit import repeat

    decoder, wire = Decoder(frames.TYPES), encode(frames.CardRecord(1, Card.NINE_S, 98))
    tracer = sys.gettrace()
    sys.settrace(None)  # it costs more than what it traces
    try:
        seconds = min(repeat(lambda: decoder.feed(wire), number=500, repeat=40)) / 500
    finally:
        sys.settrace(tracer)

    assert seconds < 10e-6


async def test_a_shoe_that_babbles_is_left_for_a_while_and_little_of_it_is_taken(at, monkeypatch):
    monkeypatch.setattr(serial_device, "REOPEN_SECONDS", 1.0)
    hellos = (encode(frames.Hello(at.far.shoe.serial, log, 1, 1, 8)) for log in count(2))
    async with at.running():
        begun, connections = len(at.user.events), at.counters["connections"]
        # Again and again: a line that is full drops what it is sent, and on a busy machine it may be lost and opened anew.
        await until(lambda: at.babbles(b"".join(islice(hellos, 80))))
        assert isinstance(at.user.events[-1], ShoeLost)
        assert len(at.user.events) - begun < 200 * (at.counters["connections"] - connections + 1)
        left = at.driver.health().since

        await at.connected()
        assert at.driver.health().since - left >= timedelta(seconds=0.9)
