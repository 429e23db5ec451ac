"""Alarms stand until somebody has acknowledged them; a supervisor who is called is one."""

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from punto.baccarat.table.effects import AlarmAcknowledged
from punto.baccarat.table.events import (
    CARD_GUESSING,
    HOUSE_ACCOUNTS,
    AccessRefused,
    Flooded,
    LogHeld,
    RecordDiffers,
    SessionEnded,
    SharedId,
)
from punto.baccarat.table.order_kinds import AcknowledgeAlarm, CallSupervisor
from punto.baccarat.table.shoe_events import MOST_REMEMBERED
from punto.baccarat.table.turn import MOST_ALIKE, RefusedError
from punto.messages.building import state_message
from tests.baccarat.table.croupier import Croupier


def standing(croupier: Croupier) -> list[tuple[str, int]]:
    return [(alarm.code, alarm.times) for alarm in croupier.state.alarms]


def test_an_alarm_stands_until_it_is_acknowledged():
    croupier = Croupier.at_betting("noise")
    (alarm,) = croupier.state.alarms
    assert (alarm.code, alarm.number) == ("link_noise", croupier.state.happenings)

    croupier.do("acknowledge link_noise")

    assert croupier.state.alarms == ()
    assert croupier.said == [AlarmAcknowledged(alarm.number, "link_noise")]


def test_the_public_state_has_the_calls_for_a_supervisor_and_no_other_alarm():
    def calls(croupier: Croupier) -> list[tuple[int, str]]:
        message = state_message(croupier.state, 1, datetime.now(UTC))
        return [(each.number, each.text) for each in message.calls]

    croupier = Croupier.at_betting("noise", "call a question")
    (number,) = (each.number for each in croupier.state.alarms if each.code == "supervisor_called")
    assert calls(croupier) == [(number, "a question")]

    croupier.do("acknowledge supervisor_called")
    assert calls(croupier) == []


def test_the_same_alarm_again_is_counted_and_not_listed_twice():
    croupier = Croupier.at_betting("noise", "call a question", "noise")

    assert standing(croupier) == [("supervisor_called", 1), ("link_noise", 2)]


def test_calls_for_different_reasons_are_alarms_of_their_own():
    croupier = Croupier.at_betting("call a question", "call a dispute", "call a question")

    assert [(alarm.text, alarm.times) for alarm in croupier.state.alarms] == [
        ("a dispute", 1),
        ("a question", 2),
    ]


def test_a_refused_copy_of_the_houses_accounts_is_an_alarm():
    croupier = Croupier.at_betting()
    for code in ("forged", "stale"):
        croupier.handle(AccessRefused(None, HOUSE_ACCOUNTS, code, "the broker"))

    assert standing(croupier) == [("house_accounts", 2)]


def test_the_alarm_of_a_lock_out_is_public_and_does_not_say_whose_it_is():
    croupier = Croupier().do("lock out")
    croupier.handle(AccessRefused("bob", "sign_on", "locked_out", "192.0.2.8"))

    assert standing(croupier) == [("locked_out", 2)]
    assert not {"ann", "bob"} & set(croupier.state.alarms[0].text.split())


def test_an_operator_who_has_signed_off_is_the_tables_no_more():
    croupier = Croupier.at_betting("draw KS")
    croupier.handle(SessionEnded("bob", "signed off"))
    found = [croupier.state.operator]
    croupier.handle(SessionEnded("ann", "signed off"))
    found.append(croupier.state.operator)

    assert found == ["ann", None]
    assert croupier.phase.value == "dealing"


def test_an_alarm_that_came_again_is_not_acknowledged_by_its_old_number():
    croupier = Croupier.at_betting("noise")
    (seen,) = croupier.state.alarms
    croupier.do("noise")

    with pytest.raises(RefusedError, match=f"there is no alarm {seen.number} now"):
        croupier.handle(AcknowledgeAlarm("bob", seen.number))
    assert standing(croupier) == [("link_noise", 2)]


def test_what_stops_play_is_resumed_and_not_acknowledged():
    croupier = Croupier.at_betting("lid open")

    assert croupier.stops
    assert croupier.state.alarms == ()


def test_a_supervisor_who_is_called_is_an_alarm_with_the_reason():
    croupier = Croupier.at_betting("call seat 3 disputes its wager")

    (alarm,) = croupier.state.alarms
    assert (alarm.code, alarm.text) == ("supervisor_called", "seat 3 disputes its wager")


def test_a_reason_that_follows_a_call_takes_its_place():
    croupier = Croupier.at_betting()
    croupier.handle(CallSupervisor("ann"))
    croupier.do("call seat 3 disputes its wager", "call a card is not known")

    assert [each.text for each in croupier.state.alarms] == [
        "seat 3 disputes its wager",
        "a card is not known",
    ]


