"""Rules that hang on ranks and suits and never decide are found by counting."""

import pytest

from controller.games import game_file, game_of, load_game, place_of, shipped_games
from controller.odds.checking import never_deciding

HEAD = """
name = "own"
title = "Own"
sheet = "none"
decks = {decks}

[[wagers]]
name = "own"
title = "Own"
base = true
side = "player"
rules = [
"""


def found(tmp_path, *rules: str, decks: int = 8) -> list[tuple[int, str]]:
    """The lines of the faults, counted from the first rule's, and what is said."""
    path = tmp_path / "own.toml"
    lines = [*rules, '{ name = "lose", pays = "lose" }']
    path.write_text(HEAD.format(decks=decks) + ",\n".join(lines) + "\n]\n", encoding="utf-8")
    file = game_file(str(path))
    return [(place_of(number, fault)[-1], fault.message) for number, fault in never_deciding(game_of(file))]  # type: ignore[misc]


def rule(name: str, when: str) -> str:
    return f'{{ name = "{name}", pays = "1 to 1", when = {{ {when} }} }}'


@pytest.mark.parametrize("name", shipped_games())
def test_every_rule_of_a_shipped_game_decides_some_coup(name):
    assert list(never_deciding(load_game(name))) == []


@pytest.mark.parametrize(
    ("when", "decks"),
    [
        ("player_pair = true, player_cards = [2], player_total = [7]", 8),
        ("player_perfect_pair = true", 1),
        ('winning_ranks = ["2-3-4"], margin = [9], natural = true', 8),
        ('winning_ranks = ["K-K"], margin = [9]', 8),
        ('winner = ["tie"], winning_suit = ["S"]', 8),
        ('winning_suit = ["S"], coup_suit = ["H"]', 8),
        ('winning_ranks = ["9-9-9"], winner = ["player"], coup_suit = ["D"]', 2),
    ],
)
def test_a_condition_that_no_coup_can_meet_is_found(tmp_path, when, decks):
    assert found(tmp_path, rule("odd", when), decks=decks) == [(0, "no coup can be what odd asks for")]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("player_pair = true", "player_perfect_pair = true"),
        ('winning_suit = ["S", "H"]', 'coup_suit = ["H"], winner = ["banker"]'),
        ("player_pair = true", "player_pair = true, winner = ['player']"),
    ],
)
def test_a_rule_that_earlier_ones_leave_nothing_to_is_found(tmp_path, first, second):
    assert found(tmp_path, rule("wide", first), rule("narrow", second)) == [
        (1, "narrow can never decide: the rules before it decide every coup that it holds of")
    ]
    assert found(tmp_path, rule("narrow", second), rule("wide", first)) == []


def test_two_rules_that_leave_nothing_together_are_enough(tmp_path):
    rules = [rule("pair", "player_pair = true"), rule("none", "player_pair = false")]

    assert found(tmp_path, *rules) == [
        (2, "lose can never decide: the rules before it decide every coup that it holds of")
    ]
