"""Game files are found by name or path, and what is wrong with one is told by line, key and what was meant."""

from pathlib import Path

import pytest

from controller.games import load_game, shipped_games
from controller.problems import ConfigError

FOLDER = Path(__file__).parents[2] / "configs" / "games"
GOOD = (FOLDER / "dai-bacc.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", shipped_games())
def test_a_shipped_game_can_be_played_and_has_its_files_name(name):
    assert load_game(name).name == name
    assert load_game(str(FOLDER / f"{name}.toml")) == load_game(name)


def test_all_that_is_in_the_folder_ships():
    assert shipped_games() == sorted(path.stem for path in FOLDER.glob("*.toml"))


def test_a_path_is_relative_to_the_folder_given(tmp_path):
    (tmp_path / "own.toml").write_text(GOOD, encoding="utf-8")
    (tmp_path / "mini-baccarat").write_text(GOOD, encoding="utf-8")

    assert load_game("own.toml", tmp_path).name == "dai-bacc"
    assert load_game("./mini-baccarat", tmp_path).name == "dai-bacc"
    assert load_game("mini-baccarat", tmp_path).name == "mini-baccarat"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "dai-bac",
            "there is no game 'dai-bac'; these ship with the program: canberra, canberra-high-limit, dai-bacc",
        ),
        ("dai-bac", "(did you mean dai-bacc?)"),
        ("own.toml", "there is no game file"),
        ("./dai-bacc", "there is no game file"),
        ("", "cannot be read: Is a directory"),
    ],
)
def test_a_game_that_is_not_there(name, said, tmp_path):
    with pytest.raises(ConfigError) as error:
        load_game(name, tmp_path)

    assert said in str(error.value)


@pytest.mark.parametrize(
    ("good", "bad", "problem"),
    [
        ('name = "dai-bacc"', 'nam = "dai-bacc"', ":{line}: nam: no such key (did you mean name?)"),
        ("decks = 8", "deck = 8", ":{line}: deck: no such key (did you mean decks?)"),
        ("decks = 8", 'decks = "8"', ":{line}: decks: must be a valid integer, not '8'"),
        ("decks = 8", "decks = 13", ":{line}: decks: decks must be from 1 to 12, not 13"),
        ("variation = true", "variation = 1", ":{line}: variation: must be a valid boolean, not 1"),
        (
            'dealt = "face_down"',
            'dealt = "face_donw"',
            ":{line}: dealt: must be 'face_up' or 'face_down', not 'face_donw' (did you mean \"face_down\"?)",
        ),
        (
            "maximum_wagers = 4",
            "maximum_wagers = 0",
            ":{line}: maximum_wagers: maximum_wagers must be at least 1, not 0",
        ),
        (
            'title = "Tiger 7"',
            'titel = "Tiger 7"',
            ":{line}: wagers[3].titel: no such key (did you mean title?)",
        ),
        ('name = "ox_6"', 'name = "kill"', ":1: two wagers are called 'kill': each needs a name of its own"),
        (
            'when = { winner = ["player"], player_cards = [3], player_total = [6] }',
            'when = { winner = ["player"], player_card = [3], player_total = [6] }',
            ":{line}: wagers[4].rules[1].when.player_card: no such key (did you mean player_cards?)",
        ),
        (
            'when = { winner = ["player"], player_cards = [3], player_total = [6] }',
            'when = { winner = ["plaier"], player_cards = [3], player_total = [6] }',
            """:{line}: wagers[4].rules[1].when.winner[1]: must be 'player', 'banker' or 'tie', not 'plaier' (did you mean "player"?)""",
        ),
        (
            'when = { winner = ["player"], player_cards = [3], player_total = [6] }',
            'when = { winner = ["player"], player_cards = [4], player_total = [6] }',
            ":{line}: wagers[4].rules[1].when: player_cards must list values from 2 to 3, not [4]",
        ),
        (
            'name = "ox_6"',
            'name = "ox_6"\nbase = 1',
            ":{line}: wagers[4].base: must be a valid boolean, not 1",
        ),
    ],
)
def test_what_is_wrong_with_a_game_file_is_told_on_its_line(good, bad, problem, tmp_path):
    assert good in GOOD
    before, _, after = GOOD.partition(good)
    path = tmp_path / "own.toml"
    path.write_text(before + bad + after, encoding="utf-8")
    line = before.count("\n") + 1 + bad.count("\n")

    with pytest.raises(ConfigError) as error:
        load_game(str(path))
    assert f"{path}{problem.format(line=line)}" in str(error.value).splitlines()


def test_every_problem_is_told_in_the_order_of_the_file(tmp_path):
    path = tmp_path / "own.toml"
    path.write_text(GOOD.replace("decks", "deks").replace("pays", "pay"), encoding="utf-8")

    with pytest.raises(ConfigError) as error:
        load_game(str(path))
    lines = [problem.line or 0 for problem in error.value.problems]
    assert len(lines) == 1 + 2 * GOOD.count("pays = ")
    assert lines == sorted(lines)
