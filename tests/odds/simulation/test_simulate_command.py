"""`punto simulate`: what it prints, keeps and refuses, and what is loaded for it."""

import csv
import json
import math
import os
import pty
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path

import pyarrow.csv
import pyarrow.parquet
import pytest

from punto.baccarat.cards import Card
from punto.baccarat.coup import Coup
from punto.commands.cli import main
from punto.configs.game_files import load_game
from punto.odds.composition import Composition
from punto.odds.exact import GameOdds, positions
from tests.deadline import DEADLINE
from tests.share import sampled, soaked

PUNTO = [sys.executable, "-m", "punto", "simulate"]


@pytest.fixture
def punto(capsys):
    """Run `punto simulate` with these arguments: status, standard output, standard error."""

    def run(*arguments):
        try:
            status = main(["simulate", *map(str, arguments)])
        except SystemExit as ended:
            status = int(ended.code or 0)
        out, err = capsys.readouterr()
        return status, out, err

    return run


def asked(*more, game="dragon-bonus-1", rounds=20_000, seed=1):
    return ("--game", game, "--rounds", rounds, "--seed", seed, *more)


# --- what is printed


def test_the_answer_says_what_was_dealt_and_how_to_have_it_again(punto):
    status, out, err = punto(*asked(rounds=1_000_000))
    lines = out.splitlines()

    assert (status, err) == (0, "")
    assert lines[:4] == [
        "Mini Baccarat, Dragon Bonus 1 (dragon-bonus-1; source: 000, 001, 002, 004)",
        "8 decks, 1,000,000 rounds, each from a full shoe freshly shuffled",
        "seed 1: PCG64DXSM(SeedSequence(1, spawn_key=(i,))) for block i of 262144 rounds",
        "standard errors from the variance of the rounds",
    ]


@pytest.mark.parametrize("written", sampled(["1e4", "1E4", "1.0e4", "10_000", "1_0e3", "+10000"], one_in=6))
def test_a_number_of_rounds_may_be_written_as_people_write_large_ones(punto, written):
    assert punto(*asked(rounds=written)) == punto(*asked(rounds=10_000))


def test_a_game_is_enough(punto):
    status, out, err = punto("--game", "mini-baccarat")

    assert (status, err) == (0, "")
    assert out == punto(*asked(game="mini-baccarat", rounds=1_000_000, seed=1))[1]


def test_one_round_of_one_shoe_is_singular(punto):
    assert "1 round of 1 shoe (" in punto(*asked("--shoes", rounds=1))[1]


def test_whole_shoes_are_said_to_be_such_with_the_rules_they_were_dealt_by(punto):
    _, out, _ = punto(*asked("--shoes", "--decks", 6, "--burn", 4, rounds=100_000))
    lines = out.splitlines()

    assert lines[1].startswith("6 decks, 100,000 rounds of 1,6")
    assert lines[1].endswith(" shoes (burn 4; cut card 14 from the end, then 1 more coup)")
    assert lines[2] == "seed 1: PCG64DXSM(SeedSequence(1, spawn_key=(i,))) for block i of 4096 shoes"
    assert lines[3].startswith("standard errors from the sums of 10")


def test_the_columns_of_the_tables_stand_below_each_other(punto):
    _, out, _ = punto(*asked(game="progressive-2", rounds=30_000))
    tables = [part for part in out.split("\n\n") if part.startswith("wager")]

    assert len(tables) == 2
    for table in tables:
        lengths = {len(line) for line in table.strip().splitlines()}
        assert len(lengths) == 1


def test_a_rule_that_never_decided_is_no_number_of_sigmas_away(punto):
    _, out, _ = punto(*asked(game="progressive-2", rounds=100))

    line = next(line for line in out.splitlines() if "two_three_four_diamonds" in line)
    assert line.endswith(" -")


