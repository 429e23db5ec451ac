"""What decides what can be written to a record is what this program put there, whole."""

import sqlite3
from contextlib import closing

import pytest

from punto.controller.journal.recovery import replay
from punto.controller.journal.schema import RecordError
from tests.controller.journal.records import start_on
from tests.controller.table_in_this_process import edited

CHANGES = [
    pytest.param(
        "DROP TRIGGER postings_no_update; CREATE TRIGGER postings_no_update BEFORE UPDATE ON postings BEGIN SELECT 1; END",
        "trigger postings_no_update in the record differs from this program's: ",
        id="a trigger of the same name that does nothing",
    ),
    pytest.param(
        "CREATE TRIGGER quiet BEFORE INSERT ON incidents BEGIN SELECT RAISE(IGNORE); END",
        "trigger quiet is in the record, but this program did not make it: ",
        id="a trigger that swallows incidents",
    ),
    pytest.param("DROP TRIGGER inputs_no_delete", "trigger inputs_no_delete is missing from the record: ", id="a trigger dropped"),
    pytest.param("DROP INDEX progressive_log_kind", "index progressive_log_kind is missing from the record: ", id="an index dropped"),
    pytest.param("CREATE INDEX own ON rounds (shoe)", "index own is in the record, but this program did not make it: ", id="an index"),
    pytest.param("CREATE VIEW own AS SELECT 1", "view own is in the record, but this program did not make it: ", id="a view"),
    pytest.param("ALTER TABLE rounds ADD COLUMN more TEXT", "table rounds in the record differs from this program's: ", id="a column"),
    pytest.param(
        "ANALYZE",
        "table sqlite_stat1 is in the record, because a person ran ANALYZE on it: remove it with `DROP TABLE sqlite_stat1`",
        id="an analysis",
    ),
    pytest.param("DROP TABLE cursors", "table cursors is missing from the record: ", id="a table dropped"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "sentence"), CHANGES)
async def test_another_schema_is_refused_by_a_start_and_found_by_a_replay(short, change, sentence):
    with closing(sqlite3.connect(short)) as shell:
        shell.executescript(change)

    difference = replay(short).difference
    assert difference is not None
    assert difference.startswith(sentence)
    with pytest.raises(
        RecordError, match=sentence if "cursors" not in sentence else "no such table: cursors"
    ):
        await start_on(short)


async def test_a_cursor_beyond_the_last_round_is_refused(short):
    with edited(short) as shell:
        shell.execute("INSERT INTO cursors VALUES ('rounds_sent', 1000000)")
    sentence = "cursors has a row of round 1000000, but the rounds on the record are 1 to 2: restore a backup"

    assert replay(short).difference == sentence
    with pytest.raises(RecordError, match=sentence):
        await start_on(short)
