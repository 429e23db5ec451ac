"""`punto edge-report`: the same edges as the odds of what is left, drawn so that nobody is misled."""

import csv
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from punto.baccarat.cards import Card
from punto.baccarat.coup import Coup
from punto.baccarat.table.events import CardOverdrawn
from punto.baccarat.table.order_kinds import ResumePlay, VoidCoup
from punto.baccarat.wagers.definition import Game
from punto.commands.cli import main
from punto.commands.edge_report import Series, Shoe, draw
from punto.configs.game_files import load_game
from punto.odds.composition import Composition
from punto.odds.exact import GameOdds
from punto.simulators.shoe.shuffle import shuffled
from tests.controller.table_in_this_process import settings, table
from tests.deadline import DEADLINE

REPOSITORY = Path(__file__).parents[2]
ORDER = shuffled("report", 1, 8)
BURN, REST = ORDER[:5], ORDER[5:]


@cache
def coups(count: int) -> tuple[Coup, ...]:
    found = []
    cards = list(REST)
    for _ in range(count):
        coup = Coup()
        while not coup.over:
            coup = coup.with_card(cards.pop(0))
        found.append(coup)
    return tuple(found)


def lines(dealt: Sequence[Coup], *first: dict[str, Any]) -> str:
    told = [*first, *({"cards": coup.cards} for coup in dealt)]
    return "".join(f"{json.dumps(each)}\n" for each in told)


@cache
def odds(game: Game) -> GameOdds:
    return GameOdds(game)


def exact(game: Game, seen: Sequence[Card]) -> dict[str, float]:
    left = Composition.of_decks(game.decks).without(seen)
    return {name: float(figures.edge) for name, figures in odds(game).odds(left).items()}


@pytest.fixture
def shoe(tmp_path: Path) -> Path:
    path = tmp_path / "evening.jsonl"
    path.write_text(lines(coups(60), {"burn": BURN}), encoding="utf-8")
    return path


@pytest.fixture
def report(capsys):
    """Run the command with these arguments: status, standard output, standard error."""

    def run(*arguments: str | Path) -> tuple[int, str, str]:
        capsys.readouterr()  # what a table in this process has logged
        try:
            status = main(["edge-report", *map(str, arguments)])
        except SystemExit as ended:
            status = int(ended.code or 0)
        out, err = capsys.readouterr()
        return status, out, err

    return run


# --- the figures


@pytest.mark.parametrize("game", ["dragon-bonus-1", "progressive-1"])
def test_the_figures_are_the_odds_of_what_is_left_after_each_coup(game, shoe, report):
    status, out, _ = report(shoe, "--game", game, "--json")
    figures = json.loads(out)

    assert status == 0
    assert (figures["game"], figures["decks"], figures["shoe"]) == (game, 8, "evening.jsonl")
    assert figures["alarm"] == 0.01
    assert [each["coup"] for each in figures["coups"]] == list(range(61))
    seen = list(BURN)
    for point, coup in zip(figures["coups"], [*coups(60), None], strict=True):
        expected = exact(load_game(game), seen)
        assert point["cards_not_seen"] == 416 - len(seen)
        assert point["edges"] == pytest.approx(expected, abs=1e-12)
        assert list(point["edges"]) == list(expected)
        seen += coup.cards if coup else ()


def test_what_punto_score_reads_is_read_and_a_burn_anywhere(tmp_path, report):
    first, second = coups(2)
    path = tmp_path / "shoe"
    wager = {"seat": 1, "wager": "player", "amount": 2500}
    path.write_text(
        f"{json.dumps({'id': 'r1', 'cards': first.cards, 'wagers': [wager]})}\n\n"
        f"{json.dumps({'burn': ORDER[100:102]})}\n{json.dumps({'id': 'r2', 'cards': second.cards})}"
    )
    _, out, _ = report(path, "--game", "mini-baccarat", "--json")
    points = json.loads(out)["coups"]

    assert [(each["coup"], each["cards_not_seen"]) for each in points] == [
        (0, 416),
        (1, 414 - len(first.cards)),
        (2, 414 - len(first.cards) - len(second.cards)),
    ]


@pytest.fixture(scope="module")
def simulated(tmp_path_factory) -> Path:
    """The file of some shoes of six decks that `punto simulate` wrote."""
    path: Path = tmp_path_factory.mktemp("simulated") / "rounds.csv"
    what = ["--game", "dragon-bonus-1", "--decks", "6", "--rounds", "200", "--shoes", "--csv", str(path)]
    assert main(["simulate", *what]) == 0
    return path


