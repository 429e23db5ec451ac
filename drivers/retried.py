"""What all drivers have in common: a connection that is made again for ever, and how it stands."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final, Generic, TypeVar

import structlog

from punto.drivers.backoff import Backoff
from punto.drivers.base import LinkHealth, LinkUser

FIRST_RETRY_SECONDS: Final = 0.1
LAST_RETRY_SECONDS: Final = 1.0  # not longer: a device that is plugged in again must work at once


class DeviceLostError(Exception):
    """The device cannot be reached or went away; the text says what to do about it."""


AnyUser = TypeVar("AnyUser", bound=LinkUser)


class Retried(ABC, Generic[AnyUser]):
    """A device at a path, named as in the log ("keypad"); those that derive from it say what a connection is."""

    def __init__(self, path: str, device: str) -> None:
        self.path = path
        self._device = device
        self._log = structlog.get_logger(f"punto.drivers.{device.replace(' ', '_')}")
        self._state = "not started"  # "connected", or why not
        self._since = datetime.now(UTC)
        self._backoff = Backoff(FIRST_RETRY_SECONDS, LAST_RETRY_SECONDS)

    async def run(self, user: AnyUser) -> None:
        """Serve until cancelled; what `user` raises escapes."""
        while True:
            try:
                await self._connection(user)
            except DeviceLostError as lost:
                await self._lost(str(lost), user)
            await self._while_away(user)
            await asyncio.sleep(self._backoff.pause())

    def health(self) -> LinkHealth:
        """Tell how the device's link stands now."""
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
    async def _connection(self, user: AnyUser) -> None:
        """Connect and serve until the device is lost.

        Raises:
            DeviceLostError: it is.
        """

    async def _while_away(self, user: AnyUser) -> None:
        """Do what there is to do without a connection; called before each attempt to make one anew."""

    @abstractmethod
    def _serial(self) -> str | None:
        """What the device calls itself."""

    @abstractmethod
    def _counters(self) -> Mapping[str, int]:
        """What was counted since the driver was made."""

    def _connected(self, user: AnyUser) -> None:
        if self._state == "connected":
            return
        self._backoff.reset()
        self._stand("connected", user)
        self._log.info(f"{self._device} connected", path=self.path, serial=self._serial())

    async def _lost(self, reason: str, user: AnyUser) -> None:
        """Report a loss, once for each reason."""
        if self._state != reason:
            self._stand(reason, user)
            self._log.warning(f"{self._device} lost", path=self.path, reason=reason)
            await self._report_loss(reason, user)

    async def _report_loss(self, reason: str, user: AnyUser) -> None:
        """Do what else there is to do when the device is lost."""

    def _stand(self, state: str, user: AnyUser) -> None:
        self._state, self._since = state, datetime.now(UTC)
        user.link_changed()
