"""Rules that hang on ranks and suits and never decide are found by counting."""

from pathlib import Path

import pytest

from punto.baccarat.wagers.completeness import Fault
from punto.configs.game_files import game_file, game_of, load_game, place_of
from punto.odds import checking
from punto.odds.checking import never_deciding
from tests.share import sampled

FOLDER = Path(__file__).parents[2] / "configs" / "games"
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


BASE = """
[[wagers]]
name = "{side}"
title = "{side}"
base = true
side = "{side}"
rules = [
    {{ name = "wins", pays = "1 to 1", when = {{ winner = ["{side}"] }} }},
    {{ name = "lose", pays = "lose" }},
]
"""
BESIDE = """
[[wagers]]
name = "odd"
title = "Odd"
side = "player"
requires_base = "{base}"
requires_base_win = true
rules = [{rules}, {{ name = "lose", pays = "lose" }}]
"""


def found(tmp_path, *rules: str, decks: int = 8) -> list[tuple[int, str]]:
    """The lines of the faults, counted from the first rule's, and what is said."""
    path = tmp_path / "own.toml"
    lines = [*rules, '{ name = "lose", pays = "lose" }']
    path.write_text(HEAD.format(decks=decks) + ",\n".join(lines) + "\n]\n", encoding="utf-8")
    file = game_file(str(path))
    return [(place_of(number, fault)[-1], fault.message) for number, fault in never_deciding(game_of(file))]  # type: ignore[misc]


def never(rule: str, by: str, what_to_do: str = "") -> str:
    return (
        f"{rule} can never decide, because earlier rules ({by}) decide every coup that meets it: "
        f"{what_to_do or f'move {rule} above them'}, or leave {rule} out"
    )


def rule(name: str, when: str) -> str:
    return f'{{ name = "{name}", pays = "1 to 1", when = {{ {when} }} }}'


@pytest.mark.parametrize(
    ("when", "decks", "clash"),
    sampled(
        [
            (
                "player_pair = true, player_cards = [2], player_total = [7], winner = ['tie']",
                8,
                "player_cards = [2] and player_total = [7] and player_pair = true",
            ),
            ("player_perfect_pair = true, banker_pair = true", 1, "player_perfect_pair = true"),
            ('winning_ranks = ["2-3-4"], margin = [9], natural = true', 8, 'natural = true and winning_ranks = ["2-3-4"]'),
            ('winning_ranks = ["K-K"], margin = [9]', 8, 'winning_ranks = ["K-K"]'),
            ('winner = ["tie"], winning_suit = ["S"]', 8, 'winner = ["tie"] and winning_suit = ["S"]'),
            ('winning_suit = ["S"], coup_suit = ["H"], banker_cards = [2]', 8, 'winning_suit = ["S"] and coup_suit = ["H"]'),
            ('winning_ranks = ["2-2-2"], winner = ["player"], coup_suit = ["D"]', 2, 'winning_ranks = ["2-2-2"] and coup_suit = ["D"]'),
        ],
        one_in=4,
    ),
)  # fmt: skip
def test_a_condition_that_no_coup_can_meet_is_found_with_what_excludes_itself(tmp_path, when, decks, clash):
    said = f"no coup can meet odd, because no coup has {clash}"
    assert found(tmp_path, rule("odd", when), decks=decks) == [(0, said)]


@pytest.mark.parametrize(
    ("first", "second"),
    sampled(
        [
            ("player_pair = true", "player_perfect_pair = true"),
            ('winning_suit = ["S", "H"]', 'coup_suit = ["H"], winner = ["banker"]'),
            ("player_pair = true", "player_pair = true, winner = ['player']"),
        ],
        one_in=3,
    ),
)
def test_a_rule_that_earlier_ones_leave_nothing_to_is_found(tmp_path, first, second):
    assert found(tmp_path, rule("wide", first), rule("narrow", second)) == [(1, never("narrow", "wide"))]
    assert found(tmp_path, rule("narrow", second), rule("wide", first)) == []


def test_two_rules_that_leave_nothing_together_are_enough(tmp_path):
    rules = [rule("pair", "player_pair = true"), rule("none", "player_pair = false")]

    assert found(tmp_path, *rules) == [(2, never("lose", "pair, none", "narrow these earlier rules"))]


@pytest.mark.soak
def test_rules_before_it_that_decide_none_of_its_coups_are_not_named(tmp_path):
    rules = [
        rule("spades", 'winning_suit = ["S"]'),
        rule("suited", 'coup_suit = ["H", "D"]'),
        rule("pair", "player_pair = true"),
        rule("perfect", 'player_perfect_pair = true, coup_suit = ["D"]'),
        rule("pair_again", "player_perfect_pair = true, winner = ['tie']"),
    ]

    assert found(tmp_path, *rules) == [
        (3, never("perfect", "suited")),
        (4, never("pair_again", "suited, pair")),
    ]


