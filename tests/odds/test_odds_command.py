"""`punto odds`: the table and the JSON, what they are made of, and what is refused."""

import csv
import json
import re
from fractions import Fraction
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from punto.commands.cli import main
from punto.configs.game_files import load_game
from tests.share import sampled

EIGHT_DECKS = 416 * 415 * 414 * 413 * 412 * 411
SHIPPED = Path(__file__).parents[2] / "configs" / "games"


@pytest.fixture
def punto(capsys):
    def run(*arguments: str) -> tuple[int, str, str]:
        try:
            status = main(arguments)
        except SystemExit as ended:
            status = int(ended.code or 0)
        out, err = capsys.readouterr()
        return status, out, err

    return run


@pytest.fixture
def odds(punto):
    def ask(*arguments: str) -> dict[str, Any]:
        status, out, err = punto("odds", "--json", *arguments)
        assert (status, err) == (0, "")
        found: dict[str, Any] = json.loads(out)
        return found

    return ask


def test_the_counts_of_eight_decks_are_whole_and_over_all_orders_of_six_cards(odds):
    found = odds("--game", "mini-baccarat", "--decks", "8")

    assert (found["decks"], found["total"]) == (8, 4_998_398_275_503_360)
    assert {name: rule["count"] for name, rule in found["wagers"]["banker"]["rules"].items()} == {
        "banker_wins": 2_292_252_566_437_888,
        "tie": 475_627_426_473_216,
        "lose": 2_230_518_282_592_256,
    }


def test_the_figures_follow_from_the_counts(odds):
    banker = odds("--game", "mini-baccarat")["wagers"]["banker"]
    won, tied, lost = (
        Fraction(banker["rules"][name]["count"], EIGHT_DECKS) for name in ("banker_wins", "tie", "lose")
    )
    mean = Fraction(95, 100) * won - lost

    assert banker["rules"]["banker_wins"] == {
        "count": won * EIGHT_DECKS,
        "probability": float(won),
        "pays": "1 to 1 less 5%",
    }
    assert (banker["edge"], banker["hit"], banker["push"]) == (float(-mean), float(won), float(tied))
    assert banker["variance"] == float(Fraction(95, 100) ** 2 * won + lost - mean**2)


def test_cards_that_have_left_the_shoe_are_not_counted(odds):
    found = odds("--game", "mini-baccarat", "--decks", "1", "--removed", "9S,KD,9H")

    assert (found["removed"], found["cards"]) == (["9S", "KD", "9H"], 49)
    assert found["total"] == 49 * 48 * 47 * 46 * 45 * 44
    assert found["wagers"] != odds("--game", "mini-baccarat", "--decks", "1")["wagers"]


def test_the_games_own_decks_are_the_default(odds):
    assert odds("--game", "mini-baccarat")["decks"] == load_game("mini-baccarat").decks


def test_a_wager_that_needs_its_base_wager_to_win_is_looked_at_beside_each(odds):
    found = odds("--game", "progressive-2")["wagers"]

    player, banker = found["progressive:player"], found["progressive:banker"]
    assert "progressive" not in found
    assert player["average_top_award"] < banker["average_top_award"]
    assert player["rules"]["two_three_four_diamonds"]["count"] > 0
    both = found["progressive:player+banker"]
    assert both["hit"] == pytest.approx(player["hit"] + banker["hit"])
    assert both["edge"] < 0 < player["edge"]


@pytest.mark.parametrize("game", sampled(["mini-baccarat", "progressive-2"], one_in=2))
def test_csv_has_the_figures_of_json_with_a_line_for_each_rule(punto, odds, game):
    status, out, err = punto("odds", "--game", game, "--removed", "9S", "--csv")
    lines = list(csv.DictReader(StringIO(out)))
    wagers = odds("--game", game, "--removed", "9S")["wagers"]

    assert (status, err) == (0, "")
    assert [
        (line["wager"], line["rule"], line["pays"], int(line["count"]), float(line["probability"]))
        for line in lines
    ] == [
        (name, rule, its["pays"], its["count"], its["probability"])
        for name, wager in wagers.items()
        for rule, its in wager["rules"].items()
    ]
    for line in lines:
        for figure in ("edge", "hit", "push", "variance"):
            assert float(line[figure]) == wagers[line["wager"]][figure]


