"""Which progressive wagers are in a game, and what a hand says that begins without one."""

import pytest

from punto.baccarat.progressive.events import SeatWager
from tests.baccarat.table.croupier import Croupier
from tests.baccarat.table.test_progressive import (
    LOSES,
    QUARTER,
    metered,
    of_the_meter,
    progressive,
    refused,
    step,
)

# --- which wagers are in a game


def alarm_of(croupier: Croupier, code: str) -> str | None:
    return next((each.text for each in croupier.state.alarms if each.code == code), None)


NEEDS_BASE = "seat 4: progressive also needs a wager of the same seat on player or banker"
BOTH_SIDES = "seat 4: progressive needs a wager on Player or on Banker, not on both"


@pytest.mark.parametrize("started", ["start game 2 4", "start game"], ids=["latched", "recognised"])
@pytest.mark.parametrize(
    ("base", "reason"),
    [
        ((), NEEDS_BASE),
        (("wager 4 tie 500",), NEEDS_BASE),
        (("wager 4 player 500", "wager 4 banker 500"), BOTH_SIDES),
    ],
    ids=["none", "tie alone", "both sides"],
)
@pytest.mark.parametrize(
    "game_name", ["progressive-1", "progressive-1-five-dollar", "progressive-2", "progressive-3"]
)
def test_a_wager_on_the_meter_needs_one_on_player_or_banker_alone_beside_it(game_name, base, reason, started):
    croupier = metered("spot 2 4", *base, started, game_name=game_name)
    hand = progressive(croupier).procedure.hand

    assert (hand.wagers, hand.sensors, 4 in hand.spent) == ((2,), (), True)
    assert [each.wagers for each in progressive(croupier).books.rounds] == [(SeatWager(2, hand.stake),)]
    assert alarm_of(croupier, "progressive_wager_left_out") == (
        f"return the progressive wagers that are not in the game of round 1: {reason}"
    )


def test_a_wager_that_is_left_out_is_in_the_next_game_only_if_it_is_laid_again():
    croupier = metered("start game 4", f"draw {LOSES}", "game over", "wager 4 player 500")
    assert alarm_of(croupier, "progressive_wager_left_out") is not None

    croupier.do("start game")
    assert progressive(croupier).procedure.hand.wagers == ()
    assert alarm_of(croupier, "progressive_wager_left_out") is None
    croupier.do(f"draw {LOSES}", "game over", "wager 4 player 500", "lift 4", "spot 4", "start game")
    assert progressive(croupier).procedure.hand.wagers == (4,)


def test_a_house_may_take_it_beside_both():
    croupier = metered("wager 4 player 500", "wager 4 banker 500", "start game 4", one_side_only=False)

    assert progressive(croupier).procedure.hand.wagers == (4,)


def test_where_base_wagers_are_unseen_all_that_lies_there_is_in_the_game():
    croupier = metered("start game 4 6", base_wagers="unseen", one_side_only=True)

    assert progressive(croupier).procedure.hand.wagers == (4, 6)
    assert alarm_of(croupier, "progressive_wager_left_out") is None


def test_a_start_that_is_refused_leaves_nothing_out():
    croupier = metered("sensors there", "spot 4")

    assert refused(croupier, "start game") == "start_unconfirmed"
    assert progressive(croupier).procedure.hand.sensors == (4,)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ("wager 2 player 0", "needs_base"),
        ("wager 2 banker 500", "both_sides"),
        ("wager 2 player 1000", None),
        ("wager 2 tie 500", None),
        ("wager 4 player 500", None),
        ("wager 5 player 0", None),  # which has no wager in the game
    ],
)
def test_after_the_start_no_base_wager_is_taken_from_under_it(change, code):
    croupier = metered("start game 2")

    if code is None:
        croupier.do(change)
    else:
        assert refused(croupier, change) == code


def test_before_the_start_and_after_the_hand_base_wagers_are_the_players():
    assert metered("spot 2", "wager 2 player 0").state.round.wagers
    croupier = metered("start game 2", f"draw {LOSES}", "wager 2 player 500", "wager 2 banker 500")

    assert len(croupier.state.round.wagers) == 2


def test_after_a_void_hand_the_seat_makes_its_base_wager_again():
    croupier = metered("start game 2", "draw KS", "void", "wager 2 tie 500", "wager 2 player 500")

    assert refused(croupier, "wager 2 player 0") == "needs_base"
    assert refused(croupier, "wager 2 banker 500") == "both_sides"


# --- a hand that begins without START GAME

BY_ORDER = {"betting_closes": "order"}


@pytest.mark.parametrize(
    ("commands", "house", "times"),
    [
        (["spot 2 5", "draw KS"], {}, 1),
        (["spot 2 5", "draw KS 2S"], {}, 1),
        (["spot 2 5", "draw KS", "void", "draw KS"], {}, 2),
        (["spot 2 5", "unread"], {}, 0),  # it may be the card of a hand that is void
        (["spot 2 5", "unread", "key KS"], {}, 1),
        (["spot 2 5", "no more bets"], BY_ORDER, 0),  # START GAME can still be given
        (["spot 2 5", "no more bets", "draw KS"], BY_ORDER, 1),
        (["spot 2 5", "no more bets", "start game", "draw KS"], BY_ORDER, 0),
        (["spot 2 5", "start game", "draw KS"], {}, 0),
        (["spot 2 5", "start game", "draw KS", "void", "draw KS"], {}, 0),  # the game goes on
        (["spot 2 5", "start game", f"draw {LOSES}", "draw KS"], {}, 0),  # GAME OVER is missing, and no wager
        (["draw KS"], {}, 0),
        (["spot 2 5", "lift 2 5", "draw KS"], {}, 0),
        (["spot 2 5", "annul 2 5", "draw KS"], {}, 0),
        (["spot 2 5", "overdraw KS", "resume"], {"overdraw": "dummy"}, 0),  # which has no wagers
        (["sensors there", "spot 2 5", "draw KS"], {}, 1),
        (["sensors there", "spot 2 5", "sensors lost", "draw KS"], {}, 0),  # START GAME is refused
    ],
)
def test_a_hand_that_begins_without_start_game_while_wagers_are_lit_is_an_alarm(commands, house, times):
    croupier = Croupier.at_betting("meter", game_name="progressive-2", meter={}, **house).do(*commands)
    found = [alarm for alarm in croupier.state.alarms if alarm.code == "game_not_started"]

    assert sum(alarm.times for alarm in found) == times
    assert not croupier.stops
    began = f"the hand of round {croupier.state.round.number} began without START GAME"
    unplayed = "the lit progressive wagers (seats 2 and 5) are in no game and win nothing"
    assert {alarm.text for alarm in found} <= {
        f"{began}, so {unplayed}: return them, or leave them for the next game"
    }


def test_a_game_that_was_not_started_stands_as_an_alarm_until_a_supervisor_acknowledges_it():
    croupier = metered("spot 2 5", f"draw {QUARTER}")
    assert (step(croupier), of_the_meter(croupier)) == ("betting", [])

    croupier.do("start game", f"draw {LOSES}", "game over")
    assert alarm_of(croupier, "game_not_started") is not None
    croupier.do("acknowledge game_not_started")
    assert alarm_of(croupier, "game_not_started") is None
