"""Wagers at the table: made, changed, taken back, refused, returned."""

from dataclasses import replace

import pytest

from punto.baccarat.table.events import SetWager
from punto.baccarat.table.order_kinds import ChangeGame
from punto.baccarat.table.turn import RefusedError
from punto.baccarat.wagers.definition import Limits
from punto.baccarat.wagers.settlement import PlacedWager
from tests.baccarat.table.croupier import PLAYER_NATURAL, Croupier

DRAGON = {"game_name": "dragon-bonus-1"}


def placed(croupier: Croupier) -> list[tuple[int, str, int]]:
    return [(each.seat, each.wager, each.amount) for each in croupier.state.round.wagers]


@pytest.mark.parametrize(
    ("commands", "stand"),
    [
        (["wager 1 player 500"], [(1, "player", 500)]),
        (["wager 1 player 500", "wager 1 player 500"], [(1, "player", 500)]),
        (["wager 1 player 500", "wager 1 player 700"], [(1, "player", 700)]),
        (["wager 1 player 500", "wager 2 player 700"], [(1, "player", 500), (2, "player", 700)]),
        (["wager 1 player 500", "wager 2 tie 5", "wager 1 player 0"], [(2, "tie", 5)]),
        (["wager 1 player 5", "wager 2 tie 5", "wager 1 player 6"], [(1, "player", 6), (2, "tie", 5)]),
        (["wager 1 player 0"], []),
        (
            ["wager 1 player 5", "wager 1 dragon_bonus_player 500", "wager 1 dragon_bonus_player 0"],
            [(1, "player", 5)],
        ),
    ],
)
def test_a_seat_sets_what_it_has_on_a_wager(commands, stand):
    croupier = Croupier.at_betting(*commands, **DRAGON)

    assert placed(croupier) == stand
    assert croupier.said == []


def test_a_base_wager_is_not_lowered_below_what_its_side_wager_needs():
    croupier = Croupier.at_betting("wager 1 player 500")
    tie = replace(croupier.state.settings.game.wager("tie"), limits=Limits(maximum_of_base="20%"))
    croupier.do("close table")
    game = croupier.state.settings.game
    others = tuple(tie if each.name == "tie" else each for each in game.wagers)
    croupier.handle(ChangeGame("bob", replace(game, wagers=others), "eve"))
    croupier.do("change shoe", "open", "wager 1 player 500", "wager 1 tie 100")

    assert croupier.refused("wager 1 player 499").code == "above_share"
    assert croupier.refused("wager 1 tie 101").code == "above_share"
    croupier.do("wager 1 tie 0", "wager 1 player 5")


@pytest.mark.parametrize(
    ("commands", "refused", "code", "message"),
    [
        ([], "wager 0 player 5", "no_such_seat", "there is no seat 0: seats are 1 to 7"),
        ([], "wager 8 player 5", "no_such_seat", "there is no seat 8: seats are 1 to 7"),
        ([], "wager 1 player -5", "bad_amount", "-5 is not an amount: give minor units, or 0 to take a wager back"),
        ([], "wager 1 lucky 5", "unknown_wager", "has no wager 'lucky'; it has player, banker, tie, dragon_bonus"),
        ([], "wager 1 lucky 0", "unknown_wager", "has no wager 'lucky'"),
        ([], "wager 1 dragon_bonus_player 500", "needs_base", "needs a wager of the same seat on player"),
        (["wager 2 player 5"], "wager 1 dragon_bonus_player 500", "needs_base", "of the same seat"),
        (["wager 1 player 5", "wager 1 dragon_bonus_player 500"], "wager 1 player 0", "needs_base", "on player"),
        (["wager 1 player 5"], "wager 1 dragon_bonus_player 499", "below_minimum", "4.99 USD on dragon_bonus_player is below its minimum of 5.00 USD"),
        (["wager 1 player 5"], "wager 1 dragon_bonus_player 10001", "above_maximum", "100.01 USD on dragon_bonus_player is above its maximum of 100.00 USD"),
    ],
)  # fmt: skip
def test_a_wager_that_may_not_stand_changes_nothing(commands, refused, code, message):
    croupier = Croupier.at_betting(*commands, **DRAGON)

    error = croupier.refused(refused)

    assert error.code == code
    assert message in str(error)


@pytest.mark.parametrize("number", [1, 3])
def test_a_wager_is_for_the_round_that_betting_is_open_for(number):
    croupier = Croupier.at_betting(f"draw {PLAYER_NATURAL}")

    with pytest.raises(RefusedError) as error:
        croupier.handle(SetWager("w", 1, "player", 5, number))

    assert error.value.code == "wrong_round"
    assert str(error.value) == f"the wager is for round {number}, but the table is at round 2"


def test_the_first_card_closes_betting():
    croupier = Croupier.at_betting("wager 1 player 500", "draw KS")

    assert croupier.refused("wager 1 player 0").code == "betting_closed"


@pytest.mark.parametrize("command", ["close table", "change shoe"])
def test_wagers_for_a_coup_that_is_not_dealt_go_back(command):
    croupier = Croupier.at_betting("wager 1 player 500", command)

    assert croupier.kinds == ["wagers_returned", "phase_entered"]
    assert (croupier.state.round.wagers, croupier.state.round.number, croupier.rounds) == ((), 1, [])


def test_a_settled_wager_is_on_the_record_and_not_on_the_layout():
    croupier = Croupier.at_betting("wager 1 player 500", "wager 1 tie 5", f"draw {PLAYER_NATURAL}")

    assert croupier.state.round.wagers == ()
    assert [(each.wager, each.stake, each.returned, each.net) for each in croupier.rounds[0].settlements] == [
        ("player", 500, 1000, 500),
        ("tie", 5, 0, -5),
    ]


def test_a_placed_wager_keeps_its_seat():
    assert Croupier.at_betting("wager 7 tie 5").state.round.wagers == (PlacedWager(7, "tie", 5),)
