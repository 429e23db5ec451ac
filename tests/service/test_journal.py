"""The record: durable, chained, never edited unnoticed, and enough to get the table back."""

import asyncio
import hashlib
import os
import re
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from controller.baccarat.cards import Card
from controller.cli import main
from controller.components import own_version
from controller.engine import SNAPSHOT_EVERY
from controller.journal import books, store
from controller.journal.audit import audit
from controller.journal.entries import FIRST_LINK, STATES, Head
from controller.journal.journal import Journal
from controller.journal.recovery import recover, replay
from controller.journal.store import RecordError
from controller.table.events import CallSupervisor, CardUnread, CloseTable, KeyCard, ReverseMovement, SetWager
from tests.service.table_in_this_process import HERE, edited, rows, table
from tests.service.table_on_a_machine import (
    Broker,
    Listener,
    Shoe,
    Table,
    expected_rounds,
    replayed,
    rounds,
    shoe_records,
    wait_until,
)

pytestmark = pytest.mark.disk


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A record of some rounds with wagers, past its second snapshot; nobody has it open."""
    folder = tmp_path_factory.mktemp("played")
    record = folder / "table.db"

    async def play() -> None:
        async with table(record) as here:
            await here.begin_shoe()
            await here.play(200, seats=[1, 4])

    asyncio.run(play())
    assert len(rows(record, "SELECT seq FROM snapshots")) == 2
    return record


@pytest.fixture
def record(played: Path, tmp_path: Path) -> Path:
    """A copy of it to do things to."""
    shutil.copy(played, tmp_path / "table.db")
    return tmp_path / "table.db"


@pytest.fixture
def short(tmp_path: Path) -> Path:
    """A record of two rounds, without a snapshot."""
    record: Path = tmp_path / "short.db"

    async def play() -> None:
        async with table(record) as here:
            await here.begin_shoe()
            await here.play(2, seats=[1])

    asyncio.run(play())
    return record


INCIDENTS = [
    ("refused", "no_card_awaited"),
    ("card_awaited", "unread"),
    ("alarm", "supervisor_called"),
    ("stop", "reverse_movement"),
]


@pytest.fixture
def troubled(tmp_path: Path) -> Path:
    """A record of two rounds and then of one incident of each kind."""
    record: Path = tmp_path / "troubled.db"

    async def play() -> None:
        async with table(record) as here:
            await here.begin_shoe()
            await here.play(2, seats=[1])
            await here.engine.submit([KeyCard("mei", Card("9S"))], "operator mei")
            await here.engine.submit([SetWager("w", 99, "player", 500, here.state.round)], "wagers")
            await here.shoe(CardUnread(here.state.link.expected))
            await here.order(CallSupervisor("mei", "a dispute"))
            await here.shoe(ReverseMovement(here.state.link.expected))

    asyncio.run(play())
    return record


async def start_on(record: Path) -> None:
    async with table(record):
        pass


def table_of(record: Path) -> str:
    """The table on a record, as JSON."""
    with closing(store.open_for_writing(record)) as connection:
        recovered = recover(connection)
    assert recovered is not None
    return STATES.dump_json(recovered.state).decode()


# --- durable, chained, never edited


async def test_a_commit_is_on_the_disk_when_it_returns(tmp_path):
    async with table(tmp_path / "table.db") as here:
        connection = here.journal.connection
        found = {
            name: connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("journal_mode", "synchronous", "foreign_keys")
        }

    assert found == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1}  # 2 is FULL


def test_every_input_is_chained_to_the_one_before(played):
    before = "0" * 64
    for seq, ts, source, payload, link in rows(
        played, "SELECT seq, ts, source, payload, hash FROM inputs ORDER BY seq"
    ):
        before = hashlib.sha256(f"{before}\n{seq}\n{ts}\n{source}\n{payload}".encode()).hexdigest()

        assert link == before


@pytest.mark.parametrize(
    ("name", "column"),
    [("inputs", "rowid"), ("rounds", "rowid"), ("settlements", "seat"), ("incidents", "place")],
)
@pytest.mark.parametrize("change", ["UPDATE {} SET {} = {}", "DELETE FROM {}"])
def test_a_person_with_a_shell_cannot_edit_the_record(troubled, name, column, change):
    change = change.format(name, column, column)
    with (
        closing(sqlite3.connect(troubled)) as shell,
        pytest.raises(sqlite3.IntegrityError, match="the record is never edited"),
    ):
        shell.execute(change)


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("settlements", "(999, 7, 'tie', 'win', 100, 900, 800, 'tie', '0')"),
        ("rounds", "(999, 999999, '', '', 1, 1, 'played', '', '', 0, 0, NULL, '')"),
        ("incidents", "(999999, 0, 'alarm', 'eve', 'eve')"),
        ("postings", "(999999, 0, '', '', 1, '', 0, 0, 0, 0, 0, 0, 0, '', '', 0, 0, '', '', '')"),
        ("progressive_rounds", "(999999, 0, '', '', '', 1, 1, 1, '')"),
        ("progressive_log", "(999999, 0, '', '', '', NULL, '')"),
    ],
)
async def test_a_person_with_a_shell_cannot_add_a_row_of_no_round_or_input(troubled, name, row):
    for _ in range(2):  # of a new record, and of one of an earlier version once the service has started
        with (
            closing(sqlite3.connect(troubled)) as shell,
            pytest.raises(sqlite3.IntegrityError, match=r"the record has no such (round|input)"),
        ):
            shell.execute(f"INSERT OR IGNORE INTO {name} VALUES {row}")  # noqa: S608 - a literal
        with closing(sqlite3.connect(troubled)) as shell:
            shell.execute(f"DROP TRIGGER {name}_no_stray")
        await start_on(troubled)


@pytest.mark.parametrize(
    ("name", "key", "columns"),
    [
        ("inputs", "seq", "seq, ts, 'operator eve', payload, hash"),
        (
            "rounds",
            "round",
            "round, input, ts, game, shoe, coup, status, player, banker, 0, 0, 'tie', record",
        ),
        (
            "settlements",
            "round",
            "round, seat, wager, outcome, stake, returned + 1, net + 1, rule, remainder",
        ),
        ("incidents", "input", "input, place, kind, code, 'nothing happened'"),
    ],
)
async def test_a_person_with_a_shell_cannot_replace_a_row(troubled, name, key, columns):
    for _ in range(2):
        with (
            closing(sqlite3.connect(troubled)) as shell,
            pytest.raises(sqlite3.IntegrityError, match="the record is never edited"),
        ):
            shell.execute(f"REPLACE INTO {name} SELECT {columns} FROM {name} ORDER BY {key} LIMIT 1")  # noqa: S608
        with closing(sqlite3.connect(troubled)) as shell:
            shell.execute(f"DROP TRIGGER {name}_no_replace")
        await start_on(troubled)


EDITS = [
    pytest.param(
        "UPDATE inputs SET payload = replace(payload, '99', '98') WHERE seq = 5",
        "input 5 of the record, or the one before it, was changed after it was written",
        id="a read changed",
    ),
    pytest.param(
        "UPDATE inputs SET ts = '2020-01-01T00:00:00.000000+00:00' WHERE seq = 9",
        "input 9 of the record, or the one before it, was changed after it was written",
        id="a time changed",
    ),
    pytest.param(
        "UPDATE inputs SET source = 'operator eve' WHERE seq = 3",
        "input 3 of the record, or the one before it, was changed after it was written",
        id="a name changed",
    ),
    pytest.param(
        "DELETE FROM inputs WHERE seq = 8", "input 8 is missing from the record", id="an input taken out"
    ),
    pytest.param(
        "UPDATE inputs SET seq = 1000000 WHERE seq = 5; UPDATE inputs SET seq = 5 WHERE seq = 6; "
        "UPDATE inputs SET seq = 6 WHERE seq = 1000000",
        "input 5 of the record, or the one before it, was changed after it was written",
        id="two inputs exchanged",
    ),
]


@pytest.mark.parametrize(("edit", "sentence"), EDITS)
async def test_a_replay_and_a_start_say_where_the_inputs_were_edited(short, edit, sentence):
    with edited(short) as shell:
        shell.executescript(edit)

    assert replay(short).difference == sentence
    with pytest.raises(RecordError, match=sentence):
        await start_on(short)


@pytest.mark.parametrize(("edit", "sentence"), EDITS)
def test_a_replay_goes_back_beyond_the_snapshots(record, edit, sentence):
    with edited(record) as shell:
        shell.executescript(edit)

    assert replay(record).difference == sentence


@pytest.mark.parametrize(
    ("edit", "sentence"),
    [
        pytest.param(
            "UPDATE inputs SET source = 'operator eve' WHERE seq = (SELECT max(seq) FROM inputs)",
            r"input \d+ of the record, or the one before it, was changed after it was written",
            id="the last input changed",
        ),
        pytest.param(
            "DELETE FROM inputs WHERE seq >= (SELECT max(seq) FROM snapshots)",
            r"input \d+ is missing from the record, and the snapshot after it is there",
            id="the end cut off before the snapshot",
        ),
        pytest.param(
            "DELETE FROM inputs WHERE seq >= (SELECT max(input) FROM rounds)",
            r"input \d+ is missing from the record, and the round that it ended is there",
            id="the end cut off before a round",
        ),
    ],
)
async def test_a_start_says_what_was_done_to_the_end_of_the_record(record, edit, sentence):
    with edited(record) as shell:
        shell.executescript(edit)

    with pytest.raises(RecordError, match=sentence):
        await start_on(record)
    difference = replay(record).difference
    assert difference is not None


@pytest.mark.parametrize(
    ("edit", "sentence"),
    [
        ("UPDATE rounds SET winner = 'tie' WHERE round = 2", "round 2 differs: "),
        (
            "UPDATE rounds SET record = replace(record, '5000', '6000') WHERE round = 2",
            "round 2 differs: ",
        ),
        (
            "UPDATE settlements SET returned = returned + 1 WHERE round = 2 AND seat = 4",
            "the settlements of round 2 ",
        ),
        ("DELETE FROM settlements WHERE round = 2 AND seat = 4", "the settlements of round 2 "),
        (
            "DELETE FROM settlements WHERE round = 2; DELETE FROM rounds WHERE round = 2",
            "round 2, which input ",
        ),
        (
            "INSERT INTO settlements VALUES (2, 7, 'tie', 'win', 1, 9, 8, 'tie', '0')",
            "the settlements of round 2 ",
        ),
        (
            "UPDATE rounds SET round = 1000 WHERE round = 200",
            "round 200, which input ",
        ),
        (
            "UPDATE snapshots SET state = replace(state, 'mei', 'eve')",
            "the snapshot after input ",
        ),
    ],
)
def test_a_replay_finds_what_no_longer_follows_from_the_inputs(record, edit, sentence):
    with edited(record) as shell:
        shell.executescript(edit)
    difference = replay(record).difference

    assert difference is not None
    assert difference.startswith(sentence)


@pytest.mark.parametrize(
    "edit",
    [
        "DELETE FROM incidents WHERE kind = 'refused'",
        "DELETE FROM incidents WHERE kind = 'alarm'",
        "UPDATE incidents SET code = 'locked_out' WHERE kind = 'alarm'",
        "UPDATE incidents SET input = input - 1 WHERE kind = 'card_awaited'",
        "INSERT INTO incidents VALUES (1, 0, 'refused', 'not_now', 'no')",
    ],
)
def test_a_replay_finds_incidents_that_were_none_and_misses_those_that_were(troubled, edit):
    assert replay(troubled).difference is None
    with edited(troubled) as shell:
        shell.execute(edit)
    difference = replay(troubled).difference

    assert difference is not None
    assert difference.startswith("the incidents of input ")


NO_INPUT_GAVE = [
    pytest.param(
        "INSERT INTO settlements VALUES (999, 7, 'tie', 'win', 100, 900, 800, 'tie', '0')",
        "settlements has a row of round 999, and the rounds on the record are 1 to 200: restore a backup",
        id="a settlement",
    ),
    pytest.param(
        "INSERT INTO settlements VALUES (0, 7, 'tie', 'win', 100, 900, 800, 'tie', '0')",
        "settlements has a row of round 0, and the rounds on the record are 1 to 200: restore a backup",
        id="a settlement of round 0",
    ),
    pytest.param(
        "INSERT INTO rounds SELECT 999, input, ts, game, shoe, coup, status, player, banker, player_total, "
        "banker_total, winner, record FROM rounds WHERE round = 5",
        "rounds has a row of round 999, and the rounds on the record are 1 to 200: restore a backup",
        id="a round",
    ),
    pytest.param(
        "INSERT INTO rounds SELECT -3, input, ts, game, shoe, coup, status, player, banker, player_total, "
        "banker_total, winner, record FROM rounds WHERE round = 5",
        "rounds has a row of round -3, and the rounds on the record are 1 to 200: restore a backup",
        id="a round before the first",
    ),
    pytest.param(
        "INSERT INTO inputs VALUES (0, '2026-01-01', 'eve', '{}', '')",
        "inputs has a row of input 0, and the inputs on the record are 1 to ",
        id="an input before the first",
    ),
    pytest.param(
        "INSERT INTO snapshots SELECT -1, hash, state FROM snapshots LIMIT 1",
        "snapshots has a row of input -1, and the inputs on the record are 1 to ",
        id="a snapshot",
    ),
    pytest.param(
        "INSERT INTO progressive_rounds VALUES (0, 0, '', '', '', 1, 1, 1, '')",
        "progressive_rounds has a row of input 0, and the inputs on the record are 1 to ",
        id="a game of a progressive",
    ),
]


@pytest.mark.parametrize(("edit", "sentence"), NO_INPUT_GAVE)
async def test_a_replay_an_audit_and_a_start_find_a_row_that_no_input_gave(record, edit, sentence):
    with edited(record) as shell:
        shell.executescript(edit)

    for difference in (replay(record).difference, audit(record).difference):
        assert difference is not None
        assert difference.startswith(sentence)
    with pytest.raises(RecordError, match=sentence):
        await start_on(record)


@pytest.mark.parametrize("rounds", [1, 3])
def test_a_replay_finds_a_settlement_of_a_round_that_is_not_in_its_table_yet(record, rounds):
    with edited(record) as shell:
        for name in ("settlements", "rounds"):
            shell.execute(f"DELETE FROM {name} WHERE round > 200 - ?", (rounds,))  # noqa: S608 - two names
        shell.execute("INSERT INTO settlements VALUES (200, 7, 'tie', 'win', 100, 900, 800, 'tie', '0')")

    assert (
        replay(record).difference == "the record has a settlement of round 200, and that round is not on it"
    )


def test_rounds_before_the_first_do_not_stand_for_those_that_are_gone(record):
    with edited(record) as shell:
        shell.executescript("UPDATE rounds SET round = -1 WHERE round = 200")

    difference = replay(record).difference
    assert difference is not None
    assert difference.startswith("rounds has a row of round -1, ")


def test_a_record_that_is_said_to_be_of_an_earlier_version_is_not_believed(troubled):
    with edited(troubled) as shell:
        shell.executescript("PRAGMA user_version = 1; UPDATE incidents SET code = 'nothing'")

    assert replay(troubled).difference == (
        "the record has incidents, and its format is said to be one that had none: restore a backup"
    )


def test_a_snapshot_with_the_hash_of_another_input_is_found(record):
    with edited(record) as shell:
        shell.execute("UPDATE snapshots SET hash = (SELECT hash FROM inputs WHERE seq = 1)")

    difference = replay(record).difference
    assert difference is not None
    assert difference.endswith("has another hash than that input")


@pytest.mark.parametrize(
    ("edit", "sentence"),
    [
        (
            "UPDATE rounds SET winner = 'tie', banker_total = 7 WHERE round = 2",
            "round 2 differs: banker_total: 7 on the record, 0 by the inputs; winner: tie on the record, player by the inputs",
        ),
        (
            "UPDATE rounds SET record = json_set(record, '$.settlements[0].outcome', 'push') WHERE round = 2",
            "round 2 differs: record settlements 1 outcome: push on the record, win by the inputs",
        ),
        (
            "UPDATE settlements SET stake = 1, returned = 2, net = 3, rule = '' WHERE round = 2 AND seat = 4",
            (
                "the settlements of round 2 differ: seat 4 player stake: 1 on the record, 5000 by the inputs; seat 4 player returned: "
                "2 on the record, 10000 by the inputs; seat 4 player net: 3 on the record, 5000 by the inputs; and 1 more"
            ),
        ),
        (
            "INSERT INTO settlements VALUES (2, 7, 'tie', 'win', 1, 9, 8, 'tie', '0')",
            (
                "the settlements of round 2 differ: seat 7 tie: round 2, seat 7, wager tie, outcome win, stake 1, returned 9, net 8, "
                "rule tie, remainder 0 on the record, nothing by the inputs"
            ),
        ),
    ],
)
def test_a_difference_is_told_as_people_read_it(record, edit, sentence):
    with edited(record) as shell:
        shell.executescript(edit)

    assert replay(record).difference == sentence


async def test_the_words_of_an_incident_are_compared_where_this_program_wrote_them(tmp_path):
    record = tmp_path / "table.db"
    async with table(record, version="1") as here:
        await here.begin_shoe()
        await here.order(CallSupervisor("mei", "a dispute"))
    async with table(record, version="2"):
        pass
    assert replay(record, version="1") == replay(record, version="2")
    with edited(record) as shell:
        shell.execute("UPDATE incidents SET text = 'lunch'")

    seq = rows(record, "SELECT input FROM incidents")[0][0]
    assert replay(record, version="1").difference == (
        f"the incidents of input {seq} differ: place 0 text: lunch on the record, a dispute by the inputs"
    )
    by_another = replay(record, version="2")
    assert (by_another.difference, by_another.reworded, by_another.versions) == (None, 1, ["1"])


def test_the_command_replay_says_which_words_it_cannot_compare(troubled):
    with edited(troubled) as shell:
        shell.execute("UPDATE incidents SET text = 'lunch' WHERE kind = 'alarm'")

    status, output = replayed(troubled)

    assert status == 0
    assert output.splitlines()[1] == (
        "incidents in other words than this program's: 1, of inputs that 0.1.0 took; only a replay by that program tells "
        "whether they are as they were written"
    )


def test_a_record_names_the_program_that_wrote_it_to_the_letter(tmp_path):
    with Table(tmp_path, None) as own:
        pass

    version = rows(own.record, "SELECT payload ->> '$.version' FROM inputs WHERE seq = 1")
    assert version == [(own_version(),)]
    assert re.fullmatch(r"0\.1\.0\+[0-9a-f]{12}", own_version())


def test_what_this_program_wrote_is_compared_to_the_letter(record):
    with edited(record) as shell:  # SQLite reads the first of two, and the program the last
        shell.execute('UPDATE rounds SET record = \'{"winner":"tie",\' || substr(record, 2) WHERE round = 2')

    assert replay(record).difference is None
    assert replay(record, version="0.1.0").difference == "round 2 differs: it is written otherwise"


async def test_incidents_that_are_gone_from_before_a_round_are_missed(tmp_path):
    record = tmp_path / "table.db"
    async with table(record) as here:
        await here.begin_shoe()
        await here.order(CallSupervisor("mei", "a dispute"))
        await here.play(1)
    with edited(record) as shell:
        shell.execute("DELETE FROM incidents")

    difference = replay(record).difference
    assert difference is not None
    assert difference.startswith("the incidents of input ")


def test_the_command_replay_says_the_first_difference(record):
    with edited(record) as shell:
        shell.executescript("DELETE FROM inputs WHERE seq = 8")

    assert replayed(record) == (
        1,
        "7 inputs and 0 rounds derived again\nfirst difference: input 8 is missing from the record\n",
    )


# --- noted elsewhere


def head_of(record: Path) -> Head:
    return Head(*rows(record, "SELECT seq, hash FROM inputs ORDER BY seq DESC LIMIT 1")[0])


def forge(record: Path) -> None:
    """Change who gave an order, chain all inputs anew, and take away what a forger cannot derive."""
    with edited(record) as shell:
        shell.execute("UPDATE inputs SET source = 'operator eve' WHERE seq = 3")
        link = FIRST_LINK
        for entry, _ in list(store.entries_after(shell, 0)):
            link = entry.chained_to(link)
            shell.execute("UPDATE inputs SET hash = ? WHERE seq = ?", (link, entry.seq))
        shell.execute("DELETE FROM snapshots")


def test_a_replay_gives_the_last_input_and_its_hash_and_takes_them_back(record):
    head = head_of(record)

    status, output = replayed(record)
    assert (status, output.splitlines()[-2:]) == (
        0,
        [f"the last input, to be noted elsewhere: {head}", "no difference"],
    )
    status, output = replayed(record, "--head", str(head))
    assert status == 0
    assert f"the inputs up to {head.seq} are those that were noted" in output


async def test_a_record_that_has_grown_is_still_the_one_that_was_noted(record):
    head = head_of(record)
    await start_on(record)

    assert replay(record, noted=[head]).difference is None
    assert replay(record).head != head


async def test_a_record_whose_hashes_were_all_made_anew_is_found_by_a_head_that_was_noted(record):
    head = head_of(record)
    forge(record)
    assert replay(record).difference is None
    await start_on(record)  # the hashes are no secret: without the note nobody can tell
    sentence = f"input {head.seq} has another hash than was noted: it, or one before it, was changed, and the hashes made anew"

    assert replay(record, noted=[head]).difference == sentence
    assert audit(record, noted=[head]).difference == sentence
    status, output = replayed(record, "--head", str(head))
    assert (status, output.splitlines()[-1]) == (1, f"first difference: {sentence}")
    assert main(["progressive", "audit", str(record), "--head", str(head)]) == 1


def test_a_record_that_was_cut_off_behind_what_follows_is_found_by_a_head_that_was_noted(short):
    head = head_of(short)
    with edited(short) as shell:
        shell.execute("DELETE FROM inputs WHERE seq = ?", (head.seq,))
        for name, column in (("settlements", "round"), ("rounds", "round")):
            shell.execute(f"DELETE FROM {name} WHERE {column} = 2")  # noqa: S608 - literals
    assert replay(short).difference is None

    assert replay(short, noted=[head]).difference == (
        f"input {head.seq}, whose hash was noted, is not on the record, which ends with input {head.seq - 1}"
    )


@pytest.mark.parametrize(
    "text", ["12", "12:ab", f"x:{'0' * 64}", f"0:{'0' * 64}", f"12:{'G' * 64}", f"-3:{'0' * 64}"]
)
def test_what_is_no_head_is_refused_with_how_to_write_one(record, text):
    status, output = replayed(record, f"--head={text}")

    assert status == 2
    assert (
        f"{text} is no input with its hash: write it as it was given, 2817:9f86…, with all 64 digits"
        in output
    )


async def test_the_head_is_of_what_is_on_the_disk(tmp_path):
    record = tmp_path / "table.db"
    async with table(record) as here:
        assert here.journal.head == head_of(record)
        await here.begin_shoe()
        assert here.journal.head == head_of(record)
        waiting = here.journal.append("now", "test", ["{}", "{}"], lambda: None)
        assert here.journal.head.seq == here.journal.last_seq - 2
        await waiting
        assert here.journal.head == head_of(record)


# --- getting the table back


def test_the_table_from_the_snapshot_is_the_table_from_the_first_input(record):
    from_snapshot = table_of(record)
    with edited(record) as shell:
        shell.execute("DELETE FROM snapshots")

    assert table_of(record) == from_snapshot


def test_a_snapshot_that_cannot_be_read_is_passed_over_for_the_inputs(record):
    from_snapshot = table_of(record)
    with edited(record) as shell:
        shell.execute("UPDATE snapshots SET state = '{}'")

    assert table_of(record) == from_snapshot


def test_a_snapshot_of_a_version_that_knew_less_is_passed_over_by_a_replay_too(record):
    with edited(record) as shell:
        shell.execute(
            "UPDATE snapshots SET state = json_remove(state, '$.retired_progressives', '$.happenings')"
        )

    assert replay(record).difference is None


async def test_a_snapshot_is_taken_every_so_many_inputs_and_two_are_kept(tmp_path):
    record = tmp_path / "table.db"
    async with table(record) as here:
        await here.hello()
        for _ in range(3 * SNAPSHOT_EVERY):
            await here.shoe(ReverseMovement(here.state.link.expected))
    taken = [seq for (seq,) in rows(record, "SELECT seq FROM snapshots ORDER BY seq")]

    assert taken == [2 * SNAPSHOT_EVERY, 3 * SNAPSHOT_EVERY]


async def test_starts_again_and_again_do_not_put_the_snapshot_off(tmp_path):
    record = tmp_path / "table.db"
    for _ in range(3):
        async with table(record) as here:
            await here.hello()
            for _ in range(SNAPSHOT_EVERY // 2):
                await here.shoe(ReverseMovement(here.state.link.expected))

    assert rows(record, "SELECT count(*) FROM snapshots") == [(1,)]


async def test_rounds_that_a_crash_kept_from_their_table_are_added_by_the_next_start(record):
    with edited(record) as shell:
        before = shell.execute("SELECT * FROM rounds").fetchall()
        shell.executescript("DELETE FROM settlements WHERE round > 197; DELETE FROM rounds WHERE round > 197")
    status, output = replayed(record)

    assert status == 0
    assert "the last 3 rounds are not in their table yet: the next start of the service adds them" in output

    await start_on(record)

    assert rows(record, "SELECT * FROM rounds") == before
    assert replay(record).waiting == 0


async def test_what_was_out_of_the_ordinary_is_on_the_record_by_its_input(troubled):
    found = rows(troubled, "SELECT kind, code FROM incidents ORDER BY input")
    (refused,) = rows(
        troubled, "SELECT payload, text FROM incidents JOIN inputs ON seq = input WHERE kind = 'refused'"
    )

    assert found == INCIDENTS
    assert refused[0] == '{"who":"mei","card":"9S","position":null,"kind":"key_card"}'
    assert refused[1].startswith("no card is awaited: ")


async def test_incidents_that_a_crash_kept_back_are_added_by_the_next_start(troubled):
    before = rows(troubled, "SELECT * FROM incidents")
    with edited(troubled) as shell:
        shell.execute("DELETE FROM incidents WHERE kind IN ('alarm', 'stop')")
    assert replay(troubled).difference is None

    await start_on(troubled)

    assert rows(troubled, "SELECT * FROM incidents") == before


async def test_a_record_of_before_incidents_were_noted_is_given_all_of_them_by_the_next_start(troubled):
    async with table(troubled) as here:
        here.journal.add_snapshot(here.engine.seq, STATES.dump_json(here.state).decode())
    before = rows(troubled, "SELECT * FROM incidents")
    with edited(troubled) as shell:
        later = ("incidents", *books.NEVER_EDITED)
        shell.executescript("".join(f"DROP TABLE {name};" for name in later) + "PRAGMA user_version = 1")
    assert replay(troubled).difference is None

    await start_on(troubled)

    assert rows(troubled, "SELECT * FROM incidents") == before
    assert replay(troubled).difference is None
    with closing(sqlite3.connect(troubled)) as shell, pytest.raises(sqlite3.IntegrityError):
        shell.execute("DELETE FROM incidents")
    # The earlier version, which would write no incidents, opens it no more.
    assert rows(troubled, "PRAGMA user_version") == [(store.FORMAT,)]


async def test_incidents_that_are_gone_from_before_a_snapshot_are_missed_though_none_came_after(troubled):
    async with table(troubled) as here:
        here.journal.add_snapshot(here.engine.seq, STATES.dump_json(here.state).decode())
    with edited(troubled) as shell:
        shell.execute("DELETE FROM incidents")

    difference = replay(troubled).difference
    assert difference is not None
    assert difference.startswith("the incidents of input ")


async def test_a_replay_works_while_the_service_writes(tmp_path):
    record = tmp_path / "table.db"
    async with table(record) as here:
        await here.begin_shoe()
        replaying = asyncio.to_thread(replayed, record)
        replays = asyncio.create_task(replaying)
        while not replays.done():
            await here.play(1, seats=[2])
        status, output = await replays

    assert (status, output.splitlines()[-1]) == (0, "no difference")


# --- order


async def test_what_waits_is_committed_together_and_in_order(tmp_path):
    async with table(tmp_path / "table.db") as here:
        commits: list[str] = []
        here.journal.connection.set_trace_callback(
            lambda sql: commits.append(sql) if sql == "COMMIT" else None
        )
        before = here.journal.last_seq
        handled: list[int] = []
        await asyncio.gather(
            *(
                here.journal.append("now", f"source {n}", ["{}"] * (n % 3 + 1), partial(handled.append, n))
                for n in range(100)
            )
        )
        here.journal.connection.set_trace_callback(None)
    found = rows(tmp_path / "table.db", "SELECT seq, source FROM inputs ORDER BY seq")[before:]
    sources = [f"source {n}" for n in range(100) for _ in range(n % 3 + 1)]

    assert [source for _, source in found] == sources
    assert [seq for seq, _ in found] == list(range(before + 1, before + 1 + len(sources)))
    assert handled == list(range(100))
    assert len(commits) < 20


# --- what is no record


def _no_database(path: Path) -> None:
    path.write_bytes(b"these are the minutes of a meeting, and they are long enough\n" * 100)


def _other_program(path: Path) -> None:
    with closing(sqlite3.connect(path)) as shell:
        shell.executescript(
            "PRAGMA application_id = 77; CREATE TABLE photos (id); INSERT INTO photos VALUES (1)"
        )


def _newer(path: Path) -> None:
    store.open_for_writing(path).close()
    with closing(sqlite3.connect(path)) as shell:
        shell.execute(f"PRAGMA user_version = {store.FORMAT + 1}")


def _half_a_record(path: Path) -> None:
    store.open_for_writing(path).close()
    with closing(sqlite3.connect(path)) as shell:
        shell.execute("DROP TABLE inputs")


def _damaged(path: Path) -> None:
    asyncio.run(_some_inputs(path))
    content = bytearray(path.read_bytes())
    content[4096 : 3 * 4096] = os.urandom(2 * 4096)
    path.write_bytes(content)


async def _some_inputs(path: Path) -> None:
    async with table(path) as here:
        await here.begin_shoe()
        await here.play(30)


NO_RECORDS: list[tuple[Callable[[Path], None], str]] = [
    (_no_database, "file is not a database"),
    (_other_program, "is an SQLite file but no record of this program: give another path"),
    (_newer, "has record format 3 and this program reads 2: "),
    (_half_a_record, "no such table: inputs"),
    (_damaged, "malformed|damaged"),
    (Path.mkdir, "unable to open|Is a directory"),
]
NAMES = ["no database", "another program's", "newer", "half a record", "damaged", "a directory"]


@pytest.mark.parametrize(("make", "sentence"), NO_RECORDS, ids=NAMES)
def test_what_is_no_record_is_refused_and_left_as_it_was(tmp_path, make, sentence):
    own = Table(tmp_path, None)
    make(own.record)
    before = own.record.is_file() and own.record.read_bytes()
    own.begin_to_start()
    status = own.process.wait(30)

    assert status == 1
    assert own.said()[-1].startswith("punto run: ")
    assert sentence.split("|")[0] in own.said()[-1] or any(
        each in own.said()[-1] for each in sentence.split("|")
    )
    assert not any("Traceback" in line for line in own.said())
    assert (own.record.is_file() and own.record.read_bytes()) == before


@pytest.mark.parametrize(("make", "sentence"), NO_RECORDS, ids=NAMES)
def test_a_replay_of_what_is_no_record_says_so(tmp_path, make, sentence):
    make(tmp_path / "table.db")
    status, output = replayed(tmp_path / "table.db")

    assert status in {1, 2}
    assert "Traceback" not in output


def test_a_replay_of_nothing_says_so(tmp_path):
    status, output = replayed(tmp_path / "table.db")

    assert (status, output) == (2, f"punto replay: there is no record at {tmp_path / 'table.db'}\n")


@pytest.fixture
def elsewhere() -> Iterator[Path]:
    """A folder that other users can get at."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


