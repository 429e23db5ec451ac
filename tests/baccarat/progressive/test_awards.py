"""Awards: what they come to, who shares them, and what becomes of the meter."""

from dataclasses import replace
from typing import Any

import pytest

from punto.baccarat.progressive.awards import KEPT
from punto.baccarat.progressive.effects import AwardBackedOut, AwardBooked, AwardLocked, Posted
from punto.baccarat.progressive.events import (
    Adjust,
    BackOut,
    BookAward,
    Confirmation,
    Contribute,
    EndRound,
    Event,
    LockAward,
    ReopenRound,
    SeatWager,
    Won,
)
from punto.baccarat.progressive.ledger import Cause, Reference
from punto.baccarat.progressive.money import amount
from punto.baccarat.progressive.shares import Share
from punto.baccarat.progressive.state import AwardState
from punto.baccarat.wagers.pay import Rounding
from tests.baccarat.progressive.floor import (
    PAY_TABLES,
    TIERS,
    Floor,
    accounted,
    paid_for,
    paid_in_all,
    refusal,
)

SEED = 1_000_000  # of pay table #2


def wagers(*seats: int, stake: int = 100) -> tuple[SeatWager, ...]:
    return tuple(SeatWager(seat, stake) for seat in seats)


def opened(*seats: int, stake: int = 100, **changes: Any) -> Floor:
    """A floor with a round at its first table."""
    floor = Floor(**changes)
    floor.order(Contribute("t1", 1, wagers(*seats, stake=stake)))
    return floor


def lock(tier: str, *seats: int, table: str = "t1", number: int = 1) -> LockAward:
    return LockAward(table, number, Won(TIERS[tier], seats), Confirmation("bob"))


def balanced(floor: Floor) -> bool:
    return floor.state.ledger.given == accounted(floor.state.ledger)


# --- percentages


def test_a_percentage_is_of_the_meter_at_the_lock_and_is_cut_to_whole_cents():
    floor = opened(1, 2, 3)  # 0.60 to a meter of 10,000.00
    floor.order(lock("quarter", 2))

    (award,) = floor.state.locked
    assert (award.meter, award.amount, award.shares) == (1_000_060, 250_015, (Share(2, 250_015),))


def test_all_of_the_meter_is_its_whole_cents_and_what_is_less_than_one_begins_the_next():
    floor = opened(1, contribution="12.3456%", reserve="5%")
    floor.order(lock("all", 1))
    floor.order(BookAward("t1"))

    ledger = floor.state.ledger
    assert floor.awards[0].amount == SEED + 12
    assert paid_for(ledger, TIERS["all"]) == amount(SEED + 12)
    # The seed, all of the reserve, and 0.3456 of a cent.
    assert ledger.primary == amount(SEED) + amount(5) + 345_600
    assert (ledger.reserve, ledger.seed_money) == (0, amount(2 * SEED))
    assert balanced(floor)


def test_the_postings_of_an_award_say_what_they_are_about():
    floor = opened(1, reserve="5%")
    floor.order(lock("all", 1))
    floor.order(BookAward("t1"))

    assert floor.causes == [Cause.SEED, Cause.CONTRIBUTION, Cause.SEED, Cause.RESERVE_ADDED, Cause.AWARD]
    assert [posting.number for posting in floor.postings] == [1, 2, 3, 4, 5]
    assert [posting.reference for posting in floor.postings] == [
        Reference(who="eve"),
        Reference(table="t1", round=1),
        *[Reference(table="t1", round=1, award=1, who="bob")] * 3,
    ]


def test_a_fixed_award_that_the_display_limit_kept_off_the_meter_is_paid_of_the_overflow():
    floor = opened(1, fixed_awards="meter", seed=50_000, display_limit=50_000)
    code, why = refusal(floor, lambda: floor.order(lock("thousand", 1)))
    assert (code, "at least 499.80" in why) == ("meter_dry", True)
    floor.order(Adjust(Cause.INCREASE, 49_980, "for seat 1", "eve", "ann"))
    floor.order(lock("thousand", 1))
    floor.order(BookAward("t1"))

    assert (floor.state.shown, floor.state.ledger.overflow) == (0, 0)
    assert floor.state.ledger.given == accounted(floor.state.ledger)


