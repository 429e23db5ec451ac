"""The replay in the background: the whole record is derived again after each start and once a day, during play.

A start checks only the part of the record that it recovers from. This checks all of it, in a separate process that
has the lowest priority and only reads.
"""

import asyncio
import json
import os
import sys
import threading
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import structlog

from punto.controller.components import own_version
from punto.controller.journal.journal import Journal
from punto.controller.journal.recovery import replay
from punto.controller.journal.schema import RecordError, UnavailableError
from punto.messages.building import timestamp
from punto.messages.models import Replay
from punto.runtime import clock

FIRST_AFTER_SECONDS: Final = 10
"""Seconds from the start to the first replay: a service that restarts repeatedly must not spend its time on replays."""
EVERY_SECONDS: Final = 24 * 3600
AGAIN_AFTER_SECONDS: Final = 600
"""The pause after a replay that failed."""
# To load the program takes up to a second of the processor, so the priority is the lowest before that. Ctrl-C signals every
# process, and the service ends this one.
PROGRAM: Final = f"""\
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
os.nice(19)
from {__name__} import main
main(sys.argv[1])
"""

_log = structlog.get_logger("punto.controller.journal")


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of a replay: the numbers of inputs and rounds, and the first difference."""

    inputs: int
    rounds: int
    difference: str | None = None

    @property
    def place(self) -> str | None:
        """The place of the difference, without the values, which can be cards that the public has not seen."""
        return None if self.difference is None else self.difference.partition(": ")[0]


class BackgroundReplay:
    """Replays the record at `path` regularly, and sets the result in its journal.

    If the record differs, `report` is called with the place of the difference. Records with the same lock `one_at_a_time`
    are replayed one after the other.
    """

    def __init__(
        self,
        path: Path,
        journal: Journal,
        report: Callable[[str], Awaitable[Any]],
        one_at_a_time: asyncio.Lock | None = None,
    ) -> None:
        self._path = path
        self._journal = journal
        self._report = report
        self._one_at_a_time = one_at_a_time or asyncio.Lock()

    async def run(self) -> None:
        """Replay after `FIRST_AFTER_SECONDS`, then once a day, until cancelled."""
        pause = FIRST_AFTER_SECONDS
        while True:
            await asyncio.sleep(pause)
            async with self._one_at_a_time:
                found = await self._replay()
            pause = AGAIN_AFTER_SECONDS if found is None else EVERY_SECONDS
            if found is not None:
                await self._record_result(found)

    async def _replay(self) -> Finding | None:
        """The result of the process, None if it failed."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-c", PROGRAM, str(self._path.absolute())),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        try:
            # Not `communicate`: it would close the process's standard input, which is open as long as the service runs.
            output = b"" if process.stdout is None else await process.stdout.read()
            status = await process.wait()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        if status == 0:
            return Finding(**json.loads(output))
        _log.warning("replay failed", status=status, again_in_seconds=AGAIN_AFTER_SECONDS)
        return None

    async def _record_result(self, found: Finding) -> None:
        self._journal.replayed = Replay(
            finished=timestamp(clock.now()), inputs=found.inputs, rounds=found.rounds, difference=found.place
        )
        if found.place is None:
            _log.info("record replayed", inputs=found.inputs, rounds=found.rounds)
            return
        _log.error("the record differs", found=found.difference, inputs=found.inputs)
        await self._report(found.place)


# --- in the process


def main(path: str) -> None:
    """Replay a record and print the finding as JSON."""
    threading.Thread(target=_end_with_the_service, daemon=True).start()
    try:
        found = replay(Path(path), version=own_version())
        finding = Finding(found.inputs, found.rounds, found.difference)
    except UnavailableError as error:
        sys.exit(f"the replay failed: {error}")  # it is no difference, and is tried again
    except RecordError as error:
        finding = Finding(0, 0, str(error))
    sys.stdout.write(json.dumps(asdict(finding)))


def _end_with_the_service() -> None:
    os.read(sys.stdin.fileno(), 1)  # nothing is written there, so it returns when the service has ended
    os._exit(1)
