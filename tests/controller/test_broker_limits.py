"""What one client can take of the broker that ships: each line of configs/mosquitto.conf that bounds it, at a real Mosquitto."""

import asyncio
import os
import re
import socket
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import aiomqtt
import pytest

from tests.controller.guarded_brokers import GuardedBroker
from tests.controller.table_in_this_process import HERE, TOPIC, Ear, connected, ear, eventually, table
from tests.deadline import DEADLINE

SHIPPED = dict(
    re.findall(
        r"^(\w+) (\S+)$", (HERE / "configs" / "mosquitto.conf").read_text(encoding="utf-8"), re.MULTILINE
    )
)
CONNECTIONS = {"own": 50, "floor": 200}


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[GuardedBroker]:
    with GuardedBroker(tmp_path) as broker:
        yield broker


def silent(stack: ExitStack, port: int, connections: int) -> list[socket.socket]:
    """Connections that say nothing, until the end of the stack."""
    return [stack.enter_context(socket.create_connection(("127.0.0.1", port))) for _ in range(connections)]


def refused(connection: socket.socket, within: float) -> bool:
    """Whether the broker closes a connection that says nothing within so many seconds."""
    connection.settimeout(within)
    try:
        return connection.recv(1) == b""
    except TimeoutError:
        return False
    except ConnectionError:
        return True


@pytest.mark.parametrize("listener", CONNECTIONS)
def test_a_listener_has_so_many_connections_also_silent_ones(guarded, listener):
    port, most = guarded.own_port if listener == "own" else guarded.port, CONNECTIONS[listener]
    with ExitStack() as stack:
        opened = silent(stack, port, most + 10)

        assert refused(opened[-1], DEADLINE)
        assert not refused(opened[most - 10], 0.5)


async def test_silent_connections_do_not_keep_the_tables_service_out(guarded, tmp_path):
    with ExitStack() as stack:
        silent(stack, guarded.port, CONNECTIONS["floor"] + 10)
        async with (
            table(tmp_path / "table.db") as here,
            ear(guarded.own_port, **guarded.login("surveillance")) as listening,
            connected(here, guarded.own_port, **guarded.login("punto")),
        ):
            await listening.last("availability", lambda last: last["state"] == "online")


async def test_a_client_does_not_end_the_connection_of_another_user_by_its_id(guarded):
    async with (
        ear(guarded.port, identifier="the same", **guarded.login("display")) as display,
        ear(guarded.port, identifier="the same", **guarded.login("terminal")) as terminal,
        ear(guarded.own_port, **guarded.login("punto")) as service,
    ):
        await service.publish("state", {"phase": "closed"})
        await eventually(lambda: display.of("state") and terminal.of("state"), "both hear it")


async def test_the_tables_id_from_the_brokers_log_takes_nothing_over(guarded, tmp_path):
    async with (
        table(tmp_path / "table.db") as here,
        connected(here, guarded.own_port, **guarded.login("punto")) as broker,
    ):
        await eventually(lambda: broker.health().connected, "the table is connected")
        since = broker.health().since
        for port in (guarded.own_port, guarded.port):
            async with ear(port, identifier=broker._link._identifier, **guarded.login("display")) as intruder:
                await intruder.last("state", lambda _: True)

        assert (broker.health().connected, broker.health().since) == (True, since)


async def test_a_payload_is_at_most_so_long(guarded):
    most = int(SHIPPED["message_size_limit"])
    async with (
        ear(guarded.port, **guarded.login("surveillance")) as listening,
        ear(guarded.own_port, **guarded.login("punto")) as service,
    ):
        await service.publish("round", b"x" * most)
        await eventually(lambda: listening.of("round"), "the longest comes")
        with suppress(aiomqtt.MqttError):
            await asyncio.wait_for(service.publish("round", b"x" * (most + 1)), DEADLINE)
        async with ear(guarded.own_port, **guarded.login("punto")) as other:
            await other.publish("state", {"phase": "closed"})
        await eventually(lambda: listening.of("state"), "a later message comes")

        assert len(listening.of("round")) == 1


