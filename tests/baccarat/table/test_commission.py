"""Commission that is collected at the end of the shoe: an account for each seat, which only money or a supervisor clears."""

from dataclasses import replace
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as some

from punto.baccarat.table.effects import CommissionMoved
from punto.baccarat.table.state import CommissionEntry, CommissionOwed, Phase
from punto.baccarat.wagers.definition import Wager
from punto.baccarat.wagers.pay import Rounding
from tests.baccarat.table.croupier import BANKER_NATURAL, PLAYER_NATURAL, TIE, Croupier, game

BANKER = ("wager 2 banker 1010", f"draw {BANKER_NATURAL}")
TO_TIE = "correct round KS 9H over 2S 7C"
"""The last round was a tie, 9 to 9."""


def played(*commands: str, **house: Any) -> Croupier:
    return Croupier.at_betting(*commands, **{"commission": "shoe_end", **house})


def in_chips(unit: int, *commands: str, commission: Literal["each_win", "shoe_end"] = "shoe_end") -> Croupier:
    """A table whose game rounds to this chip."""
    croupier = Croupier(commission=commission)
    chips = replace(game(), rounding=Rounding(unit=unit))
    croupier.table.state = croupier.state.replace(settings=replace(croupier.settings, game=chips))
    return croupier.do("hello", "sign on", "change shoe", "open", *commands)


def commissioned(wager: Wager) -> Wager:
    """The wager with a commission of 5% of its win."""
    rules = (
        replace(each, pays=f"{each.pays} less 5%") if " to " in each.pays else each for each in wager.rules
    )
    return replace(wager, rules=tuple(rules))


def entries(croupier: Croupier) -> list[CommissionEntry]:
    return [effect.entry for effect in croupier.effects if isinstance(effect, CommissionMoved)]


def owed(croupier: Croupier) -> dict[int, int]:
    return {each.seat: each.amount for each in croupier.state.commissions}


def handed_out(croupier: Croupier) -> dict[int, int]:
    """What each seat has got in chips so far: the net of its settlements, with what was marked and less what was collected."""
    chips: dict[int, int] = {}
    for record in croupier.rounds:
        for each in record.settlements:
            chips[each.seat] = chips.get(each.seat, 0) + each.net
    for entry in entries(croupier):
        if entry.cause != "waived":
            chips[entry.seat] = chips.get(entry.seat, 0) + entry.amount
    return chips


def test_the_default_keeps_the_commission_from_each_win():
    croupier = Croupier.at_betting(*BANKER)

    assert croupier.rounds[0].settlements[0].net == 959
    assert (entries(croupier), owed(croupier)) == ([], {})
    croupier.do("change shoe")


def test_the_settlement_is_the_same_and_the_commission_is_marked_at_the_seat():
    croupier = played("wager 1 player 500", *BANKER)

    assert croupier.rounds == Croupier.at_betting("wager 1 player 500", *BANKER).rounds
    assert entries(croupier) == [CommissionEntry(2, "earned", 51, 51, 1, "banker")]
    assert croupier.state.history.marked == tuple(entries(croupier))
    assert handed_out(croupier) == {1: -500, 2: 1010}


def test_the_commission_is_rounded_as_the_game_rounds_it():
    assert owed(in_chips(25, *BANKER)) == {2: 75}


def test_wins_of_a_shoe_add_up_for_each_seat_in_the_order_of_the_seats():
    croupier = played("wager 5 banker 2000", *BANKER, "wager 5 banker 1000", f"draw {TIE}", *BANKER)

    assert croupier.state.commissions == (CommissionOwed(2, 102), CommissionOwed(5, 100))


def test_a_hand_that_pays_no_commission_marks_nothing():
    croupier = played(
        *BANKER, "wager 2 banker 1000", f"draw {PLAYER_NATURAL}", "wager 2 banker 1000", "draw KS", "void"
    )

    assert owed(croupier) == {2: 51}
    assert croupier.state.history.marked == ()


def test_a_dealer_collects_all_that_a_seat_owes():
    croupier = played("wager 3 banker 1000", *BANKER, "collect 2 51")

    assert entries(croupier)[-1] == CommissionEntry(2, "collected", -51, 0)
    assert owed(croupier) == {3: 50}
    assert handed_out(croupier)[2] == 959


def test_a_supervisor_waives_it():
    croupier = played(*BANKER, "waive 2 51")

    assert entries(croupier)[-1] == CommissionEntry(2, "waived", -51, 0)
    assert owed(croupier) == {}


def test_a_house_can_ask_for_a_second_person_to_waive_it():
    croupier = played(*BANKER, approval=("waive_commission",))

    assert croupier.refused("alone waive 2 51").code == "needs_approval"
    assert owed(croupier.do("waive 2 51")) == {}


