"""A witness on a broker with a table and its signer, each a process of its own."""

import sqlite3
import sys
from contextlib import closing
from pathlib import Path

from tests.command import punto
from tests.service.table_in_this_process import rows
from tests.service.table_on_a_machine import Broker, Listener, Program, Table, wait_until


def test_a_record_that_was_exchanged_with_the_signers_memory_is_found(tmp_path):
    """Who can write as the table and as the signer can sign anything, and cannot change what the witness has."""
    door, memory, kept = tmp_path / "signer.sock", tmp_path / "signed.db", tmp_path / "witness.db"
    config = tmp_path / "witness.toml"
    signs = ("--key", tmp_path / "key", "--signed", memory, "--socket", door)
    with (
        Broker(tmp_path) as broker,
        Listener(tmp_path, broker.port) as listener,
        Program(tmp_path / "signer.log", sys.executable, "-m", "punto", "signer", *signs) as signer,
        Table(tmp_path, broker, sections="restricted = true\n") as table,
    ):
        text = table.config.read_text().replace("[record]\n", f'[record]\nsigner = "{door}"\n')
        table.config.write_text(text)
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
