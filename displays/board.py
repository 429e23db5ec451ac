"""What the table last said, for how long that may be believed, and the browsers that follow it.

The law: the board is live while the last *new* state message is younger than it said it holds good, by this machine's
clock alone. A message that the broker had kept may be of any age: it is shown, and makes nothing live.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from datetime import datetime, timedelta
from time import monotonic
from typing import Final

from controller.messages.models import Availability, Message, Scoreboard, State
from controller.messages.topics import AVAILABILITY, SCOREBOARD, STATE

PAYLOADS: Final[dict[str, type[Message]]] = {
    STATE: State,
    SCOREBOARD: Scoreboard,
    AVAILABILITY: Availability,
}
"""The topics of a table that its display reads, by name, and what they carry."""

LONGEST_HOLD: Final = 2.5
"""Seconds that a state is believed at most, whatever it says: NOT LIVE within three is this display's own word."""

NO_STATE: Final = "Nothing new from the table"
NO_BROKER: Final = "The display has no connection to the message broker"
LIVE: Final = "live"
"""The name of the event that says for how many milliseconds the board is live, and if it is not, why."""


class Board:
    """One table as its display knows it. `clock` gives seconds that never go back."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._latest: dict[str, Message] = {}
        self._live_until = float("-inf")
        self._reason = NO_BROKER
        self._followers: set[_Follower] = set()
        self._closed = False

    # --- the feed's side

    def connected(self) -> None:
        """The broker is there; the table has not been heard from over this connection."""
        self._not_live(NO_STATE)

    def disconnected(self) -> None:
        """The broker is away, so nothing new can come."""
        self._not_live(NO_BROKER)

    def take(self, message: Message, *, retained: bool) -> None:
        """Keep a message as the latest of its kind, and tell every browser.

        Raises:
            ValueError: a time in it is none; the message is not kept.
        """
        match message:
            case State():
                holds = _holds(message)
                # The same message again is no news: a broker or a bridge that comes back may repeat itself.
                new = not retained and message != self._latest.get(STATE)
                self._latest[STATE] = message
                self._tell(STATE)
                if new:
                    self._live_until = self._clock() + holds
                    self._reason = NO_STATE
                    self._tell(LIVE)
            case Scoreboard():
                self._latest[SCOREBOARD] = message
                self._tell(SCOREBOARD)
            case Availability(state="offline", reason=reason):
                self._not_live(f"The table is offline: {reason}")
            case _:
                pass  # online alone makes nothing live: the next state does

    def _not_live(self, reason: str) -> None:
        self._live_until = float("-inf")
        self._reason = reason
        self._tell(LIVE)

    def _tell(self, *names: str) -> None:
        for follower in self._followers:
            follower.tell(*names)

    # --- the browsers' side

    @property
    def live_seconds(self) -> float:
        """How long the board is still live if nothing more comes, 0 when it is not."""
        return max(0.0, self._live_until - self._clock())

    @property
    def reason(self) -> str:
        """Why the board is not live, or will not be once its time is out."""
        return self._reason

    async def follow(self) -> AsyncIterator[tuple[str, str]]:
        """The latest of everything and then each change, as an event's name and JSON, until the board is closed.

        A browser that is slow gets the latest of each and misses what was between; nothing is queued for it.
        """
        follower = _Follower()
        follower.tell(*self._latest, LIVE)
        self._followers.add(follower)
        try:
            while not self._closed:
                for name in await follower.told():
                    yield name, self._json(name)
        finally:
            self._followers.discard(follower)

    def close(self) -> None:
        """End every browser's stream."""
        self._closed = True
        self._tell()

    def _json(self, name: str) -> str:
        if name != LIVE:
            return self._latest[name].wire().decode()
        return json.dumps({"milliseconds": int(self.live_seconds * 1000), "reason": self.reason})


class _Follower:
    """The names of what one browser has not been told yet, oldest first."""

    def __init__(self) -> None:
        self._names: dict[str, None] = {}
        self._wake = asyncio.Event()

    def tell(self, *names: str) -> None:
        for name in names:
            self._names.pop(name, None)  # what is told last is sent last: live never comes before its state
            self._names[name] = None
        self._wake.set()

    async def told(self) -> tuple[str, ...]:
        await self._wake.wait()
        self._wake.clear()
        names, self._names = tuple(self._names), {}
        return names


def _holds(state: State) -> float:
    """For how many seconds a state holds good: both of its times are of the same clock, and no other is asked."""
    holds: timedelta = datetime.fromisoformat(state.valid_until) - datetime.fromisoformat(state.ts)
    return min(holds.total_seconds(), LONGEST_HOLD)
