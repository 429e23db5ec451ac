"""The one ordered path: an input is committed to the record, then handled, then made known.

Shoe, operators, seats and the clock all come through `submit`, one at a time. Nothing is shown that the record does
not hold, and awaiting `submit` is the backpressure.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
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
from punto.baccarat.table.events import Event, RecordDiffers, ServiceStarted, ShoeEvent
from punto.baccarat.table.settings import Settings
from punto.baccarat.table.state import TableState
from punto.baccarat.table.table import Table
from punto.baccarat.table.turn import RefusedError
from punto.configs.problems import cut
from punto.controller.journal.entries import EVENTS
from punto.controller.journal.incidents import Incident, incidents_of
from punto.controller.journal.journal import Journal
from punto.controller.journal.recovery import recover
from punto.controller.journal.snapshots import Snapshot
from punto.controller.messages import topics
from punto.controller.messages.building import timestamp
from punto.controller.messages.models import Event as EventMessage
from punto.controller.messages.restricted import RestrictedCard
from punto.controller.outbox import Outbox

SNAPSHOT_EVERY: Final = 500
"""Inputs between snapshots: a start handles at most twice so many again."""

_NOT_LOGGED: Final = (
    PhaseEntered,
    BurnCardTurned,
    CardDealt,
    CardsRevealed,
    AlarmRaised,
    CardAwaited,
    ShoeLinkChanged,
)
"""The steps of a hand, which would be most of the log; incidents and devices, which have lines of their own."""
_log = structlog.get_logger("punto.controller")


@dataclass(frozen=True, slots=True)
class Handled:
    """What became of an input: its number on the record, and why it was refused, None if it was not."""

    seq: int
    refusal: RefusedError | None = None


class Raised(NamedTuple):
    """When a standing alarm last came, and whose input that was, None if it was no person's; both None if nobody knows."""

    ts: str | None
    who: str | None


NOT_KNOWN: Final = Raised(None, None)


