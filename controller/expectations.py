"""The exact expectations of what a table's meters count.

Those of games that ship come with the program. A house's own wagers are counted once for each game, in a process of its own,
because the service itself does not load numpy. Without `punto[odds]` such wagers have no expectations.
"""

import asyncio
import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import structlog

from punto.baccarat.table.meters import every
from punto.baccarat.table.state import TableState
from punto.baccarat.wagers.definition import Game
from punto.configs.expectations import Expectation, Expectations, shipped
from punto.controller.journal.entries import GAMES

FIRST_AFTER_SECONDS: Final = 2.0
"""A start comes first."""
_NICE: Final = 19

_log = structlog.get_logger("punto.controller")


@dataclass
class Counts:
    """The games that the tables of one process have counted: each game once, and one game at a time."""

    one_at_a_time: asyncio.Lock = field(default_factory=asyncio.Lock)
    known: dict[str, Expectations] = field(default_factory=dict)

    async def of(self, game: Game) -> Expectations | None:
        """The expectations of a game; None if they cannot be counted."""
        rules = game.rules_digest
        async with self.one_at_a_time:
            if rules not in self.known and (counted := await _count(game)) is not None:
                self.known[rules] = counted
        return self.known.get(rules)


class ExactExpectations:
    """The expectations of the game that the table plays; `found` is called with those that were counted."""

    def __init__(
        self, state: TableState, found: Callable[[Game, Expectations], None], counts: Counts | None = None
    ) -> None:
        self._game = state.settings.game
        self._found = found
        self._counts = counts or Counts()
        self._another = asyncio.Event()
        self._another.set()
        self._counted: tuple[str, Expectations] = "", {}

    def see(self, state: TableState, _: int) -> None:
        """Note another game: a watcher of the engine."""
        if state.settings.game is not self._game:
            self._game = state.settings.game
            self._another.set()

    def of(self, game: Game) -> Expectations:
        """What is known of the game."""
        rules, counted = self._counted
        return counted if rules == game.rules_digest else shipped(game)

    async def run(self) -> None:
        """Count each game that the table comes to play and that does not ship, until cancelled."""
        await asyncio.sleep(FIRST_AFTER_SECONDS)
        while True:
            await self._another.wait()
            self._another.clear()
            game = self._game
            if self.of(game).keys() >= set(every(game)):
                continue
            if (counted := await self._counts.of(game)) is not None:
                self._counted = game.rules_digest, counted
                self._found(game, counted)


async def _count(game: Game) -> Expectations | None:
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
        output, errors = await process.communicate(GAMES.dump_json(game))
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode != 0:
        reason = errors.decode(errors="replace").strip().rpartition("\n")[2]
        _log.info(
            "the meters show no expected figures for this game's own wagers: install punto[odds]",
            reason=reason,
        )
        return None
    return {(wager, rule): Expectation(*figures) for wager, rule, figures in json.loads(output)}


# --- in the process


def main() -> None:
    """Read a game as JSON and print its expectations."""
    os.nice(_NICE)
    from punto.odds.expectations import expectations, in_floats  # noqa: PLC0415 - the service imports this module too

    found = in_floats(expectations(GAMES.validate_json(sys.stdin.buffer.read(), strict=True)))
    sys.stdout.write(json.dumps([[*key, figures] for key, figures in found.items()]))


if __name__ == "__main__":
    main()
