"""The progressives of the house: the meters as they are now, and the books of a gaming day and of its week.

A day that has ended is as the store has it. The open day is as its service told it last.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta, tzinfo
from functools import lru_cache
from typing import Annotated, Final, Literal

from sqlalchemy import select

from punto.baccarat.progressive.ledger import Cause
from punto.house import schema
from punto.house.live import KeptMeter, LinkedTable, MeterView
from punto.house.store import Store
from punto.house.taken import aware
from punto.house.titles import in_words, tiers
from punto.messages.amounts import IN_ITS_CURRENCY, Exact, Minor, minor
from punto.messages.books import Accounts, Books, CoinCount, Coins, Week
from punto.messages.building import timestamp
from punto.messages.models import Part, Timestamp
from punto.reports import sheets
from punto.reports.reconciliation import coins
from punto.runtime.gaming_days import Calendar, written_day

COUNTED_WITHIN: Final = timedelta(days=31)
"""A count of coins is looked for in the books of so many days after its day."""
_A_DAY: Final = timedelta(days=1)
_ZERO: Final = Accounts()


class Figures(Part):
    """A gaming day of a progressive in figures. `adjusted` is what the house added, or took off if it is negative.

    `contributed` includes `to_reserve`. `meter`, `reserve` and `overflow` are what was there at the end of the day.
    """

    rounds: int
    wagers: int
    staked: Minor
    contributed: Exact
    to_reserve: Exact
    seeded: Exact
    awarded: Exact
    put_back: Exact
    adjusted: Exact
    from_tray: Minor
    meter: Exact
    reserve: Exact
    overflow: Exact


class BooksDay(Part):
    """A gaming day of the week: its figures, and what is wrong with its books.

    - `ended`: the store has the day. `open`: the day goes on, or its service has not told its end yet.
    - `missing`: the day has ended, and its service did not tell its books.
    - `unused`: no progressive was in service. `to_come`: the day has not begun.

    `as_of` is when the service told the books.
    """

    day: date
    state: Literal["ended", "open", "missing", "unused", "to_come"]
    as_of: Timestamp | None
    balanced: bool | None
    figures: Figures | None
    coins: Coins | None
    warnings: tuple[str, ...]


class HouseProgressive(Part):
    """A progressive of one record: its meter now, the days of the week, and the books of the chosen day and of the week.

    `meter` and `tables` are missing if the service does not keep this meter now. `week_as_of` is when the service told the week's books.
    """

    progressive: str
    title: str
    table: str
    name: str
    record: str
    currency: str
    simulation: bool
    meter: MeterView | None
    tables: tuple[LinkedTable, ...]
    warnings: tuple[str, ...]
    days: tuple[BooksDay, ...]
    books: Books | None
    week: Week | None
    week_as_of: Timestamp | None


class HouseBooks(Part):
    """The progressives of the house, with the books of the gaming day `day` and of the week that has it; `tiers` has the hands of awards in words."""

    at: Timestamp
    zone: str
    today: date
    day: date
    first: date
    last: date
    tiers: dict[str, str]
    progressives: tuple[Annotated[HouseProgressive, IN_ITS_CURRENCY], ...]


@dataclass(frozen=True)
class Kept:
    """The meters now, and what the intake says of their services by the ids of these: why they do not answer or are not followed."""

    meters: tuple[KeptMeter, ...] = ()
    reasons: Mapping[str, str] = field(default_factory=dict)


def house_books(store: Store, kept: Kept, now: datetime, day: date | None = None) -> HouseBooks:
    """The progressives and the books of a gaming day, today if it is left out. `now` is in UTC.

    Raises:
        StoreAwayError: the store cannot be reached.
    """
    calendar = store.calendar
    today = calendar.day_of(now)
    day = day or today
    first = calendar.week_of(day)
    last = first + 6 * _A_DAY
    found = _told(store, kept, first - _A_DAY, last + COUNTED_WITHIN)
    shown = [each for each in found if each.meter is not None or any(first <= at <= last for at in each.days)]
    followed = {each.table for each in kept.meters}
    return HouseBooks(
        at=timestamp(now),
        zone=calendar.zone.key,
        today=today,
        day=day,
        first=first,
        last=last,
        tiers=tiers(store),
        progressives=tuple(
            _progressive(each, _Asked(calendar, today, day, first), followed, kept.reasons) for each in shown
        ),
    )


# --- what is known


@dataclass(slots=True)
class _Told:
    """What is known of a progressive on a record: its books by day, and when and in which state each was told.

    `until` is the last day that was taken in.
    """

    table: str
    record: str
    progressive: str
    simulation: bool
    until: date | None
    meter: KeptMeter | None = None
    days: dict[date, tuple[Books, str]] = field(default_factory=dict)

    @property
    def currency(self) -> str:
        """The currency of all its amounts: either its meter or its books are known."""
        if self.meter is not None:
            return self.meter.currency
        return next(books.currency for books, _ in self.days.values())


@dataclass(frozen=True, slots=True)
class _Asked:
    calendar: Calendar
    today: date
    day: date
    first: date


def _told(store: Store, kept: Kept, since: date, until: date) -> list[_Told]:
    """The progressives in the order of their services, those that are kept now first."""
    records, books = schema.RECORDS.c, schema.BOOKS.c
    asked = (
        select(records.table, records.record, records.simulation, records.books_at, schema.BOOKS)
        .join_from(schema.BOOKS, schema.RECORDS, books.record_id == records.id)
        .where(books.day.between(since, until))
        .order_by(records.table, books.record_id, books.progressive, books.day)
    )
    cursors = {key: cursor.books for key, cursor in store.cursors().items()}
    found: dict[tuple[str, str, str], _Told] = {}
    for each in kept.meters:
        of = (each.table, each.record, each.meter.progressive)
        found[of] = _Told(*of, each.simulation, cursors.get(of[:2]), each)
    with store.reading() as connection:
        for row in connection.execute(asked):
            of = (row.table, row.record, row.progressive)
            known = found.setdefault(of, _Told(*of, row.simulation, row.books_at))
            known.days[row.day] = (_read(row.answer), timestamp(aware(row.ts)))
    for told in found.values():
        answer = None if told.meter is None else told.meter.books
        if answer is not None and answer.books.day.day not in told.days:
            told.days[answer.books.day.day] = (answer.books.of(told.progressive), answer.ts)
    return list(found.values())


@lru_cache(maxsize=2000)
def _read(answer: str) -> Books:
    """Books of the store, which never change."""
    return Books.model_validate_json(answer)


# --- a progressive


def _progressive(
    told: _Told, asked: _Asked, followed: set[str], reasons: Mapping[str, str]
) -> HouseProgressive:
    counts = _counts(told)
    meter = told.meter
    days = tuple(
        _day(
            told,
            asked,
            asked.first + at * _A_DAY,
            counts,
            superseded=meter is None and told.table in followed,
        )
        for at in range(7)
    )
    warnings = [f"{written_day(each.day)}: {text}" for each in days for text in each.warnings]
    if meter is not None and (reason := reasons.get(told.table)):
        warnings.append(f"the service {told.table} does not tell its books: {reason}")
    chosen = told.days.get(asked.day)
    weeks = [
        (books.week.state == "ended", ts, books.week)
        for books, ts in told.days.values()
        if books.week.first <= asked.day <= books.week.last and books.week.progressives
    ]
    _, week_as_of, week = max(weeks, key=lambda each: each[:2], default=(False, None, None))
    return HouseProgressive(
        progressive=told.progressive,
        title=in_words(told.progressive) if meter is None else meter.meter.title,
        table=told.table,
        name=in_words(told.table) if meter is None else meter.name,
        record=told.record,
        currency=told.currency,
        simulation=told.simulation,
        meter=None if meter is None else meter.meter,
        tables=() if meter is None else meter.tables,
        warnings=tuple(warnings),
        days=days,
        books=None if chosen is None else _with_coins(chosen[0], counts.get(asked.day)),
        week=week,
        week_as_of=week_as_of,
    )


def _counts(told: _Told) -> dict[date, CoinCount]:
    """The last count of each day's coins, whenever it was entered."""
    return {
        count.day: count
        for _, (books, _) in sorted(told.days.items())
        for compared in books.reconciliation.progressives
        for count in compared.counts
    }


