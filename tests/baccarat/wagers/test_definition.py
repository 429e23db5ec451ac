from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from punto.baccarat.coup import Side, Winner
from punto.baccarat.wagers.condition import Condition
from punto.baccarat.wagers.definition import Game, Limits, Progressive, Rule, Wager
from punto.configs.game_files import load_game
from tests.baccarat.wagers.coups import coup

WINS = Rule(name="wins", pays="1 to 1", when=Condition(winner=(Winner.PLAYER,)))
PLAYER = Wager(name="player", title="Player", rules=(WINS,), base=True, side=Side.PLAYER)
BONUS = Wager(name="bonus", title="Bonus", rules=(WINS,), side=Side.BANKER)
LOSE = Rule(name="lose", pays="lose")
AWARD = Rule(name="award", pays="100% of the meter", when=Condition(margin=(9,)))
METER = Progressive(seed=100_00, contribution="20%")
TIED = Wager(
    name="tied",
    title="Tied",
    rules=(AWARD, Rule(name="tie", pays="push", when=Condition(winner=(Winner.TIE,))), WINS, LOSE),
    requires_base="any",
    requires_base_win=True,
    progressive=METER,
)
GAME = Game(name="game", title="Game", sheet="none", wagers=(PLAYER, BONUS))


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Condition(winner=()), "winner is an empty list, so no coup can meet it: write player, banker or tie"),
        (lambda: Condition(player_cards=(4,)), "player_cards must list values from 2 to 3, not [4]"),
        (lambda: Condition(banker_cards=(1, 2)), "banker_cards must list values from 2 to 3, not [1, 2]"),
        (lambda: Condition(player_total=(10,)), "player_total must list values from 0 to 9, not [10]"),
        (lambda: Condition(banker_total=(-1,)), "banker_total must list values from 0 to 9, not [-1]"),
        (lambda: Condition(margin=()), "margin must list values from 0 to 9, not []"),
        (lambda: Condition(coup_cards=(3,)), "coup_cards must list values from 4 to 6, not [3]"),
        (lambda: Condition(coup_cards=(4, 7)), "coup_cards must list values from 4 to 6, not [4, 7]"),
        (lambda: Condition(winning_ranks=()), "winning_ranks is an empty list, so no coup can meet it: write hands such as 2-3-4"),
        (lambda: Condition(winning_suit=()), "winning_suit is an empty list, so no coup can meet it: write S, H, D or C"),
        (lambda: Condition(coup_suit=()), "coup_suit is an empty list, so no coup can meet it: write S, H, D or C"),
        (lambda: replace(WINS, pays="evens"), "pays = 'evens' is not a pay: write"),
        (lambda: replace(WINS, name="lose"), 'name "lose" is only for a rule that pays "lose", but this rule pays "1 to 1"'),
        (lambda: Limits(minimum=0), "minimum and step must be at least 1 minor unit, not 0 and 1"),
        (lambda: Limits(step=0), "minimum and step must be at least 1 minor unit, not 1 and 0"),
        (lambda: Limits(minimum=500, maximum=100), "the maximum 100 is below the minimum 500"),
        (lambda: replace(BONUS, titles={"Chinese": "寶"}), "titles of bonus has 'Chinese': write the code of a language, such as zh-Hant"),
        (lambda: replace(BONUS, titles={"zh-Hant": " "}), "the title of bonus in zh-Hant is empty: write one, or leave it out"),
        (lambda: replace(BONUS, badge="red"), "badge of bonus is 'red': write # and six hexadecimal digits, such as #b05a00"),
        (lambda: replace(BONUS, short="A very long one"), "short of bonus is 'A very long one': write 1 to 12 characters, or leave it out"),
        (lambda: replace(BONUS, short=""), "short of bonus is '': write 1 to 12 characters, or leave it out"),
        (lambda: replace(BONUS, rules=()), "bonus has no rules: it would always lose"),
        (lambda: replace(BONUS, rules=(WINS, WINS)), "two rules of bonus have the name 'wins': give each its own name"),
        (lambda: replace(BONUS, side=None, requires_base="same_side"), 'bonus requires a base wager on the same side: write side = "player" or "banker"'),
        (lambda: replace(PLAYER, requires_base="any"), "player is a base wager and cannot require another"),
        (lambda: replace(BONUS, requires_base_win=True), 'requires_base_win of bonus needs a base wager: write requires_base = "any" or "same_side" too'),
        (lambda: replace(BONUS, rules=(AWARD,)), "bonus pays award from a meter: give it progressive = { seed = ..., contribution = ... }"),
        (
            lambda: replace(BONUS, progressive=METER),
            "progressive is given, but no rule of bonus pays from the meter: leave progressive out, or write such a rule",
        ),
        (lambda: replace(METER, seed=-1), "seed must be 0 minor units or more, not -1"),
        (lambda: replace(METER, contribution="101%"), "contribution must be from 0% to 100%, not '101%'"),
        (lambda: replace(METER, contribution="20"), "'20' is not a percentage: write it as \"26%\""),
        (lambda: replace(GAME, decks=0), "decks must be from 1 to 12, not 0"),
        (lambda: replace(GAME, decks=13), "decks must be from 1 to 12, not 13"),
        (lambda: replace(GAME, maximum_wagers=0), "maximum_wagers must be at least 1, not 0"),
        (lambda: replace(GAME, wagers=(PLAYER, PLAYER)), "two wagers have the name 'player': give each its own name"),
        (lambda: replace(GAME, wagers=(BONUS,)), "no wager has base = true: a game needs its base wagers"),
        (
            lambda: replace(GAME, wagers=(PLAYER, replace(BONUS, requires_base="same_side"))),
            "bonus requires a base wager on the same side, but the game does not have one",
        ),
    ],
)  # fmt: skip
def test_a_definition_that_cannot_be_played_says_what_to_do(build, message):
    with pytest.raises(ValueError) as error:
        build()

    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    ("minimum", "maximum", "step"), [(1, None, 1), (500, 501, 1), (300, None, 100), (100, 100, 100)]
)
def test_limits_that_are_multiples_of_the_step_stand(minimum, maximum, step):
    limits = Limits(minimum=minimum, maximum=maximum, step=step)

    assert (limits.minimum, limits.maximum, limits.step) == (minimum, maximum, step)


