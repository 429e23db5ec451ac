"""Which orders need a second person: those of the house's settings, and whatever moves money or an award of the meter."""

from dataclasses import replace
from typing import Any

import pytest

from punto.baccarat.cards import Card
from punto.baccarat.progressive.events import Adjust, BackOut, ChangeSettings, OpenMeter, Retire
from punto.baccarat.progressive.ledger import Cause
from punto.baccarat.progressive.settings import Settings
from punto.baccarat.table.approval import second_person_needed
from punto.baccarat.table.events import DayBegan
from punto.baccarat.table.order_kinds import CloseTable, CorrectCard, CorrectRound, VoidCoup, VoidRound
from punto.baccarat.table.possible import refusal
from punto.baccarat.table.turn import RefusedError
from tests.baccarat.table.croupier import LONG, Croupier, cards

QUARTER = "2H KC 3H JC 4H KD"  # Player's 2-3-4 of hearts, 9 over 0: 25% of the meter
ALL = "2D KC 3D JC 4D KH"  # all of it
UNSUITED = "2H KC 3D JC 4H KD"  # 1000 for 1, from the tray

LOSES = LONG  # 9 over 4, which is no award


def metered(*commands: str, game_name: str = "progressive-2", reveal: Any = None, **meter: Any) -> Croupier:
    """At betting, with the meter in service and base wagers of seats 2 and 5 on Player."""
    croupier = Croupier.at_betting(game_name=game_name, meter=meter, reveal=reveal).do("meter")
    return croupier.do("wager 2 player 500", "wager 5 player 500", *commands)


def meters_settings(croupier: Croupier) -> Settings:
    progressive = croupier.state.progressive
    assert progressive is not None
    return progressive.books.settings


def is_asked_for_a_second(croupier: Croupier, order: Any) -> bool:
    """Whether the order of one person alone is refused for that, by nobody and by the same person, and nothing changes."""
    before, refusals = croupier.state, []
    for second in (None, order.who):
        try:
            croupier.table.handle(replace(order, approved_by=second))
        except RefusedError as refusal:
            refusals.append(refusal.code)
            assert croupier.state is before
        croupier.table.state = before
    assert len(set(refusals)) < 2
    assert refusals in ([], ["needs_approval"] * 2) or "needs_approval" not in refusals
    return "needs_approval" in refusals


# --- what the house asks for


@pytest.mark.parametrize(
    ("by", "accepted"), [(None, False), ("bob", False), ("eve", True)], ids=["nobody", "the same", "another"]
)
def test_an_order_that_needs_approval_needs_another_person(by, accepted):
    croupier = Croupier.at_betting("draw KS", approval=("void_coup",))
    order = VoidCoup("bob", "misdeal", by)

    if accepted:
        croupier.handle(order)
        assert croupier.rounds[0].approved_by == "eve"
    else:
        with pytest.raises(RefusedError) as refusal:
            croupier.handle(order)
        assert (refusal.value.code, str(refusal.value)) == (
            "needs_approval",
            (
                "by this table's settings, a second person must approve this order: the second person must sign with their own name and password"
            ),
        )


def test_what_needs_no_approval_is_done_at_once():
    assert (
        Croupier.at_betting("draw KS", "alone void", approval=("accept_shoe",)).rounds[0].approved_by is None
    )


def test_an_order_that_nobody_can_approve_needs_none():
    assert second_person_needed(metered().state, CloseTable("ann")) is None


def test_an_order_that_cannot_be_given_in_the_phase_says_that_first():
    assert Croupier.at_betting(approval=("void_coup",)).refused("void").code == "not_now"


def test_a_trial_asks_for_nobodys_approval():
    croupier = Croupier.at_betting("draw KS", approval=("void_coup",))

    assert refusal(croupier.state, VoidCoup("bob", "misdeal")) is None


# --- what moves money


