"""What a table last said, for how long that may be believed, and who follows it.

The law: the board is live while the last *new* state message is younger than it said it holds good, by this machine's
clock alone. A message that the broker had kept may be of any age: it is shown, and makes nothing live. Of the table's
progressive the same is so, by itself: a table goes on without its meter, and a meter without a card for hours.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from datetime import datetime, timedelta
from time import monotonic
from typing import Final

from punto.controller.messages.models import Availability, Message, Progressive, Scoreboard, State
from punto.controller.messages.topics import AVAILABILITY, SCOREBOARD, STATE, progressive, sent

PROGRESSIVES: Final = progressive("+")
"""The topics of a table's progressives, each of which has one of its own."""

PAYLOADS: Final = sent(STATE, SCOREBOARD, AVAILABILITY, PROGRESSIVES)
"""The topics of a table that its display reads, by name, and what they carry."""

LONGEST_HOLD: Final = 2.5
"""Seconds that a message is believed at most, whatever it says: NOT LIVE within three is this display's own word."""

NO_STATE: Final = "Nothing new from the table"
NO_METER: Final = "Nothing new from the progressive"
NO_PROGRESSIVE: Final = "The table has no progressive"
NO_BROKER: Final = "The display has no connection to the message broker"
LIVE: Final = "live"
"""The name of the news that says for how many milliseconds the board is live, and if it is not, why."""
PROGRESSIVE: Final = "progressive"
"""The name of the news of the table's progressive: the message, or null where the table no longer has one."""
PROGRESSIVE_LIVE: Final = "progressive_live"
"""As `LIVE`, of the progressive. It is told once there is one to tell of."""


class Board:
    """One table as its display knows it, by its id. `clock` gives seconds that never go back."""

    def __init__(self, table: str, clock: Callable[[], float] = monotonic) -> None:
        self.table: Final = table
        self.state: State | None = None
        self.scoreboard: Scoreboard | None = None
        self.progressive: Progressive | None = None
        self._published: dict[str, str] = {}
        self._live = _Hold(clock)
        self._meter_live = _Hold(clock)
        self._holds = {LIVE: self._live, PROGRESSIVE_LIVE: self._meter_live}
        self._followers: set[_Follower] = set()

    # --- the feed's side

    def connected(self) -> None:
        """The broker is there; the table has not been heard from over this connection."""
        self._not_live(NO_STATE, NO_METER)

    def disconnected(self) -> None:
        """The broker is away, so nothing new can come."""
        self._not_live(NO_BROKER)

    def take(self, message: Message, *, retained: bool) -> None:
        """Keep a message as the latest of its kind, and tell every follower.

        Raises:
            ValueError: a time in it is none; the message is not kept.
        """
        match message:
            case State():
                holds = _holds(message)
                # The same message again is no news: a broker or a bridge that comes back may repeat itself.
                new = not retained and message != self.state
                if new:
                    self._live.believe(holds, NO_STATE)
                self.state = message
                self._publish(STATE, message)
                if new:
                    self._tell(LIVE)
            case Scoreboard():
                self.scoreboard = message
                self._publish(SCOREBOARD, message)
            case Progressive():
                self._take_progressive(message, retained=retained)
            case Availability(state="offline", reason=reason):
                self._not_live(f"The table is offline: {reason}")
            case _:
                pass  # online alone makes nothing live: the next state does

    def retract(self, progressive: str) -> None:
        """The table no longer publishes the progressive with that id."""
        if self.progressive is not None and self.progressive.progressive == progressive:
            self.progressive = None
            self._published[PROGRESSIVE] = "null"
            self._tell(PROGRESSIVE)
            self._end_meter(NO_PROGRESSIVE)

    def close(self) -> None:
        """End whatever follows this board."""
        for follower in self._followers:
            follower.end()

    def _take_progressive(self, message: Progressive, *, retained: bool) -> None:
        holds = _holds(message)
        if message.award is not None:
            datetime.fromisoformat(message.award.won)
        shown = self.progressive
        other = shown is not None and shown.progressive != message.progressive
        if other and self._meter_live.seconds:
            return  # a table shows one meter; one that it no longer has may still be kept by the broker
        new = not retained and message != shown
        if new:
            self._meter_live.believe(holds, NO_METER)
        self.progressive = message
        self._publish(PROGRESSIVE, message)
        if new:
            self._tell(PROGRESSIVE_LIVE)

    def _not_live(self, reason: str, of_meter: str | None = None) -> None:
        self._live.end(reason)
        self._tell(LIVE)
        self._end_meter(of_meter or reason)

    def _end_meter(self, reason: str) -> None:
        self._meter_live.end(reason)
        if PROGRESSIVE in self._published:
            self._tell(PROGRESSIVE_LIVE)

    def _publish(self, name: str, message: Message) -> None:
        self._published[name] = message.wire().decode()  # once, however many follow
        self._tell(name)

    def _tell(self, name: str) -> None:
        for follower in self._followers:
            follower.tell(self, name)

    # --- the followers' side

    @property
    def live_seconds(self) -> float:
        """How long the board is still live if nothing more comes, 0 when it is not."""
        return self._live.seconds

    @property
    def reason(self) -> str:
        """Why the board is not live, or will not be once its time is out."""
        return self._live.reason

    @property
    def meter_live_seconds(self) -> float:
        """How long the progressive is still live if nothing more comes, 0 when it is not."""
        return self._meter_live.seconds

    def json(self, name: str) -> str:
        """The latest of `name`, which has been told of: as it was published, or the word on what is live."""
        return self._holds[name].json() if name in self._holds else self._published[name]

    def admit(self, follower: "_Follower") -> None:
        """Tell a follower the names of all that there is, and from now on of each change."""
        for name in (*self._published, LIVE):
            follower.tell(self, name)
        if PROGRESSIVE in self._published:
            follower.tell(self, PROGRESSIVE_LIVE)
        self._followers.add(follower)

    def dismiss(self, follower: "_Follower") -> None:
        """Tell a follower nothing more."""
        self._followers.discard(follower)


