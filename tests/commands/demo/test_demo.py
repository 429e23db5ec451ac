"""`punto demo`: a whole table on one machine, which ends when it is told to and leaves no noise."""

import argparse
import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from queue import Queue
from shutil import copytree, ignore_patterns
from tempfile import TemporaryDirectory

import pytest

from punto.baccarat.currency import written
from punto.baccarat.wagers.definition import Game, Limits
from punto.baccarat.wagers.settlement import check_wagers
from punto.commands.demo import configuration
from punto.commands.demo.command import add_arguments
from punto.commands.demo.configuration import make_accounts
from punto.commands.demo.telling import MeterTeller, open_browser, round_line, this_program
from punto.configs.game_files import load_game, shipped_games
from punto.controller.config.file import load_config
from punto.controller.journal.audit import audit
from punto.controller.journal.recovery import replay
from punto.drivers.coin_spot.frames import KEEP, START_SECONDS
from punto.runtime.broker_login import BrokerConfig
from punto.simulators.coin_spot.device import Concentrator
from punto.simulators.players import Players, PlayersOptions
from tests.command import punto
from tests.commands.demo.demos import QUICK, UNHURRIED, consoles_of, demo, opened, played, rounds_of, started
from tests.consoles.consoles import Browser
from tests.controller.table_in_this_process import HERE, edited, rows
from tests.deadline import DEADLINE
from tests.share import soaked


@pytest.fixture(autouse=True)
def passing(tmp_path_factory, monkeypatch):
    """Where a demo has what passes with it: one that is killed leaves it behind."""
    monkeypatch.setenv("TMPDIR", str(tmp_path_factory.mktemp("passing")))


@pytest.mark.parametrize(
    "game",
    [
        "side-wagers",
        *(
            pytest.param(each, marks=pytest.mark.soak)
            for each in ("midi-baccarat", "canberra", "ez-baccarat")
        ),
    ],
)
def test_it_deals_as_many_rounds_as_were_asked_for(tmp_path, game):
    ran = played("--rounds", "3", "--game", game, "--dir", tmp_path)

    assert (ran.returncode, ran.stderr) == (0, "")
    assert len(rounds_of(ran.stdout)) == 3
    assert ran.stdout.endswith("The demo has ended.\n")
    assert replay(tmp_path / "table.db").difference is None
    assert rows(tmp_path / "table.db", "SELECT count(*) FROM inputs WHERE source LIKE 'mqtt seat%'") != [(0,)]


@pytest.mark.parametrize(
    "procedure",
    [(), pytest.param(("--procedure", "nexus"), marks=pytest.mark.soak)],
    ids=["without a meter", "nexus"],
)
def test_the_commission_is_collected_before_the_shoe_is_changed(procedure, tmp_path, monkeypatch):
    """No option of a demo asks for it, so the test writes it into the configuration."""
    house = configuration._CONFIG.replace("[table]\n", '[table]\ncommission = "shoe_end"\n')
    monkeypatch.setattr(configuration, "_CONFIG", house)
    game = (
        HERE / "configs/games" / ("progressive-2.toml" if procedure else "mini-baccarat.toml")
    ).read_text()
    (tmp_path / "short.toml").write_text(game.replace("decks = 8", "decks = 1", 1))
    ran = played("--rounds", "40", *procedure, "--game", tmp_path / "short.toml", "--dir", tmp_path / "demo")
    moved = rows(tmp_path / "demo/table.db", "SELECT cause, count(*) FROM commissions GROUP BY cause")

    assert (ran.returncode, ran.stderr) == (0, "")
    assert "shoe 2 round " in ran.stdout
    assert {"earned", "collected"} <= dict(moved).keys()