@pytest.mark.parametrize(
    ("order", "moves"),
    [
        (Adjust(Cause.INCREASE, 1_000, "test", "eve"), 1_000),
        (BackOut(1, "misread", "eve"), 250_010),  # a quarter of 10,000.40, cut off
        (Retire("the end", "eve"), 750_030 + 1_000),  # with the reserve; a cent that is begun is whole
    ],
    ids=lambda each: getattr(each, "kind", ""),
)
def test_money_above_the_threshold_needs_a_second_person(order, moves):
    for threshold, asked in ((moves, False), (moves - 1, True), (None, False)):
        croupier = metered("start game 2 5", f"draw {QUARTER}", approval_above=threshold)
        croupier.do("hand 2 5", "turn jph", "j-pot", "turn run", "game over")
        if order.kind == "retire":
            croupier.do("add 1000")

        assert is_asked_for_a_second(croupier, order) is asked


def test_the_reason_says_how_much_is_above_what():
    add = Adjust(Cause.INCREASE, 10_001, "test", "eve")
    state = metered(approval_above=10_000).state

    assert second_person_needed(state, add) == (
        "the amount 100.01 is more than 100.00, so a second person must approve it"
    )
    assert second_person_needed(metered(approval_above=0).state, add) == (
        "a second person must approve this order"  # no amount is below
    )
    assert second_person_needed(state, BackOut(7, "no such award", "eve")) is None


def test_what_nobody_approved_counts_together_until_the_gaming_day_ends():
    day = "2026-11-21T06:00:00.000000+00:00"
    croupier = metered("start game 2 5", f"draw {QUARTER}", "hand 2 5", approval_above=300_000)
    croupier.do("turn jph", "j-pot", "turn run", "game over")
    croupier.handle(DayBegan(day))
    add = Adjust(Cause.INCREASE, 50_000, "test", "eve")

    for _ in range(5):
        croupier.handle(add)
    assert is_asked_for_a_second(croupier, BackOut(1, "misread", "eve"))  # 250,010 and 250,000
    croupier.handle(replace(add, amount=300_000, approved_by="bob"))  # what is approved does not count
    croupier.handle(replace(add, who="bob"))  # and whoever gives the order, it is the same meter
    assert is_asked_for_a_second(croupier, replace(add, amount=1))
    assert second_person_needed(croupier.state, add) == (
        "the amount 500.00, with 3,000.00 of this gaming day that nobody approved, is more than 3,000.00, so a second "
        "person must approve it"
    )

    croupier.handle(DayBegan(day))  # a start on the same day
    assert is_asked_for_a_second(croupier, add)
    for again in ("2026-11-20T06:00:00.000000+00:00", day):  # the clock is set back, and then right again
        croupier.handle(DayBegan(again))
        assert is_asked_for_a_second(croupier, add)
    croupier.handle(DayBegan("2026-11-22T06:00:00.000000+00:00"))
    croupier.handle(BackOut(1, "misread", "eve"))
    assert is_asked_for_a_second(croupier, add)


def test_a_clock_that_was_a_year_ahead_keeps_the_sum_until_the_next_day_only():
    croupier = metered(approval_above=300_000)
    add = Adjust(Cause.INCREASE, 300_000, "test", "eve")
    for began in ("2027-12-26", "2026-11-21"):
        croupier.handle(DayBegan(f"{began}T06:00:00.000000+00:00"))
        if began == "2027-12-26":
            croupier.handle(add)
    assert is_asked_for_a_second(croupier, add)
    croupier.handle(DayBegan("2026-11-22T06:00:00.000000+00:00"))
    croupier.handle(add)


def test_the_seed_of_a_meter_that_one_person_opens_counts_with_what_is_moved_later():
    croupier = Croupier.at_betting(game_name="progressive-2", meter={"approval_above": 1_000_000})

    croupier.handle(OpenMeter("eve"))
    assert is_asked_for_a_second(croupier, Adjust(Cause.INCREASE, 1, "test", "eve"))
    croupier.handle(DayBegan("2026-11-22T06:00:00.000000+00:00"))
    assert not is_asked_for_a_second(croupier, Adjust(Cause.INCREASE, 1_000_000, "test", "eve"))