def test_a_meter_is_at_its_average_top_award_as_it_is_in_the_exact_odds(punto):
    _, text, _ = punto(*asked(game="progressive-3", rounds=100))
    _, out, _ = punto(*asked("--json", game="progressive-3", rounds=100))
    awards = GameOdds(load_game("progressive-3")).average_top_awards()
    wagers = json.loads(out)["wagers"]

    assert {name for name, wager in wagers.items() if "average_top_award" in wager} == set(awards)
    for name, award in awards.items():
        assert wagers[name]["average_top_award"] == float(award)
        assert f"{name}: its meter at the average top award, {float(award):,.0f} minor units\n" in text


def test_a_wager_whose_rare_awards_have_not_come_is_not_left_to_look_refuted(punto):
    _, text, _ = punto(*asked("--shoes", game="progressive-3", rounds=100_000))
    _, out, _ = punto(*asked("--shoes", "--json", game="progressive-3", rounds=100_000))
    wagers = json.loads(out)["wagers"]
    odds = GameOdds(load_game("progressive-3")).odds(Composition.of_decks(8))
    told = {
        line.partition(": the sigmas are not reliable, ")[::2]
        for line in text.splitlines()
        if "not reliable" in line
    }

    assert {name for name, _ in told} == {
        "progressive:player",
        "progressive:banker",
        "progressive:player+banker",
    }
    for name, words in told:
        edge = wagers[name]["edge"]
        error = math.sqrt(odds[name].variance / 100_000)
        off = (edge["simulated"] - edge["exact"]) / error
        assert abs(edge["sigmas"]) > 10
        assert abs(off) < 2
        assert edge["exact_standard_error"] == pytest.approx(error)
        assert words.endswith(
            f"the standard error is {100 * error:.6f}%, and the deviation {off:+.2f} sigmas"
        )


def test_nothing_is_said_of_a_wager_whose_awards_are_not_rare(punto):
    _, text, _ = punto(*asked("--shoes", rounds=100_000))

    assert "not reliable" not in text


def test_json_has_the_same_figures(punto):
    _, text, _ = punto(*asked())
    _, out, _ = punto(*asked("--json"))
    found = json.loads(out)

    assert {
        key: found[key] for key in ("game", "decks", "rounds", "shoes", "seed", "generator", "batches")
    } == {
        "game": "dragon-bonus-1",
        "decks": 8,
        "rounds": 20_000,
        "shoes": None,
        "seed": 1,
        "generator": "PCG64DXSM",
        "batches": 20_000,
    }
    assert list(found["wagers"]) == [each.name for each in positions(load_game("dragon-bonus-1"))]
    for name, wager in found["wagers"].items():
        assert sum(rule["count"] for rule in wager["rules"].values()) == 20_000
        for figure in (wager["edge"], *wager["rules"].values()):
            assert figure["sigmas"] == (figure["simulated"] - figure["exact"]) / figure["standard_error"]
        edge = wager["edge"]
        assert (
            f"{name:<19}  {100 * edge['simulated']:>11.6f}%  {100 * edge['standard_error']:>10.6f}%  "
            f"{100 * edge['exact']:>11.6f}%  {edge['sigmas']:>+7.2f}"
        ) in text.splitlines()


def test_json_says_how_shoes_were_played(punto):
    _, out, _ = punto(*asked("--json", "--shoes", "--cut-card", 20, "--burn-ace", 11))
    found = json.loads(out)

    assert found["shoes"] == {
        "count": found["batches"] * 16 - 15 + (found["shoes"]["count"] - 1) % 16,
        "burn": "first_card",
        "burn_ace": 11,
        "cut_card": 20,
        "coups_after_cut_card": 1,
    }


def test_a_shoe_is_of_as_many_decks_as_the_game_says_unless_it_is_asked_otherwise(punto):
    own = json.loads(punto(*asked("--json"))[1])
    eight = json.loads(punto(*asked("--json", "--decks", 8))[1])
    one = json.loads(punto(*asked("--json", "--decks", 1))[1])

    assert own == eight
    assert one["wagers"]["tie"]["edge"]["exact"] != own["wagers"]["tie"]["edge"]["exact"]


