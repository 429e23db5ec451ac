"""After a hand that won of the meter the next one waits, until the award is complete or a supervisor lets play go on."""

from datetime import UTC, datetime
from typing import Any

import pytest

from punto.baccarat.table.progressive import what_waits
from punto.baccarat.table.shoe_orders import shoe_orders
from punto.baccarat.table.state import Phase
from punto.consoles.view import prompt_of
from punto.messages.building import state_message
from tests.baccarat.table.croupier import LONG, Croupier

QUARTER = "2H KC 3H JC 4H KD"  # Player 2-3-4 of hearts, 9 over 0: 25% of the meter
TO_QUARTER = "correct round 2H 3H 4H over KC JC KD"
TO_NOTHING = "correct round 2H 3H 5C over KC JC 4D"
AQUARIUS: dict[str, Any] = {"procedure": "aquarius"}
NEXUS: dict[str, Any] = {"procedure": "nexus"}
UNSEEN: dict[str, Any] = {"base_wagers": "unseen"}


def played(cards: str, *commands: str, meter: dict[str, Any] | None = None, **house: Any) -> Croupier:
    croupier = Croupier.at_betting("meter", game_name="progressive-2", meter=meter or {}, **house)
    croupier.do("wager 2 player 500", "wager 5 player 500", "start game 2 5")
    if house.get("betting_closes") == "order":
        croupier.do("no more bets")
    return croupier.do(f"draw {cards}", *commands)


QUARTERS = "the next hand waits, because the award of seat 2 and 5 (25% of the meter) is not complete: "
RESUMES = ". Or have a supervisor resume play without the award"


@pytest.mark.parametrize(
    ("meter", "so_far", "text", "completed"),
    [
        (
            AQUARIUS,
            [],
            f"{QUARTERS}press the hand buttons, then turn the key to JPH, press J-POT and turn the key to RUN",
            None,
        ),
        (AQUARIUS, ["hand 2 5", "turn jph", "j-pot"], f"{QUARTERS}turn the key to RUN", ["turn run"]),
        (NEXUS, [], f"{QUARTERS}press the hand buttons, then press CONFIRM, and swipe a card or sign", None),
        (NEXUS, ["hand 2 5", "confirm"], f"{QUARTERS}swipe a card, or sign", ["swipe supervisor"]),
        (
            UNSEEN,
            [],
            (
                "the next hand waits, because seat 2 and 5 can have won 25% of the meter: confirm NOBODY WON, or press the hand "
                "buttons, then turn the key to JPH, press J-POT and turn the key to RUN"
            ),
            ["turn jph", "nobody", "turn run"],
        ),
        (
            {**UNSEEN, **NEXUS},
            [],
            (
                "the next hand waits, because seat 2 and 5 can have won 25% of the meter: confirm NOBODY WON, or press the hand "
                "buttons, then press CONFIRM, and swipe a card or sign"
            ),
            ["nobody", "sign executive"],
        ),
        (
            {**UNSEEN, **NEXUS},
            ["hand 5", "confirm"],
            "the next hand waits, because the award of seat 2 and 5 (25% of the meter) is not complete: swipe a card, or sign",
            ["swipe executive"],
        ),
    ],
)
def test_the_next_hand_waits_until_the_award_is_complete(meter, so_far, text, completed):
    croupier = played(QUARTER, *so_far, meter=meter)

    refused = croupier.refused("open")
    assert (refused.code, str(refused)) == ("award_open", text + RESUMES)
    assert croupier.state.phase == "settled"
    assert shoe_orders(croupier.state).locked
    assert prompt_of(croupier.state).code == "award"
    assert ("award_open", text + RESUMES) in [
        (each.code, each.text) for each in state_message(croupier.state, 1, datetime.now(UTC)).notices
    ]
    if completed is not None:
        assert croupier.do(*completed).state.phase == "betting"
        assert prompt_of(croupier.state).code == "pay"


def test_a_key_that_is_turned_to_jph_again_keeps_the_next_hand_waiting():
    croupier = played(QUARTER, "hand 2 5", "turn jph", "j-pot", "turn run", "turn jph", next_coup="order")

    assert str(croupier.refused("open")) == f"{QUARTERS}turn the key to RUN{RESUMES}"
    assert croupier.do("turn run", "open").phase is Phase.BETTING


def test_a_card_that_leaves_a_new_shoe_meanwhile_goes_to_no_hand():
    croupier = played(QUARTER, "change shoe", "draw KS")

    assert (croupier.phase, croupier.alarms) == (Phase.SHOE_CHANGE, [("card_outside_play", False)])