@pytest.mark.soak
def test_a_game_that_no_shoe_may_read_is_keyed_card_by_card(tmp_path):
    ran = played("--rounds", "2", "--game", "dai-bacc", "--dir", tmp_path)

    assert (ran.returncode, ran.stderr) == (0, "")
    assert "cards              keyed by the dealer" in ran.stdout
    assert len(rounds_of(ran.stdout)) == 2
    assert replay(tmp_path / "table.db").difference is None
    record = tmp_path / "table.db"
    assert rows(record, "SELECT count(*) FROM inputs WHERE source = 'shoe'") == [(0,)]
    assert rows(record, "SELECT count(*) FROM inputs WHERE source LIKE 'mqtt seat%'") != [(0,)]


@pytest.mark.soak
def test_the_same_seed_deals_the_same_cards_again():
    ran = [played("--rounds", "3", "--seed", "5") for _ in range(2)]

    assert [(each.returncode, each.stderr) for each in ran] == [(0, ""), (0, "")]
    hands = [[line[: line.index(" wagers")][:75] for line in rounds_of(each.stdout)] for each in ran]
    assert hands[0] == hands[1]
    assert len(hands[0]) == 3


async def test_its_consoles_let_in_who_has_read_the_terminal():
    with demo("--game", "progressive") as process:
        said = opened(process)
        ((port, password),) = consoles_of(said)
        browser = Browser(port)
        assert (await browser.sign_on("supervisor", "supervisor")).status == 401
        assert (await browser.sign_on("dealer", password)).json["roles"] == ["dealer"]
        for name in ("supervisor", "executive", "auditor"):
            assert (await browser.sign_on(name, password)).json["roles"] == [name]
            assert (await browser.get("/game-manager")).status == 200
        process.send_signal(signal.SIGINT)
        _, noise = process.communicate(timeout=DEADLINE)

    assert (process.returncode, noise) == (0, "")
    assert (
        f"  Game Manager       http://127.0.0.1:{port}/game-manager as supervisor, executive or auditor\n"
        in said
    )


def test_each_demo_has_a_password_of_its_own():
    configs = [load_config(HERE / "configs" / "table.toml")]
    with TemporaryDirectory() as one, TemporaryDirectory() as other:
        passwords = {
            make_accounts(Path(folder) / "a.db", configs, attended=False).password for folder in (one, other)
        }

    assert len(passwords) == 2


@pytest.mark.parametrize(("number", "rounds_first"), [(signal.SIGTERM, 2), *soaked((signal.SIGINT, 0))])
@pytest.mark.punctual
def test_it_ends_soon_after_a_signal_and_leaves_no_noise(number, rounds_first):
    with demo() as process:
        assert process.stdout is not None
        dealt = 0
        for line in process.stdout:
            dealt += line.startswith("shoe 1 round ")
            if (line.startswith("Ctrl-C") and not rounds_first) or dealt > rounds_first:
                break
        begun = time.monotonic()
        process.send_signal(number)
        said, noise = process.communicate(timeout=DEADLINE)

    assert time.monotonic() - begun < 5
    assert (process.returncode, noise) == (0, "")
    assert said.endswith("The demo has ended.\n")


