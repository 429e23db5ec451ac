"""The replay in the background: the whole record derived again after each start and once a day, while play goes on.

A start checks what it goes on from. This checks the rest, in a process of its own at the lowest priority, which only reads.
"""

import asyncio
import json
import os
import signal
import sys
import threading
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import structlog

from punto.controller.components import own_version
from punto.controller.journal.journal import Journal, Replayed
from punto.controller.journal.recovery import replay
from punto.controller.journal.schema import RecordError
from punto.controller.messages.building import timestamp

FIRST_AFTER_SECONDS: Final = 10
"""A service that is started again and again does not spend its starts on replays."""
EVERY_SECONDS: Final = 24 * 3600
AGAIN_AFTER_SECONDS: Final = 600
"""After a replay that broke off."""
_NICE: Final = 19

_log = structlog.get_logger("punto.controller.journal")


@dataclass(frozen=True, slots=True)
class Finding:
    """What a replay found: the inputs and rounds that it came to, and the first difference."""

    inputs: int
    rounds: int
    difference: str | None = None

    @property
    def place(self) -> str | None:
        """Where the difference is, without the values: cards that the public has not seen can be among them."""
        return None if self.difference is None else self.difference.partition(": ")[0]


class BackgroundReplay:
    """Replays the record at `path` again and again, and leaves with its journal what was found.

    `report` is given where the record differs, if it does.
    """

    def __init__(self, path: Path, journal: Journal, report: Callable[[str], Awaitable[Any]]) -> None:
        self._path = path
        self._journal = journal
        self._report = report

    async def run(self) -> None:
        """Replay after a while and then every day, one at a time, until cancelled."""
        pause = FIRST_AFTER_SECONDS
        while True:
            await asyncio.sleep(pause)
            found = await self._replay()
            pause = AGAIN_AFTER_SECONDS if found is None else EVERY_SECONDS
            if found is not None:
                await self._tell(found)

    async def _replay(self) -> Finding | None:
        """What the process found, None if it did not come to an end."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", __name__, str(self._path.absolute())),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        try:
            # Not `communicate`, which closes the process's standard input: that it is open says that the service lives.
            said = b"" if process.stdout is None else await process.stdout.read()
            status = await process.wait()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        if status == 0:
            return Finding(**json.loads(said))
        _log.warning("replay broke off", status=status, again_in_seconds=AGAIN_AFTER_SECONDS)
        return None

    async def _tell(self, found: Finding) -> None:
        self._journal.replayed = Replayed(
            timestamp(datetime.now(UTC)), found.inputs, found.rounds, found.place
        )
        if found.place is None:
            _log.info("record replayed", inputs=found.inputs, rounds=found.rounds)
            return
        _log.error("the record differs", found=found.difference, inputs=found.inputs)
        await self._report(found.place)


# --- what runs in the process


def main(path: Path) -> None:
    """Replay a record and print the finding as JSON."""
    signal.signal(
        signal.SIGINT, signal.SIG_IGN
    )  # Ctrl-C tells every process: it is the service that ends this one
    threading.Thread(target=_go_with_the_service, daemon=True).start()
    os.nice(_NICE)
    try:
        found = replay(path, version=own_version())
        finding = Finding(found.inputs, found.rounds, found.difference)
    except RecordError as error:
        finding = Finding(0, 0, str(error))
    sys.stdout.write(json.dumps(asdict(finding)))


def _go_with_the_service() -> None:
    os.read(sys.stdin.fileno(), 1)  # nothing is ever written there: it ends with the service
    os._exit(1)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
