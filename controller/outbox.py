"""The outgoing messages: events in order, and the names of the retained snapshots that are due.

Its size is bounded. While the broker is connected, events are sent; while it is away, they are dropped, and
consumers see the gap in their numbers. A newer snapshot replaces an older one. Rounds wait on the record.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Final

MANY_WAITING: Final = 256
"""Above this number of waiting events, the shoe's driver waits, if the broker is connected."""
MOST_WAITING: Final = 4096
"""Above this number of waiting events, the oldest is dropped: the broker is connected but takes nothing."""


class Outbox:
    """The engine fills it; the broker's connection empties it."""

    def __init__(self) -> None:
        self.events: deque[tuple[str, bytes]] = deque()
        self.due: set[str] = set()
        self.dropped = 0
        self.snapshots_wake = asyncio.Event()
        self.rounds_wake = asyncio.Event()
        self._send: Callable[[], None] | None = None
        self._room = asyncio.Event()
        self._room.set()

    @property
    def connected(self) -> bool:
        """Whether a broker is connected."""
        return self._send is not None

    def connect(self, send: Callable[[], None]) -> None:
        """Keep events from now on, and call `send` after each, so that it goes out at once."""
        self._send = send

    def disconnect(self) -> None:
        """Discard the waiting events: the connection to the broker is lost."""
        self._send = None
        self.dropped += len(self.events)
        self.events.clear()
        self._room.set()

    def put(self, topic: str, payload: bytes) -> None:
        """Queue an event."""
        if len(self.events) >= MOST_WAITING:
            self.events.popleft()
            self.dropped += 1
        self.events.append((topic, payload))
        if len(self.events) > MANY_WAITING:
            self._room.clear()
        if self._send is not None:
            self._send()

    def take(self) -> tuple[str, bytes]:
        """Remove and return the oldest event.

        Raises:
            IndexError: there are no events.
        """
        first = self.events.popleft()
        if len(self.events) <= MANY_WAITING // 2:
            self._room.set()
        return first

    def snapshot_due(self, *names: str) -> None:
        """Mark the retained messages of these names as changed."""
        self.due.update(names)
        self.snapshots_wake.set()

    def rounds_are_due(self) -> None:
        """Report that the record has rounds that the broker does not have."""
        self.rounds_wake.set()

    async def room(self) -> None:
        """Wait until there is room for more events. Returns at once if no broker is connected."""
        await self._room.wait()
