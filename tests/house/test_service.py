"""The Game Manager of a house as it runs: what tables told over a broker is in its store once, whatever was killed meanwhile."""

import asyncio
import json
import time
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any
from urllib.request import urlopen

import pytest
from sqlalchemy import func, select

from punto.baccarat.coup import Coup, Winner
from punto.baccarat.table.meters import of_game
from punto.configs.expectations import shipped
from punto.configs.game_files import load_game, shipped_games
from punto.controller.config.file import load_config
from punto.controller.journal.entries import GAMES
from punto.controller.meter_link.authority_end import AuthorityEnd
from punto.house import schema
from punto.messages.books import Books
from punto.messages.metering import metered
from punto.messages.topics import progressive
from punto.reports.books import books_of_day
from tests.baccarat.table.croupier import cards
from tests.controller.linked_services import Service
from tests.controller.table_in_this_process import (
    TOPIC,
    Table,
    broker_of,
    connected,
    ear,
    eventually,
    settings,
    table,
)
from tests.controller.table_on_a_machine import Broker, wait_until
from tests.deadline import DEADLINE
from tests.house.conftest import CALENDAR
from tests.house.house import GameManager, Tables, is_made, reading, stored, stored_incidents
from tests.house.tables import CARDS
from tests.postgresql import Cluster, cluster
from tests.reports.house import Clock, House, house
from tests.share import soaked

NAMES = [f"table-{number}" for number in range(1, 5)]


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    with Broker(tmp_path) as running:
        yield running


