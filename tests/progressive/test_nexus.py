"""How a round goes with Nexus Command (sheet 000, Nexus Command, dealing procedure)."""

from itertools import product
from typing import Any, get_args

import pytest
from pydantic import TypeAdapter

from punto.baccarat.progressive import nexus
from punto.baccarat.progressive.effects import AwardBooked, AwardLocked, NobodyWonLogged, Posted
from punto.baccarat.progressive.events import Authority, BookAward, LockAward, Won
from punto.baccarat.progressive.game_events import StartGame
from punto.baccarat.progressive.nexus import REFUSED, TRANSITIONS, Nexus, SignAward, SwipeCard
from punto.baccarat.progressive.procedure import Step
from punto.baccarat.progressive.refusal import RefusedError
from punto.baccarat.progressive.state import AwardState, State
from tests.progressive.floor import COMMANDS, TIERS, Floor, refusal

STORED: TypeAdapter[Any] = TypeAdapter(nexus.State)
BOOKS: TypeAdapter[State] = TypeAdapter(State)

PLAY = ["place 1", "place 3", "start"]
WON = [*PLAY, "won quarter 1 2 3"]  # seat 2 won its base wager, without a progressive one
CONFIRMED = [*WON, "press 1", "press 3", "confirm"]
PAID = [*CONFIRMED, "swipe supervisor"]
OVER = [*PAID, "end"]
MAY = [*PLAY, "may quarter 1 3"]  # the base wagers are unseen: the dealer sees whose won
DENIED = [*MAY, "nobody"]
NOBODY = [*DENIED, "swipe supervisor", "end"]
FORTY = [*PLAY, "won forty 1 3", "press 1", "press 3"]  # 40 for 1 from the tray, which comes to 80.00

# What happened so far, and the event: of which step it is, and what it leads to.
SCENARIOS = [
    ([], "place 1", "betting", "betting"),
    (["place 1"], "lift 1", "betting", "betting"),
    (["place 1"], "void 1", "betting", "betting"),
    (["place 1"], "start", "betting", "playing"),
    (OVER, "won quarter 1 3", "betting", "betting"),
    ([*PLAY, "lost", "end"], "won quarter 1", "betting", "settling"),
    ([], "back", "betting", "betting"),
    (OVER, "back", "betting", "settling"),
    (WON, "back", "settling", "settling"),
    (CONFIRMED, "back", "confirmed", "settling"),
    (PAID, "back", "adjusted", "settling"),
    (NOBODY, "reopen ann", "betting", "settling"),
    (PLAY, "lift 1", "playing", "playing"),
    (PLAY, "void 1", "playing", "playing"),
    (PLAY, "won quarter 1", "playing", "settling"),
    (WON, "lift 1", "settling", "settling"),
    (WON, "void 1", "settling", "settling"),
    (WON, "won all 1", "settling", "settling"),
    (WON, "press 1", "settling", "settling"),
    (CONFIRMED[:-1], "confirm", "settling", "confirmed"),
    (FORTY, "confirm", "settling", "adjusted"),
    (MAY, "nobody", "settling", "confirmed"),
    ([*PLAY, "may forty 1 3"], "nobody", "settling", "adjusted"),
    ([*PLAY, "lost"], "end", "settling", "betting"),
    (CONFIRMED, "lift 1", "confirmed", "confirmed"),
    (CONFIRMED, "void 1", "confirmed", "confirmed"),
    (CONFIRMED, "won quarter 1 3", "confirmed", "confirmed"),
    (CONFIRMED, "lost", "confirmed", "settling"),
    (CONFIRMED, "press 1", "confirmed", "settling"),
    (CONFIRMED, "swipe supervisor", "confirmed", "adjusted"),
    (CONFIRMED, "sign supervisor", "confirmed", "adjusted"),
    (DENIED, "swipe supervisor", "confirmed", "adjusted"),
    (DENIED, "press 3", "confirmed", "settling"),
    (PAID, "lift 1", "adjusted", "adjusted"),
    (PAID, "void 1", "adjusted", "adjusted"),
    (PAID, "lost", "adjusted", "adjusted"),
    (PAID, "won all 1 3", "adjusted", "settling"),
    (PAID, "end", "adjusted", "betting"),
]

