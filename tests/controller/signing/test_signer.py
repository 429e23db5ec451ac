"""The signer of heads: what it signs and refuses, and a table whose record it signs."""

import asyncio
import json
import os
import pwd
import shutil
import sqlite3
import sys
import time
import tomllib
from collections.abc import Awaitable, Callable
from contextlib import closing, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from punto.baccarat.table.events import SessionEnded
from punto.baccarat.table.state import TableState
from punto.controller import local_socket
from punto.controller.config.sections import TableConfig
from punto.controller.journal.entries import FIRST_LINK, Entry, Head, Recorded
from punto.controller.journal.execution import Step
from punto.controller.journal.journal import Journal
from punto.controller.local_socket import Limits
from punto.controller.signing import head_signer
from punto.controller.signing.head_signer import HeadSigner, ask
from punto.controller.signing.heads import SignedHead
from punto.controller.signing.keys import KeyFileError, SigningKey
from punto.controller.signing.signer import (
    LONGEST_REQUEST,
    MOST_RECORDS,
    HeadRequest,
    Refused,
    Signer,
)
from punto.runtime.table_ids import LONGEST_ID
from tests.command import punto
from tests.controller.table_in_this_process import HERE, rows, settings
from tests.controller.table_on_a_machine import Broker, Listener, Program, Table, wait_until
from tests.deadline import DEADLINE

TS = "2026-11-25T12:00:00.000000+00:00"
NOW = datetime.fromisoformat(TS)
USERS = {"t1": 1000, "t2": 1001}


def said(seq: int, digit: str = "a", **changes: Any) -> HeadRequest:
    """A statement of a head whose hash has this digit only."""
    return HeadRequest(**{"table": "t1", "record": "aa", "head": f"{seq}:{digit * 64}", "ts": TS, **changes})


def record(last: int, **payloads: str) -> list[tuple[Recorded, Head]]:
    """The inputs of a record up to `last` with their heads; `i7` is another payload of the input 7."""
    found, link = [], FIRST_LINK
    for seq in range(1, last + 1):
        told = Recorded(TS, "shoe", payloads.get(f"i{seq}", f"input {seq}"))
        link = Entry(seq, told).chained_to(link)
        found.append((told, Head(seq, link)))
    return found


def steps(inputs: list[tuple[Recorded, Head]]) -> list[Step]:
    """The same inputs, as a service would give them to the record."""
    event, state = SessionEnded("mei", "signed off"), TableState(settings=settings())
    return [
        Step(entry=Entry(head.seq, told), hash=head.hash, event=event, state=state) for told, head in inputs
    ]


def asked(inputs: list[tuple[Recorded, Head]], since: int = 0, first: int | None = None) -> HeadRequest:
    """A statement of the last head of these inputs, with those after `first`, which is `since` unless it is given."""
    sent = inputs[since if first is None else first :]
    return said(1, head=str(inputs[-1][1]), since=since, inputs=tuple(told for told, _ in sent))


def opened(folder: Path, now: datetime = NOW) -> Signer:
    return Signer(SigningKey.open(folder / "key"), folder / "signed.db", USERS, lambda: now)


@pytest.fixture
def signer(tmp_path):
    with opened(tmp_path) as signer:
        yield signer


def refusal(answer: SignedHead | Refused) -> str | None:
    return answer.refused if isinstance(answer, Refused) else None


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
    ("statement", "refused"),
    [
        (asked(record(10)), None),
        (asked(record(12), 10), None),
        (asked(record(12)), "since"),
        (asked(record(12), 10, 11), "since"),
        (asked(record(12), 9), "since"),
        (asked(record(12, i3="a wager of 50,000"), 10), "forked"),
        (asked(record(12, i10="a wager of 50,000"), 10), "forked"),
        (said(12, "b", since=10, inputs=(Recorded("", "", ""),) * 2), "forked"),
        (asked(record(10, i3="a wager of 50,000")), "forked"),
        (asked(record(12, i11="what a false input is from now on"), 10), None),
        (asked(record(9)), "behind"),
        (said(1, record="bb"), None),
    ],
)
def test_what_was_signed_cannot_be_taken_back(tmp_path, statement, refused):
    with opened(tmp_path) as signer:
        signer.sign(asked(record(10)), 1000)
    with opened(tmp_path) as after_a_start:
        assert refusal(after_a_start.sign(statement, 1000)) == refused