def test_an_award_is_on_the_record_when_it_is_locked_and_when_it_is_booked():
    floor = opened(1)
    floor.order(lock("quarter", 1))
    (locked,) = floor.state.awards
    floor.order(BookAward("t1"))

    assert floor.effects[3] == AwardLocked(locked)
    assert isinstance(floor.effects[4], Posted)
    assert floor.effects[5:] == [AwardBooked(replace(locked, state=AwardState.BOOKED))]


@pytest.mark.parametrize(
    ("changes", "shares"),
    [
        ({}, (Share(2, 125_010), Share(5, 125_010))),
        ({"seat_one": "left"}, (Share(5, 125_010), Share(2, 125_010))),
        ({"split": "participants"}, (Share(1, 62_505), Share(2, 62_505), Share(5, 62_505), Share(7, 62_505))),
    ],
)
def test_a_percentage_is_shared_by_the_winners_or_by_all_that_took_part(changes, shares):
    """The winners by sheet 001 (7b), all that took part at that table by sheet 000 (7b)."""
    floor = opened(1, 2, 5, 7, **changes)
    floor.order(lock("quarter", 2, 5))

    assert floor.state.locked[0].shares == shares
    assert floor.state.locked[0].seats == (2, 5)


# --- linked tables


def test_all_of_the_meter_is_promised_once_and_the_second_award_is_of_the_next_meter():
    floor = opened(1, how_many=2, reserve="5%")
    floor.order(Contribute("t2", 1, wagers(1)))
    floor.order(lock("all", 1))
    floor.order(lock("all", 1, table="t2"))

    first, second = floor.state.locked
    assert (first.amount, second.amount) == (SEED + 40, SEED + 10)  # the reserve went into the second
    assert floor.state.available == amount(SEED)


@pytest.mark.parametrize("booked_first", ["t1", "t2"])
def test_awards_that_are_locked_can_be_booked_in_any_order(booked_first):
    floor = opened(1, how_many=2, seed=0, reserve="50%")
    floor.order(Contribute("t2", 1, wagers(1, stake=100_000)))
    floor.order(lock("all", 1))
    floor.order(lock("all", 1, table="t2"))
    assert [award.amount for award in floor.state.locked] == [20_020, 50_050]

    for table in sorted(("t1", "t2"), reverse=booked_first == "t2"):
        floor.order(BookAward(table))

    assert (floor.state.ledger.primary, balanced(floor)) == (0, True)


# --- what is shown


def test_the_meter_shown_grows_with_the_wagers_and_cuts_what_is_less_than_a_cent():
    floor = opened(1, contribution="12.3456%")

    assert floor.state.shown == SEED + 12


# --- fixed awards


def test_a_fixed_award_from_the_tray_leaves_the_meter_and_its_books_alone():
    floor = Floor(seed=0, contribution="0%", approval_above=None)  # a meter with nothing on it
    floor.order(Contribute("t1", 1, wagers(1, 3)))
    floor.order(lock("thousand", 1, 3))
    (locked,) = floor.state.locked
    assert (locked.payer, locked.amount, locked.shares) == (
        *("tray", 200_000),
        (Share(1, 100_000), Share(3, 100_000)),
    )
    assert (floor.state.available, floor.state.shown) == (0, 0)

    floor.order(BookAward("t1"))
    floor.order(BackOut(1, "misread", "eve"))
    assert (floor.postings, floor.state.ledger.paid) == ([], ())
    assert floor.effects[-1] == AwardBackedOut(
        replace(locked, state=AwardState.BACKED_OUT, next_award=2), "eve", "misread"
    )


def test_the_many_awards_of_the_tray_do_not_drive_out_the_few_of_the_meter():
    floor = Floor()
    for number in range(1, 60):
        floor.order(Contribute("t1", number, wagers(1)))
        floor.order(lock("quarter" if number == 1 else "forty", 1, number=number))
        floor.order(BookAward("t1"))
        floor.order(EndRound("t1", number))

    kept = [award.id for award in floor.state.awards]
    assert kept == [1, *range(35, 60)]