@pytest.mark.parametrize(
    ("threshold", "asked"), [(999_999, True), (1_000_000, False), (None, False), (0, True)]
)
def test_the_seed_is_put_on_the_meter_by_two_people_where_it_is_above_the_threshold(threshold, asked):
    croupier = Croupier.at_betting(game_name="progressive-2", meter={"approval_above": threshold})

    assert is_asked_for_a_second(croupier, OpenMeter("eve")) is asked
    croupier.do("meter")
    progressive = croupier.state.progressive
    assert progressive is not None
    assert progressive.books.shown == 1_000_000


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 900_000_000},
        {"split": "participants"},
        {"seat_one": "left"},
        {"contribution": "100%"},
        {"reserve": "1%"},
        {"display_limit": 2_000_000},
        {"fixed_awards": "meter"},
        {"approval_above": 10**9},
        {"approval_above": 0},
    ],
    ids=str,
)
@pytest.mark.parametrize("threshold", [500, None])
def test_every_change_of_the_meters_settings_needs_a_second_person(change, threshold):
    croupier = metered(approval_above=threshold)
    after = replace(meters_settings(croupier), **change)
    order = ChangeSettings(after, "test", "eve")

    assert is_asked_for_a_second(croupier, order)
    croupier.handle(replace(order, approved_by="bob"))
    assert meters_settings(croupier) == after


def test_a_table_without_a_progressive_asks_for_none_of_its_orders():
    croupier = Croupier.at_betting()

    assert second_person_needed(croupier.state, OpenMeter("eve")) is None
    assert second_person_needed(croupier.state, Adjust(Cause.INCREASE, 1, "test", "eve")) is None


# --- what moves an award of the meter, after settlement


def corrected_to(codes: str) -> CorrectRound:
    dealt = cards(codes)
    coup = (dealt[0], dealt[2], *dealt[4:5]), (dealt[1], dealt[3], *dealt[5:])
    return CorrectRound("bob", 1, *coup, "misread")


@pytest.mark.parametrize(
    ("dealt", "correction", "asked"),
    [
        (UNSUITED, corrected_to(ALL), True),  # makes one
        (QUARTER, corrected_to(UNSUITED), True),  # takes one away
        (QUARTER, corrected_to(ALL), True),  # makes it another
        (QUARTER, VoidRound("bob", 1, "misdeal"), True),
        (UNSUITED, VoidRound("bob", 1, "misdeal"), True),  # paid from the tray
        (UNSUITED, corrected_to("2S KC 3D JC 4H KD"), False),  # unsuited still
        (QUARTER, corrected_to("2H KC 3H JC 4H KS"), False),  # another ten of Banker's
        (
            QUARTER,
            corrected_to("2H KC 6H JC 9H 9S"),
            False,
        ),  # which the table refuses: no card was to be drawn
    ],
)
@pytest.mark.parametrize("base_wagers", ["recorded", "unseen"])
def test_a_correction_of_a_settled_round_that_moves_an_award_needs_a_second_person(
    dealt, correction, asked, base_wagers
):
    croupier = metered("start game 2 5", f"draw {dealt}", base_wagers=base_wagers)

    assert is_asked_for_a_second(croupier, correction) is asked


@pytest.mark.parametrize(
    "before", [("hand 2 5", "turn jph", "j-pot", "turn run", "game over"), ("hand 2 5",)]
)
def test_it_does_so_before_and_after_the_award_is_booked(before):
    croupier = metered("start game 2 5", f"draw {QUARTER}", *before)

    assert is_asked_for_a_second(croupier, VoidRound("bob", 1, "misdeal"))


def test_an_award_that_other_seats_would_win_is_moved():
    croupier = metered("wager 3 banker 500", "start game 2 3", f"draw {QUARTER}")

    assert is_asked_for_a_second(croupier, CorrectRound("bob", 1, cards("KC 5C 5D"), cards("2H 3H 4H"), "m"))


def test_without_a_wager_in_the_game_no_correction_moves_an_award():
    croupier = metered("start game 2 5", f"draw {LOSES}", "game over", "start game", f"draw {UNSUITED}")
    correction = replace(corrected_to(ALL), round=2)

    assert not is_asked_for_a_second(croupier, correction)
    assert not is_asked_for_a_second(Croupier.at_betting(f"draw {UNSUITED}"), corrected_to(ALL))


