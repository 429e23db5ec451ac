"""The audit of a progressive's books: a replay from the first input that checks the ledger's rules at each step.

The ledger enforces its rules itself. The audit proves them for a record with its own sums over the entries.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import inf
from pathlib import Path
from typing import Final, NamedTuple

from punto.baccarat.progressive.effects import (
    AwardBackedOut,
    AwardBooked,
    AwardLocked,
    Effect,
    Posted,
    TableForgotten,
    table_of,
)
from punto.baccarat.progressive.events import Contribute
from punto.baccarat.progressive.ledger import SOURCES, Account, Cause, Ledger, Posting
from punto.baccarat.progressive.money import amount
from punto.baccarat.progressive.settings import Settings
from punto.baccarat.progressive.state import Award, AwardState, TableRound
from punto.baccarat.progressive.state import State as Books
from punto.baccarat.table.effects import MeterMoved
from punto.baccarat.table.events import TableAsked
from punto.baccarat.table.meter_link import objection_to_request
from punto.controller.journal.books import ACCOUNTS
from punto.controller.journal.entries import Head
from punto.controller.journal.execution import Step
from punto.controller.journal.recovery import Replayed, replay
from punto.controller.journal.schema import RecordError

MOST_GAMES_AN_HOUR: Final = 250
"""No table plays more games of the progressive in an hour. Mini baccarat with one player reaches 200 hands; with the coins of a
progressive, which players lift and place again for each game, a table deals some 70.
"""

_Entry = tuple[int, Effect]


@dataclass(slots=True)
class Audited:
    """The result of an audit. `books` has the final balances of each progressive, in millionths of a minor unit of `currency`."""

    replayed: Replayed
    postings: int = 0
    awards: int = 0
    books: dict[str, list[tuple[str, int]]] = field(default_factory=dict)
    table: str = ""
    currency: str = ""
    shared: dict[str, list[_Entry]] = field(default_factory=dict)
    """The entries in the books of each progressive that has an authority: all of them on its record, and a linked table's own.
    Each has the number of its input.
    """
    had: dict[str, "BooksHad"] = field(default_factory=dict)
    """What the books of each such progressive had. A linked table shows its meter, and pays its awards, by what it heard of them."""
    pumped: dict[str, str] = field(default_factory=dict)
    """The linked tables in whose name somebody asked for what no table can play, each with the first such request."""

    @property
    def difference(self) -> str | None:
        """The first rule that is broken, None if there is none."""
        return self.replayed.difference


@dataclass(slots=True)
class BooksHad:
    """Each balance of the ledger, game of a table and award that the books ever had, with the first input after which they had it."""

    since: dict[Ledger | TableRound | Award, int] = field(default_factory=dict)
    _last: Books | None = None

    def see(self, seq: int, books: Books) -> None:
        """Note the books after an input."""
        last, self._last = self._last, books
        if last is books:
            return
        self.since.setdefault(books.ledger, seq)
        for now, before in ((books.rounds, last and last.rounds), (books.awards, last and last.awards)):
            if now is not before:
                for part in now:
                    self.since.setdefault(part, seq)


def audit(path: Path, *, version: str | None = None, noted: Sequence[Head] = ()) -> Audited:
    """Prove a record's books. `version` and `noted` are passed to `replay`.

    Raises:
        RecordError: the file cannot be opened as a record.
    """
    auditors = dict[str, _Auditor]()
    found = Audited(Replayed())
    games = _Games(found.pumped)

    def see(step: Step) -> None:
        state = step.state.progressive
        moved = [effect.entry for effect in step.effects if isinstance(effect, MeterMoved)]
        if state is None:
            return
        books = state.books
        found.table, found.currency = step.state.settings.table, step.state.settings.currency
        if books.settings.authority is not None:
            entries = found.shared.setdefault(books.settings.progressive, [])
            entries += [(step.seq, entry) for entry in moved]
            found.had.setdefault(books.settings.progressive, BooksHad()).see(step.seq, books)
            games.see(step, books.settings)
        if state.link is not None:
            return
        auditor = auditors.setdefault(books.settings.progressive, _Auditor())
        for entry in moved:
            auditor.see(entry)
        for account, balance in auditor.balances.items():
            if account is not Account.PAID and getattr(books.ledger, account.value) != balance:
                raise RecordError(
                    f"after input {step.seq} the ledger's balance of {account} is not the sum of the postings to this account"
                )
        if moved:
            auditor.prove(step.seq)

    found.replayed = replay(path, see, version=version, noted=noted)
    for name, auditor in auditors.items():
        found.postings += auditor.postings
        found.awards += len(auditor.awards)
        found.books[name] = auditor.summed()
    return found


class Compared(NamedTuple):
    """The books of a linked table beside those of its authority: their first difference, None if there is none.

    `lost` counts the entries of the table that its authority has lost, which was restored from a backup and has begun again with it.
    """

    difference: str | None
    lost: int


def compare(authority: Audited, table: Audited) -> Compared:
    """Compare the books on the records of an authority and of a linked table.

    The table must have the authority's entries, and no balance, game or award that the authority's books never had.

    The authority may have carried out one request whose answer is not on the table's record yet. What the record has of the time
    before the authority began again with the table may end anywhere, because it was lost or restored from a backup. If it was the
    authority that was restored, the table has more entries of that time.
    """
    began: float = 0
    missing = 0
    for progressive in authority.shared.keys() | table.shared.keys():
        entries = [each for each in table.shared.get(progressive, ()) if table_of(each[1]) == table.table]
        own = [entry for _, entry in entries]
        *before, kept = _since_each_beginning(authority.shared.get(progressive, ()), table.table)
        ends, whole = _ends_of_parts(own, before)
        # How many entries can be of the time before; then so many must be left as the authority has, or as it has answered.
        left = range(len(kept) - _in_last_input(kept), len(kept) + 1)
        found = [
            _difference(progressive, table.table, own, end, kept)
            for end in sorted(end for end in ends if len(own) - end in left) or [max(ends)]
        ]
        if not all(found):
            continue
        begin = len(own) - len(kept)
        lost = [begin - end for end in whole if begin > end and own[begin:] == [entry for _, entry in kept]]
        if not lost:
            return Compared(found[-1], missing)
        missing = min(lost)
        began = entries[begin][0] if begin < len(own) else inf
    return Compared(_invented(authority, table, began), missing)


def _difference(
    progressive: str, table: str, own: Sequence[Effect], begins: int, kept: Sequence[_Entry]
) -> str | None:
    """The first difference of the entries from `begins` on."""
    theirs = [entry for _, entry in kept]
    for number, (of_table, of_authority) in enumerate(zip(own[begins:], theirs, strict=False), begins + 1):
        if of_table != of_authority:
            return f"entry {number} of {table} in the books of {progressive} differs from the authority's"
    there = len(own) - begins
    if there > len(kept):
        return f"{table} has {there} entries in the books of {progressive}, but the authority has {len(kept)}"
    unknown = sorted({seq for seq, _ in kept[there:]})
    if len(unknown) > 1:
        return (
            f"the authority has carried out {len(unknown)} requests of {table} in the books of {progressive} that are not "
            f"on its record; the first is input {unknown[0]} of the authority"
        )
    return None


def _since_each_beginning(entries: Iterable[_Entry], table: str) -> list[list[_Entry]]:
    """The entries of a table, divided where its authority began again with it."""
    parts: list[list[_Entry]] = [[]]
    for seq, entry in entries:
        if isinstance(entry, TableForgotten) and entry.table == table:
            parts.append([])
        elif table_of(entry) == table:
            parts[-1].append((seq, entry))
    return parts


def _ends_of_parts(own: Sequence[Effect], parts: Sequence[Sequence[_Entry]]) -> tuple[set[int], set[int]]:
    """After how many entries a record can be at the end of these parts, each of which it may have had up to any entry.

    And after how many it has the last part whole, so that what follows can be entries that its authority has lost.
    """
    ends, whole = {0}, set[int]()
    for part in parts:
        starts, whole = tuple(ends), set()
        for start in starts:
            same = next(
                (
                    at
                    for at, (_, entry) in enumerate(part)
                    if start + at == len(own) or own[start + at] != entry
                ),
                len(part),
            )
            ends.update(range(start, start + same + 1))
            if same == len(part):
                whole.add(start + same)
    return ends, whole


def _in_last_input(kept: Sequence[_Entry]) -> int:
    return sum(seq == kept[-1][0] for seq, _ in kept)


def _invented(authority: Audited, table: Audited, since: float) -> str | None:
    """What the table heard of the books first, from its input `since` on, that the authority's books never had."""
    for progressive, had in table.had.items():
        kept = authority.had.get(progressive, BooksHad()).since
        for part, seq in had.since.items():
            if seq >= since and part not in kept:
                what = f"award {part.id} ({part.state})" if isinstance(part, Award) else "a meter or game"
                return f"after input {seq}, {table.table} had {what} of {progressive} that the authority's books never had"
    return None


