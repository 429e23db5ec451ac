"""Several tables on one progressive, whatever is killed, cut, late or repeated, in whatever order."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from punto.baccarat.progressive.effects import AwardBooked
from tests.share import share
from tests.table.linked_floor import Chaos

pytestmark = pytest.mark.by_chance

STEPS = 5000


@settings(max_examples=share(200, one_in=100), deadline=None)
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


def test_what_is_driven_by_chance_comes_to_awards_at_all_tables():
    chaos = Chaos(Random(1))
    for _ in range(STEPS):
        chaos.step()

    entries = chaos.floor.authority.entries
    assert any(isinstance(each, AwardBooked) for each in entries)
    assert all(table.entries for table in chaos.floor.tables.values())
