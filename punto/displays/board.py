"""The last messages of a table, their validity, and their followers.

The board is live while the last *new* state message is younger than its own validity, by this machine's clock
alone. A message retained by the broker may have any age: it is shown, but does not make the board live. The
same applies to the table's progressive, separately: a table continues without its meter, and a meter without
a card for hours.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from datetime import datetime
from time import monotonic
from typing import Final

from punto.messages.models import (
    Availability,
    Message,
    Progressive,
    Scoreboard,
    State,
    seconds_held,
)
from punto.messages.topics import AVAILABILITY, SCOREBOARD, STATE, progressive, sent

PROGRESSIVES: Final = progressive("+")
"""The topics of a table's progressives, one per progressive."""

PAYLOADS: Final = sent(STATE, SCOREBOARD, AVAILABILITY, PROGRESSIVES)
"""The topics of a table that its display reads, by name, and their message types."""

LONGEST_HOLD: Final = 2.5
"""Maximum validity of a message in seconds: the display itself guarantees NOT LIVE within three."""

NO_STATE: Final = "Nothing new from the table"
NO_METER: Final = "Nothing new from the progressive"
NO_PROGRESSIVE: Final = "The table has no progressive"
NO_BROKER: Final = "The display has no connection to the message broker"
REFUSED: Final = "The message broker refuses this display"
STOPPED: Final = "The table was stopped, and nothing has come from it since"
"""It may deal all the same: a table that the broker refuses cannot say so, and the broker keeps what the table said last."""
LOST: Final = "The connection to the table was lost"
TWO_TABLES: Final = "Two tables have this id"
SITUATIONS: Final = {
    NO_STATE: ("silent", 11),
    STOPPED: ("stopped", 12),
    LOST: ("lost", 13),
    TWO_TABLES: ("two_tables", 14),
    NO_METER: ("no_meter", 16),
    NO_PROGRESSIVE: ("no_progressive", 17),
    NO_BROKER: ("no_broker", 21),
    REFUSED: ("refused", 22),
}
"""Reason why a board is not live -> what a program is told in its place, and the code that the screen shows to staff."""
OFFLINE: Final = ("offline", 15)
"""The same for any other reason, which is that of a table that is offline."""
LIVE: Final = "live"
"""Name of the news that says for how many milliseconds the board is live, and if it is not, why and when the table was last seen."""
PROGRESSIVE: Final = "progressive"
"""Name of the news of the table's progressive: the message, or null if the table no longer has one."""
PROGRESSIVE_LIVE: Final = "progressive_live"
"""As `LIVE`, for the progressive. It is sent once there is a progressive."""


