"""The books of a gaming day as a house's service reads them, in one answer that a broker takes.

An answer lists only so many entries that it is short enough. Its amounts have all of them.
"""

from collections import defaultdict
from datetime import date, datetime
from pathlib import Path
from typing import Final

from punto.baccarat.progressive.ledger import Cause
from punto.messages.books import Accounts, Accrual, Books, Change, Reconciled
from punto.reports.periods import day_report, week_report
from punto.reports.reconciliation import reconcile
from punto.reports.record import Record, Span, opened
from punto.runtime.gaming_days import Calendar

MOST_BYTES: Final = 200_000
"""The longest JSON of an answer's books: below the limit of the broker that ships, 262,144 bytes."""
MOST_PROGRESSIVES: Final = 4
"""A record has one progressive in service at a time, so a week has seldom more than one."""
_MOST_LISTED: Final = (100, 20, 5, 0)
"""How many entries of each list an answer has: the first of these with which it is short enough."""


def books_of_day(path: Path, day: date, calendar: Calendar, now: datetime) -> Books:
    """The books of a gaming day, and of its week so far. It works in any thread.

    Raises:
        RecordError: the record cannot be read, or it has an entry that the service did not write.
    """
    with opened(path) as record:
        names = _in_service(record, day, calendar)
        found = Books(
            currency=record.currency,
            first=_first_day(record, calendar),
            day=day_report(record, day, calendar, now),
            week=week_report(record, day, calendar, now),
            reconciliation=reconcile(record, day, calendar, now),
        ).of(*names[-MOST_PROGRESSIVES:])
    return shortened(found)


def _first_day(record: Record, calendar: Calendar) -> date | None:
    names = record.progressives()
    if not names:
        return None
    since, _ = record.first_and_last(names[0])
    return calendar.day_of(datetime.fromisoformat(since))


def _in_service(record: Record, day: date, calendar: Calendar) -> list[str]:
    """The progressives that were not retired before the week of this day, or have an entry of the day."""
    week, begins, ends = (
        record.first_at(calendar.begins(each))
        for each in (calendar.week_of(day), day, date.fromordinal(day.toordinal() + 1))
    )
    of_day = Span(begins, ends)
    return [
        name
        for name in record.progressives(of_day.until)
        if not record.log(("retired",), name, Span(0, week))
        or record.log(("coins_counted", "award_backed_out"), name, of_day)
    ]


# --- short enough


def shortened(books: Books) -> Books:
    """The same books with fewer entries in each list, if they were too long."""
    for most in _MOST_LISTED:
        made = _listing(books, most)
        if len(made.model_dump_json(context=made.currency).encode()) <= MOST_BYTES:
            break
    return made


def _listing(books: Books, most: int) -> Books:
    """The same books with at most so many entries in each list."""
    day, reconciliation = books.day, books.reconciliation
    accruals = tuple(_accrual(each, most) for each in day.progressives)
    compared = tuple(_reconciled(each, most) for each in reconciliation.progressives)
    return books.model_copy(
        update={
            "day": day.model_copy(update={"progressives": accruals}),
            "reconciliation": reconciliation.model_copy(update={"progressives": compared}),
        }
    )


def _accrual(accrual: Accrual, most: int) -> Accrual:
    lists = ("settings", "open_awards", "from_tray", "nobody_won")
    left_out = sum(max(0, len(getattr(accrual, name)) - most) for name in lists)
    cut = {name: getattr(accrual, name)[:most] for name in lists}
    changes = accrual.changes
    if len(changes) > most:
        changes = _summed(changes)
        left_out += len(accrual.changes) - len(changes)
    return accrual.model_copy(update={**cut, "changes": changes, "left_out": left_out})


def _summed(changes: tuple[Change, ...]) -> tuple[Change, ...]:
    """All changes of a cause as one, in the order of the first of each."""
    sums: defaultdict[Cause, Accounts] = defaultdict(Accounts)
    for each in changes:
        sums[each.cause] += each.moved
    return tuple(Change(cause=cause, moved=moved) for cause, moved in sums.items())


def _reconciled(compared: Reconciled, most: int) -> Reconciled:
    lists = ("differences", "counts")
    left_out = sum(max(0, len(getattr(compared, name)) - most) for name in lists)
    return compared.model_copy(
        update={
            "differences": compared.differences[:most],
            "counts": compared.counts[-most:] if most else (),  # the last count of a day counts
            "left_out": left_out,
        }
    )
