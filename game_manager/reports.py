"""The reports: meters, awards, the gaming day, the weekly deposit. Every figure is computed from the postings.

A day or a week is a span of the record. Its first entry is the first that came at or after its beginning by the clock, and
what follows that on the record is of it or of a later one, whatever a clock that was set back says.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import fields
from datetime import date, datetime, timedelta
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict

from punto.baccarat.cards import Card
from punto.baccarat.coup import Side
from punto.baccarat.progressive.events import ConfirmedBy
from punto.baccarat.progressive.ledger import Cause
from punto.baccarat.progressive.money import MINOR_UNIT, whole
from punto.baccarat.progressive.settings import Payer, Settings
from punto.baccarat.progressive.state import AwardState
from punto.controller.gaming_days import Calendar
from punto.controller.messages.building import timestamp
from punto.controller.messages.models import Timestamp
from punto.game_manager.amounts import Cents, Exact
from punto.game_manager.record import END, EVERYTHING, Accounts, Logged, Posting, Record, Span

AWARDS_A_PAGE: Final = 25


class Part(BaseModel):
    """A part of a report."""

    model_config = ConfigDict(frozen=True)


# --- meters


class Meter(Part):
    """A progressive as it stands. `promised` is of awards that are locked and not yet taken off it.

    `from_tray` is what the tray paid in awards, which is in no account of the meter's. `balanced` says whether what the sources
    gave is what is held and was paid.
    """

    progressive: str
    retired: bool
    since: Timestamp
    until: Timestamp
    accounts: Accounts
    paid_by_tier: dict[str, Exact]
    promised: Cents
    awards: int
    from_tray: Cents
    balanced: bool


def meters(record: Record) -> tuple[Meter, ...]:
    """Every progressive that the record knows, in the order that they came."""
    return tuple(_meter(record, name) for name in record.progressives())


def _meter(record: Record, name: str) -> Meter:
    accounts = record.balances(name, EVERYTHING)
    since, until = record.first_and_last(name)
    locked = record.log(("award_locked",), name)
    booked = {each.entry.award.id for each in record.log(("award_booked",), name)}
    open_awards = [each.entry.award for each in locked if each.entry.award.id not in booked]
    return Meter(
        progressive=name,
        retired=bool(record.log(("retired",), name)),
        since=since,
        until=until,
        accounts=accounts,
        paid_by_tier=record.paid_by_tier(name),
        promised=sum(award.amount for award in open_awards if award.payer == "meter"),
        awards=len(locked),
        from_tray=sum(each.amount for each in from_tray(record, name, EVERYTHING)),
        balanced=accounts.given == accounts.held + accounts.paid,
    )


# --- awards


class Share(Part):
    """What a seat gets of an award."""

    seat: int
    amount: Cents


class AwardsBackOut(Part):
    """How an award was taken back."""

    ts: Timestamp
    who: str | None
    approved_by: str | None
    reason: str | None


class Print(Part):
    """A win page that was printed; of an award there is one original at most. `input` is None where it is on no record."""

    ts: Timestamp
    who: str
    original: bool
    input: int | None


class Award(Part):
    """An award, `shares` in the order of paying. `input` is its number on the record: where it was locked.

    - `payer`: the meter or the tray. `meter`: what the meter held then.
    - `who` confirmed it, `by` a key, card or signature, or as the dealer alone; `level` that of card or signature, and
      `card` that of a card. `confirmed_by` pressed CONFIRM before.
    - `side`: the hand that won; `player` and `banker`: the cards. None and none of an award of an earlier version.
    - `prints`: its win pages in the order that they were printed in. Who printed the original signed for the award.
    """

    progressive: str
    number: int
    tier: str
    table: str
    round: int
    meter: Cents
    amount: Cents
    shares: tuple[Share, ...]
    whole_meter: bool
    payer: Payer
    who: str
    by: ConfirmedBy
    card: str | None
    level: str | None
    confirmed_by: str | None
    side: Side | None
    player: tuple[Card, ...]
    banker: tuple[Card, ...]
    state: AwardState
    locked: Timestamp
    booked: Timestamp | None
    backed_out: AwardsBackOut | None
    prints: tuple[Print, ...]
    input: int

    @property
    def original(self) -> Print | None:
        """The win page that is no copy, None before it is printed."""
        return next((each for each in self.prints if each.original), None)


class NobodyWon(Part):
    """That nobody won an award was confirmed, or a game that ended so was opened `again`; of the latter only who and why.

    `amount` is what the award would have come to for the `seats` that can have won it; the rest is as of an award.
    """

    ts: Timestamp
    progressive: str
    again: bool
    table: str
    round: int
    tier: str | None = None
    seats: tuple[int, ...] = ()
    amount: Cents | None = None
    payer: Payer | None = None
    who: str
    by: ConfirmedBy | None = None
    level: str | None = None
    confirmed_by: str | None = None
    reason: str
    approved_by: str | None
    input: int


class Awards(Part):
    """Awards, the newest first, and what was confirmed in their time of nobody; `more` says whether there are older ones."""

    awards: tuple[Award, ...]
    nobody_won: tuple[NobodyWon, ...]
    more: bool


def awards(record: Record, before: int | None = None, limit: int = AWARDS_A_PAGE) -> Awards:
    """At most `limit` awards that were locked before the input of this number, or the last ones."""
    until = END if before is None else before
    found = record.awards_locked(until, limit + 1)
    more = len(found) > limit
    since = found[limit - 1].input if more else 0
    return Awards(
        awards=_awards(record, found[:limit]),
        nobody_won=tuple(reversed(nobody_won(record, None, Span(since, until)))),
        more=more,
    )


def nobody_won(record: Record, progressive: str | None, span: Span) -> tuple[NobodyWon, ...]:
    """What was confirmed in a span of nobody, of one progressive or of all, in order."""
    return tuple(
        NobodyWon(
            ts=each.ts,
            progressive=each.progressive,
            again=each.entry.kind == "game_reopened",
            tier=getattr(each.entry, "rule", None),
            **{
                name: getattr(each.entry, name)
                for name in NobodyWon.model_fields
                if name not in {"ts", "progressive", "again", "tier", "input"} and hasattr(each.entry, name)
            },
            input=each.input,
        )
        for each in record.log(("nobody_won", "game_reopened"), progressive, span)
    )


class FromTray(Part):
    """An award that the tray paid; `amount` is less than nothing where one was taken back."""

    ts: Timestamp
    award: int
    tier: str
    table: str
    round: int
    amount: Cents
    who: str
    reason: str | None
    approved_by: str | None
    input: int


def from_tray(record: Record, progressive: str, span: Span) -> tuple[FromTray, ...]:
    """What the tray paid in a span, in order."""
    return tuple(
        FromTray(
            ts=each.ts,
            award=award.id,
            tier=award.rule,
            table=award.table,
            round=award.round,
            amount=-award.amount if back else award.amount,
            who=each.entry.who if back else award.who,
            reason=each.entry.reason if back else None,
            approved_by=each.entry.approved_by if back else None,
            input=each.input,
        )
        for each in record.log(("award_booked", "award_backed_out"), progressive, span)
        for award, back in [(each.entry.award, each.entry.kind == "award_backed_out")]
        if award.payer == "tray"
    )


def award(record: Record, input_: int) -> Award | None:
    """The award that was locked with this input, None if none was."""
    found = [each for each in record.awards_locked(input_ + 1, 1) if each.input == input_]
    return next(iter(_awards(record, found)), None)


def _awards(record: Record, locked: Sequence[Logged]) -> tuple[Award, ...]:
    later: dict[tuple[str, int, str], Logged] = {}
    back_outs: dict[tuple[str, int | None], Posting] = {}
    prints: dict[tuple[str, int], list[Print]] = defaultdict(list)
    for name in {each.progressive for each in locked}:
        since = Span(min(each.input for each in locked if each.progressive == name))
        for each in record.log(("award_booked", "award_backed_out"), name, since):
            later[name, each.entry.award.id, each.entry.kind] = each
        for posting in record.postings(name, since, cause=Cause.BACK_OUT):
            back_outs[name, posting.award] = posting
        for each in record.log(("win_page_printed",), name, since):
            printed = Print(ts=each.ts, who=each.entry.who, original=each.entry.original, input=each.input)
            prints[name, each.entry.award].append(printed)
    return tuple(_award(each, later, back_outs, prints) for each in locked)


def _award(
    locked: Logged,
    later: dict[tuple[str, int, str], Logged],
    back_outs: dict[tuple[str, int | None], Posting],
    prints: dict[tuple[str, int], list[Print]],
) -> Award:
    fixed, name = locked.entry.award, locked.progressive
    booked = later.get((name, fixed.id, "award_booked"))
    put_back = later.get((name, fixed.id, "award_backed_out"))
    # An earlier version said by whom and why in the posting alone.
    by: Any = back_outs.get((name, fixed.id))
    if put_back is not None and put_back.entry.who is not None:
        by = put_back.entry
    state = AwardState.BACKED_OUT if put_back else AwardState.BOOKED if booked else AwardState.LOCKED
    return Award(
        progressive=name,
        number=fixed.id,
        tier=fixed.rule,
        table=fixed.table,
        round=fixed.round,
        meter=fixed.meter,
        amount=fixed.amount,
        shares=tuple(Share(seat=share.seat, amount=share.amount) for share in fixed.shares),
        whole_meter=fixed.whole_meter,
        payer=fixed.payer,
        who=fixed.who,
        by="card" if fixed.card else fixed.by,
        card=fixed.card,
        level=fixed.level or fixed.card,
        confirmed_by=fixed.confirmed_by,
        side=fixed.side,
        player=fixed.player,
        banker=fixed.banker,
        state=state,
        locked=locked.ts,
        booked=booked and booked.ts,
        backed_out=None
        if put_back is None
        else AwardsBackOut(
            ts=put_back.ts,
            who=by and by.who,
            approved_by=by and by.approved_by,
            reason=by and by.reason,
        ),
        prints=tuple(prints[name, fixed.id]),
        input=locked.input,
    )


# --- a gaming day

DayState = Literal["ended", "open", "not_begun"]


class Change(Part):
    """What changed the accounts: all contributions of the day as one, everything else by itself, in order."""

    cause: Cause
    ts: Timestamp | None = None
    moved: Accounts
    tier: str | None = None
    table: str | None = None
    round: int | None = None
    award: int | None = None
    who: str | None = None
    reason: str | None = None
    approved_by: str | None = None


class SettingsChange(Part):
    """A change of the settings; `changed` has each setting's value before and after."""

    ts: Timestamp
    who: str
    reason: str
    changed: dict[str, tuple[Any, Any]]