class Board:
    """One table as its display knows it, by its id. `clock` gives seconds that never decrease."""

    def __init__(self, table: str, clock: Callable[[], float] = monotonic) -> None:
        self.table: Final = table
        self.state: State | None = None
        self.scoreboard: Scoreboard | None = None
        self.progressive: Progressive | None = None
        self._published: dict[str, str] = {}
        self._live = _Hold(clock)
        self._meter_live = _Hold(clock)
        self._shared = False
        """Whether two services publish as this table, so that nobody knows which of them a message is of."""
        self._holds = {LIVE: self._live, PROGRESSIVE_LIVE: self._meter_live}
        self._followers: set[_Follower] = set()

    # --- the feed's side

    def connected(self) -> None:
        """The broker is connected; the table has not sent anything over this connection yet."""
        self._not_live(NO_STATE, NO_METER)

    def disconnected(self, reason: str = NO_BROKER) -> None:
        """The broker is disconnected or refuses the display, so no news can come."""
        self._not_live(reason)

    def take(self, message: Message, *, retained: bool) -> None:
        """Keep a message as the latest of its kind, and notify every follower.

        Raises:
            ValueError: it contains an invalid time; the message is not kept.
        """
        match message:
            case Availability():
                self._take_availability(message)
            case _ if self._shared:
                pass
            case State():
                holds = seconds_held(message)
                # The same message again is not news: a broker or a bridge may repeat it after a reconnection.
                new = message != self.state
                if new and not retained:
                    self._live.believe(holds, NO_STATE)
                self.state = message
                self._live.seen = message.ts
                self._publish(STATE, message)
                if new:
                    self._tell(LIVE)
            case Scoreboard():
                self.scoreboard = message
                self._publish(SCOREBOARD, message)
            case Progressive():
                self._take_progressive(message, retained=retained)
            case _:
                pass

    def retract(self, progressive: str) -> None:
        """The table no longer publishes the progressive with that id."""
        if self.progressive is not None and self.progressive.progressive == progressive:
            self.progressive = None
            self._published[PROGRESSIVE] = "null"
            self._meter_live.seen = None
            self._tell(PROGRESSIVE)
            self._end_meter(NO_PROGRESSIVE)

    def close(self) -> None:
        """End all streams of this board."""
        for follower in self._followers:
            follower.end()

    def _take_availability(self, message: Availability) -> None:
        """End the validity if the service is offline or not alone. Online alone does not make it live: the next state does."""
        self._shared = message.other_record is not None
        if self._shared:
            self._not_live(TWO_TABLES)
        elif message.state == "offline":
            other = f"The table is offline: {message.reason}"
            self._not_live({"stopped": STOPPED, "lost": LOST}.get(message.cause or "", other))

    def _take_progressive(self, message: Progressive, *, retained: bool) -> None:
        holds = seconds_held(message)
        if message.award is not None:
            datetime.fromisoformat(message.award.won)
        shown = self.progressive
        other = shown is not None and shown.progressive != message.progressive
        if other and self._meter_live.seconds:
            return  # a table shows one meter; the broker may still retain one that it no longer has
        new = not retained and message != shown
        if new:
            self._meter_live.believe(holds, NO_METER)
        self.progressive = message
        self._meter_live.seen = message.ts
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
        self._published[name] = message.wire().decode()  # once, for all followers
        self._tell(name)

    def _tell(self, name: str) -> None:
        for follower in self._followers:
            follower.tell(self, name)

    # --- the followers' side

    @property
    def live_seconds(self) -> float:
        """The seconds for which the board stays live without news, 0 if it is not live."""
        return self._live.seconds

    @property
    def reason(self) -> str:
        """The reason why the board is not live, or will not be after its validity."""
        return self._live.reason

    @property
    def situation(self) -> str:
        """Whether the board is live, or a word for why it is not."""
        return "live" if self._live.seconds else SITUATIONS.get(self.reason, OFFLINE)[0]

    @property
    def seen(self) -> str | None:
        """When the table sent its last state, by its own clock; None if none has come."""
        return self._live.seen

    @property
    def meter_live_seconds(self) -> float:
        """The seconds for which the progressive stays live without news, 0 if it is not live."""
        return self._meter_live.seconds

    def json(self, name: str) -> str:
        """The latest of `name`, which followers were notified of: as published, or the liveness message."""
        return self._holds[name].json() if name in self._holds else self._published[name]

    def admit(self, follower: "_Follower") -> None:
        """Notify a follower of all current names, and from now on of each change."""
        for name in (*self._published, LIVE):
            follower.tell(self, name)
        if PROGRESSIVE in self._published:
            follower.tell(self, PROGRESSIVE_LIVE)
        self._followers.add(follower)

    def dismiss(self, follower: "_Follower") -> None:
        """Stop notifying a follower."""
        self._followers.discard(follower)


async def follow(*boards: Board) -> AsyncIterator[tuple[Board, str]]:
    """Yield the names of all that each board has and then of each change, until a board is closed.

    A slow follower finds the latest of each name on the board and misses intermediate ones; there is no
    queue.
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
    """The pending news of one follower, oldest first."""

    def __init__(self) -> None:
        self._news: dict[tuple[Board, str], None] = {}
        self._wake = asyncio.Event()
        self._ended = False

    def tell(self, board: Board, name: str) -> None:
        self._news.pop((board, name), None)  # the last one is sent last: live never comes before its state
        self._news[board, name] = None
        self._wake.set()

    def end(self) -> None:
        self._ended = True
        self._wake.set()

    async def told(self) -> tuple[tuple[Board, str], ...]:
        """Wait for news since the last call, and return it; empty at the end."""
        await self._wake.wait()
        if self._ended:
            return ()
        self._wake.clear()
        news, self._news = tuple(self._news), {}
        return news


class _Hold:
    """The end of a message's validity, by one clock, and the reason afterwards."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._until = float("-inf")
        self.reason = NO_BROKER
        self.seen: str | None = None
        """When the last message was sent, new or retained."""

    @property
    def seconds(self) -> float:
        """The remaining seconds of validity, 0 if it has ended."""
        return max(0.0, self._until - self._clock())

    def believe(self, seconds: float, then: str) -> None:
        """Start a validity of this many seconds; `then` is the reason after it."""
        self._until = self._clock() + min(seconds, LONGEST_HOLD)
        self.reason = then

    def end(self, reason: str) -> None:
        """End the validity."""
        self._until = float("-inf")
        self.reason = reason

    def json(self) -> str:
        """The remaining milliseconds of validity, and after them the reason, its code, and the time of the last message."""
        _, code = SITUATIONS.get(self.reason, OFFLINE)
        return json.dumps(
            {
                "milliseconds": int(self.seconds * 1000),
                "reason": self.reason,
                "code": code,
                "seen": self.seen,
            }
        )
