"""The ordered path: executed in memory, committed in groups, and only then shown; and what it does when a rule's code fails."""

import asyncio
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
import structlog

from punto.baccarat.cards import Card
from punto.baccarat.progressive.game_events import WagerPlaced
from punto.baccarat.table import table as machine
from punto.baccarat.table.events import (
    CardDrawn,
    CardUnread,
    ClockStepped,
    ConfigurationKeypad,
    CutCardSeen,
    DayBegan,
    DeviceHeard,
    Event,
    Flooded,
    LidMoved,
    LinkNoise,
    MeterClaimed,
    MeterHeard,
    RecordDiffers,
    RecordsLost,
    SensorFault,
    SensorsLink,
    ServiceStarted,
    SessionBegun,
    SetWager,
    ShoeHello,
    ShoeLost,
)
from punto.baccarat.table.order_kinds import (
    CallSupervisor,
    ChangeShoe,
    HoldPlay,
    ResumePlay,
    VoidCoup,
)
from punto.controller import engine, heartbeat
from punto.controller.engine import SHOE
from punto.controller.journal import journal, store
from punto.controller.journal.recovery import replay
from tests.baccarat.table.croupier import settings as table_settings
from tests.controller.at_a_broker import online, wager, wager_answers
from tests.controller.table_in_this_process import (
    STAKE,
    Table,
    connected,
    ear,
    eventually,
    rows,
    table,
)

READER = """
import sqlite3, sys
shell = sqlite3.connect(sys.argv[1], isolation_level=None)
shell.execute("BEGIN")
shell.execute("SELECT count(*) FROM inputs").fetchone()
print("reads", flush=True)
sys.stdin.read()
"""


