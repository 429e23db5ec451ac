"""Who may come in: sign-on, sessions and their end, each on the record before it holds.

Nothing about an account can be learned from outside. A name that is no account's costs the same work as one that is,
is counted and locked out like one, and gets the same answers.
"""

import asyncio
import hashlib
import math
import secrets
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from controller.engine import Engine
from controller.messages.building import timestamp
from controller.operators.accounts import Account, Accounts, folded, nobodys_hash, verified
from controller.operators.roles import AT_THE_TABLE, Role
from controller.table.events import Access, AccessRefused, SessionBegun, SessionEnded, SignOn
from controller.table.state import Phase

SOURCE: Final = "console"
"""What the record names as the source of who came in and went."""

_MINUTE: Final = 60.0
_WAITING_AT_MOST: Final = (
    20  # a password takes tens of milliseconds: whoever is behind so many would wait for seconds
)
_REMEMBERED: Final = 1000  # addresses, and names that are no account's


@dataclass(frozen=True, slots=True)
class Policy:
    """How long a session holds and how often one may guess.

    - `idle_minutes`: a session ends after so long without a request of its own.
    - `lock_out_after`: so many wrong passwords in a row lock an account out, for `lock_out_minutes`.
    - `refusals_per_minute`: so many refusals an address may collect.
    """

    idle_minutes: float
    lock_out_after: int
    lock_out_minutes: float
    refusals_per_minute: int