# What happened so far, the event that is refused then, and the refusal's code.
REFUSALS = [
    ([], "press 1", "not_started"),
    ([], "confirm", "no_hand_selected"),
    ([], "swipe executive", "not_confirmed"),
    ([], "sign executive", "not_confirmed"),
    ([], "nobody", "not_started"),
    ([], "end", "not_started"),
    (PLAY, "place 2", "after_start"),
    (PLAY, "start", "already_started"),
    (PLAY, "back", "of_no_round"),
    (PLAY, "press 1", "hand_not_over"),
    (PLAY, "confirm", "no_hand_selected"),
    (PLAY, "swipe executive", "not_confirmed"),
    (PLAY, "sign executive", "not_confirmed"),
    (PLAY, "nobody", "hand_not_over"),
    ([*NOBODY, *PLAY[2:]], "reopen ann", "already_started"),
    (PLAY, "end", "hand_not_over"),
    (WON, "place 2", "after_start"),
    (WON, "start", "already_started"),
    (WON, "swipe executive", "not_confirmed"),
    (WON, "sign executive", "not_confirmed"),
    (MAY, "reopen ann", "not_over"),
    (CONFIRMED, "place 2", "after_start"),
    (CONFIRMED, "start", "already_started"),
    (CONFIRMED, "confirm", "already_confirmed"),
    (DENIED, "nobody", "already_confirmed"),
    (DENIED, "reopen ann", "not_over"),
    (CONFIRMED, "end", "award_unconfirmed"),
    (PAID, "place 2", "after_start"),
    (PAID, "start", "already_started"),
    (PAID, "press 1", "already_confirmed"),
    (PAID, "confirm", "already_confirmed"),
    (PAID, "swipe executive", "already_confirmed"),
    (PAID, "sign executive", "already_confirmed"),
    (PAID, "nobody", "already_confirmed"),
    (NOBODY[:-1], "reopen ann", "not_over"),
]


def with_cards(**changes: Any) -> Floor:
    return Floor(procedure="nexus", **changes)


UNSEEN = (
    "seat 1 and 3 can have won two_three_four_suited: press the hand button of each seat whose Player or Banker "
    "wager won, and have the award confirmed. If no such wager won, "
)


def event_of(command: str) -> type:
    verb, *words = command.split()
    return type(COMMANDS[verb](Nexus.new("t1", 100).state, words))


@pytest.mark.parametrize(("so_far", "command", "before", "after"), SCENARIOS)
def test_an_event_leads_where_the_table_says(so_far, command, before, after):
    floor = with_cards(supervisor_from=10_000).do(*so_far)
    found = floor.step
    floor.do(command)

    assert (found, floor.step) == (before, after)


def test_every_way_that_the_transition_table_lists_is_gone_by_a_scenario():
    gone = {(Step(before), event_of(command), Step(after)) for _, command, before, after in SCENARIOS}

    assert gone == {
        (before, event, after)
        for before, events in TRANSITIONS.items()
        for event, steps in events.items()
        for after in steps
    }


def test_an_event_leads_on_or_is_refused_with_a_reason_in_every_step():
    listed = [(step, event) for step, events in TRANSITIONS.items() for event in events]
    refused = [(step, event) for step, events in REFUSED.items() for event in events]

    assert sorted(map(str, listed + refused)) == sorted(map(str, product(TRANSITIONS, get_args(nexus.Event))))


@pytest.mark.parametrize(("so_far", "command", "code"), REFUSALS)
def test_what_a_step_does_not_allow_is_refused_and_changes_nothing(so_far, command, code):
    floor = with_cards().do(*so_far)

    assert refusal(floor, lambda: floor.do(command))[0] == code