@pytest.mark.parametrize(
    "after", [0, 0.4, *(pytest.param(each, marks=pytest.mark.soak) for each in (0.2, 0.8))]
)
def test_it_can_be_stopped_while_it_starts(after):
    # Until the subcommand is loaded the process is the interpreter's, which has words of its own for an interrupt.
    program = """
import sys
from punto.commands.cli import SUBCOMMANDS, main

class Tell:
    @staticmethod
    def find_spec(name, path, target=None):  # and have it found by those who do
        if name == SUBCOMMANDS["demo"].module:
            print("loading", flush=True)

sys.meta_path.insert(0, Tell)
sys.exit(main())
"""
    with started([sys.executable, "-c", program, "demo", *QUICK]) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "loading\n"
        time.sleep(after)
        process.send_signal(signal.SIGINT)
        _, noise = process.communicate(timeout=DEADLINE)

    assert process.returncode in {0, 130}
    assert noise == ""


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--game", "pontoon"], "there is no game 'pontoon'"),
        (["--game", "{twelve}"], "a virtual shoe cannot deal Mini Baccarat: decks is 12: write 1 to 8"),
        (["--pace", "-1"], "argument --pace: must be from 0 to 3600 seconds, not '-1'"),
        (["--between", "soon"], "argument --between: must be from 0 to 3600 seconds, not 'soon'"),
        (["--rounds", "0"], "argument --rounds: must be a whole number from 1, not '0'"),
        *(
            (
                [option, port],
                f"argument {option}: '{port}' is not a port: write 1 to 65535, or 0 for a free one",
            )
            for option in ("--port", "--console-port")
            for port in ("-1", "65536", "99999999", "1e4")
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_played_is_reported(arguments, told, tmp_path):
    twelve = tmp_path / "twelve.toml"
    own = (HERE / "configs" / "games" / "mini-baccarat.toml").read_text(encoding="utf-8")
    twelve.write_text(own.replace("decks = 8", "decks = 12"), encoding="utf-8")
    ran = punto("demo", *(each.format(twelve=twelve) for each in arguments))

    assert ran.returncode == 2
    assert told in ran.stderr


def test_a_procedure_is_refused_where_there_is_no_progressive():
    ran = punto("demo", "--procedure", "nexus", "--rounds", "1")

    assert ran.returncode == 2
    assert (
        "--procedure needs a progressive, which dragon-bonus-1 does not have: remove --procedure, or add --game progressive"
        in ran.stderr
    )


def test_the_progressive_is_a_game_of_the_demo():
    parser = argparse.ArgumentParser()
    add_arguments(parser)

    assert parser.parse_args(["--game", "progressive"]).game == "progressive-2"


TOLD = [
    ("my tools/punto", ".", "'./my tools/punto'"),
    ("../my tools/punto", "elsewhere", "'{tools}/punto'"),
    ("punto", "elsewhere", "punto"),
    (f"{HERE}/punto/__main__.py", HERE, f"{sys.executable} -m punto"),
]


def program(tools: Path) -> Path:
    """The command, where nobody has it."""
    tools.mkdir()
    found = tools / "punto"
    found.write_text(
        f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(HERE)!r})\n"
        "from punto.commands.cli import main\nsys.exit(main())\n",
        encoding="utf-8",
    )
    found.chmod(0o755)
    return found


@pytest.mark.parametrize(("begun", "where", "told"), TOLD)
def test_the_program_is_named_as_it_can_be_called_from_this_folder(begun, where, told, tmp_path, monkeypatch):
    folder = tmp_path / where
    folder.mkdir(exist_ok=True)
    tools = program(tmp_path / "my tools").parent
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin" if begun == "punto" else "/usr/bin:/bin")
    monkeypatch.setattr(sys, "argv", [f"{tools}/punto" if begun == "punto" else begun])
    command = this_program()
    ran = subprocess.run(
        ["/bin/sh", "-c", f"{command} --version"], check=False, capture_output=True, text=True
    )

    assert command == told.format(tools=tools)
    assert (ran.returncode, ran.stderr) == (0, "")


@pytest.mark.soak
def test_the_commands_that_it_prints_can_be_pasted(tmp_path):
    begun = program(tmp_path / "my tools")
    path = "/usr/bin:/bin"
    with started(
        [str(begun), "demo", *QUICK, "--dir", str(tmp_path / "kept here")], tmp_path, path
    ) as process:
        said = opened(process)
        orders = said.partition("orders ")[2].partition("\n")[0].strip()
        asked = subprocess.run(
            ["/bin/sh", "-c", orders],
            check=False,
            cwd=tmp_path,
            env={**os.environ, "PATH": path},
            input=f"{consoles_of(said)[0][1]}\n",
            capture_output=True,
            text=True,
        )

    assert orders.startswith("'./my tools/punto' operator --socket ")
    # The supervisor's name and password are good, whether or not the shoe can be changed at this moment.
    assert (asked.returncode, asked.stdout) == (0, "done\n") or asked.stderr.startswith("refused: not now: ")


