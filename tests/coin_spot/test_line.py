"""Both ends over a line that loses, doubles, delays and damages: no wager is invented, lost or counted twice."""

from itertools import permutations, product
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from punto.drivers.base import WagerPlaced
from tests.coin_spot.rig import STUCK_SECONDS, Rig
from tests.share import ALL, share

pytestmark = pytest.mark.by_chance

# --- the race for the START


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
        rig.settle()

        (latch,) = rig.latches
        assert rig.user.rounds == {5: rig.seats.seats(latch.positions)}
        (placed,) = (event for event in rig.user.told if isinstance(event, WagerPlaced))
        assert placed.late_for == (None if latch.positions else 5), order


# --- a bad line, from its own chance


class BadLine:
    """A line in one direction: frames lost, doubled, held back or damaged."""

    def __init__(self, data: st.DataObject) -> None:
        self._data = data
        self._held: list[bytes] = []

    def carry(self, frames: list[bytes]) -> bytes:
        carried: list[bytes] = []
        for frame in frames:
            what = self._data.draw(
                st.sampled_from(["good", "good", "lose", "double", "hold", "damage", "noise"])
            )
            if what == "hold":
                self._held.append(frame)
            elif what == "damage":
                bit = self._data.draw(st.integers(0, len(frame) * 8 - 1))
                broken = bytearray(frame)
                broken[bit // 8] ^= 1 << bit % 8
                carried.append(bytes(broken))
            elif what != "lose":
                noise = b"\x07\x55\0\xff" if what == "noise" else b""
                carried.append(noise + frame * (2 if what == "double" else 1))
        let_go = self._data.draw(st.booleans()) if self._held else False
        if let_go:
            carried.append(self._held.pop(0))
        return b"".join(carried)


class Evening:
    """A table's sensors on a bad line: what people, power and cable do, each followed by an exchange."""

    def __init__(self, data: st.DataObject) -> None:
        self.rig = Rig()
        self.rig.settle(0.3)
        self.to_device, self.to_host = BadLine(data), BadLine(data)
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
        self.exchange()

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

    def exchange(self) -> None:
        said = self.rig.host_says()
        self.rig.device_hears(self.to_device.carry([said] if said else []))
        self.rig.host_hears(self.to_host.carry(self.rig.device.data_to_send(self.rig.now)))
        self.rig.now += 0.06


def evenings(*what: str) -> st.SearchStrategy[list[tuple[str, int]]]:
    return st.lists(st.tuples(st.sampled_from(what), st.integers(1, 3)), min_size=5, max_size=60)


OFTEN = ("put", "put", "take", "take", "start", "start", "end", "turn", "turn")


@settings(max_examples=share(300), deadline=None)
@given(st.data(), evenings(*OFTEN, "missing", "doubled", "mend", "power", "connect", "wait"))
def test_in_the_end_the_hosts_picture_is_the_devices_and_no_coin_was_a_wager_twice(data, doings):
    evening = Evening(data)
    for what, position in doings:
        evening.does(what, position)
    rig = evening.rig
    rig.settle(3)

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


@settings(max_examples=share(200), deadline=None)
@given(st.data(), evenings(*OFTEN, "connect"))
def test_without_a_loss_of_power_a_round_has_every_coin_that_was_new_at_its_start(data, doings):
    evening = Evening(data)
    rig = evening.rig
    for what, position in doings:
        evening.does(what, position)
    rig.settle(2)

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


# --- damage to every byte


def test_a_flipped_lost_doubled_or_inserted_byte_in_any_frame_costs_no_wager():
    def damages(frame: bytes) -> list[bytes]:
        flips = [
            frame[:at] + bytes([frame[at] ^ 1 << bit]) + frame[at + 1 :]
            for at in range(len(frame))
            for bit in range(8)
        ]
        lost = [frame[:at] + frame[at + 1 :] for at in range(len(frame))]
        doubled = [frame[: at + 1] + frame[at:] for at in range(len(frame))]
        inserted = [frame[:at] + byte + frame[at:] for at in range(len(frame)) for byte in (b"\0", b"\xff")]
        return [*flips, *lost, *doubled, *inserted][:: 1 if ALL else 5]

    def begun() -> tuple[Rig, bytes]:
        rig = Rig(1)
        rig.settle(0.3)
        rig.put(1)
        rig.want(5)
        return rig, rig.host_says()

    rig, start = begun()
    rig.device_hears(start)
    report = rig.device_says()
    for broken in damages(start):
        rig, _ = begun()
        rig.device_hears(broken)
        rig.settle(0.5)
        assert rig.user.rounds == {5: (10,)}
    for broken in damages(report):
        rig, start = begun()
        rig.device_hears(start)
        rig.host_hears(broken)
        rig.settle(0.5)
        assert rig.user.rounds == {5: (10,)}
        assert rig.user.wagers == {10}


def test_a_stuck_sensor_is_told_over_a_bad_line_too():
    rig = Rig()
    rig.settle(0.3)
    rig.put(1)
    rig.want(5)
    rig.settle()
    rig.want(None)
    chance = Random(1)
    for _ in range(200):
        said = rig.host_says()
        rig.device_hears(said if chance.random() < 0.6 else b"")
        said = rig.device_says()
        rig.host_hears(said if chance.random() < 0.6 else b"")
        rig.now += STUCK_SECONDS / 40

    assert rig.user.faults == {(1, "stuck")}
