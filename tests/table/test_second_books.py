"""What a fault in the books of linked tables costs is found at the very step that it happens."""

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from punto.baccarat.progressive.effects import AwardBooked, Effect, WagersCounted
from punto.baccarat.progressive.ledger import Cause
from punto.baccarat.progressive.turn import Turn
from tests.table.linked_floor import Chaos

BEGINS = 500
"""The step from which on the fault is there."""
STEPS = 5000


def counts(entry: Effect) -> bool:
    return isinstance(entry, WagersCounted) and bool(entry.wagers)


def pays(entry: Effect) -> bool:
    return isinstance(entry, AwardBooked) and entry.award.payer == "meter"


@pytest.mark.parametrize(
    ("cause", "times", "happens"),
    [
        pytest.param(Cause.CONTRIBUTION, 2, counts, id="a wager counted twice"),
        pytest.param(Cause.CONTRIBUTION, 0, counts, id="a contribution lost"),
        pytest.param(Cause.AWARD, 2, pays, id="an award paid twice"),
        pytest.param(Cause.AWARD, 0, pays, id="an award not paid"),
    ],
)
def test_a_fault_is_found_at_the_very_step(
    cause: Cause, times: int, happens: Callable[[Effect], bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Turn.post

    def post(self: Turn, of: Cause, *given: Any, **fields: Any) -> None:
        for _ in range(times if of is cause else 1):
            real(self, of, *given)
        self.change(**fields)

    chaos = Chaos(Random(3))
    entries = chaos.floor.authority.entries
    for step in range(STEPS):
        if step == BEGINS:
            monkeypatch.setattr(Turn, "post", post)
        before = len(entries)
        chaos.step()
        if step >= BEGINS and any(map(happens, entries[before:])):
            with pytest.raises(AssertionError):
                chaos.floor.check()
            return
        chaos.floor.check()
    pytest.fail("the fault never happened")
