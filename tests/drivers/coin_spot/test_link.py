"""Both ends of the link without a line: what a coin is, when, and what the host is told of it."""

import pytest

from punto.drivers.base import (
    SensorFailed,
    SensorMended,
    SensorsFound,
    StartUnconfirmed,
    WagerLifted,
    WagerPlaced,
    WagersLatched,
)
from punto.drivers.coin_spot.frames import MOST_TAKEN, Ask, Here, Orders, Report, Spot
from punto.drivers.coin_spot.link import CoinSpotLink
from punto.drivers.coin_spot.seats import Seats
from punto.drivers.framing import encode
from punto.simulators.coin_spot.device import Concentrator
from tests.drivers.coin_spot.rig import STUCK_SECONDS, Picture, Rig


@pytest.fixture
def rig():
    rig = Rig()
    rig.settle()
    assert rig.user.told == [SensorsFound((10, 20, 30), ())]
    rig.user.told.clear()
    return rig


def test_a_coin_is_reported_once_when_it_comes_and_once_when_it_goes(rig):
    rig.put(2)
    assert rig.settle() == [WagerPlaced(20, 1)]

    rig.take(2)
    assert rig.settle() == [WagerLifted(20)]


def test_what_came_and_went_between_two_reports_is_reported_in_order(rig):
    rig.put(1)
    rig.turn()
    rig.take(1)
    rig.put(2)
    rig.put(1)
    rig.take(2)

    assert rig.settle() == [WagerPlaced(20, 3), WagerLifted(10), WagerPlaced(10, 4), WagerLifted(20)]


def test_a_start_latches_what_lies_there_and_no_more(rig):
    rig.put(1, 3)
    rig.want(5)
    events = rig.settle()

    assert events == [WagerPlaced(10, 1), WagerPlaced(30, 2), WagersLatched(5, (10, 30))]


def test_a_coin_after_the_start_is_late_for_the_round_and_in_the_next(rig):
    rig.put(1)
    rig.want(5)
    rig.settle()
    rig.put(2)
    assert rig.settle() == [WagerPlaced(20, 3, late_for=5)]

    rig.take(1)
    rig.want(None)
    rig.settle()
    rig.want(6)
    assert rig.settle()[-1] == WagersLatched(6, (20,))


def test_a_coin_between_the_start_that_the_dealer_gave_and_the_one_that_the_device_took_is_in_time(rig):
    rig.want(5)
    start = rig.host_says()
    rig.put(1)  # the host does not know of it, and the device not of the START
    rig.device_hears(start)
    rig.put(2)
    rig.host_hears(rig.device_says())

    assert rig.user.told == [WagerPlaced(10, 1), WagersLatched(5, (10,)), WagerPlaced(20, 3, late_for=5)]


def test_a_round_has_the_wagers_that_were_taken_off_as_well(rig):
    rig.put(1)
    rig.want(5)
    rig.device_hears(rig.host_says())
    rig.take(1)

    assert rig.settle() == [WagerPlaced(10, 1), WagersLatched(5, (10,)), WagerLifted(10)]


def test_a_coin_is_a_wager_in_one_round_and_must_be_laid_again(rig):
    rig.put(1, 2)
    rig.want(5)
    rig.settle()
    rig.want(None)
    rig.turn()
    rig.take(2)
    rig.put(2)
    rig.turn()
    rig.want(6)
    rig.settle()

    assert rig.user.rounds == {5: (10, 20), 6: (20,)}


def test_a_round_after_a_round_ends_the_first(rig):
    rig.put(1)
    rig.want(5)
    rig.settle()
    rig.want(6)
    rig.settle()

    assert rig.user.rounds == {5: (10,), 6: ()}
    assert rig.device.round == 6


def test_a_start_is_repeated_until_it_is_confirmed(rig):
    rig.put(1)
    rig.want(5)
    for _ in range(4):
        assert rig.host_says()  # lost
        rig.now += 0.15
    rig.settle()

    assert rig.user.rounds == {5: (10,)}


def test_a_start_that_the_device_did_not_take_within_a_second_is_over(rig):
    rig.want(5)
    rig.host_says()
    rig.now += 1.0
    assert rig.link.tick(rig.now) == [StartUnconfirmed(5)]
    assert rig.link.tick(rig.now) == []
    rig.put(1)
    rig.settle()

    assert rig.device.round == 0
    assert rig.user.rounds == {}
    rig.want(None)
    rig.turn()
    rig.want(5)
    rig.settle()
    assert rig.user.rounds == {5: (10,)}


