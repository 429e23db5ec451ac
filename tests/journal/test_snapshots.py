"""A start takes nothing from a snapshot that does not follow from the inputs, and says what it has passed over."""

import json
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import pytest

from punto.baccarat.progressive.events import ChangeSettings
from punto.baccarat.table.state import TableState
from punto.controller.journal import recovery, schema, store
from punto.controller.journal.entries import EVENTS, STATES, Entry
from punto.controller.journal.recovery import recover, replay
from punto.controller.journal.snapshots import Snapshot
from tests.journal.records import recovered, take_snapshot
from tests.service.table_in_this_process import rows, table
from tests.service.test_progressive_record import AWARD, settings, to_the_win

FORGED = 90_750_084
SHOWN = 750_030


@pytest.fixture
async def stopped(tmp_path):
    """A record with a meter that has paid an award and holds another open, changed settings, and no snapshot."""
    path = tmp_path / "t.db"
    async with table(path, settings()) as here:
        await to_the_win(here)
        await here.do(*AWARD)
        changed = settings(reserve="2%").progressive
        assert changed is not None
        await here.order(ChangeSettings(changed, "a trial", "eve", "bob"))
        await here.do(
            "wager 1 player 500", "start game 1", "draw 2H KC 3H JC 4H KD", "hand 1", "turn jph", "j-pot"
        )
    return path


def last_table(path: Path) -> tuple[int, str, dict[str, Any]]:
    """The last input of a record, its hash, and the table after it, as JSON to be changed."""
    *_, step = recovery.history(path)
    ((seq, link),) = rows(path, "SELECT seq, hash FROM inputs ORDER BY seq DESC LIMIT 1")
    return seq, link, json.loads(STATES.dump_json(step.table.state))


def put(path: Path, state: dict[str, Any], *, named: bool = False, posted: int = 0) -> None:
    """Add a snapshot after the last input, as anyone with write access to the file can, without touching a trigger."""
    seq, link, _ = last_table(path)
    snapshot = Snapshot(seq, link, json.dumps(state, separators=(",", ":"), ensure_ascii=False))
    with closing(sqlite3.connect(path, isolation_level=None)) as shell:
        if posted:
            shell.execute(
                "INSERT INTO postings SELECT input, 99, ts, progressive, number + 1, 'increase', 0, 0, -?1, ?1, 0, 0, 0, NULL, "
                "NULL, NULL, NULL, 'eve', 'nothing', NULL FROM postings ORDER BY number DESC LIMIT 1",
                (posted,),
            )
        if named:
            payload = EVENTS.dump_json(snapshot.named).decode()
            entry = Entry(seq + 1, "2026-11-22T00:00:00.000000+00:00", "service", payload)
            link = entry.chained_to(link)
            shell.execute(
                "INSERT INTO inputs VALUES (?, ?, 'service', ?, ?)", (seq + 1, entry.ts, payload, link)
            )
        shell.execute("INSERT INTO snapshots VALUES (?, ?, ?)", snapshot.row)


def shown(state: TableState) -> int:
    assert state.progressive is not None
    return state.progressive.books.shown


@pytest.mark.parametrize(
    ("named", "posted"),
    [(False, False), (True, False), (True, True)],
    ids=["a snapshot", "and an input that names it", "and a posting of the money"],
)
async def test_a_snapshot_that_another_program_adds_never_moves_the_meter(stopped, named, posted):
    _, _, state = last_table(stopped)
    ledger = state["progressive"]["books"]["ledger"]
    before = ledger["primary"]
    more = FORGED * 1_000_000 - before
    ledger["primary"] += more
    ledger["adjustments"] += more
    if posted:
        ledger["last"] += 1
    put(stopped, state, named=named, posted=more if posted else 0)

    async with table(stopped, settings()) as here:
        assert here.state.progressive is not None
        assert here.state.progressive.books.ledger.primary == before
        (alarm,) = here.state.alarms
        await here.engine.written()

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
        (
            f"{BOOKS} ledger",
            {"primary": 5, "reserve": 6},
            "primary of dragon is not the sum of the postings to this account",
        ),
        (
            f"{BOOKS} ledger",
            {"seed_money": 7},
            "seed money of dragon is not the sum of the postings to this account",
        ),
        (
            f"{BOOKS} ledger",
            {"overflow": 7},
            "overflow of dragon is not the sum of the postings to this account",
        ),
        (
            f"{BOOKS} ledger",
            {"reserve": 7},
            "reserve of dragon is not the sum of the postings to this account",
        ),
        (
            f"{BOOKS} ledger",
            {"contributions": 7},
            "contributions of dragon is not the sum of the postings to this account",
        ),
        (
            f"{BOOKS} ledger",
            {"adjustments": 7},
            "adjustments of dragon is not the sum of the postings to this account",
        ),
        (
            f"{BOOKS} ledger paid 0",
            {"amount": 7},
            "paid of dragon is not the sum of the postings to this account",
        ),
        (f"{BOOKS} ledger", {"paid": []}, "paid of dragon is not the sum of the postings to this account"),
        (f"{BOOKS} ledger", {"last": 2}, "the ledger of dragon does not end with its last posting"),
        (f"{BOOKS}", {"next_award": 9}, "the awards of dragon differ from the progressive's log"),
        (f"{BOOKS}", {"awards": []}, "the open awards of dragon differ from the progressive's log"),
        (
            f"{BOOKS} awards 0",
            {"state": "backed_out"},
            "award 1 of dragon differs from the progressive's log",
        ),
        (f"{BOOKS} awards 1", {"amount": 7}, "award 2 of dragon differs from the progressive's log"),
        (
            f"{BOOKS} settings",
            {"reserve": "3%"},
            "the present settings of dragon differ from those of the last recorded change",
        ),
        (f"{BOOKS} rounds 0", {"round": 1}, "the last wagers on dragon differ from those that were counted"),
        (
            f"{BOOKS} rounds 0",
            {"wagers": []},
            "the last wagers on dragon differ from those that were counted",
        ),
        ("", {"round": 90}, "the table has had 89 rounds, but its record has 2 rounds"),
    ],
)
async def test_a_start_holds_a_snapshot_against_the_rows_of_the_record(
    stopped, monkeypatch, where, change, sentence
):
    monkeypatch.setattr(recovery, "FEW_INPUTS", 0)
    _, _, state = last_table(stopped)
    right = STATES.validate_json(json.dumps(state), strict=True)
    _of(where)(state).update(change)
    put(stopped, state, named=True)

    found = recovered(stopped)

    assert found.differences[0] == sentence
    assert found.differences[1].endswith("differs from the table that was computed again")
    assert found.table is not None
    assert found.table.state == right
    assert found.snapshot == 0


async def test_rows_that_no_input_gave_are_told_of_and_the_table_is_what_the_inputs_give(stopped):
    seq, _, state = last_table(stopped)
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
    assert seq


async def test_a_digit_of_a_snapshot_that_was_changed_is_always_told_of_and_never_used(stopped, monkeypatch):
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
        digits = [match.start() for match in re.finditer(r"\d", last[2])]
        assert len(digits) > 100
        sentence = f"the snapshot after input {last[0]} is not the one that was taken"
        for place, at in enumerate(digits):
            other = str((int(last[2][at]) + 1) % 10)
            content = last[2][:at] + other + last[2][at + 1 :]
            assert Snapshot(last[0], last[1], content).difference(connection) == sentence, at
            if place % 50 == 0:
                _write(connection, update, last[0], content)
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
