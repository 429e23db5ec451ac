"""Every serial device behind a device server in the network: whatever becomes of the connection, each thing arrives once."""

import asyncio
import contextlib
import os
import random
import socket
from collections.abc import AsyncIterator
from typing import ClassVar

import pytest

from punto.baccarat.cards import STANDARD_DECK
from punto.drivers import network_line, serial_device
from punto.drivers.address import parsed
from punto.drivers.base import BAUD
from punto.drivers.line import PortLostError
from punto.drivers.serial_port import open_port
from tests.deadline import DEADLINE
from tests.drivers.benches import KEY, Bench, ShoeBench, going, until
from tests.drivers.device_server import DeviceServer, Ser2net
from tests.drivers.devices import BENCHES
from tests.ports import free_port


@pytest.fixture
async def server(tmp_path) -> AsyncIterator[DeviceServer]:
    async with DeviceServer(tmp_path / "shoe") as server:
        yield server


@pytest.fixture
def shoe(tmp_path, server) -> ShoeBench:
    shoe = ShoeBench(tmp_path)
    shoe.at_address(server.address)
    return shoe


@pytest.mark.parametrize("orders", [False, True], ids=["socket", "rfc2217"])
@pytest.mark.parametrize("kind", BENCHES, ids=lambda kind: kind.device)
async def test_things_arrive_in_order_and_the_health_has_the_address(kind, tmp_path, orders):
    at: Bench = kind(tmp_path)
    async with DeviceServer(at.link, orders) as server:
        at.at_address(server.address)
        async with at.running():
            for number in range(5):
                assert await at.does(number)
            health = at.driver.health()
        assert not orders or server.set_to == BAUD

    assert at.user.got == list(at.things[:5])
    assert (health.port, health.connected, health.serial) == (server.address, True, "T-000001")


@pytest.mark.parametrize("accepter", ["tcp", "telnet(rfc2217)"])
async def test_debians_ser2net_is_such_a_server(tmp_path, accepter):
    at, port = ShoeBench(tmp_path), free_port()
    at.at_address(f"{'socket' if accepter == 'tcp' else 'rfc2217'}://localhost:{port}")
    async with going(at.far.run()):
        await until(at.link.exists)
        async with Ser2net(tmp_path, at.link, port, accepter), going(at.driver.run(at.user)):
            for number in range(12):
                assert await at.does(number)

    assert at.user.got == list(at.things)


async def test_bytes_that_come_late_and_one_by_one_are_the_same_bytes(shoe, server):
    server.delay, server.pieces = 0.1, True
    async with shoe.running():
        for number in range(12):
            assert await shoe.does(number)

    assert shoe.user.got == list(shoe.things)
    assert (shoe.counters["bad_framing"], shoe.counters["bad_crc"]) == (0, 0)


@pytest.mark.parametrize("cuts", [10, pytest.param(1000, marks=pytest.mark.soak)])
async def test_no_card_is_lost_or_doubled_when_the_connection_is_cut(shoe, server, cuts, monkeypatch):
    monkeypatch.setattr(serial_device.SerialDevice, "_while_disconnected", _at_once)
    chance = random.Random(cuts)
    drawn: list[str] = []
    async with shoe.running():
        for _ in range(cuts):
            cards = chance.choices(STANDARD_DECK, k=chance.randint(1, 6))
            moment = chance.randint(0, len(cards))
            for at, card in enumerate(cards):
                if at == moment:
                    server.cut()
                shoe.far.draw(card)
                await asyncio.sleep(chance.choice((0, 0, 0.001, 0.02)))
            drawn += map(str, cards)
        await until(lambda: len(shoe.user.got) >= len(drawn))

    assert shoe.user.got == drawn
    assert server.connections > cuts / 10


async def _at_once(driver, _) -> None:
    driver._backoff.reset()


async def test_a_connection_that_dies_without_an_end_is_lost_in_a_second_and_made_again(
    shoe, server, monkeypatch
):
    monkeypatch.setattr(serial_device, "REOPEN_SECONDS", 1.5)
    async with shoe.running():
        assert await shoe.does(0)
        server.stall()
        shoe.far.draw(STANDARD_DECK[1])
        assert await shoe.lost() < DEADLINE
        assert shoe.reason == "no sign of life for 0.8 s: check the shoe's power and its cable"
        await until(lambda: server.connections > 1)
        server.go_on()
        await until(lambda: len(shoe.user.got) == 2)

    assert shoe.user.got == list(shoe.things[:2])


async def test_a_server_that_is_off_for_a_while_is_found_again(shoe, server):
    async with shoe.running():
        await server.switch_off()
        shoe.far.draw(STANDARD_DECK[0])
        await until(lambda: "nothing listens at its port" in shoe.reason)
        await server.switch_on()
        await until(lambda: shoe.user.got == [shoe.things[0]])