AS_NOBODY = """
import asyncio, os, sys
from pathlib import Path
from controller.journal.journal import Journal
from controller.journal.store import RecordError
if os.getuid() == 0:
    os.setuid(65534)
async def main():
    try:
        Journal.open(Path(sys.argv[1]))
    except RecordError as error:
        print(error)
asyncio.run(main())
"""


@pytest.mark.parametrize("path", ["table.db", "new/table.db", "own.db"])
def test_without_permission_it_says_which_file_and_why(elsewhere, path):
    (elsewhere / "own.db").touch(mode=0o400)
    (elsewhere / "own.db.lock").touch(mode=0o666)
    (elsewhere / "own.db.lock").chmod(0o666)
    elsewhere.chmod(0o555)
    done = subprocess.run(
        [sys.executable, "-c", AS_NOBODY, elsewhere / path],
        capture_output=True,
        text=True,
        check=False,
        cwd=HERE,
    )

    assert done.stderr == ""
    assert done.stdout.startswith(f"cannot open the record {elsewhere / path}: ")


def test_two_services_cannot_have_one_record(tmp_path):
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    with Table(tmp_path / "one", None) as first:
        second = Table(tmp_path / "two", None)
        second.record.symlink_to(first.record)  # by whatever name
        second.begin_to_start()

        assert second.process.wait(30) == 1
        assert second.said()[-1] == (
            f"punto run: another service has the record {second.record} open: stop it first"
        )
        assert first.up()