@pytest.mark.parametrize("number", [1, 2, 4])
def test_a_shoe_of_a_file_of_simulated_rounds_is_read(simulated, report, number):
    status, out, err = report(
        simulated, "--game", "dragon-bonus-1", "--decks", "6", "--shoe", str(number), "--json"
    )
    figures = json.loads(out)
    with simulated.open(encoding="utf-8") as file:
        dealt = [row["cards"].split() for row in csv.DictReader(file) if row["shoe"] == str(number)]
    game = replace(load_game("dragon-bonus-1"), decks=6)

    assert (status, err) == (0, "")
    assert (figures["decks"], figures["shoe"]) == (6, f"shoe {number} of rounds.csv")
    assert [each["coup"] for each in figures["coups"]] == list(range(len(dealt) + 1))
    for coup in (0, 1, len(dealt)):
        seen = [Card(card) for cards in dealt[:coup] for card in cards]
        assert figures["coups"][coup]["edges"] == pytest.approx(exact(game, seen), abs=1e-12)


def test_a_file_of_one_simulated_shoe_needs_no_number(tmp_path, simulated, report):
    path = tmp_path / "one.csv"
    first = [line for line in simulated.read_text().splitlines() if line.startswith(('"shoe"', "1,"))]
    path.write_text("\n".join(first))

    assert report(path, "--game", "dragon-bonus-1", "--decks", "6", "--json")[0] == 0


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (
            [],
            "rounds.csv: the file has several shoes: add --shoe with the number of a shoe; the first shoe has the number 1\n",
        ),
        (["--shoe", "5"], "rounds.csv: there is no shoe 5 in this file; the last shoe has the number 4\n"),
        (["--shoe", "0"], "rounds.csv: there is no shoe 0 in this file; the first shoe has the number 1\n"),
    ],
)
def test_of_several_simulated_shoes_one_must_be_chosen(simulated, report, more, said):
    status, out, err = report(simulated, "--game", "dragon-bonus-1", "--json", *more)

    assert (status, out) == (2, "")
    assert err.endswith(said)


def test_a_file_without_a_simulated_round_is_reported(tmp_path, report):
    path = tmp_path / "rounds.csv"
    path.write_text('"shoe","round","cards"\n')

    assert (
        report(path, "--game", "mini-baccarat", "--json", "--shoe", "1")[2]
        == f"{path}: the file has no coups\n"
    )


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("x,1,2", "rounds.csv:2: the line must begin with the number of the shoe, not 'x'"),
        ("1,1", "rounds.csv:2: the line has no cards"),
        ('1,1,"9S KX"', 'rounds.csv:2: "KX" is not a card'),
        ('1,1,"9S KD"', "rounds.csv:2: "),
    ],
)
def test_a_line_of_simulated_rounds_that_cannot_be_used_is_named(tmp_path, report, line, said):
    path = tmp_path / "rounds.csv"
    path.write_text(f'"shoe","round","cards"\n{line}\n')
    status, out, err = report(path, "--game", "mini-baccarat", "--json")

    assert (status, out) == (1, "")
    assert said in err


@pytest.mark.soak
def test_it_reads_standard_input_and_a_pipe():
    command = [sys.executable, "-m", "punto", "edge-report"]
    written = lines(coups(3))
    told = [
        subprocess.run(
            [*command, where, "--game", "mini-baccarat", "--json"],
            cwd=REPOSITORY,
            input=written,
            check=True,
            capture_output=True,
            text=True,
            timeout=DEADLINE,
        ).stdout
        for where in ("-", "/dev/stdin")
    ]

    assert [json.loads(each)["shoe"] for each in told] == ["standard input", "stdin"]
    assert json.loads(told[0])["coups"] == json.loads(told[1])["coups"]