@pytest.mark.parametrize("shoes", [(), ("--shoes",)])
def test_the_answer_is_the_same_to_the_letter_whatever_the_number_of_jobs(punto, shoes):
    answers = {punto(*asked("--jobs", jobs, *shoes, game="side-wagers", rounds=600_000)) for jobs in (1, 3)}

    assert len(answers) == 1


# --- what is kept


def names_in(folder):
    return [path.name for path in folder.iterdir()]


def read(path):
    if path.suffix == ".csv":
        with path.open(newline="") as file:
            return [
                {
                    k: int(v) if k in {"shoe", "round", "player_total", "banker_total"} else v
                    for k, v in row.items()
                }
                for row in csv.DictReader(file)
            ]
    return pyarrow.parquet.read_table(path).to_pylist()


@pytest.mark.parametrize(
    ("form", "shoes"),
    [("parquet", ()), *soaked(("csv", ("--shoes",)), ("csv", ()), ("parquet", ("--shoes",)))],
)
def test_the_file_has_every_round_that_was_counted(punto, tmp_path, form, shoes):
    path = tmp_path / f"rounds.{form}"
    game = load_game("progressive-3")

    status, out, err = punto(*asked("--json", f"--{form}", path, *shoes, game="progressive-3", rounds=8_000))
    found, rows = json.loads(out), read(path)

    assert (status, err) == (0, "")
    assert names_in(tmp_path) == [path.name]
    assert len(rows) == 8_000
    for name, wager in found["wagers"].items():
        decided = [row[name] for row in rows]
        assert {rule: its["count"] for rule, its in wager["rules"].items()} == {
            rule: decided.count(rule) for rule in wager["rules"]
        }
    shoe, number = 0, 0
    for row in rows:
        number = number + 1 if row["shoe"] == shoe else 1
        shoe = row["shoe"] if row["shoe"] == shoe else shoe + 1
        assert (row["shoe"], row["round"]) == (shoe, number)
        coup = Coup.complete(tuple(Card(code) for code in row["cards"].split()))
        assert (row["player_total"], row["banker_total"]) == (coup.player_total, coup.banker_total)
        assert row["winner"] == coup.winner
        for position in positions(game):
            assert row[position.name] == getattr(position.wager.deciding_rule(coup), "name", "lose")
    assert shoe == (found["shoes"]["count"] if shoes else 8_000)


@pytest.mark.soak
def test_both_kinds_of_file_have_the_same_rounds_whatever_the_number_of_jobs(punto, tmp_path):
    paths = [tmp_path / name for name in ("one.csv", "two.csv", "three.parquet")]
    for jobs, path in enumerate(paths, 1):
        option = f"--{path.suffix[1:]}"
        assert punto(*asked("--shoes", "--jobs", jobs, option, path, rounds=340_000))[0] == 0

    assert paths[0].read_bytes() == paths[1].read_bytes()
    one, three = pyarrow.csv.read_csv(paths[0]), pyarrow.parquet.read_table(paths[2])
    assert len(one) == 340_000
    assert one.to_pydict() == three.to_pydict()


def test_what_is_kept_does_not_change_the_answer(punto, tmp_path):
    kept = punto(*asked("--shoes", "--csv", tmp_path / "rounds.csv"))

    assert kept == punto(*asked("--shoes"))


def test_a_file_that_is_there_is_not_written_over(punto, tmp_path):
    path = tmp_path / "rounds.csv"
    path.write_text("mine")

    status, out, err = punto(*asked("--csv", path))

    assert (status, out) == (2, "")
    assert err == f"{path} already exists: name another file, or delete it first\n"
    assert path.read_text() == "mine"
    assert names_in(tmp_path) == ["rounds.csv"]


def test_a_file_that_cannot_be_written_is_said_to_be_such(punto, tmp_path):
    path = tmp_path / "nowhere" / "rounds.parquet"

    assert punto(*asked("--parquet", path)) == (
        2,
        "",
        f"{path} cannot be written: No such file or directory\n",
    )


