"""The link to the broker: what it may take of the client library, and what it leaves behind when it gives up."""

import asyncio
import gc
import inspect
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import aiomqtt
import paho.mqtt.client
import pytest
import structlog

from punto.runtime import broker_link, clock
from punto.runtime.backoff import Backoff
from punto.runtime.broker_link import TAKEN_OVER, Connection, ConnectionLostError, Link, Sender
from punto.runtime.broker_login import BrokerConfig
from tests.controller.guarded_brokers import GuardedBroker
from tests.controller.table_in_this_process import Login, eventually
from tests.controller.table_on_a_machine import Broker
from tests.deadline import DEADLINE
from tests.ports import free_port
from tests.share import sampled

CONNACK = bytes.fromhex("20 02 00 00")
DISCONNECT = bytes.fromhex("e0 00")


async def test_of_the_library_only_its_client_is_taken_from_behind_its_interface():
    """Every other private name would be an error of ruff's (SLF001)."""
    source = inspect.getsource(broker_link)
    client = aiomqtt.Client("127.0.0.1")._client

    assert source.count("noqa") == source.count("SLF001") == source.count("client._client") == 1
    assert isinstance(client, paho.mqtt.client.Client)
    assert client.on_socket_register_write is not None
    assert {"publish", "loop_write", "want_write", "on_publish", "on_message"} <= set(
        dir(paho.mqtt.client.Client)
    )


class DeafBroker:
    """Takes connections, says `answer` to the first packet, and nothing more; `heard` is what each connection sent."""

    def __init__(self, answer: bytes) -> None:
        self.port = free_port()
        self.heard: list[bytearray] = []
        self.ended = 0
        self._answer = answer

    @asynccontextmanager
    async def open(self) -> AsyncIterator["DeafBroker"]:
        server = await asyncio.start_server(self._take, "127.0.0.1", self.port)
        try:
            yield self
        finally:
            server.close()

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard = bytearray()
        self.heard.append(heard)
        while data := await reader.read(65536):
            if not heard:
                writer.write(self._answer)
            heard += data
        writer.close()
        self.ended += 1


async def subscribed(connection: Connection) -> None:
    await connection.subscribe(["punto/#"])
    raise AssertionError("nobody has answered")


@pytest.fixture
async def noise() -> AsyncIterator[list[str]]:
    """What asyncio reports that nobody has asked for."""
    reported: list[str] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(str(context)))
    yield reported
    gc.collect()
    assert reported == []


@pytest.mark.parametrize(
    "answer", sampled([b"", CONNACK], one_in=4), ids=["it answers nothing", "it accepts the connection"]
)
@pytest.mark.parametrize("stopped", [True, False])
async def test_a_connection_that_is_given_up_is_closed(answer, stopped, noise, monkeypatch):
    monkeypatch.setattr(broker_link, "STALLED_SECONDS", 0.3)
    lost: list[str] = []
    async with DeafBroker(answer).open() as deaf:
        link = Link(BrokerConfig(port=deaf.port), Backoff(0.1, 0.1), lost=lost.append)
        running = asyncio.create_task(link.run(subscribed))
        await eventually(lambda: deaf.heard and deaf.heard[0], "a connection")
        if not stopped:
            await eventually(lambda: len(deaf.heard) > 1 and deaf.heard[1], "the next one")
            assert lost[0] == "the broker has answered nothing for 0.3 s"
        running.cancel()
        await asyncio.wait([running])
        await eventually(lambda: deaf.ended == len(deaf.heard), "each is closed")

        assert running.cancelled()
        assert all(heard.endswith(DISCONNECT) for heard in deaf.heard)


