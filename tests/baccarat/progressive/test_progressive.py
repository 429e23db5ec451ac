"""One meter and its tables: rounds and their wagers, adjustments, settings, and the end."""

from dataclasses import replace
from typing import Any

import pytest

from punto.baccarat.progressive.effects import CoinsCounted, Retired, SettingsChanged, WagersCounted
from punto.baccarat.progressive.events import (
    Adjust,
    BookAward,
    ChangeSettings,
    Confirmation,
    Contribute,
    CountCoins,
    EndRound,
    Event,
    LockAward,
    OpenMeter,
    ReopenRound,
    Retire,
    SeatWager,
    Won,
)
from punto.baccarat.progressive.ledger import Account, Cause, Line, Reference
from punto.baccarat.progressive.money import MOST, amount
from punto.baccarat.progressive.progressive import TRANSITIONS, Progressive
from punto.baccarat.progressive.refusal import RefusedError
from punto.baccarat.progressive.settings import LinkedTable
from punto.baccarat.progressive.state import Phase, TableRound
from tests.baccarat.progressive.floor import TIERS, Floor, accounted, refusal, settings

SEED = 1_000_000  # of pay table #2
ONE = (SeatWager(1, 100),)


def playing(**changes: Any) -> Floor:
    floor = Floor(**changes)
    floor.order(Contribute("t1", 1, ONE))
    return floor


def adjusted(cause: Cause, minor_units: int, **others: Any) -> Adjust:
    return Adjust(
        **{
            "cause": cause,
            "amount": minor_units,
            "reason": "test",
            "who": "eve",
            "approved_by": "ann",
            **others,
        }
    )


# --- its life


def test_a_progressive_begins_with_its_seed():
    floor = Floor()

    assert floor.postings[0].lines == (
        Line(Account.SEED_MONEY, -amount(SEED)),
        Line(Account.PRIMARY, amount(SEED)),
    )
    assert (floor.state.phase, floor.state.shown) == (Phase.OPEN, SEED)


def test_a_meter_without_a_seed_begins_with_nothing():
    assert Floor(seed=0).postings == []


def test_before_it_is_in_service_nothing_else_can_be_done():
    progressive = Progressive.new(settings(), "USD")

    with pytest.raises(RefusedError, match="dragon is not in service yet: open its meter first"):
        progressive.handle(Contribute("t1", 1, ONE))


def test_it_is_put_into_service_once():
    floor = Floor()

    assert refusal(floor, lambda: floor.order(OpenMeter("eve"))) == (
        "already_open",
        "dragon is already in service",
    )


def test_a_retired_progressive_has_given_back_all_that_it_held_and_does_nothing_more():
    floor = Floor(reserve="5%", display_limit=SEED + 15)
    floor.order(Contribute("t1", 1, ONE))
    floor.order(EndRound("t1", 1))
    floor.order(Retire("the game is taken off the floor", "eve", "ann"))

    assert floor.postings[-1].lines == (
        Line(Account.OVERFLOW, -amount(5)),
        Line(Account.PRIMARY, -amount(SEED + 15)),
        Line(Account.RESERVE, -amount(5)),
        Line(Account.ADJUSTMENTS, amount(SEED + 25)),
    )
    assert floor.effects[-1] == Retired("the game is taken off the floor", "eve", "ann")
    assert (floor.state.phase, floor.state.shown) == (Phase.RETIRED, 0)
    assert floor.state.ledger.given == accounted(floor.state.ledger) == 0
    for event in (OpenMeter("eve"), Contribute("t1", 2, ONE), adjusted(Cause.INCREASE, 1)):
        assert refusal(floor, lambda event=event: floor.order(event)) == (  # type: ignore[misc]
            "retired",
            "dragon is retired for good: open another progressive",
        )


def test_a_meter_that_holds_nothing_is_retired_without_a_posting():
    floor = Floor(seed=0)
    floor.order(Retire("never used", "eve"))

    assert (floor.postings, floor.state.phase) == ([], Phase.RETIRED)


def test_retirement_has_a_reason():
    floor = Floor()

    assert refusal(floor, lambda: floor.order(Retire("", "eve", "ann")))[0] == "no_reason"


