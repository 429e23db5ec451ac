"""The edges of the shoe in play: computed after each coup, published under `restricted/`, with an alarm.

Play does not wait for them. The cards left are stored at once; a worker process computes the edges. If more coups
end meanwhile, only the newest is computed next.
"""

import asyncio
from collections.abc import Mapping
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Final

import structlog

from punto.baccarat.table.settings import Settings
from punto.baccarat.table.state import TableState
from punto.controller.edge.left import Left, left_of
from punto.controller.edge.worker import OddsError, Worker
from punto.controller.outbox import Outbox
from punto.messages import topics
from punto.messages.building import timestamp
from punto.messages.restricted import Edge, PositionEdge
from punto.odds.composition import CompositionError
from punto.runtime.backoff import Backoff

EVERY_SECONDS: Final = 10
"""How often the message is sent again without a change, so that its readers know that it is still valid."""
_HOLDS: Final = timedelta(seconds=2.5 * EVERY_SECONDS)
FIRST_RETRY_SECONDS: Final = 0.5
LAST_RETRY_SECONDS: Final = 60.0

_log = structlog.get_logger("punto.controller.edge")


@dataclass(frozen=True, slots=True)
class _Valued:
    """A shoe's edges by position, and the positions with an alarm; or the reason why there are no edges."""

    seq: int
    left: Left
    edges: Mapping[str, Fraction] = field(default_factory=dict)
    alarms: tuple[str, ...] = ()
    unavailable: str | None = None


class LiveEdge:
    """Computes the edges of one table. Above `alarm`, a players' advantage (a share of the stake) is an alarm.

    `record` is the name of the table's record.
    """

    def __init__(self, settings: Settings, record: str, alarm: Fraction, outbox: Outbox) -> None:
        self._settings = settings
        self._record = record
        self._alarm = alarm
        self._outbox = outbox
        self._worker = Worker()
        self._backoff = Backoff(FIRST_RETRY_SECONDS, LAST_RETRY_SECONDS)
        self._wanted: tuple[int, Left] | None = None
        self._valued: _Valued | None = None
        self._logged: frozenset[tuple[int, str]] = frozenset()  # the open alarms, by shoe and position
        self._wake = asyncio.Event()

    def see(self, state: TableState, seq: int) -> None:
        """Store the table's state after the input `seq`. Its edges are computed later, unless a newer state follows."""
        left = left_of(state)
        if left is None:
            self._wanted = None
        elif self._is_of(left) and state.round.coup is not None:
            return  # the shoe before a coup does not change during it, and the carried cards are now in the coup
        elif self._wanted is None or left != self._wanted[1]:
            self._wanted = (seq, left)
            self._wake.set()

    def _is_of(self, left: Left) -> bool:
        """Whether the stored shoe is before the same coup."""
        if self._wanted is None:
            return False
        stored = self._wanted[1]
        return (stored.shoe, stored.round) == (left.shoe, left.round)

    async def run(self) -> None:
        """Compute and publish the edges until cancelled."""
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
        """The last result; None if there is no shoe, or no result for it yet."""
        valued = self._valued
        if valued is None or self._wanted is None or valued.left.shoe != self._wanted[1].shoe:
            return None
        return Edge(
            id=f"{self._settings.table}/restricted/edge/{valued.seq}",
            seq=valued.seq,
            ts=timestamp(now),
            simulation=self._settings.simulation,
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
            record=self._record,
        )

    # --- computing

    async def _value(self, seq: int, left: Left) -> None:
        if left.carried:
            # A person may know these cards, and an average over the remaining cards is not the edge of a coup that
            # begins with them.
            reason = "the next coup may begin with cards that were drawn too soon"
            self._put(_Valued(seq, left, unavailable=reason))
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
            self._log_alarms(left, edges, alarms)

    async def _begin_again(self, seq: int, left: Left, error: BaseException) -> None:
        """End a worker that died. After a pause, another computes the newest shoe."""
        pause = self._backoff.pause()
        _log.warning("edge worker died", reason=str(error) or type(error).__name__, again_in_seconds=pause)
        self._put(
            _Valued(seq, left, unavailable="the process that computes the edges died and is being restarted")
        )
        await asyncio.to_thread(self._worker.end)
        await asyncio.sleep(pause)
        self._wake.set()

    def _put(self, valued: _Valued) -> None:
        self._valued = valued
        self._outbox.snapshot_due(topics.RESTRICTED_EDGE)

    def _log_alarms(self, left: Left, edges: Mapping[str, Fraction], alarms: tuple[str, ...]) -> None:
        """Log each alarm of a shoe when it begins and when it ends."""
        now = frozenset((left.shoe, name) for name in alarms)
        for shoe, name in sorted(now - self._logged):
            advantage = float(-edges[name])
            _log.warning(
                "wager favours the players", wager=name, advantage=advantage, shoe=shoe, round=left.round
            )
        for shoe, name in sorted(self._logged - now):
            _log.info("wager no longer favours the players", wager=name, shoe=shoe, round=left.round)
        self._logged = now