def without_record(authority: Audited, tables: Iterable[Audited]) -> list[str]:
    """The tables that have entries in the books of the authority, and whose records are not among these."""
    entries = (entry for found in authority.shared.values() for _, entry in found)
    asked = {name for name in map(table_of, entries) if name is not None}
    return sorted(asked - {each.table for each in tables} - {authority.table})


class _Games:
    """The games that linked tables have begun within the last hour. Simulated tables may play as fast as people like."""

    def __init__(self, pumped: dict[str, str]) -> None:
        self._pumped = pumped
        self._begun: dict[str, list[datetime]] = defaultdict(list)

    def see(self, step: Step, progressive: Settings) -> None:
        """Note a request that was carried out if no table can have made it. An earlier version may have accepted it."""
        settings, asked = step.state.settings, step.event
        if not isinstance(asked, TableAsked) or not step.effects:
            return
        objection = objection_to_request(progressive, asked, settings.seats)
        if objection is None and not settings.simulation and self._begins_too_many(step, asked):
            objection = f"{asked.table} begins more than {MOST_GAMES_AN_HOUR} games in an hour, which no table can deal"
        if objection is not None:
            self._pumped.setdefault(asked.table, f"input {step.seq}: {objection}")

    def _begins_too_many(self, step: Step, asked: TableAsked) -> bool:
        if not any(isinstance(order, Contribute) and order.wagers for order in asked.orders):
            return False
        now = datetime.fromisoformat(step.entry.ts)
        # Games of a time when the clock was ahead do not count either: they would count until that time comes.
        begun = [each for each in self._begun[asked.table] if now - timedelta(hours=1) < each <= now]
        self._begun[asked.table] = [*begun, now]
        return len(begun) >= MOST_GAMES_AN_HOUR


