"""Sign-on, sessions and their end. Each is recorded before it takes effect.

Nothing about an account can be learned from outside. A name without an account takes the same work, is counted, locked out
and forgotten in the same way, and gets the same answers.

A lock-out cannot be used against the house. Wrong passwords lock a name out only where they came from: at one address, in
one browser that the account has used before, or at one address where someone is signed on. Guesses from many addresses are
slowed down together; known browsers and people who are signed on are not. How many wrong passwords are too many is
`lock_out_after` of `SignOnConfig` in `controller/config/sections.py`.
"""

import asyncio
import ipaddress
import math
import secrets
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Awaitable, Callable
from contextlib import closing, nullcontext, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple, Protocol

from punto.baccarat.table.events import Access, AccessRefused, SessionBegun, SessionEnded
from punto.configs.characters import folded
from punto.controller.accounts import security_keys
from punto.controller.accounts.accounts import Account, Accounts
from punto.controller.accounts.passwords import hash_of_token, nobodys_hash, verified
from punto.controller.accounts.refusals import NotLetInError, RefusalError
from punto.controller.accounts.roles import Role
from punto.controller.accounts.security_keys import CHALLENGE_BYTES, Signed, WrongKeyError
from punto.controller.config.sections import SignOnConfig
from punto.messages.building import timestamp
from punto.runtime.pace import Pace, pages_of

_MINUTE: Final = 60.0
_WAITING_AT_MOST: Final = 20
"""The passwords that wait to be checked, from known origins and from all others separately. Each takes tens of
milliseconds, so a longer queue would take seconds."""
_WAITING_FROM_ONE: Final = 10
"""The same from one origin, so that one origin cannot take all places."""
_REMEMBERED: Final = 10_000  # addresses, and pairs of a name and its origin
_ADDING_SECONDS: Final = 120.0
"""The time after the password was given in which a security key can be added."""
_LONGEST_PAUSE: Final = 60.0
"""The longest time in seconds between two guesses at one name, from any number of addresses."""

_NOT_NOW: Final = (
    (
        "locked_out",
        "locked_out",
        (
            "locked out after too many wrong passwords from here: try again in {minutes} min, or ask a technician to lift the "
            "lock-out on the table's PC (punto operators enable)"
        ),
    ),
    (
        "slowed_down",
        "too_many",
        "too many wrong passwords for this name, from several places: try again in {seconds} s, or sign on at a browser where you have signed on before",
    ),
)
"""For wrong passwords from here, and from all other origins: the record's code, the answer's code, and its message."""


@dataclass(eq=False, slots=True)
class Session:
    """The session of a person who is signed on.

    `seen` is the time of the last activity, by the monotonic clock; `over` is true after the session's end. `streams` are
    the open views, the oldest first; `adding` is the challenge for a new security key, and the time until which it is valid.
    """

    number: int
    name: str
    roles: tuple[Role, ...]
    where: str
    version: int
    seen: float
    csrf: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    over: bool = False
    streams: list[object] = field(default_factory=list)
    adding: tuple[bytes, float] | None = None


class SignedOn(NamedTuple):
    """The tokens for a browser at sign-on: the session's, and the browser's own, by which it is known from then on."""

    token: str
    session: Session
    browser: str


class _Origin(NamedTuple):
    """The origin of a name and password. Attempts are counted for each `key`.

    An origin is `known` if the account has signed on in that browser before, or if someone is signed on there. Known
    origins have their own places in the queue and are not slowed down with all others.
    """

    key: str
    known: bool


class _Proof(NamedTuple):
    """A proof of identity: `fault` returns the record's code for the error in it, None if it is correct."""

    noun: str
    fault: Callable[[Account | None], Awaitable[str | None]]


@dataclass(slots=True)
class _Tries:
    """Wrong passwords for one name, for one `version` of the account: a change of the account clears them."""

    version: int
    failures: int = 0
    last: float = -math.inf
    locked_until: float = -math.inf


