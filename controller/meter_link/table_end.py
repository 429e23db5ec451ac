"""A linked table's end: it asks the authority, and follows the authority's meter."""

import asyncio
from collections.abc import Iterator, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Final

import structlog

from punto.baccarat.progressive.settings import Settings
from punto.baccarat.table.events import Event, MeterAnswered, MeterHeard, TableAsked
from punto.baccarat.table.meter_link import objection_to_meter, older_table
from punto.baccarat.table.state import AuthorityLink, TableState
from punto.baccarat.table.terms import Terms, unlike
from punto.controller.engine import Engine
from punto.controller.meter_link.carried import (
    LOOK_SECONDS,
    SOURCE,
    UNREAD,
    input_of,
    pause_after,
    progressive_of,
    public,
    read,
    written,
)
from punto.controller.meter_link.link import Link
from punto.controller.mqtt import Broker
from punto.controller.outbox import Outbox
from punto.messages import topics
from punto.messages.building import progressive_message, timestamp
from punto.messages.linked import MeterAnswer, MeterRequest
from punto.messages.models import Availability, Message, Progressive
from punto.runtime import clock
from punto.runtime.broker_link import Received

STALE_SECONDS: Final = 5.0
"""An authority whose meter has not come for this time is away: it comes every second."""
_ASK_AGAIN_SECONDS: Final = 3.0
"""How often a table that waits for its authority sends its request again."""
_UNANSWERED_SECONDS: Final = 7.0
"""An authority that has not answered for this time, in which it was asked twice, does not know the table."""
_NOT_SIGNED: Final = "what comes as its answer is not signed with the key of the link: put the same {0}.key into key_folder of {1} and of {0}"
_NOT_EXPECTED: Final = "it signs its answers, but this table has no key: write key_folder in [progressive] of both, or of neither"
_NOT_ANSWERED: Final = "it does not answer {}: write this table into its tables, and start it again"
_UNREAD_ANSWER: Final = MeterHeard(False, UNREAD.format("the authority"))

_log = structlog.get_logger("punto.controller.meter_link")


