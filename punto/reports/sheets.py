"""Every report as a sheet of rows, which `punto.runtime.csv_cells` writes as CSV, for further calculations.

Amounts are exact decimals of the currency's unit, times are by the house's clock with their UTC offset.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import tzinfo
from functools import wraps
from typing import Any, Concatenate, Final, ParamSpec

from punto.baccarat.progressive.settings import AMOUNTS
from punto.controller.journal.out_of_the_ordinary import Entrance, Incident
from punto.messages.amounts import exact, minor
from punto.messages.books import (
    ACCOUNTS,
    Accounts,
    Change,
    Day,
    FromTray,
    NobodyWon,
    Reconciliation,
    Week,
)
from punto.messages.meters import MeterReadings
from punto.reports.awards import Award
from punto.reports.periods import Meter
from punto.reports.record import Posting
from punto.reports.shift import CommissionCleared, Correction, KeyedCard, Raised, Shift, VoidCoup
from punto.runtime.csv_cells import Cell
from punto.runtime.gaming_days import by_the_clock

Rows = Iterator[Sequence[Cell]]
_Row = dict[str, Cell]
_Of = ParamSpec("_Of")


def named(rows: Iterable[Sequence[Cell]], title: str) -> Rows:
    """A sheet with the table's name for people in a last column, which so says whether it is of a simulation."""
    for number, row in enumerate(rows):
        yield [*row, title if number else "table_name"]


_ACCOUNTS: Final = " ".join(ACCOUNTS)


def _sheet(
    columns: str,
) -> Callable[[Callable[Concatenate[str, _Of], Iterator[_Row]]], Callable[Concatenate[str, _Of], Rows]]:
    """Make a sheet with these columns of a function that yields rows; a cell that a row lacks is empty.

    The function's first argument is the currency of all amounts, which has the last column.
    """
    names = columns.split()

    def sheet(
        rows: Callable[Concatenate[str, _Of], Iterator[_Row]],
    ) -> Callable[Concatenate[str, _Of], Rows]:
        @wraps(rows)
        def made(currency: str, /, *args: _Of.args, **options: _Of.kwargs) -> Rows:
            yield [*names, "currency"]
            for row in rows(currency, *args, **options):
                yield [*(row.get(name) for name in names), currency]

        return made

    return sheet


@_sheet(f"progressive retired since until {_ACCOUNTS} promised awards from_tray balanced tier")
def meters_sheet(currency: str, meters: Iterable[Meter], zone: tzinfo) -> Iterator[_Row]:
    """One row per progressive, and one for the payments of each tier."""
    for each in meters:
        about: _Row = {
            "progressive": each.progressive,
            "retired": _yes(each.retired),
            "since": _ts(each.since, zone),
            "until": _ts(each.until, zone),
        }
        yield (
            about
            | _accounts(each.accounts, currency)
            | {
                "promised": minor(each.promised, currency),
                "awards": each.awards,
                "from_tray": minor(each.from_tray, currency),
                "balanced": _yes(each.balanced),
            }
        )
        for tier, paid in each.paid_by_tier.items():
            yield {**about, "paid": exact(paid, currency), "tier": tier}


@_sheet(
    "input progressive award tier table round meter amount seat share who card "
    "state locked booked backed_out backed_out_by approved_by reason "
    "original_printed original_by copies payer by confirmed_by player banker"
)
def awards_sheet(currency: str, awards: Iterable[Award], zone: tzinfo) -> Iterator[_Row]:
    """One row per share of an award, in the order of paying."""
    for each in awards:
        about: _Row = {
            name: getattr(each, name)
            for name in ("input", "progressive", "round", "card", "state", "payer", "by")
        }
        about |= {name: getattr(each, name) for name in ("tier", "table", "who", "confirmed_by")}
        about |= {
            "award": each.number,
            "meter": minor(each.meter, currency),
            "amount": minor(each.amount, currency),
            "locked": _ts(each.locked, zone),
            "booked": _ts(each.booked, zone),
            "copies": sum(not printed.original for printed in each.prints),
            "player": " ".join(each.player),
            "banker": " ".join(each.banker),
        }
        if (back := each.backed_out) is not None:
            about |= {"backed_out": _ts(back.ts, zone), "backed_out_by": back.who}
            about |= {"approved_by": back.approved_by, "reason": back.reason}
        if (original := each.original) is not None:
            about |= {"original_printed": _ts(original.ts, zone), "original_by": original.who}
        for share in each.shares:
            yield {**about, "seat": share.seat, "share": minor(share.amount, currency)}


