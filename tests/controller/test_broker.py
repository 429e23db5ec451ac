"""The broker may be away, come back empty, stop taking, or hand in nonsense: play goes on, and no round is lost."""

import asyncio
import gc
import hashlib
import json
import os
import signal
import socket
import stat
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from punto.baccarat.table.order_kinds import CloseTable, VoidRound
from punto.controller import heartbeat, mqtt_requests
from punto.controller.journal.entries import Head
from punto.messages.topics import RESTRICTED_HEAD
from tests.controller.at_a_broker import RETAINED, Cable, online, wager
from tests.controller.table_in_this_process import (
    HERE,
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
from tests.controller.table_on_a_machine import Broker, Listener, inputs, wait_until
from tests.controller.table_on_a_machine import Table as Service
from tests.displays.played import availability
from tests.ports import free_port


def numbers(messages: list[dict[str, Any]]) -> list[int]:
    return [message["seq"] for message in messages]


def contiguous(seqs: list[int]) -> bool:
    return seqs == list(range(seqs[0], seqs[0] + len(seqs)))


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


async def test_how_it_stands_is_reported_since_when_and_why(here, mosquitto):
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
                await listening.last("round", lambda last: last["seq"] >= here.state.round.number - 2 > 5)
                await eventually(lambda: len(listening.of("event")) > 10, "some events")
                mosquitto.kill()
                await playing
                rounds += listening.of("round")

                assert contiguous(numbers(listening.of("event")))
            mosquitto.start()
        async with ear(mosquitto.port) as listening:
            await eventually(lambda: here.journal.rounds_sent == here.state.round.number - 1, "all rounds")
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
            wait_until(
                lambda: _state(listener) == ("offline", "lost", "the connection was lost"), "its last will"
            )
        service.start()
        wait_until(lambda: _state(listener) == ("online", None, "running"), "it is online again")
        assert service.stop() == 0
        wait_until(
            lambda: _state(listener) == ("offline", "stopped", "the service was stopped"),
            "it says that it ends",
        )
    ids = [message.payload["id"] for message in listener.heard("availability")]

    assert len(set(ids)) == len(ids)  # whoever knows messages by their ids sees each coming and going


def test_info_has_the_digest_of_each_component_and_the_record_has_that_of_them_all(tmp_path, mosquitto):
    """Approval letter (sheet 001): the electronic signatures, and what was modified since."""
    with Listener(tmp_path, mosquitto.port) as listener, Service(tmp_path, mosquitto) as service:
        wait_until(lambda: listener.last("info"), "its info")
    info = listener.last("info")
    assert info is not None
    own = hashlib.sha256()
    files = [
        file for file in (HERE / "punto" / "baccarat").rglob("*") if file.is_file() and file.suffix != ".pyc"
    ]
    for file in sorted(files):
        own.update(
            f"{file.relative_to(HERE / 'punto' / 'baccarat')}\n{file.stat().st_size}\n".encode()
            + file.read_bytes()
        )
    digests = {each["name"]: each["digest"] for each in info["components"]}
    together = hashlib.sha256("\n".join(digests.values()).encode()).hexdigest()

    assert digests["baccarat"] == own.hexdigest()
    assert inputs(service.record)[0]["version"] == f"{info['version']}+{together[:12]}"


def _state(listener: Listener) -> tuple[str, str | None, str] | None:
    last = listener.last("availability")
    return None if last is None else (last["state"], last["cause"], last["reason"])


async def test_two_tables_with_one_id_are_an_alarm_at_both_until_one_is_stopped(tmp_path, mosquitto):
    """Somebody has copied the configuration of a table to another PC."""
    async with (
        ear(mosquitto.port) as listening,
        table(tmp_path / "table.db") as here,
        table(tmp_path / "copy.db") as copy,
        connected(here, mosquitto.port),
    ):
        await online(listening)
        records = {here.engine.record_name, copy.engine.record_name}
        async with connected(copy, mosquitto.port) as second:
            await eventually(lambda: here.state.alarms and copy.state.alarms, "the alarm at both")
            for each in (here, copy):
                (alarm,) = each.state.alarms
                assert alarm.code == "shared_id"
                assert all(record in alarm.text for record in records)
            await eventually(
                lambda: (
                    {each["record"] for each in listening.of("availability") if each["other_record"]}
                    == records
                ),
                "both report it",
            )
            told = len(listening.of("availability"))
            await asyncio.sleep(0.5)
            assert len(listening.of("availability")) == told  # they do not answer each other for ever
        await second.publish_offline("stopped", "the service was stopped")
        last = await listening.last(
            "availability", lambda last: last["state"] == "online" and not last["other_record"]
        )
        assert last["record"] == here.engine.record_name

    assert (
        len(inputs(tmp_path / "table.db", "shared_id")) == len(inputs(tmp_path / "copy.db", "shared_id")) == 1
    )


async def test_three_tables_with_one_id_do_not_answer_each_other_without_end(tmp_path, mosquitto):
    async with (
        ear(mosquitto.port) as listening,
        table(tmp_path / "table.db") as here,
        table(tmp_path / "copy.db") as copy,
        table(tmp_path / "third.db") as third,
        connected(here, mosquitto.port),
        connected(copy, mosquitto.port),
        connected(third, mosquitto.port),
    ):
        await eventually(
            lambda: all(each.state.alarms for each in (here, copy, third)), "the alarm at each of them"
        )
        told = len(listening.of("availability"))
        await asyncio.sleep(3)
        answers = len(listening.of("availability")) - told

    assert answers <= 9  # at most one a second of each, and none once they know each other


async def test_invented_records_are_answered_at_most_once_a_second(tmp_path, mosquitto):
    async with (
        ear(mosquitto.port) as listening,
        table(tmp_path / "table.db") as here,
        connected(here, mosquitto.port),
    ):
        await online(listening)
        began, invented = time.monotonic(), json.loads(availability("online", "running").wire())
        for number in range(50):
            await listening.publish("availability", {**invented, "record": f"invented-{number}"})
        await asyncio.sleep(1.5)
        own = here.engine.record_name
        answers = [each for each in listening.of("availability") if each["record"] == own]
        seconds = time.monotonic() - began

    assert 2 <= len(answers) <= 2 + seconds  # that of the connection, the first answer, and one a second
    assert answers[-1]["other_record"] == "invented-49"


async def test_a_message_with_the_tables_own_record_that_it_did_not_send_is_answered_and_an_alarm(
    tmp_path, mosquitto
):
    """Somebody has the password of the table, or runs a second service with a copy of its record."""
    async with (
        ear(mosquitto.port) as listening,
        table(tmp_path / "table.db") as here,
        connected(here, mosquitto.port),
    ):
        await online(listening)
        own = listening.of("availability")[-1]
        here.outbox.snapshot_due("availability")
        await eventually(lambda: len(listening.of("availability")) > 1, "its next message")
        await asyncio.sleep(0.2)
        quiet = not here.state.alarms  # at its own messages
        for _ in range(3):
            await listening.publish("availability", {**own, "other_record": "invented"}, retain=True)
        await listening.last("availability", lambda last: last["other_record"] is None)
        (alarm,) = here.state.alarms

    assert quiet
    assert (alarm.code, alarm.times) == ("shared_id", 1)
    assert f"with this table's own record {own['record']}" in alarm.text
    assert len(inputs(tmp_path / "table.db", "shared_id")) == 1


async def test_an_earlier_record_of_the_table_or_an_unreadable_availability_is_no_other_table(
    tmp_path, mosquitto
):
    earlier = availability("online", "running").model_copy(update={"record": "an earlier one"})
    async with ear(mosquitto.port) as listening:
        await listening.publish("availability", json.loads(earlier.wire()), retain=True)
        async with table(tmp_path / "table.db") as here, connected(here, mosquitto.port):
            await listening.last("availability", lambda last: last["record"] == here.engine.record_name)
            for payload in (b"{", json.dumps({**json.loads(earlier.wire()), "reason": "x" * 5000}).encode()):
                await listening.publish("availability", payload)
            await listening.publish("request/snapshot", {"id": "s-1"})
            await eventually(lambda: listening.of("response/snapshot"), "the answer to a later message")

            assert here.state.alarms == ()
            assert listening.of("availability")[-1]["other_record"] is None


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
        until = here.state.round.number + 600
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
    await broker.publish_offline("stopped", "the test is over")
    took = time.monotonic() - begun
    mosquitto.process.send_signal(signal.SIGCONT)

    assert took < 3


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


def of_request(id_: object) -> Callable[[dict[str, Any]], bool]:
    return lambda last: last["request"] == id_


async def test_an_answer_is_no_longer_than_the_broker_takes(here, mosquitto, monkeypatch):
    monkeypatch.setattr(mqtt_requests, "LONGEST_ANSWER", 4000)
    await here.play(11, seats=[1, 2, 3])
    found: list[int] = []
    async with ear(mosquitto.port) as listening, connected(here, mosquitto.port):
        await online(listening)
        more = True
        while more:
            asked = {"id": f"p{len(found)}", "after": len(found), "limit": 100}
            await listening.publish("request/rounds", asked)
            answer = await listening.last("response/rounds", of_request(asked["id"]))
            assert answer["after"] == asked["after"]
            assert len(json.dumps(answer, separators=(",", ":"))) <= 4000
            found += [record["round"] for record in answer["rounds"]]
            more = answer["more"]

    assert found == [*range(1, 13)]


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
    monkeypatch.setattr(heartbeat, "STATE_EVERY_SECONDS", 0)
    for restricted in (True, False):
        async with table(tmp_path / "table.db", restricted=restricted) as here:
            beats = asyncio.create_task(heartbeat.beat(here.engine, here.journal, here.outbox))
            await eventually(lambda: "health" in here.outbox.due, "ten beats")
            beats.cancel()
            await asyncio.wait([beats])
            assert (RESTRICTED_HEAD in here.outbox.due) is restricted


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


# --- a wager has one answer, and its terminal gets it


@pytest.mark.punctual
async def test_at_the_end_it_does_not_wait_for_a_broker_that_is_away(here):
    begun = time.monotonic()
    await broker_of(here, free_port()).publish_offline("stopped", "the test is over")

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
        begun = time.monotonic()
        for number in range(40):
            await listening.publish("request/snapshot", {"id": str(number)})
        await eventually(lambda: len(listening.of("response/snapshot")) == 40, "each request is answered")
        seconds = int(
            time.monotonic() - begun
        )  # on a busy machine the requests come over more than one second
        await eventually(lambda: len(listening.of("scoreboard")) >= sent + 2, "at once, and a second later")
        await asyncio.sleep(0.2)

        assert len(listening.of("scoreboard")) <= sent + 2 + seconds