class Accrual(Part):
    """A progressive over a gaming day: `start` and every change come to `end`.

    `explained` says that they do. `open_awards` are those that were locked by the end and not yet booked. `from_tray` are the awards
    that the tray paid, which change no account of the meter's; `nobody_won` the games that were confirmed to have no winner.
    """

    progressive: str
    rounds: int
    wagers: int
    staked: Cents
    start: Accounts
    changes: tuple[Change, ...]
    end: Accounts
    explained: bool
    settings: tuple[SettingsChange, ...]
    open_awards: tuple[int, ...]
    from_tray: tuple[FromTray, ...]
    nobody_won: tuple[NobodyWon, ...]


class Day(Part):
    """The accrual report of a gaming day, which begins and ends by the house's clock.

    `elsewhere` counts the entries that bear a time of this day and are in another one's report: the clock was changed.
    """

    day: date
    begins: Timestamp
    ends: Timestamp
    state: DayState
    elsewhere: int
    progressives: tuple[Accrual, ...]


def day_report(record: Record, day: date, calendar: Calendar, now: datetime) -> Day:
    """What each progressive took in and paid on a gaming day; of a day that has not ended, so far."""
    begins, ends = calendar.begins(day), calendar.begins(day + timedelta(days=1))
    span = Span(record.first_at(begins), record.first_at(ends))
    return Day(
        day=day,
        begins=timestamp(begins),
        ends=timestamp(ends),
        state=state_of(begins, ends, now),
        elsewhere=record.elsewhere(begins, ends, span),
        progressives=tuple(_accrual(record, name, span) for name in record.progressives(span.until)),
    )


