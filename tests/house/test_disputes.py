"""Which records of a table are disputed, what a choice settles, and what a person sees before choosing."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punto.house.disputes import (
    DISPUTE_ENDS,
    DISPUTED,
    REJECTED,
    Choice,
    Facts,
    disputed_by,
    held_records,
    what_becomes_of,
)

NOW = datetime(2026, 11, 27, 21, 0, tzinfo=UTC)
JUST = NOW - timedelta(seconds=10)
LONG_AGO = NOW - DISPUTE_ENDS
CHOICE = Choice("aa", frozenset({"bb"}), NOW - timedelta(days=3), "mei")
CHOSEN = {"bb": REJECTED}


@pytest.mark.parametrize(
    ("record", "other", "held_back", "choice", "heard", "disputed"),
    [
        # nobody has chosen
        ("aa", None, {}, None, {"bb": JUST}, ""),
        ("aa", "bb", {}, None, {}, ""),  # a record that was not heard itself may be invented
        ("aa", "bb", {}, None, {"bb": LONG_AGO}, ""),
        ("aa", "bb", {}, None, {"bb": JUST}, "aa bb"),
        ("aa", "bb", {"aa": DISPUTED, "bb": DISPUTED}, None, {"bb": JUST}, ""),
        ("aa", "cc", {"aa": DISPUTED, "bb": DISPUTED}, None, {"cc": JUST}, "aa cc"),
        # the dispute that the choice settles goes on
        ("aa", "bb", CHOSEN, CHOICE, {"bb": JUST}, ""),
        ("bb", "aa", CHOSEN, CHOICE, {"aa": JUST, "bb": JUST}, ""),
        ("bb", None, CHOSEN, CHOICE, {"bb": JUST}, ""),
        # it had ended
        ("bb", None, CHOSEN, CHOICE, {"bb": LONG_AGO}, "aa bb"),
        ("bb", None, CHOSEN, CHOICE, {}, "aa bb"),
        ("bb", "aa", CHOSEN, CHOICE, {"aa": JUST, "bb": LONG_AGO}, "aa bb"),
        # it was another one
        ("aa", "cc", CHOSEN, CHOICE, {"cc": JUST}, "aa cc"),
        ("cc", "aa", CHOSEN, CHOICE, {"aa": JUST}, "aa cc"),
        ("bb", "cc", CHOSEN, CHOICE, {"bb": JUST, "cc": JUST}, "bb cc"),
        ("cc", "dd", CHOSEN, CHOICE, {"dd": JUST}, "cc dd"),
        # the dispute with a third record is known, and the second one still comes
        ("aa", "bb", {"aa": DISPUTED, "bb": REJECTED, "cc": DISPUTED}, CHOICE, {"bb": JUST}, ""),
    ],
)  # fmt: skip
def test_a_choice_settles_the_dispute_that_a_person_looked_at_and_no_other(
    record, other, held_back, choice, heard, disputed
):
    assert disputed_by(record, other, held_back, choice, heard, NOW) == {*disputed.split()}


def test_a_choice_settles_what_was_silent_before_it_until_the_same_time_after_it():
    made = CHOICE._replace(ts=JUST)
    assert disputed_by("bb", "aa", CHOSEN, made, {"aa": JUST, "bb": LONG_AGO}, NOW) == set()


RECORDS = st.sampled_from(["aa", "bb", "cc", "dd"])


@given(
    record=RECORDS,
    other=st.none() | RECORDS,
    held_back=st.dictionaries(RECORDS, st.sampled_from([DISPUTED, REJECTED])),
    choice=st.none() | st.builds(Choice, RECORDS, st.frozensets(RECORDS), st.sampled_from([JUST, LONG_AGO]), st.just("")),
    heard=st.dictionaries(RECORDS, st.sampled_from([JUST, LONG_AGO])),
)  # fmt: skip
def test_two_records_that_come_together_are_both_taken_in_only_if_a_choice_names_them(
    record, other, held_back, choice, heard
):
    disputed = disputed_by(record, other, held_back, choice, heard, NOW)
    both = {record, other}

    if other is None or other == record or other not in heard or NOW - heard[other] >= DISPUTE_ENDS:
        return
    known = {each for each in both if held_back.get(each) == DISPUTED}
    named = set() if choice is None else {choice.record, *choice.against}
    assert both <= disputed | known | named


def facts(record: str, rounds: int, first_heard: datetime, **changes: object) -> Facts:
    found = Facts(record, DISPUTED, rounds, None, None, None, None, None, first_heard, JUST)
    return found._replace(**changes)  # type: ignore[arg-type]


def test_the_newer_record_with_fewer_rounds_has_warnings_and_the_table_has_none():
    began = NOW - timedelta(days=400)
    own = facts(
        "own", 40_000, began, first_round=began, last_round=JUST, reported_rounds=40_010,
        reported_first_round=began, reported_last_round=JUST,
    )  # fmt: skip
    other = facts(
        "other", 0, JUST, reported_rounds=12, reported_first_round=NOW - timedelta(hours=1), reported_last_round=JUST
    )  # fmt: skip

    first, second = held_records([other, own])

    assert (first.record, first.warnings) == ("own", ())
    assert first.words == (
        "disputed; in the store: 40,000 rounds from 2025-10-23 21:00 UTC to 2026-11-27 20:59 UTC; reported by its service: 40,010 "
        "rounds from 2025-10-23 21:00 UTC to 2026-11-27 20:59 UTC; first heard at 2025-10-23 21:00 UTC, last at 2026-11-27 20:59 UTC"
    )
    assert second.warnings == (
        "the store has fewer rounds of it than of own: 0 and 40,000",
        "its service reports fewer rounds than that of own: 12 and 40,010",
        "it is newer than own, which was first heard at 2025-10-23 21:00 UTC",
        "its first round was later than that of own, at 2025-10-23 21:00 UTC",
    )


def test_it_is_said_what_becomes_of_the_rounds_of_the_other_record():
    (none,) = held_records([facts("bb", 0, NOW)])
    (some,) = held_records([facts("bb", 1_200, NOW)])

    assert what_becomes_of(none).startswith("bb is rejected. No round of it was taken in, and nothing more")
    assert "Its 1,200 rounds that were taken in stay in the store and in the reports" in what_becomes_of(some)