def test_every_refusal_of_a_step_has_a_scenario():
    def step_after(so_far: list[str]) -> Step:
        return Step(with_cards().do(*so_far).step)

    assert {(step_after(so_far), event_of(command)) for so_far, command, _ in REFUSALS} == {
        (step, event) for step, events in REFUSED.items() for event in events
    }


@pytest.mark.parametrize(
    ("so_far", "command", "code", "says"),
    [
        (
            WON,
            "confirm",
            "no_hand_selected",
            "no hand is selected: press the hand button of each seat that won",
        ),
        (
            [*WON, "press 1"],
            "confirm",
            "hand_missing",
            "seat 3 also won: press the hand button of each winning seat, or correct the round",
        ),
        (
            WON,
            "end",
            "award_unconfirmed",
            "the award two_three_four_suited of seat 1 and 3 is not confirmed: a supervisor must confirm this award",
        ),
        (
            CONFIRMED,
            "end",
            "award_unconfirmed",
            "the confirmed award is not completed: swipe a card or sign before this order",
        ),
        (
            WON,
            "swipe executive",
            "not_confirmed",
            "no award is confirmed yet, so there is nothing to complete: select the hands, then press CONFIRM",
        ),
        (
            CONFIRMED,
            "confirm",
            "already_confirmed",
            "the result of this game is already confirmed: swipe a card or sign to complete the confirmation, or press a hand button to cancel the confirmation",
        ),
        (
            MAY,
            "end",
            "award_unconfirmed",
            UNSEEN + "a supervisor confirms NOBODY WON, and a card or a signature completes it",
        ),
        (
            [*PLAY, "won quarter 1"],
            "press 3",
            "not_won",
            "the hand of seat 3 won no award in round 1",
        ),
        (WON, "press 2", "no_wager", "seat 2 has no progressive wager in round 1"),
    ],
)
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


def test_pressing_a_hand_button_again_takes_it_back():
    floor = with_cards().do(*WON, "press 1", "press 3", "press 1")

    assert floor.tables["t1"].state.hand.selected == (3,)


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
        LockAward("t1", 1, Won(TIERS["quarter"], (1, 3)), Authority("eve", "card", "executive", "bob"))
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
    award = LockAward("t1", 1, Won(TIERS["quarter"], (1, 3)), Authority("bob"))

    assert refusal(floor, lambda: floor.order(award)) == (
        "no_card",
        "an award is completed by a card or a signature: swipe a Supervisor or an Executive card, or sign",
    )


def test_a_table_that_loses_its_power_after_any_step_goes_on_from_there():
    """It is stored and taken up again after each, with the books."""
    day = [
        *OVER,
        "place 5",
        "start",
        "won all 5",
        "press 5",
        "confirm",
        "swipe executive",
        "end",
        "won all 5",
    ]
    day += [
        "place 1",
        "start",
        "lost",
        "end",
        "won quarter 1",
        "press 1",
        "confirm",
        "swipe supervisor",
        "end",
    ]
    day += ["place 3", "start", "may all 3", "nobody", "sign supervisor", "end", "reopen ann"]
    day += ["nobody", "press 3", "confirm", "sign supervisor", "end"]
    straight, killed = with_cards(reserve="5%"), with_cards(reserve="5%")
    stood = set()
    for command in day:
        straight.do(command)
        killed.do(command)
        machine = Nexus(STORED.validate_json(STORED.dump_json(killed.tables["t1"].state), strict=True))
        assert machine.state == killed.tables["t1"].state
        killed.tables["t1"] = machine
        killed.progressive.state = BOOKS.validate_json(BOOKS.dump_json(killed.state), strict=True)
        stood.add(machine.state.step)

    assert (killed.state, killed.effects) == (straight.state, straight.effects)
    assert stood == set(TRANSITIONS)


def test_a_way_that_is_not_listed_is_never_gone(monkeypatch):
    monkeypatch.setitem(TRANSITIONS[Step.BETTING], StartGame, frozenset({Step.BETTING}))
    floor = with_cards()

    with pytest.raises(AssertionError, match="start_game led from betting to playing, which the transition"):
        floor.do("start")

    assert floor.step == "betting"
