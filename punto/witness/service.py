"""The witness as it runs: from the heads of the tables to its file, and what it reports to the log and the broker."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated, Any, Final

import structlog
from pydantic import BaseModel, Field, ValidationError

from punto.controller.journal.entries import Head
from punto.controller.signing.heads import LARGEST_SEQ, SignedHead
from punto.messages.building import timestamp
from punto.messages.restricted import RestrictedHead
from punto.messages.topics import RESTRICTED_HEAD, STATE, Topics, house_witness
from punto.runtime.backoff import Backoff
from punto.runtime.broker_link import Connection, Link, Received, Sender
from punto.runtime.bucket import Bucket
from punto.runtime.sd_notify import notify
from punto.witness.config import WitnessConfig
from punto.witness.report import WitnessFinding, WitnessReport
from punto.witness.store import WitnessStore
from punto.witness.watching import LASTS, OVERDUE, Finding, Watch

REPORT_EVERY_SECONDS: Final = 10.0
MOST_REPORTED: Final = 100
MOST_TABLES: Final = 20_000
_LOOK_SECONDS: Final = 1.0

_log = structlog.get_logger("punto.witness")


@dataclass(slots=True)
class _Budget:
    """What the witness takes from one table, so that a table that sends without end delays no other one.

    A table sends a head every ten seconds, and a state each second and at each change. It has one record for its whole life.
    """

    heads: Bucket = field(default_factory=lambda: Bucket(20, 2))
    states: Bucket = field(default_factory=lambda: Bucket(100, 10))
    records: Bucket = field(default_factory=lambda: Bucket(8, 1 / 3600))
    notes: Bucket = field(default_factory=lambda: Bucket(50, 1 / 600))


def _takes(bucket: Bucket, now: float) -> bool:
    if has := bucket.has(1, now):
        bucket.take(1)
    return has


class _Numbered(BaseModel):
    """What the witness reads of a table's state."""

    seq: Annotated[int, Field(ge=0, le=LARGEST_SEQ)]


def _refused(message: Received, error: ValidationError) -> None:
    _log.warning("message refused", topic=message.topic[:200], error=str(error.errors()[0]["msg"]))


class Witness:
    """Hears the heads of all tables. An error of its file ends it."""

    def __init__(
        self, config: WitnessConfig, store: WitnessStore, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock = clock
        self._config = config
        self._store = store
        self._watch = Watch(store.seen(), config.keys, config.witness.silence_seconds)
        self._link = Link(config.mqtt, Backoff(0.5, 5))
        self._kept: dict[str, dict[str, Head]] = {}
        self._kept_at: dict[str, float] = {}
        self._standing: dict[tuple[str, str], Finding] = {}
        self._noted: dict[tuple[str, str], set[str]] = {}
        self._met: set[str] = set()
        self._budgets: dict[str, _Budget] = {}
        self._number = 0

    async def run(self) -> None:
        """Witness until cancelled; wait while the broker is away."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._link.run(self._listen), name="link")
            tasks.create_task(self._look(), name="silence")

    async def _listen(self, connection: Connection) -> None:
        tables = Topics(self._config.mqtt.base, "+")
        await connection.subscribe([tables(RESTRICTED_HEAD)])
        await connection.subscribe([tables(STATE)], qos=0)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._report(connection))
            async for message in connection.messages():
                self.take(message)

    async def _look(self) -> None:
        while True:
            notify("WATCHDOG=1")
            self.look()
            await asyncio.sleep(_LOOK_SECONDS)

    def look(self) -> None:
        """Report the tables that are overdue, and no longer those that are not."""
        overdue = {(each.table, each.kind): each for each in self._watch.overdue(self._clock())}
        for at in [at for at in self._standing if at[1] in OVERDUE and at not in overdue]:
            del self._standing[at]
        for each in overdue.values():
            self._find(each)

    async def _report(self, connection: Connection) -> None:
        """Publish what stands, as a retained message, every ten seconds."""
        sender = Sender(connection)
        while True:
            await sender.room()
            sender.send(house_witness(self._config.mqtt.base), self.report().wire(), retain=True)
            await asyncio.sleep(REPORT_EVERY_SECONDS)

    def report(self) -> WitnessReport:
        """What stands now, the newest first."""
        self._number += 1
        now = timestamp(datetime.now(UTC))
        standing = list(self._standing.values())[::-1][:MOST_REPORTED]
        return WitnessReport(
            id=f"witness/{now}",
            seq=self._number,
            ts=now,
            simulation=False,
            tables=len(self._met),
            findings=tuple(
                WitnessFinding(table=each.table, kind=each.kind, text=each.text) for each in standing
            ),
        )

    def take(self, message: Received) -> None:
        """A message with the head or the state of a table, unless it sends too many of them.

        A retained head may be of a table that is off, so it ends no silence.
        """
        state = message.topic.endswith(f"/{STATE}")
        table = message.topic.split("/")[-2 if state else -3]
        if table not in self._budgets and len(self._budgets) >= MOST_TABLES:
            return
        now = self._clock()
        budget = self._budgets.setdefault(table, _Budget())
        if not _takes(budget.states if state else budget.heads, now):
            if not state:
                self._find(self._watch.flood(table))
            return
        if not state:
            self._take_head(table, message, now, budget)
        elif not message.retained:
            self._take_state(table, message, now)

    def _take_state(self, table: str, message: Received, now: float) -> None:
        try:
            seq = _Numbered.model_validate_json(message.payload).seq
        except ValidationError as error:
            _refused(message, error)
            return
        for each in self._watch.hear_input(table, seq, now):
            self._find(each)

    def _take_head(self, table: str, message: Received, now: float, budget: "_Budget") -> None:
        self._met.add(table)
        live = None if message.retained else now
        try:
            told = RestrictedHead.model_validate_json(message.payload)
            fields: dict[str, Any] = told.model_dump(include={"record", "head", "ts", "key", "signature"})
            if told.key is None or told.signature is None:
                self._find(self._watch.hear_unsigned(table, live))
                return
            signed = SignedHead(table=table, **fields)
        except ValidationError as error:
            _refused(message, error)
            return
        if not self._watch.knows(table, signed.record) and not _takes(budget.records, now):
            self._find(self._watch.flood(table))
            return
        true, found = self._watch.hear(signed, live)
        for each in found:
            self._find(each)
        if true:
            self._standing.pop((table, "unsigned"), None)
            self._keep(signed, now)

    def _keep(self, told: SignedHead, now: float) -> None:
        """Keep a head if it is time: one of each table in `keep_seconds`, and the first one of each record."""
        last = self._kept.setdefault(told.table, {}).get(told.record)
        due = now - self._kept_at.get(told.table, float("-inf")) >= self._config.witness.keep_seconds
        if told.at != last and (due or last is None):
            self._store.keep(told)
            self._kept[told.table][told.record] = told.at
            self._kept_at[told.table] = now

    def _find(self, found: Finding) -> None:
        """Report, and note it unless it was noted: what lasts again after it ended, all else if it says another thing."""
        at = found.table, found.kind
        noted = self._noted.setdefault(at, set())
        if at in self._standing and (found.kind in LASTS or found.text in noted):
            return
        self._standing.pop(at, None)
        self._standing[at] = found
        notes = self._budgets.setdefault(found.table, _Budget()).notes
        if not _takes(notes, self._clock()):
            return
        if found.kind not in LASTS:
            noted.add(found.text)
        self._store.note(found)
        (_log.warning if found.kind in LASTS else _log.error)(
            found.kind, table=found.table, reason=found.text
        )