@pytest.mark.parametrize(
    "hand", ["", "9", "2-3-4-5", "2-3-10", "234", "2-3-", "2-3-x", "2 - 3", "2-3S", "k-Q"]
)
def test_an_invalid_hand_of_ranks_is_refused_with_the_way_to_write_one(hand):
    with pytest.raises(ValueError) as error:
        Condition(winning_ranks=("2-3-4", hand))

    assert str(error.value) == (
        f"winning_ranks must list hands of two or three ranks of A23456789TJQK, such as 2-3-4, not {hand!r}"
    )


@pytest.mark.parametrize(
    "last",
    [WINS, Rule(name="all", pays="1 to 1"), replace(LOSE, when=Condition(winner=(Winner.BANKER,)))],
)
def test_a_wager_whose_wins_can_be_taken_away_ends_with_a_rule_for_what_is_left(last):
    with pytest.raises(ValueError) as error:
        replace(TIED, rules=(AWARD, last))

    assert str(error.value) == (
        "requires_base_win takes some wins away, so the rules of tied must end with a rule that has no `when` and does not "
        'win: [[wagers.rules]], then name = "lose" and pays = "lose" on lines of their own'
    )


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        (Limits(minimum=150, step=100), "the minimum 150 is not a multiple of the step 100: write a multiple of the step, such as 200"),
        (Limits(step=100), "the minimum 1 is not a multiple of the step 100: write a multiple of the step, such as 100"),
        (Limits(minimum=100, maximum=999, step=100), "the maximum 999 is not a multiple of the step 100: write a multiple of the step, such as 900"),
        (Limits(minimum=100, maximum=900, step=100), None),
        (Limits(minimum=100, step=100), None),
        (Limits(), None),
    ],
)  # fmt: skip
def test_a_bound_that_no_wager_can_meet_is_reported_and_still_read_from_a_record(limits, said):
    assert limits.off_step() == said


@pytest.mark.parametrize("name", ["player", "banker", "progressive"])
def test_a_wager_on_a_hand_or_a_meter_is_not_limited_by_a_base_wager(name):
    limits = Limits(maximum_of_base="50%")
    with pytest.raises(ValueError, match=f"{name} cannot have maximum_of_base"):
        replace(load_game("progressive-2").wager(name), limits=limits)


def test_a_share_of_nothing_is_not_a_limit():
    with pytest.raises(ValueError, match="more than 0%"):
        Limits(maximum_of_base="0%")