@_sheet(
    f"progressive day line ts rounds wagers staked {_ACCOUNTS} tier table round award who reason approved_by from_tray"
)
def day_sheet(currency: str, day: Day, zone: tzinfo) -> Iterator[_Row]:
    """The day's start, each change and its end: the rows between add up to the difference of the first and the last."""
    for each in day.progressives:

        def line(name: str, ts: str | None, *cells: _Row, progressive: str = each.progressive) -> _Row:
            row: _Row = {
                "progressive": progressive,
                "day": day.day.isoformat(),
                "line": name,
                "ts": _ts(ts, zone),
            }
            for more in cells:
                row |= more
            return row

        yield line("start", day.begins, _accounts(each.start, currency))
        for change in each.changes:
            wagers: _Row = {}
            if change.ts is None:  # all contributions of the day
                wagers = {
                    "rounds": each.rounds,
                    "wagers": each.wagers,
                    "staked": minor(each.staked, currency),
                }
            yield line(change.cause, change.ts, wagers, _accounts(change.moved, currency), _about(change))
        for paid in each.from_tray:
            name = "tray_back_out" if paid.amount < 0 else "tray_award"
            yield line(name, paid.ts, _about(paid), {"from_tray": minor(paid.amount, currency)})
        for told in each.nobody_won:
            name = "game_reopened" if told.again else "table_forgotten" if told.lost else "nobody_won"
            yield line(name, told.ts, _about(told))
        for other in each.settings:
            words = "; ".join(_changed(*each, currency) for each in other.changed.items())
            why: _Row = {"who": other.who, "reason": f"{other.reason} ({words})"}
            yield line("settings", other.ts, why)
        yield line("end", day.ends, _accounts(each.end, currency))


@_sheet("progressive week line meter reserve held")
def week_sheet(currency: str, week: Week) -> Iterator[_Row]:
    """The held money at the week's start, each cause's part, the held money at its end, and the deposit."""
    for each in week.progressives:
        about: _Row = {"progressive": each.progressive, "week": week.first.isoformat()}
        yield {**about, "line": "start", "held": exact(each.start, currency)}
        for part in each.components:
            meter, reserve = part.to_meter, part.to_reserve
            moved: _Row = {
                "meter": exact(meter, currency),
                "reserve": exact(reserve, currency),
                "held": exact(meter + reserve, currency),
            }
            yield {**about, "line": part.cause, **moved}
        for name in ("end", "carried_in", "carried_out"):
            yield {**about, "line": name, "held": exact(getattr(each, name), currency)}
        yield {**about, "line": "deposit", "held": minor(each.deposit, currency)}


@_sheet("progressive day what ledger expected difference input text")
def reconciliation_sheet(currency: str, found: Reconciliation) -> Iterator[_Row]:
    """One row per comparison, then each difference."""
    for each in found.progressives:
        about: _Row = {"progressive": each.progressive, "day": found.day.isoformat()}
        for check in each.checks:
            both: _Row = {
                "ledger": exact(check.ledger, currency),
                "expected": exact(check.expected, currency),
            }
            yield {
                **about,
                "what": check.what,
                **both,
                "difference": exact(check.ledger - check.expected, currency),
            }
        coins = each.coins
        both = {"ledger": _minor(coins.counted, currency), "expected": _minor(coins.taken, currency)}
        yield {
            **about,
            "what": "coins",
            **both,
            "difference": _minor(coins.difference, currency),
            "text": coins.todo,
        }
        for other in each.differences:
            yield {**about, "what": "posting", "input": other.input, "text": other.text}
        yield {**about, "what": "from_tray", "expected": minor(each.from_tray, currency)}


@_sheet(f"input place ts progressive number cause {_ACCOUNTS} tier table round award who reason approved_by")
def postings_sheet(currency: str, postings: Iterable[Posting], zone: tzinfo) -> Iterator[_Row]:
    """The ledger: one row per posting, with the amount that each account received."""
    for each in postings:
        received = {name: exact(getattr(each, name), currency) for name in ACCOUNTS if name != "primary"}
        yield {
            **{name: getattr(each, name) for name in ("input", "place", "progressive", "number", "cause")},
            "ts": _ts(each.ts, zone),
            **received,
            "primary": exact(each.primary_meter, currency),
            **_about(each),
        }


@_sheet(
    "line what input ts until round entry position seat game wager count staked returned net amount handle win expected errors "
    "who approved_by reason where source text"
)
def shift_sheet(currency: str, shift: Shift, zone: tzinfo) -> Iterator[_Row]:
    """A row for each figure of the shift, and for each entry of its lists."""

    def money(amount: int) -> str:
        return minor(amount, currency)

    yield {"line": "since", "ts": _ts(shift.since, zone)}
    yield {"line": "until", "ts": _ts(shift.until, zone)}
    for status, count in shift.rounds.items():
        yield {"line": "rounds", "what": status, "count": count}
    yield {"line": "hands_an_hour", "count": shift.hands_an_hour}
    yield {"line": "shoes", "count": shift.shoes}
    yield {"line": "stopped_seconds", "count": shift.stopped_seconds}
    for each in shift.wagers:
        sums: _Row = {name: money(getattr(each, name)) for name in ("staked", "returned", "net")}
        yield {"line": "wager", "wager": each.wager, "count": each.wagers, **sums}
    yield from _commission_rows(shift, money, zone)
    yield from _entries(shift, money, zone)
    for meters in shift.meters:
        for line, readings in (("shift_meter", meters.shift), ("lifetime_meter", meters.lifetime)):
            yield from ({"line": line, "game": meters.game, **row} for row in _readings(readings, money))


