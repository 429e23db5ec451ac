from dataclasses import replace
from typing import Any

import pytest

from controller.baccarat.coup import Side, Winner
from controller.wagers.condition import Condition
from controller.wagers.definition import Game, Limits, Rule, Wager
from tests.wagers.coups import coup

WINS = Rule(name="wins", pays="1 to 1", when=Condition(winner=(Winner.PLAYER,)))
PLAYER = Wager(name="player", title="Player", rules=(WINS,), base=True, side=Side.PLAYER)
BONUS = Wager(name="bonus", title="Bonus", rules=(WINS,), side=Side.BANKER)
GAME = Game(name="game", title="Game", sheet="none", wagers=(PLAYER, BONUS))


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (
            lambda: Condition(winner=()),
            "winner is an empty list, which never holds: name player, banker or tie",
        ),
        (lambda: Condition(player_cards=(4,)), "player_cards must list values from 2 to 3, not [4]"),
        (lambda: Condition(banker_cards=(1, 2)), "banker_cards must list values from 2 to 3, not [1, 2]"),
        (lambda: Condition(player_total=(10,)), "player_total must list values from 0 to 9, not [10]"),
        (lambda: Condition(banker_total=(-1,)), "banker_total must list values from 0 to 9, not [-1]"),
        (lambda: Condition(margin=()), "margin must list values from 0 to 9, not []"),
        (lambda: replace(WINS, pays="evens"), "'evens' is not a pay"),
        (
            lambda: replace(WINS, name="lose"),
            'name "lose" is for a rule that pays "lose", and this one pays "1 to 1"',
        ),
        (lambda: Limits(minimum=0), "minimum and step must be at least 1 minor unit, not 0 and 1"),
        (lambda: Limits(step=0), "minimum and step must be at least 1 minor unit, not 1 and 0"),
        (lambda: Limits(minimum=500, maximum=100), "the maximum 100 is below the minimum 500"),
        (lambda: replace(BONUS, rules=()), "bonus has no rules: it would always lose"),
        (
            lambda: replace(BONUS, rules=(WINS, WINS)),
            "two rules of bonus are called 'wins': each needs a name of its own",
        ),
        (
            lambda: replace(BONUS, side=None, requires_base="same_side"),
            'bonus requires a base wager on the same side: say side = "player" or "banker"',
        ),
        (lambda: replace(PLAYER, requires_base="any"), "player is a base wager and cannot require another"),
        (lambda: replace(GAME, decks=0), "decks must be from 1 to 12, not 0"),
        (lambda: replace(GAME, decks=13), "decks must be from 1 to 12, not 13"),
        (lambda: replace(GAME, maximum_wagers=0), "maximum_wagers must be at least 1, not 0"),
        (
            lambda: replace(GAME, wagers=(PLAYER, PLAYER)),
            "two wagers are called 'player': each needs a name of its own",
        ),
        (lambda: replace(GAME, wagers=(BONUS,)), "no wager has base = true: a game needs its base wagers"),
        (
            lambda: replace(GAME, wagers=(PLAYER, replace(BONUS, requires_base="same_side"))),
            "bonus requires a base wager on the same side, and there is none",
        ),
    ],
)
def test_a_definition_that_cannot_be_played_says_what_to_do(build, message):
    with pytest.raises(ValueError) as error:
        build()

    assert str(error.value).startswith(message)


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


def test_a_wager_is_found_by_its_name():
    assert GAME.wager("bonus") == BONUS

    with pytest.raises(KeyError):
        GAME.wager("malus")