def _with_coins(books: Books, count: CoinCount | None) -> Books:
    """The books with the last count of the day's coins, which may have been entered after the day."""
    compared = books.reconciliation
    if count is None:
        return books
    counted = tuple(
        each.model_copy(update={"coins": coins(each.coins.taken, count, books.currency)})
        for each in compared.progressives
    )
    return books.model_copy(update={"reconciliation": compared.model_copy(update={"progressives": counted})})


def _day(
    told: _Told, asked: _Asked, day: date, counts: Mapping[date, CoinCount], *, superseded: bool
) -> BooksDay:
    found = told.days.get(day)
    if found is None or not found[0].day.progressives:
        state = _state_without_books(told, asked, day, superseded=superseded)
        text = "the books of this day are missing: its service is away or did not answer"
        return BooksDay(
            day=day,
            state=state,
            as_of=None,
            balanced=None,
            figures=None,
            coins=None,
            warnings=(text,) if state == "missing" else (),
        )
    books = _with_coins(found[0], counts.get(day))
    (compared,) = books.reconciliation.progressives
    ended = books.day.state == "ended"
    warnings = [*_warnings(books, asked.calendar), *_gap(told, day)]
    if not ended and day < asked.today:
        warnings.append("the day has ended, and its service has not told its last books yet")
    return BooksDay(
        day=day,
        state="ended" if ended else "open",
        as_of=found[1],
        balanced=compared.agrees and all(each.explained for each in books.day.progressives),
        figures=_figures(books),
        coins=compared.coins,
        warnings=tuple(warnings),
    )


