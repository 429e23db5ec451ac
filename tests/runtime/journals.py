"""A journal for tests: systemd's own journald, with its files and its socket in a mount namespace of its own."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.controller.table_on_a_machine import wait_until
from tests.deadline import DEADLINE

JOURNALD = Path("/lib/systemd/systemd-journald")
"""It is in Debian's package systemd. Only root can start it."""


class Journal:
    """A running journald. `socket` is where programs send their records."""

    def __init__(self, process: int) -> None:
        root = Path(f"/proc/{process}/root/run")  # the files of another mount namespace
        self.socket = root / "systemd/journal/socket"
        self._files = root / "log/journal"

    def shown(self, *options: str) -> str:
        """What `journalctl` shows of the records."""
        command = ["journalctl", "--directory", str(self._files), "--quiet", *options]
        return subprocess.run(command, check=True, capture_output=True, text=True, timeout=DEADLINE).stdout

    def records(self, *selected: str) -> list[dict[str, Any]]:
        """The records with these fields, such as `PUNTO_TABLE=table-1`."""
        return [json.loads(line) for line in self.shown("-o", "json", *selected).splitlines()]


@contextmanager
def journald() -> Iterator[Journal]:
    """A journald that ends with the block."""
    script = f"mount -t tmpfs tmpfs /run && mkdir -p /run/log/journal && exec {JOURNALD}"
    unshare = shutil.which("unshare") or "unshare"
    with subprocess.Popen([unshare, "--mount", "sh", "-c", script], stderr=subprocess.DEVNULL) as process:
        try:
            journal = Journal(process.pid)
            wait_until(lambda: journal.socket.is_socket() or process.poll() is not None, "journald listens")
            assert process.poll() is None
            yield journal
        finally:
            process.kill()