def test_a_disk_that_is_full_leaves_nothing_and_says_so(tmp_path):
    path = tmp_path / "rounds.csv"
    limited = (
        "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000)); "
        "from punto.commands.cli import main; sys.exit(main())"
    )
    ran = subprocess.run(
        [sys.executable, "-c", limited, "simulate", *map(str, asked("--csv", path, rounds=1_000_000))],
        capture_output=True,
        text=True,
        check=False,
        timeout=DEADLINE,
    )

    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith(f"{path} cannot be written: ")
    assert ran.stderr.count("\n") == 1
    assert names_in(tmp_path) == []


@pytest.mark.parametrize(("ending", "status"), [(signal.SIGINT, 130), *soaked((signal.SIGKILL, -9))])
def test_a_run_that_is_ended_leaves_no_file_of_that_name(tmp_path, ending, status):
    path = tmp_path / "rounds.csv"
    process = subprocess.Popen(
        [*PUNTO, *map(str, asked("--csv", path, rounds=10**12))], stderr=subprocess.PIPE
    )
    part = Path(f"{path}.part")
    try:
        end = time.monotonic() + DEADLINE
        while not (part.exists() and part.stat().st_size > 1_000_000):
            assert time.monotonic() < end
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(ending)
        _, err = process.communicate(timeout=DEADLINE)
    finally:
        process.kill()

    assert (process.returncode, err) == (status, b"")
    assert names_in(tmp_path) == ([part.name] if ending is signal.SIGKILL else [])


def test_a_file_that_another_run_may_be_writing_is_left_alone(punto, tmp_path):
    part = tmp_path / "rounds.csv.part"
    part.write_text("another's", encoding="utf-8")

    status, out, err = punto(*asked("--csv", tmp_path / "rounds.csv"))

    assert (status, out) == (2, "")
    assert err.startswith(
        f"{part} already exists, from another run that is writing it or was killed: delete it"
    )
    assert part.read_text(encoding="utf-8") == "another's"
    assert names_in(tmp_path) == [part.name]


def test_a_wager_that_is_called_like_a_column_cannot_be_kept(punto, tmp_path):
    game = tmp_path / "game.toml"
    text = Path("configs/games/mini-baccarat.toml").read_text()
    game.write_text(text.replace('name = "tie"\ntitle', 'name = "winner"\ntitle'))

    assert punto(*asked(game=game))[0] == 0
    status, _, err = punto(*asked("--csv", tmp_path / "rounds.csv", game=game))

    assert (status, err) == (
        2,
        "a wager called 'winner' cannot have a column: every file already has a column of that name\n",
    )