@pytest.mark.parametrize(
    ("table", "user", "refused"),
    [
        ("t1", 1001, "user"),
        ("t2", 1001, None),
        ("t2", 1000, "user"),
        ("t3", 1000, "user"),
        ("t1 ", 1000, "user"),
        ("own", 4711, None),
        ("own", 1000, "user"),
    ],
)
def test_each_table_has_one_user(signer, monkeypatch, table, user, refused):
    """Without an entry for the table, it is the user of its unit."""
    own = pwd.struct_passwd(("punto-own", "x", 4711, 4711, "", "/", "/"))
    monkeypatch.setattr(pwd, "getpwnam", lambda name: {"punto-own": own}[name])

    assert refusal(signer.sign(said(1, table=table), user)) == refused


@pytest.mark.parametrize(
    ("ts", "refused"),
    [
        ("2026-11-25T12:01:59.000000+00:00", None),
        ("2026-11-25T12:02:01.000000+00:00", "clock"),
        ("2020-01-01T00:00:00.000000+00:00", "clock"),
    ],
)
def test_only_the_present_time_is_signed(signer, ts, refused):
    assert refusal(signer.sign(said(1, ts=ts), 1000)) == refused


def test_a_table_that_fills_the_memory_fills_its_own_part(signer):
    answers = [refusal(signer.sign(said(1, record=f"r{n}"), 1000)) for n in range(MOST_RECORDS + 1)]

    assert answers == [None] * MOST_RECORDS + ["full"]
    assert refusal(signer.sign(said(1, table="t2"), 1001)) is None


def test_after_a_restore_the_signer_forgets_by_an_order_that_stays_in_its_file(tmp_path):
    with opened(tmp_path) as signer:
        signer.sign(asked(record(10)), 1000)
        assert refusal(signer.sign(asked(record(6)), 1000)) == "behind"
    command = ("--key", tmp_path / "key", "--signed", tmp_path / "signed.db", "--socket", tmp_path / "s")
    order = ("signer", *map(str, command), "--forget", "t1")

    assert "give --forget and --reason together" in punto(*order).stderr
    with opened(tmp_path):
        busy = punto(*order, "--reason", "mei and tove restored the backup of noon")
        assert busy.returncode == 1
        assert "another program has a lock on the file of what was signed, which is undamaged" in busy.stderr
    done = punto(*order, "--reason", "mei and tove restored the backup of noon")
    assert (done.returncode, done.stdout) == (0, f"forgotten: {record(10)[-1][1]}\n")
    with opened(tmp_path) as signer:
        assert refusal(signer.sign(asked(record(6)), 1000)) is None
        assert refusal(signer.sign(asked(record(7), 6), 1000)) is None
    with closing(sqlite3.connect(tmp_path / "signed.db")) as memory:
        noted = memory.execute('SELECT reason, "table", record, seq, hash FROM forgotten').fetchall()
    assert noted == [("mei and tove restored the backup of noon", "t1", "aa", *record(10)[-1][1])]


async def test_a_user_who_asks_without_end_waits_and_others_do_not(signer):
    line = said(1).model_dump_json().encode()
    flood = asyncio.gather(*(signer.answer(line, 1000) for _ in range(60)))
    began = time.monotonic()
    await signer.answer(said(1, table="t2").model_dump_json().encode(), 1001)
    assert not flood.done()
    await flood
    assert time.monotonic() - began > 0.9


@pytest.mark.punctual
async def test_silent_connections_of_one_user_end_and_keep_no_place(signer, tmp_path):
    door = local_socket.open_at(tmp_path / "door", 0o600)
    serving = asyncio.create_task(local_socket.serve(door, signer, Limits(3, 0.3)))
    silent = [await asyncio.open_unix_connection(tmp_path / "door") for _ in range(4)]

    refused = Refused.model_validate_json(await asyncio.wait_for(silent[3][0].read(), DEADLINE))
    assert refused.text == "this user has 3 connections here: close one of them"
    assert [await asyncio.wait_for(reader.read(), DEADLINE) for reader, _ in silent[:3]] == [b""] * 3
    answer = await ask(tmp_path / "door", said(1))
    assert refusal(answer) == ("user" if os.getuid() != USERS["t1"] else None)
    for _, writer in silent:
        writer.close()
    serving.cancel()
    await asyncio.gather(serving, return_exceptions=True)


@pytest.fixture
async def journal(tmp_path):
    """A record with 40 inputs, open."""
    journal = Journal.open(tmp_path / "table.db")
    journal.start(0)
    for step in steps(record(40)):
        await journal.append([step], None, lambda: None)
    yield journal
    await journal.close()


