"""README.md: "A table of your own" works when its block is pasted."""

import os
import re
import signal
import subprocess
from pathlib import Path

from tests.service.table_on_a_machine import HERE, Broker, free_port, inputs, wait_until

PASTED = re.search(
    r"\n## A table of your own\n.*?```sh\n(.*?)```",
    (HERE / "README.md").read_text(encoding="utf-8"),
    re.DOTALL,
)


def test_the_block_opens_a_table_and_shows_it(tmp_path):
    assert PASTED is not None
    for name in (".venv", "configs"):
        (tmp_path / name).symlink_to(HERE / name)
    page = free_port()
    record, log = tmp_path / "my-table" / "table-1.db", tmp_path / "said"
    with Broker(tmp_path) as broker, log.open("wb") as said:
        # As pasted, but for the broker's port and the display's, which others on this machine may have.
        block = PASTED[1].replace("sed ", f"sed -e 's/^port = 1883/port = {broker.port}/' ", 1)
        block = block.replace("punto display ", f"punto display --port {page} --mqtt-port {broker.port} ")
        shell = subprocess.Popen(
            ["/bin/bash", "-c", block], cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(HERE)},
            stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True,
        )  # fmt: skip
        try:
            wait_until(lambda: f":{page}/" in log.read_text(encoding="utf-8"), "the display has its page")
            wait_until(lambda: _dealt(record), f"cards are dealt; {log} says why not")
        finally:
            os.killpg(shell.pid, signal.SIGTERM)
            shell.wait()

    assert {event["who"] for event in inputs(record, "sign_on", "change_shoe")} == {"Mei"}
    assert "refused" not in log.read_text(encoding="utf-8")


def _dealt(record: Path) -> bool:
    return record.exists() and len(inputs(record, "card_drawn")) > 1
