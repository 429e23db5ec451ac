"""What waits for the broker: events in order, and which retained snapshots are due.

Bounded, whatever the broker does. Events are sent while it is there and dropped while it is away, which consumers
see by their numbers; snapshots are replaced, never queued; rounds wait on the record, not here.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Final

MANY_WAITING: Final = 256
"""Events waiting above which the shoe's driver is held back while the broker is there."""
MOST_WAITING: Final = 4096
"""Events waiting above which the oldest is dropped: a broker that is there and takes nothing."""


class Outbox:
    """Filled by the engine, drained by the broker's connection."""

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
        """Whether a broker is there to take what is put in."""
        return self._send is not None

    def connect(self, send: Callable[[], None]) -> None:
        """The broker is there: take events from now on, and call `send` at each so that none waits for its turn."""
        self._send = send

    def disconnect(self) -> None:
        """The broker is gone: let go of what only it could have taken."""
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
        """The event that has waited longest.

        Raises:
            IndexError: none waits.
        """
        first = self.events.popleft()
        if len(self.events) <= MANY_WAITING // 2:
            self._room.set()
        return first

    def snapshot_due(self, *names: str) -> None:
        """The retained messages of these names have changed."""
        self.due.update(names)
        self.snapshots_wake.set()

    def rounds_are_due(self) -> None:
        """The record has rounds that the broker has not."""
        self.rounds_wake.set()

    async def room(self) -> None:
        """Wait until few enough events wait; returns at once while no broker is there."""
        await self._room.wait()