@pytest.fixture
def own_cluster() -> Iterator[Cluster]:
    """A PostgreSQL that may be killed."""
    with TemporaryDirectory(prefix="pg", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        with cluster(Path(folder) / "c") as running:
            yield running


async def all_taken_in(tables: Tables, url: str) -> None:
    tables.playing = False
    await eventually(lambda: is_made(url), "the store is made")
    await eventually(lambda: stored(url) == tables.rounds(), "all rounds are in the store")
    await eventually(lambda: stored_incidents(url) == tables.incidents(), "all incidents are in the store")


@pytest.mark.disk
@pytest.mark.parametrize("kills", [2, *soaked(60)])
async def test_each_round_is_in_sqlite_once_after_kills(tmp_path, broker, kills):
    url, dice = f"sqlite:///{tmp_path}/store.db", Random(kills)
    with GameManager(tmp_path, broker.port, str(tmp_path / "store.db")) as manager:
        async with Tables(NAMES, broker.port).running() as tables:
            for _ in range(kills):
                await asyncio.sleep(dice.uniform(0.2, 1))
                killed = dice.choice([manager, broker])
                killed.kill()
                await asyncio.sleep(dice.uniform(0, 0.3))
                await asyncio.to_thread(killed.start)
            await eventually(lambda: len(tables.rounds()) > 100 * kills, "as many rounds as are worth a kill")
            await all_taken_in(tables, url)


@pytest.mark.disk
@pytest.mark.parametrize("kills", soaked(6, 50))
async def test_each_round_is_in_postgresql_once_after_kills_with_two_managers(
    tmp_path, broker, own_cluster, kills
):
    """One of the two takes in; if it dies, the other does."""
    dice, address = Random(kills), own_cluster.url.replace("+psycopg", "")
    with (
        GameManager(tmp_path, broker.port, address, "first") as first,
        GameManager(tmp_path, broker.port, address, "second") as second,
    ):
        async with Tables(NAMES, broker.port).running() as tables:
            for _ in range(kills):
                await asyncio.sleep(dice.uniform(0.3, 1.5))
                match dice.choice(["first", "second", "postgresql", "broker"]):
                    case "postgresql":
                        await asyncio.to_thread(own_cluster.stop, "immediate")
                        await asyncio.sleep(dice.uniform(0, 0.5))
                        await asyncio.to_thread(own_cluster.start)
                    case killed:
                        program = {"first": first, "second": second, "broker": broker}[killed]
                        program.kill()
                        await asyncio.to_thread(program.start)
            await all_taken_in(tables, own_cluster.url)
        assert first.running
        assert second.running


async def test_a_table_is_followed_from_its_first_round_and_its_meters_are_the_same(tmp_path, broker):
    """A real table, which played before the Game Manager came."""
    url = f"sqlite:///{tmp_path}/store.db"
    async with (
        table(tmp_path / "table.db", settings("midi-baccarat")) as here,
        connected(here, broker.port),
    ):
        await here.begin_shoe()
        await here.play(60, seats=[1, 4])
        with GameManager(tmp_path, broker.port, str(tmp_path / "store.db")) as manager:
            await eventually(lambda: manager.opened and len(stored(url)) == 60, "the first rounds")
            await here.play(20, seats=[2])
            await eventually(lambda: len(stored(url)) == 80, "all rounds")
            floor = manager.asked("/api/floor")
            report = manager.asked("/api/reports/2026-01-01/2099-12-31")

    (on_the_floor,) = floor["tables"]
    assert (on_the_floor["table"], on_the_floor["live"], on_the_floor["waiting"]) == ("table-1", True, 0)
    (counted,) = report["tables"]
    game = here.state.settings.game
    life = metered(of_game(here.state.history.meters, game), game, shipped(game)).model_dump(mode="json")
    assert counted["rounds"] == {"played": 80}
    assert sorted(counted["meters"]["wagers"], key=str) == sorted(life["wagers"], key=str)
    assert counted["meters"]["counts"] == life["counts"]


async def test_each_fault_at_a_table_is_one_deviation_on_the_floor_and_the_first_jackpot_is_none(
    tmp_path, broker
):
    """The hands of a table are all ties but one, which wins the whole meter."""
    dice, ties = Random(5), [Coup(cards("2D KC 3D QC 4D JC"))]
    while len(ties) < 40:
        coup = Coup(())
        while not coup.over:
            coup = coup.with_card(dice.choice(CARDS))
        ties += [coup] if coup.winner is Winner.TIE else []
    hands = [f"key {' '.join(each.cards)}" for each in ties]
    async with (
        table(tmp_path / "table.db", settings("progressive-1", cards="keyed")) as here,
        connected(here, broker.port),
    ):
        await here.do("sign on", "change shoe", "open", *hands)
        store = str(tmp_path / "store.db")
        with GameManager(tmp_path, broker.port, store):
            await eventually(lambda: len(stored(f"sqlite:///{store}")) == len(hands), "all rounds")
        with GameManager(tmp_path, broker.port, store, "second") as manager:

            def deviations() -> list[dict[str, Any]]:
                tables = manager.asked("/api/floor")["tables"] if manager.opened else []
                return [each for of in tables for each in of["deviations"]]

            await eventually(lambda: len(deviations()) > 0, "the floor has deviations")
            found = [(each["wager"], each["rule"]) for each in deviations()]

    assert found[0] == ("Results", "The hands tie")
    assert len(found) == len(set(found))
    assert not [each for each in found if "2-3-4" in each[1]]


async def test_a_second_manager_of_the_same_store_takes_in_nothing(tmp_path, broker):
    store = str(tmp_path / "store.db")
    with (
        GameManager(tmp_path, broker.port, store, "first") as first,
        GameManager(tmp_path, broker.port, store, "second") as second,
    ):
        await eventually(lambda: "taking in" in "".join(first.said() + second.said()), "one of them takes in")
        await eventually(lambda: first.opened and second.opened, "both have pages")
        reasons = [each.asked("/api/floor")["taking_in"] for each in (first, second)]
        assert sorted(reasons) == ["", "another Game Manager of this store takes in"]
        leader, other = (first, second) if reasons[0] == "" else (second, first)
        leader.kill()
        await eventually(lambda: other.asked("/api/floor")["taking_in"] == "", "the other takes in")


async def test_the_page_of_a_manager_that_does_not_take_in_shows_what_the_other_has_taken_in(
    tmp_path, broker
):
    store = tmp_path / "store.db"
    with (
        GameManager(tmp_path, broker.port, str(store), "first") as first,
        GameManager(tmp_path, broker.port, str(store), "second") as second,
    ):
        async with Tables(NAMES, broker.port).running() as tables:
            await eventually(lambda: len(tables.rounds()) > 100, "rounds")
            await all_taken_in(tables, f"sqlite:///{store}")
            for each in (first, second):

                def right(at: GameManager = each) -> bool:
                    shown = at.asked("/api/floor")["tables"]
                    return [(view["table"], view["waiting"]) for view in shown] == [
                        (name, 0) for name in NAMES
                    ]

                await eventually(right, "no round waits")


async def test_what_the_floor_asks_is_little(tmp_path, broker):
    """A round that comes by itself is not asked for."""
    url = f"sqlite:///{tmp_path}/store.db"
    with GameManager(tmp_path, broker.port, str(tmp_path / "store.db")):
        async with Tables(["table-1"], broker.port).running() as tables, ear(broker.port) as listening:
            await eventually(lambda: len(tables.rounds()) > 300, "some rounds")
            tables.playing = False
            await eventually(lambda: stored(url) == tables.rounds(), "all rounds are in the store")
    asked = [name for name, *_ in listening.heard if name.startswith("request/rounds")]
    assert 1 <= len(asked) < 30
    with reading(url) as connection:
        assert connection.execute(select(func.count()).select_from(schema.ROUNDS)).scalar_one() > 300


@pytest.mark.parametrize("name", shipped_games())
def test_a_game_is_learned_from_the_configuration_that_a_table_tells(tmp_path, name):
    file = tmp_path / "table.toml"
    file.write_text(
        f'version = 1\n[table]\nid = "t"\nname = "T"\ngame = "{name}"\ncards = "keyed"\n[record]\npath = "t.db"\n'
    )
    told = json.loads(json.dumps(load_config(file).redacted()))

    assert GAMES.validate_python(told["game"]).rules_digest == load_game(name).rules_digest


@pytest.mark.punctual
def test_it_ends_at_once_and_without_an_error_while_a_page_is_open(tmp_path, broker):
    with GameManager(tmp_path, broker.port, str(tmp_path / "store.db")) as manager:
        wait_until(lambda: manager.opened, "it has pages")
        with urlopen(f"http://127.0.0.1:{manager.port}/api/floor/events", timeout=DEADLINE) as stream:
            assert stream.readline() == b"event: floor\r\n"
            before = time.monotonic()
            status = manager.stop()
            took = time.monotonic() - before
    assert (status, took < 2) == (0, True)
    assert not [line for line in manager.said() if "rror" in line]


def test_it_waits_for_a_database_that_is_away_at_its_start(tmp_path, broker, own_cluster):
    own_cluster.stop()
    with GameManager(tmp_path, broker.port, own_cluster.url.replace("+psycopg", "")) as manager:
        wait_until(
            lambda: any("store away" in line for line in manager.said()), "it says that the store is away"
        )
        own_cluster.start()
        wait_until(lambda: manager.opened, "it has pages")


async def test_the_books_of_each_day_are_taken_in_once_after_a_kill(tmp_path, broker):
    """A real table that kept a meter for days before the Game Manager came, and is played on."""
    url, record = f"sqlite:///{tmp_path}/store.db", tmp_path / "table.db"
    today = CALENDAR.day_of(datetime.now(UTC))
    clock = Clock(CALENDAR.begins(today - timedelta(days=5)).isoformat())
    with clock.turned():
        async with table(record, house()) as before:
            playing = House(before, clock, record)
            for days in (4, 3, 1):  # and nothing two days ago
                clock.now = CALENDAR.begins(today - timedelta(days=days)) + timedelta(hours=1)
                await (playing.open() if days == 4 else playing.game([1, 2, 3][:days]))

    def told() -> dict[date, str]:
        with reading(url) as connection:
            return dict(connection.execute(select(schema.BOOKS.c.day, schema.BOOKS.c.answer)).all())

    async with table(record, house()) as here:
        link_broker = broker_of(here, broker.port)
        keeper = AuthorityEnd(here.engine, link_broker, here.outbox, TOPIC)
        link_broker.retain(progressive("dragon"), keeper.message)
        beat = asyncio.create_task(tell_every_second(here, progressive("dragon")))
        running = asyncio.create_task(link_broker.run())
        with GameManager(tmp_path, broker.port, str(tmp_path / "store.db")) as manager:
            await eventually(lambda: is_made(url) and told(), "the first day is taken in")
            manager.kill()
            manager.start()
            ended = [today - timedelta(days=days) for days in (4, 3, 2, 1)]
            await eventually(lambda: sorted(told()) == ended, "all days are taken in")
            await eventually(
                lambda: manager.asked("/api/progressives")["progressives"][0]["books"], "the open day is told"
            )
            (shown,) = manager.asked("/api/progressives")["progressives"]
        for task in (beat, running):
            task.cancel()
        await asyncio.wait([beat, running])

    own = {day: books_of_day(record, day, CALENDAR, datetime.now(UTC)) for day in ended}
    assert {day: Books.model_validate_json(answer) for day, answer in told().items()} == {
        day: each.of("dragon") for day, each in own.items()
    }
    assert [accrual.rounds for each in own.values() for accrual in each.day.progressives] == [0, 1, 0, 1]
    assert (shown["table"], shown["meter"]["live"], shown["warnings"]) == ("table-1", True, [])
    assert shown["books"]["day"]["state"] == "open"


async def tell_every_second(here: Table, topic: str) -> None:
    """The meter, as the service tells it."""
    while True:
        here.outbox.snapshot_due(topic)
        await asyncio.sleep(0.5)


def test_linked_tables_and_the_open_books_of_their_authority_are_shown(tmp_path, broker):
    authority, at = (Service(tmp_path, broker, name) for name in ("meter-1", "t1"))
    with ExitStack() as running:
        running.enter_context(authority)
        authority.order("open_meter")
        running.enter_context(at)
        at.open()
        at.bet(3)
        manager = running.enter_context(GameManager(tmp_path, broker.port, str(tmp_path / "store.db")))

        def shown() -> Any:
            return manager.asked("/api/progressives")["progressives"]

        wait_until(lambda: manager.opened, "it has pages")
        wait_until(lambda: shown() and shown()[0]["tables"][0]["live"], "the linked table is live")
        wait_until(lambda: shown()[0]["books"], "the open day is told")
        (found,) = shown()
    assert (found["table"], found["meter"]["phase"], found["meter"]["meter"]) == (
        "meter-1",
        "open",
        1_000_020,
    )
    assert [(each["table"], each["live"], each["step"]) for each in found["tables"]] == [
        ("t1", True, "playing"),
        ("t2", False, None),
    ]
    (accrual,) = found["books"]["day"]["progressives"]
    assert (accrual["wagers"], accrual["end"]["contributions"]) == (1, "0.20000000")