def test_an_award_is_reported_though_nothing_is_returned_for_it_yet():
    settlements = [
        {"wager": wager, "stake": stake, "returned": returned, "net": returned - stake, "outcome": outcome}
        for wager, stake, returned, outcome in (
            ("progressive", 100, 0, "award"),
            ("progressive", 100, 0, "lose"),
            ("dragon", 500, 2000, "win"),
            ("player", 2500, 5000, "win"),
        )
    ]
    hands = {"player": ["9S", "KH"], "banker": ["KD", "KC"], "player_total": 9, "banker_total": 0}
    record = {"shoe": 1, "round": 7, **hands, "winner": "player", "settlements": settlements}

    line = round_line(record, ["dragon", "progressive", "other"], "USD")

    assert line.endswith(
        "4 wagers, staked 32.00, returned 70.00: dragon +15.00, progressive -2.00 and an award"
    )


@pytest.fixture(scope="module")
def played_before(tmp_path_factory):
    """The folder of a demo of two rounds."""
    folder = tmp_path_factory.mktemp("played") / "before"
    played("--rounds", "2", "--dir", folder)
    return folder


@pytest.fixture
def kept(played_before, tmp_path):
    return Path(copytree(played_before, tmp_path / "kept", ignore=ignore_patterns("shoe", "*.sock")))


def test_it_goes_on_with_the_record_that_it_kept(kept):
    ran = played("--rounds", "2", "--dir", kept)

    assert (ran.returncode, ran.stderr) == (0, "")
    assert rows(kept / "table.db", "SELECT max(round) FROM rounds")[0][0] >= 4
    assert len(rounds_of(ran.stdout)) == 2


def test_a_record_that_it_cannot_go_on_with_is_reported_in_the_words_of_the_service(kept):
    with edited(kept / "table.db") as connection:
        connection.execute("DROP TABLE inputs")
    ran = played("--rounds", "1", "--dir", kept)

    assert ran.returncode == 1
    assert "no such table: inputs" in ran.stderr
    assert ran.stderr.startswith("punto demo: ")
    assert ran.stderr.count("\n") == 1


def test_another_games_record_is_refused_in_mid_shoe(kept):
    ran = played("--rounds", "1", "--dir", kept, "--game", "mini-baccarat")

    assert ran.returncode == 1
    assert ran.stderr.startswith("punto demo: ")
    assert ran.stderr.count("\n") == 1


def test_a_folder_that_cannot_be_made_is_reported(tmp_path):
    (tmp_path / "file").touch()
    ran = played("--rounds", "1", "--dir", tmp_path / "file")

    assert (ran.returncode, ran.stderr) == (2, f"--dir: {tmp_path / 'file'}: File exists\n")


# --- a table with a progressive


def paid(record: Path) -> list[tuple[str, int]]:
    """Each tier that the meter has paid, in order, and how much in minor units."""
    query = "SELECT tier, -primary_meter / 1000000 FROM postings WHERE cause = 'award' ORDER BY input, place"
    return [(str(tier), int(amount)) for tier, amount in rows(record, query)]


def awarded(record: Path) -> list[tuple[int, str]]:
    """The round of each award that was paid, in order, and whether the meter or the tray paid it."""
    logged = rows(record, "SELECT record FROM progressive_log WHERE kind = 'award_booked' ORDER BY input")
    awards = [json.loads(entry)["award"] for (entry,) in logged]
    return [(award["round"], award["payer"]) for award in awards]


def of_meter(step: str, meter: int, award: dict[str, object] | None = None) -> dict[str, object]:
    return {"step": step, "seats": [1, 3], "meter": meter, "award": award, "currency": "USD"}