def state_of(begins: datetime, ends: datetime, now: datetime) -> DayState:
    """Whether such a time is over, goes on or has not begun."""
    if now < begins:
        return "not_begun"
    return "open" if now < ends else "ended"


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
    contributed = sum(
        (posting.moved for posting in record.postings(name, span, cause=Cause.CONTRIBUTION)), Accounts()
    )
    if contributed != Accounts():
        yield Change(cause=Cause.CONTRIBUTION, moved=contributed)
    for posting in record.postings(name, span):
        if posting.cause != Cause.CONTRIBUTION:
            yield Change(
                cause=Cause(posting.cause),
                ts=posting.ts,
                moved=posting.moved,
                tier=posting.tier,
                table=posting.table,
                round=posting.round,
                award=posting.award,
                who=posting.who,
                reason=posting.reason,
                approved_by=posting.approved_by,
            )


def changed(before: Settings, after: Settings) -> dict[str, tuple[Any, Any]]:
    """The settings that are not the same, each with what it was and is."""
    both = {field.name: (getattr(before, field.name), getattr(after, field.name)) for field in fields(before)}
    return {name: values for name, values in both.items() if values[0] != values[1]}


# --- a gaming week


class Component(Part):
    """What a cause did over a week to what is held: less than nothing where it was paid out or taken off."""

    cause: Cause
    to_meter: Exact
    to_reserve: Exact


