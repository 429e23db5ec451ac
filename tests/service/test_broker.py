"""The broker may be away, come back empty, stop taking, or hand in nonsense: play goes on, and no round is lost."""

import asyncio
import gc
import getpass
import hashlib
import json
import os
import re
import signal
import socket
import stat
import subprocess
import threading
import time
from base64 import b64encode
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import structlog

from punto.baccarat.table.events import Flooded, SetWager
from punto.baccarat.table.order_kinds import CloseTable, VoidCoup, VoidRound
from punto.commands.cli import main
from punto.controller import engine, mqtt, supervisor
from punto.controller.journal import recovery, store
from punto.controller.journal.answers import MOST_KEPT
from punto.controller.journal.entries import Head
from punto.controller.journal.schema import SNAPSHOTS_KEPT
from punto.controller.messages.topics import RESTRICTED_HEAD
from punto.controller.mqtt_requests import LONGEST_REQUEST
from punto.controller.pace import AT_ONCE, DEAR, SUMMED_SECONDS, Pace
from tests.operators.test_orders import UNSEEN
from tests.ports import free_port
from tests.service.table_in_this_process import (
    HERE,
    STAKE,
    TOPIC,
    Ear,
    Table,
    broker_of,
    connected,
    documented,
    ear,
    eventually,
    rows,
    settings,
    table,
)
from tests.service.table_on_a_machine import Broker, Listener, inputs, wait_until
from tests.service.table_on_a_machine import Table as Service

RETAINED = {"availability", "devices/shoe", "info", "health", "state", "scoreboard", "meters"}


@pytest.fixture
def mosquitto(tmp_path: Path) -> Iterator[Broker]:
    with Broker(tmp_path) as broker:
        yield broker


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Table]:
    """A table at betting, round 2."""
    async with table(tmp_path / "table.db") as own:
        await own.begin_shoe()
        await own.play(1)
        yield own


def numbers(messages: list[dict[str, Any]]) -> list[int]:
    return [message["seq"] for message in messages]


def contiguous(seqs: list[int]) -> bool:
    return seqs == list(range(seqs[0], seqs[0] + len(seqs)))


async def online(listening: Ear) -> None:
    await listening.last("availability", lambda last: last["state"] == "online")
    await eventually(lambda: listening.names() >= RETAINED, "the whole snapshot")


# --- it comes and goes


async def test_each_connection_begins_with_online_and_the_whole_snapshot(here, mosquitto):
    async with ear(mosquitto.port) as listening, connected(here, mosquitto.port):
        await online(listening)

        assert listening.heard[0][0] == "availability"

    async with ear(mosquitto.port) as latecomer:
        await eventually(lambda: latecomer.names() >= RETAINED, "what is retained")
        await asyncio.sleep(0.05)

        assert latecomer.names() == RETAINED
        assert all(retained for _, _, retained in latecomer.heard)


async def test_after_a_restart_that_lost_its_memory_all_is_retained_again(here, mosquitto):
    async with connected(here, mosquitto.port):
        for _ in range(2):
            async with ear(mosquitto.port) as listening:
                await online(listening)
            mosquitto.kill()
            mosquitto.start()
        async with ear(mosquitto.port) as listening:
            await online(listening)


async def test_a_broker_that_is_away_at_the_start_gets_every_round_when_it_comes(tmp_path):
    mosquitto = Broker(tmp_path)
    async with table(tmp_path / "table.db") as here, connected(here, mosquitto.port):
        await here.begin_shoe()
        await here.play(130, seats=[1, 2])
        with mosquitto:
            async with ear(mosquitto.port) as listening:
                await eventually(lambda: len(listening.of("round")) >= 130, "all rounds")
                await here.play(2)
                await eventually(lambda: len(listening.of("round")) >= 132, "the new rounds")

                assert numbers(listening.of("round")) == list(range(1, 133))
                assert contiguous(numbers(listening.of("event")))
                assert listening.of("round")[0]["round"]["settlements"] == []
                assert len(listening.of("round")[1]["round"]["settlements"]) == 2
                await eventually(lambda: here.journal.rounds_sent == 132, "the record knows")


async def test_how_it_stands_is_told_since_when_and_why(here, mosquitto):
    broker = broker_of(here, mosquitto.port)
    before = broker.health()
    assert (before.connected, before.reason) == (False, "not reached yet")

    async with connected(here, mosquitto.port) as broker:
        await eventually(lambda: broker.health().connected, "it is there")
        assert (broker.health().reason, broker.health().port) == ("", f"127.0.0.1:{mosquitto.port}")
        mosquitto.kill()
        await eventually(lambda: not broker.health().connected, "it is away")
        away = broker.health()
        assert away.reason
        assert before.since < away.since
        await eventually(lambda: broker.health() is not away, "another attempt has failed")
        assert (broker.health().connected, broker.health().since) == (False, away.since)


async def test_play_goes_on_while_it_comes_and_goes_and_no_round_is_lost(here, mosquitto):
    rounds: list[dict[str, Any]] = []
    async with connected(here, mosquitto.port):
        for _ in range(3):
            async with ear(mosquitto.port) as listening:
                await online(listening)
                playing = asyncio.create_task(_play_slowly(here, 25))
                await listening.last("round", lambda last: last["seq"] >= here.state.round - 2 > 5)
                await eventually(lambda: len(listening.of("event")) > 10, "some events")
                mosquitto.kill()
                await playing
                rounds += listening.of("round")

                assert contiguous(numbers(listening.of("event")))
            mosquitto.start()
        async with ear(mosquitto.port) as listening:
            await eventually(lambda: here.journal.rounds_sent == here.state.round - 1, "all rounds")
            await asyncio.sleep(0.05)
            rounds += listening.of("round")
    first = {message["id"]: message for message in reversed(rounds)}

    assert all(first[message["id"]] == message for message in rounds)
    # While the listener was away itself, nobody heard; what anybody heard came in order.
    assert sorted(numbers(list(first.values()))) == numbers(list(reversed(first.values())))
    assert rows_of(here) == list(range(1, 77))


async def _play_slowly(here: Table, rounds: int) -> None:
    for _ in range(rounds):
        await here.play(1, seats=[3])
        await asyncio.sleep(0.02)


def rows_of(here: Table) -> list[int]:
    path = here.journal.connection.execute("PRAGMA database_list").fetchone()[2]
    return [number for (number,) in rows(Path(path), "SELECT round FROM rounds ORDER BY round")]


async def test_rounds_not_yet_taken_follow_after_a_restart_of_the_service(tmp_path, mosquitto):
    async with table(tmp_path / "table.db") as here:
        await here.begin_shoe()
        await here.play(7)
    async with table(tmp_path / "table.db") as here, ear(mosquitto.port) as listening:
        async with connected(here, mosquitto.port):
            await eventually(lambda: here.journal.rounds_sent == 7, "all rounds")
            await eventually(lambda: len(listening.of("round")) >= 7, "all are heard")
        assert numbers(listening.of("round")) == [1, 2, 3, 4, 5, 6, 7]
    async with table(tmp_path / "table.db") as here, ear(mosquitto.port) as listening:
        async with connected(here, mosquitto.port):
            await online(listening)
            await asyncio.sleep(0.05)
        assert listening.of("round") == []