def test_every_phase_is_in_the_transition_table():
    assert set(TRANSITIONS) == set(Phase)


def test_nothing_is_added_beyond_what_a_meter_can_hold():
    floor = Floor()

    code, _ = refusal(floor, lambda: floor.order(adjusted(Cause.INCREASE, MOST)))
    assert code == "too_much"


# --- what was counted


def test_what_the_coins_came_to_is_on_the_record_and_moves_no_money():
    floor = Floor()
    before = floor.state

    assert floor.order(CountCoins("2026-11-21", 4_200, "eve")) == [CoinsCounted("2026-11-21", 4_200, "eve")]
    assert floor.state == before


def test_coins_are_still_counted_when_the_progressive_is_retired():
    floor = Floor()
    floor.order(Retire("the end", "eve", "ann"))

    assert floor.order(CountCoins("2026-11-21", 0, "eve")) == [CoinsCounted("2026-11-21", 0, "eve")]


@pytest.mark.parametrize(
    ("day", "minor_units", "code"),
    [
        ("2026-13-01", 1, "no_day"),
        ("21.11.2026", 1, "no_day"),
        ("2026-11-32", 1, "no_day"),
        ("2026-11-21", -1, "no_amount"),
    ],
)
def test_coins_of_no_day_or_of_less_than_nothing_are_refused(day, minor_units, code):
    floor = Floor()

    assert refusal(floor, lambda: floor.order(CountCoins(day, minor_units, "eve")))[0] == code


# --- rounds and wagers


def test_the_wagers_of_a_round_are_on_the_record():
    floor = playing()

    assert WagersCounted("t1", 1, ONE) in floor.effects


def test_each_wager_goes_to_the_meter_and_to_the_reserve_by_their_rates():
    floor = Floor(contribution="12.3456%", reserve="0.0001%")
    floor.order(Contribute("t1", 1, (SeatWager(2, 100), SeatWager(1, 1))))

    posting = floor.postings[-1]
    assert posting.cause is Cause.CONTRIBUTION
    assert posting.lines == (
        Line(Account.CONTRIBUTIONS, -(101 * 123_457)),
        Line(Account.PRIMARY, 101 * 123_456),
        Line(Account.RESERVE, 101),
    )
    assert posting.reference == Reference(table="t1", round=1)


def test_a_round_without_wagers_moves_no_money_and_is_the_tables_last_round():
    floor = Floor()
    floor.order(Contribute("t1", 4, ()))

    assert len(floor.postings) == 1
    assert floor.state.rounds == (TableRound("t1", 4, (), first_award=1),)


@pytest.mark.parametrize(
    ("event", "code", "says"),
    [
        (Contribute("t4", 1, ONE), "unknown_table", "t4 is not linked to the progressive dragon: check the table's id, or add the table to the settings of this progressive"),
        (Contribute("t1", 2, ONE), "already_started", "the game of round 1 at t1 is not over: end that game before you start the next one"),
        (Contribute("t2", 5, ONE), "not_next_round", "the game of round 5 cannot start: t2 has already played the game of round 5"),
        (Contribute("t2", 6, (*ONE, *ONE)), "bad_wagers", "each seat in the game must have one progressive wager of more than 0"),
        (Contribute("t2", 6, (SeatWager(1, 0),)), "bad_wagers", "each seat in the game must have one progressive wager of more than 0"),
        (EndRound("t2", 5), "round_over", "round 5 of t2 is already over"),
        (EndRound("t1", 2), "not_last_round", "round 2 of t1 cannot change now: only the last round, 1, can change"),
        (EndRound("t3", 1), "no_round", "t3 has had no round of this progressive"),
        (EndRound("t4", 1), "unknown_table", "t4 is not linked to the progressive dragon: check the table's id, or add the table to the settings of this progressive"),
    ],
)  # fmt: skip
def test_a_round_that_cannot_be_is_refused_and_changes_nothing(event, code, says):
    floor = playing(how_many=3)
    floor.order(Contribute("t2", 5, ()))
    floor.order(EndRound("t2", 5))

    assert refusal(floor, lambda: floor.order(event)) == (code, says)


# --- manual adjustments