def test_fixed_awards_from_the_meter_are_each_players_own():
    floor = Floor(fixed_awards="meter")
    floor.order(Contribute("t1", 1, (SeatWager(4, 100), SeatWager(2, 300), SeatWager(5, 100))))
    floor.order(lock("forty", 4, 2))
    floor.order(BookAward("t1"))

    assert floor.awards[0].shares == (Share(2, 12_000), Share(4, 4000))
    assert floor.state.ledger.primary == amount(SEED + 100 - 16_000)
    assert paid_for(floor.state.ledger, TIERS["forty"]) == amount(16_000)
    assert not floor.awards[0].whole_meter


def test_a_wager_that_stays_is_not_paid_from_the_meter_as_well():
    """10 to 1 for $5 is $50, and the wager goes back from the sensor."""
    floor = opened(1, pay_table="progressive-1-five-dollar", fixed_awards="meter", stake=500)
    floor.order(lock("forty", 1))

    assert floor.state.locked[0].amount == 5000


def test_a_fixed_award_is_rounded_as_the_game_rounds():
    wager = PAY_TABLES["progressive-2"]
    rules = tuple(
        replace(rule, pays="5 for 3") if rule.name == TIERS["forty"] else rule for rule in wager.rules
    )
    paid = []
    for mode in ("down", "up"):
        floor = opened(
            1,
            wager=replace(wager, rules=rules),
            fixed_awards="meter",
            rounding=Rounding(unit=25, mode=mode),
        )
        floor.order(lock("forty", 1))
        paid.append(floor.state.locked[0].amount)

    assert paid == [150, 175]


def test_who_won_a_fixed_award_is_paid_in_full_or_the_house_adds_to_the_meter_first():
    floor = opened(1, 2, fixed_awards="meter", seed=150_000)

    assert refusal(floor, lambda: floor.order(lock("thousand", 1, 2))) == (
        "meter_dry",
        "the award is 2,000.00, but the meter has only 1,500.40: add at least 499.60 to the meter by a manual adjustment, then repeat the order",
    )


def test_a_meter_that_ran_dry_has_no_percentage():
    floor = Floor(seed=0)
    floor.order(Contribute("t1", 1, wagers(1, stake=1)))

    assert refusal(floor, lambda: floor.order(lock("all", 1))) == (
        "meter_dry",
        "the meter has no money for this award: add money to the meter by a manual adjustment, then repeat the order",
    )


# --- what is refused


@pytest.mark.parametrize(
    ("event", "code", "says"),
    [
        (lock("all"), "no_hand_selected", "no hand is selected: press the hand button of each seat that won"),
        (
            lock("all", 1, 2),
            "no_wager",
            "each of the seats 1, 2 must have one progressive wager in round 1; seats with a wager: 1, 3",
        ),
        (
            lock("all", 1, 1),
            "no_wager",
            "each of the seats 1, 1 must have one progressive wager in round 1;",
        ),
        (
            lock("all", 1, number=2),
            "not_last_round",
            "round 2 of t1 cannot change now: only the last round, 1, can change",
        ),
        (lock("all", 1, table="t2"), "no_round", "t2 has had no round of this progressive"),
        (LockAward("t1", 1, Won("lose", (1,)), Confirmation("bob")), "no_award", "lose is not an award of "),
        (
            LockAward("t1", 1, Won("royal_flush", (1,)), Confirmation("bob")),
            "no_award",
            "royal_flush is not an award of Dragon Bonus Progressive",
        ),
    ],
)
def test_an_award_that_nobody_can_have_won_is_refused(event, code, says):
    floor = opened(1, 3, how_many=2)
    found = refusal(floor, lambda: floor.order(event))

    assert found[0] == code
    assert found[1].startswith(says)


def test_a_round_without_wagers_has_no_award():
    floor = opened()

    assert refusal(floor, lambda: floor.order(lock("all", 1)))[1].endswith("seats with a wager: none")


@pytest.mark.parametrize("booked", [False, True])
def test_an_award_is_confirmed_once(booked):
    floor = opened(1, 2)
    floor.order(lock("quarter", 1))
    if booked:
        floor.order(BookAward("t1"))

    why = "award 1 of round 1 (2,500.10 for two_three_four_suited) is already confirmed: if this award is wrong, have it backed out"
    for again in (lock("quarter", 1), lock("quarter", 2), lock("all", 1)):
        code, says = refusal(floor, lambda again=again: floor.order(again))  # type: ignore[misc]
        assert code == "already_confirmed"
        assert says.startswith(why)


