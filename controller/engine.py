"""The one ordered path: an input is committed to the record, then handled, then published.

The inputs of the shoe, operators, seats and the clock all come through `submit`, one at a time. Nothing is shown
that is not on the record. Awaiting `submit` is the backpressure.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from typing import Final, NamedTuple

import structlog

from punto.baccarat.progressive.effects import AwardLocked
from punto.baccarat.table.effects import (
    AlarmRaised,
    BurnCardTurned,
    CardAwaited,
    CardDealt,
    CardHeld,
    CardsRevealed,
    Effect,
    Happened,
    Happening,
    MeterMoved,
    PhaseEntered,
    RoundEnded,
    ShoeLinkChanged,
)
from punto.baccarat.table.events import (
    ClockStepped,
    DayBegan,
    Event,
    RecordDiffers,
    Refused,
    ServiceStarted,
    SetWager,
    ShoeEvent,
)
from punto.baccarat.table.settings import Settings
from punto.baccarat.table.state import AuthorityLink, TableState
from punto.baccarat.table.table import Table
from punto.baccarat.table.turn import RefusedError
from punto.baccarat.wagers.definition import Game
from punto.configs.problems import cut
from punto.controller import clock
from punto.controller.gaming_days import Calendar
from punto.controller.journal.answers import Answer, Answers
from punto.controller.journal.entries import EVENTS
from punto.controller.journal.incidents import Incident, incidents_of
from punto.controller.journal.journal import Journal
from punto.controller.journal.recovery import Recovered, recover
from punto.controller.journal.schema import FORMAT, readable
from punto.controller.journal.snapshots import Snapshot
from punto.controller.messages import topics
from punto.controller.messages.building import event_message, timestamp
from punto.controller.messages.restricted import RestrictedCard
from punto.controller.outbox import Outbox
from punto.controller.pace import Pace

SNAPSHOT_EVERY: Final = 500
"""Inputs between snapshots. A start handles those since the first snapshot that is kept."""

ANSWER_SECONDS: Final = 2.0
"""How long an order waits for the answer of the meter's authority."""

_NOT_LOGGED: Final = (
    PhaseEntered,
    BurnCardTurned,
    CardDealt,
    CardsRevealed,
    AlarmRaised,
    CardAwaited,
    ShoeLinkChanged,
)
"""Not logged here: the steps of a hand, which would fill the log, and incidents and devices, which have their own lines."""
_log = structlog.get_logger("punto.controller")


@dataclass(frozen=True, slots=True)
class Handled:
    """A handled input: its number on the record, and the refusal, None if it was accepted."""

    seq: int
    refusal: RefusedError | None = None


class Raised(NamedTuple):
    """When an open alarm was last raised, and the person whose input raised it.

    `who` is None if a device or the service raised it. Both are None if they are unknown.
    """

    ts: str | None
    who: str | None


NOT_KNOWN: Final = Raised(None, None)


@dataclass(frozen=True, slots=True)
class HouseRules:
    """What the house decides beside the table's settings: its gaming days, and what the law does not allow of a game."""

    calendar: Calendar = field(default_factory=Calendar.of)
    outlawed: Callable[[Game], str] = lambda _: ""