class Accesses(Protocol):
    """The place where people sign on: who may, how fast each client may ask, and the record of each access.

    `record` raises an error if the access could not be recorded; it then does not take effect.
    """

    @property
    def pace(self) -> Pace:
        """How fast each client may ask."""

    def admits(self, roles: tuple[Role, ...], /) -> bool:
        """Whether people with these roles may sign on."""

    async def record(self, access: Access, /) -> None:
        """Record an access, and what follows from it at this place."""


class Gate:
    """The sessions of one place, and sign-on. A session ends after `idle_minutes` without activity.

    A session's cookie is a random token; only its hash is stored.

    Each method raises AccountsError if the accounts cannot be read or written, and the error of `accesses` if something
    could not be recorded.
    """

    def __init__(
        self,
        accounts: Accounts,
        accesses: Accesses,
        policy: SignOnConfig,
        idle_minutes: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.accounts = accounts
        self._accesses = accesses
        self.policy = policy
        self.idle_seconds = 60 * idle_minutes
        self._clock = clock
        self._sessions: dict[str, Session] = {}
        self._tries: OrderedDict[tuple[str, str], _Tries] = OrderedDict()  # by name and origin
        self._refusals: OrderedDict[str, deque[float]] = OrderedDict()
        self._one_at_a_time = asyncio.Lock()  # each check takes 64 MB and all the processor's cores
        self._unknown_origins = (
            asyncio.Lock()
        )  # at most one check of an unknown origin is ahead of a known one
        self._waiting: Counter[_Origin] = Counter()
        self._signing_on = asyncio.Lock()
        self._unknown_hash = nobodys_hash()  # an unknown name's password is verified against it

    def close(self) -> None:
        """Close the accounts."""
        self.accounts.close()

    # --- sign-on and checks

    async def sign_on(
        self, name: str, password: str, where: str, before: str | None = None, browser: str | None = None
    ) -> SignedOn:
        """Begin a session. The account's other session ends, and the session of the token `before`.

        `browser` is the token that an earlier sign-on gave to this browser.

        Raises:
            NotLetInError: the name and password are not accepted.
            RefusalError: the person signs on too often, or has no role that may sign on here.
        """
        known_here = frozenset[int]() if browser is None else self.accounts.known_at(browser)
        found = self.accounts.find(name)
        origin = _Origin(_place(where), known=False)
        if browser is not None and found is not None and found.number in known_here:
            origin = _Origin(f"browser {hash_of_token(browser)} at {origin.key}", known=True)
        account = await self._authenticate(name, self._by_password(password), where, "sign_on", origin)
        if not self._accesses.admits(account.roles):
            await self.refuse_role(account.name, "sign_on", where)
            raise RefusalError(403, "not_of_role", "your roles do not allow signing on here")
        at_sign_on = f"account {account.name} at sign-on"
        self._refuse_flood(at_sign_on, "sign-ons")
        self._accesses.pace.charge(at_sign_on)  # each is several inputs
        async with self._signing_on:  # of two sign-ons at once, the later must see the session of the earlier
            token = browser if browser is not None and known_here else secrets.token_urlsafe(32)
            return await self._begin(account, where, before, token)

    async def _begin(self, account: Account, where: str, before: str | None, browser: str) -> SignedOn:
        own = [each for each in self._sessions.values() if each.name == account.name]
        for each in [*own, self._sessions.get(hash_of_token(before or ""))]:
            if each is not None:
                await self.end(each, "signed on again")
        # In a thread, because it waits for the disk, and for other writers to the accounts.
        await asyncio.to_thread(self.accounts.signed_on, account, timestamp(datetime.now(UTC)), browser)
        await self._accesses.record(SessionBegun(account.name, account.roles, where))
        token = secrets.token_urlsafe(32)
        session = Session(account.number, account.name, account.roles, where, account.version, self._clock())
        self._sessions[hash_of_token(token)] = session
        return SignedOn(token, session, browser)

    async def check(self, name: str, password: str, where: str, what: str) -> Account:
        """The account of this name and password, given for `what` at a place where someone is already signed on.

        These attempts are counted apart from sign-ons, so that sign-ons cannot block an approval.

        Raises:
            NotLetInError: they are not accepted; the refusal is recorded.
        """
        return await self._authenticate(name, self._by_password(password), where, what)

    async def check_key(self, name: str, given: Signed, where: str, what: str) -> Account:
        """Do as `check`, by the account's security key. A wrong key counts like a wrong password for the lock-out.

        Raises:
            NotLetInError: the key is not accepted; the refusal is recorded.
        """

        async def fault(account: Account | None) -> str | None:
            if account is None or account.security_key is None:
                return "wrong_key"
            try:
                count = await asyncio.to_thread(security_keys.sign_count, account.security_key, given)
            except WrongKeyError:
                return "wrong_key"
            return None if await asyncio.to_thread(self.accounts.counts_up, account, count) else "cloned_key"

        return await self._authenticate(name, _Proof("security key", fault), where, what)

    def _by_password(self, password: str) -> _Proof:
        async def fault(account: Account | None) -> str | None:
            hash_ = self._unknown_hash if account is None else self.accounts.hash_of(account)
            return None if await asyncio.to_thread(verified, hash_, password) else "wrong_password"

        return _Proof("password", fault)

    async def _authenticate(
        self, name: str, proof: _Proof, where: str, what: str, origin: _Origin | None = None
    ) -> Account:
        origin = origin or _Origin(f"signed on at {_place(where)}", known=True)
        waiting = sum(count for each, count in self._waiting.items() if each.known is origin.known)
        if waiting >= _WAITING_AT_MOST or self._waiting[origin] >= _WAITING_FROM_ONE:
            raise NotLetInError("too_many", "too many people sign on at once: try again in 5 s", 5)
        attempt = await self._count(origin.key, where, what)
        self._waiting[origin] += 1
        try:
            async with nullcontext() if origin.known else self._unknown_origins, self._one_at_a_time:
                return await self._check(name, proof, where, what, origin, attempt)
        finally:
            self._waiting[origin] -= 1
            self._waiting += Counter()  # removes the zeros

    async def second_factor(self, owner: Account, password: str, where: str, what: str) -> Account:
        """The account of a card's owner, if this is its password; `owner` is the account at the time of the swipe.

        Wrong passwords are refused, counted and locked out with those of approvals.

        Raises:
            NotLetInError: the password is not accepted, or the account was changed since the swipe and may have lost its card.
        """
        account = await self.check(owner.name, password, where, what)
        if account.version != owner.version:
            await self._refuse(account.name, what, "changed", where)
            raise NotLetInError(
                "refused", "the account was changed after the card was swiped: swipe the card again"
            )
        return account

    async def _count(self, whose: str, where: str, what: str) -> float:
        """Count an attempt of an address or a person as a refusal; `_check` removes it if it succeeds."""
        now = self._clock()
        refusals = self._refusals.pop(whose, None) or deque()
        self._refusals[whose] = refusals  # now the latest
        if len(self._refusals) > _REMEMBERED:
            self._refusals.popitem(last=False)
        while refusals and refusals[0] <= now - _MINUTE:
            refusals.popleft()
        most = self.policy.refusals_per_minute
        if len(refusals) >= most:
            wait = math.ceil(refusals[0] + _MINUTE - now)
            if len(refusals) == most:  # recorded once a minute: more would let an attacker fill the disk
                refusals.append(refusals[-1])
                await self._refuse(None, what, "too_many", where)
            raise NotLetInError("too_many", f"too many refusals: try again in {wait} s", wait)
        refusals.append(now)
        return now

    async def _check(
        self, name: str, proof: _Proof, where: str, what: str, origin: _Origin, attempt: float
    ) -> Account:
        account = self.accounts.find(name)
        here = self._tries_of(account, name, origin.key)
        tries = [here] if origin.known else [here, self._tries_of(account, name, "all others")]
        await self._refuse_for_now(account, tries, what, where)
        fault = await proof.fault(account)
        if fault is None and account is not None and not account.disabled and not account.altered:
            for each in tries:
                each.failures = 0
            # After a minute, or after thousands of addresses, it is already gone.
            with suppress(KeyError, ValueError):
                self._refusals[origin.key].remove(attempt)
            return account
        now = self._clock()
        for each in tries:
            if now > each.last + _MINUTE * self.policy.lock_out_minutes:
                each.failures = 0
            each.failures += 1
            each.last = now
        for others in tries[1:]:
            beyond = others.failures - self.policy.lock_out_after
            if beyond > 0:
                others.locked_until = now + min(2 ** min(beyond, 10), _LONGEST_PAUSE)
        if here.failures >= self.policy.lock_out_after:
            here.failures = 0
            here.locked_until = now + _MINUTE * self.policy.lock_out_minutes
            await self._refuse_for_now(account, [here], what, where)
        disabled = "altered" if account is not None and account.altered else "disabled"
        await self._refuse_name(account, what, fault or disabled, where)
        raise NotLetInError("refused", f"the name or the {proof.noun} is wrong, or the account is disabled")

    async def _refuse_for_now(
        self, account: Account | None, tries: list[_Tries], what: str, where: str
    ) -> None:
        """Refuse a name that is locked out here, or that comes too soon after wrong passwords from other origins."""
        now = self._clock()
        for each, (on_record, code, reason) in zip(tries, _NOT_NOW, strict=False):
            if now < each.locked_until:
                await self._refuse_name(account, what, on_record, where)
                seconds = math.ceil(each.locked_until - now)
                minutes = math.ceil(seconds / _MINUTE)
                raise NotLetInError(code, reason.format(seconds=seconds, minutes=minutes), seconds)

    async def _refuse_name(self, account: Account | None, what: str, code: str, where: str) -> None:
        who, code = (None, "unknown_name") if account is None else (account.name, code)
        await self._refuse(who, what, code, where)

    def _tries_of(self, account: Account | None, name: str, where: str) -> _Tries:
        version = 0 if account is None else account.version
        key = (folded(name), where)
        tries = self._tries.get(key)
        if tries is None or tries.version != version:
            tries = self._tries[key] = _Tries(version)
        self._tries.move_to_end(key)
        if len(self._tries) > _REMEMBERED:
            self._tries.popitem(last=False)  # accounts and other names alike, so the order discloses nothing
        return tries

    # --- sessions

    @property
    def signed_on(self) -> frozenset[str]:
        """The names of the people who have sessions."""
        return frozenset(each.name for each in self._sessions.values())

    async def session_of(self, token: str, *, active: bool) -> Session | None:
        """The session of a cookie's token, None if there is none or it has ended.

        `active` is false for requests that a page makes by itself.

        Raises:
            RefusalError: the person's pages have asked too often.
        """
        session = self._sessions.get(hash_of_token(token))
        if session is None or not await self.holds(session):
            return None
        self._refuse_flood(pages_of(session.name), "requests of your pages")
        if active:
            self.note_activity(session)
        return session

    def note_activity(self, session: Session) -> None:
        """Begin the time again after which an inactive session ends."""
        session.seen = self._clock()

    def _refuse_flood(self, client: str, what: str) -> None:
        if not self._accesses.pace.allows(client):
            raise RefusalError(429, "too_fast", f"too many {what} in a short time: try again in 5 s", 5)

    def version_of(self, name: str) -> int | None:
        """The version of the account of this name, which each change makes another one; None if nobody may use the account."""
        account = self.accounts.find(name)
        return None if account is None or account.disabled or account.altered else account.version

    async def holds(self, session: Session) -> bool:
        """Whether a session has not ended; a session that must end now is ended."""
        if self.version_of(session.name) != session.version:
            await self.end(session, "the account was changed")
        elif self._clock() - session.seen >= self.idle_seconds:
            await self.end(session, "inactive")
        return not session.over

    async def refuse_role(self, who: str, what: str, where: str) -> None:
        """Record that a person's roles do not allow `what`.

        The refusal counts for the person, not for the address, where others sign on too.

        Raises:
            NotLetInError: the person has had too many refusals: more would let an attacker fill the disk.
        """
        await self._count(f"role of {folded(who)}", where, what)
        await self._refuse(who, what, "not_of_role", where)

    async def _refuse(self, who: str | None, what: str, code: str, where: str) -> None:
        await self._accesses.record(AccessRefused(who, what, code, where))

    async def key_to_add(self, session: Session, password: str, origin: str) -> str:
        """The options for a browser to add a security key of the session's account, after its password was given again.

        Raises:
            NotLetInError: the password is not accepted.
            RefusalError: the account already has a key, or the house's Game Manager keeps the accounts.
        """
        account = await self.check(session.name, password, session.where, "add_key")
        if self.accounts.is_copy():
            raise RefusalError(
                409,
                "house_accounts",
                "the house's Game Manager keeps the accounts, so no key can be added at this table",
            )
        _refuse_another_key(account)
        challenge = secrets.token_bytes(CHALLENGE_BYTES)
        session.adding = (challenge, self._clock() + _ADDING_SECONDS)
        whose = f"{account.number} {account.created}"
        return await asyncio.to_thread(security_keys.to_add, account.name, whose, challenge, origin)

    async def add_key(self, session: Session, credential: dict[str, Any], origin: str) -> None:
        """Add the key that a browser made to the session's account.

        Raises:
            RefusalError: the password was not given before, the account already has a key, or the credential is invalid.
        """
        adding, session.adding = session.adding, None
        if adding is None or self._clock() >= adding[1]:
            raise RefusalError(409, "not_adding", "give your password first, then touch the key within 2 min")
        _refuse_another_key(self.accounts.find(session.name))
        now, given = timestamp(datetime.now(UTC)), Signed(credential, adding[0], origin)
        try:
            key, count = await asyncio.to_thread(security_keys.added, given, now)
        except WrongKeyError as error:
            raise RefusalError(422, "wrong_key", f"the key was not added: {error}") from error

        def add() -> None:
            with closing(self.accounts.again()) as accounts:
                accounts.add_key(session.name, key, count, f"{session.name} at {session.where}")

        await asyncio.to_thread(add)

    # --- the end of a session

    async def sweep(self) -> None:
        """End the sessions that have been inactive for too long or whose account has changed."""
        for session in list(self._sessions.values()):
            await self.holds(session)

    async def end(self, session: Session, why: str) -> None:
        """End a session. It is over even if the end could not be recorded."""
        if session.over:
            return
        session.over = True
        self._sessions = {key: each for key, each in self._sessions.items() if each is not session}
        await self._accesses.record(SessionEnded(session.name, why))


def _refuse_another_key(account: Account | None) -> None:
    """Refuse a second key: a person who learned a password must not replace its owner's key with their own."""
    if account is not None and account.security_key is not None:
        raise RefusalError(
            409,
            "has_key",
            "you already have a security key: ask a technician to remove that key (punto operators key --remove)",
        )


def _place(where: str) -> str:
    """The place that an address counts as: an IPv6 /64 is one place, because it is one site, and so is this machine."""
    try:
        address = ipaddress.ip_address(where)
    except ValueError:  # not an address
        return where
    address = getattr(address, "ipv4_mapped", None) or address
    if address.is_loopback:
        return "this machine"
    return str(ipaddress.ip_network((int(address), 64 if address.version == 6 else 32), strict=False))