# Player 6 in three cards with a pair, Banker 7 in three with a pair: Banker by 1.
LONG = "7S 2S 7H 2H 2D 3C"
# Player's natural nine over five.
SHORT = "KS 2S 9S 3S"


@pytest.mark.parametrize(
    ("asked", "of_long", "of_short"),
    [
        ({}, True, True),
        ({"winner": (Winner.BANKER,)}, True, False),
        ({"winner": (Winner.BANKER, Winner.PLAYER)}, True, True),
        ({"winner": (Winner.TIE,)}, False, False),
        ({"player_cards": (3,)}, True, False),
        ({"banker_cards": (2,)}, False, True),
        ({"player_total": (6, 9)}, True, True),
        ({"player_total": (9,)}, False, True),
        ({"banker_total": (7,)}, True, False),
        ({"margin": (1,)}, True, False),
        ({"margin": (4, 5)}, False, True),
        ({"natural": True}, False, True),
        ({"natural": False}, True, False),
        ({"player_pair": True}, True, False),
        ({"player_pair": False}, False, True),
        ({"banker_pair": True}, True, False),
        ({"banker_pair": False}, False, True),
        ({"winner": (Winner.BANKER,), "margin": (2,)}, False, False),
        ({"coup_cards": (4, 5)}, False, True),
        ({"coup_cards": (6,)}, True, False),
        ({"player_perfect_pair": False}, True, True),
        ({"player_perfect_pair": True}, False, False),
        ({"banker_perfect_pair": False}, True, True),
        ({"banker_perfect_pair": True}, False, False),
        ({"winning_ranks": ("2-2-3",)}, True, False),
        ({"winning_ranks": ("3-2-2", "9-K")}, True, True),
        ({"winning_ranks": ("K-9", "2-3-4")}, False, True),
        ({"winning_ranks": ("9-9",)}, False, False),
        ({"winning_suit": ("S",)}, False, True),
        ({"winning_suit": ("H", "D", "C")}, False, False),
        ({"coup_suit": ("S", "H")}, False, True),
        ({"coup_suit": ("D",)}, False, False),
        ({"coup_suit": ("S",), "natural": False}, False, False),
    ],
)
def test_a_condition_holds_when_all_that_it_asks_is_so(asked: dict[str, Any], of_long, of_short):
    condition = Condition(**asked)

    assert (condition.holds(coup(LONG)), condition.holds(coup(SHORT))) == (of_long, of_short)


def test_the_first_rule_that_holds_decides():
    narrow = Rule(name="narrow", pays="2 to 1", when=Condition(player_total=(9,)))
    wager = replace(PLAYER, rules=(narrow, WINS))

    assert wager.deciding_rule(coup(SHORT)) == narrow
    assert replace(wager, rules=(WINS, narrow)).deciding_rule(coup(SHORT)) == WINS
    assert wager.deciding_rule(coup(LONG)) is None


@pytest.mark.parametrize(
    ("requires", "bases"), [("none", ()), ("any", ("player", "banker")), ("same_side", ("banker",))]
)
def test_which_base_wagers_let_another_be_made(requires, bases):
    bonus = replace(BONUS, requires_base=requires)
    banker = replace(PLAYER, name="banker", side=Side.BANKER)

    assert replace(GAME, wagers=(PLAYER, banker, bonus)).bases_for(bonus) == bases


def test_a_wager_that_needs_its_base_wager_to_win_needs_one_on_a_hand():
    tie = replace(PLAYER, name="tie", side=None)
    lose = Rule(name="lose", pays="lose")
    bonus = replace(BONUS, rules=(WINS, lose), requires_base="any", requires_base_win=True)

    assert replace(GAME, wagers=(PLAYER, tie, bonus)).bases_for(bonus) == ("player",)
    with pytest.raises(ValueError, match="bonus requires a base wager"):
        replace(GAME, wagers=(tie, bonus))


def test_a_wager_is_found_by_its_name():
    assert GAME.wager("bonus") == BONUS

    with pytest.raises(KeyError):
        GAME.wager("malus")


def test_a_condition_says_what_it_asks():
    condition = Condition(
        winner=(Winner.PLAYER,),
        margin=(9, 8),
        natural=False,
        winning_ranks=("4-2-3", "K-Q"),
        coup_suit=("D",),
    )

    assert condition.asked == {
        "winner": {Winner.PLAYER},
        "margin": {8, 9},
        "natural": {False},
        "winning_ranks": {"2-3-4", "Q-K"},
        "coup_suit": {"D"},
    }
    assert Condition().asked == {}


