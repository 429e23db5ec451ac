"""What both kinds of keypad have in common: a connection that is made again for ever, and how it stands."""

import asyncio
import random
from abc import ABC, abstractmethod
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

import structlog

from drivers.base import KeypadUser, LinkHealth

FIRST_RETRY_SECONDS: Final = 0.1
LAST_RETRY_SECONDS: Final = 1.0  # not longer: a keypad that is plugged in again must work at once

_log = structlog.get_logger("drivers.keypad")


class KeypadLostError(Exception):
    """The keypad cannot be reached or went away; the text says what to do about it."""


class RetriedKeypad(ABC):
    """A keypad at a path; those that derive from it say what a connection is."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._state = "not started"  # "connected", or why not
        self._since = datetime.now(UTC)
        self._retry_seconds = FIRST_RETRY_SECONDS

    async def run(self, user: KeypadUser) -> None:
        """Deliver presses until cancelled; see `KeypadDriver.run`."""
        while True:
            try:
                await self._connection(user)
            except KeypadLostError as lost:
                self._lost(str(lost), user)
            await asyncio.sleep(random.uniform(self._retry_seconds / 2, self._retry_seconds))
            self._retry_seconds = min(2 * self._retry_seconds, LAST_RETRY_SECONDS)

    def health(self) -> LinkHealth:
        """Tell how the keypad's link stands now."""
        connected = self._state == "connected"
        return LinkHealth(
            port=self.path,
            connected=connected,
            reason="" if connected else self._state,
            since=self._since,
            serial=self._serial() if connected else None,
            counters=self._counters(),
        )

    @abstractmethod
    async def _connection(self, user: KeypadUser) -> None:
        """Connect and serve until the keypad is lost.

        Raises:
            KeypadLostError: it is.
        """

    @abstractmethod
    def _serial(self) -> str | None:
        """What the keypad calls itself."""

    @abstractmethod
    def _counters(self) -> Mapping[str, int]:
        """What was counted since the driver was made."""

    def _connected(self, user: KeypadUser) -> None:
        if self._state == "connected":
            return
        self._retry_seconds = FIRST_RETRY_SECONDS
        self._stand("connected", user)
        _log.info("keypad connected", path=self.path, serial=self._serial())

    def _lost(self, reason: str, user: KeypadUser) -> None:
        """Tell a loss, once for each reason."""
        if self._state != reason:
            self._stand(reason, user)
            _log.warning("keypad lost", path=self.path, reason=reason)

    def _stand(self, state: str, user: KeypadUser) -> None:
        self._state, self._since = state, datetime.now(UTC)
        user.link_changed()
