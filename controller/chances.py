"""The exact chances of what a table's meters count, computed once for each game in a process of its own.

The service itself does not load numpy. Without `punto[lab]` there are no chances, and the meters stand alone.
"""

import asyncio
import json
import os
import sys
from collections.abc import Callable
from typing import Final

import structlog
from pydantic import TypeAdapter

from punto.baccarat.table.state import TableState
from punto.baccarat.wagers.definition import Game
from punto.controller.messages.metering import Chances

FIRST_AFTER_SECONDS: Final = 2.0
"""A start comes first."""
_NICE: Final = 19
_GAME: Final[TypeAdapter[Game]] = TypeAdapter(Game)

_log = structlog.get_logger("punto.controller")


class ExactChances:
    """The chances of the game that the table plays; `changed` is called when they are known."""

    def __init__(self, state: TableState, changed: Callable[[], None]) -> None:
        self._game = state.settings.game
        self._changed = changed
        self._another = asyncio.Event()
        self._another.set()
        self._known: tuple[Game, Chances | None] | None = None

    def see(self, state: TableState, _: int) -> None:
        """Note another game: a watcher of the engine."""
        if state.settings.game != self._game:
            self._game = state.settings.game
            self._another.set()

    def of(self, game: Game) -> Chances | None:
        """The chances of the game, None if they are not known."""
        return self._known[1] if self._known is not None and self._known[0] == game else None

    async def run(self) -> None:
        """Compute the chances of each game that the table comes to play, until cancelled."""
        await asyncio.sleep(FIRST_AFTER_SECONDS)
        while True:
            await self._another.wait()
            self._another.clear()
            game = self._game
            self._known = game, await _computed(game)
            self._changed()


async def _computed(game: Game) -> Chances | None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", __name__),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
            "OPENBLAS_NUM_THREADS": "1",
        },
    )
    try:
        output, errors = await process.communicate(_GAME.dump_json(game))
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode != 0:
        reason = errors.decode(errors="replace").strip().rpartition("\n")[2]
        _log.info("no exact chances beside the meters: install punto[lab] for them", reason=reason)
        return None
    return {(wager, rule): chance for wager, rule, chance in json.loads(output)}


# --- in the process


def main() -> None:
    """Read a game as JSON and print its chances."""
    os.nice(_NICE)
    from punto.odds.chances import chances  # noqa: PLC0415 - the service imports this module too

    found = chances(_GAME.validate_json(sys.stdin.buffer.read(), strict=True))
    sys.stdout.write(json.dumps([[*key, float(chance)] for key, chance in found.items()]))


if __name__ == "__main__":
    main()