@pytest.mark.parametrize("order", ["collect", "waive"])
@pytest.mark.parametrize(
    ("what", "code", "text"),
    [
        (
            "2 50",
            "other_amount",
            "seat 2 owes a commission of 0.51 USD, but the order is for 0.50 USD: give the order for the whole commission",
        ),
        (
            "2 52",
            "other_amount",
            "seat 2 owes a commission of 0.51 USD, but the order is for 0.52 USD: give the order for the whole commission",
        ),
        ("3 51", "no_commission", "seat 3 owes no commission, so there is nothing to collect or waive"),
    ],
)
def test_an_account_is_cleared_whole_or_not_at_all(order, what, code, text):
    refused = played(*BANKER).refused(f"{order} {what}")

    assert (refused.code, str(refused)) == (code, text)


# --- corrections


def test_a_correction_takes_back_what_was_marked():
    croupier = played(*BANKER, TO_TIE)

    assert entries(croupier)[-1] == CommissionEntry(2, "corrected", -51, 0, 2, "banker")
    assert croupier.state.history.marked == (entries(croupier)[-1],)
    assert (owed(croupier), handed_out(croupier)) == ({}, {2: 0})


def test_a_void_round_takes_back_what_was_marked():
    croupier = played(*BANKER, "void round")

    assert (owed(croupier), handed_out(croupier)) == ({}, {2: 0})


def test_a_correction_marks_what_should_have_been_marked():
    croupier = played("wager 2 banker 1010", f"draw {PLAYER_NATURAL}", "correct round KS 2S over 9H 9S")

    assert entries(croupier) == [CommissionEntry(2, "corrected", 51, 51, 2, "banker")]
    assert handed_out(croupier) == {2: 1010}


def test_an_account_is_not_negative_if_what_is_taken_back_was_collected():
    croupier = played(
        *BANKER, *BANKER, "collect 2 102", "wager 2 banker 200", f"draw {BANKER_NATURAL}", "collect 2 10"
    )

    croupier.do(TO_TIE)

    assert (owed(croupier), croupier.state.history.marked) == ({}, ())
    assert handed_out(croupier) == {2: 959 + 959}
    croupier.do("correct round KS 5H over 9S KD")
    assert (owed(croupier), handed_out(croupier)) == ({2: 10}, {2: 959 + 959 + 200})


BACK = "correct round KS 5H over 9S KD"
"""The last round was a win of Banker after all, 9 to 5."""


@pytest.mark.parametrize("correction", [TO_TIE, "void round"])
def test_a_win_that_is_taken_back_is_returned_with_the_commission_that_was_waived(correction):
    croupier = played(*BANKER, *BANKER, "waive 2 102")

    croupier.do(correction)

    assert entries(croupier)[-2:] == [
        CommissionEntry(2, "waived", 51, 51, 3, "banker"),
        CommissionEntry(2, "corrected", -51, 0, 3, "banker"),
    ]
    assert croupier.state.history.marked == tuple(entries(croupier)[-2:])
    assert (owed(croupier), handed_out(croupier)) == (
        {},
        {2: 1010},
    )  # the win of the first round, whose waiver stands


def test_a_commission_that_is_waived_in_two_parts_is_returned_whole():
    croupier = played(*BANKER, "waive 2 51", TO_TIE, BACK, "waive 2 51")

    croupier.do("void round")

    assert (owed(croupier), handed_out(croupier)) == ({}, {2: 0})
    assert croupier.state.history.commissions == ()


def test_what_was_waived_of_earlier_rounds_is_not_owed_again():
    croupier = played(*BANKER, "waive 2 51", *BANKER, "collect 2 51", "void round")

    assert (owed(croupier), handed_out(croupier)) == ({}, {2: 1010})


@pytest.mark.parametrize("order", ["collect", "waive"])
def test_only_what_a_correction_takes_from_the_waived_part_is_owed_again(order):
    """A commission of 51 is collected or waived, taken back, and then 51 are owed, of which the account gives them first."""
    croupier = played(*BANKER, f"{order} 2 51", TO_TIE, BACK)
    assert owed(croupier) == {2: 51}

    croupier.do(TO_TIE)

    assert owed(croupier) == {}
    assert entries(croupier)[-1] == CommissionEntry(2, "corrected", -51, 0, 4, "banker")
    assert [each.cause for each in croupier.state.history.marked] == ["corrected"]


def test_no_more_is_owed_again_than_was_waived():
    """The account gives back 51 of Banker, which were collected, so that only 49 of the 100 of Tie are left to be waived."""
    croupier = Croupier(commission="shoe_end")
    with_two = replace(
        game(), wagers=tuple(commissioned(each) if each.name == "tie" else each for each in game().wagers)
    )
    croupier.table.state = croupier.state.replace(settings=replace(croupier.settings, game=with_two))
    croupier.do("hello", "sign on", "change shoe", "open", "wager 2 tie 250", *BANKER, "collect 2 51", TO_TIE)
    assert owed(croupier) == {2: 49}

    croupier.do("waive 2 49", "void round")

    assert (owed(croupier), handed_out(croupier)) == ({}, {2: 0})


