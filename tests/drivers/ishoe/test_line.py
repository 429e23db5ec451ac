"""Host and shoe over lines that lose, double, delay and damage: the table gets every record once, in order.

The shoe is the model that was written from the page. Time is simulated, so a bad line of minutes takes no time.
"""

from dataclasses import replace
from random import Random
from typing import Any

import pytest

from punto.baccarat.cards import STANDARD_DECK
from punto.baccarat.table.events import RecordsLost, ShoeHello
from punto.baccarat.table.shoe_orders import Lamps, ShoeOrders
from punto.drivers.ishoe import frames
from tests.drivers.ends import ShoeEnds
from tests.share import share

pytestmark = pytest.mark.by_chance


class Played(ShoeEnds):
    """A shoe from which cards come by chance, and a table whose lamps follow its records."""

    def __init__(self, seed: int = 1) -> None:
        self.chance = Random(seed)
        self.made: list[frames.Record] = []
        super().__init__()

    def orders(self) -> ShoeOrders:
        lamps = Lamps(banker=self.taken % 3 == 0, next=("player", "banker")[self.taken % 2])
        return replace(super().orders(), lamps=lamps)

    def plays(self, seconds: float, cards_a_second: float) -> None:
        for _ in range(round(seconds / self.TURN)):
            if self.chance.random() < cards_a_second * self.TURN:
                self.made.append(self.shoe.happens(self._record))
            self.turn()
            assert self.shoe.first_kept <= self.taken + 1  # the shoe forgets nothing that is not recorded

    def _record(self, number: int) -> frames.Record:
        kinds = (
            frames.CardRecord(number, self.chance.choice(STANDARD_DECK), self.chance.randrange(101)),
            frames.UnreadRecord(number),
            frames.LidRecord(number, open=self.chance.random() < 0.5),
        )
        return self.chance.choices(kinds, (8, 1, 1))[0]

    def all_arrives(self) -> None:
        """On a good line every record comes once and in order, the shoe deletes them and shows what the table wants."""
        self.mend_lines()
        self.runs(5)
        assert self.got == list(range(1, len(self.made) + 1))
        assert [content(event) for event in self.records] == [content(record) for record in self.made]
        assert self.shoe.stored == {}
        assert (self.shoe.locked, self.shoe.lamps) == (self.orders().locked, self.orders().lamps)
        assert not any(isinstance(event, RecordsLost) for _, event in self.told)


def content(thing: object) -> tuple[object, ...]:
    return tuple(getattr(thing, name, None) for name in ("record", "card", "confidence", "open"))


LINES: dict[str, dict[str, Any]] = {
    "perfect": {},
    "one byte at a time": {"one_by_one": True},
    "delayed by 160 ms": {"late": 8},
    "delayed by 600 ms": {"late": 30},
    "loses a byte of every tenth frame": {"shorten": 0.1},
    "damages every tenth frame": {"flip": 0.1},
    "loses every fourth frame": {"lose": 0.25},
    "doubles every second frame": {"double": 0.5},
    "gathers noise": {"noise": 0.5},
    "everything at once": {"lose": 0.1, "double": 0.1, "flip": 0.05, "shorten": 0.05, "noise": 0.1, "late": 4, "one_by_one": True},
}  # fmt: skip
of_every_line = pytest.mark.parametrize("how", LINES.values(), ids=LINES)


@of_every_line
@pytest.mark.parametrize("seed", range(3))
def test_every_record_arrives_once_and_in_order(how, seed):
    shoe = Played(seed)
    shoe.spoil_lines(shoe.chance, **how)
    shoe.plays(30, cards_a_second=4)

    assert len(shoe.made) > 80
    shoe.all_arrives()


