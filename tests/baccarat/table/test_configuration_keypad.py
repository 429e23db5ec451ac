"""The score display's configuration keypad is reported while a shoe is in use (approval letter, 5), and does nothing."""

import pytest

from tests.baccarat.table.croupier import Croupier
from tests.baccarat.table.test_transitions import IN_PHASE

IN_USE = ["shoe_change", "betting", "dealing", "reveal", "settled"]
ALARM = ("configuration_keypad", False)


def at(phase: str) -> Croupier:
    house, so_far = IN_PHASE[phase]
    return Croupier(**house).do(*so_far)


@pytest.mark.parametrize("phase", IN_USE)
def test_a_keypad_that_shows_up_in_play_is_an_alarm_and_changes_nothing_else(phase):
    croupier = at(phase)
    before = croupier.state

    croupier.do("plug keypad")

    assert croupier.alarms == [ALARM]
    assert croupier.state.keypad_in_play
    kept = {"alarms": before.alarms, "happenings": before.happenings, "devices": before.devices}
    assert croupier.state.replace(**kept) == before


@pytest.mark.parametrize("phase", ["locked", "closed"])
def test_a_keypad_raises_no_alarm_while_the_display_may_be_configured(phase):
    croupier = at(phase).do("plug keypad")

    assert croupier.alarms == []
    assert not croupier.state.keypad_in_play


def test_a_keypad_that_was_left_plugged_in_is_an_alarm_when_a_shoe_comes_into_use():
    croupier = at("closed").do("plug keypad", "change shoe")

    assert croupier.alarms == [ALARM]


def test_one_alarm_is_enough_for_a_keypad_that_stays():
    croupier = at("betting").do("plug keypad", "no more bets", "plug keypad")

    assert [alarm.times for alarm in croupier.state.alarms] == [1]


def test_a_keypad_that_is_taken_away_leaves_its_alarm_until_somebody_has_seen_it():
    croupier = at("betting").do("plug keypad", "pull keypad")

    assert not croupier.state.keypad_in_play
    assert [alarm.code for alarm in croupier.state.alarms] == ["configuration_keypad"]
    croupier.do("acknowledge configuration_keypad")
    assert croupier.state.alarms == ()


def test_after_a_start_it_is_not_known_to_be_there_until_it_is_seen_again():
    croupier = at("betting").do("plug keypad", "start")
    assert not croupier.state.keypad_in_play

    assert croupier.do("plug keypad").alarms == [ALARM]