def test_a_rule_that_would_decide_its_coups_were_they_not_decided_yet_is_not_named(tmp_path):
    rules = [
        rule("diamonds", 'winning_suit = ["D"]'),
        rule("spades", 'winning_suit = ["S"]'),
        rule("red", 'winning_suit = ["D", "H"]'),
        rule("all_diamonds", 'coup_suit = ["D"], winner = ["player"]'),
    ]

    assert found(tmp_path, *rules) == [(3, never("all_diamonds", "diamonds"))]


@pytest.mark.soak
def test_of_a_wager_with_a_meter_too(tmp_path):
    path = tmp_path / "own.toml"
    metered = (
        (FOLDER / "progressive-1.toml")
        .read_text(encoding="utf-8")
        .replace('winning_suit = ["D"]', 'winning_suit = ["D"], coup_suit = ["S"]')
    )
    path.write_text(metered, encoding="utf-8")

    assert [fault.message for _, fault in never_deciding(load_game(str(path)))] == [
        'no coup can meet two_three_four_diamonds, because no coup has winning_suit = ["D"] and coup_suit = ["S"]'
    ]


@pytest.mark.parametrize(
    ("when", "dead"),
    sampled(
        [
            ('winning_ranks = ["8-A", "K-Q-J"]', ['winning_ranks = ["K-Q-J"]']),
            (
                'winning_ranks = ["K-Q", "2-3-4", "J-J-J"]',
                ['winning_ranks = ["K-Q"]', 'winning_ranks = ["J-J-J"]'],
            ),
            ('winner = ["tie", "player"], margin = [5]', ['winner = ["tie"]']),
            ('player_total = [1, 2], banker_total = [1], winner = ["player"]', ["player_total = [1]"]),
            ('winner = ["tie", "banker"], winning_suit = ["S", "H"]', ['winner = ["tie"]']),
            ('winner = ["tie", "player"], margin = [0, 5]', []),
            ('winning_suit = ["S", "H", "D", "C"]', []),
        ],
        one_in=4,
    ),
)
def test_a_value_in_a_list_that_no_coup_has_is_found(tmp_path, when, dead):
    assert found(tmp_path, rule("odd", when)) == [
        (0, f"no coup can meet odd with {each}: remove {each} from the list") for each in dead
    ]


def test_a_value_that_an_earlier_rule_has_decided_is_accepted(tmp_path):
    diamonds, suited = rule("diamonds", 'winning_suit = ["D"]'), rule("suited", 'winning_suit = ["S", "D"]')

    assert found(tmp_path, diamonds, suited) == []


@pytest.mark.parametrize(
    ("base", "when", "hands"),
    sampled(
        [
            ("same_side", 'winner = ["banker"], player_pair = true', "Player"),
            ("same_side", 'winner = ["tie"], player_pair = true', "Player"),
            ("any", "margin = [0], player_pair = true", "Player or Banker"),
        ],
        one_in=3,
    ),
)
def test_a_win_that_no_base_wager_shares_is_found(tmp_path, base, when, hands):
    path = tmp_path / "own.toml"
    rules = ", ".join([rule("odd", when), rule("pair", "player_pair = true")])
    path.write_text(
        'name = "own"\ntitle = "Own"\nsheet = "none"\n'
        + BASE.format(side="player")
        + BASE.format(side="banker")
        + BESIDE.format(base=base, rules=rules),
        encoding="utf-8",
    )

    assert [fault for _, fault in never_deciding(load_game(str(path)))] == [
        Fault(
            0,
            f"odd can never win, because it needs a winning base wager on {hands}, which never wins on these coups",
        )
    ]


def test_findings_are_in_the_order_of_the_rules(tmp_path):
    rules = [
        rule("listed", 'winning_ranks = ["8-A", "K-Q-J"]'),
        rule("odd", 'winning_ranks = ["K-K"], margin = [9]'),
        rule("more", 'winning_ranks = ["K-Q", "7-A"]'),
    ]

    assert [place for place, _ in found(tmp_path, *rules)] == [0, 1, 2]


def test_what_decides_instead_is_found_by_looking_at_each_earlier_rule_once(tmp_path, monkeypatch):
    """A file with many rules on suits is told its faults in seconds, not minutes."""
    asked = []

    def counts(decks, wagers):
        asked.append(sum(map(len, wagers)))
        return counted(decks, wagers)

    counted = checking._counts
    monkeypatch.setattr(checking, "_counts", counts)
    earlier = [
        rule(f"r{margin}", f'winning_suit = ["S"], margin = [{margin}], natural = false')
        for margin in range(1, 10)
    ]

    assert found(tmp_path, *earlier, rule("odd", 'winning_suit = ["S"], margin = [3], natural = false'))
    every_rule, before_it, _ = asked
    assert (every_rule, before_it) == (11, 1)
