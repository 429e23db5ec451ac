"""How a round goes with Aquarius (sheet 000, Aquarius, dealing procedure)."""

from typing import Any

import pytest

from punto.baccarat.coup import Side
from punto.baccarat.progressive import aquarius
from punto.baccarat.progressive.aquarius import Jpot, Key, TurnKey
from punto.baccarat.progressive.effects import AwardBooked, AwardLocked, GameReopened, NobodyWonLogged
from punto.baccarat.progressive.events import (
    BackOut,
    BookAward,
    Confirmation,
    Contribute,
    EndRound,
    LockAward,
    ReopenRound,
    SeatWager,
    Won,
)
from punto.baccarat.progressive.game_events import HandDecided, NobodyWon, ReopenGame, StartGame
from punto.baccarat.progressive.state import AwardState
from tests.baccarat.progressive.floor import COMMANDS, TIERS, Floor, refusal

PLAY = ["place 1", "place 3", "start"]
WON = [*PLAY, "won quarter 1 2 3"]  # seat 2 won its base wager, without a progressive one
LOGGED = [*WON, "press 1", "press 3", "key jph", "jpot"]
PAID = [*LOGGED, "key run"]
OVER = [*PAID, "over"]
MAY = [*PLAY, "may quarter 1 3"]  # the base wagers are unseen: the dealer sees whose won
DENIED = [*MAY, "key jph", "nobody"]
NOBODY = [*DENIED, "key run", "over"]
FORTY = [*PLAY, "won forty 1 3", "press 1", "press 3"]  # 40 for 1 from the tray, which comes to 80.00


def floor_of(so_far: list[str], **changes: Any) -> Floor:
    """A floor whose dealer may confirm awards of less than 100.00 from the tray."""
    return Floor(supervisor_from=10_000, **changes).do(*so_far)


UNSEEN = (
    "seat 1 and 3 can have won an award: press the hand button of each seat whose Player or Banker "
    "wager won, and have the award confirmed. If no such wager won, "
)
KEY_IN_RUN = "the key is at RUN: a supervisor must turn the key to JPH before this order"
KEY_IN_JPH = "the key is at JPH: a supervisor must turn the key to RUN before this order"
CARDS_SAY = (
    "the recorded base wagers and the cards show that seat 1 and 3 won: have the award confirmed, or "
    "correct the round"
)
HAND_SELECTED = "the hand button of seat 3 is on: if the hand did not win, press the button again; if the hand won, have the award confirmed"
NOT_ENDED_SO = "only a game that ended with NOBODY WON can be reopened: correct the cards of the last game, or have the award of that game backed out"


@pytest.mark.parametrize(
    ("so_far", "command", "code", "says"),
    [
        (WON, "press 2", "no_wager", "seat 2 has no progressive wager in round 1"),
        ([*PLAY, "won quarter 1"], "press 3", "not_won", "the hand of seat 3 won no award in round 1"),
        ([*PLAY, "lost"], "press 3", "not_won", "the hand of seat 3 won no award in round 1"),
        ([*WON, "press 1", "press 3"], "jpot", "key_in_run", "the key is at RUN: a supervisor must turn the key to JPH before this order"),
        ([*WON, "key jph"], "jpot", "no_hand_selected", "no hand is selected: press the hand button of each seat that won"),
        ([*PLAY, "lost", "key jph"], "jpot", "no_hand_selected", "no hand is selected: press the hand button of each seat that won"),
        ([*WON, "press 3", "key jph"], "jpot", "hand_missing", "seat 1 also won: press the hand button of each winning seat, or correct the round"),
        ([*PLAY, "lost", "key jph"], "over", "key_in_jph", "the key is at JPH: a supervisor must turn the key to RUN before this order"),
        ([*PAID, "key jph"], "over", "key_in_jph", "the key is at JPH: a supervisor must turn the key to RUN before this order"),
        (WON, "over", "award_unconfirmed", "the award of seat 1 and 3 is not confirmed: a supervisor must confirm this award"),
        (MAY, "over", "award_unconfirmed", UNSEEN + "a supervisor turns the key to JPH and confirms NOBODY WON"),
        ([*WON, "key jph"], "nobody", "cards_say", CARDS_SAY),
        ([*MAY, "press 3", "key jph"], "nobody", "hand_selected", HAND_SELECTED),
        (MAY, "nobody", "key_in_run", KEY_IN_RUN),
        ([*PLAY, "lost", "key jph"], "nobody", "not_won", "the hand won no award in round 1: end the game"),
        (["key jph", "place 1"], "start", "key_in_jph", KEY_IN_JPH),
        ([], "reopen ann", "not_ended_so", NOT_ENDED_SO),
        (OVER, "reopen ann", "not_ended_so", NOT_ENDED_SO),
        ([*PLAY, "lost", "over"], "reopen ann", "not_ended_so", NOT_ENDED_SO),
        ([*NOBODY, "lost"], "reopen ann", "not_ended_so", NOT_ENDED_SO),
        (PLAY, "place 2", "after_start", "the game is already started: return this wager, because it does not count"),
        (PLAY, "start", "already_started", "this game is already started: end this game before you start the next one"),
        (LOGGED, "jpot", "already_confirmed", "this award is confirmed and logged: if the award is wrong, have it backed out at the Game Manager"),
    ],
)  # fmt: skip
def test_a_refusal_says_what_is_wrong_and_what_to_do(so_far, command, code, says):
    floor = Floor().do(*so_far)

    assert refusal(floor, lambda: floor.do(command)) == (code, says)


