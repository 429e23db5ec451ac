"""The books of a linked floor, kept a second time, from the entries since the last check alone.

They know nothing of how the meter is kept: what each START GAME must bring follows from its wagers, and what each award must
take from its amount. So what is counted twice, paid twice or lost is found at the step that does it, at the cost of that step.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Final

from punto.baccarat.progressive.effects import (
    AwardBackedOut,
    AwardBooked,
    AwardLocked,
    Effect,
    Posted,
    SettingsChanged,
    WagersCounted,
    table_of,
)
from punto.baccarat.progressive.ledger import SOURCES, Account, Posting
from punto.baccarat.progressive.settings import Settings
from punto.baccarat.progressive.state import Award, AwardState
from punto.baccarat.progressive.state import State as Books
from punto.baccarat.table.state import ServedTable, TablesProgressive

UNIT: Final = 1_000_000
"""Millionths of a cent in a cent, and parts of a million in a whole."""


class SecondBooks:
    """The sums of the entries so far."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._taken = 0
        self._balances = dict.fromkeys(Account, 0)
        self._postings = 0
        self._contributed = 0
        self._last_counted: dict[str, WagersCounted] = {}
        self._awards: dict[int, Award] = {}
        self._found: dict[tuple[str, int], int] = {}
        """The meter that each hand with an award of the meter found."""
        self._paid: Counter[int] = Counter()
        self._touched: set[int] = set()
        self._of_tables: dict[str, list[Effect]] = {each.table: [] for each in settings.tables}
        self._matched = dict.fromkeys(self._of_tables, 0)

    def check(
        self,
        entries: list[Effect],
        kept: TablesProgressive,
        tables: Mapping[str, tuple[list[Effect], TablesProgressive]],
    ) -> None:
        """Take in what is new of the authority's `entries` and of each table's, and compare all of it with the state."""
        for entry in entries[self._taken :]:
            self._take(entry)
        self._taken = len(entries)
        self._check_books(kept.books)
        for name, (own, progressive) in tables.items():
            last = next((each for each in kept.served if each.table == name), None)
            self._check_table(name, own, progressive, last)

    # --- what is new

    def _take(self, entry: Effect) -> None:
        table = table_of(entry)
        if table is not None:
            self._of_tables[table].append(entry)
        match entry:
            case Posted(posting):
                self._take_posting(posting)
            case WagersCounted():
                before = self._last_counted.get(entry.table)
                assert before is None or entry.round > before.round, "the wagers of a game are counted once"
                self._last_counted[entry.table] = entry
                stakes = sum(each.amount for each in entry.wagers)
                self._contributed += stakes * (self._settings.contribution_rate + self._settings.reserve_rate)
            case SettingsChanged():
                self._settings = entry.after
            case AwardLocked(award):
                self._take_lock(award)
            case AwardBooked(award):
                self._take_award(award, AwardState.LOCKED)
            case AwardBackedOut(award):
                self._take_award(award, AwardState.BOOKED)
            case _:
                pass

    def _take_posting(self, posting: Posting) -> None:
        self._postings += 1
        assert posting.number == self._postings
        assert sum(line.amount for line in posting.lines) == 0
        for line in posting.lines:
            self._balances[line.account] += -line.amount if line.account in SOURCES else line.amount
            if line.account is Account.PAID:
                assert posting.reference.award is not None
                self._paid[posting.reference.award] += line.amount
                self._touched.add(posting.reference.award)

    def _take_lock(self, award: Award) -> None:
        assert award.id == len(self._awards) + 1
        rule = self._settings.tier(award.rule)
        assert rule is not None
        promised = sum(
            each.amount
            for each in self._awards.values()
            if each.payer == "meter" and each.state is AwardState.LOCKED
        )
        held = self._balances[Account.PRIMARY] - promised * UNIT
        hand = (award.table, award.round)
        if award.payer == "meter" and hand in self._found:  # confirmed again after a back-out
            held = min(held, self._found[hand])
        elif award.payer == "meter":
            self._found[hand] = held // UNIT * UNIT
        if rule.pay.meter:
            assert award.amount == int(held * rule.pay.meter) // UNIT
        assert award.amount == sum(each.amount for each in award.shares)
        self._awards[award.id] = award
        self._touched.add(award.id)

    def _take_award(self, award: Award, was: AwardState) -> None:
        before = self._awards[award.id]
        assert (before.state, before.amount, before.shares) == (was, award.amount, award.shares)
        self._awards[award.id] = award
        self._touched.add(award.id)

    # --- all of it

    def _check_books(self, books: Books) -> None:
        ledger, found = books.ledger, self._balances
        assert self._postings == ledger.last
        assert found[Account.CONTRIBUTIONS] == self._contributed == ledger.contributions
        assert found[Account.SEED_MONEY] == ledger.seed_money
        assert found[Account.ADJUSTMENTS] == ledger.adjustments
        assert found[Account.PRIMARY] == ledger.primary
        assert found[Account.RESERVE] == ledger.reserve
        assert found[Account.OVERFLOW] == ledger.overflow
        assert found[Account.PAID] == sum(tier.amount for tier in ledger.paid)
        given = ledger.seed_money + ledger.contributions + ledger.adjustments
        assert given == ledger.primary + ledger.reserve + ledger.overflow + found[Account.PAID]
        assert len(self._awards) + 1 == books.next_award
        for number in self._touched:
            award = self._awards[number]
            due = award.payer == "meter" and award.state is AwardState.BOOKED
            assert self._paid[number] == (award.amount * UNIT if due else 0), "an award is paid once"
        self._touched.clear()
        if books.settings.procedure == "nexus":
            assert not books.locked, "with Nexus an award is logged and booked in one step"

    def _check_table(
        self, name: str, own: list[Effect], progressive: TablesProgressive, last: ServedTable | None
    ) -> None:
        """What a table has, and what is on its way to it, is its part of the authority's entries."""
        link = progressive.link
        assert link is not None
        theirs, matched = self._of_tables[name], self._matched[name]
        assert own[matched:] == theirs[matched : len(own)]
        self._matched[name] = len(own)
        coming: list[Effect] = []
        if last is not None and link.asked is not None and link.asked.number == last.number:
            coming = [each for each in last.entries if table_of(each) == name]
        assert theirs[len(own) :] == coming
        if progressive.procedure.step.value == "playing":
            seats = tuple(each.seat for each in self._last_counted[name].wagers)
            assert seats == progressive.procedure.hand.wagers
