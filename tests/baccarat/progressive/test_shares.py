"""Who gets what of an award, and in what order (sheet 001, appendix A)."""

import hypothesis.strategies as st
import pytest
from hypothesis import given

from punto.baccarat.progressive.shares import Share, order_of_paying, split

SEATS = st.sets(st.integers(1, 14), min_size=1)
SIDES = st.sampled_from(("right", "left"))


@pytest.mark.parametrize(("seat_one", "order"), [("right", (1, 3, 7)), ("left", (7, 3, 1))])
def test_the_seat_farthest_on_the_dealers_right_is_paid_first_and_then_counter_clockwise(seat_one, order):
    assert order_of_paying((3, 7, 1), seat_one) == order


def test_odd_cents_go_one_each_to_those_who_are_paid_first():
    assert split(1001, (2, 5, 6), "right") == (Share(2, 334), Share(5, 334), Share(6, 333))
    assert split(1001, (2, 5, 6), "left") == (Share(6, 334), Share(5, 334), Share(2, 333))


def test_who_is_alone_gets_everything():
    assert split(9_810_062, (4,), "right") == (Share(4, 9_810_062),)


@given(award=st.integers(0, 10**9), seats=SEATS, seat_one=SIDES)
def test_shares_sum_to_the_award_and_differ_by_a_cent_at_most(award, seats, seat_one):
    shares = split(award, seats, seat_one)
    amounts = [share.amount for share in shares]

    assert sum(amounts) == award
    assert max(amounts) - min(amounts) <= 1
    assert amounts == sorted(amounts, reverse=True)
    assert {share.seat for share in shares} == seats
