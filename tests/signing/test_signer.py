"""The signer of heads: what it signs and refuses, and a table whose record it signs."""

import json
import shutil
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from punto.controller.signing.heads import SignedHead
from punto.controller.signing.keys import KeyFileError, SigningKey
from punto.controller.signing.signer import HeadRequest, Refused, Signer
from tests.command import punto
from tests.service.table_in_this_process import rows
from tests.service.table_on_a_machine import Broker, Listener, Program, Table, wait_until

LAST = f"10:{'a' * 64}"
TS = "2026-11-25T12:00:00.000000+00:00"


def said(seq: int, digit: str = "a", **changes: str) -> HeadRequest:
    """A statement of a head whose hash has this digit only."""
    return HeadRequest(**{"table": "t1", "record": "aa", "head": f"{seq}:{digit * 64}", "ts": TS, **changes})


@pytest.fixture
def signer(tmp_path):
    with Signer(SigningKey.open(tmp_path / "key"), tmp_path / "signed.db") as signer:
        yield signer


def test_a_signed_head_holds_and_no_other_one_does(tmp_path, signer):
    signed = signer.sign(said(5), 1000)
    assert isinstance(signed, SignedHead)
    assert signed.holds()

    for changed in (
        {"head": f"6:{'a' * 64}"},
        {"table": "t2"},
        {"record": "ab"},
        {"ts": TS.replace("12", "13")},
    ):
        assert not signed.model_copy(update=changed).holds()
    other = SigningKey.open(tmp_path / "other")
    assert not signed.model_copy(update={"key": other.public}).holds()
    assert not signed.model_copy(update={"signature": "=" * 88}).holds()


@pytest.mark.parametrize(
    ("statement", "user", "refused"),
    [
        (said(10, since=LAST), 1000, None),
        (said(11, "b", since=LAST), 1000, None),
        (said(11, "b"), 1000, "since"),
        (said(11, "b", since=LAST.replace("10:", "9:")), 1000, "since"),
        (said(11, "b", since=LAST.replace("a", "b")), 1000, "forked"),
        (said(10, "b", since=LAST), 1000, "forked"),
        (said(9, since=LAST), 1000, "behind"),
        (said(11, "b", since=LAST), 1001, "user"),
        (said(1, record="bb"), 1000, None),
        (said(1, record="bb"), 1001, "user"),
        (said(1, table="t2"), 1001, None),
    ],
)
def test_what_was_signed_cannot_be_taken_back(tmp_path, signer, statement, user, refused):
    signer.sign(said(10), 1000)
    with Signer(SigningKey.open(tmp_path / "key"), tmp_path / "signed.db") as after_a_start:
        answer = after_a_start.sign(statement, user)

    assert (answer.refused if isinstance(answer, Refused) else None) == refused


async def test_a_line_that_is_no_statement_is_refused(signer):
    for line in (
        b"\n",
        b"{}\n",
        b'{"table": "t\\n1"}\n',
        said(3).model_dump_json().replace("aa", "a\\na").encode(),
    ):
        assert json.loads(await signer.answer(line, 0))["refused"] == "unreadable"


def test_a_file_that_is_no_key_is_not_used(tmp_path):
    (tmp_path / "key").write_text("no key")
    with pytest.raises(KeyFileError, match="is not a key: give another path"):
        SigningKey.open(tmp_path / "key")
    ran = punto(
        "signer",
        "--key",
        str(tmp_path / "key"),
        "--signed",
        str(tmp_path / "s"),
        "--socket",
        str(tmp_path / "d"),
    )
    assert ran.returncode == 1
    assert ran.stderr.startswith(f"punto signer: {tmp_path / 'key'} is not a key")


def test_the_heads_of_a_running_table_are_signed_and_a_record_that_was_cut_off_is_reported(tmp_path):
    door = tmp_path / "signer.sock"
    command = ("--key", tmp_path / "key", "--signed", tmp_path / "signed.db", "--socket", door)
    with (
        Program(tmp_path / "signer.log", sys.executable, "-m", "punto", "signer", *command) as signer,
        Broker(tmp_path) as broker,
        Listener(tmp_path, broker.port) as listener,
        Table(tmp_path, broker, sections="restricted = true\n") as table,
    ):
        wait_until(door.exists, "the signer is there")
        text = table.config.read_text().replace("[record]\n", f'[record]\nsigner = "{door}"\n')
        table.config.write_text(text)
        table.kill()
        with (
            closing(sqlite3.connect(table.record)) as record,
            closing(sqlite3.connect(tmp_path / "before.db")) as copy,
        ):
            record.backup(copy)
        table.start()
        wait_until(
            lambda: [each for each in listener.heard("restricted/head") if each.payload["signature"]],
            "a signed head",
        )
        last = listener.heard("restricted/head")[-1].payload
        signed = SignedHead(
            table="table-1", **{name: last[name] for name in ("record", "head", "ts", "key", "signature")}
        )
        assert signed.holds()
        assert signed.key in signer.said()[0]
        table.kill()
        table.start()  # the same record goes on
        for _ in range(3):
            table.ask(order="call_supervisor", reason="more inputs than were cut off")
        count = len(listener.heard("restricted/head"))
        wait_until(
            lambda: len(listener.heard("restricted/head")) > count + 1,
            "the heads of the same record are signed",
        )
        assert rows(table.record, "SELECT count(*) FROM incidents WHERE code = 'record_differs'") == [(0,)]
        table.kill()
        shutil.copy(tmp_path / "before.db", table.record)
        for name in ("-wal", "-shm"):
            Path(f"{table.record}{name}").unlink(missing_ok=True)
        table.start()
        found = "SELECT text FROM incidents WHERE code = 'record_differs'"
        wait_until(lambda: rows(table.record, found), "the alarm")

    assert rows(table.record, found)[0][0].startswith("the signer of heads refuses this record, ")