def test_a_shoe_that_is_dealt_out_ends_where_no_coup_could_follow(tmp_path, report):
    cards = [card for card in Card if card.points not in {8, 9}]
    path = tmp_path / "shoe"
    dealt = []
    while len(cards) >= 6:
        coup = Coup()
        while not coup.over:
            coup = coup.with_card(cards.pop())
        dealt.append(coup)
    burn = {"burn": [card for card in Card if card.points in {8, 9}]}
    path.write_text(lines(dealt, burn))
    game = (REPOSITORY / "configs" / "games" / "mini-baccarat.toml").read_text(encoding="utf-8")
    (tmp_path / "own.toml").write_text(game.replace("decks = 8", "decks = 1"))
    status, out, _ = report(path, "--game", tmp_path / "own.toml", "--json")
    left = [each["cards_not_seen"] for each in json.loads(out)["coups"]]

    assert status == 0
    assert min(left) >= 6
    assert len(cards) < 6
    assert len(left) == len(dealt)  # before the first, and after each but the last


# --- a record


async def test_a_record_has_its_game_and_gives_what_the_service_knew(tmp_path, report):
    record = tmp_path / "table.db"
    async with table(record, settings("dragon-bonus-2", burn="fixed", burn_cards=2)) as here:
        await here.begin_shoe()
        await here.draw(2)
        await here.play(6)
        first = shuffled("service", 1, 8)[: 416 - len(here._cards)]
        await here.begin_shoe()
        await here.draw(2)
        await here.play(1)
        await here.draw(2)
        await here.order(VoidCoup("bob", "misdeal"))
        await here.play(2)
        await here.draw(3)  # in the middle of a coup, and the service runs
        seen = shuffled("service", 2, 8)[: 416 - len(here._cards)]
        before = json.loads(report(record, "--shoe", "1", "--json")[1])
        status, out, _ = report(record, "--shoe", "2", "--json")
        own = here.state.settings.game
    figures = json.loads(out)
    before_coups = [416 - each["cards_not_seen"] for each in figures["coups"]]

    assert status == 0
    assert (figures["game"], figures["shoe"]) == ("dragon-bonus-2", "shoe 2 of Baccarat 1")
    assert [each["coup"] for each in figures["coups"]] == [0, 1, 2, 3, 4]
    assert (before_coups[0], before_coups[2] - before_coups[1], before_coups[4]) == (2, 2, len(seen) - 3)
    assert before["shoe"] == "shoe 1 of Baccarat 1"
    assert [each["coup"] for each in before["coups"]] == list(range(7))
    assert before["coups"][6]["edges"] == pytest.approx(exact(own, first), abs=1e-12)
    for point, out_ in zip(figures["coups"], before_coups, strict=True):
        assert point["edges"] == pytest.approx(exact(own, seen[:out_]), abs=1e-12)


async def test_a_coup_that_began_with_a_card_drawn_too_soon_is_left_out(tmp_path, report):
    record = tmp_path / "table.db"
    async with table(record, settings("mini-baccarat", overdraw="next_coup")) as here:
        await here.begin_shoe()
        await here.play(1)
        await here.shoe(CardOverdrawn(here.state.link.expected, here._cards.pop(0), 99))
        await here.order(ResumePlay("bob", "seen to"))
        await here.play(1)
    _, out, _ = report(record, "--json")

    # What was known before the overdraw is not what the coup was dealt from.
    assert [each["coup"] for each in json.loads(out)["coups"]] == [0, 2]


async def test_what_is_wrong_with_a_record_is_reported(tmp_path, report):
    record = tmp_path / "table.db"
    async with table(record, settings("mini-baccarat", burn="fixed", burn_cards=9)) as here:
        none = report(record, "--json")
        await here.begin_shoe()
        for _ in range(9):
            await here.do("draw 9S")
        await here.play(1)
        await here.journal.rounds_after(0, 1)  # and now it is in the table of rounds
        surplus = report(record, "--json")
        await here.begin_shoe()
        await here.draw(9)
        await here.play(1)
        await here.journal.rounds_after(0, 1)
        which = report(record, "--json")
        other = report(record, "--shoe", "3", "--json")
        own = report(record, "--shoe", "2", "--game", "mini-baccarat", "--json")
    (tmp_path / "other.db").write_bytes(b"SQLite format 3\0 and then nothing of the kind")
    whole = record.read_bytes()
    (tmp_path / "torn.db").write_bytes(whole[:4096] + bytes(len(whole) - 4096))
    damaged = [report(tmp_path / name, "--json") for name in ("other.db", "torn.db")]

    assert none == (2, "", f"{record}: the shoe is missing: write --shoe N; the record has no coups\n")
    assert surplus == (
        1,
        "",
        f"{record}: shoe 1: 9S cannot be removed: all 8 copies are already removed\n",
    )
    assert which == (
        2,
        "",
        f"{record}: the shoe is missing: write --shoe N; the shoes of the record are 1 to 2\n",
    )
    assert other == (
        2,
        "",
        f"{record}: there is no shoe 3 in this record; the shoes of the record are 1 to 2\n",
    )
    assert own == (2, "", f"{record}: a record includes its game: remove --game\n")
    assert [(status, out) for status, out, _ in damaged] == [(1, ""), (1, "")]
    assert [err.splitlines()[0][:20] for _, _, err in damaged] == [
        f"cannot read {tmp_path}"[:20],
        "the record cannot be",
    ]