def test_a_progressive_is_reported_once_whatever_is_published_again():
    award = {"award": 7, "table": "t1", "amount": 250_060, "seats": [1, 3], "title": "All diamonds"}
    teller = MeterTeller("t1")
    told = [
        teller.lines(message)
        for message in (
            of_meter("betting", 1_000_000),
            of_meter("playing", 1_000_040),
            of_meter("playing", 1_000_040),
            of_meter("logged", 1_000_040, {**award, "state": "locked"}),
            of_meter("adjusted", 749_980, {**award, "state": "booked"}),
            of_meter("betting", 749_980, {**award, "state": "booked"}),
        )
    ]

    assert told == [
        [],
        ["    START GAME: wagers of 1 3 counted, the meter shows 10,000.40"],
        [],
        ["*** award 7, 2,500.60 for seats 1 and 3: All diamonds; logged"],
        [
            "*** award 7, 2,500.60 for seats 1 and 3: All diamonds; taken off the meter, which shows 7,499.80, and paid"
        ],
        [],
    ]


def test_an_award_from_before_the_demo_is_not_reported():
    award = {
        "table": "t1",
        "award": 7,
        "amount": 250_060,
        "seats": [1],
        "title": "All diamonds",
        "state": "booked",
    }

    assert MeterTeller("t1").lines(of_meter("betting", 749_980, award)) == []


PAYS_A_QUARTER = 4  # the round of the demo with the first hand that wins of the meter


def test_a_progressive_is_played_with_sensors_a_keypad_and_a_key_and_its_tiers_are_seen_soon(
    tmp_path, monkeypatch
):
    look = Players._look_at_table

    async def look_late(players, sender, state):
        if state["phase"] == "betting" and state["round"] != players._round:
            await asyncio.sleep(0.3)  # as on a busy machine, and the dealer waits
        await look(players, sender, state)

    take, starts = Concentrator._take, []

    def take_late(sensors, orders):
        # Longer than a START waits, so that it is refused and the lamps go dark.
        if orders.round == PAYS_A_QUARTER:
            starts.append(time.monotonic())
            if starts[-1] - starts[0] < 1.2 * START_SECONDS:
                orders = replace(orders, round=KEEP)
        take(sensors, orders)

    monkeypatch.setattr(Concentrator, "_take", take_late)
    monkeypatch.setattr(Players, "_look_at_table", look_late)
    ran = played("--rounds", "13", "--between", "0.02", "--game", "progressive-2", "--dir", tmp_path)
    record = tmp_path / "table.db"

    assert (ran.returncode, ran.stderr) == (0, "")
    (suited, quarter), (diamonds, all_of_it) = paid(record)
    assert (suited, diamonds) == ("two_three_four_suited", "two_three_four_diamonds")
    assert quarter == pytest.approx(250_000, rel=0.001)
    assert all_of_it == pytest.approx(750_000, rel=0.001)
    told = ran.stdout.splitlines()
    for amount in (quarter, all_of_it):
        assert any(
            line.startswith("*** award ") and f", {written(amount, 'USD')} for seat" in line for line in told
        )
    assert {payer for _, payer in awarded(record)} == {"tray", "meter"}
    sources = {source for (source,) in rows(record, "SELECT DISTINCT source FROM inputs")}
    assert {"coin spot", "keypad", "key switch", "shoe"} <= sources
    assert replay(record).difference is None
    assert audit(record).difference is None


