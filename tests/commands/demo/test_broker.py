"""The demo's broker: it carries what linked tables say, and ends with the demo, whoever is attached."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from punto.commands.demo.broker import DemoBroker
from punto.runtime.backoff import Backoff
from punto.runtime.broker_link import Connection, Link, Received, Sender
from punto.runtime.broker_login import BrokerConfig
from tests.deadline import DEADLINE
from tests.ports import free_port

CONNECT = bytes.fromhex("10 0d 0004 4d515454 04 02 003c 0001 61")  # as "a", clean, to be heard of within 60 s
CONNACK = bytes.fromhex("20 02 00 00")
PINGREQ = bytes.fromhex("c0 00")


@pytest.fixture(autouse=True)
def quiet():
    logging.getLogger("transitions").setLevel(logging.ERROR)


@pytest.mark.parametrize("turns", range(12))
async def test_a_client_whose_packet_comes_as_the_broker_ends_does_not_hold_it_up(turns):
    broker = DemoBroker(port := free_port())
    await broker.start()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(CONNECT)
        assert await reader.readexactly(4) == CONNACK
        await asyncio.sleep(0.05)  # it reads
        writer.write(PINGREQ)
        for _ in range(turns):  # until the packet is on its way from the line to what takes it
            await asyncio.sleep(0)

        async with asyncio.timeout(DEADLINE):
            await broker.shutdown()
    finally:
        writer.close()


@asynccontextmanager
async def running() -> AsyncIterator[BrokerConfig]:
    broker = DemoBroker(port := free_port())
    await broker.start()
    try:
        yield BrokerConfig(port=port)
    finally:
        await broker.shutdown()


def link(broker: BrokerConfig) -> Link:
    return Link(broker, Backoff(1, 1))


async def publish(connection: Connection, topic: str, payload: bytes, *, retain: bool) -> None:
    sender = Sender(connection)
    sender.send(topic, payload, retain=retain)
    await sender.all_taken()


async def heard(connection: Connection, count: int) -> list[Received]:
    async with asyncio.timeout(DEADLINE):
        messages = connection.messages()
        return [await anext(messages) for _ in range(count)]


async def test_a_retained_meter_comes_to_those_who_subscribe_with_a_wildcard_and_later_ones_come_as_new():
    async with running() as broker, link(broker).connection() as keeper, link(broker).connection() as table:
        await keeper.subscribe(["punto/+/state"])
        for topic in ("punto/meter/state", "punto/meter/progressive/dragon"):
            await publish(keeper, topic, b"1", retain=True)
        async with link(broker).connection() as late:
            for each in (table, late):
                await each.subscribe(["punto/+/progressive/dragon"])
            await publish(keeper, "punto/meter/progressive/dragon", b"2", retain=True)

            for each in (table, late):
                assert [
                    (message.topic, message.payload, message.retained) for message in await heard(each, 2)
                ] == [
                    ("punto/meter/progressive/dragon", b"1", True),
                    ("punto/meter/progressive/dragon", b"2", False),
                ]


async def test_many_clients_may_subscribe_while_others_connect(caplog):
    async def come(broker: BrokerConfig, number: int) -> None:
        await asyncio.sleep(0.001 * number)  # they connect one after the other
        async with link(broker).connection() as connection:
            for topic in (f"punto/{number}/meter/request", "punto/meter/meter/answer/+"):
                await connection.subscribe([topic])
            assert len(await heard(connection, 9)) == 9

    async with running() as broker, link(broker).connection() as keeper:
        await keeper.subscribe(["punto/+/meter/answer/+"])
        for table in range(9):
            await publish(keeper, f"punto/meter/meter/answer/t{table}", b"{}", retain=True)
        await asyncio.gather(*(come(broker, number) for number in range(20)))

    assert "Unhandled exception" not in caplog.text


async def test_a_client_that_acknowledges_late_prints_no_error(caplog):
    async with running() as broker, link(broker).connection() as sender:
        reader, writer = await asyncio.open_connection("127.0.0.1", broker.port)
        writer.write(CONNECT)
        assert await reader.readexactly(4) == CONNACK
        writer.write(bytes.fromhex("82 06 0001 0001 74 01"))  # subscribes to t with QoS 1
        assert await reader.readexactly(5) == bytes.fromhex("90 03 0001 01")
        await publish(sender, "t", b"1", retain=False)
        assert (await reader.readexactly(8))[2:5] == bytes.fromhex("0001 74")
        await asyncio.sleep(5.5)  # amqtt waits 5 s for what does not come
        await publish(
            sender, "t", b"2", retain=False
        )  # it looks at the first message when it sends the second
        await reader.readexactly(8)
        writer.close()
    assert [each for each in caplog.records if each.levelno >= logging.ERROR] == []