# --- the last will


def test_a_killed_service_is_offline_by_its_last_will(tmp_path, mosquitto):
    with Listener(tmp_path, mosquitto.port) as listener:
        with Service(tmp_path, mosquitto) as service:
            wait_until(lambda: listener.last("availability"), "it is online")
            service.kill()
            wait_until(lambda: _state(listener) == ("offline", "the connection was lost"), "its last will")
        service.start()
        wait_until(lambda: _state(listener) == ("online", "running"), "it is online again")
        assert service.stop() == 0
        wait_until(lambda: _state(listener) == ("offline", "the service was stopped"), "it says that it ends")
    ids = [message.payload["id"] for message in listener.heard("availability")]

    assert len(set(ids)) == len(ids)  # whoever knows messages by their ids sees each coming and going


def test_info_has_the_digest_of_each_component_and_the_record_has_that_of_them_all(tmp_path, mosquitto):
    """Approval letter (sheet 001): the electronic signatures, and what was modified since."""
    with Listener(tmp_path, mosquitto.port) as listener, Service(tmp_path, mosquitto) as service:
        wait_until(lambda: listener.last("info"), "its info")
    info = listener.last("info")
    assert info is not None
    own = hashlib.sha256()
    files = [file for file in (HERE / "baccarat").rglob("*") if file.is_file() and file.suffix != ".pyc"]
    for file in sorted(files):
        own.update(
            f"{file.relative_to(HERE / 'baccarat')}\n{file.stat().st_size}\n".encode() + file.read_bytes()
        )
    digests = {each["name"]: each["digest"] for each in info["components"]}
    together = hashlib.sha256("\n".join(digests.values()).encode()).hexdigest()

    assert digests["baccarat"] == own.hexdigest()
    assert inputs(service.record)[0]["version"] == f"{info['version']}+{together[:12]}"


def _state(listener: Listener) -> tuple[str, str] | None:
    last = listener.last("availability")
    return None if last is None else (last["state"], last["reason"])


