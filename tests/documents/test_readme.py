"""README.md: its example of `punto score` prints what the page shows."""

import re
import subprocess
import sys
from pathlib import Path

from tests.controller.table_on_a_machine import HERE

EXAMPLE = re.search(r"```console\n\$ (.*\n.*)\n(.*\n)```", (HERE / "README.md").read_text(encoding="utf-8"))


def test_the_example_prints_what_it_shows():
    assert EXAMPLE is not None
    command, shown = EXAMPLE.groups()
    bin_ = f"{Path(sys.executable).parent}:/usr/bin:/bin"

    printed = subprocess.run(
        ["/bin/bash", "-c", command], env={"PATH": bin_}, check=True, capture_output=True, text=True
    )

    assert printed.stdout == shown