def _signed_on(stack: ExitStack, guarded: GuardedBroker) -> socket.socket:
    """A connection of the display that has sent its CONNECT packet alone."""
    login = guarded.login("display")
    texts = [b"MQTT", b"display", *(str(login[key]).encode() for key in ("username", "password"))]
    name, *others = (len(text).to_bytes(2) + text for text in texts)
    body = name + bytes([4, 0xC2]) + (60).to_bytes(2) + b"".join(others)
    connection = stack.enter_context(socket.create_connection(("127.0.0.1", guarded.port)))
    connection.sendall(bytes([0x10, len(body)]) + body)
    return connection


def test_a_packet_whose_announced_size_is_larger_ends_its_connection_before_it_takes_memory(guarded):
    most = int(SHIPPED["max_packet_size"])
    with ExitStack() as stack:
        before = _resident_bytes(guarded.process.pid)
        for size, ends in ((100_000_000, True), (most, True), (most - 10, False)):
            connection = _signed_on(stack, guarded)
            assert connection.recv(4) == b"\x20\x02\x00\x00"
            lengths = bytes((size >> 7 * each & 0x7F) | (0x80 if each < 3 else 0) for each in range(4))
            connection.sendall(b"\x32" + lengths + b"\0")
            assert refused(connection, 5 if ends else 0.5) is ends
        assert _resident_bytes(guarded.process.pid) < before + 1024 * 1024


async def _heard_after_being_away(guarded: GuardedBroker, messages: int, size: int) -> int:
    """How many bytes of so many messages a client gets that was away while they came, and keeps its session."""
    away = aiomqtt.Client(
        "127.0.0.1",
        guarded.port,
        identifier="away",
        clean_session=False,
        **guarded.login("surveillance"),  # type: ignore[arg-type]
    )
    async with away:
        await away.subscribe(TOPIC("round"), qos=1)
    heard, end = 0, b"end of %d" % messages  # further ones of an earlier end may still wait
    async with ear(guarded.own_port, "none", **guarded.login("punto")) as service:
        for start in range(0, messages, 100):
            await asyncio.gather(
                *(service.publish("round", b"x" * size) for _ in range(start, min(start + 100, messages)))
            )
        async with away, asyncio.timeout(DEADLINE):
            ending = asyncio.create_task(_publish_again_and_again(service, end))
            async for message in away.messages:
                if message.payload == end:  # which comes after all that waited
                    break
                heard += len(message.payload)
            ending.cancel()
    return heard


async def _publish_again_and_again(service: Ear, payload: bytes) -> None:
    """A queue that is full discards it."""
    while True:
        await service.publish("round", payload)
        await asyncio.sleep(0.05)


async def test_a_client_that_was_away_gets_every_message_up_to_so_many_bytes(guarded):
    assert await _heard_after_being_away(guarded, 3000, 100) == 3000 * 100

    most = int(SHIPPED["max_queued_bytes"])
    heard = await _heard_after_being_away(guarded, 150, 100_000)
    assert most / 2 < heard <= most + 20 * 100_000  # those in flight are not in the queue


async def test_the_brokers_memory_is_bounded_and_thirty_full_sessions_fit(tmp_path):
    """Here with a sixteenth of the memory, so that the test takes no more."""
    most = int(SHIPPED["memory_limit"])
    assert 30 * int(SHIPPED["max_queued_bytes"]) < most
    guarded = GuardedBroker(tmp_path)
    settings = tmp_path / "conf.d" / "punto.conf"
    shipped = settings.read_text(encoding="utf-8")
    settings.write_text(
        shipped.replace(f"memory_limit {most}", f"memory_limit {most // 16}"), encoding="utf-8"
    )
    with guarded:
        async with ear(guarded.own_port, "none", **guarded.login("punto")) as service:
            with suppress(aiomqtt.MqttError, TimeoutError):
                for number in range(200):
                    retained = service.publish(f"{number}", b"x" * 200_000, retain=True)
                    await asyncio.wait_for(retained, 1)
        assert _resident_bytes(guarded.process.pid) < most // 16 + 16 * 1024 * 1024


def _resident_bytes(process: int) -> int:
    pages = Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def test_a_session_whose_client_does_not_return_ends():
    """The broker counts in hours, so the test reads the line."""
    assert SHIPPED["persistent_client_expiration"] == "1d"
