"""The books of a meter's service, as it tells them: their amounts follow from the day, and each begins as the day before ended."""

from datetime import date, datetime, timedelta
from typing import Any

from punto.baccarat.progressive.ledger import Cause
from punto.house.taken import TakenBooks
from punto.messages.books import (
    Accounts,
    Accrual,
    Books,
    Change,
    Check,
    CoinCount,
    Component,
    Day,
    DayState,
    Deposit,
    Reconciled,
    Reconciliation,
    Week,
)
from punto.messages.building import timestamp
from punto.messages.models import MeterAward, Progressive
from punto.messages.requests import BooksRequest, BooksResponse
from punto.reports.reconciliation import coins
from punto.runtime.gaming_days import Calendar

CALENDAR = Calendar.of()
A_DAY = timedelta(days=1)
SEED = 10_000_00
CENT = 1_000_000


class Keeper:
    """A service that keeps a meter since the gaming day `first`; its clock shows the gaming day `today`.

    `counts` are the counts of coins, in cents, by the days on which they were entered and those that they are of. `spoiled` are days
    whose ledger another program changed. It answers at the time `told` of its gaming day.
    """

    def __init__(
        self,
        first: date,
        today: date,
        record: str = "aa",
        progressive: str = "dragon",
        currency: str = "USD",
        calendar: Calendar = CALENDAR,
        told: timedelta = timedelta(hours=8),
    ) -> None:
        self.currency, self.calendar, self.told = currency, calendar, told
        self.first, self.today, self.record, self.progressive = first, today, record, progressive
        self.counts: dict[date, dict[date, int]] = {}
        self.spoiled: set[date] = set()
        self.extra: dict[date, tuple[Change, ...]] = {}
        self.asked: list[date] = []
        self._balances = {first: Accounts()}

    def answer(self, asked: BooksRequest) -> BooksResponse:
        self.asked.append(asked.day)
        return BooksResponse(
            id="r",
            seq=1,
            ts=timestamp(self.now),
            request=asked.id,
            record=self.record,
            books=self.books(asked.day),
        )

    @property
    def now(self) -> datetime:
        return self.calendar.begins(self.today) + self.told

    def state(self, begins: date, ends: date) -> DayState:
        return "not_begun" if self.today < begins else "open" if self.today < ends else "ended"

    def books(self, day: date) -> Books:
        monday = self.calendar.week_of(day)
        there = day >= self.first
        about: dict[str, Any] = {"elsewhere": 0, "state": self.state(day, day + A_DAY)}
        of_day = {**about, **self._times(day, day + A_DAY)}
        of_week = {**of_day, **self._times(monday, monday + 7 * A_DAY)}
        of_week["state"] = self.state(monday, monday + 7 * A_DAY)
        compared = (self._compared(day),) if there else ()
        return Books(
            currency=self.currency,
            first=self.first,
            day=Day(day=day, progressives=(self._accrual(day),) if there else (), **of_day),
            week=Week(
                first=monday,
                last=monday + 6 * A_DAY,
                progressives=(self._deposit(monday),) if there else (),
                **of_week,
            ),
            reconciliation=Reconciliation(
                day=day, agrees=all(each.agrees for each in compared), progressives=compared, **of_day
            ),
        )

    def wagers(self, day: date) -> int:
        return 100 + 10 * day.day

    def changes(self, day: date) -> tuple[Change, ...]:
        wagers = self.wagers(day)
        share = Accounts(contributions=wagers * 21 * CENT, primary=wagers * 20 * CENT, reserve=wagers * CENT)
        seed = Accounts(seed_money=SEED * CENT, primary=SEED * CENT)
        begins = timestamp(self.calendar.begins(day))
        return (
            *((Change(cause=Cause.SEED, ts=begins, moved=seed, who="Eve"),) if day == self.first else ()),
            Change(cause=Cause.CONTRIBUTION, moved=share),
            *self.extra.get(day, ()),
        )

    def balance(self, before: date) -> Accounts:
        """The accounts before a day."""
        if before <= self.first:
            return Accounts()
        day = max(self._balances)
        while day < before:
            moved = sum((each.moved for each in self.changes(day)), self._balances[day])
            day += A_DAY
            self._balances[day] = moved
        return self._balances[before]

    def _accrual(self, day: date) -> Accrual:
        wagers = self.wagers(day)
        return Accrual(
            progressive=self.progressive,
            rounds=wagers // 2,
            wagers=wagers,
            staked=100 * wagers,
            start=self.balance(day),
            changes=self.changes(day),
            end=self.balance(day + A_DAY),
            explained=True,
            settings=(),
            open_awards=(),
            from_tray=(),
            nobody_won=(),
        )

    def _deposit(self, monday: date) -> Deposit:
        """The week's, until now, whatever day is asked for."""
        start, end = self.balance(monday), self.balance(min(monday + 7 * A_DAY, self.today + A_DAY))
        moved = end.held - start.held
        reserve = end.reserve - start.reserve
        return Deposit(
            progressive=self.progressive,
            start=start.held,
            components=(Component(cause=Cause.CONTRIBUTION, to_meter=moved - reserve, to_reserve=reserve),),
            end=end.held,
            carried_in=0,
            carried_out=0,
            deposit=moved // CENT,
            explained=True,
        )

    def _compared(self, day: date) -> Reconciled:
        moved = 21 * self.wagers(day) * CENT
        found = [
            CoinCount(day=of, amount=amount, who="Eve", ts=timestamp(self.calendar.begins(entered)))
            for entered, counted in sorted(self.counts.items())
            if entered <= self.today
            for of, amount in counted.items()
        ]
        of_day = [each for each in found if each.day == day]
        entered = timestamp(self.calendar.begins(day))
        return Reconciled(
            progressive=self.progressive,
            balanced=True,
            from_tray=0,
            checks=(
                Check(what="contributions", ledger=moved + (day in self.spoiled) * CENT, expected=moved),
            ),
            differences=(),
            coins=coins(100 * self.wagers(day), of_day[-1] if of_day else None, self.currency),
            counts=tuple(each for each in found if each.ts == entered),
        )

    def meter(self, table: str, tables: tuple[str, ...] = (), award: MeterAward | None = None) -> Progressive:
        """The meter as the service tells it, or a table that is linked to it."""
        return Progressive(
            id="p",
            seq=1,
            ts=timestamp(self.now),
            valid_until=timestamp(self.now + timedelta(seconds=60)),
            progressive=self.progressive,
            title="Dragon Bonus Progressive",
            currency=self.currency,
            phase="open",
            meter=self.balance(self.today + A_DAY).primary // CENT,
            wager=100,
            tables=tables or (table,),
            step="betting",
            seats=(),
            tiers=(),
            award=award,
            kept_by=f"{table} {self.record}",
        )

    def _times(self, begins: date, ends: date) -> dict[str, str]:
        return {
            "begins": timestamp(self.calendar.begins(begins)),
            "ends": timestamp(self.calendar.begins(ends)),
        }


def taken(
    keeper: Keeper,
    first: date | None = None,
    last: date | None = None,
    *,
    table: str = "meter-1",
    after: date | None = None,
    told_on: date | None = None,
) -> list[TakenBooks]:
    """The books of these days for the store, each told on the day after it, or all on one day. All that have ended, if none are named."""
    now, found = keeper.today, []
    day = first or keeper.first
    while day <= (last or now - A_DAY):
        keeper.today = told_on + A_DAY if told_on else day + A_DAY
        answer = keeper.answer(BooksRequest(id="b", day=day))
        found.append(TakenBooks(table, keeper.record, False, after, answer.ts, answer.books))
        after, day = day, day + A_DAY
    keeper.today = now
    return found
