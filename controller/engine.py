"""The one ordered path: an input is executed in memory, then committed to the record, then published and answered.

The inputs of the shoe, operators, seats and the clock all come through `submit`. The table handles each of them at once and in
order, because handling waits for nothing. The writer commits all inputs that have come meanwhile in one transaction, each with its
outcome and the rows that follow from it. Only then are they shown and answered, in order: nobody ever sees what a power cut could
take back. So `state` is the state after the last input on the disk, and inputs are handled on a state that can be ahead of it.
"""

import asyncio
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from punto.baccarat.table.events import ClockStepped, DayBegan, Event, RecordDiffers, ServiceStarted
from punto.baccarat.table.settings import Settings
from punto.baccarat.table.state import TableState
from punto.baccarat.table.turn import RefusedError
from punto.baccarat.wagers.definition import Game
from punto.configs.problems import cut
from punto.controller.clock_watch import wait_for_clock
from punto.controller.journal import store
from punto.controller.journal.execution import Execution, Step
from punto.controller.journal.journal import Journal
from punto.controller.journal.recovery import Recovered, recover
from punto.controller.journal.schema import readable
from punto.controller.journal.snapshots import Snapshot
from punto.controller.outbox import Outbox
from punto.controller.publication import Publication, Raised
from punto.messages import topics
from punto.messages.building import timestamp
from punto.runtime import clock
from punto.runtime.gaming_days import Calendar, DayChange
from punto.runtime.pace import Pace

SNAPSHOT_EVERY: Final = 500
"""Inputs between snapshots. A start handles those since the first snapshot that is kept."""
SHOE: Final = "shoe"
"""The source of the shoe's inputs."""


@dataclass(frozen=True, slots=True)
class Handled:
    """A handled input: its number on the record, and the refusal, None if it was accepted; `failed` if the program could not handle it."""

    seq: int
    refusal: RefusedError | None = None
    failed: bool = False

    @property
    def refused(self) -> bool:
        """Whether a rule refused it."""
        return self.refusal is not None and not self.failed


@dataclass(frozen=True, slots=True)
class Entered:
    """Inputs that are executed and on their way to the disk. Await it for the answers, which nobody may see before that.

    `handled` has them at once, for what nobody sees.
    """

    handled: list[Handled]
    done: "asyncio.Future[None]"

    def __await__(self) -> Generator[object, None, list[Handled]]:
        yield from self.done.__await__()
        return self.handled


@dataclass(frozen=True, slots=True)
class HouseRules:
    """What the house decides beside the table's settings: its gaming days, and what the law does not allow of a game."""

    calendar: Calendar = field(default_factory=Calendar.of)
    outlawed: Callable[[Game], str] = lambda _: ""


Look = Callable[[TableState, int], None]
"""Looks at the table after inputs: the state, and the number of the last input."""


