"""What the record's tests share."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from punto.baccarat.table.events import SessionEnded
from punto.baccarat.table.order_kinds import CallSupervisor
from punto.controller.engine import SNAPSHOT_EVERY
from punto.controller.journal import schema, store
from punto.controller.journal.entries import FIRST_LINK, Entry, Recorded
from punto.controller.journal.execution import Step
from punto.controller.journal.recovery import Recovered, recover
from tests.controller.table_in_this_process import Table, edited, table

INCIDENTS = [
    ("refused", "no_card_awaited"),
    ("card_awaited", "unread"),
    ("alarm", "supervisor_called"),
    ("stop", "reverse_movement"),
]


async def start_on(record: Path) -> None:
    async with table(record):
        pass


def recovered(record: Path) -> Recovered:
    """What a start would go on from."""
    with closing(schema.open_for_writing(record)) as connection:
        return recover(connection)


def rewrite(record: Path, change: Callable[[Entry], Recorded]) -> None:
    """Change inputs, and make all hashes again, as a person can who knows how."""
    link = FIRST_LINK
    with edited(record) as shell:
        for entry, _ in list(store.entries_after(shell, 0)):
            changed = Entry(entry.seq, change(entry))
            link = changed.chained_to(link)
            shell.execute(
                "UPDATE inputs SET ts = ?, source = ?, payload = ?, outcome = ?, results = ?, state = ?, hash = ? WHERE seq = ?",
                (*changed.recorded, link, changed.seq),
            )


def with_payload(change: Callable[[str], str]) -> Callable[[Entry], Recorded]:
    """A change of payloads."""
    return lambda entry: entry.recorded._replace(payload=change(entry.payload))


def call(here: Table, reason: str = "a dispute") -> Step:
    """An input that the service has executed, but not given to the record."""
    return here.engine.execution.execute("now", "test", CallSupervisor("mei", reason))


async def take_snapshot(here: Table) -> None:
    """Have the service take a snapshot now, though it is not due."""
    here.journal.last_snapshot = here.engine.seq - SNAPSHOT_EVERY
    await here.engine.submit([SessionEnded("mei", "signed off")], "console")
