"""What a seed plays: for how long, with which faults, and what came of it."""

from collections import Counter
from dataclasses import dataclass, field
from random import Random
from typing import Final

from tests.baccarat.table.linked_states import Reached

SECONDS: Final = 600.0
"""How long a plan takes."""
_KILLS: Final = (
    *("kill", "kill executed", "kill before", "kill after", "kill publishing"),
    *("kill at a round", "stop"),
)
_DISK: Final = ("full", "broken", "broken after", "slow disk")
_BROKER: Final = ("cut", "cut at a round", "half open", "away", "slow broker", "forgets", "repeats")
OF_THE_SHOE: Final = (
    *("cable", "power", "memory", "records", "noise"),
    *("unread", "low", "stuck", "lid", "resend", "swap", "overdraw"),
)
KINDS: Final = (*_KILLS, *_DISK, *_BROKER, *OF_THE_SHOE, "clock", "defect")


@dataclass(frozen=True)
class Fault:
    """A fault at a time, in seconds from the beginning; `size` is from 0 to 1, and `place` is of several services."""

    at: float
    kind: str
    size: float
    place: str = ""

    def __str__(self) -> str:
        return f"{self.kind} of {self.place}" if self.place else self.kind


@dataclass(frozen=True)
class Plan:
    """What a seed plays: for how long, and with which faults. A plan with fewer of them is a smaller simulation.

    `whole` is how long the seed's whole plan takes, in seconds, and `world` the kind of simulation (`worlds.py`).
    """

    seed: int
    seconds: float
    faults: tuple[Fault, ...]
    whole: float
    world: str = "table"

    @classmethod
    def of(cls, seed: int, seconds: float = SECONDS) -> "Plan":
        """The plan of a seed."""
        chance = Random(f"{seed}/faults")
        kinds = chance.sample(KINDS, chance.randint(2, len(KINDS)))
        faults = [
            Fault(round(chance.uniform(5, seconds), 3), chance.choice(kinds), round(chance.random(), 3))
            for _ in range(chance.randint(3, 30))
        ]
        return cls(seed, seconds, tuple(sorted(faults, key=lambda fault: fault.at)), seconds)


@dataclass
class Outcome:
    """What came of a simulation; `wrong` is empty if everything was as it should be.

    `reached` are the states of linked tables, of their authority and of their connections, after each commit.
    """

    plan: Plan
    wrong: str = ""
    steps: list[str] = field(default_factory=list)
    seconds: float = 0.0
    head: str = ""
    messages: str = ""
    inputs: int = 0
    rounds: int = 0
    starts: int = 0
    counted: Counter[str] = field(default_factory=Counter)
    reached: set[Reached] = field(default_factory=set)


class Wrong(Exception):  # noqa: N818 - what the simulation looks for
    """Something is not as it must be."""


def chance_of(seed: int | str, what: str) -> Random:
    """The chance of one part of a simulation."""
    return Random(f"{seed}/{what}")
