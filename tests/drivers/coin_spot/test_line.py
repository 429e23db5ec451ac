"""Both ends over a line that loses, doubles, delays and damages: no wager is invented, lost or counted twice."""

from itertools import permutations, product
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from punto.drivers.base import WagerPlaced
from tests.drivers.coin_spot.rig import STUCK_SECONDS, Rig
from tests.drivers.ends import BAD
from tests.share import share

pytestmark = pytest.mark.by_chance


@pytest.mark.parametrize("lost", list(product([False, True], repeat=4)), ids=str)
def test_between_a_coin_and_the_start_there_is_one_answer_whatever_the_line_does(lost):
    """Every order of a coin, the dealer's key and two exchanges, with each frame of them lost or not."""
    steps = ("coin", "start", "host says", "device says", "host says", "device says")
    for order in sorted(set(permutations(steps))):
        rig = Rig()
        rig.settle(0.3)
        losses = iter(lost)
        for step in order:
            match step:
                case "coin":
                    rig.put(2)
                case "start":
                    rig.want(5)
                case "host says":
                    said = rig.host_says()
                    rig.device_hears(b"" if next(losses) else said)
                case "device says":
                    said = rig.device_says()
                    rig.host_hears(b"" if next(losses) else said)
            rig.now += 0.03
        rig.settle(0.4)

        (latch,) = rig.latches
        assert rig.user.rounds == {5: rig.seats.seats(latch.positions)}
        (placed,) = (event for event in rig.user.told if isinstance(event, WagerPlaced))
        assert placed.late_for == (None if latch.positions else 5), order


class Evening:
    """A table's sensors on a bad line: what people, power and cable do, each followed by an exchange."""

    def __init__(self, chance: Random) -> None:
        self.rig = Rig()
        self.rig.settle(0.3)
        self.rig.spoil_lines(chance, **BAD)
        self.round = 0

    def does(self, what: str, position: int) -> None:
        rig = self.rig
        match what:
            case "put" if position not in rig.coins:
                rig.put(position)
            case "take":
                rig.take(position)
            case "missing" | "doubled":
                rig.break_(position, "missing" if what == "missing" else "doubled")
            case "mend":
                rig.mend(position)
            case _:
                self._does_to_all(what)
        rig.turn(0.06)

    def _does_to_all(self, what: str) -> None:
        match what:
            case "start" if self.rig.orders.round is None:
                self.round += 1
                self.rig.want(self.round)
            case "end":
                self.rig.want(None)
            case "power":
                self.rig.power()
            case "connect":
                self.rig.connect()
            case "wait":
                self.rig.now += 0.5

    def ends(self) -> Rig:
        """Let what is on its way arrive on a good line."""
        self.rig.mend_lines()
        self.rig.settle(3)
        return self.rig


def evenings(*what: str) -> st.SearchStrategy[list[tuple[str, int]]]:
    return st.lists(st.tuples(st.sampled_from(what), st.integers(1, 3)), min_size=5, max_size=60)


OFTEN = ("put", "put", "take", "take", "start", "start", "end", "turn", "turn")


@settings(max_examples=share(300))
@given(
    st.randoms(use_true_random=True),
    evenings(*OFTEN, "missing", "doubled", "mend", "power", "connect", "wait"),
)
def test_in_the_end_the_hosts_picture_is_the_devices_and_no_coin_was_a_wager_twice(chance, doings):
    evening = Evening(chance)
    for what, position in doings:
        evening.does(what, position)
    rig = evening.ends()

    spots = dict(enumerate(rig.device.spots, start=1))
    unsure = rig.user.unsure
    assert rig.user.wagers - unsure == {n * 10 for n, spot in spots.items() if spot.holds} - unsure
    assert all((n in rig.coins) == spot.holds for n, spot in spots.items() if spot.answers == 1)
    assert {each for each in rig.user.faults if each[1] != "stuck"} == {
        (n, "doubled" if spot.answers else "missing") for n, spot in spots.items() if spot.answers != 1
    }
    counted: list[int] = []
    for told, seats in rig.user.rounds.items():
        # After a loss of power a device may latch a round again; what it held the first time that it was told counts.
        coins = next(
            each.coins for each in rig.latches if each.round == told and set(seats) <= set(each.coins)
        )
        counted += [coins[seat] for seat in seats]
    assert len(counted) == len(set(counted))


@settings(max_examples=share(200))
@given(st.randoms(use_true_random=True), evenings(*OFTEN, "connect"))
def test_without_a_loss_of_power_a_round_has_every_coin_that_was_new_at_its_start(chance, doings):
    evening = Evening(chance)
    for what, position in doings:
        evening.does(what, position)
    rig = evening.ends()

    latched = {each.round: rig.seats.seats(each.positions) for each in rig.latches}
    assert rig.user.rounds.items() <= latched.items()
    wanted = rig.orders.round
    assert wanted is None or wanted in {*rig.user.rounds, *rig.user.unconfirmed}
    # After a START that was not confirmed nothing is begun and nothing ended until something else is wanted.
    assert wanted in rig.user.unconfirmed or rig.device.round == (wanted or 0)
    counted = [coin for each in rig.latches for coin in each.coins.values()]
    assert len(counted) == len(set(counted))
    assert {seat for seat, round_ in rig.user.late.items() if round_ == rig.device.round} == {
        n * 10
        for n, spot in enumerate(rig.device.spots, start=1)
        if spot.holds and rig.device.round and spot.came > rig.device.start
    }


def test_a_stuck_sensor_is_reported_over_a_bad_line_too():
    rig = Rig()
    rig.settle(0.3)
    rig.put(1)
    rig.want(5)
    rig.settle()
    rig.want(None)
    rig.spoil_lines(Random(1), lose=0.4)
    rig.settle(STUCK_SECONDS * 5)

    assert rig.user.faults == {(1, "stuck")}
