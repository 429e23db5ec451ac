"""The edges of the shoe in play: valued after each coup, published under `restricted/`, with an alarm.

Nothing waits for any of it. What is left in the shoe is noted in the moment; a worker process values it; when a
further coup has ended meanwhile, only the newest is valued next.
"""

import asyncio
from collections.abc import Mapping
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Final

import structlog

from punto.baccarat.table.state import TableState
from punto.controller.edge.left import Left, left_of
from punto.controller.edge.worker import OddsError, Worker
from punto.controller.messages import topics
from punto.controller.messages.building import timestamp
from punto.controller.messages.restricted import Edge, PositionEdge
from punto.controller.outbox import Outbox
from punto.drivers.backoff import Backoff
from punto.odds.composition import CompositionError

EVERY_SECONDS: Final = 10
"""How often the message is sent again while nothing changes, so that its readers know that it still holds."""
_HOLDS: Final = timedelta(seconds=2.5 * EVERY_SECONDS)
FIRST_RETRY_SECONDS: Final = 0.5
LAST_RETRY_SECONDS: Final = 60.0

_log = structlog.get_logger("punto.controller.edge")


@dataclass(frozen=True, slots=True)
class _Valued:
    """What was found of a shoe: the edge of each position and which are an alarm, or why there are none."""

    seq: int
    left: Left
    edges: Mapping[str, Fraction] = field(default_factory=dict)
    alarms: tuple[str, ...] = ()
    unavailable: str | None = None


class LiveEdge:
    """Values the shoe of one table; `alarm` is the players' advantage above which a wager is an alarm."""

    def __init__(self, table: str, alarm: Fraction, outbox: Outbox) -> None:
        self._table = table
        self._alarm = alarm
        self._outbox = outbox
        self._worker = Worker()
        self._backoff = Backoff(FIRST_RETRY_SECONDS, LAST_RETRY_SECONDS)
        self._wanted: tuple[int, Left] | None = None
        self._valued: _Valued | None = None
        self._told: frozenset[tuple[int, str]] = frozenset()  # alarms that stand, by shoe and position
        self._wake = asyncio.Event()

    def see(self, state: TableState, seq: int) -> None:
        """Take note of the table as it is after the input `seq`; it is valued later, and only if nothing newer is."""
        left = left_of(state)
        if left is None:
            self._wanted = None
        elif self._is_of(left) and state.coup is not None:
            return  # what a coup began with does not change while it is dealt, and cards carried to it are in it now
        elif self._wanted is None or left != self._wanted[1]:
            self._wanted = (seq, left)
            self._wake.set()

    def _is_of(self, left: Left) -> bool:
        """Whether the coming or current coup of this shoe has been noted."""
        if self._wanted is None:
            return False
        noted = self._wanted[1]
        return (noted.shoe, noted.round) == (left.shoe, left.round)

    async def run(self) -> None:
        """Value what is left and have it published, until cancelled."""
        try:
            while True:
                try:
                    async with asyncio.timeout(EVERY_SECONDS):
                        await self._wake.wait()
                except TimeoutError:
                    self._outbox.snapshot_due(topics.RESTRICTED_EDGE)
                else:
                    self._wake.clear()
                    if self._wanted is not None:
                        await self._value(*self._wanted)
        finally:
            self._worker.end()

    def message(self, now: datetime) -> Edge | None:
        """What was found last; None where there is no shoe to value, or nothing was found of it yet."""
        valued = self._valued
        if valued is None or self._wanted is None or valued.left.shoe != self._wanted[1].shoe:
            return None
        return Edge(
            id=f"{self._table}/restricted/edge/{valued.seq}",
            seq=valued.seq,
            ts=timestamp(now),
            valid_until=timestamp(now + _HOLDS),
            shoe=valued.left.shoe,
            round=valued.left.round,
            cards_left=valued.left.cards_left,
            unseen=valued.left.unseen,
            positions=tuple(
                PositionEdge(wager=name, edge=float(edge), favourable=edge < 0, alarm=name in valued.alarms)
                for name, edge in valued.edges.items()
            ),
            alarms=valued.alarms,
            unavailable=valued.unavailable,
        )

    # --- valuing

    async def _value(self, seq: int, left: Left) -> None:
        if left.carried:
            # They may be known to somebody, and no average over what is left is the edge of a coup that begins with them.
            self._put(
                _Valued(seq, left, unavailable="the next coup may begin with cards that were drawn too soon")
            )
            return
        try:
            edges = await asyncio.to_thread(self._worker.edges, left.game, left.composition())
        except (CompositionError, OddsError) as error:
            _log.error("no edges", shoe=left.shoe, round=left.round, reason=str(error))
            self._put(_Valued(seq, left, unavailable=str(error)))
        except (BrokenExecutor, OSError) as error:
            await self._begin_again(seq, left, error)
        else:
            self._backoff.reset()
            alarms = tuple(name for name, edge in edges.items() if -edge > self._alarm)
            self._put(_Valued(seq, left, edges, alarms))
            self._tell(left, edges, alarms)

    async def _begin_again(self, seq: int, left: Left, error: BaseException) -> None:
        """Let a worker that died go, and have another value the newest shoe after a while."""
        pause = self._backoff.pause()
        _log.warning("edge worker died", reason=str(error) or type(error).__name__, again_in_seconds=pause)
        self._put(_Valued(seq, left, unavailable="the process that computes them died, and another is begun"))
        await asyncio.to_thread(self._worker.end)
        await asyncio.sleep(pause)
        self._wake.set()

    def _put(self, valued: _Valued) -> None:
        self._valued = valued
        self._outbox.snapshot_due(topics.RESTRICTED_EDGE)

    def _tell(self, left: Left, edges: Mapping[str, Fraction], alarms: tuple[str, ...]) -> None:
        """Log each alarm once when it begins, in each shoe anew, and once when it ends."""
        now = frozenset((left.shoe, name) for name in alarms)
        for shoe, name in sorted(now - self._told):
            advantage = float(-edges[name])
            _log.warning(
                "wager favours the players", wager=name, advantage=advantage, shoe=shoe, round=left.round
            )
        for shoe, name in sorted(self._told - now):
            _log.info("wager favours the players no more", wager=name, shoe=shoe, round=left.round)
        self._told = now
