"""A witness on a broker with a table and its signer, each a process of its own."""

import os
import sqlite3
import sys
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest

from punto.controller.signing.heads import SignedHead
from punto.controller.signing.keys import SigningKey
from punto.messages.restricted import RestrictedHead
from punto.runtime.broker_link import Received
from punto.witness.config import WitnessConfig
from punto.witness.service import Witness
from punto.witness.store import WitnessStore, heads_of, restores_of
from tests.command import punto
from tests.controller.signing.test_signer import said
from tests.controller.table_in_this_process import rows
from tests.controller.table_on_a_machine import Broker, Listener, Program, Table, wait_until


def test_a_record_that_was_exchanged_with_the_signers_memory_is_found(tmp_path):
    """Who can write as the table and as the signer can sign anything, and cannot change what the witness has."""
    door, memory, kept = tmp_path / "signer.sock", tmp_path / "signed.db", tmp_path / "witness.db"
    config = tmp_path / "witness.toml"
    own = f"table-1={os.getuid()}"
    signs = ("--key", tmp_path / "key", "--signed", memory, "--socket", door, "--table", own)
    with (
        Broker(tmp_path) as broker,
        Listener(tmp_path, broker.port) as listener,
        Program(tmp_path / "signer.log", sys.executable, "-m", "punto", "signer", *signs) as signer,
        Table(tmp_path, broker) as table,
    ):
        wait_until(door.exists, "the signer is there")
        text = table.config.read_text().replace("[record]\n", f'[record]\nsigner = "{door}"\n')
        table.config.write_text(f"{text}restricted = true\n")  # a head that is not signed would be retained
        table.kill()
        with (
            closing(sqlite3.connect(table.record)) as record,
            closing(sqlite3.connect(tmp_path / "old.db")) as copy,
        ):
            record.backup(copy)
        config.write_text(
            f'version = 1\n[mqtt]\nport = {broker.port}\n[witness]\npath = "{kept}"\nkey = "{tmp_path}/witness.key"\n'
        )
        command = (sys.executable, "-m", "punto", "witness", "--config", config)
        with Program(tmp_path / "witness.log", *command):
            table.start()
            wait_until(
                lambda: kept.exists() and rows(kept, "SELECT count(*) FROM heads")[0][0], "a head is kept"
            )
            assert rows(kept, "SELECT count(*) FROM findings") == [(0,)]
            proven = punto("replay", str(table.record), "--witness", str(kept))
            assert proven.returncode == 0, proven.stderr
            assert "match the record\n" in proven.stdout
            assert f"their signer's key is {signer.said()[0].split()[-1]}" in proven.stdout

            for _ in range(20):
                table.ask(order="call_supervisor", reason="more inputs than follow later")
            wait_until(lambda: listener.heard("restricted/head")[-1].payload["seq"] > 20, "they are signed")
            table.kill()
            signer.kill()
            memory.unlink()
            (tmp_path / "old.db").replace(table.record)
            for name in ("-wal", "-shm"):
                Path(f"{table.record}{name}").unlink(missing_ok=True)
            signer.start()
            table.start()
            found = "SELECT kind FROM findings WHERE kind IN ('forked', 'behind')"
            wait_until(lambda: rows(kept, found), "the witness finds it")
            wait_until(
                lambda: [
                    each
                    for each in listener.heard()
                    if each.topic == "punto/house/witness" and each.payload["findings"]
                ],
                "it is reported to the house",
            )


class Here:
    """A witness in this process, with a clock that stands still, and tables that send to it."""

    def __init__(self, folder: Path, sent: int = 0) -> None:
        section = {"path": folder / "witness.db", "key": folder / "witness.key"}
        self.now = 0.0
        self.file = folder / "witness.db"
        self.store = WitnessStore(self.file, SigningKey.open(folder / "witness.key"))
        config = WitnessConfig.model_validate({"version": 1, "witness": section}, context=folder)
        self.witness = Witness(config, self.store, lambda: self.now)
        self._key = SigningKey.open(folder / "key")
        self._sent = count(sent)

    def head(self, table: str, seq: int, digit: str = "a", record: str = "aa") -> None:
        ts = f"2026-11-25T12:00:00.{next(self._sent):06}+00:00"
        signed = SignedHead.of(said(seq, digit, table=table, record=record, ts=ts).statement, self._key)
        told = signed.model_dump(exclude={"table"})
        message = RestrictedHead(id="x", seq=seq, **told).wire()
        self.witness.take(Received(f"punto/{table}/restricted/head", message, retained=False))

    def state(self, table: str, seq: int) -> None:
        self.witness.take(
            Received(f"punto/{table}/state", b'{"seq":%d,"phase":"betting"}' % seq, retained=False)
        )

    def rows(self, query: str) -> list[tuple[object, ...]]:
        return rows(self.file, query)


@pytest.fixture
def here(tmp_path):
    here = Here(tmp_path)
    with here.store:
        yield here


