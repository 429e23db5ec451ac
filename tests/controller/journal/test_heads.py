"""A record is held against the hashes that were noted of it elsewhere."""

from pathlib import Path

import pytest

from punto.commands.cli import main
from punto.controller.journal import store
from punto.controller.journal.audit import audit
from punto.controller.journal.entries import FIRST_LINK, Head
from punto.controller.journal.recovery import replay
from tests.controller.journal.records import call, start_on
from tests.controller.table_in_this_process import edited, rows, table
from tests.controller.table_on_a_machine import (
    replayed,
)


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
    assert f"the inputs up to {head.seq} match the noted hash" in output


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
    sentence = f"input {head.seq} does not have the noted hash: this input or an earlier one was changed, and all later hashes were computed again"

    assert replay(record, noted=[head]).difference == sentence
    assert audit(record, noted=[head]).difference == sentence
    status, output = replayed(record, "--head", str(head))
    assert (status, output.splitlines()[-1]) == (1, f"first difference: {sentence}")
    assert main(["progressive", "audit", str(record), "--head", str(head)]) == 1


def test_a_record_that_was_cut_off_behind_what_follows_is_found_by_a_head_that_was_noted(short):
    head = head_of(short)
    with edited(short) as shell:
        shell.execute("DELETE FROM inputs WHERE seq = ?", (head.seq,))
        for name in ("settlements", "decided", "rounds"):
            shell.execute(f"DELETE FROM {name} WHERE round = 2")  # noqa: S608 - literals
    assert replay(short).difference is None

    assert replay(short, noted=[head]).difference == (
        f"the noted head belongs to input {head.seq}, but the record ends with input {head.seq - 1}"
    )


@pytest.mark.parametrize(
    "text", ["12", "12:ab", f"x:{'0' * 64}", f"0:{'0' * 64}", f"12:{'G' * 64}", f"-3:{'0' * 64}"]
)
def test_what_is_not_a_head_is_refused_with_how_to_write_one(record, text):
    status, output = replayed(record, f"--head={text}")

    assert status == 2
    assert f"{text} is not an input's number and hash: write them as 2817:9f86…, with all 64 digits" in output


async def test_the_head_is_of_what_is_on_the_disk(tmp_path):
    record = tmp_path / "table.db"
    async with table(record) as here:
        assert here.journal.head == head_of(record)
        await here.begin_shoe()
        assert here.journal.head == head_of(record)
        waiting = here.journal.append([call(here), call(here)], None, lambda: None)
        assert here.journal.head.seq == here.journal.last_seq - 2
        await waiting
        assert here.journal.head == head_of(record)