def test_each_start_that_is_over_is_reported(rig):
    for round_ in (5, 6):
        rig.want(round_)
        rig.host_says()
        rig.now += 1.0
        assert rig.link.tick(rig.now) == [StartUnconfirmed(round_)]


def test_a_start_that_was_taken_in_time_and_confirmed_late_is_reported(rig):
    rig.put(1)
    rig.want(5)
    rig.device_hears(rig.host_says())
    rig.device_says()  # lost
    rig.now += 1.0
    rig.put(2)
    rig.user.take(rig.link.tick(rig.now))
    rig.settle()

    assert rig.user.unconfirmed == [5]
    assert rig.user.rounds == {5: (10,)}
    assert rig.user.late == {20: 5}


def test_a_round_that_is_not_wanted_any_more_is_not_reported(rig):
    rig.want(5)
    rig.device_hears(rig.host_says())
    confirmation = rig.device_says()
    rig.want(None)
    rig.host_says()
    rig.host_hears(confirmation)
    rig.settle()

    assert rig.user.rounds == {}
    assert rig.device.round == 0


# --- the lights


def test_a_round_that_was_ended_at_once_can_be_started_again(rig):
    rig.put(1)
    rig.want(5)
    assert WagersLatched(5, (10,)) in rig.settle()
    rig.want(None)
    rig.settle()
    rig.take(1)
    rig.put(1, 2)
    rig.user.rounds.clear()  # its user has not started it

    rig.want(5)

    assert WagersLatched(5, (10, 20)) in rig.settle()


def test_a_start_that_is_over_is_not_taken_up_by_the_next_of_its_round(rig):
    rig.put(1)
    rig.want(5)
    rig.settle()
    rig.want(None)
    rig.host_says()  # and the END is lost
    rig.put(2)
    rig.want(5)

    assert rig.settle(1.5) == [WagerPlaced(20, 3, 5), StartUnconfirmed(5)]


def test_the_host_sets_the_lights_by_seat(rig):
    rig.want(None, lights=[10, 30, 140])
    rig.turn(0.0)

    assert rig.device.lit(rig.now) == {1, 3}
    assert rig.device.lit(rig.now + 0.81) == frozenset()  # nobody vouches for them


# --- new beginnings


def test_a_lost_line_changes_nothing_and_what_happened_meanwhile_is_reported(rig):
    rig.put(1, 2)
    rig.want(5)
    rig.settle()
    rig.take(1)
    rig.put(3)
    rig.now += 5.0
    assert rig.link.silence(rig.now) == "no sign of life for 0.8 s: check the coin spot's power and its cable"
    rig.connect()

    assert rig.settle() == [WagerLifted(10), WagerPlaced(30, 5, late_for=5)]
    assert len(rig.user.found) == 1


def test_a_device_that_lost_its_power_gives_the_whole_picture_anew(rig):
    rig.put(1, 2)
    rig.settle()
    rig.take(1)
    rig.power()

    assert rig.settle() == [SensorsFound((10, 30), (20,)), WagerPlaced(20, 1)]


@pytest.mark.parametrize("seconds", [0.3, 1.5])
def test_a_round_keeps_its_wagers_when_the_device_loses_its_power(rig, seconds):
    rig.put(1)
    rig.want(5)
    rig.settle(seconds)
    rig.power()
    rig.put(2)
    events = rig.settle()

    assert events == [SensorsFound((30,), (20,), (10,)), WagerPlaced(20, 2, late_for=5)]
    rig.put(3)
    assert rig.settle() == [WagerPlaced(30, 3, late_for=5)]
    assert rig.user.rounds == {5: (10,)}

    rig.want(None)
    rig.settle(STUCK_SECONDS - 0.2)
    assert rig.user.faults == set()
    rig.want(6)
    rig.settle()
    assert rig.user.rounds[6] == (20, 30)  # what was late for one round lies there for the next
    assert rig.user.faults == {(1, "stuck")}


def test_a_start_of_which_the_power_took_the_confirmation_latches_anew(rig):
    rig.put(1)
    rig.want(5)
    rig.device_hears(rig.host_says())
    rig.power()
    rig.settle()

    assert rig.user.rounds == {5: (10,)}