class TableEnd:
    """The end of a linked table."""

    def __init__(
        self,
        engine: Engine,
        broker: Broker,
        outbox: Outbox,
        topic: topics.Topics,
        keys: Mapping[str, tuple[bytes, ...]] = MappingProxyType({}),
    ) -> None:
        self._engine = engine
        self._broker = broker
        self._outbox = outbox
        settings = progressive_of(engine.state).books.settings
        at = topics.Topics(topic.base, settings.authority or "")
        self._table = topic.table
        self._name = settings.progressive
        self._signs = Link(self._name, at.table, topic.table, keys.get(topic.table, ()))
        self._available, self._reason = False, "not reached yet"
        self._meter: Progressive | None = None
        self._meter_at = 0.0
        self._heard: MeterHeard | None = None
        self._awaited_since = clock.monotonic()
        """Since when the authority could have answered."""
        self._unsigned = ""
        """Why what came as the answer of the authority is not one; empty if there was none since its last answer."""
        self._answered = 0
        """The number of the last request that the authority has answered to this record."""
        self._terms: Terms | None = None
        """Of the authority; None if it has not told them."""
        self._last_input = 0
        """Of the newest answer. A node of the house's broker that was away for a while sends old answers."""
        self._recording = asyncio.Lock()
        self._pause_until = 0.0
        self._failed: int | None = None
        """The request whose answer the program could not handle: it waits for the next start, perhaps of another version."""
        broker.retain(topics.METER_REQUEST, self._request)
        read = topics.of_authority(at, topic.table, settings.progressive)
        for name, take in zip(
            read, (self._take_answer, self._take_availability, self._take_meter), strict=True
        ):
            broker.listen(name, take)
        engine.watch(self._watch)
        self._asked = self._link.asked

    @property
    def _settings(self) -> Settings:
        return progressive_of(self._engine.state).books.settings

    @property
    def _link(self) -> AuthorityLink:
        link = progressive_of(self._engine.state).link
        if link is None:
            raise AssertionError("this table has no authority")
        return link

    # --- what the table sends

    def _request(self, now: datetime) -> Message:
        state, asked = self._engine.state, self._link.asked
        request = None
        if asked is not None:
            request = TableAsked(self._table, self._engine.record_name, asked.number, asked.orders)
        message = MeterRequest(
            id=f"{self._table}/meter/request/{self._link.number}/{'answered' if asked is None else 'asked'}",
            seq=self._link.number,
            ts=timestamp(now),
            simulation=state.settings.simulation,
            currency=state.settings.currency,
            seats=state.settings.seats,
            rules=state.settings.game.rules_by_part,
            procedure=self._settings.procedure,
            record=self._engine.record_name,
            asked=None if request is None else written(request),
        )
        return self._signs.signed(message)

    def _watch(self, _: TableState, __: int) -> None:
        asked = self._link.asked
        if asked is not self._asked:
            self._asked = asked
            self._outbox.snapshot_at_once(topics.METER_REQUEST)

    @property
    def meter(self) -> int | None:
        """The amount that displays show, in minor units; None before the authority has sent one."""
        return None if self._meter is None else self._meter.meter

    def message(self, now: datetime) -> Message | None:
        """The table's game with the authority's present meter; once that is stale, displays freeze."""
        engine = self._engine
        own = progressive_message(engine.state, engine.seq, engine.publication.award_since, now)
        if own is None or self._meter is None:
            return own
        meter = self._meter
        same = {
            name: getattr(meter, name)
            for name in ("valid_until", "phase", "meter", "tiers", "award", "kept_by")
        }
        return own.model_copy(update=same)

    # --- what comes from the authority

    async def _take_availability(self, message: Received) -> None:
        said = read(Availability, message)
        if said is not None:
            self._available, self._reason = said.state == "online", said.reason
            if not self._available:
                self._last_input = 0  # it may come back with another record
            await self._look()

    async def _take_meter(self, message: Received) -> None:
        if message.retained:
            return  # it may be old
        self._meter = read(Progressive, message) or self._meter
        self._meter_at = clock.monotonic()
        self._available = True  # if the broker has lost `availability`
        self._outbox.snapshot_due(topics.progressive(self._name))

    async def _take_answer(self, message: Received) -> None:
        if not self._signs.holds(message.payload):
            if self._heard is None:  # else it changes nothing: the authority has answered
                reason = _NOT_SIGNED if self._signs.keys else _NOT_EXPECTED
                self._unsigned = reason.format(self._table, self._signs.authority)
                await self._look()
            return
        said = read(MeterAnswer, message)
        terms = None if said is None else self._terms_of(said)
        if message.retained and self._heard is None:
            # It may be old, and the authority may not answer this table any more. What it answered to the request that waits still holds.
            if said is not None and self._unlike(terms) is None:
                await self._take_answered(said, message)
            await self._look()
            return
        self._unsigned = ""
        if said is not None and said.last_input < self._last_input:
            return
        self._terms = terms
        if said is None:
            self._heard = _UNREAD_ANSWER
        else:
            self._last_input = said.last_input
            self._answered = said.seq if said.record == self._engine.record_name else 0
            if self._unlike(terms) is None:
                await self._take_answered(said, message)
            self._heard = self._heard_in(input_of(said.heard, message))
        await self._look()

    def _terms_of(self, said: MeterAnswer) -> Terms:
        service = self._settings.authority or ""
        return Terms(service, said.simulation, said.currency, said.seats, said.rules, said.procedure)

    def _unlike(self, terms: Terms | None) -> str | None:
        """Why an authority with these terms cannot keep the meter of the table, None if it can: a supervisor may have changed the game since."""
        if terms is None:
            return None
        return unlike(
            Terms.of(self._engine.state.settings, self._settings), terms, self._name
        ) or older_table(self._settings, self._table, self._link.number, self._answered)

    def _heard_in(self, heard: Event | None) -> MeterHeard:
        """What the authority tells, or why it is not used."""
        if not isinstance(heard, MeterHeard):
            return _UNREAD_ANSWER
        objection = None if heard.extract is None else objection_to_meter(self._settings, heard.extract)
        return heard if objection is None else MeterHeard(False, objection)

    async def _take_answered(self, said: MeterAnswer, message: Received) -> None:
        async with self._recording:
            asked = self._link.asked
            if asked is None or asked.number != said.seq or asked.number == self._failed:
                return
            if said.record != self._engine.record_name:
                return  # the answer to an earlier record of this table
            answered = input_of(said.answered, message)
            if not isinstance(answered, MeterAnswered):
                return
            (handled,) = await self._engine.submit([answered], SOURCE, whole=True)
            self._failed = asked.number if handled.failed else None
            if handled.refused:
                reason = str(handled.refusal)
                _log.warning("answer of the authority ignored", topic=message.topic, reason=reason)

    async def run(self) -> None:
        """Record when the authority comes and goes, and ask it again if it does not answer, until cancelled."""
        again = clock.monotonic() + _ASK_AGAIN_SECONDS
        while True:
            await self._look()
            if clock.monotonic() - self._meter_at > STALE_SECONDS:
                self._last_input = 0  # as after `offline`, which the broker may have lost
            if clock.monotonic() > again:
                again = clock.monotonic() + _ASK_AGAIN_SECONDS
                if self._link.asked is not None or not self._link.online:
                    self._outbox.snapshot_due(topics.METER_REQUEST)
            await asyncio.sleep(LOOK_SECONDS)

    async def _look(self) -> None:
        """Record what the table does not know yet."""
        async with self._recording:
            heard = self._present()
            if heard is not None and clock.monotonic() >= self._pause_until:
                (handled,) = await self._engine.submit([heard], SOURCE)
                self._pause_until = pause_after(handled)

    def _present(self) -> MeterHeard | None:
        """What is to be recorded of the authority now, None if the table knows it."""
        known, link = progressive_of(self._engine.state).books, self._link
        if not (self._available and self._broker.health().connected):
            self._heard = None  # it may come back with another key, or without this table
            self._awaited_since = clock.monotonic()
        away = next(self._away(), None)
        if away is not None:
            return MeterHeard(False, away) if link.online else None
        objection = self._unlike(self._terms)
        if objection is None and self._heard is None and self._unsigned:
            objection = self._unsigned
        said = self._heard if objection is None else MeterHeard(False, objection)
        if said is None or not said.online:
            reason = _NOT_ANSWERED.format(self._table) if said is None else said.reason
            in_time = said is None and clock.monotonic() - self._awaited_since < _UNANSWERED_SECONDS
            return (
                MeterHeard(False, reason) if link.online or (reason != link.reason and not in_time) else None
            )
        settings = said.settings if said.settings != known.settings else None
        if said.extract is not None and said.extract.ledger.last < known.ledger.last:
            settings, told = None, False  # an old answer: anybody at the broker can repeat it
        else:
            told = said.extract is not None and public(known.with_extract(said.extract)) != public(known)
        if link.online and settings is None and not told:
            return None
        if not link.online and settings is not None and link.reason.startswith("it has another"):
            return None
        return MeterHeard(True, "", said.extract, settings)

    def _away(self) -> Iterator[str]:
        health = self._broker.health()
        if not health.connected:
            yield f"the broker is away: {health.reason}"
        if not self._available:
            yield self._reason
        if clock.monotonic() - self._meter_at > STALE_SECONDS:
            yield "the meter has not come for some seconds"
