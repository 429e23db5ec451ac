"""A table as it stands on a machine, with `punto keypad` at its line: the real programs, Mosquitto, and the record."""

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.controller.table_on_a_machine import (
    HERE,
    Broker,
    Listener,
    Program,
    Shoe,
    Table,
    inputs,
    replayed,
    wait_until,
)
from tests.started import Started

NOBODY = "no operator is signed on at this table: sign on at the console first"


class Keypad(Program):
    """A `punto keypad` at the end of `link`."""

    def __init__(self, link: Path, *options: str) -> None:
        self.link = link
        super().__init__(
            link.with_name("keypad.log"),
            sys.executable,
            "-m",
            "punto",
            "keypad",
            "--link",
            link,
            *options,
        )

    def start(self) -> None:
        with self.log.open("ab") as log:
            self._process = Started(self._command, cwd=HERE, stdin=subprocess.PIPE, stdout=log, stderr=log)
        wait_until(self.link.is_symlink, "the keypad has its line")

    def kill(self) -> None:
        super().kill()
        if self.process.stdin is not None:
            self.process.stdin.close()

    def do(self, words: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{words}\n".encode())
        self.process.stdin.flush()

    def type(self, keys: str) -> str:
        """Press keys, and wait for the answer to each; the last one."""
        said = len(self.said())
        self.do(keys)
        wait_until(lambda: len(self.said()) >= said + len(keys.split()), f"{keys} is answered")
        return self.said()[-1]


@pytest.fixture
def broker(tmp_path):
    with Broker(tmp_path) as broker:
        yield broker


@contextmanager
def with_keypad(table: Table, link: Path, *options: str):
    with table, Keypad(link, *options) as keypad:
        yield keypad


def from_keypad(record: Path) -> list[dict[str, Any]]:
    with closing(sqlite3.connect(f"file:{record}?mode=ro", uri=True)) as database:
        found = database.execute("SELECT payload FROM inputs WHERE source = 'keypad' ORDER BY seq").fetchall()
    return [json.loads(payload) for (payload,) in found]


def device(listener: Listener) -> tuple[str, str]:
    last = listener.last("devices/keypad") or {"state": "none", "reason": ""}
    return last["state"], last["reason"]


def test_a_dealer_works_the_table_from_the_keypad(tmp_path, broker):
    link = tmp_path / "keypad"
    table = Table(
        tmp_path,
        broker,
        settings='betting_closes = "order"\nnext_coup = "order"',
        sections=f'[keypad]\nport = "{link}"\n',
    )
    with Listener(tmp_path, broker.port) as listener, with_keypad(table, link) as keypad:
        wait_until(lambda: device(listener) == ("online", "connected"), "the keypad is published")
        assert (listener.last("devices/keypad") or {})["serial"] == "VK-000001"
        assert (listener.last("health") or {})["links"]["keypad"].keys() > {"presses", "duplicates"}
        assert keypad.type("F1") == f"F1 refused: {NOBODY}"
        with Shoe(table.port, "--seed", "7"):
            table.begin_shoe()
            wait_until(lambda: table.status()["phase"] == "betting", "the burn is done")
            assert keypad.type("ENTER") == "ENTER refused: not now: betting is open"
            assert keypad.type("F2") == "F2 done: no more wagers"
            wait_until(lambda: table.status()["phase"] == "settled", "the hand is over")
            assert keypad.type("F1") == "F1 done: betting is open"

        keypad.do("unplug")
        wait_until(lambda: device(listener)[0] == "offline", "the loss is published")
        keypad.do("plug")
        wait_until(lambda: device(listener)[0] == "online", "the keypad is back")
        assert keypad.type("F12") == "F12 done: a supervisor is called"

    orders = from_keypad(table.record)
    who = {event["who"] for event in orders}
    assert [event["kind"] for event in orders] == ["close_betting", "open_betting", "call_supervisor"]
    assert who == {inputs(table.record, "sign_on")[0]["who"]}
    assert replayed(table.record)[0] == 0


@pytest.mark.soak
def test_a_service_that_is_killed_finds_its_keypad_again(tmp_path):
    link = tmp_path / "keypad"
    table = Table(tmp_path, None, sections=f'[keypad]\nport = "{link}"\n')
    with with_keypad(table, link, "--fault", "drop=0.1", "--fault", "double=0.3") as keypad:
        # On a busy machine a press may come too late on such a line: then it is pressed again.
        wait_until(lambda: keypad.type("F1") == f"F1 refused: {NOBODY}", "the press arrives")
        table.kill()
        table.start()
        wait_until(lambda: keypad.type("F1") == f"F1 refused: {NOBODY}", "the press arrives again")


def test_the_configuration_keypad_is_reported_and_ignored(tmp_path, broker):
    pad = tmp_path / "configuration-pad"
    table = Table(
        tmp_path, broker, settings='burn = "none"', sections=f'[configuration_keypad]\npath = "{pad}"\n'
    )
    with Listener(tmp_path, broker.port) as listener, table:
        wait_until(lambda: listener.heard("availability"), "the table is at the broker")
        os.mkfifo(pad)  # whatever is there: nobody opens it, or the service would hang on it
        wait_until(lambda: inputs(table.record, "configuration_keypad"), "it is on the record")
        assert table.status()["overlays"] == ["shoe_offline"]
        table.begin_shoe()

        assert "configuration_keypad" in table.status()["overlays"]
        wait_until(
            lambda: (
                [
                    message.payload["happening"]["code"]
                    for message in listener.heard("event")
                    if message.payload["happening"]["kind"] == "alarm_raised"
                ]
                == ["configuration_keypad"]
            ),
            "the alarm is published",
        )
        pad.unlink()
        wait_until(lambda: "configuration_keypad" not in table.status()["overlays"], "it is gone")

    assert [(event["attached"], event["path"]) for event in inputs(table.record, "configuration_keypad")] == [
        (True, str(pad)),
        (False, str(pad)),
    ]
    assert replayed(table.record)[0] == 0