async def follow(*boards: Board) -> AsyncIterator[tuple[Board, str]]:
    """The names of all that each board has and then of each change, until a board is closed.

    Who is slow finds the latest of each on the board and misses what was between; nothing is queued for anybody.
    """
    follower = _Follower()
    for board in boards:
        board.admit(follower)
    try:
        while news := await follower.told():
            for board, name in news:
                yield board, name
    finally:
        for board in boards:
            board.dismiss(follower)


class _Follower:
    """What one follower has not been told yet, oldest first."""

    def __init__(self) -> None:
        self._news: dict[tuple[Board, str], None] = {}
        self._wake = asyncio.Event()
        self._ended = False

    def tell(self, board: Board, name: str) -> None:
        self._news.pop(
            (board, name), None
        )  # what is told last is sent last: live never comes before its state
        self._news[board, name] = None
        self._wake.set()

    def end(self) -> None:
        self._ended = True
        self._wake.set()

    async def told(self) -> tuple[tuple[Board, str], ...]:
        """The news since the last call, waiting for some; nothing at the end."""
        await self._wake.wait()
        if self._ended:
            return ()
        self._wake.clear()
        news, self._news = tuple(self._news), {}
        return news


class _Hold:
    """Until when something is believed that a table said, by one clock, and why it is not any more after that."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._until = float("-inf")
        self.reason = NO_BROKER

    @property
    def seconds(self) -> float:
        """How long it is still believed, 0 when it is not."""
        return max(0.0, self._until - self._clock())

    def believe(self, seconds: float, then: str) -> None:
        """Believe it for so long from now on; `then` is why not any more after that."""
        self._until = self._clock() + min(seconds, LONGEST_HOLD)
        self.reason = then

    def end(self, reason: str) -> None:
        """Believe it no longer."""
        self._until = float("-inf")
        self.reason = reason

    def json(self) -> str:
        """For how many milliseconds it is still believed, and why not after them."""
        return json.dumps({"milliseconds": int(self.seconds * 1000), "reason": self.reason})


def _holds(message: State | Progressive) -> float:
    """For how many seconds a message holds good: both of its times are of the same clock, and no other is asked."""
    holds: timedelta = datetime.fromisoformat(message.valid_until) - datetime.fromisoformat(message.ts)
    return holds.total_seconds()