# --- what is refused


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "the following arguments are required: --game"),
        (asked(rounds=0), "argument --rounds: must be a whole number from 1 to 1,000,000,000,000,000, not '0'"),
        (asked(rounds=-5), "argument --rounds: must be a whole number from 1 to 1,000,000,000,000,000, not '-5'"),
        (asked(rounds="many"), "argument --rounds: must be a whole number from 1 to 1,000,000,000,000,000, not 'many'"),
        (asked(rounds=10**15 + 1), "must be a whole number from 1 to 1,000,000,000,000,000, not '1000000000000001'"),
        *(
            (asked(rounds=wrong), f"must be a whole number from 1 to 1,000,000,000,000,000, not '{wrong}'")
            for wrong in ("1e99", "1e999999999", "1.5e0", "0e3", "1e", "e6", "1e-3", "nan", "1e16", "Infinity", "1_e")
        ),
        (asked(seed=-1), "argument --seed: must be a whole number from 0, not '-1'"),
        (asked(seed="x"), "argument --seed: must be a whole number from 0, not 'x'"),
        (asked("--jobs", 0), "argument --jobs: must be a whole number from 1 to 256, not '0'"),
        (asked("--jobs", 257), "argument --jobs: must be a whole number from 1 to 256, not '257'"),
        (asked("--decks", 0), "argument --decks: must be a whole number from 1 to 12, not '0'"),
        (asked("--decks", 13), "argument --decks: must be a whole number from 1 to 12, not '13'"),
        (asked("--csv", "a", "--parquet", "b"), "argument --parquet: not allowed with argument --csv"),
        (asked(game="dragon-bonus-9"), "there is no game 'dragon-bonus-9'"),
        (asked("--burn", 0), "--burn is for whole shoes: add --shoes"),
        (asked("--cut-card", 14), "--cut-card is for whole shoes: add --shoes"),
        (asked("--shoes", "--burn-ace", 5), "argument --burn-ace: '5' is not one of 1, 11"),
        (asked("--shoes", "--burn", 21), "0 to 20 cards can be burned, not 21"),
        (asked("--shoes", "--burn", "none"), "argument --burn: must be first_card or a number of cards, not 'none'"),
        (asked("--shoes", "--cut-card", 3), "3 cards behind the cut card may not be enough"),
        (asked("--shoes", "--cut-card", 400, "--decks", 7), "400 cards behind the cut card are too many"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_refused_with_a_reason(punto, arguments, said):
    status, out, err = punto(*arguments)

    assert (status, out) == (2, "")
    assert said in err


# --- what is loaded


def test_nothing_but_the_lab_loads_its_libraries():
    program = (
        "import sys\nfrom punto.commands.cli import main\n"
        "for command in (['run', '--help'], ['odds', '--game', 'mini-baccarat'], ['check-config', '--game', 'mini-baccarat']):\n"
        "    try:\n        main(command)\n    except SystemExit:\n        pass\n"
        "print(*(name for name in ('numba', 'pyarrow', 'matplotlib') if name in sys.modules), file=sys.stderr)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=DEADLINE
    )

    assert ran.stdout.count("mini-baccarat") > 1
    assert ran.stderr == "\n"


@pytest.mark.parametrize("library", ["numba", "pyarrow"])
def test_without_its_libraries_it_says_what_to_install(library):
    program = (
        f"import sys; sys.modules[{library!r}] = None\nfrom punto.commands.cli import main\nsys.exit(main())"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program, "simulate", *map(str, asked())],
        capture_output=True,
        text=True,
        check=False,
        timeout=DEADLINE,
    )

    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr == f"punto simulate needs {library}, which is not installed: install punto[lab]\n"


@pytest.mark.soak
def test_where_nothing_compiled_can_be_kept_it_is_compiled_anew(tmp_path):
    """A package that may not be written, in a home that is none."""
    ran = subprocess.run(
        [*PUNTO, *map(str, asked("--json"))],
        capture_output=True,
        text=True,
        check=False,
        timeout=DEADLINE,
        env={**os.environ, "NUMBA_CACHE_LOCATOR_CLASSES": "ZipCacheLocator"},
    )

    assert (ran.returncode, ran.stderr) == (0, "")
    assert json.loads(ran.stdout)["rounds"] == 20_000


def test_a_bar_is_shown_where_somebody_watches():
    watched, terminal = pty.openpty()
    termios.tcsetwinsize(terminal, (24, 100))
    process = subprocess.Popen(
        [*PUNTO, *map(str, asked(rounds=20_000_000))], stdout=subprocess.PIPE, stderr=terminal
    )
    os.close(terminal)
    out, _ = process.communicate(timeout=DEADLINE)
    shown = os.read(watched, 100_000).decode()
    os.close(watched)

    assert process.returncode == 0
    assert b"20,000,000 rounds" in out
    assert "/20.0M" in shown
    assert "rounds/s" in shown


@pytest.mark.parametrize("option", ["--csv", "--parquet"])
@pytest.mark.parametrize(
    ("name", "said"), [("", "'' is not a name"), (".", "'.' is a folder"), ("/", "'/' is a folder")]
)
def test_a_file_of_rounds_needs_a_name_that_is_not_a_folder(punto, option, name, said):
    status, out, err = punto(*asked(option, name))

    assert (status, out) == (2, "")
    assert f"argument {option}: {said}: write the name of a file, such as rounds.csv" in err