def _state_without_books(
    told: _Told, asked: _Asked, day: date, *, superseded: bool
) -> Literal["open", "missing", "unused", "to_come"]:
    begun = min((books.first for books, _ in told.days.values() if books.first is not None), default=None)
    if day > asked.today:
        return "to_come"
    if day == asked.today:
        return "open" if told.meter is not None else "unused"
    taken_in = told.until is not None and day <= told.until
    unused = taken_in or superseded or begun is None or day < begun
    return "unused" if unused else "missing"


def _figures(books: Books) -> Figures:
    (accrual,) = books.day.progressives
    sums: defaultdict[Cause, Accounts] = defaultdict(Accounts)
    for change in accrual.changes:
        sums[change.cause] += change.moved
    moved = sum(sums.values(), _ZERO)
    contributed = sums[Cause.CONTRIBUTION]
    return Figures(
        rounds=accrual.rounds,
        wagers=accrual.wagers,
        staked=accrual.staked,
        contributed=contributed.contributions,
        to_reserve=contributed.reserve,
        seeded=moved.seed_money,
        awarded=sums[Cause.AWARD].paid,
        put_back=-sums[Cause.BACK_OUT].paid,
        adjusted=moved.adjustments,
        from_tray=sum(each.from_tray for each in books.reconciliation.progressives),
        meter=accrual.end.primary,
        reserve=accrual.end.reserve,
        overflow=accrual.end.overflow,
    )


# --- what is wrong


def _warnings(books: Books, calendar: Calendar) -> Iterator[str]:
    day = books.day
    (accrual,), (compared,) = day.progressives, books.reconciliation.progressives
    replay = "keep the record as it is, and run punto replay to find the change"
    if not accrual.explained:
        yield f"start and changes do not add up to the end: {replay}"
    if not compared.agrees:
        yield f"the ledger and the record differ: {replay}"
    if compared.coins.difference:
        off = compared.coins.difference
        amount = f"{minor(abs(off), books.currency)} {books.currency}"
        yield f"{amount} of the coins {'are missing' if off < 0 else 'are too much'}: count again"
    if day.state == "ended" and accrual.open_awards:
        awards = ", ".join(map(str, accrual.open_awards))
        yield f"awards that were locked and not booked by the end of the day: {awards}"
    if day.elsewhere:
        yield f"the clock was changed: {day.elsewhere} entries with a time of this day are in the books of another day"
    if day.begins != timestamp(calendar.begins(day.day)):
        yield "the service's gaming day begins at another time than the house's: configure day_starts and zone alike"


def _gap(told: _Told, day: date) -> Iterator[str]:
    """Whether the books begin with what the books of the day before ended with."""
    before = told.days.get(day - _A_DAY)
    if before is None or not before[0].day.progressives or before[0].day.state != "ended":
        return
    (earlier,), (accrual,) = before[0].day.progressives, told.days[day][0].day.progressives
    if earlier.end != accrual.start:
        yield (
            "the books do not begin with the amounts with which those of the day before ended: if a backup of the record was "
            "restored, keep both files for surveillance"
        )


# --- downloads

Sheet = Literal["day", "week", "reconciliation"]


def books_sheet(found: HouseBooks, sheet: Sheet, zone: tzinfo) -> sheets.Rows:
    """One sheet of all progressives, with times by the clock of `zone`. The last column, `kept_by`, is the service that keeps the meter."""
    head = False
    for each in found.progressives:
        for number, row in enumerate(_rows(each, sheet, zone)):
            if number or not head:
                yield [*row, each.table if number else "kept_by"]
            head = True


def _rows(of: HouseProgressive, sheet: Sheet, zone: tzinfo) -> sheets.Rows:
    if sheet == "week":
        return iter(()) if of.week is None else sheets.week_sheet(of.currency, of.week)
    if of.books is None:
        return iter(())
    if sheet == "day":
        return sheets.day_sheet(of.currency, of.books.day, zone)
    return sheets.reconciliation_sheet(of.currency, of.books.reconciliation)
