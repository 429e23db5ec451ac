"""Several tables in one process: each with its own record and shoe, and apart in their failures."""

import asyncio
import json
import signal
import socket
import sqlite3
import sys
import threading
from collections import Counter
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from punto.commands.operator import ask
from punto.commands.run import consoles_of, devices_of
from punto.controller import engine, tables
from punto.controller.config.tables import load_configs
from punto.controller.journal.recovery import Recovered, recover
from punto.controller.journal.schema import RecordError
from punto.controller.supervisor import Process, serve
from punto.controller.tables import Tables
from punto.reports.books import books_of_day
from tests.command import punto
from tests.controller.table_in_this_process import eventually, table
from tests.controller.table_on_a_machine import (
    STAFF,
    Broker,
    Listener,
    Program,
    Shoe,
    employ,
    expected_rounds,
    replayed,
    rounds,
    settlements,
    wait_until,
)
from tests.deadline import DEADLINE

NAMES = ("north", "south")
STAKES = {"north": 2500, "south": 4000}
SEAT = 3


class House(Program):
    """A `punto run` of the tables `NAMES`, each with its record, its socket and its shoe in a folder of its own."""

    def __init__(self, folder: Path, broker: Broker | None, settings: str = "") -> None:
        self.folder = folder
        shared = f"[mqtt]\nport = {broker.port}\n" if broker else ""
        text = f'version = 1\n{shared}[accounts]\npath = "operators.db"\n'
        for name in NAMES:
            (folder / name).mkdir()
            text += (
                f'[[table]]\nid = "{name}"\nname = "{name.title()}"\ngame = "dragon-bonus-1"\nsimulation = true\n{settings}\n'
                f'[table.shoe]\nport = "{name}/shoe"\n[table.record]\npath = "{name}/table.db"\n'
                f'[table.operator]\nsocket = "{name}/sock"\n'
            )
        self.config = folder / "house.toml"
        self.config.write_text(text, encoding="utf-8")
        employ(folder / "operators.db")
        command = (sys.executable, "-m", "punto", "run", "--config", self.config)
        super().__init__(folder / "house.log", *command)

    def record(self, name: str) -> Path:
        return self.folder / name / "table.db"

    def shoe(self, name: str, *options: str) -> Shoe:
        return Shoe(self.folder / name / "shoe", "--seed", name, "--between", "0.2", *options)

    def start(self) -> None:
        super().start()
        for name in NAMES:
            wait_until(partial(self.up_or_ended, name), f"{name} takes orders")
        assert self.running, self.said()[-10:]

    def up(self, name: str) -> bool:
        try:
            return bool(ask(self.folder / name / "sock", {"order": "status"})["accepted"])
        except OSError:
            return False

    def up_or_ended(self, name: str) -> bool:
        return self.up(name) or not self.running

    def status(self, name: str) -> dict[str, Any]:
        state: dict[str, Any] = ask(self.folder / name / "sock", {"order": "status"})["state"]
        return state

    def order(self, name: str, order: str, **fields: Any) -> None:
        answer = ask(self.folder / name / "sock", {"order": order, "by": STAFF, **fields})
        assert answer["accepted"], (name, order, answer["reason"])

    def begin_shoe(self, name: str) -> None:
        self.order(name, "sign_on")
        self.order(name, "change_shoe")

    def bet(self, broker: Broker, name: str, amount: int) -> bool:
        """Wager on the present round if it takes wagers; whether a wager has been settled."""
        state = self.status(name)
        if state["phase"] == "betting":
            wager = {"id": str(state["round"]), "round": state["round"], "wager": "player", "amount": amount}
            broker.publish(f"punto/{name}/wagers/{SEAT}/set", wager)
        return bool(settlements(self.record(name)))

    def has_played(self, name: str, rounds_: int) -> bool:
        return played(self.record(name), name) >= rounds_

    def logged(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.said() if line.startswith("{")]


def spoil(record: Path) -> None:
    """Write to a record beside its service, which must then not write to it any more."""
    with closing(sqlite3.connect(record, timeout=DEADLINE)) as other, other:
        other.execute(
            "INSERT INTO inputs SELECT max(seq) + 1, ts, source, payload, outcome, results, state, 'x' FROM inputs"
        )


def played(record: Path, seed: str) -> int:
    """How many rounds there are, which are those of the seed and no others."""
    found = rounds(record)
    assert found == expected_rounds(seed, 1)[: len(found)]
    return len(found)


