"""A table takes over its house's accounts, whenever the Game Manager has sent a new copy of them."""

import asyncio
import math
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Final

import structlog

from punto.baccarat.table.events import HOUSE_ACCOUNTS, AccessRefused
from punto.controller.accounts.accounts import Accounts
from punto.controller.accounts.gate import Accesses
from punto.controller.accounts.house import CopyError, read_copy
from punto.controller.accounts.refusals import AccountsError
from punto.runtime.broker_link import Received

REFUSED_AGAIN_SECONDS: Final = 60.0
"""Refused copies are recorded once in this time: more would let an attacker fill the disk."""

_log = structlog.get_logger("punto.controller")


class Takeover:
    """Takes the copies for the accounts' file at `path`, if the house with the public key `house` signed them."""

    def __init__(
        self, path: Path, house: str, accesses: Accesses, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._path = path
        self._house = house
        self._accesses = accesses
        self._clock = clock
        self._recorded = -math.inf

    async def take(self, message: Received) -> None:
        """Take over the copy in a message. If it is refused, this is logged, and recorded with an alarm.

        Raises:
            RecordError: the refusal could not be recorded.
        """
        try:
            if await asyncio.to_thread(self._adopt, message.payload):
                _log.info("took over the house's accounts")
        except CopyError as error:
            await self._refuse(error.code, str(error))
        except AccountsError as error:
            await self._refuse("not_stored", str(error))

    def _adopt(self, payload: bytes) -> bool:
        copy = read_copy(payload, self._house)
        with closing(Accounts.open(self._path)) as accounts:
            return accounts.adopt(copy)

    async def _refuse(self, code: str, reason: str) -> None:
        now = self._clock()
        if now - self._recorded < REFUSED_AGAIN_SECONDS:
            return
        self._recorded = now
        _log.warning("copy of the house's accounts refused", code=code, reason=reason)
        await self._accesses.record(AccessRefused(None, HOUSE_ACCOUNTS, code, "the broker"))
