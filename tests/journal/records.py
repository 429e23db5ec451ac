"""What the record's tests share."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from punto.baccarat.table.events import SessionEnded
from punto.controller.engine import SNAPSHOT_EVERY
from punto.controller.journal import books, meters, schema
from punto.controller.journal.entries import FIRST_LINK, STATES, Entry
from punto.controller.journal.recovery import Recovered, recover
from tests.service.table_in_this_process import Table, edited, table

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


def table_of(record: Path) -> str:
    """The table on a record, as JSON."""
    found = recovered(record).table
    assert found is not None
    return STATES.dump_json(found.state).decode()


def make_earlier(record: Path, version: int = 2) -> None:
    """Leave of a record what a program of an earlier format would have made."""
    _leave_the_format_unsaid(record)
    with closing(sqlite3.connect(record, isolation_level=None)) as shell:
        triggers = (
            "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name IN ('snapshots', 'cursors')"
        )
        for (name,) in shell.execute(triggers).fetchall() if version < 3 else ():
            shell.execute(f"DROP TRIGGER {name}")
        for (name,) in shell.execute("SELECT name FROM sqlite_schema WHERE type = 'view'").fetchall():
            shell.execute(f"DROP VIEW {name}")
        later = (*meters.KEYS, *(("incidents", *books.NEVER_EDITED) if version == 1 else ()))
        for name in later:
            shell.execute(f"DROP TABLE {name}")
        shell.execute(f"PRAGMA user_version = {version}")


def rewrite(record: Path, change: Callable[[str], str]) -> None:
    """Change the payloads of inputs, and make all hashes again, as a person can who knows how."""
    link = FIRST_LINK
    with edited(record) as shell:
        for seq, ts, source, payload in shell.execute(
            "SELECT seq, ts, source, payload FROM inputs ORDER BY seq"
        ).fetchall():
            entry = Entry(seq, ts, source, change(payload))
            link = entry.chained_to(link)
            shell.execute("UPDATE inputs SET payload = ?, hash = ? WHERE seq = ?", (entry.payload, link, seq))
        shell.execute(
            "UPDATE snapshots SET hash = (SELECT hash FROM inputs WHERE inputs.seq = snapshots.seq)"
        )


def _leave_the_format_unsaid(record: Path) -> None:
    rewrite(record, lambda payload: payload.replace(f',"format":{schema.FORMAT},', ","))


async def take_snapshot(here: Table) -> None:
    """Have the service take a snapshot now, though it is not due."""
    here.journal.last_snapshot = here.engine.seq - SNAPSHOT_EVERY
    await here.engine.submit([SessionEnded("mei", "signed off")], "console")