class Deposit(Part):
    """What the custodian of a progressive's fund deposits for a week: the change of what is held for the players.

    Held is what is on the meter, in the reserve and in the overflow. `deposit` is in whole cents; what is less than one at
    the week's start and end is `carried_in` and `carried_out`, and comes into the deposit of a later week. Less than nothing
    is to be drawn from the fund.
    """

    progressive: str
    start: Exact
    components: tuple[Component, ...]
    end: Exact
    carried_in: Exact
    carried_out: Exact
    deposit: Cents
    explained: bool


class Week(Part):
    """The weekly deposit figure; the gaming week begins with the gaming day `first`. `elsewhere` is as of a day."""

    first: date
    last: date
    begins: Timestamp
    ends: Timestamp
    state: DayState
    elsewhere: int
    progressives: tuple[Deposit, ...]


def week_report(record: Record, day: date, calendar: Calendar, now: datetime) -> Week:
    """The deposit for the gaming week that a day is in; of a week that has not ended, so far."""
    first = calendar.week_of(day)
    begins, ends = calendar.begins(first), calendar.begins(first + timedelta(days=7))
    span = Span(record.first_at(begins), record.first_at(ends))
    return Week(
        first=first,
        last=first + timedelta(days=6),
        begins=timestamp(begins),
        ends=timestamp(ends),
        state=state_of(begins, ends, now),
        elsewhere=record.elsewhere(begins, ends, span),
        progressives=tuple(_deposit(record, name, span) for name in record.progressives(span.until)),
    )


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
            if to_meter + to_reserve  # what only went from one account to another is held as before
        ),
        end=end,
        carried_in=start % MINOR_UNIT,
        carried_out=end % MINOR_UNIT,
        deposit=whole(end) - whole(start),
        explained=start + sum(map(sum, moved.values())) == end,
    )