def test_the_wagers_on_the_sensors_at_the_start_are_those_of_the_round():
    machine = Floor().do("place 3", "place 1", "place 2", "lift 2").tables["t1"]

    assert machine.handle(StartGame(7, "ann")) == [
        Contribute("t1", 7, (SeatWager(1, 100), SeatWager(3, 100)))
    ]


def test_a_wager_that_was_taken_or_lifted_after_the_start_stands():
    floor = Floor().do(*PLAY, "lift 1", "lift 3", "won quarter 1", "press 1")

    assert floor.tables["t1"].state.hand.sensors == ()
    assert floor.tables["t1"].state.hand.selected == (1,)


@pytest.mark.parametrize("start", ["start", "latched 1 3"])
def test_a_wager_counts_in_one_round_and_is_laid_again_for_the_next(start):
    floor = Floor().do("place 1", "place 3", start, "lift 1", "lost", "over", "place 1", "start")

    assert floor.tables["t1"].state.hand.wagers == (1,)


def test_a_wager_that_was_voided_is_in_no_game():
    floor = Floor().do("place 1", "place 3", "void 3", "start")

    assert floor.tables["t1"].state.hand.wagers == (1,)


def test_what_sensors_latched_or_what_was_voided_is_known_to_lie_there_until_it_goes():
    floor = Floor().do("place 1", "place 3", "place 5", "void 5", "latched 1 3")
    hand = floor.tables["t1"].state.hand
    assert (hand.wagers, hand.sensors, hand.spent) == ((1, 3), (), (1, 3, 5))

    floor.do("lift 1", "lost", "over", "lift 5", "place 5")
    hand = floor.tables["t1"].state.hand
    assert (hand.sensors, hand.spent) == ((5,), (3,))

    floor.do("latched 5", "lost", "over", "place 3")  # it is another one, says whoever sees it
    hand = floor.tables["t1"].state.hand
    assert (hand.sensors, hand.spent) == ((3,), (5,))


def test_a_correction_takes_back_the_hand_buttons_of_those_who_did_not_win():
    floor = Floor().do(*WON, "press 1", "press 3", "won quarter 3")

    assert floor.tables["t1"].state.hand.selected == (3,)


def test_jpot_logs_the_award_and_the_key_in_run_adjusts_the_meter():
    machine = Floor().do(*LOGGED[:-1]).tables["t1"]

    assert machine.handle(Jpot("bob")) == [
        LockAward("t1", 1, Won(TIERS["quarter"], (1, 3)), Confirmation("bob"))
    ]
    assert machine.handle(TurnKey(Key.RUN, "bob")) == [BookAward("t1")]
    assert machine.handle(aquarius.GameOver("ann")) == [EndRound("t1", 1)]


def test_between_jpot_and_run_the_award_is_fixed_and_the_meter_is_not_adjusted():
    floor = Floor().do(*LOGGED)

    assert [type(effect) for effect in floor.effects[3:]] == [AwardLocked]
    assert (floor.state.shown, floor.state.locked[0].amount) == (1_000_040, 250_010)

    floor.do("key run")
    assert isinstance(floor.effects[-1], AwardBooked)
    assert (floor.state.shown, floor.state.locked) == (750_030, ())


