"""Several tables on one progressive, whatever is killed, cut, late or repeated, in whatever order."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from punto.baccarat.progressive.effects import AwardBooked
from tests.share import share
from tests.table.linked_floor import Chaos

pytestmark = pytest.mark.by_chance

STEPS = share(5000, one_in=5)


@settings(max_examples=share(200, one_in=100))
@given(chance=st.randoms(use_true_random=True), nexus=st.booleans())
def test_whatever_is_killed_lost_or_repeated_the_tables_parts_are_the_meter(chance, nexus):
    chaos = Chaos(chance, procedure="nexus" if nexus else "aquarius")
    for step in range(STEPS):
        chaos.step()
        chaos.floor.check()
        if step % 500 == 0:
            chaos.kill()
    chaos.floor.settle()
    chaos.floor.check()


def test_what_is_driven_by_chance_comes_to_awards_and_to_all_tables():
    chaos = Chaos(Random(1))

    def all_seen() -> bool:
        awarded = any(isinstance(each, AwardBooked) for each in chaos.floor.authority.entries)
        return awarded and all(table.entries for table in chaos.floor.tables.values())

    for _ in range(5000):
        if all_seen():
            break
        chaos.step()
    assert all_seen()
