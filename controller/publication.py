"""Publishes what durable inputs did: events, restricted cards and answers at once; snapshots and rounds are marked as due."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Final, NamedTuple

import structlog

from punto.baccarat.progressive.effects import AwardLocked
from punto.baccarat.table.effects import (
    AlarmRaised,
    Announced,
    BurnCardTurned,
    CardAwaited,
    CardDealt,
    CardHeld,
    CardsRevealed,
    CommissionMoved,
    Effect,
    Happening,
    MeterMoved,
    PhaseEntered,
    RoundEnded,
    ShoeLinkChanged,
)
from punto.baccarat.table.events import SetWager
from punto.baccarat.table.settings import Settings
from punto.baccarat.table.state import TableState
from punto.controller.journal.answers import Answer, Answers
from punto.controller.journal.execution import Step
from punto.controller.outbox import Outbox
from punto.messages import topics
from punto.messages.building import event_message
from punto.messages.restricted import RestrictedCard
from punto.runtime import clock

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


class Raised(NamedTuple):
    """When an open alarm was last raised or a stop began, and the person whose input raised it.

    `who` is None if a device or the service raised it. Both are None if they are unknown.
    """

    ts: str | None
    who: str | None


NOT_KNOWN: Final = Raised(None, None)


class Publication:
    """Fills the outbox, and keeps when the shown things happened.

    If `restricted`, cards that the public has not seen are published too; the broker must not give them to the public. `answers`
    are those to the seats' last wagers, `raised` when each open alarm was raised, by its number, `stopped` when each stop began, by
    its code and text, and `award_since` when the last award of the meter was locked.
    """

    def __init__(
        self,
        outbox: Outbox,
        topic: topics.Topics,
        answers: Answers,
        raised: Mapping[int, Raised],
        stopped: Mapping[tuple[str, str], Raised],
        award_since: str | None,
        *,
        restricted: bool,
    ) -> None:
        self.answers = answers
        self.raised = raised
        self.stopped = stopped
        self.award_since = award_since
        self.restricted = restricted
        self.shoe_since = clock.now()
        self._outbox = outbox
        self._topic = topic

    def publish(self, before: TableState, steps: Sequence[Step]) -> None:
        """Publish what inputs did that are on the disk; `before` is the state before them."""
        for step in steps:
            self._publish(step)
        self._mark_due(before, steps[-1].state)

    def answer_again(self, state: TableState) -> None:
        """Send the answers that the broker may not have, of the present round and the last one."""
        for answer in self.answers.not_taken(state.round.number):
            self.answer(state.settings, answer)

    def answer(self, settings: Settings, answer: Answer) -> None:
        """Send the answer to a wager on the record: the same message each time. Without a broker it waits."""
        if self._outbox.connected:
            topic = self._topic(topics.wager_result(answer.asked.seat))
            self._outbox.put(topic, answer.message(settings).wire(), answer.was_taken)

    def _publish(self, step: Step) -> None:
        for row in step.rows:
            if row.table == "incidents":
                _log_incident(*row.values)
        if step.failure is not None:
            _log.error(
                "input failed",
                seq=step.seq,
                digest=step.entry.recorded.outcome.partition(" ")[2],
                traceback=step.failure,
            )
        if isinstance(step.event, SetWager):
            # The client of the wager may be gone meanwhile, so the answer does not depend on a caller.
            answer = Answer.of(step, step.event)
            self.answers.add(answer)
            self.answer(step.state.settings, answer)
        now = Raised(step.entry.ts, getattr(step.event, "who", None))
        self.raised = {each.number: self.raised.get(each.number, now) for each in step.state.alarms}
        stops = [(stop.code, stop.text) for stop in step.state.waiting.stops]
        self.stopped = {each: self.stopped.get(each, now) for each in stops}
        for effect in step.effects:
            self._publish_effect(step, effect)
            if isinstance(effect, Announced) and not isinstance(effect.happening, _NOT_LOGGED):
                kind = effect.happening.kind.replace("_", " ")
                _log.info(kind, seq=step.seq, **_fields(effect.happening))

    def _publish_effect(self, step: Step, effect: Effect) -> None:
        if isinstance(effect, MeterMoved):
            if isinstance(effect.entry, AwardLocked) and effect.entry.award.payer == "meter":
                self.award_since = step.entry.ts
        elif isinstance(effect, RoundEnded):
            self._outbox.rounds_are_due()
        elif isinstance(effect, CommissionMoved) or (isinstance(effect, CardHeld) and not self.restricted):
            pass
        elif not self._outbox.connected:
            self._outbox.dropped += 1
        elif isinstance(effect, Announced):
            message = event_message(step.state.settings, effect, step.entry.ts)
            self._outbox.put(self._topic(topics.EVENT), message.wire())
        else:
            settings = step.state.settings
            id_ = f"{settings.table}/restricted/card/{step.seq}/{effect.position or 0}"
            card = RestrictedCard(
                id=id_, seq=step.seq, ts=step.entry.ts, simulation=settings.simulation, card=effect
            )
            self._outbox.put(self._topic(topics.RESTRICTED_CARD), card.wire())

    def _mark_due(self, before: TableState, state: TableState) -> None:
        """Mark the retained messages as due that the inputs changed."""
        if state is before:
            return
        self._outbox.snapshot_due(topics.STATE)
        if state.shoe.rounds is not before.shoe.rounds or state.shoe.number != before.shoe.number:
            self._outbox.snapshot_due(topics.SCOREBOARD)
        if state.progressive is not before.progressive:
            self._outbox.snapshot_due(*meter_topics(state))
        link, was = state.link, before.link
        if (link.online, link.reason, link.serial) != (was.online, was.reason, was.serial):
            self.shoe_since = clock.now()
            self._outbox.snapshot_due(topics.device("shoe"))


def meter_topics(state: TableState) -> tuple[str, ...]:
    """The topic of a table's meter; empty without a progressive."""
    progressive = state.progressive
    return () if progressive is None else (topics.progressive(progressive.books.settings.progressive),)


def _log_incident(seq: object, _place: object, kind: object, code: object, text: object) -> None:
    log = _log.info if kind == "refused" else _log.warning
    log(str(kind).replace("_", " "), seq=seq, code=code, text=text)


def _fields(happening: Happening) -> dict[str, object]:
    """The fields of a happening for the log: all of them, because the public sees them too."""
    found = {each.name: getattr(happening, each.name) for each in fields(happening) if each.name != "kind"}
    return {
        name: " ".join(map(str, value)) if isinstance(value, tuple) else value
        for name, value in found.items()
    }