async def test_a_service_whose_record_another_one_has_written_to_ends_and_says_so(tmp_path):
    record = tmp_path / "table.db"
    async with table(record) as first:
        await first.begin_shoe()
        (tmp_path / "table.db.lock").unlink()
        async with table(record) as second:
            await second.order(CloseTable("mei"))
        with pytest.raises(
            RecordError, match=r"^another program has written to this record, so this one writes no more: "
        ):
            await first.draw()

    assert replay(record).difference is None


# --- when it cannot be written


async def test_what_goes_wrong_once_inputs_are_committed_is_heard_though_nobody_waits(tmp_path):
    def goes_wrong() -> None:
        raise AssertionError("it went wrong")

    async with table(tmp_path / "table.db") as here:
        here.journal.append("now", "test", ["{}"], goes_wrong).cancel()
        await asyncio.wait([here.watch], timeout=60)

        assert isinstance(here.watch.exception(), AssertionError)


async def test_a_failure_reaches_everybody_and_nothing_after_it_is_taken(tmp_path):
    async with table(tmp_path / "table.db") as here:
        await here.begin_shoe()
        pages = here.journal.connection.execute("PRAGMA page_count").fetchone()[0]
        here.journal.connection.execute(f"PRAGMA max_page_count = {pages}")
        state = here.state
        waiting: list[asyncio.Future[Any]] = [
            here.journal.append("now", "test", [f'"{"x" * 9000}"'], lambda: None),
            asyncio.create_task(here.journal.rounds_after(0, 10)),
        ]
        await asyncio.sleep(0)
        waiting.append(asyncio.create_task(here.journal.rounds_after(0, 10)))
        done, _ = await asyncio.wait([*waiting, here.watch], timeout=60)

        assert all(isinstance(task.exception(), RecordError) for task in done)
        assert len(done) == 4
        with pytest.raises(RecordError, match=r"could not be written \(database or disk is full\): check"):
            await here.order(CloseTable("mei"))
        assert here.state is state