class _Auditor:
    """One progressive's books, kept a second time."""

    def __init__(self) -> None:
        self.balances: dict[Account, int] = dict.fromkeys(ACCOUNTS, 0)
        self.paid: dict[str, int] = defaultdict(int)
        self.awards: dict[int, Award] = {}
        self.postings = 0
        self._paid_for: dict[int, int] = defaultdict(int)
        self._touched: set[int] = set()

    def see(self, entry: Effect) -> None:
        match entry:
            case Posted(posting):
                self.post(posting)
            case AwardLocked(award) | AwardBooked(award) | AwardBackedOut(award):
                self.award(award)
            case _:
                pass

    def post(self, posting: Posting) -> None:
        self.postings += 1
        if posting.number != self.postings:
            raise RecordError(f"posting {posting.number} was found where posting {self.postings} belongs")
        if sum(line.amount for line in posting.lines):
            raise RecordError(f"the lines of posting {posting.number} do not sum to zero")
        for line in posting.lines:
            self.balances[line.account] += -line.amount if line.account in SOURCES else line.amount
            if line.tier is not None:
                self.paid[line.tier] += line.amount
        if posting.cause in {Cause.AWARD, Cause.BACK_OUT} and posting.reference.award is not None:
            moved = sum(line.amount for line in posting.lines if line.account is Account.PAID)
            self._paid_for[posting.reference.award] += moved

    def award(self, award: Award) -> None:
        before = self.awards.get(award.id)
        wanted = {AwardState.LOCKED: None, AwardState.BOOKED: AwardState.LOCKED}.get(
            award.state, AwardState.BOOKED
        )
        if (None if before is None else before.state) is not wanted:
            raise RecordError(f"award {award.id} is {award.state} but was not {wanted or 'unknown'} before")
        if before is not None and (before.amount, before.shares) != (award.amount, award.shares):
            raise RecordError(f"award {award.id} has changed since it was locked")
        if award.amount != sum(share.amount for share in award.shares):
            raise RecordError(f"the shares of award {award.id} do not sum to its amount")
        self.awards[award.id] = award
        self._touched.add(award.id)

    def prove(self, seq: int) -> None:
        """Check the balances and awards after all entries of the input `seq`."""
        held = self.balances
        given = sum(held[account] for account in SOURCES)
        kept = sum(balance for account, balance in held.items() if account not in SOURCES)
        if given != kept:
            raise RecordError(
                f"after input {seq} the meter's sources gave {given}, but the other accounts of the meter have {kept}"
            )
        below = [account for account in ACCOUNTS if account is not Account.ADJUSTMENTS and held[account] < 0]
        if below:
            raise RecordError(f"after input {seq}, these balances are below zero: {', '.join(below)}")
        for number in self._touched:
            award = self.awards[number]
            of_meter = award.payer == "meter" and award.state is AwardState.BOOKED
            due = amount(award.amount) if of_meter else 0
            if self._paid_for[number] != due:
                raise RecordError(
                    f"after input {seq} award {number} is {award.state} at {award.amount}, but "
                    f"{self._paid_for[number]} millionths of a minor unit were paid for it"
                )
        self._touched.clear()

    def summed(self) -> list[tuple[str, int]]:
        """The balances, and the payments by tier."""
        balances = [(account.value.replace("_", " "), self.balances[account]) for account in ACCOUNTS]
        return [*balances, *((f"paid: {tier}", paid) for tier, paid in sorted(self.paid.items()))]