@pytest.mark.parametrize("broken", [None, "missing", "doubled"])
def test_a_coin_that_has_had_its_round_is_not_a_wager_again_because_the_power_was_off(rig, broken):
    rig.put(1)
    rig.want(5)
    rig.settle()
    if broken is not None:
        rig.sensors[0].break_(broken)
    rig.power()
    rig.settle()
    rig.sensors[0].mend()
    rig.device.look()
    rig.settle()
    rig.want(None)
    rig.turn()
    rig.put(2)
    rig.want(6)
    rig.settle()
    assert rig.user.rounds == {5: (10,), 6: (20,)}

    rig.want(None)
    rig.take(1)
    rig.settle()
    rig.put(1)
    rig.turn()
    rig.want(7)
    rig.settle()
    assert rig.user.rounds[7] == (10,)


def test_a_coin_that_has_had_its_round_is_not_a_wager_again_whatever_its_number_after_the_power_was_off(rig):
    for position in (3, 1, 2):
        rig.put(position)
    rig.want(5)
    rig.settle()
    rig.power()  # the first to come is now the last of them
    rig.settle()
    rig.want(6)
    rig.settle()

    assert rig.user.rounds == {5: (10, 20, 30), 6: ()}


def test_a_coin_that_has_had_its_round_is_not_reported_anew_when_its_sensor_can_be_read_again(rig):
    rig.put(1)
    rig.want(5)
    rig.settle()
    rig.break_(1, "missing")
    rig.power()
    rig.settle()
    rig.mend(1)

    assert rig.settle() == [SensorMended(1, 10, "missing")]


def test_a_coin_that_lay_there_when_the_power_came_is_a_wager_in_the_next_round(rig):
    rig.put(1)
    rig.power()
    rig.settle()
    rig.want(5)
    rig.settle()

    assert rig.user.rounds == {5: (10,)}


def test_a_host_that_begins_anew_in_mid_round_is_told_it_whole(rig):
    rig.put(1)
    rig.want(5)
    rig.settle()
    rig.put(2)
    rig.settle()
    rig.new_host()

    assert rig.settle() == [
        SensorsFound((30,), (10, 20)),
        WagerPlaced(10, 1),
        WagersLatched(5, (10,)),
        WagerPlaced(20, 3, late_for=5),
    ]


def test_a_host_that_begins_anew_starts_no_round_that_its_record_left_off_in(rig):
    """Its START is as old as its record."""
    rig.put(1)
    rig.want(5)
    rig.new_host()
    events = rig.settle(1.2)

    assert events == [SensorsFound((20, 30), (10,)), WagerPlaced(10, 1), StartUnconfirmed(5)]
    assert rig.device.round == 0


def test_a_start_while_the_device_is_not_there_is_not_for_it(rig):
    rig.put(1)
    rig.settle()
    rig.link.disconnect()
    rig.want(5)
    rig.host_says()
    rig.connect()
    rig.settle()

    assert rig.device.round == 0
    assert rig.user.unconfirmed == []
    rig.settle(0.5)
    assert rig.user.unconfirmed == [5]


def test_a_host_that_begins_anew_is_not_told_of_a_coin_that_has_had_its_round(rig):
    rig.put(1)
    rig.want(5)
    rig.settle()
    rig.want(None)
    rig.put(2)
    rig.settle()
    rig.new_host()

    assert rig.settle() == [SensorsFound((30,), (20,), (10,)), WagerPlaced(20, 3)]


@pytest.mark.parametrize("broken", [None, "missing"])
def test_a_host_that_begins_anew_is_told_which_coins_have_had_a_start_that_nobody_was_told_of(rig, broken):
    rig.want(5)
    start = rig.host_says()
    rig.put(1)
    rig.device_hears(start)
    if broken is not None:
        rig.break_(1, broken)
    rig.want(None)
    rig.new_host()

    assert rig.settle()[0] == SensorsFound((20, 30), (), (10,))


@pytest.mark.parametrize("coin", [False, True])
def test_a_position_that_could_not_be_read_at_first_is_reported_when_it_can(rig, coin):
    rig.put(1)
    rig.settle()
    rig.break_(1, "missing")
    rig.power()
    assert rig.settle() == [SensorsFound((20, 30), ()), SensorFailed(1, 10, "missing")]
    if not coin:
        rig.take(1)
    rig.mend(1)

    here = WagerPlaced(10, 3) if coin else WagerLifted(10)
    assert rig.settle() == [here, SensorMended(1, 10, "missing")]
    rig.take(1)
    assert rig.settle() == ([WagerLifted(10)] if coin else [])


