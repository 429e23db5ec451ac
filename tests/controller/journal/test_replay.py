"""What was done to a record is found by a replay, an audit and a start."""

import re
from pathlib import Path

import pytest

from punto.baccarat.table.order_kinds import CallSupervisor
from punto.controller.components import own_version
from punto.controller.journal.audit import audit
from punto.controller.journal.books import Row
from punto.controller.journal.execution import results_of
from punto.controller.journal.recovery import replay
from punto.controller.journal.schema import RecordError
from tests.controller.journal.records import rewrite, start_on, with_payload
from tests.controller.table_in_this_process import edited, rows, table
from tests.controller.table_on_a_machine import Table, replayed
from tests.share import sampled

EDITS = [
    pytest.param(
        "UPDATE inputs SET payload = replace(payload, '99', '98') WHERE seq = 5",
        "input 5 of the record, or the input before it, was changed after the record was written",
        id="a read changed",
    ),
    pytest.param(
        "UPDATE inputs SET ts = '2020-01-01T00:00:00.000000+00:00' WHERE seq = 9",
        "input 9 of the record, or the input before it, was changed after the record was written",
        id="a time changed",
    ),
    pytest.param(
        "UPDATE inputs SET source = 'operator eve' WHERE seq = 3",
        "input 3 of the record, or the input before it, was changed after the record was written",
        id="a name changed",
    ),
    pytest.param(
        "DELETE FROM inputs WHERE seq = 8", "input 8 is missing from the record", id="an input taken out"
    ),
    pytest.param(
        "UPDATE inputs SET seq = 1000000 WHERE seq = 5; UPDATE inputs SET seq = 5 WHERE seq = 6; "
        "UPDATE inputs SET seq = 6 WHERE seq = 1000000",
        "input 5 of the record, or the input before it, was changed after the record was written",
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


@pytest.mark.parametrize(("edit", "sentence"), EDITS[:1])
def test_a_replay_goes_back_beyond_the_snapshots(record, edit, sentence):
    with edited(record) as shell:
        shell.executescript(edit)

    assert replay(record).difference == sentence


@pytest.mark.parametrize(
    ("edit", "sentence"),
    [
        pytest.param(
            "UPDATE inputs SET source = 'operator eve' WHERE seq = (SELECT max(seq) FROM inputs)",
            r"input \d+ of the record, or the input before it, was changed after the record was written",
            id="the last input changed",
        ),
        pytest.param(
            "DELETE FROM inputs WHERE seq >= (SELECT max(seq) FROM snapshots)",
            r"input \d+ is missing from the record, but the record has the snapshot after this input",
            id="the end cut off before the snapshot",
        ),
        pytest.param(
            "DELETE FROM inputs WHERE seq >= (SELECT max(input) FROM rounds)",
            r"input \d+ is missing from the record, but the record has the round that this input ended",
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
        ("INSERT INTO decided VALUES (2, 'none', 'tie')", "the rules that decided round 2 differ: "),
        ("UPDATE games SET rules = 'others'", "the game of round 1 differs: "),
        ("INSERT INTO games SELECT 7, name, rules, definition FROM games", "the game of round 7 differs: "),
        ("UPDATE expectations SET mean = 0.5 WHERE rule = 'tie'", "the expectations on the record do not follow from the rules of dragon-bonus-1"),
        ("UPDATE expectations SET wager = 'bancer' WHERE wager = 'banker' AND rule = ''", "expectations has a row that is of no game on the record: "),
        ("""UPDATE rounds SET record = replace(record, '"corrects"', '"corrdcts"') WHERE round = 2""", "round 2 differs"),
        ("UPDATE rounds SET round = 1000 WHERE round = 200", "round 200 differs: nothing on the record, "),
        ("UPDATE snapshots SET state = replace(state, 'mei', 'eve')", "the snapshot after input "),
    ],
)  # fmt: skip
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
        "INSERT INTO incidents SELECT input, 1, 'refused', 'not_now', 'no' FROM incidents WHERE kind = 'alarm'",
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
        "settlements has a row of round 999, but the rounds on the record are 1 to 200: restore a backup",
        id="a settlement",
    ),
    pytest.param(
        "INSERT INTO settlements VALUES (0, 7, 'tie', 'win', 100, 900, 800, 'tie', '0')",
        "settlements has a row of round 0, but the rounds on the record are 1 to 200: restore a backup",
        id="a settlement of round 0",
    ),
    pytest.param(
        "INSERT INTO decided VALUES (999, 'tie', 'tie')",
        "decided has a row of round 999, but the rounds on the record are 1 to 200: restore a backup",
        id="a rule that decided",
    ),
    pytest.param(
        "INSERT INTO games VALUES (999, 'eve', '', '{}')",
        "games has a row of round 999, but the rounds on the record are 1 to 200: restore a backup",
        id="a game",
    ),
    pytest.param(
        "INSERT INTO rounds SELECT 999, input, ts, game, shoe, coup, status, player, banker, player_total, "
        "banker_total, winner, record FROM rounds WHERE round = 5",
        "rounds has a row of round 999, but the rounds on the record are 1 to 200: restore a backup",
        id="a round",
    ),
    pytest.param(
        "INSERT INTO rounds SELECT -3, input, ts, game, shoe, coup, status, player, banker, player_total, "
        "banker_total, winner, record FROM rounds WHERE round = 5",
        "rounds has a row of round -3, but the rounds on the record are 1 to 200: restore a backup",
        id="a round before the first",
    ),
    pytest.param(
        "INSERT INTO inputs VALUES (0, '2026-01-01', 'eve', '{}', 'accepted', '', '', '')",
        "inputs has a row of input 0, but the inputs on the record are 1 to ",
        id="an input before the first",
    ),
    pytest.param(
        "INSERT INTO snapshots SELECT -1, state FROM snapshots LIMIT 1",
        "snapshots has a row of input -1, but the inputs on the record are 1 to ",
        id="a snapshot",
    ),
    pytest.param(
        "INSERT INTO progressive_rounds VALUES (0, 0, '', '', '', 1, 1, 1, '')",
        "progressive_rounds has a row of input 0, but the inputs on the record are 1 to ",
        id="a game of a progressive",
    ),
]


@pytest.mark.parametrize(("edit", "sentence"), sampled(NO_INPUT_GAVE, one_in=4))
async def test_a_replay_an_audit_and_a_start_find_a_row_that_no_input_gave(record, edit, sentence):
    with edited(record) as shell:
        shell.executescript(edit)

    for difference in (replay(record).difference, audit(record).difference):
        assert difference is not None
        assert difference.startswith(sentence)
    with pytest.raises(RecordError, match=sentence):
        await start_on(record)


def test_an_incident_of_an_input_that_had_none_is_counted(troubled):
    with edited(troubled) as shell:
        shell.execute("INSERT INTO incidents VALUES (1, 0, 'refused', 'not_now', 'no')")

    assert replay(troubled).difference == (
        "incidents has 5 rows, but 4 of them are of the inputs and rounds on the record"
    )


def test_rounds_before_the_first_do_not_stand_for_those_that_are_gone(record):
    with edited(record) as shell:
        shell.executescript("UPDATE rounds SET round = -1 WHERE round = 200")

    lost, *_, stray = replay(record).differences
    assert lost.startswith("round 200 differs: nothing on the record, ")
    assert stray.startswith("rounds has a row of round -1, ")


def _with_a_kind_twice(payload: str) -> str:
    return '{"kind":"card_drawn",' + payload[1:] if '"kind":"call_supervisor"' in payload else payload


async def test_an_input_with_a_key_twice_is_refused(troubled):
    rewrite(troubled, with_payload(_with_a_kind_twice))
    ((seq,),) = rows(troubled, "SELECT input FROM incidents WHERE code = 'supervisor_called'")
    sentence = f"input {seq} has the key kind twice, so programs read it differently: restore a backup"

    assert replay(troubled).difference == sentence
    with pytest.raises(RecordError, match=sentence):
        await start_on(troubled)


def test_an_input_is_compared_to_the_letter_if_this_program_wrote_it(troubled):
    rewrite(
        troubled,
        with_payload(lambda payload: payload.replace('{"who":"mei","reason"', '{"who": "mei","reason"')),
    )

    assert replay(troubled).difference is None
    assert " is not what version 0.1.0 writes for it: " in str(replay(troubled, version="0.1.0").difference)


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
def test_a_difference_is_reported_as_people_read_it(record, edit, sentence):
    with edited(record) as shell:
        shell.executescript(edit)

    assert replay(record).difference == sentence


def _reworded(record: Path) -> int:
    """Give an incident the words of another version, as that version would have written it, and return its input."""
    ((seq, kind, code),) = rows(record, "SELECT input, kind, code FROM incidents WHERE kind = 'alarm'")
    results = results_of([Row("incidents", (seq, 0, kind, code, "lunch"))])
    with edited(record) as shell:
        shell.execute("UPDATE incidents SET text = 'lunch' WHERE input = ?", (seq,))
    rewrite(
        record, lambda entry: entry.recorded._replace(results=results) if entry.seq == seq else entry.recorded
    )
    return int(seq)


async def test_the_words_of_an_incident_are_compared_where_this_program_wrote_them(tmp_path):
    record = tmp_path / "table.db"
    async with table(record, version="1") as here:
        await here.begin_shoe()
        await here.order(CallSupervisor("mei", "a dispute"))
    async with table(record, version="2"):
        pass
    assert replay(record, version="1") == replay(record, version="2")
    seq = _reworded(record)

    assert replay(record, version="1").difference == (
        f"the incidents of input {seq} differ: place 0 text: lunch on the record, a dispute by the inputs"
    )
    by_another = replay(record, version="2")
    assert (by_another.difference, by_another.reworded, by_another.versions) == (None, 1, ["1"])


@pytest.mark.parametrize("version", ["0.1.0", "2"])
def test_words_that_were_changed_since_are_found_by_every_version(troubled, version):
    with edited(troubled) as shell:
        shell.execute("UPDATE incidents SET text = 'lunch' WHERE kind = 'alarm'")

    ((seq,),) = rows(troubled, "SELECT input FROM incidents WHERE kind = 'alarm'")
    assert f"the rows of input {seq} are not those that the input's hash covers" in (
        replay(troubled, version=version).differences
    )


def test_the_command_replay_says_which_words_it_cannot_compare(troubled):
    _reworded(troubled)

    status, output = replayed(troubled)

    assert status == 0
    assert output.splitlines()[1] == (
        "the texts of 1 incidents differ from this program's. 0.1.0 wrote them, and only a replay by the same version can "
        "check them"
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

    for version in (None, "0.1.0"):
        assert (
            replay(record, version=version).difference
            == "round 2 differs: the JSON text differs, not its values"
        )


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

    assert replayed(record) == (1, "first difference: input 8 is missing from the record\n")


def test_an_expectation_that_is_gone_is_missed_by_the_version_that_wrote_it(record):
    with edited(record) as shell:
        shell.execute("DELETE FROM expectations WHERE rule = 'tie'")

    assert replay(record).difference is None
    sentence = "the expectations on the record do not follow from the rules of dragon-bonus-1"
    assert replay(record, version="0.1.0").difference == sentence


@pytest.mark.parametrize(
    ("text", "instead"),
    [
        (
            b"CREATE TABLE progressive_log",
            b"CREATE \xd4ABLE progressive_log",
        ),  # SQLite's error is then no UTF-8
        (b"banker_wins", b"banker\xffwins"),
        (b"PRIMARY KEY (input, place)", b"PRIMARY KEY (input, plaae)"),
    ],
)
async def test_a_changed_byte_is_reported_whatever_it_was(record, text, instead):
    content = record.read_bytes()
    assert text in content
    record.write_bytes(content.replace(text, instead))

    status, output = replayed(record)
    assert status in {1, 2}
    assert "Traceback" not in output
    if text != b"banker_wins":  # a start does not read all rows
        with pytest.raises(RecordError):
            await start_on(record)
