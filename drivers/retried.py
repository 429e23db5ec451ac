"""The base of all drivers: a connection that is made again for ever, and its state."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Generic, TypeVar

import structlog

from punto.drivers.base import Driver, LinkHealth, LinkUser
from punto.runtime.backoff import Backoff

FIRST_RETRY_SECONDS: Final = 0.1
LAST_RETRY_SECONDS: Final = 1.0  # no longer: a device must work as soon as it is plugged in again


class DeviceLostError(Exception):
    """The device cannot be reached or was disconnected; the text says what to do."""


AnyUser = TypeVar("AnyUser", bound=LinkUser)


class Retried(ABC, Generic[AnyUser]):
    """The driver of a device at a path; `device` is its name in the log ("keypad")."""

    def __init__(self, path: str, device: str) -> None:
        self.path = path
        self._device = device
        self._log = structlog.get_logger(f"punto.drivers.{device.replace(' ', '_')}")
        self._state = "not started"  # "connected", or the reason why not
        self._since = datetime.now(UTC)
        self._backoff = Backoff(FIRST_RETRY_SECONDS, LAST_RETRY_SECONDS)

    async def run(self, user: AnyUser) -> None:
        """Serve until cancelled. Exceptions of `user` propagate."""
        while True:
            try:
                await self._connection(user)
            except DeviceLostError as lost:
                await self._lost(str(lost), user)
            await self._while_disconnected(user)
            await asyncio.sleep(self._backoff.pause())

    def health(self) -> LinkHealth:
        """The present state of the device's link."""
        connected = self._state == "connected"
        return LinkHealth(
            port=self.path,
            connected=connected,
            reason="" if connected else self._state,
            since=self._since,
            serial=self._serial() if connected else None,
            counters=self._counters(),
            unproven=self._unproven(),
        )

    @abstractmethod
    async def _connection(self, user: AnyUser) -> None:
        """Connect, and serve until DeviceLostError."""

    async def _while_disconnected(self, user: AnyUser) -> None:
        """Do the work that needs no connection; called before each attempt to connect again."""

    @abstractmethod
    def _serial(self) -> str | None:
        """The device's serial number or name."""

    def _unproven(self) -> bool:
        """Whether something is connected that does not have the enrolled key."""
        return False

    @abstractmethod
    def _counters(self) -> Mapping[str, int]:
        """The counts since the driver was made."""

    def _connected(self, user: AnyUser) -> None:
        if self._state == "connected":
            return
        self._backoff.reset()
        self._set_state("connected", user)
        self._log.info(f"{self._device} connected", path=self.path, serial=self._serial())

    async def _lost(self, reason: str, user: AnyUser) -> None:
        """Report a loss, once for each reason."""
        if self._state != reason:
            self._set_state(reason, user)
            self._log.warning(f"{self._device} lost", path=self.path, reason=reason)
            await self._report_loss(reason, user)

    async def _report_loss(self, reason: str, user: AnyUser) -> None:
        """Do the other work that a loss of this device needs."""

    def _set_state(self, state: str, user: AnyUser) -> None:
        self._state, self._since = state, datetime.now(UTC)
        user.link_changed()


class Postponed(Retried[AnyUser]):
    """A device whose driver cannot be made yet, for example because its key cannot be read: it is offline, and tried again.

    `make` raises DeviceLostError with the reason and what to do.
    """

    def __init__(self, path: str, device: str, make: Callable[[], Driver[AnyUser]]) -> None:
        super().__init__(path, device)
        self._make = make
        self._made: Driver[AnyUser] | None = None

    def health(self) -> LinkHealth:
        """The present state of the device's link."""
        return super().health() if self._made is None else self._made.health()

    async def _connection(self, user: AnyUser) -> None:
        self._made = self._make()
        await self._made.run(user)

    def _serial(self) -> None:
        """The device's serial number is asked of its driver."""

    def _counters(self) -> Mapping[str, int]:
        return {}


def listing(folder: Path) -> str:
    """The names in a folder of device links, as part of a message."""
    try:
        names = sorted(each.name for each in folder.iterdir())
    except OSError:
        names = []
    return f"in {folder} there is {', '.join(names) or 'nothing'}"
