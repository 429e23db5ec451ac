"""The wager sensors themselves: no game is started that they have not latched, and what is wrong with one is an alarm."""

from datetime import UTC, datetime
from typing import Any

import pytest

from punto.baccarat.progressive.game_events import StartGame
from punto.baccarat.table.effects import AlarmAcknowledged
from punto.baccarat.table.state import Phase, Sensors
from punto.messages.building import state_message
from punto.messages.models import Notice
from tests.baccarat.table.croupier import Croupier
from tests.baccarat.table.test_transitions import IN_PHASE

METER: dict[str, Any] = {"game_name": "progressive-2", "meter": {"base_wagers": "unseen"}}


def at_betting(*commands: str) -> Croupier:
    return Croupier(**METER).do("meter", "hello", "sign on", "change shoe", "open", *commands)


def notices(croupier: Croupier) -> list[Notice]:
    return list(state_message(croupier.state, 1, datetime.now(UTC)).notices)


def test_a_game_is_started_with_what_the_sensors_latched():
    croupier = at_betting("sensors there", "spot 2 5", "start game 2 5")

    assert croupier.state.progressive is not None
    assert croupier.state.progressive.procedure.hand.wagers == (2, 5)


def test_no_game_is_started_that_the_sensors_did_not_confirm():
    refused = at_betting("sensors there", "spot 2 5").refused("start game")

    assert refused.code == "start_unconfirmed"
    assert "the game is not started and no wager counts" in str(refused)


def test_no_game_is_started_while_the_sensors_do_not_answer():
    croupier = at_betting("sensors there", "spot 2 5", "sensors lost")

    assert str(croupier.refused("start game")) == "the wager sensors do not answer: cable"
    assert [notice.code for notice in notices(croupier)] == ["sensors_lost"]


def test_sensors_that_latched_nothing_start_a_game_without_wagers():
    croupier = at_betting("sensors there")
    croupier.handle(StartGame(croupier.state.round.number, "ann", ()))

    assert croupier.state.progressive is not None
    assert croupier.state.progressive.procedure.step == "playing"


def test_what_the_procedure_refuses_it_refuses_before_the_sensors_are_asked():
    croupier = at_betting("sensors there", "start game 2")

    assert croupier.refused("start game").code == "already_started"


def test_a_table_without_sensors_starts_with_what_was_recognised():
    croupier = at_betting("spot 2 5", "start game")

    assert croupier.state.progressive is not None
    assert croupier.state.progressive.procedure.hand.wagers == (2, 5)


@pytest.mark.parametrize("phase", Phase)
@pytest.mark.parametrize("command", ["sensors there", "sensors lost", "sensor 3 stuck", "mend 3 stuck"])
def test_what_becomes_of_the_sensors_is_never_refused(phase, command):
    house, so_far = IN_PHASE[phase]

    assert Croupier(**house).do(*so_far, command).phase is phase


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("missing", "no wager sensor answers at position 3 (seat 2)"),
        ("doubled", "two wager sensors answer at position 3 (seat 2)"),
        ("stuck", "a wager of an earlier game is still detected at position 3 (seat 2)"),
        ("unassigned", "a wager sensor answers at position 3 (seat 2), for which no seat is configured"),
    ],
)
def test_a_fault_is_an_alarm_and_a_notice_until_it_is_mended(fault, said):
    croupier = at_betting("sensors there", f"sensor 3 {fault}")
    (alarm,) = croupier.state.alarms
    assert alarm.code == f"sensor_{fault}"
    assert alarm.text.startswith(said)
    assert [(each.code, each.text) for each in notices(croupier)] == [(alarm.code, alarm.text)]

    croupier.do(f"mend 3 {fault}")

    assert croupier.state.alarms == ()
    assert croupier.said == [AlarmAcknowledged(alarm.number, alarm.code)]
    assert notices(croupier) == []


def test_a_sensor_without_a_seat_is_named_by_its_position():
    (alarm,) = at_betting("sensor 1 doubled").state.alarms

    assert alarm.text.startswith("two wager sensors answer at position 1, so ")


def test_an_alarm_of_two_sensors_stands_until_both_are_mended():
    croupier = at_betting("sensor 3 missing", "sensor 5 missing", "sensor 5 missing", "sensor 4 stuck")
    assert [alarm.code for alarm in croupier.state.alarms] == ["sensor_missing", "sensor_stuck"]
    assert "position 3 (seat 2) and position 5 (seat 4)," in croupier.state.alarms[0].text

    croupier.do("mend 3 missing")
    assert len(croupier.state.alarms) == 2
    croupier.do("mend 5 missing")
    assert [alarm.code for alarm in croupier.state.alarms] == ["sensor_stuck"]


def test_a_fault_that_somebody_has_seen_to_is_mended_without_a_word():
    croupier = at_betting("sensors there", "sensor 3 stuck", "acknowledge sensor_stuck")
    assert len(notices(croupier)) == 1

    assert croupier.do("mend 3 stuck").said == []
    assert croupier.do("mend 3 stuck").said == []


def test_after_a_start_nothing_is_known_of_the_sensors_until_they_are_heard():
    croupier = at_betting("sensors there", "sensor 3 stuck", "start")
    assert croupier.state.devices.sensors is None

    assert croupier.do("sensors lost").state.devices.sensors == Sensors(online=False, reason="cable")
