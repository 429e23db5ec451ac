"""The service in a simulated world: whatever fails, and whenever, the record and the messages are as they must be."""

import os
import subprocess
import sys

import pytest

from tests.simulated import mutations
from tests.simulated.__main__ import report, shrunk
from tests.simulated.mutations import MUTATIONS, find
from tests.simulated.plan import KINDS, Plan
from tests.simulated.simulate import simulate
from tests.simulated.worlds import ALL_KINDS, WORLDS, plan_of, play

SOAKED = 300
QUICK = (
    *("publish a round before it is committed", "settle from the wrong card"),
    *("count the wagers of a linked table twice", "carry out START GAME of the keypad twice"),
)
SEED, SECONDS, OF_OTHERS = 7, 60.0, 15.0
PRINT_ALL = f"""
from tests.simulated.worlds import WORLDS, plan_of, play
for world in WORLDS:
    outcome = play(plan_of({SEED}, world, {SECONDS} if world == "table" else {OF_OTHERS}))
    print(outcome.head, outcome.messages)
"""


@pytest.mark.parametrize("seed", [9, 22])
def test_a_short_evening_full_of_faults_plays_without_an_error(seed):
    outcome = simulate(Plan.of(seed, 150.0))

    assert not outcome.wrong, report(outcome)
    assert outcome.rounds


@pytest.mark.parametrize("world", ["linked", "devices"])
def test_a_short_evening_of_several_services_or_devices_plays_without_an_error(world):
    outcome = play(plan_of(3, world, 40.0))

    assert not outcome.wrong, report(outcome)
    assert outcome.rounds


@pytest.mark.soak
@pytest.mark.parametrize("first", range(1, SOAKED, 10))
def test_many_seeds_play_without_an_error(first):
    for seed in range(first, first + 10):
        outcome = play(plan_of(seed))
        assert not outcome.wrong, report(outcome)


def test_the_same_seed_gives_the_same_records_and_the_same_messages():
    elsewhere = subprocess.run(
        [sys.executable, "-c", PRINT_ALL],
        env={**os.environ, "PYTHONHASHSEED": "1", "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    here = [play(plan_of(SEED, world, SECONDS if world == "table" else OF_OTHERS)) for world in WORLDS]

    assert elsewhere.split() == [word for each in here for word in f"{each.head} {each.messages}".split()]
    assert all(each.inputs for each in here)


def test_another_seed_is_another_simulation():
    assert simulate(Plan.of(1, 20.0)).head != simulate(Plan.of(2, 20.0)).head


def test_the_plans_have_every_kind_of_fault():
    faults = [fault for seed in range(100) for world in WORLDS for fault in plan_of(seed, world).faults]

    assert {fault.kind for fault in faults} == ALL_KINDS
    assert {fault.kind for seed in range(100) for fault in Plan.of(seed).faults} == set(KINDS)


def test_the_seeds_play_every_world():
    assert {plan_of(seed).world for seed in range(50)} == set(WORLDS)


def test_a_seed_that_fails_is_made_smaller_and_still_fails():
    with MUTATIONS["acknowledge a shoe record before it is committed"]():
        outcome = simulate(Plan.of(1))
        smallest = shrunk(outcome)

    assert "was acknowledged" in smallest.wrong
    assert smallest.plan.faults == ()
    assert "python -m tests.simulated 1 --world table" in report(smallest)


@pytest.mark.parametrize("mutation", QUICK)
def test_a_mistake_is_found(mutation):
    assert find(mutation, 3).seeds is not None


@pytest.mark.soak
@pytest.mark.parametrize("mutation", [each for each in mutations.MUTATIONS if each not in QUICK])
def test_every_mistake_is_found(mutation):
    assert find(mutation).seeds is not None
