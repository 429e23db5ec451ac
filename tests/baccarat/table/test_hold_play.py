"""Play that somebody holds: nothing goes on, a mistake can be corrected, and a supervisor resumes it."""

from datetime import UTC, datetime

import pytest

from punto.baccarat.table.catalogue import orders_of
from punto.baccarat.table.definition import Role
from punto.baccarat.table.order_kinds import HoldPlay
from punto.baccarat.table.state import Phase
from punto.baccarat.table.turn import RefusedError
from punto.messages.building import state_message
from tests.baccarat.table.croupier import PLAYER_NATURAL, Croupier

HOLD = HoldPlay("mei", "the last hand is disputed")


def test_whoever_deals_may_hold_play_and_only_who_answers_for_the_table_resumes_it():
    assert {role for role in Role if "hold_play" in orders_of([role])} == {
        "dealer",
        "supervisor",
        "executive",
    }
    assert "resume_play" not in orders_of([Role.DEALER])


@pytest.mark.parametrize("commands", [["draw KS"], ["draw KS", "unread"], ["draw KS 2S 9H"]])
def test_a_card_that_comes_while_play_is_held_waits_and_is_dealt_when_it_is_resumed(commands):
    croupier = Croupier.at_betting(*commands)
    coup = croupier.state.round.coup
    croupier.handle(HOLD)

    croupier.do("draw 3S")

    assert croupier.state.round.coup == coup
    croupier.do("resume", *(["key 9S"] if "unread" in commands else []))
    assert croupier.state.round.coup != coup


def test_the_last_hand_is_corrected_while_play_is_held_though_the_next_card_has_come():
    croupier = Croupier.at_betting(f"draw {PLAYER_NATURAL}")
    assert croupier.state.phase is Phase.BETTING  # it opened by itself, and a card would begin the next hand
    croupier.handle(HOLD)
    croupier.do("draw 9H")

    croupier.do("correct round QS 9H over 2S 3S")

    (entry,) = croupier.rounds[1:]
    assert (entry.corrects, entry.player) == (croupier.rounds[0].round, ("QS", "9H"))
    croupier.do("resume")
    assert [stop.code for stop in croupier.state.waiting.stops] == [
        "overdraw"
    ]  # the card was drawn before betting was over


def test_no_betting_opens_or_closes_while_play_is_held():
    croupier = Croupier.at_betting()
    croupier.handle(HOLD)
    with pytest.raises(RefusedError, match="play is held: the last hand is disputed") as refused:
        croupier.do("no more bets")
    assert refused.value.code == "needs_supervisor"


def test_the_displays_say_that_a_supervisor_is_needed_and_blame_no_shoe():
    croupier = Croupier.at_betting()
    croupier.handle(HOLD)
    message = state_message(croupier.state, 1, datetime(2026, 3, 14, tzinfo=UTC))
    assert [each.text for each in message.notices] == ["play is held: the last hand is disputed"]
    assert message.overlays == ("needs_supervisor",)


def test_play_is_held_once():
    croupier = Croupier.at_betting()
    croupier.handle(HOLD)
    with pytest.raises(RefusedError, match="already held") as refused:
        croupier.handle(HOLD)
    assert refused.value.code == "held"


def test_a_table_that_is_locked_has_nothing_to_hold():
    with pytest.raises(RefusedError, match="the table is locked"):
        Croupier().handle(HOLD)