class Cable:
    """A line to the broker that can be left hanging: neither end learns that nothing arrives any more."""

    def __init__(self, to: int) -> None:
        self.port = free_port()
        self._to = to
        self._server: asyncio.Server | None = None
        self._lines: list[tuple[asyncio.StreamWriter, asyncio.StreamWriter]] = []
        self._dead: set[int] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def laid(self) -> AsyncIterator["Cable"]:
        self._server = await asyncio.start_server(self._line, "127.0.0.1", self.port)
        try:
            yield self
        finally:
            self._server.close()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            for ends in self._lines:
                for end in ends:
                    end.close()

    def hang(self) -> None:
        """From now on nothing arrives over the lines that there are."""
        self._dead = set(range(len(self._lines)))

    @property
    def lines(self) -> int:
        return len(self._lines)

    async def _line(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        from_broker, to_broker = await asyncio.open_connection("127.0.0.1", self._to)
        number = len(self._lines)
        self._lines.append((writer, to_broker))
        for source, sink in ((reader, to_broker), (from_broker, writer)):
            task = asyncio.create_task(self._carry(number, source, sink))
            self._tasks.add(task)

    async def _carry(self, number: int, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while data := await source.read(65536):
                if number not in self._dead:
                    sink.write(data)
            if number not in self._dead:
                sink.close()


async def test_the_will_of_a_connection_left_hanging_does_not_come_after_online(here, mosquitto):
    async with (
        Cable(mosquitto.port).laid() as cable,
        ear(mosquitto.port) as listening,
        connected(here, cable.port, keepalive=1),
    ):
        await online(listening)
        cable.hang()
        await eventually(lambda: cable.lines == 2, "a new connection")
        await eventually(
            lambda: (
                [each["state"] for each in listening.of("availability")] == ["online", "offline", "online"]
            ),
            "the will of the old one, and then online",
        )
        await asyncio.sleep(2)  # longer than the broker waits for the old one

        assert listening.of("availability")[-1]["state"] == "online"


# --- how it is connected


async def test_nothing_waits_for_a_fuller_packet(here, mosquitto):
    async with ear(mosquitto.port) as listening:
        before = _sockets_to(mosquitto.port)
        async with connected(here, mosquitto.port):
            await online(listening)
            (own,) = _sockets_to(mosquitto.port).keys() - before.keys()

            assert _sockets_to(mosquitto.port)[own] != 0


def _sockets_to(port: int) -> dict[int, int]:
    """This process's connections to a port, by file descriptor, with their TCP_NODELAY."""
    found = {}
    for entry in Path("/proc/self/fd").iterdir():
        number = int(entry.name)
        with suppress(OSError):
            if stat.S_ISSOCK(os.fstat(number).st_mode):
                with socket.socket(fileno=os.dup(number)) as copy:
                    if copy.family == socket.AF_INET and copy.getpeername()[1] == port:
                        found[number] = copy.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
    return found


LONGEST_PAUSE = 1.5
"""Seconds that a coup may take beside a broker that is no help: it takes some milliseconds on a quiet machine."""


async def longest_coup(here: Table, coups: int) -> float:
    """Play so many coups; the seconds of the one that took longest."""
    longest = 0.0
    for _ in range(coups):
        begun = time.monotonic()
        await here.play(1)
        longest = max(longest, time.monotonic() - begun)
    return longest


@pytest.mark.punctual
async def test_a_broker_that_takes_nothing_holds_no_coup_up(here, mosquitto):
    async with ear(mosquitto.port) as listening, connected(here, mosquitto.port, keepalive=2):
        await online(listening)
        until = here.state.round + 600
        mosquitto.process.send_signal(signal.SIGSTOP)
        try:
            assert await longest_coup(here, 600) < LONGEST_PAUSE
        finally:
            mosquitto.process.send_signal(signal.SIGCONT)

        assert here.outbox.dropped > 0
        await eventually(lambda: here.journal.rounds_sent == until - 1, "the rounds follow")
        await eventually(
            lambda: sorted(set(numbers(listening.of("round")))) == list(range(1, until)),
            "every round is heard",
        )


@asynccontextmanager
async def far_away(port: int, seconds: float) -> AsyncIterator[int]:
    """A port that leads to another, but everything takes so many seconds each way."""
    writers = []

    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        with suppress(OSError):
            while data := await reader.read(65_536):
                await asyncio.sleep(seconds)
                writer.write(data)
        writer.close()

    async def meet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        other_reader, other_writer = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(relay(reader, other_writer), relay(other_reader, writer))

    server = await asyncio.start_server(meet, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for each in writers:
            each.close()


@pytest.mark.punctual
@pytest.mark.soak
async def test_a_broker_far_away_holds_no_coup_up_and_what_it_cannot_take_is_a_gap(here, mosquitto):
    async with ear(mosquitto.port) as listening, far_away(mosquitto.port, 0.2) as port, connected(here, port):
        await online(listening)

        assert await longest_coup(here, 600) < LONGEST_PAUSE
        assert here.outbox.connected
        assert here.outbox.dropped > 0
        heard = numbers(listening.of("event"))
        assert heard == sorted(heard)


@pytest.mark.punctual
async def test_at_the_end_it_does_not_wait_for_a_broker_that_takes_nothing(here, mosquitto):
    begun = time.monotonic()
    async with connected(here, mosquitto.port) as broker:
        async with ear(mosquitto.port) as listening:
            await online(listening)
        mosquitto.process.send_signal(signal.SIGSTOP)
        begun = time.monotonic()
    await broker.publish_offline("the test is over")
    took = time.monotonic() - begun
    mosquitto.process.send_signal(signal.SIGCONT)

    assert took < 3


# --- wagers


def wager(**changes: Any) -> dict[str, Any]:
    return {"id": "w-1", "round": 2, "wager": "player", "amount": STAKE, **changes}


WAGERS: list[tuple[str, Any, str | None]] = [
    ("3", wager(), None),
    ("3", wager(wager="dragon_bonus_banker"), "needs_base"),
    ("3", wager(round=1), "wrong_round"),
    ("3", wager(round=2**53), "wrong_round"),
    ("3", wager(round=10**30), "bad_payload"),
    ("3", wager(round=0), "bad_payload"),
    ("0", wager(), "no_such_seat"),
    ("8", wager(), "no_such_seat"),
    ("999", wager(), "no_such_seat"),
    ("3", wager(wager="bankr"), "unknown_wager"),
    ("3", wager(amount=499), "below_minimum"),
    ("3", wager(id="w\n1"), "bad_payload"),
    ("3", wager(wager="tie\x1b[2J"), "bad_payload"),
    *(("3", wager(id=f"w{each}"), "bad_payload") for each in UNSEEN),
    *(("3", wager(wager=f"tie{each}"), "bad_payload") for each in UNSEEN),
    ("3", wager(amount=1_000_500), "above_maximum"),
    ("3", wager(amount=10**30), "bad_payload"),
    ("3", wager(amount=501), "off_step"),
    ("3", wager(amount=-500), "bad_payload"),
    ("3", wager(amount=5000.0), "bad_payload"),
    ("3", wager(amount="5000"), "bad_payload"),
    ("3", wager(amount=True), "bad_payload"),
    ("3", wager(amount=None), "bad_payload"),
    ("3", wager(round="2"), "bad_payload"),
    ("3", wager(id=""), "bad_payload"),
    ("3", wager(id="x" * 65), "bad_payload"),
    ("3", wager(id=7), "bad_payload"),
    ("3", wager(wager="x" * 65), "bad_payload"),
    ("3", wager(seat=3), "bad_payload"),
    ("3", {"id": "w-1"}, "bad_payload"),
    ("3", b"", "bad_payload"),
    ("3", b"{", "bad_payload"),
    ("3", b"[]", "bad_payload"),
    ("3", b"\xff\xfe\x00", "bad_payload"),
    ("3", b'{"id": "\\ud800", "round": 2, "wager": "player", "amount": 5000}', "bad_payload"),
    ("3", b"[" * 100_000, "bad_payload"),
    ("3", b'{"id": "w", "round": 2, "wager": "player", "amount": ' + b"9" * 5000 + b"}", "bad_payload"),
    ("3", b'{"id": "w", "round": 2, "wager": "player", "amount": NaN}', "bad_payload"),
]


async def test_each_wager_is_answered_with_what_became_of_it(here, mosquitto):
    async with ear(mosquitto.port) as listening, connected(here, mosquitto.port):
        await online(listening)
        here.engine.pace = Pace(at_once=10 * len(WAGERS))  # nobody asks so often
        for seat, payload, _ in WAGERS:
            await listening.publish(f"wagers/{seat}/set", payload)
        await eventually(lambda: len(_answers(listening)) == len(WAGERS), "all answers")
        answers = _answers(listening)

    assert [(answer["seat"], answer["code"]) for answer in answers] == [
        (int(seat), code) for seat, _, code in WAGERS
    ]
    assert [answer["accepted"] for answer in answers] == [code is None for _, _, code in WAGERS]
    assert all(answer["reason"] for answer in answers if not answer["accepted"])
    assert all(documented("wagers/3/result", answer) for answer in answers)
    numbers = [answer["seq"] for answer in answers]
    assert (numbers, min(numbers) > 0) == (sorted(numbers), True)
    assert len({answer["id"] for answer in answers}) == len(answers)
    assert [(placed.seat, placed.wager, placed.amount) for placed in here.state.wagers] == [
        (3, "player", STAKE)
    ]


def _answers(listening: Ear) -> list[dict[str, Any]]:
    return [
        payload
        for name, payload, _ in listening.heard
        if name.startswith("wagers/") and name.endswith("/result")
    ]


@pytest.mark.parametrize(
    ("payload", "request_id"),
    [
        (wager(amount="5000"), "w-1"),
        ({"id": "w-2"}, "w-2"),
        (b'{"id": "w", "round": 2, "wager": "player", "amount": NaN}', "w"),
        (wager(id=7), None),
        (wager(id=""), None),
        (wager(id="x" * 65), None),
        (b'{"id": "w-1"', None),
        (b'["w-1"]', None),
        (b'{"id": "\\ud800"}', None),
        (b"\xff", None),
        (b"[" * 100_000, None),
    ],
)
@pytest.mark.parametrize("topic", ["wagers/3", "request/rounds", "request/roundz"])
async def test_what_is_no_request_is_answered_with_its_id_where_that_can_be_read(
    topic, payload, request_id, here, mosquitto
):
    name, answered = ("wagers/3/set", "wagers/3/result") if "wagers" in topic else (topic, "response")
    async with ear(mosquitto.port) as listening, connected(here, mosquitto.port):
        await online(listening)
        await listening.publish(name, payload)
        await eventually(lambda: any(each[0].startswith(answered) for each in listening.heard), "the answer")
    answer = next(each for heard, each, _ in listening.heard if heard.startswith(answered))

    assert answer["request"] == request_id
    assert answer["seq"] == (here.engine.seq if "wagers" in topic else 0)


async def test_the_same_wager_twice_has_the_effect_of_one(here, mosquitto):
    async with ear(mosquitto.port) as listening, connected(here, mosquitto.port):
        await online(listening)
        for _ in range(2):
            await listening.publish("wagers/3/set", wager())
        await eventually(lambda: len(_answers(listening)) == 2, "both answers")
        await here.play(1)

        assert [answer["accepted"] for answer in _answers(listening)] == [True, True]
        assert [answer["request"] for answer in _answers(listening)] == ["w-1", "w-1"]
        round_ = (await listening.last("round", lambda last: last["seq"] == 2))["round"]

        assert [each["stake"] for each in round_["settlements"]] == [STAKE]


async def test_after_the_first_card_betting_is_closed(here, mosquitto):
    async with ear(mosquitto.port) as listening, connected(here, mosquitto.port):
        await online(listening)
        await here.draw()
        await listening.publish("wagers/3/set", wager())
        await eventually(lambda: _answers(listening), "the answer")

        assert _answers(listening)[0]["code"] == "betting_closed"


async def test_what_is_no_request_is_ignored_and_the_next_one_is_answered(here, mosquitto):
    """A wager that is retained would be made again at each connection; others name no seat, or cannot be answered."""
    async with ear(mosquitto.port) as listening:
        await listening.publish("wagers/3/set", wager(id="retained"), retain=True)
        async with connected(here, mosquitto.port):
            await online(listening)
            for seat in ("", "x", "-1", "1.5", "٣", "9" * 5000, "3 "):
                await listening.publish(f"wagers/{seat}/set", wager(id="no seat"))
            longest = "x" * (65535 - len(TOPIC("request/")))
            for verb in (
                longest,
                "",
                "a b",
                "ü",
                "snapshot/by/",
                "snapshot/by/a b",
                f"snapshot/by/{'x' * 65}",
            ):
                await listening.publish(f"request/{verb}", {"id": "no verb"})
            await listening.publish("wagers/3/set", wager(id="last"))
            await eventually(lambda: _answers(listening), "the answer")

            assert [answer["request"] for answer in _answers(listening)] == ["last"]
            assert listening.of("response/snapshot") == []


# --- requests


async def test_each_request_is_answered(here, mosquitto):
    await here.play(6)
    asked: list[tuple[str, Any, str | None]] = [
        ("snapshot", {"id": "r"}, None),
        ("rounds", {"id": "r", "after": 0}, None),
        ("snapshot", {}, "id: is missing"),
        ("snapshot", {"id": "r", "all": True}, "all: there is no such field"),
        ("rounds", {"id": "r"}, "after: is missing"),
        ("rounds", {"id": "r", "after": -1}, "after: must be 0 or more"),
        ("rounds", {"id": "r", "after": "0"}, "after: must be a whole number"),
        ("rounds", {"id": "r", "after": 0, "limit": 0}, "limit: must be 1 or more"),
        ("rounds", {"id": "r", "after": 0, "limit": 101}, "limit: must be 100 or less"),
        ("rounds", b"rounds, please", "the message is not JSON"),
        (
            "shutdown",
            {"id": "r"},
            "there is no request 'shutdown': request snapshot, rounds, incidents or books",
        ),
    ]
    async with ear(mosquitto.port) as listening, connected(here, mosquitto.port):
        await online(listening)
        for verb, payload, error in asked:
            before = len(listening.of(f"response/{verb}"))
            await listening.publish(f"request/{verb}", payload)
            await eventually(lambda: len(listening.of(f"response/{verb}")) > before, f"{verb} {payload}")  # noqa: B023
            answer = listening.of(f"response/{verb}")[-1]

            assert documented("response/rounds", answer)
            assert answer.get("error") == error or (error and answer["error"].startswith(error))


async def test_a_snapshot_asked_for_comes(here, mosquitto):
    async with ear(mosquitto.port) as listening, connected(here, mosquitto.port):
        await online(listening)
        listening.heard.clear()
        await listening.publish("request/snapshot", {"id": "s"})
        await eventually(lambda: listening.names() >= {*RETAINED, "response/snapshot"}, "all of it")


@pytest.mark.parametrize(
    ("after", "limit", "found", "more"),
    [
        (0, 100, [1, 2, 3, 4, 5, 6, 7], False),
        (0, 3, [1, 2, 3], True),
        (3, 4, [4, 5, 6, 7], False),
        (6, 1, [7], False),
        (7, 1, [], False),
        (10**30, 100, [], False),
    ],
)
async def test_rounds_are_paged(here, mosquitto, after, limit, found, more):
    await here.play(6)
    async with ear(mosquitto.port) as listening, connected(here, mosquitto.port):
        await online(listening)
        await listening.publish("request/rounds", {"id": "p", "after": after, "limit": limit})
        answer = await listening.last("response/rounds", lambda last: last["request"] == "p")

        assert [record["round"] for record in answer["rounds"]] == found
        assert (answer["seq"], answer["more"]) == (7, more)
        ended = [
            (each.ts, each.game, each.rules) for each in await here.journal.rounds_after(min(after, 7), limit)
        ]
        assert [(each["ts"], each["game"], each["rules"]) for each in answer["ended"]] == ended


async def test_rounds_and_answers_name_the_record_and_the_rules(here, mosquitto):
    async with ear(mosquitto.port) as listening, connected(here, mosquitto.port):
        await online(listening)
        await here.play(1)
        told = await listening.last("round", lambda last: last["seq"] == 2)
        await listening.publish("request/rounds", {"id": "p", "after": 0})
        answer = await listening.last("response/rounds", lambda last: last["request"] == "p")

    assert told["record"] == answer["record"] == here.engine.record_name != ""
    assert told["rules"] == answer["ended"][-1]["rules"] == here.engine.state.settings.game.rules_digest


# --- all that comes out


@pytest.mark.parametrize("simulation", [False, True])
async def test_everything_that_comes_out_is_as_documented_and_on_the_record(tmp_path, mosquitto, simulation):
    record = tmp_path / "table.db"
    async with (
        table(record, settings("midi-baccarat", simulation=simulation), restricted=True) as here,
        ear(mosquitto.port) as listening,
        connected(here, mosquitto.port),
    ):
        await online(listening)
        await here.begin_shoe()
        await here.play(30, seats=[1])
        await listening.publish("wagers/3/set", wager(round=31))
        await listening.publish("request/rounds", {"id": "r", "after": 0})
        await here.order(CloseTable("mei"))
        await eventually(lambda: listening.of("response/rounds"), "the answer")
        await eventually(lambda: listening.of("state")[-1]["seq"] == here.engine.seq, "the last state")
        await eventually(lambda: len(listening.of("round")) == 30, "all rounds")
    wrong = [(name, payload) for name, payload, _ in listening.heard if not documented(name, payload)]
    on_record = rows(record, "SELECT max(seq) FROM inputs")[0][0]

    assert wrong == []
    assert {"wagers/3/set", "request/rounds", "restricted/card", "event", "round"} <= listening.names()
    sent = [payload for name, payload, _ in listening.heard if name not in {"wagers/3/set", "request/rounds"}]
    assert {payload["simulation"] for payload in sent} == {simulation}
    assert {state["name"] for state in listening.of("state")} == {
        "Baccarat 1 · SIMULATION" if simulation else "Baccarat 1"
    }
    assert contiguous(numbers(listening.of("event")))
    assert all(state["seq"] <= on_record for state in listening.of("state"))


@pytest.mark.parametrize("restricted", [True, False])
async def test_the_records_head_is_for_surveillance_alone(tmp_path, mosquitto, restricted):
    async with (
        table(tmp_path / "table.db", restricted=restricted) as here,
        ear(mosquitto.port) as listening,
        connected(here, mosquitto.port),
    ):
        await online(listening)
        await here.begin_shoe()
        here.outbox.snapshot_due(RESTRICTED_HEAD)
        if restricted:
            last = await listening.last("restricted/head", lambda last: last["seq"] == here.engine.seq)
            assert documented("restricted/head", last)
            assert Head.of(last["head"]) == here.journal.head
        else:
            await listening.publish("request/snapshot", {"id": "s"})
            await eventually(lambda: listening.of("response/snapshot"), "the answer")
            await here.draw()
            await eventually(lambda: listening.of("event"), "an event")
            assert "restricted/head" not in listening.names()


async def test_the_records_head_is_sent_again_with_the_health(tmp_path, monkeypatch):
    monkeypatch.setattr(supervisor, "STATE_EVERY_SECONDS", 0)
    for restricted in (True, False):
        async with table(tmp_path / "table.db", restricted=restricted) as here:
            beats = asyncio.create_task(supervisor._beat(here.engine, here.journal, here.outbox))
            await eventually(lambda: "health" in here.outbox.due, "ten beats")
            beats.cancel()
            await asyncio.wait([beats])
            assert (RESTRICTED_HEAD in here.outbox.due) is restricted


async def test_a_hand_voided_before_the_reveal_is_shown_to_nobody(tmp_path, mosquitto):
    record = tmp_path / "table.db"
    async with (
        table(record, settings("midi-baccarat")) as here,
        ear(mosquitto.port) as listening,
        connected(here, mosquitto.port),
    ):
        await online(listening)
        await here.begin_shoe()
        await here.draw(4)
        await here.order(VoidCoup("bob", "misdeal"))
        await listening.publish("request/rounds", {"id": "r", "after": 0})
        await eventually(
            lambda: listening.of("response/rounds") and listening.of("round"), "the round, twice"
        )
        await eventually(
            lambda: (listening.of("state")[-1]["result"] or {}).get("status") == "void", "the result"
        )
    (recorded,) = rows(record, "SELECT record FROM rounds")
    heard = json.dumps([payload for _, payload, _ in listening.heard])
    (sent,) = {json.dumps(each["round"]) for each in listening.of("round")}

    assert len(json.loads(recorded[0])["player"]) == 2
    assert json.loads(sent)["hidden"]
    assert not re.search(r'"[A2-9TJQK][SHDC]"', heard)


async def test_a_correction_reaches_everybody_who_keeps_books(tmp_path, mosquitto):
    async with (
        table(tmp_path / "table.db") as here,
        ear(mosquitto.port) as listening,
        connected(here, mosquitto.port),
    ):
        await online(listening)
        await here.begin_shoe()
        await here.play(1, seats=[1])
        await here.order(VoidRound("bob", 1, "misdeal", "eve"))
        await eventually(lambda: len(listening.of("round")) == 2, "the correction")
        await eventually(lambda: listening.of("state")[-1]["round"] == 3, "the state after it")
        await eventually(lambda: listening.of("scoreboard")[-1]["counts"]["hands"] == 0, "the empty roads")

    first, entry = (each["round"] for each in listening.of("round"))
    assert (entry["status"], entry["corrects"], entry["round"]) == ("correction", 1, 2)
    assert sum(each["net"] for record in (first, entry) for each in record["settlements"]) == 0
    assert all(documented(name, payload) for name, payload, _ in listening.heard)


# --- passwords


class GuardedBroker(Broker):
    """Mosquitto with what punto ships, in the place where docs/how-to/install.md puts it: beside Debian's own configuration."""

    USERS = ("punto", "display", "terminal", "game-manager", "witness", "surveillance")

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.own_port = free_port()
        """The listener of the table PC's own programs."""
        passwords, acl = folder / "punto.passwd", folder / "punto.acl"
        self.make_users(passwords, acl)
        shipped = (HERE / "configs" / "mosquitto.conf").read_text(encoding="utf-8")
        for theirs, ours in {
            "listener 1883 ": f"listener {self.port} ",
            "listener 1885 ": f"listener {self.own_port} ",
            "/etc/mosquitto/punto.passwd": str(passwords),
            "/etc/mosquitto/punto.acl": str(acl),
        }.items():
            assert theirs in shipped
            shipped = shipped.replace(theirs, ours)
        (folder / "conf.d").mkdir()
        (folder / "conf.d" / "punto.conf").write_text(shipped, encoding="utf-8")
        (folder / "mosquitto.conf").write_text(
            f"pid_file {folder}/mosquitto.pid\npersistence true\npersistence_location {folder}/\n"
            f"log_dest file {folder}/broker.log\ninclude_dir {folder}/conf.d\n"
            f"user {getpass.getuser()}\n",  # started by root, Mosquitto would else be a user who cannot read in here
            encoding="utf-8",
        )

    def make_users(self, passwords: Path, acl: Path) -> None:
        passwords.touch(mode=0o600)
        for user in self.USERS:
            subprocess.run(
                ["mosquitto_passwd", "-b", passwords, user, f"{user}'s"], check=True, capture_output=True
            )
        acl.write_bytes((HERE / "configs" / "mosquitto.acl").read_bytes())
        acl.chmod(0o600)

    def login(self, user: str) -> dict[str, str]:
        return {"username": user, "password": f"{user}'s"}


HOUSE = """version = 1
[table]
id = "{id}"
name = "Baccarat"
game = "dragon-bonus-1"
cards = "keyed"
seats = 3
[record]
path = "{id}.db"
[mqtt]
"""


class HousesBroker(GuardedBroker):
    """Mosquitto with the users that `punto broker-users` makes for two tables."""

    accounts = ""
    """The `[accounts]` of the first table."""

    def make_users(self, passwords: Path, acl: Path) -> None:
        tables = [acl.with_name(f"{name}.toml") for name in ("table-1", "table-2")]
        for table_ in tables:
            table_.write_text(HOUSE.format(id=table_.stem), encoding="utf-8")
        with tables[0].open("a", encoding="utf-8") as first:
            first.write(self.accounts)
        assert main(["broker-users", *map(str, tables), "--out", str(acl.parent)]) == 0
        self.passwords = acl.parent / "passwords"
        acl.chmod(0o600)

    def login(self, user: str) -> dict[str, str]:
        return {"username": user, "password": (self.passwords / user).read_text(encoding="utf-8").strip()}


class KeepersBroker(HousesBroker):
    accounts = f'[accounts]\npath = "a.db"\nhouse = "{b64encode(bytes(32)).decode()}"\n'


async def test_only_the_game_manager_writes_the_houses_accounts_and_only_its_tables_read_them(tmp_path):
    topic, users = "house/accounts", ["table-1", "table-2", "table-1-display", "displays", "table-1-seat-1"]
    with KeepersBroker(tmp_path) as guarded:
        async with AsyncExitStack() as open_:
            ears = {
                user: await open_.enter_async_context(ear(guarded.port, **guarded.login(user)))
                for user in [*users, "surveillance", "game-manager"]
            }
            for user, each in ears.items():
                payload = json.dumps({"by": user})
                await each.client.publish(f"punto/{topic}", payload, qos=1, retain=True)
            await eventually(
                lambda: any(name.endswith(topic) for name, *_ in ears["table-1"].heard), "the accounts"
            )
            heard = {
                user: [told["by"] for name, told, _ in each.heard if name.endswith(topic)]
                for user, each in ears.items()
            }
    assert heard.pop("table-1") == heard.pop("game-manager") == ["game-manager"]
    assert not any(heard.values())


async def test_a_seat_wagers_for_itself_alone_and_a_table_speaks_for_itself_alone(tmp_path):
    with HousesBroker(tmp_path) as guarded:
        port = guarded.port
        async with (
            table(tmp_path / "table.db") as here,
            ear(port, **guarded.login("surveillance")) as surveillance,
            ear(port, **guarded.login("table-1-seat-3")) as seat,
            ear(port, **guarded.login("table-2-seat-3")) as elsewhere,
            ear(port, **guarded.login("table-1-display")) as display,
            ear(port, **guarded.login("displays")) as displays,
            ear(port, **guarded.login("table-2")) as other_table,
            connected(here, port, **guarded.login("table-1")),
        ):
            await online(surveillance)  # events are for those who are there
            await here.begin_shoe()
            await here.play(1)
            for intruder in (elsewhere, display, displays, other_table):
                await intruder.publish("wagers/3/set", wager(id="intruder"))
                await intruder.publish("state", {"phase": "closed"})
            await seat.publish("wagers/2/set", wager(id="of my neighbour"))
            await seat.publish("wagers/3/set", wager(id="mine"))
            await eventually(lambda: _answers(seat), "the answer")
            await seat.publish("request/snapshot/by/table-1-seat-2", {"id": "in my neighbour's name"})
            await seat.publish("request/snapshot/by/table-1-seat-3", {"id": "in mine"})
            await eventually(lambda: seat.of("response/snapshot"), "the snapshot")

            assert [each["request"] for each in seat.of("response/snapshot")] == ["in mine"]
            assert [each["request"] for each in _answers(seat)] == ["mine"]
            assert [each["id"] for each in surveillance.of("wagers/3/set")] == ["mine"]
            assert surveillance.of("wagers/2/set") == []
            assert (elsewhere.names(), other_table.names()) == (set(), set())
            await other_table.client.publish("punto/table-2/state", "{}", qos=1)
            await eventually(lambda: "punto/table-2/state" in displays.names(), "the other table's state")
            assert {"state", "round", "event"} <= display.names() & displays.names()
            assert "punto/table-2/state" not in display.names()
            assert not {"wagers/3/set", "wagers/3/result"} & (display.names() | displays.names())
            assert {state["phase"] for state in surveillance.of("state")} & {"betting", "settled"}
        assert len(inputs(tmp_path / "table.db", "set_wager")) == 1
        sources = rows(tmp_path / "table.db", "SELECT source FROM inputs WHERE payload LIKE '%set_wager%'")
        assert sources == [("mqtt seat 3",)]


def test_passwords_stay_when_a_table_is_added_and_only_their_owner_reads_them(tmp_path):
    tables = [tmp_path / "table-1.toml", tmp_path / "table-2.toml"]
    for each in tables:
        each.write_text(HOUSE.format(id=each.stem), encoding="utf-8")
    out = tmp_path / "broker"
    assert main(["broker-users", str(tables[0]), "--out", str(out)]) == 0
    before = {each.name: each.read_text(encoding="utf-8") for each in (out / "passwords").iterdir()}
    assert main(["broker-users", *map(str, tables), "--out", str(out)]) == 0
    after = {each.name: each.read_text(encoding="utf-8") for each in (out / "passwords").iterdir()}

    assert set(before) == {
        "table-1",
        "table-1-display",
        "displays",
        "game-manager",
        "witness",
        "surveillance",
        *(f"table-1-seat-{n}" for n in (1, 2, 3)),
    }
    assert before.items() <= after.items()
    assert len(set(after.values())) == len(after) == 14
    assert {stat.S_IMODE(each.stat().st_mode) for each in (out / "passwords").iterdir()} == {0o600}
    assert stat.S_IMODE((out / "punto.passwd").stat().st_mode) == 0o600
    assert len((out / "punto.passwd").read_text(encoding="utf-8").splitlines()) == 14


@pytest.mark.parametrize(
    ("ids", "name"),
    [
        (("a", "a-seat-1"), "a-seat-1"),
        (("a", "a-display"), "a-display"),
        (("surveillance",), "surveillance"),
        (("displays",), "displays"),
        (("game-manager",), "game-manager"),
        (("a", "a"), "a"),
    ],
)
def test_two_users_of_the_broker_never_have_one_name(ids, name, tmp_path, capsys):
    for each in ids:
        (tmp_path / f"{each}.toml").write_text(HOUSE.format(id=each), encoding="utf-8")
    out = tmp_path / "broker"

    assert main(["broker-users", *(str(tmp_path / f"{each}.toml") for each in ids), "--out", str(out)]) == 1
    assert f"users of the broker would have the name '{name}'" in capsys.readouterr().err
    assert not out.exists()


async def test_each_user_gets_at_what_the_acl_gives_them(tmp_path):
    with GuardedBroker(tmp_path) as guarded:
        port = guarded.port
        async with (
            table(tmp_path / "table.db", settings("midi-baccarat"), restricted=True) as here,
            ear(port, **guarded.login("display")) as display,
            ear(port, **guarded.login("surveillance")) as surveillance,
            ear(port, **guarded.login("terminal")) as terminal,
            connected(here, port, **guarded.login("punto")),
        ):
            await here.begin_shoe()
            await here.play(1)
            await online(surveillance)
            for intruder in (display, surveillance):
                await intruder.publish("wagers/1/set", wager(id="intruder"))
                await intruder.publish("state", {"phase": "closed"})
                await intruder.publish("restricted/card", {"card": "9S"})
            await terminal.publish("wagers/2/set", wager(id="terminal"))
            await eventually(lambda: _answers(terminal), "the answer")
            await here.draw(6)
            await here.order(CloseTable("mei")) if here.state.phase == "betting" else None
            await eventually(lambda: surveillance.of("round"), "a round")
            await eventually(lambda: display.of("round"), "a round")

            assert [placed["request"] for placed in _answers(terminal)] == ["terminal"]
            assert {"restricted/card", "wagers/2/set", "info"} <= surveillance.names()
            assert display.names() == {
                "availability",
                "devices/shoe",
                "state",
                "scoreboard",
                "event",
                "round",
            }
            assert terminal.names() == {"availability", "state", "wagers/2/result"}
            assert all(documented(name, payload) for name, payload, _ in surveillance.heard)


async def test_a_wrong_password_does_not_hold_up_play(here, tmp_path):
    with GuardedBroker(tmp_path) as guarded:
        guess = {**guarded.login("punto"), "password": "a guess"}
        with structlog.testing.capture_logs() as logs:
            async with connected(here, guarded.port, **guess):
                await here.play(20)
                await eventually(lambda: logs, "a word of it")
                await asyncio.sleep(0.3)

                assert not here.outbox.connected
    (away,) = (each for each in logs if each["event"] == "broker away")
    assert "set username and password_file in [mqtt]" in away["hint"]


def test_the_program_reads_its_password_from_a_file(tmp_path):
    (tmp_path / "password").write_text("punto's\n")
    with GuardedBroker(tmp_path) as guarded, Service(tmp_path, None) as service:
        service.stop()
        written = service.config.read_text()
        login = f'[mqtt]\nport = {guarded.port}\nusername = "punto"\npassword_file = "password"\n'
        service.config.write_text(written + login)
        service.start()
        command = ["mosquitto_sub", "-p", str(guarded.port), "-u", "display", "-P", "display's"]
        heard = subprocess.run(
            [*command, "-C", "1", "-W", "10", "-t", TOPIC("availability")],
            check=True,
            capture_output=True,
            text=True,
        )
        assert '"state":"online"' in heard.stdout
        assert service.stop() == 0
        assert not any("punto's" in line for line in service.said())


# --- a wager has one answer, and its terminal gets it


async def test_a_wager_on_the_record_is_answered_after_a_start(tmp_path, mosquitto):
    """The service may end between the record of a wager and its answer."""
    record = tmp_path / "table.db"
    async with table(record) as here:
        await here.begin_shoe()
        await here.play(1)
        for number, amount in enumerate((STAKE, 499, 2 * STAKE)):  # the second is below the minimum
            asked = SetWager(f"w-{number}", 3, "player", amount, here.state.round)
            await here.engine.submit([asked], "mqtt seat 3")
        seq = here.engine.seq
    async with table(record) as here, ear(mosquitto.port) as listening, connected(here, mosquitto.port):
        await online(listening)
        await eventually(lambda: len(_answers(listening)) >= 3, "they are answered")

        assert [(each["request"], each["accepted"], each["code"]) for each in _answers(listening)] == [
            ("w-0", True, None),
            ("w-1", False, "below_minimum"),
            ("w-2", True, None),
        ]
        assert [each["seq"] for each in _answers(listening)] == [seq - 2, seq - 1, seq]
        assert _answers(listening)[2]["id"] == f"table-1/wager/{seq}"


@pytest.mark.parametrize("cards", [0, 1, 6], ids=["in betting", "after the first card", "after the hand"])
async def test_a_wager_that_is_asked_again_gets_its_first_answer(tmp_path, mosquitto, cards):
    """Beside a terminal that did not hear the answer, before and after a start, at any moment of the hand."""
    record = tmp_path / "table.db"
    async with (
        table(record) as here,
        ear(mosquitto.port) as listening,
        connected(here, mosquitto.port),
    ):
        await here.begin_shoe()
        await here.play(1)
        await online(listening)
        asked = [wager(id="stands", amount=STAKE), wager(id="refused", amount=499)]
        for each in asked:
            await listening.publish("wagers/3/set", each)
        await eventually(lambda: len(_answers(listening)) == 2, "both are answered")
        first = _answers(listening)
        await here.play(1) if cards == 6 else await here.draw(cards)
        seq = here.engine.seq
        for each in asked:
            await listening.publish("wagers/3/set", each)
        await eventually(lambda: len(_answers(listening)) == 4, "both are answered again")

        assert [each["code"] for each in first] == [None, "below_minimum"]
        assert _answers(listening)[2:] == first
        assert here.engine.seq == seq
    async with table(record) as here, ear(mosquitto.port) as listening, connected(here, mosquitto.port):
        await online(listening)
        await eventually(lambda: len(_answers(listening)) == 2, "the broker may not have them")
        seq = here.engine.seq
        for each in asked:
            await listening.publish("wagers/3/set", each)
        await eventually(lambda: len(_answers(listening)) == 4, "both are answered again")

        assert _answers(listening) == [*first, *first]
        assert here.engine.seq == seq


async def test_an_answer_that_the_broker_did_not_take_is_sent_on_the_next_connection(here, mosquitto):
    """The connection may be lost between a wager and its answer. What the broker has taken is not sent again."""
    cable = Cable(mosquitto.port)
    async with ear(mosquitto.port) as listening, connected(here, cable.port):
        async with cable.laid():
            await online(listening)
            await listening.publish("wagers/3/set", wager(id="taken"))
            await eventually(lambda: _answers(listening), "the answer")
            await eventually(lambda: not here.engine.answers.not_taken(2), "the broker has it")
            cable.hang()
            await here.order(SetWager("on a dead line", 3, "player", 2 * STAKE, 2))
        await eventually(lambda: not here.outbox.connected, "it is away")
        await here.order(SetWager("without a broker", 4, "player", STAKE, 2))
        await here.play(1)
        async with cable.laid():
            await eventually(lambda: len(_answers(listening)) >= 3, "the answers of the last round")
            await listening.last("round", lambda last: last["seq"] == 2)
            await asyncio.sleep(0.05)

            asked = [each["request"] for each in _answers(listening)]
            assert asked == ["taken", "on a dead line", "without a broker"]


async def test_a_wager_that_is_on_its_way_to_the_record_is_not_recorded_again(here, mosquitto, monkeypatch):
    """A slow disk: the connection is lost while a wager is written, and its terminal asks again at once."""
    writing, add_entries = threading.Event(), store.add_entries

    def slowly(connection: Any, entries: Any, head: Any) -> Any:
        if not writing.is_set() and entries[0].source == "mqtt seat 3":
            writing.set()
            time.sleep(3)  # longer than the table waits before it connects again
        return add_entries(connection, entries, head)

    monkeypatch.setattr(store, "add_entries", slowly)
    cable = Cable(mosquitto.port)
    async with ear(mosquitto.port) as listening, connected(here, cable.port):
        before = here.engine.seq
        async with cable.laid():
            await online(listening)
            await listening.publish("wagers/3/set", wager())
            await eventually(writing.is_set, "it is being written")
        async with cable.laid():
            while not _answers(listening):
                here.outbox.snapshot_due("state")  # as every second: so the table finds the connection lost
                await listening.publish("wagers/3/set", wager())
                await asyncio.sleep(0.05)

        assert {each["id"] for each in _answers(listening)} == {f"table-1/wager/{before + 1}"}
        assert here.engine.seq == before + 1


async def test_after_a_start_from_a_snapshot_a_wager_is_answered_too(tmp_path, mosquitto, monkeypatch):
    monkeypatch.setattr(recovery, "FEW_INPUTS", 0)
    monkeypatch.setattr(engine, "SNAPSHOT_EVERY", 20)
    record = tmp_path / "table.db"
    async with table(record) as here:
        await here.begin_shoe()
        await here.play(12)
        await here.order(SetWager("w-1", 3, "player", STAKE, here.state.round))
        seq = here.engine.seq
    async with table(record) as here, ear(mosquitto.port) as listening, connected(here, mosquitto.port):
        await online(listening)
        await eventually(lambda: _answers(listening), "it is answered")

        assert [each["seq"] for each in _answers(listening)] == [seq]


async def test_a_start_knows_the_wagers_of_a_round_with_many_inputs(tmp_path, monkeypatch):
    monkeypatch.setattr(recovery, "FEW_INPUTS", 10)
    monkeypatch.setattr(engine, "SNAPSHOT_EVERY", 10)
    record, asked = tmp_path / "table.db", SetWager("w-1", 3, "player", STAKE, 4)
    async with table(record) as here:
        await here.begin_shoe()
        await here.play(3)
        await here.order(asked)
        last = here.engine.seq + (SNAPSHOTS_KEPT - 1) * engine.SNAPSHOT_EVERY
        while here.engine.seq < last:
            await here.order(SetWager(f"other-{here.engine.seq}", 4, "player", STAKE, 4))
    async with table(record) as here:
        assert here.engine.answers.to(asked, here.state.round) is not None


async def test_answers_older_than_the_last_round_are_forgotten(here, mosquitto):
    async with connected(here, mosquitto.port):
        await eventually(lambda: here.outbox.connected, "it is connected")
        asked = SetWager("old", 3, "player", STAKE, 2)
        await here.order(asked)
        await here.play(1)
        assert here.engine.answers.to(asked, here.state.round) is not None
        await here.play(1)
        assert here.engine.answers.to(asked, here.state.round) is None
        for number in range(MOST_KEPT + 2):
            await here.order(SetWager(str(number), 3, "player", STAKE, 4))

        assert len(here.engine.answers.not_taken(4)) <= MOST_KEPT
        assert here.engine.answers.to(SetWager("0", 3, "player", STAKE, 4), 4) is None
        assert here.engine.answers.to(SetWager("2", 3, "player", STAKE, 4), 4) is not None


async def test_a_seats_flood_is_summed_up_and_no_other_seat_waits_for_it(here, mosquitto, monkeypatch):
    monkeypatch.setattr(mqtt, "FLOOD", 10_000)  # so that all of it is read, and can be counted
    now = [0.0]
    here.engine.pace = Pace(clock=lambda: now[0])
    async with ear(mosquitto.port) as listening, connected(here, mosquitto.port):
        await online(listening)
        before = here.engine.seq
        await asyncio.gather(*(listening.publish("wagers/3/set", wager(id=str(n))) for n in range(1500)))
        await listening.publish("wagers/4/set", wager(id="honest"))
        nobodys = (listening.publish(f"wagers/{900 + n % 99}/set", wager(id=str(n))) for n in range(300))
        await asyncio.gather(*nobodys)
        await listening.publish("wagers/5/set", wager(id="honest too"))
        await eventually(
            lambda: "honest too" in {each["request"] for each in _answers(listening)}, "all came"
        )

        answers = _answers(listening)
        assert {each["request"] for each in answers if each["accepted"]} >= {"honest", "honest too"}
        flood = [each for each in answers if each["seat"] == 3]
        assert [each["code"] for each in flood] == [None] * AT_ONCE + ["too_fast"]
        assert here.engine.seq - before == AT_ONCE + AT_ONCE // DEAR + 2

        now[0] += SUMMED_SECONDS
        summed = [*here.engine.pace.summed_up()]
        assert summed == [
            Flooded("seat 3", 1500 - AT_ONCE, SUMMED_SECONDS),
            Flooded("seats that the table does not have", 300 - AT_ONCE // DEAR, SUMMED_SECONDS),
        ]
        await here.engine.submit(summed, "service")
        assert [each.code for each in here.state.alarms] == ["flood", "flood"]
        assert [*here.engine.pace.summed_up()] == []
        await listening.publish("wagers/3/set", wager(id="later"))
        await eventually(lambda: "later" in {each["request"] for each in _answers(listening)}, "it may again")


async def test_a_seat_that_floods_is_not_listened_to_for_a_while(here, mosquitto, monkeypatch):
    flood, client = "wagers/3/set", "seat 3"
    monkeypatch.setattr(mqtt, "DEAF_SECONDS", 1.0)
    pace = here.engine.pace = Pace(per_second=0)
    async with ear(mosquitto.port) as listening, connected(here, mosquitto.port):
        await online(listening)
        for _ in range(6):
            await asyncio.gather(*(listening.publish(flood, b"{}") for _ in range(500)))
        await listening.publish("wagers/4/set", wager(id="honest"))
        await eventually(lambda: "honest" in {each["request"] for each in _answers(listening)}, "the answer")
        refused = pace.refused(client)
        assert mqtt.FLOOD <= refused < 3000 - AT_ONCE, "the rest did not come"

        await asyncio.sleep(1.2)
        await listening.publish(flood, b"{}")
        await eventually(lambda: pace.refused(client) > refused, "it is heard again")


async def test_the_service_puts_the_sum_of_a_flood_on_the_record(tmp_path, monkeypatch):
    monkeypatch.setattr(supervisor, "STATE_EVERY_SECONDS", 0)
    async with table(tmp_path / "table.db") as here:
        now = [0.0]
        here.engine.pace = Pace(per_second=0, at_once=1, clock=lambda: now[0])
        for _ in range(4):
            here.engine.pace.allows("seat 3")
        now[0] += SUMMED_SECONDS
        beats = asyncio.create_task(supervisor._beat(here.engine, here.journal, here.outbox))
        await eventually(lambda: here.state.alarms, "the alarm", 5)
        beats.cancel()
        await asyncio.wait([beats])

        assert [alarm.code for alarm in here.state.alarms] == ["flood"]
        (flooded,) = inputs(tmp_path / "table.db", "flooded")
        assert (flooded["who"], flooded["requests"], flooded["seconds"]) == ("seat 3", 3, SUMMED_SECONDS)


async def test_the_tables_name_at_the_broker_is_a_secret_that_outlives_a_start(tmp_path):
    names = []
    for record in ("table.db", "table.db", "another.db"):
        async with table(tmp_path / record) as here:
            names.append(broker_of(here, free_port())._link._identifier)

    first, again, another = names
    assert first == again != another
    assert re.fullmatch("punto-table-1-[0-9a-f]{32}", first)
    assert (tmp_path / "table.db.lock").stat().st_mode & 0o007 == 0


async def test_a_request_that_is_too_long_is_answered_and_not_read(here, mosquitto):
    async with ear(mosquitto.port) as listening, connected(here, mosquitto.port):
        await online(listening)
        before = here.engine.seq
        await listening.publish("wagers/3/set", wager(id="x" * LONGEST_REQUEST))
        await listening.publish("request/rounds", {"id": "x" * LONGEST_REQUEST, "after": 0})
        await eventually(lambda: _answers(listening) and listening.of("response/rounds"), "both are answered")

        (answer,) = _answers(listening)
        assert (answer["code"], answer["request"]) == ("bad_payload", None)
        assert "at most 4096 bytes" in answer["reason"]
        assert "at most 4096 bytes" in listening.of("response/rounds")[0]["error"]
        assert here.engine.seq == before


@pytest.mark.punctual
async def test_at_the_end_it_does_not_wait_for_a_broker_that_is_away(here):
    begun = time.monotonic()
    await broker_of(here, free_port()).publish_offline("the test is over")

    assert time.monotonic() - begun < 2


@pytest.mark.soak
async def test_a_broker_that_dies_leaves_no_noise_behind(here, mosquitto):
    unheard: list[str] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: unheard.append(context["message"]))
    async with connected(here, mosquitto.port):
        for _ in range(5):
            await eventually(lambda: here.outbox.connected, "it is connected")
            mosquitto.kill()
            await here.play(2)
            await eventually(lambda: not here.outbox.connected, "it is away")
            gc.collect()
            mosquitto.start()

    assert [message for message in unheard if "never retrieved" in message] == []


async def test_however_often_a_snapshot_is_requested_all_is_sent_again_at_most_once_a_second(here, mosquitto):
    async with ear(mosquitto.port) as listening, connected(here, mosquitto.port):
        await online(listening)
        sent = len(listening.of("scoreboard"))
        for number in range(40):
            await listening.publish("request/snapshot", {"id": str(number)})
        await eventually(lambda: len(listening.of("response/snapshot")) == 40, "each request is answered")
        await eventually(lambda: len(listening.of("scoreboard")) == sent + 2, "at once, and a second later")
        await asyncio.sleep(0.2)

        assert len(listening.of("scoreboard")) == sent + 2
