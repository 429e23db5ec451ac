"""The reports: meters, awards, the gaming day, the weekly deposit. Every figure is computed from the postings.

A day or a week is a span of the record. It begins with the first entry at or after its beginning by the
clock; later entries on the record belong to it or to a later one, also if a clock was set back.
"""

from collections.abc import Iterator
from dataclasses import fields
from datetime import date, datetime, timedelta
from typing import Any

from punto.baccarat.progressive.ledger import Cause
from punto.baccarat.progressive.money import MINOR_UNIT, whole
from punto.baccarat.progressive.settings import Settings
from punto.messages.amounts import Exact, Minor
from punto.messages.books import (
    Accounts,
    Accrual,
    Change,
    Component,
    Day,
    DayState,
    Deposit,
    SettingsChange,
    Week,
)
from punto.messages.building import timestamp
from punto.messages.models import Part, Timestamp
from punto.reports.awards import from_tray, nobody_won
from punto.reports.record import EVERYTHING, Record, Span
from punto.runtime.gaming_days import Calendar

# --- meters


class Meter(Part):
    """A progressive's current state. `promised` is the total of awards that are locked and not yet booked.

    `title` is its name for people. `awards` counts all awards that were locked, of which `backed_out` were backed out.

    `from_tray` is the tray's payments of awards, which are not in the meter's accounts. `balanced` says if
    the sources' total equals the held and the paid money. `tiers` has the awards' hands in words, by the names of their rules.
    """

    progressive: str
    title: str
    retired: bool
    since: Timestamp
    until: Timestamp
    accounts: Accounts
    paid_by_tier: dict[str, Exact]
    promised: Minor
    awards: int
    backed_out: int
    from_tray: Minor
    balanced: bool
    tiers: dict[str, str]


def meters(record: Record) -> tuple[Meter, ...]:
    """Every progressive on the record, in the order of their first entries."""
    return tuple(_meter(record, name) for name in record.progressives())


def _meter(record: Record, name: str) -> Meter:
    accounts = record.balances(name, EVERYTHING)
    since, until = record.first_and_last(name)
    locked = record.log(("award_locked",), name)
    booked = {each.entry.award.id for each in record.log(("award_booked",), name)}
    open_awards = [each.entry.award for each in locked if each.entry.award.id not in booked]
    return Meter(
        progressive=name,
        title=record.settings(name)[-1][1].wager.title,
        retired=bool(record.log(("retired",), name)),
        since=since,
        until=until,
        accounts=accounts,
        paid_by_tier=record.paid_by_tier(name),
        promised=sum(award.amount for award in open_awards if award.payer == "meter"),
        awards=len(locked),
        backed_out=len(record.log(("award_backed_out",), name)),
        from_tray=sum(each.amount for each in from_tray(record, name, EVERYTHING)),
        balanced=accounts.given == accounts.held + accounts.paid,
        tiers=record.tiers(name),
    )


# --- a gaming day


def day_report(record: Record, day: date, calendar: Calendar, now: datetime) -> Day:
    """The intake and payments of each progressive on a gaming day; so far, if the day has not ended."""
    span, about = period(record, calendar.begins(day), calendar.begins(day + timedelta(days=1)), now)
    found = tuple(_accrual(record, name, span) for name in record.progressives(span.until))
    return Day(day=day, **about, progressives=found)


def period(record: Record, begins: datetime, ends: datetime, now: datetime) -> tuple[Span, dict[str, Any]]:
    """The span of a period on the record, and what its report says of it; so far, if it has not ended."""
    span = Span(record.first_at(begins), record.first_at(ends))
    state: DayState = "not_begun" if now < begins else "open" if now < ends else "ended"
    return span, {
        "begins": timestamp(begins),
        "ends": timestamp(ends),
        "state": state,
        "elsewhere": record.elsewhere(begins, ends, span),
    }


def _accrual(record: Record, name: str, span: Span) -> Accrual:
    start, end = record.balances(name, Span(0, span.since)), record.balances(name, Span(0, span.until))
    changes = tuple(_changes(record, name, span))
    rounds, wagers, staked = record.wagers(name, span)
    until = Span(0, span.until)
    booked = {each.entry.award.id for each in record.log(("award_booked",), name, until)}
    locked = [each.entry.award.id for each in record.log(("award_locked",), name, until)]
    return Accrual(
        progressive=name,
        rounds=rounds,
        wagers=wagers,
        staked=staked,
        start=start,
        changes=changes,
        end=end,
        explained=sum((change.moved for change in changes), start) == end,
        settings=tuple(
            SettingsChange(
                ts=each.ts,
                who=each.entry.who,
                reason=each.entry.reason,
                changed=changed(each.entry.before, each.entry.after),
            )
            for each in record.log(("settings_changed",), name, span)
        ),
        open_awards=tuple(number for number in locked if number not in booked),
        from_tray=from_tray(record, name, span),
        nobody_won=nobody_won(record, name, span),
    )


def _changes(record: Record, name: str, span: Span) -> Iterator[Change]:
    contributed = record.balances(name, span, cause=Cause.CONTRIBUTION)
    if contributed != Accounts():
        yield Change(cause=Cause.CONTRIBUTION, moved=contributed)
    for posting in record.postings(name, span, but=Cause.CONTRIBUTION):
        yield Change(
            moved=posting.moved,
            **{name: getattr(posting, name) for name in Change.model_fields if name != "moved"},
        )


def changed(before: Settings, after: Settings) -> dict[str, tuple[Any, Any]]:
    """The settings that differ, each with its old and new value."""
    both = {field.name: (getattr(before, field.name), getattr(after, field.name)) for field in fields(before)}
    return {name: values for name, values in both.items() if values[0] != values[1]}


# --- a gaming week


def week_report(record: Record, day: date, calendar: Calendar, now: datetime) -> Week:
    """The deposit for the gaming week that contains a day; so far, if the week has not ended."""
    first = calendar.week_of(day)
    span, about = period(record, calendar.begins(first), calendar.begins(first + timedelta(days=7)), now)
    found = tuple(_deposit(record, name, span) for name in record.progressives(span.until))
    return Week(first=first, last=first + timedelta(days=6), **about, progressives=found)


def _deposit(record: Record, name: str, span: Span) -> Deposit:
    start = record.balances(name, Span(0, span.since)).held
    end = record.balances(name, Span(0, span.until)).held
    moved = record.held_by_cause(name, span)
    return Deposit(
        progressive=name,
        start=start,
        components=tuple(
            Component(cause=Cause(cause), to_meter=to_meter, to_reserve=to_reserve)
            for cause, (to_meter, to_reserve) in moved.items()
            if to_meter + to_reserve  # a move between two accounts does not change the held money
        ),
        end=end,
        carried_in=start % MINOR_UNIT,
        carried_out=end % MINOR_UNIT,
        deposit=whole(end) - whole(start),
        explained=start + sum(map(sum, moved.values())) == end,
    )