def test_a_commission_that_is_the_whole_win_is_taken_back_too():
    """One chip on Banker wins one chip, which is the commission, so the pay is that of a tie and the mark is not."""
    croupier = in_chips(1000, "wager 2 banker 1000", f"draw {BANKER_NATURAL}", TO_TIE)

    (settled,) = croupier.rounds[-1].settlements
    assert (settled.wager, settled.net) == ("banker", 0)
    assert (owed(croupier), handed_out(croupier)) == ({}, {2: 0})


def test_an_account_gives_as_much_as_it_has():
    croupier = played(*BANKER, "collect 2 51", "wager 2 banker 200")
    croupier.table.state = croupier.state.replace(commissions=(CommissionOwed(2, 20),))

    croupier.do("void round")

    assert entries(croupier)[-1] == CommissionEntry(2, "corrected", -20, 0, 2, "banker")


def test_a_correction_has_the_rounding_too_where_the_pay_stays_the_same():
    """Without it, the house's sum of what the rounding kept would be that of the wrong result."""
    croupier = in_chips(1000, "wager 2 banker 1000", f"draw {BANKER_NATURAL}", TO_TIE, commission="each_win")

    before, entry = croupier.rounds
    (won,), (difference,) = before.settlements, entry.settlements
    assert (won.remainder, difference.net) == ("950", 0)
    assert croupier.state.history.last is not None
    assert croupier.state.history.last.settlements[0].remainder == "0"


# --- what waits for the accounts

OWED = "commission is owed by seat 2 0.51 USD, seat 5 1.00 USD: "
THEN = "collect it at each seat, or let a supervisor waive it, and then try again"


@pytest.mark.parametrize(
    ("so_far", "command"),
    [
        ([], "change shoe"),
        (["cut card", f"draw {TIE}", f"draw {TIE}"], "change shoe"),
        (["close table"], "change shoe"),
        (["close table"], "game canberra"),
    ],
)
def test_no_shoe_follows_while_a_seat_owes_commission(so_far, command):
    croupier = played("wager 5 banker 2000", *BANKER, *so_far)

    refused = croupier.refused(command)

    assert (refused.code, str(refused)) == ("commission_owed", OWED + THEN)
    croupier.do("collect 2 51")
    assert croupier.refused(command).code == "commission_owed"
    croupier.do("waive 5 100", command)


def test_no_other_configuration_follows_while_a_seat_owes_commission():
    croupier = played("wager 5 banker 2000", *BANKER, "close table").do("start")
    croupier.settings = replace(croupier.settings, commission="each_win")

    refused = croupier.refused("start")

    assert (refused.code, str(refused)) == (
        "commission_owed",
        f"{OWED}start with the previous configuration, {THEN}",
    )
    croupier.do("collect 2 51", "collect 5 100", "start")


def test_an_account_outlasts_a_closed_and_locked_table():
    croupier = played(*BANKER, "close table", "sign off")

    assert croupier.refused("collect 2 51").code == "not_now"
    assert owed(croupier.do("sign on", "open", "collect 2 51")) == {}
    assert croupier.phase is Phase.BETTING


STEPS = some.sampled_from(
    [
        f"draw {BANKER_NATURAL}",
        f"draw {PLAYER_NATURAL}",
        f"draw {TIE}",
        TO_TIE,
        "void round",
        "collect",
        "waive",
    ]
)


@given(some.lists(some.tuples(STEPS, some.sampled_from([2, 5]), some.integers(1, 400)), max_size=8))
def test_over_a_shoe_a_seat_pays_the_same_wherever_the_house_collects(steps):
    croupier = played()
    for step, seat, amount in steps:
        last = croupier.state.history.last
        if step.startswith("draw"):
            croupier.do(f"wager {seat} banker {amount}", step)
        elif step in {"collect", "waive"}:
            croupier.do(*[f"{step} {seat} {owed(croupier)[seat]}" for seat in owed(croupier)])
        elif (
            last is not None and last.status == "played" and (last.banker[1] != "7C" or step == "void round")
        ):
            croupier.do(step)

    assert all(entry.owed >= 0 for entry in entries(croupier))
    last = croupier.state.history.last
    assert last is None or last.status == "played" or croupier.state.history.commissions == ()
    for seat, chips in handed_out(croupier).items():
        net = sum(each.net for record in croupier.rounds for each in record.settlements if each.seat == seat)
        waived = sum(each.amount for each in entries(croupier) if (each.seat, each.cause) == (seat, "waived"))
        assert chips == net + owed(croupier).get(seat, 0) - waived