def test_a_full_disk_ends_the_process_and_a_start_with_room_goes_on(tmp_path):
    with Broker(tmp_path) as broker, Table(tmp_path, broker) as own:
        shoe = Shoe(own.port, "--seed", "full", "--pace", "0", "--between", "0")
        with Listener(tmp_path, broker.port) as listener, shoe:
            own.begin_shoe()
            wait_until(lambda: len(rounds(own.record)) > 3, "some rounds")
            size = own.record.with_name("table.db-wal").stat().st_size
            resource.prlimit(own.process.pid, resource.RLIMIT_FSIZE, (size + 50_000, resource.RLIM_INFINITY))
            status = own.process.wait(30)
            held = len(shoe_records(own.record))
            heard = listener.heard("event")

            assert status == 1
            assert [line for line in own.said() if not line.startswith("{")] == [
                "punto run: the record could not be written (disk I/O error): check the disk's space and health"
            ]
            assert listener.heard("availability")[-1].payload["reason"] == "the service failed"
            assert (
                listener.heard("state")[-1].payload["seq"]
                <= rows(own.record, "SELECT max(seq) FROM inputs")[0][0]
            )

            own.start()
            wait_until(lambda: len(shoe_records(own.record)) > held + 50, "play goes on")

        assert rounds(own.record) == expected_rounds("full", 1)[: len(rounds(own.record))]
        assert shoe_records(own.record) == list(range(1, len(shoe_records(own.record)) + 1))
        assert own.stop() == 0
    assert [event.payload["seq"] for event in heard] == list(
        range(heard[0].payload["seq"], heard[0].payload["seq"] + len(heard))
    )
    status, output = replayed(own.record)
    assert (status, output.splitlines()[-1]) == (0, "no difference")


async def test_only_its_owner_and_its_group_may_read_a_record(tmp_path):
    async with table(tmp_path / "table.db") as here:
        await here.begin_shoe()

        assert {file.name: oct(file.stat().st_mode & 0o777) for file in tmp_path.iterdir()} == {
            f"table.db{more}": "0o640" for more in ("", "-wal", "-shm", ".lock")
        }


async def test_a_folder_that_is_not_there_is_said_and_not_made(tmp_path):
    record = tmp_path / "ponto" / "table.db"
    with pytest.raises(
        RecordError, match=r"cannot open the record .*table\.db: No such file or directory; check"
    ):
        await start_on(record)

    assert not record.parent.exists()


async def test_a_closed_journal_can_be_opened_again(tmp_path):
    journal = Journal.open(tmp_path / "table.db")
    await journal.close()

    await start_on(tmp_path / "table.db")