def test_a_table_that_floods_costs_no_other_table_anything(here, monkeypatch):
    """With record names of its own making, each of which was kept at once."""
    checked: list[str] = []
    holds = SignedHead.holds

    def counted(told: SignedHead) -> bool:
        checked.append(told.table)
        return holds(told)

    monkeypatch.setattr(SignedHead, "holds", counted)
    for n in range(6000):
        here.head("t1", 1 + n, record=f"r{n}" if n % 2 else "aa")
        here.state("t1", n)
    here.head("t2", 7)

    assert checked.count("t1") <= 20
    kept = dict(here.rows('SELECT "table", count(*) FROM heads GROUP BY 1'))
    assert kept == {"t1": 8, "t2": 1}
    assert {kind for (kind,) in here.rows("SELECT kind FROM findings")} == {"other_record", "flood"}
    for n in range(2000):
        here.now += 1
        here.head("t1", 2 + n, record=f"r{n % 8}")
    assert here.rows("SELECT count(*) FROM heads WHERE \"table\" = 't1'")[0][0] <= 8 + 2000 / 60 + 1


def test_each_rollback_is_noted_and_their_number_is_bounded(here):
    here.head("t1", 56)
    for seq in (55, 30, 5):
        here.now += 10
        here.head("t1", seq)
    noted = here.rows("SELECT text FROM findings WHERE kind = 'behind'")
    assert [text.partition("input ")[2][:2] for (text,) in noted] == ["55", "30", "5,"]
    assert [each.kind for each in here.witness.report().findings] == ["behind"]
    for n in range(3000):
        here.now += 1
        here.head("t2", 5000 - n)
    assert 40 < here.rows("SELECT count(*) FROM findings")[0][0] < 70


def test_the_last_head_before_a_pause_is_kept_too(here):
    for seq in (5, 6, 6, 6):
        here.head("t1", seq)
        here.now += 30

    assert here.rows("SELECT seq FROM heads") == [(5,), (6,)]


def test_a_head_that_stands_still_while_the_table_deals_is_reported(here):
    for n in range(10):
        here.head("t1", 56)
        here.state("t1", 56 + n)
        here.witness.look()
        here.now += 10
    assert here.rows("SELECT kind FROM findings") == [("late",)]
    here.head("t1", 70)
    here.state("without-heads", 7)
    here.now += 10
    here.witness.look()
    assert here.witness.report().findings == ()
    assert here.witness.report().tables == 1
    here.now += 100
    here.witness.look()
    assert [each.kind for each in here.witness.report().findings] == ["silent"]


def test_one_invented_state_makes_no_table_late_for_ever_and_hides_nothing_later(here):
    here.head("t1", 100)
    here.state("t1", 10**17)
    for n in range(1, 6):
        here.now += 1
        here.state("t1", 100 + n)
        here.head("t1", 100 + n)
    here.now += 40
    here.head("t1", 105)
    here.witness.look()
    ((kind, text),) = here.rows("SELECT kind, text FROM findings")
    assert (kind, "input 100000000000000000 and then input 101" in text) == ("withdrawn", True)

    here.state("t1", 106)
    here.state("t1", 10**17)
    for _ in range(7):
        here.now += 10
        here.head("t1", 105)
        here.witness.look()
    assert {each.kind for each in here.witness.report().findings} == {"withdrawn", "late"}


def test_a_restore_is_noted_at_the_witness_and_its_record_goes_on(tmp_path, here):
    """And what the record had before is still in the file, and not compared with the record."""
    for seq in (20, 40, 56):
        here.head("t1", seq)
        here.now += 100
    config = tmp_path / "witness.toml"
    config.write_text(
        f'version = 1\n[witness]\npath = "{here.file}"\nkey = "{tmp_path}/witness.key"\n', encoding="utf-8"
    )
    note = (
        "witness",
        "--config",
        str(config),
        "--restored",
        "t1",
        "--reason",
        "mei and tove, of noon",
        "--head",
    )
    digits = "a" * 64

    assert "give --restored, --head and --reason together" in punto(*note[:-1]).stderr
    for head, why in (
        (f"60:{digits}", "no head of t1 after input 60"),
        (f"40:{'b' * 64}", "another hash of input 40"),
    ):
        refused = punto(*note, head)
        assert (refused.returncode, why in refused.stderr) == (1, True)
    done = punto(*note, f"41:{digits}")
    assert done.stdout == "noted: t1 was restored up to input 41, and 1 later heads are set aside\n"

    again = Here(tmp_path, sent=100)
    with again.store:
        for seq, digit in ((41, "a"), (50, "b"), (56, "b"), (60, "b"), (40, "a")):
            again.head("t1", seq, digit)
            again.now += 100
        again.head("t1", 41, "c")
    assert [kind for (kind,) in again.rows("SELECT kind FROM findings")] == ["behind"]
    assert [each.told.at.seq for each in heads_of(here.file, "aa")] == [20, 40, 41, 50, 56, 60]
    assert all(each.holds() for each in heads_of(here.file, "aa"))
    assert [(str(each.head), each.reason, each.aside) for each in restores_of(here.file, "aa")] == [
        (f"41:{digits}", "mei and tove, of noon", 1)
    ]
    assert (56, "a" * 64) in again.rows("SELECT seq, hash FROM heads")