@contextmanager
def another_program_reads(record: Path) -> Iterator[int]:
    """A process that has an open transaction for reading, by its number."""
    reading = (sys.executable, "-c", READER, str(record))
    with subprocess.Popen(reading, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as reader:
        assert reader.stdout is not None
        reader.stdout.readline()
        yield reader.pid
        reader.kill()


@pytest.fixture
def commits(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of inputs in each transaction."""
    found: list[int] = []
    add_steps = store.add_steps

    def counted(connection: sqlite3.Connection, steps: Any) -> None:
        found.append(len(steps))
        add_steps(connection, steps)

    monkeypatch.setattr(store, "add_steps", counted)
    return found


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """A disk that is as slow as the test says: it takes inputs while this event is set."""
    free, add_steps = threading.Event(), store.add_steps
    free.set()

    def slowly(connection: sqlite3.Connection, steps: Any) -> None:
        assert free.wait(60)
        add_steps(connection, steps)

    monkeypatch.setattr(store, "add_steps", slowly)
    yield free
    free.set()


# --- groups


async def test_orders_that_are_given_together_share_one_commit(tmp_path, commits):
    async with table(tmp_path / "t.db") as here:
        await here.begin_shoe()
        commits.clear()
        calls = [CallSupervisor("mei", f"question {number}") for number in range(50)]
        answered = await asyncio.gather(*(here.engine.submit([each], "operator mei") for each in calls))

        assert commits == [50]
        numbers = [each.seq for (each,) in answered]
        assert numbers == list(range(numbers[0], numbers[0] + 50))
    assert replay(tmp_path / "t.db").difference is None


async def test_wagers_that_arrive_together_share_a_few_commits(tmp_path, mosquitto, commits):
    async with table(tmp_path / "t.db") as here, connected(here, mosquitto.port):
        await here.begin_shoe()
        async with ear(mosquitto.port) as listening:
            await online(listening)
            commits.clear()
            sent = [
                listening.publish(f"wagers/{1 + n % 7}/set", wager(id=f"w{n}", round=1)) for n in range(35)
            ]
            await asyncio.gather(*sent)
            await eventually(lambda: len(wager_answers(listening)) == 35, "all are answered")

            assert sum(commits) == 35
            assert len(commits) < 20
            numbers = [each["seq"] for each in wager_answers(listening)]
            assert numbers == sorted(numbers)


async def test_inputs_that_come_while_the_disk_is_busy_share_the_next_commit(tmp_path, disk, commits):
    async with table(tmp_path / "t.db") as here:
        await here.begin_shoe()
        disk.clear()
        commits.clear()
        first = asyncio.create_task(here.order(CallSupervisor("mei", "first")))
        await asyncio.sleep(0.05)
        others = [asyncio.create_task(here.order(CallSupervisor("mei", f"{n}"))) for n in range(9)]
        await asyncio.sleep(0.05)
        disk.set()
        await asyncio.gather(first, *others)

        assert commits == [1, 9]


async def test_snapshots_are_taken_under_constant_load(tmp_path, monkeypatch):
    monkeypatch.setattr(engine, "SNAPSHOT_EVERY", 50)
    async with table(tmp_path / "t.db") as here:
        calls = [CallSupervisor("mei", f"{number}") for number in range(220)]
        for each in [
            here.engine.enter([call], "operator mei") for call in calls
        ]:  # the writer never catches up
            await each

    assert len(rows(tmp_path / "t.db", "SELECT seq FROM snapshots")) == 4
    assert replay(tmp_path / "t.db").difference is None


# --- nothing is seen before it is on the disk


async def test_nothing_is_shown_acknowledged_or_answered_before_it_is_on_the_disk(tmp_path, disk):
    async with table(tmp_path / "t.db") as here:
        await here.begin_shoe()
        here.outbox.connect(lambda: None)
        here.outbox.events.clear()
        before, seq = here.state, here.engine.seq
        looked: list[int] = []
        here.engine.watch(lambda _, number: looked.append(number))
        disk.clear()
        card = asyncio.create_task(here.engine.submit([CardDrawn(1, Card("9S"), 99)], SHOE))
        order = asyncio.create_task(here.order(CallSupervisor("mei", "a dispute")))
        await asyncio.sleep(0.1)

        assert here.engine.execution.head.seq == seq + 2
        assert (here.state, here.engine.seq, looked, list(here.outbox.events)) == (before, seq, [], [])
        assert not card.done()
        assert not order.done()

        disk.set()
        await asyncio.gather(card, order)
        assert (here.engine.seq, looked) == (seq + 2, [seq + 1, seq + 2])
        assert here.state is here.engine.execution.state
        assert len(here.outbox.events) >= 2


async def test_the_sign_of_life_stops_with_the_disk(tmp_path, disk, monkeypatch):
    monkeypatch.setattr(heartbeat, "STATE_EVERY_SECONDS", 0.01)
    async with table(tmp_path / "t.db") as here:
        await here.begin_shoe()
        beats: list[int] = []
        beat = heartbeat.beat(here.engine, here.journal, here.outbox, lambda: beats.append(1))
        beating = asyncio.create_task(beat)
        await eventually(lambda: len(beats) > 3, "it beats")
        disk.clear()
        waits = asyncio.create_task(here.order(CallSupervisor("mei", "a question")))
        await asyncio.sleep(0.1)
        stopped = len(beats)
        await asyncio.sleep(0.2)

        assert len(beats) == stopped
        disk.set()
        await waits
        await eventually(lambda: len(beats) > stopped, "it beats again")
        beating.cancel()


async def test_play_waits_for_a_program_that_holds_the_records_lock(tmp_path, monkeypatch):
    monkeypatch.setattr(heartbeat, "STATE_EVERY_SECONDS", 0.01)
    record = tmp_path / "t.db"
    async with table(record) as here:
        await here.begin_shoe()
        beats: list[int] = []
        beat = heartbeat.beat(here.engine, here.journal, here.outbox, lambda: beats.append(1))
        beating = asyncio.create_task(beat)
        with closing(sqlite3.connect(record, isolation_level=None)) as shell:
            shell.execute("BEGIN IMMEDIATE")
            order = asyncio.create_task(here.order(CallSupervisor("mei", "a question")))
            await eventually(lambda: here.journal.blocked, "it says who holds the lock")
            before = len(beats)
            await eventually(lambda: len(beats) > before + 3, "it is alive")
            assert not order.done()
            shell.execute("ROLLBACK")
        await order

        await eventually(lambda: not here.journal.blocked, "it goes on")
        beating.cancel()
    assert replay(record).difference is None


async def test_a_reader_that_makes_the_log_grow_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(heartbeat, "STATE_EVERY_SECONDS", 0.01)
    monkeypatch.setattr(journal, "MOST_FRAMES", 40)
    record = tmp_path / "t.db"
    async with table(record) as here:
        await here.begin_shoe()
        await here.play(2)
        with another_program_reads(record) as reader:
            beating = asyncio.create_task(heartbeat.beat(here.engine, here.journal, here.outbox))
            await here.play(20)
            await eventually(lambda: here.state.alarms, "it is said")
            beating.cancel()

        (alarm,) = here.state.alarms
        assert alarm.code == "record_log"
        assert f"(process {reader})" in alarm.text


# --- what the program cannot handle


def fails_at(monkeypatch: pytest.MonkeyPatch, kind: type[Event]) -> None:
    """Have the table's handler of this kind of event raise an error that no rule foresees."""

    def handler(turn: Any, _: Event) -> None:
        turn.change_round(number=999)  # half-way through
        raise KeyError("no rule foresees this")

    listed, own = machine._KINDS.get(kind, machine._OF_THE_SHOE)
    if kind in machine._KINDS:
        monkeypatch.setitem(machine._KINDS, kind, (listed, handler))
        return

    def of_the_shoe(turn: Any, event: Event) -> None:
        (handler if isinstance(event, kind) else own)(turn, event)

    monkeypatch.setattr(machine, "_OF_THE_SHOE", (listed, of_the_shoe))


REQUESTS: list[Event] = [
    SetWager("w", 3, "player", STAKE, 2),
    CallSupervisor("mei", "a question"),
    HoldPlay("mei", "a question"),
]
OF_DEVICES: list[tuple[Event, str]] = [
    (CardDrawn(1, Card("9S"), 99), "shoe"),
    (CardUnread(1), "shoe"),
    (CutCardSeen(1), "shoe"),
    (LidMoved(1, open=True), "shoe"),
    (LinkNoise(9, 9), "shoe"),
    (ShoeLost("gone"), "shoe"),
    (ShoeHello("IS-1", 1, 1, 1, 8), "shoe"),
    (RecordsLost(1, 3), "shoe"),
    (ConfigurationKeypad(attached=True, path="/dev/x"), "configuration keypad"),
    (DeviceHeard("keypad", "K-1"), "devices"),
    (SensorsLink(online=True, reason=""), "sensors"),
    (SensorFault(1, 1, "stuck", stands=True), "sensors"),
    (WagerPlaced(2), "sensors"),
]
OF_THE_SERVICE: list[Event] = [
    DayBegan("2026-11-26T06:00:00+00:00"),
    ClockStepped("2026-11-26T06:00:00+00:00", "2026-11-26T05:00:00+00:00"),
    RecordDiffers("round 2"),
    Flooded("seat 3", 1000, 10),
    SessionBegun("mei", ("dealer",), "console"),
    MeterHeard(online=False, reason="gone"),
    MeterClaimed("table-9 0123"),
]


def kind_of(event: Any) -> str:
    return str((event[0] if isinstance(event, tuple) else event).kind)


async def recorded(here: Table, event: Event, source: str) -> tuple[Any, str]:
    """The answer to an input, and its outcome on the record without the digest."""
    (handled,) = await here.engine.submit([event], source)
    outcome: str = dict(rows(here.journal.path, "SELECT seq, outcome FROM inputs"))[handled.seq]
    return handled.refusal, outcome.split(" ", maxsplit=1)[0]


@pytest.mark.parametrize("event", REQUESTS, ids=kind_of)
async def test_a_request_that_fails_changes_nothing_and_is_answered(tmp_path, monkeypatch, event):
    record = tmp_path / "t.db"
    async with table(record) as here:
        await here.begin_shoe()
        await here.play(1)
        before = here.state
        with monkeypatch.context() as broken:
            fails_at(broken, type(event))
            refusal, outcome = await recorded(here, event, "operator mei")

        assert (refusal.code, outcome) == ("internal_error", "failed")
        assert here.state == before
        assert rows(record, "SELECT kind, code FROM incidents") == [("refused", "internal_error")]
        await here.order(event)
    assert "KeyError" not in str(rows(record, "SELECT * FROM incidents"))


@pytest.mark.parametrize(
    ("event", "source"), OF_DEVICES, ids=lambda each: each if isinstance(each, str) else kind_of(each)
)
async def test_a_devices_report_that_fails_stops_the_table_until_a_supervisor_resumes(
    tmp_path, monkeypatch, event, source
):
    record = tmp_path / "t.db"
    async with table(record) as here:
        await here.begin_shoe()
        before = here.state
        with monkeypatch.context() as broken:
            fails_at(broken, type(event))
            refusal, outcome = await recorded(here, event, source)

        assert (refusal is not None, outcome) == (isinstance(event, WagerPlaced), "failed")
        assert [each.code for each in here.state.waiting.stops] == ["internal_error"]
        untouched = ("round", "phase", "shoe", "devices")
        for name in untouched:  # of sensors that could not be heard nothing is known
            assert isinstance(event, SensorsLink) or getattr(here.state, name) == getattr(before, name)
        if isinstance(event, CardDrawn | CardUnread | CutCardSeen | LidMoved):
            assert here.state.link.taken == 1  # or the shoe would report it for ever
        if isinstance(event, RecordsLost):
            assert here.state.link.taken == event.last
        await here.order(ResumePlay("bob", "checked"))
        await here.hello()
        await here.begin_shoe()
        await here.play(1, seats=[3])
    found = replay(record)
    assert (found.difference, len(found.otherwise)) == (None, 1)


@pytest.mark.parametrize("event", OF_THE_SERVICE, ids=kind_of)
async def test_what_the_service_reports_and_fails_raises_an_alarm_and_stops_nothing(
    tmp_path, monkeypatch, event
):
    record = tmp_path / "t.db"
    async with table(record, table_settings(game_name="progressive-2", meter={})) as here:
        await here.begin_shoe()
        with monkeypatch.context() as broken:
            fails_at(broken, type(event))
            refusal, outcome = await recorded(here, event, "service")

        assert (refusal, outcome) == (None, "failed")
        assert [each.code for each in here.state.alarms] == ["internal_error"]
        assert not here.state.waiting.stops
        await here.play(1)


async def test_a_hand_whose_card_fails_is_voided_and_play_goes_on(tmp_path, monkeypatch):
    async with table(tmp_path / "t.db") as here:
        await here.begin_shoe()
        await here.draw(2)
        with monkeypatch.context() as broken:
            fails_at(broken, CardDrawn)
            await here.draw()
        await here.draw()  # it waits
        await here.order(VoidCoup("bob", "internal error"))
        await here.order(ResumePlay("bob", "checked"))
        if here.state.phase != "betting":
            await here.order(ChangeShoe("bob"))
            await here.begin_shoe()
        await here.play(2, seats=[1])

        assert rows(tmp_path / "t.db", "SELECT status FROM rounds ORDER BY round")[0] == ("void",)
    found = replay(tmp_path / "t.db")
    assert (found.difference, len(found.otherwise)) == (
        None,
        1,
    )  # this version would have dealt the card, and says so
    assert replay(tmp_path / "t.db", version="0.1.0").difference == found.otherwise[0]


async def test_a_start_that_fails_starts_all_the_same(tmp_path, monkeypatch):
    record = tmp_path / "t.db"
    async with table(record) as here:
        await here.begin_shoe()
        await here.play(1)
    with monkeypatch.context() as broken:
        fails_at(broken, ServiceStarted)
        async with table(record) as here:
            assert [each.code for each in here.state.waiting.stops] == ["internal_error"]
            assert here.state.round.number == 2
    async with table(record) as here:
        assert here.state.round.number == 2


async def test_the_traceback_is_in_the_log_and_its_digest_on_the_record(tmp_path, monkeypatch):
    async with table(tmp_path / "t.db") as here:
        await here.begin_shoe()
        with structlog.testing.capture_logs() as logged, monkeypatch.context() as broken:
            fails_at(broken, CallSupervisor)
            await here.engine.submit([CallSupervisor("mei", "?")], "operator mei")
    ((outcome,),) = rows(tmp_path / "t.db", "SELECT outcome FROM inputs WHERE outcome LIKE 'failed %'")
    (line,) = (each for each in logged if each["event"] == "input failed")

    assert "no rule foresees this" in line["traceback"]
    assert outcome.removeprefix("failed ") == line["digest"]
