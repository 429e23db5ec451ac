"""The demo's broker ends with the demo, whoever is attached."""

import asyncio
import logging

import pytest

from punto.commands.demo.broker import DemoBroker
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

        async with asyncio.timeout(5):
            await broker.shutdown()
    finally:
        writer.close()