def said(listener: Listener, table: str) -> list[dict[str, Any]]:
    """The availability of a table, as it was published."""
    return [each.payload for each in listener.heard() if each.topic == f"punto/{table}/availability"]


@pytest.mark.disk
def test_two_tables_deal_and_settle_in_one_process(tmp_path):
    with Broker(tmp_path) as broker, House(tmp_path, broker) as house:
        with house.shoe("north"), house.shoe("south"):
            for name in NAMES:
                house.begin_shoe(name)
            for name, amount in STAKES.items():
                wait_until(
                    partial(house.bet, broker, name, amount),
                    f"{name} settles a wager",
                )
            for name in NAMES:
                wait_until(partial(house.has_played, name, 3), f"{name} plays")
        assert house.stop() == 0

    for name, amount in STAKES.items():
        assert set(settlements(house.record(name)).values()) == {amount}
        assert replayed(house.record(name))[0] == 0
    lines = house.logged()
    assert {each.get("table") for each in lines} == set(NAMES)
    ended = Counter(each["table"] for each in lines if each["event"] == "coup ended")
    assert ended == {name: len(rounds(house.record(name))) for name in NAMES}


@pytest.mark.disk
def test_a_table_whose_record_fails_ends_and_the_other_plays_on(tmp_path):
    with (
        Broker(tmp_path) as broker,
        House(tmp_path, broker) as house,
        Listener(tmp_path, broker.port) as listener,
        house.shoe("north"),
        house.shoe("south"),
    ):
        for name in NAMES:
            house.begin_shoe(name)
            wait_until(partial(house.has_played, name, 1), f"{name} plays")
            wait_until(partial(said, listener, name), f"{name} is at the broker")
        spoil(house.record("south"))
        wait_until(lambda: not house.up("south"), "the table has ended")
        before = played(house.record("north"), "north")
        dealt = rounds(house.record("south"))
        wait_until(lambda: played(house.record("north"), "north") >= before + 2, "the other plays on")

        assert house.up("north")
        assert rounds(house.record("south")) == dealt
        assert said(listener, "north")[-1]["state"] == "online"
        offline = said(listener, "south")[-1]
        assert (offline["state"], offline["reason"][:63]) == (
            "offline",
            "the service failed: another program has written to this record,",
        )
        failed = [each for each in house.logged() if each["event"] == "table failed"]
        assert [(each["table"], each["level"]) for each in failed] == [("south", "error")]
        assert house.stop() == 1
    lines = [line for line in house.said() if not line.startswith("{")]
    assert [line[:55] for line in lines] == ["punto run: south: another program has written to this r"]


def test_two_tables_with_the_same_id_are_refused(tmp_path):
    house = House(tmp_path, None)
    text = house.config.read_text(encoding="utf-8").replace('id = "south"', 'id = "north"')
    house.config.write_text(text, encoding="utf-8")
    ran = punto("run", "--config", str(house.config))

    assert ran.returncode == 2
    assert (
        "north: table.id: north is also the id of another table: write another id in [[table]]" in ran.stderr
    )


def test_systemd_hears_once_that_all_are_ready_though_a_record_cannot_be_opened(tmp_path, monkeypatch):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(str(tmp_path / "notify"))
        systemd.settimeout(DEADLINE)
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        house = House(tmp_path, None)
        house.record("south").write_text("the minutes of a meeting")
        Program.start(house)
        told = [systemd.recv(1000).decode() for _ in range(3)]

        assert house.up("north")
        assert house.stop(signal.SIGTERM) == 1
        while told[-1] != "STOPPING=1":
            told.append(systemd.recv(1000).decode())
    assert told[:3] == ["READY=1", "WATCHDOG=1", "WATCHDOG=1"]
    assert "punto run: south: " in house.log.read_text(encoding="utf-8")


def test_a_process_without_a_table_left_ends(tmp_path):
    house = House(tmp_path, None)
    for name in NAMES:
        house.record(name).write_text("the minutes of a meeting")
    Program.start(house)

    assert house.process.wait(DEADLINE) == 1
    said = [line for line in house.said() if line.startswith("punto run: ")]
    assert [line.split(": ")[1] for line in said] == [*NAMES]


