"""docs/reference/coin-spot.md says what the sensors do; tests/drivers/test_pages.py checks what it says of the link."""

import re
from typing import get_args

from punto.drivers.base import SensorFault
from punto.drivers.coin_spot.frames import Report, Spot
from tests.drivers.devices import COIN_SPOT
from tests.drivers.page import page


def test_in_the_examples_a_late_wager_is_not_latched_and_one_that_was_lifted_after_the_start_is():
    last = [frame for frame in COIN_SPOT.examples if isinstance(frame, Report)][-1]

    assert last.latched == {2}
    assert last.spots == (Spot(1, 5, 0), Spot(1, 1, 4), Spot(0, 0, 0))


def test_the_page_has_every_fault():
    found = set(re.findall(r"^\| `(\w+)` \|", page("coin-spot.md"), re.MULTILINE))

    assert found == set(get_args(SensorFault))