@pytest.mark.parametrize("seed", range(8))
def test_nothing_is_lost_whatever_is_pulled_killed_or_switched_off(seed):
    shoe = Played(seed)
    shoe.spoil_lines(shoe.chance, shorten=0.02, lose=0.05, double=0.05, late=1)
    for _ in range(12):
        shoe.plays(shoe.chance.uniform(0.1, 4), cards_a_second=6)
        what = shoe.chance.choice(("cable", "shoe", "host", "both"))
        if what == "cable":
            shoe.cut_lines()
            shoe.plays(shoe.chance.uniform(0.1, 3), cards_a_second=3)
            shoe.line_to_device.cut = shoe.line_to_host.cut = False
        if what in {"shoe", "both"}:
            shoe.power()
        if what in {"host", "both"}:
            shoe.new_host()

    assert len(shoe.made) > 80
    shoe.all_arrives()


def test_a_shoe_with_more_than_a_window_of_records_sends_all_without_being_asked_twice():
    shoe = Played()
    shoe.cut_lines()
    shoe.plays(60, cards_a_second=10)
    shoe.mend_lines()

    assert len(shoe.made) > 500
    shoe.all_arrives()
    assert shoe.link.counters.duplicates == 0


def test_on_a_perfect_line_nothing_is_asked_for_twice():
    shoe = Played()
    shoe.plays(30, cards_a_second=4)
    counters = shoe.link.counters

    assert (counters.resends, counters.gaps, counters.duplicates, counters.broken) == (1, 0, 0, 0)
    assert [type(event) for _, event in shoe.told if not hasattr(event, "record")] == [ShoeHello]


@pytest.mark.parametrize("seed", range(10))
def test_a_pulled_cable_is_noticed_within_a_second_and_its_return_within_half(seed):
    shoe = Played(seed)
    shoe.plays(3 + shoe.chance.random(), cards_a_second=2)
    shoe.cut_lines()
    shoe.runs(0.98)
    assert len(shoe.lost) == 1

    shoe.mend_lines()
    returned = shoe.now
    shoe.runs(0.5)
    assert isinstance(shoe.since(returned)[0], ShoeHello)


def test_an_order_that_was_lost_is_sent_again_after_a_heartbeat():
    shoe = Played()
    shoe.runs(1)
    shoe.line_to_device.cut = True
    shoe.locked = True
    shoe.runs(0.1)
    assert not shoe.shoe.locked

    shoe.mend_lines()
    shoe.runs(0.5)
    assert shoe.shoe.locked


def test_the_orders_that_follow_from_a_record_come_with_its_acknowledgement():
    shoe = Played()
    shoe.runs(1)
    for _ in range(50):
        shoe.shoe.obeyed.clear()
        shoe.does()
        shoe.runs(0.1)
        (command,) = shoe.shoe.obeyed

        assert isinstance(command, frames.Acknowledge)
        assert command.lamps == shoe.orders().lamps


class HandByHand(Played):
    """A table whose hands have five cards each: the fifth locks the shoe until a person lets play continue."""

    hands = 1

    def orders(self) -> ShoeOrders:
        over = self.taken >= 5 * self.hands
        return replace(super().orders(), locked=over, lamps=Lamps(next="none" if over else "player"))


@of_every_line
def test_no_card_leaves_the_shoe_after_the_last_of_a_hand_whatever_the_line_loses(how):
    shoe = HandByHand(3)
    shoe.spoil_lines(shoe.chance, **how)
    for _ in range(share(6_000, one_in=3)):
        if not shoe.shoe.locked and shoe.shoe.first_kept == shoe.shoe.next_record:
            shoe.made.append(
                shoe.shoe.happens(lambda number: frames.CardRecord(number, STANDARD_DECK[0], 99))
            )
        shoe.turn()

        assert len(shoe.made) <= 5 * shoe.hands
        if shoe.taken == 5 * shoe.hands and shoe.shoe.locked and shoe.chance.random() < 0.1:
            shoe.hands += 1

    assert shoe.hands > 3
    shoe.all_arrives()


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(100))
def test_a_bad_line_for_hours(seed):
    shoe = Played(seed)
    shoe.spoil_lines(shoe.chance, shorten=0.05, flip=0.05, lose=0.1, double=0.1, noise=0.1, late=seed % 15)
    shoe.plays(600, cards_a_second=3)

    shoe.all_arrives()