# --- which wagers


@pytest.mark.parametrize(
    ("wanted", "positions"),
    [
        ("tie", ["tie"]),
        ("tie,player", ["tie", "player"]),
        ("tie,tie", ["tie"]),
        ("progressive", ["progressive:player", "progressive:banker", "progressive:player+banker"]),
        ("progressive:banker,banker", ["progressive:banker", "banker"]),
    ],
)
def test_only_the_wagers_that_are_asked_for(wanted, positions, tmp_path, report):
    path = tmp_path / "shoe"
    path.write_text(lines(coups(1)))
    _, out, _ = report(path, "--game", "progressive-1", "--wagers", wanted, "--json")
    expected = exact(load_game("progressive-1"), [])

    assert json.loads(out)["coups"][0]["edges"] == pytest.approx(
        {name: expected[name] for name in positions}, abs=1e-12
    )
    assert list(json.loads(out)["coups"][0]["edges"]) == positions


# --- what is wrong


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "shoe: the file has no coups"),
        ('{"burn":["9S"]}\n', "shoe: the file has no coups"),
        ("{}\n", 'shoe:1: the key "cards" is missing'),
        ("\n[]\n", "shoe:2: the line is not a JSON object: write {...}"),
        ('{"cards":["9S","KD","3H"]}', "shoe:1: 3 cards do not finish a coup"),
        ('{"cards":["10S"]}', 'shoe:1: "10S" is not a card: write rank A23456789TJQK, then suit SHDC'),
        ('{"burn":["9S"],"cards":[]}', 'shoe:1: unknown key "cards"; there are burn'),
        ('{"burn":9}', "shoe:1: cards must be a list of cards"),
        ('{"card":["9S"]}', 'shoe:1: unknown key "card" (did you mean "cards"?)'),
        (
            '{"cards":["9S","KD","9S","KD"]}\n' * 4
            + '{"burn":["KS"]}\n'
            + '{"cards":["9S","KD","3H","4C","8D"]}\n',
            "shoe:6: up to this line, 9S was dealt 9 times, but a shoe of 8 decks has it 8 times",
        ),
        ('{"burn":["KS","KS","KS","KS","KS","KS","KS","KS","KS"]}', "shoe:1: KS occurs 9 times"),
    ],
)
def test_a_line_that_cannot_be_used_is_reported_by_its_number(content, said, tmp_path, report):
    path = tmp_path / "shoe"
    path.write_text(content)
    status, out, err = report(path, "--game", "mini-baccarat", "--json")

    assert (status, out) == (1, "")
    assert err.startswith(f"{tmp_path}/{said}")
    assert "Traceback" not in err


def test_all_lines_that_cannot_be_used_are_reported(tmp_path, report):
    path = tmp_path / "shoe"
    path.write_text('{"cards":[]}\n{"cards":["9S","KD","9H","KD"]}\n{}\n')
    _, _, err = report(path, "--game", "mini-baccarat", "--json")

    assert [line.removeprefix(f"{path}:").partition(":")[0] for line in err.splitlines()] == ["1", "3"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["SHOE", "--game", "mini-baccarat"], "the output is missing: add --out FILE or --json, or both"),
        (["SHOE", "--json"], "the game is missing: add --game FILE"),
        (["SHOE", "--game", "mini-bacarat", "--json"], "did you mean mini-baccarat?"),
        (["SHOE", "--game", "no/such.toml", "--json"], "there is no game file no/such.toml"),
        (["SHOE", "--game", "mini-baccarat", "--shoe", "1", "--json"], "this file has only one shoe: remove --shoe"),
        (["SHOE", "--game", "mini-baccarat", "--wagers", "tye", "--json"], "did you mean tie?"),
        (["SHOE", "--game", "mini-baccarat", "--wagers", "tie,", "--json"], "no wager ''"),
        (["SHOE", "--game", "mini-baccarat", "--out", "a.pdf"], "a.pdf is not a drawing: write a name that ends in .png or .svg"),
        (["SHOE", "--game", "mini-baccarat", "--alarm", "1", "--json"], "'1' is not a percentage"),
    ],
)  # fmt: skip
def test_a_call_that_cannot_begin_says_what_to_do(arguments, said, shoe, report):
    status, out, err = report(*[shoe if each == "SHOE" else each for each in arguments])

    assert (status, out) == (2, "")
    assert said in err
    assert "Traceback" not in err