def test_an_amount_on_the_meter_takes_the_place_of_its_average(odds):
    found = odds("--game", "progressive-3", "--meter", "progressive=0")["wagers"]["progressive:player"]
    usual = odds("--game", "progressive-3")["wagers"]["progressive:player"]
    top = usual["rules"]["six_cards_suited"]

    assert found["rules"] == usual["rules"]
    assert found["edge"] - usual["edge"] == pytest.approx(
        top["probability"] * usual["average_top_award"] / 100
    )


def test_the_output_says_that_a_meter_is_valued_at_the_minimum_where_other_amounts_may_be_staked(
    punto, tmp_path
):
    fixed = (SHIPPED / "progressive-3.toml").read_text(encoding="utf-8")
    path = tmp_path / "own.toml"
    path.write_text(
        fixed.replace("minimum = 100, maximum = 100", "minimum = 100, maximum = 500"), encoding="utf-8"
    )

    assert "of a seed of 500,000, with 100 wagered, its minimum\n" in punto("odds", "--game", str(path))[1]
    assert "of a seed of 500,000\n" in punto("odds", "--game", "progressive-3")[1]


def test_the_table_has_every_position_and_rule_once(punto, odds):
    edge = odds("--game", "dragon-bonus-1", "--decks", "6")["wagers"]["dragon_bonus_player"]["edge"]

    status, out, _ = punto("odds", "--game", "dragon-bonus-1", "--decks", "6")

    assert status == 0
    assert "6 decks, 312 cards" in out
    assert re.search(rf"(?m)^dragon_bonus_player +{100 * edge:.4f}% ", out)
    rules = [rule.name for wager in load_game("dragon-bonus-1").wagers for rule in wager.rules]
    assert re.findall(r"(?m)^\w+ +(\w+) +(?:\d+ to 1|push|lose)", out) == rules


def test_what_the_sheets_print_is_checked_and_counts_for_the_exit_status(punto, tmp_path):
    status, out, _ = punto("odds", "--published")
    assert status == 0
    assert "every figure agrees with its mark in the file" in out

    path = tmp_path / "printed.toml"
    own = (SHIPPED.parents[1] / "punto" / "odds" / "published" / "published-figures.toml").read_text(
        encoding="utf-8"
    )
    assert "player = 2.70" in own
    path.write_text(own.replace("player = 2.70", "player = 2.71"), encoding="utf-8")
    status, out, _ = punto("odds", "--published", str(path), "--json")
    assert status == 1
    assert not json.loads(out)["as_marked"]


def test_how_far_wagers_can_be_counted_is_printed_as_a_table_or_as_json(punto):
    asked = ["odds", "--game", "mini-baccarat", "--decks", "1", "--countable", "--shoes", "100"]

    status, table, err = punto(*asked)
    assert (status, err) == (0, "")
    assert "100 shoes of 52 cards" in table
    assert set(json.loads(punto(*asked, "--json")[1])["wagers"]) == {"player", "banker", "tie"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--game", "mini-bacarat"], "there is no game 'mini-bacarat'"),
        (["--game", "mini-baccarat", "--decks", "13"], "must be a whole number from 1 to 12, not '13'"),
        (["--game", "mini-baccarat", "--decks", "x"], "must be a whole number from 1 to 12, not 'x'"),
        (["--game", "mini-baccarat", "--removed", "9X"], "'9X' is not a card"),
        (["--game", "mini-baccarat", "--removed", "9S,,KD"], "'' is not a card"),
        (["--game", "mini-baccarat", "--decks", "1", "--removed", "9S,9S"], "--removed: 9S cannot be removed: all 1 copies are already removed"),
        (
            [
                "--game",
                "mini-baccarat",
                "--decks",
                "1",
                "--removed",
                ",".join(rank + suit for rank in "A23456789TJQ" for suit in "SHDC"),
            ],
            "--removed: a coup may need 6 cards, but only 4 are left in the shoe",
        ),
        (["--game", "progressive-3", "--meter", "progressive=x"], "'progressive=x' is not a meter"),
        ([], "the game is missing: add --game with a game file, or with the name of a game that ships with punto"),
        (["--published", "--decks", "8"], "--decks cannot be used with --published: remove one of them"),
        (["--game", "mini-baccarat", "--countable", "--removed", "9S"], "--removed cannot be used with --countable: remove one of them"),
        (["--game", "mini-baccarat", "--shoes", "5"], "--shoes cannot be used with the odds of one shoe"),
        (["--published", "--csv"], "--csv cannot be used with --published: remove one of them"),
        (["--game", "mini-baccarat", "--countable", "--csv"], "--csv cannot be used with --countable"),
        (["--game", "mini-baccarat", "--json", "--csv"], "argument --csv: not allowed with argument --json"),
        (["--published", "--cut-card", "9"], "--cut-card cannot be used with --published: remove one of them"),
        (["--game", "progressive-3", "--meter", "progressive=" + "9" * 400], "is not a meter: write the wager's"),
        (["--game", "mini-baccarat", "--countable", "--threshold", "9" * 400 + "%"], "is not a percentage"),
        (["--game", "mini-baccarat", "--countable", "--shoes", "1"], "deal at least 100 shoes, not 1"),
        (["--game", "mini-baccarat", "--countable", "--threshold", "1"], "'1' is not a percentage"),
        (
            ["--game", "progressive-3", "--meter", "progressive=1", "--meter", "progressive=2"],
            "--meter: progressive is there twice: write this option once for each wager",
        ),
        (["--published", ""], "argument --published: the path is empty: write one"),
        (["--published", "none.toml"], "none.toml: cannot be read: No such file or directory"),
        (["--game", "progressive-3", "--meter", "tie=1"], "--meter: 'tie' is not a wager with a meter; those of"),
    ],
)  # fmt: skip
def test_what_cannot_be_counted_is_refused_with_what_to_do(punto, arguments, said):
    status, out, err = punto("odds", *arguments)

    assert (status, out) == (2, "")
    assert said in err