async def cut_off(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A broker that takes a client in, reads a little and resets the connection."""
    await reader.read(100)
    writer.write(CONNACK)
    with suppress(ConnectionError):
        await reader.read(1)
    end = writer.get_extra_info("socket")
    end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def test_of_a_connection_that_is_cut_in_mid_write_nothing_is_said_but_our_own_line(
    noise, caplog, monkeypatch
):
    monkeypatch.setattr(broker_link, "QUICK_LOSSES", 1000)  # a link that is thrown out so often would wait
    ended = 0

    async def send_much(connection: Connection) -> None:
        nonlocal ended
        ended += 1
        sender = Sender(connection)
        async with asyncio.TaskGroup() as group:
            group.create_task(subscribed(connection))
            while True:
                await sender.room()
                sender.send("punto/much", bytes(200_000))
                await asyncio.sleep(0)

    port = free_port()
    with structlog.testing.capture_logs() as logs:
        async with await asyncio.start_server(cut_off, "127.0.0.1", port):
            running = asyncio.create_task(Link(BrokerConfig(port=port), Backoff(0.001, 0.001)).run(send_much))
            await eventually(lambda: ended > 300, "many connections")
            running.cancel()
            await asyncio.wait([running])

    assert {each["event"] for each in logs} == {"broker connected", "broker away"}
    assert [record.getMessage() for record in caplog.records if record.levelname != "DEBUG"] == []


async def test_the_answer_to_a_request_that_was_cancelled_is_not_an_error(tmp_path, caplog):
    with Broker(tmp_path) as broker:
        async with Link(BrokerConfig(port=broker.port), Backoff(1, 1)).connection() as connection:
            for request in (connection.subscribe, connection.unsubscribe):
                cancelled = asyncio.create_task(request(["punto/cancelled"]))
                await asyncio.sleep(0)  # it is sent
                cancelled.cancel()
                await connection.subscribe(["punto/next"])  # answered after it

    assert [record.getMessage() for record in caplog.records if record.levelname != "DEBUG"] == []


async def test_messages_are_delivered_in_order_however_many(tmp_path):
    with Broker(tmp_path) as broker:
        link = Link(BrokerConfig(port=broker.port), Backoff(1, 1))
        async with link.connection() as connection:
            assert await connection.subscribe(["punto/#"])
            sender = Sender(connection)
            for number in range(500):
                await sender.room()
                sender.send("punto/number", b"%d" % number)
            received = [await anext(messages) for messages in [connection.messages()] for _ in range(500)]
            await sender.all_taken()

    assert [int(each.payload) for each in received] == list(range(500))


async def test_messages_that_nobody_reads_are_bounded_and_reported_in_one_line(
    tmp_path, monkeypatch, log_lines
):
    monkeypatch.setattr(broker_link, "MOST_WAITING", 10)
    with Broker(tmp_path) as broker:
        link = Link(BrokerConfig(port=broker.port), Backoff(1, 1))
        async with link.connection() as connection:
            await connection.subscribe(["punto/#"])
            sender = Sender(connection)
            for number in range(100):
                await sender.room()
                sender.send("punto/number", b"%d" % number)
            await sender.all_taken()
            await eventually(lambda: log_lines, "it is reported")
            received: list[bytes] = []
            async for message in connection.messages():
                if len(received) == 0:
                    sender.send("punto/number", b"the last")
                received.append(message.payload)
                if message.payload == b"the last":
                    break

    assert [line["event"] for line in log_lines] == ["messages discarded"]
    assert received[:10] == [b"%d" % number for number in range(10)]
    assert len(received) < 100


async def test_an_absence_is_reported_once_and_its_reason_each_time():
    lost: list[str] = []
    with structlog.testing.capture_logs() as logs:
        link = Link(BrokerConfig(port=free_port()), Backoff(0.01, 0.01), lost=lost.append)
        running = asyncio.create_task(link.run(subscribed))
        await eventually(lambda: len(lost) > 2, "three attempts")
        running.cancel()
        await asyncio.wait([running])

    assert [line["event"] for line in logs] == ["broker away"]
    assert set(lost) == {logs[0]["reason"]}


async def test_clients_that_throw_each_other_out_report_it_and_wait_longer(tmp_path):
    """Two programs with one user, at a broker that takes a client's id from its user."""

    async def listen(connection: Connection) -> None:
        await connection.subscribe(["punto/+/state"])
        async for _ in connection.messages():
            pass

    lost: list[str] = []
    with GuardedBroker(tmp_path) as broker, structlog.testing.capture_logs() as logs:
        user = broker.login("display")
        login = Login(port=broker.port, username=user["username"], secret=user["password"])
        links = [Link(login, Backoff(0.05, 0.1), lost=lost.append) for _ in range(2)]
        running = [asyncio.create_task(link.run(listen)) for link in links]
        await eventually(lambda: lost.count(TAKEN_OVER) >= 2, "it is reported")
        connections = [line["event"] for line in logs].count("broker connected")
        await asyncio.sleep(3)
        since = [line["event"] for line in logs].count("broker connected") - connections
        for task in running:
            task.cancel()
        await asyncio.wait(running)

    assert since < 12  # with the pauses of the links there are hundreds
    reported = next(line for line in logs if line.get("reason") == TAKEN_OVER)
    assert reported["hint"].startswith("give each program a user of its own")


@pytest.mark.parametrize(
    ("ends", "reported"),
    [
        ([aiomqtt.MqttError("Disconnected")] * 5, True),
        ([aiomqtt.MqttError("Disconnected"), ConnectionRefusedError()] * 5, False),
        ([ConnectionLostError("the broker has answered nothing")] * 5, False),
    ],
    ids=["it accepts and ends each connection", "it stops after each connection", "it does not answer"],
)  # fmt: skip
async def test_only_a_broker_that_ends_connections_and_accepts_the_next_has_another_client_of_the_name(
    ends, reported
):
    attempts = iter(ends)

    class Scripted(Link):
        @asynccontextmanager
        async def connection(self) -> AsyncIterator[Connection]:
            self.error: Exception | None = next(attempts, None)
            if isinstance(self.error, ConnectionRefusedError):
                raise aiomqtt.MqttError("Connection refused")
            yield None  # type: ignore[misc]

    async def session(_: Connection) -> None:
        if link.error is not None:
            raise link.error
        over.set()
        await asyncio.sleep(DEADLINE)

    over, lost = asyncio.Event(), list[str]()
    link = Scripted(BrokerConfig(), Backoff(0.01, 0.01), lost=lost.append)
    link._long_pauses = Backoff(0.01, 0.01)
    running = asyncio.create_task(link.run(session))
    await asyncio.wait_for(over.wait(), DEADLINE)
    running.cancel()
    await asyncio.wait([running])

    assert len(lost) == len(ends)
    assert (TAKEN_OVER in lost) is reported


async def test_a_connection_that_has_held_is_made_again_after_the_usual_pause_although_it_is_reported(
    monkeypatch,
):
    """Otherwise anyone who ends a connection each two minutes would keep the client away for a minute each time."""
    now, lives = [0.0], iter([1, 1, 1, 1, 31, 119, 31])

    class Scripted(Link):
        @asynccontextmanager
        async def connection(self) -> AsyncIterator[Connection]:
            yield None  # type: ignore[misc]

    async def session(_: Connection) -> None:
        if (lived := next(lives, None)) is None:
            over.set()
            await asyncio.sleep(DEADLINE)
        else:
            now[0] += lived
            raise aiomqtt.MqttError("Disconnected")

    monkeypatch.setattr(clock, "monotonic", lambda: now[0])
    over, lost = asyncio.Event(), list[str]()
    link = Scripted(BrokerConfig(), Backoff(0.01, 0.01), lost=lost.append)
    link._long_pauses = Backoff(0.01, 0.01)
    running = asyncio.create_task(link.run(session))
    await asyncio.wait_for(over.wait(), DEADLINE)
    running.cancel()
    await asyncio.wait([running])

    assert lost == ["Disconnected"] * 2 + [TAKEN_OVER] * 5
    assert link._long_pauses.failures == 2  # those of the connections that held for 1 s


async def test_what_a_session_raises_ends_the_link(tmp_path):
    async def play(_: Connection) -> None:
        raise LookupError("not the broker's fault")

    with Broker(tmp_path) as broker, pytest.raises(LookupError, match="not the broker's fault"):
        await Link(BrokerConfig(port=broker.port), Backoff(1, 1)).run(play)


async def test_a_password_is_read_again_for_each_connection(tmp_path: Path):
    password = tmp_path / "password"
    password.write_text("once\n", encoding="utf-8")
    lost: list[str] = []
    broker = BrokerConfig(port=free_port(), username="u", password_file=password)
    link = Link(broker, Backoff(0.01, 0.01), lost=lost.append)
    password.unlink()
    running = asyncio.create_task(link.run(subscribed))
    await eventually(lambda: lost, "an attempt")
    password.write_text("again\n", encoding="utf-8")
    await eventually(lambda: "refused" in lost[-1], "an attempt with a password")
    running.cancel()
    await asyncio.wait([running])

    assert lost[0] == f"{password}: the password cannot be read: No such file or directory"


async def test_a_stop_that_comes_with_the_loss_of_the_broker_is_not_lost():
    class Standing(Link):
        @asynccontextmanager
        async def connection(self) -> AsyncIterator[Connection]:
            yield None  # type: ignore[misc]

    lost = asyncio.Event()

    async def lose():
        await lost.wait()
        raise aiomqtt.MqttError("Disconnected during message iteration")

    async def session(_: Connection):
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(lose())

    running = asyncio.create_task(Standing(BrokerConfig(), Backoff(0.01, 0.01)).run(session))
    await asyncio.sleep(0.01)
    lost.set()
    running.cancel()
    done, _ = await asyncio.wait([running], timeout=DEADLINE)
    still = not done
    running.cancel()

    assert not still, "the link goes on after its stop"
    assert running.cancelled()