def test_where_the_base_wagers_are_unseen_the_dealer_says_whose_hand_won():
    floor = Floor().do(*PLAY, "may quarter 1 3", "press 3", "key jph", "jpot", "key run", "over")

    (award,) = floor.awards
    assert (award.seats, floor.step) == ((3,), "betting")


# --- nobody won


def nobody_won(floor: Floor) -> list[NobodyWonLogged]:
    return [effect for effect in floor.effects if isinstance(effect, NobodyWonLogged)]


def test_that_nobody_won_is_logged_by_the_key_and_moves_no_money():
    floor = Floor().do(*MAY)
    before = floor.state
    floor.do("key jph", "nobody", "key run")

    assert (floor.state, floor.awards) == (before, [])
    assert nobody_won(floor) == [
        NobodyWonLogged(
            "t1", 1, TIERS["quarter"], (1, 3), 250_010, "meter", "no base wager won", "bob", "key"
        )
    ]


@pytest.mark.parametrize(
    ("start", "order"),
    [(DENIED[:-1], NobodyWon("bob", " ")), (NOBODY, ReopenGame("eve", "", "ann"))],
)
def test_nobody_won_and_what_takes_it_back_have_a_reason(start, order):
    floor = Floor().do(*start)

    assert refusal(floor, lambda: floor.tell("t1", order))[0] == "no_reason"


def test_a_game_that_ended_with_nobody_as_its_winner_is_opened_again_for_its_award():
    floor = Floor().do(*NOBODY, "reopen ann")
    assert refusal(floor, lambda: floor.do("over"))[0] == "award_unconfirmed"

    floor.do("press 3", "key jph", "jpot", "key run", "over")
    assert [(award.round, award.seats) for award in floor.awards] == [(1, (3,))]
    assert GameReopened("t1", 1, "seat 3 had won", "eve", "ann") in floor.effects


def test_cards_that_are_corrected_after_nobody_won_are_asked_about_again():
    floor = Floor().do(*NOBODY, "may quarter 1 3")
    assert floor.step == "betting"  # as they were

    floor.do("may all 1 3")
    assert (floor.step, floor.tables["t1"].state.hand.award_differs) == ("settling", False)
    assert refusal(floor, lambda: floor.do("over"))[0] == "award_unconfirmed"

    floor.do("may quarter 1 3", "key jph", "nobody", "key run", "over")
    assert [each.rule for each in nobody_won(floor)] == [TIERS["quarter"]] * 2


def test_cards_that_are_corrected_to_none_of_an_award_leave_nobody_as_its_winner():
    floor = Floor().do(*NOBODY, "lost")

    assert (floor.step, floor.tables["t1"].state.hand.award_differs) == ("betting", False)


# --- awards from the tray (sheet 000, 7a: "Other hands are paid from the tray or from the meter")


def test_an_award_from_the_tray_goes_the_way_of_the_meters_and_moves_no_money():
    floor = Floor().do(*PLAY)
    before = floor.state.ledger
    floor.do("won forty 1 3", "press 1", "press 3", "key jph", "jpot", "key run", "over")

    (award,) = floor.awards
    assert (award.payer, award.amount, award.by, floor.state.ledger) == ("tray", 8000, "key", before)


@pytest.mark.parametrize(
    ("so_far", "command"),
    [
        ([*PLAY, "won thousand 1 3", "press 1", "press 3"], "jpot"),  # 1,000.00 each
        ([*PLAY, "may thousand 1 3"], "nobody"),
        ([*WON, "press 1", "press 3"], "jpot"),  # of the meter
        (MAY, "nobody"),
    ],
)
def test_what_the_dealer_may_not_confirm_alone_needs_the_key(so_far, command):
    floor = floor_of(so_far)

    assert refusal(floor, lambda: floor.do(command)) == ("key_in_run", KEY_IN_RUN)


@pytest.mark.parametrize(("below", "code"), [(8001, None), (8000, "key_in_run"), (0, "key_in_run")])
def test_the_dealer_confirms_alone_what_comes_to_less_than_the_house_says(below, code):
    floor = Floor(supervisor_from=below).do(*FORTY)
    if code is not None:
        assert refusal(floor, lambda: floor.do("jpot"))[0] == code
        return

    floor.do("jpot", "over")
    assert [(award.by, award.who, award.amount) for award in floor.awards] == [("dealer", "bob", 8000)]