class Engine:
    """The table, and the path of its inputs."""

    def __init__(
        self,
        table: Table,
        journal: Journal,
        outbox: Outbox,
        topic: topics.Topics,
        calendar: Calendar,
        *,
        restricted: bool,
    ) -> None:
        self.table = table
        self.seq = journal.last_seq
        self.shoe_since = clock.now()
        self.award_since = journal.last_award_ts
        self.record_name = ""
        """Names the record to others: the same after each start, another one for another record."""
        self.raised: Mapping[int, Raised] = {}
        self.answers = Answers()
        self.on_answer: Callable[[Answer], None] = lambda _: None
        self.direct_shoe: Callable[[], None] = lambda: None
        self.watchers: list[Callable[[TableState, int], None]] = []
        self.calendar = calendar
        self._day_ends = self._end_of_day(clock.now())
        self._journal = journal
        self._outbox = outbox
        self._topic = topic
        self.restricted = restricted
        self.pace = Pace(clock=clock.monotonic)
        self.path = asyncio.Lock()

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
        """Recover the table from the record, and write this start to it.

        If `restricted`, cards that the public has not seen and the record's head are published; the broker must
        not give them to the public.

        Raises:
            RecordError: the record cannot be trusted or written.
            RefusedError: these settings are not allowed in the table's present state.
        """
        house = house or HouseRules()
        found = await _recovered(journal)
        table = found.table or Table.new(settings)
        now = clock.now()
        day = timestamp(house.calendar.begins(house.calendar.day_of(now)))
        started = ServiceStarted(version, settings, house.outlawed(table.state.settings.game), day, FORMAT)
        Table(table.state).handle(started)  # before the record is written: a refused start must not be on it
        with readable(journal.path):
            raised = {
                each.number: Raised(*journal.raised(each.code, each.text)) for each in table.state.alarms
            }
            last = journal.last_ts()
            journal.start(found.snapshot)
        engine = cls(table, journal, outbox, topic, house.calendar, restricted=restricted)
        engine.raised, engine.answers = raised, found.answers
        await engine.submit([started], "service")
        if last is not None and datetime.fromisoformat(last) > now:
            await engine.submit([ClockStepped(last, timestamp(now))], "service")
        engine.record_name = await journal.name()
        if found.differences:
            await engine.submit([RecordDiffers(cut("; ".join(found.differences), 300))], "service")
        return engine

    @property
    def state(self) -> TableState:
        """The table's present state."""
        return self.table.state

    async def submit_from_shoe(self, events: Sequence[ShoeEvent]) -> None:
        """Submit events of the shoe.

        Raises:
            RecordError: the record could not be written.
        """
        await self._submit(events, "shoe")

    async def submit(self, events: Sequence[Event], source: str) -> list[Handled]:
        """Commit inputs together, handle them in order, and publish their effects.

        Raises:
            RecordError: the record could not be written; nothing was handled.
        """
        handled = await self._submit(events, source)
        self.direct_shoe()
        return handled

    async def _submit(self, events: Sequence[Event], source: str) -> list[Handled]:
        async with self.path:
            now = clock.now()
            moment = timestamp(now)
            began = self._begin_day(now) if now >= self._day_ends else None
            taken = self._take_snapshot(moment) if self._snapshot_is_due(events) else None
            payloads = [EVENTS.dump_json(event).decode() for event in events]
            first = self._journal.last_seq + 1
            handled = self._journal.append(
                moment, source, payloads, lambda: self._handle(first, moment, events)
            )
            for first_of_all in (began, taken):
                if first_of_all is not None:
                    await first_of_all
            return await handled

    async def meter_answered(self, order: Event) -> Refused | None:
        """Wait until the meter's authority has answered what the table asked for this order.

        Returns the authority's refusal; None if it has carried out the order, if nothing was asked, or if it has not
        answered for ANSWER_SECONDS. Then the table goes on asking.
        """
        link = self._meter_link(self.state)
        if link is None or link.asked is None or link.asked.event.kind != order.kind:
            return None
        asked, answered = link.asked, asyncio.get_running_loop().create_future()

        def look(state: TableState, _: int) -> None:
            now = self._meter_link(state)
            if not answered.done() and (now is None or now.asked is not asked):
                answered.set_result(None if now is None else now.refused)

        self.watchers.append(look)
        with suppress(TimeoutError):
            try:
                refused: Refused | None = await asyncio.wait_for(answered, ANSWER_SECONDS)
                return refused
            finally:
                self.watchers.remove(look)
        return None

    @staticmethod
    def _meter_link(state: TableState) -> AuthorityLink | None:
        return None if state.progressive is None else state.progressive.link

    async def turn_day(self, now: datetime) -> None:
        """Begin another gaming day if the last one is over.

        Raises:
            RecordError: the record could not be written.
        """
        async with self.path:
            if now >= self._day_ends:
                await self._begin_day(now)

    def _begin_day(self, now: datetime) -> Awaitable[object]:
        """Submit the beginning of the gaming day."""
        began = timestamp(self.calendar.begins(self.calendar.day_of(now)))
        self._day_ends = self._end_of_day(now)
        seq, moment, event = self._journal.last_seq + 1, timestamp(now), DayBegan(began)
        payload = EVENTS.dump_json(event).decode()
        return self._journal.append(moment, "service", [payload], lambda: self._handle(seq, moment, [event]))

    def _end_of_day(self, now: datetime) -> datetime:
        return self.calendar.begins(self.calendar.day_of(now) + timedelta(days=1))

    def _snapshot_is_due(self, events: Sequence[Event]) -> bool:
        """Whether to take a snapshot before these events. A start's first input must be the start itself."""
        if any(isinstance(event, ServiceStarted) for event in events):
            return False
        # Inputs of a cancelled task may be submitted and not handled yet.
        handled = self.seq == self._journal.last_seq
        return handled and self.seq - self._journal.last_snapshot >= SNAPSHOT_EVERY

    def _take_snapshot(self, moment: str) -> Awaitable[None]:
        """Take a snapshot, and submit the input that names it; both go into one commit with the next input."""
        snapshot = Snapshot.of(*self._journal.head, self.state)
        seq = self._journal.last_seq + 1

        def store() -> None:
            self._handle(seq, moment, [snapshot.named])
            self._journal.add_snapshot(snapshot)

        return self._journal.append(moment, "service", [EVENTS.dump_json(snapshot.named).decode()], store)

    async def written(self) -> None:
        """Wait until the record is as far as the state: a round is written shortly after it has ended.

        Raises:
            RecordError: the record could not be written.
        """
        await self._journal.written()

    @property
    def meter_topics(self) -> tuple[str, ...]:
        """The topic of the table's meter; empty without a progressive."""
        progressive = self.state.progressive
        return () if progressive is None else (topics.progressive(progressive.books.settings.progressive),)

    def _handle(self, first: int, moment: str, events: Sequence[Event]) -> list[Handled]:
        before = self.state
        handled = [self._handle_one(first + n, moment, event) for n, event in enumerate(events)]
        self._after(before)
        return handled

    def _handle_one(self, seq: int, moment: str, event: Event) -> Handled:
        self.seq = seq
        try:
            effects = self.table.handle(event)
        except RefusedError as refusal:
            self._record_incidents(seq, incidents_of(event, refusal))
            self._answer(seq, moment, event, refusal)
            return Handled(seq, refusal)
        self._record_incidents(seq, incidents_of(event, effects))
        self._answer(seq, moment, event, None)
        now = Raised(moment, getattr(event, "who", None))
        self.raised = {each.number: self.raised.get(each.number, now) for each in self.state.alarms}
        for effect in effects:
            self._publish(seq, moment, effect)
            if isinstance(effect, Happened) and not isinstance(effect.happening, _NOT_LOGGED):
                _log.info(effect.happening.kind.replace("_", " "), **_fields(effect.happening))
        if any(isinstance(effect, MeterMoved) for effect in effects):
            self._journal.add_book_rows(seq, moment, self.state, effects)
        return Handled(seq)

    def _answer(self, seq: int, moment: str, event: Event, refusal: RefusedError | None) -> None:
        """Answer a seat's wager. Its client may be gone meanwhile, so the answer does not depend on a caller."""
        if isinstance(event, SetWager):
            answer = Answer(seq=seq, ts=moment, round=self.state.round, asked=event, refusal=refusal)
            self.answers.add(answer)
            self.on_answer(answer)

    def _record_incidents(self, seq: int, incidents: Sequence[Incident]) -> None:
        if incidents:
            self._journal.add_incidents(seq, incidents)
        for each in incidents:
            log = _log.info if each.kind == "refused" else _log.warning
            log(each.kind.replace("_", " "), seq=seq, code=each.code, text=each.text)

    def _publish(self, seq: int, moment: str, effect: Effect) -> None:
        if isinstance(effect, MeterMoved):  # `_handle_one` writes its rows
            if isinstance(effect.entry, AwardLocked) and effect.entry.award.payer == "meter":
                self.award_since = moment
        elif isinstance(effect, RoundEnded):
            done = self._journal.add_round(seq, moment, self.state.settings.game, effect.record)
            done.add_done_callback(lambda _: self._outbox.rounds_are_due())
        elif isinstance(effect, CardHeld) and not self.restricted:
            pass
        elif not self._outbox.connected:
            self._outbox.dropped += 1
        elif isinstance(effect, Happened):
            message = event_message(self.state.settings, effect, moment)
            self._outbox.put(self._topic(topics.EVENT), message.wire())
        else:
            id_ = f"{self.state.settings.table}/restricted/card/{seq}/{effect.position or 0}"
            simulation = self.state.settings.simulation
            card = RestrictedCard(id=id_, seq=seq, ts=moment, simulation=simulation, card=effect)
            self._outbox.put(self._topic(topics.RESTRICTED_CARD), card.wire())

    def _after(self, before: TableState) -> None:
        """Mark the retained messages as due that the inputs changed."""
        state = self.state
        if state is before:
            return
        for watcher in self.watchers:
            watcher(state, self.seq)
        self._outbox.snapshot_due(topics.STATE)
        if state.rounds is not before.rounds or state.shoe != before.shoe:
            self._outbox.snapshot_due(topics.SCOREBOARD)
        if state.progressive is not before.progressive:
            self._outbox.snapshot_due(*self.meter_topics)
        link, was = state.link, before.link
        if (link.online, link.reason, link.serial) != (was.online, was.reason, was.serial):
            self.shoe_since = clock.now()
            self._outbox.snapshot_due(topics.device("shoe"))


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


def _fields(happening: Happening) -> dict[str, object]:
    """The fields of a happening for the log: all of them, because the public sees them too."""
    found = {each.name: getattr(happening, each.name) for each in fields(happening) if each.name != "kind"}
    return {
        name: " ".join(map(str, value)) if isinstance(value, tuple) else value
        for name, value in found.items()
    }