@pytest.mark.parametrize(
    ("cause", "shown", "lines"),
    [
        (Cause.INCREASE, SEED + 70, (Line(Account.ADJUSTMENTS, -amount(50)), Line(Account.PRIMARY, amount(50)))),
        (Cause.MALFUNCTION, SEED - 30, (Line(Account.PRIMARY, -amount(50)), Line(Account.ADJUSTMENTS, amount(50)))),
        (Cause.OVER_LIMIT, SEED - 30, (Line(Account.PRIMARY, -amount(50)), Line(Account.OVERFLOW, amount(50)))),
        (Cause.RECOVERY_OF_SEED, SEED - 30, (Line(Account.PRIMARY, -amount(50)), Line(Account.SEED_MONEY, amount(50)))),
    ],
)  # fmt: skip
def test_an_adjustment_moves_what_its_cause_says_with_who_and_why(cause, shown, lines):
    floor = playing()
    floor.order(adjusted(cause, 50))

    assert floor.state.shown == shown
    assert floor.postings[-1].cause is cause
    assert floor.postings[-1].lines == lines
    assert floor.postings[-1].reference == Reference(who="eve", reason="test", approved_by="ann")
    assert floor.state.ledger.given == accounted(floor.state.ledger)


@pytest.mark.parametrize(
    "cause",
    [
        cause
        for cause in Cause
        if cause.value not in {"increase", "malfunction", "over_limit", "recovery_of_seed"}
    ],
)
def test_a_meter_is_adjusted_for_no_other_cause(cause):
    floor = playing()

    assert refusal(floor, lambda: floor.order(adjusted(cause, 50))) == (
        "not_a_cause",
        (
            f"a manual adjustment cannot have the cause {cause}: write increase, malfunction, over_limit or recovery_of_seed. Awards and retirements have other orders"
        ),
    )


@pytest.mark.parametrize(
    ("order", "code", "says"),
    [
        (adjusted(Cause.INCREASE, 0), "no_amount", "the amount must be above 0: the cause decides whether the amount is added to the meter or taken off"),
        (adjusted(Cause.INCREASE, -5), "no_amount", "the amount must be above 0: the cause decides whether the amount is added to the meter or taken off"),
        (adjusted(Cause.INCREASE, 5, reason="  "), "no_reason", "enter a reason for the record"),
        (
            adjusted(Cause.MALFUNCTION, SEED + 21),
            "more_than_meter",
            "the meter has only 10,000.20 that is not reserved for awards: take off at most this amount",
        ),
        (adjusted(Cause.RECOVERY_OF_SEED, SEED + 1), "more_than_seed", "the meter has only 10,000.00 of seed money: recover at most this amount"),
    ],
)  # fmt: skip
def test_an_adjustment_that_is_not_in_order_is_refused(order, code, says):
    floor = playing()

    assert refusal(floor, lambda: floor.order(order)) == (code, says)


def test_all_of_a_meter_can_be_taken_off_it():
    floor = playing()
    floor.order(adjusted(Cause.MALFUNCTION, SEED + 20))

    assert floor.state.ledger.primary == 0


def test_what_is_promised_to_an_award_cannot_be_taken_off_the_meter():
    floor = playing()
    floor.order(LockAward("t1", 1, Won(TIERS["quarter"], (1,)), Confirmation("bob")))

    assert refusal(floor, lambda: floor.order(adjusted(Cause.MALFUNCTION, 750_016))) == (
        "more_than_meter",
        "the meter has only 7,500.15 that is not reserved for awards: take off at most this amount",
    )


# --- settings


def test_a_change_of_settings_is_on_the_record_with_before_and_after():
    floor = Floor()
    before, after = floor.settings, settings(contribution="15%")
    floor.order(ChangeSettings(after, "less", "eve", "ann"))

    assert floor.effects[-1] == SettingsChanged(before, after, "less", "eve", "ann")
    assert floor.state.settings == after


def test_settings_that_somebody_has_changed_meanwhile_are_not_put_back():
    floor = Floor()
    seen = floor.state.settings
    floor.order(ChangeSettings(replace(seen, reserve="2%"), "test", "eve", before=seen))

    order = ChangeSettings(replace(seen, seed=5), "test", "ann", before=seen)
    assert refusal(floor, lambda: floor.order(order))[0] == "settings_changed"