@pytest.mark.soak
def test_a_progressive_of_nexus_command_is_played_at_consoles_with_a_card(tmp_path):
    nexus = ("--between", "0.02", "--game", "progressive-1-five-dollar", "--procedure", "nexus")
    ran = played("--rounds", "5", *nexus, "--dir", tmp_path)
    record = tmp_path / "table.db"

    assert (ran.returncode, ran.stderr) == (0, "")
    assert [tier for tier, _ in paid(record)] == ["two_three_four_suited"]
    swipes = rows(
        record, "SELECT payload FROM inputs WHERE source = 'card reader' AND payload LIKE '%swipe_card%'"
    )
    assert {json.loads(swipe)["who"] for (swipe,) in swipes} == {"demo-supervisor"}
    assert len(swipes) == len(awarded(record))
    assert "supervisor: swipe card: the award is logged and the meter adjusted" in ran.stdout
    assert replay(record).difference is None
    assert audit(record).difference is None


@pytest.mark.soak
def test_a_dealer_who_comes_to_a_hand_that_won_finds_out_who_did(tmp_path):
    kept = (*UNHURRIED, "--game", "progressive-2", "--dir", tmp_path, "--deal", "awards")
    won = rounds_of(played("--rounds", "1", *kept).stdout)[0]
    assert "and an award" in won
    assert awarded(tmp_path / "table.db") == []
    ran = played("--rounds", "2", *kept)

    assert (ran.returncode, ran.stderr) == (0, "")
    assert awarded(tmp_path / "table.db")[0] == (int(won.split()[3]), "meter")
    assert audit(tmp_path / "table.db").difference is None


@pytest.mark.parametrize(
    ("terminal", "desktop", "opened"), [(True, ":0", True), (True, "", False), (False, ":0", False)]
)
def test_the_display_is_opened_for_a_person_at_a_terminal_with_a_desktop(
    monkeypatch, terminal, desktop, opened
):
    addresses = Queue[str]()
    monkeypatch.setattr("webbrowser.open", addresses.put)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal)
    monkeypatch.setenv("DISPLAY", desktop)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)

    open_browser("http://127.0.0.1:8080/")

    if opened:
        assert addresses.get(timeout=DEADLINE) == "http://127.0.0.1:8080/"
    assert addresses.empty()


# --- the players


def players_at(game: Game, seed: int = 3) -> Players:
    return Players(PlayersOptions(broker=BrokerConfig(), table="t", game=game, seats=(1,), seed=seed))


@pytest.mark.parametrize(
    ("minimum", "maximum", "step"),
    [
        (1, None, 1),
        (500, 50_000, 500),
        (2500, 500_000, 100),
        (30_100, None, 700),
        (50_000, 50_000, 50_000),
        (6, 15, 3),
    ],
)
def test_players_wager_what_the_table_takes(minimum, maximum, step):
    game = load_game("canberra")
    limits = Limits(minimum=minimum, maximum=maximum, step=step)
    players = players_at(replace(game, wagers=tuple(replace(wager, limits=limits) for wager in game.wagers)))
    for _ in range(300):
        for placed in players._choose(1):
            assert minimum <= placed.amount <= (maximum or placed.amount)
            assert placed.amount % step == 0


@pytest.mark.parametrize("name", shipped_games())
def test_players_make_every_kind_of_wager_and_what_they_make_stands_together(name):
    game = load_game(name)
    players = players_at(game)
    made = set()
    for _ in range(300):
        chosen = players._choose(2)
        made |= {placed.wager for placed in chosen}
        # The table hears of one wager after the other.
        for count in range(len(chosen)):
            check_wagers(game, chosen[: count + 1])

    assert made == {wager.name for wager in game.wagers}


def test_players_now_and_then_wager_nothing():
    players = players_at(load_game("mini-baccarat"))

    assert {bool(players._choose(1)) for _ in range(100)} == {True, False}


def test_a_port_that_is_taken_in_the_last_moment_is_reported_in_a_line(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        monkeypatch.setattr(configuration, "is_free", lambda port: True)
        done = punto("demo", "--rounds", "1", "--port", "0", "--console-port", str(port))

    assert done.returncode != 0
    assert (
        done.stderr
        == f"console.port: cannot listen on 127.0.0.1 port {port}: Address already in use; name another\n"
    )