def _entries(shift: Shift, money: Callable[[int], str], zone: tzinfo) -> Iterator[_Row]:
    """A row for each entry of the lists of a shift."""
    for void in shift.voids:
        yield {"line": "void", "round": void.round, "entry": void.entry, **_why(void, zone)}
    for correction in shift.corrections:
        what = "card" if correction.corrects is None else "voided" if correction.voided else "resettled"
        numbers: _Row = {"round": correction.round}
        if correction.corrects is not None:
            numbers = {"round": correction.corrects, "entry": correction.round}
        net = money(correction.net)
        yield {"line": "correction", "what": what, "net": net, **numbers, **_why(correction, zone)}
    for card in shift.keyed:
        at: _Row = {"round": card.round, "position": card.position, "who": card.who, "text": card.why}
        yield {"line": "keyed", **_input(card, zone), **at}
    for incident in (*shift.alarms, *shift.refused, *shift.devices):
        about: _Row = {name: getattr(incident, name) for name in ("who", "source", "text")}
        until: _Row = {"until": _ts(incident.until, zone)} if isinstance(incident, Raised) else {}
        yield {"line": incident.what, "what": incident.kind, **_input(incident, zone), **until, **about}
    for entrance in shift.access:
        by: _Row = {"who": entrance.who, "where": entrance.where, "text": entrance.text}
        yield {"line": "access", "what": entrance.kind, **_input(entrance, zone), **by}


def _readings(readings: MeterReadings, money: Callable[[int], str]) -> Iterator[_Row]:
    yield {"what": "hands", "count": readings.hands}
    for count in readings.counts:
        hits: _Row = {"wager": count.wager, "what": count.rule, "count": count.hits}
        yield {**hits, "expected": count.expected, "errors": count.errors}
    for each in readings.wagers:
        expected = None if each.expected is None else money(round(each.expected))
        held: _Row = {"wager": each.wager, "handle": money(each.handle), "win": money(each.win)}
        yield {**held, "expected": expected, "errors": each.errors}


def _commission_rows(shift: Shift, money: Callable[[int], str], zone: tzinfo) -> Iterator[_Row]:
    if (found := shift.commission) is None:
        return
    for line, totals in (("commission_shift", found.shift), ("commission_day", found.day)):
        for what in ("earned", "collected", "waived"):
            yield {"line": line, "what": what, "amount": money(getattr(totals, what))}
    for owed in found.owed:
        yield {"line": "commission_owed", "seat": owed.seat, "amount": money(owed.amount)}
    for each in found.cleared:
        of: _Row = {"what": each.cause, "seat": each.seat, "amount": money(each.amount)}
        yield {"line": "commission_cleared", **of, **_why(each, zone)}


def _why(entry: VoidCoup | Correction | CommissionCleared, zone: tzinfo) -> _Row:
    by: _Row = {name: getattr(entry, name) for name in ("who", "approved_by", "reason")}
    return {"ts": _ts(entry.ts, zone), **by}


def _input(entry: Incident | Entrance | KeyedCard, zone: tzinfo) -> _Row:
    return {"input": entry.seq, "ts": _ts(entry.ts, zone)}


def _accounts(accounts: Accounts, currency: str) -> _Row:
    return {name: exact(getattr(accounts, name), currency) for name in ACCOUNTS}


def _changed(name: str, values: tuple[Any, Any], currency: str) -> str:
    """A change of a setting in words: amounts as the other amounts of the sheet."""
    before, after = (
        minor(each, currency) if name in AMOUNTS and each is not None else str(each) for each in values
    )
    return f"{name}: {before} to {after}"


def _about(entry: Change | FromTray | NobodyWon | Posting) -> _Row:
    texts = {name: getattr(entry, name) for name in ("tier", "table", "who", "reason", "approved_by")}
    return {**texts, "round": entry.round, "award": getattr(entry, "award", None)}


def _minor(minor_units: int | None, currency: str) -> str | None:
    return None if minor_units is None else minor(minor_units, currency)


def _ts(ts: str | None, zone: tzinfo) -> str | None:
    return None if ts is None else by_the_clock(ts, zone).isoformat(timespec="microseconds")


def _yes(so: bool) -> str:
    return "yes" if so else "no"
