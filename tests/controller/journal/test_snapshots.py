"""A start takes nothing from a snapshot that does not follow from the inputs, and reports what it ignored."""

import json
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import pytest

from punto.baccarat.table.events import SessionEnded
from punto.baccarat.table.state import TableState
from punto.controller.journal import recovery, schema, store
from punto.controller.journal.entries import EVENTS, Entry, Head, Recorded
from punto.controller.journal.evidence_verifier import state_digest
from punto.controller.journal.recovery import recover, replay
from punto.controller.journal.snapshots import STATES, Snapshot
from tests.controller.journal.records import recovered, take_snapshot
from tests.controller.table_in_this_process import rows, table
from tests.controller.test_progressive_record import settings

FORGED = 90_750_084


def last_table(path: Path) -> tuple[Head, dict[str, Any]]:
    """The head of a record, and the table after the last input, as JSON to be changed."""
    *_, step = recovery.history(path)
    return step.head, json.loads(STATES.dump_json(step.state))


def put(path: Path, state: dict[str, Any], *, covered: bool = False, posted: int = 0) -> None:
    """Add a snapshot after the last input, as anyone with write access to the file can, without touching a trigger."""
    head, _ = last_table(path)
    text = json.dumps(state, separators=(",", ":"), ensure_ascii=False)
    with closing(sqlite3.connect(path, isolation_level=None)) as shell:
        if posted:
            shell.execute(
                "INSERT INTO postings SELECT input, 99, ts, progressive, number + 1, 'increase', 0, 0, -?1, ?1, 0, 0, 0, NULL, "
                "NULL, NULL, NULL, 'eve', 'nothing', NULL FROM postings ORDER BY number DESC LIMIT 1",
                (posted,),
            )
        if covered:
            payload = EVENTS.dump_json(SessionEnded("eve", "signed off")).decode()
            recorded = Recorded(
                "2026-11-22T00:00:00.000000+00:00", "console", payload, state=state_digest(state)
            )
            entry = Entry(head.seq + 1, recorded)
            head = Head(entry.seq, entry.chained_to(head.hash))
            shell.execute(
                "INSERT INTO inputs VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (entry.seq, *recorded, head.hash)
            )
        shell.execute("INSERT INTO snapshots VALUES (?, ?)", (head.seq, text))


def shown(state: TableState) -> int:
    assert state.progressive is not None
    return state.progressive.books.shown


@pytest.mark.parametrize(
    ("covered", "posted"),
    [(False, False), (True, False), (True, True)],
    ids=["a snapshot", "and an input that covers it", "and a posting of the money"],
)
async def test_a_snapshot_that_another_program_adds_never_moves_the_meter(stopped, covered, posted):
    _, state = last_table(stopped)
    ledger = state["progressive"]["books"]["ledger"]
    before = ledger["primary"]
    more = FORGED * 1_000_000 - before
    ledger["primary"] += more
    ledger["adjustments"] += more
    if posted:
        ledger["last"] += 1
    put(stopped, state, covered=covered, posted=more if posted else 0)

    async with table(stopped, settings()) as here:
        assert here.state.progressive is not None
        assert here.state.progressive.books.ledger.primary == before
        (alarm,) = here.state.alarms

    assert alarm.code == "record_differs"
    assert re.search(r"the snapshot after input \d+ (is not the one that was taken|differs)", alarm.text)
    assert rows(stopped, "SELECT kind, code, text FROM incidents WHERE code = 'record_differs'") == [
        ("alarm", "record_differs", alarm.text)
    ]
    assert replay(stopped).difference is not None


def _of(path: str) -> Callable[[Any], dict[str, Any]]:
    def found(state: Any) -> dict[str, Any]:
        for name in path.split():
            state = state[int(name) if name.isdigit() else name]
        return cast(dict[str, Any], state)

    return found


BOOKS = "progressive books"


