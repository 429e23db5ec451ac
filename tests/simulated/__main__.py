"""`python -m tests.simulated SEED` plays a seed and prints its report. Without a seed it plays `--seeds` of them.

`--mutations` finds the mistakes of `mutations.py`, and prints the table of docs/explanation/simulated-faults.md.
"""

import argparse
import os
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace

from tests.simulated.mutations import MOST_SEEDS, find_all
from tests.simulated.plan import Fault, Outcome, Plan
from tests.simulated.simulate import prepare
from tests.simulated.worlds import ALL_KINDS, WORLDS, plan_of, play

SECONDS_PER_HOUR = 3600.0


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.simulated", description=__doc__.splitlines()[0])
    parser.add_argument("seed", nargs="?", type=int, help="play this seed, and make it smaller if it fails")
    parser.add_argument("--seconds", type=float, help="how long to play each seed")
    parser.add_argument("--world", choices=WORLDS, help="what to simulate, if the seed must not choose it")
    parser.add_argument("--seeds", type=int, default=100, help="how many seeds to play")
    parser.add_argument("--first", type=int, default=1, help="the first of these seeds")
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="how many seeds to play at once"
    )
    parser.add_argument(
        "--mutations", action="store_true", help="find the mistakes, each with up to --seeds seeds"
    )
    asked = parser.parse_args()
    if asked.mutations:
        sys.exit(_mutations(asked.jobs, max(asked.seeds, MOST_SEEDS)))
    sys.exit(
        _one(plan_of(asked.seed, asked.world, asked.seconds))
        if asked.seed is not None
        else _many(asked.first, asked.seeds, asked.jobs, asked.world, asked.seconds)
    )


def _one(plan: Plan) -> int:
    outcome = play(plan)
    print(report(outcome))
    if not outcome.wrong:
        return 0
    small = shrunk(outcome)
    print(
        f"\nThe smallest plan that fails has {len(small.plan.faults)} of {len(outcome.plan.faults)} faults:"
    )
    print("\n".join(f"{each.at:9.3f} {each}" for each in small.plan.faults))
    print(report(small))
    return 1


def _many(first: int, seeds: int, jobs: int, world: str | None, seconds: float | None) -> int:
    began, counted, played = time.monotonic(), Counter[str](), 0.0
    wrong: list[Outcome] = []
    rounds = inputs = starts = 0
    with ProcessPoolExecutor(jobs, initializer=prepare) as pool:
        plans = [plan_of(seed, world, seconds) for seed in range(first, first + seeds)]
        for outcome in pool.map(play, plans, chunksize=max(1, min(8, seeds // jobs))):
            counted += outcome.counted
            played += outcome.seconds
            rounds, inputs, starts = rounds + outcome.rounds, inputs + outcome.inputs, starts + outcome.starts
            if outcome.wrong:
                wrong.append(outcome)
                print(report(outcome), flush=True)
    hours, minutes = played / SECONDS_PER_HOUR, (time.monotonic() - began) / 60
    print(
        f"{seeds} seeds ({first} to {first + seeds - 1}), {len(wrong)} of them wrong\n"
        f"{hours:.1f} table-hours in {minutes:.1f} minutes: {hours / minutes:.1f} table-hours a minute\n"
        f"{starts} starts, {inputs} inputs, {rounds} rounds"
    )
    for title, kinds in (
        ("faults", ALL_KINDS),
        ("what came of them, and of the people", counted.keys() - ALL_KINDS),
    ):
        print(f"{title}:")
        print("\n".join(f"  {count:8} {kind}" for kind, count in counted.most_common() if kind in kinds))
    return 1 if wrong else 0


def _mutations(jobs: int, most: int) -> int:
    print("| Mistake | Seeds | What the simulation found |\n|---|---|---|")
    missed = 0
    for found in find_all(jobs, most):
        missed += found.seeds is None
        print(
            f"| {found.mutation} | {found.seeds or f'not found in {most}'} | {found.wrong[:160]} |",
            flush=True,
        )
    return 1 if missed else 0


def report(outcome: Outcome) -> str:
    """A simulation for people: with its last steps if something was wrong."""
    plan = outcome.plan
    known = (
        f"seed {plan.seed} ({plan.world}): {outcome.seconds:.0f} s, {len(plan.faults)} faults, {outcome.starts} starts, "
        f"{outcome.inputs} inputs, {outcome.rounds} rounds, head {outcome.head[:20]}"
    )
    if not outcome.wrong:
        return f"{known}: nothing is wrong"
    again = f"{plan.seed} --world {plan.world}"
    if plan.whole != plan_of(plan.seed, plan.world).whole:
        again += f" --seconds {plan.whole:g}"
    return "\n".join(
        [
            known,
            *outcome.steps,
            f"WRONG: {outcome.wrong}",
            f"Play the seed again: python -m tests.simulated {again}",
        ]
    )


def shrunk(outcome: Outcome) -> Outcome:
    """A smaller simulation that is wrong too: it ends at the error, and has only the faults that it needs."""
    smallest = (
        _wrong(replace(outcome.plan, seconds=min(outcome.plan.seconds, outcome.seconds + 1))) or outcome
    )
    size = max(1, len(smallest.plan.faults) // 2)
    while size:
        at = 0
        while at < len(smallest.plan.faults):
            faults: tuple[Fault, ...] = smallest.plan.faults
            less = _wrong(replace(smallest.plan, faults=faults[:at] + faults[at + size :]))
            if less is None:
                at += size
            else:
                smallest = less
        size //= 2
    return smallest


def _wrong(plan: Plan) -> Outcome | None:
    """The outcome of a plan, None if nothing is wrong."""
    outcome = play(plan)
    return outcome if outcome.wrong else None


if __name__ == "__main__":
    main()
