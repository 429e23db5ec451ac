"""What an event leaves behind at which the program's code failed: nothing is taken for known that the table could not handle."""

from typing import Any

import pytest

from punto.baccarat.table.events import RecordDiffers
from punto.baccarat.table.turn import RefusedError
from tests.baccarat.table.croupier import BANKER_NATURAL, Croupier, events_of
from tests.baccarat.table.linked_floor import LinkedFloor

METER: dict[str, Any] = {"game_name": "progressive-2", "meter": {"base_wagers": "unseen"}}
NAME = "5f2a" * 16
"""The digest of a traceback."""


def fail(croupier: Croupier, command: str) -> RefusedError | None:
    """A command whose event the program cannot handle."""
    (event,) = events_of(croupier, command)
    _, refusal = croupier.table.fail(event, NAME)
    return refusal


@pytest.mark.parametrize(
    "command",
    ["draw KS", "unread", "overdraw 9H", "cut card", "lid open", "fault", "noise", "records lost 3"],
)
def test_a_report_of_the_shoe_that_failed_is_taken_and_stops_play(command):
    croupier = Croupier.at_betting("wager 1 player 500", "draw KS 2S")
    hand = croupier.hand

    assert fail(croupier, command) is None

    assert (croupier.stops, croupier.hand) == (["internal_error"], hand)
    croupier.record = croupier.state.link.expected
    croupier.do("resume", "void", f"draw {BANKER_NATURAL}")
    assert croupier.last_round == 2


@pytest.mark.parametrize("command", ["hello next=9", "lose shoe", "start"])
def test_after_a_failure_the_shoe_is_offline_until_it_is_connected_again(command):
    croupier = Croupier.at_betting()

    fail(croupier, command)
    croupier.do("resume")

    assert not croupier.state.link.online
    assert croupier.refused("wager 1 player 500").code == "cards_unseen"
    croupier.do("lose shoe", "hello", "wager 1 player 500")
    assert len(croupier.state.round.wagers) == 1


def test_after_a_failure_no_game_is_started_until_the_sensors_are_connected_again():
    croupier = Croupier(**METER).do("meter", "hello", "sign on", "change shoe", "open")

    fail(croupier, "sensors there")
    croupier.do("resume", "spot 2")

    assert croupier.refused("start game").code == "sensors_lost"
    croupier.do("sensors there", "start game 2")


@pytest.mark.parametrize("command", ["spot 2", "lift 2", "annul 2", "turn jph"])
def test_a_report_that_failed_is_refused_to_a_person_who_gives_it_and_stops_play(command):
    croupier = Croupier(**METER).do("meter", "hello", "sign on", "change shoe", "open")

    refusal = fail(croupier, command)

    assert refusal is not None
    assert (refusal.code, croupier.stops) == ("internal_error", ["internal_error"])


@pytest.mark.parametrize("command", ["wager 1 player 500", "no more bets", "order hold_play x"])
def test_a_request_that_failed_is_refused_and_changes_nothing(command):
    croupier = Croupier.at_betting()
    before = croupier.state

    refusal = fail(croupier, command)

    assert refusal is not None
    assert (refusal.code, croupier.state) == ("internal_error", before)


def test_a_table_waits_for_an_answer_of_its_authority_that_failed_because_it_moved_money():
    floor = LinkedFloor(2)
    floor.settle()
    table = floor.tables["t1"]
    table.do("spot 1", "start game")
    floor.ask("t1")
    floor.take_ask(floor.asks.pop())
    floor.answer("t1")
    (_, answer), floor.answers = floor.answers[-1], []

    table.table.fail(answer, NAME)

    assert table.stops == ["internal_error"]
    table.do("resume")
    table.handle(answer)  # by a version that can handle it
    assert table.step == "playing"
    floor.check()


def test_what_a_linked_table_asked_is_refused_if_the_authority_failed_at_it():
    floor = LinkedFloor(2)
    floor.settle()
    table, meter = floor.tables["t1"], floor.authority.progressive.books
    table.do("spot 1", "start game")
    floor.ask("t1")

    floor.authority.table.fail(floor.asks.pop(), NAME)

    assert floor.authority.progressive.books == meter
    floor.settle()
    assert table.step == "betting"
    assert "meter_refused" in [alarm.code for alarm in table.state.alarms]
    floor.check()


def test_a_request_of_a_linked_table_that_has_its_answer_keeps_it_if_the_authority_fails_at_it_later():
    floor = LinkedFloor(2)
    floor.settle()
    floor.tables["t1"].do("spot 1", "start game")
    floor.ask("t1")
    asked = floor.asks[-1]
    floor.settle()
    answered = floor.authority.progressive.served

    floor.authority.table.fail(asked, NAME)

    assert floor.authority.progressive.served == answered


def test_news_of_the_record_that_failed_is_an_alarm_and_does_not_stop_play():
    croupier = Croupier.at_betting()

    croupier.table.fail(RecordDiffers("input 7"), NAME)

    assert [alarm.code for alarm in croupier.state.alarms] == ["internal_error"]
    croupier.do("wager 1 player 500", "draw KS")
