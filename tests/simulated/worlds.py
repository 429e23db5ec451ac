"""The kinds of simulation: a table, linked tables, and a progressive's table with its devices. A seed plays one of them."""

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

from tests.simulated.device_world import OF_DEVICES, DeviceWorld, device_plan
from tests.simulated.linked_world import BRIDGES, LinkedWorld, linked_plan
from tests.simulated.loop import Loop
from tests.simulated.plan import KINDS, Outcome, Plan
from tests.simulated.simulate import simulate
from tests.simulated.world import World


class Kind(NamedTuple):
    """A kind of simulation: the plan of a seed, its world, and how often a seed plays it."""

    plan: Callable[..., Plan]
    world: Callable[[Plan, Loop, Path], World]
    often: int


WORLDS: Final = {
    "table": Kind(Plan.of, World, 6),
    "linked": Kind(linked_plan, LinkedWorld, 1),
    "devices": Kind(device_plan, DeviceWorld, 2),
}
ALL_KINDS: Final = frozenset((*KINDS, *BRIDGES, *OF_DEVICES))
"""The kinds of fault."""


def plan_of(seed: int, world: str | None = None, seconds: float | None = None) -> Plan:
    """The plan of a seed: of the world that the seed chooses, or of another, for so many seconds."""
    if world is None:
        often = [each.often for each in WORLDS.values()]
        (world,) = Random(f"{seed}/world").choices(list(WORLDS), often)
    of = WORLDS[world].plan
    return of(seed) if seconds is None else of(seed, seconds)


def play(plan: Plan) -> Outcome:
    """Play a plan."""
    return simulate(plan, WORLDS[plan.world].world)
