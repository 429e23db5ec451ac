"""The witness as it runs: from the heads of the tables to its file, and what it reports to the log and the broker."""

import asyncio
from datetime import UTC, datetime
from typing import Any, Final

import structlog
from pydantic import ValidationError

from punto.controller.messages.building import timestamp
from punto.controller.messages.restricted import RestrictedHead
from punto.controller.messages.topics import RESTRICTED_HEAD, Topics, house_witness
from punto.controller.mqtt_link import Connection, Link, Received, Sender
from punto.controller.sd_notify import notify
from punto.controller.signing.heads import SignedHead
from punto.drivers.backoff import Backoff
from punto.witness.config import WitnessConfig
from punto.witness.report import WitnessFinding, WitnessReport
from punto.witness.store import WitnessStore
from punto.witness.watching import LASTS, Finding, Watch

REPORT_EVERY_SECONDS: Final = 10.0
MOST_REPORTED: Final = 100
MOST_TABLES: Final = 20_000
_LOOK_SECONDS: Final = 1.0

_log = structlog.get_logger("punto.witness")


class Witness:
    """Hears the heads of all tables. An error of its file ends it."""

    def __init__(self, config: WitnessConfig, store: WitnessStore) -> None:
        self._config = config
        self._store = store
        self._watch = Watch(store.seen(), config.keys, config.witness.silence_seconds)
        self._link = Link(config.mqtt, Backoff(0.5, 5))
        self._kept: dict[tuple[str, str], float] = {}
        self._standing: dict[tuple[str, str], Finding] = {}
        self._met: set[str] = set()
        self._number = 0

    async def run(self) -> None:
        """Witness until cancelled; wait while the broker is away."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._link.run(self._listen), name="link")
            tasks.create_task(self._look(), name="silence")

    async def _listen(self, connection: Connection) -> None:
        await connection.subscribe([Topics(self._config.mqtt.base, "+")(RESTRICTED_HEAD)])
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._report(connection))
            async for message in connection.messages():
                self.take(message)

    async def _look(self) -> None:
        clock = asyncio.get_running_loop().time
        while True:
            notify("WATCHDOG=1")
            silent = {each.table: each for each in self._watch.silent(clock())}
            for table, kind in [key for key in self._standing if key[1] == "silent"]:
                if table not in silent:
                    del self._standing[table, kind]
            for each in silent.values():
                self._find(each)
            await asyncio.sleep(_LOOK_SECONDS)

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
        """A message with the head of a table. A retained one may be of a table that is off, so it ends no silence."""
        table = message.topic.split("/")[-3]
        if table not in self._met and len(self._met) >= MOST_TABLES:
            return
        self._met.add(table)
        now = asyncio.get_running_loop().time()
        live = None if message.retained else now
        try:
            told = RestrictedHead.model_validate_json(message.payload)
            fields: dict[str, Any] = told.model_dump(include={"record", "head", "ts", "key", "signature"})
            if told.key is None or told.signature is None:
                self._find(self._watch.hear_unsigned(table, live))
                return
            signed = SignedHead(table=table, **fields)
        except ValidationError as error:
            _log.warning("message refused", topic=message.topic[:200], error=str(error.errors()[0]["msg"]))
            return
        new, found = self._watch.hear(signed, live)
        self._standing.pop((table, "unsigned"), None)
        for each in found:
            self._find(each)
        of = signed.table, signed.record
        if new and now - self._kept.get(of, float("-inf")) >= self._config.witness.keep_seconds:
            self._store.keep(signed)
            self._kept[of] = now

    def _find(self, found: Finding) -> None:
        """Report once: again after it ended."""
        at = found.table, found.kind
        if at in self._standing:
            return
        self._standing[at] = found
        self._store.note(found)
        (_log.warning if found.kind in LASTS else _log.error)(
            found.kind, table=found.table, reason=found.text
        )