# --- unseen base wagers and corrections


def test_where_the_base_wagers_are_unseen_a_hand_that_is_selected_is_confirmed_before_the_end():
    floor = Floor().do(*PLAY, "may quarter 1 3", "press 3")

    code, why = refusal(floor, lambda: floor.do("over"))
    assert (code, "of seat 3 is not confirmed" in why) == ("award_unconfirmed", True)


def test_where_the_base_wagers_are_unseen_a_correction_to_another_tier_opens_the_round_until_its_award_is_backed_out():
    floor = Floor().do(*PLAY, "may quarter 1 3", "press 3", "key jph", "jpot", "key run")
    floor.do("may quarter 1 3")
    assert floor.step == "adjusted"

    floor.do("may all 1 3")
    assert (floor.step, floor.tables["t1"].state.hand.award_differs) == ("settling", True)
    floor.do("key jph")
    assert refusal(floor, lambda: floor.do("nobody"))[0] == "already_confirmed"

    floor.order(BackOut(1, "misread", "eve", "ann"))
    floor.do("back", "nobody", "key run", "over")


def test_where_the_base_wagers_are_unseen_a_correction_to_the_other_hand_asks_again_who_won():
    floor = Floor().do(*PLAY)
    floor.tell("t1", HandDecided(Won(TIERS["quarter"], (1, 3), certain=False, side=Side.PLAYER)))
    floor.do("press 3")
    floor.tell("t1", HandDecided(Won(TIERS["quarter"], (1, 3), certain=False, side=Side.BANKER)))

    assert floor.tables["t1"].state.hand.selected == ()


def test_after_a_back_out_the_right_hand_can_be_confirmed():
    floor = Floor().do(*PLAY, "may quarter 1 3", "press 1", "key jph", "jpot", "key run", "over")
    floor.order(BackOut(1, "of seat 3", "eve", "ann"))
    floor.do("back", "press 3", "key jph", "jpot", "key run", "over")

    assert [award.seats for award in floor.awards] == [(1,), (3,)]
    assert floor.state.shown == 1_000_040 - floor.awards[1].amount


def test_where_the_base_wagers_are_unseen_a_tier_found_after_the_end_opens_the_round_again():
    floor = Floor().do(*PLAY, "lost", "over", "may quarter 1 3")
    assert floor.step == "settling"

    floor.do("key jph", "nobody", "key run", "over", "may quarter 1 3")
    assert floor.step == "betting"


def test_a_correction_after_the_end_opens_the_last_round_again_for_its_award():
    floor = Floor().do(*PLAY, "lost", "over", "place 2")
    assert floor.tables["t1"].handle(COMMANDS["won"](None, ["quarter", "3"])) == [ReopenRound("t1", 1)]

    floor = Floor().do(
        *PLAY, "lost", "over", "place 2", "won quarter 3", "press 3", "key jph", "jpot", "key run"
    )
    assert [(award.round, award.seats, award.amount) for award in floor.awards] == [(1, (3,), 250_010)]

    floor.do("over", "start")
    assert floor.tables["t1"].state.hand.wagers == (2,)


def test_an_award_that_a_correction_makes_wrong_is_backed_out_before_the_right_one():
    floor = Floor(approval_above=None).do(*OVER, "won all 1", "press 1", "key jph")
    assert refusal(floor, lambda: floor.do("jpot"))[0] == "already_confirmed"

    floor.order(BackOut(1, "misread", "eve"))
    floor.do("jpot", "key run", "over")
    assert [(award.id, award.amount) for award in floor.awards] == [(1, 250_010), (2, 1_000_040)]


def test_a_correction_that_is_taken_back_leaves_the_award_as_it_was_confirmed():
    floor = Floor().do(*OVER, "won all 1", "won quarter 1 3", "over")

    assert floor.step == "betting"
    assert [award.state for award in floor.state.awards] == [AwardState.BOOKED]


def test_the_same_award_in_the_next_round_is_confirmed_again():
    floor = Floor().do(*OVER, *PLAY, "won quarter 1 3")

    assert refusal(floor, lambda: floor.do("over"))[0] == "award_unconfirmed"


def test_a_table_that_has_had_no_round_cannot_correct_one():
    assert Floor().do("won all 1").step == "betting"
