"""docs/reference/game-files.md and the tutorial of a side wager: what they show works, and what is listed is all there is."""

import json
import re
import shlex
import subprocess
import sys
import tomllib
from dataclasses import fields, replace
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from punto.baccarat.wagers.condition import Condition
from punto.baccarat.wagers.definition import Game, Progressive, Rule, Wager
from punto.baccarat.wagers.pay import Pay
from punto.configs.game_files import load_game, shipped_games
from punto.odds.composition import Composition
from punto.odds.exact import GameOdds
from tests.deadline import DEADLINE

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "reference" / "game-files.md").read_text(encoding="utf-8")
WALK = (DOCS / "tutorials" / "first-side-wager.md").read_text(encoding="utf-8")
PUNTO = f"{shlex.quote(sys.executable)} -m punto.commands.cli"


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"```{language}(?: title=[^\n]*)?\n(.*?)```", text, flags=re.DOTALL)


@pytest.fixture
def folder(tmp_path):
    """A folder where somebody has followed the walk."""
    *game, table = blocks(WALK, "toml")
    (tmp_path / "my-game.toml").write_text("".join(game), encoding="utf-8")
    (tmp_path / "table.toml").write_text(table, encoding="utf-8")
    return tmp_path


def said(command: str, folder: Path) -> str:
    """What a shell prints for a command line of the page."""
    done = subprocess.run(
        ["sh", "-c", re.sub(r"\bpunto (?=[a-z])", lambda _: f"{PUNTO} ", command)],
        cwd=folder,
        env={"PYTHONPATH": str(Path(__file__).parents[2]), "PATH": "/usr/bin:/bin"},
        check=False,
        capture_output=True,
        text=True,
        timeout=DEADLINE,
    )
    return done.stdout + done.stderr


def test_the_walk_begins_with_mini_baccarat_as_it_ships(folder):
    walked, shipped = load_game(str(folder / "my-game.toml")), load_game("mini-baccarat")

    assert walked.wagers[:-1] == shipped.wagers
    assert walked.wagers[-1].name == "twin_naturals"


def test_the_mistake_that_the_page_shows_is_told_so(folder):
    path = folder / "my-game.toml"
    path.write_text(path.read_text(encoding="utf-8").replace("player_total =", "player_totals ="))

    told = said("punto check-config --game my-game.toml", folder).strip()

    assert told in WALK.replace("\n", " ")


def test_the_walk_opens_a_table_with_the_game(folder):
    account = "punto operators --config table.toml add Mei --role supervisor"
    assert account in WALK
    assert said(f"echo 'correct horse battery' | {account}", folder) == ""
    told = said("punto check-config table.toml", folder)

    assert "table     table-1, 'Baccarat 1'" in told
    assert "cards     keyed by the dealer\n" in told
    assert "game      my-game, " in told
    assert "warning" not in told


@pytest.mark.soak
def test_the_demos_options_of_the_walk_are_reported(folder):
    options = re.findall(r"--\w+", "".join(each for each in blocks(WALK, "sh") if "demo" in each))

    assert options
    assert set(options) <= set(re.findall(r"--\w+", said("punto demo --help", folder)))


def test_the_edges_that_the_page_calls_usual_are_those_of_the_games_that_ship():
    low, high = re.search(r"edges from (\d+)% \(Banker\) to (\d+)% \(Tie\)", WALK).groups()  # type: ignore[union-attr]
    wagers = {
        (wager.name, wager.rules): wager for name in shipped_games() for wager in load_game(name).wagers
    }
    fixed = [
        replace(wager, name=str(number), base=True, requires_base="none", requires_base_win=False)
        for number, wager in enumerate(wagers.values())
        if wager.progressive is None
    ]
    odds = GameOdds(Game(name="all", title="", sheet="", wagers=tuple(fixed))).odds(Composition.of_decks(8))
    edges = {wager.title: float(odds[wager.name].edge) * 100 for wager in fixed}

    more = {title for title, edge in edges.items() if edge > int(high)}
    usual = {title: edge for title, edge in edges.items() if title not in more}

    assert more == {"Super 6"}
    assert (min(usual, key=usual.__getitem__), max(usual, key=usual.__getitem__)) == ("Banker", "Tie")
    assert int(low) <= min(usual.values()) < int(low) + 1
    assert int(high) - 1 < max(usual.values()) <= int(high)


@pytest.mark.parametrize("command", [line for block in blocks(PAGE, "sh") for line in block.splitlines()])
def test_a_command_of_the_reference_can_be_given(command, tmp_path):
    assert "average top award" in said(command, tmp_path)


def first_column(section: str, heading: str) -> list[str]:
    """What is in the first column of the section's first table with this heading."""
    table = PAGE.partition(f"\n## {section}\n")[2].partition(f"\n| {heading} |")[2].partition("\n\n")[0]
    return [line.split(" | ")[0] for line in table.splitlines()[2:]]


@pytest.mark.parametrize(
    ("section", "heading", "kind"),
    [
        ("The game", "Key", Game),
        ("A wager", "Key", Wager),
        ("Rules", "Key", Rule),
        ("Rules", "A condition", Condition),
        ("Paying from a meter", "Key of `progressive`", Progressive),
    ],
)
def test_every_key_is_listed(section, heading, kind):
    listed = [key for cell in first_column(section, heading) for key in re.findall(r"`(\w+)", cell)]

    assert sorted(listed) == sorted(field.name for field in fields(kind))


def conditions() -> list[str]:
    """Every condition that the page writes in code."""
    names = "|".join(field.name for field in fields(Condition))
    return sorted(set(re.findall(rf"`((?:{names}) = [^`]*)`", PAGE)))


@pytest.mark.parametrize("written", conditions())
def test_every_condition_on_the_page_can_be_written(written):
    asked = json.dumps(tomllib.loads(f"when = {{ {written} }}")["when"])

    assert TypeAdapter(Condition).validate_json(asked, strict=True).asked


def test_every_pay_on_the_page_can_be_written():
    pays = [text for cell in first_column("Rules", "A pay") for text in re.findall(r'`"([^`]*)"`', cell)]

    assert len(pays) == 8
    for text in pays:
        Pay.parse(text)