class Engine:
    """The path of a table's inputs; `publication` shows what they did."""

    def __init__(
        self, execution: Execution, journal: Journal, publication: Publication, days: DayChange, name: str
    ) -> None:
        self.execution = execution
        self.publication = publication
        self.pace = Pace(clock=clock.monotonic)
        self.state = execution.state
        """The table after the last input on the disk."""
        self.seq = execution.head.seq
        """The number of the last input on the disk."""
        self.record_name = name
        """Names the record to others: the same after each start, another one for another record."""
        self._journal = journal
        self.calendar = days.calendar
        self._days = days
        self._looks: list[tuple[Look, str]] = []

    @classmethod
    async def start(
        cls,
        journal: Journal,
        outbox: Outbox,
        topic: topics.Topics,
        settings: Settings,
        version: str,
        *,
        restricted: bool = False,
        house: HouseRules | None = None,
    ) -> "Engine":
        """Recover the table from the record, wait for a clock that can be right, and write this start to the record.

        If `restricted`, cards that the public has not seen and the record's head are published; the broker must
        not give them to the public.

        Raises:
            RecordError: the record cannot be trusted or written.
            RefusedError: these settings are not allowed in the table's present state, or the clock has not been set.
        """
        house = house or HouseRules()
        found = await _recovered(journal)
        with readable(journal.path):
            last_ts = store.last_ts(journal.connection)
        last = None if last_ts is None else datetime.fromisoformat(last_ts)
        await wait_for_clock(last)
        # The configuration was read by the law of a day that a wrong clock may have shown.
        if outlawed := house.outlawed(settings.game):
            raise RefusedError(
                "outside_the_law",
                f"{outlawed}. Correct the game and the limits in the configuration, and start the service again",
            )
        now = clock.now()
        day = timestamp(house.calendar.begins(house.calendar.day_of(now)))
        execution, before = found.execution, found.execution.state_or(settings)
        started = ServiceStarted(version, settings, house.outlawed(before.settings.game), day)
        step = execution.execute(timestamp(now), "service", started)
        if step.refusal is not None:
            raise step.refusal  # it must not be on the record
        with readable(journal.path):
            record = journal.connection
            raised = {
                each.number: Raised(*store.raised(record, "alarm", each.code, each.text))
                for each in before.alarms
            }
            stopped = {
                (each.code, each.text): Raised(*store.raised(record, "stop", each.code, each.text))
                for each in before.waiting.stops
            }
            award_since = store.last_award_ts(record)
        journal.start(found.snapshot)
        publication = Publication(
            outbox, topic, found.answers, raised, stopped, award_since, restricted=restricted
        )
        await journal.append([step], None, lambda: publication.publish(before, [step]))
        engine = cls(execution, journal, publication, DayChange(house.calendar, now), await journal.name())
        if last is not None and last > now:
            await engine.submit([ClockStepped(timestamp(last), timestamp(now))], "service")
        if found.differences:
            await engine.submit([RecordDiffers(cut("; ".join(found.differences), 300))], "service")
        return engine

    async def submit(self, events: Sequence[Event], source: str, *, whole: bool = False) -> list[Handled]:
        """Execute inputs in order, and return their answers once they are committed together and published.

        The inputs stay executed if the caller is cancelled. For a `whole`, see `enter`.

        Raises:
            RecordError: the record could not be written; nothing was shown.
        """
        return await self.enter(events, source, whole=whole)

    def enter(self, events: Sequence[Event], source: str, *, whole: bool = False) -> Entered:
        """Execute inputs now. Inputs that are entered before the writer takes them share one commit.

        If they are one `whole` and the table refuses one of them, all are taken back and none is recorded.

        Raises:
            RecordError: the record could not be written before. Also when the result is awaited.
        """
        self._journal.raise_failure()
        now = clock.now()
        began = self._days.change(now)
        if began is not None:
            self._execute([DayBegan(timestamp(began))], "service", timestamp(now))
        return self._execute(events, source, timestamp(now), whole=whole)

    def _execute(self, events: Sequence[Event], source: str, ts: str, *, whole: bool = False) -> Entered:
        due = self.execution.head.seq + len(events) - self._journal.last_snapshot >= SNAPSHOT_EVERY
        before = self.execution.position
        with self._journal.unbroken():
            steps = [
                self.execution.execute(ts, source, event, snapshot=due and number == len(events))
                for number, event in enumerate(events, 1)
            ]
            handled = [Handled(step.seq, step.refusal, step.failed) for step in steps]
            if whole and any(each.refused for each in handled):
                self.execution.go_back(before)
                steps = []
        snapshot = Snapshot.of(steps[-1].seq, steps[-1].state) if due and steps else None
        done = self._journal.append(steps, snapshot, lambda: self._publish(steps, source))
        return Entered(handled, done)

    def _publish(self, steps: Sequence[Step], source: str) -> None:
        """Show what inputs did that are on the disk now."""
        if not steps:
            return
        before, self.state, self.seq = self.state, steps[-1].state, steps[-1].seq
        self.publication.publish(before, steps)
        for look, unless in tuple(self._looks):
            if source != unless:
                look(self.state, self.seq)

    def watch(self, look: Look, *, unless: str = "") -> Callable[[], None]:
        """Have `look` called after inputs are on the disk, `unless` they come from this source. Call the result to end that."""
        watched = (look, unless)
        self._looks.append(watched)
        return lambda: self._looks.remove(watched)


async def _recovered(journal: Journal) -> Recovered:
    """Recover the table in a thread: other tables of the process go on meanwhile, even if it takes minutes.

    Raises:
        RecordError: the record cannot be trusted.
    """
    recovering = asyncio.create_task(asyncio.to_thread(recover, journal.connection))
    try:
        return await asyncio.shield(recovering)
    except asyncio.CancelledError:
        await asyncio.wait([recovering])  # the caller closes the record now
        raise