async def asks(folder: Path, journal: Journal, answer: Callable[[bytes], Awaitable[bytes]]) -> HeadSigner:
    """A table with this record that has asked once, at a socket that answers so."""

    class Door:
        longest = LONGEST_REQUEST

        async def answer(self, line: bytes, _: int) -> bytes:
            return await answer(line)

        def unreadable(self, reason: str) -> bytes:
            raise AssertionError(reason)

    async def differs(reason: str) -> None:
        raise AssertionError(reason)

    here = HeadSigner(folder / "door", "t1", journal, lambda: None, differs)
    serving = asyncio.create_task(local_socket.serve(local_socket.open_at(here.door, 0o600), Door()))
    await here.sign()
    serving.cancel()
    await asyncio.gather(serving, return_exceptions=True)
    return here


async def test_a_signer_that_was_away_gets_the_inputs_in_parts(tmp_path, journal, monkeypatch):
    monkeypatch.setattr(head_signer, "_PART_BYTES", 1000)
    signer = opened(tmp_path, datetime.now(UTC))
    name = await journal.name()
    now = datetime.now(UTC).isoformat()
    signer.sign(said(0, head=str(record(3)[-1][1]), record=name, ts=now), 1000)
    parts = []

    async def answer(line: bytes) -> bytes:
        parts.append(len(HeadRequest.model_validate_json(line).inputs))
        answer: bytes = await signer.answer(line, 1000)
        return answer

    here = await asks(tmp_path, journal, answer)
    assert here.signed is not None
    assert here.signed.at == journal.head == record(40)[-1][1]
    assert parts[0] == 0
    assert sum(parts) == 37
    assert max(parts) < 10
    signer.__exit__()


@pytest.mark.parametrize("seq", ["-1" + "0" * 30, "1" + "0" * 30, "0", "39", "41", "999999999999999999"])
async def test_a_hostile_signer_ends_no_service(tmp_path, journal, seq):
    answers = 0

    async def answer(_: bytes) -> bytes:
        nonlocal answers
        answers += 1
        return b'{"refused":"since","text":"x","seq":%s}' % seq.encode()

    here = await asks(tmp_path, journal, answer)
    assert here.health().reason
    assert answers <= 2
    (*_, step) = steps(record(41))
    await journal.append([step], None, lambda: None)


@pytest.mark.parametrize(("length", "valid"), [(LONGEST_ID, True), (LONGEST_ID + 1, False)])
def test_an_id_that_is_valid_in_the_configuration_is_valid_in_a_head(length, valid):
    written = tomllib.loads((HERE / "configs" / "table.toml").read_text(encoding="utf-8"))["table"]
    for make in (
        lambda: TableConfig(**{**written, "id": "t" * length}),
        lambda: said(1, table="t" * length),
    ):
        with nullcontext() if valid else pytest.raises(ValidationError, match="at most 64"):
            make()


async def test_a_line_that_is_not_a_statement_is_refused(signer):
    for line in (
        b"\n",
        b"{}\n",
        b'{"table": "t\\n1"}\n',
        said(3).model_dump_json().replace("aa", "a\\na").encode(),
    ):
        assert json.loads(await signer.answer(line, 0))["refused"] == "unreadable"


def full_disk(_: int) -> None:
    raise OSError(28, "No space left on device")


def test_a_key_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    """A power cut while it is made must not leave a file without a key."""
    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(KeyFileError, match="cannot be read or made: No space left"):
        SigningKey.open(tmp_path / "key")
    assert not list(tmp_path.iterdir())
    monkeypatch.undo()
    assert SigningKey.open(tmp_path / "key").public == SigningKey.open(tmp_path / "key").public
    assert [(each.name, each.stat().st_mode & 0o777) for each in tmp_path.iterdir()] == [("key", 0o600)]


def test_an_empty_key_says_what_to_do(tmp_path):
    (tmp_path / "key").touch()
    with pytest.raises(KeyFileError, match="is empty: put its copy there, or remove the file"):
        SigningKey.open(tmp_path / "key")


def test_a_file_that_is_not_a_key_is_not_used(tmp_path):
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
    command = (
        *("--key", tmp_path / "key", "--signed", tmp_path / "signed.db", "--socket", door),
        *("--table", f"table-1={os.getuid()}"),
    )
    with (
        Program(tmp_path / "signer.log", sys.executable, "-m", "punto", "signer", *command) as signer,
        Broker(tmp_path) as broker,
        Listener(tmp_path, broker.port) as listener,
        Table(tmp_path, broker) as table,
    ):
        wait_until(door.exists, "the signer is there")
        text = table.config.read_text().replace("[record]\n", f'[record]\nsigner = "{door}"\n')
        table.config.write_text(f"{text}restricted = true\n")  # a head that is not signed would be retained
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
