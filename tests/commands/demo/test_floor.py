"""`punto demo --game floor` and `punto simulate-floor`: tables of several games, of which some share a meter."""

import json
import logging
import re
import resource
import signal
import subprocess
import sys
from collections import Counter
from urllib.request import urlopen

import pytest
import structlog

from punto.commands.demo.options import TableOptions, tables_like
from punto.commands.demo.simulate_floor import floor_line
from punto.controller.journal.audit import audit, compare
from punto.runtime.broker_login import BrokerConfig
from tests.command import punto
from tests.commands.demo.demos import demo, opened, started
from tests.controller.table_in_this_process import rows
from tests.controller.table_on_a_machine import Broker, Listener, wait_until
from tests.deadline import DEADLINE
from tests.ports import free_port


@pytest.mark.soak
def test_the_whole_meter_is_won_at_one_of_three_linked_tables_and_shown_at_another(tmp_path):
    with demo("--game", "floor", "--between", "1.5", "--pace", "0.2", "--dir", tmp_path) as process:
        said = opened(process)
        port = int(re.findall(r"mosquitto_sub -h \S+ -p (\d+)", said)[0])
        with Listener(tmp_path, port, "punto/demo-2/progressive/dragon") as listener:
            assert process.stdout is not None
            paid = next(line for line in process.stdout if "all diamonds; taken off" in line)
            process.send_signal(signal.SIGINT)
            last, noise = process.communicate(timeout=DEADLINE)

    assert (process.returncode, noise) == (0, "")
    assert last.endswith("The demo has ended.\n")
    assert paid.startswith("demo-1  *** award ")
    shown = [each.payload["award"] for each in listener.heard()]
    assert any(award is not None and award["table"] == "demo-1" and award["whole_meter"] for award in shown)
    tables = [f"demo-{name}" for name in ("meter", 1, 2, 3, 4, 5, 6)]
    assert all(f"  {table}, " in said for table in tables)
    books, *parts = (audit(tmp_path / table / "table.db") for table in tables[:4])
    assert [compare(books, part).difference for part in parts] == [None] * 3


@pytest.mark.soak
def test_the_floor_of_the_demo_has_a_game_manager_of_the_house(tmp_path):
    store = tmp_path / "game-manager.db"
    with demo("--game", "floor", "--between", "0.5", "--pace", "0.05", "--dir", tmp_path) as process:
        said = opened(process)
        (address,) = re.findall(r"the floor +(http://\S+)", said)
        with urlopen(f"{address}api/floor", timeout=DEADLINE) as answer:  # noqa: S310 - of this machine
            floor = json.load(answer)
        wait_until(lambda: rows(store, "SELECT count(*) FROM rounds")[0][0] >= 10, "rounds are taken in")
        process.send_signal(signal.SIGINT)
        ended, _ = process.communicate(timeout=DEADLINE)

    assert {each["table"] for each in floor["tables"]} <= {f"demo-{number}" for number in range(1, 7)}
    assert ended.endswith("The demo has ended.\n")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ["--tables", "2"],
            "--game floor has its own tables and hands: remove --tables, or name another game",
        ),
        (
            ["--deal", "jackpot"],
            "--game floor has its own tables and hands: remove --deal, or name another game",
        ),
    ],
)
def test_the_floor_of_the_demo_has_its_own_tables_and_hands(arguments, told):
    ran = punto("demo", "--game", "floor", *arguments)

    assert (ran.returncode, ran.stderr) == (2, f"{told}\n")


# --- simulate-floor


@pytest.fixture
def ended_here():
    """What a floor sets for the whole process is taken back: a broker of another test would inherit the number of open files."""
    files = resource.getrlimit(resource.RLIMIT_NOFILE)
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, files)
    logging.disable(logging.NOTSET)
    structlog.reset_defaults()


def test_a_floor_deals_at_a_given_broker_and_its_linked_tables_fill_one_meter(tmp_path, ended_here):
    with Broker(tmp_path) as broker:
        at = ("--mqtt-port", str(broker.port), "--base", "house/floor")
        ran = punto(
            *("simulate-floor", "--tables", "3", "--games", "progressive-2,mini-baccarat", "--linked", "2"),
            *("--pace", "40", "--rounds", "6", "--console-port", "0", *at, "--dir", str(tmp_path)),
        )

    assert (ran.returncode, ran.stderr) == (0, "")
    assert "3 tables are open." in ran.stdout
    assert "floor-1, floor-3\n" in ran.stdout
    assert ran.stdout.endswith("The floor has ended.\n")
    records = {f"floor-{name}": tmp_path / f"floor-{name}" / "table.db" for name in ("meter", *range(1, 4))}
    played = [rows(record, "SELECT count(*) FROM rounds")[0][0] for record in records.values()]
    assert played[0] == 0
    assert sum(played) >= 6
    books, *parts = (audit(records[table]) for table in ("floor-meter", "floor-1", "floor-3"))
    assert [compare(books, part).difference for part in parts] == [None] * 2
    assert [bool(part.shared["dragon"]) for part in parts] == [True] * 2


