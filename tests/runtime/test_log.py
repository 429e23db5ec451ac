"""What the log of a service says, and that it never holds a table up."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.controller.table_on_a_machine import Shoe, Table, rounds, wait_until
from tests.deadline import DEADLINE
from tests.ports import free_port

HERE = Path(__file__).parents[2]


def logged(table: Table) -> list[dict[str, Any]]:
    return [json.loads(line) for line in table.said()]


def test_a_log_has_the_hands_and_what_was_out_of_the_ordinary_and_each_end(tmp_path):
    table = Table(tmp_path, None)
    with Shoe(table.port, "--pace", "0.01", "--seed", "log"):
        table.start()
        table.begin_shoe()
        wait_until(lambda: len(rounds(table.record)) >= 2, "two hands")
        table.order("call_supervisor", reason="a dispute")
        assert table.stop() == 0
    found = logged(table)
    hand = next(each for each in found if each["event"] == "coup ended")

    assert found[0]["event"] == "table recovered"
    assert (hand["round"], hand["level"]) == (1, "info")
    assert hand.keys() >= {"winner", "player_total", "banker_total", "natural"}
    alarm = next(each for each in found if each["event"] == "alarm")
    assert (alarm["code"], alarm["text"], alarm["level"]) == ("supervisor_called", "a dispute", "warning")
    assert (found[-1]["event"], found[-1]["reason"]) == ("table ended", "the service was stopped")


def test_the_log_names_where_the_consoles_are(tmp_path):
    port = free_port()
    with Table(tmp_path, None, sections=f"[console]\nport = {port}\n") as table:
        wait_until(lambda: "consoles open" in table.log.read_text(encoding="utf-8"), "the consoles are open")
        assert table.stop() == 0
    (line,) = (each for each in logged(table) if each["event"] == "consoles open")

    assert line["address"] == f"http://127.0.0.1:{port}/"


@pytest.mark.parametrize(("level", "events"), [("warning", {"alarm"}), ("error", set())])
def test_what_is_logged_can_be_chosen(tmp_path, level, events):
    table = Table(tmp_path, None, options=("--log-level", level))
    with table:
        table.order("sign_on")
        table.order("call_supervisor", reason="a dispute")
        table.stop()

    assert {each["event"] for each in logged(table)} - {"shoe lost"} == events


def test_a_signal_lowers_the_level_while_a_table_runs_and_another_takes_it_back(tmp_path):
    table = Table(tmp_path, None, options=("--log-level", "error"))

    def changes(to: str) -> bool:
        return f'"to": "{to}", "event": "log level changed"' in table.log.read_text(encoding="utf-8")

    with table:
        table.order("sign_on")
        table.process.send_signal(signal.SIGUSR1)
        wait_until(lambda: changes("debug"), "the level is debug")
        table.order("call_supervisor", reason="a dispute")
        table.process.send_signal(signal.SIGUSR2)
        wait_until(lambda: changes("error"), "the level is the first one again")
        table.order("call_supervisor", reason="another")
        table.stop()

    events = [(each["event"], each.get("to", each.get("text"))) for each in logged(table)]
    assert [each for each in events if each[0] in {"log level changed", "alarm"}] == [
        ("log level changed", "debug"),
        ("alarm", "a dispute"),
        ("log level changed", "error"),
    ]


def test_what_a_library_logs_is_a_line_as_all_others():
    program = """
import asyncio, logging
from punto.runtime import log
log.set_up()
async def main():
    asyncio.get_running_loop().call_soon(lambda: 1 / 0)
    await asyncio.sleep(0.01)
asyncio.run(main())
logging.getLogger("a.library").warning("the %s is full", "disk")
logging.getLogger("a.library").info("not logged")
"""
    ran = subprocess.run(
        [sys.executable, "-c", program],
        cwd=HERE,
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        check=True,
    )
    first, second = (json.loads(line) for line in ran.stderr.splitlines())

    assert (first["logger"], first["level"]) == ("asyncio", "error")
    assert "ZeroDivisionError" in first["exception"]
    assert second.items() >= {"event": "the disk is full", "logger": "a.library", "level": "warning"}.items()


def test_a_log_that_nobody_reads_holds_nothing_up_and_says_what_it_dropped():
    program = """
import sys, structlog
from punto.runtime import log
log.set_up()
for number in range(5000):
    structlog.get_logger().info("line", number=number)
print("done", flush=True)
sys.stdin.readline()
structlog.get_logger().info("the last")
"""
    with subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=HERE,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "done\n"  # though nothing has read the log
        _, said = process.communicate("\n", timeout=DEADLINE)

    lines = [json.loads(line) for line in said.splitlines()]
    lost = [line["lines"] for line in lines if line["event"].startswith("log lines dropped")]
    assert lost
    assert len(lines) - len(lost) + sum(lost) == 5001