def test_a_new_shoe_is_burned_meanwhile_and_betting_opens_when_the_award_is_complete():
    croupier = Croupier(game_name="progressive-2", meter=UNSEEN, burn="first_card")
    croupier.do("hello", "sign on", "meter", "change shoe", "draw AS 2S", "start game 2", f"draw {QUARTER}")
    croupier.do("change shoe", "draw AS 2S")
    assert (croupier.phase, prompt_of(croupier.state).code) == (Phase.SHOE_CHANGE, "award")

    assert croupier.do("turn jph", "nobody", "turn run").phase is Phase.BETTING


def test_a_hand_that_won_nothing_of_the_meter_keeps_nobody_waiting():
    assert played(LONG).phase is Phase.BETTING
    assert what_waits(played(LONG).state) == "no award is open"
    assert what_waits(Croupier.at_betting().state) == "no award is open"


def test_where_betting_is_opened_by_order_it_is_once_the_award_is_complete():
    croupier = played(QUARTER, next_coup="order")

    assert croupier.refused("open").code == "award_open"
    croupier.do("hand 2 5", "turn jph", "j-pot", "turn run")
    assert croupier.phase is Phase.SETTLED
    assert croupier.do("open").phase is Phase.BETTING


def test_a_supervisor_lets_play_go_on_without_it():
    croupier = played(QUARTER, "hand 2 5", "turn jph", "j-pot", "resume")

    assert croupier.phase is Phase.BETTING
    assert "play_resumed" in croupier.kinds
    croupier.do(f"draw {LONG}", "turn run", "game over")
    assert croupier.phase is Phase.BETTING


def test_another_award_of_the_hand_is_waited_for_anew():
    croupier = played(QUARTER, "resume", "correct round 2D 3D 4D over KC JC KH")

    assert croupier.state.award_waits
    croupier.do("resume")
    assert not croupier.state.award_waits


def test_what_stops_play_besides_is_resumed_from_first():
    croupier = played(QUARTER, "overdraw KD", "resume")

    assert (croupier.stops, croupier.state.award_waits, croupier.phase) == ([], True, Phase.SETTLED)
    assert croupier.do("resume").refused("resume").code == "not_stopped"


@pytest.mark.parametrize("correction", [TO_NOTHING, "void round"])
def test_it_waits_no_more_when_the_hand_won_nothing_after_all(correction):
    assert played(QUARTER, correction).phase is Phase.BETTING


def test_a_hand_that_won_by_its_corrected_cards_stops_the_next_before_its_first_card():
    croupier = played("2H KC 3H JC 5C 4D", "game over", "wager 2 player 500")
    assert not shoe_orders(croupier.state).locked

    croupier.do(TO_QUARTER)
    assert croupier.phase is Phase.BETTING
    assert shoe_orders(croupier.state).locked
    assert croupier.refused("no more bets").code == "award_open"
    croupier.do("draw KS")
    assert (croupier.stops, croupier.hand) == (["overdraw"], "")


def test_no_card_is_keyed_for_a_hand_that_waits():
    croupier = Croupier.at_betting(
        "meter", "start game 2", game_name="progressive-2", meter=UNSEEN, cards="keyed", next_coup="automatic"
    )
    croupier.do("key 2H KC 3H JC 5C 4D", "game over", TO_QUARTER)

    assert croupier.phase is Phase.BETTING
    assert croupier.refused("key KS").code == "award_open"


def test_an_award_that_was_taken_back_is_waited_for_unless_a_hand_is_being_dealt():
    done = played(QUARTER, "hand 2 5", "turn jph", "j-pot", "turn run", "game over")

    assert done.do("back out 1").state.award_waits
    croupier = played(
        QUARTER, "hand 2 5", "turn jph", "j-pot", "turn run", "game over", "draw KS", "back out 1"
    )
    assert not croupier.state.award_waits
    assert croupier.do("draw 2S 9H 3S").state.award_waits
    assert croupier.phase is Phase.SETTLED


def test_the_table_can_be_closed_and_the_shoe_changed_meanwhile_and_cards_burned():
    assert played(QUARTER, "close table").phase is Phase.CLOSED
    assert played(QUARTER, "close table").refused("open").code == "award_open"
    croupier = played(QUARTER)
    assert croupier.do("change shoe").phase is Phase.SHOE_CHANGE
    assert croupier.refused("open").code == "award_open"
    croupier.do("lid open", "lid closed")
    assert croupier.phase is Phase.SHOE_CHANGE
    croupier.do("hand 2 5", "turn jph", "j-pot", "turn run")
    assert croupier.do("open").phase is Phase.BETTING


def test_after_the_shoes_last_hand_there_is_no_next_to_wait():
    croupier = played(QUARTER[:8], "cut card", f"draw {QUARTER[9:]}", coups_after_cut_card=0, meter=UNSEEN)

    assert croupier.state.shoe_over
    assert croupier.do("turn jph", "nobody", "turn run", "game over").phase is Phase.SETTLED