def test_files_that_cannot_be_opened_are_named(shoe, tmp_path, report):
    nowhere = tmp_path / "no" / "such.png"

    assert report(tmp_path / "gone", "--game", "mini-baccarat", "--json") == (
        1,
        "",
        f"{tmp_path}/gone: cannot be read: No such file or directory\n",
    )
    assert (
        report(tmp_path, "--game", "mini-baccarat", "--json")[2]
        == f"{tmp_path}: cannot be read: Is a directory\n"
    )
    assert report(shoe, "--game", "mini-baccarat", "--out", nowhere) == (
        1,
        "",
        f"{nowhere}: cannot be written: No such file or directory\n",
    )


@pytest.mark.soak
def test_a_drawing_is_written_whole_or_not_at_all(shoe, tmp_path, report):
    full = tmp_path / "full.svg"
    full.symlink_to("/dev/full")
    folder = tmp_path / "folder.svg"
    folder.mkdir()
    before = sorted(tmp_path.iterdir())
    drawn = [report(shoe, "--game", "mini-baccarat", "--out", path) for path in (full, folder)]

    assert drawn == [
        (1, "", f"{full}: cannot be written: it is a link: name a file\n"),
        (1, "", f"{folder}: cannot be written: Is a directory\n"),
    ]
    assert sorted(tmp_path.iterdir()) == before
    resource = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000)); "
        "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        "from punto.commands.cli import main; sys.exit(main())"
    )
    out = tmp_path / "new.svg"
    ran = subprocess.run(
        [sys.executable, "-c", resource, "edge-report", shoe, "--game", "mini-baccarat", "--out", out],
        check=False,
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        cwd=REPOSITORY,
    )

    assert (ran.returncode, ran.stderr) == (1, f"{out}: cannot be written: File too large\n")
    assert sorted(tmp_path.iterdir()) == before


def test_a_drawing_does_not_go_where_a_link_leads(shoe, tmp_path, report):
    link = tmp_path / "link.svg"
    link.symlink_to(tmp_path / "drawn.svg")

    assert report(shoe, "--game", "mini-baccarat", "--out", link) == (
        1,
        "",
        f"{link}: cannot be written: it is a link: name a file\n",
    )
    assert not (tmp_path / "drawn.svg").exists()


def test_without_matplotlib_the_extra_is_named(tmp_path):
    (tmp_path / "matplotlib.py").write_text("raise ModuleNotFoundError('gone', name='matplotlib')")
    ran = subprocess.run(
        [sys.executable, "-m", "punto.commands.cli", "edge-report", "--help"],
        check=False,
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(REPOSITORY)])},
    )

    assert ran.returncode == 2
    assert ran.stderr == "punto edge-report needs matplotlib, which is not installed: install punto[lab]\n"


# --- the drawing


def test_the_drawing_is_a_picture_of_its_suffix_and_the_same_each_time(shoe, tmp_path, report):
    for name in ("a.png", "b.png", "a.svg", "b.svg"):
        assert report(shoe, "--game", "dragon-bonus-1", "--out", tmp_path / name) == (0, "", "")
    written = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    assert written["a.png"].startswith(b"\x89PNG\r\n")
    assert ET.fromstring(written["a.svg"]).tag == "{http://www.w3.org/2000/svg}svg"  # noqa: S314 - our own
    assert written["a.png"] == written["b.png"]
    assert written["a.svg"] == written["b.svg"]