def test_an_award_is_booked_once():
    floor = opened(1)
    floor.order(lock("quarter", 1))
    floor.order(BookAward("t1"))

    assert refusal(floor, lambda: floor.order(BookAward("t1"))) == (
        "nothing_locked",
        "no logged award at t1 waits to be booked",
    )


def test_an_award_of_one_table_is_not_booked_by_anothers_key():
    floor = opened(1, how_many=2)
    floor.order(lock("quarter", 1))

    assert refusal(floor, lambda: floor.order(BookAward("t2")))[0] == "nothing_locked"


def test_a_round_with_an_award_that_is_not_booked_does_not_end():
    floor = opened(1)
    floor.order(lock("quarter", 1))

    assert refusal(floor, lambda: floor.order(EndRound("t1", 1))) == (
        "award_open",
        "award 1 is logged, but the meter is not adjusted yet: turn the key to RUN, then end the game",
    )


def test_another_tables_award_does_not_hold_a_round_up():
    floor = opened(1, how_many=2)
    floor.order(Contribute("t2", 1, ()))
    floor.order(lock("quarter", 1))
    floor.order(EndRound("t2", 1))

    assert floor.state.round_at("t2").over  # type: ignore[union-attr]


# --- late awards


def test_a_round_that_is_over_has_an_award_only_once_it_is_opened_again():
    floor = opened(1)
    floor.order(EndRound("t1", 1))
    assert refusal(floor, lambda: floor.order(lock("quarter", 1)))[0] == "round_over"

    floor.order(ReopenRound("t1", 1))
    floor.order(lock("quarter", 1))
    assert floor.state.locked[0].round == 1


def test_only_the_last_round_can_be_opened_again():
    floor = opened(1)
    floor.order(EndRound("t1", 1))
    floor.order(Contribute("t1", 2, ()))
    floor.order(EndRound("t1", 2))

    assert refusal(floor, lambda: floor.order(ReopenRound("t1", 1))) == (
        "not_last_round",
        "round 1 of t1 cannot change now: only the last round, 2, can change",
    )


def test_a_round_that_is_not_over_cannot_be_opened():
    floor = opened(1)

    assert refusal(floor, lambda: floor.order(ReopenRound("t1", 1))) == (
        "round_open",
        "round 1 of t1 is not over",
    )


# --- backing out


def booked(tier: str = "quarter", **changes: Any) -> Floor:
    floor = opened(1, **changes)
    floor.order(lock(tier, 1))
    floor.order(BookAward("t1"))
    return floor


def test_an_award_that_is_backed_out_goes_back_on_the_meter():
    floor = booked()
    floor.order(BackOut(1, "misread", "eve", "ann"))

    assert floor.state.ledger.primary == amount(SEED + 20)
    assert paid_in_all(floor.state.ledger) == 0
    assert floor.state.awards[0].state is AwardState.BACKED_OUT
    assert floor.postings[-1].cause is Cause.BACK_OUT
    assert floor.postings[-1].reference == Reference(
        table="t1", round=1, award=1, who="eve", reason="misread", approved_by="ann"
    )
    assert floor.effects[-1] == AwardBackedOut(floor.state.awards[0], "eve", "misread", "ann")
    assert balanced(floor)


def test_the_seed_of_the_next_meter_stays_when_the_one_before_is_put_back():
    floor = booked("all")
    floor.order(BackOut(1, "misread", "eve", "ann"))

    assert floor.state.shown == 2 * SEED + 20


def test_a_round_whose_award_was_backed_out_can_have_the_right_one():
    floor = booked()
    floor.order(BackOut(1, "misread", "eve", "ann"))
    floor.order(lock("all", 1))

    assert floor.state.locked[0].id == 2
    assert floor.state.locked[0].amount == SEED + 20


def test_a_hand_that_is_confirmed_again_and_again_wins_the_meter_that_it_found():
    floor = booked("all")
    for number in (1, 2, 3):
        assert floor.state.awards[-1].amount == SEED + 20
        for order in (BackOut(number, "misread", "eve", "ann"), lock("all", 1), BookAward("t1")):
            floor.order(order)

    assert floor.state.awards[-1].amount == SEED + 20
    assert floor.state.ledger.seed_money == amount(2 * SEED)  # the next meter began once
    assert floor.state.shown == SEED
    assert balanced(floor)


