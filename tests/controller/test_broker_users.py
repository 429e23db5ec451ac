"""Each user of the broker has a password of its own, and gets at what is its own."""

import asyncio
import json
import re
import stat
import subprocess
from contextlib import AsyncExitStack

import pytest
import structlog

from punto.baccarat.table.order_kinds import CloseTable
from punto.commands.cli import main
from punto.controller import mqtt
from punto.controller.devices.door import ConsoleDevice, console_devices
from punto.controller.mqtt import Broker
from punto.runtime import clock
from punto.runtime.broker_link import NO_RIGHTS, REFUSED
from tests.controller.at_a_broker import online, wager, wager_answers
from tests.controller.guarded_brokers import HOUSE, GuardedBroker, HousesBroker, KeepersBroker
from tests.controller.table_in_this_process import (
    TOPIC,
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
from tests.controller.table_on_a_machine import Table as Service
from tests.controller.table_on_a_machine import inputs
from tests.ports import free_port


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
            await eventually(lambda: wager_answers(seat), "the answer")
            await seat.publish("request/snapshot/by/table-1-seat-2", {"id": "in my neighbour's name"})
            await seat.publish("request/snapshot/by/table-1-seat-3", {"id": "in mine"})
            await eventually(lambda: seat.of("response/snapshot"), "the snapshot")

            assert [each["request"] for each in seat.of("response/snapshot")] == ["in mine"]
            assert [each["request"] for each in wager_answers(seat)] == ["mine"]
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
            await eventually(lambda: wager_answers(terminal), "the answer")
            await here.draw(6)
            await here.order(CloseTable("mei")) if here.state.phase == "betting" else None
            await eventually(lambda: surveillance.of("round"), "a round")
            await eventually(lambda: display.of("round"), "a round")

            assert [placed["request"] for placed in wager_answers(terminal)] == ["terminal"]
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


async def test_a_wrong_password_does_not_hold_up_play_and_the_consoles_show_it(here, tmp_path):
    with GuardedBroker(tmp_path) as guarded:
        guess = {**guarded.login("punto"), "password": "a guess"}
        with structlog.testing.capture_logs() as logs:
            async with connected(here, guarded.port, **guess) as broker:
                await here.play(20)
                await eventually(lambda: logs, "a word of it")
                await asyncio.sleep(0.3)

                assert not here.outbox.connected
                (shown,) = at_consoles(here, broker)
    (away,) = (each for each in logs if each["event"] == "broker away")
    assert away["reason"] == shown.reason == REFUSED
    assert "set username and password_file in [mqtt]" in away["hint"]
    assert shown.warning is not None
    assert shown.warning.startswith("The message broker refuses this table: ")


async def test_a_broker_that_comes_and_refuses_the_user_is_in_the_log_although_it_was_away(here, tmp_path):
    guarded = GuardedBroker(tmp_path)
    guess = {**guarded.login("punto"), "password": "a guess"}
    with structlog.testing.capture_logs() as logs:
        async with connected(here, guarded.port, **guess) as broker:
            await eventually(lambda: logs, "it is away")
            with guarded:
                await eventually(lambda: broker.health().reason == REFUSED, "it refuses the table")
    first, *others = (each for each in logs if each["event"] == "broker away")
    assert "hint" not in first
    assert [each["reason"] for each in others] == [REFUSED]


async def test_the_consoles_show_a_broker_that_refuses_the_table_its_own_topics(tmp_path, monkeypatch):
    monkeypatch.setattr(mqtt, "ECHO_SECONDS", 0.3)
    with HousesBroker(tmp_path) as guarded:
        async with (
            table(tmp_path / "table.db") as here,
            connected(here, guarded.port, **guarded.login("table-2")) as broker,
        ):
            await eventually(lambda: broker.health().reason == NO_RIGHTS, "it refuses the topics")
            (shown,) = at_consoles(here, broker)

    assert shown.state == "offline"
    assert shown.warning is not None
    assert shown.warning.startswith("The message broker refuses this table its topics: ")


def at_consoles(here: Table, broker: Broker) -> list[ConsoleDevice]:
    """The broker as the consoles show it."""
    shown = console_devices(here.state, 0, clock.now(), {"broker": broker.health()}, clock.now())
    return [each for each in shown if each.device == "broker"]


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


async def test_the_tables_name_at_the_broker_is_a_secret_that_outlives_a_start(tmp_path):
    names = []
    for record in ("table.db", "table.db", "another.db"):
        async with table(tmp_path / record) as here:
            names.append(broker_of(here, free_port())._link._identifier)

    first, again, another = names
    assert first == again != another
    assert re.fullmatch("punto-table-1-[0-9a-f]{32}", first)
    assert (tmp_path / "table.db.lock").stat().st_mode & 0o007 == 0
