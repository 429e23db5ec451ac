"""`import punto`: what programs and notebooks use."""

import inspect
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

import punto
from punto.baccarat.coup import Winner
from punto.commands.simulate import ROUNDS, SEED
from punto.controller.journal.schema import RecordError
from tests.controller.journal.conftest import played  # noqa: F401 - a fixture
from tests.deadline import DEADLINE

COUP = ["9S", "KD", "3H", "4C", "8D"]
PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "python.md").read_text("utf-8")


@pytest.fixture(scope="module")
def game():
    return punto.load_game("dragon-bonus-1")


def test_a_coup_is_scored_and_its_wagers_settled_as_by_the_command(game):
    scored = punto.score(game, COUP, [(1, "player", 2500), (2, "banker", 2000)])

    assert (scored.coup.player_total, scored.coup.banker_total, scored.coup.winner) == (0, 4, Winner.BANKER)
    assert [(each.seat, each.net) for each in scored.settlements] == [(1, -2500), (2, 1900)]


@pytest.mark.parametrize(
    ("cards", "wagers", "reason"),
    [
        (["1S", *COUP[1:]], [], "'1S' is not a card"),
        (COUP[:3], [], "coup"),
        ([*COUP, "2C"], [], "coup"),
        (COUP, [(1, "nobody", 2500)], "nobody"),
        (COUP, [(1, "player", 0)], "0"),
        (["9S"] * 9, [], "9S occurs 9 times, but a shoe of 8 decks has only 8"),
    ],
)
def test_what_cannot_be_scored_is_an_error_with_the_reason(game, cards, wagers, reason):
    with pytest.raises(ValueError, match=re.escape(reason)):
        punto.score(game, cards, wagers)


def test_odds_are_those_of_the_shoe_that_was_asked_for(game):
    whole, short = punto.exact_odds(game), punto.exact_odds(game, decks=6, removed=["9S", "9H"])

    assert round(float(whole["banker"].edge), 6) == 0.010579
    assert whole["banker"].edge != short["banker"].edge
    with pytest.raises(ValueError, match="nobody"):
        punto.exact_odds(game, meters={"nobody": Fraction(1)})


def test_the_same_seed_deals_the_same_rounds(game):
    one, same, other = (punto.simulate(game, 2000, seed=seed) for seed in (1, 1, 2))

    assert one.rounds == 2000
    assert one.counts.tolist() == same.counts.tolist()
    assert one.counts.tolist() != other.counts.tolist()


def test_a_simulation_deals_what_the_command_deals_if_nothing_is_said():
    usual = inspect.signature(punto.simulate).parameters

    assert (usual["rounds"].default, usual["seed"].default) == (ROUNDS, SEED)


def test_roads_are_drawn_from_the_names_of_winners():
    board = punto.roads(["player", "tie", "banker", "banker"])

    assert (board.counts.player, board.counts.tie, board.counts.banker) == (1, 1, 2)
    with pytest.raises(ValueError, match="nobody"):
        punto.roads(["nobody"])


def test_a_record_is_read_and_replayed(played):  # noqa: F811
    rounds = list(punto.rounds(played))

    assert punto.replay(played).difference is None
    assert [each.round.round for each in rounds] == list(range(1, len(rounds) + 1))
    assert punto.replay(str(played)).rounds == len(rounds) == 200


def test_what_is_not_a_record_is_refused(tmp_path):
    for read in (punto.replay, lambda path: next(punto.rounds(path))):
        with pytest.raises(RecordError, match=r"nothing\.db"):
            read(tmp_path / "nothing.db")


def test_the_page_shows_what_there_is():
    shown = set(re.findall(r"punto\.([a-z_]+)\(", PAGE)) | set(
        re.findall(r"^\| `([a-z_]+)\(", PAGE, re.MULTILINE)
    )

    assert shown == {name for name in punto.interface.__all__ if name.islower()}
    assert set(dir(punto)) == {"__version__", *punto.interface.__all__}


def test_the_pages_example_runs_as_it_stands(played, tmp_path):  # noqa: F811
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    example = example.replace("1_000_000", "1_000").replace('"table.db"', repr(str(played)))

    ran = subprocess.run(
        [sys.executable, "-c", example],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
        timeout=DEADLINE,
    )
    assert len(ran.stdout.splitlines()) == 200


def test_it_loads_nothing_before_it_is_used():
    program = "import sys, punto; print({'pydantic', 'numpy', 'punto.interface', 'punto.baccarat'} & {*sys.modules})"
    ran = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True, timeout=DEADLINE
    )

    assert ran.stdout == "set()\n"


def test_scoring_does_without_numpy():
    program = (
        "import sys; sys.modules['numpy'] = None; import punto; "
        f"print(punto.score(punto.load_game('canberra'), {COUP}).coup.winner)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True, timeout=DEADLINE
    )

    assert ran.stdout == "banker\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["odds", "--game", "canberra"],
            "punto odds needs numpy, which is not installed: install punto[odds]",
        ),
        (
            ["check-config", "--game", "canberra"],
            "note: odds and unreachable rules are not checked: install punto[odds]",
        ),
    ],
)
def test_commands_without_numpy_say_what_to_install(arguments, said):
    program = "import sys; sys.modules['numpy'] = None; from punto.commands.cli import main; sys.exit(main(sys.argv[1:]))"
    ran = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        check=False,
        capture_output=True,
        text=True,
        timeout=DEADLINE,
    )

    assert said in ran.stdout + ran.stderr


def test_edges_without_numpy_are_refused_with_the_extra_to_install(tmp_path):
    shipped = (Path(__file__).parents[2] / "configs" / "table.toml").read_text("utf-8")
    (tmp_path / "table.toml").write_text(f'{shipped}\n[edge]\nalarm = "1%"\n')
    program = "import sys; sys.modules['numpy'] = None; from punto.commands.cli import main; sys.exit(main(sys.argv[1:]))"
    ran = subprocess.run(
        [sys.executable, "-c", program, "check-config", str(tmp_path / "table.toml")],
        check=False,
        capture_output=True,
        text=True,
        timeout=DEADLINE,
    )

    assert ran.returncode == 1
    assert "the edges need numpy, which is not installed: install punto[odds]" in ran.stderr