@pytest.mark.parametrize(
    ("where", "change", "sentence"),
    [
        (f"{BOOKS} ledger", {"primary": 5, "reserve": 6}, "primary of dragon is not the sum of the postings to this account"),
        (f"{BOOKS} ledger", {"seed_money": 7}, "seed money of dragon is not the sum of the postings to this account"),
        (f"{BOOKS} ledger", {"overflow": 7}, "overflow of dragon is not the sum of the postings to this account"),
        (f"{BOOKS} ledger", {"reserve": 7}, "reserve of dragon is not the sum of the postings to this account"),
        (f"{BOOKS} ledger", {"contributions": 7}, "contributions of dragon is not the sum of the postings to this account"),
        (f"{BOOKS} ledger", {"adjustments": 7}, "adjustments of dragon is not the sum of the postings to this account"),
        (f"{BOOKS} ledger paid 0", {"amount": 7}, "paid of dragon is not the sum of the postings to this account"),
        (f"{BOOKS} ledger", {"paid": []}, "paid of dragon is not the sum of the postings to this account"),
        (f"{BOOKS} ledger", {"last": 2}, "the ledger of dragon does not end with its last posting"),
        (f"{BOOKS}", {"next_award": 9}, "the awards of dragon differ from the progressive's log"),
        (f"{BOOKS}", {"awards": []}, "the open awards of dragon differ from the progressive's log"),
        (f"{BOOKS} awards 0", {"state": "backed_out"}, "award 1 of dragon differs from the progressive's log"),
        (f"{BOOKS} awards 1", {"amount": 7}, "award 2 of dragon differs from the progressive's log"),
        (f"{BOOKS} settings", {"reserve": "3%"}, "the present settings of dragon differ from those of the last recorded change"),
        (f"{BOOKS} rounds 0", {"round": 1}, "the last wagers on dragon differ from those that were counted"),
        (f"{BOOKS} rounds 0", {"wagers": []}, "the last wagers on dragon differ from those that were counted"),
        ("round", {"number": 90}, "the table has had 89 rounds, but its record has 2 rounds"),
    ],
)  # fmt: skip
async def test_a_start_compares_a_snapshot_with_the_rows_of_the_record(
    stopped, monkeypatch, where, change, sentence
):
    monkeypatch.setattr(recovery, "FEW_INPUTS", 0)
    _, state = last_table(stopped)
    right = STATES.validate_json(json.dumps(state), strict=True)
    _of(where)(state).update(change)
    put(stopped, state, covered=True)

    found = recovered(stopped)

    assert found.differences[0] == sentence
    assert found.differences[1].endswith("differs from the table that was computed again")
    assert found.table is not None
    assert found.table.state == right
    assert found.snapshot == 0


async def test_rows_that_no_input_gave_are_reported_and_the_table_is_what_the_inputs_give(stopped):
    _, state = last_table(stopped)
    with closing(sqlite3.connect(stopped, isolation_level=None)) as shell:
        shell.execute(
            "INSERT INTO postings SELECT input, 99, ts, progressive, number + 1, 'increase', 0, 0, -5, 5, 0, 0, 0, NULL, "
            "NULL, NULL, NULL, 'eve', 'nothing', NULL FROM postings ORDER BY number DESC LIMIT 1"
        )

    found = recovered(stopped)

    assert found.differences == [
        "the ledger of dragon does not end with its last posting: its rows were changed"
    ]
    assert found.table is not None
    assert found.table.state == STATES.validate_json(json.dumps(state), strict=True)


async def test_a_changed_digit_of_a_snapshot_is_always_reported_and_never_used(stopped, monkeypatch):
    monkeypatch.setattr(recovery, "FEW_INPUTS", 0)
    async with table(stopped, settings()) as here:
        await take_snapshot(here)
        await here.do("turn run", "game over")
        await take_snapshot(here)
        right = here.state
    with closing(schema.open_for_writing(stopped)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        assert recover(connection).differences == []
        (update,) = connection.execute(
            "SELECT sql FROM sqlite_schema WHERE name = 'snapshots_no_update'"
        ).fetchone()
        (_, last) = store.snapshots(connection)
        covered = store.state_digest_of(connection, last.seq)
        digits = [match.start() for match in re.finditer(r"\d", last.content)]
        assert len(digits) > 100
        sentence = f"the snapshot after input {last.seq} is not the one that was taken"
        for place, at in enumerate(digits):
            other = str((int(last.content[at]) + 1) % 10)
            content = last.content[:at] + other + last.content[at + 1 :]
            assert not Snapshot(last.seq, content).is_the_one(covered), at
            if place % 50 == 0:
                _write(connection, update, last.seq, content)
                found = recover(connection)

                assert found.differences == [sentence], at
                assert found.table is not None
                assert found.table.state == right, at


def _write(connection: sqlite3.Connection, trigger: str, seq: int, content: str) -> None:
    connection.execute("BEGIN")
    connection.execute("DROP TRIGGER snapshots_no_update")
    connection.execute("UPDATE snapshots SET state = ? WHERE seq = ?", (content, seq))
    connection.execute(trigger)
    connection.execute("COMMIT")