def test_the_drawing_says_what_it_shows(shoe, tmp_path, report):
    report(shoe, "--game", "dragon-bonus-1", "--alarm", "2.5%", "--out", tmp_path / "a.svg")
    found = ET.fromstring((tmp_path / "a.svg").read_text(encoding="utf-8"))  # noqa: S314 - our own
    texts = ["".join(each.itertext()).strip() for each in found.iter("{http://www.w3.org/2000/svg}text")]

    assert "Mini Baccarat, Dragon Bonus 1: the house's edge over a shoe" in texts
    assert "evening.jsonl, 8 decks" in texts
    assert {"coups dealt from the shoe", "house edge, per unit staked", "favours the players"} <= set(texts)
    assert "alarm: 2.5% to the players" in texts
    wagers = [text.split("  ")[0] for text in texts if "  " in text]
    assert wagers == ["player", "banker", "tie", "dragon_bonus_player", "dragon_bonus_banker"]


def drawn(edges: list[list[float]], alarm: Fraction = Fraction(1, 100)) -> Any:
    """The drawing of these edges, a row a coup, of wagers a, b, …"""
    game = replace(load_game("mini-baccarat"), title="A game")
    full = Composition.of_decks(8)
    shoe = Shoe(game, "a shoe", dict.fromkeys(range(len(edges)), full))
    return draw(shoe, Series("abcdefghijklmnopqrstuvwxyz"[: len(edges[0])], np.array(edges)), alarm)


def test_every_line_is_its_edges_in_percent():
    (axes,) = drawn([[0.01, -0.03], [0.02, -0.011], [0.03, 0.05]]).axes
    lines_ = {
        line.get_label(): line.get_ydata().tolist() for line in axes.lines if len(line.get_ydata()) == 3
    }

    assert lines_ == {
        "a  1.00%": [1, 2, 3],
        "b  \N{MINUS SIGN}3.00%": [-3, pytest.approx(-1.1), 5],
    }


def test_zero_the_alarm_and_all_lines_are_within_the_axes():
    for edges in ([[0.5, 0.6], [0.5, 0.6]], [[-0.5, -0.6], [-0.4, -0.3]], [[0.001], [0.002]]):
        axes = drawn(edges, Fraction(2, 100)).axes[0]
        bottom, top = axes.get_ylim()

        assert bottom < -2 < 0 < top
        assert bottom < 100 * np.min(edges)
        assert top > 100 * np.max(edges)


def test_what_favours_the_players_is_shaded_and_beyond_the_alarm_marked():
    (axes,) = drawn([[0.01], [-0.005], [-0.01], [-0.02]]).axes
    (shade,) = [patch for patch in axes.patches if patch.get_label() == "favours the players"]
    (dots,) = axes.collections
    (alarm,) = [line for line in axes.lines if str(line.get_label()).startswith("alarm")]

    assert (shade.get_y(), shade.get_y() + shade.get_height()) == (axes.get_ylim()[0], 0)
    assert list(alarm.get_ydata()) == [-1, -1]
    assert dots.get_offsets().tolist() == [[3, -2]]


def test_wagers_with_the_same_edge_share_a_line():
    (axes,) = drawn([[0.01, 0.02, 0.01], [0.03, 0.01, 0.03]]).axes
    labels = [str(line.get_label()).split("  ")[0] for line in axes.lines if len(line.get_ydata()) == 2]

    assert labels[:2] == ["a = c", "b"]


def test_where_one_wager_moves_far_the_others_are_drawn_near_zero_too():
    (whole, near) = drawn([[0.05, 0.01], [-0.9, 0.02]]).axes

    assert whole.get_ylim()[0] < -90
    assert -12 < near.get_ylim()[0] < -10
    assert 10 < near.get_ylim()[1] < 12
    assert [line.get_ydata().tolist() for line in whole.lines[:2]] == [
        line.get_ydata().tolist() for line in near.lines[:2]
    ]


def test_many_wagers_can_be_told_apart():
    (axes,) = drawn([[n / 100 for n in range(24)]] * 2).axes
    looks = [(line.get_color(), line.get_linestyle()) for line in axes.lines[:24]]

    assert len(set(looks)) == 24


def test_only_the_first_hundred_wrong_lines_of_a_file_are_read(tmp_path, report):
    path = tmp_path / "shoe"
    path.write_text("{}\n" * 1000)
    status, out, err = report(path, "--game", "mini-baccarat", "--json")

    assert (status, out) == (1, "")
    assert err.splitlines()[99] == f'{path}:100: the key "cards" is missing'
    assert err.splitlines()[100:] == [f"{path}: there may be more: the rest of the file was not read"]
