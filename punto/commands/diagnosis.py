"""The doctor of a service that runs: in a process of its own with a low priority, so that no card waits for it.

The service tells this process which devices are connected, and that it is the service, because the sandbox of its unit hides both.
"""

import asyncio
import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter

from punto.commands.doctor import table_findings
from punto.controller.orders.doors import LinkNow
from punto.doctor.findings import Finding, once
from punto.doctor.patient import process

SECONDS = 300.0
"""After this time the process is ended. Each check has a limit of its own, so this is for a PC that is too busy to run it."""
NO_ANSWER: Final = "doctor"
"""The check of a finding that the doctor itself gave no answer."""
# To load the program takes up to a second of the processor, so the priority is low before that. Ctrl-C signals every
# process, and the service waits for this one.
PROGRAM: Final = f"""\
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
os.nice(10)
from {__name__} import main
main(*sys.argv[1:])
"""
_FINDINGS: Final = TypeAdapter(list[Finding])
_LINKS: Final = TypeAdapter(dict[str, LinkNow])


class Diagnosis:
    """Examines the PC of one table of the service, of the configuration `file`. If several people ask at once, they get one answer."""

    def __init__(self, file: Path, table: str) -> None:
        self._file = file
        self._table = table
        self._running: asyncio.Task[list[Finding]] | None = None

    async def __call__(self, links: Callable[[], Mapping[str, LinkNow]]) -> list[Finding]:
        """What the doctor finds. `links` are those that the service has now."""
        if self._running is None or self._running.done():
            self._running = asyncio.create_task(self._examine(links()))
        return await asyncio.shield(self._running)

    async def _examine(self, links: Mapping[str, LinkNow]) -> list[Finding]:
        told = _LINKS.dump_json(dict(links)).decode()
        ran = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-c", PROGRAM, str(self._file.absolute()), self._table, told),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        try:
            async with asyncio.timeout(SECONDS):
                output, _ = await ran.communicate()
        except TimeoutError:
            return [_no_answer(f"it took longer than {SECONDS:g} s")]
        finally:
            if ran.returncode is None:
                ran.kill()
                await ran.wait()
        if ran.returncode != 0:
            return [_no_answer(f"it ended with the status {ran.returncode}; the service's log says why")]
        return _FINDINGS.validate_json(output)


def _no_answer(why: str) -> Finding:
    return Finding(NO_ANSWER, "not checked", "doctor", why)


# --- in the process


def main(file: str, table: str, links: str) -> None:
    """Print the findings about a table of the service that started this process."""
    told: dict[str, dict[str, Any]] = json.loads(links)
    found = table_findings(Path(file), table, process(os.getppid()), told)
    sys.stdout.write(_FINDINGS.dump_json(list(once(found))).decode())