class NotLetInError(Exception):
    """A name and password that are not accepted. `code` is refused, locked_out or too_many; the message is for people.

    `retry_after` says in how many seconds it makes sense to try again, None where that changes nothing.
    """

    def __init__(self, code: str, message: str, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.retry_after = retry_after


@dataclass(eq=False, slots=True)
class Session:
    """Somebody signed on. `seen` is when they last did something, by the monotonic clock; `over` once it has ended.

    `streams` are the views that are open, the oldest first.
    """

    name: str
    roles: tuple[Role, ...]
    where: str
    version: int
    seen: float
    csrf: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    over: bool = False
    streams: list[object] = field(default_factory=list)


@dataclass(slots=True)
class _Tries:
    """Wrong passwords for one name, of an account at one `version`: a change of the account forgives them."""

    version: int
    failures: int = 0
    last: float = -math.inf
    locked_until: float = -math.inf


class Gate:
    """The sessions of one table, and the way into them.

    A session's cookie is a random token that is given out once; what is kept is its hash.
    """

    def __init__(
        self, accounts: Accounts, engine: Engine, policy: Policy, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._accounts = accounts
        self._engine = engine
        self._policy = policy
        self._clock = clock
        self._sessions: dict[str, Session] = {}
        self._tries: OrderedDict[tuple[bool, str], _Tries] = OrderedDict()
        self._refusals: OrderedDict[str, deque[float]] = OrderedDict()
        self._one_at_a_time = asyncio.Lock()  # each takes 64 MB and all the processor's cores
        self._waiting = 0
        self._coming_in = asyncio.Lock()
        # What an unknown name's password is held against; it is nobody's.
        self._nobody = nobodys_hash()

    # --- coming in

    async def sign_on(self, name: str, password: str, where: str, before: str | None) -> tuple[str, Session]:
        """Begin a session and return its token. One that the account has elsewhere ends, and the one of the token `before`.

        Raises:
            NotLetInError: the name and password are not accepted.
            AccountsError: the accounts cannot be read.
            RecordError: it could not be put on the record.
        """
        account = await self.check(name, password, where, "sign_on")
        async with self._coming_in:  # of two at once, the later must see the session of the earlier
            return await self._come_in(account, where, before)

    async def _come_in(self, account: Account, where: str, before: str | None) -> tuple[str, Session]:
        replaced = [each for each in self._sessions.values() if each.name == account.name]
        earlier = self._sessions.get(_hash(before)) if before is not None else None
        if earlier is not None and earlier not in replaced:
            replaced.append(earlier)
        for each in replaced:
            await self.end(each, "signed on again")
        events: list[Access | SignOn] = [SessionBegun(account.name, account.roles, where)]
        if self._takes_the_table(account):
            events.append(SignOn(account.name))
        # In a thread: it waits for the disk, and for whoever is writing to the accounts.
        await asyncio.to_thread(self._accounts.signed_on, account, timestamp(datetime.now(UTC)))
        await self._engine.submit(events, SOURCE)
        token = secrets.token_urlsafe(32)
        session = Session(account.name, account.roles, where, account.version, self._clock())
        self._sessions[_hash(token)] = session
        return token, session

    def _takes_the_table(self, account: Account) -> bool:
        if Role.DEALER in account.roles:
            return True
        return self._engine.state.phase is Phase.LOCKED and not AT_THE_TABLE.isdisjoint(account.roles)

    async def check(self, name: str, password: str, where: str, what: str) -> Account:
        """The account of this name and password, which somebody at `where` gives to do `what`.

        Raises:
            NotLetInError: they are not accepted; the refusal is on the record.
            AccountsError: the accounts cannot be read.
            RecordError: the refusal could not be put on the record.
        """
        if self._waiting >= _WAITING_AT_MOST:
            raise NotLetInError("too_many", "too many people sign on at once: try again in 5 s", 5)
        attempt = await self._count(where, where, what)
        self._waiting += 1
        try:
            async with self._one_at_a_time:
                return await self._check(name, password, where, what, attempt)
        finally:
            self._waiting -= 1

    async def second_factor(self, owner: Account, password: str, where: str, what: str) -> Account:
        """The account of whoever swiped a card, when this is its password; `owner` is who the swipe was known as.

        It is asked for as at sign-on: with the same refusals, counted and locked out alike.

        Raises:
            NotLetInError: it is not accepted, or the account was changed since the swipe: its card may have been taken away.
            AccountsError: the accounts cannot be read.
            RecordError: the refusal could not be put on the record.
        """
        account = await self.check(owner.name, password, where, what)
        if account.version != owner.version:
            await self._refuse(account.name, what, "changed", where)
            raise NotLetInError(
                "refused", "the account was changed since the card was swiped: swipe it again"
            )
        return account

    async def _count(self, whose: str, where: str, what: str) -> float:
        """Count an attempt against an address or a person, as a refusal until it is known to be none.

        Raises:
            NotLetInError: `whose` refusals are as many as they may be.
        """
        now = self._clock()
        refusals = self._refusals.pop(whose, None) or deque()
        self._refusals[whose] = refusals  # as the latest
        if len(self._refusals) > _REMEMBERED:
            self._refusals.popitem(last=False)
        while refusals and refusals[0] <= now - _MINUTE:
            refusals.popleft()
        most = self._policy.refusals_per_minute
        if len(refusals) >= most:
            wait = math.ceil(refusals[0] + _MINUTE - now)
            if len(refusals) == most:  # once a minute is on the record: more would let anybody fill the disk
                refusals.append(refusals[-1])
                await self._refuse(None, what, "too_many", where)
            raise NotLetInError("too_many", f"too many refusals: try again in {wait} s", wait)
        refusals.append(now)
        return now

    async def _check(self, name: str, password: str, where: str, what: str, attempt: float) -> Account:
        account = self._accounts.find(name)
        tries = self._tries_of(account, name)
        now = self._clock()
        who = None if account is None else account.name
        if now < tries.locked_until:
            await self._refuse(who, what, "locked_out" if account else "unknown_name", where)
            raise self._locked_out(tries, now)
        hash_ = self._nobody if account is None else self._accounts.hash_of(account)
        right = await asyncio.to_thread(verified, hash_, password)
        if right and account is not None and not account.disabled:
            tries.failures = 0
            with suppress(
                KeyError, ValueError
            ):  # it is forgotten already, after a minute or a thousand addresses
                self._refusals[where].remove(attempt)
            return account
        now = self._clock()
        if now > tries.last + _MINUTE * self._policy.lock_out_minutes:
            tries.failures = 0
        tries.failures += 1
        tries.last = now
        if tries.failures >= self._policy.lock_out_after:
            tries.failures = 0
            tries.locked_until = now + _MINUTE * self._policy.lock_out_minutes
            await self._refuse(who, what, "locked_out" if account else "unknown_name", where)
            raise self._locked_out(tries, now)
        code = "unknown_name" if account is None else "wrong_password" if not right else "disabled"
        await self._refuse(who, what, code, where)
        raise NotLetInError("refused", "the name or the password is wrong, or the account is disabled")

    def _tries_of(self, account: Account | None, name: str) -> _Tries:
        version = 0 if account is None else account.version
        key = (account is not None, folded(name))
        tries = self._tries.get(key)
        if tries is None or tries.version != version:
            tries = self._tries[key] = _Tries(version)
        self._tries.move_to_end(key)
        unknown = [each for each in self._tries if not each[0]]
        if len(unknown) > _REMEMBERED:
            del self._tries[unknown[0]]
        return tries

    def _locked_out(self, tries: _Tries, now: float) -> NotLetInError:
        seconds = math.ceil(tries.locked_until - now)
        minutes = math.ceil(seconds / _MINUTE)
        return NotLetInError(
            "locked_out",
            f"locked out after too many wrong passwords: try again in {minutes} min, or let a technician lift it on the "
            "table's PC (punto operators enable)",
            seconds,
        )

    # --- while somebody is in

    async def session_of(self, token: str, *, active: bool) -> Session | None:
        """The session of a cookie's token, None if it is none or has ended; `active` unless a page asks by itself.

        Raises:
            AccountsError: the accounts cannot be read.
            RecordError: its end could not be put on the record.
        """
        session = self._sessions.get(_hash(token))
        if session is None or await self._ended(session):
            return None
        if active:
            session.seen = self._clock()
        return session

    async def holds(self, session: Session) -> bool:
        """Whether a session still is one.

        Raises:
            RecordError: its end could not be put on the record.
        """
        return not await self._ended(session)

    async def refuse_role(self, who: str, what: str, where: str) -> None:
        """Put on the record that somebody's roles do not allow what they wanted.

        It counts against them and not against their address, where others sign on too.

        Raises:
            NotLetInError: they have had as many refusals as they may: more would let anybody fill the disk.
            RecordError: it could not be put there.
        """
        await self._count(f"role of {folded(who)}", where, what)
        await self._refuse(who, what, "not_of_role", where)

    async def _refuse(self, who: str | None, what: str, code: str, where: str) -> None:
        """Put on the record that somebody was refused something.

        Raises:
            RecordError: it could not be put there.
        """
        await self._engine.submit([AccessRefused(who, what, code, where)], SOURCE)

    # --- going out

    async def sweep(self) -> None:
        """End the sessions that have been inactive for too long or whose account has changed.

        Raises:
            AccountsError: the accounts cannot be read.
            RecordError: an end could not be put on the record.
        """
        for session in list(self._sessions.values()):
            await self._ended(session)

    async def end(self, session: Session, why: str) -> None:
        """End a session.

        Raises:
            RecordError: it could not be put on the record; it is over all the same.
        """
        if session.over:
            return
        session.over = True
        self._sessions = {key: each for key, each in self._sessions.items() if each is not session}
        await self._engine.submit([SessionEnded(session.name, why)], SOURCE)

    async def _ended(self, session: Session) -> bool:
        """Whether a session is over, or is to end now."""
        why = None
        account = self._accounts.find(session.name)
        if account is None or account.version != session.version:
            why = "the account was changed"
        elif self._clock() - session.seen >= _MINUTE * self._policy.idle_minutes:
            why = "inactive"
        if why is not None:
            await self.end(session, why)
        return session.over


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
