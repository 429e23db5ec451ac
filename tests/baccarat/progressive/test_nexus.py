"""How a round goes with Nexus Command (sheet 000, Nexus Command, dealing procedure)."""

from typing import Any

import pytest

from punto.baccarat.progressive.effects import AwardBooked, AwardLocked, NobodyWonLogged, Posted
from punto.baccarat.progressive.events import BookAward, Confirmation, LockAward, Won
from punto.baccarat.progressive.nexus import TRANSITIONS, SignAward, SwipeCard
from punto.baccarat.progressive.refusal import RefusedError
from punto.baccarat.progressive.state import AwardState
from tests.baccarat.progressive.floor import TIERS, Floor, refusal

PLAY = ["place 1", "place 3", "start"]
WON = [*PLAY, "won quarter 1 2 3"]  # seat 2 won its base wager, without a progressive one
CONFIRMED = [*WON, "press 1", "press 3", "confirm"]
PAID = [*CONFIRMED, "swipe supervisor"]
OVER = [*PAID, "end"]
MAY = [*PLAY, "may quarter 1 3"]  # the base wagers are unseen: the dealer sees whose won
DENIED = [*MAY, "nobody"]
NOBODY = [*DENIED, "swipe supervisor", "end"]
FORTY = [*PLAY, "won forty 1 3", "press 1", "press 3"]  # 40 for 1 from the tray, which comes to 80.00


def with_cards(**changes: Any) -> Floor:
    return Floor(procedure="nexus", **changes)


UNSEEN = (
    "seat 1 and 3 can have won an award: press the hand button of each seat whose Player or Banker "
    "wager won, and have the award confirmed. If no such wager won, "
)


@pytest.mark.parametrize(
    ("so_far", "command", "code", "says"),
    [
        (WON, "confirm", "no_hand_selected", "no hand is selected: press the hand button of each seat that won"),
        ([*WON, "press 1"], "confirm", "hand_missing", "seat 3 also won: press the hand button of each winning seat, or correct the round"),
        (WON, "end", "award_unconfirmed", "the award of seat 1 and 3 is not confirmed: a supervisor must confirm this award"),
        (CONFIRMED, "end", "award_unconfirmed", "the confirmed award is not completed: swipe a card or sign before this order"),
        (WON, "swipe executive", "not_confirmed", "no award is confirmed yet, so there is nothing to complete: select the hands, then press CONFIRM"),
        (
            CONFIRMED,
            "confirm",
            "already_confirmed",
            "the result of this game is already confirmed: swipe a card or sign to complete the confirmation, or press a hand button to cancel the confirmation",
        ),
        (MAY, "end", "award_unconfirmed", UNSEEN + "a supervisor confirms NOBODY WON, and a card or a signature completes it"),
        ([*PLAY, "won quarter 1"], "press 3", "not_won", "the hand of seat 3 won no award in round 1"),
        (WON, "press 2", "no_wager", "seat 2 has no progressive wager in round 1"),
    ],
)  # fmt: skip
def test_a_refusal_says_what_is_wrong_and_what_to_do(so_far, command, code, says):
    floor = with_cards().do(*so_far)

    assert refusal(floor, lambda: floor.do(command)) == (code, says)


@pytest.mark.parametrize("how", ["swipe", "sign"])
@pytest.mark.parametrize("confirmed", [CONFIRMED, DENIED])
def test_an_award_of_executive_level_needs_an_executive_and_so_does_that_nobody_won_it(how, confirmed):
    floor = with_cards(executive_from=250_010).do(*confirmed)

    assert refusal(floor, lambda: floor.do(f"{how} supervisor")) == (
        "executive_needed",
        "an award of 2,500.10 needs an executive: swipe an Executive card, or have an executive sign",
    )
    assert floor.do(f"{how} executive").step == "adjusted"


@pytest.mark.parametrize("complete", [SwipeCard("bob", "executive"), SignAward("bob", "executive")])
@pytest.mark.parametrize("confirmed", [CONFIRMED, DENIED])
def test_an_award_of_executive_level_needs_two_people(complete, confirmed):
    floor = with_cards(executive_from=250_010).do(*confirmed)

    assert refusal(floor, lambda: floor.tell("t1", complete)) == (
        "second_person_needed",
        "an award of 2,500.10 needs two people. bob pressed CONFIRM, so another executive must complete the award",
    )


@pytest.mark.parametrize(
    ("complete", "card"),
    [(SwipeCard("eve", "executive"), "executive"), (SignAward("eve", "executive"), None)],
)
def test_an_award_says_who_confirmed_and_completed_it_and_by_what(complete, card):
    floor = with_cards(executive_from=250_010).do(*CONFIRMED)
    floor.tell("t1", complete)

    (award,) = floor.awards
    by = "signature" if card is None else "card"
    assert (award.confirmed_by, award.who, award.by, award.level, award.card) == (
        "bob",
        "eve",
        by,
        "executive",
        card,
    )