def test_a_condition_that_asks_nothing_holds_of_every_coup():
    assert all(Condition().holds(coup(codes)) for codes in (LONG, SHORT))


@pytest.mark.parametrize(
    ("sides", "wins_by"),
    [
        ((), {}),
        ((Side.PLAYER,), {"award": (Winner.PLAYER,), "wins": (Winner.PLAYER,)}),
        ((Side.BANKER,), {"award": (Winner.BANKER,)}),
        (
            (Side.BANKER, Side.PLAYER),
            {"award": (Winner.PLAYER, Winner.BANKER), "wins": (Winner.PLAYER,)},
        ),
    ],
)
def test_a_wager_that_wins_with_the_base_wager_keeps_the_wins_that_it_can_have_beside_it(sides, wins_by):
    beside = TIED.beside(sides)

    assert [rule.name for rule in beside.rules] == [
        rule.name for rule in TIED.rules if rule.name in {*wins_by, "tie", "lose"}
    ]
    assert {rule.name: rule.when.winner for rule in beside.rules if rule.wins} == wins_by
    assert beside.progressive == (METER if "award" in wins_by else None)
    assert not beside.requires_base_win


def test_what_else_a_rule_asks_is_still_asked_beside_a_base_wager():
    award = TIED.beside([Side.BANKER]).rules[0]

    assert award == replace(AWARD, when=Condition(winner=(Winner.BANKER,), margin=(9,)))


def test_another_wager_is_the_same_beside_any_base_wager():
    assert BONUS.beside([]) is BONUS


@pytest.mark.parametrize(
    ("text", "rate"), [("0%", 0), ("26%", Fraction(26, 100)), ("12.5%", Fraction(1, 8)), ("100%", 1)]
)
def test_a_contribution_is_an_exact_share(text, rate):
    assert Progressive(seed=0, contribution=text).rate == rate


@pytest.mark.parametrize(
    ("pays", "wins"),
    [("lose", False), ("push", False), ("1 to 1", True), ("1 for 1", True), ("10% of the meter", True)],
)
def test_what_pays_more_than_the_stake_back_wins(pays, wins):
    assert Rule(name="rule", pays=pays).wins is wins


def test_the_sides_of_a_seat_are_those_of_its_base_wagers():
    tie = replace(PLAYER, name="tie", side=None)
    game = replace(GAME, wagers=(PLAYER, tie, BONUS))

    assert game.sides_of(["tie", "bonus"]) == set()
    assert game.sides_of(["tie", "bonus", "player"]) == {Side.PLAYER}


BY_NINE = Rule(name="nine", pays="10 to 1", when=Condition(margin=(9,), natural=False))
SUITED = Rule(name="suited", pays="100 to 1", when=Condition(margin=(9,), natural=False, winning_suit=("D",)))


def test_a_rule_that_is_left_to_the_house_can_be_decided_otherwise():
    wager = replace(TIED, rules=(AWARD, SUITED, BY_NINE, WINS, LOSE))

    assert wager.with_rule("requires_base_win", value=False) == replace(wager, requires_base_win=False)
    assert (
        replace(BONUS, requires_base="any").with_rule("requires_base", "same_side").requires_base
        == "same_side"
    )
    with pytest.raises(ValueError, match=r"requires_base_win of .* needs a base wager"):
        wager.with_rule("requires_base", "none")


def test_a_natural_nine_counts_for_a_win_by_nine_alone_if_the_house_says_so():
    wager = replace(TIED, rules=(SUITED, BY_NINE, WINS, LOSE), progressive=None)
    natural = coup("4S TH 5S KH")  # 9 over 0, without a third card

    counts = wager.with_rule("natural_nine", value=True)

    assert counts.rules[0] == SUITED
    assert counts.rules[1].when == Condition(margin=(9,))
    assert counts.with_rule("natural_nine", value=False) == wager
    plain = replace(wager, rules=(BY_NINE, LOSE), progressive=None)
    assert plain.deciding_rule(natural) == LOSE
    assert plain.with_rule("natural_nine", value=True).deciding_rule(natural) == replace(
        BY_NINE, when=Condition(margin=(9,))
    )


def test_a_narrow_place_has_the_short_name_or_else_the_title():
    assert BONUS.short_title == BONUS.title
    assert replace(BONUS, short="DB").short_title == "DB"