async def test_another_listener_at_the_same_server_changes_nothing(shoe, server):
    async with shoe.running():
        reader, writer = await asyncio.open_connection("127.0.0.1", server._number)
        await until(lambda: server.connections == 2)
        for number in range(3):
            assert await shoe.does(number)
        assert await reader.read(10)
        writer.close()

    assert shoe.user.got == list(shoe.things[:3])


async def test_only_with_its_key_can_what_is_in_the_network_pass_as_the_device(tmp_path):
    class WithKey(ShoeBench):
        enrolled: ClassVar[bytes] = KEY

    class Impostor(ShoeBench):
        enrolled: ClassVar[bytes] = bytes(32)

    at, impostor = WithKey(tmp_path), Impostor(tmp_path)
    async with DeviceServer(at.link) as server:
        at.at_address(server.address)
        async with going(at.driver.run(at.user), impostor.far.run()):
            await until(lambda: "does not have the key of its key_file" in at.reason)

    assert at.user.got == []


async def test_a_port_where_nothing_listens_says_so():
    port = free_port()
    with pytest.raises(
        PortLostError, match=f"^127.0.0.1 answers, but nothing listens at its port {port}: check"
    ):
        await open_port(f"socket://127.0.0.1:{port}", BAUD, "shoe")


async def test_a_host_that_nobody_knows_says_so():
    with pytest.raises(
        PortLostError,
        match=r"^no host is called shoe\.invalid: check the name in socket://shoe\.invalid:4001",
    ):
        await open_port("socket://shoe.invalid:4001", BAUD, "shoe")


async def test_a_host_that_does_not_answer_says_so(monkeypatch):
    monkeypatch.setattr(network_line, "CONNECT_SECONDS", 0.3)
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full, contextlib.ExitStack() as waiting:
        where = full.getsockname()
        for _ in range(2):  # nobody accepts, so the system answers no third
            each = waiting.enter_context(socket.socket())
            each.setblocking(False)
            each.connect_ex(where)
        with pytest.raises(
            PortLostError, match=r"^127\.0\.0\.1 does not answer: check the device server's power"
        ):
            await open_port(f"socket://127.0.0.1:{where[1]}", BAUD, "shoe")


async def test_a_server_that_does_not_speak_rfc2217_says_what_to_write(server, monkeypatch):
    monkeypatch.setattr(network_line, "NEGOTIATE_SECONDS", 0.3)
    address = server.address.replace("socket", "rfc2217")
    with pytest.raises(
        PortLostError, match=r"does not set the line to 115200 baud by RFC 2217: .* write socket:// here"
    ):
        await open_port(address, BAUD, "shoe")


async def test_a_server_that_hangs_up_at_once_says_what_to_write():
    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1000)
        writer.close()

    async with await asyncio.start_server(hang_up, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(PortLostError, match=r"does not set the line to 115200 baud by RFC 2217"):
            await open_port(f"rfc2217://127.0.0.1:{port}", BAUD, "shoe")


async def test_a_dead_connection_ends_within_seconds_also_where_nothing_is_written(server):
    line = await network_line.connect(server.address, BAUD, "shoe")
    tcp = socket.IPPROTO_TCP
    with socket.socket(fileno=os.dup(line.fileno())) as connected:
        alive = connected.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        idle, every, times, unanswered = (
            connected.getsockopt(tcp, each)
            for each in (
                socket.TCP_KEEPIDLE,
                socket.TCP_KEEPINTVL,
                socket.TCP_KEEPCNT,
                socket.TCP_USER_TIMEOUT,
            )
        )
    line.close()

    assert alive
    assert idle + every * times <= 5
    assert unanswered <= 5000


@pytest.mark.parametrize(
    "address",
    [
        "socket://10.0.0.5",
        "socket://:4001",
        "socket://10.0.0.5:0",
        "socket://10.0.0.5:66000",
        "socket://10.0.0.5:x",
        "telnet://10.0.0.5:23",
        "socket://10.0.0.5:4001/?logging=debug",
        "socket://me@10.0.0.5:4001",
        "socket://10.0.0.5:4001#a",
    ],
)
def test_what_is_no_address_says_how_one_is_written(address):
    with pytest.raises(
        ValueError,
        match=r"is no address of a serial line: write socket://HOST:PORT, rfc2217://HOST:PORT, or a path$",
    ):
        parsed(address)


def test_addresses_of_version_6_have_brackets():
    assert (parsed("socket://[fe80::1]:4001").hostname, parsed("socket://[fe80::1]:4001").port) == (
        "fe80::1",
        4001,
    )