def test_another_seed_is_the_next_meters():
    floor = Floor()
    floor.order(ChangeSettings(settings(seed=2 * SEED), "more", "eve"))
    assert floor.state.shown == SEED

    floor.order(Contribute("t1", 1, ONE))
    floor.order(LockAward("t1", 1, Won(TIERS["all"], (1,)), Confirmation("bob")))
    floor.order(BookAward("t1"))
    assert floor.state.shown == 2 * SEED


def test_a_change_of_settings_while_a_round_is_open_is_refused():
    floor = playing()
    order = ChangeSettings(settings(contribution="15%"), "less", "eve")
    assert refusal(floor, lambda: floor.order(order)) == (
        "round_open",
        "the game of round 1 at t1 is not over: end that game first, then change the settings",
    )

    floor.order(EndRound("t1", 1))
    floor.order(order)
    floor.order(ReopenRound("t1", 1))
    assert refusal(floor, lambda: floor.order(replace(order, settings=settings())))[0] == "round_open"


@pytest.mark.parametrize(
    "order", [ChangeSettings(settings(contribution="15%"), "less", "eve"), Retire("over", "eve", "ann")]
)
def test_nothing_changes_while_an_award_is_open(order):
    floor = playing()
    floor.order(LockAward("t1", 1, Won(TIERS["quarter"], (1,)), Confirmation("bob")))
    what = "change the settings" if isinstance(order, ChangeSettings) else "retire the progressive"

    assert refusal(floor, lambda: floor.order(order)) == (
        "award_open",
        f"award 1 at t1 is not booked yet: book the award first, then {what}",
    )


@pytest.mark.parametrize(
    ("changes", "reason", "code", "says"),
    [
        ({}, "none", "same_settings", "these settings already apply: there is no change"),
        ({"reserve": "1%"}, "", "no_reason", "enter a reason for the record"),
        (
            {"display_limit": SEED + 19},
            "limit",
            "limit_below_meter",
            "the display limit is less than the amount that the meter shows now: enter at least 10,000.20",
        ),
        *(
            (
                changes,
                "other",
                "another_progressive",
                "the wager, the pay table and the game of dragon cannot change: retire dragon, and open another progressive",
            )
            for changes in (
                {"progressive": "tiger"},
                {"pay_table": "progressive-3"},
                {"tables": (LinkedTable("t1", "another-game"),)},
            )
        ),
    ],
)
def test_settings_that_cannot_be_put_in_force_are_refused(changes, reason, code, says):
    floor = playing()
    floor.order(EndRound("t1", 1))

    assert refusal(floor, lambda: floor.order(ChangeSettings(settings(**changes), reason, "eve"))) == (
        code,
        says,
    )


def test_a_display_limit_may_be_what_the_meter_shows():
    floor = playing(reserve="0.5%", contribution="20.5%")
    floor.order(EndRound("t1", 1))
    floor.order(ChangeSettings(settings(display_limit=SEED + 20), "limit", "eve"))

    assert floor.state.room == 0


def test_the_round_of_a_table_that_is_linked_no_more_cannot_be_opened():
    floor = playing(how_many=2)
    floor.order(EndRound("t1", 1))
    only_t2 = replace(floor.settings, tables=floor.settings.tables[1:])
    floor.order(ChangeSettings(only_t2, "t1 is closed", "eve"))

    assert refusal(floor, lambda: floor.order(ReopenRound("t1", 1)))[0] == "unknown_table"
    floor.order(ChangeSettings(settings(how_many=2), "t1 is open again", "eve"))
    assert floor.state.rounds == (TableRound("t1", 1, ONE, over=True, first_award=1),)


def test_the_same_events_give_the_same_progressive_and_the_same_entries():
    events: list[Event] = [
        OpenMeter("eve"),
        Contribute("t1", 1, ONE),
        LockAward("t1", 1, Won(TIERS["all"], (1,)), Confirmation("bob")),
        BookAward("t1"),
        EndRound("t1", 1),
        adjusted(Cause.INCREASE, 500),
    ]
    first, second = Progressive.new(settings(), "USD"), Progressive.new(settings(), "USD")

    assert [first.handle(event) for event in events] == [second.handle(event) for event in events]
    assert first.state == second.state
