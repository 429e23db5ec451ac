"""Plays a plan: the parts of the service that reach out of its process are the simulated ones."""

import gc
import logging
import random
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any, Final
from unittest import mock

import structlog

from punto.controller import engine as engines
from punto.controller import health, heartbeat, mqtt, supervisor
from punto.controller.components import own_version
from punto.controller.journal import recovery
from punto.controller.journal.background import BackgroundReplay, Finding
from punto.drivers import serial_device
from tests.simulated.broker import SimulatedLink
from tests.simulated.defects import defects
from tests.simulated.disk import PROCESS, SteppedJournal, SteppedOutbox
from tests.simulated.loop import Loop, clocks
from tests.simulated.plan import Outcome, Plan, chance_of
from tests.simulated.world import World

MEMORY: Final = Path("/dev/shm")  # noqa: S108 - each simulation's own folder
REPLAYED_SHARE: Final = 0.3
"""The share of the starts after which the background replays the record. At its end, each simulation replays it."""
BEATS: Final = (1, 5, 15)
"""Seconds between two heartbeats. Each repeats the messages of the same state."""


class _Replay(BackgroundReplay):
    """The replay in the background, at once and in this process. Most of them fail: a whole replay takes long."""

    async def _replay(self) -> Finding | None:
        if random.random() > REPLAYED_SHARE:
            return None
        found = recovery.replay(self._path, version=own_version())
        return Finding(found.inputs, found.rounds, found.difference)


async def _open_port(path: str, *_: Any) -> Any:
    process: Any = PROCESS.get()
    return process.world.port(path)


@contextmanager
def _simulated(loop: Loop, chance: Random) -> Iterator[None]:
    """The service's parts that reach out of the process are the simulated ones."""
    with ExitStack() as stack:
        stack.enter_context(clocks(loop))
        stack.enter_context(defects())
        stack.enter_context(mock.patch.object(supervisor, "Journal", SteppedJournal))
        stack.enter_context(mock.patch.object(supervisor, "Outbox", SteppedOutbox))
        stack.enter_context(mock.patch.object(supervisor, "BackgroundReplay", _Replay))
        stack.enter_context(mock.patch.object(heartbeat, "STATE_EVERY_SECONDS", chance.choice(BEATS)))
        stack.enter_context(mock.patch.object(mqtt, "Link", SimulatedLink))
        stack.enter_context(mock.patch.object(serial_device, "open_port", _open_port))
        stack.enter_context(mock.patch.object(health, "resident_bytes", return_value=0))
        if chance.random() < 0.5:  # a start then begins at a snapshot
            stack.enter_context(mock.patch.object(engines, "SNAPSHOT_EVERY", 50))
            stack.enter_context(mock.patch.object(recovery, "FEW_INPUTS", 60))
        yield


def prepare() -> None:
    """Prepare a process that plays many seeds: it looks for garbage seldom, and never among what is imported."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


def simulate(plan: Plan, world_of: Callable[[Plan, Loop, Path], World] = World) -> Outcome:
    """Play a plan."""
    before, here = random.getstate(), structlog.get_config()
    random.seed(plan.seed)  # the pauses of `Backoff`, and the first beat
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    begins = datetime(2026, 11, 21, 5, 55, tzinfo=UTC) + timedelta(hours=plan.seed % 3)
    loop = Loop(begins)
    loop.set_exception_handler(lambda _loop, context: _unexpected(world, context))
    outcome = Outcome(plan)
    try:
        with (
            tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder,
            _simulated(loop, chance_of(plan.seed, "service")),
        ):
            world = world_of(plan, loop, Path(folder))
            loop.run_until_complete(world.run())
            outcome.wrong = world.wrong.result() if world.wrong.done() else ""
            outcome.steps = [f"{at:9.3f} {step}" for at, step in world.steps]
            outcome.seconds, outcome.counted = loop.passed, Counter(world.counted)
            world.report(outcome)
            outcome.head, outcome.messages = outcome.head.strip(), outcome.messages.strip()
    finally:
        loop.close()
        random.setstate(before)
        structlog.configure(**here)
    return outcome


def _unexpected(world: World, context: dict[str, Any]) -> None:
    """An error in a callback of the loop. What nobody waited for is of a killed process, and is found at any time."""
    error = context.get("exception")
    if error is not None and "never retrieved" not in context.get("message", ""):
        world.fail(f"{context['message']}: " + "".join(traceback.format_exception(error)))
