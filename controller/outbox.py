"""The outgoing messages: events in order, and the names of the retained snapshots that are due.

Its size is bounded, and nothing waits for it: no broker, whatever its pace, holds up play. While the broker is away, or does
not take them, events are dropped, and consumers see the gap in their numbers. A newer snapshot replaces an older one. Rounds
wait on the record.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Final

MOST_WAITING: Final = 4096
"""Above this number of waiting events, the oldest is dropped: the broker takes them too slowly."""


class Outbox:
    """The engine fills it; the broker's connection empties it."""

    def __init__(self) -> None:
        self.events: deque[tuple[str, bytes, Callable[[], None]]] = deque()
        self.due: set[str] = set()
        self.at_once: set[str] = set()
        self.dropped = 0
        self.snapshots_wake = asyncio.Event()
        self.rounds_wake = asyncio.Event()
        self._send: Callable[[], None] | None = None

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
        self.at_once.clear()
        self.dropped += len(self.events)
        self.events.clear()

    def put(self, topic: str, payload: bytes, taken: Callable[[], None] = lambda: None) -> None:
        """Queue an event. `taken` is called when the broker has it, and never if the event is dropped."""
        if len(self.events) >= MOST_WAITING:
            self.events.popleft()
            self.dropped += 1
        self.events.append((topic, payload, taken))
        if self._send is not None:
            self._send()

    def take(self) -> tuple[str, bytes, Callable[[], None]]:
        """Remove and return the oldest event: topic, payload, and what to call when the broker has it.

        Raises:
            IndexError: there are no events.
        """
        return self.events.popleft()

    def snapshot_due(self, *names: str) -> None:
        """Mark the retained messages of these names as changed."""
        self.due.update(names)
        self.snapshots_wake.set()

    def snapshot_at_once(self, name: str) -> None:
        """Mark a retained message as changed that another service waits for: it goes out before all others."""
        self.snapshot_due(name)  # if it cannot go out now
        self.at_once.add(name)
        if self._send is not None:
            self._send()

    def rounds_are_due(self) -> None:
        """Report that the record has rounds that the broker does not have."""
        self.rounds_wake.set()
