"""Which sensor is before which seat, and what the settings cannot say."""

import pytest

from punto.drivers.coin_spot.seats import Seats, SeatsError


def test_a_sensor_is_before_the_seat_that_the_settings_say():
    seats = Seats.of([(1, 7), (2, 6), (15, 1)], 7)

    assert seats.seats([15, 1, 3]) == (1, 7)
    assert seats.positions([6, 7, 5]) == {1, 2}


def test_a_seat_may_have_no_sensor():
    assert Seats.of([], 7).positions([1]) == frozenset()


@pytest.mark.parametrize(
    ("sensors", "at", "told"),
    [
        ([(0, 1)], 0, "there is no position 0 on a chain: write 1 to 15"),
        ([(1, 1), (16, 2)], 16, "there is no position 16 on a chain: write 1 to 15"),
        ([(1, 8)], 1, "position 1 has seat 8, which the table does not have: write 1 to 7"),
        ([(1, 0)], 1, "position 1 has seat 0, which the table does not have: write 1 to 7"),
        ([(1, 1), (1, 2)], 1, "position 1 has seat 1 and seat 2: write the position once"),
        ([(1, 1), (2, 1)], 2, "seat 1 has position 1 and position 2: a seat has one sensor"),
    ],
)
def test_settings_that_cannot_be_are_refused_with_what_to_write(sensors, at, told):
    with pytest.raises(SeatsError) as refused:
        Seats.of(sensors, 7)

    assert (refused.value.position, str(refused.value)) == (at, told)