def test_a_line_tells_the_pace_the_rounds_and_the_alarms():
    alarms = Counter({"flood": 1, "meter_away": 12})

    assert floor_line(65.4, 7012.6, 1234, 1230, alarms) == (
        "    65 s    7,013 hands an hour    1,234 rounds recorded    1,230 published  13 alarms (meter_away 12, flood 1)"
    )
    assert floor_line(5, 0, 0, 0, Counter()).endswith("0 published  0 alarms")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--tables", "101"], "argument --tables: must be a whole number from 1 to 100, not '101'"),
        (["--pace", "0"], "argument --pace: must be more than 0 and at most 100, not '0'"),
        (["--games", "mini-baccarat,pontoon"], "there is no game 'pontoon'"),
        (
            ["--tables", "5", "--linked", "3", "--games", "mini-baccarat,progressive-2"],
            "--linked 3: only 2 of 5 tables have the game progressive-2: add tables, or write --linked 2",
        ),
        (["--linked", "1", "--games", "mini-baccarat"], "--linked needs a progressive: add progressive-2 to --games"),
        (["--base", "a+b"], "mqtt.base: base 'a+b' cannot begin a topic"),
        (["--mqtt-port", "70000"], "mqtt.port: "),
        (["--mqtt-port", "{closed}"], "cannot use the broker at 127.0.0.1 port {closed} ([Errno 111] Connection refused): start one that needs no password"),
    ],
)  # fmt: skip
def test_a_floor_that_cannot_be_simulated_is_refused_with_what_to_write(arguments, told, ended_here):
    closed = free_port()
    ran = punto("simulate-floor", "--tables", "2", *(each.format(closed=closed) for each in arguments))

    assert (ran.returncode, ran.stdout) == (2, "")
    assert told.format(closed=closed) in ran.stderr


def test_a_floor_takes_its_games_in_turn_and_links_the_first_tables_with_a_progressive(tmp_path):
    first = TableOptions(
        table="floor",
        folder=tmp_path,
        console=8100,
        broker=BrokerConfig(),
        game="",
        seed=5,
        pace=1,
        between=1,
    )
    games = ["mini-baccarat", "progressive-2", "progressive-3"] * 3
    authority, *tables = tables_like(first, games, 2)

    assert (authority.table, authority.game, authority.linked) == (
        "floor-meter",
        "progressive-2",
        ("floor-2", "floor-5"),
    )
    assert [each.table for each in tables] == [f"floor-{number}" for number in range(1, 10)]
    assert [each.game for each in tables] == games
    linked = {each.table: each.authority for each in tables if each.authority}
    assert linked == {"floor-2": "floor-meter", "floor-5": "floor-meter"}
    assert {authority.meter, *(each.meter for each in tables)} == {
        "dragon",
        *(f"dragon-{n}" for n in (1, 3, 4, 6, 7, 8, 9)),
    }
    assert sorted(each.console for each in (authority, *tables)) == list(range(8100, 8110))
    assert len({each.seed for each in tables}) == 9


@pytest.mark.soak
def test_services_in_processes_of_their_own_end_with_the_floor(tmp_path):
    quick = ("--tables", "2", "--pace", "20", "--processes", "--console-port", "0")
    command = ["-m", "punto", "simulate-floor", *quick, "--dir", str(tmp_path)]
    with started([sys.executable, *command]) as process:
        assert process.stdout is not None
        line = next(line for line in process.stdout if re.search(" [1-9][0-9]* published ", line))
        services = processes_with(f"--config {tmp_path}/floor-")
        process.send_signal(signal.SIGINT)
        said, noise = process.communicate(timeout=DEADLINE)

    assert (process.returncode, noise) == (0, "")
    assert " rounds recorded " in line
    assert said.endswith("The floor has ended.\n")
    assert len(services) == 2
    assert processes_with(f"--config {tmp_path}/floor-") == []


def processes_with(words: str) -> list[str]:
    return subprocess.run(
        ["pgrep", "-f", "--", words], check=False, capture_output=True, text=True
    ).stdout.split()
