"""The beat of a table's service: it sends the state again, so that displays show that it is live, and proves the path to the disk."""

import asyncio
import random
from collections.abc import Callable

from punto.baccarat.table.events import ClockStepped, LogHeld
from punto.controller import health
from punto.controller.clock_watch import ClockWatch
from punto.controller.engine import Engine
from punto.controller.journal.journal import Journal
from punto.controller.outbox import Outbox
from punto.controller.publication import meter_topics
from punto.messages import topics
from punto.messages.building import timestamp
from punto.runtime import clock

STATE_EVERY_SECONDS = 1
"""How often the state is sent again, so that a display can show that it is live."""


async def beat(
    engine: Engine, journal: Journal, outbox: Outbox, alive: Callable[[], None] = lambda: None
) -> None:
    """Send the state again every second, and call `alive` if the path to the disk still works."""
    beats, held, metered, watch = 0, "", engine.state, ClockWatch(*clock.both())
    # After a pause of chance, so that tables that start together do not all send at the same moment of each second.
    await asyncio.sleep(random.uniform(0, STATE_EVERY_SECONDS))
    while True:
        await asyncio.sleep(STATE_EVERY_SECONDS)
        if (step := watch.look(*clock.both())) is not None:
            before, after = map(timestamp, step)
            await engine.submit([ClockStepped(before, after)], "service")
        if floods := [*engine.pace.summed_up()]:
            await engine.submit(floods, "service")
        await _proven(engine, journal, outbox, alive)
        beats += 1
        outbox.snapshot_due(topics.STATE, *meter_topics(engine.state))
        state = engine.state
        # Once a second is often enough for people. At each hand, it would delay the cards of a fast shoe.
        if (
            state.history.meters is not metered.history.meters
            or state.history.day is not metered.history.day
            or state.settings != metered.settings
        ):
            outbox.snapshot_due(topics.METERS)
        metered = state
        if beats % health.EVERY_SECONDS == 0:
            held, before = await journal.held_by(), held
            if held and not before:
                await engine.submit([LogHeld(held)], "service")
            outbox.snapshot_due(topics.HEALTH, topics.AVAILABILITY)
            if engine.publication.restricted:
                outbox.snapshot_due(topics.RESTRICTED_HEAD)


async def _proven(engine: Engine, journal: Journal, outbox: Outbox, alive: Callable[[], None]) -> None:
    """Call `alive` if the path of the inputs to the disk works: this sign of life stops if the path is stuck.

    It does not stop while another program holds the record's lock, because a restart would not end that; the table is as it was.
    """
    way = engine.enter([], "service").done  # also begins a gaming day
    while not (await asyncio.wait([way], timeout=STATE_EVERY_SECONDS))[0]:
        if journal.blocked:
            alive()
            outbox.snapshot_due(topics.STATE, *meter_topics(engine.state))
    way.result()
    alive()