def test_where_the_meter_pays_fixed_awards_they_are_moved_too():
    croupier = metered("start game 2 5", f"draw {QUARTER}", fixed_awards="meter")

    assert is_asked_for_a_second(croupier, corrected_to(UNSUITED))


def test_one_person_alone_makes_no_award_of_all_the_meter():
    croupier = metered("start game 2 5", f"draw {UNSUITED}")

    refusal = croupier.refused("alone correct round 2D 3D 4D over KC JC KH")
    assert (refusal.code, str(refusal)) == (
        "needs_approval",
        (
            "the order changes the round's award, so a second person must approve it: the second person must sign with their own name and password"
        ),
    )
    croupier.do("correct round 2D 3D 4D over KC JC KH", "hand 2 5", "turn jph", "j-pot", "turn run")
    assert croupier.rounds[-1].approved_by == "eve"


def test_one_person_alone_opens_no_game_that_ended_with_nobody_won():
    croupier = metered(
        "start game 2 5",
        f"draw {QUARTER}",
        "turn jph",
        "nobody",
        "turn run",
        "game over",
        base_wagers="unseen",
    )
    recorded = replace(meters_settings(croupier), base_wagers="recorded")
    croupier.handle(ChangeSettings(recorded, "the seats have terminals now", "eve", "bob"))

    assert is_asked_for_a_second(
        croupier, corrected_to("2H KC 3H JC 4H KS")
    )  # the same award, but now the cards say who won


# --- and before


@pytest.mark.parametrize(
    ("dealt", "position", "card", "asked"),
    [
        ("2D KC 3D JC 4H", 5, "4D", True),
        ("2D KC 3D JC 4D", 2, "QC", True),  # another ten: the same award
        ("5S KC", 1, "2D", True),  # after two such corrections, any true card can win
        ("2D KC 3D JC 4D", 6, "4H", False),  # no such card: the table says so
    ],
)
def test_a_correction_before_settlement_that_can_move_an_award_needs_a_second_person(
    dealt, position, card, asked
):
    croupier = metered("start game 2 5", f"draw {dealt}")
    (card,) = cards(card)

    assert is_asked_for_a_second(croupier, CorrectCard("bob", position, card, "misread")) is asked


@pytest.mark.parametrize(("dealt", "asked"), [("2D KC 3D JC 4D", True), ("2D KC", True), ("", False)])
def test_a_hand_that_can_win_an_award_is_void_only_by_two_people(dealt, asked):
    croupier = metered("start game 2 5", *([f"draw {dealt}"] if dealt else []))

    assert is_asked_for_a_second(croupier, VoidCoup("bob", "misdeal")) is asked


def correct(position: int, card: str) -> CorrectCard:
    (really,) = cards(card)
    return CorrectCard("bob", position, really, "misread")


def test_it_needs_none_where_no_wager_of_the_meter_is_in_play():
    dealt = "draw 2D KC 3D JC 4H"

    assert not is_asked_for_a_second(metered(dealt), correct(5, "4D"))
    assert not is_asked_for_a_second(metered("start game", dealt), correct(5, "4D"))
    assert not is_asked_for_a_second(Croupier.at_betting(dealt), correct(5, "4D"))


def test_of_cards_that_nobody_has_seen_it_tells_nothing():
    for dealt in ("2D KC 3D JC 4H", "2D KC", LOSES):
        croupier = metered("start game 2 5", f"draw {dealt}", reveal="dealer")
        assert is_asked_for_a_second(croupier, correct(1, "5S"))
        assert is_asked_for_a_second(croupier, correct(1, "2D"))

    assert not is_asked_for_a_second(metered(f"draw {LOSES}", reveal="dealer"), correct(1, "5S"))


def test_where_base_wagers_are_unseen_a_card_is_held_against_what_any_seat_can_win():
    croupier = metered("start game 2", "draw 2H KC 3H JC 5C", base_wagers="unseen")

    assert is_asked_for_a_second(croupier, CorrectCard("bob", 5, Card("4H"), "misread"))