def test_orders_are_numbered_on_for_years_above_whatever_a_device_says_that_it_took(rig):
    rig.host_hears(encode(Here(rig.token, 2, MOST_TAKEN, "VC-1")))
    rig.now += 1
    assert rig.host_says()
    assert rig.link._number == MOST_TAKEN + 1
    with pytest.raises(ValueError, match="taken is 2147483648"):
        Here(rig.token, 2, MOST_TAKEN + 1, "VC-1")


def test_another_device_is_a_new_beginning(rig):
    rig.put(1)
    rig.settle()
    rig.device = Concentrator("VC-2", 1, rig.sensors)
    rig.connect()

    assert rig.settle() == [SensorsFound((20, 30), (10,)), WagerPlaced(10, 1)]


def test_a_device_whose_count_of_power_ons_was_lost_is_taken_when_it_was_silent(rig):
    rig.boot = 9
    rig.power()
    rig.settle()
    rig.boot = 0
    rig.power()
    rig.settle()
    rig.put(1)

    assert rig.settle() == [WagerPlaced(10, 1)]


# --- what the line keeps back


def test_a_report_that_comes_late_is_not_the_picture(rig):
    rig.put(1)
    old = rig.device_says()
    rig.take(1)
    rig.settle()

    assert rig.host_hears(old) == []
    assert rig.link.counters.stale == 1


def test_orders_that_come_late_change_nothing(rig):
    rig.want(None, lights=[10])
    old = rig.host_says()
    rig.want(5)
    rig.settle()
    rig.device_hears(old)

    assert (rig.device.round, rig.device.lights) == (5, frozenset())


def test_orders_for_before_the_power_was_off_change_nothing(rig):
    rig.want(5)
    old = rig.host_says()
    rig.power()
    rig.device_hears(old)

    assert rig.device.round == 0


def test_what_was_said_before_the_power_was_off_is_not_a_restart(rig):
    rig.put(1)
    rig.device_hears(encode(Ask(rig.token)))
    old = rig.device_says()
    rig.take(1)
    rig.power()
    rig.settle()
    rig.host_hears(old)
    rig.settle()

    assert len(rig.user.found) == 2
    assert rig.user.wagers == set()


def test_a_report_that_comes_before_its_power_on_has_introduced_itself_waits(rig):
    rig.put(1)
    rig.settle()
    rig.power()
    rig.now += 0.25
    rig.device_hears(rig.host_says())
    _, report = rig.device.data_to_send(rig.now)  # what comes first, HERE, is lost

    assert rig.host_hears(report) == []
    assert rig.link.counters.held_back == 1
    assert rig.settle() == [SensorsFound((20, 30), (10,)), WagerPlaced(10, 1)]


def test_a_report_for_the_host_before_is_not_taken(rig):
    rig.put(1)
    old = rig.device_says()
    rig.take(1)
    rig.new_host()
    rig.device_hears(rig.host_says())
    here, _ = rig.device.data_to_send(rig.now)
    rig.host_hears(here)

    assert rig.host_hears(old) == []
    rig.settle()
    assert rig.user.wagers == set()


def test_the_first_orders_of_a_new_host_are_taken(rig):
    rig.settle(3)
    rig.new_host()
    rig.want(None, lights=[10])
    rig.turn()
    rig.turn()

    assert rig.device.lights == {1}


def test_nothing_is_taken_from_a_device_that_has_not_answered_this_host():
    link = CoinSpotLink(Seats({1: 1}), STUCK_SECONDS)
    link.connect(0.0, 7)
    report = Report(1, 7, 1, 0, 0, 0, frozenset(), (Spot(1, 1, 0),))

    assert link.receive(encode(report), 0.0) == []
    assert link.receive(encode(Here(6, 1, 0, "VC-1")) + encode(report), 0.0) == []
    assert link.here is None
    assert link.counters.held_back == 2


def test_a_report_is_sent_again_until_it_is_acknowledged(rig):
    rig.put(1)
    said = rig.device_says()
    assert said
    assert rig.device_says() == b""
    rig.now += 0.11
    assert rig.device_says() == said
    rig.host_hears(said)
    rig.device_hears(rig.host_says())
    rig.device_says()
    rig.now += 0.11
    assert rig.device_says() == b""