class Engine:
    """The table and everything that an input goes through."""

    def __init__(
        self, table: Table, journal: Journal, outbox: Outbox, topic: topics.Topics, *, restricted: bool
    ) -> None:
        self.table = table
        self.seq = journal.last_seq
        self.shoe_since = datetime.now(UTC)
        self.award_since = journal.last_award_ts
        self.raised: Mapping[int, Raised] = {}
        self.direct_shoe: Callable[[], None] = lambda: None
        self.watchers: list[Callable[[TableState, int], None]] = []
        self._journal = journal
        self._outbox = outbox
        self._topic = topic
        self.restricted = restricted
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
    ) -> "Engine":
        """Recover the table from the record and put this start on it.

        Cards that the public has not seen, and the record's head, are published if `restricted`: the broker must keep
        them from the public.

        Raises:
            RecordError: the record cannot be trusted or written.
            RefusedError: these settings may not be used with the table as it stands.
        """
        found = recover(journal.connection)
        table = found.table or Table.new(settings)
        started = ServiceStarted(version, settings)
        Table(table.state).handle(started)  # refused here, a start leaves no trace on the record
        raised = {each.number: Raised(*journal.raised(each.code, each.text)) for each in table.state.alarms}
        journal.start(found.snapshot)
        engine = cls(table, journal, outbox, topic, restricted=restricted)
        engine.raised = raised
        await engine.submit([started], "service")
        if found.differences:
            await engine.submit([RecordDiffers(cut("; ".join(found.differences), 300))], "service")
        return engine

    @property
    def state(self) -> TableState:
        """The table as it is."""
        return self.table.state

    async def submit_from_shoe(self, events: Sequence[ShoeEvent]) -> None:
        """Submit what the shoe saw.

        Raises:
            RecordError: the record could not be written.
        """
        await self._outbox.room()
        await self._submit(events, "shoe")

    async def submit(self, events: Sequence[Event], source: str) -> list[Handled]:
        """Commit inputs together, handle them in order, and make known what came of them.

        Raises:
            RecordError: the record could not be written; nothing was handled.
        """
        handled = await self._submit(events, source)
        self.direct_shoe()
        return handled

    async def _submit(self, events: Sequence[Event], source: str) -> list[Handled]:
        async with self.path:
            moment = timestamp(datetime.now(UTC))
            taken = self._take_snapshot(moment) if self._snapshot_is_due(events) else None
            payloads = [EVENTS.dump_json(event).decode() for event in events]
            first = self._journal.last_seq + 1
            handled = self._journal.append(
                moment, source, payloads, lambda: self._handle(first, moment, events)
            )
            if taken is not None:
                await taken
            return await handled

    def _snapshot_is_due(self, events: Sequence[Event]) -> bool:
        """Whether to keep the table as it is before these events. A start's first input is the start itself."""
        if any(isinstance(event, ServiceStarted) for event in events):
            return False
        due = self.seq - self._journal.last_snapshot >= SNAPSHOT_EVERY
        return (
            due and self.seq == self._journal.last_seq
        )  # what a cancelled task submitted may not be handled yet

    def _take_snapshot(self, moment: str) -> Awaitable[None]:
        """Keep the table as it is, in a snapshot that an input names; it goes with the next input into one commit."""
        snapshot = Snapshot.of(*self._journal.head, self.state)
        seq = self._journal.last_seq + 1

        def keep() -> None:
            self._handle(seq, moment, [snapshot.named])
            self._journal.add_snapshot(snapshot)

        return self._journal.append(moment, "service", [EVENTS.dump_json(snapshot.named).decode()], keep)

    async def written(self) -> None:
        """Wait until what the state shows is on the record too: a round that has just ended is written after it shows.

        Raises:
            RecordError: the record could not be written.
        """
        await self._journal.written()

    @property
    def meter_topics(self) -> tuple[str, ...]:
        """The topic of the table's meter; none where it has no progressive."""
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
            self._note(seq, incidents_of(event, refusal))
            return Handled(seq, refusal)
        self._note(seq, incidents_of(event, effects))
        now = Raised(moment, getattr(event, "who", None))
        self.raised = {each.number: self.raised.get(each.number, now) for each in self.state.alarms}
        moved = False
        for effect in effects:
            moved = moved or isinstance(effect, MeterMoved)
            if isinstance(effect, Happened) and not isinstance(effect.happening, _NOT_LOGGED):
                _log.info(effect.happening.kind.replace("_", " "), **_fields(effect.happening))
            self._make_known(seq, moment, effect)
        if moved:
            self._journal.add_book_rows(seq, moment, self.state, effects)
        return Handled(seq)

    def _note(self, seq: int, incidents: Sequence[Incident]) -> None:
        if incidents:
            self._journal.add_incidents(seq, incidents)
        for each in incidents:
            say = _log.info if each.kind == "refused" else _log.warning
            say(each.kind.replace("_", " "), seq=seq, code=each.code, text=each.text)

    def _make_known(self, seq: int, moment: str, effect: Effect) -> None:
        if isinstance(effect, MeterMoved):  # its rows are the input's
            if isinstance(effect.entry, AwardLocked) and effect.entry.award.payer == "meter":
                self.award_since = moment
        elif isinstance(effect, RoundEnded):
            name = self.state.settings.game.name
            done = self._journal.add_round(seq, moment, name, effect.record)
            done.add_done_callback(lambda _: self._outbox.rounds_are_due())
        elif isinstance(effect, CardHeld) and not self.restricted:
            pass
        elif not self._outbox.connected:
            self._outbox.dropped += 1
        elif isinstance(effect, Happened):
            message = EventMessage(
                id=f"{self.state.settings.table}/event/{effect.number}",
                seq=effect.number,
                ts=moment,
                happening=effect.happening,
            )
            self._outbox.put(self._topic(topics.EVENT), message.wire())
        else:
            self._outbox.put(self._topic(topics.RESTRICTED_CARD), self._restricted(seq, moment, effect))

    def _restricted(self, seq: int, moment: str, effect: CardHeld) -> bytes:
        id_ = f"{self.state.settings.table}/restricted/card/{seq}/{effect.position or 0}"
        return RestrictedCard(id=id_, seq=seq, ts=moment, card=effect).wire()

    def _after(self, before: TableState) -> None:
        """Note which retained messages are due for what the inputs changed."""
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
            self.shoe_since = datetime.now(UTC)
            self._outbox.snapshot_due(topics.device("shoe"))


def _fields(happening: Happening) -> dict[str, object]:
    """What the log says of a happening: all that the public is told."""
    found = {each.name: getattr(happening, each.name) for each in fields(happening) if each.name != "kind"}
    return {
        name: " ".join(map(str, value)) if isinstance(value, tuple) else value
        for name, value in found.items()
    }
