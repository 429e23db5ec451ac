"""The card reader's door: a swipe completes the confirmed award in the name of the card's owner.

A card without an owner, and a card whose owner may not complete awards, are refused and the refusal is recorded. A card's
number is never written. Unless the house waives the second factor, an executive's card also needs its owner's password,
given at a console within 30 s of the swipe.
"""

import asyncio
import math
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

import structlog

from punto.baccarat.progressive.events import CardLevel, Won
from punto.baccarat.progressive.nexus import SwipeCard
from punto.baccarat.progressive.procedure import CONFIRMED
from punto.baccarat.table.events import CARD_GUESSING, AccessRefused
from punto.controller.accounts.accounts import Account, Accounts
from punto.controller.accounts.refusals import AccountsError
from punto.controller.accounts.roles import card_level, orders_of
from punto.controller.devices.door import DeviceDoor
from punto.controller.engine import Engine
from punto.controller.outbox import Outbox
from punto.drivers.base import CardAnswer, CardReaderDriver

SOURCE: Final = "card reader"
"""The source of these orders and refusals on the record."""

PASSWORD_SECONDS: Final = 30.0
"""How long a swipe waits for its owner's password."""

MISSES: Final = 5
"""So many swipes within `MISSED_SECONDS` that could complete nothing lock the reader for `LOCKED_SECONDS`."""
MISSED_SECONDS: Final = 300.0
LOCKED_SECONDS: Final = 60.0

_ORDER: Final = "swipe_card"
_ACCEPTED: Final = CardAnswer("accepted", "the award is logged and the meter adjusted")
_NOT_ACCEPTED: Final = CardAnswer("refused", "this reader is not accepted: a supervisor must accept it")
_UNKNOWN: Final = CardAnswer("refused", "this card has no owner, or its owner may not confirm an award")
_NOT_AWAITED: Final = CardAnswer("refused", "no award waits for a card")
_LOCKED: Final = CardAnswer(
    "refused", f"too many cards were refused: wait {LOCKED_SECONDS:.0f} s, or sign at a console"
)
_NO_ACCOUNTS: Final = CardAnswer("refused", "the accounts cannot be read: call a technician")
_PASSWORD: Final = CardAnswer(
    "second_factor", f"give your password at the console within {PASSWORD_SECONDS:.0f} s"
)
_TOO_FAST: Final = CardAnswer("refused", "too many cards at once: wait a moment, and swipe the card again")
_NONE_PENDING: Final = CardAnswer("refused", "no card waits for a password: swipe the card (again)")

_Award = tuple[int, Won | None, tuple[int, ...]]
"""The award that a card completes: the game, what its hand won, and the selected seats."""

SecondFactor = Callable[[Account, str, str, str], Awaitable[Account]]
"""Checks an owner's password, given at a place for an order: `Gate.second_factor`."""

_log = structlog.get_logger("punto.controller.devices")


@dataclass(frozen=True, slots=True)
class Pending:
    """A swipe that waits for its owner's password `until` a time of the door's clock, for this award only."""

    owner: Account
    until: float
    award: _Award | None


class CardDoor(DeviceDoor[CardReaderDriver]):
    """The door of one table's card reader: `punto.drivers.base.CardReaderUser`."""

    device = "card_reader"

    def __init__(
        self,
        engine: Engine,
        outbox: Outbox,
        driver: CardReaderDriver,
        accounts: Accounts,
        *,
        second_factor: bool,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(engine, outbox, driver)
        self._accounts = accounts
        self._second_factor = second_factor
        self._clock = clock
        self._pending: Pending | None = None
        self._misses: list[float] = []  # when each was
        self._locked_until = -math.inf

    def gives(self) -> frozenset[str]:
        """As `DeviceDoor.gives`."""
        return frozenset({_ORDER} if self._in_use else ())

    def awaited(self) -> bool:
        """Whether an award is confirmed and needs a card to complete it."""
        return self._accepted and self._award() is not None

    async def swipe(self, number: str) -> CardAnswer:
        """Handle one swipe; see `CardReaderUser.swipe`."""
        self._pending = None
        if not await self._is_accepted():
            return _NOT_ACCEPTED
        if self._clock() < self._locked_until:
            return _LOCKED
        if self._award() is None:  # whose card it is is not even looked up, so the answer cannot tell
            return await self._missed(None, "not_awaited", _NOT_AWAITED)
        return await self._of_owner(number)

    async def _of_owner(self, number: str) -> CardAnswer:
        try:
            # In a thread, because it takes tens of milliseconds.
            owner = await asyncio.to_thread(self._accounts.owner_of, number)
        except AccountsError as error:
            _log.warning("accounts cannot be read", reason=str(error))
            return _NO_ACCOUNTS
        if owner is None or _ORDER not in orders_of(owner.roles):
            code = "unknown_card" if owner is None else "not_of_role"
            who = None if owner is None else owner.name
            return await self._missed(who, code, _UNKNOWN)
        level = card_level(owner.roles)
        if self._second_factor and level == "executive":
            self._pending = Pending(owner, self._clock() + PASSWORD_SECONDS, self._award())
            return _PASSWORD
        return await self._complete(owner, level)

    async def _missed(self, who: str | None, code: str, answer: CardAnswer) -> CardAnswer:
        """Refuse a swipe that can complete nothing; after a few, lock the reader, because somebody may be guessing cards."""
        now = self._clock()
        self._misses = [*(each for each in self._misses if now - each < MISSED_SECONDS), now]
        await self._submit(AccessRefused(who, _ORDER, code, SOURCE), SOURCE)
        if len(self._misses) >= MISSES:
            self._misses, self._locked_until = [], now + LOCKED_SECONDS
            await self._submit(AccessRefused(None, _ORDER, CARD_GUESSING, SOURCE), SOURCE)
        return answer

    async def _complete(self, owner: Account, level: CardLevel) -> CardAnswer:
        handled = await self._submit(SwipeCard(owner.name, level), SOURCE)
        if handled is None:
            return _TOO_FAST
        return _ACCEPTED if handled.refusal is None else CardAnswer("refused", str(handled.refusal))

    async def unreadable(self) -> None:
        """Do nothing: the reader shows it, and the owner swipes again."""

    @property
    def pending(self) -> Pending | None:
        """The swipe that waits for its owner's password, or None."""
        pending = self._pending
        if pending is not None and (self._clock() >= pending.until or pending.award != self._award()):
            self._pending = None
        return self._pending

    def _award(self) -> _Award | None:
        progressive = self._engine.state.progressive
        if progressive is None or progressive.procedure.step is not CONFIRMED:
            return None
        hand = progressive.procedure.hand
        return (hand.round, hand.won, hand.selected)

    def password_of(self) -> str | None:
        """The owner of the card that waits for a password, or None."""
        return None if self.pending is None else self.pending.owner.name

    async def confirm(self, password: str, where: str, second_factor: SecondFactor) -> CardAnswer:
        """Complete the award of the waiting swipe, if this is its owner's password; `where` is the console's address.

        Raises:
            NotLetInError: the password is not accepted; the swipe still waits.
            AccountsError: the accounts cannot be read.
        """
        pending = self.pending
        if pending is None:
            return _NONE_PENDING
        await second_factor(pending.owner, password, where, _ORDER)
        if self.pending is not pending:  # the check took too long, or another card was swiped meanwhile
            return _NONE_PENDING
        self._pending = None
        return await self._complete(pending.owner, "executive")