def test_who_comes_in_changes_nothing_at_the_table():
    croupier = Croupier.at_betting()
    before = croupier.state

    croupier.do("come in")
    croupier.handle(AccessRefused(None, "sign_on", "refused", "192.0.2.7"))

    assert croupier.state == before
    assert croupier.said == []


def test_an_account_that_is_locked_out_is_an_alarm():
    croupier = Croupier().do("lock out")

    assert standing(croupier) == [("locked_out", 1)]


def test_an_operator_who_signs_on_at_an_open_table_takes_it_over():
    croupier = Croupier.at_betting("draw KS").do("sign on")

    assert croupier.phase.value == "dealing"
    assert croupier.state.operator == "ann"
    assert croupier.said == []


def test_a_record_that_is_not_what_its_inputs_give_is_an_alarm_in_any_phase():
    for croupier in (Croupier(), Croupier.at_betting("draw KS")):
        croupier.handle(RecordDiffers("round 2 differs"))

        assert standing(croupier) == [("record_differs", 1)]
        assert croupier.state.alarms[0].text.startswith("round 2 differs: ")


def test_who_makes_the_log_of_the_record_grow_is_named():
    croupier = Croupier.at_betting()
    croupier.handle(LogHeld("sqlite3 (process 123)"))

    (alarm,) = croupier.state.alarms
    assert alarm.code == "record_log"
    assert "because sqlite3 (process 123) has read the record" in alarm.text


def test_another_table_with_this_id_is_an_alarm_that_names_both_records():
    croupier = Croupier.at_betting()
    for _ in range(2):
        croupier.handle(SharedId("61d3df3f", "0a7bc2d1"))

    (alarm,) = croupier.state.alarms
    assert (alarm.code, alarm.times) == ("shared_id", 2)
    assert "it has the record 0a7bc2d1, and this table has the record 61d3df3f" in alarm.text


def test_a_message_of_another_service_with_the_tables_own_record_is_an_alarm():
    croupier = Croupier.at_betting()
    croupier.handle(SharedId("61d3df3f", "61d3df3f"))

    (alarm,) = croupier.state.alarms
    assert alarm.code == "shared_id"
    assert "publishes as this table with this table's own record 61d3df3f" in alarm.text


def test_a_flood_of_requests_is_one_alarm_for_each_client_however_long_it_lasts():
    croupier = Croupier.at_betting()
    for who, requests in (("seat 3", 1400), ("seat 4", 20), ("seat 3", 90)):
        croupier.handle(Flooded(who, requests, 10))

    assert [(alarm.code, alarm.text.partition(":")[0], alarm.times) for alarm in croupier.state.alarms] == [
        ("flood", "seat 4 sends too many requests", 1),
        ("flood", "seat 3 sends too many requests", 2),
    ]


@pytest.mark.parametrize(
    ("who", "in_public"), [("account Mei", "an account"), ("client table-1-seat-3", "a client of the broker")]
)
def test_a_floods_alarm_is_public_and_does_not_name_an_account(who, in_public):
    croupier = Croupier.at_betting()
    croupier.handle(Flooded(who, 1400, 10))

    (alarm,) = croupier.state.alarms
    assert alarm.text.startswith(f"{in_public} sends too many requests: ")
    assert who.partition(" ")[2] not in f"{alarm.text} {croupier.said}"


def test_faults_without_end_leave_a_bounded_state_and_play_stopped():
    croupier = Croupier.at_betting(*["fault"] * 500)

    assert len(croupier.state.waiting.stops) == MOST_ALIKE


def test_of_shoes_without_end_the_last_are_remembered():
    croupier = Croupier().do(*(f"hello {serial}" for serial in range(50)))

    assert [mark.serial for mark in croupier.state.link.earlier] == [
        str(serial) for serial in range(49 - MOST_REMEMBERED, 49)
    ]


ROOT = Path(__file__).parents[3]


def test_the_page_has_every_code_that_the_table_raises():
    source = "\n".join(
        path.read_text(encoding="utf-8") for path in (ROOT / "punto/baccarat/table").glob("*.py")
    )
    raised = set(re.findall(r'\.alarm\(\s*"(\w+)"', source))
    page = (ROOT / "docs/reference/alarms.md").read_text(encoding="utf-8")

    assert len(raised) > 12
    assert [code for code in sorted(raised) if f"`{code}`" not in page] == []


def test_calls_without_end_leave_a_bounded_state_with_the_first_and_the_latest():
    croupier = Croupier.at_betting(*(f"call number {n}" for n in range(500)))

    texts = [alarm.text for alarm in croupier.state.alarms]
    assert texts == [*(f"number {n}" for n in range(MOST_ALIKE - 1)), "number 499"]
    assert croupier.state.alarms[-1].times == 500 - MOST_ALIKE + 1


def test_a_reader_at_which_cards_were_guessed_is_an_alarm():
    croupier = Croupier.at_betting()
    croupier.handle(AccessRefused(None, "swipe", CARD_GUESSING, "card reader"))

    assert standing(croupier) == [("card_guessing", 1)]
