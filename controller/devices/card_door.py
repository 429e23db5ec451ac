"""The card reader's door: a swipe completes the confirmed award in the name of whose card it is, by what that person may do.

A card that is nobody's, and one of somebody who may complete no award, are refused on the record; a card's number is written
nowhere. Where the house asks for a second factor, an award that needs an Executive card needs its owner's password too, given
at a console soon after the swipe.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

import structlog

from punto.baccarat.progressive.events import CardLevel, Won
from punto.baccarat.progressive.nexus import SwipeCard
from punto.baccarat.progressive.procedure import CONFIRMED
from punto.baccarat.table.events import AccessRefused
from punto.baccarat.table.possible import refusal
from punto.controller.accounts.accounts import Account, Accounts
from punto.controller.accounts.refusals import AccountsError
from punto.controller.accounts.roles import card_level, orders_of
from punto.controller.devices.device import DeviceDoor
from punto.controller.engine import Engine
from punto.controller.outbox import Outbox
from punto.drivers.base import CardAnswer, CardReaderDriver

SOURCE: Final = "card reader"
"""Where the record says that these orders, and whom it refused, came from."""

PASSWORD_SECONDS: Final = 30.0
"""How long a swipe waits for its owner's password."""

_WHAT: Final = "swipe_card"
_TAKEN: Final = CardAnswer("accepted", "the award is logged and the meter adjusted")
_UNKNOWN: Final = CardAnswer("refused", "this card is nobody's who may confirm an award")
_NO_ACCOUNTS: Final = CardAnswer("refused", "the accounts cannot be read: call a technician")
_PASSWORD: Final = CardAnswer(
    "second_factor", f"give your password at the console within {PASSWORD_SECONDS:.0f} s"
)
_NOBODY_WAITS: Final = CardAnswer("refused", "no card waits for a password: swipe it, or swipe it again")

_Award = tuple[int, Won | None, tuple[int, ...]]
"""What a card completes: the game, what its hand won, and whose hands are selected."""

SecondFactor = Callable[[Account, str, str, str], Awaitable[Account]]
"""Checks an owner's password, given at a place for something: `Gate.second_factor`."""

_log = structlog.get_logger("punto.consoles")


@dataclass(frozen=True, slots=True)
class Pending:
    """A swipe whose owner must give the password too, `until` then by the door's clock, for this award and no other."""

    owner: Account
    until: float
    award: _Award | None


class CardDoor(DeviceDoor[CardReaderDriver]):
    """Takes the swipes at one table's card reader, and tells how it is: `punto.drivers.base.CardReaderUser`."""

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

    def awaited(self) -> bool:
        """Whether an award is confirmed and a card is to complete it."""
        return self._award() is not None

    async def swipe(self, number: str) -> CardAnswer:
        """Take one swipe; see `CardReaderUser.swipe`."""
        self._pending = None
        try:
            # In a thread: it takes tens of milliseconds.
            owner = await asyncio.to_thread(self._accounts.owner_of, number)
        except AccountsError as error:
            _log.warning("accounts cannot be read", reason=str(error))
            return _NO_ACCOUNTS
        if owner is None or _WHAT not in orders_of(owner.roles):
            code = "unknown_card" if owner is None else "not_of_role"
            who = None if owner is None else owner.name
            await self._submit(AccessRefused(who, _WHAT, code, SOURCE), SOURCE)
            return _UNKNOWN
        level = card_level(owner.roles)
        if self._second_factor and level == "executive":
            by_supervisor = refusal(self._engine.state, SwipeCard(owner.name, "supervisor"))
            if by_supervisor is not None and by_supervisor.code == "executive_needed":
                self._pending = Pending(owner, self._clock() + PASSWORD_SECONDS, self._award())
                return _PASSWORD
        return await self._complete(owner, level)

    async def _complete(self, owner: Account, level: CardLevel) -> CardAnswer:
        handled = await self._submit(SwipeCard(owner.name, level), SOURCE)
        return _TAKEN if handled.refusal is None else CardAnswer("refused", str(handled.refusal))

    async def unreadable(self) -> None:
        """Nothing: the reader says so itself, and whoever swiped swipes again."""

    @property
    def pending(self) -> Pending | None:
        """The swipe that waits for its owner's password, None where none does."""
        waits = self._pending
        if waits is not None and (self._clock() >= waits.until or waits.award != self._award()):
            self._pending = None
        return self._pending

    def _award(self) -> _Award | None:
        progressive = self._engine.state.progressive
        if progressive is None or progressive.procedure.step is not CONFIRMED:
            return None
        hand = progressive.procedure.hand
        return (hand.round, hand.won, hand.selected)

    def password_of(self) -> str | None:
        """Whose card was swiped and waits for its owner's password, None where none does."""
        return None if self.pending is None else self.pending.owner.name

    async def confirm(self, password: str, where: str, second_factor: SecondFactor) -> CardAnswer:
        """Complete the award of the swipe that waits, when this is its owner's password; `where` it was given is a console.

        Raises:
            NotLetInError: it is not accepted; the swipe still waits.
            AccountsError: the accounts cannot be read.
        """
        pending = self.pending
        if pending is None:
            return _NOBODY_WAITS
        await second_factor(pending.owner, password, where, _WHAT)
        if self.pending is not pending:  # it took too long, or another card was swiped meanwhile
            return _NOBODY_WAITS
        self._pending = None
        return await self._complete(pending.owner, "executive")