def test_that_nobody_won_is_logged_by_the_card_and_moves_no_money():
    floor = with_cards(executive_from=250_010).do(*DENIED)
    before = floor.state
    floor.do("swipe executive", "end")

    assert (floor.state.ledger, floor.awards) == (before.ledger, [])
    (logged,) = [effect for effect in floor.effects if isinstance(effect, NobodyWonLogged)]
    assert logged == NobodyWonLogged(
        *("t1", 1, TIERS["quarter"], (1, 3), 250_010, "meter", "no base wager won", "eve", "card"),
        level="executive",
        confirmed_by="bob",
    )


def test_a_game_that_ended_with_nobody_as_its_winner_is_opened_again_for_its_award():
    floor = with_cards().do(*NOBODY, "reopen ann", "press 3", "confirm", "swipe supervisor", "end")

    assert [(award.round, award.seats) for award in floor.awards] == [(1, (3,))]


def test_a_hand_button_takes_back_that_nobody_won():
    floor = with_cards().do(*DENIED, "press 3", "confirm", "swipe supervisor", "end")

    assert [award.seats for award in floor.awards] == [(3,)]


def test_confirm_alone_completes_what_the_dealer_may_confirm():
    floor = with_cards(supervisor_from=8001).do(*FORTY, "confirm", "end")

    assert [(award.by, award.payer, award.card) for award in floor.awards] == [("dealer", "tray", None)]


def test_an_award_below_executive_level_takes_either_card():
    for card in ("supervisor", "executive"):
        assert with_cards(executive_from=250_011).do(*CONFIRMED, f"swipe {card}").step == "adjusted"


def test_a_swipe_asks_for_the_award_with_the_card_that_was_swiped():
    machine = with_cards().do(*CONFIRMED).tables["t1"]

    assert machine.handle(SwipeCard("eve", "executive")) == [
        LockAward("t1", 1, Won(TIERS["quarter"], (1, 3)), Confirmation("eve", "card", "executive", "bob"))
    ]


def test_a_swipe_logs_the_award_and_adjusts_the_meter_in_one_step():
    floor = with_cards().do(*CONFIRMED)
    before = len(floor.effects)
    floor.do("swipe supervisor")

    assert [type(effect) for effect in floor.effects[before:]] == [AwardLocked, Posted, AwardBooked]
    assert (floor.state.shown, floor.state.locked) == (750_030, ())


def test_a_nexus_table_is_never_found_with_an_award_logged_and_the_meter_not_adjusted():
    """Every state that a table and its books can come to by all that may be done, from the first on.

    Amounts are left out, or there would be no end of states: what can be done does not hang on them.
    """
    words = ["place 1", "place 2", "lift 1", "start", "lost", "won quarter 1", "won all 1 2"]
    words += ["press 1", "press 2", "confirm", "swipe supervisor", "swipe executive", "end"]
    words += ["may all 1 2", "nobody", "reopen ann"]
    coming = [with_cards(executive_from=500_000)]
    known, steps, refused = set(), set(), 0
    while coming:
        floor = coming.pop()
        machine, books = floor.tables["t1"].state, floor.state
        assert not books.locked
        assert {award.state for award in books.awards} <= {AwardState.BOOKED}
        steps.add(machine.step)
        for word in words:
            floor.tables["t1"].state, floor.progressive.state = machine, books
            if word == "start" and machine.hand.round == 2:
                continue  # a third round is as the second
            try:
                floor.do(word)
            except RefusedError:
                refused += 1
                continue
            awarded = tuple((award.round, award.rule) for award in floor.state.awards)
            if (key := (floor.tables["t1"].state, floor.state.rounds, awarded)) not in known:
                known.add(key)
                found = with_cards(executive_from=500_000)
                found.tables["t1"].state, found.progressive.state = floor.tables["t1"].state, floor.state
                coming.append(found)

    assert steps == set(TRANSITIONS)
    assert len(known) > 500
    assert refused


def test_the_key_of_an_aquarius_table_has_nothing_to_book_with_nexus():
    floor = with_cards().do(*PAID)

    assert refusal(floor, lambda: floor.order(BookAward("t1")))[0] == "nothing_locked"


def test_an_award_without_a_card_is_refused():
    floor = with_cards().do(*WON)
    award = LockAward("t1", 1, Won(TIERS["quarter"], (1, 3)), Confirmation("bob"))

    assert refusal(floor, lambda: floor.order(award)) == (
        "no_card",
        "an award is completed by a card or a signature: swipe a Supervisor or an Executive card, or sign",
    )