@pytest.mark.parametrize("long", ["a" * 5000, "9" * 5000, "9" * 4000])
@pytest.mark.parametrize(
    "option",
    ["--game", "--decks", "--removed", "--meter", "--shoes", "--seed", "--cut-card", "--burn", "--threshold"],
)
def test_what_is_too_long_is_refused_in_few_words(punto, option, long):
    status, out, err = punto("odds", "--game", "mini-baccarat", option, long)

    assert (status, out) == (2, "")
    assert len(err.splitlines()[-1]) < 500


@pytest.mark.soak
def test_the_table_says_where_each_meter_stood(punto, odds):
    asked = ["--game", "progressive-2"]
    usual = odds(*asked)["wagers"]["progressive:player"]
    found = odds(*asked, "--meter", "progressive=9810062")["wagers"]["progressive:player"]
    average = usual["average_top_award"]

    assert (usual["meter"], found["meter"], found["average_top_award"]) == (average, 9810062, average)
    _, table, _ = punto("odds", *asked)
    assert (
        f"\nprogressive:player: its meter at the average top award {average:,.0f} minor units, of a seed of "
        in table
    )
    _, table, _ = punto("odds", *asked, "--meter", "progressive=9810062")
    assert (
        f"\nprogressive:player: its meter at 9,810,062, as given; average top award {average:,.0f} minor units, of a seed of "
    ) in table


def test_a_pay_changed_in_a_file_changes_both_settlement_and_odds(punto, odds, tmp_path, monkeypatch):
    text = (SHIPPED / "dragon-bonus-1.toml").read_text(encoding="utf-8")
    (tmp_path / "own.toml").write_text(text.replace('"30 to 1"', '"25 to 1"'), encoding="utf-8")
    line = json.dumps(
        {
            "cards": ["AC", "TC", "JD", "AC", "8S", "9D"],
            "wagers": [
                {"seat": 1, "wager": "player", "amount": 1000},
                {"seat": 1, "wager": "dragon_bonus_player", "amount": 1000},
            ],
        }
    )

    def paid(game: str) -> int:
        import io
        import sys

        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(line.encode())))
        _, out, _ = punto("score", "--game", game)
        returned: int = json.loads(out)["settlements"][1]["returned"]
        return returned

    ours, theirs = str(tmp_path / "own.toml"), "dragon-bonus-1"
    mine, usual = (odds("--game", game)["wagers"]["dragon_bonus_player"] for game in (ours, theirs))
    assert (paid(theirs), paid(ours)) == (31_000, 26_000)
    assert mine["edge"] - usual["edge"] == pytest.approx(5 * usual["rules"]["wins_by_9"]["probability"])
