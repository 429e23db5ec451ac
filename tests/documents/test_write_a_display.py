"""docs/how-to/write-a-display.md: its example shows what is new, and NOT LIVE when nothing is."""

import re
import sys

from tests.controller.table_on_a_machine import HERE, Broker, Program, wait_until

PAGE = (HERE / "docs" / "how-to" / "write-a-display.md").read_text(encoding="utf-8")
STATE = {
    "ts": "2026-03-14T21:05:09.000000+00:00", "valid_until": "2026-03-14T21:05:11.500000+00:00",
    "name": "Baccarat 1", "phase": "betting", "hands": {},
}  # fmt: skip


def test_the_example_shows_a_table(tmp_path):
    (example,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    log = tmp_path / "display.log"
    with Broker(tmp_path) as broker:
        program = example.replace("1883", str(broker.port))
        with Program(log, sys.executable, "-u", "-c", program):

            def shows(line: str, phase: str) -> bool:
                broker.publish("punto/table-1/state", {**STATE, "phase": phase})
                return line in log.read_text(encoding="utf-8")

            wait_until(lambda: shows("Baccarat 1: betting, {}\n", "betting"), "the table is shown")
            wait_until(lambda: "NOT LIVE\n" in log.read_text(encoding="utf-8"), "the silence is shown")
            wait_until(lambda: shows("NOT LIVE\nBaccarat 1: dealing, {}\n", "dealing"), "it is live again")