def test_the_next_meter_has_its_seed_also_if_another_table_won_it_before_the_hand_is_confirmed_again():
    floor = opened(1, how_many=2)
    floor.order(Contribute("t2", 1, wagers(1)))
    for order in (lock("all", 1), BookAward("t1"), BackOut(1, "misread", "eve", "ann")):
        floor.order(order)
    for order in (lock("all", 1, table="t2"), BookAward("t2"), lock("all", 1), BookAward("t1")):
        floor.order(order)

    assert [each.amount for each in floor.state.awards[1:]] == [2 * SEED + 40, SEED]
    assert floor.state.shown == SEED
    assert balanced(floor)


@pytest.mark.parametrize("limit", [SEED, SEED + 10, 2 * SEED])
def test_with_a_display_limit_a_hand_that_is_confirmed_again_begins_no_second_meter(limit):
    floor = opened(1, display_limit=limit)
    floor.order(lock("all", 1))
    floor.order(BookAward("t1"))
    won, left = floor.state.awards[0].amount, floor.state.shown
    for order in (BackOut(1, "misread", "eve", "ann"), lock("all", 1), BookAward("t1")):
        floor.order(order)

    assert floor.state.ledger.seed_money == amount(2 * SEED)
    assert (floor.state.awards[1].amount, floor.state.shown) == (won, left)
    assert balanced(floor)


@pytest.mark.parametrize("tier", ["quarter", "all"])
@pytest.mark.parametrize("backed_out_first", [False, True])
def test_a_hand_that_is_confirmed_again_begins_the_next_meter_only_if_another_table_has_won_it(
    tier, backed_out_first
):
    floor = opened(1, how_many=2)
    floor.order(Contribute("t2", 1, wagers(1)))
    back_out = BackOut(1, "misread", "eve", "ann")
    others: list[Event] = [lock(tier, 1, table="t2"), BookAward("t2")]
    between = [back_out, *others] if backed_out_first else [*others, back_out]
    for order in (lock("all", 1), BookAward("t1"), *between):
        floor.order(order)
    before = floor.state.ledger.seed_money
    floor.order(lock("all", 1))
    floor.order(BookAward("t1"))

    begun = floor.state.ledger.seed_money - before
    assert begun == (amount(SEED) if tier == "all" and backed_out_first else 0)
    assert balanced(floor)


def test_the_next_meter_has_its_seed_also_if_many_awards_followed_the_back_out():
    floor = opened(1, how_many=2)
    for order in (lock("all", 1), BookAward("t1"), BackOut(1, "misread", "eve", "ann")):
        floor.order(order)
    for round_ in range(1, KEPT + 2):
        tier = "all" if round_ == 1 else "quarter"
        for each in (
            Contribute("t2", round_, wagers(1)),
            lock(tier, 1, table="t2", number=round_),
            BookAward("t2"),
            EndRound("t2", round_),
        ):
            floor.order(each)
    before = floor.state.ledger.seed_money
    floor.order(lock("all", 1))
    floor.order(BookAward("t1"))

    assert floor.state.ledger.seed_money - before == amount(SEED)
    assert floor.state.shown == SEED
    assert balanced(floor)


def test_a_hand_that_is_confirmed_again_for_the_whole_meter_begins_the_next_one_if_it_has_not_begun():
    floor = booked()
    for order in (BackOut(1, "misread", "eve", "ann"), lock("all", 1), BookAward("t1")):
        floor.order(order)

    assert (floor.state.awards[-1].amount, floor.state.shown) == (SEED + 20, SEED)


@pytest.mark.parametrize(
    ("order", "code", "says"),
    [
        (
            BackOut(2, "misread", "eve", "ann"),
            "unknown_award",
            "there is no award 2: check the number of the award",
        ),
        (BackOut(0, "misread", "eve", "ann"), "unknown_award", "there is no award 0"),
        (BackOut(1, " ", "eve", "ann"), "no_reason", "enter a reason for the record"),
    ],
)
def test_a_back_out_that_is_not_in_order_is_refused(order, code, says):
    floor = booked()
    found = refusal(floor, lambda: floor.order(order))

    assert found[0] == code
    assert found[1].startswith(says)