def test_orders_go_out_four_times_a_second_and_at_once_when_they_change(rig):
    rig.now += 0.25
    assert rig.host_says()
    assert rig.host_says() == b""
    rig.now += 0.2
    assert rig.host_says() == b""
    rig.want(None, lights=[10])
    assert rig.host_says()
    rig.now += 0.25
    assert rig.host_says()


def test_a_host_whose_number_is_behind_goes_on_from_the_devices(rig):
    rig.device_hears(encode(Orders(1000, rig.token, rig.boot, 0, 0, frozenset())))
    rig.settle()
    rig.want(5)
    rig.settle()

    assert rig.device.round == 5


# --- faults


@pytest.mark.parametrize("fault", ["missing", "doubled"])
def test_a_fault_is_reported_once_and_once_when_it_has_gone(rig, fault):
    rig.sensors[1].break_(fault)
    rig.device.look()
    assert rig.settle() == [SensorFailed(2, 20, fault)]

    rig.sensors[1].mend()
    rig.device.look()
    assert rig.settle() == [SensorMended(2, 20, fault)]


@pytest.mark.parametrize("fault", ["missing", "doubled"])
def test_what_a_sensor_cannot_say_is_neither_a_wager_nor_its_going(rig, fault):
    rig.put(1, 2)
    rig.settle()
    rig.sensors[0].break_(fault)
    rig.device.look()
    rig.want(5)
    assert rig.settle() == [WagersLatched(5, (20,)), SensorFailed(1, 10, fault)]

    rig.sensors[0].mend()
    rig.take(1)
    assert rig.settle() == [WagerLifted(10), SensorMended(1, 10, fault)]


def test_a_position_beyond_the_chain_is_missing():
    rig = Rig(positions=2)
    rig.link = CoinSpotLink(Seats.of([(1, 1), (3, 2)], 7), STUCK_SECONDS)
    rig.connect()

    assert rig.settle() == [
        SensorsFound((1,), ()),
        SensorFailed(2, None, "unassigned"),
        SensorFailed(3, 2, "missing"),
    ]


def test_a_coin_where_there_is_no_seat_is_not_a_wager():
    rig = Rig(positions=2)
    rig.link = CoinSpotLink(Seats.of([(1, 1)], 7), STUCK_SECONDS)
    rig.connect()
    rig.settle()
    rig.put(1, 2)
    rig.want(5)
    rig.settle()

    assert rig.user.wagers == {1}
    assert rig.user.rounds == {5: (1,)}


def test_a_wager_of_the_round_before_is_stuck_when_its_time_is_over(rig):
    rig.put(1, 2)
    rig.want(5)
    rig.settle(10)
    rig.want(None)
    rig.turn()
    rig.take(2)
    assert rig.settle(STUCK_SECONDS - 0.2) == [WagerLifted(20)]
    assert rig.settle(0.4) == [SensorFailed(1, 10, "stuck")]
    rig.want(6)
    assert rig.settle(5) == [WagersLatched(6, ())]

    rig.take(1)
    assert rig.settle() == [WagerLifted(10), SensorMended(1, 10, "stuck")]


def test_a_wager_of_the_round_before_is_stuck_when_the_next_begins(rig):
    rig.put(1)
    rig.want(5)
    rig.settle()
    rig.want(None)
    rig.turn()
    rig.want(6)
    rig.turn()
    assert rig.user.told[-2:] == [WagersLatched(6, ()), SensorFailed(1, 10, "stuck")]


def test_a_stuck_sensor_stays_stuck_when_the_power_was_off(rig):
    rig.put(1)
    rig.want(5)
    rig.settle()
    rig.want(None)
    rig.settle(5)
    rig.power()
    assert rig.settle() == [SensorsFound((20, 30), (), (10,))]
    assert rig.user.faults == {(1, "stuck")}
    rig.take(1)
    rig.settle()
    assert rig.user.faults == set()


def test_a_coin_that_waits_for_the_next_round_is_not_stuck(rig):
    rig.put(1)
    rig.settle(60)

    assert rig.user.faults == set()


def test_a_user_can_believe_every_event():
    """The checks of the tests' own user: it refuses what does not fit."""
    with pytest.raises(KeyError):
        Picture().take([WagerLifted(1)])
    with pytest.raises(AssertionError):
        Picture().take([WagerPlaced(1, 1), WagerPlaced(1, 2)])
