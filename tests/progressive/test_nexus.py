"""How a round goes with Nexus Command (sheet 000, Nexus Command, dealing procedure)."""

from itertools import product
from typing import Any, get_args

import pytest
from pydantic import TypeAdapter

from controller.progressive import nexus
from controller.progressive.effects import AwardBooked, AwardLocked, Posted
from controller.progressive.events import BookAward, LockAward
from controller.progressive.nexus import REFUSED, TRANSITIONS, Nexus, Step, SwipeCard
from controller.progressive.procedure import StartGame
from controller.progressive.refusal import RefusedError
from controller.progressive.state import AwardState, State
from tests.progressive.floor import COMMANDS, TIERS, Floor, refusal

STORED: TypeAdapter[Any] = TypeAdapter(nexus.State)
BOOKS: TypeAdapter[State] = TypeAdapter(State)

PLAY = ["place 1", "place 3", "start"]
WON = [*PLAY, "won quarter 1 2 3"]  # seat 2 won its base wager, without a progressive one
CONFIRMED = [*WON, "press 1", "press 3", "confirm"]
PAID = [*CONFIRMED, "swipe supervisor"]
OVER = [*PAID, "end"]

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
    (PLAY, "lift 1", "playing", "playing"),
    (PLAY, "void 1", "playing", "playing"),
    (PLAY, "won quarter 1", "playing", "settling"),
    (WON, "lift 1", "settling", "settling"),
    (WON, "void 1", "settling", "settling"),
    (WON, "won all 1", "settling", "settling"),
    (WON, "press 1", "settling", "settling"),
    (CONFIRMED[:-1], "confirm", "settling", "confirmed"),
    ([*PLAY, "lost"], "end", "settling", "betting"),
    (CONFIRMED, "lift 1", "confirmed", "confirmed"),
    (CONFIRMED, "void 1", "confirmed", "confirmed"),
    (CONFIRMED, "won quarter 1 3", "confirmed", "confirmed"),
    (CONFIRMED, "lost", "confirmed", "settling"),
    (CONFIRMED, "press 1", "confirmed", "settling"),
    (CONFIRMED, "swipe supervisor", "confirmed", "adjusted"),
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
    ([], "end", "not_started"),
    (PLAY, "place 2", "after_start"),
    (PLAY, "start", "already_started"),
    (PLAY, "back", "of_no_round"),
    (PLAY, "press 1", "hand_not_over"),
    (PLAY, "confirm", "no_hand_selected"),
    (PLAY, "swipe executive", "not_confirmed"),
    (PLAY, "end", "hand_not_over"),
    (WON, "place 2", "after_start"),
    (WON, "start", "already_started"),
    (WON, "swipe executive", "not_confirmed"),
    (CONFIRMED, "place 2", "after_start"),
    (CONFIRMED, "start", "already_started"),
    (CONFIRMED, "confirm", "already_confirmed"),
    (CONFIRMED, "end", "award_unconfirmed"),
    (PAID, "place 2", "after_start"),
    (PAID, "start", "already_started"),
    (PAID, "press 1", "already_confirmed"),
    (PAID, "confirm", "already_confirmed"),
    (PAID, "swipe executive", "already_confirmed"),
]


def with_cards(**changes: Any) -> Floor:
    return Floor(procedure="nexus", **changes)


def event_of(command: str) -> type:
    verb, *words = command.split()
    return type(COMMANDS[verb](Nexus.new("t1", 100).state, words))


@pytest.mark.parametrize(("so_far", "command", "before", "after"), SCENARIOS)
def test_an_event_leads_where_the_table_says(so_far, command, before, after):
    floor = with_cards().do(*so_far)
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

    assert sorted(map(str, listed + refused)) == sorted(map(str, product(Step, get_args(nexus.Event))))


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
            "seat 3 won as well: press its hand button too, or correct the round",
        ),
        (
            WON,
            "end",
            "award_unconfirmed",
            "the award two_three_four_suited of seat 1 and 3 is not confirmed: a supervisor must confirm it",
        ),
        (
            CONFIRMED,
            "end",
            "award_unconfirmed",
            "an award is confirmed and not completed: swipe a card first",
        ),
        (
            WON,
            "swipe executive",
            "not_confirmed",
            "no award is confirmed that a card could complete: select the hands and press CONFIRM first",
        ),
        (CONFIRMED, "confirm", "already_confirmed", "this award is confirmed: swipe a card to complete it"),
        (
            [*PLAY, "won quarter 1"],
            "press 3",
            "not_won",
            "the hand of seat 3 won nothing of the meter in round 1",
        ),
        (WON, "press 2", "no_wager", "seat 2 has no progressive wager in round 1"),
    ],
)
def test_a_refusal_says_what_is_wrong_and_what_to_do(so_far, command, code, says):
    floor = with_cards().do(*so_far)

    assert refusal(floor, lambda: floor.do(command)) == (code, says)


def test_an_award_of_executive_level_needs_an_executive_card():
    floor = with_cards(executive_from=250_010).do(*CONFIRMED)

    assert refusal(floor, lambda: floor.do("swipe supervisor")) == (
        "executive_needed",
        "an award of 2,500.10 needs an Executive card: swipe one",
    )
    assert floor.do("swipe executive").step == "adjusted"


def test_an_award_below_executive_level_takes_either_card():
    for card in ("supervisor", "executive"):
        assert with_cards(executive_from=250_011).do(*CONFIRMED, f"swipe {card}").step == "adjusted"


def test_a_swipe_asks_for_the_award_with_the_card_that_was_swiped():
    machine = with_cards().do(*CONFIRMED).tables["t1"]

    assert machine.handle(SwipeCard("bob", "executive")) == [
        LockAward("t1", 1, TIERS["quarter"], (1, 3), "bob", "executive")
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

    assert steps == set(Step)
    assert len(known) > 500
    assert refused


def test_the_key_of_an_aquarius_table_has_nothing_to_book_with_nexus():
    floor = with_cards().do(*PAID)

    assert refusal(floor, lambda: floor.order(BookAward("t1")))[0] == "nothing_locked"


def test_an_award_without_a_card_is_refused():
    floor = with_cards().do(*WON)
    award = LockAward("t1", 1, TIERS["quarter"], (1, 3), "bob")

    assert refusal(floor, lambda: floor.order(award)) == (
        "no_card",
        "an award is completed by a card: swipe a Supervisor or an Executive card",
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
    assert stood == set(Step)


def test_a_way_that_is_not_listed_is_never_gone(monkeypatch):
    monkeypatch.setitem(TRANSITIONS[Step.BETTING], StartGame, frozenset({Step.BETTING}))
    floor = with_cards()

    with pytest.raises(AssertionError, match="start_game led from betting to playing, which the transition"):
        floor.do("start")

    assert floor.step == "betting"