def test_an_award_is_backed_out_once():
    floor = booked()
    floor.order(BackOut(1, "misread", "eve", "ann"))

    assert refusal(floor, lambda: floor.order(BackOut(1, "misread", "eve", "ann"))) == (
        "already_backed_out",
        "award 1 has been backed out already",
    )


def test_an_award_that_is_not_booked_is_booked_before_it_is_backed_out():
    floor = opened(1)
    floor.order(lock("quarter", 1))

    assert refusal(floor, lambda: floor.order(BackOut(1, "misread", "eve", "ann"))) == (
        "not_booked",
        "award 1 is logged, but the meter is not adjusted yet: turn the key at t1 to RUN, then back out the award",
    )


# --- how many are kept


def test_the_last_25_awards_are_at_hand_and_those_of_the_tables_last_rounds():
    floor = opened(1, how_many=2)
    floor.order(Contribute("t2", 1, wagers(1)))
    floor.order(lock("quarter", 1, table="t2"))
    floor.order(BookAward("t2"))
    for number in range(1, 31):
        floor.order(lock("quarter", 1, number=number))
        floor.order(BookAward("t1"))
        floor.order(EndRound("t1", number))
        floor.order(Contribute("t1", number + 1, wagers(1)))

    assert [award.id for award in floor.state.awards] == [1, *range(7, 32)]
    assert refusal(floor, lambda: floor.order(lock("all", 1, table="t2")))[0] == "already_confirmed"
    assert refusal(floor, lambda: floor.order(BackOut(6, "misread", "eve", "ann"))) == (
        "unknown_award",
        "award 6 is too old to be backed out: make a manual adjustment of the meter, and write the award's number into the reason of the adjustment",
    )


# --- the display limit


def test_the_overflow_comes_back_with_the_next_meter_as_far_as_the_limit_lets_it():
    floor = opened(1, 2, display_limit=SEED + 15, reserve="5%")
    floor.order(lock("all", 1))
    floor.order(BookAward("t1"))

    # The reserve of 10 cents comes first, then 5 of the 25 of overflow.
    assert floor.state.shown == SEED + 15
    assert floor.state.ledger.overflow == amount(20)
    assert floor.causes[-3:] == [Cause.RESERVE_ADDED, Cause.OVERFLOW_ADDED, Cause.AWARD]
    assert balanced(floor)


def test_a_reserve_that_would_pass_the_limit_waits_in_the_overflow():
    floor = opened(1, 2, display_limit=SEED + 3, contribution="0%", reserve="5%")
    floor.order(lock("all", 1))

    assert floor.state.available == amount(SEED + 3)
    assert (floor.state.ledger.reserve, floor.state.ledger.overflow) == (0, amount(7))


def test_a_smaller_award_is_seen_on_the_meter_though_there_is_overflow():
    floor = opened(1, 2, display_limit=SEED + 15)
    floor.order(lock("quarter", 1))
    floor.order(BookAward("t1"))

    assert floor.state.shown == SEED + 15 - 250_003
    assert floor.state.ledger.overflow == amount(25)


def test_what_is_put_back_past_the_limit_goes_to_the_overflow():
    floor = booked("all", display_limit=SEED + 20)
    floor.order(BackOut(1, "misread", "eve", "ann"))

    assert floor.state.shown == SEED + 20
    assert floor.state.ledger.overflow == amount(SEED)


def test_displays_never_show_more_than_the_limit():
    floor = opened(1, display_limit=SEED + 20, how_many=2)
    floor.order(lock("quarter", 1))
    floor.order(Contribute("t2", 1, wagers(1, 2)))

    assert floor.state.ledger.primary == amount(SEED + 60)
    assert floor.state.shown == SEED + 20


def test_an_award_of_another_progressive_is_not_put_back_on_this_meter():
    floor = opened(1)
    floor.order(lock("quarter", 1))
    floor.order(BookAward("t1"))

    order = BackOut(1, "a mistake", "eve", "ann", "the one before")
    assert refusal(floor, lambda: floor.order(order))[0] == "other_progressive"
    floor.order(replace(order, progressive="dragon"))
    assert floor.state.awards[-1].state is AwardState.BACKED_OUT