async def test_a_failed_table_starts_again_when_its_record_is_restored(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "AGAIN_AFTER_SECONDS", 0.2)
    house = House(tmp_path, None, 'cards = "keyed"')
    text = "\n".join(line for line in house.config.read_text().splitlines() if "shoe" not in line)
    house.config.write_text(text, encoding="utf-8")
    opened: list[str] = []

    async def run(config: Any, process: Process) -> None:
        def told() -> None:
            opened.append(config.table.id)
            process.opened()

        own = Process(told, process.alive, process.replaying, process.counts)
        await serve(config, devices_of(config), partial(consoles_of, house.config), books_of_day, own)

    here = Tables(load_configs(house.config), run)
    running = asyncio.create_task(here.run())
    await eventually(lambda: len(opened) == 2, "both are open")
    record = house.record("south")
    with (
        closing(sqlite3.connect(record)) as source,
        closing(sqlite3.connect(tmp_path / "backup.db")) as backup,
    ):
        source.backup(backup)
    spoil(record)
    await asyncio.to_thread(refused, house, "south")
    await eventually(lambda: here.failures, "it has failed")
    assert opened.count("north") == 1
    for end in ("-wal", "-shm"):
        record.with_name(f"table.db{end}").unlink(missing_ok=True)
    (tmp_path / "backup.db").replace(record)
    await eventually(lambda: opened.count("south") == 2, "it is open again")
    await asyncio.to_thread(house.order, "south", "sign_on")
    running.cancel()
    await asyncio.wait([running])

    assert running.cancelled()
    assert opened.count("north") == 1
    assert list(here.failures) == ["south"]


async def test_the_other_tables_go_on_while_a_table_recovers(tmp_path, monkeypatch):
    going_on = threading.Event()

    def recover_slowly(connection: sqlite3.Connection) -> Recovered:
        assert going_on.wait(DEADLINE)
        return recover(connection)

    monkeypatch.setattr(engine, "recover", recover_slowly)
    asyncio.get_running_loop().call_soon(going_on.set)
    async with table(tmp_path / "table.db") as here:
        assert here.state.phase == "locked"


def refused(house: House, name: str) -> None:
    """Give an order that the record can no longer take."""
    with pytest.raises((OSError, ValueError)):
        ask(house.folder / name / "sock", {"order": "sign_on", "by": STAFF})


# --- what systemd hears of tables that do as they are told


class Told:
    """Tables without a service: the test says what happens at each."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
        self.notified: list[str] = []
        self.process: dict[str, Process] = {}
        self.ends: dict[str, asyncio.Future[None]] = {}
        monkeypatch.setattr(tables, "notify", self.notified.append)
        monkeypatch.setattr(tables, "AGAIN_AFTER_SECONDS", 0.01)
        configs: Any = [_Config(name) for name in names]
        self.tables = Tables(configs, self._serve)

    async def _serve(self, config: Any, process: Process) -> None:
        name = config.table.id
        self.process[name], self.ends[name] = process, asyncio.get_running_loop().create_future()
        await self.ends[name]


class _Config:
    def __init__(self, name: str) -> None:
        self.table = self
        self.id = name


async def test_the_watchdog_is_fed_only_if_every_open_table_makes_progress(monkeypatch):
    told = Told(monkeypatch, "a", "b", "c")
    running = asyncio.create_task(told.tables.run())
    await eventually(lambda: len(told.process) == 3, "all have begun")
    for name in "ab":
        told.process[name].opened()
    assert told.notified == []
    told.ends["c"].set_exception(RecordError("its disk is full"))
    await eventually(lambda: told.notified == ["READY=1"], "two are open and one has failed")
    for name in "abaaa":
        told.process[name].alive()
    assert told.notified == [
        "READY=1",
        "WATCHDOG=1",
        "WATCHDOG=1",
    ]  # the first, then one with b; none for a alone
    told.ends["b"].set_exception(RecordError("its disk is full"))
    await eventually(lambda: "b" in told.tables.failures, "b has failed")
    told.process["a"].alive()
    assert told.notified[3:] == ["WATCHDOG=1"]
    running.cancel()
    await asyncio.wait([running])

    assert told.notified[4:] == ["STOPPING=1"]


async def test_an_error_on_the_way_to_the_end_is_not_followed_by_another_start(monkeypatch):
    told = Told(monkeypatch, "a", "b")

    async def fails_at_the_end(config: Any, process: Process) -> None:
        told.process[config.table.id] = process
        try:
            await asyncio.Future()
        finally:
            raise RecordError("the last input could not be written")

    monkeypatch.setattr(told.tables, "_serve", fails_at_the_end)
    running = asyncio.create_task(told.tables.run())
    await eventually(lambda: len(told.process) == 2, "both have begun")
    running.cancel()
    await asyncio.wait([running], timeout=DEADLINE)

    assert isinstance(running.exception(), ExceptionGroup)
    assert told.tables.failures == {name: ["the last input could not be written"] for name in "ab"}
